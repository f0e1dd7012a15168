"""Tests of `urs_inspect.stats._battles`."""

import numpy as np
import pytest

from tests.stats.fights import fights, random_fights, rows
from urs_inspect._util import InputError
from urs_inspect.stats import Battle, Battles, battles_of
from urs_inspect.stats._battles import connectivity_of, ordered_by_votes, outcome_of, win_rates_of


def test_votes_become_arrays() -> None:
    listed = [Battle("y", "x", 1.0, "q2"), Battle("x", "z", 0.5, "q1"), Battle("z", "y", 0.0, "q2")]
    battles = battles_of(listed)
    assert battles.players == ("x", "y", "z")
    for array, expected, dtype in (
        (battles.first, [1, 0, 2], np.int64),
        (battles.second, [0, 2, 1], np.int64),
        (battles.outcome, [1.0, 0.5, 0.0], np.float64),
        (battles.clusters, [1, 0, 1], np.int64),
    ):
        assert array.tolist() == expected
        assert array.dtype == dtype
    assert (len(battles), battles.ties) == (3, 1)
    given = battles_of(listed, players=("z", "y", "x", "absent"))
    assert (given.players, given.first.tolist()) == (("z", "y", "x", "absent"), [1, 2, 0])


def test_some_of_the_battles_can_be_taken() -> None:
    battles = fights("a>b", "b=c", "c<a")
    assert battles.take([2, 0]).outcome.tolist() == [0.0, 1.0]
    assert battles.take(battles.outcome == 0.5).first.tolist() == [1]
    assert battles.take([]).players == ("a", "b", "c")


@pytest.mark.parametrize(
    ("battle", "message"),
    [
        (Battle("a", "a", 1.0, "q"), "comparison 2: 'a' is compared with itself"),
        (Battle("a", "b", 0.7, "q"), "comparison 2: unknown outcome 0.7; allowed: 1.0, 0.5, 0.0"),
        (Battle("a", "b", float("nan"), "q"), "comparison 2: unknown outcome nan"),
        (Battle("a", "c", 1.0, "q"), "comparison 2: unknown model 'c'; allowed: a, b"),
    ],
)
def test_a_faulty_battle_is_named(battle: Battle, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        battles_of([Battle("a", "b", 1.0, "q"), battle], players=("a", "b"))


def test_nothing_cannot_be_ranked_nor_a_model_named_twice() -> None:
    with pytest.raises(InputError, match="to rank by"):
        battles_of([])
    with pytest.raises(InputError, match="named twice"):
        battles_of([Battle("a", "b", 1.0, "q")], players=("a", "b", "a"))


def test_published_winners_are_read() -> None:
    winners = {
        "model_a": 1.0,
        "model_b": 0.0,
        "tie": 0.5,
        "tie (bothbad)": 0.5,
        "gpt": 1.0,
        "koala": 0.0,
    }
    assert {winner: outcome_of(winner, "gpt", "koala") for winner in winners} == winners


@pytest.mark.parametrize("winner", ["vicuna", "", None, 1, ["model_a"]])
def test_an_unknown_winner_is_refused(winner: object) -> None:
    with pytest.raises(InputError, match=r"unknown winner .*; allowed: model_a, tie"):
        outcome_of(winner, "gpt", "koala")


@pytest.mark.parametrize(("first", "second"), [("tie", "b"), ("b", "model_a")])
def test_a_model_named_as_a_winner_is_written_makes_only_its_own_votes_ambiguous(
    first: str, second: str
) -> None:
    [name] = {first, second} - {"b"}
    with pytest.raises(InputError, match=rf"'{name}' is ambiguous"):
        outcome_of(name, first, second)
    assert outcome_of("b", first, second) == (1.0 if first == "b" else 0.0)


def test_models_that_met_nobody_are_left_out_and_instructions_counted_anew() -> None:
    battles = battles_of(
        [Battle("c", "b", 1.0, "q1"), Battle("x", "b", 0.5, "q2"), Battle("b", "c", 0.0, "q3")],
        players=("z", "x", "c", "b"),
    )
    left = battles.take([0, 2]).of_players_who_met()
    assert left.players == ("c", "b")
    assert rows(left) == [("c", "b", 1.0, 0), ("b", "c", 0.0, 1)]


@pytest.mark.parametrize(
    ("first", "second", "outcome", "message"),
    [
        ([0], [0], [1.0], "itself"),
        ([0], [2], [1.0], "between 0 and 1"),
        ([2], [0], [1.0], "between 0 and 1"),
        ([-1], [0], [1.0], "between 0 and 1"),
        ([0], [1], [0.4], "outcomes must be"),
        ([0, 1], [1], [1.0], "one length"),
    ],
)
def test_arrays_must_fit(
    first: list[int], second: list[int], outcome: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Battles(
            ("a", "b"),
            np.array(first),
            np.array(second),
            np.array(outcome),
            np.zeros(len(first), dtype=np.int64),
        )


def test_three_models_by_hand() -> None:
    # a:b is 2 wins, 1 tie, 1 loss: (2 + 0.5) / 4 = 0.625. b:c one tie. a and c never met.
    found = win_rates_of(fights("a>b", "b<a", "a=b", "b>a", "c=b"))
    assert found.players == ("a", "b", "c")
    nan = np.nan
    np.testing.assert_allclose(found.rates, [[nan, 0.625, nan], [0.375, nan, 0.5], [nan, 0.5, nan]])
    assert found.battles.tolist() == [[0, 4, 0], [4, 0, 1], [0, 1, 0]]
    assert found.wins.tolist() == [[0, 2, 0], [1, 0, 0], [0, 0, 0]]
    assert found.ties.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_it_is_what_counting_gives() -> None:
    battles = random_fights(5, 120, 30, seed=1)
    found = win_rates_of(battles)
    for i, j, outcome in zip(battles.first, battles.second, battles.outcome, strict=True):
        for one, other, result in ((i, j, outcome), (j, i, 1 - outcome)):
            found.battles[one, other] -= 1
            found.wins[one, other] -= result == 1
            found.ties[one, other] -= result == 0.5
    assert not (found.battles.any() or found.wins.any() or found.ties.any())


ONE_WAY = (
    "every vote went one way, without a tie: the prior, and not the votes, sets how far these"
    " groups lie apart."
)
NO_CHAIN = (
    "No chain of comparisons links (a, b) and (c, d): ratings and ranks compare only within a"
    " group."
)


@pytest.mark.parametrize(
    ("votes", "linked", "groups", "message"),
    [
        pytest.param("a>b b>c c>a", ["abc"], ["abc"], "", id="a circle"),
        pytest.param(
            "b>c c>b a>b a>c",
            ["abc"],
            ["a", "bc"],
            f"Between (a) and (b, c) {ONE_WAY}",
            id="undefeated",
        ),
        pytest.param("a=b c=d", ["ab", "cd"], ["ab", "cd"], NO_CHAIN, id="apart"),
        pytest.param(
            "a>b c=d",
            ["ab", "cd"],
            ["a", "b", "cd"],
            f"{NO_CHAIN} Between (a) and (b) {ONE_WAY}",
            id="both",
        ),
    ],
)
def test_groups_whose_ratings_compare(
    votes: str, linked: list[str], groups: list[str], message: str
) -> None:
    found = connectivity_of(fights(*votes.split()))
    assert found.linked == tuple(map(tuple, linked))
    assert sorted(found.groups) == sorted(map(tuple, groups))
    assert found.message == message
    assert found.connected == (len(groups) == 1)
    assert (found.links("a", "b"), found.links("b", "c")) == (True, len(linked) == 1)


def test_a_model_without_a_battle_is_alone() -> None:
    battles = battles_of([Battle("a", "b", 0.5, "q")], players=("a", "b", "z"))
    assert connectivity_of(battles).linked == (("a", "b"), ("z",))


@pytest.mark.parametrize("seed", range(20))
def test_groups_and_orders_are_those_that_walking_finds(seed: int) -> None:
    battles = random_fights(7, 8, 8, seed)
    names = battles.players
    below: dict[str, set[str]] = {name: {name} for name in names}
    for i, j, outcome in zip(battles.first, battles.second, battles.outcome, strict=True):
        below[names[i]] |= {names[j]} if outcome > 0 else set()
        below[names[j]] |= {names[i]} if outcome < 1 else set()
    for _ in names:
        below = {
            name: set().union(*(below[other] for other in found)) for name, found in below.items()
        }
    found = connectivity_of(battles)
    assert sorted(name for group in found.groups for name in group) == sorted(names)
    for place, group in enumerate(found.groups):
        assert set(group) == {
            name for name in names if name in below[group[0]] and group[0] in below[name]
        }
        for later in found.groups[place + 1 :]:
            assert (
                group[0] not in below[later[0]]
            )  # who comes first beats who comes later, never the reverse
    assert found.connected == (len(set(map(frozenset, below.values()))) == 1)
    assert sorted(name for group in found.linked for name in group) == sorted(names)
    expected = [[other in below[one] or one in below[other] for other in names] for one in names]
    assert ordered_by_votes(battles).tolist() == expected
