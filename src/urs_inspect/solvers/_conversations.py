"""The conversation that an answer of the harness replies to."""

from collections.abc import Mapping, Sequence

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    Content,
    ContentReasoning,
    ContentText,
)
from inspect_ai.solver import TaskState

from urs_inspect.datasets._conversations import KINDS, Conversation, NotShown, Turn

CHAT_MESSAGES: Mapping[str, type[ChatMessageSystem | ChatMessageUser | ChatMessageAssistant]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}
"""Role -> kind of message of the harness."""


def asked(state: TaskState) -> Conversation | None:
    """What the answer of a sample replies to; None if there is no message of a user.

    That is the sample's own input, unless a solver added messages to it: then it is all that the
    model was sent before its answer, such as system messages, further turns, and calls of tools. A
    system message of the run comes first.
    """
    given: list[ChatMessage]
    given = [ChatMessageUser(content=state.input)] if isinstance(state.input, str) else state.input
    sent = _before_answer(state.messages)
    messages = given
    if len(sent) > len(given) and _has_user(sent):
        messages = sent
    if not _has_user(messages):
        return None
    system_message = _system_message_of_run()
    if system_message:
        messages = [ChatMessageSystem(content=system_message), *messages]
    return conversation_of(messages)


def _system_message_of_run() -> str | None:
    """What `--system-message`, or the model's config, says.

    The harness sends it with each call and adds it to no message of the sample; the record of the
    call has it.
    """
    for event in reversed(transcript().events):
        if isinstance(event, ModelEvent) and event.role is None:
            return event.config.system_message
    return None


def _has_user(messages: Sequence[ChatMessage]) -> bool:
    return any(isinstance(message, ChatMessageUser) for message in messages)


def _before_answer(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Messages before the model's last one, if that comes after the last one of a user."""
    spoken = (ChatMessageUser, ChatMessageAssistant)
    places = [place for place, message in enumerate(messages) if isinstance(message, spoken)]
    if places and isinstance(messages[places[-1]], ChatMessageAssistant):
        return list(messages[: places[-1]])
    return list(messages)


def conversation_of(messages: Sequence[ChatMessage]) -> Conversation:
    """Messages of the harness as a conversation; reasoning, which no user sees, is left out."""
    return Conversation(tuple(map(_turn, messages)))


def not_all_text(answer: ChatMessage) -> Conversation | None:
    """An answer that holds images, sounds or the like beside its text; None for one of text alone.

    Calls of tools do not count: an answer that is nothing else is empty.
    """
    turn = _turn(answer)
    parts = tuple(part for part in turn.parts if part != NotShown("tool_call"))
    if all(isinstance(part, str) for part in parts):
        return None
    return Conversation((Turn(turn.role, parts),))


def _turn(message: ChatMessage) -> Turn:
    if isinstance(message, ChatMessageTool):
        return Turn("tool", (NotShown("tool_result"),))
    content = [message.content] if isinstance(message.content, str) else message.content
    parts = [_part(part) for part in content if not isinstance(part, ContentReasoning)]
    if isinstance(message, ChatMessageAssistant):
        parts = [part for part in parts if part != ""]
        parts += [NotShown("tool_call")] * len(message.tool_calls or [])
    return Turn(message.role, tuple(parts))


def _part(part: Content | str) -> str | NotShown:
    if isinstance(part, str):
        return part
    if isinstance(part, ContentText):
        return part.text
    return NotShown(KINDS.get(part.type, "other"))


def chat_of(conversation: Conversation) -> list[ChatMessage]:
    """A conversation of texts as messages of the harness."""
    return [CHAT_MESSAGES[turn.role](content=turn.text) for turn in conversation.turns]
