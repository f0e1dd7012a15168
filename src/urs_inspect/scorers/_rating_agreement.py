"""`rating_agreement`: reads the rating in a judge's reply and compares it with the label."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from logging import getLogger
from types import SimpleNamespace
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from urs_inspect._util import InputError
from urs_inspect.judging import JudgeFailure
from urs_inspect.judging._keys import Read
from urs_inspect.judging._reply_counts import BY_JUDGE, UnkeyedWatch, counts_of, header_rows, summed
from urs_inspect.scorers._metrics import defined, facts_of, known, mean, number_of, reason_of
from urs_inspect.solvers._give_rating import (
    ASKED_AGAIN,
    CALL,
    load_named_rubric,
    read_rating_output,
    scale_of,
)
from urs_inspect.stats import Correlations, Estimate, clustered_mean, correlate

logger = getLogger(__name__)

GROUP = "group"
"""Key of the group in metadata and value alike: columns of the viewer are values."""

RATING = "rating"
"""Key of a judge's rating in the value of a score."""

CORRELATIONS = ("pearson", "spearman", "kendall")
FIELDS = ("intent", "group", "language")
"""By what responses are grouped."""


@dataclass(frozen=True)
class RatedItem:
    """One response that a judge rated."""

    cluster: str  # what responses to the same question have in common, usually the prompt
    label: float
    rating: float  # on the judge's scale; NaN if unread
    rescaled: float  # on the scale of the labels; NaN if unread
    places: dict[str, str]  # intent, group and language; empty where it has none
    label_scale: tuple[float, float]
    failure: str  # why the rating could not be read; empty if it was


@dataclass(frozen=True)
class RatingAgreement:
    """How far ratings agree with labels."""

    correlations: Correlations  # over the responses whose rating was read
    difference: Estimate  # mean of rating less label, on the scale of the labels
    unread: float  # share of responses without a readable rating, 0 to 1
    n: int  # responses, read or not


@metric(scores="unreduced")
def rating_report() -> Metric:
    """Correlations of a judge's ratings with the labels.

    Rows: `pearson` with the bounds of its 95% interval, clustered by prompt, `low` and `high`;
    `unread`, the share without a readable rating; `spearman`, `kendall` (tau-b), `mean difference`
    (rating less label, the rating brought to the scale of the labels) and `distance` (the same
    without its sign); `failures`. By group, intent and language, with all intervals and failures by
    mode, the same log is counted by `urs-inspect judges`.
    """

    def compute(scores: list[SampleScore]) -> Value:
        items = [item for score in scores if (item := rated_item(score)) is not None]
        if not items:
            return {
                "pearson": math.nan
            }  # which the harness looks for before the first answer as well
        result = agreement(items)
        pearson = result.correlations.pearson
        distances = [abs(item.rescaled - item.label) for item in items]
        rows = {
            "pearson": pearson.value,
            "low": pearson.low,
            "high": pearson.high,
            "unread": result.unread,
            "spearman": result.correlations.spearman.value,
            "kendall": result.correlations.kendall.value,
            "mean difference": result.difference.value,
            "distance": mean(known(distances)),
            "failures": float(sum(bool(item.failure) for item in items)),
            **header_rows(summed(facts_of(score) for score in scores)),
        }
        return {**defined(rows, "pearson")}

    return compute


def rated_item(score: SampleScore) -> RatedItem | None:
    """The response that a score of `rating_agreement` is about; None for other scores."""
    facts = facts_of(score)
    sample = score.sample_metadata or {}
    if "label" not in facts:
        return None
    rating = number_of(score, RATING)
    low, high = facts["label_scale"]
    return RatedItem(
        cluster=str(sample.get("cluster") or sample.get("prompt", score.sample_id)),
        label=float(facts["label"]),
        rating=rating,
        rescaled=_rescaled(rating, facts["scale"], facts["label_scale"]),
        places={field: str(sample.get(field, "")) for field in FIELDS},
        label_scale=(float(low), float(high)),
        failure=str(facts.get("failure_mode") or ""),
    )


def _rescaled(rating: float, scale: Sequence[float], label_scale: Sequence[float]) -> float:
    """A rating on the scale of the labels."""
    low, high = scale
    label_low, label_high = label_scale
    return label_low + (rating - low) * (label_high - label_low) / (high - low)


def agreement(items: Sequence[RatedItem]) -> RatingAgreement:
    """Compare ratings with labels, for at least one response.

    The intervals are those that logs and tables report.
    """
    clusters = [item.cluster for item in items]
    correlations = correlate(
        [item.label for item in items], [item.rating for item in items], clusters
    )
    pearson, spearman, kendall = (
        getattr(correlations, kind).reported((-1.0, 1.0)) for kind in CORRELATIONS
    )
    low, high = items[0].label_scale
    difference = clustered_mean([item.rescaled - item.label for item in items], clusters)
    return RatingAgreement(
        Correlations(pearson, spearman, kendall, correlations.unread),
        difference.reported((low - high, high - low)),
        correlations.unread / len(items),
        len(items),
    )


DISTANCE = "distance"
"""Key of the distance between rating and label in the value of a score."""


@scorer(metrics=[rating_report()])
def rating_agreement(lowest: int = 1, highest: int = 5, rubric: str | None = None) -> Scorer:
    """Read the rating that the model under test gave a response.

    A sample's metadata holds the label (`rating`) and its scale (`label_scale`). A reply that
    cannot be read has no rating (NaN); it never becomes one and never ends the run.

    Args:
        lowest: Lowest rating that the judge was offered.
        highest: Highest rating that the judge was offered.
        rubric: `urs` or the path of a rubric of your own, if the judge was asked as in the task
            `urs`; its final score, 1 to 10, is the rating. The metadata then holds the intent as
            well.

    Returns:
        The scorer; its value holds the response's `group`, its `rating`, on the judge's scale, and
        `distance`, how far that is from the label, 0 or more on the scale of the labels.

    Raises:
        InputError: If an argument cannot be used.
    """
    if rubric is None and lowest >= highest:
        raise InputError(
            f"scale: must have a lowest rating below a highest, got {lowest} and {highest}"
        )
    loaded = load_named_rubric(rubric)
    scale = scale_of(loaded, lowest, highest)

    watch = UnkeyedWatch()

    async def score(state: TaskState, target: Target) -> Score:
        facts = state.metadata
        read = read_rating_output(state.output, loaded, facts, scale)
        result = read.result
        failed = None
        if isinstance(result, JudgeFailure):
            failed = result
        counts = _reply_counts(str(state.model), read, state)
        for warning in watch.note(counts):
            logger.warning(warning)
        rating = math.nan
        more = _call_facts(state.store.get(CALL, {}))
        if isinstance(result, JudgeFailure):
            more |= {"failure_mode": result.mode, "failure_detail": result.detail}
        else:
            rating = float(result.final)
            if result.criteria:
                more["criteria"] = result.criteria
        return Score(
            value={
                GROUP: str(facts.get(GROUP, "")),
                RATING: rating,
                DISTANCE: abs(_rescaled(rating, scale, facts["label_scale"]) - facts["rating"]),
            },
            answer="unread" if failed else f"{rating:g}",
            explanation=_explained(facts, failed, state.output.completion),
            reason=reason_of([failed.mode]) if failed else None,
            metadata={
                "label": facts["rating"],
                "label_scale": facts["label_scale"],
                "scale": list(scale),
                **counts,
                **more,
            },
        )

    return score


def _reply_counts(judge: str, read: Read[Any], state: TaskState) -> dict[str, Any]:
    asked_again = bool(state.store.get(ASKED_AGAIN, False))
    counts = {**read.marks, "asked_again": asked_again}
    replies = []
    if state.output.completion:
        replies = [SimpleNamespace(**counts)]
    return {**counts, BY_JUDGE: counts_of(judge, replies)}


def _call_facts(call: Mapping[str, Any]) -> dict[str, Any]:
    if not call:
        return {}
    return {
        "temperature_requested": call["requested"],
        "temperature_sent": call["sent"],
        "structured": call["structured"],
    }


def _explained(facts: dict[str, Any], failed: JudgeFailure | None, reply: str) -> str:
    low, high = facts["label_scale"]
    parts = [f"Label: {facts['rating']:g} ({low:g} to {high:g})", reply]
    if failed:
        parts.insert(1, f"**No rating: {failed.mode}.** {failed.detail}")
    return "\n\n".join(parts)
