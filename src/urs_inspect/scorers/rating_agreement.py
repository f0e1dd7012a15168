"""`rating_agreement`: reads the rating in a judge's reply and holds it against the label."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from urs_inspect.errors import InputError
from urs_inspect.judging import JudgeFailure, ScoreRecord, read_rating, read_reply
from urs_inspect.judging.keys import Read, read_keyed
from urs_inspect.rubrics import HIGHEST, LOWEST, Rubric, load_rubric
from urs_inspect.scorers.judges import failure_of
from urs_inspect.scorers.rating_metrics import GROUP, RATING, rating_report
from urs_inspect.scorers.reasons import reason_of
from urs_inspect.solvers.give_rating import JUDGE_KEY, TEMPERATURES

URS_RUBRIC = "urs"
"""Name of the built-in rubric, where a rubric may be left out."""

DISTANCE = "distance"
"""Key of the distance between rating and label in the value of a score."""


@scorer(metrics=[rating_report()])
def rating_agreement(lowest: int = 1, highest: int = 5, rubric: str | None = None) -> Scorer:
    """Read the rating that the model under test gave a response.

    A sample's metadata holds the label (`rating`) and its scale (`label_scale`). A reply that cannot be read has no
    rating (NaN); it never becomes one and never ends the run.

    Args:
        lowest: Lowest rating that the judge was offered.
        highest: Highest rating, likewise.
        rubric: `urs` or the path of a rubric of your own, if the judge was asked as in the task `urs`; its final score,
            1 to 10, is the rating. The metadata then holds the intent as well.

    Returns:
        The scorer; its value holds the response's `group`, its `rating`, on the judge's scale, and `distance`, how far
        that is from the label, 0 or more on the scale of the labels.

    Raises:
        InputError: If an argument cannot be used.
    """
    if rubric is None and lowest >= highest:
        raise InputError(f"scale: must have a lowest rating below a highest, got {lowest} and {highest}")
    loaded = load_named_rubric(rubric)
    scale = (lowest, highest) if loaded is None else (LOWEST, HIGHEST)

    async def score(state: TaskState, target: Target) -> Score:
        facts = state.metadata
        read = _read(state.output, loaded, facts, scale)
        result = read.result
        failed = result if isinstance(result, JudgeFailure) else None
        rating, criteria = (math.nan, {}) if isinstance(result, JudgeFailure) else result
        temperatures: dict[str, Any] = state.store.get(TEMPERATURES, {})
        return Score(
            value={
                GROUP: str(facts.get(GROUP, "")),
                RATING: rating,
                DISTANCE: _distance(rating, scale, facts["rating"], facts["label_scale"]),
            },
            answer="unread" if failed else f"{rating:g}",
            explanation=_explained(facts, failed, state.output.completion),
            reason=reason_of([failed.mode]) if failed else None,
            metadata={
                "label": facts["rating"],
                "label_scale": facts["label_scale"],
                "scale": list(scale),
                "unkeyed": read.unkeyed and failed is None,
                **({"criteria": criteria} if criteria else {}),
                **{f"temperature_{name}": value for name, value in temperatures.items()},
                **({"failure_mode": failed.mode, "failure_detail": failed.detail} if failed else {}),
            },
        )

    return score


def load_named_rubric(name: str | None) -> Rubric | None:
    """The rubric of that name: None for none, `urs` for the built-in one, else the path of a file laid over it."""
    return None if name is None else load_rubric(None if name == URS_RUBRIC else name)


def _read(
    output: ModelOutput, rubric: Rubric | None, facts: Mapping[str, Any], scale: tuple[int, int]
) -> Read[tuple[float, dict[str, int | None]]]:
    if (failure := failure_of(output)) is not None:
        return Read(failure, False)
    if not output.choices:
        return Read(JudgeFailure("no_answer", "The sample ended before the judge replied."), False)
    key = str(facts.get(JUDGE_KEY, ""))
    if rubric is None:
        found = read_keyed(output.completion, key, lambda text: read_rating(text, *scale))
        rating = found.result
        return Read(rating if isinstance(rating, JudgeFailure) else (float(rating), {}), found.unkeyed)
    criteria = rubric.intents[str(facts.get("intent", ""))].criteria
    scores = read_keyed(
        output.completion, key, lambda text: read_reply(text, rubric, criteria), ScoreRecord.falls_short_of
    )
    record = scores.result
    return Read(record if isinstance(record, JudgeFailure) else (float(record.final), record.criteria), scores.unkeyed)


def _distance(rating: float, scale: tuple[int, int], label: float, label_scale: Sequence[float]) -> float:
    (low, high), (label_low, label_high) = scale, label_scale
    return abs(label_low + (rating - low) * (label_high - label_low) / (high - low) - label)


def _explained(facts: dict[str, Any], failed: JudgeFailure | None, reply: str) -> str:
    low, high = facts["label_scale"]
    head = f"Label: {facts['rating']:g} ({low:g} to {high:g})"
    return f"{head}\n\n**No rating: {failed.mode}.** {failed.detail}\n\n{reply}" if failed else f"{head}\n\n{reply}"
