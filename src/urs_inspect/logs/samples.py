"""Scores in logs of any inspect-ai task, or in samples saved by lm-eval -> one data frame of samples and models."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pandas as pd
from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary

from urs_inspect._util import InputError, choices, counted
from urs_inspect.logs import files
from urs_inspect.logs.files import finished_headers, first_few, latest_runs, nothing_left, short_name
from urs_inspect.logs.naming import distinct_names, model_settings, sounds_secret, whole_characters
from urs_inspect.logs.responses import text_of
from urs_inspect.logs.scores import SIMULATED, answered_by

_TEXTS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_UNUSED = ("events", "messages", "store", "error_retries", "output")
_SAVED = re.compile(r"samples_([^/]+)_(\d{4}-\d{2}-\d{2}T[^/]*)\.jsonl$")
_NO_METRICS = ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics")
_NO_GROUP = "(none)"
_SHORTENED = ("...", "Key removed from summary (> 1k)")
_OF_ANY_EPOCHS = ("mean", "median", "pass_")
"""What reducers are called whose values compare whatever the number of epochs."""
_JUDGE_ROLE = re.compile("grad|judg|scor|evaluat")
_UNJUDGED = ("match", "includes", "pattern", "answer", "choice", "exact", "f1", "math")
"""Scorers of inspect-ai that call no model."""


@dataclass(frozen=True)
class SampleRun:
    """A log of inspect-ai, or a file of samples of lm-eval, whose scores count."""

    log: str  # file name
    model: str
    created: str  # ISO 8601
    samples: int


@dataclass(frozen=True)
class SampleScores:
    """Scores of models on the samples of one task."""

    table: pd.DataFrame
    """One row per sample and model, epochs reduced: sample, model (with the settings in which its logs differ), value
    (NaN: no score), cluster (the sample itself where it has none), group (empty if none was asked for), input (its
    hash)."""
    task: str
    scorer: str  # what was read: "match", "intent_judge: final", "exact_match,strict-match"
    chosen: str  # sentences on how it was chosen, how epochs are reduced, and how runs differ; may be empty
    scale: tuple[float, float] | None  # (0, 1) where all values are letters or booleans
    higher_is_better: bool  # as lm-eval has it; True for inspect-ai, which does not record it
    runs: tuple[SampleRun, ...]  # in the order in which they were made
    left_out: tuple[str, ...]  # what was skipped and why, one sentence each, with counts
    version: str = ""  # of the task; empty if not known
    dataset: str = ""
    judge: str = ""  # models in the role of a judge, the same for all runs; empty if none is known
    simulated: bool = False  # whether a model, or a model in any role, is simulated


@dataclass(frozen=True)
class _Query:
    """What to read; arguments of `read_sample_scores`."""

    scorer: str | None
    value: str | None
    cluster: str | None
    by: str | None
    task: str | None

    @property
    def keys(self) -> tuple[str, ...]:
        """The metadata to read."""
        return tuple(key for key in (self.cluster, self.by) if key)


class _Answer(NamedTuple):
    """A scored answer; with epochs a sample has several."""

    sample: str
    value: Any
    metadata: Mapping[str, Any]
    text: str  # of the question, or its hash


@dataclass(frozen=True, eq=False)
class _Source:
    """Where the scores of a run come from."""

    file: str
    of: str  # the model
    created: str
    run_id: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)  # of the model, that may change scores
    arguments: Mapping[str, str] = field(default_factory=dict)  # of the task, and models in roles other than a judge's
    judge: str = ""
    simulated: bool = False


@dataclass(frozen=True, eq=False)
class _Scored(_Source):
    """The scores of a run; implements `files.Run`."""

    table: pd.DataFrame = field(kw_only=True)  # sample, value, cluster and group (None: missing), input (hash)
    keys: frozenset[str] = field(kw_only=True)  # of metadata
    is_unit: bool = field(kw_only=True)  # whether all values are letters or booleans
    reducer: str = ""  # of epochs; empty for one epoch
    key: str = ""  # of a dictionary score

    @property
    def questions(self) -> frozenset[str]:
        """Ids of its samples."""
        return frozenset(self.table["sample"])

    @property
    def conditions(self) -> tuple[str, Mapping[str, str], Mapping[str, str], str]:
        """What is the same for two runs of which the later one replaces the other."""
        return self.of, self.settings, self.arguments, self.judge

    def replaces(self, other: "_Scored") -> bool:
        """Whether it has scores of the same model, with the same settings, on some of the same samples."""
        return self.conditions == other.conditions and not self.questions.isdisjoint(other.questions)


@dataclass(frozen=True)
class _TaskRuns:
    """All runs of a task, in the order in which they were made."""

    task: str
    scorer: str
    runs: list[_Scored]
    version: str = ""
    dataset: str = ""
    higher_is_better: bool = True


def read_sample_scores(
    logs: Iterable[str],
    *,
    scorer: str | None = None,
    value: str | None = None,
    cluster: str | None = None,
    by: str | None = None,
    task: str | None = None,
) -> SampleScores:
    """Read the scores of models on the samples of one task.

    Of several logs of one model with the same settings that share samples the newest counts, unless it has fewer than
    half as many; logs of other samples are joined; with other settings it is a model of its own. Letters count as in
    inspect-ai (C 1, P 0.5, I and N 0). What failed or was not scored has no score.

    Args:
        logs: Log files of inspect-ai, `samples_*.jsonl` of lm-eval, or directories of them.
        scorer: A scorer (`metric` or `metric,filter` of lm-eval); by default the task's headline metric.
        value: A key of a dictionary score, alone or as `scorer.key`.
        cluster: A key of the samples' metadata (field of lm-eval's documents) whose values are clusters.
        by: A key of the samples' metadata whose values are groups.
        task: The task, where there are several; the part of its name after the last "/" is enough.

    Raises:
        InputError: If logs cannot be compared, a value is no number, a scorer or key is unknown, or nothing is left.
    """
    names, query = list(logs), _Query(scorer, value, cluster, by, task)
    chosen, left_out = list[str](), list[str]()
    saved, others = _saved_files(names)
    if saved and others:
        raise InputError(
            f"{counted(len(others), 'log')} of inspect-ai, such as {short_name(others[0])}, and {len(saved):,} of "
            f"lm-eval, such as {saved[0].name}, cannot be compared"
        )
    read = _of_lm_eval(saved, query, chosen, left_out) if saved else _of_inspect(names, query, chosen, left_out)
    if not read.runs:
        raise nothing_left(f"scorer: no log has a score of '{read.scorer}'", names, left_out)
    kept = latest_runs(read.runs, left_out)
    _refuse_different("epoch reducers", ((run.reducer or "mean", run.file) for run in kept))
    judge = _one_judge(kept)
    reducer = next((run.reducer for run in kept if run.reducer), "")
    chosen += [f"Epochs are reduced by {reducer}."] if reducer else []
    models = [whole_characters(name) for name in _model_names(kept)]
    chosen += _about_arguments(kept)
    table = _frame(kept, models, query, left_out)
    runs = zip(kept, models, strict=True)
    return SampleScores(
        table=table,
        task=read.task,
        scorer=read.scorer,
        chosen=" ".join(chosen),
        scale=(0.0, 1.0) if all(run.is_unit for run in kept) else None,
        higher_is_better=read.higher_is_better,
        runs=tuple(SampleRun(short_name(run.file), model, run.created, len(run.table)) for run, model in runs),
        left_out=tuple(left_out),
        version=read.version,
        dataset=read.dataset,
        judge=judge,
        simulated=any(run.simulated for run in kept),
    )


# --- what can be compared ---


def _one_task(tasks: Counter[str], task: str | None) -> str:
    named = [name for name in tasks if task in (None, name, name.rpartition("/")[2])]
    if len(named) == 1:
        return named[0]
    there = ", ".join(f"{name} ({counted(count, 'log')})" for name, count in sorted(tasks.items()))
    raise InputError("task: " + (f"no '{task}'" if task else "logs of several tasks, name one") + f": {there}")


def _refuse_different(what: str, facts: Iterable[tuple[str, str]], hint: str = "") -> str:
    """The fact that is known (not empty) of logs; raise if they differ in it, with counts and a log for each value."""
    logs: dict[str, list[str]] = defaultdict(list)
    for fact, log in facts:
        logs[fact].append(short_name(log))
    logs.pop("", None)
    if len(logs) > 1:
        each = (f"{fact} ({counted(len(names), 'log')}, such as {names[0]})" for fact, names in logs.items())
        raise InputError(f"logs of different {what} cannot be compared: {'; '.join(each)}{hint}")
    return next(iter(logs), "")


def _one_judge(runs: Sequence[_Scored]) -> str:
    if not any(run.judge for run in runs):
        return ""
    hint = ". Scores of two judges do not compare; `urs-inspect gate OLD NEW --equivalent` compares the judges."
    return _refuse_different("judges", ((run.judge or "no judge named", run.file) for run in runs), hint)


def _about_arguments(runs: Sequence[_Scored]) -> list[str]:
    """A sentence on the arguments in which runs of different models differ, if there are any."""
    about = []
    for name in sorted({name for run in runs for name in run.arguments}):
        models: dict[str, set[str]] = defaultdict(set)
        values: dict[str, set[str]] = defaultdict(set)
        for run in runs:
            value = run.arguments.get(name, "not given")
            models[value].add(run.of)
            values[run.of].add(value)
        if len(set(map(frozenset, values.values()))) > 1:
            each = (f"{value[:60]} ({counted(len(of), 'model')}, such as {min(of)})" for value, of in models.items())
            about.append(f"{name}: {', '.join(each)}")
    return [f"Arguments of the task differ between models: {'; '.join(about)}."] if about else []


def _model_names(runs: Sequence[_Scored]) -> list[str]:
    """Names of the models, with the settings and arguments in which the logs of one model differ."""
    facts: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    of_runs = [{**run.settings, **run.arguments} for run in runs]
    for run, own in zip(runs, of_runs, strict=True):
        if own not in facts[run.of]:
            facts[run.of].append(own)
    names = {model: distinct_names([(model, own) for own in there]) for model, there in facts.items()}
    return [names[run.of][facts[run.of].index(own)] for run, own in zip(runs, of_runs, strict=True)]


# --- the table ---


def _frame(runs: Sequence[_Scored], models: Sequence[str], query: _Query, left_out: list[str]) -> pd.DataFrame:
    """The table of `SampleScores`; what a log does not know of a sample is taken from the others."""
    parts = [run.table.assign(model=model, file=run.file) for run, model in zip(runs, models, strict=True)]
    table = pd.concat(parts, ignore_index=True)
    there = sorted(frozenset[str]().union(*(run.keys for run in runs)))
    _complete(table, "input", "input")
    for column, option, key in (("cluster", "cluster", query.cluster), ("group", "by", query.by)):
        if key is None:
            continue
        if key not in there:
            raise InputError(f"{option}: no sample has '{key}'; there are: {choices(there) or 'none'}")
        _complete(table, column, key)
        if missing := table.loc[table[column].isna(), "sample"].nunique():
            how = f"their group is {_NO_GROUP}" if option == "by" else "each is a cluster of its own"
            left_out.append(f"{missing:,} of {counted(table['sample'].nunique(), 'sample')} have no '{key}': {how}.")
    own = table["sample"] if query.cluster is None else "sample " + table["sample"]
    table["cluster"] = table["cluster"].fillna(own)
    table["group"] = "" if query.by is None else table["group"].fillna(_NO_GROUP)
    if (without := table.loc[table["value"].isna(), "model"].value_counts()).size:
        left_out.append(
            f"{without.sum():,} of {len(table):,} samples of all models together have no score, as they failed or were "
            f"not scored; most of {without.index[0]} ({without.iloc[0]:,})."
        )
    return table[["sample", "model", "value", "cluster", "group", "input"]]


def _complete(table: pd.DataFrame, column: str, key: str) -> None:
    """Give all rows of a sample its only value in a column; raise if it has several."""
    samples = table.groupby("sample", sort=False)[column]
    values = samples.nunique()
    if (several := values[values > 1]).size:
        named = table.loc[table["sample"] == several.index[0]].drop_duplicates(column)["file"]
        raise InputError(
            f"{len(several):,} of {counted(len(values), 'sample')} have another {key} in one log than in another, "
            f"such as '{several.index[0]}' in {' and '.join(map(short_name, named[:2]))}"
        )
    table[column] = samples.transform("first")


def _scored(
    source: _Source, what: str, answers: Sequence[_Answer], query: _Query, reducer: str = "", key: str = ""
) -> _Scored:
    """The scores of a run, epochs by their mean."""
    values, rows = defaultdict[str, list[float]](list), dict[str, list[Any]]()
    keys, is_unit = set[str](), True
    refused: list[_Answer] = []
    for answer in answers:
        sample, number = whole_characters(answer.sample), _number(answer.value)
        if number is None:
            refused.append(answer)
        elif not math.isnan(number):
            values[sample].append(number)
            is_unit &= isinstance(answer.value, (bool, str)) and number in _TEXTS.values()
        if sample not in rows:
            labels = [_label(answer.metadata.get(name)) if name else None for name in (query.cluster, query.by)]
            rows[sample] = [sample, *labels, hash(answer.text)]
            keys.update(answer.metadata)
    if refused:
        raise InputError(
            f"scorer: {len(refused):,} of {counted(len(answers), 'score')} of '{what}' in {short_name(source.file)} "
            f"are no number: {whole_characters(repr(refused[0].value))[:60]} of sample "
            f"'{whole_characters(refused[0].sample)}'; allowed: {choices(_TEXTS)}, finite numbers"
        )
    table = pd.DataFrame(rows.values(), columns=["sample", "cluster", "group", "input"])
    means = {sample: math.fsum(each) / len(each) for sample, each in values.items()}
    table["value"] = table["sample"].map(means).astype(float)
    return _Scored(**vars(source), table=table, keys=frozenset(keys), is_unit=is_unit, reducer=reducer, key=key)


def _number(value: Any) -> float | None:
    """A score as a number, NaN if there is none; None if it cannot be read as by inspect-ai."""
    if isinstance(value, str):
        value = _TEXTS.get(value, _TEXTS.get(value.lower() if len(value) > 1 else value, value))
    try:
        number = math.nan if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isinf(number) else number


def _label(value: Any) -> str | None:
    if value is None or value == "":
        return None
    return whole_characters(value if isinstance(value, str) else json.dumps(value, default=str, sort_keys=True))


def _texts(facts: Mapping[str, Any]) -> dict[str, str]:
    """Facts that are known and no secret, as texts."""
    return {name: str(fact) for name, fact in facts.items() if fact is not None and not sounds_secret(name)}


# --- inspect-ai ---


@dataclass(frozen=True)
class _Choice:
    """Scorer and key to read."""

    scorer: str
    key: str  # empty where scores are no dictionaries, or it is not known
    is_named: bool  # whether the key was asked for
    metric: str  # of the headline; the key, if dictionaries have one of this name


def _of_inspect(names: Sequence[str], query: _Query, chosen: list[str], left_out: list[str]) -> _TaskRuns:
    if not (headers := finished_headers(names, left_out)):
        raise nothing_left("no finished log", names, left_out)
    task = _one_task(Counter(log.eval.task for log in headers), query.task)
    if other := [log for log in headers if log.eval.task != task]:
        left_out.append(files.of_other_tasks(other, task))
    headers = [log for log in headers if log.eval.task == task]
    version = _refuse_different("task versions", ((_version(log), log.location) for log in headers))
    dataset = _refuse_different("datasets", ((_dataset(log), log.location) for log in headers))
    choice = _choice(headers[-1], query)
    skipped: list[str] = []
    runs = [run for log in headers if (run := _read_log(log, choice, query, skipped)) is not None]
    left_out += first_few(skipped)
    key = _refuse_different("keys", ((run.key, run.file) for run in runs))
    what = f"{choice.scorer}: {key}" if key else choice.scorer
    if query.scorer is None or (key and not query.value):
        name = f", {choice.metric}" if choice.metric else ""
        chosen.append(f"Scores of the task's headline metric{name}: {choice.scorer if query.value else what}.")
    return _TaskRuns(task, what, runs, version, dataset)


def _version(log: EvalLog) -> str:
    return str(log.eval.task_version or "").partition("-")[0]


def _dataset(log: EvalLog) -> str:
    name = log.eval.dataset.name or PurePosixPath(log.eval.dataset.location or "").name
    return f"{name} {str((log.eval.metadata or {}).get('dataset_sha256', ''))[:8]}".strip()


def _choice(log: EvalLog, query: _Query) -> _Choice:
    """What was asked for, else what the headline metric is of."""
    scores, headline = (log.results.scores, log.results.headline) if log.results else ([], None)
    first, first_key, metric = "", "", ""
    if headline and headline.scorer:
        first, first_key, metric = headline.scorer, headline.score or "", headline.metric or ""
    elif scores:
        first, first_key, metric = scores[0].scorer, scores[0].name, next(iter(scores[0].metrics), "")
    value = query.value or ""
    of_value = next((score.scorer for score in scores if value.startswith(f"{score.scorer}.")), "")
    if not (what := query.scorer or of_value or first):
        raise InputError(f"scorer: {short_name(log.location)} has no metrics; name a scorer")
    if value:
        return _Choice(what, value.removeprefix(f"{what}."), True, metric)
    if what != first:
        return _Choice(what, "", False, "")
    return _Choice(what, first_key if first_key != what else "", False, metric)


def _read_log(log: EvalLog, choice: _Choice, query: _Query, left_out: list[str]) -> _Scored | None:
    """The scores of a log; None, with a sentence in `left_out`, if it has none or they cannot be read."""
    name, what = short_name(log.location), choice.scorer
    if (summaries := files.read_summaries(log, left_out)) is None:
        return None
    scorers = {scorer for sample in summaries for scorer in sample.scores or ()}
    if what not in scorers:
        left_out.append(f"{name} was left out: no score of '{what}'; it has: {choices(sorted(scorers)) or 'none'}.")
        return None
    samples: Sequence[EvalSample | EvalSampleSummary] = summaries
    epochs = max((sample.epoch for sample in summaries), default=1)
    reducer = _reducer(log) if epochs > 1 else ""
    metadata = [sample.metadata or {} for sample in summaries]
    shortened = any(str(facts.get(key, "")).endswith(_SHORTENED) for facts in metadata for key in query.keys)
    # The header of a log in JSON comes without reductions.
    if shortened or (reducer not in ("", "mean") and not log.reductions):
        try:
            whole = files.read_log(log.location, without=_UNUSED)
        except InputError as error:
            left_out.append(files.about_damaged(log.location, error))
            return None
        samples, log = whole.samples or [], whole
    answers, key = _answers(samples, choice, name)
    run = _scored(_source(log, what), what, answers, query, reducer, key)
    if reducer in ("", "mean"):
        return run
    if (reduced := _reduced(log, what, reducer, key)) is None:
        left_out.append(f"{name} was left out: it has no scores reduced by {reducer}.")
        return None
    run.table["value"] = run.table["sample"].map(reduced).astype(float)
    return run if reducer.startswith(_OF_ANY_EPOCHS) else replace(run, reducer=f"{reducer} of {epochs}")


def _reducer(log: EvalLog) -> str:
    headline = log.results.headline if log.results else None
    named = [headline.reducer if headline else None, *(log.eval.config.epochs_reducer or ())]
    return next(filter(None, named), "mean")


def _reduced(log: EvalLog, what: str, reducer: str, key: str) -> dict[str, float] | None:
    """Scores of samples as the log reduced them; None if it did not."""
    for each in log.reductions or ():
        if (each.scorer, each.reducer) == (what, reducer):
            values = {s.sample_id: s.value.get(key) if isinstance(s.value, dict) else s.value for s in each.samples}
            numbers = {whole_characters(str(sample)): _number(value) for sample, value in values.items()}
            return {sample: math.nan if number is None else number for sample, number in numbers.items()}
    return None


def _answers(samples: Sequence[EvalSample | EvalSampleSummary], choice: _Choice, log: str) -> tuple[list[_Answer], str]:
    """The answers of a log, and the key of their scores, empty if these are no dictionaries."""
    scores = [None if sample.error is not None else (sample.scores or {}).get(choice.scorer) for sample in samples]
    values = [score.value if score else None for score in scores]
    keys = dict.fromkeys(key for value in values if isinstance(value, dict) for key in value)
    key = choice.key or (choice.metric if choice.metric in keys else "")
    if keys and key not in keys:
        problem = f"no key '{key}'" if key else "several keys, name one"
        raise InputError(f"value: scores of '{choice.scorer}' in {log} have {problem}: {choices(keys)}")
    if choice.is_named and any(not isinstance(v, dict) and v is not None and v == v for v in values):
        raise InputError(f"value: scores of '{choice.scorer}' in {log} have no keys, and so no '{choice.key}'")
    values = [value.get(key) if isinstance(value, dict) else value for value in values]
    pairs = zip(samples, values, strict=True)
    answers = [_Answer(str(sample.id), value, sample.metadata or {}, text_of(sample)) for sample, value in pairs]
    return answers, key if keys else ""


def _source(log: EvalLog, scorer: str) -> _Source:
    spec = log.eval
    given = (spec.model_roles or {}).items()
    roles = {
        role: [each.model for each in (models if isinstance(models, list) else [models])] for role, models in given
    }
    judges = [name for role, models in roles.items() if _JUDGE_ROLE.search(role) for name in models]
    others = {role: ", ".join(models) for role, models in roles.items() if not _JUDGE_ROLE.search(role)}
    arguments = {**spec.task_args, "solver": spec.solver, "solver_args": spec.solver_args or None, **others}
    return _Source(
        file=log.location,
        of=answered_by(log),
        created=spec.created,
        run_id=spec.eval_id or "",
        settings=_texts(model_settings(log)),
        arguments=_texts(arguments),
        judge="" if scorer in _UNJUDGED else ", ".join(judges),
        simulated=any(name.startswith(SIMULATED) for name in [spec.model, *judges, *others.values()]),
    )


# --- lm-eval ---


@dataclass(frozen=True)
class SavedRun:
    """What the name of a file of samples of lm-eval and the results beside it say of its run."""

    file: str
    task: str
    date: str  # empty if the name has none
    model: str = ""  # empty, as all that follows, if there are no results
    version: Any = None
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)  # by metric
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the model
    arguments: Mapping[str, Any] = field(default_factory=dict)  # of the task
    metadata: Mapping[str, Any] = field(default_factory=dict)  # of the task's configuration


def saved_run(file: Path) -> SavedRun:
    """Read the name of a file of samples and the results beside it, which may be missing."""
    match = _SAVED.search(file.name)
    task, date = match.groups() if match else (file.stem, "")
    try:
        results = json.loads((file.parent / f"results_{date}.json").read_text(encoding="utf-8"))
        of_task = {name: (results.get(name) or {}).get(task) for name in ("versions", "higher_is_better", "n-shot")}
        config, task_config = results.get("config") or {}, (results.get("configs") or {}).get(task) or {}
        given = config.get("model_args") or {}
        return SavedRun(
            *(str(file), task, date, str(results["model_name"]), of_task["versions"]),
            higher_is_better=of_task["higher_is_better"] or {},
            settings=dict(part.partition("=")[::2] for part in given.split(",")) if isinstance(given, str) else given,
            arguments={"num_fewshot": of_task["n-shot"], "gen_kwargs": config.get("gen_kwargs")},
            metadata=task_config.get("metadata") or {},
        )
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return SavedRun(str(file), task, date)


class _SavedLine(NamedTuple):
    sample: str
    filter: str
    metrics: Mapping[str, Any]
    metadata: Mapping[str, Any]
    text: str  # hash of the document

    def answer(self, metric: str) -> _Answer:
        return _Answer(self.sample, self.metrics.get(metric), self.metadata, self.text)


def _saved_files(names: Iterable[str]) -> tuple[list[Path], list[str]]:
    """Files of samples at paths, as lm-eval names them, and logs of inspect-ai."""
    paths = [Path(files.local_path(name)) for name in names]
    there = [file for path in paths for file in (sorted(path.rglob("samples_*.jsonl")) if path.is_dir() else [path])]
    saved = [file for file in dict.fromkeys(there) if _SAVED.search(file.name)]
    return saved, [file for file in files.log_files(names) if not _SAVED.search(file)]


def _of_lm_eval(saved: Sequence[Path], query: _Query, chosen: list[str], left_out: list[str]) -> _TaskRuns:
    all_runs = sorted(map(saved_run, saved), key=lambda run: (run.date, run.file))
    task = _one_task(Counter(run.task for run in all_runs), query.task)
    runs = [run for run in all_runs if run.task == task]
    if others := len(all_runs) - len(runs):
        left_out.append(f"{counted(others, 'file')} of samples of other tasks than {task} were left out.")
    lines, damaged = dict[str, list[_SavedLine]](), list[str]()
    for run in runs:
        try:
            lines[run.file] = list(_saved_lines(run.file, query))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            damaged.append(f"{short_name(run.file)} was left out: it is damaged ({type(error).__name__}: {error}).")
    left_out += first_few(damaged)
    metric, filter_ = _saved_metric(task, lines, query, chosen, left_out)
    what, skipped, read = f"{metric},{filter_}", list[str](), list[SavedRun]()
    asked = {file: [line for line in each if line.filter == filter_] for file, each in lines.items()}
    known = {line.sample for each in asked.values() for line in each if metric in line.metrics}
    scored: list[_Scored] = []
    for run in runs:
        answers = [line.answer(metric) for line in asked.get(run.file, ()) if line.sample in known]
        if any(metric in line.metrics for line in asked.get(run.file, ())):
            scored.append(_scored(_saved_source(run), what, answers, query))
            read.append(run)
        elif run.file in asked:
            skipped.append(f"{short_name(run.file)} was left out: it has no {what}.")
    left_out += first_few(skipped)
    if without := {line.sample for each in asked.values() for line in each} - known:
        left_out.append(f"{counted(len(without), 'sample')} of {len(without | known):,} have no {what} in any file.")
    version = _refuse_different("task versions", ((str(run.version or ""), run.file) for run in read))
    better = {run.higher_is_better.get(metric) is not False for run in read}
    return _TaskRuns(task, what, scored, version, higher_is_better=better != {False})


def _saved_metric(
    task: str, lines: Mapping[str, Sequence[_SavedLine]], query: _Query, chosen: list[str], left_out: Sequence[str]
) -> tuple[str, str]:
    """Metric and filter to read."""
    asked = query.scorer or query.value
    there = dict.fromkeys((name, line.filter) for each in lines.values() for line in each for name in line.metrics)
    named = [pair for pair in there if asked in (None, pair[0], ",".join(pair))]
    if not named or (asked and len(named) > 1):
        problem = f"scorer: {'several' if named else 'no'} '{asked or ''}' in samples of {task}; there are: "
        raise InputError("\n".join([problem + ("; ".join(map(",".join, there)) or "none"), *left_out]))
    if asked is None and len(there) > 1:
        chosen.append(f"The first metric of {task}: {','.join(named[0])}.")
    return named[0]


def _saved_lines(file: str, query: _Query) -> Iterator[_SavedLine]:
    with Path(file).open(encoding="utf-8") as opened:
        for line in map(json.loads, filter(str.strip, opened)):
            doc = line["doc"] if isinstance(line["doc"], dict) else {}
            own = (name for name in line if name not in _NO_METRICS and not name.endswith("_hash"))
            metrics = {name: line[name] for name in line.get("metrics") or own if name in line}
            # Documents may be long.
            facts = {name: value if name in query.keys else None for name, value in doc.items()}
            text = line.get("doc_hash") or line.get("prompt_hash") or ""
            yield _SavedLine(str(line["doc_id"]), str(line.get("filter", "none")), metrics, facts, text)


def _saved_source(run: SavedRun) -> _Source:
    return _Source(
        file=run.file,
        of=run.model or Path(run.file).parent.name,
        created=run.date,
        settings=_texts(run.settings),
        arguments=_texts(run.arguments),
        simulated=run.model.startswith(SIMULATED),
    )
