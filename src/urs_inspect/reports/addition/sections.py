"""A report of additions as sections of lines and tables, for the terminal and for Markdown alike."""

import math
from collections.abc import Mapping
from itertools import groupby

from urs_inspect.rating import MeanInterval
from urs_inspect.reports.addition.report import AdditionReport, AdditionResult, AdditionTable
from urs_inspect.reports.intent.page.formats import NONE, share_text
from urs_inspect.reports.published_section import published_section
from urs_inspect.reports.sections import Section, TextTable
from urs_inspect.texts import counted

SIMULATION = "SIMULATION: models whose names begin with `urs_simulation/` are simulated; their results mean nothing."

_COUNTED = {"right": "right", "wrong": "wrong", "no_number": "no number", "no_response": "empty"}
_PUBLISHED = 7


def sections_of(report: AdditionReport) -> list[Section]:
    """The sections of a report in their order."""
    found: list[Section] = []
    for number, table in enumerate(report.tables, start=1):
        found += _table(table, "" if len(report.tables) == 1 else f", {number} of {len(report.tables)}")
    found.append(published_section(_PUBLISHED, judged=False))
    if report.left_out:
        found.append(Section("Left out", 2, report.left_out))
    found.append(Section("Method", 2, _METHOD))
    return found


_METHOD = (
    "Max L: the longest chains of which 80% and more are right, whatever became of shorter ones; unbroken: the longest "
    "such that no shorter ones have less.",
    "Accuracy is over chains of 2 to 9 numbers, with its 95% score interval (Wilson); answers to a chain in several "
    "epochs are averaged first. An answer without a number, or an empty one, is wrong. Unscored ones do not count.",
)


def _table(table: AdditionTable, number: str) -> list[Section]:
    apart = [f"Apart from the first table: {reason}" for reason in table.apart_because]
    facts = table.conditions
    lines = (
        *apart,
        f"{counted(facts.chains, 'chain')}, asked in '{facts.language}' ({facts.prompt_version} "
        f"{facts.prompt_sha256[:8]}).",
        *_notes(table),
    )
    return [
        Section(f"Addition (laid out as Table 7){number}", 2, lines, (_results(table),)),
        Section("Right answers by how many numbers there were to add", 3, (), (_by_length(table),)),
        Section("What became of the answers", 3, (), (_outcomes(table),)),
    ]


def _results(table: AdditionTable) -> TextTable:
    headings = ("model", "Max L", "right at Max L", "unbroken", "accuracy", "interval", "chains")
    rows = tuple(
        (
            one.model,
            str(one.longest or NONE),
            _with_interval(one.at_longest),
            str(one.unbroken or NONE),
            _percent(one.accuracy.mean),
            _interval(one.accuracy) or NONE,
            str(one.accuracy.n),
        )
        for one in table.models
    )
    return TextTable(headings, rows, 1)


def _notes(table: AdditionTable) -> list[str]:
    notes = []
    for one in table.models:
        if one.unscored:
            why = ", ".join(f"{_named(what)} {count}" for what, count in _unscored(one).items())
            of = sum(one.outcomes.values())
            notes.append(f"{one.model}: {one.unscored} of {counted(of, 'answer')} not scored and not counted ({why}).")
        if one.epochs > 1:
            notes.append(f"{one.model}: each chain was asked in {one.epochs} epochs.")
    if any(one.accuracy.n == 0 for one in table.models):
        notes.append("Without chains of 2 to 9 numbers there is no accuracy to lay beside Table 7.")
    reached = [one.at_longest for one in table.models if one.longest]
    if widest := max(reached, key=lambda found: found.high - found.low, default=None):
        notes.append(
            f"Max L is coarse where chains of a length are few: {share_text(widest.mean)} right of "
            f"{counted(widest.n, 'chain')} has a 95% interval of {_interval(widest)}%."
        )
    return notes


def _by_length(table: AdditionTable) -> TextTable:
    rows = tuple((one.model, _lengths(one.by_length)) for one in table.models)
    return TextTable(("model", "numbers: right"), rows, 2)


def _lengths(by_length: Mapping[int, MeanInterval]) -> str:
    """Accuracies by length, neighbours that are equal together: `2–6: 100%, 7: 90%`."""
    parts = []
    # Neighbours have one number less their place in common.
    numbered = enumerate(by_length.items())
    for (_, shown), group in groupby(numbered, key=lambda one: (one[1][0] - one[0], share_text(one[1][1].mean))):
        lengths = [length for _, (length, _) in group]
        parts.append(f"{lengths[0]}{f'–{lengths[-1]}' if len(lengths) > 1 else ''}: {shown}")
    return ", ".join(parts)


def _outcomes(table: AdditionTable) -> TextTable:
    others = sorted({what for one in table.models for what in _unscored(one)})
    rows = tuple(
        (
            one.model,
            str(sum(one.outcomes.values())),
            *[str(one.outcomes.get(what, 0)) for what in (*_COUNTED, *others)],
        )
        for one in table.models
    )
    return TextTable(("model", "answers", *_COUNTED.values(), *map(_named, others)), rows, 1)


def _unscored(one: AdditionResult) -> dict[str, int]:
    return {what: count for what, count in one.outcomes.items() if what not in _COUNTED}


def _named(outcome: str) -> str:
    return outcome.removeprefix("unscored_").replace("_", " ")


def _percent(share: float) -> str:
    return NONE if math.isnan(share) else f"{100 * share:.1f}%"


def _interval(found: MeanInterval) -> str:
    return "" if math.isnan(found.low) else f"{100 * found.low:.0f}–{100 * found.high:.0f}"


def _with_interval(found: MeanInterval) -> str:
    return f"{share_text(found.mean)} ({_interval(found)})" if found.n else NONE
