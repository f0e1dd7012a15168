"""Models beside search engines and translators (URS paper, Tables 14 and 15)."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.datasets._published import load_published_urs
from urs_inspect.logs._files import short_name
from urs_inspect.reports._texts import Format, level_text, number
from urs_inspect.reports.layout._tables import (
    Report,
    ReportKind,
    Section,
    Table,
    simulation_section,
)
from urs_inspect.reports.numbers._comparison import ROUNDS
from urs_inspect.reports.numbers._scores import ALL
from urs_inspect.reports.words._comparison import best_sentence, pairs_table, reasons_apart
from urs_inspect.reports.words._published import published_section
from urs_inspect.stats._bootstrap import LEVEL, SEED, Resampling
from urs_inspect.studies._compared_assistants import (
    CHOSEN,
    EMPTY,
    FACTUAL,
    NO_RESULT,
    NOTHING,
    SCORED,
    TRANSLATION,
    Comparison,
    compare_assistants,
    read_assistants,
)

ASSISTANTS = ReportKind("urs-inspect assistants", 2, "urs-inspect paper assistants", "assistants")

_TITLES = {
    FACTUAL: "Factual QA (laid out as Table 14)",
    TRANSLATION: "Translation (laid out as Table 15)",
    CHOSEN: "Cases chosen by their ids",
}
_PUBLISHED = {FACTUAL: 14, TRANSLATION: 15}
_HEADINGS = {
    "service": "answered by",
    "mean": "score",
    "questions": "asked",
    "with_nothing": "nothing = 1",
}


def report_assistants(
    logs: Iterable[str],
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
    command: str = "",
) -> Report:
    """Report how models, search engines and translators compare (URS paper, Tables 14 and 15).

    Args:
        logs: Log files and directories of logs of `urs_assistants`.
        rounds: Rounds of the bootstrap over questions.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of the bootstrap.
        command: The command that makes the report.

    Returns:
        The report, with the tables `assistants` and `assistants_differences`; published tables
        follow the last comparison of their cases.

    Raises:
        InputError: If a name does not exist or nothing is left; the message reports what was
            skipped.
    """
    skipped = list[str]()
    answers, simulated = read_assistants(logs, skipped)
    comparisons, alone = compare_assistants(answers, Resampling(rounds, level, seed))
    for log in alone:
        skipped.append(f"{short_name(log)} was left out: not all others were asked its questions.")
    published = load_published_urs()
    sections = simulation_section(simulated)
    for cases, title in _TITLES.items():
        same = [one for one in enumerate(comparisons, start=1) if one[1].cases == cases]
        for place, (key, found) in enumerate(same, start=1):
            number_of = ""
            if len(same) > 1:
                number_of = f", {place} of {len(same)}"
            sections += _sections(found, key, title + number_of)
        if same and cases in _PUBLISHED:
            sections.append(published_section(published, _PUBLISHED[cases], judged=True))
    if skipped:
        sections.append(Section("Skipped", skipped))
    method = (
        (
            "Scored: questions with a score, of those asked. Difference: the first less the second,"
            " question by question."
        ),
        (
            f"Intervals: {level_text(level)}, bootstrap over questions, {rounds:,} rounds (seed"
            f" {seed}); epochs of a question are averaged first."
        ),
        (
            "A difference is significant where the p-value of its paired test is below"
            f" {1 - level:.2g} after Holm's correction; that one is not does not mean that they are"
            " equal."
        ),
    )
    sections.append(Section("Method", method))
    facts = {
        "comparisons": list(map(_facts, comparisons)),
        "simulated": simulated,
        "skipped": skipped,
        "command": command,
        "level": level,
        "rounds": rounds,
        "seed": seed,
    }
    return Report(ASSISTANTS, "Models and assistants", sections, facts)


def _facts(found: Comparison) -> dict[str, Any]:
    """A comparison in the JSON file."""
    names = ("cases", "questions", "common", "common_with_nothing")
    return {
        **{name: getattr(found, name) for name in names},
        "conditions": asdict(found.block.conditions),
        "differs_from_first": reasons_apart(found.block.differs_from_first),
        "without": [found.without[0]] if found.without[0] else [],
        "common_without": found.without[1] or None,
        "self_judged": found.services.set_index("service")["self_judged"].to_dict(),
    }


def _sections(found: Comparison, key: int, title: str) -> list[Section]:
    same = {
        "comparison": key,
        "cases": found.cases,
        "judge": ", ".join(found.block.conditions.judges),
    }
    tested = [
        (pair.first, pair.second, pair.difference, pair.p, pair.p_holm, pair.significant)
        for pair in found.pairs
    ]
    columns = ["first", "second", "difference", "p", "p_holm", "apart"]
    differences = _with(same, pd.DataFrame(tested, columns=columns))
    outcomes = (
        _outcomes_table(found.outcomes),
        Table(differences, name="assistants_differences", shown=(), main="difference"),
    )
    sections = [
        Section(title, _about_comparison(found), (_scores_table(found, same),)),
        Section("Outcomes of the answers", _about_answers(found), outcomes, 3),
    ]
    if found.pairs:
        named = [("", pair) for pair in found.pairs]
        pairs = pairs_table(found.compared, named, number(2, sign=True))
        sections.append(Section("Differences on the common questions", tables=(pairs,), level=3))
    return sections


def _with(same: Mapping[str, Any], data: pd.DataFrame) -> pd.DataFrame:
    """A table with columns before it that are the same in all rows."""
    return data.assign(**same)[[*same, *data]]


def _scores_table(found: Comparison, same: Mapping[str, Any]) -> Table:
    """The table `assistants`, and the mean score of each service."""
    became = []
    for _, counts in found.outcomes.iterrows():
        there = counts[counts > 0].sort_values(ascending=False, kind="stable")
        became.append(", ".join(f"{what} {count}" for what, count in there.items()))
    data = _with(same, found.services.drop(columns="self_judged"))
    data.insert(len(data.columns) - 1, "became", became)
    formats: dict[str, Format] = {"mean": number(2), "questions": str, "scored": str}
    if NOTHING in found.outcomes:
        formats["with_nothing"] = number(2)
    return Table(
        data,
        formats,
        name="assistants",
        headings=_HEADINGS,
        shown=("service", *formats),
        main="mean",
    )


def _outcomes_table(outcomes: pd.DataFrame) -> Table:
    """How many answers of each service had each outcome."""
    first = [what for what in (SCORED, EMPTY, NOTHING, NO_RESULT) if what in outcomes]
    data = outcomes[[*first, *outcomes.columns.difference(first)]]
    data.insert(0, "answers", data.sum(axis=1))
    table = data.rename_axis("answered by").reset_index()
    return Table(table, dict.fromkeys(map(str, data), str))


def _about_comparison(found: Comparison) -> list[str]:
    """Under which conditions answers were judged, which is best, and over how many questions."""
    facts = found.block.conditions
    lines = []
    for reason in reasons_apart(found.block.differs_from_first):
        lines.append(f"Not compared with the first table of these cases: {reason}")
    about_data = f"Data: {facts.data}. Rubric: {facts.rubric}. Prompts: {facts.prompts}."
    if facts.references:
        about_data += f" References: {facts.references}."
    lines += [f"Judge: {', '.join(facts.judges) or 'none'}.", about_data]
    asked = counted(found.questions, "question")
    services = counted(len(found.services), "service")
    if found.common:
        common = f"Questions with a score of every service: {found.common} of {found.questions}"
        lines.append(f"{common}; means are over these alone.")
    else:
        lines.append(f"None of {asked} has a score of all {services}, so there are no means.")
    left, gained = found.without
    if left:
        shared = counted(gained, "question")
        lines.append(f"Without the logs of {left}, the others share {shared}.")
    if found.pairs:
        if any(math.isnan(mean.low) for mean in found.services["mean"]):
            lines.append("Over so few questions there is no interval.")
        lines.append(best_sentence(found.compared, ALL))
    return lines


def _about_answers(found: Comparison) -> list[str]:
    notes = []
    if EMPTY in found.outcomes:
        notes.append("Empty answers have the lowest score, 1, without a judge.")
    if NOTHING in found.outcomes:
        notes.append(
            "A search that finds no page has no score, and its question is excluded for all. In"
            " the column 'nothing = 1' it has the lowest score, as an empty answer has, over the"
            f" {counted(found.common_with_nothing, 'question')} that are then common."
        )
    for service, own in zip(found.services["service"], found.services["self_judged"], strict=True):
        if own:
            notes.append(f"{service} judged {counted(own, 'answer')} of its own.")
    for service, reason in zip(found.services["service"], found.services["because"], strict=True):
        if reason:
            times = counted(int(found.outcomes.loc[service, NO_RESULT]), "time")
            notes.append(f"{service} failed {times}; the commonest reason is: {reason}")
    return notes
