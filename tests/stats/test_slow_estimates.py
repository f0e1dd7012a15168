"""Estimates, p-values and claims beside an implementation that goes number by number."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from urs_inspect.stats import compare_means
from urs_inspect.stats._bootstrap import (
    Estimate,
    Floats,
    error_of,
    mean_interval,
    resample,
    student_interval,
)
from urs_inspect.stats._means import (
    MeanDraws,
    bootstrap_table,
    contrast,
    p_values,
    standard_errors,
)
from urs_inspect.stats._paired import (
    MeanDifference,
    all_pairs,
    clustered_means,
    difference_column,
    holm,
    mean_differences,
    paired_p_values,
    worst_p_values,
)


def by_cluster(values: list[float], clusters: list[int]) -> dict[int, list[float]]:
    """Known values of each cluster that has any."""
    groups: dict[int, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        if not math.isnan(value):
            groups.setdefault(cluster, []).append(value)
    return groups


def slow_error(values: list[float], clusters: list[int]) -> float:
    """CR1: sqrt(C / (C - 1) * sum over clusters of (sum of deviations)^2) / n."""
    groups = by_cluster(values, clusters)
    known = [value for group in groups.values() for value in group]
    if len(groups) < 2:
        return math.nan
    mean = sum(known) / len(known)
    squares = sum(sum(value - mean for value in group) ** 2 for group in groups.values())
    return math.sqrt(len(groups) / (len(groups) - 1) * squares) / len(known)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("clusters", [None, [0, 0, 0, 1, 2, 3, 4, 5, 6, 6], [*range(10)]])
def test_an_interval_has_the_clustered_error_and_as_many_degrees_of_freedom(
    clusters: list[int] | None, level: float
) -> None:
    values = [5.0, 6.0, 7.0, 1.0, 2.0, 9.0, 4.0, 4.0, 8.0, 7.0]
    names = clusters or [*range(10)]
    found = student_interval(values, level, clusters=clusters)
    groups = len(set(names))
    assert found.value == pytest.approx(5.3)
    assert (found.n, found.clusters) == (10, groups)
    error = slow_error(values, names)
    assert error_of(found) == pytest.approx(error)
    low, high = stats.t.interval(level, groups - 1, loc=5.3, scale=error)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert mean_interval(values, level, clusters=clusters).high == pytest.approx(high)


def test_a_value_alone_and_values_of_one_cluster_have_no_bounds() -> None:
    for found in (student_interval([3.0]), student_interval([1.0, 2.0], clusters=["q", "q"])):
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert found.clusters == 1
    assert math.isnan(student_interval([]).value)


def test_the_negative_of_an_estimate_has_turned_bounds() -> None:
    found = -Estimate(2.0, 1.0, 5.0, 7, 6, 0.9, 50, 3)
    assert found == Estimate(-2.0, -5.0, -1.0, 7, 6, 0.9, 50, 3)


def table_with_gaps(seed: int, questions: int = 12, models: int = 4) -> Floats:
    """Scores of models, some missing, of which the last is alone on one cluster of questions."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 11, (questions, models)).astype(float)
    table[rng.random(table.shape) < 0.15] = np.nan
    table[2:, -1] = np.nan
    return table


CLUSTERS = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 5, 5])


@pytest.mark.parametrize("seed", range(4))
def test_clustered_means_count_what_is_known(seed: int) -> None:
    table = table_with_gaps(seed)
    for clusters in (CLUSTERS, None):
        found = clustered_means(table, clusters)
        names = (np.arange(12) if clusters is None else clusters).tolist()
        for column, values in enumerate(table.T.tolist()):
            groups = by_cluster(values, names)
            known = [value for group in groups.values() for value in group]
            assert found.n[column] == len(known)
            assert found.clusters[column] == len(groups)
            mean = sum(known) / len(known) if known else math.nan
            assert found.values[column] == pytest.approx(mean, nan_ok=True)
            error = slow_error(values, names)
            assert found.errors[column] == pytest.approx(error, nan_ok=True)


@pytest.mark.parametrize("seed", range(3))
def test_errors_of_rounds_are_wider_by_the_number_of_clusters_behind_each_mean(seed: int) -> None:
    table = table_with_gaps(seed)
    found = bootstrap_table(table, clusters=CLUSTERS, rounds=200, seed=seed)
    slow = []
    for column, values in enumerate(table.T.tolist()):
        there = len(by_cluster(values, CLUSTERS.tolist()))
        known = found.draws[:, column][~np.isnan(found.draws[:, column])]
        wider = math.sqrt(there / (there - 1)) if there > 1 else math.nan
        slow.append(float(np.std(known)) * wider)
        assert found.clusters[column] == there
    assert standard_errors(found) == pytest.approx(slow, nan_ok=True)


def test_a_weighted_sum_has_as_many_questions_as_the_mean_with_fewest() -> None:
    found = MeanDraws(
        values=np.array([1.0, 2.0, math.nan]),
        draws=np.array([[1.0, 4.0, 2.0], [3.0, 2.0, math.nan]]),
        n=np.array([9, 5, 2]),
        seed=4,
        clusters=np.array([3, 4, 1]),
    )
    weights = np.array([[1.0, 0.5, 0.0, 0.0], [-1.0, 0.5, 2.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    sums = contrast(found, weights)
    assert sums.values.tolist() == pytest.approx([-1.0, 1.5, math.nan, math.nan], nan_ok=True)
    assert sums.draws[0].tolist() == pytest.approx([-3.0, 2.5, 10.0, math.nan], nan_ok=True)
    assert (sums.n.tolist(), sums.clusters.tolist()) == ([5, 5, 2, 0], [3, 3, 1, 0])
    assert sums.seed == 4


def slow_p_value(values: list[float], clusters: list[int]) -> float:
    """The exact sign test, all ways to set the signs of clusters, or Student's t."""
    groups = by_cluster(values, clusters)
    sums = [sum(group) for group in groups.values()]
    if len(sums) < 2:
        return math.nan
    moved = [total for total in sums if abs(total) > 1e-9]
    one_size = len({round(abs(total), 6) for total in moved}) < 2
    if one_size and all(len(group) == 1 for group in groups.values()):
        wins = sum(total > 0 for total in moved)
        return float(stats.binomtest(wins, len(moved)).pvalue) if moved else 1.0
    if len(sums) <= 12:
        ways = [
            abs(sum(sign * total for sign, total in zip(signs, moved, strict=True)))
            for signs in product((1, -1), repeat=len(moved))
        ]
        return sum(way >= abs(sum(moved)) - 1e-9 for way in ways) / len(ways)
    known = [value for group in groups.values() for value in group]
    t = abs(sum(known) / len(known)) / slow_error(values, clusters)
    return float(2 * stats.t.sf(t, len(sums) - 1))


@pytest.mark.parametrize("size", [1, 2, 3, 11, 12, 13, 30])
@pytest.mark.parametrize("scores", [(-1, 0, 1), (-3, -2, 0, 1, 5)])
def test_p_values_are_those_of_the_test_that_fits(size: int, scores: tuple[int, ...]) -> None:
    rng = np.random.default_rng(size)
    single = rng.choice(scores, (size, 3)).astype(float)
    single[0, 1] = np.nan
    single[:, 2] = 0.0
    found = paired_p_values(single)
    slow = [slow_p_value(column, [*range(size)]) for column in single.T.tolist()]
    assert found == pytest.approx(slow, nan_ok=True)
    # Clusters of one, two and three questions.
    sizes = rng.integers(1, 4, size)
    clusters = np.repeat(np.arange(size), sizes)
    several = rng.choice(scores, (len(clusters), 2)).astype(float)
    several[rng.random(several.shape) < 0.1] = np.nan
    found = paired_p_values(several, clusters)
    slow = [slow_p_value(column, clusters.tolist()) for column in several.T.tolist()]
    assert found == pytest.approx(slow, nan_ok=True)


def draws_of(values: list[float]) -> MeanDraws:
    means = np.array(values)
    noise = np.random.default_rng(0).normal(0, 0.1, (50, len(values)))
    n = np.full(len(values), 20)
    return MeanDraws(means, means + noise, n, 0, n)


CLAIMS = (
    # p over what exists, p of the worst case; NaN where nothing is missing or to be compared
    ([0.01, 0.04, 0.03], [math.nan, math.nan, math.nan]),
    ([0.01, 0.04, 0.03], [0.02, 1.0, math.nan]),
    ([0.01, math.nan, 0.03], [0.001, 0.001, 0.5]),
    ([0.001, 0.5, 0.0249], [math.nan, 0.01, 0.02]),
    ([math.nan, math.nan, math.nan], [0.1, 0.1, math.nan]),
)


def slow_holm(p: list[float]) -> list[float]:
    known = sorted(value for value in p if not math.isnan(value))
    raised: list[float] = []
    for place, value in enumerate(known):
        raised.append(max([*raised[-1:], min(1.0, value * (len(known) - place))]))
    at = dict(zip(known, raised, strict=True))
    return [at.get(value, math.nan) for value in p]


@pytest.mark.parametrize(("p", "worst"), CLAIMS)
@pytest.mark.parametrize("selection", [1.0, 1.5])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_a_claim_holds_by_the_larger_p_value_after_correction(
    p: list[float], worst: list[float], selection: float, level: float
) -> None:
    pairs = all_pairs(3)
    found = mean_differences(
        draws_of([1.0, 2.0, -3.0]),
        pairs,
        level,
        p=np.array(p),
        errors=np.array([0.1, 0.2, 0.3]),
        worst=np.array(worst),
        selection=selection,
    )
    claims = []
    for value, worst_value in zip(p, worst, strict=True):
        if math.isnan(value):
            claims.append(math.nan)
        else:
            claims.append(max(value, 0.0 if math.isnan(worst_value) else worst_value))
    raised = [min(1.0, selection * value) for value in slow_holm(p)]
    survived = [min(1.0, selection * value) for value in slow_holm(claims)]
    assert [(one.first, one.second) for one in found] == pairs
    assert [one.p for one in found] == pytest.approx(p, nan_ok=True)
    assert [one.error for one in found] == [0.1, 0.2, 0.3]
    as_nan = [math.nan if math.isnan(value) else raised[place] for place, value in enumerate(p)]
    assert [one.p_holm for one in found] == pytest.approx(as_nan, nan_ok=True)
    as_nan = [math.nan if math.isnan(value) else survived[place] for place, value in enumerate(p)]
    assert [one.p_worst for one in found] == pytest.approx(as_nan, nan_ok=True)
    assert [one.significant for one in found] == [value < 1 - level for value in as_nan]
    assert [one.difference.level for one in found] == [level] * 3


def test_a_p_value_at_the_limit_is_not_below_it() -> None:
    for p, significant in ((0.25, False), (0.2499, True)):
        [found] = mean_differences(draws_of([1.0]), [(0, 1)], 0.75, p=np.array([p]))
        assert found.significant == significant


def test_no_claim_survives_a_worst_case_without_difference_or_with_the_other_sign() -> None:
    values = np.array([1e-9, 0.0, -1.0, math.nan])
    p = np.array([0.01, 0.02, 0.03, 0.04])
    assert worst_p_values(values, p).tolist() == [0.01, 1.0, 1.0, 1.0]


def test_the_worst_case_is_the_lowest_of_the_first_less_the_highest_of_the_other() -> None:
    lowest = np.array([[1.0, 5.0], [4.0, 0.0]])
    highest = np.array([[10.0, 6.0], [4.0, 10.0]])
    column = difference_column(lowest, [(0, 1), (1, 0)], highest, np.array([7, 3]))
    assert column.values.tolist() == [[1.0 - 6.0, 5.0 - 10.0], [4.0 - 10.0, 0.0 - 4.0]]
    assert column.questions.tolist() == [7, 3]
    alone = difference_column(lowest, [(1, 0)])
    assert alone.values.tolist() == [[4.0], [-4.0]]
    assert alone.questions.tolist() == [0, 1]


def test_holm_leaves_out_what_could_not_be_compared() -> None:
    for p in ([0.02, math.nan, 0.04], [0.5, 0.4, math.nan], [math.nan], [0.01] * 3, []):
        assert holm(p) == pytest.approx(tuple(slow_holm(p)), nan_ok=True)


def p_of(found: tuple[MeanDifference, ...]) -> list[float]:
    return [one.p for one in found]


def test_p_values_of_weighted_means_are_those_of_their_rounds() -> None:
    rng = np.random.default_rng(5)
    table = rng.integers(0, 11, (15, 2)).astype(float)
    heavy = np.arange(15) < 5

    def twice_as_heavy(counts: Floats) -> Floats:
        return np.where(heavy, 2 * counts, counts)

    found = compare_means(table, reweight=twice_as_heavy, rounds=300)
    counts = np.concatenate(list(resample(15, 300, 0)))
    weights = twice_as_heavy(counts)
    differences = table[:, 0] - table[:, 1]
    draws = (weights @ differences) / weights.sum(axis=1)
    weight = twice_as_heavy(np.ones((1, 15)))[0]
    point = float(weight @ differences / weight.sum())
    assert found[0].difference.value == pytest.approx(point)
    n = np.array([15])
    as_given = MeanDraws(np.array([point]), draws[:, None], n, 0, n)
    assert p_of(found) == pytest.approx(p_values(as_given).tolist())
    assert p_of(found) != pytest.approx(p_of(compare_means(table, rounds=300)))


def test_clusters_of_questions_are_compared_as_wholes() -> None:
    table = table_with_gaps(2)
    found = compare_means(table, clusters=[f"q{number}" for number in CLUSTERS], rounds=100)
    slow = []
    for one, other in all_pairs(4):
        differences = (table[:, one] - table[:, other]).tolist()
        slow.append(slow_p_value(differences, CLUSTERS.tolist()))
    assert p_of(found) == pytest.approx(slow, nan_ok=True)
    counts = np.concatenate(list(resample(6, 100, 0)))[:, CLUSTERS]
    differences = table[:, 0] - table[:, 1]
    known = ~np.isnan(differences)
    draws = counts[:, known] @ differences[known] / counts[:, known].sum(axis=1)
    as_drawn = bootstrap_table(differences[:, None], clusters=CLUSTERS, rounds=100)
    assert as_drawn.draws[:, 0] == pytest.approx(draws)


def slow_p_of_rounds(value: float, draws: Floats, clusters: int) -> float:
    """`p_values` as its text says it, for one mean."""
    if math.isnan(value) or clusters < 2:
        return math.nan
    known = draws[~np.isnan(draws)]
    fewest = min((known <= 0).sum(), (known >= 0).sum())
    p = min(1.0, 2 * (fewest + 1) / (len(known) + 1))
    spread = float(np.std(known))
    if fewest == 0 and spread > 1e-12 * abs(value):
        p = min(p, 2 * float(stats.norm.sf(abs(value) / spread)))
    freedom = clusters - 1
    z = float(stats.norm.ppf(p / 2)) * math.sqrt(freedom / clusters)
    return max(2 * float(stats.t.cdf(z, freedom)), 2.0 ** (1 - clusters))


@pytest.mark.parametrize("seed", range(3))
def test_p_values_of_rounds_are_shares_or_tails_and_expanded(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shifts = np.array([0.0, 0.3, -0.8, 3.0, -9.0, 0.5])
    table = rng.normal(0, 1, (9, 6)) + shifts
    table[rng.random(table.shape) < 0.2] = np.nan
    table[:, 5] = [2.0] * 3 + [math.nan] * 6  # equal values of which few rounds draw any
    found = bootstrap_table(table, rounds=150, seed=seed)
    found.draws[:, 4][np.isnan(found.draws[:, 4])] = 0.0
    slow = [
        slow_p_of_rounds(value, draws, clusters)
        for value, draws, clusters in zip(
            found.values.tolist(), found.draws.T, found.clusters.tolist(), strict=True
        )
    ]
    assert p_values(found) == pytest.approx(slow)
