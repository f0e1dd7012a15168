"""Tests of `urs_inspect.annotation._pages`."""

import re
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urs_inspect import annotation
from urs_inspect._util import InputError
from urs_inspect.annotation._pages import LANGUAGES, render, texts

TAGS = set(
    "p br hr h3 h4 h5 h6 ul ol li blockquote pre code em strong s table thead tbody tr th td div"  # noqa: SIM905
    " span".split()
)
CLASSES = {"wide", "left", "right", "center", "link", "address", "image"}
PIECES = [
    "<script>alert(1)</script>", "<img src=http://evil.test/x onerror=alert(1)>", "![x](http://evil.test/p.png)",
    "[x](javascript:alert(1))", "[x](data:text/html,<script>)", "![x](data:image/png;base64,AA==)", "<svg onload=a>",
    '[x](http://evil.test "onmouseover=alert(1)")', "<http://evil.test>", "</script>", "]]>", "<!--", "{{7*7}}",
    '"><img src=x>', "'", "&#60;script&#62;", "&lt;b&gt;", "\n", "\n\n", "```", "```js\n", "    ",
    "| a | b |\n|:-:|--:|\n", "# ", "- ", "1. ", "> ", "**", "_", "`", "[", "](", ")", "\\", "[x]: http://evil.test\n",
    "[x]", "text", "字", "\u202e",
]  # fmt: skip


class Inventory(HTMLParser):
    """Collects tags and attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")


def check_inert(html: str) -> Inventory:
    found = Inventory(html)
    assert found.tags <= TAGS
    for name, value in found.attributes:
        assert (
            (name == "class" and value in CLASSES)
            or (name, value) == ("tabindex", "0")
            or name == "start"
        )
    return found


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=80))
def test_nothing_but_inert_tags_comes_out(text: str) -> None:
    check_inert(render(text))


@pytest.mark.parametrize("text", PIECES[:14])
def test_what_was_written_can_be_read(text: str) -> None:
    found = check_inert(render(text))
    for word in ("alert(1)", "evil.test"):
        if word in text and "onmouseover" not in text:
            assert word in found.text


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "![a *cat*](https://evil.test/c.png)",
            '<p><span class="image">a cat · https://evil.test/c.png</span></p>\n',
        ),
        (
            "[here](https://x.test/?a=1&b=2)",
            (
                '<p><span class="link">here</span> <span'
                ' class="address">https://x.test/?a=1&amp;b=2</span></p>\n'
            ),
        ),
        ("<https://x.test/>", '<p><span class="link">https://x.test/</span></p>\n'),
        ("<me@x.test>", '<p><span class="link">me@x.test</span></p>\n'),
        ("# one\n###### six", "<h3>one</h3>\n<h6>six</h6>\n"),  # below those of the page
        (
            '```py"><b>\nif a < b:\n    x\n```',
            '<pre tabindex="0"><code>if a &lt; b:\n    x\n</code></pre>\n',
        ),
        ("one\ntwo", "<p>one<br />\ntwo</p>\n"),
    ],
)
def test_what_markdown_becomes(text: str, html: str) -> None:
    assert render(text) == html


def test_a_table_keeps_its_alignment_without_a_style() -> None:
    html = render("| a | b |\n|--:|:-:|\n| 1 | 2 |")
    assert "style" not in html
    assert '<td class="right">1</td>' in html
    assert '<td class="center">2</td>' in html


@pytest.mark.parametrize("piece", ["[", "![", "*a ", "> ", "`", "<", "- ", "|", "[a](", "\\", "_ "])
def test_a_long_answer_that_means_ill_does_not_hold_up_the_page(piece: str) -> None:
    start = time.process_time()
    render(piece * 20_000)
    assert time.process_time() - start < 5


def shape(value: Any) -> Any:
    """Keys, lengths and placeholders of texts, without the texts."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    assert isinstance(value, str)
    assert value.strip()
    return sorted(re.findall(r"\{\w+\}", value))


def test_languages_have_the_same_texts_and_placeholders_and_none_was_left_untranslated() -> None:
    assert LANGUAGES == ("en", "zh")
    assert shape(texts("en")) == shape(texts("zh"))
    assert len(texts("en")["criteria"]) == len(texts("zh")["criteria"]) == 3  # those of the paper
    flat = {key: value for key, value in texts("zh").items() if isinstance(value, str)}
    assert [key for key, value in flat.items() if value == texts("en")[key]] == []
    assert all(
        re.search(r"[\u4e00-\u9fff]", value)
        for key, value in flat.items()
        if key != "language_switch"
    )
    with pytest.raises(InputError, match=r"language 'fr'.*allowed: en, zh"):
        texts("fr")


def test_every_text_is_used() -> None:
    room = Path(annotation.__file__).parent
    used = "".join(
        path.read_text("utf-8") for path in (*room.glob("*.py"), *room.glob("templates/*"))
    )
    refusals = {f"refused_{reason}" for reason in ("host", "origin", "size")}
    assert [
        key
        for key in texts("en")
        if key not in refusals and not re.search(rf"t\.{key}\b|\"{key}\"", used)
    ] == []
