"""People's votes corrected by a judge."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from urs_inspect._util import InputError
from urs_inspect.stats import fit_bradley_terry
from urs_inspect.stats.bootstrap import Floats
from urs_inspect.stats.corrected import JudgedBallots, rank_corrected

POINTS = 400 / np.log(10)


def two_models(people: list[float], judge: list[float]) -> JudgedBallots:
    """Ballots between a and b; the judge's verdicts go on beyond those with votes."""
    size = len(judge)
    votes = np.array([*people, *[np.nan] * (size - len(people))])
    sides = np.zeros(size, dtype=np.int64), np.ones(size, dtype=np.int64)
    return JudgedBallots(("a", "b"), *sides, np.arange(size), votes, np.array(judge, dtype=np.float64))


def competition(seed: int, votes: int = 60, copied: float = 0.6, bias: float = 0.5) -> tuple[JudgedBallots, Floats]:
    """Five models, 40 ballots a pair, some with votes, and a judge that shares some of people's opinions."""
    draws = np.random.default_rng(seed)
    strengths = np.array([1.0, 0.5, 0.0, -0.5, -1.0])
    first, second = (np.repeat(side, 40) for side in np.triu_indices(5, 1))
    shifted = strengths + draws.normal(0, bias, 5)
    people, own = (
        (draws.random(len(first)) < 1 / (1 + np.exp(values[second] - values[first]))).astype(float)
        for values in (strengths, shifted)
    )
    judge = np.where(draws.random(len(first)) < copied, people, own)
    people[draws.permutation(len(first))[votes:]] = np.nan
    return JudgedBallots(tuple("abcde"), first, second, np.arange(len(first)) // 2, people, judge), strengths


def test_a_corrected_share_by_hand() -> None:
    # 12 votes: 9 for a. On these ballots the judge is for a in 8, on all 20 in 10. Of the 8, people are for a in 7:
    # covariance 7/12 - 9/12 * 8/12 = 1/12, variance 8/12 * 4/12 = 2/9, lambda 3/8. The share
    # is 9/12 + 3/8 (10/20 - 8/12).
    people = [1.0] * 9 + [0.0] * 3
    judge = [1.0] * 7 + [0.0] * 2 + [1.0] + [0.0] * 2 + [1.0] * 2 + [0.0] * 6
    found = rank_corrected(two_models(people, judge), prior=1e-9, rounds=50)
    assert found.weight == pytest.approx(3 / 8)
    share = 9 / 12 + 3 / 8 * (10 / 20 - 8 / 12)
    expected = POINTS * np.log(share / (1 - share)) / 2
    assert [rating.value for rating in found.places.ratings] == pytest.approx([1000 + expected, 1000 - expected])
    # ppi-python 0.2.3, whose lambda counts verdicts without votes alone (3/8 * 8/20 = 0.15) and is given here:
    # ppi_logistic_pointestimate(np.ones((12, 1)), people, judge[:12], np.ones((8, 1)), judge[12:], lam=0.15)
    assert (found.places.ratings[0].value - found.places.ratings[1].value) / POINTS == pytest.approx(0.78845736)
    assert (found.votes, found.verdicts, found.both) == (12, 20, 12)
    assert found.agreement == pytest.approx(9 / 12)


def test_it_is_the_minimum_of_the_loss_of_the_paper_by_pair() -> None:
    ballots, _ = competition(0)
    found = rank_corrected(ballots, rounds=2)

    def loss(values: Floats) -> float:
        gaps = values[ballots.first] - values[ballots.second]
        total = sum(np.log1p(np.exp(-value)) / 2 + np.log1p(np.exp(value)) / 2 for value in values)
        for i, j in zip(*np.triu_indices(5, 1), strict=True):
            pair = (ballots.first == i) & (ballots.second == j)
            voted = pair & ~np.isnan(ballots.people)

            def mean(outcomes: Floats, which: Floats) -> float:
                return float((np.logaddexp(0, gaps[which]) - outcomes[which] * gaps[which]).mean())

            if voted.any():
                judge = mean(ballots.judge, pair) - mean(ballots.judge, voted)
                total += voted.sum() * (mean(ballots.people, voted) + found.weight * judge)
        return float(total)

    best = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-8}).x
    values = dict(zip(found.places.players, (rating.value for rating in found.places.ratings), strict=True))
    assert [values[name] for name in ballots.players] == pytest.approx(1000 + POINTS * (best - best.mean()), abs=0.01)


def test_sides_and_what_the_judge_prefers_do_not_matter() -> None:
    ballots, _ = competition(1)
    turn = np.arange(len(ballots.first)) % 3 == 0
    swapped = JudgedBallots(
        ballots.players,
        np.where(turn, ballots.second, ballots.first),
        np.where(turn, ballots.first, ballots.second),
        ballots.clusters,
        np.where(turn, 1 - ballots.people, ballots.people),
        np.where(turn, 1 - ballots.judge, ballots.judge),
    )
    there, back = (rank_corrected(given, rounds=50) for given in (ballots, swapped))
    assert there.weight == pytest.approx(back.weight)
    for one, other in zip(there.places.ratings, back.places.ratings, strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    # A judge with one and the same verdict for each pair says nothing about ballots: people alone remain.
    blind = rank_corrected(replace(ballots, judge=(ballots.first % 2).astype(float)), rounds=50)
    assert blind.weight == 0
    assert blind.worth == pytest.approx(blind.votes)
    values = dict(zip(blind.places.players, (rating.value for rating in blind.places.ratings), strict=True))
    alone = fit_bradley_terry(ballots.battles(ballots.people))
    assert [values[name] for name in ballots.players] == pytest.approx(alone, abs=1e-6)


def test_where_people_voted_on_everything_a_judge_changes_nothing() -> None:
    ballots, _ = competition(2, votes=400)
    found = rank_corrected(ballots, rounds=50)
    assert [change.value for change in found.places.extra] == pytest.approx([0] * 5, abs=1e-6)


def test_a_judge_that_shares_opinions_helps_and_is_worth_votes() -> None:
    errors, worth = [], []
    for seed in range(60):
        ballots, strengths = competition(seed)
        found = rank_corrected(ballots, rounds=2)
        truth = dict(zip(ballots.players, 1000 + POINTS * strengths, strict=True))
        rows = zip(found.places.players, found.places.ratings, found.places.extra, strict=True)
        errors += [
            ((rating.value - truth[name]) ** 2, (rating.value - change.value - truth[name]) ** 2)
            for name, rating, change in rows
        ]
        worth.append(found.worth)
    corrected, alone = np.mean(errors, axis=0)
    assert corrected < 0.85 * alone
    assert 65 < np.mean(worth) < 110


def test_models_that_would_be_infinitely_strong_get_a_finite_rating() -> None:
    # a won all 10; the judge saw those ballots go to b, but all others to a: the corrected share is far above 1.
    people = [1.0] * 9 + [0.5]
    judge = [0.5] * 9 + [0.0] + [1.0] * 90
    found = rank_corrected(two_models(people, judge), rounds=50)
    assert np.isfinite([rating.value for rating in found.places.ratings]).all()


def test_too_few_votes_are_refused_with_counts() -> None:
    with pytest.raises(InputError, match=r"at least 10 ballots .* got 9: 9 have votes, 40 a verdict"):
        rank_corrected(two_models([1.0] * 9, [1.0] * 40))
