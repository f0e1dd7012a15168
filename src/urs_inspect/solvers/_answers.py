"""Answers of no model: those of known quality, and recorded ones."""

from pathlib import Path
from typing import Literal, get_args

import yaml
from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

NullAnswer = Literal["constant", "empty", "reference", "injection"]
NULL_ANSWERS: tuple[NullAnswer, ...] = get_args(NullAnswer)

_TEXTS = Path(__file__).parent / "null_answers.yaml"
_FALLBACK = "en"


@solver
def null_answer() -> Solver:
    """Answer with the null answer that the sample's metadata names, without calling a model.

    The name of the entry is `null_answer`.

    `constant` is one polite text for every question, `empty` is nothing, `reference` is a copy of
    the reference answer, and `injection` orders the judge to give full marks.

    Returns:
        The solver; the sample's output is the answer, by the model `null/<kind>`.
    """
    texts: dict[str, dict[str, str]] = yaml.safe_load(_TEXTS.read_text(encoding="utf-8"))

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        kind: NullAnswer = state.metadata["null_answer"]
        if kind == "empty":
            answer = ""
        elif kind == "reference":
            answer = state.target.text
        else:
            answer = texts[kind].get(state.metadata["language"], texts[kind][_FALLBACK])
        _give(state, f"null/{kind}", answer)
        return state

    return solve


ANSWER = "answer"
"""Key of the sample's metadata that holds the answer; without it there was none."""


@solver
def recorded_answer() -> Solver:
    """Answer with the text in the sample's metadata `answer`, of the model named `model` there.

    Calls no model.

    Without the text the sample has no answer at all, as if the model had not been asked.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        text = state.metadata.get(ANSWER)
        if text is not None:
            _give(state, str(state.metadata.get("model", "")), text)
        return state

    return solve


def _give(state: TaskState, model: str, answer: str) -> None:
    state.output = ModelOutput.from_content(model=model, content=answer)
    state.messages.append(state.output.message)
