import math

import numpy as np
import pytest

from urs_inspect.stats._paired import paired_p_values
from urs_inspect.stats._power import questions_needed, smallest_difference


def test_the_smallest_difference_is_that_of_the_questions_needed():
    assert smallest_difference(0.1, 10**6) == pytest.approx(
        0.28016, abs=1e-4
    )  # (1.95996 + 0.84162) / 10
    for clusters in (10, 50):
        needed = questions_needed(0.3, 1 / math.sqrt(clusters), clusters * 2, clusters)
        assert needed is not None
        assert smallest_difference(math.sqrt(2 / needed), needed // 2) <= 0.3
        assert smallest_difference(math.sqrt(2 / (needed - 2)), needed // 2 - 1) > 0.3
    for tests in (1, 3, 45):
        widths = [
            smallest_difference(1 / math.sqrt(clusters), clusters, tests=tests)
            for clusters in range(2, 100)
        ]
        known = [width for width in widths if not math.isnan(width)]
        assert known == sorted(known, reverse=True)
        assert known == widths[-len(known) :]


@pytest.mark.parametrize(("tests", "fewest"), [(1, 6), (3, 7), (45, 11)])
def test_over_too_few_clusters_no_difference_is_seen(tests, fewest):
    """The p-value of differences that are all of one sign is the smallest."""
    p = [
        tests * paired_p_values(np.arange(1.0, clusters + 1)[:, None])[0]
        for clusters in range(2, fewest + 1)
    ]
    assert [value < 0.05 for value in p] == [False] * (fewest - 2) + [True]
    found = [smallest_difference(1, clusters, tests=tests) for clusters in range(fewest + 1)]
    assert np.isnan(found).tolist() == [True] * fewest + [False]
    assert questions_needed(1000, 1, 10, 5, tests=tests) == 2 * fewest
    assert math.isnan(smallest_difference(0, 20))


@pytest.mark.parametrize("tests", [1, 3])
@pytest.mark.parametrize("clusters", [8, 12, 20])
def test_the_smallest_difference_is_significant_in_80_percent(clusters, tests):
    size = smallest_difference(1, clusters, tests=tests)
    draws = np.random.default_rng(6).standard_normal((clusters, 1500)) + size / math.sqrt(clusters)
    assert (paired_p_values(draws) * tests < 0.05).mean() == pytest.approx(0.8, abs=0.05)
