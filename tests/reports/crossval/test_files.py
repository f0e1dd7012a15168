"""The report as text, tables, JSON and figures."""

import csv
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.reports.crossval.grids import BOOTSTRAP, grid_table
from urs_inspect._util import InputError
from urs_inspect.reports.crossval import tables as sentences
from urs_inspect.reports.crossval.figures import draw_crossval
from urs_inspect.reports.crossval.reading import report_grid
from urs_inspect.reports.crossval.report import CrossvalReport, Grid, JudgedAnswers
from urs_inspect.reports.crossval.tables import CROSSVAL, markdown, order_text, sections_of, write_files
from urs_inspect.reports.output import report_json

NASTY = "m/<script>|*`名"
NAMES = {
    "means.csv",
    "rating_bias.csv",
    "orders.csv",
    "differences.csv",
    "self_preference.csv",
    "crossval.md",
    "crossval.json",
    "figure_4.svg",
    "figure_10.svg",
}


def grid(**changed) -> Grid:
    """Two evaluators, one of them tested; a failed judgement and a cell without any score."""
    up = [5, 6, 7, 8, 6, 7, 8, 9]
    finals: dict[tuple[str, str, str], list[float | None]] = {}
    for evaluator, more in (("m/a", 1), ("m/x", 0)):
        for source in ("m/a", "dataset"):
            finals[evaluator, source, "m/a"] = [value + more for value in up]
            finals[evaluator, source, NASTY] = [None, *[value - 1 + place % 2 for place, value in enumerate(up)][1:]]
            finals[evaluator, source, "m/none"] = [None] * 8
    return replace(report_grid(grid_table(finals), BOOTSTRAP), **changed)


def test_folds_without_spread_have_no_deviation() -> None:
    finals = {("m/a", "dataset", "m/same"): [8, 8, 8, 8], ("m/a", "dataset", "m/other"): [6, 8, 6, 8]}
    made = report(report_grid(grid_table(finals), BOOTSTRAP))
    [table] = [one for part in sections_of(made) for one in part.tables if "other, over folds" in one.headings]
    cells = dict(zip(table.headings, table.rows[0], strict=True))
    assert cells["same, over folds"] == "8.00"
    assert cells["other, over folds"] == "7.00 ± 1.41"  # folds of means 6 and 8
    alone = report(report_grid(grid_table({("m/a", "dataset", "m/x"): [6, 8]}, folds=1), BOOTSTRAP))
    assert not any(
        "±" in cell for part in sections_of(alone) for one in part.tables for row in one.rows for cell in row
    )


def report(*grids: Grid, **changed) -> CrossvalReport:
    given = {
        "grids": grids or (grid(),),
        "judged": (),
        "logs": ("one.eval",),
        "left_out": ("two.eval was left out.",),
        "simulated": False,
        "level": 0.95,
        "rounds": 500,
        "seed": 0,
        "command": "urs-inspect crossval logs",
    }
    return CrossvalReport(**{**given, **changed})


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_everything_is_written_and_nothing_is_nan(tmp_path: Path) -> None:
    written = write_files(report(), tmp_path / "out")
    assert {path.name for path in written} == NAMES == {path.name for path in (tmp_path / "out").iterdir()}
    for path in written:
        assert not re.search(r"\bnan\b", path.read_text(encoding="utf-8"), re.IGNORECASE), path.name
    found = rows(tmp_path / "out" / "means.csv")
    assert len(found) == 12
    assert (found[0]["evaluator"], found[0]["source"], found[0]["model"], found[0]["n"]) == ("m/a", "m/a", "m/a", "8")
    assert float(found[0]["mean"]) == 8 and float(found[0]["fold_1"]) == pytest.approx(7.5)
    assert found[1]["unscored"] == "1" and found[2]["mean"] == ""
    [first, *_] = rows(tmp_path / "out" / "rating_bias.csv")
    assert (first["model"], float(first["bias"])) == ("all", 0)
    preference = rows(tmp_path / "out" / "self_preference.csv")
    assert [one["source"] for one in preference] == ["m/a", "dataset", "all"]
    assert {one["preference"] for one in preference} == {"1.0"} and {one["others"] for one in preference} == {"m/x"}


def test_json_holds_the_whole_report() -> None:
    found = json.loads(report_json(CROSSVAL, report()))
    assert (found["format"], found["schema_version"]) == ("urs-inspect cross-validation", 1)
    [one] = found["grids"]
    assert one["cells"][2]["mean"]["value"] is None
    assert one["conditions"]["reference_score"] == 8
    assert one["preferences"][0]["result"]["preference"]["value"] == 1


def test_markdown_escapes_names_and_says_what_was_left_out() -> None:
    text = markdown(report(simulated=True))
    assert "<script>" not in text and r"\<script\>\|\*\`名" in text
    assert "SIMULATION" in text and "- two.eval was left out." in text and "- one.eval" in text
    assert "SIMULATION" not in markdown(report())
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", line)) >= 3 for line in tables)


def test_figures_of_an_earlier_report_do_not_stand_beside_new_tables(tmp_path: Path) -> None:
    two = report(grid(), grid(apart_because=("Other data.",)))
    names = {path.name for path in write_files(two, tmp_path / "out")}
    assert {"figure_4_2.svg", "figure_10_2.svg"} < names
    (tmp_path / "out" / "figure_4_mine.svg").write_text("mine", encoding="utf-8")
    later = {path.name for path in write_files(report(), tmp_path / "out")}
    assert names - later == {"figure_4_2.svg", "figure_10_2.svg"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == later | {"figure_4_mine.svg"}


def test_figures_are_svg_that_stays_the_same() -> None:
    found = draw_crossval(report(grid(), grid(apart_because=("Other data.",))))
    assert set(found) == {"figure_4.svg", "figure_10.svg", "figure_4_2.svg", "figure_10_2.svg"}
    assert found == draw_crossval(report(grid(), grid(apart_because=("Other data.",))))
    for content in found.values():
        texts = " ".join("".join(one.itertext()) for one in ElementTree.fromstring(content).iter() if "text" in one.tag)
        assert "Evaluator a" in texts and "references of the data" in texts
        assert not re.search(r"\bnan\b", texts, re.IGNORECASE)
    everything = found["figure_10.svg"].decode()
    assert "Rating bias by evaluator" in everything and "no score" in everything and "SIMULATION" not in everything
    # The best two of three are in Figure 4.
    assert "no score" not in found["figure_4.svg"].decode()
    assert b"SIMULATION" in draw_crossval(report(simulated=True))["figure_4.svg"]


def test_without_matplotlib_the_way_to_get_it_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"pip install 'urs-inspect\[viz\]'"):
        write_files(report(), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    write_files(report(), tmp_path / "out", figures=False)


def test_sections_say_why_a_part_is_empty() -> None:
    alone = report_grid(grid_table({("e", "s", "m"): [5, 6]}), BOOTSTRAP)
    sections = {section.title: section for section in sections_of(report(alone))}
    assert sections["Order of the models"].lines == ("Only one model was tested, so that there is no order.",)
    assert "No model is both tested and a source" in sections["Rating bias"].lines[0]
    assert "There is only one evaluator" in sections["Self-preference"].lines[0]
    assert "Judgements without a score" not in sections
    others = report_grid(grid_table({("e", "s", "m"): [5, 6], ("f", "s", "m"): [5, 6]}), BOOTSTRAP)
    assert "No evaluator is among the tested models" in sentences.no_preference(others)[0]
    grids = sections_of(report(grid(), grid(apart_because=("Other data: x, not y.",))))
    assert [one.title for one in grids if one.level == 2] == ["Grid 1", "Grid 2", "Left out", "Method"]
    assert any(one.lines[0] == "Apart from the first grid: Other data: x, not y." for one in grids if one.lines)


def test_stability_in_words() -> None:
    up = [5.0, 6, 7, 8] * 6
    more, less = [value + 1 + place % 2 for place, value in enumerate(up)], [value - 1 for value in up]
    finals = {("e", "s", "m"): more, ("e", "s", "n"): up, ("f", "s", "m"): more, ("f", "s", "n"): less}
    stable = report_grid(grid_table(finals), BOOTSTRAP)
    assert sentences.order(stable) == [
        "Stable: no two models change places over 2 settings. From the best: m, n.",
    ]
    assert order_text(stable.orders[0], {"m": "m", "n": "n"}) == "m > n"
    turned = report_grid(grid_table({**finals, ("f", "s", "m"): less, ("f", "s", "n"): more}), BOOTSTRAP)
    first, second = sentences.order(turned)
    assert first == (
        "Not stable: 1 of 1 pair of models change places over 2 settings. 1 pair can be told apart in both directions: "
        "there, who judges decides."
    )
    assert second == "m is ahead of n in 1 setting (told apart in 1) and behind in 1 (told apart in 1)."
    weak = [*up[:-1], up[-1] + 1]
    unclear = report_grid(grid_table({**finals, ("f", "s", "m"): up, ("f", "s", "n"): weak}), BOOTSTRAP)
    assert "No pair can be told apart in both directions" in sentences.order(unclear)[0]
    assert order_text(unclear.orders[1], {"m": "m", "n": "N"}) == "N ≥ m"


def test_ordinary_runs_have_a_section_of_their_own() -> None:
    judged = JudgedAnswers("urs", "", "urs 1", "1234", ("m/a", "m/x"), ("m/a",), 8, grid().preferences[:1], ("Note.",))
    found = report(grids=(), judged=(judged,))
    [section, *_] = sections_of(found)
    assert section.title == "Self-preference in ordinary runs" and "Note." in section.lines
    assert section.tables[0].headings[0] == "judge" and section.tables[0].rows[0][0] == "a"
    assert "references: those of the data" in section.lines[0]
    method = " ".join(sections_of(found)[-1].lines)
    assert "bootstrap over cases" in method and "fold" not in method and "≥" not in method
    assert draw_crossval(found) == {}


def test_tables_leave_out_providers_where_names_stay_distinct() -> None:
    scores: list[float | None] = [5, 6, 7]
    names = ("open/x/one", "open/x/two")
    finals = {(judge, source, model): scores for judge in names for source in ("dataset", *names) for model in names}
    found = {section.title: section for section in sections_of(report(report_grid(grid_table(finals), BOOTSTRAP)))}
    assert "Evaluators: open/x/one, open/x/two. References by: dataset, open/x/one" in " ".join(found["Grid"].lines)
    assert "Tested models: open/x/one, open/x/two." in " ".join(found["Grid"].lines)
    cells = {
        cell for one in found.values() for table in one.tables for row in (table.headings, *table.rows) for cell in row
    }
    assert {"one", "two", "dataset", "B = one", "one, over folds", "one ≥ two"} <= cells
    assert not any("open/x" in cell for cell in cells)
    finals |= {("other/one", source, model): scores for source in ("dataset", *names) for model in names}
    clash = sections_of(report(report_grid(grid_table(finals), BOOTSTRAP)))
    cells = {row[0] for one in clash for table in one.tables for row in table.rows}
    assert {"open/x/one", "other/one", "two"} <= cells and "one" not in cells


def test_nothing_is_made_up_where_nothing_has_a_score() -> None:
    nothing = report_grid(grid_table({("e", "s", "e"): [None, None], ("f", "s", "e"): [None, None]}), BOOTSTRAP)
    assert all(math.isnan(cell.mean.value) for cell in nothing.cells)
    assert "In no setting is there a case" in sentences.order(replace(nothing, models=("e", "g")))[0]
    assert "nan" not in markdown(report(nothing))
    assert draw_crossval(report(nothing))
