"""Tests of `urs_inspect.stats._chain_lengths`."""

import math

import pytest

from urs_inspect.stats._agreement import wilson_interval
from urs_inspect.stats._chain_lengths import HEADLINE, TEXT, Trial, accuracy, between, longest


def trials(**right: str) -> list[Trial]:
    """Answers by length, such as `of3="++- +"`: one chain a word, a sign for each answer."""
    made = []
    for name, words in right.items():
        for number, word in enumerate(words.split()):
            made += [Trial(f"{name}-{number}", int(name[2:]), sign == "+") for sign in word]
    return made


def test_answers_to_one_chain_are_averaged_first() -> None:
    # Chains have 1/3, 1 and 0 right: 4/9 over 3 chains, not 2 of 5 answers.
    found = accuracy(trials(of2="+-- +", of4="-"))
    assert found.value == pytest.approx(4 / 9)
    assert found == wilson_interval(found.value, 3)
    assert math.isnan(accuracy([]).value)
    assert accuracy([]).n == 0


@pytest.mark.parametrize(
    ("right", "farthest", "unbroken"),
    [
        ({"of2": "++++-"}, 2, 2),  # just 80%
        ({"of2": "++++- +++-"}, 0, 0),  # 7 of 9
        ({"of2": "++++++++++ -"}, 2, 2),
        ({"of2": "+", "of3": "-", "of5": "+"}, 5, 2),
        ({"of5": "+", "of2": "+", "of3": "-"}, 5, 2),
        ({"of2": "-", "of3": "+"}, 3, 0),
        ({"of2": "+", "of4": "+", "of10": "+", "of11": "-"}, 10, 10),
        ({}, 0, 0),
    ],
)
def test_the_longest_chain_has_four_of_five_right(
    right: dict[str, str], farthest: int, unbroken: int
) -> None:
    assert longest(trials(**right)) == (farthest, unbroken)


def test_the_first_and_the_last_length_belong_to_a_range() -> None:
    given = [Trial(str(summands), summands, right=True) for summands in range(1, 13)]
    assert [trial.summands for trial in between(given, 3, 5)] == [3, 4, 5]
    assert [trial.summands for trial in between(given, *HEADLINE)] == [*range(2, 10)]
    assert [trial.summands for trial in between(given, *TEXT)] == [*range(2, 11)]
