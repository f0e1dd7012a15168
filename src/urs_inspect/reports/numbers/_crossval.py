"""Cross-validation: whether results hold for other judges and references (URS paper, sections 4.4
and D.4).

Logs of `urs_crossval` become one data frame of judgements per grid, and everything is computed from
it. Logs of `urs` whose answers several judges have judged give self-preference alone.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product
from typing import Any

import numpy as np
import pandas as pd
from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log_sample_summaries

from urs_inspect._util import counted
from urs_inspect.judging._reply_counts import BY_JUDGE, Counts, summed
from urs_inspect.logs._files import read_log, short_name
from urs_inspect.logs._responses import ANSWERS_ONLY
from urs_inspect.logs._scores import last_score, value_of
from urs_inspect.reports.numbers._answers import Answers
from urs_inspect.reports.numbers._conditions import (
    Conditions,
    Reasons,
    changed,
    comparable_groups,
    conditions_of,
    differences,
    version_number,
)
from urs_inspect.rubrics import FINAL
from urs_inspect.scorers._crossval_judge import COPY
from urs_inspect.scorers._metrics import CLUSTER
from urs_inspect.stats import holm
from urs_inspect.stats._bootstrap import Floats, Integers, Resampling, number_clusters
from urs_inspect.stats._crossval import order_of, rating_bias, self_preference
from urs_inspect.stats._means import bootstrap_table, mean_estimates

TASK = "urs_inspect/urs_crossval"
ALL = "all"
"""In place of one source of references or one model: all of them, each with the same weight."""

KEY = ["evaluator", "source", "model"]
"""What distinguishes the cells of a grid."""
_COLUMNS = ["case", "fold", *KEY, "outcome", "final", "copy"]
"""Columns of judgements: `final` is NaN without a score; `copy` is whether an answer is word for
word its reference.
"""
_PREFERENCES = [
    "evaluator",
    "source",
    "others",
    "own_mean",
    "others_mean",
    "preference",
    "leniency",
    "beyond",
    "p",
    "p_beyond",
]
_CONDITIONS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(
        ("dataset", "dataset_sha256", "cases_sha256", "rubric", "rubric_sha256", "prompts_sha256"),
        str,
    ),
    "cases": int,
    "folds": int,
    "reference_score": float,
}
_OF_A_LOG = {
    "log": "log",
    "model": "base_model",
}
_REASONS: Reasons = (
    {
        "task_version": "Another version of the task: {task_version}, not {first[task_version]}.",
    },
    {
        "dataset_sha256": "Other data: {dataset}, not {first[dataset]}.",
        "cases_sha256": (
            "Other cases: {cases} of another choice than the {first[cases]} of the first grid."
        ),
    },
    {
        "folds": "Another number of folds: {folds}, not {first[folds]}.",
    },
    dict.fromkeys(
        ("rubric_sha256", "reference_score"),
        "Another rubric: {rubric}, not {first[rubric]} (or of another content).",
    ),
    {
        "prompts_sha256": "Judged with other prompts, or in another language.",
    },
)


@dataclass(frozen=True)
class Scores:
    """Final scores, epochs averaged: shape (cases, evaluators, sources, models), NaN where there is
    none.
    """

    evaluators: Sequence[str]
    sources: Sequence[str]
    models: Sequence[str]
    values: Floats
    clusters: Integers | None = (
        None  # number of each case's cluster, such as its user; None where each case is one
    )

    @property
    def axes(self) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
        """Names along the axes after the first."""
        return self.evaluators, self.sources, self.models

    @property
    def names(self) -> list[str]:
        """All of them, each once."""
        return list(dict.fromkeys(name for axis in self.axes for name in axis))


@dataclass(frozen=True)
class GridLog:
    """What one log of `urs_crossval` has: one row of judgements per sample, in the columns of
    `_COLUMNS`.
    """

    name: str
    conditions: Mapping[str, Any]
    axes: tuple[
        Sequence[str], Sequence[str], Sequence[str]
    ]  # evaluators, sources of references, tested models
    hashes: Mapping[
        str, str
    ]  # "references by SOURCE" and "answers of MODEL" -> hash of these for all cases
    judgements: pd.DataFrame
    clusters: Mapping[str, str] = field(
        default_factory=dict
    )  # case -> its cluster, such as its user, where it has one
    reply_counts: Counts = field(default_factory=dict)  # of the evaluators' replies


@dataclass(frozen=True)
class Replaced:
    """A cell of a log whose judgements do not count, because a later log has the cell as well."""

    evaluator: str
    source: str
    model: str
    log: str
    by: str  # the later log


@dataclass(frozen=True)
class Grid:
    """Judgements of logs that may be read together.

    Models in the order of their mean over settings, best first.
    """

    logs: Sequence[GridLog]
    judgements: pd.DataFrame
    scores: Scores
    replaced: Sequence[Replaced]
    differs: Sequence[str] = ()  # why it is not compared with the first grid

    @property
    def reply_counts(self) -> Counts:
        """Counts of the evaluators' replies in all logs."""
        return summed({BY_JUDGE: log.reply_counts} for log in self.logs)

    @property
    def conditions(self) -> Mapping[str, Any]:
        """What its logs have in common."""
        return self.logs[0].conditions

    @property
    def copies(self) -> dict[str, set[str]]:
        """Model -> cases where its answer is word for word its reference."""
        copied = self.judgements[self.judgements["copy"]]
        return {
            str(model): set(cases) for model, cases in copied.groupby("model", sort=False)["case"]
        }

    def scores_without_copies(self) -> Scores:
        """Scores without those of answers that are their own references.

        A judge gives a text that it compares with itself the highest score, so that such a rating
        shows neither how far the judge is from the score of a reference, nor how it rates itself
        beside others.
        """
        scores = replace(self.scores, values=self.scores.values.copy())
        cases = sorted(set(self.judgements["case"]))
        for model, copied in self.copies.items():
            if model in scores.sources and model in scores.models:
                own = scores.sources.index(model), scores.models.index(model)
                scores.values[[case in copied for case in cases], :, *own] = np.nan
        return scores


def read_grid_log(log: EvalLog) -> GridLog:
    """Read the header and the judgements of a log.

    Of several judgements of a sample the last one counts.
    """
    facts = log.eval.metadata or {}
    rows = []
    clusters: dict[str, str] = {}
    replies: list[Mapping[str, Any] | None] = []
    for sample in read_eval_log_sample_summaries(log.location):
        about = sample.metadata or {}
        if cluster := str(about.get(CLUSTER) or "").strip():
            clusters[str(about["case"])] = cluster
        if (score := last_score(sample, "crossval_judge")) is not None:
            replies.append(score.metadata)
        key = (str(about[name]) for name in KEY)
        rows.append(
            (str(about["case"]), int(about["fold"]), *key, *_judged(sample), bool(about.get(COPY)))
        )
    judgements = pd.DataFrame(rows, columns=_COLUMNS)
    conditions: dict[str, Any] = {
        name: convert(facts[name]) for name, convert in _CONDITIONS.items()
    }
    named = {
        "references by": facts["sources"],
        "answers of": facts["models"],
    }
    conditions["task_version"] = version_number(str(log.eval.task_version))
    all_hashes = {}
    for what, hashes in named.items():
        for name, value in hashes.items():
            all_hashes[f"{what} {name}"] = value
    return GridLog(
        short_name(log.location),
        conditions,
        (list(facts["evaluators"]), list(facts["sources"]), list(facts["models"])),
        all_hashes,
        judgements,
        clusters,
        summed(replies),
    )


def _judged(sample: EvalSampleSummary) -> tuple[str, float]:
    """How the judging of a sample ended, and its final score."""
    if sample.error is not None:
        return "error", math.nan
    if (score := last_score(sample, "crossval_judge")) is None:
        return "not_judged", math.nan
    return str((score.metadata or {}).get("outcome", "unknown")), value_of(score, FINAL)


def grids_of(logs: Iterable[GridLog]) -> list[Grid]:
    """Join logs, in the order in which they were made, that have the same cases, answers,
    references and conditions.

    Of two logs with the same evaluator, source and model the later one counts. The grid of most
    judged cases comes first.
    """
    groups = comparable_groups(logs, lambda group, log: _differences(group, [log]))
    grids = sorted(
        map(_grid, groups), key=lambda grid: -len(grid.judgements.drop_duplicates([*KEY, "case"]))
    )
    return [replace(grid, differs=_differences(grids[0].logs, grid.logs)) for grid in grids]


def _differences(first: Sequence[GridLog], logs: Sequence[GridLog]) -> list[str]:
    known, mine = (
        {name: value for log in part for name, value in log.hashes.items()}
        for part in (first, logs)
    )
    reasons = differences(logs[0].conditions, first[0].conditions, _REASONS)
    return reasons + [f"Other {name}." for name in changed(mine, known)]


def _grid(logs: Sequence[GridLog]) -> Grid:
    judgements, replaced = _latest_judgements(logs)
    axes = []
    for axis in range(3):
        names = chain.from_iterable(log.axes[axis] for log in logs)
        axes.append(list(dict.fromkeys(names)))
    clusters: dict[str, str] = {}
    for log in logs:
        clusters |= log.clusters
    scores = _scores(judgements, clusters, *axes)
    return Grid(logs, judgements, _best_first(scores), replaced)


def _latest_judgements(logs: Sequence[GridLog]) -> tuple[pd.DataFrame, list[Replaced]]:
    """The judgements of the last log of each cell, and those that they replace."""
    counts: dict[tuple[str, ...], int] = {}  # cell -> place of the log that counts
    replaced = []
    for place, log in enumerate(logs):
        for key in dict.fromkeys(keys_of(log.judgements)):
            if key in counts:
                evaluator, source, model = key
                earlier = logs[counts[key]].name
                replaced.append(Replaced(evaluator, source, model, earlier, log.name))
            counts[key] = place
    parts = []
    for place, log in enumerate(logs):
        kept = [counts[key] == place for key in keys_of(log.judgements)]
        parts.append(log.judgements[kept])
    return pd.concat(parts, ignore_index=True), replaced


def _best_first(scores: Scores) -> Scores:
    """The models in the order of their means over all settings; those without a mean last."""

    def worst_last(model: int) -> float:
        settings = scores.values[..., model].reshape(len(scores.values), -1).T
        means = [mean for mean in map(_mean, settings) if not math.isnan(mean)]
        return -math.fsum(means) / len(means) if means else math.inf

    best = sorted(range(len(scores.models)), key=worst_last)
    models = [scores.models[model] for model in best]
    return replace(scores, models=models, values=scores.values[..., best])


def rows_of(data: pd.DataFrame) -> list[Any]:
    """The rows of a table as tuples with the names of its columns."""
    return list(data.itertuples(index=False))


def keys_of(data: pd.DataFrame) -> list[tuple[str, ...]]:
    """Evaluator, source and model of each row."""
    return list(data[KEY].itertuples(index=False, name=None))


def _scores(judgements: pd.DataFrame, clusters: Mapping[str, str], *axes: Sequence[str]) -> Scores:
    means = judgements.groupby(["case", *KEY], sort=False)["final"].mean()
    cases = sorted(set(judgements["case"]))
    values = means.reindex(pd.MultiIndex.from_product([cases, *axes])).to_numpy(dtype=np.float64)
    evaluators, sources, models = axes
    shaped = values.reshape(len(cases), *map(len, axes))
    return Scores(evaluators, sources, models, shaped, _numbered(cases, clusters))


def _numbered(cases: Sequence[str], clusters: Mapping[str, str]) -> Integers | None:
    """Number of each case's cluster; None where each case is one."""
    names = [
        f"cluster {clusters[case]}" if clusters.get(case) else f"case {case}" for case in cases
    ]
    return None if len(set(names)) == len(names) else number_clusters(names)


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def mean_table(grid: Grid, how: Resampling) -> pd.DataFrame:
    """Mean score with its interval over cases, and means of folds; one row per evaluator, source
    and model.

    `fold_deviation` is the standard deviation of the means of folds: that of parts of the cases,
    not the error of the mean. `outcomes` are counts of how the judging ended, `missing` among them
    for what no log has.
    """
    scores = grid.scores
    cases = len(scores.values)
    fold_of = dict(zip(grid.judgements["case"], grid.judgements["fold"], strict=True))
    fold_of_case = np.array([fold_of[case] for case in sorted(fold_of)])
    folds = range(1, grid.conditions["folds"] + 1)
    flat = scores.values.reshape(cases, -1)
    found = bootstrap_table(flat, clusters=scores.clusters, rounds=how.rounds, seed=how.seed)
    there = {key for log in grid.logs for key in product(*log.axes)}
    judged: Mapping[Any, pd.DataFrame] = dict(list(grid.judgements.groupby(KEY, sort=False)))
    rows = []
    for key, estimate, column in zip(
        product(*scores.axes), mean_estimates(found, how.level), flat.T, strict=True
    ):
        if key not in there:
            continue
        by_fold = [_mean(column[fold_of_case == fold]) for fold in folds]
        known = [value for value in by_fold if not math.isnan(value)]
        fold_mean = math.fsum(known) / len(known) if known else math.nan
        deviation = float(np.std(known, ddof=1)) if len(known) > 1 else math.nan
        part = judged.get(key, grid.judgements[:0])
        missing = cases - part["case"].nunique()
        outcomes = dict(sorted(Counter(part["outcome"]).items())) | (
            {
                "missing": missing,
            }
            if missing
            else {}
        )
        rows.append(
            (*key, outcomes, estimate, int(np.isnan(column).sum()), fold_mean, deviation, *by_fold)
        )
    columns = [*KEY, "outcomes", "mean", "unscored", "fold_mean", "fold_deviation"]
    return pd.DataFrame(rows, columns=[*columns, *(f"fold_{fold}" for fold in folds)])


def bias_table(scores: Scores, reference_score: float, how: Resampling) -> pd.DataFrame:
    """Rating bias of each evaluator over all models that are both tested and a source of
    references, and by model.
    """
    both = [model for model in scores.models if model in scores.sources]
    places = [(scores.sources.index(model), scores.models.index(model)) for model in both]
    rows = []
    for judge, evaluator in enumerate(scores.evaluators if both else ()):
        own = np.stack([scores.values[:, judge, source, model] for source, model in places], axis=1)
        found = rating_bias(own, reference_score, clusters=scores.clusters, **vars(how))
        rows += [
            (evaluator, *pair)
            for pair in zip([ALL, *both], [found.bias, *found.by_model], strict=True)
        ]
    return pd.DataFrame(rows, columns=["evaluator", "model", "bias"])


def preference_table(scores: Scores, how: Resampling) -> pd.DataFrame:
    """Self-preference of each evaluator that is also tested, by source of references and over all
    of them.
    """
    models = [
        scores.models.index(name) if name in scores.models else None for name in scores.evaluators
    ]
    parts = [(name, [place]) for place, name in enumerate(scores.sources)]
    parts += [(ALL, list(range(len(scores.sources))))] if len(scores.sources) > 1 else []
    rows = []
    for judge, own in enumerate(models):
        if own is None or len(models) < 2:
            continue
        others = ", ".join(name for place, name in enumerate(scores.evaluators) if place != judge)
        for source, places in parts:
            by_setting = scores.values[:, :, places].transpose(0, 2, 1, 3)
            found = vars(
                self_preference(
                    by_setting, judge, own, models, clusters=scores.clusters, **vars(how)
                )
            )
            key = {
                "evaluator": scores.evaluators[judge],
                "source": source,
            }
            means = {
                "others": others,
                "own_mean": found["own"],
                "others_mean": found["others"],
            }
            rows.append(
                {
                    **found,
                    **key,
                    **means,
                }
            )
    return pd.DataFrame(rows, columns=_PREFERENCES)


def with_holm(tables: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """Correct the p-values of self-preference over all tables of a report, which makes all these
    claims at once.
    """
    ends = np.cumsum([len(table) for table in tables])
    for name in ("p", "p_beyond"):
        parts = np.split(np.array(holm([p for table in tables for p in table[name]])), ends[:-1])
        tables = [
            table.assign(
                **{
                    f"{name}_holm": part,
                }
            )
            for table, part in zip(tables, parts, strict=True)
        ]
    return list(tables)


def order_tables(scores: Scores, how: Resampling) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Order of the models in each setting in which all have scores, and every two models of it.

    Holm's correction is over all pairs and settings. `first` has the higher mean, `apart` is
    whether that is significant; `share` is the share of resamples of the cases that give the order.
    """
    orders: list[tuple[Any, ...]] = []
    pairs: list[tuple[Any, ...]] = []
    for (e, evaluator), (s, source) in product(
        enumerate(scores.evaluators), enumerate(scores.sources)
    ):
        found = order_of(scores.values[:, e, s], clusters=scores.clusters, **vars(how))
        for place, (model, mean) in enumerate(zip(found.places, found.means, strict=True), start=1):
            orders += [
                (evaluator, source, place, scores.models[model], mean, found.cases, found.share)
            ]
        for gap in found.gaps:
            names = scores.models[gap.first], scores.models[gap.second]
            pairs += [(evaluator, source, *names, gap.difference, gap.p)]
    table = pd.DataFrame(
        pairs, columns=["evaluator", "source", "first", "second", "difference", "p"]
    )
    table["p_holm"] = holm(list(table["p"]))
    table["apart"] = table["p_holm"] < 1 - how.level
    columns = ["evaluator", "source", "place", "model", "mean", "cases", "share"]
    return pd.DataFrame([row for row in orders if row[5]], columns=columns), table


def reversals_of(pairs: pd.DataFrame) -> list[dict[str, Any]]:
    """Pairs of models of which one is better in some settings and worse in others; equal means are
    neither.

    For the pair in the order of the first setting, in how many settings each comes first, and in
    how many of these significantly.
    """
    by_pair: dict[frozenset[str], list[Any]] = {}
    for row in rows_of(pairs):
        by_pair.setdefault(frozenset((row.first, row.second)), []).append(row)
    found = []
    for same in by_pair.values():
        names = same[0].first, same[0].second
        ahead, behind = (
            [row.apart for row in same if row.first == name and row.difference.value > 0]
            for name in names
        )
        if ahead and behind:
            counts = {
                "ahead": len(ahead),
                "ahead_significant": sum(ahead),
            }
            counts |= {
                "behind": len(behind),
                "behind_significant": sum(behind),
            }
            found.append(
                {
                    "first": names[0],
                    "second": names[1],
                    **counts,
                }
            )
    return found


@dataclass(frozen=True)
class OtherRun:
    """Logs of a run that does not count, because more judges have judged another of its model."""

    model: str
    logs: Sequence[str]


@dataclass(frozen=True)
class Copies:
    """Answers of a model in a log that are word for word its references, and do not count."""

    model: str
    copies: int
    answers: int  # of the model in the log


@dataclass(frozen=True)
class JudgedRuns:
    """Ordinary runs under the same conditions: what they have in common, and their scores (one
    source).
    """

    facts: Mapping[str, Any]
    scores: Scores
    others: Sequence[OtherRun]
    copies: Sequence[Copies]


def read_judged_runs(answers: Answers, skipped: list[str]) -> list[JudgedRuns]:
    """Read the scores of answers that several judges have judged, one of them the model itself.

    Judges compare only over the same answers: a panel's, or those of one run that was judged again
    with `inspect score` into another log. Two runs of one model have different answers; the one
    with more judges counts.
    """
    skipped += answers.left_out
    named = answers.table[answers.table[CLUSTER] != ""]
    clusters = dict(zip(named["question"].map(str), named[CLUSTER].map(str), strict=True))
    blocks: dict[tuple[object, ...], tuple[Conditions, list[pd.DataFrame]]] = {}
    for _, rows in answers.table.groupby("log", sort=False):
        same = replace(conditions_of(rows), judges=())  # which are what is compared
        blocks.setdefault((same.key, same.prompts), (same, []))[1].append(_run_judgements(rows))
    found = []
    for same, tables in blocks.values():
        kept, others = _one_run_per_model(pd.concat(tables, ignore_index=True))
        judgements = _counted(kept)
        models = list(map(str, kept["model"].unique()))
        judges = list(map(str, judgements["evaluator"].unique()))
        if len(judges) > 1 and set(judges) & set(models):
            scores = _scores(judgements, clusters, judges, [""], models)
            facts = {
                "dataset": same.dataset,
                "questions": len(scores.values),
                "rubric": same.rubric,
            }
            facts |= {
                "prompts": same.prompts,
                "references": same.references,
                "judges": judges,
                "models": models,
            }
            found.append(JudgedRuns(facts, scores, others, _copies(kept)))
            continue
        lacking = "there is no other judge of the same answers to compare with"
        skipped.append(
            f"No self-preference from {counted(kept['log'].nunique(), 'log')} of"
            f" {', '.join(models)}, judged by {', '.join(judges) or 'nobody'}:"
            f" {lacking if len(judges) < 2 else 'no judge is among the models'}."
        )
    return found


_NO_JUDGE = {"": math.nan}


def _run_judgements(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per answer of a log and judge, and one with an empty `evaluator` for an answer
    without a judge.
    """
    same = {name: str(rows[column].iloc[0]) for name, column in _OF_A_LOG.items()}
    spec = read_log(same["log"], header_only=True).eval
    copies = set[tuple[str, int]]()
    if str((spec.metadata or {}).get("references", "")).startswith(f"{spec.model} ("):
        for sample in read_log(same["log"], without=ANSWERS_ONLY).samples or []:
            if sample.output.completion.strip() == str(sample.target).strip():
                copies.add((str(sample.id), sample.epoch))
    judgements = []
    answers = zip(rows["question"], rows["epoch"], rows["judge_finals"], strict=True)
    for question, number, finals in answers:
        case = str(question)
        epoch = int(number)
        is_copy = (case, epoch) in copies
        for judge, final in (finals or _NO_JUDGE).items():
            judgements.append((case, epoch, judge, float(final), is_copy))
    table = pd.DataFrame(judgements, columns=["case", "epoch", "evaluator", "final", "copy"])
    return table.assign(**same, run=spec.eval_id, source="")


def _counted(judgements: pd.DataFrame) -> pd.DataFrame:
    return judgements[~judgements["copy"] & (judgements["evaluator"] != "")]


def _copies(judgements: pd.DataFrame) -> list[Copies]:
    """The logs and models some of whose answers are word for word references."""
    answers = judgements.drop_duplicates(["log", "case", "epoch"])
    found = []
    for (_, model), rows in answers.groupby(["log", "model"], sort=False):
        copies = int(rows["copy"].sum())
        if copies:
            found.append(Copies(str(model), copies, len(rows)))
    return found


def _one_run_per_model(judgements: pd.DataFrame) -> tuple[pd.DataFrame, list[OtherRun]]:
    """The judgements of one run of each model: that which the most judges have judged, the last of
    equal ones; and the other runs.
    """
    judges = _counted(judgements).groupby("run")["evaluator"].nunique()
    kept: list[pd.DataFrame] = []
    others: list[OtherRun] = []
    for model, own in judgements.groupby("model", sort=False):
        runs = dict(list(own.groupby("run", sort=False)))
        best = max(reversed(runs), key=lambda run: judges.get(run, 0))
        kept.append(runs.pop(best))
        for other in runs.values():
            logs = [short_name(log) for log in other["log"].unique()]
            others.append(OtherRun(str(model), logs))
    return pd.concat(kept), others
