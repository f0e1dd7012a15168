"""Logs of `urs_addition` and `urs_assistants`, written without running anything."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalSample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score

from tests.reports.judged_logs import JUDGE, answered, judgement, write_judged

_OUTCOMES = {
    "+": "right",
    "-": "wrong",
    "?": "no_number",
    "0": "no_response",
    "!": "unscored_no_answer",
}


def score(sign: str, summands: int) -> Score:
    """What `exact_sum` leaves behind."""
    value: Any = {"right": float(sign == "+"), "summands": float(summands)}
    return Score(value=math.nan if sign == "!" else value, metadata={"outcome": _OUTCOMES[sign]})


def chains(
    summands: int, signs: str, *, epoch: int = 1, language: str = "en", scorer: str = "exact_sum"
) -> list[EvalSample]:
    """Answers to chains of so many numbers, one a sign: + right, - wrong, ? without a number, 0
    empty, ! unscored.
    """
    return [
        EvalSample(
            id=f"add_{summands:02d}_{place:02d}",
            epoch=epoch,
            input="sum",
            target=str(100 * summands + place),
            metadata={"numbers": [10] * summands, "language": language},
            output=ModelOutput.from_content("p/model", "1"),
            scores={scorer: score(sign, summands)},
        )
        for place, sign in enumerate(signs, start=1)
    ]


def write_addition(
    path: Path, signs: Mapping[int, str] | list[EvalSample], *, model: str = "p/model", **spec: Any
) -> str:
    """Write a log: number of summands -> signs as for `chains`, or samples."""
    samples = (
        signs
        if isinstance(signs, list)
        else [one for pair in signs.items() for one in chains(*pair)]
    )
    facts = {"prompt_version": "addition 1", "prompt_sha256": "c" * 64}
    described: dict[str, Any] = {
        "task": "urs_inspect/urs_addition",
        "roles": {},
        "metadata": facts,
        **spec,
    }
    return write_judged(path, *samples, model=model, **described)


# --- models and assistants ---


NOTHING, BROKEN, REFUSED, EMPTY = "nothing", "broken", "refused", "empty"
"""What an answer can be in place of a score."""

FACTUAL = {"intent": "factual_qa", "intent_group": "Factual QA"}
SEARCH = {"kind": "search", "search": "folder:a/pages"}
RAG = {"kind": "rag", "search": "folder:a/pages"}


def sample(name: str, became: float | str, judge: str = JUDGE, **metadata: Any) -> EvalSample:
    """An answer with a final score, or what it is in place of one."""
    from urs_inspect.studies._assistants import BECAUSE, FAILED, FOUND_NOTHING, WITHOUT_ANSWER

    facts: dict[str, Any] = {**FACTUAL, **metadata}
    if isinstance(became, float | int):
        return answered(name, judgement(float(became), judge), metadata=facts)
    if became == EMPTY:
        return answered(name, judgement(1.0, outcome="no_response", panel={}), metadata=facts)
    score = judgement(
        1.0, outcome="unscored_refusal" if became == REFUSED else "unscored_no_answer", panel={}
    )
    score.value = math.nan
    if became in (NOTHING, BROKEN):
        how = FOUND_NOTHING if became == NOTHING else FAILED
        facts |= {WITHOUT_ANSWER: how, BECAUSE: f"folder: {became}"}
    return answered(name, score, metadata=facts)


def write_assistant(
    path: Path,
    answers: Mapping[str, float | str],
    assistant: Mapping[str, Any] | None = None,
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
        "task_args": {"assistant": assistant or "model"},
        "roles": {"grader": [judge]},
        **spec,
    }
    model = "none/none" if (assistant or {}).get("kind") in ("search", "translator") else model
    return write_judged(path, *samples, model=model, metadata={"cases": cases}, **given)
