"""Answers to rate and campaigns for the tests of rating."""

from pathlib import Path
from typing import Any

from urs_inspect.rating._answers import answers_to_rate
from urs_inspect.rating._campaign import RatingCampaign, RatingPlan
from urs_inspect.rating._queue import Answer, ToRate, draw
from urs_inspect.rubrics import load_rubric

INTENTS = ("factual_qa", "leisure", "text_assistant")


def answer(
    number: int,
    model: str = "apple",
    *,
    disagreement: float = 0.0,
    text: str = "",
    intent: str = "",
) -> Answer:
    """An answer to a question of this number."""
    said = text or f"Answer {number} of somebody."
    chosen = intent or INTENTS[number % len(INTENTS)]
    return Answer(
        f"q{number}",
        model,
        1,
        chosen,
        "en",
        f"Question {number}?",
        said,
        f"Reference {number}.",
        disagreement,
    )


def answers(count: int, *models: str) -> list[Answer]:
    """Answers of each model to the same questions."""
    return [answer(number, model) for model in models or ("apple",) for number in range(count)]


def campaign(
    directory: Path, *annotators: str, of: list[Answer] | None = None, **options: Any
) -> RatingCampaign:
    """A campaign by the built-in rubric."""
    queue = draw(answers(6) if of is None else of)
    return RatingCampaign(queue, load_rubric(), directory, annotators, RatingPlan(**options))


def queue(*logs: Path) -> tuple[ToRate, ...]:
    """The answers of logs in the order in which they are to be rated."""
    return draw(answers_to_rate(map(str, logs), load_rubric())[0])
