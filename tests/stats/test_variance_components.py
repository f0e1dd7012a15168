"""Variance components and the intervals that they predict."""

import math

import numpy as np
import pytest

from urs_inspect.stats import mean_interval
from urs_inspect.stats.bootstrap import Floats, Integers
from urs_inspect.stats.variance_components import (
    COMPONENTS,
    Judgements,
    difference_components,
    variance_components,
)

TRUTH = dict(zip(COMPONENTS, (1.0, 0.3, 0.4, 0.5, 0.2, 0.6), strict=True))


def crossed(table: Floats) -> Judgements:
    """Scores by question, epoch, judge and judgement."""
    q, e, j, _ = np.indices(table.shape).reshape(4, -1)
    return Judgements(q, e, j, table.ravel())


def drawn(shape: tuple[int, int, int, int], seed: int, missing: float = 0.0) -> Judgements:
    generator = np.random.default_rng(seed)
    q, e, j, _ = shape
    sizes = {"question": (q, 1, 1, 1), "judge": (1, 1, j, 1), "question_judge": (q, 1, j, 1)}
    sizes |= {"answer": (q, e, 1, 1), "answer_judge": (q, e, j, 1), "judgement": shape}
    table = sum(math.sqrt(TRUTH[name]) * generator.standard_normal(size) for name, size in sizes.items())
    given = crossed(np.asarray(table))
    kept = generator.random(len(given.score)) >= missing
    return Judgements(given.question[kept], given.epoch[kept], given.judge[kept], given.score[kept])


def by_projections(given: Judgements) -> list[float]:
    """Henderson's method 1 with whole matrices, of all six components."""

    def incidence(*columns: Integers) -> Floats:
        _, cell = np.unique(np.stack(columns), axis=1, return_inverse=True)
        return np.eye(int(cell.max()) + 1)[cell.ravel()]

    q, e, j = given.question, given.epoch, given.judge
    effects = [incidence(q), incidence(j), incidence(q, j), incidence(q, e), incidence(q, e, j), np.eye(len(q))]
    grand = np.full((len(q), len(q)), 1 / len(q))
    forms = [z @ np.diag(1 / z.sum(axis=0)) @ z.T - grand for z in effects]
    matrix = [[float(np.trace(form @ z @ z.T)) for z in effects] for form in forms]
    return [float(value) for value in np.linalg.solve(matrix, [given.score @ form @ given.score for form in forms])]


def test_two_questions_with_two_answers_each_by_hand() -> None:
    """Within: 2. Between means 2 and 6: mean square 16, so that the component of questions is (16 - 2) / 2."""
    found = variance_components(crossed(np.array([1.0, 3.0, 5.0, 7.0]).reshape(2, 2, 1, 1)))
    assert (found.question, found.answer) == pytest.approx((7, 2))
    assert all(math.isnan(getattr(found, name)) for name in ("judge", "question_judge", "answer_judge", "judgement"))
    assert (found.questions, found.epochs, found.judges) == (2, 2, 1)


def test_two_questions_by_two_judges_by_hand() -> None:
    """Mean squares: questions 9, judges 1, residual 1."""
    found = variance_components(crossed(np.array([1.0, 3.0, 5.0, 5.0]).reshape(2, 1, 2, 1)))
    assert (found.question, found.judge, found.question_judge) == pytest.approx((4, 0, 1), abs=1e-12)
    parts = found.parts(judges=4)
    assert (parts["question"], parts["judges"]) == pytest.approx((2, 1 / 8))
    assert math.isnan(parts["answering"])


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_it_agrees_with_projections(missing: float) -> None:
    given = drawn((7, 2, 3, 2), seed=1, missing=missing)
    found = variance_components(given)
    assert [getattr(found, name) for name in COMPONENTS] == pytest.approx(by_projections(given))


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_components_are_recovered(missing: float) -> None:
    found = [variance_components(drawn((40, 2, 4, 2), seed, missing)) for seed in range(150)]
    for name, true in TRUTH.items():
        values = np.array([getattr(one, name) for one in found])
        assert abs(values.mean() - true) < 4 * values.std() / math.sqrt(len(values)), name


def test_shifts_names_and_scales() -> None:
    given = drawn((9, 2, 3, 1), seed=3, missing=0.1)
    order = np.random.default_rng(0).permutation(len(given.score))
    other = Judgements(
        10 - given.question[order], given.epoch[order], 5 * given.judge[order], 7 + 3 * given.score[order]
    )
    one, changed = variance_components(given), variance_components(other)
    for name in COMPONENTS:
        assert getattr(changed, name) == pytest.approx(9 * getattr(one, name), nan_ok=True)


@pytest.mark.parametrize("shape", [(30, 1, 1, 1), (30, 3, 1, 1), (30, 1, 3, 1), (30, 2, 3, 1)])
def test_the_interval_as_it_is_now_is_that_of_the_questions_means(shape: tuple[int, int, int, int]) -> None:
    given = drawn(shape, seed=5)
    found = variance_components(given)
    assert not found.negative
    interval = mean_interval(list(given.score.reshape(30, -1).mean(axis=1)))
    assert found.margin() == pytest.approx((interval.high - interval.low) / 2)


def test_more_of_everything_narrows_the_interval_and_any_judges_widen_it() -> None:
    found = variance_components(drawn((40, 2, 3, 2), seed=2))
    for more in ({"questions": 80}, {"epochs": 3}, {"judges": 4}, {"judgements": 2}):
        assert found.margin(**more) < found.margin() < found.margin(any_judges=True)  # type: ignore[arg-type]
    assert found.margin(questions=1e9) == pytest.approx(0, abs=1e-3)
    assert math.isnan(variance_components(drawn((40, 2, 1, 2), seed=2)).margin(any_judges=True))


def test_too_little_gives_nothing() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    for given in (drawn((1, 2, 2, 2), seed=0), Judgements(nothing, nothing, nothing, np.zeros(0))):
        found = variance_components(given)
        assert math.isnan(found.question)
        assert math.isnan(found.margin())


def test_components_of_a_difference_are_those_of_the_table_of_differences() -> None:
    generator = np.random.default_rng(4)
    shared = generator.normal(size=(20, 1, 3, 1))
    one, other = (shared + generator.normal(size=shared.shape) for _ in range(2))
    found = difference_components(crossed(one), crossed(other))
    direct = variance_components(crossed(one - other))
    for name in COMPONENTS:
        assert getattr(found, name) == pytest.approx(getattr(direct, name), nan_ok=True)


def test_the_interval_of_a_difference_is_that_of_the_questions_differences() -> None:
    one, other = (drawn((30, 2, 2, 1), seed).score.reshape(30, 2, 2, 1) for seed in (8, 11))
    found = difference_components(crossed(one), crossed(other))
    assert set(found.negative) <= {"judge"}
    interval = mean_interval(list((one - other).mean(axis=(1, 2, 3))))
    assert found.margin() == pytest.approx((interval.high - interval.low) / 2)


def test_a_difference_is_not_split_where_only_one_model_has_epochs() -> None:
    generator = np.random.default_rng(7)
    one, other = generator.normal(size=(12, 3, 1, 1)), generator.normal(size=(15, 1, 1, 1))
    found = difference_components(crossed(one), crossed(other))
    assert found.questions == 12
    assert math.isnan(found.answer)
    assert found.question == pytest.approx(float((one.mean(axis=(1, 2, 3)) - other[:12, 0, 0, 0]).var(ddof=1)))
