"""Tests of `urs_inspect.stats._crossval`."""

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest

from urs_inspect.stats._crossval import bias_of_means, order_of, rating_bias, self_preference

NAN = math.nan


def test_worked_out_by_hand() -> None:
    # Means 4, 6, 5 over the two cases on which all three have a score; the last case does not
    # count.
    found = order_of([[3.0, 7.0, 5.0], [5.0, 5.0, 5.0], [10.0, NAN, 1.0]])
    assert found.models == (1, 2, 0)
    assert (found.means, found.cases) == ((6, 5, 4), 2)
    assert [(gap.first, gap.second, gap.difference.value) for gap in found.gaps] == [
        (0, 1, 1),
        (0, 2, 2),
        (1, 2, 1),
    ]
    # Of the four ways to draw two cases one is the second case twice, where all are even, and one
    # the first twice. All keep the order, since equal means do not turn it.
    assert found.share == 1


def test_equal_means_come_in_the_order_of_the_columns() -> None:
    assert order_of([[5, 5], [5, 5]]).models == (0, 1)
    one = order_of([[5], [6]])
    assert (one.models, one.gaps, one.share) == ((0,), (), 1)


def test_without_cases_there_is_no_order() -> None:
    found = order_of([[NAN, 1], [2, NAN]])
    assert found.models == (0, 1) and found.cases == 0
    assert all(math.isnan(value) for value in (*found.means, found.share, found.gaps[0].p))
    assert order_of(np.empty((0, 2))).cases == 0


def test_orders_against_a_slow_bootstrap() -> None:
    scores = np.random.default_rng(2).normal([5, 5.3, 5.2], 1.0, (50, 3))
    found = order_of(scores, rounds=4000)
    drawn = np.random.default_rng(0).integers(50, size=(4000, 50))
    kept = np.argsort(-scores[drawn].mean(axis=1), axis=1) == found.models
    assert found.share == pytest.approx(kept.all(axis=1).mean(), abs=0.03)
    for permutation in itertools.permutations(range(3)):
        turned = order_of(scores[:, permutation], rounds=2).models
        assert tuple(permutation[place] for place in turned) == found.models


def test_rating_bias_worked_out_by_hand() -> None:
    # Ratings of B1: 8 9 7, mean 8; of B2: 10 9 11 would be out of scale, so 10 9 8, mean 9. ((8 -
    # 8) + (9 - 8)) / 2.
    found = rating_bias([[8, 10], [9, 9], [7, 8]])
    assert found.bias.value == pytest.approx(0.5)
    assert [one.value for one in found.by_model] == [0, 1]
    assert bias_of_means([8, 9]) == 0.5
    # The literal brackets of the printed formula would give (8 + 9 - 8) / 2 = 4.5.
    assert found.bias.value != 4.5


@pytest.mark.parametrize(
    ("ratings", "bias"),
    [
        # Models weigh the same however many ratings they have; 0.4 would be the mean over all five.
        pytest.param([[8.0, 10.0], [8.0, NAN], [8.0, NAN], [8.0, NAN]], 1, id="few ratings"),
        pytest.param([[9, NAN], [9, NAN]], 1, id="a model without ratings"),
        pytest.param([[NAN], [NAN]], NAN, id="no ratings"),
        pytest.param(np.empty((0, 2)), NAN, id="no cases"),
        pytest.param(np.empty((3, 0)), NAN, id="no models"),
    ],
)
def test_models_weigh_the_same_however_many_ratings_they_have(
    ratings: npt.ArrayLike, bias: float
) -> None:
    found = rating_bias(ratings, rounds=20)
    assert found.bias.value == pytest.approx(bias, nan_ok=True)
    assert math.isnan(bias) or np.nanmean([one.value for one in found.by_model]) == bias
    assert math.isnan(bias_of_means([]))


def test_rating_bias_against_a_slow_bootstrap() -> None:
    """Cases are drawn as wholes: both models of a case go together."""
    generator = np.random.default_rng(3)
    ratings = np.clip(
        np.round(generator.normal(7.5, 1.5, (60, 1)) + generator.normal(0, 1, (60, 3))), 1, 10
    )
    found = rating_bias(ratings, rounds=4000)
    means = ratings[generator.integers(60, size=(4000, 60))].mean(axis=(1, 2)) - 8
    assert (found.bias.low, found.bias.high) == pytest.approx(
        tuple(np.percentile(means, [2.5, 97.5])), abs=0.04
    )


def test_a_shift_of_the_score_of_the_reference_shifts_the_bias() -> None:
    ratings = np.random.default_rng(5).integers(1, 9, (30, 2)).astype(float)
    one, other = rating_bias(ratings).bias, rating_bias(ratings, 6).bias
    assert (other.value, other.low, other.high) == pytest.approx(
        (one.value + 2, one.low + 2, one.high + 2)
    )


def grid(*cases: list[list[float]]) -> np.ndarray:
    """Cases of one setting: a list of judges, each a list of ratings by model."""
    return np.array(cases, dtype=float)[:, None]


def test_self_preference_worked_out_by_hand() -> None:
    # Judges A and C, answers by A and B; C answers nothing here. A gives its own 9 and 8, C gives
    # them 7 and 7: 2 and 1, mean 1.5. Of B's answers A says 6 and 5, C says 5 and 5: leniency 0.5.
    # What is left is 1.
    scores = grid([[9, 6], [7, 5]], [[8, 5], [7, 5]])
    found = self_preference(scores, 0, 0, [0, None])
    assert (found.preference.value, found.leniency.value, found.beyond.value) == (1.5, 0.5, 1)
    assert (found.own_mean, found.others_mean) == (8.5, 7)
    assert found.preference.n == 2


def test_a_model_does_not_say_how_mild_another_is_to_it() -> None:
    # A and B judge A and B, each adds 2 to its own. With B's rating of itself A would look strict
    # to B.
    scores = grid([[9, 7], [7, 9]], [[8, 6], [6, 8]])
    found = self_preference(scores, 0, 0, [0, 1])
    assert found.preference.value == 2
    assert (
        math.isnan(found.leniency.value)
        and math.isnan(found.beyond.value)
        and math.isnan(found.p_beyond)
    )
    # With a third judge there is one that may say.
    scores = grid([[9, 7], [7, 9], [7, 7]], [[8, 6], [6, 8], [6, 6]])
    found = self_preference(scores, 0, 0, [0, 1, None])
    assert (found.preference.value, found.leniency.value, found.beyond.value) == (2, 0, 2)


def test_judges_are_compared_over_the_cases_that_both_have_rated() -> None:
    scores = grid([[9], [7]], [[1], [NAN]], [[NAN], [10]])
    found = self_preference(scores, 0, 0, [0, None])
    assert (found.preference.value, found.preference.n, found.own_mean, found.others_mean) == (
        2,
        1,
        9,
        7,
    )
    assert math.isnan(found.preference.low) and math.isnan(found.p)
    # Against the second judge 2 on one case, against the third 4 and 0: 2 and 2.
    scores = grid([[9], [7], [5]], [[5], [NAN], [5]])
    assert self_preference(scores, 0, 0, [0, None, None]).preference.value == 2
    alone = self_preference(grid([[9, 5]], [[8, 5]]), 0, 0, [0])
    assert np.isnan([one.value for one in (alone.preference, alone.leniency, alone.beyond)]).all()


def test_what_goes_beyond_leniency_is_over_judges_for_whom_both_are_known() -> None:
    # Judge C says 7 and 5 where A says 9 and 6; judge D rates the other model alone, and says 2.
    found = self_preference(grid([[9, 6], [7, 5], [NAN, 2]]), 0, 0, [0, None, None])
    assert (found.preference.value, found.leniency.value, found.beyond.value) == (2, 2.5, 1)


def test_settings_weigh_the_same() -> None:
    # Three cases in the first setting with a difference of 1, one in the second with 3.
    scores = np.full((3, 2, 2, 1), NAN)
    scores[:, 0] = [[8], [7]]
    scores[0, 1] = [[8], [5]]
    assert self_preference(scores, 0, 0, [0, None]).preference.value == 2


def test_a_partial_and_a_mild_judge_are_told_apart() -> None:
    """Judges: fair, mild by 1 to everybody, partial by 1 to itself.

    Answers of all three and of a fourth model.
    """
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


def test_self_preference_against_a_slow_way() -> None:
    generator = np.random.default_rng(8)
    scores = generator.integers(1, 11, (25, 2, 3, 4)).astype(float)
    scores[generator.random(scores.shape) < 0.1] = NAN
    judges = [0, 2, None]
    found = self_preference(scores, 1, 2, judges)
    parts = []
    for setting, other in itertools.product(range(2), (0, 2)):
        means = np.nanmean(scores[:, setting, 1] - scores[:, setting, other], axis=0)
        parts.append(
            (means[2], np.mean([means[model] for model in (0, 1, 3) if model != judges[other]]))
        )
    preference, leniency = np.mean(parts, axis=0)
    values = (found.preference.value, found.leniency.value, found.beyond.value)
    assert values == pytest.approx((preference, leniency, preference - leniency))
