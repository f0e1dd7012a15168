"""Logs that `intent_judge` scored -> one data frame of answers, by log, question and epoch."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from inspect_ai.log import EvalLog
from inspect_ai.scorer import Score

from urs_inspect.datasets._conversations import NOT_SHOWN, named_kinds
from urs_inspect.judging._failures import CUT_OFF, STOPPED_AT_LIMIT
from urs_inspect.judging._reply_counts import BY_JUDGE
from urs_inspect.judging._scores import as_numbers
from urs_inspect.logs._files import (
    PACKAGE,
    about_other_judges,
    about_other_prompts,
    about_unscored,
    finished_headers,
    latest_runs,
    nothing_left,
    of_other_tasks,
    read_summaries,
    short_name,
)
from urs_inspect.logs._naming import (
    model_names,
    model_settings,
    public,
    with_whole_characters,
)
from urs_inspect.logs._run_command import argument_text, run_command
from urs_inspect.logs._scores import (
    ScoredAnswer,
    Usage,
    judge_finals,
    judgements,
    scored_answers,
    usage_of_answers,
    value_of,
)
from urs_inspect.reports.numbers._conditions import Conditions, changed, conditions_of, prompts_of
from urs_inspect.rubrics import FINAL
from urs_inspect.scorers._metrics import CLUSTER

TASK = "urs"
"""The task whose logs these are."""
CRITERION = "criterion/"
"""Prefix of the columns of criteria."""
ERROR = "error"
NOT_JUDGED = "not_judged"
"""Outcomes: the sample failed; `intent_judge` did not score it."""
NOT_SENT = " (not sent)"
"""Follows a judge's temperature that its provider's client did not send."""

Row = dict[str, Any]
_SHORTENED = 1024
"""Characters from which on the summary of a log has only the beginning of an answer."""


@dataclass(frozen=True)
class Run:
    """A log that a report is made from."""

    log: str  # file name
    model: str
    judges: tuple[str, ...]
    command: str  # repeats the run; without anything whose name sounds like a secret
    created: str  # ISO 8601
    dataset_sha256: str
    rubric_sha256: str
    prompts: str  # as in `Conditions`
    package: str  # version of inspect-ai
    samples: int
    # arguments of its task, as the command line takes them
    options: Mapping[str, str] = field(default_factory=dict)
    # code -> name in the log, as of a run with any rubric
    languages: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answers:
    """Answers of models, and where they come from.

    `table` has one row per log, question and epoch, with the columns log, model (its name, with the
    settings in which its logs differ), base_model (the name alone), task, question, epoch, intent,
    group, language, country (empty if none), cluster (such as the user; empty for a question by
    itself), final (1 to 10, NaN if unscored), `criterion/<id>` (NaN where there is none), not_shown
    (what no judge could see of the question, such as `image 2`), outcome, cut_off (at the token
    limit), judges (joined by ", "), judge_finals (judge -> final score), earlier_finals (earlier
    final scores of the same answer by the same judges), earlier_judge_finals (the same, judge ->
    final score each), reply_counts (judge -> how many of its replies were `unkeyed`, `asked_again`
    and so on), judge_temperatures, self_judged, structured (share of the judges that were asked by
    a schema), judge_language, prompt_sha256, rubric, dataset, dataset_sha256, references (empty for
    those of the data), task_version, answer_length (characters), answer_digest (equal where two
    answers are; empty without text), input_tokens, output_tokens, judge_input_tokens,
    judge_output_tokens, cost, judge_cost (US dollars), seconds, error (empty if none). Unknown
    numbers are NaN. By log, question (as id) and epoch it joins the data frame of
    `inspect_ai.analysis.samples_df`.
    """

    table: pd.DataFrame
    runs: Mapping[str, Run]  # log, as in the table -> its run, in the order in which they were made
    left_out: tuple[str, ...]  # what was skipped and why, one sentence each, with counts
    judge_logs: tuple[
        EvalLog, ...
    ] = ()  # headers of logs of tasks about judges, where they were asked for


def read_answers(logs: Iterable[str], judge_tasks: Sequence[str] = ()) -> Answers:
    """Read the answers in logs that `intent_judge` has scored.

    The last judgement of an answer counts. Of several logs of one model with the same settings,
    judges, prompts, data and references that share questions, the newest counts, unless it asked
    fewer than half as many questions. Logs that did not finish, that cannot be read, and those of
    this package's other tasks are skipped.

    Args:
        logs: Log files and directories.
        judge_tasks: Tasks of this package about judges whose logs are kept as well.

    Returns:
        The answers; those whose sample failed or that have no score have a row as well.

    Raises:
        InputError: If a name does not exist or no answer is left; the message says what was
            skipped.
    """
    names = list(logs)
    left_out: list[str] = []
    judge_logs = []
    judged_logs = []
    for log in finished_headers(names, left_out, [TASK, *judge_tasks], also_foreign=True):
        if log.eval.task.removeprefix(PACKAGE) in judge_tasks:
            judge_logs.append(log)
            continue
        judged_log = read_judged_log(log, left_out)
        if judged_log is not None:
            judged_logs.append(judged_log)
    kept = latest_runs(judged_logs, left_out)
    if not kept:
        if judge_logs:
            left_out.append(of_other_tasks(judge_logs, PACKAGE + TASK))
        raise nothing_left("no finished log with answers scored by intent_judge", names, left_out)
    models = model_names([(judged_log.of, judged_log.settings) for judged_log in kept])
    tables = []
    runs = {}
    for judged_log, model in zip(kept, models, strict=True):
        table = judged_log.table.copy()
        table.insert(1, "model", model)
        tables.append(table)
        runs[str(table["log"].iloc[0])] = _run(judged_log, model)
    return Answers(pd.concat(tables, ignore_index=True), runs, tuple(left_out), tuple(judge_logs))


def judge_scores(answers: pd.DataFrame) -> pd.DataFrame:
    """Final scores of answers by judge, one column each."""
    return pd.DataFrame(answers["judge_finals"].tolist(), index=answers.index, dtype=np.float64)


# --- logs ---


@dataclass(frozen=True)
class JudgedLog:
    """The answers of a log that count, and the conditions under which they were made."""

    log: EvalLog  # header
    table: pd.DataFrame  # columns as of `Answers`, without the model
    conditions: Conditions
    settings: dict[str, str]  # of the model, that may change its answers

    @property
    def file(self) -> str:
        """Where it is."""
        return self.log.location

    @property
    def run_id(self) -> str:
        """What all files of its run have in common; empty if unknown."""
        return self.log.eval.eval_id or ""

    @property
    def of(self) -> str:
        """Its model."""
        return self.log.eval.model

    @property
    def questions(self) -> frozenset[str]:
        """Ids of its questions."""
        return frozenset(self.table["question"])

    def replaces(self, other: "JudgedLog") -> bool:
        """Whether it has the same model, the same conditions, and some of the same questions."""
        if self.of != other.of or self.settings != other.settings:
            return False
        if self.conditions.key != other.conditions.key:
            return False
        if self.questions.isdisjoint(other.questions):
            return False
        other_prompts = changed(prompts_of(self.table), prompts_of(other.table))
        return not other_prompts


def read_judged_log(log: EvalLog, left_out: list[str]) -> JudgedLog | None:
    """Read the answers of a finished log from its header; None if `intent_judge` scored none.

    `left_out` gets one sentence about each thing that is skipped, with counts.
    """
    name = short_name(log.location)
    spec = log.eval
    summaries = read_summaries(log, left_out)
    if summaries is None:
        return None
    scores = judgements(summaries)
    if not any(scores):
        left_out.append(about_unscored(name, len(summaries)))
        return None
    table = pd.DataFrame(answer_rows(log, scored_answers(log, summaries, scores)))
    table = _of_usual_judges(table, name, left_out)
    table = _of_usual_prompts(table, name, left_out).reset_index(drop=True)
    settings = {key: str(value) for key, value in model_settings(log).items()}
    if spec.solver:
        settings["solver"] = str(spec.solver)
    [same_for_all] = with_whole_characters([_log_columns(log)])
    for place, (column, value) in enumerate(same_for_all.items()):
        table.insert(place, column, value)
    return JudgedLog(log, table, conditions_of(table), settings)


def _of_usual_judges(table: pd.DataFrame, log: str, left_out: list[str]) -> pd.DataFrame:
    """The answers that the same judges judged as most others, and those without a judge."""
    judged = table["judges"] != ""
    counts = table.loc[judged, "judges"].value_counts()
    if len(counts) < 2:
        return table
    usual, *others = map(str, counts.index)
    kept = table[~judged | (table["judges"] == usual)]
    left_out.append(about_other_judges(log, len(kept), len(table), others, usual))
    return kept


def _of_usual_prompts(table: pd.DataFrame, log: str, left_out: list[str]) -> pd.DataFrame:
    """The answers judged with the same prompt as most others of their intent and language."""
    judged = table["prompt_sha256"] != ""
    prompts = (table["judge_language"] + "/" + table["prompt_sha256"]).where(judged)
    kinds = prompts.groupby([table["intent"], table["language"]])
    usual = kinds.transform(lambda given: next(iter(given.value_counts().index), ""))
    kept = table[~judged | (prompts == usual)]
    if len(kept) < len(table):
        left_out.append(about_other_prompts(log, len(kept), len(table)))
    return kept


def _log_columns(log: EvalLog) -> dict[str, str]:
    """The columns that are the same for all answers of a log."""
    spec = log.eval
    facts = spec.metadata or {}
    return {
        "log": log.location,
        "base_model": spec.model,
        "task": spec.task,
        "dataset": str(facts.get("dataset", spec.dataset.name or "")),
        "dataset_sha256": str(facts.get("dataset_sha256", "")),
        "references": _references(facts),
        "task_version": str(spec.task_version),
    }


def _references(metadata: Mapping[str, Any]) -> str:
    """Name and first digits of the hash of the references that the log's metadata name."""
    given = metadata.get("references") or ""
    if not isinstance(given, Mapping):
        return str(given)
    name = given.get("source") or given.get("name") or ""
    sha256 = str(given.get("sha256", ""))
    return f"{name} {sha256[:8]}".strip()


def _run(read: JudgedLog, model: str) -> Run:
    spec = read.log.eval
    facts = spec.metadata or {}
    languages = facts.get("languages")
    arguments = public(spec.task_args_passed)
    return Run(
        log=short_name(read.file),
        model=model,
        judges=read.conditions.judges,
        command=run_command(read.log, read.conditions.judges),
        created=spec.created,
        dataset_sha256=read.conditions.dataset_sha256,
        rubric_sha256=str(facts.get("rubric_sha256", "")),
        prompts=read.conditions.prompts,
        package=spec.packages.get("inspect_ai", ""),
        samples=len(read.table),
        options={name: argument_text(value) for name, value in arguments.items()},
        languages=languages if isinstance(languages, dict) else {},
    )


# --- samples ---


def answer_rows(log: EvalLog, answers: Sequence[ScoredAnswer]) -> list[Row]:
    """The rows of the answers of a log, without the columns that are the same for all of it."""
    usage = usage_of_answers(log, answers)
    rows = [_answer_row(answer, *used) for answer, used in zip(answers, usage, strict=True)]
    return with_whole_characters(rows)


def _answer_row(answer: ScoredAnswer, own: Usage, judging: Usage) -> Row:
    sample = answer.sample
    about = {key: str(fact) for key, fact in (sample.metadata or {}).items() if fact is not None}
    intent = about.get("intent", "unknown")
    facts: Mapping[str, Any] = {}
    outcome = NOT_JUDGED
    values: dict[str, float] = {}
    if answer.scores:
        score = answer.scores[-1]
        facts = score.metadata or {}
        outcome = str(facts.get("outcome", "unknown"))
        values = as_numbers(score.value)
    error = ""
    if sample.error is not None:
        error = str(sample.error) or "unknown error"
        outcome = ERROR
        values = {}
    # An answer may be cut off even if it was not judged.
    cut_off = facts.get("outcome") in CUT_OFF
    stop_reason = facts.get("answer_stop_reason")
    if stop_reason is not None:
        cut_off = stop_reason in STOPPED_AT_LIMIT
    not_shown = facts.get(NOT_SHOWN)
    numbers = as_numbers({"length": facts.get("answer_length"), "seconds": sample.working_time})
    return {
        "question": str(sample.id),
        "epoch": sample.epoch,
        "intent": intent,
        "group": about.get("intent_group", intent),
        "language": about.get("language", "unknown"),
        "country": about.get("country", "").strip(),
        CLUSTER: about.get(CLUSTER, "").strip(),
        "final": values.pop(FINAL, math.nan),
        **{CRITERION + key: value for key, value in values.items()},
        "not_shown": named_kinds(not_shown) if not_shown else "",
        "outcome": outcome,
        "cut_off": cut_off,
        **_judge_columns(facts, answer),
        "answer_length": numbers["length"],
        "answer_digest": _answer_digest(answer.summarized, numbers["length"]),
        "input_tokens": own.sent,
        "output_tokens": own.received,
        "judge_input_tokens": judging.sent,
        "judge_output_tokens": judging.received,
        "cost": own.cost,
        "judge_cost": judging.cost,
        "seconds": numbers["seconds"],
        "error": error,
    }


def _judge_columns(facts: Mapping[str, Any], answer: ScoredAnswer) -> Row:
    """Who judged an answer, how, and with which result."""
    finals = answer.finals
    # An empty answer, for which no judge was called, has the judges of its run.
    panel = finals or [(str(name), math.nan) for name in facts.get("judges_not_asked", ())]
    earlier = _earlier_scores(answer.scores)
    return {
        "judges": ", ".join(name for name, _ in panel),
        "judge_finals": dict(panel),
        "earlier_finals": tuple(value_of(score, FINAL) for score in earlier),
        "earlier_judge_finals": tuple(dict(judge_finals(score) or []) for score in earlier),
        "reply_counts": facts.get(BY_JUDGE) or {},
        "judge_temperatures": _temperatures(facts),
        "self_judged": bool(facts.get("self_judged", False)),
        # of the judges; older logs do not have it
        "structured": float(facts.get("structured", 0)) / len(finals) if finals else math.nan,
        "judge_language": str(facts.get("judge_language", "")),
        "prompt_sha256": str(facts.get("prompt_sha256", "")),
        "rubric": str(facts.get("prompt_version", "")),
    }


def _answer_digest(score: Score | None, length: float) -> str:
    """Digest of the answer of a score without blanks around it; empty without text.

    The summary of a log has the first 1,024 characters of an answer; a longer one counts by these
    and by its length.
    """
    if score is None or score.answer is None:
        return ""
    text = score.answer.strip()
    if not text or math.isnan(length):
        return ""
    if length >= _SHORTENED:
        text = f"{length:.0f} {text}"
    digest = hashlib.sha256(text.encode("utf-8", "replace"))
    return digest.hexdigest()[:16]


def _earlier_scores(scores: Sequence[Score]) -> list[Score]:
    """Scores that the same judges gave the same answer before under the same conditions."""
    if len(scores) < 2:
        return []
    *earlier, last = map(_judged_how, scores)
    same = [score for score, how in zip(scores, earlier, strict=False) if how == last]
    return [score for score in same if not math.isnan(value_of(score, FINAL))]


def _judged_how(score: Score) -> tuple[object, ...]:
    facts = score.metadata or {}
    names = [name for name, _ in judge_finals(score) or []]
    return (
        names,
        facts.get("prompt_sha256"),
        facts.get("judge_language"),
        _temperatures(facts).replace(NOT_SENT, ""),
    )


def _temperatures(facts: Mapping[str, Any]) -> str:
    judges = facts.get("judges")
    if not isinstance(judges, list):
        return ""
    temperatures = []
    for judge in judges:
        requested = judge.get("temperature_requested")
        temperature = "default" if requested is None else f"{requested:g}"
        if requested is not None and judge.get("temperature_sent") is None:
            temperature += NOT_SENT
        temperatures.append(temperature)
    return ", ".join(temperatures)
