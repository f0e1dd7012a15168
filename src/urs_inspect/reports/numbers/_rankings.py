"""Rankings of groups of comparisons, and leaderboards beside a ranking, read from files."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from urs_inspect._util import InputError
from urs_inspect.datasets._rows import Row, number_of, read_table, shown
from urs_inspect.stats import Battles, Estimate, Ranking, compare_leaderboard
from urs_inspect.stats._bootstrap import Flags

# --- rankings of groups of comparisons ---

RankBattles = Callable[[Battles], Ranking]
"""Ranks battles, always with the same seed."""
OVERALL = "overall"


@dataclass(frozen=True)
class RankingsBy:
    """A ranking of all comparisons, and of each group of them."""

    by: str  # what divides the comparisons
    overall: Ranking
    groups: Mapping[str, Ranking]  # in the order of their names
    without: int  # comparisons without a group, which count overall only
    board: Mapping[str, int] | None = None  # rank in a leaderboard, of models that it has
    # group -> Spearman and Kendall with the leaderboard, of groups with two of its models
    agreement: Mapping[str, tuple[Estimate, Estimate]] | None = None


def rankings_by(
    by: str,
    overall: Ranking,
    battles: Battles,
    groups: Sequence[str],
    rank: RankBattles,
    leaderboard: Mapping[str, float] | None = None,
) -> RankingsBy:
    """Rank each group of battles; `groups` is the group of each, empty where it has none."""
    rankings = rankings_of(battles, members_of(groups), rank)
    without = groups.count("")
    if leaderboard is None:
        return RankingsBy(by, overall, rankings, without)
    agreement: dict[str, tuple[Estimate, Estimate]] = {}
    for group, ranking in {OVERALL: overall, **rankings}.items():
        common = leaderboard.keys() & set(ranking.players)
        if len(common) > 1:
            compared = compare_leaderboard(ranking, leaderboard)
            agreement[group] = (compared.spearman, compared.kendall)
    ranks = pd.Series(leaderboard).rank(ascending=False, method="min")
    board = {str(model): int(rank) for model, rank in ranks.items()}
    return RankingsBy(by, overall, rankings, without, board, agreement)


def rankings_of(
    battles: Battles, members: Mapping[str, Flags], rank: RankBattles
) -> dict[str, Ranking]:
    """Group -> ranking of its battles."""
    rankings = {}
    for group, is_member in members.items():
        of_group = battles.take(is_member)
        rankings[group] = rank(of_group.of_players_who_met())
    return rankings


def members_of(groups: Sequence[str]) -> dict[str, Flags]:
    """Which comparisons are in each group, shape (N,)."""
    labels = np.array(groups)
    return {group: labels == group for group in sorted(set(groups) - {""})}


# --- leaderboards ---

_MODEL = "model"
_RATING = "rating"
_RANK = "rank"


def read_leaderboard(path: Path) -> dict[str, float]:
    """Read ratings by model, higher is better; of ranks the negative.

    `path` is a `.csv` file with the columns `model` and `rating` (higher is better) or `rank` (1 is
    best), a `.jsonl` or `.json` file with such rows, or a `.json` file with one object of ratings
    by model.
    """
    rows = _leaderboard_rows(path)
    present = {key for row in rows for key in row.values}
    column = _RANK
    if _RATING in present:
        column = _RATING
    if column not in present:
        raise InputError(f"{path}: needs a column '{_RATING}' or '{_RANK}' beside '{_MODEL}'")
    board: dict[str, float] = {}
    for row in rows:
        given = row.values.get(column)
        value = number_of(given)
        model = row.values.get(_MODEL)
        name = ""
        if isinstance(model, str):
            name = model.strip()
        if not name:
            raise InputError(f"{path}: {row.place}: {_MODEL} must be text, is {shown(model)}")
        if not math.isfinite(value):
            raise InputError(f"{path}: {row.place}: {column} must be a number, is {shown(given)}")
        if name in board:
            raise InputError(f"{path}: {row.place}: '{name}' is listed twice")
        board[name] = value if column == _RATING else -value
    return board


def _leaderboard_rows(path: Path) -> list[Row]:
    """The rows of a table, or of an object of ratings by model."""
    if path.suffix.lower() == ".json" and path.is_file():
        try:
            value = json.loads(path.read_text(encoding="utf-8-sig"))
        except (ValueError, RecursionError):
            value = None  # the reader of tables says what is wrong
        if isinstance(value, dict) and _MODEL not in value:
            pairs = ({_MODEL: model, _RATING: rating} for model, rating in value.items())
            return [Row(number, pair, "row") for number, pair in enumerate(pairs, 1)]
    rows, errors = read_table(path, ((_MODEL,),))
    if errors:
        raise InputError(errors[0])
    return rows
