"""Scores in logs of any inspect-ai task, or in samples saved by lm-eval -> one data frame of samples and models."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd
from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary

from urs_inspect._util import InputError, choices, counted
from urs_inspect.logs import files
from urs_inspect.logs.files import finished_headers, latest_runs, nothing_left, short_name
from urs_inspect.logs.naming import distinct_names, model_settings, sounds_secret, whole_characters
from urs_inspect.logs.scores import answered_by

_TEXTS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_UNUSED = ("events", "messages", "store", "error_retries", "output")
_SAVED = re.compile(r"samples_([^/]+)_(\d{4}-\d{2}-\d{2}T[^/]*)\.jsonl$")
_NO_METRICS = ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics")
_NO_GROUP = "(none)"
_SHORTENED = ("...", "Key removed from summary (> 1k)")
_OF_ANY_EPOCHS = ("mean", "median", "pass_")
"""What reducers are called whose values compare whatever the number of epochs."""

_Line = tuple[str, Any, Mapping[str, Any], str]
"""Of an answer: sample, value of its score, metadata of the sample, its input."""


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
    (NaN: no score), cluster (the sample itself where it has none), group (empty if none was asked for)."""
    task: str
    scorer: str  # what was read: "match", "intent_judge: final", "exact_match,strict-match"
    chosen: str  # sentences on how it was chosen, and how epochs are reduced; may be empty
    scale: tuple[float, float] | None  # (0, 1) where all values are letters or booleans
    higher_is_better: bool  # as lm-eval has it; True for inspect-ai, which does not record it
    runs: tuple[SampleRun, ...]  # in the order in which they were made
    left_out: tuple[str, ...]  # what was skipped and why, one sentence each, with counts


@dataclass(frozen=True, eq=False)
class _Read:
    """The scores of a log; implements `Run`."""

    file: str
    run_id: str
    of: str
    created: str
    settings: dict[str, str]  # that may change scores
    reducer: str  # of epochs
    several: bool  # whether there are several epochs
    table: pd.DataFrame  # sample, value, cluster and group (None: missing), input (hash)
    keys: frozenset[str]  # of metadata
    of_unit: bool  # whether all values are letters or booleans

    @property
    def questions(self) -> frozenset[str]:
        """Ids of its samples."""
        return frozenset(self.table["sample"])

    def replaces(self, other: "_Read") -> bool:
        """Whether it has scores of the same model, with the same settings, on some of the same samples."""
        same = (self.of, self.settings) == (other.of, other.settings)
        return same and not self.questions.isdisjoint(other.questions)


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
    names, left_out, chosen = list(logs), list[str](), list[str]()
    logs_there, keys, higher = files.log_files(names), (cluster, by), True
    if saved := _saved_files(names):
        if others := [file for file in logs_there if not _SAVED.search(file)]:
            raise InputError(
                f"{counted(len(others), 'log')} of inspect-ai, such as {short_name(others[0])}, and {len(saved):,} of "
                f"lm-eval, such as {short_name(saved[0])}, cannot be compared"
            )
        task, what, read, higher = _saved_runs(saved, scorer or value, task, keys, chosen, left_out)
    else:
        if not (headers := finished_headers(names, left_out)):
            raise nothing_left("no finished log", names, left_out)
        task = _one_task(Counter(log.eval.task for log in headers), task)
        if other := [log for log in headers if log.eval.task != task]:
            left_out.append(files.of_other_tasks(other, task))
        headers = [log for log in headers if log.eval.task == task]
        _refuse_different("task versions", ((_version(log), log.location) for log in headers))
        _refuse_different("datasets", ((_dataset(log), log.location) for log in headers))
        what, key = _choice(headers[-1], scorer, value, chosen)
        runs = (_read_log(log, what, key, value is not None, keys, left_out) for log in headers)
        read, what = [run for run in runs if run is not None], f"{what}: {key}" if key else what
    if not read:
        raise nothing_left(f"scorer: no log has a score of '{what}'", names, left_out)
    kept = latest_runs(read, left_out)
    _refuse_different("epoch reducers", ((run.reducer, run.file) for run in kept))
    if any("of" in run.reducer or run.several for run in kept):
        chosen.append(f"Epochs are reduced by {kept[0].reducer}.")
    models = [whole_characters(name) for name in _model_names(kept)]
    return SampleScores(
        table=_frame(kept, models, cluster, by, left_out),
        task=task,
        scorer=what,
        chosen=" ".join(chosen),
        scale=(0.0, 1.0) if all(run.of_unit for run in kept) else None,
        higher_is_better=higher,
        runs=tuple(
            SampleRun(short_name(run.file), model, run.created, len(run.table))
            for run, model in zip(kept, models, strict=True)
        ),
        left_out=tuple(left_out),
    )


# --- what can be compared ---


def _one_task(tasks: Counter[str], task: str | None) -> str:
    named = [name for name in tasks if task in (None, name, name.rpartition("/")[2])]
    if len(named) == 1:
        return named[0]
    there = ", ".join(f"{name} ({counted(count, 'log')})" for name, count in sorted(tasks.items()))
    raise InputError("task: " + (f"no '{task}'" if task else "logs of several tasks, name one") + f": {there}")


def _version(log: EvalLog) -> str:
    return str(log.eval.task_version or "").partition("-")[0]


def _dataset(log: EvalLog) -> str:
    name = log.eval.dataset.name or PurePosixPath(log.eval.dataset.location or "").name
    return f"{name} {str((log.eval.metadata or {}).get('dataset_sha256', ''))[:8]}".strip()


def _refuse_different(what: str, facts: Iterable[tuple[str, str]]) -> None:
    """Raise if logs differ in a fact that is known (not empty) of them, with counts and a log for each value."""
    logs: dict[str, list[str]] = defaultdict(list)
    for fact, log in facts:
        logs[fact].append(short_name(log))
    logs.pop("", None)
    if len(logs) > 1:
        each = (f"{fact} ({counted(len(names), 'log')}, such as {names[0]})" for fact, names in logs.items())
        raise InputError(f"logs of different {what} cannot be compared: {'; '.join(each)}")


def _model_names(runs: Sequence[_Read]) -> list[str]:
    """Names of the models, with the settings in which the logs of one model differ."""
    facts = {run.of: list[dict[str, str]]() for run in runs}
    for run in runs:
        if run.settings not in facts[run.of]:
            facts[run.of].append(run.settings)
    names = {model: distinct_names([(model, each) for each in settings]) for model, settings in facts.items()}
    return [names[run.of][facts[run.of].index(run.settings)] for run in runs]


def _frame(
    runs: Sequence[_Read], models: Sequence[str], cluster: str | None, by: str | None, left_out: list[str]
) -> pd.DataFrame:
    """The table of `SampleScores`; what a log does not know of a sample is taken from the others."""
    parts = [run.table.assign(model=model, file=run.file) for run, model in zip(runs, models, strict=True)]
    table = pd.concat(parts, ignore_index=True)
    samples = table.groupby("sample", sort=False)
    there = sorted(frozenset[str]().union(*(run.keys for run in runs)))
    for column, option, key in (("input", "", "input"), ("cluster", "cluster", cluster), ("group", "by", by)):
        if key is None:
            continue
        if option and key not in there:
            raise InputError(f"{option}: no sample has '{key}'; there are: {choices(there) or 'none'}")
        values = samples[column].nunique()
        if (several := values[values > 1]).size:
            named = table.loc[table["sample"] == several.index[0]].drop_duplicates(column)["file"]
            raise InputError(
                f"{len(several):,} of {counted(len(values), 'sample')} have another {key} in one log than in another, "
                f"such as '{several.index[0]}' in {' and '.join(map(short_name, named[:2]))}"
            )
        table[column] = samples[column].transform("first")
        if option and (missing := int((values == 0).sum())):
            how = "each is a cluster of its own" if option == "cluster" else f"their group is {_NO_GROUP}"
            left_out.append(f"{missing:,} of {counted(len(values), 'sample')} have no '{key}': {how}.")
    table["cluster"] = table["cluster"].fillna(table["sample"] if cluster is None else "sample " + table["sample"])
    table["group"] = "" if by is None else table["group"].fillna(_NO_GROUP)
    if (without := table.loc[table["value"].isna(), "model"].value_counts()).size:
        left_out.append(
            f"{without.sum():,} of {len(table):,} samples of all models together have no score, as they failed or were "
            f"not scored; most of {without.index[0]} ({without.iloc[0]:,})."
        )
    return table[["sample", "model", "value", "cluster", "group"]]


def _number(value: Any) -> float | None:
    """A score as a number, NaN if there is none; None if it cannot be read as by inspect-ai."""
    if isinstance(value, str):
        value = _TEXTS.get(value, _TEXTS.get(value.lower() if len(value) > 1 else value, value))
    try:
        number = math.nan if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isinf(number) else number


def _run(
    file: str,
    of: tuple[str, str, str, Mapping[str, Any]],
    what: str,
    lines: Iterable[_Line],
    keys: Sequence[str | None],
    reducer: str = "",
    reduced: Mapping[str, Any] | None = None,
) -> _Read:
    """The run `of` a model (run id, model, time and settings); epochs by their mean, or as `reduced`."""
    values, rows = defaultdict[str, list[float]](list), dict[str, list[Any]]()
    there, refused, of_unit, answers = set[str](), list[tuple[str, Any]](), True, 0
    for name, raw, metadata, text in lines:
        sample, number, answers = whole_characters(name), _number(raw), answers + 1
        if number is None:
            refused.append((sample, raw))
        elif not math.isnan(number):
            values[sample].append(number)
            of_unit &= isinstance(raw, (bool, str)) and number in _TEXTS.values()
        if sample not in rows:
            rows[sample] = [sample, *(None if key is None else _label(metadata.get(key)) for key in keys), hash(text)]
            there.update(metadata)
    if refused:
        raise InputError(
            f"scorer: {len(refused):,} of {counted(answers, 'score')} of '{what}' in {short_name(file)} are no number: "
            f"{whole_characters(repr(refused[0][1]))[:60]} of sample '{refused[0][0]}'; allowed: "
            f"{choices(_TEXTS)}, finite numbers"
        )
    table = pd.DataFrame(rows.values(), columns=["sample", "cluster", "group", "input"])
    final = {sample: math.fsum(each) / len(each) for sample, each in values.items()}
    if reduced is not None:
        final = {
            whole_characters(name): math.nan if (n := _number(raw)) is None else n for name, raw in reduced.items()
        }
    table["value"] = table["sample"].map(final).astype(float)
    run_id, model, created, facts = of
    settings = {name: str(fact) for name, fact in facts.items() if fact is not None and not sounds_secret(name)}
    several = answers > len(rows)
    return _Read(file, run_id, model, created, settings, reducer, several, table, frozenset(there), of_unit)


def _label(value: Any) -> str | None:
    if value is None or value == "":
        return None
    return whole_characters(value if isinstance(value, str) else json.dumps(value, default=str, sort_keys=True))


# --- inspect-ai ---


def _choice(log: EvalLog, scorer: str | None, value: str | None, chosen: list[str]) -> tuple[str, str | None]:
    """Scorer and key to read: those named, else those of the headline metric."""
    scores, headline = (log.results.scores, log.results.headline) if log.results else ([], None)
    if scorer is None and value:
        scorer = next((score.scorer for score in scores if value.startswith(f"{score.scorer}.")), None)
    first, first_key = ("", "")
    if headline and headline.scorer:
        first, first_key = headline.scorer, headline.score or ""
    elif scores:
        first, first_key = scores[0].scorer, scores[0].name
    if not (what := scorer or first):
        raise InputError(f"scorer: {short_name(log.location)} has no metrics; name a scorer")
    key = value.removeprefix(f"{what}.") if value else first_key if what == first != first_key else None
    if scorer is None or (key and not value):
        name = f", {headline.metric}" if headline else ""
        chosen.append(f"Of the task's headline metric{name}: {what}{f': {key}' if key and not value else ''}.")
    return what, key or None


def _read_log(
    log: EvalLog, what: str, key: str | None, asked: bool, keys: Sequence[str | None], left_out: list[str]
) -> _Read | None:
    spec, name = log.eval, short_name(log.location)
    if (summaries := files.read_summaries(log, left_out)) is None:
        return None
    scorers = {scorer for sample in summaries for scorer in sample.scores or ()}
    if what not in scorers:
        left_out.append(f"{name} was left out: no score of '{what}'; it has: {choices(sorted(scorers)) or 'none'}.")
        return None
    samples: Sequence[EvalSample | EvalSampleSummary] = summaries
    if any(str((s.metadata or {}).get(key, "")).endswith(_SHORTENED) for s in summaries for key in keys if key):
        samples = files.read_log(log.location, without=_UNUSED).samples or []
    lines = ((str(s.id), _value(s, what, key, asked, name), s.metadata or {}, _text(s.input)) for s in samples)
    epochs, reduced, headline = max((s.epoch for s in summaries), default=1), None, log.results and log.results.headline
    reducers = [headline.reducer if headline else None, *(spec.config.epochs_reducer or ()), "mean"]
    reducer = "mean" if epochs == 1 else next(filter(None, reducers))
    if reducer != "mean":
        stored = [each.samples for each in log.reductions or () if (each.scorer, each.reducer) == (what, reducer)]
        if not stored:
            left_out.append(f"{name} was left out: it has no scores reduced by {reducer}.")
            return None
        reduced = {
            str(s.sample_id): s.value.get(key or "") if isinstance(s.value, dict) else s.value for s in stored[0]
        }
        reducer += "" if reducer.startswith(_OF_ANY_EPOCHS) else f" of {epochs}"
    facts = {**model_settings(log), **spec.task_args, "solver": spec.solver, "solver_args": spec.solver_args or None}
    for role, models in (spec.model_roles or {}).items():
        facts[role] = choices(model.model for model in (models if isinstance(models, list) else [models]))
    of = (spec.eval_id or "", answered_by(log), spec.created, facts)
    return _run(log.location, of, what, lines, keys, reducer, reduced)


def _value(sample: EvalSample | EvalSampleSummary, what: str, key: str | None, asked: bool, log: str) -> Any:
    score = None if sample.error is not None else (sample.scores or {}).get(what)
    value = score.value if score else None
    if isinstance(value, dict):
        if key is None or key not in value:
            problem = f"no key '{key}'" if key else "several keys, name one"
            raise InputError(f"value: scores of '{what}' in {log} have {problem}: {choices(value)}")
        return value[key]
    if asked and value is not None and value == value:  # not NaN, which is no score
        raise InputError(f"value: scores of '{what}' in {log} have no keys, and so no '{key}'")
    return value


def _text(given: Any) -> str:
    return given if isinstance(given, str) else "\n".join(f"{message.role}: {message.text}" for message in given)


# --- lm-eval ---


def _saved_files(names: Iterable[str]) -> list[str]:
    """Files of samples at paths, as lm-eval names them."""
    paths = [Path(files.local_path(name)) for name in names]
    there = [file for path in paths for file in (sorted(path.rglob("samples_*.jsonl")) if path.is_dir() else [path])]
    return list(dict.fromkeys(str(file) for file in there if _SAVED.search(file.name)))


def _saved_runs(
    saved: list[str],
    scorer: str | None,
    task: str | None,
    keys: Sequence[str | None],
    chosen: list[str],
    out: list[str],
) -> tuple[str, str, list[_Read], bool]:
    """Task, metric with its filter, runs in the order in which they were made, and whether higher is better."""
    parts = [(*found.group(2, 1), file) for file in saved if (found := _SAVED.search(file))]
    task = _one_task(Counter(name for _, name, _ in parts), task)
    if others := sum(name != task for _, name, _ in parts):
        out.append(f"{counted(others, 'file')} of samples of other tasks than {task} were left out.")
    read, metrics = dict[tuple[str, str], list[tuple[str, _Line]]](), dict[str, str]()
    for date, _, file in sorted(part for part in parts if part[1] == task):
        try:
            read[date, file] = list(_saved_lines(file, metrics, keys))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            out.append(f"{short_name(file)} was left out: it is damaged ({type(error).__name__}: {error}).")
    named = [name for name, metric in metrics.items() if scorer in (None, name, metric)]
    if not named or (scorer and len(named) > 1):
        problem = f"scorer: {'several' if named else 'no'} '{scorer or ''}' in samples of {task}; there are: "
        raise InputError("\n".join([problem + ("; ".join(metrics) or "none"), *out]))
    what, runs, better, versions = named[0], list[_Read](), set[bool](), list[tuple[str, str]]()
    if scorer is None and len(metrics) > 1:
        chosen.append(f"The first metric of {task}: {what}.")
    for (date, file), all_lines in read.items():
        if not (lines := [line for name, line in all_lines if name == what]):
            out.append(f"{short_name(file)} was left out: it has no {what}.")
            continue
        model, version, higher, facts = _results(file, date, task, metrics[what])
        versions.append((version, file))
        better.add(higher)
        runs.append(_run(file, ("", model, date, facts), what, lines, keys))
    _refuse_different("task versions", versions)
    return task, what, runs, better != {False}


def _saved_lines(file: str, metrics: dict[str, str], keys: Sequence[str | None]) -> Iterator[tuple[str, _Line]]:
    """Metric with its filter and the line, for each metric of each sample; `metrics` gets the names of those there."""
    with Path(file).open(encoding="utf-8") as opened:
        for line in map(json.loads, filter(str.strip, opened)):
            doc = line["doc"] if isinstance(line["doc"], dict) else {}
            facts = {name: value if name in keys else None for name, value in doc.items()}
            own = (name for name in line if name not in _NO_METRICS and not name.endswith("_hash"))
            for metric in line.get("metrics") or own:
                if metric in line:
                    metrics.setdefault(name := f"{metric},{line.get('filter', 'none')}", metric)
                    text = line.get("doc_hash") or line.get("prompt_hash") or ""
                    yield name, (str(line["doc_id"]), line[metric], facts, text)


def _results(file: str, date: str, task: str, metric: str) -> tuple[str, str, bool, dict[str, Any]]:
    """Model, version of the task, whether higher is better, and settings, from the results beside a file of samples."""
    try:
        results = json.loads((Path(file).parent / f"results_{date}.json").read_text(encoding="utf-8"))
        model, versions, config = str(results["model_name"]), results.get("versions") or {}, results.get("config") or {}
        better = ((results.get("higher_is_better") or {}).get(task) or {}).get(metric)
        shots = (results.get("n-shot") or {}).get(task)
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return Path(file).parent.name, "", True, {}
    given = config.get("model_args") or {}
    args = dict(part.partition("=")[::2] for part in given.split(",")) if isinstance(given, str) else given
    facts = {**args, "num_fewshot": shots, "gen_kwargs": config.get("gen_kwargs")}
    return model, str(versions.get(task, "")), better is not False, facts
