"""Variance components and the intervals that they predict."""

import math

import numpy as np
import pandas as pd
import pytest

from urs_inspect.stats import mean_interval
from urs_inspect.stats._bootstrap import Floats
from urs_inspect.stats._variance_components import (
    COMPONENTS,
    VarianceComponents,
    difference_components,
    variance_components,
)

TRUTH = dict(zip(COMPONENTS, (1.0, 0.3, 0.4, 0.5, 0.2, 0.6), strict=True))


def crossed(table: Floats) -> pd.DataFrame:
    """Scores by question, epoch, judge and judgement."""
    q, e, j, _ = np.indices(table.shape).reshape(4, -1)
    return pd.DataFrame({"question": q, "answer": e, "judge": j, "score": table.ravel()})


def drawn(shape: tuple[int, int, int, int], seed: int, missing: float = 0.0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    q, e, j, _ = shape
    sizes = ((q, 1, 1, 1), (1, 1, j, 1), (q, 1, j, 1), (q, e, 1, 1), (q, e, j, 1), shape)
    table = sum(
        math.sqrt(true) * generator.standard_normal(size)
        for true, size in zip(TRUTH.values(), sizes, strict=True)
    )
    given = crossed(np.asarray(table))
    return given[generator.random(len(given)) >= missing]


def same(found: VarianceComponents, expected: VarianceComponents, factor: float = 1.0) -> bool:
    scaled = [factor * expected.components[name] for name in COMPONENTS]
    return [found.components[name] for name in COMPONENTS] == pytest.approx(scaled, nan_ok=True)


def by_projections(given: pd.DataFrame) -> list[float]:
    """Henderson's method 1 with whole matrices, of all six components."""
    cells = (
        ["question"],
        ["judge"],
        ["question", "judge"],
        ["question", "answer"],
        ["question", "answer", "judge"],
    )
    effects = [np.eye(len(given))[given.groupby(columns).ngroup()] for columns in cells]
    effects = [z[:, z.any(axis=0)] for z in effects] + [np.eye(len(given))]
    grand, score = np.full((len(given), len(given)), 1 / len(given)), given["score"].to_numpy()
    forms = [z @ np.diag(1 / z.sum(axis=0)) @ z.T - grand for z in effects]
    matrix = [[float(np.trace(form @ z @ z.T)) for z in effects] for form in forms]
    return [
        float(value) for value in np.linalg.solve(matrix, [score @ form @ score for form in forms])
    ]


def test_two_questions_by_hand() -> None:
    """Two answers each. Within: 2. Between means 2 and 6: mean square 16, so that of questions is
    (16 - 2) / 2.
    """
    found = variance_components(crossed(np.array([1.0, 3.0, 5.0, 7.0]).reshape(2, 2, 1, 1)))
    values = [found.components[name] for name in COMPONENTS]
    assert values == pytest.approx([7, math.nan, math.nan, 2, math.nan, math.nan], nan_ok=True)
    assert (found.questions, found.epochs, found.judges) == (2, 2, 1)
    # By two judges, mean squares: questions 9, judges 1, residual 1.
    found = variance_components(crossed(np.array([1.0, 3.0, 5.0, 5.0]).reshape(2, 1, 2, 1)))
    assert [found.components[name] for name in COMPONENTS[:3]] == pytest.approx(
        [4, 0, 1], abs=1e-12
    )
    parts = found.parts(judges=4)
    assert (parts["question"], parts["question_judge"]) == pytest.approx((2, 1 / 8))
    assert math.isnan(parts["answer"])


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_it_agrees_with_projections(missing: float) -> None:
    given = drawn((7, 2, 3, 2), seed=1, missing=missing)
    found = variance_components(given)
    assert [found.components[name] for name in COMPONENTS] == pytest.approx(by_projections(given))


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_components_are_recovered(missing: float) -> None:
    found = [variance_components(drawn((40, 2, 4, 2), seed, missing)) for seed in range(60)]
    for name, true in TRUTH.items():
        values = np.array([one.components[name] for one in found])
        assert abs(values.mean() - true) < 4 * values.std() / math.sqrt(len(values)), name


def test_shifts_names_and_scales() -> None:
    given = drawn((9, 2, 3, 1), seed=3, missing=0.1)
    other = given.sample(frac=1, random_state=0)
    other = other.assign(
        question=10 - other["question"], judge=5 * other["judge"], score=7 + 3 * other["score"]
    )
    assert same(variance_components(other), variance_components(given), 9)


@pytest.mark.parametrize("shape", [(30, 1, 1, 1), (30, 3, 1, 1), (30, 1, 3, 1), (30, 2, 3, 1)])
def test_the_interval_as_it_is_now_is_that_of_the_questions_means(
    shape: tuple[int, int, int, int],
) -> None:
    given = drawn(shape, seed=5)
    found = variance_components(given)
    interval = mean_interval(list(given.groupby("question")["score"].mean()))
    assert found.margin() == pytest.approx((interval.high - interval.low) / 2)


def test_more_of_everything_narrows_the_interval() -> None:
    found = variance_components(drawn((40, 2, 3, 2), seed=2))
    for more in ({"questions": 80}, {"epochs": 3}, {"judges": 4}, {"judgements": 2}):
        assert found.margin(**more) < found.margin()
    assert found.margin(questions=1e9) == pytest.approx(0, abs=1e-3)


def test_too_little_gives_nothing() -> None:
    for given in (drawn((1, 2, 2, 2), seed=0), drawn((2, 1, 1, 1), seed=0).iloc[:0]):
        found = variance_components(given)
        assert all(math.isnan(value) for value in found.components.values())
        assert math.isnan(found.margin())


def test_components_of_a_difference_are_those_of_the_table_of_differences() -> None:
    generator = np.random.default_rng(4)
    shared = generator.normal(size=(20, 1, 3, 1))
    one, other = (shared + generator.normal(size=shared.shape) for _ in range(2))
    assert same(
        difference_components(crossed(one), crossed(other)),
        variance_components(crossed(one - other)),
    )


def test_the_interval_of_a_difference_is_that_of_the_questions_differences() -> None:
    one, other = (
        drawn((30, 2, 2, 1), seed)["score"].to_numpy().reshape(30, 2, 2, 1) for seed in (8, 11)
    )
    found = difference_components(crossed(one), crossed(other))
    interval = mean_interval(list((one - other).mean(axis=(1, 2, 3))))
    assert found.margin() == pytest.approx((interval.high - interval.low) / 2)


def test_a_difference_is_not_split_where_only_one_model_has_epochs() -> None:
    generator = np.random.default_rng(7)
    one, other = generator.normal(size=(12, 3, 1, 1)), generator.normal(size=(15, 1, 1, 1))
    found = difference_components(crossed(one), crossed(other))
    assert found.questions == 12
    assert math.isnan(found.components["answer"])
    assert found.components["question"] == pytest.approx(
        float((one.mean(axis=(1, 2, 3)) - other[:12, 0, 0, 0]).var(ddof=1))
    )


def test_epochs_and_judges_of_a_difference_are_the_harmonic_mean_of_both_models() -> None:
    one, other = (drawn((12, epochs, judges, 1), seed=3) for epochs, judges in ((2, 2), (4, 3)))
    found = difference_components(one, other)
    assert (found.epochs, found.judges) == pytest.approx((8 / 3, 12 / 5))


def test_numbers_of_epochs_and_judges_are_harmonic_means() -> None:
    """Questions with many answers do not make up for those with one."""
    answers = ((0, 1), (1, 1), (2, 2), (3, 4))  # question, number of answers
    rng = np.random.default_rng(0)
    rows = []
    for question, number in answers:
        for answer in range(number):
            judges = 3 if (question, answer) == (3, 0) else 1
            for judge in range(judges):
                rows.append((question, answer, judge, float(rng.integers(1, 11))))
    given = pd.DataFrame(rows, columns=["question", "answer", "judge", "score"])
    found = variance_components(given)
    assert found.questions == 4
    assert found.epochs == pytest.approx(4 / (1 + 1 + 1 / 2 + 1 / 4))
    assert found.judges == pytest.approx(8 / (7 + 1 / 3))
    again = pd.concat([given, given])  # judged twice by the same judges: no more answers or judges
    assert (variance_components(again).epochs, variance_components(again).judges) == (
        found.epochs,
        found.judges,
    )
