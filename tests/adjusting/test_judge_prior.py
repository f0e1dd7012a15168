"""A judge's ratings as a prior: evidence and weights against numeric integration, allocation,
intervals.
"""

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.stats import norm

from tests.discrepancy.test_allocation import battles
from tests.reports.mad_logs import XY, XZ, YZ, ballot, judged, sample, write_log
from urs_inspect._util import InputError
from urs_inspect.adjusting import _judge_prior as judge_prior
from urs_inspect.adjusting._judge_prior import (
    MASS,
    SHIFT,
    SPREAD,
    JudgePrior,
    fit_normal,
    judges_among,
    rank_with_prior,
)
from urs_inspect.adjusting._verdicts import prior_of_log
from urs_inspect.discrepancy._allocation import Allocator, Posterior, laplace
from urs_inspect.stats._battles import Battles
from urs_inspect.stats._bootstrap import Floats
from urs_inspect.stats._bradley_terry import fit_bradley_terry, pair_counts

ABC = ("a", "b", "c")
VOTES = [
    ("a", "b", 1.0),
    ("a", "b", 0.5),
    ("b", "c", 1.0),
    ("a", "c", 1.0),
    ("b", "c", 0.0),
    ("a", "c", 0.5),
]


def prior_of(*strengths: float, variance: float = 0.05) -> JudgePrior:
    names = tuple("abcdefgh"[: len(strengths)])
    return JudgePrior(
        names, np.array(strengths), variance * np.eye(len(strengths)), ("a/judge",), 30
    )


def simulated(strengths: Floats, size: int, seed: int) -> Battles:
    """Votes on random pairs, without ties."""
    draws = np.random.default_rng(seed)
    pairs = [draws.choice(len(strengths), 2, replace=False) for _ in range(size)]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    wins = draws.random(size) < 1 / (1 + np.exp(strengths[second] - strengths[first]))
    return Battles(
        tuple("abcdefgh"[: len(strengths)]), first, second, wins.astype(np.float64), np.arange(size)
    )


def integrated(votes: Battles, mean: Floats, covariance: Floats) -> tuple[float, Floats]:
    """Log probability of the votes and expected strengths, by quadrature over all strengths."""
    nodes, weights = hermegauss(40)
    grid, masses = (
        np.stack(np.meshgrid(*[values] * len(mean), indexing="ij"), axis=-1).reshape(-1, len(mean))
        for values in (nodes, weights / weights.sum())
    )
    strengths = mean + grid @ np.linalg.cholesky(covariance).T
    logs = np.zeros(len(grid))
    for first, second, outcome in zip(votes.first, votes.second, votes.outcome, strict=True):
        chance = 1 / (1 + np.exp(strengths[:, second] - strengths[:, first]))
        logs += outcome * np.log(chance) + (1 - outcome) * np.log(1 - chance)
    posterior = masses.prod(axis=1) * np.exp(logs)
    return float(np.log(posterior.sum())), posterior @ strengths / posterior.sum()


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("size", [4, 25])
def test_evidence_and_strengths_agree_with_quadrature(players: int, size: int) -> None:
    votes = simulated(np.linspace(1, -1, players), size, seed=players)
    mean = np.linspace(0.5, -0.5, players)
    for covariance in (SHIFT**2 * np.eye(players) + 0.1, SPREAD**2 * np.eye(players)):
        strengths, _, evidence = fit_normal(pair_counts(votes), mean, covariance)
        exact, expected = integrated(votes, mean, covariance)
        assert evidence == pytest.approx(exact, abs=0.1)
        # Laplace is off by less than 0.1 nats; most likely strengths are not expected ones where
        # there is skewness.
        assert strengths == pytest.approx(expected, abs=0.15)


def test_the_weight_is_the_posterior_probability_of_the_judge_s_account() -> None:
    prior = prior_of(1.0, 0.0, -1.0)
    votes = battles(VOTES * 3)
    judged, _ = integrated(votes, prior.strengths, prior.covariance + SHIFT**2 * np.eye(3))
    alone, _ = integrated(votes, np.zeros(3), SPREAD**2 * np.eye(3))
    expected = MASS * np.exp(judged) / (MASS * np.exp(judged) + (1 - MASS) * np.exp(alone))
    assert prior.belief(votes).weight == pytest.approx(expected, abs=0.02)


def slow_normal(votes: Battles, mean: Floats, covariance: Floats) -> tuple[Floats, Floats, float]:
    """Most likely strengths, covariance and log evidence, vote by vote with full Newton steps."""
    precision = np.linalg.inv(covariance)
    strengths = mean
    for _ in range(50):
        gradient = -precision @ (strengths - mean)
        curvature = precision.copy()
        likelihood = 0.0
        for first, second, outcome in zip(votes.first, votes.second, votes.outcome, strict=True):
            sides = np.zeros(len(mean))
            sides[first], sides[second] = 1, -1
            chance = 1 / (1 + np.exp(-sides @ strengths))
            gradient += (outcome - chance) * sides
            curvature += chance * (1 - chance) * np.outer(sides, sides)
            likelihood += outcome * np.log(chance) + (1 - outcome) * np.log(1 - chance)
        strengths = strengths + np.linalg.solve(curvature, gradient)
    posterior = np.linalg.inv(curvature)
    shift = strengths - mean
    volume = np.linalg.slogdet(posterior)[1] - np.linalg.slogdet(covariance)[1]
    evidence = likelihood + 0.5 * (volume - shift @ precision @ shift)
    return strengths, posterior, float(evidence)


SIDES = [
    # strengths of a judge, and of the people whose votes are counted
    ((1.0, 0.2, -0.4, -0.8), (1.0, 0.2, -0.4, -0.8)),
    ((1.0, 0.2, -0.4, -0.8), (-1.0, 0.4, 0.3, 0.3)),
    ((1.5, 0.5, -0.5, -1.5), (-1.5, -0.5, 0.5, 1.5)),
    ((0.3, 0.1, -0.1, -0.3), (1.2, 0.2, -0.4, -1.0)),
]


@pytest.mark.parametrize(("judge", "people"), SIDES)
@pytest.mark.parametrize("size", [0, 10, 31, 32, 33, 60])
def test_a_belief_is_that_of_two_accounts_and_their_odds(
    judge: tuple[float, ...], people: tuple[float, ...], size: int
) -> None:
    """Up to 8 votes per model the choice of pairs has the judge's whole weight, later odds of 1 to
    9, and below a weight of a fifth none.
    """
    prior = prior_of(*judge)
    votes = simulated(np.array(people), size, seed=size)
    votes.outcome[::4] = 0.5
    found = prior.belief(votes)
    judged = slow_normal(votes, prior.strengths, prior.covariance + 0.7**2 * np.eye(4))
    alone = slow_normal(votes, np.zeros(4), 1.4**2 * np.eye(4))
    scatter = expected_scatter = 20 / 4
    for first, second, outcome in zip(votes.first, votes.second, votes.outcome, strict=True):
        chance = 1 / (1 + np.exp(alone[0][second] - alone[0][first]))
        scatter += (outcome - chance) ** 2
        expected_scatter += chance * (1 - chance)
    dispersion = scatter / expected_scatter
    ratio = np.exp(judged[2] - alone[2])
    weight = ratio / (1 + ratio)
    share = weight
    if size >= 32:
        share = ratio / (ratio + 9)
    if share < 0.2:
        share = 0.0
    assert found.weight == pytest.approx(weight)
    assert found.dispersion == pytest.approx(dispersion)
    for account, (strengths, covariance, _) in zip(found.accounts, (judged, alone), strict=True):
        assert account.strengths == pytest.approx(strengths, abs=1e-6)
        assert account.covariance == pytest.approx(covariance * dispersion, abs=1e-6)
        assert account.dispersion == pytest.approx(dispersion)
    of_choice = share * judged[0] + (1 - share) * alone[0]
    assert found.strengths == pytest.approx(of_choice, abs=1e-6)
    covariance = share * judged[1] + (1 - share) * alone[1]
    assert found.covariance == pytest.approx(covariance * dispersion, abs=1e-6)
    expected = weight * judged[0] + (1 - weight) * alone[0]
    assert found.expected == pytest.approx(expected, abs=1e-6)
    pairs = np.array([[0, 1], [3, 2]])
    chances = np.zeros(2)
    for (strengths, covariance, _), mass in ((judged, weight), (alone, 1 - weight)):
        for place, (one, other) in enumerate(pairs):
            variance = covariance[one, one] + covariance[other, other] - 2 * covariance[one, other]
            z = (strengths[one] - strengths[other]) / np.sqrt(variance * dispersion)
            chances[place] += mass * norm.cdf(z)
    assert found.chance(pairs) == pytest.approx(chances, abs=1e-6)
    by_strength = [
        max(chance, 1 - chance)
        if (expected[one] > expected[other]) == (chance > 0.5)
        else min(chance, 1 - chance)
        for chance, (one, other) in zip(chances, pairs, strict=True)
    ]
    assert found.certainty(pairs) == pytest.approx(by_strength, abs=1e-6)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_ranks_and_intervals_are_those_of_draws_one_by_one(level: float) -> None:
    people = np.array([0.8, 0.1, -0.1, -0.8])
    votes = simulated(people, 30, seed=3)
    prior = prior_of(0.2, 0.6, -0.2, -0.6)
    belief = prior.belief(votes)
    found = rank_with_prior(votes, prior, rounds=101, level=level, seed=4)
    draws = np.random.default_rng([4, 27])
    is_judged = draws.random(101) < belief.weight
    strengths = np.empty((101, 4))
    for kept, account in ((is_judged, belief.accounts[0]), (~is_judged, belief.accounts[1])):
        strengths[kept] = draws.multivariate_normal(
            account.strengths, account.covariance, int(kept.sum())
        )
    order = sorted(range(4), key=lambda place: -belief.expected[place])
    assert found.players == tuple("abcd"[place] for place in order)
    tails = [(1 - level) / 2, (1 + level) / 2]
    for number, place in enumerate(order):
        ratings = 1000 + (strengths[:, place] - strengths.mean(axis=1)) * 400 / np.log(10)
        low, high = np.quantile(ratings, tails)
        value = 1000 + belief.expected[place] * 400 / np.log(10)
        value -= belief.expected.mean() * 400 / np.log(10)
        given = found.ratings[number]
        assert (given.value, given.low, given.high) == pytest.approx((value, low, high))
        assert (given.n, given.level, given.rounds, given.seed) == (30, level, 101, 4)
        ranks = [1 + sum(other > row[place] for other in row) for row in strengths]
        low, high = np.quantile(ranks, tails)
        rank = found.ranks[number]
        assert (rank.rank, rank.low, rank.high) == (number + 1, np.floor(low), np.ceil(high))
    assert (found.weight, found.level, found.rounds) == (belief.weight, level, 101)


def test_votes_that_agree_raise_the_weight_and_a_reversed_judge_loses_it() -> None:
    strengths = np.array([1.5, 0.5, -0.5, -1.5])
    votes = simulated(strengths, 60, seed=2)
    assert prior_of(*strengths).belief(votes).weight > 0.9
    assert prior_of(*strengths[::-1]).belief(votes).weight < 0.01


def test_without_votes_everything_is_as_before() -> None:
    prior = prior_of(1.0, 0.0, -1.0)
    belief = prior.belief(battles([]))
    assert belief.weight == pytest.approx(MASS)
    assert belief.accounts[0].strengths == pytest.approx(prior.strengths)
    assert belief.accounts[1].strengths == pytest.approx(np.zeros(3))
    assert belief.expected == pytest.approx(MASS * prior.strengths)
    assert belief.accounts[1].covariance == pytest.approx(SPREAD**2 * np.eye(3) * belief.dispersion)


def test_a_judge_without_any_weight_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_prior, "MASS", 1e-300)
    monkeypatch.setattr(judge_prior, "_LATE", 1e-300)
    strengths = np.array([1.0, 0.3, -0.2, -1.1])
    judged, useless = prior_of(*strengths[::-1]), prior_of(0.0, 0.0, 0.0, 0.0)

    def votes_alone(votes: Battles) -> Posterior:
        return useless.belief(votes).accounts[1]

    allocators = [
        Allocator(judged.players, rule="adaptive", budget=40, confidence=None, belief=belief)
        for belief in (judged.belief, votes_alone)
    ]
    asked = Counter[tuple[str, str]]()
    for size in range(30):
        votes = simulated(strengths, size, seed=1)
        with_prior, without = (allocator.ask(votes, asked).pairs for allocator in allocators)
        assert with_prior == without
        asked.update(without)
    assert judged.belief(votes).expected == pytest.approx(votes_alone(votes).strengths)


def test_intervals_are_narrower_where_votes_scatter_less_than_chance() -> None:
    circle = [("a", "b"), ("b", "c"), ("c", "a")] * 12
    width = {}
    for outcome in (1.0, 0.5):
        votes = battles([(one, other, outcome) for one, other in circle])
        ranked = rank_with_prior(votes, prior_of(0.0, 0.0, 0.0), rounds=2000)
        width[outcome] = ranked.ratings[0].high - ranked.ratings[0].low
    assert width[0.5] < 0.7 * width[1.0]


def test_names_do_not_matter() -> None:
    prior = prior_of(1.0, 0.2, -1.2)
    turned = JudgePrior(ABC, prior.strengths[::-1], prior.covariance)
    names = dict(zip("abc", "cba", strict=True))
    one, other = (
        prior.belief(battles(VOTES)),
        turned.belief(battles([(names[i], names[j], o) for i, j, o in VOTES])),
    )
    assert one.weight == pytest.approx(other.weight)
    assert one.expected == pytest.approx(other.expected[::-1])


def test_certainty_and_intervals_agree_with_draws() -> None:
    strengths = np.array([0.8, 0.1, -0.1, -0.8])
    votes, prior = simulated(strengths, 30, seed=3), prior_of(0.2, 0.6, -0.2, -0.6)
    belief, ranked = prior.belief(votes), rank_with_prior(votes, prior, rounds=20_000)
    random = np.random.default_rng(5)
    sizes = random.multinomial(20_000, [belief.weight, 1 - belief.weight])
    accounts = zip(belief.accounts, sizes, strict=True)
    both = [
        random.multivariate_normal(account.strengths, account.covariance, size)
        for account, size in accounts
    ]
    draws, order = np.concatenate(both), belief.order()
    draws -= draws.mean(axis=1, keepdims=True)
    assert ranked.players == tuple(prior.players[place] for place in order)
    above = (draws[:, order[:-1]] > draws[:, order[1:]]).mean(axis=0)
    assert ranked.certainty == pytest.approx(above, abs=0.015)
    points = 1000 + draws[:, order] * 400 / np.log(10)
    expected = zip(*np.percentile(points, [2.5, 97.5], axis=0), points.mean(axis=0), strict=True)
    for rating, values in zip(ranked.ratings, expected, strict=True):
        assert (rating.low, rating.high, rating.value) == pytest.approx(values, abs=8)
    for number, place in enumerate(ranked.ranks, start=1):
        assert place.low <= place.rank == number <= place.high


def test_verdicts_become_centred_strengths_with_their_covariance() -> None:
    few, many = battles(VOTES), battles(VOTES * 20)
    prior, sure = JudgePrior.of(few, ("a/judge",), unread=2), JudgePrior.of(many)
    # Ratings of the judge have the prior of one tie for each model, as in a leaderboard.
    assert prior.ratings == pytest.approx(fit_bradley_terry(few))
    fit = laplace(few, prior=1.0)
    centre = np.eye(3) - 1 / 3
    assert prior.covariance == pytest.approx(centre @ fit.covariance @ centre)
    assert (prior.judges, prior.verdicts, prior.unread) == (("a/judge",), 6, 2)
    assert prior.strengths.sum() == pytest.approx(0)
    assert prior.strengths[0] > prior.strengths[1:].max()
    assert (np.diag(sure.covariance) < np.diag(prior.covariance) / 5).all()
    again = JudgePrior.from_dict(prior.to_dict())
    assert (again.players, again.judges) == (prior.players, prior.judges)
    assert (again.verdicts, again.unread) == (6, 2)
    assert again.strengths == pytest.approx(prior.strengths, abs=1e-6)
    assert again.covariance == pytest.approx(prior.covariance, abs=1e-6)


def test_a_prior_for_some_of_its_models() -> None:
    prior = prior_of(1.0, 0.0, -0.5, -0.5)
    some = prior.among(["d", "a", "b"])
    assert some.players == ("d", "a", "b")
    assert some.strengths == pytest.approx(np.array([-0.5, 1.0, 0.0]) - 1 / 6)
    assert some.covariance.shape == (3, 3)
    uneven = JudgePrior(ABC, np.array([1.0, 0.0, -1.0]), np.arange(9.0).reshape(3, 3))
    assert uneven.among(["c", "a", "b"]).covariance.tolist() == [[8, 6, 7], [2, 0, 1], [5, 3, 4]]


def test_only_judges_that_compete_are_named() -> None:
    [sentence] = judges_among(["m/one", "m/two"], ["m/two", "m/three"])
    assert "m/two" in sentence
    assert "m/one" not in sentence
    assert judges_among(["m/one"], ["m/two"]) == []


def test_what_is_no_prior_is_refused() -> None:
    prior = prior_of(1.0, 0.0, -1.0)
    refused: dict[str, Callable[[], object]] = {
        r"2 models to compare \(a, b\); at least 3": lambda: JudgePrior.of(
            battles([("a", "b", 1.0)], "ab")
        ),
        r"links the models of \(a, b\); \(c\)": lambda: JudgePrior.of(battles([("a", "b", 1.0)])),
        "no verdict about y, x; it compares: a, b, c": lambda: prior.among(["a", "y", "x"]),
        r"2 models to compare \(a, b\)": lambda: prior.among(["a", "b"]),
        "votes about": lambda: prior.belief(battles([], "abx")),
    }
    for message, make in refused.items():
        with pytest.raises(ValueError if message == "votes about" else InputError, match=message):
            make()


def test_votes_on_the_judge_s_side_end_earlier_than_votes_alone() -> None:
    """A good judge saves votes until all neighbours are separated, and the order is right."""
    strengths = np.array([2.0, 0.7, -0.7, -2.0])
    prior, spent = prior_of(*strengths), []
    for belief in (prior.belief, laplace):
        allocator = Allocator(
            prior.players, rule="adaptive", budget=300, confidence=0.9, belief=belief
        )
        draws, rows = np.random.default_rng(4), list[tuple[str, str, float]]()
        asked = Counter[tuple[str, str]]()
        while pairs := allocator.ask(battles(rows, prior.players), asked).pairs:
            asked.update(pairs)
            i, j = (prior.players.index(name) for name in pairs[0])
            rows.append(
                (*pairs[0], float(draws.random() < 1 / (1 + np.exp(strengths[j] - strengths[i]))))
            )
        spent.append(len(rows))
        assert allocator.standing(battles(rows, prior.players))[0].order().tolist() == [0, 1, 2, 3]
    assert spent[0] < spent[1]


def test_a_judge_s_prior_counts_read_and_unread_verdicts_and_names_each_judge_once(
    tmp_path: Path,
) -> None:
    pairs = [XY, XZ, YZ, ballot("Who?", "x", "y"), ballot("Where?", "y", "z")]
    samples = [judged(one, outcome) for one, outcome in zip(pairs, (1, 1, 1, 0, 0.5), strict=True)]
    unread = judged(ballot("When?", "x", "z"), math.nan)
    for one in samples:
        assert one.scores
        facts = one.scores["pair_choice"].metadata or {}
        one.scores["pair_choice"].metadata = {**facts, "judges": ["p/j", "p/k"]}
    prior = prior_of_log(str(write_log(tmp_path / "log.eval", *samples, unread)))
    assert prior.judges == ("p/j", "p/k")
    assert (prior.verdicts, prior.unread) == (5, 1)


def test_a_prior_of_people_or_of_nothing_is_refused(tmp_path: Path) -> None:
    unread = write_log(tmp_path / "unread.eval", judged(XY, math.nan), judged(XZ, math.nan))
    with pytest.raises(InputError, match=r"prior: none of 2 verdicts in .*unread\.eval"):
        prior_of_log(str(unread))
    people = judged(XY, 1.0)
    assert people.scores
    people.scores["pair_choice"].metadata = {"model_a": "x", "model_b": "y", "judges": ["human"]}
    log = write_log(tmp_path / "people.eval", people, judged(XZ, 1.0))
    with pytest.raises(InputError, match=r"prior: .*people\.eval.*people's votes"):
        prior_of_log(str(log))
    with pytest.raises(InputError, match=r"^prior: no comparison in"):
        prior_of_log(str(write_log(tmp_path / "empty.eval", sample("1", {}, {}))))
