"""Corrected and controlled rankings beside an implementation that goes ballot by ballot."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from tests.stats.fights import random_fights
from tests.stats.slow import SlowFit, slow_fit
from tests.stats.test_style import design_by_hand
from urs_inspect.adjusting._adjusted import JudgedBallots, rank_controlled, rank_corrected
from urs_inspect.stats import fit_bradley_terry

POINTS = 400 / math.log(10)


def ballots_of_chance(seed: int, models: int = 4, size: int = 80) -> JudgedBallots:
    """Ballots in either order with ties, of which some lack a vote, a verdict, or both.

    One pair has votes on all its verdicts, one a single ballot with both.
    """
    draws = np.random.default_rng(seed)
    first = draws.integers(models, size=size)
    second = (first + draws.integers(1, models, size=size)) % models
    people = draws.choice([0.0, 0.5, 1.0], size, p=[0.3, 0.2, 0.5])
    judge = np.where(draws.random(size) < 0.6, people, draws.choice([0.0, 0.5, 1.0], size))
    people[draws.random(size) < 0.5] = np.nan
    judge[draws.random(size) < 0.2] = np.nan
    low = np.minimum(first, second)
    high = np.maximum(first, second)
    seen_by_all = (low == 0) & (high == 1)
    judge[seen_by_all & np.isnan(people)] = np.nan
    few = (low == 2) & (high == 3)
    both = few & ~np.isnan(people) & ~np.isnan(judge)
    people[np.flatnonzero(both)[1:]] = np.nan
    names = tuple("dabc"[:models])
    return JudgedBallots(names, first, second, draws.integers(30, size=size), people, judge)


def strong_by_shares_above_one(more: int) -> JudgedBallots:
    """All of lambda would put the share of a above 1; half of it, or a quarter, does not.

    A fit with the prior is finite up to a share of 1.05 of 10 votes. Lambda is 1, the share of the
    people 0.95; the judge's is higher by 0.157 with 4 verdicts more, and by 0.275 with 10.
    """
    people = [1.0] * 9 + [0.5]
    judge = [0.5] * 9 + [0.0]
    size = 10 + more
    votes = np.array(people + [math.nan] * (size - len(people)))
    verdicts = np.array(judge + [1.0] * (size - len(judge)))
    sides = np.zeros(size, np.int64), np.ones(size, np.int64)
    return JudgedBallots(("a", "b"), *sides, np.arange(size), votes, verdicts)


class Slow(NamedTuple):
    weight: float
    alone: SlowFit
    corrected: SlowFit


Row = tuple[tuple[int, int], float, float]


def rows_by_pair(ballots: JudgedBallots) -> list[Row]:
    """Pair, vote and verdict of each ballot, the smaller number first."""
    rows = []
    for one, other, vote, verdict in zip(
        ballots.first.tolist(),
        ballots.second.tolist(),
        ballots.people.tolist(),
        ballots.judge.tolist(),
        strict=True,
    ):
        if one < other:
            rows.append(((one, other), vote, verdict))
        else:
            rows.append(((other, one), 1 - vote, 1 - verdict))
    return rows


def slow_correction(ballots: JudgedBallots) -> Slow:
    """Lambda and both fits, with sums over the ballots of each pair."""
    rows = rows_by_pair(ballots)
    above = 0.0
    below = 0.0
    means = {}
    shares = {}
    for pair in {pair for pair, *_ in rows}:
        judged = [row for row in rows if row[0] == pair and not math.isnan(row[2])]
        both = [row for row in judged if not math.isnan(row[1])]
        if judged:
            means[pair] = sum(verdict for *_, verdict in judged) / len(judged)
            shares[pair] = len(both) / len(judged)
        if len(both) < 2 or len(judged) == len(both):
            continue
        vote_of_pair = sum(vote for _, vote, _ in both) / len(both)
        verdict_of_pair = sum(verdict for *_, verdict in both) / len(both)
        for _, vote, verdict in both:
            unbiased = len(both) / (len(both) - 1)
            above += unbiased * (vote - vote_of_pair) * (verdict - verdict_of_pair)
            below += unbiased * (verdict - verdict_of_pair) ** 2
    tuned = min(1.0, max(0.0, above / below))
    excess = np.zeros(len(rows))
    share = np.zeros(len(rows))
    for number, (pair, _, verdict) in enumerate(rows):
        if not math.isnan(verdict):
            sign = 1 if ballots.first[number] == pair[0] else -1
            excess[number] = sign * (verdict - means[pair])
            share[number] = shares[pair]
    voted = ~np.isnan(ballots.people)

    def fit(weight: float) -> SlowFit:
        return slow_fit(
            design_by_hand(ballots),
            np.where(voted, ballots.people, 0.0) - weight * excess,
            ballots.clusters.tolist(),
            voted.astype(float),
            np.zeros(len(rows)),
            share * weight * excess,
        )

    for weight in (tuned, tuned / 2, tuned / 4):
        corrected = fit(weight)
        if np.abs(corrected.values).max() < 20:
            return Slow(weight, fit(0.0), corrected)
    raise AssertionError("no weight has a finite fit")


@pytest.mark.parametrize(
    "ballots",
    [
        *map(ballots_of_chance, range(3)),
        strong_by_shares_above_one(4),
        strong_by_shares_above_one(10),
    ],
)
def test_a_correction_is_that_of_sums_over_ballots(ballots: JudgedBallots) -> None:
    found = rank_corrected(ballots, rounds=20)
    slow = slow_correction(ballots)
    assert found.weight == pytest.approx(slow.weight)
    assert found.weight > 0
    order = np.argsort(-slow.corrected.values)
    assert found.places.players == tuple(ballots.players[place] for place in order)
    points = 1000 + POINTS * (slow.corrected.values - slow.corrected.values.mean())
    before = 1000 + POINTS * (slow.alone.values - slow.alone.values.mean())
    ratings = [rating.value for rating in found.places.ratings]
    assert ratings == pytest.approx(points[order], abs=1e-5)
    changes = [change.value for change in found.places.extra]
    assert changes == pytest.approx((points - before)[order], abs=1e-5)
    by_judge = fit_bradley_terry(ballots.battles(ballots.judge))
    assert found.judge == pytest.approx(by_judge[order])
    voted = ~np.isnan(ballots.people)
    judged = ~np.isnan(ballots.judge)
    both = voted & judged
    assert (found.votes, found.verdicts, found.both) == (voted.sum(), judged.sum(), both.sum())
    assert found.agreement == pytest.approx((ballots.people == ballots.judge)[both].mean())
    gain = slow.alone.variance / slow.corrected.variance
    assert found.worth == pytest.approx(voted.sum() * gain)


def test_lambda_is_halved_until_all_models_are_of_finite_strength() -> None:
    for more, weight in ((0, 0.0), (1, 1.0), (4, 0.5), (10, 0.25), (90, 0.0)):
        found = rank_corrected(strong_by_shares_above_one(more), rounds=20)
        assert found.weight == pytest.approx(weight)


def test_coefficients_of_the_same_fit_change_no_rating() -> None:
    battles = random_fights(4, 60, 20, seed=3)
    draws = np.random.default_rng(3)
    styles = 0.1 * draws.normal(size=(60, 2)) + 0.2 * (battles.outcome - 0.5)[:, None]
    features = ["length", "bold"]
    free = rank_controlled(battles, styles, features, rounds=20)
    kept = rank_controlled(battles, styles, features, given=free.coefficients, rounds=20)
    assert (free.given, kept.given) == (False, True)
    assert kept.places.players == free.places.players
    ratings = [one.value for one in free.places.ratings]
    assert [one.value for one in kept.places.ratings] == pytest.approx(ratings, abs=1e-5)
    changes = [one.value for one in free.places.extra]
    assert [one.value for one in kept.places.extra] == pytest.approx(changes, abs=1e-5)
    assert any(abs(change) > 1 for change in changes)
    assert [one.scale for one in free.coefficients.values()] == pytest.approx(
        np.sqrt((styles**2).mean(axis=0)).tolist()
    )
    for effect, coefficient in zip(kept.effects, free.coefficients.values(), strict=True):
        assert effect.value == pytest.approx(POINTS * coefficient.value)
        assert (effect.n, effect.clusters) == (60, len(set(battles.clusters.tolist())))


def test_a_judge_that_contradicts_people_has_no_weight() -> None:
    ballots = ballots_of_chance(0)
    first, second, outcome = ballots.first, ballots.second, ballots.people
    against = JudgedBallots(
        ballots.players,
        first,
        second,
        ballots.clusters,
        outcome,
        np.where(np.isnan(outcome), 0.5, 1 - outcome),
    )
    found = rank_corrected(against, rounds=20)
    assert (found.weight, found.worth) == (0, found.votes)
    assert found.agreement == (outcome == 0.5).sum() / found.votes


def test_ten_ballots_with_both_are_enough() -> None:
    votes = np.array([1.0, 0.0] * 5 + [math.nan] * 10)
    sides = np.zeros(20, np.int64), np.ones(20, np.int64)
    ballots = JudgedBallots(("a", "b"), *sides, np.arange(20), votes, np.tile([1.0, 0.0], 10))
    assert rank_corrected(ballots, rounds=20).both == 10
