"""What an answer replies to, by the messages of a sample."""

from collections.abc import Sequence
from typing import Any

import pytest
from inspect_ai.event import ModelEvent
from inspect_ai.log._transcript import Transcript, init_transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelName,
    ModelOutput,
)
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolCall

from urs_inspect.datasets._conversations import NotShown
from urs_inspect.solvers._conversations import asked, chat_of, conversation_of, not_all_text

CALL = ToolCall(id="1", function="search", arguments={})


def system(text: str) -> ChatMessage:
    return ChatMessageSystem(content=text)


def user(content: Any) -> ChatMessage:
    return ChatMessageUser(content=content)


def assistant(content: Any, *calls: ToolCall) -> ChatMessage:
    return ChatMessageAssistant(content=content, tool_calls=list(calls) or None)


def of(
    state_input: str | list[ChatMessage], *messages: ChatMessage
) -> list[tuple[str, Any]] | None:
    """Roles and parts of what was asked."""
    state = TaskState(ModelName("m/x"), "s", 1, state_input, list(messages))
    found = asked(state)
    if found is None:
        return None
    return [
        (turn.role, turn.parts[0] if len(turn.parts) == 1 else turn.parts) for turn in found.turns
    ]


@pytest.fixture(autouse=True)
def transcript() -> Transcript:
    """A transcript without events."""
    made = Transcript()
    init_transcript(made)
    return made


ANSWER = assistant("So.")
ASKED: list[tuple[str, str | list[ChatMessage], Sequence[ChatMessage], object]] = [
    ("the input", "Why?", [user("Why?"), ANSWER], [("user", "Why?")]),
    ("no messages", "Why?", [], [("user", "Why?")]),
    (
        "a prompt of a solver in its place",
        "Why?",
        [user("Tell me: Why?"), ANSWER],
        [("user", "Why?")],
    ),
    (
        "a system message of a solver",
        "Why?",
        [system("Be short."), user("Why?"), ANSWER],
        [("system", "Be short."), ("user", "Why?")],
    ),
    (
        "further turns",
        "Why?",
        [user("Why?"), assistant("What?"), user("Just why?"), ANSWER],
        [("user", "Why?"), ("assistant", "What?"), ("user", "Just why?")],
    ),
    (
        "a user's message after the answer",
        "Why?",
        [user("Why?"), ANSWER, user("Thanks.")],
        [("user", "Why?"), ("assistant", "So."), ("user", "Thanks.")],
    ),
    (
        "calls of tools",
        "Why?",
        [user("Why?"), assistant("", CALL), ChatMessageTool(content="Found."), ANSWER],
        [
            ("user", "Why?"),
            ("assistant", NotShown("tool_call")),
            ("tool", NotShown("tool_result")),
        ],
    ),
    (
        "a tool's result after the answer",
        "Why?",
        [user("Why?"), assistant("So.", CALL), ChatMessageTool(content="Found.")],
        [("user", "Why?")],
    ),
    (
        "messages as input",
        [system("Be short."), user("Why?")],
        [system("Be short."), user("Why?"), ANSWER],
        [("system", "Be short."), ("user", "Why?")],
    ),
    ("no user in messages", [user("Why?")], [system("a"), system("b"), ANSWER], [("user", "Why?")]),
    ("no user at all", [system("Go on.")], [system("Go on."), ANSWER], None),
]


@pytest.mark.parametrize(
    ("given", "messages", "expected"),
    [case[1:] for case in ASKED],
    ids=[case[0] for case in ASKED],
)
def test_what_is_answered(
    given: str | list[ChatMessage], messages: Sequence[ChatMessage], expected: object
) -> None:
    assert of(given, *messages) == expected


def event(system_message: str | None, role: str | None = None) -> ModelEvent:
    return ModelEvent(
        model="m/x",
        role=role,
        input=[],
        tools=[],
        tool_choice="none",
        config=GenerateConfig(system_message=system_message),
        output=ModelOutput(),
    )


@pytest.mark.parametrize(
    ("events", "first"),
    [
        ([event("Be short.")], "Be short."),
        ([event("Be short."), event("Judge.", "grader")], "Be short."),
        ([event("Be long."), event("Be short.")], "Be short."),
        ([event("Judge.", "grader")], "Why?"),
        ([event(None)], "Why?"),
        ([event("Be long."), event(None)], "Why?"),
    ],
)
def test_a_system_message_of_the_run_comes_first(
    events: list[ModelEvent], first: str, transcript: Transcript
) -> None:
    for one in events:
        transcript._event(one)
    found = of("Why?", user("Why?"), ANSWER)
    assert found is not None
    assert found[0][1] == first and found[-1] == ("user", "Why?")


def test_reasoning_is_left_out_and_each_call_of_a_tool_is_named() -> None:
    image = ContentImage(image="data:image/png;base64,eA==")
    found = conversation_of(
        [
            user([ContentText(text="See"), image]),
            assistant([ContentReasoning(reasoning="Hm."), ContentText(text="Yes.")], CALL, CALL),
            assistant("", CALL),
            user(""),
        ]
    )
    assert [turn.parts for turn in found.turns] == [
        ("See", NotShown("image")),
        ("Yes.", NotShown("tool_call"), NotShown("tool_call")),
        (NotShown("tool_call"),),
        ("",),
    ]


def test_an_answer_is_not_all_text_if_it_holds_an_image_and_not_for_calls_of_tools() -> None:
    image = ContentImage(image="data:image/png;base64,eA==")
    assert not_all_text(ANSWER) is None
    assert not_all_text(assistant("So.", CALL)) is None
    found = not_all_text(assistant([ContentText(text="See"), image], CALL))
    assert found is not None
    assert found.turns[0].parts == ("See", NotShown("image"))


def test_a_conversation_of_texts_goes_there_and_back() -> None:
    messages = [system("a"), user("b"), assistant("c"), user("d")]
    again = chat_of(conversation_of(messages))
    assert [(one.role, one.text) for one in again] == [(one.role, one.text) for one in messages]
