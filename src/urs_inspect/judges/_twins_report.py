"""What twins of answers show of a judge, in words."""

import math
from collections.abc import Sequence

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.judges._twin_shifts import Twins
from urs_inspect.logs._files import short_name
from urs_inspect.reports._texts import Format, listed, number, share
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.stats._power import FEWEST, POWER

_SIGNED = number(2, sign=True)
_LONGEST = 80
_NOTES = (
    "Shift: mean score of the twins less that of the answers that they are made of, in points, with"
    " its interval by question. A change that adds nothing for the user should not raise the score;"
    " a flaw should lower it. There are more twins of a kind than answers where these were drawn"
    " and judged more than once.",
    f"Detectable: the smallest shift these answers would reveal with {POWER:.0%} power.",
)


def padding_sentence(twins: Twins) -> str:
    """What padding moves a judge by; empty without padded twins."""
    if twins.slope is None:
        return ""
    who = listed(twins.judges)
    if math.isnan(twins.slope.low) and twins.slope.clusters < FEWEST:
        return f"Too few answers ({twins.answers:,}) to say what padding does to scores by {who}."
    over = counted(twins.answers, "answer")
    return f"Padding moves {who} by {_SIGNED(twins.slope)} points for each doubling ({over})."


def twins_sections(logs: Sequence[Twins]) -> list[Section]:
    """What judges pay for each kind of change, the log of most answers first."""
    largest_first = sorted(logs, key=lambda twins: twins.answers, reverse=True)
    return [twins_section(twins) for twins in largest_first]


def twins_section(twins: Twins) -> Section:
    """What a judge pays for each kind of change."""
    rows = [
        {
            "twin": kind.kind,
            "for the user": kind.effect,
            "verdict": kind.verdict,
            "shift": kind.shift,
            "gained": kind.gained,
            "twins": kind.shift.n,
            "smallest": kind.smallest,
            "what was changed": kind.title,
        }
        for kind in twins.kinds
    ]
    formats: dict[str, Format] = {
        "shift": _SIGNED,
        "gained": share,
        "twins": number(0),
        "smallest": number(2),
        "what was changed": str,
    }
    headings = {"smallest": "detectable"}
    shown = Table(pd.DataFrame(rows), formats, name="twins", headings=headings, main="shift")
    notes = [padding_sentence(twins)]
    if twins.unscored:
        notes.append(f"No score: {counted(twins.unscored, 'answer or twin', 'answers and twins')}.")
    if twins.kinds:
        notes += _NOTES
    else:
        notes.insert(0, "No twin and the answer that it is made of were both scored.")
    if twins.left_out:
        left_out = listed([f"{kind} {count:,}" for kind, count in twins.left_out.items()])
        notes.append(
            "Left out, as the rule can change nothing in the answer, or not without breaking it:"
            f" {left_out}."
        )
    low, high = twins.scale
    scorer = twins.judged_by
    if len(scorer) > _LONGEST:  # its arguments may hold a whole prompt, in any language
        scorer = f"{scorer[: _LONGEST - 3]}..."
    log = short_name(twins.log.location)
    notes.append(f"Scores: {low:g} to {high:g}, by {scorer}. Log: {log}.")
    title = f"Twins of answers before {listed(twins.judges)}"
    return Section(title, [note for note in notes if note], [shown])
