"""Means at equal length: by hand, by ordinary least squares, by statsmodels, and what must always hold."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urs_inspect.stats.bootstrap import Floats
from urs_inspect.stats.length_control import LengthControl, control_length, length_column
from urs_inspect.stats.means import Margin, MeanDraws, bootstrap_means, bootstrap_table, mean_estimates, raking
from urs_inspect.stats.paired import all_pairs, difference_column

RECORDED = json.loads((Path(__file__).parent / "length_control.json").read_text(encoding="utf-8"))


def controlled(scores: Floats, doublings: Floats, rounds: int = 50) -> tuple[LengthControl, MeanDraws]:
    """Length control, and the differences of all pairs at equal length."""
    pairs = all_pairs(scores.shape[1])
    columns = [length_column(scores, doublings), difference_column(scores, pairs)]
    found, plain = bootstrap_means(columns, len(scores), rounds=rounds)
    control = control_length(found)
    return control, control.differences(plain, pairs)


def made_up(questions: int = 30, models: int = 3, seed: int = 0, slope: float = 0.4) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(seed)
    doublings = generator.normal(9, 1, (questions, 1)) + generator.normal(0, 0.7, (questions, models))
    scores = generator.normal(6, 1, (questions, 1)) + slope * doublings + generator.normal(0, 1, (questions, models))
    return scores, doublings


def least_squares(scores: Floats, doublings: Floats, weights: Floats | None = None) -> tuple[float, Floats]:
    """Slope, and the models' effects less the first one's, from one dummy per question and model."""
    questions, models = scores.shape
    question, model = (part.ravel() for part in np.indices(scores.shape))
    design = np.column_stack(
        [np.eye(questions)[question], np.eye(models)[model][:, 1:], np.nan_to_num(doublings.ravel())]
    )
    root = np.sqrt(np.repeat(np.ones(questions) if weights is None else weights, models))
    kept = np.repeat(~np.isnan(doublings).any(axis=1), models)
    fitted, *_ = np.linalg.lstsq((design * root[:, None])[kept], (scores.ravel() * root)[kept])
    return float(fitted[-1]), np.asarray(fitted[questions:-1], dtype=np.float64)


def test_by_hand() -> None:
    """Two models, differences of length 0, 1, 2 and of score 1, 2, 3: one point a doubling, and one beside it."""
    control, differences = controlled(np.array([[5.0, 4], [6, 4], [7, 4]]), np.array([[8.0, 8], [9, 8], [10, 8]]))
    assert control.slope.values[0] == pytest.approx(1)
    assert differences.values[0] == pytest.approx(1)
    assert control.lengths.values == pytest.approx([0.5, -0.5])
    assert control.means.values == pytest.approx([5.5, 4.5])
    assert control.by_model == pytest.approx(0.6)  # mean square 5/3 of the differences, squared mean 1


@pytest.mark.parametrize(("questions", "models"), [(5, 2), (30, 3), (12, 6)])
def test_equals_ordinary_least_squares_in_every_round(questions: int, models: int) -> None:
    scores, doublings = made_up(questions, models)
    control, differences = controlled(scores, doublings, rounds=4)
    counts = bootstrap_table(np.eye(questions), rounds=4).draws * questions  # how often each question was drawn
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
    scores, doublings = np.array(RECORDED["scores"], dtype=np.float64), np.array(RECORDED["doublings"])
    control, differences = controlled(scores, doublings, rounds=4000)
    assert control.slope.values[0] == pytest.approx(RECORDED["slope"])
    assert differences.values[:2] == pytest.approx(-np.array(RECORDED["less_first"]))
    errors = [control.slope.draws.std(), *differences.draws.std(axis=0)[:2]]
    assert errors == pytest.approx([RECORDED["slope_error"], *RECORDED["less_first_error"]], rel=0.1)


@given(st.integers(0, 10**6), st.floats(-3, 3), st.floats(0.1, 10))
def test_what_changes_nothing(seed: int, points: float, factor: float) -> None:
    """Points of a question, a longer language, and points for length, for all models alike."""
    scores, doublings = made_up(seed=seed)
    generator = np.random.default_rng(seed)
    control, differences = controlled(scores, doublings, rounds=2)
    of_question = generator.normal(0, 5, (len(scores), 1))
    changed, same = controlled(
        scores + of_question + points * doublings,
        doublings + factor * generator.normal(0, 1, (len(scores), 1)),
        rounds=2,
    )
    assert changed.slope.values[0] == pytest.approx(control.slope.values[0] + points)
    assert same.values == pytest.approx(differences.values)
    assert control.means.values.mean() == pytest.approx(scores.mean())
    assert [first - second for first, second in pairwise(control.means.values)] == pytest.approx(
        [differences.values[0], differences.values[2]]
    )


def test_questions_with_an_empty_answer_say_nothing_about_the_slope() -> None:
    scores, doublings = made_up()
    empty = doublings.copy()
    empty[:4, 0] = np.nan
    control, _ = controlled(scores, empty)
    assert control.slope.values[0] == pytest.approx(least_squares(scores, empty)[0])
    assert (control.slope.n[0], control.means.n[0]) == (26, 30)
    above = (doublings - doublings.mean(axis=1, keepdims=True))[4:, 0].sum() / 30  # nothing where it is empty
    assert control.lengths.values[0] == pytest.approx(above)


def test_weights_of_questions_weigh_the_slope() -> None:
    scores, doublings = made_up(20)
    kinds = (np.arange(20) < 5).astype(np.int64)
    reweight = raking([Margin(kinds, np.array([0.5, 0.5]))])
    [found] = bootstrap_means([length_column(scores, doublings)], 20, reweight=reweight, rounds=2)
    weights = np.where(kinds == 1, 0.5 / 5, 0.5 / 15)
    assert control_length(found).slope.values[0] == pytest.approx(least_squares(scores, doublings, weights)[0])


@pytest.mark.parametrize("shift", [0.0, 1.585])
def test_no_slope_without_lengths_that_differ_beyond_a_factor(shift: float) -> None:
    scores, doublings = made_up(models=2)
    doublings[:, 1] = doublings[:, 0] + shift
    control, differences = controlled(scores, doublings)
    assert np.isnan(control.slope.values).all() and np.isnan(differences.values).all()
    assert control.by_model == pytest.approx(1) if shift else np.isnan(control.by_model)
    [estimate] = mean_estimates(control.slope)
    assert np.isnan(estimate.low)


def test_scores_and_lengths_must_match() -> None:
    scores, doublings = made_up()
    with pytest.raises(ValueError, match="30, 3"):
        length_column(scores, doublings[:, :2])
    scores[0, 0] = np.nan
    with pytest.raises(ValueError, match="no score NaN"):
        length_column(scores, doublings)
