"""What judges of pairs prefer beside people: two tables, and one sentence for the first screen."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.datasets._sources import PEOPLE
from urs_inspect.reports._texts import listed, number
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.reports.numbers._judge_bias import OTHER_LABELS, DatasetBiases
from urs_inspect.stats import Estimate, JudgeBias
from urs_inspect.stats._judge_bias import BIASES, LENGTH, LISTS, OWN, PLACE

_LOGITS = number(2, sign=True)
_HEADINGS = {
    PLACE: "first place",
    LENGTH: "twice as long",
    LISTS: "twice the lists",
    OWN: "own models",
}
_LIKES = {LENGTH: "longer answers", LISTS: "lists", OWN: "its own models"}
_TITLE = "Bias beside people's own, logits"
_COEFFICIENTS = (
    "Added to the log odds of a win: by the first place, by each doubling of the length and by each"
    " doubling of 1 + list items, from one regression, with 95% intervals by question."
)
_SHARP = (
    "A judge that decides more sharply than people has larger numbers in every column, without a"
    " taste of its own."
)
_BEYOND = (
    "Less the labels' on the same pairs, own models by their strength less that of the others. The"
    " intervals of a judge hold jointly; clear is what lies above 0, and of the place also below."
)
_ORDERS = "Labels stand in the orders in which the judge saw the pairs."
_UNNAMED = (
    "The models are not known: they are not held equally strong, and none is the judge's own."
)
NO_LABELS = (
    "Without people's votes nothing here is a bias: what a judge prefers may be what is better."
    " `urs-inspect annotate` collects votes."
)


def bias_section(found: DatasetBiases) -> Section:
    """What the judges of a data set prefer, and what is beyond people's labels."""
    shown = [name for name in BIASES if name != OWN]
    rows = [_row(judge, bias.pairs, bias.judge, shown) for judge, bias in found.judges.items()]
    notes = [_COEFFICIENTS]
    tables = []
    if found.labels:
        widest = max(found.judges.values(), key=lambda bias: bias.pairs)
        rows.insert(0, _row(labelled_by(found), widest.pairs, widest.people, shown))
        notes += [_ORDERS, _SHARP]
        beyond = [_beyond(judge, bias) for judge, bias in found.judges.items()]
        tables.append(_table(beyond, _BEYOND, "bias_beyond"))
    else:
        notes.append(NO_LABELS)
    if not all(bias.named for bias in found.judges.values()):
        notes.append(_UNNAMED)
    if found.empty:
        notes.append(f"Left out: {counted(found.empty, 'pair')} with an empty answer.")
    return Section(_TITLE, notes, [_table(rows, "", "bias"), *tables], level=3)


def labelled_by(found: DatasetBiases) -> str:
    """Whose labels judges stand beside, as the first row is called."""
    if found.labels in (PEOPLE, OTHER_LABELS):
        return found.labels
    return f"labels: {found.labels}"


def bias_sentence(datasets: Sequence[DatasetBiases]) -> str:
    """The first judge with a clear bias, and how many others have one; empty if none has."""
    flagged = {}
    for found in datasets:
        for judge, bias in found.judges.items():
            if bias.flagged:
                flagged.setdefault(judge, (bias, labelled_by(found)))
    if not flagged:
        return ""
    (judge, (bias, labels)), *others = flagged.items()
    more = f", and {counted(len(others), 'other judge')} as well" if others else ""
    likes = listed([_liked(bias, name) for name in bias.flagged])
    beside = "people" if labels == PEOPLE else "the labels"
    return f"Beyond {beside}, {judge} prefers {likes}{more}: --only bias."


def _liked(bias: JudgeBias, name: str) -> str:
    if name != PLACE:
        return _LIKES[name]
    return "the first place" if bias.beyond[PLACE].value > 0 else "the second place"


def _row(
    judge: str, pairs: int, by_name: Mapping[str, Estimate], shown: Sequence[str]
) -> dict[str, Any]:
    numbers = {_HEADINGS[name]: by_name[name] for name in shown}
    return {"judge": judge, "pairs": pairs, **numbers}


def _beyond(judge: str, bias: JudgeBias) -> dict[str, Any]:
    clear = [_liked(bias, name) for name in bias.flagged]
    numbers = {_HEADINGS[name]: bias.beyond[name] for name in BIASES}
    return {"judge": judge, "clearly prefers": listed(clear) or "nothing", **numbers}


def _table(rows: Sequence[Mapping[str, Any]], title: str, name: str) -> Table:
    formats = {heading: _LOGITS for heading in _HEADINGS.values() if heading in rows[0]}
    return Table(pd.DataFrame(rows), {"pairs": number(0), **formats}, name=name, title=title)
