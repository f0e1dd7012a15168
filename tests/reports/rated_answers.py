"""Answers of models with scores of a judge, and people's ratings of them."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.reports.answer_rows import answers, row
from urs_inspect.reports._unused_ratings import UnusedRatings
from urs_inspect.reports.numbers._human_data import HumanRating, HumanRatings

GROUPS = {
    "a": "Leisure",
    "b": "Factual QA",
    "c": "Text Assistant",
    "d": "Solve Problem",
    "e": "Ask for Advice",
}
"""First letter of a question's id -> its intent."""


ONE = {"a1": 2.0, "a2": 4.0, "b1": 6.0, "b2": 8.0}


def rows(
    model: str, finals: Mapping[str, float], *, judge: str = "p/judge", epoch: int = 1
) -> list[dict[str, Any]]:
    """Rows of one log: question -> final score."""
    same = {
        "log": f"{model} by {judge}",
        "base_model": model.partition(" (")[0],
        "prompt_sha256": "e" * 64,
    }
    return [
        row(
            model,
            question,
            final,
            epoch=epoch,
            intent=group.lower().replace(" ", "_"),
            group=group,
            **same,
        )
        | (
            {"judges": "", "judge_finals": {}}
            if math.isnan(final)
            else {"judges": judge, "judge_finals": {judge: final}}
        )
        for question, final in finals.items()
        for group in [GROUPS[question[0]]]
    ]


RATED = answers(rows("m", ONE))


def ratings(
    *given: tuple[Any, ...], scale: tuple[float, float] = (1.0, 5.0), repeated: int = 0
) -> HumanRatings:
    """Ratings such as ("a1", "m", 3), with rater and epoch if they follow."""
    made = []
    for number, (question, model, value, *others) in enumerate(given, start=2):
        rater, epoch = (*others, "", None)[0], others[1] if len(others) > 1 else None
        made.append(
            HumanRating(
                str(question), str(model), epoch, str(rater), float(str(value)), f"line {number}"
            )
        )
    return HumanRatings(Path("r.csv"), scale, tuple(made), UnusedRatings(repeated))
