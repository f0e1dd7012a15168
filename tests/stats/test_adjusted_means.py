"""Adjusted means: by hand, against slow computations, against recorded values of other packages,
and properties.
"""

from dataclasses import replace
from typing import Any

import hypothesis
import numpy as np
import pytest
from benchmarks.ppi_coverage import draw_raters
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from scipy.stats import binom

from urs_inspect.stats._adjusted_means import (
    ByRater,
    LengthControl,
    PoweredMeans,
    RatedScores,
    _least_squares,
    control_length,
    length_column,
    powered_means,
    rater_effects,
    ratings_by_same_raters,
)
from urs_inspect.stats._bootstrap import Floats
from urs_inspect.stats._means import (
    MeanDraws,
    bootstrap_means,
    bootstrap_table,
    contrast,
    mean_estimates,
    p_values,
)
from urs_inspect.stats._paired import all_pairs, holm

NAN = np.nan


def rated(judge: Floats, people: Floats, weights: Floats | None = None) -> RatedScores:
    return RatedScores(
        judge,
        people,
        np.where(np.isnan(people), NAN, judge),
        np.ones_like(judge) if weights is None else weights,
    )


def estimate(
    scores: RatedScores,
    coefficients: tuple[float, float] | None = None,
    rounds: int = 400,
    **how: Any,
) -> PoweredMeans:
    chosen = {"all": np.arange(len(scores.judge))}
    return powered_means(scores, chosen, coefficients=coefficients, rounds=rounds, **how)[0]["all"]


def study(
    generator: np.random.Generator, questions: int = 60, models: int = 3, share: float = 0.4
) -> tuple[RatedScores, Floats]:
    """People who rate some answers, a judge that is partial to the later models, and all ratings
    they would give.
    """
    level = generator.normal(6, 1, (questions, 1)) + generator.normal(0, 1, (questions, models))
    people = np.clip(np.rint(level + generator.normal(0, 0.7, level.shape)), 1, 10)
    judge = np.clip(
        np.rint(level + generator.normal(0, 0.7, level.shape) + np.arange(models)), 1, 10
    )
    given = np.where(generator.random(level.shape) < share, people, NAN)
    return rated(judge, given), people


def test_by_hand() -> None:
    # Judge 6 on average over all, 5 over the rated; people 4 on average.
    judge = np.array([[4.0], [6.0], [7.0], [7.0]])
    people = np.array([[3.0], [5.0], [NAN], [NAN]])
    assert estimate(rated(judge, people), (1.0, 0.0)).corrected.values == pytest.approx(
        [4 + 1 * (6 - 5)]
    )
    assert estimate(rated(judge, people), (0.5, 0.0)).corrected.values == pytest.approx(
        [4 + 0.5 * (6 - 5)]
    )
    # The rated answers stand for 3 and 1 others: people (9 + 5) / 4, judge (12 + 6) / 4 over the
    # rated.
    weighted = rated(judge, people, np.array([[3.0], [1.0], [1.0], [1.0]]))
    found = estimate(weighted, (1.0, 0.0))
    assert found.people.values == pytest.approx([3.5])
    assert found.corrected.values == pytest.approx([3.5 + 6 - 4.5])
    assert found.corrected.n.tolist() == [1]  # 16 / 10 ratings of equal weight
    # Two models: the part that they share, 5 and 7, and the rest.
    two = np.array([[4.0, 6.0], [6.0, 8.0]])
    given = np.array([[3.0, NAN], [NAN, 9.0]])
    found = estimate(rated(two, given), (1.0, 0.0))
    assert found.corrected.values == pytest.approx([3 + (6 - 5), 9 + (6 - 7)])


def test_coefficients_and_means_are_those_of_a_slow_computation() -> None:
    """Least squares with bounds and an intercept per model, again without each question."""
    scores, _ = study(np.random.default_rng(1), questions=24)
    scores.weights[:] = np.random.default_rng(2).uniform(0.5, 3, scores.weights.shape)
    common = scores.judge.mean(axis=1)
    own = scores.judge - common[:, None]
    question, model = np.nonzero(~np.isnan(scores.people))
    weights, people = scores.weights[question, model], scores.people[question, model]

    def fit(left_out: int) -> Floats:
        kept = question != left_out
        intercepts = (weights[:, None] * np.eye(3)[model])[kept]
        parts = np.column_stack([common[question], own[question, model], people])
        table = (weights[:, None] * parts)[kept]
        within = table - intercepts @ np.linalg.lstsq(intercepts, table, rcond=None)[0]
        most = np.sqrt((within[:, 2] ** 2).sum() / (within[:, :2] ** 2).sum(axis=0))
        bounds = ([0, 0, *[-np.inf] * 3], [*most, *[np.inf] * 3])
        return np.asarray(
            lsq_linear(np.hstack([table[:, :2], intercepts]), table[:, 2], bounds).x[:2]
        )

    found, coefficients = powered_means(scores, {"all": np.arange(24)}, rounds=10)
    assert coefficients == pytest.approx(fit(-1), abs=1e-5)
    centred = np.stack(
        [(common - common.mean())[question], (own - own.mean(axis=0))[question, model]], axis=1
    )
    residuals = people - (centred * [fit(int(each)) for each in question]).sum(axis=1)
    expected = [
        np.average(residuals[model == each], weights=weights[model == each]) for each in range(3)
    ]
    assert found["all"].corrected.values == pytest.approx(expected, abs=1e-4)


# ppi-python 0.2.3 in an environment of its own: `ppi_mean_pointestimate(people, judge[:40],
# judge[40:], lam=lam)` and `ppi_mean_ci(..., alpha=0.05, lam=lam)`, lam None for power tuning;
# ratings are about the first 40 of 200 answers.
PEOPLE = "5766765664775267452335276615554555A37754"  # A is 10
JUDGE = (
    "7866646A749885677664455868356746557479476666A4875A86776887948555757846737697548966778455798758855653"
    "646A656666874777957765736748375774795663967554868666667556A657A5745987486463859668966688866787898868"
)
PPI_PYTHON = {
    None: (5.3134727164887305, 4.858062190204126, 5.768883242773335),
    0.5: (5.30625, 4.850541291735214, 5.761958708264786),
    1.0: (5.4625, 4.936618575847834, 5.988381424152167),
    0.0: (5.15, 4.606352836835183, 5.693647163164818),
}


def oracle_scores() -> RatedScores:
    judge = np.array([[float(int(digit, 16))] for digit in JUDGE])
    people = np.full_like(judge, NAN)
    people[: len(PEOPLE), 0] = [int(digit, 16) for digit in PEOPLE]
    return rated(judge, people)


@pytest.mark.parametrize("given", PPI_PYTHON)
def test_means_and_intervals_are_those_of_ppi_python(given: float | None) -> None:
    """Tuned, it divides by the variance of all scores, ours by that of the rated ones and without
    the question.
    """
    # Its lambda is for a mean over the 160 unrated answers, ours for one over all 200.
    found = estimate(
        oracle_scores(), None if given is None else (given * 200 / 160, 0.0), rounds=4000
    )
    value, low, high = PPI_PYTHON[given]
    assert found.corrected.values == pytest.approx(
        [value], abs=0.1 * (high - low) if given is None else 1e-6
    )
    [[made], [alone]] = (mean_estimates(part) for part in (found.corrected, found.people))
    assert made.high - made.low == pytest.approx(high - low, rel=0.1)
    assert given is not None or made.high - made.low < 0.95 * (alone.high - alone.low)


def test_neither_bias_nor_scale_of_the_judge_moves_a_mean() -> None:
    """A judge that uses a third of the scale is worth as much as one that uses all."""
    scores, _ = study(np.random.default_rng(4))
    before = estimate(scores)
    for judge in (scores.judge + np.array([2.0, -1.0, 0.5]), 4 + scores.judge / 3):
        found = estimate(rated(judge, scores.people)).corrected
        np.testing.assert_allclose(found.draws, before.corrected.draws, atol=1e-6)
    # A reversed one, or one that gives every answer the same score, adds nothing.
    for judge in (-scores.judge, np.full_like(scores.judge, 7.3)):
        means = estimate(rated(judge, scores.people)).corrected
        np.testing.assert_allclose(means.values, before.people.values)
        spread = means.draws.std(axis=0) / before.people.draws.std(axis=0)
        assert (spread > 0.99).all() and (spread < 1.1).all()
    assert np.abs(estimate(rated(judge, scores.people)).predicted.draws).max() < 1e-9


def test_with_all_answers_rated_the_mean_is_that_of_the_ratings() -> None:
    scores, people = study(np.random.default_rng(5), share=1)
    np.testing.assert_allclose(
        estimate(scores, (0.7, 0.4)).corrected.draws, estimate(scores).people.draws, atol=1e-9
    )
    np.testing.assert_allclose(estimate(scores).people.values, people.mean(axis=0))


@pytest.mark.parametrize("models", [1, 4])
def test_labels_that_are_all_equal_give_a_bounded_interval(models: int) -> None:
    """Twenty of twenty right, of judge and people alike, do not show that all 200 are."""
    judge = np.ones((200, models))
    people = np.full_like(judge, NAN)
    people[:20] = 1.0
    for mean in mean_estimates(estimate(rated(judge, people), width=1.0).corrected, scale=(0, 1)):
        assert mean.value == 1.0
        assert 0.8 < mean.low < 0.9
        assert mean.high == 1.0
    # Errors of the judge about another model widen the interval of the one without any.
    wrong = np.column_stack([judge, np.where(np.arange(200) % 10 == 0, 0.0, 1.0)])
    both = np.column_stack([people, people[:, :1]])
    mean = mean_estimates(estimate(rated(wrong, both)).corrected, scale=(0, 1))[0]
    assert mean.value == 1.0
    assert 0.8 < mean.low < 0.98


def test_a_strong_judge_whose_errors_are_rare_makes_no_more_false_claims_than_nominal() -> None:
    """Right in 95 of 100 answers: of 20 rated ones, a third of the studies see no error."""
    generator = np.random.default_rng(11)
    held = []
    for seed in range(300):
        truth = (generator.random((400, 3)) < np.array([0.6, 0.7, 0.8])).astype(float)
        judge = np.where(generator.random(truth.shape) < 0.05, 1.0, truth)
        people = np.full_like(truth, NAN)
        people[:20] = truth[:20]
        found = estimate(rated(judge, people), seed=seed)
        for mean, known in zip(mean_estimates(found.corrected), (0.6, 0.7, 0.8), strict=True):
            held.append(mean.low <= known <= mean.high)
    assert np.mean(held) > 0.94


def test_only_ratios_of_weights_count_and_shares_weigh_questions() -> None:
    scores, _ = study(np.random.default_rng(6))
    weights = np.random.default_rng(7).uniform(1, 5, scores.judge.shape)
    one, ten = (
        estimate(rated(scores.judge, scores.people, factor * weights)).corrected
        for factor in (1, 10)
    )
    np.testing.assert_allclose(one.draws, ten.draws)
    assert (one.n < np.count_nonzero(~np.isnan(scores.people), axis=0)).all()
    shares = np.where(np.arange(len(scores.judge)) < 30, 1.0, 0.0)
    kept = shares > 0
    half = rated(scores.judge[kept], scores.people[kept])
    found = estimate(scores, reweight=lambda counts: counts * shares, rounds=10)
    np.testing.assert_allclose(found.corrected.values, estimate(half).corrected.values)


def test_a_difference_is_not_wider_where_the_judge_only_knows_the_question() -> None:
    """One coefficient for both would bring the judge's noise about models into their difference."""
    generator = np.random.default_rng(8)
    question = generator.normal(0, 2, (400, 1))
    people, judge = (6 + question + generator.normal(0, 1, (400, 2)) for _ in range(2))
    scores = rated(judge, np.where(np.arange(400)[:, None] < 60, people, NAN))
    less = np.array([[1.0], [-1.0]])

    def widths(found: PoweredMeans) -> list[float]:
        parts = (
            found.corrected,
            contrast(found.corrected, less),
            found.people,
            contrast(found.people, less),
        )
        return [part.high - part.low for draws in parts for part in mean_estimates(draws)[:1]]

    mean, difference, mean_alone, difference_alone = widths(estimate(scores))
    assert mean < 0.7 * mean_alone
    assert difference < 1.05 * difference_alone
    assert widths(estimate(scores, (0.8, 0.8)))[1] > 1.2 * difference_alone


def test_many_studies_hit_the_truth_that_the_judge_misses() -> None:
    generator = np.random.default_rng(9)
    errors, judged, alone = [], [], []
    for _ in range(100):
        scores, people = study(generator, questions=100, share=0.2)
        found = estimate(scores, rounds=1)
        errors.append(found.corrected.values - people.mean(axis=0))
        alone.append(found.people.values - people.mean(axis=0))
        judged.append(scores.judge.mean(axis=0) - people.mean(axis=0))
    noise = np.std(errors, axis=0) / np.sqrt(len(errors))
    assert (np.abs(np.mean(errors, axis=0)) < 4 * noise).all()
    assert np.mean(judged, axis=0)[2] > 1
    assert np.var(errors) < 0.7 * np.var(alone)


# --- lenient and strict raters ---


def most_significant(scores: RatedScores) -> float:
    """The smallest corrected p-value of a difference between two models."""
    means = estimate(scores, rounds=200).corrected
    first, second = np.array(all_pairs(len(means.values))).T
    own = np.eye(len(means.values))
    return min(holm(p_values(contrast(means, own[:, first] - own[:, second])).tolist()))


@pytest.mark.parametrize("kind", ["random answers", "mostly one model each", "a chain"])
def test_lenient_raters_make_no_more_false_claims_than_nominal(kind: str) -> None:
    generator = np.random.default_rng(4)
    studies = [draw_raters(kind, generator) for _ in range(80)]
    false = sum(most_significant(scores) < 0.05 for scores in studies)
    assert false <= binom.ppf(0.999, len(studies), 0.05)
    if kind != "random answers":  # there all models have the same raters on average
        blind = sum(most_significant(replace(scores, raters=None)) < 0.05 for scores in studies)
        assert blind > len(studies) / 2


def test_effects_of_raters_by_hand() -> None:
    # The first rater gives 8 and 6, the second 5 and 3: 3 points less for both models.
    parts = np.array([[[8.0, 5.0], [6.0, 3.0]]])
    found = rater_effects(np.ones_like(parts), parts)
    assert found.values == pytest.approx([1.5, -1.5])
    assert found.influence == pytest.approx(np.zeros((1, 2)))
    # Rated by one person each, models and raters cannot be told apart: both get half of the
    # difference.
    alone = parts * np.eye(2)
    assert rater_effects(np.array([np.eye(2)]), alone).values == pytest.approx([1.25, -1.25])


def test_effects_of_raters_move_with_the_questions_as_least_squares_do() -> None:
    scores = draw_raters("random answers", np.random.default_rng(5))
    raters = scores.raters
    assert raters is not None
    found = rater_effects(raters.shares, raters.parts)
    assert found.influence.sum(axis=0) == pytest.approx(np.zeros(6))
    counts = np.ones(100)
    counts[:3] = 1.01, 0.98, 1.02
    moved = rater_effects(
        raters.shares * counts[:, None, None], raters.parts * counts[:, None, None]
    )
    change = moved.values - found.values
    assert change - change.mean() == pytest.approx(
        (counts @ found.influence) - (counts @ found.influence).mean(), abs=2e-4
    )


def test_ratings_by_the_same_raters_by_hand() -> None:
    assert ratings_by_same_raters(np.array([[10.0], [10.0]]))[0, 1] == pytest.approx(10)
    assert ratings_by_same_raters(np.array([[10.0], [40.0]]))[0, 1] == pytest.approx(
        16
    )  # 2 / (1/10 + 1/40)
    assert ratings_by_same_raters(np.array([[10.0, 10.0], [10.0, 10.0]]))[0, 1] == pytest.approx(20)
    assert ratings_by_same_raters(np.diag([50.0, 50.0]))[0, 1] < 0.001
    # Each rater alone tells 2 / (1/50 + 1/1) of the difference, both together the sum.
    assert ratings_by_same_raters(np.array([[50.0, 1.0], [1.0, 50.0]]))[0, 1] == pytest.approx(
        2 * 100 / 51
    )


def test_raters_of_all_models_alike_change_no_difference() -> None:
    generator = np.random.default_rng(6)
    scores, _ = study(generator, share=1.0)
    lenient = np.array([1.0, -1.0])
    shares = np.full((*scores.people.shape, 2), 0.5)
    parts = 0.5 * (scores.people[:, :, None] + lenient)
    alike = replace(scores, raters=ByRater(shares, parts))
    one, other = estimate(scores).corrected, estimate(alike).corrected
    assert one.values == pytest.approx(other.values)
    assert one.draws == pytest.approx(other.draws)


# --- a regression on length ---


def controlled(
    scores: Floats, doublings: Floats, rounds: int = 50
) -> tuple[LengthControl, MeanDraws]:
    """Length control, and the differences of all pairs at equal length."""
    pairs = all_pairs(scores.shape[1])
    [found] = bootstrap_means([length_column(scores, doublings)], len(scores), rounds=rounds)
    control = control_length(found)
    signs = [
        [(model == first) - (model == second) for first, second in pairs]
        for model in range(scores.shape[1])
    ]
    return control, contrast(control.means, signs)


def made_up(
    questions: int = 30, models: int = 3, seed: int = 0, slope: float = 0.4
) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(seed)
    doublings = generator.normal(9, 1, (questions, 1)) + generator.normal(
        0, 0.7, (questions, models)
    )
    scores = (
        generator.normal(6, 1, (questions, 1))
        + slope * doublings
        + generator.normal(0, 1, (questions, models))
    )
    return scores, doublings


def least_squares(
    scores: Floats, doublings: Floats, weights: Floats | None = None
) -> tuple[float, Floats]:
    """Slope, and the models' effects less the first one's, from one dummy per question and
    model.
    """
    questions, models = scores.shape
    question, model = (part.ravel() for part in np.indices(scores.shape))
    design = np.column_stack(
        [
            np.eye(questions)[question],
            np.eye(models)[model][:, 1:],
            np.nan_to_num(doublings.ravel()),
        ]
    )
    root = np.sqrt(np.repeat(np.ones(questions) if weights is None else weights, models))
    kept = np.repeat(~np.isnan(doublings).any(axis=1), models)
    fitted, *_ = np.linalg.lstsq((design * root[:, None])[kept], (scores.ravel() * root)[kept])
    return float(fitted[-1]), np.asarray(fitted[questions:-1], dtype=np.float64)


def test_length_by_hand() -> None:
    """Two models, differences of length 0, 1, 2 and of score 1, 2, 3: one point a doubling, and one
    beside it.
    """
    control, differences = controlled(
        np.array([[5.0, 4], [6, 4], [7, 4]]), np.array([[8.0, 8], [9, 8], [10, 8]])
    )
    assert control.slope.values[0] == pytest.approx(1)
    assert differences.values[0] == pytest.approx(1)
    assert control.lengths.values == pytest.approx([0.5, -0.5])
    assert control.means.values == pytest.approx([5.5, 4.5])
    assert control.by_model == pytest.approx(
        0.6
    )  # mean square 5/3 of the differences, squared mean 1


@pytest.mark.parametrize(("questions", "models"), [(5, 2), (30, 3), (12, 6)])
def test_equals_ordinary_least_squares_in_every_round(questions: int, models: int) -> None:
    scores, doublings = made_up(questions, models)
    control, differences = controlled(scores, doublings, rounds=4)
    counts = (
        bootstrap_table(np.eye(questions), rounds=4).draws * questions
    )  # how often each question was drawn
    for weights, slope, drawn in zip(
        [np.ones(questions), *counts],
        [control.slope.values[0], *control.slope.draws[:, 0]],
        [differences.values, *differences.draws],
        strict=True,
    ):
        expected, effects = least_squares(scores, doublings, weights)
        assert slope == pytest.approx(expected)
        assert drawn[: models - 1] == pytest.approx(-effects)


def test_equals_statsmodels() -> None:
    # statsmodels 0.15.0: smf.ols("score ~ C(model) + doublings + C(question)",
    # d).fit(cov_type="cluster", cov_kwds={"groups": d["question"], "use_correction": False})
    generator, rows = np.random.default_rng(5), []
    for _ in range(40):
        question = generator.normal(0, 1)
        for model, habit in enumerate((0.8, 0, -0.3)):
            longer = float(generator.normal(habit, 0.9))
            score = np.clip(
                np.rint(6 - model + 0.4 * longer + question + generator.normal(0, 1)), 1, 10
            )
            rows.append((score, round(9 + longer, 2)))
    scores, doublings = np.array(rows).T.reshape(2, 40, 3)
    control, differences = controlled(scores, doublings, rounds=4000)
    assert control.slope.values[0] == pytest.approx(0.3268352325567212)
    assert differences.values[:2] == pytest.approx([0.6217026947685468, 1.7169375262811721])
    errors = [control.slope.draws.std(), *differences.draws.std(axis=0)[:2]]
    assert errors == pytest.approx(
        [0.09700888511579141, 0.23478854158421256, 0.29194901209916174], rel=0.1
    )


@hypothesis.given(st.integers(0, 10**6), st.floats(-3, 3), st.floats(0.1, 10))
def test_what_changes_nothing(seed: int, points: float, factor: float) -> None:
    """Points of a question, a longer language, and points for length, for all models alike."""
    scores, doublings = made_up(seed=seed)
    generator = np.random.default_rng(seed)
    control, differences = controlled(scores, doublings, rounds=2)
    changed, same = controlled(
        scores + generator.normal(0, 5, (len(scores), 1)) + points * doublings,
        doublings + factor * generator.normal(0, 1, (len(scores), 1)),
        rounds=2,
    )
    assert changed.slope.values[0] == pytest.approx(control.slope.values[0] + points)
    assert same.values == pytest.approx(differences.values)
    assert control.means.values.mean() == pytest.approx(scores.mean())


def test_questions_with_an_empty_answer_say_nothing_about_the_slope() -> None:
    scores, doublings = made_up()
    empty = doublings.copy()
    empty[:4, 0] = np.nan
    control, _ = controlled(scores, empty)
    assert control.slope.values[0] == pytest.approx(least_squares(scores, empty)[0])
    assert (control.slope.n[0], control.means.n[0]) == (26, 30)
    above = (doublings - doublings.mean(axis=1, keepdims=True))[
        4:, 0
    ].sum() / 30  # nothing where it is empty
    assert control.lengths.values[0] == pytest.approx(above)


@pytest.mark.parametrize("shift", [0.0, 1.585])
def test_no_slope_without_lengths_that_differ_beyond_a_factor(shift: float) -> None:
    scores, doublings = made_up(models=2)
    doublings[:, 1] = doublings[:, 0] + shift
    control, differences = controlled(scores, doublings)
    assert np.isnan(control.slope.values).all() and np.isnan(differences.values).all()
    assert control.by_model == pytest.approx(1) if shift else np.isnan(control.by_model)
    [estimate] = mean_estimates(control.slope)
    assert np.isnan(estimate.low)


@pytest.mark.parametrize("seed", range(4))
def test_rounding_errors_of_lengths_make_no_slope(seed: int) -> None:
    scores, doublings = made_up(models=3, seed=seed)
    by_a_factor = doublings[:, [0]] + np.array([0.1, 0.7, 1.3])
    control, _ = controlled(scores, by_a_factor)
    assert np.isnan(control.slope.values).all() and np.isnan(control.slope.draws).all()
    by_a_factor[3, 1] += 1e-3
    control, _ = controlled(scores, by_a_factor)
    assert not np.isnan(control.slope.values).any()


def test_a_coefficient_is_never_above_the_ratio_of_the_deviations() -> None:
    # Two parts that go against each other: by least squares alone 1.56 and 1.44, at most 1 and 0.5.
    sums = np.array([[1.0, -1.6, 0.4], [-1.6, 4.0, 0.4], [0.4, 0.4, 1.0]])
    unbounded = np.linalg.solve(sums[:2, :2], sums[:2, 2])
    assert (unbounded > [1, 0.5]).all()
    assert _least_squares(sums[:, :, None])[:, 0] == pytest.approx([1, 0.5])
