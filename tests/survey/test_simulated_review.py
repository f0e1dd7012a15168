"""How simulated models review a question, whole: runs with them are compared."""

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
