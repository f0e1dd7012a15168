"""Cross-validation: whether results hold for other judges and references (URS paper, sections 4.4
and D.4).

Logs of `urs_crossval` become one data frame of judgements per grid, and everything is computed from
it. Logs of `urs` whose answers several judges have judged give self-preference alone.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect.judging._reply_counts import BY_JUDGE, Counts, summed
from urs_inspect.logs._files import read_log, short_name
from urs_inspect.logs._grids import KEY, GridLog, Texts
from urs_inspect.logs._responses import ANSWERS_ONLY
from urs_inspect.logs._scores import SIMULATED
from urs_inspect.reports.numbers._answers import Answers
from urs_inspect.reports.numbers._conditions import (
    Conditions,
    Difference,
    Shown,
    changed,
    comparable_groups,
    conditions_of,
    differences,
)
from urs_inspect.reports.numbers._scores import DIGITS, clusters_of
from urs_inspect.scorers._metrics import CLUSTER
from urs_inspect.stats import holm
from urs_inspect.stats._bootstrap import Floats, Integers, Resampling, number_clusters
from urs_inspect.stats._crossval import order_of, rating_bias, self_preference
from urs_inspect.stats._means import bootstrap_table, mean_estimates

TASK = "urs_inspect/urs_crossval"
ALL = "all"
"""In place of one source of references or one model: all of them, each with the same weight."""

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
_SHOWN: Shown = (
    {"task_version": "task_version"},
    {"dataset_sha256": "dataset", "cases_sha256": "cases"},
    {"folds": "folds"},
    {"rubric_sha256": "rubric", "reference_score": "rubric"},
    {"prompts_sha256": "prompts_sha256"},
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
    # number of each case's cluster, such as its user; None where each case is one
    clusters: Integers | None = None

    @property
    def axes(self) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
        """Names along the axes after the first."""
        return self.evaluators, self.sources, self.models

    @property
    def names(self) -> list[str]:
        """All of them, each once."""
        return list(dict.fromkeys(chain.from_iterable(self.axes)))


@dataclass(frozen=True)
class Grid:
    """Judgements of logs that may be read together.

    Models in the order of their mean over settings, best first.
    """

    logs: Sequence[GridLog]
    judgements: pd.DataFrame
    scores: Scores
    # Without answers that are their own references: a judge gives a text that it compares with
    # itself the highest score, so that such a rating shows neither how far the judge is from the
    # score of a reference, nor how it rates itself beside others.
    scores_without_copies: Scores
    replaced: Mapping[str, int]  # log -> its cells that do not count, as a later log has them too
    differs: Sequence[Difference | Texts] = ()  # why it is not compared with the first grid

    @property
    def reply_counts(self) -> Counts:
        """Counts of the evaluators' replies in all logs."""
        return summed({BY_JUDGE: log.reply_counts} for log in self.logs)

    @property
    def conditions(self) -> Mapping[str, Any]:
        """What its logs have in common."""
        return self.logs[0].conditions

    @property
    def copies(self) -> dict[str, int]:
        """Model -> cases where its answer is word for word its reference."""
        copied = self.judgements[self.judgements["copy"]]
        cases = copied.groupby("model", sort=False)["case"].nunique()
        return {str(model): int(number) for model, number in cases.items()}


def grids_of(logs: Iterable[GridLog]) -> list[Grid]:
    """Join logs, in the order in which they were made, that have the same cases, answers,
    references and conditions.

    Of two logs with the same evaluator, source and model the later one counts. The grid of most
    judged cases comes first.
    """
    groups = comparable_groups(logs, lambda group, log: _differences(group, [log]))

    def judged_cases(grid: Grid) -> int:
        return len(grid.judgements.drop_duplicates([*KEY, "case"]))

    grids = sorted(map(_grid, groups), key=judged_cases, reverse=True)
    first = grids[0].logs if grids else ()
    return [replace(grid, differs=_differences(first, grid.logs)) for grid in grids]


def _differences(first: Sequence[GridLog], logs: Sequence[GridLog]) -> list[Difference | Texts]:
    other_conditions = differences(logs[0].conditions, first[0].conditions, _SHOWN)
    other_texts = changed(_hashes(logs), _hashes(first))
    return [*other_conditions, *other_texts]


def _hashes(logs: Iterable[GridLog]) -> dict[Texts, str]:
    hashes: dict[Texts, str] = {}
    for log in logs:
        hashes |= log.hashes
    return hashes


def _grid(logs: Sequence[GridLog]) -> Grid:
    parts = [log.judgements.assign(log=place) for place, log in enumerate(logs)]
    table = pd.concat(parts, ignore_index=True)
    is_last = table["log"] == table.groupby(KEY)["log"].transform("max")
    earlier = table.loc[~is_last, [*KEY, "log"]].drop_duplicates()["log"]
    judgements = table[is_last].drop(columns="log").reset_index(drop=True)
    evaluators, sources, models = (_joined(logs, axis) for axis in range(3))
    axes = (evaluators, sources, _best_first(judgements, models))
    clusters = _clusters(table)
    clusters = clusters[clusters.index.isin(judgements["case"])]
    return Grid(
        logs,
        judgements,
        _scores(judgements, axes, clusters),
        _scores(judgements[~judgements["copy"]], axes, clusters),
        {logs[place].name: cells for place, cells in Counter(earlier).items()},
    )


def _joined(logs: Sequence[GridLog], axis: int) -> list[str]:
    """The names that any of the logs has along an axis."""
    names = chain.from_iterable(log.axes[axis] for log in logs)
    return list(dict.fromkeys(names))


def _best_first(judgements: pd.DataFrame, models: list[str]) -> list[str]:
    """The models in the order of their means over all settings; those without a mean last."""
    of_cases = judgements.groupby(["case", *KEY])["final"].mean()
    means = of_cases.groupby(KEY).mean().groupby("model").mean().round(DIGITS)
    ordered = means.reindex(models).sort_values(ascending=False, kind="stable")
    return list(ordered.index)


def _scores(
    judgements: pd.DataFrame, axes: Sequence[Sequence[str]], clusters: "pd.Series[str]"
) -> Scores:
    """Scores of all cases; `clusters` has the cluster of each, as of `_clusters`."""
    means = judgements.groupby(["case", *KEY])["final"].mean()
    cells = pd.MultiIndex.from_product([clusters.index, *axes])
    values = means.reindex(cells).to_numpy(dtype=np.float64)
    numbered = None
    if not clusters.is_unique:
        numbered = number_clusters(list(clusters))
    evaluators, sources, models = axes
    shaped = values.reshape(len(clusters), *map(len, axes))
    return Scores(evaluators, sources, models, shaped, numbered)


def _clusters(judgements: pd.DataFrame) -> "pd.Series[str]":
    """Cluster of each case, by case."""
    return clusters_of(judgements.rename(columns={"case": "question"}))


def mean_table(grid: Grid, how: Resampling) -> pd.DataFrame:
    """Mean score with its interval over cases, and means of folds; one row per evaluator, source
    and model.

    `fold_deviation` is the standard deviation of the means of folds: that of parts of the cases,
    not the error of the mean.
    """
    scores = grid.scores
    flat = scores.values.reshape(len(scores.values), -1)
    fold_of_case = grid.judgements.groupby("case")["fold"].first().to_numpy()
    by_fold = pd.DataFrame(flat).groupby(fold_of_case).mean()
    draws = bootstrap_table(flat, clusters=scores.clusters, rounds=how.rounds, seed=how.seed)
    means: list[Any] = list(mean_estimates(draws, how.level))
    table = pd.DataFrame(product(*scores.axes), columns=KEY).assign(
        mean=means,
        unscored=np.isnan(flat).sum(axis=0),
        fold_mean=by_fold.mean(),
        fold_deviation=by_fold.std(),
    )
    for fold in range(1, grid.conditions["folds"] + 1):
        table[f"fold_{fold}"] = by_fold.loc[fold] if fold in by_fold.index else math.nan
    there: set[tuple[str, ...]] = set()
    for log in grid.logs:
        there.update(product(*log.axes))
    is_there = [key in there for key in table[KEY].itertuples(index=False, name=None)]
    return table[is_there].reset_index(drop=True)


def outcome_table(grid: Grid, means: pd.DataFrame) -> pd.DataFrame:
    """How the judging ended and how often, by the cells of `means`, as from `mean_table`.

    `missing` are cases that no log has.
    """
    by_cell = grid.judgements.groupby(KEY)
    counts = grid.judgements.groupby([*KEY, "outcome"]).size().reset_index(name="judgements")
    cells = means[KEY]
    judged = by_cell["case"].nunique().reindex(pd.MultiIndex.from_frame(cells), fill_value=0)
    lacking = len(grid.scores.values) - judged.to_numpy()
    missing = cells.assign(outcome="missing", judgements=lacking)[lacking > 0]
    return cells.merge(pd.concat([counts, missing]), on=KEY)


def bias_table(scores: Scores, reference_score: float, how: Resampling) -> pd.DataFrame:
    """Rating bias of each evaluator over all models that are both tested and a source of
    references, and by model.
    """
    both = [model for model in scores.models if model in scores.sources]
    sources = [scores.sources.index(model) for model in both]
    models = [scores.models.index(model) for model in both]
    rows = []
    for judge, evaluator in enumerate(scores.evaluators if both else ()):
        own = scores.values[:, judge, sources, models]
        biases = rating_bias(own, reference_score, clusters=scores.clusters, **vars(how))
        rows.append((evaluator, ALL, biases.bias))
        for model, bias in zip(both, biases.by_model, strict=True):
            rows.append((evaluator, model, bias))
    return pd.DataFrame(rows, columns=["evaluator", "model", "bias"])


def preference_table(scores: Scores, how: Resampling) -> pd.DataFrame:
    """Self-preference of each evaluator that is also tested, by source of references and over all
    of them.
    """
    places_of_models = {name: place for place, name in enumerate(scores.models)}
    models = [places_of_models.get(name) for name in scores.evaluators]
    parts = [(name, [place]) for place, name in enumerate(scores.sources)]
    if len(scores.sources) > 1:
        every_source = list(range(len(scores.sources)))
        parts.append((ALL, every_source))
    rows = []
    for judge, own in enumerate(models):
        if own is None or len(models) < 2:
            continue
        others = [name for place, name in enumerate(scores.evaluators) if place != judge]
        for source, places in parts:
            by_setting = scores.values[:, :, places].transpose(0, 2, 1, 3)
            preference = self_preference(
                by_setting, judge, own, models, clusters=scores.clusters, **vars(how)
            )
            row = {
                **vars(preference),
                "evaluator": scores.evaluators[judge],
                "source": source,
                "others": ", ".join(others),
            }
            rows.append(row)
    return pd.DataFrame(rows, columns=_PREFERENCES)


def with_holm(tables: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """Correct the p-values of self-preference over all tables of a report, which makes all these
    claims at once.
    """
    parts = [table.assign(table=place) for place, table in enumerate(tables)]
    whole = pd.concat([*parts, pd.DataFrame(columns=["table", "p", "p_beyond"])])
    for name in ("p", "p_beyond"):
        whole[f"{name}_holm"] = holm(list(whole[name]))
    return [whole[whole["table"] == place].drop(columns="table") for place in range(len(tables))]


def order_tables(scores: Scores, how: Resampling) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Order of the models in each setting in which all have scores, and every two models of it.

    Holm's correction is over all pairs and settings. `first` has the higher mean, `apart` is
    whether that is significant; `share` is the share of resamples of the cases that give the order.
    """
    orders: list[tuple[Any, ...]] = []
    pairs: list[tuple[Any, ...]] = []
    settings = product(range(len(scores.evaluators)), range(len(scores.sources)))
    for judge, reference in settings:
        setting = (scores.evaluators[judge], scores.sources[reference])
        of_setting = scores.values[:, judge, reference]
        order = order_of(of_setting, clusters=scores.clusters, **vars(how))
        models = [scores.models[model] for model in order.models]
        if order.cases:
            for place, (name, mean) in enumerate(zip(models, order.means, strict=True), start=1):
                orders.append((*setting, place, name, mean, order.cases, order.share))
        for gap in order.gaps:
            names = (models[gap.first], models[gap.second])
            pairs.append((*setting, *names, gap.difference, gap.p))
    columns = ["evaluator", "source", "place", "model", "mean", "cases", "share"]
    order_table = pd.DataFrame(orders, columns=columns)
    columns = ["evaluator", "source", "first", "second", "difference", "p"]
    pair_table = pd.DataFrame(pairs, columns=columns)
    pair_table["p_holm"] = holm(list(pair_table["p"]))
    pair_table["apart"] = pair_table["p_holm"] < 1 - how.level
    return order_table, pair_table


def reversals_of(pairs: pd.DataFrame) -> list[dict[str, Any]]:
    """Pairs of models of which one is better in some settings and worse in others; equal means are
    neither.

    For the pair in the order of the first setting, in how many settings each comes first, and in
    how many of these significantly.
    """
    ahead = pairs.loc[[gap.value > 0 for gap in pairs["difference"]]]
    counts = ahead.groupby(["first", "second"], sort=False)["apart"].agg(["size", "sum"])
    reversals = []
    for place, (first, second) in enumerate(counts.index):
        if (second, first) in counts.index[place + 1 :]:
            settings, significant = counts.loc[first, second]
            settings_behind, significant_behind = counts.loc[second, first]
            reversal = {
                "first": first,
                "second": second,
                "ahead": int(settings),
                "ahead_significant": int(significant),
                "behind": int(settings_behind),
                "behind_significant": int(significant_behind),
            }
            reversals.append(reversal)
    return reversals


@dataclass(frozen=True)
class JudgedRuns:
    """Ordinary runs under the same conditions, and their scores, with one source of references."""

    conditions: Conditions  # without judges, which are what is compared
    logs: frozenset[str]
    scores: Scores
    others: Mapping[str, Sequence[str]]  # model -> logs of other runs of it, which do not count
    # model -> its answers that are their references, which do not count, of how many
    copies: Mapping[str, tuple[int, int]]

    @property
    def judge_is_tested(self) -> bool:
        """Whether a judge is one of the models, and there is another judge to compare it with."""
        return len(self.scores.evaluators) > 1 and not set(self.scores.evaluators).isdisjoint(
            self.scores.models
        )


def read_judged_runs(answers: Answers) -> list[JudgedRuns]:
    """Read the scores of answers by each of their judges, one result for all runs under the same
    conditions.

    Judges compare only over the same answers: a panel's, or those of one run that was judged again
    with `inspect score` into another log. Two runs of one model have different answers; the one
    with more judges counts, the last of equal ones.
    """
    blocks: dict[tuple[object, ...], tuple[Conditions, list[pd.DataFrame]]] = {}
    for _, rows in answers.table.groupby("log", sort=False):
        same = replace(conditions_of(rows), judges=())
        key = (same.key, same.prompts)
        _, tables = blocks.setdefault(key, (same, []))
        tables.append(_run_judgements(rows))
    runs = []
    for same, tables in blocks.values():
        table = pd.concat(tables, ignore_index=True)
        own_runs = table[["model", "run"]].drop_duplicates()
        judges = _counted(table).groupby("run")["evaluator"].nunique()
        own_runs["judges"] = own_runs["run"].map(judges).fillna(0)
        best = own_runs.sort_values("judges", kind="stable").groupby("model")["run"].last()
        is_best = table["run"] == table["model"].map(best)
        kept = table[is_best]
        others = table[~is_best].groupby("model", sort=False)["log"].unique()
        counted = _counted(kept)
        judges_of_kept = list(counted["evaluator"].unique())
        axes = (judges_of_kept, [same.references], list(kept["model"].unique()))
        judged = JudgedRuns(
            same,
            frozenset(table["log"]),
            _scores(counted, axes, _clusters(counted)),
            {str(model): list(map(short_name, logs)) for model, logs in others.items()},
            _copied_answers(kept),
        )
        runs.append(judged)
    return runs


def _copied_answers(judgements: pd.DataFrame) -> dict[str, tuple[int, int]]:
    answers = judgements.drop_duplicates(["model", "case", "epoch"])
    counts = answers.groupby("model", sort=False)["copy"].agg(["sum", "size"])
    return {
        str(model): (int(copied), int(of)) for model, copied, of in counts.itertuples() if copied
    }


def _counted(judgements: pd.DataFrame) -> pd.DataFrame:
    is_judged = judgements["evaluator"].notna()
    return judgements[~judgements["copy"] & is_judged]


def _run_judgements(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per answer of a log and judge, and one without `evaluator` for an answer without a
    judge.
    """
    log = str(rows["log"].iloc[0])
    spec = read_log(log, header_only=True).eval
    copies = set[tuple[str, int]]()
    about = spec.metadata or {}
    references = str(about.get("references", ""))
    if references.startswith(f"{spec.model} ("):
        for sample in read_log(log, without=ANSWERS_ONLY).samples or []:
            if sample.output.completion.strip() == str(sample.target).strip():
                copies.add((str(sample.id), sample.epoch))
    answers = zip(rows["question"], rows["epoch"], strict=True)
    judgements = pd.DataFrame(
        {
            "case": rows["question"],
            "epoch": rows["epoch"],
            CLUSTER: rows[CLUSTER],
            "log": log,
            "run": spec.eval_id,
            "source": rows["references"],
            "model": rows["base_model"],
            "evaluator": rows["judge_finals"].map(list),
            "final": [list(finals.values()) for finals in rows["judge_finals"]],
            "copy": [answer in copies for answer in answers],
        }
    )
    return judgements.explode(["evaluator", "final"]).astype({"final": np.float64})


@dataclass(frozen=True)
class GridResults:
    """A grid, and the tables that are computed from it."""

    grid: Grid
    means: pd.DataFrame
    orders: pd.DataFrame
    pairs: pd.DataFrame
    reversals: Sequence[Mapping[str, Any]]  # of pairs
    biases: pd.DataFrame
    outcomes: pd.DataFrame
    preferences: pd.DataFrame


@dataclass(frozen=True)
class Crossval:
    """What a cross-validation shows."""

    grids: Sequence[GridResults]
    runs: Sequence[tuple[JudgedRuns, pd.DataFrame]]  # and their self-preference
    simulated: bool  # whether any model or judge is
    resampling: Resampling


def crossval_of(grids: Sequence[Grid], judged: Sequence[JudgedRuns], how: Resampling) -> Crossval:
    """Compute everything that is shown of grids and of ordinary runs."""
    scores = [grid.scores_without_copies for grid in grids] + [runs.scores for runs in judged]
    simulated = any(name.startswith(SIMULATED) for part in scores for name in part.names)
    preferences = iter(with_holm([preference_table(part, how) for part in scores]))
    results = []
    for grid in grids:
        means = mean_table(grid, how)
        orders, pairs = order_tables(grid.scores, how)
        reference_score = grid.conditions["reference_score"]
        results.append(
            GridResults(
                grid=grid,
                means=means,
                orders=orders,
                pairs=pairs,
                reversals=reversals_of(pairs),
                biases=bias_table(grid.scores_without_copies, reference_score, how),
                outcomes=outcome_table(grid, means),
                preferences=next(preferences),
            )
        )
    runs = [(of_runs, next(preferences)) for of_runs in judged]
    return Crossval(results, runs, simulated, how)
