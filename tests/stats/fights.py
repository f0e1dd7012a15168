"""Battles for tests, by hand and by chance, and how Hypothesis is set in this room."""

import numpy as np
from hypothesis import settings

from urs_inspect.stats import Battle, Battles, battles_of

checked = settings(deadline=None, database=None, max_examples=30)


def fights(*rows: str) -> Battles:
    """Battles from `a>b`, `a=b` and `a<b`, each on its own instruction or, as in `a>b@3`, on a
    named one.
    """
    listed = []
    for number, row in enumerate(rows):
        names, _, cluster = row.partition("@")
        [sign] = [character for character in names if character in "<=>"]
        first, second = names.split(sign)
        listed.append(
            Battle(first, second, {">": 1.0, "=": 0.5, "<": 0.0}[sign], cluster or f"own {number}")
        )
    return battles_of(listed)


def rows(battles: Battles) -> list[tuple[str, str, float, int]]:
    """First, second, outcome and number of the instruction of every battle."""
    columns = (battles.first, battles.second, battles.outcome, battles.clusters)
    return [
        (battles.players[i], battles.players[j], outcome, cluster)
        for i, j, outcome, cluster in zip(*(column.tolist() for column in columns), strict=True)
    ]


def random_fights(
    players: int, size: int, clusters: int, seed: int, spread: float = 1.0
) -> Battles:
    """Battles of players whose strengths lie `spread` apart from each other, a quarter of them
    ties.
    """
    generator = np.random.default_rng(seed)
    listed = []
    for _ in range(size):
        i, j = generator.choice(players, size=2, replace=False)
        won = generator.random() < 1 / (1 + np.exp(spread * (i - j)))
        outcome = 0.5 if generator.random() < 0.25 else float(won)
        listed.append(Battle(f"m{i:02}", f"m{j:02}", outcome, str(generator.integers(clusters))))
    return battles_of(listed)


def swapped(battles: Battles) -> Battles:
    """The same battles with both sides exchanged."""
    return Battles(
        battles.players, battles.second, battles.first, 1 - battles.outcome, battles.clusters
    )


def renamed(battles: Battles, order: list[int]) -> Battles:
    """The same battles with the players in another order."""
    place = np.argsort(order)
    players = tuple(battles.players[index] for index in order)
    return Battles(
        players, place[battles.first], place[battles.second], battles.outcome, battles.clusters
    )
