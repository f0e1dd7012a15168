"""Correlations of means and designs of means beside an implementation that goes row by row."""

import math

import numpy as np
import pytest
from scipy import stats

from urs_inspect.stats._bootstrap import Floats
from urs_inspect.stats._correlation import correlate_means, exact_means, fisher_interval
from urs_inspect.stats._means import MeanDraws
from urs_inspect.stats._variance_components import COMPONENTS, VarianceComponents


def variance(values: Floats) -> float:
    return float(((values - values.mean()) ** 2).sum() / (len(values) - 1))


def slow_noise(draws: Floats) -> float:
    """Mean over rounds of the variance over points of what differs from the mean of all rounds."""
    known = np.array([row for row in draws if not np.isnan(row).any()])
    if len(known) < 2:
        return 0.0
    return float(np.mean([variance(row - known.mean(axis=0)) for row in known]))


def slow_r(x: Floats, y: Floats, noise_x: float = 0.0, noise_y: float = 0.0) -> float:
    """Pearson's r with the noise taken off either variance; its sign where nothing is left."""
    if np.isnan(x).any() or np.isnan(y).any():
        return math.nan
    covariance = float(((x - x.mean()) * (y - y.mean())).sum() / (len(x) - 1))
    left_x = max(variance(x) - noise_x, 0.0)
    left_y = max(variance(y) - noise_y, 0.0)
    if left_x * left_y == 0:
        return float(np.sign(covariance))
    return float(np.clip(covariance / math.sqrt(left_x * left_y), -1, 1))


def means(values: Floats, noise: float, seed: int, rounds: int = 80) -> MeanDraws:
    draws = values + np.random.default_rng(seed).normal(0, noise, (rounds, len(values)))
    draws[3, 0] = np.nan  # a round in which nothing of the first point was drawn
    n = np.full(len(values), 40)
    return MeanDraws(values, draws, n, seed, n)


NOISES = [(0.1, 0.2), (0.5, 0.1), (3.0, 0.1), (0.1, 3.0), (3.0, 3.0), (0.1, 0.0), (0.0, 0.0)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("noise", "other_noise"), NOISES)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_means_correlate_without_their_noise(
    seed: int, noise: float, other_noise: float, level: float
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=5)
    y = np.round(x) + rng.normal(0, 0.5, 5)
    first = means(x, noise, seed) if noise else exact_means(x)
    second = means(y, other_noise, seed + 100) if other_noise else exact_means(y)
    found = correlate_means(first, second, clusters=30, level=level, seed=9)
    r = slow_r(x, y)
    noise_x = slow_noise(first.draws)
    noise_y = slow_noise(second.draws)
    rounds = max(len(first.draws), len(second.draws))
    draws = []
    for number in range(rounds):
        row = first.draws[number % len(first.draws)]
        other_row = second.draws[number % len(second.draws)]
        draws.append(slow_r(row, other_row, 2 * noise_x, 2 * noise_y))
    known = [draw for draw in draws if not math.isnan(draw)]
    bounds = (math.nan, math.nan)
    if rounds > 1:
        low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
        bounds = (min(low, r), max(high, r))
    assert found.pearson.value == pytest.approx(r)
    assert (found.pearson.low, found.pearson.high) == pytest.approx(bounds, nan_ok=True)
    assert (found.pearson.level, found.pearson.rounds, found.pearson.seed) == (level, rounds, 9)
    without = math.nan
    if variance(x) > noise_x and variance(y) > noise_y:
        without = slow_r(x, y, noise_x, noise_y)
    assert found.without_noise == pytest.approx(without, nan_ok=True)
    assert found.spearman == pytest.approx(stats.spearmanr(x, y).statistic)
    assert found.over_points == pytest.approx(slow_fisher(r, 5, level))


def slow_fisher(r: float, points: int, level: float) -> tuple[float, float]:
    z = 0.5 * math.log((1 + r) / (1 - r))
    margin = stats.norm.ppf((1 + level) / 2) / math.sqrt(points - 3)
    return tuple(math.tanh(bound) for bound in (z - margin, z + margin))  # type: ignore[return-value]


@pytest.mark.parametrize("sign", [1, -1])
def test_an_interval_holds_the_correlation_of_the_means_themselves(sign: int) -> None:
    """Rounds that all correlate less, and rounds that all correlate more."""
    x = np.array([1.0, 2.0, 3.0, 4.0])
    r = slow_r(x, np.array([1.0, 2.0, 4.0, 3.0]))
    for drawn, is_less in ((np.array([2.0, 1.0, 4.0, 3.0]), True), (x, False)):
        other = sign * np.array([1.0, 2.0, 4.0, 3.0])
        rounds = np.tile(sign * drawn, (9, 1))
        second = MeanDraws(other, rounds, np.full(4, 9), 0, np.full(4, 9))
        found = correlate_means(exact_means(x), second, clusters=9).pearson
        assert found.value == pytest.approx(sign * r)
        moved = sign * slow_r(x, drawn)
        assert (moved < sign * r) == (is_less == (sign > 0))
        assert (found.low, found.high) == pytest.approx(tuple(sorted((moved, sign * r))))


def test_three_points_correlate_and_two_do_not() -> None:
    x = np.array([1.0, 2.0, 4.0])
    y = np.array([3.0, 1.0, 7.0])
    three = correlate_means(exact_means(x), exact_means(y), clusters=3)
    assert three.pearson.value == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert np.isnan(three.over_points).all()
    two = correlate_means(exact_means(x[:2]), exact_means(y[:2]), clusters=3)
    assert np.isnan([two.pearson.value, two.without_noise, two.spearman]).all()
    for still in (np.ones(4), np.array([1.0, 2.0, math.nan, 3.0])):
        none = correlate_means(exact_means(np.arange(4.0)), exact_means(still), clusters=3)
        assert np.isnan([none.pearson.value, none.without_noise, none.spearman]).all()


def test_fishers_interval_takes_four_points_and_no_line() -> None:
    assert fisher_interval(0.5, 4) == pytest.approx(slow_fisher(0.5, 4, 0.95))
    for r, points in ((0.5, 3), (1.0, 9), (-1.0, 9), (math.nan, 9)):
        assert np.isnan(fisher_interval(r, points)).all()


VALUES = {
    "question": 4.0,
    "judge": 100.0,
    "question_judge": 3.0,
    "answer": -2.0,
    "answer_judge": 1.5,
    "judgement": 0.5,
}


def design(**values: float) -> VarianceComponents:
    components = {name: {**VALUES, **values}[name] for name in COMPONENTS}
    return VarianceComponents(questions=10, epochs=2.0, judges=3.0, components=components)


@pytest.mark.parametrize(
    ("given", "counts"),
    [
        # of questions, judges on questions, answers, judges on answers, judgements
        ({}, (10, 30, 20, 60, 60)),
        ({"questions": 5}, (5, 15, 10, 30, 30)),
        ({"epochs": 4}, (10, 30, 40, 120, 120)),
        ({"judges": 1}, (10, 10, 20, 20, 20)),
        ({"judgements": 5}, (10, 30, 20, 60, 300)),
        ({"questions": 20, "epochs": 1, "judges": 2, "judgements": 2}, (20, 40, 20, 40, 80)),
    ],
)
def test_each_source_is_divided_by_how_often_it_is_drawn(
    given: dict[str, float], counts: tuple[int, ...]
) -> None:
    found = design().parts(**given)
    variances = (4.0, 3.0, 0.0, 1.5, 0.5)  # negative ones count as 0
    expected = [one / count for one, count in zip(variances, counts, strict=True)]
    assert list(found) == ["question", "question_judge", "answer", "answer_judge", "judgement"]
    assert list(found.values()) == pytest.approx(expected)
    t = stats.t.ppf(0.95, counts[0] - 1)
    margin = design().margin(0.9, **given)
    assert margin == pytest.approx(t * math.sqrt(sum(expected)))


def test_what_was_not_measured_adds_nothing_and_without_components_there_is_no_margin() -> None:
    unmeasured = design(judgement=math.nan, question_judge=math.nan)
    assert math.isnan(unmeasured.parts()["judgement"])
    t = stats.t.ppf(0.975, 9)
    assert unmeasured.margin() == pytest.approx(t * math.sqrt(4 / 10 + 1.5 / 60))
    assert math.isnan(design(question=math.nan).margin())
