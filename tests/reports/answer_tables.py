"""Tables of answers, written by hand."""

import math
from collections.abc import Mapping

import pandas as pd

from urs_inspect.reports.answers import Answers

JUDGE = "p/judge"
GROUPS = {"a": "Leisure", "b": "Factual QA", "c": "Text Assistant", "d": "Solve Problem"}
"""First letter of a question's id -> its intent."""


def rows(model: str, finals: Mapping[str, float], *, judge: str = JUDGE, epoch: int = 1) -> list[dict[str, object]]:
    """Rows of one log: question -> final score."""
    return [
        {
            "log": f"{model} by {judge}",
            "model": model,
            "base_model": model.partition(" (")[0],
            "task": "urs_inspect/urs",
            "question": question,
            "epoch": epoch,
            "intent": GROUPS[question[0]].lower().replace(" ", "_"),
            "group": GROUPS[question[0]],
            "language": "en",
            "country": "",
            "final": final,
            "judges": "" if math.isnan(final) else judge,
            "judge_finals": {} if math.isnan(final) else {judge: final},
            "judge_language": "en",
            "prompt_sha256": "e" * 64,
            "rubric": "urs 1",
            "dataset": "d",
            "dataset_sha256": "a" * 64,
            "references": "",
            "task_version": "1-A",
        }
        for question, final in finals.items()
    ]


def answers(*logs: list[dict[str, object]], left_out: tuple[str, ...] = ()) -> Answers:
    return Answers(pd.DataFrame([row for log in logs for row in log]), (), left_out)
