"""Tests of `urs_inspect.stats._means`."""

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from tests.stats.fights import checked
from urs_inspect.stats import Estimate, clustered_mean
from urs_inspect.stats import _bootstrap as bootstrap
from urs_inspect.stats._bootstrap import Floats, resample
from urs_inspect.stats._means import (
    Margin,
    MeanColumn,
    MeanDraws,
    bootstrap_means,
    bootstrap_table,
    contrast,
    effective_number,
    mean_estimates,
    p_values,
    raking,
    standard_errors,
)


@pytest.mark.parametrize(
    ("values", "names", "expected"),
    [
        # Items 1 2 3 and 10, the last in a cluster of its own: the mean is 16 / 4. Drawing two
        # clusters gives 2, 4 or 10 with chances 1/4, 1/2, 1/4, so the 95% interval spans all.
        pytest.param([1, 2, 3, 10, math.nan], "pppqr", (4, 2, 10, 4, 2), id="two clusters"),
        pytest.param([1, 2], "pp", (1.5, math.nan, math.nan, 2, 1), id="one cluster"),
        pytest.param([math.nan], "p", (math.nan, math.nan, math.nan, 0, 0), id="no value"),
    ],
)
def test_the_mean_is_over_items_and_the_interval_over_clusters(
    values: list[float], names: str, expected: tuple[float, ...]
) -> None:
    found = clustered_mean(values, list(names))
    echoed = (found.value, found.low, found.high, found.n, found.clusters)
    assert echoed == pytest.approx(expected, nan_ok=True)


def column(*rows: list[float], questions: list[int] | None = None) -> MeanColumn:
    values = np.array(rows, dtype=np.float64)
    return MeanColumn(np.arange(len(rows)) if questions is None else np.array(questions), values)


def table(seed: int, questions: int, models: int, missing: float = 0.2) -> Floats:
    generator = np.random.default_rng(seed)
    values = generator.integers(1, 11, (questions, models)).astype(np.float64)
    values[generator.random(values.shape) < missing] = math.nan
    return values


def test_means_by_hand() -> None:
    # First model: (2 + 4 + 9) / 3 = 5; second: 6 and 8, one missing: 7; over questions 0 and 2
    # alone: 5.5 and 6.
    rows = [2.0, 6.0], [4.0, 8.0], [9.0, math.nan]
    everything, part = bootstrap_means(
        [column(*rows), column(rows[0], rows[2], questions=[0, 2])], 3, rounds=50
    )
    assert everything.values.tolist() == [5, 7]
    assert everything.n.tolist() == [3, 2]
    assert part.values.tolist() == [5.5, 6]
    assert part.n.tolist() == [2, 1]
    # Of 2 questions there are four equally likely draws; the mean of 0 and 10 is 0, 5, 5 or 10.
    [two] = bootstrap_means([column([0.0], [10.0])], 2, rounds=4000)
    shares = [float((two.draws == value).mean()) for value in (0, 5, 10)]
    assert shares == pytest.approx([0.25, 0.5, 0.25], abs=0.03)


def test_weights_by_hand() -> None:
    # Weights 3 and 1: (3 * 2 + 6) / 4 = 3; a missing value takes its weight along, so the second
    # mean is 8.
    [found] = bootstrap_means(
        [column([2.0, math.nan], [6.0, 8.0])],
        2,
        reweight=lambda counts: counts * np.array([3.0, 1.0]),
        rounds=3,
    )
    assert found.values.tolist() == [3, 8]


@checked
@given(seed=st.integers(0, 10_000), questions=st.integers(1, 12), models=st.integers(1, 4))
def test_rounds_are_plain_weighted_means(seed: int, questions: int, models: int) -> None:
    """Of all questions, of some of them, and of whole clusters of questions."""
    generator, values = np.random.default_rng(seed), table(seed, questions, models)
    some, clusters = generator.random(questions) < 0.6, generator.integers(6, size=questions)
    clusters = np.unique(clusters, return_inverse=True)[1]
    every, chosen = (
        MeanColumn(np.arange(questions), values),
        MeanColumn(np.flatnonzero(some), values[some]),
    )
    whole, part = bootstrap_means([every, chosen], questions, rounds=20, seed=seed)
    [clustered] = bootstrap_means([every], questions, clusters=clusters, rounds=20, seed=seed)
    counts = np.concatenate(list(resample(questions, 20, seed)))
    of_clusters = np.concatenate(list(resample(int(clusters.max()) + 1, 20, seed)))[:, clusters]
    for found, drawn in ((whole, counts), (part, counts * some), (clustered, of_clusters)):
        for row, means in zip(drawn, found.draws, strict=True):
            for model in range(models):
                known = [
                    value for value in np.repeat(values[:, model], row.astype(int)) if value > 0
                ]
                expected = math.fsum(known) / len(known) if known else math.nan
                assert means[model] == pytest.approx(expected, nan_ok=True)
    there = [len(set(clusters[~np.isnan(values[:, model])])) for model in range(models)]
    assert (
        clustered.clusters.tolist()
        == there
        == contrast(clustered, np.eye(models)).clusters.tolist()
    )
    assert [mean.clusters for mean in mean_estimates(clustered)] == there


def test_it_agrees_with_the_clustered_mean() -> None:
    values = np.nan_to_num(table(3, 200, 1), nan=5.0)
    slow = clustered_mean(values[:, 0], np.arange(200), rounds=500, seed=4)
    [estimate] = mean_estimates(bootstrap_table(values, rounds=500, seed=4))
    assert estimate.value == pytest.approx(slow.value)
    # Moved out by less than half a percent of the width.
    assert (estimate.low, estimate.high) == pytest.approx((slow.low, slow.high), abs=0.02)
    assert (estimate.n, estimate.clusters, estimate.rounds, estimate.seed) == (200, 200, 500, 4)


def test_blocks_of_rounds_are_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    values = table(1, 50, 1)
    whole = draws_of(values, 100).draws
    monkeypatch.setattr(bootstrap, "_BLOCK", 50 * 30)
    np.testing.assert_allclose(draws_of(values, 100).draws, whole)


def test_nothing_has_no_means() -> None:
    found = draws_of(np.zeros((0, 2)), 5)
    assert np.isnan(found.values).all()
    assert all(math.isnan(one.low) and one.n == 0 for one in mean_estimates(found))


def test_intervals_over_few_questions_are_as_wide_as_students() -> None:
    # 12 values, all rounds: Student's interval of the same values, give or take the skew of the
    # sample.
    values = stats.norm.ppf((np.arange(12) + 0.5) / 12)
    [estimate] = mean_estimates(draws_of(values[:, None], 40_000))
    t = stats.t.interval(0.95, 11, loc=values.mean(), scale=stats.sem(values))
    assert estimate.high - estimate.low == pytest.approx(t[1] - t[0], rel=0.02)


@pytest.mark.parametrize(
    ("n", "step", "known"), [(1, 1, False), (5, 1, False), (6, 1, True), (50, 0, False)]
)
def test_few_or_equal_values_have_no_interval(n: int, step: int, known: bool) -> None:
    # A sign test of five values that agree proves nothing at 95%.
    [estimate] = mean_estimates(draws_of([[4.0 + step * place] for place in range(n)], 50))
    assert estimate.value == 4 + step * (n - 1) / 2
    assert estimate.n == n
    assert math.isnan(estimate.low) is math.isnan(estimate.high) is not known


def test_no_interval_is_beyond_the_scale() -> None:
    found = draws_of([[10.0]] * 7 + [[1.0]], 2000)
    [free], [cut] = mean_estimates(found), mean_estimates(found, scale=(1, 10))
    assert free.high >= 10 == cut.high
    assert cut.low == max(free.low, 1)
    [whole] = mean_estimates(found, scale=(8.0, 9.9))
    assert math.isnan(whole.low) and math.isnan(whole.high)


@pytest.mark.parametrize("questions", [6, 12, 40])
def test_intervals_cover_the_truth(questions: int) -> None:
    # 2,000 columns of scores from 1 to 10 around 6.5 are 2,000 repetitions.
    generator = np.random.default_rng(questions)
    values = np.clip(np.round(generator.normal(6.5, 1.5, (questions, 2000))), 1, 10)
    truth = np.clip(np.round(generator.normal(6.5, 1.5, 1_000_000)), 1, 10).mean()
    [found] = bootstrap_means([MeanColumn(np.arange(questions), values)], questions, rounds=1000)
    covered = np.mean([one.low <= truth <= one.high for one in mean_estimates(found)])
    assert 0.925 < covered < 0.975


def test_p_values_by_hand() -> None:
    # Two rounds of ten at or below 0: 2 * (2 + 1) / 11 = 0.545, over so many questions that nothing
    # is moved out.
    draws = np.array([[-1.0, 0.0, *range(1, 9)]]).T
    many = np.array([10**9])
    [p] = p_values(MeanDraws(np.array([3.5]), draws, many, 0, many))
    assert p == pytest.approx(6 / 11, abs=1e-6)
    # Rounds in which the mean is not defined count for nothing.
    undefined = np.concatenate([draws, np.full((30, 1), math.nan)])
    [p] = p_values(MeanDraws(np.array([3.5]), undefined, many, 0, many))
    assert p == pytest.approx(6 / 11, abs=1e-6)
    # All rounds are above 0, with a mean of three standard deviations: both tails of the normal
    # distribution beyond 3 are 0.0026998.
    above = np.tile([[2.0], [4.0]], (50, 1))
    for rounds in (above, np.concatenate([np.full((70, 1), math.nan), above])):
        found = MeanDraws(np.array([3.0]), rounds, many, 0, many)
        assert p_values(found)[0] == pytest.approx(0.0026998, abs=1e-6)
        assert standard_errors(found)[0] == pytest.approx(1)
        five = replace(found, clusters=np.array([5]))
        assert standard_errors(five)[0] == pytest.approx(math.sqrt(5 / 4))


def test_few_questions_prove_little() -> None:
    # Five questions on which the same model is better by the same: the sign-flip test says 2 / 2^5.
    assert p_values(draws_of([[1.0]] * 5, 1000))[0] >= 2 / 2**5
    assert np.isnan(p_values(draws_of([[1.0]], 10))).all()
    assert p_values(draws_of([[0.0]] * 30, 100)).tolist() == [1.0]


def test_p_values_are_finer_than_the_rounds_where_none_crosses_0() -> None:
    values = np.random.default_rng(0).normal(0.5, 1, (400, 1))  # ten standard errors
    [p] = p_values(draws_of(values, 200))
    assert 0 < p < 1e-12


@checked
@given(seed=st.integers(0, 1000), shift=st.floats(-1, 1))
def test_p_values_do_not_care_for_the_sign(seed: int, shift: float) -> None:
    values = np.random.default_rng(seed).normal(shift, 1, (25, 1))
    one, other = p_values(draws_of(np.hstack([values, -values]), 200))
    assert one == pytest.approx(other)


@pytest.mark.parametrize("questions", [8, 20, 200])
def test_p_values_agree_with_intervals_and_with_students_test(questions: int) -> None:
    values = np.random.default_rng(questions).normal(0.3, 1, (questions, 300))
    found = draws_of(values, 4000)
    p, intervals = p_values(found), mean_estimates(found)
    leaves_out = np.array([one.low > 0 or one.high < 0 for one in intervals])
    assert (leaves_out == (p < 0.05)).mean() > 0.99
    assert np.median(np.abs(p - stats.ttest_1samp(values, 0).pvalue)) < 0.02


@pytest.mark.parametrize("questions", [10, 50])
def test_equal_models_are_told_apart_as_rarely_as_promised(questions: int) -> None:
    values = np.round(np.random.default_rng(questions).normal(0, 1.5, (questions, 3000)))
    assert 0.03 < (p_values(draws_of(values, 1000)) < 0.05).mean() < 0.07


def draws_of(values: npt.ArrayLike, rounds: int = 400) -> MeanDraws:
    return bootstrap_table(np.asarray(values, dtype=np.float64), rounds=rounds)


def test_sums_are_taken_round_by_round() -> None:
    # Means 2 and 5; half of each is 3.5, the difference -3.
    found = contrast(draws_of([[1, 4], [3, 6]]), [[0.5, 1], [0.5, -1]])
    assert found.values.tolist() == [3.5, -3]
    assert found.n.tolist() == [2, 2]
    # The columns differ by 3 on every case, hence in every round.
    assert np.allclose(found.draws[:, 1], -3)


def test_a_mean_without_weight_takes_no_part() -> None:
    found = contrast(draws_of([[1.0, math.nan], [3.0, math.nan]]), [[1, 1, 0], [0, 1, 0]])
    assert found.values[0] == 2
    assert np.isnan(found.values[1:]).all() and np.isnan(found.draws[:, 2]).all()
    assert found.n.tolist() == [2, 0, 0]
    # The smallest number of questions counts.
    assert contrast(
        draws_of([[1.0, 2.0], [3.0, math.nan], [5.0, 4.0]]), [[1], [-1]]
    ).n.tolist() == [2]


def test_a_difference_is_the_bootstrap_of_differences() -> None:
    """Against a slow obvious way: the column of differences itself."""
    values = np.random.default_rng(1).normal(size=(40, 2))
    slow, quick = draws_of(values[:, :1] - values[:, 1:]), contrast(draws_of(values), [[1], [-1]])
    np.testing.assert_allclose(quick.draws, slow.draws)
    assert quick.values == pytest.approx(slow.values)


def margin(categories: list[int], *shares: float) -> Margin:
    return Margin(np.array(categories), np.array(shares))


def weights(questions: int, *margins: Margin) -> Floats:
    found: Floats = raking(margins)(np.ones((1, questions)))[0]
    return found


@pytest.mark.parametrize(
    ("margins", "expected"),
    [
        # Three questions of kind 0 share 0.6, one of kind 1 has 0.4.
        pytest.param([margin([0, 0, 0, 1], 0.6, 0.4)], [0.2, 0.2, 0.2, 0.4], id="one margin"),
        # One question in each of four cells: independence gives 0.4, 0.1, 0.4, 0.1.
        pytest.param(
            [margin([0, 0, 1, 1], 0.5, 0.5), margin([0, 1, 0, 1], 0.8, 0.2)],
            [0.4, 0.1, 0.4, 0.1],
            id="two margins",
        ),
        pytest.param([margin([0, -1, 1], 0.5, 0.5)], [0.5, 0, 0.5], id="no category"),
        pytest.param(
            [margin([0, 0, 1, 1, 0], 0.5, 0.5), margin([0, 1, 0, 1, -1], 0.8, 0.2)],
            [0.4, 0.1, 0.4, 0.1, 0],
            id="no category in one of two",
        ),
        pytest.param([margin([0, 1, 2], 1.0, 0.0, 0.0)], [1, 0, 0], id="shares of 0"),
        # Kind 0 occurs in language 0 alone; it cannot have more weight than that language.
        pytest.param(
            [margin([0, 1, 1], 0.9, 0.1), margin([0, 0, 1], 0.2, 0.8)],
            [math.nan] * 3,
            id="contradiction",
        ),
    ],
)
def test_weights_of_given_shares_by_hand(margins: list[Margin], expected: list[float]) -> None:
    assert weights(len(expected), *margins) == pytest.approx(expected, nan_ok=True)


@checked
@given(seed=st.integers(0, 10_000))
def test_shares_are_met_and_the_association_of_the_data_is_kept(seed: int) -> None:
    generator = np.random.default_rng(seed)
    counts = generator.integers(1, 6, (3, 2))
    intents, languages = (np.repeat(side.ravel(), counts.ravel()) for side in np.indices((3, 2)))
    wanted = generator.dirichlet(np.ones(3)), generator.dirichlet(np.ones(2))
    found = weights(len(intents), Margin(intents, wanted[0]), Margin(languages, wanted[1]))
    cells = np.zeros((3, 2))
    np.add.at(cells, (intents, languages), found)
    assert cells.sum(axis=1) == pytest.approx(wanted[0], abs=1e-6)
    assert cells.sum(axis=0) == pytest.approx(wanted[1], abs=1e-6)
    # Raking leaves odds ratios as they were.
    odds, expected = (side[:, 0] / side[:, 1] for side in (cells, counts))
    assert odds[:-1] / odds[1:] == pytest.approx(expected[:-1] / expected[1:], rel=1e-3)


@checked
@given(seed=st.integers(0, 10_000))
def test_it_agrees_with_plain_loops(seed: int) -> None:
    generator = np.random.default_rng(seed)
    first, second = generator.integers(0, 3, 40), generator.integers(0, 2, 40)
    # Without a question in a cell, shares may be reached in the limit only.
    assume(len(set(zip(first, second, strict=True))) == 6)
    wanted = [np.array([0.5, 0.3, 0.2]), np.array([0.7, 0.3])]
    counts = generator.integers(1, 4, (3, 40)).astype(np.float64)
    found = raking([Margin(first, wanted[0]), Margin(second, wanted[1])])(counts)
    for row, weighted in zip(counts, found, strict=True):
        slow = row / row.sum()
        for _ in range(60):
            for kind, shares in ((first, wanted[0]), (second, wanted[1])):
                for category, share in enumerate(shares):
                    slow[kind == category] *= share / slow[kind == category].sum()
        assert weighted == pytest.approx(slow, abs=1e-6)


def test_rounds_that_drew_nothing_of_a_kind_are_not_defined() -> None:
    found = raking([margin([0, 0, 1], 0.5, 0.5)])(np.array([[1.0, 1, 1], [2, 1, 0], [0, 3, 0]]))
    assert found[0] == pytest.approx([0.25, 0.25, 0.5])
    assert np.isnan(found[1:]).all()


def test_effective_number_by_hand() -> None:
    # (3 + 1)^2 / (9 + 1)
    assert effective_number(np.array([3.0, 1.0])) == pytest.approx(1.6)
    assert effective_number(np.full(7, 0.2)) == pytest.approx(7)
    assert effective_number(np.zeros(3)) == 0


def test_intervals_under_given_shares_cover_the_truth() -> None:
    # Two kinds of means 4 and 8, drawn in equal numbers, weighted 0.8 to 0.2: the truth is 4.8.
    # Were the shares not given anew in every round, the interval would hold the chance of how many
    # of each kind were drawn as well.
    generator = np.random.default_rng(0)
    found: list[Estimate] = []
    for _ in range(300):
        kinds = generator.integers(0, 2, 60)
        values = generator.normal(np.where(kinds == 0, 4.0, 8.0), 1)[:, None]
        reweight = raking([Margin(kinds, np.array([0.8, 0.2]))])
        [draws] = bootstrap_means(
            [MeanColumn(np.arange(60), values)], 60, reweight=reweight, rounds=400
        )
        found += mean_estimates(draws)
    assert 0.915 < np.mean([one.low <= 4.8 <= one.high for one in found]) < 0.985
    # 1.96 * 2 * sqrt(0.8^2 / 30 + 0.2^2 / 30)
    assert np.mean([one.high - one.low for one in found]) == pytest.approx(0.59, rel=0.1)


def test_clusters_are_drawn_whole_with_weights_as_well() -> None:
    generator = np.random.default_rng(5)
    clusters = np.repeat(np.arange(6), [1, 2, 3, 4, 5, 6])
    values = generator.normal(size=(21, 2))
    values[:3, 1] = math.nan
    column = MeanColumn(np.arange(21), values)
    [plain] = bootstrap_means([column], 21, clusters=clusters, rounds=200)
    [weighted] = bootstrap_means(
        [column], 21, clusters=clusters, reweight=lambda counts: 3 * counts, rounds=200
    )
    assert weighted.draws == pytest.approx(plain.draws) and weighted.values == pytest.approx(
        plain.values
    )
    assert weighted.clusters.tolist() == plain.clusters.tolist() == [6, 4] and plain.n.tolist() == [
        21,
        18,
    ]
    kinds = generator.integers(0, 2, 21)
    rake = raking([Margin(kinds, np.array([0.7, 0.3]))])
    [raked] = bootstrap_means([column], 21, clusters=clusters, reweight=rake, rounds=200)
    counts = np.concatenate(list(resample(6, 200)))
    for drawn, found in zip(counts, raked.draws[:, 0], strict=True):
        of_kind = [
            np.average(values[kinds == kind, 0], weights=drawn[clusters[kinds == kind]])
            for kind in (0, 1)
        ]
        assert found == pytest.approx(0.7 * of_kind[0] + 0.3 * of_kind[1], abs=1e-6)
