"""How far two rankings agree, and draws to first order, beside slow implementations."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.stats.test_slow_places import ranking_of, within_the_scale
from urs_inspect.adjusting._adjusted import influence_draws
from urs_inspect.adjusting._verdicts import compare_rankings
from urs_inspect.stats._bootstrap import (
    resample,
)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("noise", [0.2, 1.0])
def test_rankings_correlate_draw_by_draw(seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    # Means over draws are equal but for rounding, and so are some draws.
    one = np.round(rng.normal(size=(60, 5)), 1) + rng.normal(0, 1e-9, (60, 5))
    other = np.round(one + rng.normal(0, noise, (60, 5)), 1)
    first = ranking_of("abcde", one)
    second = ranking_of("ebxca", other)
    mine = [0, 1, 2, 4]
    theirs = [4, 1, 3, 0]
    draws = [
        float(spearmanr(np.round(row[mine], 6), other_row[theirs]).statistic)
        for row, other_row in zip(one, other, strict=True)
    ]
    points = np.round(one.mean(axis=0), 6)[mine]
    value = spearmanr(points, np.round(other.mean(axis=0), 6)[theirs]).statistic
    found = compare_rankings(first, second)
    assert found.value == pytest.approx(value)
    bounds = within_the_scale(draws)
    assert (found.low, found.high) == pytest.approx(bounds, nan_ok=True)


def test_one_model_in_common_says_nothing() -> None:
    draws = np.random.default_rng(0).normal(size=(9, 2))
    first = ranking_of("ab", draws)
    found = compare_rankings(first, ranking_of("bc", draws))
    assert np.isnan([found.value, found.low, found.high]).all()
    settings = {"rounds": found.rounds, "level": found.level, "seed": found.seed}
    assert settings == first.how.options
    many = replace(ranking_of("bc", draws), battles=first.battles + 9, clusters=99)
    for one, other in ((first, many), (many, first)):
        nothing = compare_rankings(one, other)
        assert (nothing.n, nothing.clusters) == (one.battles, one.clusters)
    two = compare_rankings(ranking_of("ab", draws), ranking_of("ba", draws))
    assert abs(two.value) == 1
    assert math.isnan(two.low)  # from -1 to 1, or without spread


def test_draws_to_first_order_add_the_influence_of_every_further_draw() -> None:
    rng = np.random.default_rng(0)
    values = np.array([3.0, -1.0])
    influences = rng.normal(1.0, 1.0, (5, 2))  # do not add up to 0
    counts = np.concatenate(list(resample(5, 40, 8)))
    slow = []
    for row in counts:
        total = values.copy()
        for times, influence in zip(row, influences, strict=True):
            total += (times - 1) * influence
        slow.append(total)
    assert influence_draws(values, influences, 40, 8) == pytest.approx(np.array(slow))
