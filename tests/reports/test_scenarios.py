"""Reports of leaderboards that each have one special condition: what differs from a usual one."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from tests.reports.golden_files import check_golden, difference
from tests.reports.scenarios import SCENARIOS
from urs_inspect.cli._first_screen import screen_lines
from urs_inspect.reports.layout._tables import Report, csv_text, first_screen, plain
from urs_inspect.reports.words._leaderboard import report_leaderboard

WIDTH = 100
USUAL = "a_clear_best_of_two"
"""The one of which the whole text is kept; of the others, what differs from it."""
SHORT = ("several_rankings",)
"""Those of which only the sections that begin a ranking are kept."""
FACTS = (
    "one_model_lacks_scores",
    "languages_with_different_bests",
    "intents_reported_together",
    "missing_scores_of_every_outcome",
    "a_panel_that_failed_in_part",
    "lengths_that_overlap",
    "a_mix_of_languages",
    "people_turn_the_order",
    "several_rankings",
    "with_runs",
)
"""Those whose JSON facts are kept as well."""
CSV = (
    "a_tie",
    "missing_scores_of_every_outcome",
    "checks_of_the_judge",
    "several_epochs",
    "people_turn_the_order",
)
"""Those whose CSV files are kept as well."""


def rounded(value: Any) -> Any:
    """Numbers with four digits, which no library changes."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return value


def files_of(report: Report) -> Iterator[str]:
    """The CSV files of a report, their numbers rounded."""
    for name, table in report.tables().items():
        shown = table.map(lambda cell: rounded(plain(cell)))
        yield f"### {name}.csv\n\n{csv_text(shown)}"


@cache
def text_of(name: str) -> str:
    """All that a report says, without what it says of method and paper."""
    made = SCENARIOS[name]()
    report = report_leaderboard(made)
    screen = screen_lines(first_screen(report), WIDTH, ["All tables: --all."])
    parts = ["# On a terminal", "\n".join(line.rstrip() for line in screen)]
    kept = report.sections
    if name in SHORT:
        kept = [section for section in kept if section.title.startswith("Ranking")]
    parts.append(replace(report, sections=kept, appendix=tuple).markdown())
    for section in kept:
        for figure in section.figures:
            parts.append(f"Figure {figure.name}, {figure.title}: {figure.caption}")
    if name in FACTS:
        facts = {"rankings": report.facts["rankings"], "runs": report.facts["runs"]}
        kept_facts = {**report.facts, **facts}
        text = json.dumps(rounded(plain(kept_facts)), indent=1, ensure_ascii=False)
        parts.append(f"## JSON\n\n{text}")
    if name in CSV:
        parts.append("## CSV")
        parts += files_of(report)
    return "\n\n".join(parts).rstrip() + "\n"


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_report_of_a_scenario(name: str) -> None:
    text = text_of(name)
    assert not {"nan", "None", "inf"} & set(text.replace("|", " ").split())
    if name != USUAL:
        text = difference(text_of(USUAL), text)
    check_golden(f"scenarios/{name}", text)


def test_every_scenario_has_its_file_and_no_other_is_kept() -> None:
    from tests.reports.golden_files import _FOLDER

    kept = {path.stem for path in (_FOLDER / "scenarios").glob("*.md")}
    assert kept == set(SCENARIOS)


def test_the_runs_and_the_method_stand_at_the_end_of_a_report() -> None:
    report = report_leaderboard(SCENARIOS["with_runs"]())
    runs, method, *paper = report.appendix()
    assert [section.folded for section in (runs, method)] == [True, True]
    assert all(section.page for section in paper)
    shown = replace(report, sections=[runs, method], first=None, appendix=tuple)
    check_golden("runs_and_method", shown.markdown())
