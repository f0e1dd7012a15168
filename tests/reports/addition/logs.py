"""Logs of `urs_addition`, written without running anything."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score

_OUTCOMES = {"+": "right", "-": "wrong", "?": "no_number", "0": "no_response", "!": "unscored_no_answer"}


def score(sign: str, summands: int) -> Score:
    """What `exact_sum` leaves behind."""
    value: Any = {"right": float(sign == "+"), "summands": float(summands)}
    return Score(value=math.nan if sign == "!" else value, metadata={"outcome": _OUTCOMES[sign]})


def chains(
    summands: int, signs: str, *, epoch: int = 1, language: str = "en", scorer: str = "exact_sum"
) -> list[EvalSample]:
    """Answers to chains of so many numbers, one a sign: + right, - wrong, ? without a number, 0 empty, ! unscored."""
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
    path: Path,
    signs: Mapping[int, str] | list[EvalSample],
    *,
    model: str = "p/model",
    status: Any = "success",
    **spec: Any,
) -> str:
    """Write a log: number of summands -> signs as for `chains`, or samples."""
    samples = (
        signs if isinstance(signs, list) else [one for length, them in signs.items() for one in chains(length, them)]
    )
    described: dict[str, Any] = {
        "created": "2026-01-01T00:00:00+00:00",
        "task": "urs_inspect/urs_addition",
        "task_version": "1-A",
        "dataset": EvalDataset(name="addition", samples=len(samples)),
        "config": EvalConfig(epochs=1),
        "metadata": {"prompt_version": "addition 1", "prompt_sha256": "c" * 64},
        **spec,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_eval_log(EvalLog(eval=EvalSpec(model=model, **described), status=status, samples=samples), str(path))
    return str(path)
