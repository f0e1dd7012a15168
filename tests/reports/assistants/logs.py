"""Logs of `urs_assistants`, written without running anything."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalSample

from tests.reports.judged_logs import JUDGE, answered, judgement, write_judged
from urs_inspect.solvers.assistants import BECAUSE, FAILED, FOUND_NOTHING, WITHOUT_ANSWER

NOTHING, BROKEN, REFUSED, EMPTY = "nothing", "broken", "refused", "empty"
"""What an answer can be in place of a score."""

FACTUAL = {"intent": "factual_qa", "intent_group": "Factual QA"}
SEARCH, RAG = {"assistant": "search", "search": "folder:a/pages"}, {"assistant": "rag", "search": "folder:a/pages"}


def sample(name: str, became: float | str, judge: str = JUDGE, **metadata: Any) -> EvalSample:
    """An answer with a final score, or what it is in place of one."""
    facts: dict[str, Any] = {**FACTUAL, **metadata}
    if isinstance(became, float | int):
        return answered(name, judgement(float(became), judge), metadata=facts)
    if became == EMPTY:
        return answered(name, judgement(1.0, outcome="no_response", panel={}), metadata=facts)
    score = judgement(1.0, outcome="unscored_refusal" if became == REFUSED else "unscored_no_answer", panel={})
    score.value = math.nan
    if became in (NOTHING, BROKEN):
        how = FOUND_NOTHING if became == NOTHING else FAILED
        facts |= {WITHOUT_ANSWER: how, BECAUSE: f"folder: {became}"}
    return answered(name, score, metadata=facts)


def write_assistant(
    path: Path,
    answers: Mapping[str, float | str],
    arguments: Mapping[str, Any] | None = None,
    *,
    model: str = "p/model",
    judge: str = JUDGE,
    cases: str = "factual",
    **spec: Any,
) -> str:
    """Write a log: question -> final score, or what the answer is in place of one."""
    samples = [sample(name, became, judge) for name, became in answers.items()]
    given: dict[str, Any] = {
        "task": "urs_inspect/urs_assistants",
        "task_args": {"assistant": "model", **(arguments or {})},
        "roles": {"grader": [judge]},
        **spec,
    }
    model = "none/none" if (arguments or {}).get("assistant") in ("search", "translator") else model
    return write_judged(path, *samples, model=model, metadata={"cases": cases}, **given)
