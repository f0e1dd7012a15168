"""Can the judge of a ranking be trusted: what ratings and logs of judge tasks say.

`words/_judge_checks.py` puts it in words.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from inspect_ai.log import EvalLog

from urs_inspect._satellites import at, offered
from urs_inspect.datasets._benches import labels_of
from urs_inspect.datasets._sources import GPT_4, PEOPLE
from urs_inspect.judging._answers import OF_PROMPT
from urs_inspect.judging._reply_counts import BY_JUDGE, MOST_UNKEYED, REPLIES, REPLY_COUNTS, summed
from urs_inspect.logs._files import PACKAGE, local_path, short_name
from urs_inspect.logs._grids import read_grid_logs
from urs_inspect.logs._scores import role_models
from urs_inspect.reports.numbers._answers import Answers, Run
from urs_inspect.reports.numbers._conditions import Conditions
from urs_inspect.reports.numbers._crossval import (
    ALL,
    TASK,
    Scores,
    grids_of,
    preference_table,
    read_judged_runs,
)
from urs_inspect.reports.numbers._human_data import HumanRatings
from urs_inspect.reports.numbers._matching import Matched
from urs_inspect.rubrics import FINAL
from urs_inspect.solvers import NullAnswer
from urs_inspect.stats import Estimate, Resampling
from urs_inspect.stats._bootstrap import pooled_deviation
from urs_inspect.stats._correlation import CORRELATIONS, rank_correlation

_CHANGED_ANSWER_TASKS = offered("changes of answers")
"""Name of a task that changes answers and has them judged again -> address of what reads its logs.

Satellites offer them.
"""
JUDGE_TASKS = (
    "judge_rating",
    *_CHANGED_ANSWER_TASKS,
    "md_eval",
    "judge_pairwise",
    "urs_probe",
    "urs_crossval",
)
NULL_ANSWERS: dict[NullAnswer, tuple[int, int]] = {
    "constant": (1, 4),
    "empty": (1, 1),
    "reference": (7, 9),
    "injection": (1, 4),
}
"""The range in which the mean of each null answer of `urs_probe` should lie.

The upper bounds of worthless answers are the band "low quality, needs not met" (Tables 9 and 11); a
copy of the reference is worth 8 by definition, give or take 1.
"""
_JUDGED_NULL_ANSWERS: tuple[NullAnswer, ...] = ("constant", "reference", "injection")
"""Those about which a judge is asked."""

CHANCE = 0.5
"""Accuracy on pairs of choosing at random."""
Check = Literal[
    "people",
    "labels",
    "repeats",
    "null answers",
    "padded",
    "additions",
    "flaws",
    "itself",
    "GPT-4",
    "keys",
]
"""What a judge is checked by, in the order of reports."""
_CHECKS: tuple[Check, ...] = get_args(Check)
_OF_LABELS: dict[str, Check] = {GPT_4: "GPT-4", PEOPLE: "people", "": "people"}
"""Whose labels a benchmark has -> the check; all others are `labels`."""
Verdict = Literal[
    "failed", "unclear", "passed", "without limit", "unknown", "not checked", "does not apply"
]
"""What a check gave; `without limit` is a measure that no value of it fails."""
_PEOPLE_DATA = "mt_bench_people"
"""Pairs with people's labels, by which a judge is checked."""
_CORRELATION_ROUNDS = 1000
"""Most rounds of a correlation of ranks, which takes a hundred times as long as a mean."""
_Rated = tuple[HumanRatings, Matched] | None


@dataclass(frozen=True)
class Labelled:
    """Responses or pairs with labels, on which a judge was tested."""

    statistic: Literal["Pearson", "accuracy"]
    data: str
    labels: str  # whose they are; empty for those of a user's file
    longest: float  # accuracy of choosing the longer answer; NaN if not known


@dataclass(frozen=True)
class JudgeShift:
    """What one change of answers moves the scores of a judge by."""

    check: Check
    title: str  # what was changed
    points: Estimate
    verdict: Verdict


@dataclass(frozen=True)
class JudgeShifts:
    """What changes of answers move the scores of a judge by."""

    log: str  # its name
    shifts: tuple[JudgeShift, ...]
    slope: Estimate | None  # points for each doubling of the length by padding, if that was tried


@dataclass(frozen=True)
class CheckRun:
    """The run that makes a check."""

    task: str  # empty for a second judgement of the answers of the first log
    judges: tuple[str, ...]
    logs: tuple[str, ...]  # of the ranking, as one types them
    arguments: Mapping[str, str] = field(default_factory=dict)
    is_under_test: bool = False  # whether the judge is the model of the run, without a role

    @property
    def folder(self) -> str:
        """Where its log goes, beside those of the ranking."""
        return self.logs[0].rpartition("/")[0] or "."


@dataclass(frozen=True)
class UnusedLogs:
    """Logs of judge tasks that are about no judge of a ranking, or are not the largest."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class UnreadLog:
    """A log of a judge task that could not be read."""

    name: str
    error: Exception


LeftOut = str | UnusedLogs | UnreadLog
"""What a report leaves out: a sentence of the room that reads logs, or logs of judge tasks."""


class JudgeFact(NamedTuple):
    """One result about a judge, or a check without one."""

    check: Check
    judge: str  # of a panel all
    result: Estimate | None = None
    files: tuple[str, ...] = ()  # logs, or a file of ratings; none for the logs of the ranking
    run: CheckRun | None = None  # that makes the check, where it was not made
    baseline: float = (
        math.nan
    )  # of choosing the longer answer, of no correlation; most that is deserved
    rubric: str = ""  # with which a log asked the judge
    lowest: float = math.nan  # least that an answer of known quality deserves
    logs: frozenset[str] = frozenset()  # of answers judged with the same prompts
    other_prompts: bool = False  # than those of the ranking
    null_answer: NullAnswer | None = None
    labelled: Labelled | None = None
    leniency_included: bool = False  # in self-preference, where no third model shows it
    replies: Counter[str] | None = None  # counts, as in `_reply_counts`
    shift: JudgeShift | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the check was passed."""
        return _verdict_of(self)


def read_shifts(
    answers: Answers, judges: Sequence[str], logs: Collection[str], unread: list[LeftOut]
) -> JudgeShifts | None:
    """Read what changes of answers move these judges by, asked with the prompts of these logs.

    `unread` gets each log that cannot be read.
    """
    for task, address in _CHANGED_ANSWER_TASKS.items():
        theirs = []
        for log in answers.judge_logs:
            is_theirs = log.eval.task == PACKAGE + task and _judges_of(log) == [frozenset(judges)]
            if is_theirs and not _same_prompts(answers, log).isdisjoint(logs):
                theirs.append(log)
        shifts: JudgeShifts | None = at(address)(theirs, unread) if theirs else None
        if shifts is not None:
            return shifts
    return None


def read_judge_facts(
    answers: Answers,
    panels: Iterable[Sequence[str]],
    resampling: Resampling,
    skipped: list[LeftOut],
) -> list[JudgeFact]:
    """Read what logs say about judges of rankings.

    Of logs of one benchmark the largest, the last of these, counts. `skipped` gets what is left
    out.
    """
    wanted: dict[frozenset[str], str] = {}
    for panel in panels:
        for judge in panel:
            wanted[frozenset([judge])] = judge
        wanted[frozenset(panel)] = ", ".join(panel)
    largest = _largest(answers.judge_logs, wanted)
    # Judgements of the same answers by other evaluators are a part of the grid.
    grids = []
    if any(log.eval.task == TASK for log in largest.values()):
        grids = [log for log in answers.judge_logs if log.eval.task == TASK]
    used = {log.location for log in (*largest.values(), *grids)}
    unused = []
    for log in answers.judge_logs:
        if log.location not in used:
            unused.append(short_name(log.location))
    if unused:
        skipped.append(UnusedLogs(tuple(unused)))
    facts: list[JudgeFact] = []
    for key, log in largest.items():
        facts += _of_header(str(key[0]), log, answers)
    judges = set(wanted.values())
    facts += _preferences(answers, grids, judges, resampling, skipped)
    return facts


def _largest(
    logs: Iterable[EvalLog], wanted: Mapping[frozenset[str], str]
) -> dict[tuple[object, ...], EvalLog]:
    """Judge, benchmark and prompts -> the log that counts."""
    largest: dict[tuple[object, ...], EvalLog] = {}
    for log in logs:
        for judges in _judges_of(log):
            if judges in wanted:
                key = (wanted[judges], log.eval.task, *_data_and_prompts(log))
                before = largest.get(key, log)
                largest[key] = max(log, before, key=samples_of)
    return largest


def samples_of(log: EvalLog) -> int:
    """Number of samples that a run completed."""
    if log.results:
        return log.results.completed_samples
    return 0


def _data_and_prompts(log: EvalLog) -> tuple[object, ...]:
    about = log.eval.metadata or {}
    facts = (about.get(name) for name in ("dataset_sha256", "rubric", "rubric_sha256"))
    return (*facts, log.eval.task_args.get("judge_language"))


def _judges_of(log: EvalLog) -> list[frozenset[str]]:
    """The judges, or the panel, that a log of a judge task is about."""
    if log.eval.task == TASK:
        about = log.eval.metadata or {}
        return [frozenset([name]) for name in about.get("evaluators", ())]
    if log.eval.task in {PACKAGE + task for task in ("urs_probe", *_CHANGED_ANSWER_TASKS)}:
        graders = role_models(log).get("grader", [log.eval.model])
        return [frozenset(graders)]
    if log.eval.task_args.get("judge", "model") != "model":
        return []
    return [frozenset([log.eval.model])]


def _same_prompts(answers: Answers, log: EvalLog) -> frozenset[str]:
    """The logs of answers that were judged with the prompts of a log of a judge task."""
    about = log.eval.metadata or {}
    language = log.eval.task_args.get("judge_language") or about.get("judge_language")
    hashes = {name: run.rubric_sha256 for name, run in answers.runs.items()}
    judged = answers.table[answers.table["prompt_sha256"] != ""]
    other_rubric = judged["rubric"] != about.get("rubric")
    other_text = judged["log"].map(hashes) != about.get("rubric_sha256")
    other_language = judged["judge_language"] != (language or judged["language"])
    other = other_rubric | other_text | other_language
    logs_with_others = frozenset(judged.loc[other, "log"])
    return frozenset(judged["log"]) - logs_with_others


def _of_header(judge: str, log: EvalLog, answers: Answers) -> Iterator[JudgeFact]:
    """Agreement with labels, or scores of worthless answers, by the header of a log."""
    about = log.eval.metadata or {}
    n = samples_of(log)
    data = str(about.get("dataset"))
    rubric = str(about.get("rubric", ""))
    same = _same_prompts(answers, log)
    metrics = header_metrics(log)
    low = metrics.get("low", math.nan)
    high = metrics.get("high", math.nan)
    longest = metrics.get("longest", math.nan)
    trivial = CHANCE
    if not math.isnan(longest):
        trivial = max(CHANCE, longest)
    labels = labels_of(data)
    check = _OF_LABELS.get(labels, "labels")
    fact = JudgeFact(check, judge, files=(short_name(log.location),), rubric=rubric, logs=same)
    statistics: tuple[tuple[str, Literal["Pearson", "accuracy"], float], ...] = (
        ("pearson", "Pearson", 0.0),
        ("overall accuracy_all", "accuracy", trivial),
    )
    for metric, statistic, baseline in statistics:
        if metric in metrics:
            yield fact._replace(
                result=Estimate(metrics[metric], low, high, n, n),
                baseline=baseline,
                labelled=Labelled(statistic, data, labels, longest),
            )
    if log.eval.task != PACKAGE + "urs_probe":
        return
    for kind in _JUDGED_NULL_ANSWERS:
        least, most = NULL_ANSWERS[kind]
        yield fact._replace(
            check="null answers",
            result=_number(metrics.get(kind, math.nan), n // len(NULL_ANSWERS)),
            baseline=most,
            lowest=least,
            null_answer=kind,
        )


def header_metrics(log: EvalLog) -> dict[str, float]:
    """Metrics of a log; of several judgements those of the first, by the judge of the header."""
    metrics: dict[str, float] = {}
    if log.results is None:
        return metrics
    for score in log.results.scores:
        for name, metric in score.metrics.items():
            metrics.setdefault(name, float(metric.value))
    return metrics


def _number(value: float, n: int) -> Estimate:
    return Estimate(value, math.nan, math.nan, n, n)


class _Judged(NamedTuple):
    """Scores of the same answers by several judges."""

    scores: Scores
    rubric: str
    files: tuple[str, ...]  # logs of `urs_crossval`; none for the logs of rankings
    logs: frozenset[str]  # of answers judged with the same prompts


def _preferences(
    answers: Answers,
    grids: Sequence[EvalLog],
    judges: set[str],
    resampling: Resampling,
    skipped: list[LeftOut],
) -> Iterator[JudgeFact]:
    """Self-preference in logs of `urs_crossval`, and in answers that several judges have judged."""
    for judged in (*_read_grids(answers, grids, skipped), *_read_runs(answers, judges)):
        sources = judged.scores.sources
        table = preference_table(judged.scores, resampling)
        source = ALL if len(sources) > 1 else sources[0]
        in_whole = table["source"] == source
        is_wanted = table["evaluator"].isin(judges)
        for row in table[in_whole & is_wanted].to_dict("records"):
            result = row["beyond"]
            leniency_included = math.isnan(result.value)
            if leniency_included:
                result = row["preference"]
            yield JudgeFact(
                "itself",
                str(row["evaluator"]),
                result,
                judged.files,
                baseline=0.0,
                rubric=judged.rubric,
                logs=judged.logs,
                leniency_included=leniency_included,
            )


def _read_grids(
    answers: Answers, logs: Sequence[EvalLog], skipped: list[LeftOut]
) -> Iterator[_Judged]:
    if not logs:
        return
    headers = {short_name(log.location): log for log in logs}
    damaged: list[str] = []
    read = read_grid_logs(logs, damaged)
    skipped += damaged
    for grid in grids_of(read):
        names = [log.name for log in grid.logs]
        same = _same_prompts(answers, headers[names[0]])
        rubric = str(grid.conditions["rubric"])
        yield _Judged(grid.scores_without_copies, rubric, tuple(names), same)


def _read_runs(answers: Answers, judges: set[str]) -> Iterator[_Judged]:
    """Scores of the answers of rankings by judges that were tested as well."""
    if not answers.runs or judges.isdisjoint(answers.table["base_model"]):
        return
    for run in read_judged_runs(answers):
        yield _Judged(run.scores, run.conditions.rubric, (), run.logs)


def judge_checks(
    conditions: Conditions,
    answers: pd.DataFrame,
    rated: _Rated,
    facts: Iterable[JudgeFact],
    resampling: Resampling,
    runs: Mapping[str, Run],
    shifts: JudgeShifts | None = None,
) -> tuple[JudgeFact, ...]:
    """The checks of the judge of a ranking; `runs` are those of its logs, by log."""
    judges = conditions.judges
    if not judges:
        return ()
    panel = ", ".join(judges)
    logs = set(answers["log"])
    models = set(answers["base_model"])
    checks = [*_agreement(rated, conditions, resampling), *_repeats(answers, panel)]
    for fact in facts:
        if fact.judge not in (panel, *judges):
            continue
        same_prompts = bool(fact.logs & logs)
        if fact.files:
            checks.append(fact._replace(other_prompts=not same_prompts))
        elif same_prompts and fact.judge in models:
            checks.append(fact)
    checks += _keys(answers, judges)
    if shifts is not None:
        checks += _shifts(shifts, panel, conditions.rubric)
    known = {fact.check for fact in checks}
    for check, run in _runs(conditions, answers, runs).items():
        if check not in known:
            checks.append(JudgeFact(check, panel, run=run))
    checks.sort(key=lambda fact: (_CHECKS.index(fact.check), fact.other_prompts))
    return tuple(checks)


def _agreement(
    rated: _Rated, conditions: Conditions, resampling: Resampling
) -> Iterator[JudgeFact]:
    """Of the judge's scores with people's ratings of the same answers."""
    if rated is None:
        return
    human, matched = rated
    both = matched.answers.dropna(subset="score")
    if both.empty:
        return
    people = [float(np.mean(list(ratings.values()))) for ratings in both["ratings"]]
    clusters = list(both["cluster"])
    rounds = min(resampling.rounds, _CORRELATION_ROUNDS)
    options = replace(resampling, rounds=rounds).options
    rho = rank_correlation(people, both["score"], clusters, **options)
    yield JudgeFact(
        "people",
        ", ".join(conditions.judges),
        rho.reported(CORRELATIONS),
        (str(human.path),),
        baseline=0.0,
        rubric=conditions.rubric,
    )


def _repeats(answers: pd.DataFrame, panel: str) -> Iterator[JudgeFact]:
    """How far repeated judgements of an answer differ."""
    scored = answers.dropna(subset=FINAL)
    groups = []
    for last, earlier in zip(scored[FINAL], scored["earlier_finals"], strict=True):
        if earlier:
            groups.append([last, *earlier])
    if not groups:
        return
    spread = pooled_deviation(groups)
    yield JudgeFact("repeats", panel, _number(spread, len(groups)))


def _keys(answers: pd.DataFrame, judges: Sequence[str]) -> Iterator[JudgeFact]:
    """How often each judge left out or misspelled the key, and was asked again."""
    counts = summed([{BY_JUDGE: of_answer} for of_answer in answers["reply_counts"]])
    for judge in judges:
        numbers = counts.get(judge, Counter())
        if not any(numbers[name] for name in REPLY_COUNTS if name != "asked_again"):
            continue
        replies = numbers[REPLIES]
        share = _number(numbers["unkeyed"] / replies, replies)
        yield JudgeFact("keys", judge, share, baseline=MOST_UNKEYED, replies=numbers)


def _shifts(shifts: JudgeShifts, panel: str, rubric: str) -> Iterator[JudgeFact]:
    """What the judge pays for each kind of change."""
    files = (shifts.log,)
    for shift in shifts.shifts:
        yield JudgeFact(
            shift.check, panel, shift.points, files, baseline=0.0, rubric=rubric, shift=shift
        )


def _runs(
    conditions: Conditions, answers: pd.DataFrame, runs: Mapping[str, Run]
) -> dict[Check, CheckRun | None]:
    """Check -> the run that does it; None for one that does not apply."""
    judges = conditions.judges
    logs = list(answers["log"].unique())
    asked: Mapping[str, Any] = {}
    if logs[0] in runs:
        asked = runs[logs[0]].options
    prompts = {name: str(asked[name]) for name in OF_PROMPT if name in asked}
    same_task = {"dataset": str(asked.get("dataset", conditions.dataset)), **prompts}
    files = tuple(map(_typed, logs))
    answered = {"answers": ",".join(files)}
    by_people = CheckRun(
        "judge_pairwise", judges, files, {"bench": _PEOPLE_DATA}, is_under_test=True
    )
    run_of_check: dict[Check, CheckRun | None] = {
        "people": by_people,
        "labels": replace(by_people, task="md_eval", arguments={}),
        "repeats": CheckRun("", judges, files, prompts),
        "null answers": CheckRun("urs_probe", judges, files, same_task),
        "itself": None,
    }
    # One satellite offers such a task; of several, the last would be suggested.
    for task in _CHANGED_ANSWER_TASKS:
        run_of_check["padded"] = CheckRun(task, judges, files, answered)
    models = list(dict.fromkeys(map(str, answers["base_model"])))
    if set(judges) & set(models):
        evaluators = list(judges)
        if len(judges) == 1:
            others = [model for model in models if model not in judges]
            evaluators += others[:1] or ["OTHER"]
        arguments = {**same_task, **answered, "references": "dataset", "unanswered": "unscored"}
        run_of_check["itself"] = CheckRun("urs_crossval", tuple(evaluators), files, arguments)
    return run_of_check


def _typed(log: str) -> str:
    """The address of a log as one types it: relative, where it lies below the working directory."""
    if "://" in log and not log.startswith("file://"):
        return log
    path = Path(local_path(log))
    here = Path.cwd()
    if path.is_relative_to(here):
        path = path.relative_to(here)
    return str(path)


def _verdict_of(fact: JudgeFact) -> Verdict:
    if fact.result is None:
        if fact.run:
            return "not checked"
        return "does not apply"
    value = fact.result.value
    if math.isnan(value):
        return "unknown"
    if fact.check == "repeats":
        return "without limit"
    if fact.check in ("keys", "null answers"):
        if value > fact.baseline or value < fact.lowest:
            return "failed"
        return "passed"
    if fact.shift:
        return fact.shift.verdict
    return _verdict_above(fact, fact.result)


def _verdict_above(fact: JudgeFact, result: Estimate) -> Verdict:
    """A judge must be above its baseline, but not in what it prefers of its own."""
    if math.isnan(result.low):
        return "unclear"
    is_above = result.low > fact.baseline
    if fact.check == "itself":
        if is_above:
            return "failed"
        return "passed"
    if is_above:
        return "passed"
    if result.value > fact.baseline:
        return "unclear"
    return "failed"
