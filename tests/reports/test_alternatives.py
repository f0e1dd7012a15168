"""Models of a ranking compared by other means than the judge's."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from urs_inspect.reports.numbers._alternatives import compare
from urs_inspect.stats._bootstrap import Resampling
from urs_inspect.stats._means import MeanDraws


def means(values: list[float], n: list[int]) -> MeanDraws:
    """Means with hardly any noise, over so many questions."""
    noise = np.random.default_rng(0).normal(0, 0.01, (200, len(values)))
    return MeanDraws(np.array(values), np.array(values) + noise, np.array(n), 0)


@pytest.mark.parametrize(("worse", "significant"), [(20, True), (4, False)])
def test_a_worst_case_rests_on_the_fewer_questions_of_both_models(
    worse: int, significant: bool
) -> None:
    judged: Any = SimpleNamespace(leads=(("b", "a"),))
    plain = means([1.0, 5.0], [20, 20])
    worst = (means([0.5, 4.0], [worse, 20]), means([1.5, 6.0], [worse, 20]))
    pairs, ranks = compare(plain, worst, ["a", "b"], judged, Resampling())
    [row] = pairs.to_dict("records")
    assert (row["first"], row["second"], row["better_by_judge"]) == ("b", "a", "b")
    assert row["difference"].value == 4
    assert (row["p_worst"] < 0.05) == significant  # four questions that agree: 2 / 2^4
    assert ranks == (((2, 2), (1, 1)) if significant else ((1, 2), (1, 2)))
