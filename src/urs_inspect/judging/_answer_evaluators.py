"""Models that score answers without being asked by a prompt; satellites offer them by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from urs_inspect._satellites import at, offered


@dataclass(frozen=True)
class AnswerEvaluation:
    """What is known of one answer."""

    scores: Mapping[str, float] | None  # None if it could not be scored
    outcome: str  # `judged`, `no_response`, or `unscored_<failure mode>`
    explanation: str  # Markdown, or why there is no score
    facts: Mapping[str, Any]


class AnswerEvaluator(Protocol):
    """Scores answers; what it needs is loaded when it is first asked."""

    dimensions: tuple[str, ...]
    """What it scores beside `overall`."""

    def check(self) -> None:
        """Raise `InputError` if it could only fail in a run."""

    async def evaluate(self, pairs: Sequence[tuple[str, str]]) -> list[AnswerEvaluation]:
        """Score answers, given as pairs of query and response."""

    async def close(self) -> None:
        """Give back what was loaded."""


def answer_evaluator(name: str, **options: Any) -> AnswerEvaluator:
    """The evaluator of that name with its options."""
    evaluator: AnswerEvaluator = at(offered("evaluators of answers")[name])(**options)
    return evaluator
