"""How often each judge leaves out the key, misspells it or is asked again.

Counts, and when they are a warning.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

REPLY_COUNTS = ("unkeyed", "asked_again", "near_key", "several_records")
"""What is counted of the replies of a judge: without the key, after one that could not be used,
with a misspelled key, and with several records with the key whose final results differ.
"""
REPLIES = "replies"
"""Name of the number of replies beside these counts: the last one about each case."""
BY_JUDGE = "reply_counts"
"""Key of a score's metadata: judge -> name -> count, without those that are 0."""

MOST_UNKEYED = 0.05
"""Share of a judge's replies without the key above which it is a warning."""
_LEAST_FOR_A_WARNING = 3

Counts = dict[str, Counter[str]]
"""Judge -> name -> count."""


def counts_of(judge: str, replies: Iterable[object]) -> dict[str, dict[str, int]]:
    """The counts of the replies of a judge, each of which has attributes of these names."""
    given = list(replies)
    if not given:
        return {}
    counts = {REPLIES: len(given)}
    for name in REPLY_COUNTS:
        number = sum(bool(getattr(reply, name)) for reply in given)
        if number:
            counts[name] = number
    return {judge: counts}


def summed(many: Iterable[Mapping[str, Any] | None]) -> Counts:
    """The counts in the metadata of several scores together."""
    total: Counts = {}
    for metadata in many:
        by_judge = (metadata or {}).get(BY_JUDGE) or {}
        for judge, counts in by_judge.items():
            total.setdefault(str(judge), Counter()).update(counts)
    return total


def header_rows(counts: Counts) -> dict[str, float]:
    """Rows of a log's header.

    `unkeyed`, `asked again` and so on where they are not 0, with more judges one each.
    """
    rows: dict[str, float] = {}
    for name in REPLY_COUNTS:
        for judge, numbers in sorted(counts.items()):
            if numbers[name]:
                title = name.replace("_", " ")
                rows[title if len(counts) == 1 else f"{title} {judge}"] = float(numbers[name])
    return rows


def sentences(counts: Counts) -> list[str]:
    """What there is to say of each judge.

    Its counts, and the warning where it leaves out the key too often.
    """
    said: list[str] = []
    for judge, numbers in sorted(counts.items()):
        named = []
        for name in REPLY_COUNTS:
            if numbers[name]:
                named.append(f"{name.replace('_', ' ')} {numbers[name]:,}")
        if named:
            said.append(f"Replies of {judge}: {numbers[REPLIES]:,}; of these {', '.join(named)}.")
        warning = unkeyed_warning(judge, numbers)
        if warning:
            said.append(warning)
    return said


def unkeyed_warning(judge: str, numbers: Mapping[str, int]) -> str:
    """The warning about a judge that leaves out the key in more than 5 % of its replies.

    Else empty.
    """
    replies = numbers.get(REPLIES, 0)
    unkeyed = numbers.get("unkeyed", 0)
    if unkeyed <= MOST_UNKEYED * replies:
        return ""
    return (
        f"WARNING: {judge} left out the key in {unkeyed:,} of {replies:,} replies"
        f" ({unkeyed / replies:.0%}). Without it nothing shows that a result is the judge's own and"
        " no quotation; such a reply counts only where nothing in the case could pass for a"
        " result."
    )


class UnkeyedWatch:
    """Counts the replies of a run while it goes on, to warn of judges without keys.

    Each judge that leaves out the key too often is warned of once.
    """

    def __init__(self) -> None:
        self._counts: Counts = {}
        self._warned: set[str] = set()

    def note(self, metadata: Mapping[str, Any]) -> list[str]:
        """Take note of the metadata of a score; the warnings that are due now."""
        warnings: list[str] = []
        for judge, numbers in summed([metadata]).items():
            total = self._counts.setdefault(judge, Counter())
            total.update(numbers)
            warning = unkeyed_warning(judge, total)
            # Of a judge that leaves it out rarely, the first replies may be over 5 % by chance.
            if warning and total["unkeyed"] >= _LEAST_FOR_A_WARNING and judge not in self._warned:
                self._warned.add(judge)
                warnings.append(warning)
        return warnings
