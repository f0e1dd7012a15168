"""A judged answer -> metrics of lm-eval."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from urs_inspect.lmeval_tasks.measured_task import Measure
from urs_inspect.lmeval_tasks.record import Record
from urs_inspect.lmeval_tasks.settings import JudgeSettings
from urs_inspect.rubrics import FINAL, Rubric
from urs_inspect.samer.judgement import score_keys
from urs_inspect.stats.bootstrap import bootstrap_counts, cluster_counts, percentile_bounds

Part = Sequence[int]
"""What a case adds: hits, trials, and the number of its cluster."""


def ratio(parts: Sequence[Part]) -> float:
    """All hits by all trials; NaN without trials."""
    trials = sum(part[1] for part in parts)
    return sum(part[0] for part in parts) / trials if trials else math.nan


def ratio_low(parts: Sequence[Part]) -> float:
    """Lower bound of the 95% percentile interval of `ratio`, by the bootstrap over clusters."""
    return _bounds(parts)[0]


def ratio_high(parts: Sequence[Part]) -> float:
    """Upper bound, likewise."""
    return _bounds(parts)[1]


def _bounds(parts: Sequence[Part]) -> tuple[float, float]:
    sums = cluster_counts([part[2] for part in parts], np.array([part[:2] for part in parts]).reshape(-1, 2))
    if np.count_nonzero(sums[:, 1]) < 2:
        return math.nan, math.nan
    hits, trials = bootstrap_counts(sums).T
    rounds = np.divide(hits, trials, out=np.full(len(hits), np.nan), where=trials > 0)
    low, high = percentile_bounds(rounds[:, None])
    return float(low[0]), float(high[0])


OVERALL = "overall"
_FAILED = "judge_failed"
_EMPTY = "no_response"


def measures_of(rubric: Rubric, settings: JudgeSettings) -> tuple[Measure, ...]:
    """All metrics, of which an answer has those of its own intent and language.

    Args:
        rubric: The rubric.
        settings: Who judges.
    """
    start = _start(settings)
    groups = dict.fromkeys(intent.group for intent in rubric.intents.values())
    # Whether an answer could be scored, only its judging tells.
    return (
        Measure(f"{start}_{_head(settings)}", sure=False),
        *(Measure(f"{start}_{each}", about=_has("language", each), sure=False) for each in rubric.languages),
        *(Measure(f"{start}_intent_{_short(each)}", about=_has("intent_group", each), sure=False) for each in groups),
        *_parts(rubric, settings),
        Measure(f"{start}_{_FAILED}", higher_is_better=False),
        Measure(f"{start}_{_EMPTY}", higher_is_better=False),
    )


def metrics_of(doc: Mapping[str, Any], record: Record, settings: JudgeSettings) -> dict[str, float]:
    """The metrics of one answer.

    Args:
        doc: The case.
        record: What became of its answer.
        settings: Who judged.

    Returns:
        Scores from 1 to 10, or from 0 to 1 for SaMer, which an answer that could not be scored lacks; and what it adds
        to the shares of all answers, 0 or 1.
    """
    start, scores = _start(settings), record.scores
    shares = {
        f"{start}_{_FAILED}": float(scores is None),
        f"{start}_{_EMPTY}": float(record.is_empty),
    }
    if scores is None:
        return shares
    head = _head(settings)
    kind = "crit" if settings.judge == "model" else "dim"
    final = float(scores[head])
    return {
        f"{start}_{head}": final,
        f"{start}_{doc['language']}": final,
        f"{start}_intent_{_short(doc['intent_group'])}": final,
        **{f"{start}_{kind}_{_short(key)}": float(value) for key, value in scores.items() if key != head},
        **shares,
    }


def _parts(rubric: Rubric, settings: JudgeSettings) -> list[Measure]:
    start = _start(settings)
    if settings.judge == "samer":
        return [Measure(f"{start}_dim_{_short(key)}", sure=False) for key in score_keys() if key != OVERALL]
    return [Measure(f"{start}_crit_{key}", about=_judged_by(key, rubric), sure=False) for key in rubric.criteria]


def _has(name: str, value: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda doc: bool(doc[name] == value)


def _judged_by(criterion: str, rubric: Rubric) -> Callable[[Mapping[str, Any]], bool]:
    return lambda doc: criterion in rubric.intents[doc["intent"]].criteria


def _head(settings: JudgeSettings) -> str:
    return FINAL if settings.judge == "model" else OVERALL


def _start(settings: JudgeSettings) -> str:
    return "urs" if settings.judge == "model" else "samer"


def _short(key: str) -> str:
    return key.lower().replace(" ", "_")
