"""What an answer is as a reference is told from the answer alone, without a judge."""

import asyncio
import math
from typing import Any

import pytest
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import SampleScore, Score, Target
from inspect_ai.solver import TaskState

from tests.tasks.scripted import output
from urs_inspect.scorers._reference_outcome import outcome_of, reference_outcome, reference_report


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        (output("An answer."), "usable"),
        (output("  \u200b\n"), "empty"),
        (output("Half an ans", "max_tokens"), "cut"),
        (output("", "max_tokens"), "cut"),
        (output("Half an ans", "model_length"), "cut"),
        (output("", "content_filter"), "withheld"),
        (output("Text", error="the endpoint died"), "no_answer"),
        (ModelOutput(), "no_answer"),
    ],
)
def test_the_outcome_is_told_from_the_text_and_how_it_ended(
    given: ModelOutput, outcome: str
) -> None:
    assert outcome_of(given) == outcome


def test_the_score_holds_outcome_intent_and_language() -> None:
    facts = {"intent": "api", "intent_group": "Solve Problem", "language": "zh"}
    state = TaskState(ModelName("m/x"), "s", 1, "?", [], output=output("是"), metadata=facts)
    score = asyncio.run(_score(state))
    assert score.value == {
        "usable": 1,
        "outcome": "usable",
        "intent": "Solve Problem",
        "language": "zh",
    }
    assert score.answer == "是"


async def _score(state: TaskState) -> Score:
    score = await reference_outcome()(state, Target(""))
    assert score is not None
    return score


def test_the_report_counts_outcomes() -> None:
    metric: Any = reference_report()
    scores = [
        SampleScore(score=Score(value={"outcome": one}))
        for one in ("cut", "usable", "usable", "empty")
    ]
    assert dict(metric(scores)) == {
        "usable": 0.5,
        "answers usable": 2,
        "answers empty": 1,
        "answers cut": 1,
    }
    assert list(metric([])) == ["usable"]
    assert math.isnan(metric([])["usable"])  # the headline is there before the first answer


def test_samples_without_an_outcome_are_no_part_of_the_share() -> None:
    metric: Any = reference_report()
    scores = [SampleScore(score=Score(value=value)) for value in ({"outcome": "usable"}, 1.0)]
    assert dict(metric(scores)) == {"usable": 1, "answers usable": 1}
