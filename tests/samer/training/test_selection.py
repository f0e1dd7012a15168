"""Balancing and the filter by agreement."""

import pytest

from tests.samer.training.made import pair
from urs_inspect.errors import InputError
from urs_inspect.samer.training import balance

PAIRS = [pair(number, scenario="chitchat" if number % 3 else "roleplay") for number in range(30)]


def test_large_scenarios_are_cut_and_small_ones_named():
    # 20 pairs of chitchat, 10 of roleplay.
    found = balance(PAIRS, least=11, most=15)
    assert found.found == {"chitchat": 20, "roleplay": 10}
    assert found.kept == {"chitchat": 15, "roleplay": 10}
    assert found.short == ("roleplay",)
    assert len(found.pairs) == 25
    assert [one.id for one in found.pairs] == [one.id for one in PAIRS if one in found.pairs]


def test_the_choice_depends_on_seed_and_id_alone():
    chosen = {one.id for one in balance(PAIRS, least=1, most=5, seed=1).pairs}
    assert {one.id for one in balance(PAIRS[::-1], least=1, most=5, seed=1).pairs} == chosen
    assert {one.id for one in balance(PAIRS, least=1, most=5, seed=2).pairs} != chosen


@pytest.mark.parametrize(("least", "most"), [(0, 0), (6, 5), (-1, 5)])
def test_impossible_bounds_are_refused(least: int, most: int):
    with pytest.raises(InputError, match="a scenario; allowed"):
        balance(PAIRS, least=least, most=most)
