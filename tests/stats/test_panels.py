"""Panels of judges beside values worked out by hand and slow implementations."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import t as student

from urs_inspect.stats._bootstrap import Flags, Floats
from urs_inspect.stats._panels import best_panel, effective_judges, panel_error


def test_identical_judges_are_one_and_independent_ones_count_each() -> None:
    generator = np.random.default_rng(0)
    errors = generator.normal(size=(4, 4000))
    same = effective_judges(np.tile(errors[:1], (3, 1)), range(4000))
    assert (same.votes.value, same.correlation.value) == pytest.approx((1, 1))
    every = effective_judges(errors, range(4000))
    assert every.votes.value == pytest.approx(4, abs=0.25)
    assert every.votes.high <= 4


def test_effective_judges_by_hand_and_by_corrcoef() -> None:
    """Phi is 0 for the first two judges, and 1 / sqrt(3) for each of them and the third."""
    errors = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]])
    correlation = np.corrcoef(errors)
    mean = correlation[np.triu_indices(3, 1)].mean()
    found = effective_judges(errors, range(4))
    assert mean == pytest.approx(2 / 3 / math.sqrt(3))
    assert found.correlation.value == pytest.approx(mean)
    assert found.votes.value == pytest.approx(3 / (1 + 2 * mean))
    assert found.correlations == pytest.approx((correlation.sum(axis=1) - 1) / 2)


def test_the_interval_of_effective_judges_is_that_of_a_slow_jackknife() -> None:
    errors = np.random.default_rng(4).normal(size=(3, 12)) + np.linspace(0, 4, 12)
    found = effective_judges(errors, range(12), level=0.9)
    effects = []
    for item in range(12):
        correlation = np.asarray(np.corrcoef(np.delete(errors, item, axis=1)))
        effects.append(math.log(1 + 2 * correlation[np.triu_indices(3, 1)].mean()))
    deviations = sum((effect - sum(effects) / 12) ** 2 for effect in effects)
    margin = float(student.ppf(0.95, 11)) * math.sqrt(11 / 12 * deviations)
    whole = 1 + 2 * found.correlation.value
    assert found.correlation.low == pytest.approx((whole * math.exp(-margin) - 1) / 2)
    assert found.votes.low == pytest.approx(3 / (whole * math.exp(margin)))
    assert found.votes.high == pytest.approx(3 / (whole * math.exp(-margin)))


def test_a_correlation_is_at_most_one_and_votes_are_at_least_one() -> None:
    errors = np.random.default_rng(3).normal(size=8) + 0.3 * np.random.default_rng(4).normal(
        size=(3, 8)
    )
    found = effective_judges(errors, range(8))
    assert found.correlation.value < 1
    assert found.correlation.high == 1
    # Votes have no such limit: they show how wide the interval is.
    effect = 1 + 2 * found.correlation.value
    margin = math.log(effect / (1 + 2 * found.correlation.low))
    assert found.votes.low == pytest.approx(3 / (effect * math.exp(margin)))
    negative = effective_judges(np.array([[1, 0, 1, 0, 1, 0.0], [0, 1, 0, 1, 0, 1]]), range(6))
    assert negative.correlation.value == pytest.approx(-1)
    assert negative.votes.value == 2


def test_prompts_are_drawn_as_a_whole() -> None:
    """Each prompt repeated four times says no more than once."""
    errors = (np.random.default_rng(1).random((3, 60)) < 0.4).astype(float)
    once = effective_judges(errors, range(60))
    four = effective_judges(np.repeat(errors, 4, axis=1), np.repeat(range(60), 4))
    assert four.correlation.low == pytest.approx(once.correlation.low)
    assert four.votes.clusters == 60


def test_the_best_panels_are_found() -> None:
    generator = np.random.default_rng(2)
    right = (generator.random((6, 600)) < np.array([0.6, 0.6, 0.6, 0.9, 0.9, 0.9])[:, None]).astype(
        float
    )
    best = best_panel(right, None, range(600), splits=20)
    assert best.panel == (3, 4, 5)
    assert best.held_out == pytest.approx(0.9**3 + 3 * 0.9**2 * 0.1, abs=0.02)
    assert best.gain[0] <= best.held_out - best.single <= best.gain[1]
    labels = generator.normal(size=600)
    ratings = labels + generator.normal(size=(5, 600)) * np.array([3, 3, 1, 1, 3])[:, None]
    best = best_panel(ratings, labels, range(600), splits=20)
    assert set(best.panel) >= {2, 3}
    assert best.held_out > best.single


def test_the_gain_of_a_panel_is_that_of_slow_splits() -> None:
    right = (np.random.default_rng(5).random((4, 30)) < 0.7).astype(float)
    triples = list(combinations(range(4), 3))
    orders = np.random.default_rng(7).permuted(np.tile(np.arange(30), (40, 1)), axis=1)
    gains = []
    for chosen in (orders < 15, orders >= 15):
        for half in chosen:
            majorities = [np.mean(right[list(three)], axis=0) > 0.5 for three in triples]
            best = max(majorities, key=lambda verdicts: verdicts[half].mean())
            single = max(right, key=lambda verdicts: verdicts[half].mean())
            gains.append(best[~half].mean() - single[~half].mean())
    found = best_panel(right, None, range(30), splits=40, seed=7)
    assert found.gain == pytest.approx(np.percentile(gains, [2.5, 97.5]))
    assert found.held_out - found.single == pytest.approx(np.mean(gains))


def test_a_panel_is_never_measured_on_the_half_that_chose_it() -> None:
    """Judges that guess: chosen ones look good on their half and are right in a half of the
    other.
    """
    right = (np.random.default_rng(3).random((9, 60)) < 0.5).astype(float)
    best = best_panel(right, None, range(60), splits=200)
    assert best.apparent > 0.6
    assert best.held_out < 0.55


def test_the_error_of_a_panel_by_hand() -> None:
    # Majorities: right, a tie, wrong, wrong.
    right = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    assert panel_error(right, None) == pytest.approx(2.5 / 4)
    labels = np.array([1.0, 2.0, 3.0, 4.0])
    assert panel_error(np.array([2 * labels + 1]), labels) == pytest.approx(
        0, abs=1e-9
    )  # another scale is no error
    # Against each other, the mean says nothing about the labels.
    assert panel_error(np.array([labels, labels[::-1]]), labels) == pytest.approx(labels.std())


def share_right(panel: Floats, _: Floats) -> float:
    return float((panel.mean(axis=0) > 0.5).mean())


def pearson(panel: Floats, labels: Floats) -> float:
    mean = panel.mean(axis=0)
    if np.ptp(mean) < 1e-9 or np.ptp(labels) < 1e-9:
        return -1.0
    return float(np.corrcoef(mean, labels)[0, 1])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rated", [False, True])
def test_the_best_panel_is_that_of_slow_splits(seed: int, rated: bool) -> None:
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(9), [1, 2, 3, 1, 2, 3, 1, 2, 3])
    size = len(clusters)
    labels = rng.normal(size=size)
    values = (rng.random((5, size)) < 0.6).astype(float)
    sizes: tuple[int, ...] = (3,)
    score: Callable[[Floats, Floats], float] = share_right
    if rated:
        values = labels + rng.normal(size=(5, size)) * np.array([1.5, 1, 2, 1.2, 1.1])[:, None]
        sizes = (2, 3, 4)
        score = pearson
    found = best_panel(values, labels if rated else None, clusters, splits=30, seed=seed)
    panels = [panel for number in sizes for panel in combinations(range(5), number)]
    singles = [(judge,) for judge in range(5)]

    def best_of(among: Sequence[tuple[int, ...]], kept: Flags) -> tuple[int, ...]:
        # Rounded, so that equal ones are: the first of them counts.
        scores = [round(score(values[list(one)][:, kept], labels[kept]), 9) for one in among]
        return among[scores.index(max(scores))]

    def score_of(panel: tuple[int, ...], kept: Flags) -> float:
        return score(values[list(panel)][:, kept], labels[kept])

    everything = np.ones(size, np.bool_)
    whole = best_of(panels, everything)
    orders = np.random.default_rng(seed).permuted(np.tile(np.arange(9), (30, 1)), axis=1)
    chosen = []
    apparent = []
    held_out = []
    single = []
    first = (orders < 4)[:, clusters]
    for kept in [*first, *~first]:
        best = best_of(panels, kept)
        chosen.append(best == whole)
        apparent.append(score_of(best, kept))
        held_out.append(score_of(best, ~kept))
        single.append(score_of(best_of(singles, kept), ~kept))
    gain = np.quantile(np.array(held_out) - np.array(single), [0.025, 0.975])
    assert found.panel == whole
    measured = (found.chosen, found.apparent, found.held_out, found.single)
    assert measured == pytest.approx(
        tuple(float(np.mean(part)) for part in (chosen, apparent, held_out, single))
    )
    assert found.gain == pytest.approx(gain)
