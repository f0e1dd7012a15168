"""Feedback Bench: both published forms of its rows."""

import json

import pytest

from tests.datasets.benches.wrapping import wrap
from tests.datasets.conftest import Publish
from urs_inspect.datasets import RatingCase, load_ratings
from urs_inspect.errors import InputError

FILE = "benches.feedback_bench.FEEDBACK_BENCH"
WRAPPED: dict[str, object] = {"instruction": wrap("Why?", "Because.", "So."), "gpt4_score": 4}
PLAIN: dict[str, object] = {
    "instruction": "another wrapping",
    "orig_instruction": "Why?",
    "orig_response": "Because.",
    "orig_reference_answer": "So.",
    "orig_score": "4",
}


def test_both_forms_give_the_same_case(publish: Publish) -> None:
    expected = (RatingCase("feedback_bench_0001", "Why?", "Because.", 4, "all"),)
    publish(FILE, [WRAPPED])
    assert load_ratings("feedback_bench").cases == expected
    publish(FILE, json.dumps(PLAIN))
    data = load_ratings("feedback_bench")
    assert data.cases == expected
    assert (data.name, data.scale) == ("feedback_bench", (1, 5))


@pytest.mark.parametrize(
    ("faulty", "fault"),
    [
        ({**WRAPPED, "gpt4_score": 7}, "column 'gpt4_score': must be a number from 1 to 5, is 7"),
        ({**PLAIN, "orig_score": "good"}, "column 'orig_score': must be a number from 1 to 5, is \"good\""),
        ({**PLAIN, "orig_response": None}, "column 'orig_response': must be text, is null"),
        ({}, "column 'instruction': missing; column 'gpt4_score': missing"),
    ],
)
def test_a_faulty_row_is_named(faulty: object, fault: str, publish: Publish) -> None:
    path = publish(FILE, [PLAIN, faulty])
    with pytest.raises(InputError) as caught:
        load_ratings("feedback_bench")
    assert str(caught.value) == f"{path}: row 2: {fault}"
