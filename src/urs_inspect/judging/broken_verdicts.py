"""Verdicts in a judge's reply whose JSON is broken."""

import re
from typing import Any

from urs_inspect.judging.verdict_objects import MAX_NAME, WINNER_KEYS, verdict_of
from urs_inspect.judging.verdict_words import read_word

_CLOSING = re.compile(r"""[\s}\],;"'`]*""")
_VALUE = r"""(?:"([^"\n]{0,40})"|'([^'\n]{0,40})'|(\w[\w ]{0,20})(?=\s{0,20}(?:[,}\n]|\Z)))"""
_KEYS = "|".join(sorted(WINNER_KEYS))
_QUOTED_WINNER = re.compile(rf"""["'](?:{_KEYS})["']\s{{0,20}}:\s{{0,20}}{_VALUE}""", re.IGNORECASE)
_BARE_WINNER = re.compile(
    rf"(?:\A|[{{,\n])[ \t*#>-]{{0,20}}(?:winner|verdict)[ \t*]{{0,5}}:[ \t*]{{0,5}}{_VALUE}", re.IGNORECASE
)
_KEY = re.compile(
    rf"""(?:"([^"\n{{}}]{{1,{MAX_NAME}}})"|'([^'\n{{}}]{{1,{MAX_NAME}}})')\s{{0,20}}:\s{{0,20}}(?:(\{{)|{_VALUE})"""
)


def loose_entries(text: str) -> list[tuple[str, Any]]:
    """Whatever looks like a key with a verdict that can be read."""
    entries: list[tuple[str, Any]] = []
    matches = list(_KEY.finditer(text))
    nested = [match for match in matches if match.group(3)]
    limits = [*(match.start() for match in nested), len(text)]
    for match, limit in zip(nested, limits[1:], strict=True):
        words = loose_winners(text[match.end() : limit])
        if len({read_word(word) for word in words}) == 1:
            entries.append((match.group(1) or match.group(2), {"winner": words[0]}))
    for match in matches:
        if not match.group(3):
            entries.append((match.group(1) or match.group(2), _value(match, 4)))
    return [(key, value) for key, value in entries if verdict_of(value) is not None]


def loose_winners(text: str) -> list[str]:
    """Winners in a broken object: all, or the last if nothing comes after it, as was asked for."""
    matches = list(_QUOTED_WINNER.finditer(text)) or list(_BARE_WINNER.finditer(text))
    words = [_value(match, 1) for match in matches]
    return words[-1:] if matches and _CLOSING.fullmatch(text, matches[-1].end()) else words


def _value(match: re.Match[str], group: int) -> str:
    return next(value for value in match.groups()[group - 1 :] if value is not None)
