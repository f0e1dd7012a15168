"""Models compared on the same samples: scores -> means, paired differences and rank intervals.

`urs-inspect compare` reads data frames of scores from any logs; the rankings of `urs-inspect
report` are built on the same function, `compare_table`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from urs_inspect.logs._naming import short_names
from urs_inspect.reports.numbers._scores import (
    ALL,
    Columns,
    OrderedScores,
    columns_of_means,
    compare_models,
)
from urs_inspect.stats import Estimate, MeanDifference, rank_intervals
from urs_inspect.stats._bootstrap import Flags, Floats, Integers, Resampling
from urs_inspect.stats._power import questions_needed, smallest_difference

ROUNDS = 10_000
"""Rounds of the bootstrap of a report."""
_FEWEST_TWO_VALUED = 50
"""Questions below which the power of McNemar's test depends more on how many scores differ than on
the error.
"""
EXAMPLE = 0.3
"""Difference of means for which reports say how many questions show it."""
_FEWEST_FOR_SPREAD = 6
"""Fewest questions by whose spread it is estimated how many a difference needs."""
_FEW = 30
"""Questions below which a number that rests on their spread has one significant digit, not two."""
Verdict = Literal[
    "significant",
    "not distinguishable",
    "depends on unscored answers",
    "not significant over all questions",
    "not comparable",
]
"""Result of a comparison: the first model is significantly better, whatever the missing scores are;
nothing; it would be significant if the missing scores were like the others; it is significant over
the common questions, but not over all that were asked, though neither model lacks a score; or there
is no question to compare the models on.
"""


@dataclass(frozen=True)
class Comparison:
    """Two models on the same questions."""

    first: (
        str  # the better model: that with the higher mean, or the lower one where lower is better
    )
    second: str
    difference: Estimate  # mean of the paired differences, first less second
    error: float  # standard error of the difference
    p: float  # two-sided p-value of no difference; NaN where nothing can be tested
    # after Holm's correction over all pairs, or over the comparisons with the best of a column
    p_holm: float
    # the same if each missing score of the first were the worst and each of the second the best
    p_worst: float
    verdict: Verdict
    depends_on: dict[
        str, int
    ]  # models of the pair -> answers without a score, if the verdict depends on them

    @property
    def significant(self) -> bool:
        """Whether the first model is significantly better."""
        return self.verdict == "significant"


@dataclass(frozen=True)
class BestOfColumn:
    """The best model of a column, and how it compares with each other ranked one.

    p-values are corrected by Holm over these comparisons, and for the choice of the best by the
    same data; over all questions by Holm over all pairs.
    """

    model: str  # empty if none has a score
    pairs: tuple[Comparison, ...]
    clear: tuple[Comparison, ...]  # where the best model is significantly better
    unclear: tuple[Comparison, ...]  # the others
    testable: bool  # whether a difference can be significant over the questions of the column
    marked: frozenset[str]  # the best and those not significantly worse; empty if not testable

    @property
    def largest_p(self) -> float:
        """Largest of the p-values, those with missing scores at their worst among them."""
        return float(np.fmax.reduce([(pair.p_holm, pair.p_worst) for pair in self.pairs], None))


@dataclass(frozen=True)
class Missing:
    """What missing scores take away."""

    unscored: int  # answers without a score
    answers: int  # that models were asked for
    attempted: dict[str, int]  # model -> questions that it was asked
    scored: dict[str, int]  # model -> questions for which it has a score
    without: dict[str, int]  # ranked model -> questions with a score of every other ranked one
    # judge of a panel that failed -> model -> share of the model's answers without its score
    failed: dict[str, dict[str, float]]


@dataclass(frozen=True, kw_only=True)
class ComparedModels:
    """Models compared on the same questions, those of a data frame or of a ranking of the report.

    Means and intervals are over the questions for which every ranked model has a score, so that
    those of two models compare. `models` has one row per model, the best first, those that are not
    ranked last, with `rank_from` and `rank_to` (the ranks that the model may have: 1 + the number
    of models that are significantly better, and the number of ranked models less those that are
    significantly worse; None if not ranked), `mean_scored` (over all questions for which it has a
    score), `mean_lowest` and `mean_highest` (over all questions that it was asked, if each missing
    score were the lowest or the highest), `answers`, `unscored` and `unscored_share`, in which an
    answer that only a part of a panel scored counts by the share of the judges that failed.
    """

    models: pd.DataFrame
    means: dict[str, tuple[Estimate, ...]]  # key of a column (`all`, a group) -> one mean per model
    # `all` -> every pair; another column -> the best model with each other one; with a baseline,
    # only its comparisons
    comparisons: dict[str, tuple[Comparison, ...]]
    question_counts: dict[
        str, int
    ]  # key of a column -> number of questions that its means are over
    asked: int  # number of questions
    missing: Missing
    lower_is_better: bool = False
    noun: str = "question"  # what a question is called
    two_valued: bool = (
        False  # whether scores have two values and questions are no clusters, as for McNemar's test
    )

    @cached_property
    def names(self) -> list[str]:
        """The models, the best first."""
        return [str(name) for name in self.models.index]

    @cached_property
    def short(self) -> dict[str, str]:
        """Model -> the shortest name that no other of the models has."""
        return short_names(self.names)

    @cached_property
    def ranked(self) -> list[str]:
        """The models that are ranked, the best first."""
        return list(map(str, self.models.index[self.models["rank_from"].notna()]))

    @property
    def questions(self) -> int:
        """Number of questions for which every ranked model has a score."""
        return self.question_counts[ALL]

    def mean(self, name: str, key: str = ALL) -> Estimate:
        """Mean of a model in a column."""
        return self.means[key][self.names.index(name)]

    @cached_property
    def with_mean(self) -> list[str]:
        """The models that have a mean over all questions, the best first."""
        return self._with_mean(ALL)

    def _with_mean(self, key: str) -> list[str]:
        means = zip(self.names, self.means[key], strict=True)
        return [name for name, mean in means if not math.isnan(mean.value)]

    @cached_property
    def best_in(self) -> dict[str, BestOfColumn]:
        """Key of a column -> its best model; without comparisons where it is not tested."""
        return {key: self._best_of(key) for key in self.means}

    def _best_of(self, key: str) -> BestOfColumn:
        pairs = self._beside_best(key)
        clear = tuple(pair for pair in pairs if pair.significant)
        unclear = tuple(pair for pair in pairs if not pair.significant)
        best = [pairs[0].first] if pairs else self._with_mean(key)[:1]
        testable = bool(clear) or self._can_be_significant(pairs, key)
        marked = set[str]()
        if pairs and testable:
            marked.update(best)
            marked.update(pair.second for pair in unclear)
        return BestOfColumn("".join(best), pairs, clear, unclear, testable, frozenset(marked))

    def _beside_best(self, key: str) -> tuple[Comparison, ...]:
        compared = self.comparisons.get(key, ())
        if key != ALL:
            return compared
        with_best = [pair for pair in compared if pair.first == self.names[0]]
        return tuple(pair for pair in with_best if pair.second in self.ranked)

    def _can_be_significant(self, pairs: Sequence[Comparison], key: str) -> bool:
        compared = [pair.difference for pair in pairs if pair.difference.n]
        if not compared:
            return False
        most = max(compared, key=lambda difference: difference.clusters)
        tests = self._tests_in(key)
        smallest = smallest_difference(1.0, most.clusters, tests=tests, level=most.level)
        return not math.isnan(smallest)

    @cached_property
    def leads(self) -> list[tuple[str, str]]:
        """The better and the worse model of each significant difference over all questions."""
        return [(pair.first, pair.second) for pair in self.comparisons[ALL] if pair.significant]

    def detectable(self, pair: Comparison) -> float:
        """The smallest difference of a pair that would have been significant; NaN if unknown.

        With a power of `POWER`; the p-value is corrected over all pairs.
        """
        found = pair.difference
        if self.two_valued and found.n < _FEWEST_TWO_VALUED:
            return math.nan
        tests = self._tests_in(ALL)
        return smallest_difference(pair.error, found.clusters, tests=tests, level=found.level)

    def needed(self, pair: Comparison, difference: float, key: str = ALL) -> int | None:
        """Questions of a column for which a difference would be significant with that power, if
        known.
        """
        found = pair.difference
        return questions_needed(
            difference,
            pair.error,
            found.n,
            found.clusters,
            tests=self._tests_in(key),
            level=found.level,
        )

    def questions_to_tell(self, key: str) -> int | None:
        """Questions of a column for which a difference of `EXAMPLE` between its best model and the
        first of those not significantly worse would be significant, if that is known; rounded to
        the digits that the spread of its questions allows.
        """
        best = self.best_in.get(key)
        if best is None or not best.unclear:
            return None
        pair = best.unclear[0]
        there = pair.difference.n
        needed = self.needed(pair, EXAMPLE, key)
        if needed is None or there < _FEWEST_FOR_SPREAD:
            return None
        digits = 2
        if there < _FEW:
            digits = 1
        return round(needed, digits - len(str(needed)))

    def _tests_in(self, key: str) -> int:
        """Over how many tests p-values are corrected.

        Over all questions all pairs; in another column those with the best, and for its choice.
        """
        if key == ALL:
            tested = [pair for pair in self.comparisons[ALL] if pair.difference.n > 0]
            return max(1, len(tested))
        models = len(self._beside_best(key)) + 1
        return math.comb(models, 2)


def compare_table(
    scores: OrderedScores,
    columns: Mapping[str, Integers],
    tested: Sequence[str],
    resampling: Resampling,
    baseline: str | None = None,
    *,
    together: bool = True,
    noun: str = "question",
) -> ComparedModels:
    """Compare ordered models over all questions and in columns, over the same bootstrap rounds.

    `columns` are keys with the numbers of their questions, among them `all`; in those that are
    `tested`, models are tested against each other, or with a `baseline` alone. `together` says
    whether p-values of all tested columns but `all` are corrected together, or each column by
    itself; `noun` what a question is called.
    """
    table = scores.table
    names = table.models
    wanted = columns_of_means(scores, columns)
    families = 1
    if together:
        families = max(1, len(tested) - 1)
    pairs, means = compare_models(
        scores,
        {key: columns[key] for key in tested},
        resampling,
        list(wanted.values()),
        baseline=None if baseline is None else names.index(baseline),
        families=families,
    )
    better = [(pair.first, pair.second) for pair in pairs[ALL] if pair.significant]
    ranks = rank_intervals(scores.ranked, better)
    incomplete = table.incomplete
    comparisons = {}
    for key in tested:
        of_column = incomplete[columns[key]]
        comparisons[key] = tuple(_comparison(names, of_column, pair) for pair in pairs[key])
    question_counts = {}
    for key, chosen in columns.items():
        question_counts[key] = int(np.isin(scores.common, chosen).sum())
    return ComparedModels(
        models=_facts_of_models(scores, ranks),
        means=dict(zip(wanted, means, strict=True)),
        comparisons=comparisons,
        question_counts=question_counts,
        asked=len(table.facts),
        missing=_missing(scores),
        noun=noun,
    )


def _facts_of_models(scores: OrderedScores, ranks: Sequence[tuple[int, int]]) -> pd.DataFrame:
    """The facts of `ComparedModels.models`; `ranks` are the intervals of the ranked models."""
    table = scores.table
    mean = scores.weights.means
    lowest, highest = table.scale
    asked = table.asked.sum(axis=0)
    not_ranked = [None] * (len(table.models) - scores.ranked)
    missing = table.missing.sum(axis=0)
    unscored_share = missing / np.maximum(asked, 1)
    columns = {
        "rank_from": [first for first, _ in ranks] + not_ranked,
        "rank_to": [last for _, last in ranks] + not_ranked,
        "mean_scored": mean(table.finals).tolist(),
        "mean_lowest": mean(table.filled(lowest)).tolist(),
        "mean_highest": mean(table.filled(highest)).tolist(),
        "answers": asked.tolist(),
        "unscored": table.unscored.sum(axis=0).tolist(),
        "unscored_share": unscored_share.tolist(),
    }
    return pd.DataFrame(columns, pd.Index(table.models), dtype=object)


def verdict_of(pair: MeanDifference, *, lacking: bool = True) -> Verdict:
    """The verdict about a difference; `lacking` is whether either model lacks a score."""
    if pair.significant:
        return "significant"
    if not pair.difference.n:
        return "not comparable"
    if not pair.p_holm < 1 - pair.difference.level:
        return "not distinguishable"
    # A third model's missing scores may make the common questions fewer; over all questions the
    # claim does not hold.
    if lacking:
        return "depends on unscored answers"
    return "not significant over all questions"


def _comparison(models: Sequence[str], incomplete: Integers, pair: MeanDifference) -> Comparison:
    """A tested pair; `incomplete` are numbers of answers without a score, (questions, models)."""
    lacking = {}
    for model in (pair.first, pair.second):
        count = int(incomplete[:, model].sum())
        if count:
            lacking[models[model]] = count
    verdict = verdict_of(pair, lacking=bool(lacking))
    depends_on = {}
    if verdict == "depends on unscored answers":
        depends_on = lacking
    return Comparison(
        first=models[pair.first],
        second=models[pair.second],
        difference=pair.difference,
        error=pair.error,
        p=pair.p,
        p_holm=pair.p_holm,
        p_worst=pair.p_worst,
        verdict=verdict,
        depends_on=depends_on,
    )


def _missing(scores: OrderedScores) -> Missing:
    table = scores.table
    there = ~np.isnan(table.finals)
    lacking = ~there[:, : scores.ranked]
    lacking_others = lacking.sum(axis=1, keepdims=True) - lacking
    failed = {}
    if table.panel is not None:
        asked = np.maximum(table.asked.sum(axis=0), 1)
        for judge, scored in zip(table.panel.judges, table.panel.scored.T, strict=True):
            shares = 1 - scored.sum(axis=1) / asked
            if shares.any():
                failed[judge] = dict(zip(table.models, shares.tolist(), strict=True))

    def by_model(is_counted: Flags) -> dict[str, int]:
        counts = is_counted.sum(axis=0).tolist()
        return dict(zip(table.models, counts, strict=False))

    return Missing(
        unscored=int(table.unscored.sum()),
        answers=int(table.asked.sum()),
        attempted=by_model(table.asked > 0),
        scored=by_model(there),
        without=by_model(lacking_others == 0),
        failed=failed,
    )


# --- leads that rest on the questions of one intent ---

_FEW_ROUNDS = 100
"""Rounds of the bootstrap where only values and p-values are used that need none."""


@dataclass(frozen=True)
class LostLead:
    """A significant lead of the first model that is none without the questions of one intent."""

    intent: str
    questions: int  # that are left out
    worse: str  # the other model
    difference: float  # without them
    p: float  # corrected
    clear: bool  # whether the lead within the intent differs significantly from that elsewhere


def without_intents(
    scores: OrderedScores, columns: Columns, compared: ComparedModels, resampling: Resampling
) -> tuple[LostLead, ...]:
    """Leave out each intent in turn.

    Fewer questions alone take significance away: of uniform leads that are just significant, up to
    15% lose it without exactly one intent. So a lead rests on an intent only if it is also clearly
    another there than elsewhere (Welch's test, corrected by Bonferroni over intents), which leaves
    2% (docs/appendix/report_coverage.md, six intents).
    """
    if len(columns.groups) < 2:
        return ()
    names = scores.table.models
    rounds = resampling.rounds
    if scores.common_weights.reweight is None:
        rounds = min(rounds, _FEW_ROUNDS)
    resampling = replace(resampling, rounds=rounds)
    leads = {worse for better, worse in compared.leads if better == names[0]}
    lost = []
    for group in columns.groups:
        rest = np.setdiff1d(columns.questions[ALL], columns.questions[group])
        left = np.isin(scores.common, rest)
        if not leads or not left.any():
            continue
        tested, _ = compare_models(scores, {ALL: rest}, resampling)
        for pair in tested[ALL]:
            worse = names[pair.second]
            kept = pair.significant and pair.difference.value > 0
            if pair.first != 0 or worse not in leads or kept:
                continue
            differences = scores.comparable[:, 0] - scores.comparable[:, pair.second]
            p = len(columns.groups) * _welch(differences[~left], differences[left])
            lead = LostLead(
                intent=group,
                questions=int((~left).sum()),
                worse=worse,
                difference=pair.difference.value,
                p=max(pair.p_holm, pair.p_worst),
                clear=p < 1 - resampling.level,
            )
            lost.append(lead)
    return tuple(lost)


def _welch(first: Floats, second: Floats) -> float:
    """Two-sided p-value of Welch's t-test for equal means.

    1 where a group has fewer than two; 0 where means differ without any spread within the groups.
    """
    from scipy.special import stdtr

    sizes = np.array([len(first), len(second)])
    if sizes.min() < 2:
        return 1.0
    variances_of_values = np.array([first.var(ddof=1), second.var(ddof=1)])
    variances = variances_of_values / sizes
    variance = variances.sum()
    difference = first.mean() - second.mean()
    if variance <= 0:
        return float(difference == 0)
    t = difference / math.sqrt(variance)
    parts = variances**2 / (sizes - 1)
    freedom = variance**2 / parts.sum()
    return float(2 * stdtr(freedom, -abs(t)))
