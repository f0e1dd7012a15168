"""Metrics that compare two texts: only candidates are compared, and what failed stays out of the selection."""

from collections.abc import Sequence

import anyio
import numpy as np
import numpy.typing as npt
import pytest

from urs_inspect.discrepancy.selector import Selector
from urs_inspect.discrepancy.similarities.pairwise import ask_about_answers, compare_answers, shortlist
from urs_inspect.errors import InputError

ANSWERS = {"m": ["aa", "bb", "", "cc"], "n": ["a", "x", "y", "ccc"]}
PAIR = ("m", "n")


class Shared:
    """Share of letters of the shorter text that the longer has; also when asked."""

    name = "shared"

    def __init__(self, extra: int = 0) -> None:
        self.calls = 0
        self._extra = extra

    def compare(self, first: Sequence[str], second: Sequence[str]) -> npt.NDArray[np.float64]:
        """Compare letter sets."""
        self.calls += len(first)
        values = [len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in zip(first, second, strict=True)]
        return np.array(values + [0.0] * self._extra)

    async def ask(self, first: Sequence[str], second: Sequence[str]) -> npt.NDArray[np.float64]:
        """As `compare`, without an answer about "bb"."""
        found = self.compare(first, second)
        found[[text == "bb" for text in first]] = np.nan
        return found


def test_only_candidates_with_answers_are_compared() -> None:
    metric = Shared()
    found = compare_answers(metric, ANSWERS, {PAIR: np.array([True, True, True, False])})[PAIR]
    assert found[:2].tolist() == [1.0, 0.0] and np.isnan(found[2:]).all()
    assert metric.calls == 2


def test_what_failed_is_no_candidate() -> None:
    masks = {PAIR: np.ones(4, np.bool_)}
    found = anyio.run(ask_about_answers, Shared(), ANSWERS, masks)
    assert np.isnan(found[PAIR]).tolist() == [False, True, True, False]
    selector = Selector.from_similarities(found, np.eye(4, dtype=np.float32), list("wxyz"))
    assert selector.candidates(PAIR) == 2
    assert [one.id for one in selector.select(2).selected[PAIR]] == ["w", "z"]


def test_answers_must_be_as_many_as_instructions() -> None:
    for answers, had in (({"m": ["a"] * 3, "n": ["a"] * 4}, "3"), ({"n": ["a"] * 4}, "no")):
        with pytest.raises(InputError, match=f"'m' has {had} answers; needed are 4"):
            compare_answers(Shared(), answers, {PAIR: np.ones(4, np.bool_)})
    with pytest.raises(InputError, match=r"'shared' gave values of shape \(4,\) for 3 pairs"):
        compare_answers(Shared(extra=1), ANSWERS, {PAIR: np.ones(4, np.bool_)})


def test_the_shortlist_holds_the_least_similar() -> None:
    values = np.array([0.5, 0.1, np.nan, 0.1, 0.3])
    assert shortlist(values, 2, list("edcba")).tolist() == [False, True, False, True, False]
    assert shortlist(values, 1, list("edcba")).tolist() == [False, False, False, True, False]  # "b" before "d"
    assert shortlist(values, 9, list("edcba")).sum() == 4
    mask = np.array([True, False, True, True, True])
    assert shortlist(values, 2, list("edcba"), mask).tolist() == [False, False, False, True, True]
    with pytest.raises(InputError, match="shortlist of 0"):
        shortlist(values, 0, list("edcba"))
