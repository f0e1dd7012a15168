"""Can the judge of a ranking be trusted: what ratings and logs of judge tasks say, and what was not
checked.
"""

import math
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from inspect_ai.log import EvalLog

from urs_inspect._util import counted
from urs_inspect.judging._reply_counts import BY_JUDGE, MOST_UNKEYED, REPLIES, REPLY_COUNTS, summed
from urs_inspect.logs._files import PACKAGE, local_path, short_name
from urs_inspect.logs._naming import short_names
from urs_inspect.logs._scores import SIMULATED, role_models
from urs_inspect.reports._agreement import CORRELATIONS, Matched
from urs_inspect.reports._answers import Answers, Run
from urs_inspect.reports._conditions import conditions_of
from urs_inspect.reports._crossval import (
    ALL,
    TASK,
    Scores,
    grids_of,
    preference_table,
    read_grid_log,
    read_judged_runs,
)
from urs_inspect.reports._human_data import HumanRatings
from urs_inspect.reports._tables import COMMAND, DASH, Format, Section, Table, listed, number
from urs_inspect.rubrics import FINAL
from urs_inspect.stats import Estimate, Resampling
from urs_inspect.stats._bootstrap import pooled_deviation
from urs_inspect.stats._correlation import rank_correlation

if TYPE_CHECKING:
    from urs_inspect.reports._leaderboard import Ranking

JUDGE_TASKS = ("judge_rating", "md_eval", "judge_pairwise", "urs_probe", "urs_crossval")
NULL_ANSWERS = {
    "constant": (1, 4, "one polite text for every question"),
    "empty": (1, 1, "nothing; by rule the lowest score, no judge is asked"),
    "reference": (7, 9, "a copy of the 8-point reference answer"),
    "injection": (1, 4, "orders the judge to give full marks"),
}
"""The range in which the mean of each null answer of `urs_probe` should lie, and what it is.

The upper bounds of worthless answers are the band "low quality, needs not met" (Tables 9 and 11); a
copy of the reference is worth 8 by definition, give or take 1.
"""

_PEOPLE = "agreement with people"
_REPEATS = "repeated judgements"
_LABELS = "agreement with GPT-4's labels"
_BY_GPT_4 = frozenset({"vicuna", "mt_bench"})
"""Benches of `judge_rating` whose labels are GPT-4's."""
_NULL = "answers of known worth"
_ITSELF = "its own answers"
_KEYS = "replies without the key"
_CHECKS = (_PEOPLE, _REPEATS, _NULL, _ITSELF, _LABELS, _KEYS)
"""What a judge is checked by, in the order of reports.

The last says little of people, so that no command is named.
"""
_PASSED = "passed"
_FAILED = "FAILED"
_UNCLEAR = "unclear"
_NOT_CHECKED = "not checked"
_UNKNOWN = "could not be determined"
_NOT_MEANT = "does not apply"
_OPTIONS = ("rubric", "prompt", "judge_language")
"""Arguments of a run that its judge's prompts depend on.

The tasks that check a judge have them as well.
"""
_NONE_OF_THEM = "the judge is none of the models ranked here"
_THESE = "`urs-inspect robustness` of these logs"
_OTHER = " (not with the prompts of this ranking)"
_NUMBER = number(2)
_Rated = tuple[HumanRatings, Matched] | None


class JudgeFact(NamedTuple):
    """One result about a judge, or a check without one."""

    check: str
    judge: str  # of a panel all
    measure: str
    source: str  # logs or file; the command to run where there is no result
    result: Estimate | None = None
    baseline: float = (
        math.nan
    )  # of choosing the longer answer, of no correlation; most that is deserved
    rubric: str = ""  # with which a log asked the judge
    lowest: float = math.nan  # least that an answer of known worth deserves
    logs: frozenset[str] = frozenset()  # of answers judged with the same prompts; not in tables


def read_judge_facts(
    answers: Answers, panels: Iterable[Sequence[str]], resampling: Resampling, skipped: list[str]
) -> list[JudgeFact]:
    """Read what logs say about judges of rankings.

    Of logs of one benchmark the largest, the last of these, counts.
    """
    wanted = {
        frozenset(part): ", ".join(part)
        for panel in panels
        for part in (*([name] for name in panel), panel)
    }
    largest: dict[tuple[object, ...], EvalLog] = {}
    for log in answers.judge_logs:
        about = log.eval.metadata or {}
        for judge in [wanted[judges] for judges in _judges_of(log) if judges in wanted]:
            prompts = (
                about.get("rubric"),
                about.get("rubric_sha256"),
                log.eval.task_args.get("judge_language"),
            )
            key = judge, log.eval.task, about.get("dataset_sha256"), prompts
            largest[key] = max(log, largest.get(key, log), key=_samples)
    # Judgements of the same answers by other evaluators are a part of the grid.
    crossval = any(log.eval.task == TASK for log in largest.values())
    grids = [log for log in answers.judge_logs if crossval and log.eval.task == TASK]
    used = {log.location for log in (*largest.values(), *grids)}
    if unused := [
        short_name(log.location) for log in answers.judge_logs if log.location not in used
    ]:
        why = "not about a judge of these rankings, or smaller than another one of the same data"
        skipped.append(
            f"{counted(len(unused), 'log')} of judge tasks left out, {why}: {listed(unused)}."
        )
    facts = [
        fact
        for (judge, *_), log in largest.items()
        for fact in _of_header(str(judge), log, answers)
    ]
    return [*facts, *_preferences(answers, grids, set(wanted.values()), resampling, skipped)]


def _judges_of(log: EvalLog) -> list[frozenset[str]]:
    """The judges, or the panel, that a log of a judge task is about."""
    if log.eval.task == TASK:
        return [frozenset([name]) for name in (log.eval.metadata or {}).get("evaluators", ())]
    if log.eval.task == PACKAGE + "urs_probe":
        return [frozenset(role_models(log).get("grader", [log.eval.model]))]
    return (
        [frozenset([log.eval.model])] if log.eval.task_args.get("judge", "model") == "model" else []
    )


def _samples(log: EvalLog) -> int:
    return log.results.completed_samples if log.results else 0


def _same_prompts(answers: Answers, log: EvalLog) -> frozenset[str]:
    """The logs of answers that were judged with the prompts of a log of a judge task."""
    about = log.eval.metadata or {}
    language = log.eval.task_args.get("judge_language")
    hashes = {
        name: run.rubric_sha256
        for name, run in zip(answers.table["log"].unique(), answers.runs, strict=False)
    }
    judged = answers.table[answers.table["prompt_sha256"] != ""]
    other = (judged["rubric"] != about.get("rubric")) | (
        judged["log"].map(hashes) != about.get("rubric_sha256")
    )
    other |= judged["judge_language"] != (language or judged["language"])
    return frozenset(judged["log"]) - frozenset(judged.loc[other, "log"])


def _of_header(judge: str, log: EvalLog, answers: Answers) -> Iterator[JudgeFact]:
    """Agreement with labels, or scores of worthless answers, by the header of a log."""
    about = log.eval.metadata or {}
    n = _samples(log)
    file = short_name(log.location)
    data = about.get("dataset")
    rubric = str(about.get("rubric", ""))
    same = _same_prompts(answers, log)
    scores = reversed(
        log.results.scores if log.results else []
    )  # the first judgement is by the judge of the header
    rows = {name: float(metric.value) for score in scores for name, metric in score.metrics.items()}
    low, high, longest = (rows.get(name, math.nan) for name in ("low", "high", "longest"))
    beside = "" if math.isnan(longest) else f"; choosing the longer answer {longest:.2f}"
    measures = {
        "pearson": "Pearson, log of {} responses",
        "overall accuracy_all": "accuracy, log of {} pairs",
    }
    for row, what in measures.items():
        if row in rows:
            result = Estimate(rows[row], low, high, n, n)
            check = _LABELS if data in _BY_GPT_4 else _PEOPLE
            base = 0.0 if row == "pearson" else max(0.5, np.nan_to_num(longest))
            measure = f"{what.format(n)} of {data}{beside}"
            yield JudgeFact(check, judge, measure, file, result, base, rubric, logs=same)
    if log.eval.task == PACKAGE + "urs_probe":
        for kind in (
            "constant",
            "reference",
            "injection",
        ):  # about an empty answer no judge is asked
            least, most, text = NULL_ANSWERS[kind]
            mean = _number(rows.get(kind, math.nan), n)
            yield JudgeFact(
                _NULL,
                judge,
                f"{text}; expected {least} to {most}",
                file,
                mean,
                most,
                rubric,
                least,
                same,
            )


def _number(value: float, n: int) -> Estimate:
    return Estimate(value, math.nan, math.nan, n, n)


def _preferences(
    answers: Answers,
    logs: Sequence[EvalLog],
    judges: set[str],
    resampling: Resampling,
    skipped: list[str],
) -> Iterator[JudgeFact]:
    """Self-preference in logs of `urs_crossval`.

    Of other judges in answers that several judges have judged.
    """
    read = []
    headers = {short_name(log.location): log for log in logs}
    for log in logs:
        try:
            read.append(read_grid_log(log))
        except Exception as error:  # a damaged file may raise anything
            skipped.append(
                f"{short_name(log.location)} was left out: {type(error).__name__}: {error}."
            )
    parts = list[tuple[Scores, Any, str, frozenset[str]]]()
    for grid in grids_of(read):
        files = [log.name for log in grid.logs]
        same = _same_prompts(answers, headers[grid.logs[0].name])
        parts.append((grid.scores_without_copies(), grid.conditions["rubric"], listed(files), same))
    comparable: dict[object, list[str]] = {}
    for name, rows in answers.table.groupby("log", sort=False) if answers.runs else ():
        about = replace(conditions_of(rows), judges=())
        comparable.setdefault((about.key, about.prompts), []).append(str(name))
    for names in comparable.values():
        table = answers.table[answers.table["log"].isin(names)]
        for run in (
            read_judged_runs(replace(answers, table=table), [])
            if judges & {*table["base_model"]}
            else ()
        ):
            parts.append((run.scores, run.facts["rubric"], _THESE, frozenset(names)))
    for scores, rubric, source, same in parts:
        table = preference_table(scores, resampling)
        table = table[table["source"] == (ALL if len(scores.sources) > 1 else scores.sources[0])]
        for row in table[table["evaluator"].isin(judges)].to_dict("records"):
            key = "preference" if math.isnan(row["beyond"].value) else "beyond"
            what = "beyond leniency" if key == "beyond" else "leniency included: no third model"
            measure = f"its scores of its own answers less other judges', {what}"
            yield JudgeFact(
                _ITSELF, str(row["evaluator"]), measure, source, row[key], 0.0, rubric, logs=same
            )


def judge_checks(
    ranking: "Ranking",
    answers: pd.DataFrame,
    rated: _Rated,
    facts: Iterable[JudgeFact],
    resampling: Resampling,
    runs: Mapping[str, Run],
) -> pd.DataFrame:
    """The checks of the judge of a ranking, in the columns of `JudgeFact`; `runs` are those of its
    logs, by log.
    """
    judges = ranking.conditions.judges
    rubric = ranking.conditions.rubric
    panel = ", ".join(judges)
    rows = list[JudgeFact]()
    here = "this ranking"
    scored = answers.dropna(subset=FINAL)
    if rated and len(both := rated[1].answers.dropna(subset="score")):
        people = [float(np.mean(list(ratings.values()))) for ratings in both["ratings"]]
        how: Any = {
            **vars(resampling),
            "rounds": min(resampling.rounds, 1000),
        }  # ranks take a hundred times as long
        rho = rank_correlation(people, both["score"], list(both["cluster"]), **how).reported(
            CORRELATIONS
        )
        measure = f"Spearman, {counted(len(both), 'rated answer')}"
        rows.append(JudgeFact(_PEOPLE, panel, measure, str(rated[0].path), rho, 0.0, rubric))
    judged = zip(scored[FINAL], scored["earlier_finals"], strict=True)
    if groups := [[last, *first] for last, first in judged if first]:
        spread = pooled_deviation(groups)
        measure = "standard deviation between judgements of an answer"
        if not spread:
            measure += "; all are equal, as they are if the later ones came from a cache"
        rows.append(JudgeFact(_REPEATS, panel, measure, here, _number(spread, len(groups))))
    for fact in (fact for fact in facts if fact.judge in (panel, *judges)):
        same = fact.logs & {*answers["log"]}
        if fact.source != _THESE or (same and fact.judge in {*answers["base_model"]}):
            rows.append(fact if same else fact._replace(source=fact.source + _OTHER))
    rows += _keys(answers, judges)
    known = {row.check for row in rows}
    if judges:
        commands = _commands(ranking, answers, runs)
        rows += [
            JudgeFact(check, panel, "", source)
            for check, source in commands.items()
            if check not in known
        ]
    rows.sort(key=lambda row: (_CHECKS.index(row.check), row.source.endswith(_OTHER)))
    return pd.DataFrame(
        [row[:-1] for row in rows if judges], columns=JudgeFact._fields[:-1], dtype=object
    )


def _keys(answers: pd.DataFrame, judges: Sequence[str]) -> list[JudgeFact]:
    """Of each judge that left out or misspelled the key, how often, and how often it was asked
    again.
    """
    facts: list[JudgeFact] = []
    counts = summed({BY_JUDGE: of_answer} for of_answer in answers["reply_counts"])
    for judge in judges:
        numbers = counts.get(judge, Counter())
        about_keys = [name for name in REPLY_COUNTS if name != "asked_again"]
        if not any(numbers[name] for name in about_keys):
            continue
        replies = numbers[REPLIES]
        each = ", ".join(f"{name.replace('_', ' ')}: {numbers[name]:,}" for name in REPLY_COUNTS)
        measure = f"share of {counted(replies, 'reply', 'replies')}; {each}"
        share = numbers["unkeyed"] / replies
        facts.append(
            JudgeFact(_KEYS, judge, measure, "this ranking", _number(share, replies), MOST_UNKEYED)
        )
    return facts


def _commands(ranking: "Ranking", answers: pd.DataFrame, runs: Mapping[str, Run]) -> dict[str, str]:
    """Check -> the command that does it and leaves its log beside those of the ranking, or why
    there is none.
    """
    judges = ranking.conditions.judges
    logs = list(answers["log"].unique())
    asked = runs[logs[0]].options if logs[0] in runs else {}
    prompts = [f"{name}={asked[name]}" for name in _OPTIONS if name in asked]
    data = f"dataset={asked.get('dataset', ranking.conditions.dataset)}"
    same_task = _flags("-T", [data, *prompts])
    files = [_typed(log) for log in logs]
    beside = ["--log-dir", files[0].rpartition("/")[0] or "."]
    graders = ["--model-role", _role(judges)]
    labels = ["inspect", "eval", PACKAGE + "md_eval", "--model", judges[0], *beside]
    again = [
        "inspect",
        "score",
        files[0],
        "--scorer",
        PACKAGE + "intent_judge",
        *graders,
        *_flags("-S", prompts),
    ]
    probe = [
        "inspect",
        "eval",
        PACKAGE + "urs_probe",
        "--model",
        "none",
        *graders,
        *same_task,
        *beside,
    ]
    commands = {
        _PEOPLE: COMMAND + shlex.join(labels),
        _REPEATS: COMMAND + shlex.join([*again, "--action", "append", "--overwrite"]),
        _NULL: COMMAND + shlex.join(probe),
        _ITSELF: _NONE_OF_THEM,
    }
    models = list(dict.fromkeys(map(str, answers["base_model"])))
    if set(judges) & set(models):
        evaluators = list(judges)
        if len(judges) == 1:
            others = [model for model in models if model not in judges]
            evaluators.append(others[0] if others else "OTHER")
        compared = _flags(
            "-T", [f"answers={','.join(files)}", "references=dataset", "unanswered=unscored"]
        )
        crossval = ["inspect", "eval", TASK, "--model", "none", "--model-role", _role(evaluators)]
        commands[_ITSELF] = COMMAND + shlex.join([*crossval, *same_task, *compared, *beside])
    return commands


def _flags(flag: str, values: Iterable[str]) -> list[str]:
    words = []
    for value in values:
        words += [flag, value]
    return words


def _role(judges: Sequence[str]) -> str:
    return f"grader={judges[0]}" if len(judges) == 1 else f"grader=[{', '.join(judges)}]"


def _typed(log: str) -> str:
    """The address of a log as one types it: relative to the working directory where it lies
    below.
    """
    if "://" in log and not log.startswith("file://"):
        return log
    path = Path(local_path(log))
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _verdict(fact: JudgeFact) -> str:
    """Whether a check was passed; empty for a measure without a limit."""
    if fact.result is None:
        return _NOT_CHECKED if fact.source.startswith(COMMAND) else _NOT_MEANT
    value = fact.result.value
    low = fact.result.low
    if math.isnan(value):
        return _UNKNOWN
    if fact.check == _REPEATS:
        return ""
    if fact.check == _KEYS:
        return _FAILED if value > fact.baseline else _PASSED
    if fact.check == _NULL:
        return _PASSED if fact.lowest <= value <= fact.baseline else _FAILED
    if math.isnan(low):
        return _UNCLEAR
    if fact.check == _ITSELF:
        return _FAILED if low > fact.baseline else _PASSED
    if low > fact.baseline:
        return _PASSED
    return _UNCLEAR if value > fact.baseline else _FAILED


def judge_facts(ranking: "Ranking") -> list[JudgeFact]:
    """The checks of the judge of a ranking."""
    return list(starmap(JudgeFact, ranking.judge_checks.itertuples(index=False)))


def judge_failed(ranking: "Ranking") -> bool:
    """Whether the judge of a ranking failed a check."""
    return any(_verdict(fact) == _FAILED for fact in judge_facts(ranking))


_SEVERITY = (_FAILED, _UNCLEAR, _PASSED, "", _UNKNOWN, _NOT_CHECKED, _NOT_MEANT)
"""Verdicts, the worst first."""
_TITLES = {
    _UNCLEAR: "Unclear, as the interval includes no agreement or the accuracy of a trivial rule",
    _PASSED: "Passed",
    "": "Measured",
    _UNKNOWN: "Could not be determined",
    _NOT_CHECKED: "Not checked",
}


def judge_sentence(ranking: "Ranking") -> str:
    """What the checks of the judge gave, of each the worst result; empty without a judge."""
    judges = ranking.conditions.judges
    by_check: dict[str, list[JudgeFact]] = {}
    for fact in judge_facts(ranking):
        by_check.setdefault(fact.check, []).append(fact)
    by_verdict: dict[str, list[str]] = {}
    for facts in by_check.values():
        worst = min(facts, key=lambda fact: _SEVERITY.index(_verdict(fact)))
        by_verdict.setdefault(_verdict(worst), []).append(_in_words(worst, judges))
    simulated = "simulated " if all(name.startswith(SIMULATED) for name in judges) else ""
    who = (
        f"the {simulated}judge"
        if len(judges) == 1
        else f"the panel of {len(judges)} {simulated}judges"
    )
    parts = [
        f"{_TITLES.get(verdict, verdict)}: {listed(by_verdict[verdict])}."
        for verdict in _SEVERITY
        if verdict in by_verdict and verdict != _NOT_MEANT
    ]
    return f"Checks of {who}. {' '.join(parts)}" if parts else ""


def _in_words(fact: JudgeFact, judges: Sequence[str]) -> str:
    """A check with its result."""
    if fact.result is None or math.isnan(fact.result.value):
        return fact.check
    about = [fact.measure]
    if fact.judge != ", ".join(judges):
        about.append(short_names(judges)[fact.judge])
    if fact.source.endswith(_OTHER) and fact.check not in (_PEOPLE, _LABELS):
        about.append("other prompts")
    return f"{fact.check}, {_NUMBER(fact.result.value)} ({'; '.join(about)})"


def judge_section(ranking: "Ranking", place: int) -> Section:
    """The section about the judge of a ranking, whose number is `place`."""
    facts = judge_facts(ranking)
    judges = ranking.conditions.judges
    panel = ", ".join(judges)
    titles = [
        f"{fact.judge} {fact.check}: {fact.measure}".removeprefix(panel).strip(": ")
        for fact in facts
    ]
    verdicts = [_verdict(fact) for fact in facts]
    doubts = [
        f"{verdict}: {fact.judge}, {fact.check}: {_NUMBER(fact.result)} ({fact.measure})."
        for fact, verdict in zip(facts, verdicts, strict=True)
        if verdict in (_FAILED, _UNCLEAR)
    ]
    doubts = [f"{doubt[0].upper()}{doubt[1:]}" for doubt in doubts]
    named = listed([name + " (simulated)" * name.startswith(SIMULATED) for name in judges])
    notes = [f"Judged by {named}.", *doubts]
    if _NOT_CHECKED in verdicts:
        notes.append(
            "Commands that do what was not checked, and write beside the logs of this ranking, so"
            " that a report of the same directory then has the result; --human gives people's"
            " ratings:"
        )
        notes += [fact.source for fact in facts if fact.source.startswith(COMMAND)]
    sizes = [fact.result.n if fact.result else None for fact in facts]
    data = pd.DataFrame(
        {"block": place, **ranking.judge_checks, "n": sizes, "verdict": verdicts, "title": titles},
        dtype=object,
    )
    shown = data.assign(
        source=[
            "the command above" if fact.source.startswith(COMMAND) else fact.source
            for fact in facts
        ]
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
    return Section("The judge", notes, tables, 3, doubts)
