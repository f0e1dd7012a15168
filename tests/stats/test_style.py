"""The regression of comparisons on strengths and style, and what is counted in an answer."""

from typing import Any

import numpy as np
import pytest

from tests.stats.fights import random_fights
from tests.stats.slow import slow_fit
from urs_inspect.stats._bootstrap import Floats
from urs_inspect.stats._style import FEATURES, fit_design


@pytest.mark.parametrize("seed", range(3))
def test_a_fit_is_that_of_newtons_method_row_by_row(seed: int) -> None:
    draws = np.random.default_rng(seed)
    battles = random_fights(4, 40, 15, seed)
    style = draws.normal(size=(40, 1))
    design = np.hstack([design_by_hand(battles), style])
    weights = draws.integers(0, 3, 40).astype(float)
    offset = draws.normal(size=40)
    shared = draws.normal(size=40)
    outcome = battles.outcome + draws.normal(0, 0.2, 40)
    from scipy.sparse import csr_array

    found = fit_design(
        csr_array(design),
        outcome,
        battles.clusters,
        weights=weights,
        offset=offset,
        shared=shared,
        prior=1.5,
    )
    slow = slow_fit(design, outcome, battles.clusters.tolist(), weights, offset, shared, 1.5)
    assert found.values == pytest.approx(slow.values, abs=1e-7)
    assert found.influences == pytest.approx(np.array(list(slow.influences.values())), abs=1e-7)
    assert found.pull == pytest.approx(slow.pull, abs=1e-7)
    assert found.covariance == pytest.approx(slow.covariance, abs=1e-7)
    assert found.variance == pytest.approx(slow.variance)


@pytest.mark.parametrize(
    ("feature", "text", "count"),
    [
        ("lists", "+ one\n• two\n\t- three", 3),
        ("lists", "123. long\n1234. longer\n1.close\n-close\n- ", 1),
        ("lists", "so - not\n1) yes", 1),
        ("headings", "###### six\n####### seven\n   # three spaces\n    # four", 2),
        ("headings", "#\n# \n## two", 1),
        ("bold", "__under__ and **star** and ** spaced ** and *it*", 2),
        ("bold", "**over\nlines**", 0),
        ("code", "~~~\nx\n~~~\n```\ny\n```", 2),
        ("code", "```\nnever closed", 0),
        ("length", "漢字 and\n", 7),
    ],
)
def test_markup_is_counted_as_markdown_has_it(feature: str, text: str, count: int) -> None:
    assert FEATURES[feature](text) == count


MARKUP = """# Title

Some **bold** text, 2*3*4 and __more__.

- one
* two
1. three
   2) four
#hashtag

```python
# a comment in code
- x
```
"""


def test_what_is_counted_by_hand() -> None:
    counts = {name: count(MARKUP) for name, count in FEATURES.items()}
    assert counts == {"length": len(MARKUP), "lists": 5, "headings": 2, "bold": 2, "code": 1}


def design_by_hand(ballots: Any) -> Floats:
    rows = np.zeros((len(ballots.first), len(ballots.players)))
    for row, one, other in zip(rows, ballots.first, ballots.second, strict=True):
        row[one] = 1
        row[other] = -1
    return rows
