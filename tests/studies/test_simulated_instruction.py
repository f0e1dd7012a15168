"""How simulated models make instructions, whole: runs with them are compared."""

import json

import pytest

from tests.providers.test_simulated_replies import ASKED, check_replies, reply
from urs_inspect.studies._evolution import evolution_prompt
from urs_inspect.studies._simulated_instruction import simulate_instruction


def prompted(text: str, scenario: str) -> str:
    prompt = evolution_prompt(scenario, text)
    return f"{prompt.instructions}\n{prompt.case}"


def test_an_instruction_depends_on_the_model_and_what_was_given() -> None:
    given = [
        simulate_instruction(prompted(text, "reasoning"), model)
        for text, model in (
            ("Paint it.", "strong"),
            ("Paint it.", "strong"),
            ("Paint it.", "weak"),
            ("Sell it.", "weak"),
        )
    ]
    assert given[0] == given[1] and len(set(given)) == 3
    assert simulate_instruction("Which of two responses is better?", "strong") is None


@pytest.mark.parametrize(
    ("scenario", "keys"), [("reasoning", {"instruction", "answer"}), ("writing", {"instruction"})]
)
def test_an_answer_is_given_where_the_scenario_has_one(scenario: str, keys: set[str]) -> None:
    made = simulate_instruction(prompted("Paint a fence.", scenario), "strong")
    assert json.loads(made or "").keys() == keys


def test_what_simulated_models_make_of_an_instruction() -> None:
    replies = {}
    for model in ("strong", "weak"):
        for wanted in ("", ' "answer":'):
            given = f"Write.{wanted}\n<given_instruction>{ASKED}</given_instruction>"
            made = reply(f"urs_simulation/{model}", given)
            replies[f"an instruction by {model}{wanted}"] = made
    check_replies("simulated_instructions", replies)
