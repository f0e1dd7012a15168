"""Adjusted means with raters and unseen errors beside an implementation that goes round by round."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from urs_inspect.stats._adjusted_means import (
    FEWEST_BY_SAME_RATERS,
    ByRater,
    RatedScores,
    powered_means,
    rater_effects,
    ratings_by_same_raters,
)
from urs_inspect.stats._bootstrap import Floats, Integers, resample
from urs_inspect.stats._correlation import derived_seed
from urs_inspect.stats._means import Reweight, effective_number

CLUSTERS = np.repeat(np.arange(10), [1, 2, 3] * 3 + [2])
QUESTIONS = len(CLUSTERS)
HEAVY = np.where(np.arange(QUESTIONS) % 3, 1.0, 4.0)
WIDTH = 9.0
ROUNDS = 30


def uneven(counts: Floats) -> Floats:
    """Questions of some kind count four times as much as others."""
    return counts * HEAVY


def study(seed: int, by_raters: bool, right: bool = False) -> RatedScores:
    """Answers of three models, half of them rated, with weights; a large error of the judge."""
    rng = np.random.default_rng(seed)
    judge = rng.integers(3, 9, (QUESTIONS, 3)).astype(float)
    people = judge + (0.0 if right else rng.normal(0, 0.4, judge.shape))
    if not right:
        people[2, 1] += 6
        people[2, 0] += 3
    rated = rng.random(judge.shape) < 0.5
    rated[2] = True
    people = np.where(rated, people, np.nan)
    of_rated = np.where(rated, judge if right else judge + rng.normal(0, 0.2, judge.shape), np.nan)
    weights = rng.uniform(0.5, 2, judge.shape)
    raters = None
    if by_raters:
        # Each rated answer has one or two of three raters; the last one rates the last model only.
        shares = np.zeros((QUESTIONS, 3, 3))
        for question, model in zip(*np.nonzero(rated), strict=True):
            some = [2] if model == 2 and question % 2 else [question % 2]
            if question % 5 == 0:
                some = [0, 1]
            shares[question, model, some] = 1 / len(some)
        leniency = np.array([0.5, -1.0, 0.3])
        given = np.where(rated, people, 0.0)[:, :, None] + leniency
        parts = shares * given
        people = np.where(rated, parts.sum(axis=2), np.nan)
        raters = ByRater(shares, parts)
    return RatedScores(judge, people, of_rated, weights, raters)


class Slow(NamedTuple):
    corrected: Floats  # first the values, then a row for each round, shape (1 + R, M)
    people: Floats
    predicted: Floats
    n: list[int]
    clusters: list[int]


def slow_noise(residuals: Floats, seed: int) -> Floats:
    """Noise of each round and model, times the number of rated answers."""
    deviations = residuals - np.nanmean(residuals, axis=0)
    known = deviations[~np.isnan(deviations)]
    largest = (known**2).max()
    beyond = max(largest - 4 * (known**2).mean(), 0.0)
    size = math.sqrt(0.75 * beyond)
    if math.sqrt(largest) < 1e-9 * WIDTH:
        size = 3 / 1.96 * WIDTH
    products = 0.0
    squares = 0.0
    for row in deviations:
        there = row[~np.isnan(row)]
        for place, one in enumerate(there):
            for other_place, other in enumerate(there):
                if place != other_place:
                    products += one * other
                    squares += one**2
    shared = min(max(products / squares, 0.0), 1.0) if squares > 0 else 0.0
    generator = np.random.default_rng(derived_seed(seed, 3))
    own = generator.standard_normal((ROUNDS, residuals.shape[1]))
    common = generator.standard_normal((ROUNDS, 1))
    noise: Floats = size * (math.sqrt(1 - shared) * own + math.sqrt(shared) * common)
    return noise


def most_alike(shares: Floats) -> list[float]:
    """Of each model, the most ratings that another one has from the same raters."""
    alike = ratings_by_same_raters(shares.sum(axis=0))
    most = []
    for model in range(3):
        most.append(math.floor(max(alike[model, other] for other in range(3) if other != model)))
    return most


def without_raters(
    scores: RatedScores, weights: Floats, of_rated: Floats
) -> tuple[Floats, Floats, Floats, list[float]]:
    """People's ratings without raters' effects, where raters are known.

    Also the influence of each question on these, the raters' shares, and `most_alike` of them.
    """
    if scores.raters is None:
        return scores.people, np.zeros((QUESTIONS, 0)), np.zeros((QUESTIONS, 3, 0)), [math.inf] * 3
    shares = scores.raters.shares
    weight = weights[:, :, None]
    known = ~np.isnan(scores.people)
    taken = np.where(known, of_rated, 0.0)[:, :, None] * shares
    effects = rater_effects(weight * shares, weight * (scores.raters.parts - taken))
    people = scores.people - shares @ effects.values
    return people, effects.influence, shares, most_alike(shares)


def slow_means(
    scores: RatedScores,
    columns: Mapping[str, Integers],
    coefficients: tuple[float, float],
    reweight: Reweight | None,
    clusters: Integers,
    seed: int,
) -> dict[str, Slow]:
    first, second = coefficients
    common = scores.judge.mean(axis=1, keepdims=True)
    predicted = first * common + second * (scores.judge - common)
    of_rated = first * common + second * (scores.judge_of_rated - common)
    known = ~np.isnan(scores.people)
    drawn = np.concatenate(list(resample(int(clusters.max()) + 1, ROUNDS, seed)))[:, clusters]
    counts = np.vstack([np.ones(QUESTIONS), drawn])
    by_question = counts if reweight is None else reweight(counts)
    usual = by_question[0]
    weights = np.where(known, scores.weights * usual[:, None], 0.0)
    people, influence, shares, most = without_raters(scores, weights, of_rated)
    residuals = people - of_rated
    noise = slow_noise(residuals, seed)
    found = {}
    for name, chosen in columns.items():
        weight = np.where(known, scores.weights, 0.0)[chosen]
        whole = [int(effective_number(weights[chosen, model]) + 1e-12) for model in range(3)]
        n = [int(min(one, limit)) for one, limit in zip(whole, most, strict=True)]
        there = [len(set(clusters[chosen][known[chosen, model]].tolist())) for model in range(3)]
        rows = []
        for number, row in enumerate(by_question):
            of_row = []
            for model in range(3):
                judged = np.average(predicted[chosen, model], weights=row[chosen])
                used = row[chosen] * weight[:, model]
                rated = known[chosen, model]
                given = people[chosen, model][rated]
                left = residuals[chosen, model][rated]
                if not used.any():
                    of_row.append((math.nan, math.nan, judged))
                    continue
                drift = 0.0
                by_rater = (weights[chosen, model, None] * shares[chosen, model]).sum(axis=0)
                if number and influence.size:
                    moved = (row / usual * usual.sum()) @ influence / row.sum()
                    drift = float(by_rater @ moved / by_rater.sum())
                correction = np.average(left, weights=used[rated]) - drift
                rating = np.average(given, weights=used[rated]) - drift
                unseen = 0.0
                if number:
                    unrated = math.sqrt(1 - rated.mean())
                    unseen = noise[number - 1, model] * unrated / max(1, n[model])
                of_row.append((correction + judged + unseen, rating, judged))
            rows.append(of_row)
        corrected, alone, judged = np.moveaxis(np.array(rows), 2, 0)
        groups = [min(one, other) for one, other in zip(n, there, strict=True)]
        found[name] = Slow(corrected, alone, judged, n, groups)
    return found


@pytest.mark.parametrize(("by_raters", "right"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("reweight", [None, uneven])
@pytest.mark.parametrize("clustered", [False, True])
def test_adjusted_means_are_those_of_rounds_one_by_one(
    by_raters: bool, reweight: Reweight | None, clustered: bool, right: bool
) -> None:
    scores = study(1, by_raters, right)
    everything = np.arange(QUESTIONS)
    columns = {"all": everything, "some": everything[2::2], "few": np.array([2, 5, 6, 9])}
    coefficients = (1.0, 1.0) if right else (0.7, 0.4)
    clusters = CLUSTERS if clustered else None
    found, echoed = powered_means(
        scores,
        columns,
        coefficients=coefficients,
        width=WIDTH,
        reweight=reweight,
        clusters=clusters,
        rounds=ROUNDS,
        seed=5,
    )
    assert echoed == coefficients
    drawn = CLUSTERS if clustered else everything
    slow = slow_means(scores, columns, coefficients, reweight, drawn, 5)
    for name in columns:
        one = found[name]
        other = slow[name]
        for means, rows in ((one.corrected, other.corrected), (one.people, other.people)):
            assert means.values == pytest.approx(rows[0], abs=1e-9, nan_ok=True)
            assert means.draws == pytest.approx(rows[1:], abs=1e-9, nan_ok=True)
            assert means.n.tolist() == other.n
            assert means.clusters.tolist() == other.clusters
            assert means.seed == 5
        # Predictions are less their mean.
        shifted = one.predicted.draws - one.predicted.values
        assert shifted == pytest.approx(other.predicted[1:] - other.predicted[0], abs=1e-9)


def test_leniency_is_told_from_the_mean_of_all_ratings_and_not_of_all_raters() -> None:
    # One rater gave three answers 7, another one gave a further answer 3: their mean is 6.
    given = {0: (0, 7.0), 1: (0, 7.0), 2: (0, 7.0), 3: (1, 3.0)}
    shares, parts = np.zeros((2, 4, 1, 2))
    for question, (rater, rating) in given.items():
        shares[question, 0, rater] = 1.0
        parts[question, 0, rater] = rating
    effects = rater_effects(shares, parts)
    assert effects.values == pytest.approx([1.0, -3.0])
    assert effects.influence.sum(axis=0) == pytest.approx([0.0, 0.0])


@pytest.mark.parametrize("seed", range(4))
def test_rater_effects_are_those_of_least_squares_and_of_a_little_more_weight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares = (rng.random((12, 3, 4)) < [0.9, 0.5, 0.3, 0.6]) * rng.uniform(0.5, 1, (12, 3, 4))
    parts = shares * rng.integers(1, 11, shares.shape)

    def slow(weight: Floats) -> Floats:
        rows = []
        for place in np.argwhere(shares > 0):
            question, model, rater = place.tolist()
            root = math.sqrt(weight[question] * shares[question, model, rater])
            design = np.zeros(7)
            design[[model, 3 + rater]] = root
            rows.append([*design, root * parts[tuple(place)] / shares[tuple(place)]])
        table = np.array(rows)
        fitted = np.linalg.lstsq(table[:, :-1], table[:, -1])[0][3:]
        centred: Floats = fitted - fitted @ usual
        return centred

    of_all = shares.sum(axis=(0, 1))
    usual = of_all / of_all.sum()
    effects = rater_effects(shares, parts)
    once = np.ones(12)
    assert effects.values == pytest.approx(slow(once))
    assert effects.influence.shape == (12, 4)
    for question in range(12):
        more = once.copy()
        more[question] += 1e-5
        moved = (slow(more) - slow(once)) / 1e-5
        assert effects.influence[question] == pytest.approx(moved, abs=1e-3)


def test_ten_ratings_by_the_same_raters_tell_models_from_raters() -> None:
    assert FEWEST_BY_SAME_RATERS == 10


@pytest.mark.parametrize("seed", range(3))
def test_coefficients_are_fitted_to_ratings_less_what_ratings_alone_show_of_raters(
    seed: int,
) -> None:
    scores = study(seed, by_raters=True)
    assert scores.raters is not None
    known = ~np.isnan(scores.people)
    weight = np.where(known, scores.weights, 0.0)[:, :, None]
    shares = scores.raters.shares
    effects = rater_effects(weight * shares, weight * scores.raters.parts)
    people = scores.people - shares @ effects.values
    alike = replace(scores, people=people, raters=None)
    everything = {"all": np.arange(QUESTIONS)}
    _, fitted = powered_means(scores, everything, rounds=2)
    _, expected = powered_means(alike, everything, rounds=2)
    _, as_given = powered_means(replace(scores, raters=None), everything, rounds=2)
    assert fitted == pytest.approx(expected)
    assert fitted != pytest.approx(as_given, abs=1e-4)
