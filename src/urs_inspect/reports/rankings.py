"""Logs of `mad` -> the comparisons in them, with their outcomes."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from urs_inspect._util import InputError
from urs_inspect.datasets.rows import Row, read_records, read_table, shown
from urs_inspect.stats import Estimate, LeaderboardAgreement, Ranking
from urs_inspect.stats.battles import WinRates

_Value = TypeVar("_Value")


def ranking_dict(ranking: Ranking, leaderboard: LeaderboardAgreement | None = None) -> dict[str, Any]:
    """What JSON can hold of a ranking.

    Args:
        ranking: The ranking.
        leaderboard: How it agrees with a leaderboard.

    Returns:
        By model, from the best to the worst, `bradley_terry`, `elo`, `elo_shuffled` and `ranks`; under `intervals`
        those of Bradley-Terry, Elo and ranks by the same names, null where none exists; then differences of
        neighbours, pairs, which models compare, and the parameters.
    """
    ratings = {"bradley_terry": ranking.bradley_terry, "elo": ranking.elo, "elo_shuffled": ranking.elo_shuffled}

    def named(values: Sequence[_Value]) -> dict[str, _Value]:
        return dict(zip(ranking.players, values, strict=True))

    intervals: dict[str, Any] = {
        name: named([_interval(one) for one in ratings[name]]) for name in ("bradley_terry", "elo")
    }
    intervals["ranks"] = named([[one.low, one.high] for one in ranking.ranks])
    parameters = ("rounds", "level", "seed", "prior", "k", "scale", "start")
    return {
        "models": list(ranking.players),
        **{name: named([one.value for one in found]) for name, found in ratings.items()},
        "ranks": named([one.rank for one in ranking.ranks]),
        "intervals": intervals,
        "differences": _differences(ranking),
        "pairs": _pairs(ranking.win_rates),
        "connected": ranking.connectivity.connected,
        "groups": [list(group) for group in ranking.connectivity.groups],
        "message": ranking.connectivity.message,
        "battles": ranking.battles,
        "ties": ranking.ties,
        "instructions": ranking.clusters,
        "parameters": {name: getattr(ranking, name) for name in parameters},
        **({} if leaderboard is None else {"leaderboard": _leaderboard(leaderboard)}),
    }


def _differences(ranking: Ranking) -> list[dict[str, Any]]:
    return [
        {
            "better": one.better,
            "other": one.other,
            "difference": one.estimate.value,
            "interval": _interval(one.estimate),
            "verdict": one.verdict,
        }
        for one in ranking.differences
    ]


def _pairs(rates: WinRates) -> list[dict[str, Any]]:
    return [
        {
            "model_a": first,
            "model_b": second,
            "battles": int(rates.battles[i, j]),
            "wins_a": int(rates.wins[i, j]),
            "wins_b": int(rates.wins[j, i]),
            "ties": int(rates.ties[i, j]),
            "win_rate_a": float(rates.rates[i, j]),
        }
        for i, first in enumerate(rates.players)
        for j, second in enumerate(rates.players)
        if i < j and rates.battles[i, j]
    ]


def _leaderboard(found: LeaderboardAgreement) -> dict[str, Any]:
    measures = {"spearman": found.spearman, "kendall": found.kendall}
    return {
        **{name: None if math.isnan(one.value) else one.value for name, one in measures.items()},
        "intervals": {name: _interval(one) for name, one in measures.items()},
        "models": list(found.players),
        "only_ranked": list(found.only_ranked),
        "only_leaderboard": list(found.only_leaderboard),
    }


def _interval(estimate: Estimate) -> list[float] | None:
    return None if math.isnan(estimate.low) else [estimate.low, estimate.high]


_MODEL, _RATING, _RANK = "model", "rating", "rank"


def read_leaderboard(path: Path) -> dict[str, float]:
    """Read a leaderboard.

    Args:
        path: A `.csv` file with the columns `model` and `rating` (higher is better) or `rank` (1 is best), a `.jsonl`
            or `.json` file with such rows, or a `.json` file with one object of ratings by model.

    Returns:
        Ratings by model, higher is better; of ranks the negative.

    Raises:
        InputError: Naming file and row of the first fault.
    """
    if path.suffix.lower() == ".json" and path.is_file() and (ratings := _mapping(path)) is not None:
        rows = [Row(n, {_MODEL: model, _RATING: value}, "row") for n, (model, value) in enumerate(ratings.items(), 1)]
        faults: list[str] = []
    elif path.suffix.lower() == ".json" and path.is_file():
        rows, faults = read_records(path)
    else:
        rows, faults = read_table(path, ((_MODEL,),))
    if faults:
        raise InputError(faults[0])
    found: dict[str, float] = {}
    column = _column(path, rows)
    for row in rows:
        model, value = row.values.get(_MODEL), _number(row.values.get(column))
        if not isinstance(model, str) or not model.strip():
            raise InputError(f"{path}: {row.place}: {_MODEL} must be text, is {shown(model)}")
        if math.isnan(value):
            raise InputError(f"{path}: {row.place}: {column} must be a number, is {shown(row.values.get(column))}")
        if model.strip() in found:
            raise InputError(f"{path}: {row.place}: '{model.strip()}' is there twice")
        found[model.strip()] = -value if column == _RANK else value
    return found


def _mapping(path: Path) -> dict[str, Any] | None:
    """The one object of a JSON file of ratings by model; None if the file is something else."""
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _MODEL not in value else None


def _column(path: Path, rows: list[Row]) -> str:
    present = {key for row in rows for key in row.values}
    column = next((name for name in (_RATING, _RANK) if name in present), None)
    if column is None:
        raise InputError(f"{path}: needs a column '{_RATING}' or '{_RANK}' beside '{_MODEL}'")
    return column


def _number(value: object) -> float:
    try:
        number = float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan
