"""Chains to add up: seeded, stable, of the lengths asked for."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urs_inspect._util import InputError
from urs_inspect.datasets._addition import addition_chains, addition_lengths, addition_prompt

FIRST = ["51 + 76", "62 + 28 + 59 + 96 + 12", "16 + 67", "31 + 98 + 35 + 31 + 20"]


def test_ten_chains_of_each_length_of_two_digit_numbers() -> None:
    chains = addition_chains(range(2, 21), 10, 0)
    assert len(chains) == 190
    assert Counter(len(chain.numbers) for chain in chains) == dict.fromkeys(range(2, 21), 10)
    assert all(10 <= number <= 99 for chain in chains for number in chain.numbers)
    assert len({chain.numbers for chain in chains}) == len({chain.id for chain in chains}) == 190
    assert [len(chain.numbers) for chain in chains[:19]] == list(
        range(2, 21)
    )  # every beginning has all lengths


def test_a_chain_knows_its_sum_and_text() -> None:
    [chain] = addition_chains([3], 1, 7)
    a, b, c = chain.numbers
    assert (chain.id, chain.total, chain.text) == ("add_03_01", a + b + c, f"{a} + {b} + {c}")
    for language in ("en", "zh"):
        prompt = addition_prompt(language)
        assert prompt.fill(chain).count(chain.text) == 1
        assert "{" not in prompt.fill(chain)
        assert (prompt.version, len(prompt.sha256)) == ("addition 1", 64)
    with pytest.raises(InputError, match=r"language:.*value 'fr'; allowed: en, zh"):
        addition_prompt("fr")


def test_the_chains_of_seed_zero_are_the_same_on_every_machine() -> None:
    assert [chain.text for chain in addition_chains([2, 5], 2, 0)] == FIRST


@given(
    lengths=st.lists(st.integers(2, 30), min_size=1, max_size=6),
    per_length=st.integers(1, 12),
    seed=st.integers(0, 2**32),
)
def test_more_chains_and_other_lengths_leave_the_first_ones_as_they_are(
    lengths: list[int], per_length: int, seed: int
) -> None:
    chains = {chain.id: chain for chain in addition_chains(lengths, per_length, seed)}
    more = {
        chain.id: chain for chain in addition_chains([*reversed(lengths), 31], per_length + 1, seed)
    }
    assert {name: more[name] for name in chains} == chains


def test_the_longest_and_the_shortest_chains_and_the_most_of_them_can_be_drawn() -> None:
    chains = addition_chains([2, 100], 1, 0)
    assert [len(chain.numbers) for chain in chains] == [2, 100]
    for lengths, per_length in (([1], 1), ([101], 1), ([2], 0), ([2], 1001)):
        with pytest.raises(InputError):
            addition_chains(lengths, per_length, 0)


def test_all_chains_of_a_length_are_different() -> None:
    assert len({chain.numbers for chain in addition_chains([2], 1000, 3)}) == 1000


@pytest.mark.parametrize(
    ("lengths", "per_length", "message"),
    [
        ([2, 1], 10, "lengths:.*2 to 100, got 1"),
        ([101], 10, "lengths:.*2 to 100, got 101"),
        ([2], 0, "per_length:.*1 to 1000, got 0"),
        ([2], 1001, "per_length:.*1 to 1000, got 1001"),
    ],
)
def test_what_cannot_be_drawn_is_refused(lengths: list[int], per_length: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        addition_chains(lengths, per_length, 0)


@pytest.mark.parametrize(
    ("given", "lengths"),
    [
        (3, [3]),
        ("3", [3]),
        (" 2 - 4 , 12 ", [2, 3, 4, 12]),
        ("7-7", [7]),
        ("5,2-6,3", [5, 2, 3, 4, 6]),
        ([4, "2-3", 4], [4, 2, 3]),
        ((9, "9"), [9]),
    ],
)
def test_lengths_are_numbers_and_ranges_each_once(given: object, lengths: list[int]) -> None:
    assert addition_lengths(given) == lengths


@pytest.mark.parametrize(
    "given",
    [
        "",
        [],
        "9-2",
        "2,",
        "2,x",
        "2,9-2",
        [2, "x", 3],
        [2, True],
        True,
        None,
        2.5,
        "-3",
        {"2": 3},
    ],
)
def test_one_part_that_is_no_length_refuses_all(given: object) -> None:
    with pytest.raises(InputError, match=r"^lengths: ") as caught:
        addition_lengths(given)
    assert repr(given) in str(caught.value)
