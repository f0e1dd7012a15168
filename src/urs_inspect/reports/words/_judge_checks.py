"""What a report says of the judge of a ranking: what it passed, and what was not checked."""

import math
from collections.abc import Sequence
from itertools import groupby

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.logs._naming import short_names
from urs_inspect.logs._scores import SIMULATED
from urs_inspect.reports._texts import COMMAND, DASH, Format, listed, number
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.reports.numbers._judge_checks import (
    CHANCE,
    FAILED,
    LABELS,
    NOT_CHECKED,
    NOT_MEANT,
    OTHER,
    OTHER_LABELS,
    PASSED,
    PEOPLE,
    UNCLEAR,
    UNKNOWN,
    JudgeFact,
)
from urs_inspect.reports.numbers._leaderboard import Ranking

JUDGE = "The judge"
"""Title of the section about a judge."""
_NUMBER = number(2)
_PERCENT = number(0, percent=True)
_MOST_FAILURES = 2
"""Most failed checks that a warning states in full."""
_TITLES = {
    FAILED: FAILED,
    UNCLEAR: "Unclear, as the interval leaves it open",
    PASSED: "Passed",
    "": "Measured",
    UNKNOWN: "Could not be determined",
    NOT_CHECKED: "Not checked",
    NOT_MEANT: NOT_MEANT,
}
"""Verdicts, the worst first, as titles."""


def judge_failed(ranking: Ranking) -> bool:
    """Whether the judge of a ranking failed a check."""
    return any(fact.verdict == FAILED for fact in ranking.judge_checks)


def failed_sentence(ranking: Ranking) -> str:
    """Which checks the judge failed, and what the others gave; empty if it failed none."""
    by_verdict: dict[str, list[JudgeFact]] = {}
    for fact in _worst(ranking):
        by_verdict.setdefault(fact.verdict, []).append(fact)
    failed = by_verdict.get(FAILED, [])
    if not failed:
        return ""
    judges = ranking.conditions.judges
    texts = [_failure(fact, judges) for fact in failed]
    results = listed(texts, separator="; ", most=_MOST_FAILURES)
    sentences = [f"JUDGE FAILED {counted(len(failed), 'CHECK', 'CHECKS')}: {results}."]
    for verdict in (UNCLEAR, PASSED, NOT_CHECKED):
        checks = [fact.check for fact in by_verdict.get(verdict, ())]
        if checks:
            sentences.append(f"{verdict.capitalize()}: {listed(checks)}.")
    return " ".join(sentences)


def _failure(fact: JudgeFact, judges: Sequence[str]) -> str:
    """A failed check, with what it was measured against."""
    if not fact.accuracy_on:
        return _in_words(fact, judges)
    trivial = "guessing is right on 50%"
    if fact.baseline > CHANCE:
        trivial = f"always choosing the longer answer is right on {_PERCENT(fact.baseline)}"
    right = f"right on {_PERCENT(fact.result)} of {fact.accuracy_on}; {trivial}"
    if len(judges) == 1:
        return right
    return f"{short_names(judges)[fact.judge]} is {right}"


def judge_sentence(ranking: Ranking) -> str:
    """What the checks of the judge gave, of each the worst result; empty without a judge."""
    judges = ranking.conditions.judges
    parts = []
    for verdict, facts in groupby(_worst(ranking), key=lambda fact: fact.verdict):
        if verdict != NOT_MEANT:
            results = [_in_words(fact, judges) for fact in facts]
            parts.append(f"{_TITLES[verdict]}: {listed(results)}.")
    if not parts:
        return ""
    who = "judge" if len(judges) == 1 else "judges"
    if all(name.startswith(SIMULATED) for name in judges):
        who = f"simulated {who}"
    if len(judges) > 1:
        who = f"panel of {len(judges)} {who}"
    return f"Checks of the {who}. {' '.join(parts)}"


def _worst(ranking: Ranking) -> list[JudgeFact]:
    """Of each check the worst result, the worst verdicts first."""
    severity = list(_TITLES)
    worst: dict[str, JudgeFact] = {}
    for fact in sorted(ranking.judge_checks, key=lambda fact: severity.index(fact.verdict)):
        worst.setdefault(fact.check, fact)
    return list(worst.values())


def _in_words(fact: JudgeFact, judges: Sequence[str]) -> str:
    """A check with its result."""
    if fact.result is None or math.isnan(fact.result.value):
        return fact.check
    about = [fact.measure]
    if fact.judge != ", ".join(judges):
        about.append(short_names(judges)[fact.judge])
    if fact.source.endswith(OTHER) and fact.check not in (PEOPLE, LABELS, OTHER_LABELS):
        about.append("other prompts")
    return f"{fact.check}, {_NUMBER(fact.result.value)} ({'; '.join(about)})"


def judge_section(ranking: Ranking, place: int) -> Section:
    """The section about the judge of a ranking, whose number is `place`."""
    facts = ranking.judge_checks
    judges = ranking.conditions.judges
    panel = ", ".join(judges)
    named = [f"{name} (simulated)" if name.startswith(SIMULATED) else name for name in judges]
    commands = [fact.source for fact in facts if fact.source.startswith(COMMAND)]
    doubts = [_doubt(fact) for fact in facts if fact.verdict in (FAILED, UNCLEAR)]
    notes = [f"Judged by {listed(named)}.", *doubts]
    if commands:
        notes += [
            "Run one of these, then this report again; its result appears here. (For people's"
            " ratings of these answers: --human.)",
            *commands,
        ]
    titles = [
        f"{fact.judge} {fact.check}: {fact.measure}".removeprefix(panel).strip(": ")
        for fact in facts
    ]
    columns = {
        "block": place,
        **pd.DataFrame(facts, dtype=object).drop(columns=["logs", "accuracy_on", "verdict"]),
        "n": [fact.result.n if fact.result else None for fact in facts],
        "verdict": [fact.verdict for fact in facts],
        "title": titles,
    }
    data = pd.DataFrame(columns, dtype=object)
    shown = data.assign(
        source=data["source"].where(~data["source"].isin(commands), "the command above")
    )
    formats: dict[str, Format] = {
        "result": _NUMBER,
        "verdict": lambda verdict: verdict or DASH,
        "n": number(0),
    }
    headings = {
        "title": "The judge",
        "source": "From",
        "result": "Result",
        "verdict": "Verdict",
        "n": "Samples",
    }
    tables = [
        Table(shown, formats, headings=headings, shown=list(headings)),
        Table(data, name="judge", main="result", shown=()),
    ]
    return Section(JUDGE, notes, tables, 3, doubts)


def _doubt(fact: JudgeFact) -> str:
    result = _NUMBER(fact.result)
    doubt = f"{fact.verdict}: {fact.judge}, {fact.check}: {result} ({fact.measure})."
    return f"{doubt[0].upper()}{doubt[1:]}"
