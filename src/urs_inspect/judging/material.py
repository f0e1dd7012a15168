"""Material to be judged: it can neither imitate the frame around it nor plant a result."""

import re
from collections.abc import Callable, Sequence

from urs_inspect.judging.records import Span

MARK = "\x00{}\x00"
"""What stands for a material in a frame that is rendered to see what surrounds it."""

_LOOKALIKES = {
    "<": "[<＜﹤‹〈⟨]",
    ">": "[>＞﹥›〉⟩]",
    "/": "[/／⁄∕]",
    "[": "[\\[［【]",
    "]": "[\\]］】]",
    "'": "['＇‘’]",
}
_NEAR = 3
"""Lines on either side of a material that it may not imitate. A frame without blocks has all its instructions there."""
_INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
_DEFUSED = str.maketrans("<＜﹤〈⟨>＞﹥〉⟩[［【]］】", "‹‹‹‹‹›››››⟦⟦⟦⟧⟧⟧")
_BRACES = str.maketrans("{}｛｝", "⟦⟧⟦⟧")


Planted = Callable[[str], Sequence[Span]]
"""Finds what a judge could take over as its own result: spans from an opening to a closing brace."""


def defuse(text: str, delimiters: re.Pattern[str] | None, planted: Planted) -> str:
    """Make text harmless as material for a judge.

    Args:
        text: Text of a user or a model.
        delimiters: What may not occur because it is part of the frame.
        planted: Finds planted results.

    Returns:
        The text with brackets of delimiters, and braces of planted results, replaced by lookalikes.
    """
    if delimiters is not None:
        text = delimiters.sub(lambda match: _break_up(match.group()), text)
    if spans := planted(text):
        first, last = min(span.start for span in spans), max(span.end for span in spans)
        text = text[:first] + text[first:last].translate(_BRACES) + text[last:]
        # A planted result may sit inside further braces, which show it again once it is open.
        if planted(text):
            text = text.translate(_BRACES)
    return text


def delimiters_of(case: str) -> re.Pattern[str] | None:
    """What stands next to the materials in the frame, as one pattern that forgives case, width and blanks."""
    literals: set[str] = set()
    before, *between, after = [_lines(piece) for piece in re.split(r"\x00\w+\x00", case)]
    for lines in ([], before), *((piece, piece) for piece in between), (after, []):
        literals.update(lines[0][:_NEAR], lines[1][-_NEAR:])
    patterns = sorted((_loosely(literal) for literal in literals if len(literal) > 2), key=len, reverse=True)
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _loosely(literal: str) -> str:
    words = re.findall(r"\w+|[^\w\s]", literal)
    return f"[\\s{_INVISIBLE}]*".join(f"[{_INVISIBLE}]*".join(map(_in_any_width, word)) for word in words)


def _in_any_width(char: str) -> str:
    wide = chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else ""
    return _LOOKALIKES.get(char) or f"[{re.escape(char)}{wide}]"


def _break_up(text: str) -> str:
    changed = text.translate(_DEFUSED)
    return changed if changed != text else f"{text[:1]}\u2060{text[1:]}"
