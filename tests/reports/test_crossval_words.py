"""What `urs-inspect robustness` says: each case of its sentences and tables, compared with files."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.reports.golden_files import check_golden, difference
from tests.reports.test_crossval import Finals, grid, grid_log
from tests.reports.test_scenarios import rounded
from tests.telling import tells
from urs_inspect.cli._first_screen import screen_lines
from urs_inspect.judging._reply_counts import REPLIES
from urs_inspect.reports.layout._tables import Report, csv_text, first_screen, plain
from urs_inspect.reports.numbers._conditions import Conditions
from urs_inspect.reports.numbers._crossval import (
    Grid,
    JudgedRuns,
    Scores,
    crossval_of,
    grids_of,
)
from urs_inspect.reports.words._crossval import crossval_report, stability, without_preference
from urs_inspect.stats import Resampling

HOW = Resampling(60, 0.95, 0)
UP = (5.0, 6.0, 7.0, 8.0, 6.0, 7.0, 8.0, 9.0, 5.0, 7.0, 6.0, 8.0)
Row = Sequence[float | None]


def moved(by: float, noise: int = 0) -> list[float | None]:
    """Scores that are so much higher, some of them by one more."""
    return [min(10.0, max(1.0, one + by + (noise * place) % 2)) for place, one in enumerate(UP)]


def both(first: dict[str, Row], second: dict[str, Row], source: str = "dataset") -> Finals:
    """Cells of two evaluators with one source of references."""
    cells = {("p/e", source, name): row for name, row in first.items()}
    return cells | {("p/f", source, name): row for name, row in second.items()}


def stable() -> Grid:
    """Two evaluators and two sources, in all of which the order is the same."""
    cells: dict[tuple[str, str, str], Row] = {}
    for evaluator, more in (("p/a", 0.5), ("p/e", 0.0)):
        for source in ("p/a", "dataset"):
            cells[evaluator, source, "p/a"] = moved(1 + more)
            cells[evaluator, source, "p/b"] = moved(0, 1)
            cells[evaluator, source, "p/c"] = moved(-2, 1)
    return grid(cells)


def turned(*, clearly: bool) -> Grid:
    """Two models that change places between two evaluators."""
    more, less = (moved(2, 1), moved(-2)) if clearly else (moved(0, 1), moved(0.4))
    third = moved(-4)
    return grid(
        both({"p/a": more, "p/b": less, "p/c": third}, {"p/a": less, "p/b": more, "p/c": third})
    )


def grids() -> dict[str, list[Grid]]:
    """Grids that are reported together, by what is special about them."""
    copied = {("p/a", "p/a", "p/a"): moved(1), ("p/e", "p/a", "p/a"): moved(0)}
    short: list[float | None] = [None, *moved(0, 1)[1:]]
    empty: list[float | None] = [None] * len(UP)
    lacking = both({"p/a": moved(1), "p/b": short}, {"p/a": moved(0), "p/b": empty})
    users = {f"c{place}": f"user {place // 3}" for place in range(len(UP))}
    cells = both({"p/a": moved(1), "p/b": moved(0, 1)}, {"p/a": moved(1), "p/b": moved(0, 1)})
    one = grid_log(cells)
    later = grid_log(
        both({"p/a": moved(2)}, {"p/a": moved(2)}), log="two.eval"
    )  # fmt: skip
    replies = Counter({REPLIES: 100, "unkeyed": 6, "asked_again": 2})
    counted = replace(one, reply_counts={"p/e": replies, "p/f": Counter({REPLIES: 100})})
    simulated = {
        ("urs_simulation/e", "dataset", "p/a"): moved(1),
        ("urs_simulation/e", "dataset", "p/b"): moved(0),
    }
    alone = {("p/e", "dataset", "p/a"): moved(1)}
    changes: tuple[dict[str, Any], ...] = (
        {"task_version": "2"},
        {"dataset_sha256": "x" * 64, "dataset": "other"},
        {"cases_sha256": "x" * 64},
        {"folds": 3},
        {"rubric_sha256": "x" * 64, "rubric": "own 2"},
        {"prompts_sha256": "x" * 64},
    )
    differing = [
        one,
        *(grid_log(alone, log=f"{place}.eval", **change) for place, change in enumerate(changes)),
    ]
    named: dict[str, list[Grid]] = {
        "stable": [stable()],
        "turned": [turned(clearly=True)],
        "perhaps_turned": [turned(clearly=False)],
        "one_setting": [grid({key: row for key, row in cells.items() if key[0] == "p/e"})],
        "one_model": [grid(alone)],
        "nothing_in_common": [grid(both({"p/a": moved(1), "p/b": empty}, {}))],
        "a_setting_lacks_scores": [grid(lacking)],
        "copies_and_clusters": [grid(copied, copies={"p/a": {"c1", "c2"}}, clusters=users)],
        "replaced_and_replies": grids_of([counted, later]),
        "simulated": [grid(simulated)],
        "several": grids_of(differing),
    }
    return named


def runs(**changed: Any) -> JudgedRuns:
    """Ordinary runs that two judges judged, one of them tested."""
    generator = np.random.default_rng(0)
    base = generator.integers(3, 8, size=(12, 1, 1, 1)).astype(float)
    lenient = np.array([1.0, 0.0])[:, None, None]
    own = np.array([[[1.5, 0.0, -1.0]], [[0.0, 0.0, -1.0]]])
    noise = generator.normal(0, 0.2, (12, 2, 1, 3))
    values = base + lenient + own + noise
    scores = Scores(("p/a", "p/x"), ("",), ("p/a", "p/b", "p/c"), values)
    conditions = Conditions((), "d", "a" * 64, "urs 1", "eeb6ce77", "", "1-A")
    usual: dict[str, Any] = {
        "conditions": conditions,
        "logs": frozenset({"a.eval", "b.eval"}),
        "scores": scores,
        "others": {},
        "copies": {},
    }
    return JudgedRuns(**{**usual, **changed})


def text_of(report: Report) -> str:
    """All that a report says."""
    return "\n\n".join(parts_of(report))


def parts_of(report: Report) -> Iterator[str]:
    screen = screen_lines(first_screen(report), 100, ["All tables: --all."])
    yield "# On a terminal\n\n" + "\n".join(screen)
    yield report.markdown()
    yield "Figures: " + ", ".join(report.figures)
    yield json.dumps(rounded(plain(report.facts)), ensure_ascii=False, indent=1)
    for name, table in report.tables().items():
        shown = table.map(lambda cell: rounded(plain(cell)))
        yield f"## {name}.csv\n\n{csv_text(shown)}"


def text_of_grids(found: list[Grid]) -> str:
    return text_of(crossval_report(crossval_of(found, [], HOW), ["one.eval"]))


def test_reports_of_grids() -> None:
    named = grids()
    usual = text_of_grids(named.pop("stable"))
    check_golden("scenarios_of_robustness/stable", usual)
    for name, found in named.items():
        shown = difference(usual, text_of_grids(found))
        check_golden(f"scenarios_of_robustness/{name}", shown)


def test_settings_of_either_order_and_without_a_common_case_are_counted() -> None:
    """Two evaluators and four sources: 4 settings of one order, 2 of the other, 2 of none."""
    empty: list[float | None] = [None] * len(UP)
    cells: dict[tuple[str, str, str], Row] = {}
    for evaluator in ("p/e", "p/f"):
        for source, ahead in (("s1", moved(3)), ("s2", moved(2)), ("s3", moved(-2)), ("s4", empty)):
            cells[evaluator, source, "p/a"] = ahead
            cells[evaluator, source, "p/b"] = moved(0)
    found = grid(cells)
    claim, reversal, lacking = stability(crossval_of([found], [], HOW).grids[0])
    assert tells(claim, "Not stable: 1 of 1 pair ... 6 settings ... 1 pair")
    assert tells(reversal, "p/a is ahead of p/b in 4 settings (4 sig ... 2 (2 sig")
    assert tells(lacking, "2 settings without")


def test_reports_of_ordinary_runs() -> None:
    usual = text_of_grids([stable()])
    noted = runs(
        others={"p/b": ("c.eval", "d.eval")},
        copies={"p/c": (2, 12)},
        conditions=replace(runs().conditions, references="p/model"),
        scores=replace(runs().scores, clusters=np.arange(12) // 2),
    )
    reports = {
        "runs": crossval_report(
            crossval_of([], [runs()], HOW), ["one.eval"], ["x.eval was left out."], "cmd"
        ),
        "runs_with_notes": crossval_report(crossval_of([], [noted], HOW)),
        "runs_beside_a_grid": crossval_report(crossval_of([stable()], [runs(), noted], HOW)),
    }
    for name, report in reports.items():
        shown = difference(usual, text_of(report))
        check_golden(f"scenarios_of_robustness/{name}", shown)


@pytest.mark.parametrize("name", ["models", "evaluators"])
def test_simulated_models_and_judges_are_labelled_in_ordinary_runs(name: str) -> None:
    scores = runs().scores
    changed: dict[str, Any] = {name: (*getattr(scores, name)[:-1], "urs_simulation/z")}
    simulated = replace(scores, **changed)
    for of_runs, is_labelled in ((scores, False), (simulated, True)):
        report = crossval_report(crossval_of([], [runs(scores=of_runs)], HOW))
        warned = " ".join(warning for part in report.sections for warning in part.warnings)
        assert ("simulated" in warned.lower()) is is_labelled


def test_why_runs_show_no_self_preference() -> None:
    scores = runs().scores
    found = {
        "no judge is tested": replace(scores, evaluators=("p/x", "p/y")),
        "one judge": replace(scores, evaluators=("p/a",)),
        "no judge": replace(scores, evaluators=()),
    }
    lines = []
    for name, given in found.items():
        for logs in (frozenset({"a"}), frozenset({"a", "b"})):
            text = without_preference(runs(scores=given, logs=logs))
            lines.append(f"- {name}, {len(logs)}: {text}")
    check_golden("robustness_without_preference", "\n".join(lines) + "\n")
