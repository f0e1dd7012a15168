"""Tables, pages and figures of small reports, as wholes."""

import json
import math
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.reports.golden_files import check_golden
from tests.reports.scenarios import estimate
from urs_inspect._util import InputError
from urs_inspect.reports._texts import number
from urs_inspect.reports.layout._figures import (
    NARROW,
    WIDE,
    Figure,
    Specification,
    _named,
    _room,
    cost_plot,
    dumbbell_plot,
    length_plot,
)
from urs_inspect.reports.layout._page import (
    _axis,
    _grid,
    _json,
    _specifications,
    further_pages,
    render_page,
)
from urs_inspect.reports.layout._tables import (
    SIMULATED_SCREEN,
    Card,
    Excerpt,
    FirstScreen,
    Report,
    ReportKind,
    Section,
    Table,
    check_directory,
    csv_text,
    plain,
    simulation_section,
    write_directory,
)

NAN = math.nan
KIND = ReportKind("layout", 1, "urs-inspect layout", "layout", more=("more_*.svg",))


def tables() -> list[Table]:
    """Tables with every kind of cell and of decoration."""
    means = [estimate(7.5, 7.0, 8.0), estimate(5.0), estimate(NAN)]
    data = pd.DataFrame(
        {
            "block": [1, 1, 2],
            "model": ["p/a", "p|b", "<c>"],
            "mean": means,
            "people": [estimate(6.0, 5.0, 7.0), None, None],
            "count": [1234.0, 5.0, NAN],
            "holds": [True, np.bool_(False), None],
            "ratio": [1.5, math.inf, -math.inf],
        },
        dtype=object,
    )
    formats = {"mean": number(2), "count": number(0)}
    shown = Table(
        data,
        formats,
        headings={"model": "Model", "mean": "Mean"},
        shown=("model", "mean", "count"),
        title="A table",
        marked=[(0, "mean"), (2, "model")],
        bars=["mean"],
        relative=True,
        legend="How to read *it*.",
        links={(1, "model"): "b.html#x", (0, "mean"): "a.html"},
    )
    kept = Table(data, name="rows", main="mean", shown=(), estimates=("people", "absent"))
    more = Table(data[:1], name="rows", main="mean", shown=(), estimates=("people",), size="items")
    plain_table = Table(pd.DataFrame({"only": ["names"]}), title="Names")
    no_rows = Table(data[:0], formats, title="Nothing", legend="Not seen.")
    no_names = Table(pd.DataFrame({"a": [1.0], "b": [2.0]}), dict.fromkeys("ab", number(1)))
    return [shown, kept, more, plain_table, no_rows, no_names]


def report(**facts: Any) -> Report:
    """A report with all that a page may show."""
    answer = Excerpt("2.00", "Leisure, English", "Why <b>?", "So.", "Clarity 2", "Bad.", "a.html#1")
    card = Card("a", "rank 1, mean 7.50", {"Worst answers": [answer], "Best answers": []}, "a.html")
    screen = FirstScreen(
        "A is best.", ["Beware."], ["Basis."], tables()[0], ["Found."], commands=[("Do", "x -y")]
    )
    sections = [
        Section("First & last", ["A note.", "Beware."], tables(), warnings=["Beware."]),
        Section("A part", ["Another note."], [], 3, folded=True),
        Section("Elsewhere", ["Its note."], [tables()[3]], page="other.html"),
        Section("Elsewhere too", ["More."], [], page="other.html"),
        Section("On a third page", ["Its note."], [], page="third.html"),
    ]
    return Report(
        KIND,
        "A title",
        sections,
        {"unknown": NAN, "pairs": {("a", "b"): (1, math.inf)}, **facts},
        first=screen,
        cards=lambda: [card],
        appendix=lambda: [Section("Appendix", ["At the end."])],
    )


def test_a_report_as_markdown_csv_and_json() -> None:
    made = report()
    parts = [made.markdown()]
    for name, table in made.tables().items():
        parts.append(f"{name}.csv\n\n{csv_text(table)}")
    parts.append(made.json())
    check_golden("layout_files", "\n\n".join(parts))


def bare(page: str) -> str:
    """A page without style, scripts and their hashes."""
    page = re.sub(r"<style>.*?</style>", "<style></style>", page, flags=re.DOTALL)
    page = re.sub(r"(<script[^>]*>).*?</script>", r"\1</script>", page, flags=re.DOTALL)
    return re.sub(r"sha256-[\w+/=]+", "sha256-x", page)


def test_pages_of_a_report() -> None:
    made = report()
    pages = further_pages(made)
    assert list(pages) == ["other.html", "third.html"]
    assert [section.title for section in pages["other.html"].sections] == [
        "Elsewhere",
        "Elsewhere too",
    ]
    parts = [bare(render_page(made)), *(bare(render_page(page)) for page in pages.values())]
    check_golden("layout_pages", "\n".join(parts))


@pytest.mark.parametrize(
    ("sections", "facts", "banner"),
    [
        ([], {}, False),
        ([], {"simulated": True}, True),
        (simulation_section(True), {}, True),
        ([Section("S", [SIMULATED_SCREEN, "Note."])], {"simulated": False}, False),
    ],
)
def test_a_simulation_is_said_once_at_the_top_of_a_page(
    sections: list[Section], facts: dict[str, Any], banner: bool
) -> None:
    page = bare(render_page(Report(KIND, "Title", [*sections, Section("A", ["b"])], facts)))
    top, _, content = page.partition("<main")
    assert ("SIMULATION" in top) is banner
    assert "SIMULATION" not in content and SIMULATED_SCREEN not in page


@pytest.mark.parametrize(
    ("values", "low", "high", "ticks"),
    [
        ([0.0, 10.0], -0.6, 10.6, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]),
        ([1.0, 2.0, NAN], 0.94, 2.06, [1.0, 1.2, 1.4, 1.6, 1.8, 2.0]),
        ([4.0], 2.0, 6.0, [2.0, 3.0, 4.0, 5.0, 6.0]),
        ([-4.0], -6.0, -2.0, [-6.0, -5.0, -4.0, -3.0, -2.0]),
        ([], -1.0, 1.0, [-1.0, -0.5, 0.0, 0.5, 1.0]),
        ([0.0, math.inf], -1.0, 1.0, [-1.0, -0.5, 0.0, 0.5, 1.0]),
        ([950.0, 1250.0], 932.0, 1268.0, [1000.0, 1100.0, 1200.0]),
    ],
)
def test_an_axis_has_room_for_all_values_and_a_few_round_ticks(
    values: list[float], low: float, high: float, ticks: list[float]
) -> None:
    ends, found = _axis(values)
    assert ends == pytest.approx((low, high))
    assert found == pytest.approx(ticks)


def test_cells_of_a_page_know_their_numbers_and_shades() -> None:
    grid = _grid(tables()[0])
    first, second, third = grid.rows
    assert [(cell.text, cell.link, cell.marked) for cell in first] == [
        ("p/a", "", False),
        ("7.50 (7.00 to 8.00)", "a.html", True),
        ("1,234", "", False),
    ]
    assert (first[1].value, first[1].low, first[1].high) == (7.5, 7.0, 8.0)
    assert (first[1].shade, second[1].shade) == (1.0, 0.0)
    assert all(math.isnan(cell.shade) for cell in (first[0], second[0], third[1], third[2]))
    assert (second[0].link, third[0].marked, grid.keys) == ("b.html#x", True, ["", "mean", ""])
    assert (grid.bars, grid.names) == ([1], 1)
    assert grid.axis == pytest.approx((4.82, 8.18))
    assert (grid.across(4.82), grid.across(8.18), grid.across(6.5)) == (
        "0.00%",
        "100.00%",
        "50.00%",
    )


def test_a_column_of_equal_numbers_has_no_shades() -> None:
    table = Table(pd.DataFrame({"a": ["x", "y"], "b": [1.0, 1.0]}), {"b": number()}, relative=True)
    assert all(math.isnan(row[1].shade) for row in _grid(table).rows)
    plain_table = Table(pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]}), {"b": number()})
    assert all(math.isnan(row[1].shade) for row in _grid(plain_table).rows)


def test_nothing_in_a_script_ends_its_element() -> None:
    text = _json({"</script>": "<!-- & -->"})
    assert not {"<", ">", "&"} & set(text)
    assert json.loads(text) == {"</script>": "<!-- & -->"}


# --- files ---


@pytest.mark.parametrize("name", ["layout.md", "more_1.svg", "layout.json"])
def test_files_of_others_are_named_and_kept(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(name)):
        check_directory(tmp_path, KIND)
    (tmp_path / "layout.json").write_text('{"format": "layout"}', encoding="utf-8")
    check_directory(tmp_path, KIND)


def test_a_report_removes_what_an_earlier_one_wrote_and_nothing_else(tmp_path: Path) -> None:
    first: dict[str, str | bytes] = {
        "layout.json": '{"format": "layout", "tables": {"rows": []}}',
        "rows.csv": "a",
        "more_1.svg": b"<svg>",
    }
    write_directory(tmp_path / "new", first, KIND)
    (tmp_path / "new" / "own.csv").write_text("mine", encoding="utf-8")
    second = {"layout.json": '{"format": "layout"}', "layout.md": "b"}
    written = write_directory(tmp_path / "new", second, KIND)
    assert [path.name for path in written] == ["layout.json", "layout.md"]
    kept = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert kept == ["layout.json", "layout.md", "own.csv"]


def test_a_report_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    contents = {"layout.json": '{"format": "layout"}', "no/such/rows.csv": "a"}
    with pytest.raises(InputError):
        write_directory(tmp_path / "new", contents, KIND)
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "own.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError):
        write_directory(tmp_path / "old", contents, KIND)
    assert [path.name for path in (tmp_path / "old").iterdir()] == ["own.txt"]


@pytest.mark.parametrize(
    ("value", "held"),
    [
        (np.float64(1.5), 1.5),
        (np.bool_(True), True),
        ({("a", "b"): NAN, 1: [np.int64(2), (math.inf,)]}, {"a/b": None, "1": [2, [None]]}),
        (KIND, {**vars(KIND), "more": ["more_*.svg"]}),
        ("text", "text"),
        (None, None),
    ],
)
def test_what_json_holds(value: object, held: object) -> None:
    assert plain(value) == held


# --- figures ---


def marks(specification: Specification) -> list[tuple[str, dict[str, Any]]]:
    """The kind of mark of each layer, and the field of each of its channels."""
    layers = specification.get("layer") or specification["spec"]["layer"]
    found = []
    for layer in layers:
        channels = {}
        for channel, part in layer["encoding"].items():
            if isinstance(part, dict):
                channels[channel] = part.get("field", part.get("value"))
        mark = layer["mark"]
        found.append((mark if isinstance(mark, str) else mark["type"], channels))
    return found


MEANS = pd.DataFrame(
    {
        "model": ["a", "a", "b", "b", "c"],
        "language": ["English", "Chinese"] * 2 + ["English"],
        "mean": [5.0, 6.0, 7.0, 8.0, NAN],
        "low": [4.5, NAN, 6.5, 7.5, NAN],
        "high": [5.5, NAN, 7.5, 8.5, NAN],
    }
)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_dumbbell_plot_draws_ranges_intervals_and_means(width: int) -> None:
    drawn = dumbbell_plot(MEANS, width, "score")
    assert [(mark, channels["x"], channels.get("x2")) for mark, channels in marks(drawn)] == [
        ("rule", "mean", "mean"),
        ("rule", "low", "high"),
        ("point", "mean", None),
    ]
    rows = drawn["datasets"]["rows"]
    assert [row["model"] for row in rows] == ["a", "a", "b", "b"]
    assert rows[1]["low"] is None
    assert drawn["height"] == 2 * 26
    assert drawn["width"] == _room(width, pd.Series(["a", "b"]))
    without = dumbbell_plot(MEANS.assign(low=NAN, high=NAN), width, "score")
    assert [mark for mark, _ in marks(without)] == ["rule", "point"]
    assert "score" in json.dumps(drawn)


COSTS = pd.DataFrame(
    {
        "model": ["a", "b", "c", "d"],
        "cost": [1.0, 10.0, 5.0, NAN],
        "mean": [5.0, 6.0, 7.0, 8.0],
        "low": [4.0, 5.0, NAN, 7.0],
        "high": [6.0, 7.0, NAN, 9.0],
    }
)


@pytest.mark.parametrize(
    ("cheapest", "dearest", "kind"),
    [(1.0, 10.0, None), (1.0, 10.01, "log"), (0.0, 10.0, None), (0.5, 50.0, "log")],
)
def test_costs_more_than_ten_times_apart_are_on_a_logarithmic_axis(
    cheapest: float, dearest: float, kind: str | None
) -> None:
    drawn = cost_plot(COSTS.assign(cost=[cheapest, dearest, dearest, NAN]), WIDE)
    scale = drawn["layer"][0]["encoding"]["x"]["scale"]
    assert (scale.get("type"), scale.get("zero")) == (kind, None if kind else False)


def test_a_cost_plot_draws_intervals_points_and_names() -> None:
    drawn = cost_plot(COSTS, WIDE, "score")
    kinds = [mark for mark, _ in marks(drawn)]
    assert kinds[:2] == ["rule", "point"] and set(kinds[2:]) == {"text"}
    assert [row["model"] for row in drawn["datasets"]["rows"]] == ["a", "b", "c"]
    assert marks(drawn)[0][1]["y2"] == "high"
    without = cost_plot(COSTS.assign(low=NAN, high=NAN), WIDE)
    assert marks(without)[0][0] == "point"
    assert "$,.3~r" in json.dumps(drawn)


def test_names_stand_beside_their_points_on_the_side_with_room() -> None:
    rows = COSTS.dropna(subset="cost").reset_index(drop=True)
    sides = dict(_named(rows, 600, False)[["model", "side"]].to_numpy())
    assert sides == {"a": "left", "b": "right", "c": "left"}
    logarithmic = dict(_named(rows, 600, True)[["model", "side"]].to_numpy())
    assert logarithmic == {"a": "left", "b": "right", "c": "right"}


@pytest.mark.parametrize(
    ("costs", "means", "shown"),
    [
        ([0.0, 0.0, 100.0], [5.0, 5.0, 9.0], ["a", "c"]),
        ([0.0, 0.0, 100.0], [5.0, 5.3, 9.0], ["a", "b", "c"]),
        ([0.0, 40.0, 100.0], [5.0, 5.0, 9.0], ["a", "b", "c"]),
        ([0.0, 1.0, 100.0], [5.0, 5.0, 5.0], ["a", "c"]),
        ([40.0, 0.0, 100.0], [5.0, 5.0, 9.0], ["a", "b", "c"]),
    ],
)
def test_of_names_that_meet_the_first_is_kept(
    costs: list[float], means: list[float], shown: list[str]
) -> None:
    rows = pd.DataFrame({"model": list("abc"), "cost": costs, "mean": means})
    rows = rows.assign(low=NAN, high=NAN)
    assert list(_named(rows, 600, False)["model"]) == shown


@pytest.mark.parametrize(
    ("names", "room"),
    [
        (["a"], 780 - 90 - 6),
        (["a", "abcd"], 780 - 90 - 26),
        (["通义"], 780 - 90 - 24),
        (["x" * 100], 780 - 90 - 260),
        ([], 780 - 90),
    ],
)
def test_long_names_leave_less_room(names: list[str], room: int) -> None:
    assert _room(WIDE, pd.Series(names, dtype=object)) == pytest.approx(room, abs=1)


@pytest.mark.parametrize(("models", "behind"), [(1, True), (8, True), (9, False)])
def test_up_to_eight_models_have_all_lines_behind_each_panel(models: int, behind: bool) -> None:
    bins = pd.DataFrame(
        [
            {"model": f"m{place}", "length": length, "score": 5.0, "answers": 3}
            for place in range(models)
            for length in (10.0, 100.0)
        ]
    )
    wide, narrow = length_plot(bins, WIDE), length_plot(bins, NARROW)
    assert ("all" in wide["datasets"]) is behind
    assert wide["columns"] == min(3, models) and narrow["columns"] == 1
    assert len(wide["datasets"]["rows"]) == 2 * models


def test_a_page_has_each_figure_wide_and_narrow() -> None:
    def draw(name: str, width: int) -> Specification:
        return {"of": name, "width": width}

    names = ("one", "two", "three")
    figures = [Figure(name, "title", "caption", partial(draw, name)) for name in names]
    sections = [Section("A", figures=figures[:2]), Section("B"), Section("C", figures=figures[2:])]
    found = _specifications(sections)
    assert len(found) == 6
    for figure in figures:
        for size, width in (("wide", WIDE), ("narrow", NARROW)):
            assert found[f"{figure.name}-{size}"] == {"of": figure.name, "width": width}
