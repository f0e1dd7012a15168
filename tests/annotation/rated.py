"""Answers and logs for the tests of the rating page."""

from pathlib import Path

from inspect_ai.model import ModelOutput

from tests.annotation.samples import _MEDIAN, _STATISTICS, _TEA, _TEA_SHORT
from tests.reports.judged_logs import answered, judgement, write_judged
from urs_inspect.annotation.rating_campaign import RatingCampaign
from urs_inspect.annotation.rating_queue import Answer, draw
from urs_inspect.annotation.ratings import Rating
from urs_inspect.annotation.votes import now
from urs_inspect.rubrics import load_rubric

INTENTS = ("factual_qa", "leisure", "text_assistant")


def answer(number: int, model: str = "apple", *, score: float = 5.0, text: str = "", intent: str = "") -> Answer:
    """An answer to a question of this number."""
    said = text or f"Answer {number} of somebody."
    chosen = intent or INTENTS[number % len(INTENTS)]
    return Answer(f"q{number}", model, 1, chosen, "en", f"Question {number}?", said, f"Reference {number}.", score)


def answers(count: int, *models: str) -> list[Answer]:
    """Answers of each model to the same questions, all with one score."""
    return [answer(number, model) for model in models or ("apple",) for number in range(count)]


def rating(about: Answer, final: int, rater: str = "me", **others: object) -> Rating:
    """A rating of an answer."""
    values = {"final": final, "seconds": 2.0, "time": now(), **others}
    return Rating(about.question, about.model, about.epoch, rater, about.text_digest, **values)  # type: ignore[arg-type]


def campaign(directory: Path, *annotators: str, of: list[Answer] | None = None, **options: object) -> RatingCampaign:
    """A campaign by the built-in rubric."""
    queue = draw(answers(6) if of is None else of)
    return RatingCampaign(queue, load_rubric(), directory, annotators, **options)  # type: ignore[arg-type]


def shown_logs(folder: Path, texts: dict[str, tuple[str, str, str]] | None = None) -> Path:
    """Logs of two models with two answers each that look well in a picture; question -> its text and two answers."""
    shown = texts or {
        "median": (
            "How do I compute the **median** of a list of numbers in Python? Please show code and say what happens for "
            "an empty list.",
            _MEDIAN,
            _STATISTICS,
        ),
        "tea": ("怎样泡一杯好喝的绿茶？", _TEA, _TEA_SHORT),
        **{f"plain{number}": (f"Question {number}?", f"Yes {number}.", f"No {number}.") for number in range(4)},
    }
    for place, name in enumerate(("apple", "pear")):
        samples = [
            answered(
                question,
                judgement(5 + place),
                input=said[0],
                target="The reference answer.",
                output=ModelOutput.from_content(f"p/{name}", said[1 + place]),
                metadata={
                    "intent": "solve_professional_problem" if question == "median" else "ask_for_advice",
                    "language": "zh" if question == "tea" else "en",
                },
            )
            for question, said in shown.items()
        ]
        write_judged(folder / f"{name}.eval", *samples, model=f"p/{name}", metadata={"rubric": "urs 2"})
    return folder
