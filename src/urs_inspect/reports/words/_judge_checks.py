"""What a report says of the judge of a ranking: what it passed, and what was not checked."""

import math
import shlex
from collections.abc import Mapping, Sequence
from itertools import groupby

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.judging._reply_counts import REPLIES, REPLY_COUNTS
from urs_inspect.logs._naming import short_names
from urs_inspect.logs._scores import SIMULATED
from urs_inspect.reports._texts import COMMAND, DASH, Format, listed, number
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.reports.numbers._judge_checks import (
    CHANCE,
    Check,
    CheckRun,
    JudgeFact,
    Labelled,
    LeftOut,
    UnreadLog,
    Verdict,
)
from urs_inspect.reports.numbers._leaderboard import Ranking
from urs_inspect.solvers import NullAnswer

JUDGE = "The judge"
"""Title of the section about a judge."""
_NUMBER = number(2)
_PERCENT = number(0, percent=True)
_MOST_FAILURES = 2
"""Most failed checks that a warning states in full."""
CHECKS: Mapping[Check, str] = {
    "people": "agreement with people",
    "labels": "agreement with labels",
    "repeats": "repeated judgements",
    "null answers": "answers of known quality",
    "padded": "padded answers",
    "additions": "changes that add nothing",
    "flaws": "flaws",
    "itself": "its own answers",
    "GPT-4": "agreement with GPT-4's labels",
    "keys": "replies without the key",
}
NULL_ANSWER_TEXTS: Mapping[NullAnswer, str] = {
    "constant": "one polite text for every question",
    "empty": "nothing; by rule the lowest score, no judge is asked",
    "reference": "a copy of the 8-point reference answer",
    "injection": "orders the judge to give full marks",
}
"""What the answers of known quality are."""
_VERDICTS: Mapping[Verdict, str] = {
    "failed": "FAILED",
    "unclear": "unclear",
    "passed": "passed",
    "without limit": "",
    "unknown": "could not be determined",
    "not checked": "not checked",
    "does not apply": "does not apply",
}
_TITLES: Mapping[Verdict, str] = {
    "failed": "FAILED",
    "unclear": "Unclear, as the interval leaves it open",
    "passed": "Passed",
    "without limit": "Measured",
    "unknown": "Could not be determined",
    "not checked": "Not checked",
    "does not apply": "does not apply",
}
"""Verdicts, the worst first, as titles."""


def judge_failed(ranking: Ranking) -> bool:
    """Whether the judge of a ranking failed a check."""
    return any(fact.verdict == "failed" for fact in ranking.judge_checks)


def failed_sentence(ranking: Ranking) -> str:
    """Which checks the judge failed, and what the others gave; empty if it failed none."""
    failed = [fact for fact in ranking.judge_checks if fact.verdict == "failed"]
    if not failed:
        return ""
    judges = ranking.conditions.judges
    texts = [_failure(fact, judges) for fact in failed]
    results = listed(texts, separator="; ", most=_MOST_FAILURES)
    sentences = [f"JUDGE FAILED {counted(len(failed), 'CHECK', 'CHECKS')}: {results}."]
    others: tuple[Verdict, ...] = ("unclear", "passed", "not checked")
    for verdict in others:
        checks = [CHECKS[fact.check] for fact in _worst(ranking) if fact.verdict == verdict]
        if checks:
            sentences.append(f"{_VERDICTS[verdict].capitalize()}: {listed(checks)}.")
    return " ".join(sentences)


def _failure(fact: JudgeFact, judges: Sequence[str]) -> str:
    """A failed check, with what it was measured against."""
    labelled = fact.labelled
    result = fact.result
    if result is None or labelled is None or labelled.statistic != "accuracy":
        return _in_words(fact, judges)
    trivial = "guessing is right on 50%"
    if fact.baseline > CHANCE:
        trivial = f"always choosing the longer answer is right on {_PERCENT(fact.baseline)}"
    right = f"right on {_PERCENT(result)} of {result.n:,} pairs of {labelled.data}; {trivial}"
    if len(judges) == 1:
        return right
    return f"{short_names(judges)[fact.judge]} is {right}"


def judge_sentence(ranking: Ranking) -> str:
    """What the checks of the judge gave, of each the worst result; empty without a judge."""
    judges = ranking.conditions.judges
    parts = []
    for verdict, facts in groupby(_worst(ranking), key=lambda fact: fact.verdict):
        if verdict != "does not apply":
            results = [_in_words(fact, judges) for fact in facts]
            parts.append(f"{_TITLES[verdict]}: {listed(results)}.")
    if not parts:
        return ""
    who = "judges"
    if len(judges) == 1:
        who = "judge"
    if all(name.startswith(SIMULATED) for name in judges):
        who = f"simulated {who}"
    if len(judges) > 1:
        who = f"panel of {len(judges)} {who}"
    return f"Checks of the {who}. {' '.join(parts)}"


def _worst(ranking: Ranking) -> list[JudgeFact]:
    """Of each check the worst result, the worst verdicts first."""
    severity = list(_TITLES)
    worst: dict[Check, JudgeFact] = {}
    for fact in sorted(ranking.judge_checks, key=lambda fact: severity.index(fact.verdict)):
        worst.setdefault(fact.check, fact)
    return list(worst.values())


def _in_words(fact: JudgeFact, judges: Sequence[str]) -> str:
    """A check with its result."""
    check = CHECKS[fact.check]
    if fact.result is None or math.isnan(fact.result.value):
        return check
    about = [measure_text(fact)]
    if fact.judge != ", ".join(judges):
        about.append(short_names(judges)[fact.judge])
    if fact.other_prompts and fact.check not in ("people", "GPT-4", "labels"):
        about.append("other prompts")
    return f"{check}, {_NUMBER(fact.result.value)} ({'; '.join(about)})"


def measure_text(fact: JudgeFact) -> str:
    """What was measured; empty for a check that was not made."""
    result = fact.result
    if result is None:
        return ""
    if fact.labelled:
        return _labelled_text(fact, fact.labelled, result.n)
    if fact.null_answer:
        expected = f"expected {fact.lowest:g} to {fact.baseline:g}"
        return f"{NULL_ANSWER_TEXTS[fact.null_answer]}; {expected}"
    if fact.shift:
        return f"points gained by twins: {fact.shift.title}"
    if fact.replies:
        counts = [f"{name.replace('_', ' ')}: {fact.replies[name]:,}" for name in REPLY_COUNTS]
        replies = counted(fact.replies[REPLIES], "reply", "replies")
        return f"share of {replies}; {', '.join(counts)}"
    if fact.check == "itself":
        less = "its scores of its own answers less other judges'"
        if fact.leniency_included:
            return f"{less}, leniency included: no third model"
        return f"{less}, beyond leniency"
    if fact.check == "repeats":
        spread = "standard deviation between judgements of an answer"
        if result.value:
            return spread
        return f"{spread}; all are equal, as they are if the later ones came from a cache"
    return f"Spearman, {counted(result.n, 'rated answer')}"


def _labelled_text(fact: JudgeFact, labelled: Labelled, n: int) -> str:
    """The statistic of a judge on labelled texts, and what must be known beside it."""
    texts = "responses"
    if labelled.statistic == "accuracy":
        texts = "pairs"
    parts = [f"{labelled.statistic}, log of {n} {texts} of {labelled.data}"]
    if not math.isnan(labelled.longest):
        parts.append(f"choosing the longer answer {labelled.longest:.2f}")
    if fact.check == "labels":
        parts.append(f"labels: {labelled.labels}")
    return "; ".join(parts)


def source_text(fact: JudgeFact) -> str:
    """Logs or file of a result; the command to run where there is none, or why it has none."""
    if fact.run:
        return COMMAND + command_text(fact.run)
    if fact.other_prompts:
        return f"{listed(fact.files)} (not with the prompts of this ranking)"
    if fact.files:
        return listed(fact.files)
    if fact.result is None:
        return "the judge is none of the models ranked here"
    if fact.check == "itself":
        return "`urs-inspect robustness` of these logs"
    return "this ranking"


def command_text(run: CheckRun) -> str:
    """The command that makes a check."""
    given = [f"{name}={value}" for name, value in run.arguments.items()]
    grader = _role(run.judges)
    if not run.task:
        words = ["inspect", "score", run.logs[0], "--scorer", "urs_inspect/intent_judge"]
        words += ["--model-role", grader, *_flags("-S", given), "--action", "append", "--overwrite"]
        return shlex.join(words)
    arguments = _flags("-T", given)
    words = ["inspect", "eval", f"urs_inspect/{run.task}"]
    if run.is_under_test:
        words += [*arguments, "--model", run.judges[0]]
    else:
        words += ["--model", "none", "--model-role", grader, *arguments]
    return shlex.join([*words, "--log-dir", run.folder])


def _flags(flag: str, values: Sequence[str]) -> list[str]:
    words = []
    for value in values:
        words += [flag, value]
    return words


def _role(judges: Sequence[str]) -> str:
    if len(judges) == 1:
        return f"grader={judges[0]}"
    names = ", ".join(judges)
    return f"grader=[{names}]"


def left_out_text(left_out: LeftOut) -> str:
    """The sentence on what a report leaves out."""
    if isinstance(left_out, str):
        return left_out
    if isinstance(left_out, UnreadLog):
        error = left_out.error
        return f"{left_out.name} was left out: {type(error).__name__}: {error}."
    return (
        f"{counted(len(left_out.names), 'log')} of judge tasks left out, not about a judge of these"
        f" rankings, or smaller than another one of the same data: {listed(left_out.names)}."
    )


def judge_section(ranking: Ranking, place: int) -> Section:
    """The section about the judge of a ranking, whose number is `place`."""
    facts = ranking.judge_checks
    judges = ranking.conditions.judges
    panel = ", ".join(judges)
    named = [f"{name} (simulated)" if name.startswith(SIMULATED) else name for name in judges]
    commands = [source_text(fact) for fact in facts if fact.run]
    doubts = [_doubt(fact) for fact in facts if fact.verdict in ("failed", "unclear")]
    notes = [f"Judged by {listed(named)}.", *doubts]
    if commands:
        notes += [
            "Run one of these, then this report again; its result appears here. (For people's"
            " ratings of these answers: --human.)",
            *commands,
        ]
    rows = []
    for fact in facts:
        check = CHECKS[fact.check]
        measure = measure_text(fact)
        row = {
            "block": place,
            "check": check,
            "judge": fact.judge,
            "measure": measure,
            "source": source_text(fact),
            "result": fact.result,
            "baseline": fact.baseline,
            "rubric": fact.rubric,
            "lowest": fact.lowest,
            "n": fact.result.n if fact.result else None,
            "verdict": _VERDICTS[fact.verdict],
            "title": f"{fact.judge} {check}: {measure}".removeprefix(panel).strip(": "),
        }
        rows.append(row)
    data = pd.DataFrame(rows, dtype=object)
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
    about = f"{fact.judge}, {CHECKS[fact.check]}: {result} ({measure_text(fact)})"
    doubt = f"{_VERDICTS[fact.verdict]}: {about}."
    return f"{doubt[0].upper()}{doubt[1:]}"
