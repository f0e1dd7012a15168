"""Tests of `urs_inspect.stats.battles`."""

import numpy as np
import pytest

from tests.stats.fights import fights, random_fights
from urs_inspect._util import InputError
from urs_inspect.stats import Battle, Battles, battles_of
from urs_inspect.stats.battles import connectivity_of, ordered_by_votes, outcome_of, win_rates_of


def test_votes_become_arrays() -> None:
    battles = battles_of([Battle("y", "x", 1.0, "q2"), Battle("x", "z", 0.5, "q1"), Battle("z", "y", 0.0, "q2")])
    assert battles.players == ("x", "y", "z")
    assert battles.first.tolist() == [1, 0, 2]
    assert battles.second.tolist() == [0, 2, 1]
    assert battles.outcome.tolist() == [1.0, 0.5, 0.0]
    assert battles.clusters.tolist() == [1, 0, 1]
    assert (len(battles), battles.ties) == (3, 1)
    assert [array.dtype for array in (battles.first, battles.outcome, battles.clusters)] == [
        np.int64,
        np.float64,
        np.int64,
    ]


def test_players_may_be_given() -> None:
    battles = battles_of([Battle("y", "x", 1.0, "q")], players=("y", "x", "absent"))
    assert battles.players == ("y", "x", "absent")
    assert (battles.first.tolist(), battles.second.tolist()) == ([0], [1])


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
    with pytest.raises(InputError, match="comparison 2") as caught:
        battles_of([Battle("a", "b", 1.0, "q"), battle], players=("a", "b"))
    assert str(caught.value).startswith(message)


def test_nothing_cannot_be_ranked() -> None:
    with pytest.raises(InputError, match="nothing to rank by"):
        battles_of([])


def test_a_model_cannot_be_named_twice() -> None:
    with pytest.raises(InputError, match="named twice"):
        battles_of([Battle("a", "b", 1.0, "q")], players=("a", "b", "a"))


@pytest.mark.parametrize(
    ("winner", "outcome"),
    [("model_a", 1.0), ("model_b", 0.0), ("tie", 0.5), ("tie (bothbad)", 0.5), ("gpt", 1.0), ("koala", 0.0)],
)
def test_published_winners_are_read(winner: str, outcome: float) -> None:
    assert outcome_of(winner, "gpt", "koala") == outcome


@pytest.mark.parametrize("winner", ["vicuna", "", None, 1, ["model_a"]])
def test_an_unknown_winner_is_refused(winner: object) -> None:
    with pytest.raises(InputError, match=r"unknown winner .*; allowed: model_a, tie"):
        outcome_of(winner, "gpt", "koala")


@pytest.mark.parametrize(
    ("first", "second", "outcome", "message"),
    [
        ([0], [0], [1.0], "itself"),
        ([0], [2], [1.0], "between 0 and 1"),
        ([-1], [0], [1.0], "between 0 and 1"),
        ([0], [1], [0.4], "outcomes must be"),
        ([0, 1], [1], [1.0], "one length"),
    ],
)
def test_arrays_must_fit(first: list[int], second: list[int], outcome: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Battles(("a", "b"), np.array(first), np.array(second), np.array(outcome), np.zeros(len(first), dtype=np.int64))


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
    assert not found.battles.any()
    assert not found.wins.any()
    assert not found.ties.any()


def test_a_circle_connects_all() -> None:
    found = connectivity_of(fights("a>b", "b>c", "c>a"))
    assert found.connected
    assert found.groups == found.linked == (("a", "b", "c"),)
    assert found.message == ""
    assert found.links("a", "c")


def test_an_undefeated_model_is_named() -> None:
    found = connectivity_of(fights("b>c", "c>b", "a>b", "a>c"))
    assert not found.connected
    assert found.groups == (("a",), ("b", "c"))
    assert found.linked == (("a", "b", "c"),)
    assert found.message == (
        "Between (a) and (b, c) every vote went one way, without a tie: the prior, and not the votes, sets how far "
        "these groups lie apart."
    )


def test_groups_that_never_met_are_named() -> None:
    found = connectivity_of(fights("a=b", "c=d"))
    assert found.linked == found.groups == (("a", "b"), ("c", "d"))
    assert found.links("a", "b")
    assert not found.links("b", "c")
    assert found.message == (
        "No chain of comparisons links (a, b) and (c, d): ratings and ranks compare only within a group."
    )


def test_both_troubles_are_said() -> None:
    message = connectivity_of(fights("a>b", "c=d")).message
    assert "links (a, b) and (c, d)" in message
    assert "Between (a) and (b) every vote went one way" in message


def test_a_model_without_a_battle_is_alone() -> None:
    battles = battles_of([Battle("a", "b", 0.5, "q")], players=("a", "b", "z"))
    assert connectivity_of(battles).linked == (("a", "b"), ("z",))


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_those_that_walking_finds(seed: int) -> None:
    battles = random_fights(7, 8, 8, seed)
    above: dict[str, set[str]] = {name: {name} for name in battles.players}
    names = battles.players
    for i, j, outcome in zip(battles.first, battles.second, battles.outcome, strict=True):
        if outcome > 0:
            above[names[i]].add(names[j])
        if outcome < 1:
            above[names[j]].add(names[i])

    def walk(start: str) -> set[str]:
        seen, waiting = set(), [start]
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += above[name]
        return seen

    reached = {name: walk(name) for name in names}
    found = connectivity_of(battles)
    assert sorted(name for group in found.groups for name in group) == sorted(names)
    for place, group in enumerate(found.groups):
        for name in names:
            assert (name in group) == (name in reached[group[0]] and group[0] in reached[name])
        for later in found.groups[place + 1 :]:
            assert group[0] not in reached[later[0]]  # who comes first beats who comes later, never the reverse
    assert found.connected == (len({frozenset(seen) for seen in reached.values()}) == 1)
    assert np.sum([len(group) for group in found.linked]) == len(names)


def test_two_models_that_only_beat_a_third_are_not_ordered() -> None:
    # a and b never met and both beat c; d lost to b only: a and d share a loser's winner, but no chain.
    battles = fights("a>c", "b>c", "b>d")
    assert battles.players == ("a", "b", "c", "d")
    assert ordered_by_votes(battles).tolist() == [
        [True, False, True, False],
        [False, True, True, True],
        [True, True, True, False],
        [False, True, False, True],
    ]


def test_a_chain_of_wins_and_ties_orders_as_walking_it_does() -> None:
    for seed in range(20):
        battles = random_fights(6, 6, 6, seed=seed)
        beats = {place: {place} for place in range(len(battles.players))}
        for one, other, outcome in zip(battles.first, battles.second, battles.outcome, strict=True):
            beats[one] |= {other} if outcome > 0 else set()
            beats[other] |= {one} if outcome < 1 else set()
        below = {}
        for start in beats:
            found, left = {start}, [start]
            while left:
                new = beats[left.pop()] - found
                found |= new
                left += new
            below[start] = found
        expected = [[other in below[one] or one in below[other] for other in beats] for one in beats]
        assert ordered_by_votes(battles).tolist() == expected
