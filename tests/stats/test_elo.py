"""Elo, in order and over resamples."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import evalica
import numpy as np
import numpy.typing as npt
import pytest

from tests.stats.fights import fights, random_fights, renamed, swapped
from urs_inspect.stats import Battles, fit_elo
from urs_inspect.stats import _elo as elo
from urs_inspect.stats._bootstrap import resample
from urs_inspect.stats._elo import bootstrap_elo, shuffle_elo

WINNERS = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}


def test_two_battles_by_hand() -> None:
    # Equals expect 1/2, so the first win moves 4 * (1 - 1/2) = 2 points: 1002 and 998. The tie then
    # is worth 4 * (1/2 - 1 / (1 + 10 ** (-4/400))) = 4 * (0.5 - 0.505756) = -0.023025 to a.
    assert fit_elo(fights("a>b", "a=b")) == pytest.approx([1001.976975, 998.023025], abs=1e-6)
    # At a scale of 4 points, 4 points of lead are odds of 10: a was expected to win with 10/11, and
    # loses 4 * 10/11.
    assert fit_elo(fights("a>b", "a<b"), k=4, scale=4, start=7) == pytest.approx(
        [9 - 4 * 10 / 11, 5 + 4 * 10 / 11]
    )


@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_evalica_computes(seed: int) -> None:
    battles = random_fights(5, 300, 40, seed)
    first, second = (
        [battles.players[index] for index in side] for side in (battles.first, battles.second)
    )
    reference = evalica.elo(
        first, second, [WINNERS[outcome] for outcome in battles.outcome.tolist()]
    ).scores
    assert fit_elo(battles) == pytest.approx(
        [reference[name] for name in battles.players], abs=1e-9
    )


@pytest.mark.parametrize("fitted", [fit_elo, bootstrap_elo, shuffle_elo])
def test_sides_and_names_do_not_matter(
    fitted: Callable[[Battles], npt.NDArray[np.float64]],
) -> None:
    battles = random_fights(4, 60, 10, seed=5)
    given = np.atleast_2d(fitted(battles))
    assert np.atleast_2d(fitted(swapped(battles))) == pytest.approx(given)
    order = [2, 0, 3, 1]
    assert np.atleast_2d(fitted(renamed(battles, order))) == pytest.approx(given[:, order])


def orders_of(battles: Battles, counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Ratings after each order of the battles, each as often as it was drawn."""
    drawn = np.repeat(np.arange(len(counts)), counts.astype(int)).tolist()
    return np.array([fit_elo(battles.take(list(order))) for order in set(permutations(drawn))])


SMALL = ("a>b@1", "b=c@1", "c>a@2", "a<b@3")


@pytest.mark.parametrize("block", [1 << 24, 8])
def test_orders_are_played_one_by_one(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urs_inspect.stats._elo._BLOCK", block)
    battles = fights(*SMALL)
    possible = orders_of(battles, np.ones(4))
    found = shuffle_elo(battles, rounds=401)  # the last block of two is half full
    nearest = np.abs(found[:, None, :] - possible[None, :, :]).max(axis=2)
    assert nearest.min(axis=1).max() < 1e-9
    # Of 24 orders, each turns up: the chance that a given one misses 401 rounds is 4e-8.
    assert set(nearest.argmin(axis=1)) == set(range(len(possible)))


@pytest.mark.parametrize("block", [1 << 24, 8])
def test_a_resample_plays_the_instructions_drawn(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urs_inspect.stats._elo._BLOCK", block)
    battles = fights(*SMALL)
    found = bootstrap_elo(battles, rounds=61, seed=3)
    draws = np.concatenate(list(resample(3, 61, 3)))[:, battles.clusters]
    assert len({tuple(row) for row in draws}) > 5
    for ratings, counts in zip(found, draws, strict=True):
        assert np.abs(orders_of(battles, counts) - ratings).max(axis=1).min() < 1e-9


def slow_rounds(
    battles: Battles, weights: npt.NDArray[np.float64], seed: list[int]
) -> npt.NDArray[np.float64]:
    """Each battle as often as drawn, shuffled, and played one after the other.

    All rounds as one block.
    """
    generator = np.random.default_rng(seed)
    counts = weights.astype(int)
    longest = counts.sum(axis=1).max()
    found = []
    for row in counts:
        places = np.repeat(np.arange(len(battles)), row)
        order = np.pad(places, (0, longest - len(places)), constant_values=-1)
        generator.shuffle(order)
        found.append(fit_elo(battles.take(order[order >= 0])))
    return np.array(found)


@pytest.mark.parametrize("looked_up", [1, 1 << 16])
@pytest.mark.parametrize("played", [1, 1 << 28])
def test_all_rounds_at_once_are_the_rounds_one_by_one(
    played: int, looked_up: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urs_inspect.stats._elo._PLAYED", played)
    monkeypatch.setattr("urs_inspect.stats._elo._LOOKED_UP", looked_up)
    battles = random_fights(5, 120, 30, seed=9)
    drawn = np.concatenate(list(resample(len(np.unique(battles.clusters)), 12, 4)))[
        :, battles.clusters
    ]
    assert (
        np.abs(
            bootstrap_elo(battles, rounds=12, seed=4) - slow_rounds(battles, drawn, [4, 1])
        ).max()
        < 1e-9
    )
    once = np.ones((12, len(battles)))
    assert (
        np.abs(shuffle_elo(battles, rounds=12, seed=4) - slow_rounds(battles, once, [4, 2])).max()
        < 1e-9
    )


@pytest.mark.parametrize("fitted", [bootstrap_elo, shuffle_elo])
@pytest.mark.parametrize("block", [1 << 24, 100])
def test_progress_adds_up_to_all(
    fitted: Callable[..., npt.NDArray[np.float64]], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urs_inspect.stats._elo._BLOCK", block)
    monkeypatch.setattr("urs_inspect.stats._elo._LOOKED_UP", 200)
    shares: list[float] = []
    fitted(random_fights(4, 50, 20, seed=1), rounds=10, progress=shares.append)
    assert len(shares) > 3
    assert sum(shares) == pytest.approx(1)


def test_one_step_plays_a_battle_of_every_round(monkeypatch: pytest.MonkeyPatch) -> None:
    # 200,000 votes are drawn in blocks of 83 rounds. To play these one block after the other took
    # two minutes.
    monkeypatch.setattr("urs_inspect.stats._elo._BLOCK", 150)
    steps: list[int] = []

    def counted(ratings: Any, kinds: Any, played: npt.NDArray[np.int64], *arguments: Any) -> None:
        steps.append(len(played))
        step(ratings, kinds, played, *arguments)

    step = elo._step
    monkeypatch.setattr(elo, "_step", counted)
    shuffle_elo(random_fights(4, 50, 20, seed=1), rounds=100)
    assert sum(steps) == 50
