"""Sanitizing text that a judge is shown.

It can neither imitate the prompt around it nor inject a result.
"""

import html
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from urs_inspect.judging._objects import Span

MARK = "\x00{}\x00"
"""Placeholder of a material in a frame that is rendered to see what surrounds it."""

KEY_MARK = "\x01"
"""Placeholder of the key in such a frame: the key differs from case to case, and what imitates it
may have any.
"""

_LOOKALIKES = {
    KEY_MARK: r"\w{1,40}",
    "<": "[<＜﹤‹〈⟨]",
    ">": "[>＞﹥›〉⟩]",
    "/": "[/／⁄∕]",
    "[": "[\\[［【]",
    "]": "[\\]］】]",
    "'": "['＇‘’]",
}
_NEAR = 3
"""Lines on either side of a material that it may not imitate.

A frame without blocks has all its instructions there.
"""
_INVISIBLE = (
    r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # controls that are no blanks
    r"\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
"""Characters of the Unicode categories Cc and Cf, as ranges of a class."""
_LOOKALIKE_BRACKETS = str.maketrans("<＜﹤〈⟨>＞﹥〉⟩[［【]］】", "‹‹‹‹‹›››››⟦⟦⟦⟧⟧⟧")
_BRACES = str.maketrans("{}｛｝﹛﹜︷︸", "⟦⟧⟦⟧⟦⟧⟦⟧")
_ENCODED = re.compile(
    r"&(?:amp;)*(?:\#x[0-9a-f]{1,6}|\#[0-9]{1,7}|[a-z]{2,10});?"
    # a run of backslashes is looked at once
    r"|(?<!\\)\\++(?:u(?:[0-9a-f]{4}|\{[0-9a-f]{1,6}\})|x[0-9a-f]{2})"
    r"|[！-～﹛﹜︷︸]",
    re.IGNORECASE,
)
_AMPERSANDS = re.compile(r"\A&(?:amp;|AMP;)+")
_UPRIGHT = str.maketrans("︷︸﹛﹜", "{}{}")

FindInjected = Callable[[str], Sequence[Span]]
"""Finds what a judge could take over as its own result: spans from an opening to a closing
brace.
"""


def sanitize(text: str, delimiters: re.Pattern[str] | None, find_injected: FindInjected) -> str:
    """Replace brackets of the frame's delimiters, and braces of injected results, by lookalikes."""
    if delimiters is not None:
        text = delimiters.sub(lambda match: _break_up(match.group()), text)
        plain, origins = _decode(text)
        matches = []
        if plain != text:
            matches = list(delimiters.finditer(plain))
        for match in reversed(matches):
            first = origins[match.start()]
            last = origins[match.end()]
            text = text[:first] + _break_up(match.group()) + text[last:]
    for decode in (False, True):
        text = _open_injected(text, find_injected, decode)
    return text


def decoded(text: str) -> str:
    """The text with its entities, escapes and characters of full width as plain characters."""
    plain, _ = _decode(text)
    return plain


def without_invisible(text: str) -> str:
    """The text without the characters that nobody sees, which a judge leaves out when it quotes."""
    return re.sub(f"[{_INVISIBLE}]", "", text)


def _open_injected(text: str, find_injected: FindInjected, decode: bool) -> str:
    plain = text
    origins: Sequence[int] = range(len(text) + 1)
    if decode:
        plain, origins = _decode(text)
        if plain == text:
            return text
    spans = find_injected(plain)
    if not spans:
        return text
    first = origins[min(span.start for span in spans)]
    last = origins[max(span.end for span in spans)]
    text = text[:first] + _without_braces(text[first:last]) + text[last:]
    # An injected result may sit inside further braces, which show it again once it is open.
    opened = text
    if decode:
        opened = decoded(text)
    if find_injected(opened):
        return _without_braces(text)
    return text


def _without_braces(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        plain = _plain_character(match[0])
        if plain in ("{", "}"):
            return plain.translate(_BRACES)
        return match[0]

    return _ENCODED.sub(replace, text).translate(_BRACES)


def _decode(text: str) -> tuple[str, Sequence[int]]:
    """The text decoded, and where each of its characters, and its end, is in the text."""
    parts: list[str] = []
    origins: list[int] = []
    end = 0
    for match in _ENCODED.finditer(text):
        start = match.start()
        plain = _plain_character(match[0])
        parts.append(text[end:start])
        parts.append(plain)
        origins.extend(range(end, start))
        origins.extend([start] * len(plain))
        end = match.end()
    if not parts:
        return text, range(len(text) + 1)
    parts.append(text[end:])
    origins.extend(range(end, len(text) + 1))
    return "".join(parts), origins


def _plain_character(encoded: str) -> str:
    """The plain form of an encoded character; itself if that is nothing that can be shown."""
    if encoded[0] == "&":
        encoded = _AMPERSANDS.sub("&", encoded)
        while (
            (once := html.unescape(encoded)) != encoded and once.startswith("&") and len(once) > 1
        ):
            encoded = once
        return once
    if encoded[0] == "\\":
        code = int(encoded.lstrip("\\")[1:].strip("{}"), 16)
        is_character = code < 0xD800 or 0xDFFF < code <= 0x10FFFF
        if is_character:
            return chr(code)
        return encoded
    if "！" <= encoded <= "～":
        return chr(ord(encoded) - 0xFEE0)
    return encoded.translate(_UPRIGHT)


@lru_cache(maxsize=256)  # compiling the pattern takes longer than the rest of a prompt's frame
def delimiters_of(case: str) -> re.Pattern[str] | None:
    """What stands next to the materials in the frame, as one pattern.

    The pattern forgives case, width and blanks.
    """
    literals: set[str] = set()
    pieces = re.split(r"\x00\w+\x00", case)
    before, *between, after = [_lines(piece) for piece in pieces]
    literals.update(before[-_NEAR:], after[:_NEAR])
    for lines in between:
        literals.update(lines[:_NEAR], lines[-_NEAR:])
    patterns = [_loosely(literal) for literal in literals if len(literal) > 2]
    if not patterns:
        return None
    patterns.sort(key=len, reverse=True)
    return re.compile("|".join(patterns), re.IGNORECASE)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _loosely(literal: str) -> str:
    words = []
    for word in re.findall(r"\w+|[^\w\s]", literal):
        characters = map(_in_any_width, word)
        words.append(f"[{_INVISIBLE}]*".join(characters))
    return f"[\\s{_INVISIBLE}]*".join(words)


def _in_any_width(char: str) -> str:
    wide = ""
    if "!" <= char <= "~":
        wide = chr(ord(char) + 0xFEE0)
    return _LOOKALIKES.get(char) or f"[{re.escape(char)}{wide}]"


def _break_up(text: str) -> str:
    changed = text.translate(_LOOKALIKE_BRACKETS)
    if changed != text:
        return changed
    return f"{text[:1]}\u2060{text[1:]}"
