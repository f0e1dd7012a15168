"""What judges of pairs prefer beside people: two tables, and one sentence for the first screen."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.datasets._sources import PEOPLE
from urs_inspect.judges._bias_regression import BIASES, LENGTH, LISTS, OWN, PLACE, JudgeBias
from urs_inspect.judges._biases import OTHER_LABELS, DatasetBiases
from urs_inspect.reports._texts import listed, number
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.stats import Estimate

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
    "Each number is added to the log odds that an answer wins: for the first place, for each"
    " doubling of the length and for each doubling of 1 + list items. One regression gives all of"
    " them, with 95% intervals by question."
)
_SHARP = (
    "A judge that follows the same preferences more strictly than people has larger numbers in"
    " every column, and may be marked without a bias."
)
_BEYOND = "Judge less labels on the same pairs, with joint intervals"
_BIAS = (
    "A bias is a number clearly above that of the labels, or for the place also clearly below. The"
    " labels' own place comes from the orders in which the judge saw the pairs. Own models: the"
    " mean strength of the judge's own models less that of the others. The intervals of all"
    " differences of a judge hold jointly."
)
_UNNAMED = (
    "The models are not known, so the regression has no strengths of models, and none is the"
    " judge's own."
)
NO_LABELS = (
    "A judge's bias cannot be measured without people's votes: what it prefers may be better."
    " Collect some: urs-inspect annotate LOG.eval"
)


def bias_section(found: DatasetBiases) -> Section:
    """What the judges of a data set prefer, and what is beyond people's labels."""
    rows = [_row(judge, bias.pairs, bias.judge) for judge, bias in found.judges.items()]
    notes = [_COEFFICIENTS]
    beyond = []
    if found.labels:
        widest = max(found.judges.values(), key=lambda bias: bias.pairs)
        labels = _row(labelled_by(found), widest.pairs, widest.people)
        rows.insert(0, labels | {_HEADINGS[PLACE]: math.nan})
        notes += [_BIAS, _SHARP]
        notes += _sentences(found)
        beyond = [_beyond_table(found)]
    else:
        notes.append(NO_LABELS)
    if not all(bias.named for bias in found.judges.values()):
        notes.append(_UNNAMED)
    if found.empty:
        notes.append(f"Left out: {counted(found.empty, 'pair')} with an empty answer.")
    return Section(_TITLE, notes, [_table(rows, "bias"), *beyond], level=3)


def _sentences(found: DatasetBiases) -> list[str]:
    """What each judge with a clear bias prefers."""
    return [
        f"More than {_whose(found)}, {judge} prefers {_likes(bias)}."
        for judge, bias in found.judges.items()
        if bias.flagged
    ]


def _whose(found: DatasetBiases) -> str:
    if found.labels == PEOPLE:
        return "people"
    return "the labels"


def _likes(bias: JudgeBias) -> str:
    return listed([_liked(bias, name) for name in bias.flagged])


def labelled_by(found: DatasetBiases) -> str:
    """Whose labels judges stand beside, as the first row is called."""
    if found.labels in (PEOPLE, OTHER_LABELS):
        return found.labels
    return f"labels: {found.labels}"


def bias_sentence(datasets: Sequence[DatasetBiases]) -> str:
    """What judges clearly prefer beyond the labels, with how many do; empty if none does."""
    judges: dict[str, list[str]] = defaultdict(list)
    beside = set[str]()
    for found in datasets:
        for judge, bias in found.judges.items():
            for name in bias.flagged:
                beside.add(_whose(found))
                judges[_liked(bias, name)].append(judge)
    if not judges:
        return ""
    [whose, *_] = sorted(beside, reverse=True)  # labels, where there are others than people's
    different = set(chain.from_iterable(judges.values()))
    if len(different) == 1:
        liked = listed(list(judges))
        return f"{different.pop()} prefers {liked} more than {whose} do: --only bias."
    parts: list[str] = []
    for liked, those in sorted(judges.items(), key=lambda item: -len(set(item[1]))):
        count = len(set(those))
        noun = " judges"
        verb = "prefer"
        if count == 1:
            noun = " judge"
            verb = "prefers"
        if parts:
            noun = ""
        parts.append(f"{count}{noun} {verb} {liked}")
    return f"{listed(parts)} more than {whose} do: --only bias."


def _liked(bias: JudgeBias, name: str) -> str:
    if name != PLACE:
        return _LIKES[name]
    if bias.beyond[PLACE].value > 0:
        return "the first place"
    return "the second place"


def _row(judge: str, pairs: int, by_name: Mapping[str, Estimate]) -> dict[str, Any]:
    numbers = {_HEADINGS[name]: by_name[name] for name in BIASES if name != OWN}
    return {"judge": judge, "pairs": pairs, **numbers}


def _beyond_table(found: DatasetBiases) -> Table:
    """Differences from the labels, the clear ones marked."""
    known = [name for name in BIASES if name != OWN or _any_own(found)]
    rows = []
    marked = []
    for place, (judge, bias) in enumerate(found.judges.items()):
        rows.append({"judge": judge, **{_HEADINGS[name]: bias.beyond[name] for name in known}})
        marked += [(place, _HEADINGS[name]) for name in bias.flagged]
    return replace(_table(rows, "bias_beyond"), title=_BEYOND, marked=marked)


def _any_own(found: DatasetBiases) -> bool:
    """Whether a judge has models of its own among others."""
    return any(not math.isnan(bias.beyond[OWN].value) for bias in found.judges.values())


def _table(rows: Sequence[Mapping[str, Any]], name: str) -> Table:
    formats = {heading: _LOGITS for heading in _HEADINGS.values() if heading in rows[0]}
    return Table(pd.DataFrame(rows), {"pairs": number(0), **formats}, name=name)
