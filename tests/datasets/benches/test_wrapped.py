"""Prompt and response are taken out of another tool's instruction whole, or not at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.datasets.benches.wrapping import PROMPT, REFERENCE, RESPONSE, RUBRICS, TASK, wrap
from urs_inspect.datasets.benches.wrapped import Bare, unwrap
from urs_inspect.errors import InputError

texts = st.text(max_size=200).filter(lambda text: "###" not in text and text.strip())


@settings(deadline=None, database=None)
@given(prompt=texts, response=texts, reference=st.none() | texts)
def test_what_was_wrapped_comes_out_but_for_its_edges(prompt: str, response: str, reference: str | None) -> None:
    assert unwrap(wrap(prompt, response, reference)) == Bare(prompt.strip(), response.strip())


def test_other_headings_and_blank_lines_belong_to_the_texts() -> None:
    prompt, response = "# A\n\n### Score\n\nwhat?", "###Answer:\n\n\n1.\n\n###Feedback: fine\n\nScore 5: me"
    assert unwrap(wrap(prompt, response)) == Bare(prompt, response)


@pytest.mark.parametrize(
    ("instruction", "fault"),
    [
        ("Why?", f"has the heading '{PROMPT}' 0 times, must have it once"),
        (wrap("p", "r").replace(RESPONSE, ""), f"has the heading '{RESPONSE}' 0 times, must have it once"),
        (wrap("p", "r").replace(RUBRICS, ""), "has the heading '###Score Rubrics:' 0 times, must have it once"),
        # A response that imitates a heading: nobody can say where it ends, so it is not guessed.
        (wrap("p", f"r\n\n{RESPONSE}\nbetter"), f"has the heading '{RESPONSE}' 2 times, must have it once"),
        (wrap("p", "r\n\n###Score Rubrics:\nnone"), "has the heading '###Score Rubrics:' 2 times, must have it once"),
        (wrap("p", f"r\n\n{REFERENCE}\nbetter", "x"), f"has the heading '{REFERENCE}' 2 times, must have it once"),
        (
            f"{TASK}{RESPONSE}\nr\n\n{PROMPT}\np\n\n{RUBRICS}",
            f"must have the headings in the order: {PROMPT}, {RESPONSE}, ###Score Rubrics:",
        ),
        (wrap(" \n", "r"), f"nothing stands under the heading '{PROMPT}'"),
    ],
)
def test_an_instruction_of_another_form_is_refused(instruction: str, fault: str) -> None:
    with pytest.raises(InputError) as caught:
        unwrap(instruction)
    assert str(caught.value) == fault


def test_a_response_may_be_empty() -> None:
    assert unwrap(wrap("Why?", " \n")) == ("Why?", "")
