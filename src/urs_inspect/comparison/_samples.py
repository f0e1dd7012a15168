"""Scores in logs of inspect-ai, or samples saved by lm-eval, as a frame of samples and models."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from urs_inspect._util import InputError, choices, counted
from urs_inspect.comparison._lm_eval_runs import runs_of_lm_eval, saved_files, task_of_lm_eval
from urs_inspect.comparison._scored_runs import (
    Query,
    ScoredRun,
    TaskRuns,
    headers_of_task,
    refuse_different,
    runs_of_inspect,
)
from urs_inspect.judging._reply_counts import Counts, sentences
from urs_inspect.logs import _files as files
from urs_inspect.logs._files import latest_runs, nothing_left, short_name
from urs_inspect.logs._lm_eval_files import SAVED
from urs_inspect.logs._naming import STRUCTURED, model_names
from urs_inspect.scorers._metrics import CLUSTER, scale_of_scorer
from urs_inspect.stats._adjusted_means import FEWEST_BY_SAME_RATERS, ratings_by_same_raters
from urs_inspect.stats._bootstrap import Scale

NO_GROUP = "(none)"
"""Group of samples that have none."""
_TWO_JUDGES = (
    ". Scores of two judges do not compare; `urs-inspect gate OLD NEW --equivalent` compares the"
    " judges."
)


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
    """One row per sample and model, epochs reduced: sample, model (with the settings in which its
    logs differ), value (NaN: no score), cluster (the sample itself where it has none), group (empty
    without `by`), input (its hash), epochs and scored (how many epochs there are, and how many of
    them the value is the mean of; other reducers give one).
    """
    task: str
    scorer: str  # what was read: "match", "judge: accuracy", "exact_match,strict-match"
    # sentences on how it was chosen, how epochs are reduced, and how runs differ
    notes: tuple[str, ...]
    # (0, 1) where all values are letters or booleans, else that of the scorer where it is known
    scale: tuple[float, float] | None
    # as lm-eval has it; None where it is not recorded, as by inspect-ai
    higher_is_better: bool | None
    runs: tuple[SampleRun, ...]  # in the order in which they were made
    left_out: tuple[str, ...]  # what was skipped and why, one sentence each, with counts
    version: str = ""  # of the task; empty if not known
    dataset: str = ""
    scored_by: frozenset[str] = frozenset()  # judges of a panel that gave any score
    judge: str = ""  # models in the role of a judge, the same for all runs; empty if none is known
    structured: str = "false"  # whether judges were asked by a schema: "true", "in part", "false"
    simulated: bool = False  # whether a model, or a model in any role, is simulated
    files: Mapping[str, str] = field(default_factory=dict)  # places of the runs -> models

    @property
    def chosen(self) -> str:
        """The notes as one text."""
        return " ".join(self.notes)

    @property
    def answers(self) -> pd.DataFrame:
        """The table with one row per epoch, for `compare`.

        Those with a score have their mean, the others NaN.
        """
        once_per_epoch = self.table.index.repeat(self.table["epochs"])
        rows = self.table.loc[once_per_epoch]
        has_score = rows.groupby(level=0).cumcount() < rows["scored"]
        return rows.assign(value=rows["value"].where(has_score))


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

    Of several logs of one model with the same settings that share samples the newest counts, unless
    it has fewer than half as many; logs of other samples are joined; with other settings it is a
    model of its own. Letters count as in inspect-ai (C 1, P 0.5, I and N 0). What failed or was not
    scored has no score.

    `logs` are log files of inspect-ai, `samples_*.jsonl` of lm-eval, or directories of them.
    `scorer` is one (`metric` or `metric,filter` of lm-eval), by default the task's headline metric;
    `value` a key of a dictionary score, alone or as `scorer.key`; `cluster` and `by` are keys of
    the samples' metadata (fields of lm-eval's documents) whose values are clusters and groups,
    without a `cluster` that of this package's own tasks if samples name one; of `task` the part
    after the last "/" is enough. `InputError` if logs cannot be compared, a value is no number, a
    scorer or key is unknown, or nothing is left.
    """
    names = list(logs)
    query = Query(scorer, value, cluster or CLUSTER, by, task)
    chosen = list[str]()
    left_out = list[str]()
    read = _read_runs(names, query, chosen, left_out)
    kept = latest_runs(read.runs, left_out)
    reducer = refuse_different(
        "epoch reducers", ((run.reducer or "mean", run.file) for run in kept)
    )
    judge = _same_judge(kept)
    answered = []
    for run in kept:
        facts = {**run.settings, **run.arguments}
        answered.append((run.of, facts))
    models = model_names(answered)
    chosen += _about_epochs(kept, reducer)
    chosen += _about_arguments(kept)
    chosen += _about_panels(kept)
    chosen += _about_replies(kept)
    chosen += _about_raters(kept, models)
    if cluster is None and not _names_clusters(read.task, kept):
        query = replace(query, cluster=None)
    table = _frame(kept, models, query, chosen)
    runs = []
    for run, model in zip(kept, models, strict=True):
        file = short_name(run.file)
        runs.append(SampleRun(file, model, run.created, len(run.table)))
    judges_of_runs = [run.scored_by for run in kept]
    structured = {run.arguments.get(STRUCTURED, "false") for run in kept}
    kept_files = [run.file for run in kept]
    return SampleScores(
        table=table,
        task=read.task,
        scorer=read.scorer,
        notes=tuple(chosen),
        scale=_scale(read.scorer, kept),
        higher_is_better=read.higher_is_better,
        runs=tuple(runs),
        left_out=tuple(left_out),
        version=read.version,
        dataset=read.dataset,
        judge=judge,
        scored_by=frozenset[str]().union(*judges_of_runs),
        structured=" and ".join(sorted(structured)),
        simulated=any(run.simulated for run in kept),
        files=dict(zip(kept_files, models, strict=True)),
    )


def refuse_beyond(scores: "pd.Series[float]", scale: Scale, option: str) -> None:
    """Refuse scores beyond their scale; `option` says what states it."""
    known = scores.dropna()
    beyond = int((~known.between(*scale)).sum())
    if beyond:
        low, high = scale
        raise InputError(
            f"{option}: {beyond:,} of {counted(len(known), 'score')} lie beyond {low:g} to {high:g}"
        )


def task_of(names: Sequence[str], task: str | None) -> str:
    """The task whose scores `read_sample_scores` reads; arguments and errors as there."""
    saved = saved_files(names)
    if saved:
        return task_of_lm_eval(saved, task)
    return headers_of_task(names, task, [])[0].eval.task


def _read_runs(
    names: Sequence[str], query: Query, chosen: list[str], left_out: list[str]
) -> TaskRuns:
    """The runs of inspect-ai or of lm-eval, whichever these are."""
    logs = [file for file in files.log_files(names) if not SAVED.search(file)]
    saved = saved_files(names)
    if saved and logs:
        raise InputError(
            f"{counted(len(logs), 'log')} of inspect-ai, such as {short_name(logs[0])}, and"
            f" {len(saved):,} of lm-eval, such as {saved[0].name}, cannot be compared"
        )
    if saved:
        read = runs_of_lm_eval(saved, query, chosen, left_out)
    else:
        read = runs_of_inspect(names, query, chosen, left_out)
    if not read.runs:
        raise nothing_left(f"scorer: no log has a score of '{read.scorer}'", names, left_out)
    return read


# --- what can be compared ---


def _same_judge(runs: Sequence[ScoredRun]) -> str:
    """The judge of all runs, empty if none is known; raise if there are several."""
    unnamed = ""
    if any(run.judge for run in runs):
        unnamed = "no judge named"
    judges = ((run.judge or unnamed, run.file) for run in runs)
    return refuse_different("judges", judges, _TWO_JUDGES)


def _about_epochs(runs: Sequence[ScoredRun], reducer: str) -> list[str]:
    """Sentences on how epochs are reduced, and on those without a score; none for one epoch."""
    if max(run.epochs for run in runs) == 1:
        return []
    tables = [run.table.assign(epochs=run.epochs) for run in runs]
    rows = pd.concat(tables)
    about = [f"Epochs are reduced by {reducer}."]
    missing = rows["epochs"] - rows["scored"]
    if missing.any():
        answers = int(rows["epochs"].sum())
        none = (rows["scored"] == 0).sum()
        about.append(
            f"{missing.sum():,} of {counted(answers, 'answer')} have no score (samples with fewer"
            f" epochs: {(missing > 0).sum() - none:,}; with none: {none:,})."
        )
    return about


def _about_arguments(runs: Sequence[ScoredRun]) -> list[str]:
    """A sentence on the arguments, and number of epochs, in which models differ, if any."""
    about = []
    of_runs = []
    names = set[str]()
    for run in runs:
        with_epochs = {**run.arguments, "epochs": str(run.epochs)}
        of_runs.append((run.of, with_epochs))
        names.update(with_epochs)
    for name in sorted(names):
        models: dict[str, set[str]] = defaultdict(set)
        values: dict[str, set[str]] = defaultdict(set)
        for model, arguments in of_runs:
            value = arguments.get(name, "not given")
            models[value].add(model)
            values[model].add(value)
        if len(set(map(frozenset, values.values()))) > 1:
            given = (
                f"{value[:60]} ({counted(len(those), 'model')}, such as {min(those)})"
                for value, those in models.items()
            )
            about.append(f"{name}: {', '.join(given)}")
    if about:
        return [f"Arguments of the task differ between models: {'; '.join(about)}."]
    return []


def _about_panels(runs: Sequence[ScoredRun]) -> list[str]:
    """A sentence on scores that are by a part of a panel of judges, if there are any."""
    partial = sum(run.partial for run in runs)
    if not partial:
        return []
    by_log = ", ".join(f"{run.partial:,} in {short_name(run.file)}" for run in runs)
    return [
        f"Only a part of the panel of judges gave {counted(partial, 'score')} ({by_log}). Such a"
        " score rises or falls with how lenient the remaining judges are; here it counts as"
        " missing. `urs-inspect report` uses what the same judges gave."
    ]


def _about_raters(runs: Sequence[ScoredRun], models: Sequence[str]) -> list[str]:
    """Sentences on whose ratings the scores are, and on models that these people do not link."""
    raters = [dict(run.raters) for run in runs]
    by_run = pd.DataFrame(raters, index=list(models))
    counts = by_run.groupby(level=0).sum().sort_index(axis=1)
    if counts.empty:
        return []
    by_model = []
    for model, numbers in counts.iterrows():
        people = [f"{rater} ({number:g})" for rater, number in numbers[numbers > 0].items()]
        by_model.append(f"{model} by {', '.join(people) or 'nobody'}")
    about = []
    if (ratings_by_same_raters(counts.to_numpy(float)) < FEWEST_BY_SAME_RATERS).any():
        about.append(
            "Raters and models are confounded: a better model cannot be told from a more lenient"
            " rater."
        )
    about.append(
        f"Scores are people's ratings: {'; '.join(by_model)}. How lenient each rater is, is not"
        " taken out here; `urs-inspect report --human` does."
    )
    return about


def _about_replies(runs: Sequence[ScoredRun]) -> list[str]:
    """Sentences on judges that left out or misspelled the key, or were asked again, if any."""
    total: Counts = {}
    for run in runs:
        for judge, numbers in run.reply_counts.items():
            total.setdefault(judge, Counter()).update(numbers)
    return sentences(total)


# --- the table ---


def _scale(scorer: str, runs: Sequence[ScoredRun]) -> tuple[float, float] | None:
    """The possible scores; None if they are not known."""
    if all(run.table["is_unit"].all() for run in runs):
        return (0.0, 1.0)
    scale = scale_of_scorer(scorer.partition(":")[0])
    if scale is None:
        return None
    values_of_runs = [run.table["value"] for run in runs]
    values = pd.concat(values_of_runs).dropna()
    if values.between(*scale).all():
        return scale
    return None


def _names_clusters(task: str, runs: Sequence[ScoredRun]) -> bool:
    """Whether samples of a task of this package name clusters.

    What others call so may be anything.
    """
    named = (run.table["cluster"].notna().any() for run in runs)
    return task.startswith(files.PACKAGE) and any(named)


def _frame(
    runs: Sequence[ScoredRun], models: Sequence[str], query: Query, chosen: list[str]
) -> pd.DataFrame:
    """The table of `SampleScores`.

    What a log does not know of a sample is taken from the others.
    """
    parts = []
    for run, model in zip(runs, models, strict=True):
        epochs = _epochs(run)
        parts.append(run.table.assign(model=model, file=run.file, **epochs))
    table = pd.concat(parts, ignore_index=True)
    keys_of_runs = [run.keys for run in runs]
    keys = sorted(frozenset[str]().union(*keys_of_runs))
    _complete(table, "input", "input")
    by_cluster = ("cluster", "cluster", query.cluster)
    by_group = ("group", "by", query.by)
    for column, option, key in (by_cluster, by_group):
        if key is None:
            continue
        if key not in keys:
            raise InputError(
                f"{option}: no sample has '{key}'; there are: {choices(keys) or 'none'}"
            )
        _complete(table, column, key)
        without_value = table.loc[table[column].isna(), "sample"]
        missing = without_value.nunique()
        if missing:
            how = "each is a cluster of its own"
            if option == "by":
                how = f"their group is {NO_GROUP}"
            chosen.append(
                f"{missing:,} of {counted(table['sample'].nunique(), 'sample')} have no '{key}':"
                f" {how}."
            )
    if query.cluster is None:
        table["cluster"] = table["sample"]
    else:
        table["cluster"] = table["cluster"].fillna("sample " + table["sample"])
    if query.by is None:
        table["group"] = ""
    else:
        table["group"] = table["group"].fillna(NO_GROUP)
    return table[["sample", "model", "value", "cluster", "group", "input", "epochs", "scored"]]


def _epochs(run: ScoredRun) -> dict[str, Any]:
    """Number of epochs of each sample, and of those that its value is the mean of."""
    if run.reducer in ("", "mean"):
        return {"epochs": run.epochs, "scored": run.table["scored"]}
    has_value = run.table["value"].notna()
    return {"epochs": 1, "scored": has_value.astype(int)}


def _complete(table: pd.DataFrame, column: str, key: str) -> None:
    """Give all rows of a sample its only value in a column; raise if it has several."""
    samples = table.groupby("sample", sort=False)[column]
    values = samples.nunique()
    if (several := values[values > 1]).size:
        of_first = table.loc[table["sample"] == several.index[0]]
        named = of_first.drop_duplicates(column)["file"]
        raise InputError(
            f"{len(several):,} of {counted(len(values), 'sample')} have another {key} in one log"
            f" than in another, such as '{several.index[0]}' in"
            f" {' and '.join(map(short_name, named[:2]))}"
        )
    table[column] = samples.transform("first")
