"""Tests of `urs_inspect.stats.means`."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.stats.fights import checked
from urs_inspect.stats import clustered_mean
from urs_inspect.stats.bootstrap import resample
from urs_inspect.stats.means import (
    Margin,
    MeanColumn,
    MeanDraws,
    bootstrap_means,
    contrast,
    effective_number,
    mean_estimates,
    p_values,
    raking,
)


def test_the_mean_is_over_items_and_the_interval_over_clusters() -> None:
    # Items 1 2 3 and 10, the last in a cluster of its own: the mean is 16 / 4. Drawing two clusters gives 2, 4 or 10
    # with chances 1/4, 1/2, 1/4, so the 95% interval spans all.
    found = clustered_mean([1, 2, 3, 10, math.nan], list("pppqr"))
    assert (found.value, found.low, found.high, found.n, found.clusters) == (4, 2, 10, 4, 2)


def test_without_values_there_is_no_mean() -> None:
    found = clustered_mean([math.nan], ["p"])
    assert math.isnan(found.value) and math.isnan(found.low) and (found.n, found.clusters) == (0, 0)


def test_one_cluster_has_no_interval() -> None:
    found = clustered_mean([1, 2], ["p", "p"])
    assert found.value == 1.5
    assert math.isnan(found.low) and math.isnan(found.high)


def test_the_interval_is_as_wide_as_the_textbook_says() -> None:
    # 400 items on prompts of their own: 1.96 standard errors on either side, give or take the noise of 2,000 rounds.
    values = np.random.default_rng(1).normal(size=400)
    found = clustered_mean(values, [str(n) for n in range(400)])
    expected = 2 * 1.96 * values.std() / 20
    assert found.value == pytest.approx(values.mean())
    assert found.high - found.low == pytest.approx(expected, rel=0.1)


Floats = npt.NDArray[np.float64]


def column(*rows: list[float], questions: list[int] | None = None) -> MeanColumn:
    values = np.array(rows, dtype=np.float64)
    return MeanColumn(np.arange(len(rows)) if questions is None else np.array(questions), values)


def table(seed: int, questions: int, models: int, missing: float = 0.2) -> Floats:
    generator = np.random.default_rng(seed)
    values = generator.integers(1, 11, (questions, models)).astype(np.float64)
    values[generator.random(values.shape) < missing] = math.nan
    return values


def test_means_by_hand() -> None:
    # First model: (2 + 4 + 9) / 3 = 5; second: 6 and 8, one missing: 7; over questions 0 and 2 alone: 5.5 and 6.
    rows = [2.0, 6.0], [4.0, 8.0], [9.0, math.nan]
    everything, part = bootstrap_means([column(*rows), column(rows[0], rows[2], questions=[0, 2])], 3, rounds=50)
    assert everything.values.tolist() == [5, 7]
    assert everything.n.tolist() == [3, 2]
    assert part.values.tolist() == [5.5, 6]
    assert part.n.tolist() == [2, 1]
    # Of 2 questions there are four equally likely draws; the mean of 0 and 10 is 0, 5, 5 or 10.
    [two] = bootstrap_means([column([0.0], [10.0])], 2, rounds=4000)
    shares = [float((two.draws == value).mean()) for value in (0, 5, 10)]
    assert shares == pytest.approx([0.25, 0.5, 0.25], abs=0.03)


def test_weights_by_hand() -> None:
    # Weights 3 and 1: (3 * 2 + 6) / 4 = 3; a missing value takes its weight along, so the second mean is 8.
    [found] = bootstrap_means(
        [column([2.0, math.nan], [6.0, 8.0])], 2, reweight=lambda counts: counts * np.array([3.0, 1.0]), rounds=3
    )
    assert found.values.tolist() == [3, 8]


@checked
@given(seed=st.integers(0, 10_000), questions=st.integers(1, 12), models=st.integers(1, 4))
def test_rounds_are_plain_weighted_means(seed: int, questions: int, models: int) -> None:
    values = table(seed, questions, models)
    chosen = np.flatnonzero(np.random.default_rng(seed).random(questions) < 0.6)
    whole, part = bootstrap_means(
        [MeanColumn(np.arange(questions), values), MeanColumn(chosen, values[chosen])], questions, rounds=20, seed=seed
    )
    counts = np.concatenate(list(resample(questions, 20, seed)))
    for found, members in ((whole, range(questions)), (part, chosen)):
        for number, row in enumerate(counts):
            for model in range(models):
                drawn = [values[q, model] for q in members for _ in range(int(row[q])) if values[q, model] > 0]
                expected = math.fsum(drawn) / len(drawn) if drawn else math.nan
                assert found.draws[number, model] == pytest.approx(expected, nan_ok=True)


def test_it_agrees_with_the_clustered_mean() -> None:
    values = table(3, 200, 1)[:, 0]
    names = [f"{n:04d}" for n in range(200)]
    slow = clustered_mean(np.nan_to_num(values, nan=5.0), names, rounds=500, seed=4)
    [found] = bootstrap_means(
        [MeanColumn(np.arange(200), np.nan_to_num(values, nan=5.0)[:, None])], 200, rounds=500, seed=4
    )
    [estimate] = mean_estimates(found)
    assert estimate.value == pytest.approx(slow.value)
    # Moved out by less than half a percent of the width.
    assert (estimate.low, estimate.high) == pytest.approx((slow.low, slow.high), abs=0.02)
    assert (estimate.n, estimate.clusters, estimate.rounds, estimate.seed) == (200, 200, 500, 4)


@checked
@given(seed=st.integers(0, 10_000), models=st.integers(1, 3))
def test_rounds_draw_whole_clusters(seed: int, models: int) -> None:
    generator = np.random.default_rng(seed)
    clusters = np.unique(generator.integers(6, size=12), return_inverse=True)[1]
    table = np.where(generator.random((12, models)) < 0.2, np.nan, generator.normal(size=(12, models)))
    [found] = bootstrap_means([MeanColumn(np.arange(12), table)], 12, clusters=clusters, rounds=20, seed=seed)
    number = int(clusters.max()) + 1
    for row, drawn in zip(np.concatenate(list(resample(number, 20, seed))), found.draws, strict=True):
        for column in range(models):
            values = np.repeat(table[:, column], row[clusters].astype(int))
            values = values[~np.isnan(values)]
            assert drawn[column] == pytest.approx(values.mean() if len(values) else math.nan, nan_ok=True)
    there = [len(set(clusters[~np.isnan(table[:, column])])) for column in range(models)]
    assert found.clusters.tolist() == there == contrast(found, np.eye(models)).clusters.tolist()
    assert [mean.clusters for mean in mean_estimates(found)] == there


def test_clusters_have_no_weights() -> None:
    column = MeanColumn(np.arange(2), np.ones((2, 1)))
    with pytest.raises(ValueError, match="reweighted"):
        bootstrap_means([column], 2, reweight=lambda counts: counts, clusters=np.array([0, 0]))


def test_blocks_of_rounds_are_one_run() -> None:
    values = table(1, 5000, 1)
    [few] = bootstrap_means([MeanColumn(np.arange(5000), values)], 5000, rounds=850)
    [more] = bootstrap_means([MeanColumn(np.arange(5000), values)], 5000, rounds=1700)
    assert np.isfinite(more.draws).all()
    assert len(np.unique(more.draws)) > 1500
    np.testing.assert_allclose(few.draws[:838], more.draws[:838])


def test_nothing_has_no_means() -> None:
    found = bootstrap_means([MeanColumn(np.arange(0), np.zeros((0, 2)))], 0, rounds=5)
    assert np.isnan(found[0].values).all()
    assert all(math.isnan(one.low) and one.n == 0 for one in mean_estimates(found[0]))


def test_intervals_over_few_questions_are_as_wide_as_students() -> None:
    # 12 values, all rounds: Student's interval of the same values, give or take the skew of the sample.
    values = stats.norm.ppf((np.arange(12) + 0.5) / 12)
    [found] = bootstrap_means([MeanColumn(np.arange(12), values[:, None])], 12, rounds=40_000)
    [estimate] = mean_estimates(found)
    t = stats.t.interval(0.95, 11, loc=values.mean(), scale=stats.sem(values))
    assert estimate.high - estimate.low == pytest.approx(t[1] - t[0], rel=0.02)


def test_few_questions_have_no_interval() -> None:
    # A sign test of five values that agree proves nothing at 95%.
    for n, known in ((1, False), (5, False), (6, True)):
        [found] = bootstrap_means([column(*[[4.0 + place] for place in range(n)])], n, rounds=50)
        [estimate] = mean_estimates(found)
        assert estimate.n == n
        assert math.isnan(estimate.low) is math.isnan(estimate.high) is not known


def test_equal_values_have_no_interval() -> None:
    [found] = bootstrap_means([column(*[[4.0]] * 50)], 50, rounds=10)
    [estimate] = mean_estimates(found)
    assert (estimate.value, math.isnan(estimate.low), math.isnan(estimate.high)) == (4.0, True, True)


def test_no_interval_is_beyond_the_scale() -> None:
    values = np.array([[10.0]] * 7 + [[1.0]])
    [found] = bootstrap_means([MeanColumn(np.arange(8), values)], 8, rounds=2000)
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
    # Two rounds of ten at or below 0: 2 * (2 + 1) / 11 = 0.545, over so many questions that nothing is moved out.
    draws = np.array([[-1.0, 0.0, *range(1, 9)]]).T
    [p] = p_values(MeanDraws(np.array([3.5]), draws, np.array([10**9]), 0))
    assert p == pytest.approx(6 / 11, abs=1e-6)


def test_no_difference_at_all_is_no_difference() -> None:
    [found] = bootstrap_means([column(*[[0.0]] * 30)], 30, rounds=100)
    assert p_values(found).tolist() == [1.0]


def test_few_questions_prove_little() -> None:
    # Five questions on which the same model is better by the same: the sign-flip test says 2 / 2^5.
    [found] = bootstrap_means([column(*[[1.0]] * 5)], 5, rounds=1000)
    assert p_values(found)[0] >= 2 / 2**5
    [found] = bootstrap_means([column([1.0]), column([2.0])][:1], 1, rounds=10)
    assert np.isnan(p_values(found)).all()


def test_p_values_are_finer_than_the_rounds_where_none_crosses_0() -> None:
    generator = np.random.default_rng(0)
    values = generator.normal(0.5, 1, (400, 1))  # ten standard errors
    [found] = bootstrap_means([MeanColumn(np.arange(400), values)], 400, rounds=200)
    [p] = p_values(found)
    assert 0 < p < 1e-12


@checked
@given(seed=st.integers(0, 1000), shift=st.floats(-1, 1))
def test_p_values_do_not_care_for_the_sign(seed: int, shift: float) -> None:
    values = np.random.default_rng(seed).normal(shift, 1, (25, 1))
    one, other = bootstrap_means(
        [MeanColumn(np.arange(25), values), MeanColumn(np.arange(25), -values)], 25, rounds=200
    )
    assert p_values(one) == pytest.approx(p_values(other))


@pytest.mark.parametrize("questions", [8, 20, 200])
def test_p_values_agree_with_intervals_and_with_students_test(questions: int) -> None:
    generator = np.random.default_rng(questions)
    values = generator.normal(0.3, 1, (questions, 300))
    [found] = bootstrap_means([MeanColumn(np.arange(questions), values)], questions, rounds=4000)
    p, intervals = p_values(found), mean_estimates(found)
    leaves_out = np.array([one.low > 0 or one.high < 0 for one in intervals])
    assert (leaves_out == (p < 0.05)).mean() > 0.99
    student = stats.ttest_1samp(values, 0).pvalue
    assert np.median(np.abs(p - student)) < 0.02


@pytest.mark.parametrize("questions", [10, 50])
def test_equal_models_are_told_apart_as_rarely_as_promised(questions: int) -> None:
    generator = np.random.default_rng(questions)
    values = np.round(generator.normal(0, 1.5, (questions, 3000)))
    [found] = bootstrap_means([MeanColumn(np.arange(questions), values)], questions, rounds=1000)
    assert 0.03 < (p_values(found) < 0.05).mean() < 0.07


def draws_of(values: list[list[float]], rounds: int = 400) -> MeanDraws:
    table = np.array(values, dtype=float)
    [found] = bootstrap_means([MeanColumn(np.arange(len(table)), table)], len(table), rounds=rounds)
    return found


def test_sums_are_taken_round_by_round() -> None:
    # Means 2 and 5; half of each is 3.5, the difference -3.
    found = contrast(draws_of([[1, 4], [3, 6]]), [[0.5, 1], [0.5, -1]])
    assert found.values.tolist() == [3.5, -3]
    assert found.n.tolist() == [2, 2]
    # The columns differ by 3 on every case, hence in every round.
    assert np.allclose(found.draws[:, 1], -3)


def test_a_mean_without_weight_takes_no_part() -> None:
    found = contrast(draws_of([[1, math.nan], [3, math.nan]]), [[1, 1, 0], [0, 1, 0]])
    assert found.values[0] == 2 and found.n[0] == 2
    assert math.isnan(found.values[1])
    assert math.isnan(found.values[2]) and np.isnan(found.draws[:, 2]).all() and found.n[2] == 0


def test_the_smallest_number_of_questions_counts() -> None:
    found = contrast(draws_of([[1, 2], [3, math.nan], [5, 4]]), [[1], [-1]])
    assert found.n.tolist() == [2]


def test_a_difference_is_the_bootstrap_of_differences() -> None:
    """Against a slow obvious way: the column of differences itself."""
    values = np.random.default_rng(1).normal(size=(40, 2))
    [direct] = bootstrap_means([MeanColumn(np.arange(40), values[:, :1] - values[:, 1:])], 40, rounds=300)
    [slow] = mean_estimates(direct)
    [quick] = mean_estimates(contrast(draws_of(values.tolist(), 300), [[1], [-1]]))
    assert (quick.value, quick.low, quick.high) == pytest.approx((slow.value, slow.low, slow.high))


def margin(categories: list[int], *shares: float) -> Margin:
    return Margin(np.array(categories), np.array(shares))


def weights(questions: int, *margins: Margin) -> Floats:
    found: Floats = raking(margins)(np.ones((1, questions)))[0]
    return found


def test_one_margin_by_hand() -> None:
    # Three questions of kind 0 share 0.6, one of kind 1 has 0.4.
    assert weights(4, margin([0, 0, 0, 1], 0.6, 0.4)) == pytest.approx([0.2, 0.2, 0.2, 0.4])


def test_two_margins_by_hand() -> None:
    # One question in each of four cells, margins 0.5/0.5 and 0.8/0.2: independence gives 0.4, 0.1, 0.4, 0.1.
    found = weights(4, margin([0, 0, 1, 1], 0.5, 0.5), margin([0, 1, 0, 1], 0.8, 0.2))
    assert found == pytest.approx([0.4, 0.1, 0.4, 0.1])


def test_what_has_no_category_has_no_weight() -> None:
    assert weights(3, margin([0, -1, 1], 0.5, 0.5)).tolist() == [0.5, 0, 0.5]
    assert weights(3, margin([0, 1, 2], 1.0, 0.0, 0.0)).tolist() == [1, 0, 0]


@checked
@given(seed=st.integers(0, 10_000))
def test_shares_are_met_and_the_association_of_the_data_is_kept(seed: int) -> None:
    generator = np.random.default_rng(seed)
    intents, languages = np.repeat([0, 0, 1, 1, 2, 2], 1), np.tile([0, 1], 3)
    sizes = generator.integers(1, 6, 6)
    wanted = generator.dirichlet(np.ones(3)), generator.dirichlet(np.ones(2))
    first, second = np.repeat(intents, sizes), np.repeat(languages, sizes)
    found = raking([Margin(first, wanted[0]), Margin(second, wanted[1])])(np.ones((1, len(first))))[0]
    assert np.bincount(first, found, 3) == pytest.approx(wanted[0], abs=1e-6)
    assert np.bincount(second, found, 2) == pytest.approx(wanted[1], abs=1e-6)
    # Raking leaves odds ratios as they were.
    cells = np.array([[found[(first == i) & (second == j)].sum() for j in range(2)] for i in range(3)])
    counts = sizes.reshape(3, 2)
    for i in range(2):
        ratio = cells[i, 0] * cells[i + 1, 1] / (cells[i, 1] * cells[i + 1, 0])
        expected = counts[i, 0] * counts[i + 1, 1] / (counts[i, 1] * counts[i + 1, 0])
        assert ratio == pytest.approx(expected, rel=1e-3)


@checked
@given(seed=st.integers(0, 10_000))
def test_it_agrees_with_plain_loops(seed: int) -> None:
    generator = np.random.default_rng(seed)
    first, second = generator.integers(0, 3, 40), generator.integers(0, 2, 40)
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
    assert np.isnan(found[1:]).any(axis=1).all()


def test_shares_that_contradict_each_other_are_not_defined() -> None:
    # Kind 0 occurs in language 0 alone; it cannot have more weight than that language.
    assert np.isnan(weights(3, margin([0, 1, 1], 0.9, 0.1), margin([0, 0, 1], 0.2, 0.8))).any()


def test_effective_number_by_hand() -> None:
    # (3 + 1)^2 / (9 + 1)
    assert effective_number(np.array([3.0, 1.0])) == pytest.approx(1.6)
    assert effective_number(np.full(7, 0.2)) == pytest.approx(7)
    assert effective_number(np.zeros(3)) == 0


def test_intervals_under_given_shares_cover_the_truth() -> None:
    # Two kinds of means 4 and 8, drawn in equal numbers, weighted 0.8 to 0.2: the truth is 4.8. Were the shares not
    # given anew in every round, the interval would hold the chance of how many of each kind were drawn as well.
    generator = np.random.default_rng(0)
    wanted, covered, widths = np.array([0.8, 0.2]), 0, []
    for _ in range(300):
        kinds = generator.integers(0, 2, 60)
        values = generator.normal(np.where(kinds == 0, 4.0, 8.0), 1)[:, None]
        [found] = bootstrap_means(
            [MeanColumn(np.arange(60), values)], 60, reweight=raking([Margin(kinds, wanted)]), rounds=400
        )
        [one] = mean_estimates(found)
        covered += one.low <= 4.8 <= one.high
        widths.append(one.high - one.low)
    assert 0.915 < covered / 300 < 0.985
    # 1.96 * 2 * sqrt(0.8^2 / 30 + 0.2^2 / 30)
    assert np.mean(widths) == pytest.approx(0.59, rel=0.1)
