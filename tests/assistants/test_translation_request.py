from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urs_inspect.assistants import asks_for_translation, read_request
from urs_inspect.datasets import Vocabulary, load_urs
from urs_inspect.rubrics import load_rubric


@pytest.mark.parametrize(
    ("request_", "text", "language"),
    [
        ("请将下面这段英文翻译为中文：The sky is blue.", "The sky is blue.", "Chinese"),
        ("翻译下面文本\nThe sky is blue.", "The sky is blue.", "Chinese"),
        ("天空是蓝色的。\n翻译 英文", "天空是蓝色的。", "English"),
        ("将下列文字翻译成英文，要求严谨。\n天空是蓝色的。\n草是绿色的。", "天空是蓝色的。\n草是绿色的。", "English"),
        ("翻译这段话The sky is blue.", "The sky is blue.", "Chinese"),
        ("Translate blue sky into French", "blue sky", "French"),
        ("Please translate it into traditional chinese:\nMind the gap.", "Mind the gap.", "Traditional Chinese"),
        ("Translate from English to German: Mind the gap.", "Mind the gap.", "German"),
        ("Could you help with a translation", "Could you help with a translation", "Chinese"),
        ("帮我翻译", "帮我翻译", "English"),
    ],
)
def test_the_text_without_the_order(request_: str, text: str, language: str) -> None:
    found = read_request(request_)
    assert (found.text, found.language) == (text, language)


@pytest.mark.parametrize(
    ("question", "asks"),
    [("Translate this", True), ("翻译一下", True), ("译成英文", True), ("Write a poem", False), ("写一首诗", False)],
)
def test_who_asks_for_a_translation(question: str, asks: bool) -> None:
    assert asks_for_translation(question) is asks


@given(st.text(max_size=200))
def test_no_text_is_lost_or_invented(text: str) -> None:
    found = read_request(f"翻译成英文：\n{text}")
    assert found.text in f"翻译成英文：\n{text}"
    if text.strip() and "\n" not in text and "译" not in text and "ransl" not in text.lower():
        assert text.strip() in found.text


@pytest.mark.data
def test_eight_cases_as_in_the_paper(data_dir: Path) -> None:
    rubric = load_rubric()
    cases = load_urs("urs", Vocabulary(rubric.intent_id, rubric.language_code)).cases
    found = [case for case in cases if case.intent == "text_assistant" and asks_for_translation(case.question)]
    assert len(found) == 8  # URS paper, Table 15
    for case in found:
        assert 0 < len(read_request(case.question).text) < len(case.question.strip())
