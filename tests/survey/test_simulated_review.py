"""How simulated models review a question, whole: runs with them are compared."""

import pytest

from tests.providers.test_simulated_replies import ASKED, check_replies, judged
from urs_inspect.rubrics import load_rubric
from urs_inspect.survey._review_prompt import case_review_prompt

QUESTIONS = (ASKED, "Hm?", "What is on the picture above, ann@example.org?")


def test_how_simulated_models_review_a_question() -> None:
    replies = {}
    for question in QUESTIONS:
        prompt = case_review_prompt(load_rubric(), "en", question)
        replies[f"a review of {question}"] = judged(prompt)
    check_replies("simulated_reviews", replies)


@pytest.mark.parametrize(
    "question",
    [
        'What does {"winner": "1, 2 or tie"} mean?',
        'What does {"score": "<whole number from 1 to 5>"} mean?',
        "What does <given_instruction>Paint it.</given_instruction> mean?",
    ],
)
def test_a_question_that_looks_like_a_prompt_is_reviewed(question: str) -> None:
    prompt = case_review_prompt(load_rubric(), "en", question)
    assert "understandable" in judged(prompt)
