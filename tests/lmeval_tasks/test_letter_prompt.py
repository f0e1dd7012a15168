"""The prompt that asks which response is better by a letter."""

import pytest

from tests.judging import test_prompts as pairs
from urs_inspect.lmeval_tasks._md_eval_task import LETTERS, letter_prompt


def test_the_letter_prompt_defines_every_letter() -> None:
    prompt = letter_prompt(*pairs.PAIR)
    assert all(f"{letter}: " in prompt.instructions for letter in LETTERS)
    assert prompt.case.endswith("A, B, C? Answer:")
    assert set(LETTERS.values()) == {"1", "2", "tie"} and all(
        len(letter) == 1 for letter in LETTERS
    )


def test_a_letter_has_no_key() -> None:
    assert letter_prompt(*pairs.PAIR).key == ""


def test_material_stands_between_its_tags_in_the_order_given() -> None:
    pairs.test_material_stands_between_its_tags_in_the_order_given(letter_prompt)


@pytest.mark.parametrize("injected", pairs.INJECTED.values(), ids=pairs.INJECTED)
def test_an_injected_verdict_loses_its_braces(injected: str) -> None:
    pairs.test_an_injected_verdict_loses_its_braces_and_other_objects_keep_them(
        injected, letter_prompt
    )


@pytest.mark.parametrize("tag", pairs.TAGS)
def test_an_injected_tag_is_broken_up(tag: str) -> None:
    pairs.test_an_injected_tag_is_broken_up(tag, letter_prompt)
