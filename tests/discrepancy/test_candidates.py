"""What a pair can choose from."""

import numpy as np
import pytest

from urs_inspect._util import InputError
from urs_inspect.discrepancy.selection import Candidates, ResponseSimilarities

PAIR = ("one", "two")


def candidates(unusable: int | None = None) -> Candidates:
    """Five instructions: the similarity of b is unknown, c has no vector, d is not allowed; a and e are left."""
    similarities = np.array([[0.5, np.nan, 0.5, 0.5, 0.5]], np.float32)
    bad = np.zeros((2, 5), np.bool_)
    if unusable is not None:
        bad[1, unusable] = True
    found = ResponseSimilarities((PAIR,), similarities, bad, PAIR)
    lacking = np.array([False, False, True, False, False])
    allowed = {PAIR[::-1]: np.array([True, True, True, False, True])}
    return Candidates(tuple("ebcda"), found, lacking, allowed)


def test_what_is_unknown_or_not_allowed_is_no_candidate() -> None:
    assert candidates().mask(PAIR).tolist() == [True, False, False, False, True]
    assert candidates().count(PAIR) == 2


def test_what_was_chosen_is_not_left() -> None:
    found = candidates()
    # Of e and a, e is chosen; b is no candidate anyway, and naming e twice takes it once.
    assert found.left(PAIR, ["e", "b", "e"]) == 1
    assert found.left(PAIR, []) == 2
    assert found.count(PAIR) == 2


def test_ids_have_numbers_and_ranks() -> None:
    found = candidates()
    assert found.numbers(["a", "e", "a"]) == [4, 0]
    assert found.ranks.tolist() == [4, 1, 2, 3, 0]
    with pytest.raises(InputError, match="instruction 'x' is not in the pool of 5"):
        found.numbers(["a", "x"])


def test_a_pair_is_known_in_either_order() -> None:
    assert candidates().known(PAIR[::-1]) == PAIR
    with pytest.raises(InputError, match="no pair one and three; there are one and two"):
        candidates().known(("one", "three"))


def test_an_unusable_answer_matters_only_where_it_is_allowed() -> None:
    candidates(unusable=3)
    with pytest.raises(InputError, match="1 vectors of 'two' are not finite, the first for instruction 'a'"):
        candidates(unusable=4)
