"""A judged answer -> metrics of lm-eval."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from urs_inspect.lmeval_tasks.settings import JudgeSettings
from urs_inspect.rubrics import FINAL, Rubric
from urs_inspect.samer.judgement import score_keys

OVERALL = "overall"
_LOWER_IS_BETTER = ("judge_failed", "no_response")


def metric_names(rubric: Rubric, settings: JudgeSettings) -> tuple[str, ...]:
    """Names of all metrics, of which an answer has those of its own intent and language.

    Args:
        rubric: The rubric.
        settings: Who judges.
    """
    groups = dict.fromkeys(intent.group for intent in rubric.intents.values())
    keys = rubric.criteria if settings.judge == "model" else [_short(key) for key in score_keys() if key != OVERALL]
    kind = "crit" if settings.judge == "model" else "dim"
    start = _start(settings)
    return (
        f"{start}_{FINAL if settings.judge == 'model' else OVERALL}",
        *(f"{start}_{language}" for language in rubric.languages),
        *(f"{start}_intent_{group}" for group in groups),
        *(f"{start}_{kind}_{key}" for key in keys),
        *(f"{start}_{name}" for name in _LOWER_IS_BETTER),
    )


def metrics_of(doc: Mapping[str, Any], record: str, settings: JudgeSettings) -> dict[str, float]:
    """The metrics of one answer.

    Args:
        doc: The case.
        record: What became of its answer, as from `Record.to_json`.
        settings: Who judged.

    Returns:
        `urs_judge_failed` alone for an answer that could not be scored; else 1 to 10, or 0 to 1 for SaMer.
    """
    start, found = _start(settings), json.loads(record)
    scores: Mapping[str, float] | None = found["scores"]
    if scores is None:
        return {f"{start}_judge_failed": 1.0}
    head = FINAL if settings.judge == "model" else OVERALL
    kind = "crit" if settings.judge == "model" else "dim"
    final = float(scores[head])
    return {
        f"{start}_{head}": final,
        f"{start}_{doc['language']}": final,
        f"{start}_intent_{doc['intent_group']}": final,
        **{f"{start}_{kind}_{_short(key)}": float(value) for key, value in scores.items() if key != head},
        f"{start}_judge_failed": 0.0,
        f"{start}_no_response": float(found["outcome"] == "no_response"),
    }


def higher_is_better(name: str) -> bool:
    """Whether more of a metric is better."""
    return not name.endswith(_LOWER_IS_BETTER)


def mean_of_known(values: Sequence[float | None]) -> float:
    """Mean of the values that are there; NaN if none is."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else math.nan


def _start(settings: JudgeSettings) -> str:
    return "urs" if settings.judge == "model" else "samer"


def _short(key: str) -> str:
    return key.lower().replace(" ", "_")
