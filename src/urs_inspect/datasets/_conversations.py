"""Conversations as a judge is shown them: turns with their roles, and what is no text named."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import yaml

from urs_inspect._util import InputError, choices
from urs_inspect.datasets._rows import SURROGATE, Fields, parse_json, shown

Role = Literal["system", "user", "assistant", "tool"]
Kind = Literal["image", "audio", "video", "document", "tool_call", "tool_result", "other"]

NOT_SHOWN = "not_shown"
"""Key of a score's metadata: how much of each kind (image, tool_result, ...) of the question is no
text.
"""
TURNS_NOT_SEEN = "turns_not_seen"
"""Key of a score's metadata: how many messages of the conversation an evaluator of one message did
not see.
"""

_FALLBACK = "en"
_FILE_ROLES: tuple[Role, ...] = ("system", "user", "assistant")
"""Roles that a message in a user's file may have."""
_MESSAGE_KEYS = {"role", "content"}


@dataclass(frozen=True)
class NotShown:
    """Content that a judge of texts cannot see, at its place in a turn."""

    kind: Kind


@dataclass(frozen=True)
class Turn:
    """A message of a conversation.

    Attributes:
        role: Who wrote it.
        parts: Its texts, and what is no text, in their order.
    """

    role: Role
    parts: tuple[str | NotShown, ...]

    @property
    def text(self) -> str:
        """Its texts alone."""
        return "\n".join(part for part in self.parts if isinstance(part, str))


@dataclass(frozen=True)
class Conversation:
    """What an answer replies to: one question, or a conversation up to its last message.

    Attributes:
        turns: The messages in their order.
    """

    turns: tuple[Turn, ...]

    @property
    def not_shown(self) -> dict[str, int]:
        """How much of each kind a judge of texts cannot see; empty where it sees everything."""
        parts = chain.from_iterable(turn.parts for turn in self.turns)
        return dict(Counter(part.kind for part in parts if isinstance(part, NotShown)))

    @property
    def query(self) -> str:
        """The last message of a user, for evaluators that take one message.

        Empty if no user wrote any.
        """
        last = [turn for turn in self.turns if turn.role == "user"][-1:]
        if last:
            return Conversation(tuple(last)).text(_FALLBACK)
        return ""

    @property
    def not_in_query(self) -> dict[str, Any]:
        """What an evaluator that takes the query does not see, for the metadata of a score.

        Empty if it sees all.
        """
        unseen: dict[str, Any] = {}
        if other_turns := len(self.turns) - 1:
            unseen[TURNS_NOT_SEEN] = other_turns
        if not_shown := self.not_shown:
            unseen[NOT_SHOWN] = not_shown
        return unseen

    def text(self, language: str) -> str:
        """The conversation as one text, which is what a judge is shown and a page shows.

        A single message of text is that text, character for character. Several are each headed by
        their role in brackets, in the language if its words are known, else in English. Brackets of
        a message that imitate such a heading, or the mark of what is not shown, become others.
        """
        turns = self.turns
        if len(turns) == 1 and not self.not_shown:
            return turns[0].text
        words = _words(language)
        written = [_written(turn, words) for turn in turns]
        if len(turns) == 1:
            return written[0]
        headed = [
            f"[{words['roles'][turn.role]}]\n{text}"
            for turn, text in zip(turns, written, strict=True)
        ]
        return "\n\n".join([words["lead"], *headed])


def single(question: str) -> Conversation:
    """A question as a conversation of one message."""
    return Conversation((Turn("user", (question,)),))


def named_kinds(not_shown: Mapping[str, int]) -> str:
    """What a judge could not see, in words: `image 2, tool result 1`."""
    if not not_shown:
        return ""
    kinds = _words(_FALLBACK)["kinds"]
    return choices(f"{kinds.get(kind, kind)} {count}" for kind, count in not_shown.items())


def _written(turn: Turn, words: Mapping[str, Any]) -> str:
    written = []
    for part in turn.parts:
        if isinstance(part, NotShown):
            written.append(f"[{_mark(part.kind, words)}]")
        else:
            written.append(_BRACKETED.sub(_not_imitating, part.strip()))
    return "\n".join(written)


def _mark(kind: str, words: Mapping[str, Any]) -> str:
    return str(words["not_shown"].format(kind=words["kinds"][kind]))


@lru_cache(maxsize=1)
def _all_words() -> dict[str, dict[str, Any]]:
    words: dict[str, dict[str, Any]] = yaml.safe_load(
        (Path(__file__).parent / "conversations.yaml").read_text(encoding="utf-8")
    )
    return words


def _words(language: str) -> dict[str, Any]:
    known = _all_words()
    return known.get(language, known[_FALLBACK])


# --- messages that imitate headings ---

_BRACKETED = re.compile(r"[\[［【〔][^\[\]［］【】〔〕]{1,60}[\]］】〕]")
_OTHER_BRACKETS = str.maketrans("[［【〔]］】〕", "⟦⟦⟦⟦⟧⟧⟧⟧")


def _not_imitating(match: re.Match[str]) -> str:
    inside = _folded(match[0])
    line_start = match.string.rfind("\n", 0, match.start()) + 1
    line_end = match.string.find("\n", match.end())
    line = match.string[line_start : len(match.string) if line_end < 0 else line_end]
    is_heading = inside in _folded_headings() and _folded(line) == inside
    if is_heading or inside in _folded_marks():
        return match[0].translate(_OTHER_BRACKETS)
    return match[0]


def _folded(text: str) -> str:
    """Letters and digits alone, whatever their width and case."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


@lru_cache(maxsize=1)
def _folded_headings() -> frozenset[str]:
    headings: set[str] = set()
    for words in _all_words().values():
        headings.update(map(_folded, words["roles"].values()))
    return frozenset(headings)


@lru_cache(maxsize=1)
def _folded_marks() -> frozenset[str]:
    marks: set[str] = set()
    for words in _all_words().values():
        marks.update(_folded(_mark(kind, words)) for kind in words["kinds"])
    return frozenset(marks)


# --- content that is no text ---

KINDS: Mapping[str, Kind] = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "audio": "audio",
    "audio_url": "audio",
    "input_audio": "audio",
    "video": "video",
    "video_url": "video",
    "file": "document",
    "input_file": "document",
    "document": "document",
    "tool_use": "tool_call",
    "tool_result": "tool_result",
}
"""Types of content, as clients of models write them, that are no text."""


# --- messages in a user's file ---

MESSAGES = "messages"
"""Column of a user's file that may stand in place of the question."""


def hint_of(column: str) -> str:
    """Where a text belongs that is part of a conversation; `column` is that of the question."""
    return (
        f"put it into the column '{MESSAGES}', a list of {{role, content}}, in place of '{column}'"
    )


def question_of(fields: Fields, column: str, language: str) -> tuple[str, Conversation | None]:
    """The text of the question of a row, and its conversation if `messages` hold one."""
    if fields.blank(MESSAGES):
        return fields.text(column), None
    if not fields.blank(column):
        fields.note(MESSAGES, f"stands in place of '{column}'; give one of the two")
        return "", None
    try:
        conversation = read_messages(fields.values[MESSAGES])
    except InputError as error:
        fields.note(MESSAGES, str(error))
        return "", None
    return conversation.text(language), conversation


def read_messages(value: object) -> Conversation:
    """The conversation in a cell `messages`: a list of `{role, content}`, in CSV written as JSON.

    Content is text; the last message is the user's. `InputError` says what is wrong.
    """
    if isinstance(value, str):
        value, error = parse_json(value)
        if error:
            raise InputError(f"must be a list of {{role, content}}, is {error}")
    if not isinstance(value, list) or not value:
        raise InputError(f"must be a list of {{role, content}}, is {shown(value)}")
    turns = [_file_turn(message, number) for number, message in enumerate(value, start=1)]
    if turns[-1].role != "user":
        raise InputError(
            "the last message must be the user's, which is answered; it has the role"
            f" '{turns[-1].role}'"
        )
    return Conversation(tuple(turns))


def _file_turn(message: object, number: int) -> Turn:
    place = f"message {number}"
    if not isinstance(message, dict) or not message.keys() >= _MESSAGE_KEYS:
        raise InputError(f"{place} must have role and content, is {shown(message)}")
    if unknown := sorted(message.keys() - _MESSAGE_KEYS):
        raise InputError(
            f"{place}: unknown key {choices(map(str, unknown))}; allowed: role, content"
        )
    role = message["role"]
    content = message["content"]
    if role not in _FILE_ROLES:
        raise InputError(f"{place}: unknown role {shown(role)}; allowed: {choices(_FILE_ROLES)}")
    if not isinstance(content, str):
        raise InputError(
            f"{place}: content must be text, is {shown(content)}; images and other files are not"
            " sent"
        )
    if not content.strip():
        raise InputError(f"{place}: content is empty")
    if SURROGATE.search(content):
        raise InputError(f"{place}: content holds half a character")
    return Turn(role, (content,))
