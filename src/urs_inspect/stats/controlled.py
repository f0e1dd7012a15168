"""Bradley-Terry ratings at equal style: how models would rank if no answer were longer or had more markup.

The log odds of a battle are the difference of two strengths plus a coefficient for each difference of style (the method
of Chatbot Arena's "style control"). A count such as the length enters as (a - b) / (a + b), 0 where both are 0, divided
by its root mean square over the battles. It is not centred, so that it does not matter which model is named first.

Coefficients and strengths are fitted together, with the prior of `bradley_terry` on both: each model gets ties with an
average one, and each coefficient ties between equal models whose styles differ by one root mean square. Coefficients of
an earlier fit may be kept, so that a model that joins does not change what style is worth.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError, choices
from urs_inspect.stats.battles import Battles
from urs_inspect.stats.bootstrap import LEVEL, SEED, Estimate, Floats, influence_draws
from urs_inspect.stats.bradley_terry import PRIOR, StyledBattles
from urs_inspect.stats.elo import ROUNDS, SCALE, START
from urs_inspect.stats.ranking import Places, place, reported

_LISTS = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_HEADINGS = re.compile(r"^ {0,3}#{1,6}[ \t]+\S", re.MULTILINE)
_BOLD = re.compile(r"\*\*[^\s*][^*\n]*\*\*|__[^\s_][^_\n]*__")
_CODE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)

FEATURES: Mapping[str, Callable[[str], float]] = {
    "length": len,
    "lists": lambda text: len(_LISTS.findall(text)),
    "headings": lambda text: len(_HEADINGS.findall(text)),
    "bold": lambda text: len(_BOLD.findall(text)),
    "code": lambda text: len(_CODE.findall(text)) // 2,
}
"""What is counted in an answer: characters, list items, headings, passages in bold, blocks of code (in Markdown)."""


def style_difference(first: str, second: str, features: Sequence[str]) -> tuple[float, ...]:
    """(a - b) / (a + b) of the counts of two answers, by feature; from -1 to 1, 0 where both counts are 0."""
    counts = [(FEATURES[name](first), FEATURES[name](second)) for name in features]
    return tuple((a - b) / (a + b) if a + b else 0.0 for a, b in counts)


@dataclass(frozen=True)
class Coefficients:
    """What differences of style are worth."""

    features: tuple[str, ...]  # among `FEATURES`
    scales: tuple[float, ...]  # root mean square of each difference over the battles of the fit, above 0
    values: tuple[float, ...]  # change of the log odds of a win for a difference of one scale

    def write(self, path: Path) -> None:
        """Write a JSON file, as `read_coefficients` reads it; `InputError` if it exists or cannot be written."""
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(json.dumps(asdict(self), indent=1) + "\n")
        except OSError as error:
            raise InputError(f"cannot write the coefficients '{path}': {error.strerror}") from None


def read_coefficients(path: Path) -> Coefficients:
    """Read a file of `Coefficients.write`.

    Raises:
        InputError: If the file cannot be read, or is no such file.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the coefficients '{path}': {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    parts = [values.get(key) for key in ("features", "scales", "values")] if isinstance(values, dict) else []
    names, scales, coefficients = [part if isinstance(part, list) else [] for part in parts] or [[]] * 3
    if not (
        names
        and len(names) == len(scales) == len(coefficients) == len(set(map(str, names)))
        and all(str(name) in FEATURES for name in names)
        and all(_is_number(number) for number in (*scales, *coefficients))
        and min(scales) > 0
    ):
        raise InputError(
            f"{path}: coefficients are a JSON object with `features` (of {choices(FEATURES)}), `scales` (above 0) and "
            "`values`, lists of one length"
        )
    return Coefficients(tuple(names), tuple(map(float, scales)), tuple(map(float, coefficients)))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True)
class ControlledRanking:
    """Models from the best to the worst at equal style; intervals by `influence_draws` over instructions."""

    places: Places  # ratings at equal style; `extra`: less the ratings without control
    coefficients: Coefficients
    effects: tuple[Estimate, ...]  # coefficients in points, for a difference of one scale
    given: bool  # whether the coefficients were given; then they count as exact
    level: float
    rounds: int
    seed: int


def rank_controlled(
    battles: Battles,
    styles: npt.ArrayLike,
    features: Sequence[str],
    *,
    given: Coefficients | None = None,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
    prior: float = PRIOR,
    scale: float = SCALE,
    mean: float = START,
) -> ControlledRanking:
    """Rank models at equal style.

    Args:
        battles: The battles, at least one.
        styles: Differences of style, first less second model, shape (N, K); see `style_difference`.
        features: Their names, K.
        given: Coefficients of an earlier fit, which are kept; None fits them.
        rounds: Number of resamples.
        level: Confidence level of all intervals.
        seed: Seed of the resamples.
        prior: Ties that are added for each model and coefficient, above 0.
        scale: Points that are odds of ten to one.
        mean: Mean of the ratings.

    Returns:
        The ranking; models with equal ratings in the order of the players.

    Raises:
        InputError: If a feature differs in no battle, or the given coefficients have other features.
    """
    table = np.asarray(styles, dtype=np.float64).reshape(len(battles), len(features))
    coefficients = _checked(table, features, given)
    standard = table / coefficients.scales
    offset, fitted = standard @ np.array(coefficients.values), standard[:, : len(features) if given is None else 0]
    points, size = scale / math.log(10), len(battles.players)
    clusters = np.unique(battles.clusters, return_inverse=True)[1]
    values, influences = list[Floats](), list[Floats]()
    for covariates, known in ((fitted, offset), (standard[:, :0], np.zeros(len(battles)))):
        rows = StyledBattles(battles.first, battles.second, clusters, covariates, known, size)
        found, inverse, scores = rows.fit(battles.outcome, np.ones(len(battles)), prior)
        values.append(found)
        influences.append(rows.influences(scores, inverse))
    joint = np.concatenate(values)
    draws = points * np.vstack([joint, influence_draws(joint, np.hstack(influences), rounds, seed)])
    controlled, effects, plain = np.split(draws, [size, len(values[0])], axis=1)
    ratings, before = (mean + part - part.mean(axis=1, keepdims=True) for part in (controlled, plain))
    if given is None:
        coefficients = replace(coefficients, values=tuple(values[0][size:].tolist()))
    else:
        effects = np.tile(points * np.array(coefficients.values), (len(draws), 1))
    number, total = np.full((2, len(features)), [[len(battles)], [int(clusters.max()) + 1]])
    return ControlledRanking(
        place(battles, ratings, ratings - before, level, seed),
        coefficients,
        reported(effects[0], effects[1:], number, total, level, seed),
        given is not None,
        level,
        rounds,
        seed,
    )


def _checked(table: Floats, features: Sequence[str], given: Coefficients | None) -> Coefficients:
    """The given coefficients in the order of the features; without any the scales of these battles and zeros."""
    if given is None:
        if flat := [name for name, values in zip(features, table.T, strict=True) if not values.any()]:
            raise InputError(f"control: {choices(flat)} does not differ in any of the {len(table)} comparisons")
        return Coefficients(tuple(features), tuple(np.sqrt((table**2).mean(axis=0)).tolist()), (0.0,) * len(features))
    if set(given.features) != set(features):
        raise InputError(
            f"control: the coefficients are for {choices(given.features)}, not for {choices(features)}; both must name "
            "the same features"
        )
    at = [given.features.index(name) for name in features]
    return Coefficients(tuple(features), *(tuple(each[n] for n in at) for each in (given.scales, given.values)))
