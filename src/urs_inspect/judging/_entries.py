"""Entries in text (a name, a colon, a value), and which of them a reader of replies would take."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from urs_inspect.judging._objects import Span, spans
from urs_inspect.judging._sanitize import FindInjected, decoded, without_invisible
from urs_inspect.rubrics import normalise_key

# A judge that quotes a text writes other signs for a colon as colons.
_COLON = re.compile("[:：∶︓︰﹕։ː꞉=]")
_MOST_OF_A_NAME = 90
_BEFORE_A_NAME = re.compile(r"""[{}｛｝⟦⟧\[\]［］【】"'“”‘’„‟＂＇「」『』:：,，;；\n]""")
_BEFORE_A_VALUE = re.compile(r"""[\s"'“”‘’„‟＂＇「」『』*`\\\[［【]{0,20}""")
_VALUE = re.compile(r"""[^"'“”‘’„‟＂＇「」『』,，{}｛｝⟦⟧\[\]［］【】\n\\]{0,80}""")
_OPENING_BRACES = "{｛⟦"
_WORD = re.compile(r"[㐀-鿿]|[^\W_㐀-鿿]+")
_MOST_ENDS = 12
_MOST_BEGINNINGS = 12
_MARKUP = re.compile(r"<[^<>]{0,40}>|\\[A-Za-z]{1,20}|[{}$]")
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e01ef]"
)
"""Characters without a shape of their own, which nobody quotes."""


class Entry(NamedTuple):
    """What may be a named entry: name, value and place of the colon.

    The name is as `normalise_key` gives it, the value plain text.
    """

    name: str
    value: str
    place: int
    is_object: bool  # whether an object begins where the value should be
    is_whole: bool  # whether the name is all that stands before the colon, as a reader needs it


def entries(text: str) -> Iterator[Entry]:
    """Everything in a text that looks like an entry of an object.

    It may be inside braces or not, quoted or not.

    What stands before a colon is an entry by its whole length and by each of its ends, because a
    judge may quote from any word on: "Obey: the winner: 1" is also `winner: 1`.
    """
    for colon in _COLON.finditer(text):
        place = colon.start()
        before = text[max(0, place - _MOST_OF_A_NAME) : place].rstrip(
            " \t\r\n\"'“”‘’„‟＂＇「」『』*`\\"
        )
        start = _BEFORE_A_VALUE.match(text, colon.end())
        at = start.end() if start is not None else colon.end()
        matched = _VALUE.match(text, at)
        value = ""
        if matched is not None:
            value = matched.group().strip()
        is_object = text[at : at + 1] in _OPENING_BRACES and at < len(text)
        phrase = _BEFORE_A_NAME.split(before)[-1]
        whole = normalise_key(phrase)
        for name in _ends(phrase):
            yield Entry(name, value, place, is_object, name == whole)


def _ends(phrase: str) -> list[str]:
    """What is left of a phrase from each of its words on.

    In Chinese from each of its characters on.
    """
    starts = [match.start() for match in _WORD.finditer(phrase)][-_MOST_ENDS:]
    names = [normalise_key(phrase)]
    names += [normalise_key(phrase[start:]) for start in starts]
    return [name for name in dict.fromkeys(names) if name]


def _readings(text: str) -> set[str]:
    """The text as it stands, and as a judge may write it again: decoded, or without markup."""
    plain = _UNSEEN.sub("", without_invisible(text))
    forms = {plain, decoded(plain), unquote(plain)}
    forms |= {unicodedata.normalize("NFKC", form) for form in forms}
    without_markup = {_MARKUP.sub(" ", form).replace("|", ":") for form in forms}
    return forms | without_markup


def _beginnings(entry: Entry) -> Iterator[Entry]:
    """The entry with its whole value, and with what is left if it ends behind one of its words.

    "10. Thanks" is also 10, as a judge may quote no more than that.
    """
    yield entry
    words = list(_WORD.finditer(entry.value))[:_MOST_BEGINNINGS]
    for word in words:
        up_to_word = entry.value[words[0].start() : word.end()]
        yield entry._replace(value=up_to_word)


@dataclass(frozen=True)
class Taken:
    """What a reader of replies takes.

    One list of names for reading, for neutralising, and for requiring the key.

    Attributes:
        find: Finds objects that a judge could take over as its own result.
        takes: Whether the reader would take an entry as a result, or as part of one.
    """

    find: FindInjected
    takes: Callable[[Entry], bool]

    def is_named_in(self, text: str) -> bool:
        """Whether a text has an entry that the reader would take, or the beginning of one.

        As the text stands or decoded, with braces or without: a judge may quote a part of it, and
        write other characters of the same look.
        """
        for form in _readings(text):
            for entry in entries(form):
                if any(self.takes(part) for part in _beginnings(entry)):
                    return True
        return False


def taken_by_name(names: frozenset[str], reads: Callable[[str], bool]) -> Taken:
    """What a reader takes that looks for entries of these names.

    It takes the values that `reads` accepts.

    All objects with such an entry are found, whatever its value is, those inside strings too.
    """

    def find(text: str) -> Sequence[Span]:
        places = []
        for entry in entries(text):
            if entry.is_whole and entry.name in names:
                places.append(entry.place)
        candidates = set()
        for inside in (False, True):
            candidates.update(spans(text, inside))
        return [
            span
            for span in candidates
            if bisect_left(places, span.start) < bisect_left(places, span.end)
        ]

    def takes(entry: Entry) -> bool:
        return entry.name in names and (entry.is_object or reads(entry.value))

    return Taken(find, takes)


NOTHING_TAKEN = Taken(lambda text: (), lambda entry: False)
"""Of a reader that no text can mislead."""
