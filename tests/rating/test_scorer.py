"""`human_rating`: whose ratings belong to an answer, and what they are together."""

import math
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import SampleScore, Score, Target
from inspect_ai.solver import TaskState

from tests.annotation.samples import rating
from urs_inspect._util import InputError
from urs_inspect.annotation._ratings import Rating
from urs_inspect.rating._queue import Answer
from urs_inspect.rating._scorer import human_rating, rated_mean

TEXT = "An answer."


def answer(model: str = "p/model", text: str = TEXT, question: str = "q", epoch: int = 1) -> Answer:
    return Answer(question, model, epoch, "leisure", "en", "Why?", text)


def write(path: Path, *given: Rating) -> Path:
    path.write_text("".join(f"{one.to_line()}\n" for one in given), encoding="utf-8")
    return path


def scored(
    places: Any, text: str = TEXT, epoch: int = 1, tested: str = "p/model", **options: Any
) -> Score | None:
    state = TaskState(
        model=ModelName(tested),
        sample_id="q",
        epoch=epoch,
        input="Why?",
        messages=[],
        output=ModelOutput.from_content(tested, text),
    )
    found: Score | None = anyio.run(human_rating(places, **options), state, Target(""))
    return found


def value(score: Score | None) -> dict[str, Any]:
    assert score is not None and isinstance(score.value, dict)
    return dict(score.value)


def test_ratings_of_several_people_are_their_mean_with_the_weight_of_the_answer(
    tmp_path: Path,
) -> None:
    drawn = {"rate": 2.0, "threshold": 0.5}
    other = answer(question="other")
    file = write(
        tmp_path / "ratings.jsonl",
        rating(answer(), 4, "ann", criteria={"clarity": 3, "depth": 2}, **drawn),
        rating(answer(), 9, "ben", criteria={"clarity": 6}, **drawn),
        rating(answer(), 1, "ben", check=True, **drawn),
        rating(other, 1, "ann", rate=1.0, threshold=0.25),
    )
    score = scored(str(file))
    found = value(score)
    assert (found["final"], found["clarity"], found["depth"]) == (6.5, 4.5, 2)
    # All of the model's answers with a key below 0.5 were rated, and this one is drawn at rate 2.
    assert found["weight"] == pytest.approx(1 / (1 - math.exp(-2 * 0.5)), rel=1e-5)
    assert score is not None and score.explanation == "ann: 4; ben: 9"
    assert score.metadata == {
        "raters": {"ann": {"final": 4, "clarity": 3, "depth": 2}, "ben": {"final": 9, "clarity": 6}}
    }


@pytest.mark.parametrize(
    ("about", "options", "is_rated"),
    [
        (answer(), {}, True),
        (answer("p/model (temperature=1)"), {}, True),
        (answer("p/model2"), {}, False),
        (answer("p/other"), {}, False),
        (answer("p/other"), {"model": "p/other"}, True),
        (answer(), {"model": "p/other"}, False),
        (answer(text="Another."), {}, False),
        (answer(question="other"), {}, False),
        (answer(epoch=2), {}, False),
        (answer(epoch=2), {"epoch": 2}, True),
    ],
)
def test_a_rating_belongs_to_question_epoch_text_and_model(
    about: Answer, options: dict[str, Any], is_rated: bool, tmp_path: Path
) -> None:
    file = write(tmp_path / "ratings.jsonl", rating(about, 7, "ann"))
    assert (scored([str(file)], **options) is not None) == is_rated


def test_without_any_rating_the_places_are_named(tmp_path: Path) -> None:
    file = write(tmp_path / "none.jsonl", rating(answer(), 1, cannot_tell=True))
    with pytest.raises(InputError, match=r"ratings: no rating in: .*none\.jsonl"):
        human_rating([str(file)])


def test_the_mean_over_all_answers_is_weighted() -> None:
    metric: Any = rated_mean()
    scores = [
        SampleScore(score=Score(value={"final": final, "weight": weight}))
        for final, weight in ((4.0, 3.0), (8.0, 1.0))
    ]
    assert metric(scores) == 5
    assert math.isnan(metric([]))
