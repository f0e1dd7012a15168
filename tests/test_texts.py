"""Texts for people: numbers with nouns, and nothing that Markdown would read as its own."""

import pytest

from urs_inspect.texts import counted, escaped, is_blank


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (counted(1, "answer"), "1 answer"),
        (counted(0, "answer"), "0 answers"),
        (counted(1200, "answer"), "1,200 answers"),
        (counted(2, "country", "countries"), "2 countries"),
    ],
)
def test_a_number_has_its_noun(given: str, shown: str) -> None:
    assert given == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("*x* _y_ `z`", r"\*x\* \_y\_ \`z\`"),
        ("[a](b) <c> #d", r"\[a\](b) \<c\> \#d"),
        ("a\n\n# b", r"a \# b"),
    ],
)
def test_markdown_is_taken_to_the_letter(text: str, shown: str) -> None:
    assert escaped(text) == shown


@pytest.mark.parametrize(("text", "blank"), [("", True), (" \n\u200b\u00a0", True), ("\u0000", True), (".", False)])
def test_what_shows_nothing_is_blank(text: str, blank: bool) -> None:
    assert is_blank(text) is blank
