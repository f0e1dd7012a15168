"""Words on what a panel of judges is worth."""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.reports._texts import Format, number, share
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.reports.numbers._panels import MOST_JUDGES, Panel
from urs_inspect.stats._panels import HeldOutPanel


@dataclass(frozen=True)
class _Words:
    """How a panel that gives verdicts, or one that rates, is spoken of."""

    rule: str  # by which a panel decides
    score: str
    score_text: Format
    gain_text: Format
    error: str
    error_text: Format
    unit: str  # of the error of a panel
    alike: str  # what judges that never differ have in common


_VERDICTS = _Words(
    "majority",
    "accuracy",
    number(1, percent=True),
    lambda gain: number(1, sign=True)(100 * gain),
    "a verdict that differs from the label or could not be parsed",
    number(1, percent=True),
    "of the items",
    "right and wrong on the same items",
)
_RATINGS = _Words(
    "mean",
    "Pearson's r",
    number(3),
    number(3, sign=True),
    "a rating's distance from its judge's line on the label",
    number(2),
    "points, the standard deviation of the labels from their line on it",
    "the same ratings of all items",
)


def panel_section(panel: Panel) -> Section:
    """How many votes a panel of judges is worth, and its best small part."""
    title = "How many votes the judges are worth"
    notes = []
    if panel.given > MOST_JUDGES:
        notes.append(f"The best {MOST_JUDGES} of {panel.given} judges.")
    if panel.constant:
        notes.append(
            "Left out, because all their errors are the same, or there are none:"
            f" {', '.join(panel.constant)}."
        )
    judges = len(panel.judges)
    worth = panel.worth
    if worth is None:
        few = f"{counted(judges, 'judge')} and {counted(len(set(panel.prompts)), 'prompt')}"
        notes.append(f"Not computed: {few} that all have judged are too few.")
        return Section(title, notes, level=3)
    effective = worth.effective
    worst = max(worth.alone, key=worth.alone.__getitem__)
    words = _RATINGS
    if panel.labels is None:
        words = _VERDICTS
    text = words.error_text
    notes += [
        (
            f"{judges} judges are worth {number(1)(effective.votes)} independent ones: their errors"
            f" on the {counted(len(panel.values), 'item')} that all have judged correlate by"
            f" {number(2)(effective.correlation)} on average."
        ),
        (
            "Independent errors are not small ones: a judge that guesses raises this number as"
            f" well. The error of the {words.rule} of all judges is {text(worth.together)}"
            f" ({words.unit}), without {worst}, whose own error is the largest"
            f" ({text(worth.alone[worst])}), it is {text(worth.without[worst])}."
        ),
        *_about_twins(panel, words),
        f"An error is {words.error}; a wrong label is an error of all judges.",
        *_about_best(panel, worth.best, words),
    ]
    columns = {
        "judge": panel.judges,
        "correlation with the others' errors": effective.correlations,
        "error alone": worth.alone.values(),
        f"error of the {words.rule} without it": worth.without.values(),
    }
    formats = dict.fromkeys(list(columns)[2:], text)
    formats["correlation with the others' errors"] = number(2)
    return Section(title, notes, [Table(pd.DataFrame(columns), formats)], 3)


def _about_twins(panel: Panel, words: _Words) -> list[str]:
    if not panel.same:
        return []
    return [
        f"Judges that never differ ({words.alike}): {_pairs_text(panel.same)}. Both in a panel are"
        " one judge with two votes."
    ]


def _pairs_text(pairs: Iterable[tuple[str, str]]) -> str:
    return "; ".join(map(" and ".join, pairs))


def _about_best(panel: Panel, best: HeldOutPanel, words: _Words) -> list[str]:
    """The best small panel, and whether it is better than the best single judge."""
    members = [panel.judges[judge] for judge in best.panel]
    twins = [pair for pair in panel.same if set(pair) <= set(members)]
    never = ""
    if twins:
        never = f" (of which {_pairs_text(twins)} never differ)"
    points = ""
    if panel.labels is None:
        points = " points"
    gain = words.gain_text(best.held_out - best.single)
    low, high = map(words.gain_text, best.gain)
    text = words.score_text
    return [
        (
            f"Best {words.rule} of {len(members)}: {', '.join(members)}{never}, chosen by"
            f" {share(best.chosen)} of the halves."
        ),
        (
            "Chosen on one half of the prompts and measured on the other, the best panel has"
            f" {words.score} {text(best.held_out)} (on the half that chose it"
            f" {text(best.apparent)}), and the best single judge, chosen and measured in the same"
            f" way, {text(best.single)}; the difference is {gain}{points} on average and {low} to"
            f" {high} in 95% of splits."
        ),
    ]
