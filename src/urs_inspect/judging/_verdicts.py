"""Verdicts in the reply of a judge that compares two responses."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from urs_inspect._util import word_set
from urs_inspect.judging._failures import JudgeFailure
from urs_inspect.judging._objects import Pairs, json_objects
from urs_inspect.judging._score_reply import shown, without_record
from urs_inspect.rubrics import normalise_key

OVERALL = "Overall"
"""Key of the verdict as a whole."""

Shown = Literal["1", "2", "tie"]
"""The better response as it was shown, first or second."""

_OVERALL_SPELLINGS = word_set(
    "overall overallwinner overalljudgment overalljudgement overallverdict final"
)
_WINNER_KEYS = word_set("winner verdict better choice preference")
"""Keys under which a judge names the better response."""


def verdict_names(asked: Iterable[str]) -> frozenset[str]:
    """Names of entries that a judge may give verdicts under where some were asked for.

    They are as `normalise_key` has them.
    """
    return frozenset({normalise_key(name) for name in asked} | _WINNER_KEYS | _OVERALL_SPELLINGS)


_MAX_SAID = 200
_STRAIGHT = str.maketrans("“”„‟＂‘’‛＇：，｛｝", '"""""\'\'\'\':,{}')
_BETWEEN = re.compile(r"[\s,;`\[\]]*(?:json\s*)?")


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of a reply.

    Attributes:
        verdicts: Asked name -> the better response as shown; None where no verdict could be read.
        unknown: Names in the reply that were not asked for.
    """

    verdicts: dict[str, Shown | None]
    unknown: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Names without a verdict."""
        return tuple(name for name, verdict in self.verdicts.items() if verdict is None)

    @property
    def final(self) -> Shown | None:
        """The verdict overall; of a reply on one dimension the one on that."""
        if len(self.verdicts) == 1:
            return next(iter(self.verdicts.values()))
        return self.verdicts.get(OVERALL)

    def falls_short_of(self, earlier: "Verdicts") -> bool:
        """Whether verdicts are missing here, and the winner is not the one named before."""
        before = earlier.verdicts.get(OVERALL)
        return bool(self.missing) and before is not None and self.verdicts.get(OVERALL) != before


def read_verdicts(text: str, asked: Sequence[str]) -> Verdicts | JudgeFailure:
    """Read the verdicts on several dimensions and overall.

    Reads what is readable: order, unknown names, code fences and broken JSON do not matter; a name
    that is missing, or has two different verdicts, has none. Of several objects the last one
    counts. Never raises and never guesses.

    Args:
        text: The reply.
        asked: Names that were asked for; `Overall` among them.

    Returns:
        The verdicts, or the failure if not one could be read.

    Examples:
        >>> from urs_inspect.judging import read_verdicts
        >>> read_verdicts('{"Clarity": "1", "Overall": "tie"}', ["Clarity", "Overall"]).verdicts
        {'Clarity': '1', 'Overall': 'tie'}
    """
    names = {normalise_key(name): name for name in asked}
    if OVERALL in asked:
        names |= dict.fromkeys(_OVERALL_SPELLINGS - names.keys(), OVERALL)
    given: dict[str, set[Shown | None]] = {name: set() for name in asked}
    unknown: list[str] = []
    for key, value in _entries(text, names):
        verdict = _verdict(value)
        name = names.get(normalise_key(key))
        if name is not None:
            given[name].add(verdict)
        elif isinstance(value, Pairs) and verdict is not None:
            unknown.append(key[:_MAX_NAME])
    verdicts = {name: _single(words) for name, words in given.items()}
    if any(verdict is not None for verdict in verdicts.values()):
        return Verdicts(verdicts, tuple(dict.fromkeys(unknown)))
    conflicting = [name for name, words in given.items() if len(words - {None}) > 1]
    if conflicting:
        detail = f"There are several verdicts on {', '.join(conflicting)}."
        return JudgeFailure("conflicting_verdicts", detail)
    return without_record(text, "verdicts on what was asked")


def _single(words: set[Shown | None]) -> Shown | None:
    if len(words) == 1:
        return next(iter(words))
    return None


def read_verdict(text: str, name: str = OVERALL) -> Shown | JudgeFailure:
    """Read the one verdict of a reply that compares on a single dimension or as a whole.

    The last object counts.

    Args:
        text: The reply.
        name: What the verdict is about, for judges that name it.

    Returns:
        The verdict, or the failure.

    Examples:
        >>> from urs_inspect.judging import read_verdict
        >>> read_verdict('{"winner": "1"}')
        '1'
    """
    names = {normalise_key(name)}
    if name == OVERALL:
        names |= _OVERALL_SPELLINGS
    words = _single_words(text, names)
    if not words:
        return without_record(text, "a winner")
    verdicts = {_verdict(word) for word in words}
    verdict = _single(verdicts)
    if verdict is not None:
        return verdict
    winners = dict.fromkeys(shown(_written_winner(word)) for word in words)
    written = ", ".join(winners)[:_MAX_SAID]
    if None in verdicts:
        return JudgeFailure("unparseable", f"The winner is {written}, not 1, 2 or tie.")
    return JudgeFailure("conflicting_verdicts", f"There are several winners: {written}.")


_WORD = re.compile(
    r"""[\s"'*_`\[(#]{0,9}
        (?:(?:(?:response|answer|assistant|回答|助手|回复)[\s_-]{0,3})?(?:(?P<first>1|a)|(?P<second>2|b))
          |(?P<first_word>first|第一个(?:回答)?)|(?P<second_word>second|第二个(?:回答)?)
          |(?P<tie>tied?|equal|draw|same|both|neither|平局|平手|相当))
        [\s"'*_`\]).]{0,9}""",
    re.VERBOSE,
)
_MAX_WORD = 60
_TAIL = re.compile(
    r"""\s{0,3}(?:(?:is|was)\s(?:the\s)?(?:clearly\s|slightly\s|much\s)?better|wins|更好|更佳|较好|胜出)?[.。]?\s{0,3}
        (?:\((?P<inside>[^()]*)\)?|(?:[:,;]\s?|(?<=\s)[-–—]\s)(?P<after>.*))?\Z""",
    re.VERBOSE,
)
"""What may follow the word: "1 (more complete)", "Response 1 is better"."""
_UNCLEAR = re.compile(
    r"\b(?:[12ab]|one|two|first|second|tied?|equal\w*|draw|same|similar\w*|both|neither|none|not?|or|but"
    r"|other|worse|worst|weaker|weakest|inferior|loses|lost|although|though|however|while|whereas|despite|yet|unlike)\b"
    r"|[一二两不平差弱逊输另虽但]|相"
)
"""A remark that speaks of another verdict, or takes the first one back, leaves open which one is
meant.
"""


def read_word(value: object) -> Shown | None:
    """The response that a word or a number names as the better one.

    None if it names none, or says more than that.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    text = value
    if isinstance(value, int) and abs(value) < 10:
        text = str(value)
    if not isinstance(text, str) or len(text) > _MAX_WORD:
        return None
    plain = unicodedata.normalize("NFKC", text).casefold()
    match = _WORD.fullmatch(plain) or _word_with_remark(plain)
    if match is None:
        return None
    if match["tie"]:
        return "tie"
    if match["first"] or match["first_word"]:
        return "1"
    return "2"


def _word_with_remark(plain: str) -> re.Match[str] | None:
    """The word at the beginning, where what follows it leaves open nothing."""
    match = _WORD.match(plain)
    tail = None
    if match:
        tail = _TAIL.match(plain, match.end())
    if tail is None or _UNCLEAR.search(tail["inside"] or tail["after"] or ""):
        return None
    return match


_NAME_KEYS = ("dimension", "name")
_MAX_NAME = 80
_MAX_DEPTH = 4
_MAX_BROKEN = 50
"""Broken objects that are tried one by one.

The bound keeps reading linear in the length of the reply.
"""


def _parsed(text: str) -> tuple[list[tuple[int, int, Pairs]], list[int]]:
    """The outermost objects that parse, and where broken ones begin.

    Nothing parses in a reply of too many broken.
    """
    objects: list[tuple[int, int, Pairs]] = []
    broken: list[int] = []
    for start, end, pairs in json_objects(text):
        if pairs is not None:
            objects.append((start, end, pairs))
            continue
        broken.append(start)
        if len(broken) > _MAX_BROKEN:
            return [], [0]
    return objects, broken


def _entries(text: str, names: Collection[str]) -> list[tuple[str, Any]]:
    """Keys and values of the last object about what was asked.

    A broken one is read as far as it goes.
    """
    straight = text.translate(_STRAIGHT)
    for candidate in dict.fromkeys((text, straight)):
        objects, broken = _parsed(candidate)
        about = _about(objects, names)
        if about:
            break
    else:
        return _loose_entries(straight)
    _, end, _ = about[-1]
    start, entries = _last_run(candidate, about, names)
    around = _around(candidate, broken, start)
    if around is not None:
        held = _names_in(entries)
        for entry in _loose_entries(straight[around:]):
            if normalise_key(entry[0]) not in held:
                entries.append(entry)
        return entries
    for place in broken:
        if place >= end:
            after = _loose_entries(straight[place:])
            if _names_in(after).isdisjoint(names):
                return entries
            return after
    return entries


_Flat = tuple[int, int, list[tuple[str, Any]]]
"""Where an object begins and ends, and its flat pairs."""


def _about(objects: Iterable[tuple[int, int, Pairs]], names: Collection[str]) -> list[_Flat]:
    """The objects with any of these names."""
    about = []
    for start, end, pairs in objects:
        flat = list(_flat(pairs))
        if not _names_in(flat).isdisjoint(names):
            about.append((start, end, flat))
    return about


def _last_run(
    text: str, objects: Sequence[_Flat], names: Collection[str]
) -> tuple[int, list[tuple[str, Any]]]:
    """The pairs of the last object and of those directly before it, and where these begin.

    A judge may write one object per dimension.
    """
    *before, (start, _, entries) = objects
    held = _names_in(entries)
    for earlier, its_end, pairs in reversed(before):
        its_names = _names_in(pairs)
        is_repeated = held & its_names & set(names)
        if is_repeated or not _BETWEEN.fullmatch(text, its_end, start):
            break
        start = earlier
        held |= its_names
        entries = pairs + entries
    return start, entries


def _single_words(text: str, names: Collection[str]) -> list[Any]:
    """What the last object gives as the winner; several if it gives several."""
    straight = text.translate(_STRAIGHT)
    for candidate in dict.fromkeys((text, straight)):
        objects, broken = _parsed(candidate)
        for start, end, pairs in reversed(objects):
            words = _winners(pairs, names)
            if not words:
                continue
            place = _around(candidate, broken, start)
            if place is None:
                place = next((after for after in broken if after >= end), None)
            if place is None:
                return words
            return _loose_winners(straight[place:]) or words
    return _loose_winners(straight)


def _around(text: str, broken: Sequence[int], start: int) -> int | None:
    """Where the broken object begins that holds what begins at `start`."""
    before = [place for place in broken if place < start]
    if not before or "}" in text[before[-1] : start]:
        return None
    return before[-1]


def _names_in(pairs: Iterable[tuple[str, Any]]) -> set[str]:
    return {normalise_key(key) for key, _ in pairs}


def _flat(pairs: Pairs, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The pairs of an object, and of the objects it wraps.

    An object may wrap another as in `{"dimensions": {...}, "overall": {...}}`.

    An object that names what it is about is one pair itself (`{"dimension": "Clarity", "winner":
    "1"}`).
    """
    name = _name_of(pairs)
    if name and _own_winners(pairs):
        yield name, pairs
        return
    for key, inner in pairs:
        if isinstance(inner, Pairs):
            if inner and not _own_winners(inner) and depth < _MAX_DEPTH:
                yield from _flat(inner, depth + 1)
            else:
                yield key, inner
        elif isinstance(inner, list):
            for item in inner:
                if isinstance(item, Pairs) and _name_of(item):
                    yield _name_of(item), item
        else:
            yield key, inner


def _winners(pairs: Pairs, names: Collection[str]) -> list[Any]:
    """What an object gives as the winner.

    Itself, or else about one of the names, or else about anything.
    """
    own = _own_winners(pairs)
    if own:
        return own
    flat = list(_flat(pairs))
    about = [inner for key, inner in flat if normalise_key(key) in names]
    if about:
        return about
    objects = [inner for _, inner in flat if isinstance(inner, Pairs)]
    return [inner for inner in objects if _own_winners(inner)]


def _own_winners(pairs: Pairs) -> list[Any]:
    return [inner for key, inner in pairs if key.strip().casefold() in _WINNER_KEYS]


def _name_of(pairs: Pairs) -> str:
    """What an object in a list is about: `[{"dimension": "Clarity", "winner": "1"}]`."""
    values = dict(pairs)
    for key in _NAME_KEYS:
        name = values.get(key)
        if isinstance(name, str):
            return name
    return ""


def _verdict(value: object) -> Shown | None:
    """The better response that an object, or a plain value, names.

    None where it names none, or several.
    """
    if not isinstance(value, Pairs):
        return read_word(value)
    return _single({read_word(inner) for inner in _own_winners(value)})


def _written_winner(value: object) -> object:
    """What an object gives as the winner, where it gives one thing; else the value itself."""
    words = []
    if isinstance(value, Pairs):
        words = _own_winners(value)
    return _as_dicts(words[0] if len(words) == 1 else value)


def _as_dicts(value: object) -> object:
    if isinstance(value, Pairs):
        return {key: _as_dicts(inner) for key, inner in value}
    if isinstance(value, list):
        return [_as_dicts(inner) for inner in value]
    return value


_CLOSING = re.compile(r"""[\s}\],;"'`]*""")
_VALUE = r"""(?:"([^"\n]{0,40})"|'([^'\n]{0,40})'|(\w[\w ]{0,20})(?=\s{0,20}(?:[,}\n]|\Z)))"""
_KEYS = "|".join(sorted(_WINNER_KEYS))
_QUOTED_WINNER = re.compile(rf"""["'](?:{_KEYS})["']\s{{0,20}}:\s{{0,20}}{_VALUE}""", re.IGNORECASE)
_BARE_WINNER = re.compile(
    rf"(?:\A|[{{,\n])[ \t*#>-]{{0,20}}(?:winner|verdict)[ \t*]{{0,5}}:[ \t*]{{0,5}}{_VALUE}",
    re.IGNORECASE,
)
_KEY = re.compile(
    rf"""(?:"([^"\n{{}}]{{1,{_MAX_NAME}}})"|'([^'\n{{}}]{{1,{_MAX_NAME}}})')\s{{0,20}}:\s{{0,20}}(?:(\{{)|{_VALUE})"""
)


_NEUTRALISED = re.compile(r"⟦[^⟦⟧]*+(?:⟧|\Z)")
"""What `sanitize` writes in place of the braces of an injected result.

A quotation may lack the end.
"""


def _without_quotations(text: str) -> str:
    """The text without what stands between neutralised brackets.

    Only a quotation of the material has such brackets.
    """
    before = ""
    while before != text:  # from the inside to the outside
        before = text
        text = _NEUTRALISED.sub(" ", text)
    return text


def _loose_entries(text: str) -> list[tuple[str, Any]]:
    """What looks like a key with a verdict that can be read."""
    text = _without_quotations(text)
    entries: list[tuple[str, Any]] = []
    matches = list(_KEY.finditer(text))
    nested = [match for match in matches if match.group(3)]
    plain = [match for match in matches if not match.group(3)]
    starts = [match.start() for match in nested]
    limits = [*starts[1:], len(text)]
    for match, limit in zip(nested, limits, strict=False):
        words = _loose_winners(text[match.end() : limit])
        if len({read_word(word) for word in words}) == 1:
            winner = Pairs([("winner", words[0])])
            key = match.group(1) or match.group(2)
            entries.append((key, winner))
    for match in plain:
        key = match.group(1) or match.group(2)
        entries.append((key, _value(match, 4)))
    return [(key, value) for key, value in entries if _verdict(value) is not None]


def _loose_winners(text: str) -> list[str]:
    """Winners in a broken object: all, or the last if nothing comes after it, as was asked for."""
    text = _without_quotations(text)
    matches = list(_QUOTED_WINNER.finditer(text)) or list(_BARE_WINNER.finditer(text))
    words = [_value(match, 1) for match in matches]
    is_last = bool(matches) and _CLOSING.fullmatch(text, matches[-1].end())
    if is_last:
        return words[-1:]
    return words


def _value(match: re.Match[str], group: int) -> str:
    alternatives = match.groups()[group - 1 :]
    return next(value for value in alternatives if value is not None)
