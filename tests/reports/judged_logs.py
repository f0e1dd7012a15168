"""Logs of judged answers, written without running anything."""

import math
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ModelConfig, ModelOutput, ModelUsage
from inspect_ai.scorer import Score

JUDGE = "p/judge"
SHA = "a" * 64


def judgement(
    final: float,
    judge: str = JUDGE,
    outcome: str = "judged",
    *,
    panel: dict[str, float | None] | None = None,
    prompt: str = "e" * 64,
    self_judged: bool = False,
    **facts: Any,
) -> Score:
    """What `intent_judge` leaves behind."""
    finals = {judge: final} if panel is None else panel
    return Score(
        value={"final": final, "clarity": final, "creativity": math.nan},
        answer="the answer",
        metadata={
            "outcome": outcome,
            "self_judged": self_judged,
            "judges": [
                {
                    "judge": name,
                    "temperature_requested": 0.0,
                    "temperature_sent": 0.0,
                    "final": given,
                }
                for name, given in finals.items()
            ],
            "judge_finals": [[name, given] for name, given in finals.items()],
            "answer_length": 10,
            "prompt_version": "urs 1",
            "prompt_sha256": prompt,
            "judge_language": "en",
            **facts,
        },
    )


def unscored(mode: str = "refusal") -> Score:
    """A judgement that failed."""
    score = judgement(1.0, outcome=f"unscored_{mode}", panel={JUDGE: None})
    score.value = math.nan
    return score


def answered(name: str, *scores: Score, epoch: int = 1, **others: Any) -> EvalSample:
    """An answer, with its judgements."""
    facts = {"intent": "leisure", "intent_group": "Leisure", "language": "en"}
    given: dict[str, Any] = {
        "input": f"Ask {name}",
        "target": "reference",
        "metadata": {**facts, **others.pop("metadata", {})},
        "output": ModelOutput.from_content("p/model", "the answer"),
        "scores": {f"intent_judge{number or ''}": score for number, score in enumerate(scores)},
        "working_time": 2.0,
        **others,
    }
    return EvalSample(id=name, epoch=epoch, **given)


def tokens(sent: int, received: int, paid: float | None = None) -> ModelUsage:
    """Usage of a call."""
    return ModelUsage(
        input_tokens=sent, output_tokens=received, total_tokens=sent + received, total_cost=paid
    )


def write_judged(
    path: Path,
    *samples: EvalSample,
    model: str = "p/model",
    roles: dict[str, list[str]] | None = None,
    status: Any = "success",
    created: str = "2026-01-01T00:00:00+00:00",
    metadata: dict[str, Any] | None = None,
    **spec: Any,
) -> str:
    """Write a log."""
    facts = {
        "dataset": "d",
        "dataset_sha256": SHA,
        "rubric": "urs 1",
        "rubric_sha256": "b" * 64,
        **(metadata or {}),
    }
    described: dict[str, Any] = {
        "task": "urs_inspect/urs",
        "task_version": "1-A",
        "dataset": EvalDataset(name="d", samples=len(samples)),
        "config": EvalConfig(epochs=1),
        "model_roles": {
            role: [ModelConfig(model=name) for name in names]
            for role, names in ({"grader": [JUDGE]} if roles is None else roles).items()
        },
        **spec,
    }
    evaluated = EvalSpec(created=created, model=model, metadata=facts, **described)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_eval_log(EvalLog(eval=evaluated, status=status, samples=list(samples)), str(path))
    return str(path)
