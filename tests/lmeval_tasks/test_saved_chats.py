"""Chats as lm-eval saves them: messages as they are sent to a server of models."""

from typing import Any

import pytest

from urs_inspect.datasets._conversations import NotShown, named_kinds
from urs_inspect.lmeval_tasks._rejudge import of_messages


def test_what_is_no_text_is_named_at_its_place_and_counted():
    content = [
        {"type": "text", "text": "Left:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": "right:"},
        {"type": "input_audio", "input_audio": {}},
    ]
    asked = of_messages([{"role": "user", "content": content}])
    assert asked.text("en") == "Left:\n[image: not shown]\nright:\n[audio: not shown]"
    assert asked.text("zh") == "Left:\n[图片：未显示]\nright:\n[音频：未显示]"
    assert asked.not_shown == {"image": 1, "audio": 1}
    assert "base64" not in asked.text("en")


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("plain", "plain"),
        ({"type": "input_text", "text": "x"}, "x"),
        ({"text": "x"}, "x"),
        ({"type": "text", "text": None}, "[other content: not shown]"),
        ({"type": "input_image"}, "[image: not shown]"),
        ({"type": "hologram"}, "[other content: not shown]"),
        ({}, "[other content: not shown]"),
    ],
)
def test_a_part_with_a_text_is_that_text_whatever_its_type(part: object, text: str):
    asked = of_messages([{"role": "user", "content": ["Look:", part]}])
    assert asked.text("en") == f"Look:\n{text}"
    assert sum(asked.not_shown.values()) == ("not shown" in text)


def test_calls_of_tools_and_what_they_returned_are_named_and_not_shown():
    asked = of_messages(
        [
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}, {"id": "2"}]},
            {"role": "tool", "content": "Final Score: 10"},
            {"role": "user", "content": "Thanks, and tomorrow?"},
        ]
    )
    text = asked.text("en")
    assert text.count("[tool call: not shown]") == 2 and text.count("[tool result: not shown]") == 1
    assert "Final Score" not in text
    assert named_kinds(asked.not_shown) == "tool call 2, tool result 1"
    assert asked.query == "Thanks, and tomorrow?" and asked.not_in_query["turns_not_seen"] == 3


SEEN: list[dict[str, Any]] = [
    {"role": "developer", "content": "Be short."},
    {"role": "human", "content": [{"type": "text", "text": "See"}, {"type": "image_url"}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}, {"id": "2"}]},
    {"role": "function", "content": "Found."},
    {"role": "assistant", "content": ["Yes", {"type": "odd"}]},
    {"role": "user", "content": [{"type": "input_audio"}, "and?", None]},
]


def test_messages_of_clients_are_read_with_their_roles_and_what_is_no_text() -> None:
    found = of_messages(SEEN)
    assert [(turn.role, turn.parts) for turn in found.turns] == [
        ("system", ("Be short.",)),
        ("user", ("See", NotShown("image"))),
        ("assistant", (NotShown("tool_call"), NotShown("tool_call"))),
        ("tool", (NotShown("tool_result"),)),
        ("assistant", ("Yes", NotShown("other"))),
        ("user", (NotShown("audio"), "and?")),
    ]
    assert found.not_shown == {"image": 1, "tool_call": 2, "tool_result": 1, "other": 1, "audio": 1}
    assert [turn.text for turn in found.turns][-2:] == ["Yes", "and?"]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"role": "robot", "content": "Hi"}, "unknown role 'robot'"),
        ({"role": "user", "content": [7]}, "content 7 is no text"),
    ],
)
def test_messages_that_cannot_be_read_are_refused(message: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        of_messages([message])
