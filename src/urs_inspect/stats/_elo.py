"""Elo ratings, in the order of the battles or averaged over many orders."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from urs_inspect.stats._battles import Battles
from urs_inspect.stats._bootstrap import SEED, Floats, Integers, resample

Progress = Callable[[float], object]
"""Takes the share of the work that was done since the last call; all shares add up to 1."""

K = 4.0
SCALE = 400.0
START = 1000.0
"""Step, scale and start of the MAD paper (Eq. 4, Appendix B), which are those of Chatbot Arena."""
ROUNDS = 1000
"""Resamples (MAD paper, Appendix B)."""

_BLOCK = 1 << 24
"""Most battles of all rounds together whose weights are held at a time, 128 MB."""
_PLAYED = 1 << 28
"""Most bytes of the rounds that are played together: one step in Python plays one battle of each of
them.
"""
_LOOKED_UP = 1 << 16
"""Most battles of all these rounds that are looked up at a time, so that they stay in the
processor's cache.
"""


def no_progress(_: float) -> None:
    """Progress that is not shown."""


def fit_elo(
    battles: Battles, *, k: float = K, scale: float = SCALE, start: float = START
) -> Floats:
    """Elo ratings after the battles in their order (MAD paper, Eq. 4).

    What one model gains the other loses, so that the mean stays at `start`.

    Args:
        battles: The battles; their order counts.
        k: Most points that one battle can move a rating by; eta in the paper.
        scale: Points at which the stronger is expected to win ten times as often; tau in the paper.
        start: Rating before the first battle.

    Returns:
        Ratings in the order of the players, shape (P,).

    Examples:
        >>> from urs_inspect.stats import Battle, battles_of, fit_elo
        >>> fit_elo(battles_of([Battle("a", "b", 1.0, "q1")])).tolist()
        [1002.0, 998.0]
    """
    ratings = [float(start)] * len(battles.players)
    firsts = battles.first.tolist()
    seconds = battles.second.tolist()
    outcomes = battles.outcome.tolist()
    for first, second, outcome in zip(firsts, seconds, outcomes, strict=True):
        gap = ratings[second] - ratings[first]
        expected = 1 / (1 + 10 ** (gap / scale))
        change = k * (outcome - expected)
        ratings[first] += change
        ratings[second] -= change
    return np.array(ratings)


def bootstrap_elo(
    battles: Battles, rounds: int = ROUNDS, seed: int = SEED, progress: Progress = no_progress
) -> Floats:
    """Elo ratings of resamples, shape (R, P).

    Their mean is the rating of the MAD paper (Section 2, Appendix B).

    A resample draws as many instructions as there are, with replacement (those that
    `bootstrap_bradley_terry` draws with the same seed), and plays all battles of those drawn in a
    random order. Where every instruction occurs once, this is the plain bootstrap of battles of the
    paper. A model that is not drawn is rated `start`.
    """
    generator = np.random.default_rng([seed, 1])  # not the stream that draws the instructions
    weights = _drawn_battles(battles, rounds, seed)
    return _play(battles, weights, generator, rounds, progress)


def _drawn_battles(battles: Battles, rounds: int, seed: int) -> Iterator[npt.NDArray[Any]]:
    """How often each battle is played in some rounds, shape (B, N), in small integers."""
    instructions, clusters = np.unique(battles.clusters, return_inverse=True)
    for drawn in resample(len(instructions), rounds, seed):
        for rows in _blocks(drawn, len(battles)):
            smallest = np.min_scalar_type(int(rows.max()))
            counts = rows.astype(smallest)
            yield counts[:, clusters]


def shuffle_elo(
    battles: Battles, rounds: int = ROUNDS, seed: int = SEED, progress: Progress = no_progress
) -> Floats:
    """Elo ratings of the same battles in random orders, shape (R, P).

    The reference code of the MAD paper does it so.

    The spread over rounds shows how much the order matters, and nothing about which votes might
    have been cast: it is no confidence interval.
    """
    generator = np.random.default_rng([seed, 2])
    once = np.broadcast_to(np.uint8(1), (rounds, len(battles)))
    blocks = _blocks(once, len(battles))
    return _play(battles, blocks, generator, rounds, progress)


class _Kinds(NamedTuple):
    """Who meets and how it ends.

    There are few kinds of battles, so that orders of kinds are small.
    """

    # of each kind, shape (K + 1,); the last kind is no battle: one who does not count with itself
    first: Integers
    second: Integers
    outcome: Floats
    of: npt.NDArray[Any]  # kind of each battle, in the smallest type of integer, shape (N,)


def _kinds_of(battles: Battles) -> _Kinds:
    battle_rows = np.stack(battles.sides(), axis=1)
    kinds, of = np.unique(battle_rows, axis=0, return_inverse=True)
    nobody = len(battles.players)
    no_battle = [nobody, nobody, 0.5]
    first, second, won = np.concatenate([kinds, [no_battle]]).T
    smallest = np.min_scalar_type(len(kinds))
    return _Kinds(
        first=first.astype(np.int64),
        second=second.astype(np.int64),
        outcome=won,
        of=of.ravel().astype(smallest),
    )


def _blocks(rows: npt.NDArray[Any], battles: int) -> Iterator[npt.NDArray[Any]]:
    size = max(1, _BLOCK // max(1, battles))
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _play(
    battles: Battles,
    blocks: Iterable[npt.NDArray[Any]],
    generator: np.random.Generator,
    rounds: int,
    progress: Progress,
) -> Floats:
    """Ratings after each round's battles in random order.

    `blocks` has how often each is played, shape (rounds, N).
    """
    kinds = _kinds_of(battles)
    players = len(battles.players)
    no_battle = len(kinds.first) - 1
    played: list[Floats] = []
    waiting: list[npt.NDArray[Any]] = []

    def play() -> None:
        width = sum(map(len, waiting))
        ratings = np.full(width * (players + 1), START)
        longest = max(orders.shape[1] for orders in waiting)
        size = max(1, _LOOKED_UP // width)
        for place in range(0, longest, size):
            steps = _steps(waiting, slice(place, place + size), no_battle)
            _step(ratings, kinds, steps)
            progress(0.5 * width / rounds * len(steps) / longest)
        played.append(ratings.reshape(width, players + 1)[:, :players])
        waiting.clear()

    for weights in blocks:
        waiting.append(_shuffled(kinds, weights, generator))
        # To put a round in order takes about as long as to play it.
        progress(0.5 * len(weights) / rounds)
        if sum(orders.nbytes for orders in waiting) >= _PLAYED:
            play()
    if waiting:
        play()
    return np.concatenate(played)


def _shuffled(
    kinds: _Kinds,
    weights: npt.NDArray[Any],
    generator: np.random.Generator,
) -> npt.NDArray[Any]:
    """Kinds of the battles of each round in random order, filled up, shape (R, L)."""
    lengths = weights.sum(axis=1, dtype=np.int64)
    longest = int(lengths.max(initial=0))
    no_battle = len(kinds.first) - 1
    shape = (len(weights), longest)
    orders = np.full(shape, no_battle, dtype=kinds.of.dtype)
    for order, counts, length in zip(orders, weights, lengths, strict=True):
        order[:length] = np.repeat(kinds.of, counts)
        order[:] = order[generator.permutation(longest)]
    return orders


def _steps(blocks: Sequence[npt.NDArray[Any]], place: slice, none: int) -> Integers:
    """Kinds of some battles of the rounds of all blocks, shape (steps, R).

    Where a round is over, no battle.
    """
    parts = [orders[:, place].T for orders in blocks]
    longest = max(map(len, parts))
    rounds = sum(map(len, blocks))
    steps = np.full((longest, rounds), none, dtype=np.int64)
    start = 0
    for part in parts:
        stop = start + part.shape[1]
        steps[: len(part), start:stop] = part
        start = stop
    return steps


def _step(ratings: Floats, kinds: _Kinds, steps: Integers) -> None:
    """Play the battles of each step in all rounds at once.

    The ratings of a round follow those of the one before.
    """
    rounds = steps.shape[1]
    players = len(ratings) // rounds
    offsets = np.arange(rounds) * players
    firsts = kinds.first[steps] + offsets
    seconds = kinds.second[steps] + offsets
    outcomes = K * (kinds.outcome[steps] - 0.5)
    steepness = np.log(10) / SCALE / 2
    for first, second, outcome in zip(firsts, seconds, outcomes, strict=True):
        one = ratings[first]
        other = ratings[second]
        change = other - one
        change *= steepness
        np.tanh(change, out=change)  # 1 / (1 + exp(2 x)) is (1 - tanh(x)) / 2
        change *= K / 2
        change += outcome
        one += change
        other -= change
        ratings[first] = one
        ratings[second] = other
