"""Majorities and agreement: by hand, by another implementation, by properties."""

import math
from collections import Counter

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urs_inspect.annotation._agreement import agreement, krippendorff_alpha, majorities
from urs_inspect.annotation._votes import Vote
from urs_inspect.discrepancy._ballots import Choice

CHOICES: tuple[Choice, ...] = ("a", "b", "tie", "cannot_tell")
SWAPPED: dict[Choice, Choice] = {"a": "b", "b": "a", "tie": "tie", "cannot_tell": "cannot_tell"}

votes_of_some = st.dictionaries(
    st.tuples(st.sampled_from("uvwxyz"), st.sampled_from(["ann", "ben", "cy", "di"])),
    st.sampled_from(CHOICES),
).map(lambda cast: [Vote(ballot, person, choice) for (ballot, person), choice in cast.items()])


def cast(ballot: str, *chosen: Choice) -> list[Vote]:
    return [Vote(ballot, f"voter {number}", choice) for number, choice in enumerate(chosen)]


@pytest.mark.parametrize(
    ("chosen", "outcome", "shared"),
    [
        (("a", "a", "b"), 1.0, False),
        (("b", "tie", "b"), 0.0, False),
        (("tie",), 0.5, False),
        (("a", "b"), 0.5, True),  # split: no difference that people see together
        (("a", "tie"), 0.5, True),
        (("a", "b", "tie"), 0.5, True),
        (("a", "cannot_tell", "cannot_tell"), 1.0, False),  # who cannot tell counts for nothing
        (("cannot_tell",), math.nan, False),
    ],
)
def test_majority(chosen: tuple[Choice, ...], outcome: float, shared: bool) -> None:
    [found] = majorities(cast("x", *chosen))
    assert found.outcome == pytest.approx(outcome, nan_ok=True)
    assert found.shared is shared
    assert found.cannot_tell == chosen.count("cannot_tell")
    assert sum(found.counts) + found.cannot_tell == len(chosen)


@given(votes_of_some)
def test_majority_is_the_mode_and_turns_with_the_labels(votes: list[Vote]) -> None:
    value = {"a": 1.0, "tie": 0.5, "b": 0.0}
    expected = {}
    for ballot in sorted({vote.ballot for vote in votes}):
        counts = Counter(
            vote.choice for vote in votes if vote.ballot == ballot and vote.choice != "cannot_tell"
        )
        modes = [choice for choice, count in counts.items() if count == max(counts.values())]
        expected[ballot] = value[modes[0]] if len(modes) == 1 else 0.5 if modes else math.nan
    found = {each.ballot: each.outcome for each in majorities(reversed(votes))}
    assert found == pytest.approx(expected, nan_ok=True)
    turned = majorities([Vote(vote.ballot, vote.annotator, SWAPPED[vote.choice]) for vote in votes])
    assert {each.ballot: 1 - each.outcome for each in turned} == pytest.approx(
        expected, nan_ok=True
    )


def test_share_of_the_most_chosen_option_by_hand() -> None:
    votes = [
        *cast("u", "a", "a", "b"),
        *cast("v", "tie", "tie"),
        *cast("w", "a"),
        *cast("x", "b", "cannot_tell"),
    ]
    found = agreement(votes)
    # u: 2 of 3, v: 2 of 2; w and x have one choice each, which says nothing. Mean (2/3 + 1) / 2 =
    # 5/6.
    assert found.most_chosen.value == pytest.approx(5 / 6)
    assert (found.ballots, found.votes, found.compared, found.shared) == (4, 8, 2, 0)
    assert math.isnan(found.most_chosen.low) and math.isnan(
        found.most_chosen.high
    )  # two ballots are too few


def test_alpha_by_hand() -> None:
    # Two raters, four units: aa, ab, bb, bb. n = 8, n_a = 3, n_b = 5. Observed: 2 / 1 = 2 pairs
    # that differ. Expected: 2 * 3 * 5 / 7 = 30 / 7. alpha = 1 - 2 * 7 / 30 = 16 / 30.
    tables = [(2, 0, 0), (1, 0, 1), (0, 0, 2), (0, 0, 2)]
    assert krippendorff_alpha(tables) == pytest.approx(16 / 30)
    # With only the two ends of the line in use, all distances are equal, and their size falls out.
    assert krippendorff_alpha(tables, (1.0, 0.5, 0.0)) == pytest.approx(16 / 30)


def test_alpha_has_no_value_without_two_units() -> None:
    for tables in ([], [(2, 0, 0), (1, 0, 0), (0, 1, 0)]):
        assert math.isnan(krippendorff_alpha(tables))
    assert krippendorff_alpha([(2, 0, 0), (3, 0, 0)]) == 1.0


@settings(deadline=None, max_examples=30)
@given(votes_of_some)
def test_alpha_is_that_of_evalica(votes: list[Vote]) -> None:
    place = {"a": 1.0, "tie": 0.5, "b": 0.0, "cannot_tell": np.nan}
    people, units = (
        sorted({vote.annotator for vote in votes}),
        sorted({vote.ballot for vote in votes}),
    )
    ratings = pd.DataFrame(np.nan, index=people, columns=units)
    for vote in votes:
        ratings.loc[vote.annotator, vote.ballot] = place[vote.choice]
    compared = [unit for unit in units if ratings[unit].notna().sum() >= 2]
    found = agreement(votes)
    assert found.compared == len(compared)
    if len(compared) < 2:
        assert math.isnan(found.alpha)
    elif len(set(ratings[compared].stack().dropna())) == 1:
        assert found.alpha == found.ordered_alpha == 1.0
    else:
        kept = ratings[compared]
        assert found.alpha == pytest.approx(evalica.alpha(kept, distance="nominal").alpha)
        assert found.ordered_alpha == pytest.approx(evalica.alpha(kept, distance="interval").alpha)


def test_left_and_right_of_a_person_by_hand() -> None:
    votes = [
        Vote("1", "me", "a", "a", 2.0),
        Vote("2", "me", "b", "b", 4.0),
        Vote("3", "me", "a", "a", 9.0),
        Vote("4", "me", "a", "b"),
        Vote("5", "me", "tie", "b"),
        Vote("6", "me", "cannot_tell", "a"),
        Vote("7", "me", "b"),
    ]
    [person] = agreement(votes).annotators
    assert (person.votes, person.left, person.right, person.ties, person.cannot_tell) == (
        7,
        3,
        1,
        1,
        1,
    )
    assert person.unplaced == 1
    assert person.left_share == 0.75
    # Two-sided for 3 of 4: (1 + 4 + 4 + 1) / 16
    assert person.left_p == pytest.approx(10 / 16)
    assert person.seconds == 4.0
    assert math.isnan(person.with_others)


def test_agreement_with_the_others_by_hand() -> None:
    votes = [
        *cast("u", "a", "a", "b"),
        *cast("v", "tie", "b", "b"),
        *cast("w", "a", "a", "cannot_tell"),
    ]
    with_others = {person.annotator: person.with_others for person in agreement(votes).annotators}
    # voter 0: u others a, b are split; v b (no); w a (yes): 1 of 2.
    # voter 1: u a, b split; v tie, b split; w a (yes): 1 of 1.
    # voter 2: u a (no); v tie, b split; w could not tell: 0 of 1.
    assert with_others == {"voter 0": 0.5, "voter 1": 1.0, "voter 2": 0.0}


def test_without_votes_nothing_is_claimed() -> None:
    found = agreement([])
    assert (found.votes, found.ballots, found.compared, found.annotators) == (0, 0, 0, ())
    assert math.isnan(found.most_chosen.value)
    assert math.isnan(found.alpha)
