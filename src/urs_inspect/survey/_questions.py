"""The user's question in a transcript, and its language."""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import yaml

from urs_inspect._util import InputError, choices
from urs_inspect.datasets._rows import shown

_HERE = Path(__file__).parent


@lru_cache(maxsize=1)
def words() -> Mapping[str, Any]:
    """Names of speakers, roles of messages, greetings and courtesies, as in `words.yaml`."""
    return load("words.yaml")


def load(name: str) -> Mapping[str, Any]:
    """A file of this room's data."""
    text = (_HERE / name).read_text(encoding="utf-8")
    content: Mapping[str, Any] = yaml.safe_load(text)
    return content


def names(*keys: str) -> Sequence[str]:
    """The words under several keys, the longest first, so that none hides a longer one."""
    folded: set[str] = set()
    for key in keys:
        folded |= {str(word).casefold() for word in words()[key]}
    return sorted(folded, key=lambda word: (-len(word), word))


Role = Literal["user", "assistant", "other"]
_FORMATS = (
    "a list of messages with role and content, lines such as `User:` and `Assistant:`, or the"
    " question alone"
)

_ROLE_KEYS = ("role", "from", "author", "speaker", "sender")
_TEXT_KEYS = ("content", "value", "text", "message", "parts")
_LIST_KEYS = ("messages", "conversation", "conversations", "turns")
_DECORATION = r"[ \t>*_#\-\[【(（]{0,12}"
_END = r"[ \t*_\]】)）]{0,8}"


@dataclass(frozen=True)
class Turn:
    """What one speaker said, without white space at the edges."""

    role: Role  # `other` for system messages and the like
    text: str


def read_transcript(value: object) -> tuple[Turn, ...]:
    """Read a conversation.

    A list of messages, or a text that is one in JSON, is read by its roles. A text whose first line
    begins with the name of a speaker and a colon (`User:`, `Human:`, `用户：`, `Question:`, `Q:`,
    `问题：`), or is a name alone, is cut at every line that begins with one; where no line names
    the assistant, at the first place within a line that does. `Answer:` counts only in a text that
    begins with `Question:` or the like, and `A:` only after `Q:`, for they occur in questions. Any
    other text is one question, up to the first line that begins with the name of an assistant and a
    colon (`ChatGPT:`, `助手：`).

    Turns without text are left out. A value that is neither a text nor a list of messages, or a
    message without role or text, raises `InputError`.
    """
    messages = _messages(value)
    if messages is not None:
        turns = [_turn(message, place) for place, message in enumerate(messages, start=1)]
    elif isinstance(value, str):
        text = value.replace("\r\n", "\n").replace("\r", "\n")
        turns = list(_cut(text))
    else:
        raise InputError(f"must be {_FORMATS}; is {shown(value)}")
    return tuple(turn for turn in turns if turn.text)


def _messages(value: object) -> list[Any] | None:
    """The messages of a list, or of a text that holds one; None if it is none."""
    if isinstance(value, str):
        if not value.lstrip().startswith(("[", "{")):
            return None
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return None
        messages = _listed(parsed)
        # A question may be JSON itself.
        if not messages or not isinstance(messages[0], dict):
            return None
        if _first(messages[0], _ROLE_KEYS) is None:
            return None
        return messages
    return _listed(value)


def _listed(value: object) -> list[Any] | None:
    if isinstance(value, dict):
        value = _first(value, _LIST_KEYS)
    if isinstance(value, list):
        return value
    return None


def _first(message: dict[str, Any], keys: Sequence[str]) -> Any:
    for key in keys:
        value = message.get(key)
        if value is not None:
            return value
    return None


def _turn(message: object, place: int) -> Turn:
    role = None
    if isinstance(message, dict):
        role = _first(message, _ROLE_KEYS)
    if isinstance(role, dict):  # as in an export of ChatGPT: {"author": {"role": "user"}}
        role = role.get("role")
    known = _roles()
    name = ""
    if isinstance(role, str):
        name = role.strip().casefold()
    if not isinstance(message, dict) or name not in known:
        raise InputError(f"message {place}: unknown role {shown(role)}; allowed: {choices(known)}")
    text = _text(_first(message, _TEXT_KEYS))
    if text is None:
        raise InputError(
            f"message {place}: no text; allowed: one of the keys {choices(_TEXT_KEYS)}, with a text"
        )
    return Turn(known[name], text.strip())


@lru_cache(maxsize=1)
def _roles() -> Mapping[str, Role]:
    roles: dict[str, Role] = {}
    for role, spellings in words()["roles"].items():
        roles |= dict.fromkeys(spellings, role)
    return roles


def _text(content: object) -> str | None:
    """The text of a message, which may come in parts, some of them pictures."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        inner = _first(content, ("text", "parts", "content"))
        if not isinstance(inner, (str, list)):
            return ""
        return _text(inner)
    if isinstance(content, list):
        parts = [_text(part) for part in content if isinstance(part, (str, dict))]
        return "\n".join(part for part in parts if part)
    return None


@dataclass(frozen=True)
class _Form:
    """How one kind of transcript names its speakers."""

    opening: re.Pattern[str]
    marks: re.Pattern[str]
    inline: re.Pattern[str]


def _cut(text: str) -> Sequence[Turn]:
    body = text.lstrip("\ufeff\n\t ")
    form = next((form for form in _forms() if form.opening.match(body)), None)
    if form is None:
        found = _clear().search(body)
        cut = found.start() if found else len(body)
        turns = [Turn("user", body[:cut].strip())]
        if found:
            turns += _turns(body[cut:], _forms()[0].marks)
        return turns
    turns = _turns(body, form.marks)
    if not turns or turns[0].role != "user":
        return turns
    if any(turn.role == "assistant" for turn in turns):
        return turns
    inline = form.inline.search(body, form.opening.match(body).end())  # type: ignore[union-attr]
    if inline is None:
        return turns
    return [
        *_turns(body[: inline.start()], form.marks),
        Turn("assistant", body[inline.end() :].strip()),
    ]


def _turns(text: str, marks: re.Pattern[str]) -> list[Turn]:
    found = list(marks.finditer(text))
    ends = [mark.start() for mark in found[1:]]
    ends.append(len(text))
    turns = []
    for mark, end in zip(found, ends, strict=True):
        said = text[mark.end() : end].strip()
        turns.append(Turn(_role(mark), said))
    return turns


def _role(mark: re.Match[str]) -> Role:
    if mark.lastgroup == "user":
        return "user"
    if mark.lastgroup == "assistant":
        return "assistant"
    return "other"


@lru_cache(maxsize=1)
def _forms() -> tuple[_Form, ...]:
    return (
        _form(
            user=_any("user"),
            assistant=_any("assistant", "clear"),
            inline=_any("assistant", "clear"),
            opens=_any("user", "other", "assistant", "clear"),
        ),
        _form(
            user=_any("asked", "user"),
            assistant=_any("answered", "assistant", "clear"),
            inline=_any("answered", "clear"),
            opens=_any("asked"),
        ),
        _form(
            user=_any("asked_short", "user"),
            assistant=_any("answered_short", "assistant", "clear"),
            inline=_any("answered_short", "clear"),
            opens=_any("asked_short"),
        ),
        _bare_form(),
    )


def _form(*, user: str, assistant: str, inline: str, opens: str) -> _Form:
    colon = rf"(?:[ \t]?\d{{1,2}})?{_END}[:：][ \t*_]*"
    return _Form(
        re.compile(rf"{_DECORATION}{opens}{colon}", re.IGNORECASE),
        _marks(user, assistant, colon),
        re.compile(rf"(?<=[\s。？！?!.；;]){inline}{colon}", re.IGNORECASE),
    )


def _bare_form() -> _Form:
    """Names alone on a line, as when a page is copied."""
    user = _any("user")
    return _Form(
        re.compile(rf"{_DECORATION}{user}{_END}[ \t]*\n", re.IGNORECASE),
        _marks(user, _any("assistant", "clear"), rf"{_END}[:：]?[ \t*_]*$"),
        re.compile(r"(?!)"),
    )


def _marks(user: str, assistant: str, end: str) -> re.Pattern[str]:
    """Where a speaker begins."""
    speakers = f"(?P<user>{user})|(?P<assistant>{assistant})|(?P<other>{_any('other')})"
    return re.compile(rf"^{_DECORATION}(?:{speakers}){end}", re.IGNORECASE | re.MULTILINE)


@lru_cache(maxsize=1)
def _clear() -> re.Pattern[str]:
    return re.compile(rf"^{_DECORATION}{_any('clear')}{_END}[:：]", re.IGNORECASE | re.MULTILINE)


def _any(*keys: str) -> str:
    return f"(?:{'|'.join(map(re.escape, names(*keys)))})"


_LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_LEAST = 2
_LONGEST_GREETING = 80


@dataclass(frozen=True)
class NoQuestion:
    """Why a conversation has no valid question, for people."""

    detail: str


def first_question(turns: Sequence[Turn]) -> str | NoQuestion:
    """Take the first turn of the user that asks something.

    A turn asks nothing if it is empty, has fewer than two letters or digits, is nothing but
    greetings and courtesies in English or Chinese (with the name of an assistant or without), or
    nothing but links: what is behind a link is not fetched. Everything else is a question, kept
    exactly apart from white space at the edges, and with a greeting before it.
    """
    asked = [turn.text for turn in turns if turn.role == "user"]
    if not asked:
        return NoQuestion("the user says nothing" if turns else "empty")
    problems = []
    for text in asked:
        problem = problem_of(text)
        if not problem:
            return text
        problems.append(problem)
    return NoQuestion(f"the user's turns: {', '.join(dict.fromkeys(problems))}")


def problem_of(text: str) -> str:
    """Why a text is no valid question; empty if it is one."""
    if not text.strip():
        return "empty"
    if not _LINK.sub("", text).strip() and _LINK.search(text):
        return "only a link, which is not fetched"
    letters = _alphanumeric(unicodedata.normalize("NFKC", text).casefold())
    if len(letters) < _LEAST:
        return "fewer than two letters or digits"
    if len(letters) <= _LONGEST_GREETING and _courtesy().fullmatch(letters):
        return "only a greeting or courtesy"
    return ""


@lru_cache(maxsize=1)
def _courtesy() -> re.Pattern[str]:
    phrases = set(map(_alphanumeric, names("greetings", "courtesies", "clear")))
    ordered = sorted(phrases, key=lambda word: (-len(word), word))
    return re.compile(f"(?:{'|'.join(map(re.escape, ordered))})+")


def _alphanumeric(text: str) -> str:
    return "".join(filter(str.isalnum, text))


_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]")
_WORD = re.compile("[A-Za-z\u00c0-\u024f]+")
_LEAST_HAN = 0.2
# letters at the beginning among which kana mean Japanese, although most of a text may be Han
_SAMPLE = 30


def detect_language(text: str) -> str:
    """The language of a question by its script: `zh` or `en`.

    Chinese has its first letter in Han characters, or at least a fifth of its units, a unit being
    one Han character or one word in Latin letters: instructions about a foreign text are in the
    language of their beginning. Any other text in Latin letters counts as English, because script
    does not distinguish languages of one script; a column can. Over the 1,846 published questions
    this differs from the label in five. The result is empty if most letters are of another script,
    as with kana, Hangul or Cyrillic, or there is none.
    """
    letters = [char for char in text if char.isalpha()]
    han = len(_HAN.findall(text))
    latin = len(_WORD.findall(text))
    unknown = [char for char in letters if not _HAN.match(char) and not _WORD.match(char)]
    foreign = [char for char in unknown if not _is_greek(char)]
    if len(unknown) == len(letters):
        return ""
    if len(foreign) > len(letters) / 2 or any(map(_is_kana, letters[:_SAMPLE])):
        return ""
    if _HAN.match(letters[0]) or han >= _LEAST_HAN * (han + latin):
        return "zh"
    return "en"


def _is_kana(char: str) -> bool:
    return "\u3040" <= char <= "\u30ff" and char != "\u30fb"


def _is_greek(char: str) -> bool:
    """Greek letters are formulas more often than Greek."""
    name = unicodedata.name(char, "")
    return name.startswith("GREEK") or "MATHEMATICAL" in name
