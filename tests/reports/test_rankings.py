"""Rankings as JSON."""

import json

import pytest

from tests.rating.fights import fights, random_fights
from urs_inspect.rating import compare_leaderboard, rank
from urs_inspect.reports.rankings import ranking_dict


def test_everything_is_there_by_model() -> None:
    ranking = rank(random_fights(3, 100, 10, seed=1), rounds=50, seed=2)
    found = json.loads(json.dumps(ranking_dict(ranking), allow_nan=False))
    assert found["models"] == list(ranking.players)
    for name in ("bradley_terry", "elo", "elo_shuffled"):
        ratings = [one.value for one in getattr(ranking, name)]
        assert found[name] == dict(zip(ranking.players, ratings, strict=True))
    assert found["ranks"] == {name: place for place, name in enumerate(ranking.players, start=1)}
    for name in ("bradley_terry", "elo"):
        assert list(found["intervals"][name].values()) == [[one.low, one.high] for one in getattr(ranking, name)]
    assert list(found["intervals"]["ranks"].values()) == [[one.low, one.high] for one in ranking.ranks]
    assert "elo_shuffled" not in found["intervals"]
    assert found["parameters"] == {
        "rounds": 50, "level": 0.95, "seed": 2, "prior": 1.0, "k": 4.0, "scale": 400.0, "start": 1000.0,
    }  # fmt: skip
    assert (found["battles"], found["instructions"], found["connected"], found["message"]) == (100, 10, True, "")
    assert "leaderboard" not in found


def test_pairs_and_differences_by_hand() -> None:
    found = ranking_dict(rank(fights("a>b", "a=b", "a>b", "b>a"), rounds=5))
    assert found["pairs"] == [
        {"model_a": "a", "model_b": "b", "battles": 4, "wins_a": 2, "wins_b": 1, "ties": 1, "win_rate_a": 0.625}
    ]
    [gap] = found["differences"]
    assert (gap["better"], gap["other"], gap["interval"], gap["verdict"]) == ("a", "b", None, "cannot be distinguished")
    assert gap["difference"] == pytest.approx(found["bradley_terry"]["a"] - found["bradley_terry"]["b"], abs=1e-5)
    assert found["intervals"]["bradley_terry"] == {"a": None, "b": None}
    assert found["intervals"]["ranks"] == {"a": [1, 2], "b": [1, 2]}


def test_groups_that_do_not_compare_are_said() -> None:
    found = ranking_dict(rank(fights("a=b", "c=d"), rounds=5))
    assert (found["connected"], found["groups"]) == (False, [["a", "b"], ["c", "d"]])
    assert found["message"].startswith("No chain of comparisons links (a, b) and (c, d)")


def test_a_leaderboard_comes_along() -> None:
    ranking = rank(random_fights(3, 100, 30, seed=3, spread=0.3), rounds=50)
    agreement = compare_leaderboard(ranking, {name: -place for place, name in enumerate(ranking.players)} | {"z": 0.0})
    found = ranking_dict(ranking, agreement)["leaderboard"]
    assert (found["spearman"], found["kendall"]) == pytest.approx((1, 1))
    assert (found["models"], found["only_ranked"], found["only_leaderboard"]) == (list(ranking.players), [], ["z"])
    assert found["intervals"]["kendall"][1] == pytest.approx(1)
    equals = compare_leaderboard(ranking, dict.fromkeys(ranking.players, 1.0))
    assert json.loads(json.dumps(ranking_dict(ranking, equals), allow_nan=False))["leaderboard"]["spearman"] is None
