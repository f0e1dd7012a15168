"""The ratings of the MAD paper come out of its published votes."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from urs_inspect.logs.battles import read_battles
from urs_inspect.stats import rank
from urs_inspect.stats.elo import bootstrap_elo, shuffle_elo

pytestmark = pytest.mark.data

MODELS = ("gpt-4", "claude-v1", "gpt-3.5-turbo", "vicuna-13b", "koala-13b", "alpaca-13b", "chatglm-6b")
ADA = (1048, 1008, 1012, 1001, 987, 982, 962)
BERT_SCORE = (1056, 1038, 1020, 1002, 967, 964, 954)
"""MAD paper, Table 6, without PaLM-2, whose votes are not published."""
ALL_VOTES = (1192, 1133, 1073, 996, 935, 848, 824)
"""Elo of all 7,471 votes. Table 6 prints 1189, 1132, 1072, 995, 935, 850 and 827, with PaLM-2 among them."""


def mean_elo(votes: Path, fitted: object = bootstrap_elo) -> npt.NDArray[np.float64]:
    battles = read_battles([votes])
    assert set(battles.players) == set(MODELS)
    ratings = fitted(battles).mean(axis=0)  # type: ignore[operator]
    return np.array([ratings[battles.players.index(name)] for name in MODELS])


@pytest.mark.parametrize("fitted", [bootstrap_elo, shuffle_elo])
@pytest.mark.parametrize(("similarity", "published"), [("embedding", ADA), ("bert", BERT_SCORE)])
def test_table_6(data_dir: Path, similarity: str, published: tuple[int, ...], fitted: object) -> None:
    votes = data_dir / "mad" / "annotations" / f"chatbot_arena-annotation-10-{similarity}.json"
    assert np.abs(mean_elo(votes, fitted) - published).max() < 1


@pytest.mark.parametrize("fitted", [bootstrap_elo, shuffle_elo])
def test_all_votes(data_dir: Path, fitted: object) -> None:
    assert np.abs(mean_elo(data_dir / "mad" / "chatbot_arena", fitted) - ALL_VOTES).max() < 2


def test_all_votes_tell_all_models_apart(data_dir: Path) -> None:
    found = rank(read_battles([data_dir / "mad" / "chatbot_arena"]))
    assert found.players == MODELS
    assert (found.battles, found.ties, found.clusters) == (7471, 2029, 6853)
    assert (np.triu(found.win_rates.battles, 1) > 0).sum() == 21
    assert {one.verdict for one in found.differences} == {"significantly different"}
    assert [(one.low, one.high) for one in found.ranks] == [(place, place) for place in range(1, 8)]
    assert found.connectivity.connected
    # Elo with K = 4 spreads over twice as far as Bradley-Terry on the same votes.
    widths = [np.mean([one.high - one.low for one in ratings]) for ratings in (found.bradley_terry, found.elo)]
    assert 20 < widths[0] < 30
    assert widths[1] > 1.9 * widths[0]


@pytest.mark.parametrize("similarity", ["embedding", "bert"])
def test_the_shuffle_of_the_reference_code_is_many_times_too_narrow(data_dir: Path, similarity: str) -> None:
    found = rank(read_battles([data_dir / "mad" / "annotations" / f"chatbot_arena-annotation-10-{similarity}.json"]))
    bootstrap, shuffle = (
        np.mean([one.high - one.low for one in ratings]) for ratings in (found.elo, found.elo_shuffled)
    )
    assert 38 < bootstrap < 46
    assert 4 < shuffle < 5.5
    assert (
        sum(one.verdict == "significantly different" for one in found.differences) == 1
    )  # of 6 neighbours, on 210 votes
