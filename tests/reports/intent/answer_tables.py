"""Tables of answers made by hand."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from urs_inspect.reports.intent.answers import Answers

JUDGE = "p/judge"


def row(model: str, question: str, final: float, **others: Any) -> dict[str, Any]:
    """An answer as the table has it; the id of a question names its intent and language, as in `leisure-en-1`."""
    parts = question.split("-")
    intent, language = (parts[0], parts[1]) if len(parts) == 3 else ("leisure", "en")
    groups = {"leisure": "Leisure", "factual_qa": "Factual QA", "api": "Solve Problem"}
    outcome = "unscored_refusal" if math.isnan(final) else "judged"
    given: dict[str, Any] = {
        "log": f"/logs/{model}.eval",
        "model": model,
        "base_model": model,
        "task": "urs_inspect/urs",
        "dataset": "d",
        "dataset_sha256": "a" * 64,
        "references": "",
        "task_version": "1-A",
        "question": question,
        "epoch": 1,
        "intent": intent,
        "group": groups.get(intent, "Solve Problem"),
        "language": language,
        "country": "",
        "final": final,
        "criterion/clarity": final,
        "criterion/factuality": math.nan,
        "outcome": outcome,
        "cut_off": str(others.get("outcome", "")).endswith("_cut_off"),
        "judges": JUDGE,
        "earlier_finals": (),
        "judge_temperatures": "0",
        "self_judged": False,
        "judge_language": language,
        "prompt_sha256": f"{intent}/{language}",
        "rubric": "urs 1",
        "answer_length": 100.0,
        "input_tokens": 10.0,
        "output_tokens": 20.0,
        "judge_input_tokens": 30.0,
        "judge_output_tokens": 40.0,
        "cost": math.nan,
        "judge_cost": 0.5,
        "seconds": 2.0,
        "error": "",
        **others,
    }
    return {"judge_finals": {name: final for name in given["judges"].split(", ") if name}, **given}


def rows(model: str, finals: Mapping[str, float], **others: Any) -> list[dict[str, Any]]:
    """Answers of a model, question -> final score."""
    return [row(model, question, final, **others) for question, final in finals.items()]


def answers(*models: list[dict[str, Any]], left_out: tuple[str, ...] = ()) -> Answers:
    """The answers of several models."""
    return Answers(pd.DataFrame([one for rows in models for one in rows]), (), left_out)
