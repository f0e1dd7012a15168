"""`null_answer`: answers that no judge should reward, in place of a model's."""

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
    """Answer with the null answer that the sample's metadata names as `null_answer`, without calling a model.

    `constant` is one polite text for every question, `empty` is nothing, `reference` is a copy of the reference
    answer, and `injection` orders the judge to give full marks.

    Returns:
        The solver.
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
        state.output = ModelOutput.from_content(model=f"null/{kind}", content=answer)
        state.messages.append(state.output.message)
        return state

    return solve
