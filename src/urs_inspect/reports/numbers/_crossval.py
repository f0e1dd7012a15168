"""Cross-validation: whether results hold for other judges and references (URS paper, sections 4.4
and D.4).

Logs of `urs_crossval` become one data frame of judgements per grid, and everything is computed from
it. Logs of `urs` whose answers several judges have judged give self-preference alone.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise, product
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd
from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log_sample_summaries
from inspect_ai.scorer import Score

from urs_inspect.judging._reply_counts import BY_JUDGE, Counts, summed
from urs_inspect.logs._files import read_log, short_name
from urs_inspect.logs._responses import ANSWERS_ONLY
from urs_inspect.logs._scores import last_score, value_of
from urs_inspect.reports.numbers._answers import Answers
from urs_inspect.reports.numbers._conditions import (
    Conditions,
    Difference,
    Shown,
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
_CONDITIONS = (
    "dataset",
    "dataset_sha256",
    "cases_sha256",
    "cases",
    "folds",
    "rubric",
    "rubric_sha256",
    "reference_score",
    "prompts_sha256",
)
_SHOWN: Shown = (
    {"task_version": "task_version"},
    {"dataset_sha256": "dataset", "cases_sha256": "cases"},
    {"folds": "folds"},
    {"rubric_sha256": "rubric", "reference_score": "rubric"},
    {"prompts_sha256": "prompts_sha256"},
)


_Read = TypeVar("_Read")


@dataclass(frozen=True)
class CaseTexts:
    """The answers of a model, or the references by a source, to all cases."""

    what: Literal["answers", "references"]
    name: str


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
    hashes: Mapping[CaseTexts, str]  # of their content
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
    differs: Sequence[Difference | CaseTexts] = ()  # why it is not compared with the first grid

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
        by_model = copied.groupby("model", sort=False)["case"]
        return {str(model): set(cases) for model, cases in by_model}

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
                source = scores.sources.index(model)
                tested = scores.models.index(model)
                is_copy = [case in copied for case in cases]
                scores.values[is_copy, :, source, tested] = np.nan
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
        case = str(about["case"])
        cluster = str(about.get(CLUSTER) or "").strip()
        if cluster:
            clusters[case] = cluster
        score = last_score(sample, "crossval_judge")
        if score is not None:
            replies.append(score.metadata)
        key = (str(about[name]) for name in KEY)
        is_copy = bool(about.get(COPY))
        rows.append((case, int(about["fold"]), *key, *_judged(sample, score), is_copy))
    judgements = pd.DataFrame(rows, columns=_COLUMNS)
    conditions = {name: facts[name] for name in _CONDITIONS}
    conditions["task_version"] = version_number(str(log.eval.task_version))
    all_hashes = {}
    for source, value in facts["sources"].items():
        all_hashes[CaseTexts("references", source)] = value
    for model, value in facts["models"].items():
        all_hashes[CaseTexts("answers", model)] = value
    return GridLog(
        short_name(log.location),
        conditions,
        (list(facts["evaluators"]), list(facts["sources"]), list(facts["models"])),
        all_hashes,
        judgements,
        clusters,
        summed(replies),
    )


def read_each(
    read: Callable[[EvalLog], _Read], logs: Iterable[EvalLog], skipped: list[str]
) -> list[_Read]:
    """What is read of each log; `skipped` gets a sentence on each that is damaged."""
    found = []
    for log in logs:
        try:
            found.append(read(log))
        except Exception as error:  # a damaged file may raise anything
            name = short_name(log.location)
            reason = f"{type(error).__name__}: {error}"
            skipped.append(f"{name} was left out: it cannot be read: {reason}.")
    return found


def _judged(sample: EvalSampleSummary, score: Score | None) -> tuple[str, float]:
    """How the judging of a sample ended, and its final score."""
    if sample.error is not None:
        return "error", math.nan
    if score is None:
        return "not_judged", math.nan
    about = score.metadata or {}
    outcome = str(about.get("outcome", "unknown"))
    return outcome, value_of(score, FINAL)


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


def _differences(first: Sequence[GridLog], logs: Sequence[GridLog]) -> list[Difference | CaseTexts]:
    other_conditions = differences(logs[0].conditions, first[0].conditions, _SHOWN)
    other_texts = changed(_hashes(logs), _hashes(first))
    return [*other_conditions, *other_texts]


def _hashes(logs: Iterable[GridLog]) -> dict[CaseTexts, str]:
    hashes: dict[CaseTexts, str] = {}
    for log in logs:
        hashes |= log.hashes
    return hashes


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
    parts = [log.judgements.assign(place=place) for place, log in enumerate(logs)]
    table = pd.concat(parts, ignore_index=True)
    is_last = table["place"] == table.groupby(KEY)["place"].transform("max")
    replaced = []
    cells = table[[*KEY, "place"]].drop_duplicates()
    for key, places in cells.groupby(KEY, sort=False)["place"]:
        evaluator, source, model = map(str, key)
        for earlier, later in pairwise(places):
            earlier_log = logs[earlier].name
            replaced.append(Replaced(evaluator, source, model, earlier_log, logs[later].name))
    return table[is_last].drop(columns="place").reset_index(drop=True), replaced


def _best_first(scores: Scores) -> Scores:
    """The models in the order of their means over all settings; those without a mean last."""
    of_settings = np.ma.masked_invalid(scores.values).mean(axis=0)
    means = of_settings.reshape(-1, len(scores.models)).mean(axis=0)
    best = np.argsort(-np.ma.filled(means, -math.inf), kind="stable")
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
    cells = pd.MultiIndex.from_product([cases, *axes])
    values = means.reindex(cells).to_numpy(dtype=np.float64)
    evaluators, sources, models = axes
    shaped = values.reshape(len(cases), *map(len, axes))
    return Scores(evaluators, sources, models, shaped, _numbered(cases, clusters))


def _numbered(cases: Sequence[str], clusters: Mapping[str, str]) -> Integers | None:
    """Number of each case's cluster; None where each case is one."""
    names = []
    for case in cases:
        cluster = clusters.get(case)
        names.append(f"cluster {cluster}" if cluster else f"case {case}")
    if len(set(names)) == len(names):
        return None
    return number_clusters(names)


def mean_table(grid: Grid, how: Resampling) -> pd.DataFrame:
    """Mean score with its interval over cases, and means of folds; one row per evaluator, source
    and model.

    `fold_deviation` is the standard deviation of the means of folds: that of parts of the cases,
    not the error of the mean. `outcomes` are counts of how the judging ended, `missing` among them
    for what no log has.
    """
    scores = grid.scores
    cases = len(scores.values)
    flat = scores.values.reshape(cases, -1)
    fold_of_case = grid.judgements.groupby("case")["fold"].first().to_numpy()
    by_fold = pd.DataFrame(flat).groupby(fold_of_case).mean()
    draws = bootstrap_table(flat, clusters=scores.clusters, rounds=how.rounds, seed=how.seed)
    judged: Mapping[Any, pd.DataFrame] = dict(list(grid.judgements.groupby(KEY, sort=False)))
    table = pd.DataFrame(product(*scores.axes), columns=KEY)
    none = grid.judgements[:0]
    outcomes: list[Any] = [_outcomes(judged.get(key, none), cases) for key in keys_of(table)]
    means: list[Any] = list(mean_estimates(draws, how.level))
    table = table.assign(
        outcomes=outcomes,
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
    is_there = [key in there for key in keys_of(table)]
    return table[is_there].reset_index(drop=True)


def _outcomes(judgements: pd.DataFrame, cases: int) -> dict[str, int]:
    """Counts of how the judging of a cell ended, `missing` for cases that it lacks."""
    counts = Counter(judgements["outcome"])
    outcomes = dict(sorted(counts.items()))
    missing = cases - judgements["case"].nunique()
    if missing:
        outcomes["missing"] = missing
    return outcomes


def bias_table(scores: Scores, reference_score: float, how: Resampling) -> pd.DataFrame:
    """Rating bias of each evaluator over all models that are both tested and a source of
    references, and by model.
    """
    both = [model for model in scores.models if model in scores.sources]
    places = [(scores.sources.index(model), scores.models.index(model)) for model in both]
    rows = []
    for judge, evaluator in enumerate(scores.evaluators if both else ()):
        of_copies = [scores.values[:, judge, source, model] for source, model in places]
        own = np.stack(of_copies, axis=1)
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
                "own_mean": preference.own,
                "others_mean": preference.others,
            }
            rows.append(row)
    return pd.DataFrame(rows, columns=_PREFERENCES)


def with_holm(tables: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """Correct the p-values of self-preference over all tables of a report, which makes all these
    claims at once.
    """
    ends = np.cumsum([len(table) for table in tables])
    corrected_tables = [table.copy() for table in tables]
    for name in ("p", "p_beyond"):
        every_p = chain.from_iterable(table[name] for table in tables)
        corrected = np.array(holm(list(every_p)))
        parts = np.split(corrected, ends[:-1])
        for table, part in zip(corrected_tables, parts, strict=True):
            table[f"{name}_holm"] = part
    return corrected_tables


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
        if order.cases:
            ordered = zip(order.places, order.means, strict=True)
            for place, (model, mean) in enumerate(ordered, start=1):
                name = scores.models[model]
                orders.append((*setting, place, name, mean, order.cases, order.share))
        for gap in order.gaps:
            first = scores.models[gap.first]
            second = scores.models[gap.second]
            pairs.append((*setting, first, second, gap.difference, gap.p))
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
    by_pair: dict[frozenset[str], list[Any]] = {}
    for row in rows_of(pairs):
        pair = frozenset((row.first, row.second))
        by_pair.setdefault(pair, []).append(row)
    reversals = []
    for settings in by_pair.values():
        first = settings[0].first
        decided = [row for row in settings if row.difference.value > 0]
        ahead = [row.apart for row in decided if row.first == first]
        behind = [row.apart for row in decided if row.first != first]
        if ahead and behind:
            reversal = {
                "first": first,
                "second": settings[0].second,
                "ahead": len(ahead),
                "ahead_significant": sum(ahead),
                "behind": len(behind),
                "behind_significant": sum(behind),
            }
            reversals.append(reversal)
    return reversals


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


@dataclass(frozen=True)
class RunsWithout:
    """Ordinary runs without self-preference: they have one judge, or none among the models."""

    logs: int
    models: Sequence[str]
    judges: Sequence[str]


def read_judged_runs(answers: Answers) -> tuple[list[JudgedRuns], list[RunsWithout]]:
    """Read the scores of answers that several judges have judged, one of them the model itself; and
    which runs have none.

    Judges compare only over the same answers: a panel's, or those of one run that was judged again
    with `inspect score` into another log. Two runs of one model have different answers; the one
    with more judges counts.
    """
    named = answers.table[answers.table[CLUSTER] != ""]
    clusters = dict(zip(named["question"].map(str), named[CLUSTER].map(str), strict=True))
    blocks: dict[tuple[object, ...], tuple[Conditions, list[pd.DataFrame]]] = {}
    for _, rows in answers.table.groupby("log", sort=False):
        same = replace(conditions_of(rows), judges=())  # which are what is compared
        key = (same.key, same.prompts)
        _, tables = blocks.setdefault(key, (same, []))
        tables.append(_run_judgements(rows))
    runs = []
    without = []
    for same, tables in blocks.values():
        kept, others = _one_run_per_model(pd.concat(tables, ignore_index=True))
        judgements = _counted(kept)
        models = list(map(str, kept["model"].unique()))
        judges = list(map(str, judgements["evaluator"].unique()))
        if len(judges) > 1 and set(judges) & set(models):
            scores = _scores(judgements, clusters, judges, [""], models)
            names = ("dataset", "rubric", "prompts", "references")
            facts = {name: getattr(same, name) for name in names}
            facts |= {"questions": len(scores.values), "judges": judges, "models": models}
            runs.append(JudgedRuns(facts, scores, others, _copies(kept)))
        else:
            without.append(RunsWithout(kept["log"].nunique(), models, judges))
    return runs, without


_NO_JUDGE = {"": math.nan}


def _run_judgements(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per answer of a log and judge, and one with an empty `evaluator` for an answer
    without a judge.
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
    judgements = []
    answers = zip(rows["question"], rows["epoch"], rows["judge_finals"], strict=True)
    for question, number, finals in answers:
        case = str(question)
        epoch = int(number)
        is_copy = (case, epoch) in copies
        for judge, final in (finals or _NO_JUDGE).items():
            judgements.append((case, epoch, judge, float(final), is_copy))
    table = pd.DataFrame(judgements, columns=["case", "epoch", "evaluator", "final", "copy"])
    model = str(rows["base_model"].iloc[0])
    return table.assign(log=log, model=model, run=spec.eval_id, source="")


def _counted(judgements: pd.DataFrame) -> pd.DataFrame:
    is_judged = judgements["evaluator"] != ""
    return judgements[~judgements["copy"] & is_judged]


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
