"""Tests of `urs_inspect.stats.crossval`."""

import itertools
import math

import numpy as np
import pytest

from urs_inspect.stats.crossval import bias_of_means, order_of, rating_bias, self_preference

NAN = math.nan


def test_worked_out_by_hand() -> None:
    # Means 4, 6, 5 over the two cases on which all three have a score; the last case does not count.
    found = order_of([[3.0, 7.0, 5.0], [5.0, 5.0, 5.0], [10.0, NAN, 1.0]])
    assert found.places == (1, 2, 0)
    assert (found.means, found.cases) == ((6, 5, 4), 2)
    assert [(gap.first, gap.second, gap.difference.value) for gap in found.gaps] == [(1, 2, 1), (1, 0, 2), (2, 0, 1)]
    # Of the four ways to draw two cases one is the second case twice, where all are even, and one the first twice. All
    # keep the order, since equal means do not turn it.
    assert found.share == 1


def test_the_share_is_that_of_rounds_with_the_same_order() -> None:
    # Differences 3 and -1: the order turns where only the second case is drawn, in a quarter of the rounds.
    found = order_of([[5, 2], [4, 5]], rounds=4000)
    assert found.places == (0, 1)
    assert found.share == pytest.approx(0.75, abs=0.03)


def test_equal_means_come_in_the_order_of_the_columns() -> None:
    assert order_of([[5, 5], [5, 5]]).places == (0, 1)


def test_without_cases_there_is_no_order() -> None:
    found = order_of([[NAN, 1], [2, NAN]])
    assert found.places == (0, 1) and found.cases == 0
    assert all(math.isnan(value) for value in (*found.means, found.share, found.gaps[0].p))
    assert order_of(np.empty((0, 2))).cases == 0


def test_one_model_is_in_order() -> None:
    found = order_of([[5], [6]])
    assert (found.places, found.gaps, found.share) == ((0,), (), 1)


def test_against_a_slow_bootstrap() -> None:
    generator = np.random.default_rng(2)
    scores = generator.normal([5, 5.3, 5.2], 1.0, (50, 3))
    found = order_of(scores, rounds=4000)
    kept = 0
    for _ in range(4000):
        means = scores[generator.integers(50, size=50)].mean(axis=0)
        kept += tuple(np.argsort(-means)) == found.places
    assert found.share == pytest.approx(kept / 4000, abs=0.03)


def test_relabelled_models_come_in_the_relabelled_order() -> None:
    scores = np.random.default_rng(3).normal(5, 1, (40, 3))
    plain = order_of(scores).places
    for permutation in itertools.permutations(range(3)):
        turned = order_of(scores[:, permutation]).places
        assert tuple(permutation[place] for place in turned) == plain


def test_rating_bias_worked_out_by_hand() -> None:
    # Ratings of B1: 8 9 7, mean 8; of B2: 10 9 11 would be out of scale, so 10 9 8, mean 9. ((8 - 8) + (9 - 8)) / 2.
    found = rating_bias([[8, 10], [9, 9], [7, 8]])
    assert found.bias.value == pytest.approx(0.5)
    assert [one.value for one in found.by_model] == [0, 1]
    assert bias_of_means([8, 9]) == 0.5
    # The literal brackets of the printed formula would give (8 + 9 - 8) / 2 = 4.5.
    assert found.bias.value != 4.5


def test_models_weigh_the_same_however_many_ratings_they_have() -> None:
    found = rating_bias([[8.0, 10.0], [8.0, NAN], [8.0, NAN], [8.0, NAN]])
    assert found.bias.value == 1  # not 0.4, the mean over all five ratings


def test_a_model_without_ratings_is_left_out() -> None:
    found = rating_bias([[9, NAN], [9, NAN]])
    assert found.bias.value == 1
    assert math.isnan(found.by_model[1].value)
    assert math.isnan(rating_bias([[NAN], [NAN]]).bias.value)
    assert math.isnan(rating_bias(np.empty((0, 2))).bias.value)
    assert math.isnan(rating_bias(np.empty((3, 0))).bias.value)
    assert math.isnan(bias_of_means([]))


def test_the_score_of_a_reference_may_be_another() -> None:
    assert rating_bias([[5], [7]], 5).bias.value == 1


def test_rating_bias_against_a_slow_bootstrap() -> None:
    """Cases are drawn as wholes: both models of a case go together."""
    generator = np.random.default_rng(3)
    ratings = np.clip(np.round(generator.normal(7.5, 1.5, (60, 1)) + generator.normal(0, 1, (60, 3))), 1, 10)
    found = rating_bias(ratings, rounds=4000)
    means = [ratings[generator.integers(60, size=60)].mean(axis=0).mean() - 8 for _ in range(4000)]
    low, high = np.percentile(means, [2.5, 97.5])
    assert (found.bias.low, found.bias.high) == pytest.approx((low, high), abs=0.04)


def test_a_shift_of_all_ratings_shifts_the_bias() -> None:
    ratings = np.random.default_rng(5).integers(1, 9, (30, 2)).astype(float)
    one, other = rating_bias(ratings), rating_bias(ratings + 2)
    for name in ("value", "low", "high"):
        assert getattr(other.bias, name) - getattr(one.bias, name) == pytest.approx(2)


def grid(*cases: list[list[float]]) -> np.ndarray:
    """Cases of one setting: a list of judges, each a list of ratings by model."""
    return np.array(cases, dtype=float)[:, None]


def test_self_preference_worked_out_by_hand() -> None:
    # Judges A and C, answers by A and B; C answers nothing here. A gives its own 9 and 8, C gives them 7 and 7:
    # 2 and 1, mean 1.5. Of B's answers A says 6 and 5, C says 5 and 5: leniency 0.5. What is left is 1.
    scores = grid([[9, 6], [7, 5]], [[8, 5], [7, 5]])
    found = self_preference(scores, 0, 0, [0, None])
    assert (found.preference.value, found.leniency.value, found.beyond.value) == (1.5, 0.5, 1)
    assert (found.own, found.others) == (8.5, 7)
    assert found.preference.n == 2


def test_the_others_are_averaged() -> None:
    scores = grid([[9], [6], [8]], [[9], [7], [7]])
    assert self_preference(scores, 0, 0, [0, None, None]).preference.value == 2


def test_a_model_does_not_say_how_mild_another_is_to_it() -> None:
    # A and B judge A and B, each adds 2 to its own. With B's rating of itself A would look strict to B.
    scores = grid([[9, 7], [7, 9]], [[8, 6], [6, 8]])
    found = self_preference(scores, 0, 0, [0, 1])
    assert found.preference.value == 2
    assert math.isnan(found.leniency.value) and math.isnan(found.beyond.value) and math.isnan(found.p_beyond)
    # With a third judge there is one that may say.
    scores = grid([[9, 7], [7, 9], [7, 7]], [[8, 6], [6, 8], [6, 6]])
    found = self_preference(scores, 0, 0, [0, 1, None])
    assert (found.preference.value, found.leniency.value, found.beyond.value) == (2, 0, 2)


def test_judges_are_compared_over_the_cases_that_both_have_rated() -> None:
    scores = grid([[9], [7]], [[1], [NAN]], [[NAN], [10]])
    found = self_preference(scores, 0, 0, [0, None])
    assert (found.preference.value, found.preference.n, found.own, found.others) == (2, 1, 9, 7)
    assert math.isnan(found.preference.low) and math.isnan(found.p)
    # Against the second judge 2 on one case, against the third 4 and 0: 2 and 2.
    scores = grid([[9], [7], [5]], [[5], [NAN], [5]])
    assert self_preference(scores, 0, 0, [0, None, None]).preference.value == 2


def test_a_single_judge_has_nobody_to_compare_with() -> None:
    found = self_preference(grid([[9, 5]], [[8, 5]]), 0, 0, [0])
    assert all(math.isnan(one.value) for one in (found.preference, found.leniency, found.beyond))


def test_settings_weigh_the_same() -> None:
    # Three cases in the first setting with a difference of 1, one in the second with 3.
    scores = np.full((3, 2, 2, 1), NAN)
    scores[:, 0] = [[8], [7]]
    scores[0, 1] = [[8], [5]]
    assert self_preference(scores, 0, 0, [0, None]).preference.value == 2


def test_a_partial_and_a_mild_judge_are_told_apart() -> None:
    """Judges: fair, mild by 1 to everybody, partial by 1 to itself; answers of all three and of a fourth model."""
    generator = np.random.default_rng(7)
    true = generator.normal(6, 1, (400, 1, 1, 4))
    scores = true + generator.normal(0, 0.5, (400, 2, 3, 4))
    scores[:, :, 1] += 1
    scores[:, :, 2, 2] += 1
    fair, mild, partial = (self_preference(scores, judge, judge, [0, 1, 2]) for judge in range(3))
    for found, left in ((fair, 0), (mild, 0), (partial, 1)):
        # Leniency is relative to the others, who are mild themselves now and then; beyond is not.
        assert found.beyond.low < left < found.beyond.high
    assert mild.preference.low > 0 and mild.leniency.low > 0
    assert partial.p_beyond < 0.01


def test_against_a_slow_way() -> None:
    generator = np.random.default_rng(8)
    scores = generator.integers(1, 11, (25, 2, 3, 4)).astype(float)
    scores[generator.random(scores.shape) < 0.1] = NAN
    judges = [0, 2, None]
    found = self_preference(scores, 1, 2, judges)
    preferences, leniencies = [], []
    for setting, other in itertools.product(range(2), (0, 2)):
        means = {}
        for model in range(4):
            pairs = [(scores[case, setting, 1, model], scores[case, setting, other, model]) for case in range(25)]
            differences = [mine - theirs for mine, theirs in pairs if not math.isnan(mine - theirs)]
            means[model] = sum(differences) / len(differences)
        preferences.append(means[2])
        lenient = [means[model] for model in (0, 1, 3) if model != judges[other]]
        leniencies.append(sum(lenient) / len(lenient))
    preference, leniency = sum(preferences) / 4, sum(leniencies) / 4
    assert found.preference.value == pytest.approx(preference)
    assert found.leniency.value == pytest.approx(leniency)
    assert found.beyond.value == pytest.approx(preference - leniency)


def test_judges_of_different_mildness_do_not_look_like_self_preference() -> None:
    """A and C judge alike, B is milder by 2; answers by A, B and another model. Nobody favours itself."""
    true = np.random.default_rng(10).normal(6, 1, (50, 1, 1, 3))
    scores = np.repeat(true, 3, axis=2)
    scores[:, :, 1] += 2
    found = self_preference(scores, 0, 0, [0, 1, None])
    assert found.preference.value == pytest.approx(-1)
    assert found.beyond.value == pytest.approx(0)
