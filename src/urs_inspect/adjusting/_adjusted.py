"""Bradley-Terry ratings that are adjusted.

People's votes corrected by a judge's verdicts, or votes at equal style.

Corrected (`rank_corrected`): people voted on some ballots, a judge on all of them.
Prediction-powered inference (Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered
Inference", 2023, section 2) for the logistic loss, stratified by pair of models. Votes enter this
loss only through the share of wins of each pair, which becomes

    people + lambda * (judge, all ballots of the pair - judge, those ballots of the pair that people
    voted on).

The term in brackets has mean zero whatever the judge prefers, if within each pair the ballots that
people voted on are as good as drawn at random; how many votes a pair gets may depend on outcomes.
It removes the part of the people's luck with ballots that the judge shares. Lambda is power-tuned:
the slope of votes on verdicts within pairs, cut to 0 to 1.

Controlled (`rank_controlled`): how models would rank if no answer were longer or had more markup.
The log odds of a battle are the difference of two strengths plus a coefficient for each difference
of style (the method of Chatbot Arena's "style control"). A count enters as (a - b) / (a + b), 0
where both are 0, divided by its root mean square over the battles. It is not centred, so that it
does not matter which model is named first.

The prior is that of `bradley_terry`: each model gets ties with an average one, and each coefficient
ties between equal models whose styles differ by one root mean square.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np

from urs_inspect._util import InputError, choices
from urs_inspect.stats._battles import Battles
from urs_inspect.stats._bootstrap import (
    Estimate,
    Flags,
    Floats,
    Integers,
    Resampling,
    ResamplingOptions,
    bootstrap_counts,
    reported,
)
from urs_inspect.stats._bradley_terry import PRIOR, fit_bradley_terry, on_scale
from urs_inspect.stats._elo import SCALE
from urs_inspect.stats._ranking import Places, place
from urs_inspect.stats._style import FEATURES, INFINITE, Fit, fit_design

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FEWEST_VOTES = 10
"""Fewest ballots with both votes and a verdict: fewer cannot show how far the judge agrees with
people.
"""

_POINTS = SCALE / math.log(10)


@dataclass(frozen=True)
class JudgedBallots:
    """Ballots with what people and a judge said about them.

    Arrays as in `Battles`, NaN where there is no outcome.
    """

    players: tuple[str, ...]
    first: Integers
    second: Integers
    clusters: Integers
    people: Floats
    judge: Floats

    def battles(self, outcomes: Floats) -> Battles:
        """The ballots with an outcome as battles."""
        known = ~np.isnan(outcomes)
        return Battles(
            self.players,
            self.first[known],
            self.second[known],
            outcomes[known],
            self.clusters[known],
        )


@dataclass(frozen=True)
class CorrectedRanking:
    """Models from the best to the worst by people's votes and a judge.

    Intervals by `influence_draws`.
    """

    places: Places  # corrected ratings; `extra`: less the ratings by people alone
    judge: tuple[float, ...]  # ratings by the judge's verdicts alone, in the same order
    weight: float  # lambda, 0 to 1
    votes: int  # ballots with votes
    verdicts: int  # ballots with a verdict
    both: int  # ballots with both
    agreement: float  # share of the ballots with both on which people and judge chose the same
    # number of votes that would have the mean variance of the corrected ratings without the judge
    worth: float


def rank_corrected(
    ballots: JudgedBallots, *, prior: float = PRIOR, **options: Unpack[ResamplingOptions]
) -> CorrectedRanking:
    """Rank models by people's votes, corrected by a judge's verdicts.

    `options` are those of `Resampling`.
    """
    voted = ~np.isnan(ballots.people)
    judged = ~np.isnan(ballots.judge)
    both = voted & judged
    if both.sum() < FEWEST_VOTES:
        raise InputError(
            f"a correction by a judge needs at least {FEWEST_VOTES} comparisons with people's votes"
            f" and a verdict, got {both.sum()}: {voted.sum()} have votes, {judged.sum()} a verdict"
        )
    tuned, excess, share = _control(ballots)
    people = np.where(voted, ballots.people, 0.0)

    design = design_of(ballots)

    def fit(weight: float) -> Fit:
        known = weight * excess
        return fit_design(
            design,
            people - known,
            ballots.clusters,
            weights=voted.astype(np.float64),
            shared=share * known,
            prior=prior,
        )

    alone = fit(0.0)
    corrected = alone
    weight = 0.0
    # Less where a model would be infinitely strong by shares outside 0 to 1; votes alone always
    # have a finite fit.
    for tried in (tuned, tuned / 2, tuned / 4):
        candidate = fit(tried)
        strongest = np.abs(candidate.values).max()
        if strongest < INFINITE:
            corrected = candidate
            weight = tried
            break
    how = Resampling(**options)
    votes_of_people = ballots.battles(ballots.people)
    places, _ = _placed(votes_of_people, corrected, alone, how)
    verdicts_of_judge = ballots.battles(ballots.judge)
    judge_ratings = fit_bradley_terry(verdicts_of_judge, prior=prior)
    rated = zip(ballots.players, judge_ratings.tolist(), strict=True)
    by_judge = dict(rated)
    same = ballots.people[both] == ballots.judge[both]
    # Of ties alone both variances are 0.
    gain = 1.0
    if weight:
        gain = alone.variance / corrected.variance
    return CorrectedRanking(
        places,
        judge=tuple(by_judge[name] for name in places.players),
        weight=weight,
        votes=int(voted.sum()),
        verdicts=int(judged.sum()),
        both=int(both.sum()),
        agreement=float(same.mean()),
        worth=float(voted.sum() * gain),
    )


def _control(ballots: JudgedBallots) -> tuple[float, Floats, Floats]:
    """Lambda, what each verdict is above the mean of its pair, and a share.

    The share is that of the pair's verdicts with votes.

    The latter have shape (N,), 0 for a ballot without a verdict. Covariance and variance within a
    pair are unbiased with few votes; pairs without further verdicts do not count.
    """
    turned = ballots.first > ballots.second
    size = len(ballots.players)
    forward = ballots.first * size + ballots.second
    backward = ballots.second * size + ballots.first
    code_of_pair = np.where(turned, backward, forward)
    _, pair = np.unique(code_of_pair, return_inverse=True)
    vote = np.where(turned, 1 - ballots.people, ballots.people)
    verdict = np.where(turned, 1 - ballots.judge, ballots.judge)
    judged = ~np.isnan(verdict)
    both = judged & ~np.isnan(vote)

    def number_in_pair(which: Flags) -> Floats:
        numbers = np.bincount(pair, which).astype(np.float64)
        return numbers[pair]

    def centred(values: Floats, which: Flags, count: Floats) -> Floats:
        known = np.where(which, values, 0.0)
        sums = np.bincount(pair, known)
        means = sums[pair] / np.maximum(count, 1)
        return np.where(which, known - means, 0.0)

    seen = number_in_pair(both)
    verdicts = number_in_pair(judged)
    votes = centred(vote, both, seen)
    seen_verdicts = centred(verdict, both, seen)
    unbiased = seen / np.maximum(seen - 1, 1)
    counts = (seen > 1) & (verdicts > seen)
    freedom = np.where(counts, unbiased, 0.0)
    variance = freedom @ seen_verdicts**2
    weight = 0.0
    if variance > 1e-9:
        covariance = freedom @ (votes * seen_verdicts)
        weight = float(np.clip(covariance / variance, 0, 1))
    excess = centred(verdict, judged, verdicts)
    as_shown = np.where(turned, -excess, excess)
    share = seen / np.maximum(verdicts, 1)
    return weight, as_shown, share


class Coefficient(NamedTuple):
    """What a difference of style is worth."""

    scale: float  # root mean square of the differences over the battles of the fit, above 0
    value: float  # change of the log odds of a win for a difference of one scale


@dataclass(frozen=True)
class ControlledRanking:
    """Models from the best to the worst at equal style.

    Intervals by `influence_draws` over instructions.
    """

    places: Places  # ratings at equal style; `extra`: less the ratings without control
    coefficients: Mapping[str, Coefficient]  # by feature
    effects: tuple[Estimate, ...]  # coefficients in points, for a difference of one scale
    given: bool  # whether the coefficients were given; then they count as exact
    skipped: tuple[str, ...] = ()  # features that differ in no comparison


def style_differences(responses: Iterable[Sequence[str]], features: Sequence[str]) -> Floats:
    """(a - b) / (a + b) of the counts of two answers, by feature; -1 to 1, 0 where both are 0.

    Shape (N, K).
    """
    counts = []
    for one, other in responses:
        row = []
        for name in features:
            count = FEATURES[name]
            row.append((count(one), count(other)))
        counts.append(row)
    shape = (len(counts), len(features), 2)
    table = np.array(counts, dtype=np.float64).reshape(shape)
    difference = table[..., 0] - table[..., 1]
    total = table.sum(axis=2)
    return np.asarray(difference / np.maximum(total, 1))


def rank_controlled(
    battles: Battles,
    styles: Floats,
    features: Sequence[str],
    *,
    given: Mapping[str, Coefficient] | None = None,
    **options: Unpack[ResamplingOptions],
) -> ControlledRanking:
    """Rank models at equal style, from `style_differences` of shape (N, K).

    `options` are those of `Resampling`.

    Coefficients of an earlier fit are kept, so that a model that joins does not change what style
    is worth.
    """
    how = Resampling(**options)
    outcome = battles.outcome
    clusters = battles.clusters
    design = design_of(battles)
    skipped = tuple[str, ...]()
    if given is None:
        differs = np.asarray(styles.any(axis=0))
        if not differs.any():
            raise InputError(
                f"control: no comparison of the {len(styles)} has a difference in"
                f" {choices(features)}"
            )
        skipped = tuple(compress(features, ~differs))
        features = list(compress(features, differs))
        styles = styles[:, differs]
        squares = styles**2
        scales = np.sqrt(squares.mean(axis=0))
        scaled = styles / scales
        fit = fit_design(design_of(battles, scaled), outcome, clusters)
        values = fit.values[len(battles.players) :]
    elif set(given) != set(features):
        raise InputError(
            f"control: the coefficients are for {choices(given)}, not for {choices(features)}; both"
            " must name the same features"
        )
    else:
        coefficients_given = [given[name] for name in features]
        scales, values = np.array(coefficients_given).T
        log_odds = styles / scales @ values
        fit = fit_design(design, outcome, clusters, offset=log_odds)
    plain = fit_design(design, outcome, clusters)
    places, effects = _placed(battles, fit, plain, how)
    if given is not None:
        effect = _POINTS * values
        effects = np.tile(effect, (len(effects), 1))
    number = [len(battles)] * len(features)
    instructions = [len(np.unique(clusters))] * len(features)
    coefficients = map(Coefficient, scales.tolist(), values.tolist())
    return ControlledRanking(
        places=places,
        coefficients=dict(zip(features, coefficients, strict=True)),
        effects=reported(effects[0], effects[1:], number, instructions, how),
        given=given is not None,
        skipped=skipped,
    )


def design_of(ballots: Battles | JudgedBallots, covariates: Floats | None = None) -> "csr_array":
    """A row per ballot: 1 for the first player, -1 for the second, then covariates, (N, P + K)."""
    from scipy.sparse import csr_array, hstack

    size = len(ballots.first)
    signs = np.repeat([1.0, -1.0], size)
    rows = np.tile(np.arange(size), 2)
    players = np.concatenate([ballots.first, ballots.second])
    shape = (size, len(ballots.players))
    design = csr_array((signs, (rows, players)), shape)
    if covariates is not None:
        design = hstack([design, csr_array(covariates)], format="csr")
    return design


def _placed(battles: Battles, fit: Fit, plain: Fit, how: Resampling) -> tuple[Places, Floats]:
    """Places by a fit, and its coefficients, shape (1 + R, K).

    `extra` are its ratings less those of a plain fit.

    The first row is of all battles, the others are draws; in points. Every second draw leaves out
    the pull of the prior, which moves models that are far apart towards each other; with it in all
    draws intervals are too narrow.
    """
    values = np.concatenate([fit.values, plain.values])
    influences = np.hstack([fit.influences, plain.influences])
    drawn = influence_draws(values, influences, how.rounds, how.seed)
    draws = np.vstack([values, drawn])
    draws[1::2] -= np.concatenate([fit.pull, plain.pull])
    ends = [len(battles.players), len(fit.values)]
    fitted, effects, before = np.split(draws, ends, axis=1)
    ratings = on_scale(fitted)
    difference = ratings - on_scale(before)
    places = place(battles, ratings, difference, how)
    return places, _POINTS * effects


def influence_draws(values: Floats, influences: Floats, rounds: int, seed: int) -> Floats:
    """Statistics of each round to first order.

    `values` + sum of (times drawn - 1) * influence, over clusters.

    For statistics that take long to compute, or that a round may leave undefined: the one-step
    bootstrap, whose variance is that of the clustered sandwich. Shapes (M,) and (C, M) -> (R, M).
    """
    centred = influences - influences.mean(axis=0)
    return values + bootstrap_counts(centred, rounds, seed)
