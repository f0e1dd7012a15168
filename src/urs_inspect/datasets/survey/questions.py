"""Finds the first valid question of a conversation (URS paper, section 3.2.2)."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from urs_inspect.datasets.survey.transcripts import Turn
from urs_inspect.datasets.survey.words import names

_LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_LEAST = 2
_LONGEST_GREETING = 80


@dataclass(frozen=True)
class NoQuestion:
    """Why a conversation has no valid question.

    Attributes:
        detail: For people.
    """

    detail: str


def first_question(turns: Sequence[Turn]) -> str | NoQuestion:
    """Take the first turn of the user that asks something.

    A turn asks nothing if it is empty, has fewer than two letters or digits, is nothing but greetings and courtesies in
    English or Chinese (with the name of an assistant or without), or nothing but links: what is behind a link is not
    fetched. Everything else is a question, kept to the letter but for edge whitespace; a greeting before a question
    stays.

    Args:
        turns: The conversation.

    Returns:
        The question, or why there is none.
    """
    asked = [turn.text for turn in turns if turn.role == "user"]
    if not asked:
        return NoQuestion("the user says nothing" if turns else "empty")
    faults = []
    for text in asked:
        fault = fault_of(text)
        if not fault:
            return text
        faults.append(fault)
    return NoQuestion(f"the user's turns: {', '.join(dict.fromkeys(faults))}")


def fault_of(text: str) -> str:
    """Why a text is no valid question; empty if it is one."""
    if not text.strip():
        return "empty"
    if not _LINK.sub("", text).strip() and _LINK.search(text):
        return "only a link, which is not fetched"
    letters = "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())
    if len(letters) < _LEAST:
        return "fewer than two letters or digits"
    if len(letters) <= _LONGEST_GREETING and _courtesy().fullmatch(letters):
        return "only a greeting or courtesy"
    return ""


@lru_cache(maxsize=1)
def _courtesy() -> re.Pattern[str]:
    several = {"".join(char for char in word if char.isalnum()) for word in names("greetings", "courtesies", "clear")}
    ordered = sorted(several, key=lambda word: (-len(word), word))
    return re.compile(f"(?:{'|'.join(map(re.escape, ordered))})+")
