"""What twins of answers show of a judge, in words."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.logs._files import short_name
from urs_inspect.reports._texts import listed, number, share
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.reports.numbers._judge_checks import twins_command
from urs_inspect.reports.numbers._twins import KindShift, Twins
from urs_inspect.stats._power import FEWEST, POWER

_SIGNED = number(2, sign=True)
_LONGEST = 80
_NOTES = (
    "Shift: mean score of the twins less that of the answers that they are made of, in points, with"
    " its interval by question. A change that adds nothing for the user should not raise the score;"
    " a flaw should lower it.",
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
    sections = [twins_section(twins) for twins in largest_first]
    if len(logs) > 1:
        first = sections[0]
        note = f"Of {len(logs)} logs of twins this has the most answers."
        sections[0] = replace(first, notes=[note, *first.notes])
    return sections


def twins_section(twins: Twins) -> Section:
    """What a judge pays for each kind of change."""
    rows = [_row(kind) for kind in twins.kinds]
    data = pd.DataFrame(rows)
    shown = Table(
        data,
        {
            "shift": _SIGNED,
            "gained": share,
            "twins": number(0),
            "smallest": number(2),
            "what was changed": str,
        },
        name="twins",
        headings={"smallest": "detectable"},
        main="shift",
    )
    notes = [padding_sentence(twins), _unscored(twins)]
    if twins.kinds:
        notes += [*_NOTES, _drawn_again(twins), _left_out(twins), _more(twins)]
    else:
        notes.insert(0, "No twin and the answer that it is made of were both scored.")
        notes.append(_left_out(twins))
    title = f"Twins of answers before {listed(twins.judges)}"
    low, high = twins.scale
    scores = f"Scores: {low:g} to {high:g}"
    if twins.judged_by:
        scores += f", by {_shortened(twins.judged_by)}"
    source = f"{scores}. Log: {short_name(twins.log.location)}."
    return Section(title, [*filter(None, notes), source], [shown])


def _drawn_again(twins: Twins) -> str:
    """That there are more twins of a kind than answers, where there are."""
    most = max(kind.shift.n for kind in twins.kinds)
    if most <= twins.answers:
        return ""
    return (
        f"{counted(most, 'twin')} of a kind are of {counted(twins.answers, 'answer')}: some were"
        " drawn and judged more than once."
    )


def _unscored(twins: Twins) -> str:
    """How many texts have no score, and why, where any lacks one."""
    if not twins.unscored:
        return ""
    without = f"No score: {counted(twins.unscored, 'answer or twin', 'answers and twins')}"
    if not twins.reason:
        return f"{without}."
    return f"{without}, most often: {_shortened(' '.join(twins.reason.split()))}"


def _shortened(text: str) -> str:
    """A text of at most a line; arguments of a scorer may hold a whole prompt."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _row(kind: KindShift) -> dict[str, object]:
    return {
        "twin": kind.kind,
        "for the user": kind.effect,
        "verdict": kind.verdict,
        "shift": kind.shift,
        "gained": kind.gained,
        "twins": kind.shift.n,
        "smallest": kind.smallest,
        "what was changed": kind.title,
    }


def _left_out(twins: Twins) -> str:
    """In how many answers a kind's rule could change nothing; empty if it always could."""
    parts = [f"{kind} {count:,}" for kind, count in twins.left_out.items()]
    if not parts:
        return ""
    return (
        "Left out, as the rule can change nothing in the answer, or not without breaking it:"
        f" {listed(parts)}."
    )


def _more(twins: Twins) -> str:
    """How many answers tell where these cannot, and the command where the logs have so many.

    Empty if none is needed.
    """
    wanted = {kind.kind: kind.more for kind in twins.kinds if kind.more}
    if not wanted:
        return ""
    parts = [f"{kind} {count:,}" for kind, count in wanted.items()]
    small = number(2)(twins.kinds[0].small)
    sentences = [
        f"Where the verdict is 'cannot tell', so many answers would show a shift of {small} points"
        f" with {POWER:.0%} power: {listed(parts)}."
    ]
    within = wanted
    if twins.in_logs is not None:
        within = {kind: count for kind, count in wanted.items() if count <= twins.in_logs}
        beyond = [kind for kind in wanted if kind not in within]
        if beyond:
            sentences.append(
                f"The logs have {counted(twins.in_logs, 'answer')}: for {listed(beyond)} more"
                " questions must be answered and judged first."
            )
    if within:
        command = twins_command(twins.log, max(within.values()), list(within))
        sentences.append(f"For {listed(list(within))}: `{command}`")
    return " ".join(sentences)
