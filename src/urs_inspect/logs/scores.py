"""Scores and other facts in the logs of intent-judged answers."""

import math
from collections.abc import Mapping
from re import fullmatch
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary
from inspect_ai.scorer import Score

from urs_inspect.judging.failures import CUT_OFF, STOPPED_AT_LIMIT

ASSISTANT = "assistant"
"""Key of a log's metadata that names what answered, where it is not the model alone."""
SIMULATED = "urs_simulation/"
"""What the name of a simulated model begins with."""


def answered_by(log: EvalLog) -> str:
    """What gave the answers of a log: the model, an assistant in its place, or both."""
    assistant = str((log.eval.metadata or {}).get(ASSISTANT, ""))
    if not assistant:
        return log.eval.model
    return assistant if log.eval.model.startswith("none/") else f"{log.eval.model}, {assistant}"


def cut_off(facts: Mapping[str, Any]) -> bool:
    """Whether an answer was cut off at the token limit, by the metadata of its score, even if it was not judged."""
    if (stop_reason := facts.get("answer_stop_reason")) is not None:
        return stop_reason in STOPPED_AT_LIMIT
    return facts.get("outcome") in CUT_OFF


def scores_of(sample: EvalSample | EvalSampleSummary, scorer: str) -> list[Score]:
    """All scores that a scorer gave a sample, the first one first; a later one is numbered, as `intent_judge-1`."""
    return [score for name, score in (sample.scores or {}).items() if fullmatch(rf"{scorer}(-?\d+)?", name)]


def last_score(sample: EvalSample | EvalSampleSummary, scorer: str) -> Score | None:
    """The last score that a scorer gave a sample."""
    scores = scores_of(sample, scorer)
    return scores[-1] if scores else None


def last_judgement(sample: EvalSample | EvalSampleSummary) -> Score | None:
    """The last score that `intent_judge` gave a sample."""
    return last_score(sample, "intent_judge")


def judgements(sample: EvalSample | EvalSampleSummary) -> list[Score]:
    """All scores that `intent_judge` gave a sample, the first one first."""
    return scores_of(sample, "intent_judge")


def value_of(score: Score, key: str) -> float:
    """One number of a score; NaN if it is not there."""
    value = score.value.get(key) if isinstance(score.value, dict) else None
    return float(value) if isinstance(value, (int, float)) else math.nan
