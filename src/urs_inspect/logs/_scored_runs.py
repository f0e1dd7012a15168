"""Scores of one run, from a log of any inspect-ai task or from samples saved by lm-eval."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd
from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary

from urs_inspect._util import InputError, choices, counted
from urs_inspect.judging._failures import PARTIAL_PANEL
from urs_inspect.judging._reply_counts import Counts, summed
from urs_inspect.logs import _files as files
from urs_inspect.logs._files import finished_headers, first_few, nothing_left, short_name
from urs_inspect.logs._naming import (
    STRUCTURED,
    model_settings,
    sounds_secret,
    structured_of,
    whole_characters,
)
from urs_inspect.logs._responses import text_of
from urs_inspect.logs._scores import SIMULATED, answered_by, role_models

_TEXTS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_UNUSED = ("events", "messages", "store", "error_retries", "output")
SAVED = re.compile(r"samples_([^/]+)_(\d{4}-\d{2}-\d{2}T[^/]*)\.jsonl$")
_NO_METRICS = (
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
)
_SHORTENED = ("...", "Key removed from summary (> 1k)")
_OF_ANY_EPOCHS = ("mean", "median", "pass_")
"""Prefixes of reducers that may be compared across numbers of epochs."""
_JUDGE_ROLE = re.compile("grad|judg|scor|evaluat")
_UNJUDGED = ("match", "includes", "pattern", "answer", "choice", "exact", "f1", "math")
"""Scorers of inspect-ai that call no model."""


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
    settings: Mapping[str, str] = field(
        default_factory=dict
    )  # of the model, that may change scores
    arguments: Mapping[str, str] = field(
        default_factory=dict
    )  # of the task, and models in roles other than a judge's
    judge: str = ""
    simulated: bool = False
    reducer: str = ""  # of epochs; empty for one epoch
    key: str = ""  # of a dictionary score
    partial: int = 0  # answers that only a part of a panel of judges scored, which have no score
    scored_by: frozenset[str] = frozenset()  # judges of a panel with a score in any of the logs
    reply_counts: Counts = field(default_factory=dict)  # of the judges' replies, by judge
    raters: Mapping[str, int] = field(
        default_factory=dict
    )  # people whose ratings the scores are -> number of answers

    @property
    def epochs(self) -> int:
        """Epochs that were asked for."""
        return int(self.table["epochs"].max())

    @property
    def questions(self) -> frozenset[str]:
        """Ids of its samples."""
        return frozenset(self.table["sample"])

    def replaces(self, other: "ScoredRun") -> bool:
        """Whether it has scores of the same model, with the same settings, on some of the same
        samples.
        """
        same = all(
            getattr(self, each) == getattr(other, each)
            for each in ("of", "settings", "arguments", "judge")
        )
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
    named = [name for name in tasks if task in (None, name, name.rpartition("/")[2])]
    if len(named) == 1:
        return named[0]
    allowed = ", ".join(
        f"{name} ({counted(count, 'log')})" for name, count in sorted(tasks.items())
    )
    raise InputError(
        "task: " + (f"no '{task}'" if task else "logs of several tasks, name one") + f": {allowed}"
    )


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


def _table(rows: pd.DataFrame, what: str, file: str) -> pd.DataFrame:
    """One row per sample of rows with sample, raw, cluster, group and input; epochs by their
    mean.
    """
    rows = rows.assign(value=rows["raw"].map(_number, na_action=None).astype(float))
    if (refused := rows[rows["value"].isin([math.inf])]).size:
        raise InputError(
            f"scorer: {len(refused):,} of {counted(len(rows), 'score')} of '{what}' in"
            f" {short_name(file)} are no number:"
            f" {whole_characters(repr(refused['raw'].iloc[0]))[:60]} of sample"
            f" '{refused['sample'].iloc[0]}'; allowed: {choices(_TEXTS)}, finite numbers"
        )
    letters = rows["raw"].map(lambda raw: isinstance(raw, (bool, str)), na_action=None).astype(bool)
    rows["is_unit"] = rows["value"].isna() | (letters & rows["value"].isin(_TEXTS.values()))
    rows = rows.assign(epochs=1, scored=rows["value"].notna())
    how = dict.fromkeys(("cluster", "group", "input"), "first") | {
        "value": "mean",
        "is_unit": "all",
    }
    return rows.groupby("sample", sort=False, as_index=False).agg(
        {**how, "epochs": "sum", "scored": "sum"}
    )


def _number(value: Any) -> float:
    """A score as a number, NaN if there is none; infinite if it cannot be read as by inspect-ai."""
    if isinstance(value, str):
        value = _TEXTS.get(value, _TEXTS.get(value.lower() if len(value) > 1 else value, value))
    try:
        return (
            math.nan
            if value is None
            else abs(number)
            if math.isinf(number := float(value))
            else number
        )
    except (TypeError, ValueError, OverflowError):
        return math.inf


def _row(
    sample: Any, raw: Any, metadata: Mapping[str, Any], text: str, query: Query
) -> dict[str, Any]:
    """A row as for `_table`."""

    def label(key: str | None) -> str | None:
        value = metadata.get(key) if key else None
        if value is None or value == "":
            return None
        return whole_characters(
            value if isinstance(value, str) else json.dumps(value, default=str, sort_keys=True)
        )

    labels = {"cluster": label(query.cluster), "group": label(query.by)}
    return {"sample": whole_characters(str(sample)), "raw": raw, **labels, "input": hash(text)}


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Values that are known and no secret, as texts."""
    return {
        name: str(value)
        for name, value in values.items()
        if value is not None and not sounds_secret(name)
    }


# --- inspect-ai ---


@dataclass(frozen=True)
class _Choice:
    """Scorer and key to read."""

    scorer: str
    key: str  # empty where scores are no dictionaries, or it is not known
    is_named: bool  # whether the key was asked for
    metric: str  # of the headline; the key, if dictionaries have one of this name


def runs_of_inspect(
    names: Sequence[str], query: Query, chosen: list[str], left_out: list[str]
) -> TaskRuns:
    """The runs of a task in logs of inspect-ai.

    The lists receive which runs were chosen and what was skipped.
    """
    if not (headers := finished_headers(names, left_out)):
        raise nothing_left("no finished log", names, left_out)
    task = one_task(Counter(log.eval.task for log in headers), query.task)
    if others := [log for log in headers if log.eval.task != task]:
        left_out.append(files.of_other_tasks(others, task))
    headers = [log for log in headers if log.eval.task == task]
    versions = ((str(log.eval.task_version).partition("-")[0], log.location) for log in headers)
    version = refuse_different("task versions", versions)
    dataset = refuse_different("datasets", ((_dataset(log), log.location) for log in headers))
    choice = _choice(headers[-1], query)
    skipped: list[str] = []
    read: list[tuple[EvalLog, list[_Sample]]] = []
    for log in headers:
        samples = _samples(log, query, skipped)
        if samples is not None:
            read.append((log, samples))
    judges = _judges_with_scores(samples for _, samples in read)
    runs: list[ScoredRun] = []
    for log, samples in read:
        run = _read_log(log, samples, judges, choice, query, skipped)
        if run is not None:
            runs.append(run)
    left_out += first_few(skipped)
    key = refuse_different("keys", ((run.key, run.file) for run in runs))
    what = f"{choice.scorer}: {key}" if key else choice.scorer
    other = choice.metric if choice.metric not in ("", key) else ""
    if query.scorer is None and not query.value:
        chosen.append(f"Scores of the task's headline metric{other and f', {other}'}: {what}.")
    if other not in ("", "mean", "accuracy") and not query.value:
        chosen.append(f"The mean of the scores is compared, not {other}.")
    return TaskRuns(task, what, runs, version, dataset)


def _dataset(log: EvalLog) -> str:
    name = log.eval.dataset.name or PurePosixPath(log.eval.dataset.location or "").name
    return f"{name} {str((log.eval.metadata or {}).get('dataset_sha256', ''))[:8]}".strip()


def _choice(log: EvalLog, query: Query) -> _Choice:
    """What was asked for, else what the headline metric is of."""
    scores, headline = (log.results.scores, log.results.headline) if log.results else ([], None)
    first = ""
    first_key = ""
    metric = ""
    if headline and headline.scorer:
        first = headline.scorer
        first_key = headline.score or ""
        metric = headline.metric or ""
    elif scores:
        first = scores[0].scorer
        first_key = scores[0].name
        metric = next(iter(scores[0].metrics), "")
    value = query.value or ""
    of_value = next((score.scorer for score in scores if value.startswith(f"{score.scorer}.")), "")
    if not (what := query.scorer or of_value or first):
        raise InputError(f"scorer: {short_name(log.location)} has no metrics; name a scorer")
    if value:
        return _Choice(what, value.removeprefix(f"{what}."), True, metric)
    if what != first:
        return _Choice(what, "", False, "")
    return _Choice(what, first_key if first_key != what else "", False, metric)


def _read_log(
    log: EvalLog,
    samples: Sequence[_Sample],
    judges: Mapping[str, frozenset[str]],
    choice: _Choice,
    query: Query,
    left_out: list[str],
) -> ScoredRun | None:
    """The scores of a log; None, with a sentence in `left_out`, if it has none.

    `judges` are the judges of panels with a score in any log, by scorer. A score to which one of
    them did not contribute is none: it rises or falls with how lenient the others are.
    """
    name = short_name(log.location)
    what = choice.scorer
    spec = log.eval
    scorers: set[str] = set()
    for sample in samples:
        scorers.update(sample.scores or ())
    if what not in scorers:
        left_out.append(
            f"{name} was left out: no score of '{what}'; it has:"
            f" {choices(sorted(scorers)) or 'none'}."
        )
        return None
    values, key = _values(samples, choice, name)
    panel = judges.get(what, frozenset())
    in_part = [_is_in_part(_facts(sample, what), panel) for sample in samples]
    values = [None if lacks else value for value, lacks in zip(values, in_part, strict=True)]
    scored = zip(samples, values, strict=True)
    rows = pd.DataFrame(
        [_row(s.id, value, s.metadata or {}, text_of(s), query) for s, value in scored],
        dtype=object,
    )
    table = _table(rows, what, name)
    reducer = ""
    if (epochs := max(sample.epoch for sample in samples)) > 1:
        headline = log.results.headline if log.results else None
        named = [headline.reducer if headline else None, *(spec.config.epochs_reducer or ())]
        reducer = next(filter(None, named), "mean")
    if reducer not in ("", "mean"):
        if (reduced := _reduced(log, what, reducer, key, left_out)) is None:
            return None
        table["value"] = table["sample"].map(reduced).astype(float).replace(math.inf, math.nan)
        # Reduced over fewer epochs it would be another score.
        table.loc[table["scored"] < epochs, "value"] = math.nan
        reducer += "" if reducer.startswith(_OF_ANY_EPOCHS) else f" of {epochs}"
    roles = {role: ", ".join(models) for role, models in role_models(log).items()}
    judge_roles = {role: models for role, models in roles.items() if _JUDGE_ROLE.search(role)}
    others = {role: models for role, models in roles.items() if role not in judge_roles}
    arguments = {
        **spec.task_args,
        "solver": spec.solver,
        "solver_args": spec.solver_args or None,
        **others,
    }
    arguments[STRUCTURED] = structured_of(
        _facts(sample, what) for sample in samples
    )  # what became of the argument, which may be `auto`
    return ScoredRun(
        file=log.location,
        of=answered_by(log),
        created=spec.created,
        table=table,
        keys=frozenset[str]().union(*(sample.metadata or () for sample in samples)),
        run_id=spec.eval_id or "",
        settings=_texts(model_settings(log)),
        arguments=_texts(arguments),
        judge="" if what in _UNJUDGED else ", ".join(judge_roles.values()),
        simulated=any(SIMULATED in name for name in [spec.model, *roles.values()]),
        reducer=reducer,
        key=key,
        partial=sum(in_part),
        scored_by=panel,
        reply_counts=summed(_facts(sample, what) for sample in samples),
        raters=Counter(str(rater) for sample in samples for rater in _raters(sample, what)),
    )


def _judges_with_scores(logs: Iterable[Sequence[_Sample]]) -> dict[str, frozenset[str]]:
    """The judges of panels that gave any score, by scorer."""
    judges: dict[str, set[str]] = defaultdict(set)
    for samples in logs:
        for sample in samples:
            for scorer in sample.scores or ():
                for judge, final in _panel_finals(_facts(sample, scorer)):
                    if final is not None:
                        judges[scorer].add(str(judge))
    return {scorer: frozenset(names) for scorer, names in judges.items()}


def _panel_finals(facts: Mapping[str, Any]) -> Sequence[tuple[str, float | None]]:
    """The final score of each judge of a panel, None where it failed; empty for other scorers."""
    finals = facts.get("judge_finals")
    return finals if isinstance(finals, list) else ()


def _is_in_part(facts: Mapping[str, Any], panel: frozenset[str]) -> bool:
    """Whether a judge of the panel failed on an answer that others scored."""
    if facts.get("outcome") != PARTIAL_PANEL:
        return False
    finals = _panel_finals(facts)
    missing = {str(judge) for judge, final in finals if final is None}
    return not finals or not missing.isdisjoint(panel)


def _facts(sample: _Sample, scorer: str) -> Mapping[str, Any]:
    """The metadata of the score that a scorer gave a sample."""
    score = (sample.scores or {}).get(scorer)
    return {} if score is None else score.metadata or {}


def _raters(sample: _Sample, scorer: str) -> Iterable[str]:
    """The people who rated a sample, as `human_rating` names them."""
    raters = _facts(sample, scorer).get("raters") if "human_rating" in scorer else None
    return raters if isinstance(raters, dict) else ()


def _samples(log: EvalLog, query: Query, left_out: list[str]) -> list[_Sample] | None:
    """Summaries of the samples of a log.

    Whole samples where summaries shorten the metadata that is wanted.
    """
    if (summaries := files.read_summaries(log, left_out)) is None:
        return None
    keys = filter(None, (query.cluster, query.by))
    metadata = [sample.metadata or {} for sample in summaries]
    if any(str(each.get(key, "")).endswith(_SHORTENED) for key in keys for each in metadata):
        return None if (whole := _whole(log, left_out)) is None else list(whole.samples or ())
    return list(summaries)


def _whole(log: EvalLog, left_out: list[str]) -> EvalLog | None:
    try:
        return files.read_log(log.location, without=_UNUSED)
    except InputError as error:
        left_out.append(files.about_damaged(log.location, error))
        return None


def _values(samples: Sequence[_Sample], choice: _Choice, log: str) -> tuple[list[Any], str]:
    """A score for each sample, and the key of scores, empty if these are no dictionaries."""
    scores = [
        None if sample.error is not None else (sample.scores or {}).get(choice.scorer)
        for sample in samples
    ]
    values = [score.value if score else None for score in scores]
    keys = dict.fromkeys(key for value in values if isinstance(value, dict) for key in value)
    key = choice.key or (choice.metric if choice.metric in keys else "")
    if keys and key not in keys:
        problem = f"no key '{key}'" if key else "several keys, name one"
        raise InputError(
            f"value: scores of '{choice.scorer}' in {log} have {problem}: {choices(keys)}"
        )
    if choice.is_named and any(
        not isinstance(v, dict) and v is not None and v == v for v in values
    ):
        raise InputError(
            f"value: scores of '{choice.scorer}' in {log} have no keys, and so no '{choice.key}'"
        )
    return [value.get(key) if isinstance(value, dict) else value for value in values], (
        key if keys else ""
    )


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
    for each in whole.reductions or ():
        if (each.scorer, each.reducer) == (what, reducer):
            values = {
                s.sample_id: s.value.get(key) if isinstance(s.value, dict) else s.value
                for s in each.samples
            }
            return {
                whole_characters(str(sample)): _number(value) for sample, value in values.items()
            }
    left_out.append(
        f"{short_name(log.location)} was left out: it has no scores reduced by {reducer}."
    )
    return None


# --- lm-eval ---


def task_and_date(file: Path) -> tuple[str, str]:
    """Task and time of a run in the name of a file of samples of lm-eval; without a time the name
    and nothing.
    """
    match = SAVED.search(file.name)
    return (match[1], match[2]) if match else (file.stem, "")


def saved_results(file: Path) -> dict[str, Any]:
    """The dictionaries, and the model, in the results beside a file of samples.

    Empty if there are none.
    """
    try:
        results = json.loads(
            (file.parent / f"results_{task_and_date(file)[1]}.json").read_text(encoding="utf-8")
        )
    except (OSError, ValueError):
        return {}
    if not isinstance(results, dict) or not results.get("model_name"):
        return {}
    return {
        name: part
        for name, part in results.items()
        if name == "model_name" or isinstance(part, dict)
    }


def saved_files(names: Iterable[str]) -> list[Path]:
    """Files of samples at paths, as lm-eval names them."""
    paths = [Path(files.local_path(name)) for name in names]
    listed = (
        file
        for path in paths
        for file in (sorted(path.rglob("samples_*.jsonl")) if path.is_dir() else [path])
    )
    return [file for file in dict.fromkeys(listed) if SAVED.search(file.name)]


def runs_of_lm_eval(
    saved: Sequence[Path], query: Query, chosen: list[str], left_out: list[str]
) -> TaskRuns:
    """The runs of a task in files of samples of lm-eval; sentences as for `runs_of_inspect`."""
    task = one_task(Counter(task_and_date(file)[0] for file in saved), query.task)
    dates = {file: task_and_date(file) for file in saved}
    of_task = sorted((date, file) for file, (name, date) in dates.items() if name == task)
    if others := len(saved) - len(of_task):
        left_out.append(
            f"{counted(others, 'file')} of samples of other tasks than {task} were left out."
        )
    lines = dict[Path, pd.DataFrame]()
    runs = list[ScoredRun]()
    skipped = list[str]()
    for _, file in of_task:
        try:
            lines[file] = _saved_lines(file, query)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            skipped.append(
                f"{file.name} was left out: it is damaged ({type(error).__name__}: {error})."
            )
    what = _saved_metric(
        task, lines.values(), query, chosen, [*left_out, *first_few(skipped, "file")]
    )
    metric, _, filter_ = what.rpartition(",")
    lines = {file: each[each["filter"] == filter_] for file, each in lines.items()}
    with_metric = {
        file: each[[metric in metrics for metrics in each["metrics"]]]
        for file, each in lines.items()
    }
    known = set[str]().union(*(each["sample"] for each in with_metric.values()))
    if without := set[str]().union(*(each["sample"] for each in lines.values())) - known:
        samples = counted(len(known | without), "sample")
        left_out.append(
            f"{len(without):,} of {samples} have no {what} in any file and were left out."
        )
    versions = list[tuple[str, str]]()
    upwards = set[bool | None]()
    for file, each in lines.items():
        if with_metric[file].empty:
            skipped.append(f"{file.name} was left out: it has no {what}.")
            continue
        results = saved_results(file)
        known_version = results.get("versions", {}).get(task)
        versions.append(("" if known_version is None else str(known_version), str(file)))
        upwards.add((results.get("higher_is_better", {}).get(task) or {}).get(metric))
        values = [metrics.get(metric) for metrics in each["metrics"]]
        runs.append(
            _saved_run(file, results, what, each.assign(raw=values)[each["sample"].isin(known)])
        )
    left_out += first_few(skipped, "file")
    version = refuse_different("task versions", versions)
    upwards.discard(None)
    return TaskRuns(
        task, what, runs, version, higher_is_better=upwards.pop() if len(upwards) == 1 else None
    )


def _saved_lines(file: Path, query: Query) -> pd.DataFrame:
    """The lines of a file as for `_table`, with filter, metrics and keys of the document."""
    rows = []
    with file.open(encoding="utf-8") as opened:
        for line in map(json.loads, filter(str.strip, opened)):
            doc = line["doc"] if isinstance(line["doc"], dict) else {}
            own = (name for name in line if name not in _NO_METRICS and not name.endswith("_hash"))
            metrics = {name: line[name] for name in line.get("metrics") or own if name in line}
            text = line.get("doc_hash") or line.get("prompt_hash") or ""
            filtered = {
                "filter": str(line.get("filter", "none")),
                "metrics": metrics,
                "keys": tuple(doc),
            }
            rows.append(_row(line["doc_id"], None, doc, text, query) | filtered)
    if not rows:
        raise ValueError("no samples")
    return pd.DataFrame(rows, dtype=object)


def _saved_metric(
    task: str,
    lines: Iterable[pd.DataFrame],
    query: Query,
    chosen: list[str],
    left_out: Sequence[str],
) -> str:
    """Metric with its filter."""
    wanted = query.scorer or query.value
    metrics = dict[str, str]()
    for each in lines:
        for filter_, names in zip(each["filter"], each["metrics"], strict=True):
            metrics.update({f"{name},{filter_}": name for name in names})
    named = [name for name, metric in metrics.items() if wanted in (None, name, metric)]
    if not named or (wanted and len(named) > 1):
        problem = (
            f"scorer: {'several' if named else 'no'} '{wanted or ''}' in samples of {task}; there"
            " are: "
        )
        raise InputError("\n".join([problem + ("; ".join(metrics) or "none"), *left_out]))
    if wanted is None and len(metrics) > 1:
        chosen.append(f"The first metric of {task}: {named[0]}.")
    return named[0]


def _saved_run(file: Path, results: Mapping[str, Any], what: str, lines: pd.DataFrame) -> ScoredRun:
    task, date = task_and_date(file)
    config = results.get("config", {})
    given = config.get("model_args") or {}
    args = (
        dict(part.partition("=")[::2] for part in given.split(","))
        if isinstance(given, str)
        else given
    )
    model = str(results.get("model_name") or file.parent.name)
    return ScoredRun(
        file=str(file),
        of=model,
        created=date,
        table=_table(lines, what, str(file)),
        keys=frozenset[str]().union(*lines["keys"]),
        settings=_texts(args),
        arguments=_texts(
            {
                "num_fewshot": results.get("n-shot", {}).get(task),
                "gen_kwargs": config.get("gen_kwargs"),
            }
        ),
        simulated=model.startswith(SIMULATED),
    )
