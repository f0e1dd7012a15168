"""Texts for people: numbers with nouns, and nothing that Markdown would read as its own."""

import pytest
import yaml

from urs_inspect.errors import InputError
from urs_inspect.texts import counted, escaped, is_blank, read_yaml, visible


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


DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize("character", DIRECTIONS)
def test_what_changes_the_direction_of_writing_is_spelt_out(character: str) -> None:
    assert visible(f"a{character}b") == f"a\\u{ord(character):04x}b"
    assert character not in str(InputError(f"unknown model 'a{character}b'"))


def test_other_characters_stay_as_they_are() -> None:
    assert visible("שלום مرحبا 你好 \u200d\n") == "שלום مرحبا 你好 \u200d\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: 1\nb: 2\na: 3", 3), ("x:\n  - {k: 1, k: 1}", 2), ("'a': 1\na: 2", 2), ("1: x\n1: y", 2)],
)
def test_a_key_that_is_there_twice_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(yaml.YAMLError, match=f"there twice\n.*line {line},"):
        read_yaml(text)


def test_yaml_reads_as_before() -> None:
    text = "base: &base {a: 1, b: 2}\nown:\n  <<: *base\n  a: 3\nlist: [{a: 1}, {a: 2}]\n1: x\n'1': y"
    assert read_yaml(text) == yaml.safe_load(text)
    with pytest.raises(yaml.YAMLError):
        read_yaml("!!python/object/apply:os.getcwd []")
