"""Scores of one run in a log of any inspect-ai task."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Any

import pandas as pd
from inspect_ai.log import EvalLog, EvalResults, EvalSample, EvalSampleSummary

from urs_inspect._util import InputError, choices, counted
from urs_inspect.judging._failures import PARTIAL_PANEL
from urs_inspect.judging._reply_counts import Counts, summed
from urs_inspect.judging._scores import TEXTS, number
from urs_inspect.logs import _files as files
from urs_inspect.logs._files import finished_headers, first_few, nothing_left, short_name
from urs_inspect.logs._naming import (
    STRUCTURED,
    model_settings,
    public,
    structured_of,
    whole_characters,
)
from urs_inspect.logs._responses import text_of
from urs_inspect.logs._scores import UNJUDGED, answered_by, is_simulated, role_models

_UNUSED = ("events", "messages", "store", "error_retries", "output")
_SHORTENED = ("...", "Key removed from summary (> 1k)")
_OF_ANY_EPOCHS = ("mean", "median", "pass_")
"""Prefixes of reducers that may be compared across numbers of epochs."""
JUDGE_ROLE = re.compile("grad|judg|scor|evaluat")
"""What names of roles of judges have."""


_Sample = EvalSample | EvalSampleSummary


@dataclass(frozen=True)
class Query:
    """What to read; arguments of `read_sample_scores`."""

    scorer: str | None
    value: str | None
    cluster: str | None
    by: str | None
    task: str | None


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """The scores of a run; implements `files.Run`."""

    file: str
    of: str  # the model
    created: str
    table: pd.DataFrame
    """Sample, value, cluster and group (None: missing), input (hash), is_unit (letter or boolean),
    epochs, scored (how many of them have a score).
    """
    keys: frozenset[str]  # of metadata
    run_id: str = ""
    # of the model, that may change scores
    settings: Mapping[str, str] = field(default_factory=dict)
    # of the task, and models in roles other than a judge's
    arguments: Mapping[str, str] = field(default_factory=dict)
    judge: str = ""
    simulated: bool = False
    reducer: str = ""  # of epochs; empty for one epoch
    key: str = ""  # of a dictionary score
    partial: int = 0  # answers that only a part of a panel of judges scored, which have no score
    scored_by: frozenset[str] = frozenset()  # judges of a panel with a score in any of the logs
    reply_counts: Counts = field(default_factory=dict)  # of the judges' replies, by judge
    # people whose ratings the scores are -> number of answers
    raters: Mapping[str, int] = field(default_factory=dict)

    @property
    def epochs(self) -> int:
        """Epochs that were asked for."""
        return int(self.table["epochs"].max())

    @property
    def questions(self) -> frozenset[str]:
        """Ids of its samples."""
        return frozenset(self.table["sample"])

    def replaces(self, other: "ScoredRun") -> bool:
        """Whether it has scores of the same model and settings on some of the same samples."""
        conditions = attrgetter("of", "settings", "arguments", "judge")
        same = conditions(self) == conditions(other)
        return same and not self.questions.isdisjoint(other.questions)


@dataclass(frozen=True)
class TaskRuns:
    """All runs of a task, in the order in which they were made."""

    task: str
    scorer: str
    runs: list[ScoredRun]
    version: str = ""
    dataset: str = ""
    higher_is_better: bool | None = None


def one_task(tasks: Counter[str], task: str | None) -> str:
    """The task that is meant, among those of logs; the last part of its name is enough."""
    named = []
    for name in tasks:
        last_part = name.rpartition("/")[2]
        if task in (None, name, last_part):
            named.append(name)
    if len(named) == 1:
        return named[0]
    allowed = ", ".join(
        f"{name} ({counted(count, 'log')})" for name, count in sorted(tasks.items())
    )
    if task:
        raise InputError(f"task: no '{task}': {allowed}")
    most = max(sorted(tasks), key=lambda name: tasks[name])
    raise InputError(f"task: logs of several tasks: {allowed}. Add --task {most}.")


def refuse_different(what: str, values: Iterable[tuple[str, str]], hint: str = "") -> str:
    """The only value of pairs (value, log) that is not empty.

    Raise if there are several, with counts of logs.
    """
    logs: dict[str, list[str]] = defaultdict(list)
    for value, log in values:
        logs[value].append(short_name(log))
    logs.pop("", None)
    if len(logs) > 1:
        each = (
            f"{value} ({counted(len(names), 'log')}, such as {names[0]})"
            for value, names in logs.items()
        )
        raise InputError(f"logs of different {what} cannot be compared: {'; '.join(each)}{hint}")
    return next(iter(logs), "")


def texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Values that are known and no secret, as texts."""
    return {name: str(value) for name, value in public(values).items()}


# --- inspect-ai ---


@dataclass(frozen=True)
class _Choice:
    """Scorer and key to read."""

    scorer: str
    key: str = ""  # empty where scores are no dictionaries, or it is not known
    is_named: bool = False  # whether the key was asked for
    metric: str = ""  # of the headline; the key, if dictionaries have one of this name


def runs_of_inspect(
    names: Sequence[str], query: Query, chosen: list[str], left_out: list[str]
) -> TaskRuns:
    """The runs of a task in logs of inspect-ai.

    The lists receive which runs were chosen and what was skipped.
    """
    headers = headers_of_task(names, query.task, left_out)
    versions = []
    for log in headers:
        before_dash = str(log.eval.task_version).partition("-")[0]
        versions.append((before_dash, log.location))
    version = refuse_different("task versions", versions)
    datasets = ((_dataset(log), log.location) for log in headers)
    dataset = refuse_different("datasets", datasets)
    choice = _choice(headers[-1], query)
    skipped: list[str] = []
    read: list[tuple[EvalLog, list[_Sample]]] = []
    for log in headers:
        samples = _samples(log, query, skipped)
        if samples is not None:
            read.append((log, samples))
    panel = _panel(chain.from_iterable(samples for _, samples in read), choice.scorer)
    runs: list[ScoredRun] = []
    for log, samples in read:
        run = _read_log(log, samples, panel, choice, query, skipped)
        if run is not None:
            runs.append(run)
    left_out += first_few(skipped)
    keys = ((run.key, run.file) for run in runs)
    key = refuse_different("keys", keys)
    what = choice.scorer
    if key:
        what = f"{choice.scorer}: {key}"
    if not query.value:
        chosen += _about_choice(choice, key, what, query)
    return TaskRuns(headers[0].eval.task, what, runs, version, dataset)


def headers_of_task(
    names: Sequence[str], task: str | None, left_out: list[str]
) -> Sequence[EvalLog]:
    """The headers, at least one, of finished logs of the task that is meant."""
    headers = finished_headers(names, left_out)
    if not headers:
        raise nothing_left("no finished log", names, left_out)
    if task is None:
        headers = files.without_checks_of_judges(headers, left_out)
    task = one_task(Counter(log.eval.task for log in headers), task)
    of_task = [log for log in headers if log.eval.task == task]
    others = [log for log in headers if log.eval.task != task]
    if others:
        left_out.append(files.of_other_tasks(others, task))
    return of_task


def _about_choice(choice: _Choice, key: str, what: str, query: Query) -> list[str]:
    """Sentences on the headline metric, where no key was asked for."""
    metric = choice.metric
    if metric in ("", key):
        return []
    about = []
    if query.scorer is None:
        about.append(f"Scores of the task's headline metric, {metric}: {what}.")
    if metric not in ("mean", "accuracy"):
        about.append(f"The mean of the scores is compared, not {metric}.")
    return about


def _dataset(log: EvalLog) -> str:
    name = log.eval.dataset.name
    if not name:
        name = PurePosixPath(log.eval.dataset.location or "").name
    facts = log.eval.metadata or {}
    sha256 = str(facts.get("dataset_sha256", ""))
    return f"{name} {sha256[:8]}".strip()


def _choice(log: EvalLog, query: Query) -> _Choice:
    """What was asked for, else what the headline metric is of."""
    results = log.results or EvalResults()
    first = _headline(results)
    value = query.value or ""
    named = (score.scorer for score in results.scores if value.startswith(f"{score.scorer}."))
    scorer = query.scorer or next(named, first.scorer)
    if not scorer:
        raise InputError(f"scorer: {short_name(log.location)} has no metrics; name a scorer")
    if value:
        return _Choice(scorer, value.removeprefix(f"{scorer}."), True, first.metric)
    if scorer == first.scorer:
        return first
    return _Choice(scorer)


def _headline(results: EvalResults) -> _Choice:
    """What the headline metric is of, or else the first one."""
    headline = results.headline
    if headline and headline.scorer:
        scorer = headline.scorer
        key = headline.score
        metric = headline.metric
    elif results.scores:
        first = results.scores[0]
        scorer = first.scorer
        key = first.name
        metric = next(iter(first.metrics), None)
    else:
        return _Choice("")
    if key is None or key == scorer:
        key = ""
    return _Choice(scorer, key, metric=metric or "")


def _read_log(
    log: EvalLog,
    samples: Sequence[_Sample],
    panel: frozenset[str],
    choice: _Choice,
    query: Query,
    left_out: list[str],
) -> ScoredRun | None:
    """The scores of a log; None, with a sentence in `left_out`, if it has none.

    `panel` are the judges of a panel with a score in any log. A score to which one of them did not
    contribute is none: it rises or falls with how lenient the others are.
    """
    name = short_name(log.location)
    scorer = choice.scorer
    scorers = set[str]()
    for sample in samples:
        scorers.update(sample.scores or ())
    if scorer not in scorers:
        there = choices(sorted(scorers)) or "none"
        left_out.append(f"{name} was left out: no score of '{scorer}'; it has: {there}.")
        return None
    values, key = _values(samples, choice, name)
    facts = [_facts(sample, scorer) for sample in samples]
    in_part = [_is_in_part(known, panel) for known in facts]
    rows = []
    for sample, value, lacks in zip(samples, values, in_part, strict=True):
        raw = value
        if lacks:
            raw = None
        metadata = sample.metadata or {}
        rows.append(row_of(sample.id, raw, metadata, text_of(sample), query))
    table = table_of(pd.DataFrame(rows, dtype=object), scorer, name)
    reducer = _reduce(table, log, samples, scorer, key, left_out)
    if reducer is None:
        return None
    return ScoredRun(
        file=log.location,
        of=answered_by(log),
        created=log.eval.created,
        table=table,
        keys=frozenset[str]().union(*(sample.metadata or () for sample in samples)),
        run_id=log.eval.eval_id,
        settings=texts(model_settings(log)),
        arguments=_arguments(log, facts),
        judge=judge_of(log, scorer),
        simulated=is_simulated(log),
        reducer=reducer,
        key=key,
        partial=sum(in_part),
        scored_by=panel,
        reply_counts=summed(facts),
        raters=_raters(facts, scorer),
    )


def _reduce(
    table: pd.DataFrame,
    log: EvalLog,
    samples: Sequence[_Sample],
    scorer: str,
    key: str,
    left_out: list[str],
) -> str | None:
    """Give a table, which has means of epochs, the values as the log reduced them.

    Returns the reducer, empty for one epoch; None, with a sentence in `left_out`, if the log did
    not reduce them.
    """
    epochs = max(sample.epoch for sample in samples)
    if epochs == 1:
        return ""
    headline = (log.results or EvalResults()).headline
    reducers: list[str | None] = []
    if headline:
        reducers.append(headline.reducer)
    reducers += log.eval.config.epochs_reducer or ()
    reducer = next(filter(None, reducers), "mean")
    if reducer == "mean":
        return reducer
    reduced = _reduced(log, scorer, reducer, key, left_out)
    if reduced is None:
        return None
    reduced_values = table["sample"].map(reduced).astype(float)
    table["value"] = reduced_values.replace(math.inf, math.nan)
    # Reduced over fewer epochs it would be another score.
    table.loc[table["scored"] < epochs, "value"] = math.nan
    if reducer.startswith(_OF_ANY_EPOCHS):
        return reducer
    return f"{reducer} of {epochs}"


def _arguments(log: EvalLog, facts: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Arguments of a log's task, and models in roles other than a judge's."""
    arguments = {
        **log.eval.task_args,
        "solver": log.eval.solver,
        "solver_args": log.eval.solver_args or None,
    }
    for role, models in role_models(log).items():
        if not JUDGE_ROLE.search(role):
            arguments[role] = ", ".join(models)
    arguments[STRUCTURED] = structured_of(facts)  # what became of the argument, which may be `auto`
    return texts(arguments)


def judge_of(log: EvalLog, scorer: str) -> str:
    """The models in roles of a judge, if the scorer may call one."""
    if scorer in UNJUDGED:
        return ""
    judges = []
    for role, models in role_models(log).items():
        if JUDGE_ROLE.search(role):
            judges.append(models)
    return ", ".join(chain(*judges))


def _panel(samples: Iterable[_Sample], scorer: str) -> frozenset[str]:
    """The judges of a panel that gave any score."""
    judges = set[str]()
    for sample in samples:
        finals = _panel_finals(_facts(sample, scorer))
        judges |= {str(judge) for judge, final in finals if final is not None}
    return frozenset(judges)


def _panel_finals(facts: Mapping[str, Any]) -> Sequence[tuple[str, float | None]]:
    """The final score of each judge of a panel, None where it failed; empty for other scorers."""
    finals = facts.get("judge_finals")
    if not isinstance(finals, list):
        return ()
    return finals


def _is_in_part(facts: Mapping[str, Any], panel: frozenset[str]) -> bool:
    """Whether a judge of the panel failed on an answer that others scored."""
    if facts.get("outcome") != PARTIAL_PANEL:
        return False
    finals = _panel_finals(facts)
    missing = {str(judge) for judge, final in finals if final is None}
    return not finals or not missing.isdisjoint(panel)


def _facts(sample: _Sample, scorer: str) -> Mapping[str, Any]:
    """The metadata of the score that a scorer gave a sample."""
    scores = sample.scores or {}
    score = scores.get(scorer)
    if score is None:
        return {}
    return score.metadata or {}


def _raters(facts: Iterable[Mapping[str, Any]], scorer: str) -> Counter[str]:
    """How many samples each person rated, by the metadata of `human_rating`."""
    raters = Counter[str]()
    if "human_rating" not in scorer:
        return raters
    for known in facts:
        named = known.get("raters")
        if isinstance(named, dict):
            raters.update(map(str, named))
    return raters


def _samples(log: EvalLog, query: Query, left_out: list[str]) -> list[_Sample] | None:
    """Summaries of the samples of a log.

    Whole samples where summaries shorten the metadata that is wanted.
    """
    summaries = files.read_summaries(log, left_out)
    if summaries is None:
        return None
    keys = [key for key in (query.cluster, query.by) if key]
    for sample in summaries:
        facts = sample.metadata or {}
        if any(str(facts.get(key)).endswith(_SHORTENED) for key in keys):
            whole = _whole(log, left_out)
            if whole is None:
                return None
            return list(whole.samples or ())
    return list(summaries)


def _whole(log: EvalLog, left_out: list[str]) -> EvalLog | None:
    return next(files.whole_logs([log], left_out, without=_UNUSED), None)


def _values(samples: Sequence[_Sample], choice: _Choice, log: str) -> tuple[list[Any], str]:
    """A score for each sample, and the key of scores, empty if these are no dictionaries."""
    values = [_value(sample, choice.scorer) for sample in samples]
    by_key = [value for value in values if isinstance(value, dict)]
    keys = dict.fromkeys(chain.from_iterable(by_key))
    key = choice.key or (choice.metric if choice.metric in keys else "")
    if keys and key not in keys:
        one = f"several keys; name one, as in {choice.scorer}:{next(iter(keys))}"
        problem = one
        if key:
            problem = f"no key '{key}'"
        raise InputError(
            f"value: scores of '{choice.scorer}' in {log} have {problem}: {choices(keys)}"
        )
    if choice.is_named and any(map(_is_single, values)):
        raise InputError(
            f"value: scores of '{choice.scorer}' in {log} have no keys, and so no '{choice.key}'"
        )
    return [_under(key, value) for value in values], key if keys else ""


def _value(sample: _Sample, scorer: str) -> Any:
    score = (sample.scores or {}).get(scorer)
    if score is None or sample.error is not None:
        return None
    return score.value


def _is_single(value: Any) -> bool:
    """Whether a score has a value, and no keys."""
    return not (value is None or isinstance(value, dict) or value != value)


def _under(key: str, value: Any) -> Any:
    """What a dictionary has under a key; anything else as it is."""
    if isinstance(value, dict):
        return value.get(key)
    return value


def _reduced(
    log: EvalLog, what: str, reducer: str, key: str, left_out: list[str]
) -> dict[str, float] | None:
    """Scores of samples as the log reduced them.

    None, with a sentence in `left_out`, if it did not.
    """
    # The header of a log in JSON comes without them.
    whole = log if log.reductions else _whole(log, left_out)
    if whole is None:
        return None
    for reduction in whole.reductions or ():
        if (reduction.scorer, reduction.reducer) == (what, reducer):
            return {
                whole_characters(str(sample.sample_id)): number(_under(key, sample.value))
                for sample in reduction.samples
            }
    left_out.append(
        f"{short_name(log.location)} was left out: it has no scores reduced by {reducer}."
    )
    return None


def table_of(rows: pd.DataFrame, what: str, file: str) -> pd.DataFrame:
    """One row per sample of rows with sample, raw, cluster, group and input.

    The value of several epochs is their mean.
    """
    values = rows["raw"].map(number, na_action=None).astype(float)
    rows = rows.assign(value=values)
    refused = rows[values.isin([math.inf])]
    if len(refused):
        first = whole_characters(repr(refused["raw"].iloc[0]))[:60]
        raise InputError(
            f"scorer: {len(refused):,} of {counted(len(rows), 'score')} of '{what}' in"
            f" {short_name(file)} are no number: {first} of sample"
            f" '{refused['sample'].iloc[0]}'; allowed: {choices(TEXTS)}, finite numbers"
        )
    is_label = rows["raw"].map(lambda raw: isinstance(raw, (bool, str)), na_action=None)
    is_unit_label = is_label.astype(bool) & values.isin(TEXTS.values())
    rows["is_unit"] = values.isna() | is_unit_label
    rows = rows.assign(epochs=1, scored=values.notna())
    return rows.groupby("sample", sort=False, as_index=False).agg(
        {
            "cluster": "first",
            "group": "first",
            "input": "first",
            "value": "mean",
            "is_unit": "all",
            "epochs": "sum",
            "scored": "sum",
        }
    )


def row_of(
    sample: Any, raw: Any, metadata: Mapping[str, Any], text: str, query: Query
) -> dict[str, Any]:
    """A row as for `table_of`."""

    def label(key: str | None) -> str | None:
        value = None
        if key:
            value = metadata.get(key)
        if value is None or value == "":
            return None
        if isinstance(value, str):
            return whole_characters(value)
        return whole_characters(json.dumps(value, default=str, sort_keys=True))

    return {
        "sample": whole_characters(str(sample)),
        "raw": raw,
        "cluster": label(query.cluster),
        "group": label(query.by),
        "input": hash(text),
    }
