"""Ratings corrected by a judge, and at equal style."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from tests.stats.fights import checked, swapped
from tests.stats.slow import expanded
from urs_inspect._util import InputError
from urs_inspect.adjusting._adjusted import (
    Coefficient,
    JudgedBallots,
    design_of,
    influence_draws,
    rank_controlled,
    rank_corrected,
    style_differences,
)
from urs_inspect.adjusting._adjustments import styles_of
from urs_inspect.logs._battles import read_counted_votes
from urs_inspect.stats import Battles, battles_of, fit_bradley_terry
from urs_inspect.stats._bootstrap import Floats
from urs_inspect.stats._ranking import Places
from urs_inspect.stats._style import FEATURES, fit_design

POINTS = 400 / np.log(10)


def ratings(places: Places) -> dict[str, float]:
    return {name: rating.value for name, rating in zip(places.players, places.ratings, strict=True)}


@given(st.text(alphabet="a*_#-1. \n`", max_size=20), st.text(alphabet="a*_#-1. \n`", max_size=20))
@checked
def test_the_difference_turns_with_the_sides(first: str, second: str) -> None:
    there, back = style_differences([(first, second), (second, first)], list(FEATURES))
    assert (there == -back).all()
    assert (np.abs(there) <= 1).all()
    by_hand = style_differences([("aaa", "a"), ("", "**a**")], ["length", "bold"])
    assert by_hand.tolist() == [[0.5, 0.0], [-1.0, -1.0]]


def styled(seed: int, size: int = 300, liking: float = 1.0) -> tuple[Battles, Floats]:
    """Four models, the weaker the longer its answers, and voters that like length."""
    draws = np.random.default_rng(seed)
    strengths, habits = np.array([0.6, 0.2, -0.2, -0.6]), np.array([-0.6, -0.2, 0.2, 0.6])
    first = draws.integers(4, size=size)
    second = (first + draws.integers(1, 4, size=size)) % 4
    styles = np.tanh(habits[first] - habits[second] + draws.normal(0, 0.5, size))
    gap = strengths[first] - strengths[second] + liking * styles
    outcome = (draws.random(size) < 1 / (1 + np.exp(-gap))).astype(float)
    return (
        Battles(("a", "b", "c", "d"), first, second, outcome, np.arange(size) // 2),
        styles[:, None],
    )


def test_bounds_are_of_draws_half_of_which_are_without_the_prior() -> None:
    battles, styles = styled(7, size=40)
    found = rank_controlled(battles, styles, ["length"], rounds=200)
    fit = fit_design(
        design_of(battles, styles / np.sqrt((styles**2).mean(axis=0))),
        battles.outcome,
        battles.clusters,
    )
    draws = influence_draws(fit.values, fit.influences, 200, 0)
    draws = POINTS * np.concatenate([draws[::2] - fit.pull, draws[1::2]])
    assert (found.effects[0].low, found.effects[0].high) == pytest.approx(
        expanded(draws[:, -1], 20)
    )
    placed = 1000 + draws[:, :4] - draws[:, :4].mean(axis=1, keepdims=True)
    for name, rating in zip(found.places.players, found.places.ratings, strict=True):
        bounds = expanded(placed[:, battles.players.index(name)], rating.clusters)
        assert (rating.low, rating.high) == pytest.approx(bounds)


def test_the_pull_of_the_prior_is_that_of_fits_with_more_and_less_of_it() -> None:
    battles, _ = styled(7, size=4000)
    fit, less, more = (
        fit_design(design_of(battles), battles.outcome, battles.clusters, prior=prior)
        for prior in (1.0, 0.99, 1.01)
    )
    assert fit.pull == pytest.approx((more.values - less.values) / 0.02, rel=1e-3)


def test_it_is_the_most_likely_fit() -> None:
    battles, styles = styled(0)
    scale = float(np.sqrt((styles**2).mean()))

    def loss(values: Floats) -> float:
        total = 0.0
        for i, j, outcome, style in zip(
            battles.first, battles.second, battles.outcome, styles[:, 0], strict=True
        ):
            gap = values[i] - values[j] + values[4] * style / scale
            total += outcome * np.log1p(np.exp(-gap)) + (1 - outcome) * np.log1p(np.exp(gap))
        return float(
            total
            + sum(np.log1p(np.exp(-value)) / 2 + np.log1p(np.exp(value)) / 2 for value in values)
        )

    best = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-8}).x
    found = rank_controlled(battles, styles, ["length"], rounds=2)
    expected = 1000 + POINTS * (best[:4] - best[:4].mean())
    assert [ratings(found.places)[name] for name in battles.players] == pytest.approx(
        expected, abs=0.01
    )
    assert found.effects[0].value == pytest.approx(POINTS * best[4], abs=0.01)
    assert found.coefficients["length"] == pytest.approx((scale, best[4]), abs=1e-4)


def test_the_influence_of_an_instruction_is_what_leaving_it_out_changes() -> None:
    battles, styles = styled(1, size=600)
    battles = replace(battles, clusters=np.arange(600))
    fit = fit_design(design_of(battles, styles), battles.outcome, battles.clusters)
    for place in range(0, 600, 97):
        kept = np.arange(600) != place
        left = battles.take(kept)
        without = fit_design(design_of(left, styles[kept]), left.outcome, left.clusters)
        assert fit.values - without.values == pytest.approx(
            fit.influences[place], rel=0.05, abs=1e-4
        )


def assert_same(one: Places, other: Places) -> None:
    assert one.players == other.players
    for first, second in zip(one.ratings, other.ratings, strict=True):
        assert (first.value, first.low, first.high) == pytest.approx(
            (second.value, second.low, second.high), abs=1e-6
        )


def test_sides_do_not_matter() -> None:
    battles, styles = styled(2)
    there, back = (
        rank_controlled(*given, ["length"], rounds=50)
        for given in ((battles, styles), (swapped(battles), -styles))
    )
    assert_same(there.places, back.places)


def test_planted_liking_of_length_is_removed_and_planted_quality_stays() -> None:
    found = rank_controlled(*styled(3, size=20_000, liking=1.0), ["length"], rounds=200)
    truth = {"a": 0.6, "b": 0.2, "c": -0.2, "d": -0.6}
    expected = {name: 1000 + POINTS * value for name, value in truth.items()}
    assert ratings(found.places) == pytest.approx(expected, abs=12)
    changes = dict(zip(found.places.players, found.places.extra, strict=True))
    # The weakest model writes most: control takes away what length gave it.
    assert changes["d"].high < -50
    assert changes["a"].low > 50


def test_given_coefficients_stay_when_a_model_joins() -> None:
    battles, styles = styled(4, size=2_000)
    before = rank_controlled(battles, styles, ["length"], rounds=2)
    # A model joins about which voters think otherwise: they dislike length.
    size, draws = 4_000, np.random.default_rng(0)
    other, further = np.arange(size) % 4, draws.uniform(-0.9, 0.9, (size, 1))
    gap = 0.1 - np.array([0.6, 0.2, -0.2, -0.6])[other] - 3 * further[:, 0]
    joined = Battles(
        (*battles.players, "new"),
        np.concatenate([battles.first, np.full(size, 4)]),
        np.concatenate([battles.second, other]),
        np.concatenate(
            [battles.outcome, (draws.random(size) < 1 / (1 + np.exp(-gap))).astype(float)]
        ),
        np.concatenate([battles.clusters, 10_000 + np.arange(size)]),
    )
    kept, both = before.coefficients, np.vstack([styles, further])
    with_kept, with_new = (
        rank_controlled(joined, both, ["length"], given=given, rounds=2) for given in (kept, None)
    )
    leads = [
        ratings(found.places)["a"] - ratings(found.places)["d"]
        for found in (before, with_kept, with_new)
    ]
    assert with_kept.coefficients == kept
    assert with_new.coefficients["length"].value < 0 < kept["length"].value
    assert abs(leads[1] - leads[0]) < 0.5 * abs(leads[2] - leads[0])


def test_given_coefficients_are_an_exact_effect() -> None:
    battles, styles = styled(5)
    found = rank_controlled(
        battles, styles, ["length"], given={"length": Coefficient(0.5, 0.3)}, rounds=50
    )
    assert found.coefficients == {"length": Coefficient(0.5, 0.3)}
    assert found.effects[0].value == pytest.approx(POINTS * 0.3)
    assert np.isnan(found.effects[0].low)


def test_features_that_cannot_be_controlled_are_refused_or_skipped() -> None:
    battles, styles = styled(6)
    none = np.zeros_like(styles)
    with pytest.raises(InputError, match=r"coefficients.*bold.*length"):
        rank_controlled(battles, styles, ["length"], given={"bold": Coefficient(0.5, 0.3)})
    with pytest.raises(InputError, match=r"300 .*bold"):
        rank_controlled(battles, none, ["bold"])
    both = rank_controlled(battles, np.hstack([none, styles]), ["bold", "length"], rounds=20)
    alone = rank_controlled(battles, styles, ["length"], rounds=20)
    assert (both.skipped, alone.skipped) == (("bold",), ())
    assert (both.coefficients, both.places) == (alone.coefficients, alone.places)


ARENA_RANK = {
    ("length",): (1184.55, 1118.44, 1086.05, 987.75, 920.51, 894.87, 807.83),
    ("length", "lists", "bold"): (1183.39, 1110.0, 1087.03, 989.77, 922.48, 896.77, 810.58),
}
"""Ratings of the published votes by arena-rank 0.1.1, in the order of `MODELS`, their mean moved to
1000:

    data = ContextualPairDataset.from_pandas(frame, columns, reweighted=False,
    normalize_features=False) ContextualBradleyTerry(len(data.competitors), data.n_features,
    reg=1e-4).compute_ratings_and_cis(data)

`frame` has one row a vote (model_a, model_b, winner, differences of style over their root mean
square).
"""
MODELS = (
    "gpt-4",
    "claude-v1",
    "gpt-3.5-turbo",
    "vicuna-13b",
    "koala-13b",
    "alpaca-13b",
    "chatglm-6b",
)


@pytest.mark.data
@pytest.mark.parametrize("features", ARENA_RANK)
def test_the_published_votes_are_rated_as_by_arena_rank(
    data_dir: Path, features: tuple[str, ...]
) -> None:
    folder = str(data_dir / "mad" / "chatbot_arena")
    votes = read_counted_votes([folder])
    battles = battles_of(vote.battle for vote in votes)
    styles = styles_of([vote.responses for vote in votes], features, [folder])
    found = rank_controlled(battles, styles, features, rounds=200)
    assert found.places.players == MODELS
    assert [value.value for value in found.places.ratings] == pytest.approx(
        ARENA_RANK[features], abs=1
    )
    if features == ("length",):
        change = found.places.extra[MODELS.index("alpaca-13b")]
        assert change.value == pytest.approx(47.3, abs=0.1)
        assert 38 < change.low < 42
        assert 53 < change.high < 57


def two_models(people: list[float], judge: list[float]) -> JudgedBallots:
    """Ballots between a and b; the judge's verdicts go on beyond those with votes."""
    size = len(judge)
    votes = np.array([*people, *[np.nan] * (size - len(people))])
    sides = np.zeros(size, dtype=np.int64), np.ones(size, dtype=np.int64)
    return JudgedBallots(
        ("a", "b"), *sides, np.arange(size), votes, np.array(judge, dtype=np.float64)
    )


def competition(
    seed: int, votes: int = 60, copied: float = 0.6, bias: float = 0.5
) -> tuple[JudgedBallots, Floats]:
    """Five models, 40 ballots a pair, some with votes, and a judge that shares some of people's
    opinions.
    """
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
    return (
        JudgedBallots(tuple("abcde"), first, second, np.arange(len(first)) // 2, people, judge),
        strengths,
    )


def test_a_corrected_share_by_hand() -> None:
    # 12 votes: 9 for a. On these ballots the judge is for a in 8, on all 20 in 10. Of the 8, people
    # are for a in 7: covariance 7/12 - 9/12 * 8/12 = 1/12, variance 8/12 * 4/12 = 2/9, lambda 3/8.
    # The share is 9/12 + 3/8 (10/20 - 8/12).
    people = [1.0] * 9 + [0.0] * 3
    judge = [1.0] * 7 + [0.0] * 2 + [1.0] + [0.0] * 2 + [1.0] * 2 + [0.0] * 6
    found = rank_corrected(two_models(people, judge), prior=1e-9, rounds=50)
    assert found.weight == pytest.approx(3 / 8)
    share = 9 / 12 + 3 / 8 * (10 / 20 - 8 / 12)
    expected = POINTS * np.log(share / (1 - share)) / 2
    assert [rating.value for rating in found.places.ratings] == pytest.approx(
        [1000 + expected, 1000 - expected]
    )
    # ppi-python 0.2.3, whose lambda counts verdicts without votes alone (3/8 * 8/20 = 0.15) and is
    # given here: ppi_logistic_pointestimate(np.ones((12, 1)), people, judge[:12], np.ones((8, 1)),
    # judge[12:], lam=0.15)
    assert (
        found.places.ratings[0].value - found.places.ratings[1].value
    ) / POINTS == pytest.approx(0.78845736)
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
    assert [ratings(found.places)[name] for name in ballots.players] == pytest.approx(
        1000 + POINTS * (best - best.mean()), abs=0.01
    )


def test_sides_and_what_the_judge_prefers_do_not_matter() -> None:
    ballots, _ = competition(1)
    turn = np.arange(len(ballots.first)) % 3 == 0
    turned = JudgedBallots(
        ballots.players,
        np.where(turn, ballots.second, ballots.first),
        np.where(turn, ballots.first, ballots.second),
        ballots.clusters,
        np.where(turn, 1 - ballots.people, ballots.people),
        np.where(turn, 1 - ballots.judge, ballots.judge),
    )
    there, back = (rank_corrected(given, rounds=50) for given in (ballots, turned))
    assert there.weight == pytest.approx(back.weight)
    assert_same(there.places, back.places)
    # A judge with one and the same verdict for each pair says nothing about ballots: people alone
    # remain, whose fit without covariates is Bradley-Terry.
    blind = rank_corrected(replace(ballots, judge=(ballots.first % 2).astype(float)), rounds=50)
    assert [blind.weight, blind.worth] == pytest.approx([0, blind.votes])
    alone = fit_bradley_terry(ballots.battles(ballots.people))
    assert [ratings(blind.places)[name] for name in ballots.players] == pytest.approx(
        alone, abs=1e-6
    )


def test_where_people_voted_on_everything_a_judge_changes_nothing() -> None:
    ballots, _ = competition(2, votes=400)
    found = rank_corrected(ballots, rounds=50)
    assert [change.value for change in found.places.extra] == pytest.approx([0] * 5, abs=1e-6)
    assert (found.weight, found.worth) == (0, found.votes)


def test_to_votes_that_are_all_ties_a_judge_adds_nothing() -> None:
    found = rank_corrected(two_models([0.5] * 12, [1.0, 0.0] * 10), rounds=50)
    assert (found.weight, found.worth) == (0, 12)


def test_a_judge_that_shares_opinions_helps_and_is_worth_votes() -> None:
    errors, worth = [], []
    for seed in range(60):
        ballots, strengths = competition(seed)
        found = rank_corrected(ballots, rounds=2)
        truth = dict(zip(ballots.players, 1000 + POINTS * strengths, strict=True))
        wrong = np.array([value - truth[name] for name, value in ratings(found.places).items()])
        changes = np.array([change.value for change in found.places.extra])
        errors.append(((wrong**2).mean(), ((wrong - changes) ** 2).mean()))
        worth.append(found.worth)
    corrected, alone = np.mean(errors, axis=0)
    assert corrected < 0.85 * alone
    assert 65 < np.mean(worth) < 110


def test_models_that_would_be_infinitely_strong_get_a_finite_rating() -> None:
    # a won all 10; the judge saw those ballots go to b, but all others to a: the corrected share is
    # far above 1.
    people = [1.0] * 9 + [0.5]
    judge = [0.5] * 9 + [0.0] + [1.0] * 90
    found = rank_corrected(two_models(people, judge), rounds=50)
    assert np.isfinite([rating.value for rating in found.places.ratings]).all()


def test_too_few_votes_are_refused_with_counts() -> None:
    with pytest.raises(InputError, match=r"at least 10 comparisons .* got 9: 9 have votes, 40"):
        rank_corrected(two_models([1.0] * 9, [1.0] * 40))
    unjudged = [1.0] * 9 + [math.nan] * 31
    with pytest.raises(InputError, match=r"got 9: 40 have votes, 9 a verdict"):
        rank_corrected(two_models([1.0] * 40, unjudged))
