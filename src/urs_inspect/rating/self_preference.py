"""Whether judges favour their own answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from urs_inspect.rating.bootstrap import LEVEL, ROUNDS, SEED, Estimate, Floats
from urs_inspect.rating.mean_columns import MeanColumn, bootstrap_means, mean_estimates, p_values
from urs_inspect.rating.mean_contrasts import contrast


@dataclass(frozen=True)
class SelfPreference:
    """How one judge rates its own answers, in points of the scale.

    Attributes:
        preference: Its rating of its own answers less that of the other judges of the same answers, mean over these.
        leniency: The same difference over the answers of models that are neither of the two judges; NaN where there is
            no such answer.
        beyond: `preference` less `leniency`, over the other judges for whom both are known: what is left when a judge
            that is mild to everybody is taken for what it is.
        own: Its mean rating of its own answers.
        others: Mean rating of these answers by the other judges.
        p: Two-sided p-value of `preference` being 0, 0 to 1.
        p_beyond: The same for `beyond`.
    """

    preference: Estimate
    leniency: Estimate
    beyond: Estimate
    own: float
    others: float
    p: float
    p_beyond: float


def self_preference(
    scores: npt.ArrayLike,
    judge: int,
    own: int,
    judges_as_models: Sequence[int | None],
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
) -> SelfPreference:
    """Self-preference of one judge, paired by case.

    The judge is compared with each other judge over the cases that both have rated, so that a judgement that failed
    takes nothing from the others. Other judges weigh the same, and so do settings, such as sources of references.

    Args:
        scores: Ratings by case, setting, judge and model whose answer it is; NaN where there is none, shape (N, S, J,
            M). All judges rate the same answer of a model, in every setting.
        judge: Which judge.
        own: Which model the judge is.
        judges_as_models: Which model each judge is, None for one whose answers were not rated, length J.
        rounds: Rounds of the bootstrap over cases.
        level: Confidence level of the intervals.
        seed: Seed of the bootstrap.

    Returns:
        The three differences; NaN where nothing can be compared, as with a single judge.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 4 or table.shape[2] != len(judges_as_models):
        raise ValueError(f"need case, setting, judge and model, and a model a judge; got shape {table.shape}")
    differences, mine, theirs = _against_others(table, judge, judges_as_models)
    columns = np.concatenate([part.reshape(len(table), -1) for part in (differences, mine, theirs)], axis=1)
    [found] = bootstrap_means([MeanColumn(np.arange(len(table)), columns)], len(table), rounds=rounds, seed=seed)
    weights = _weights(~np.isnan(found.values[: differences[0].size].reshape(differences.shape[1:])), own)
    sums = contrast(found, weights)
    first, second, third, own_mean, other_mean = mean_estimates(sums, level)
    p, _, p_beyond, *_ = (float(value) for value in p_values(sums))
    return SelfPreference(first, second, third, own_mean.value, other_mean.value, p, p_beyond)


def _against_others(table: Floats, judge: int, judges_as_models: Sequence[int | None]) -> tuple[Floats, Floats, Floats]:
    """Differences to each other judge, and both sides of them, shape (N, S, J - 1, M) each.

    NaN where one of the two has not rated, and where the other judge is the model.
    """
    others = [other for other in range(len(judges_as_models)) if other != judge]
    theirs = table[:, :, others, :].copy()
    for place, other in enumerate(others):
        itself = judges_as_models[other]
        if itself is not None:
            theirs[:, :, place, itself] = np.nan
    mine = np.broadcast_to(table[:, :, [judge], :], theirs.shape)
    there = ~np.isnan(mine) & ~np.isnan(theirs)
    mine, theirs = np.where(there, mine, np.nan), np.where(there, theirs, np.nan)
    return mine - theirs, mine, theirs


def _weights(there: npt.NDArray[np.bool_], own: int) -> Floats:
    """Weights of all columns in preference, leniency, beyond, own and others' mean, shape (3 S (J - 1) M, 5).

    Args:
        there: Which differences have a mean, shape (S, J - 1, M).
        own: Which model the judge is.
    """
    is_own = np.arange(there.shape[2]) == own
    to_itself, to_models = there & is_own, there & ~is_own
    both = to_itself.any(axis=2, keepdims=True) & to_models.any(axis=2, keepdims=True)
    preference, leniency = _even(to_itself), _even(to_models)
    beyond = _even(to_itself & both) - _even(to_models & both)
    weights = np.zeros((3, there.size, 5))
    weights[0, :, :3] = np.stack([preference, leniency, beyond], axis=1)
    weights[1, :, 3] = weights[2, :, 4] = preference
    return weights.reshape(-1, 5)


def _even(part: npt.NDArray[np.bool_]) -> Floats:
    """Weights of differences, shape (S (J - 1) M,), the same for each other judge and setting that has any."""
    inner = part / np.maximum(1, part.sum(axis=2, keepdims=True))
    return np.asarray(inner / max(1, np.count_nonzero(part.any(axis=2))), dtype=np.float64).ravel()
