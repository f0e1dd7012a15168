"""Words on what a panel of judges is worth."""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.reports._texts import Format, number, share
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.reports.numbers._panels import (
    FEWEST_JUDGES,
    MOST_JUDGES,
    Panel,
    panel_of,
)
from urs_inspect.stats._agreement import best_panel, effective_judges
from urs_inspect.stats._bootstrap import Clusters, Floats


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


def panel_section(values: pd.DataFrame, labels: Floats | None, prompts: Clusters) -> Section:
    """How many votes a panel of judges is worth, and its best small part.

    `values` has one column per judge, the best first, and one row per item: 1 for a right and 0 for
    a wrong verdict, where `labels` is None, or a rating on the scale of the labels. Items with a
    NaN count for none; `prompts` are the prompt of each item.
    """
    title = "How many votes the judges are worth"
    panel = panel_of(values, labels, prompts)
    notes = []
    if values.shape[1] > MOST_JUDGES:
        notes.append(f"The best {MOST_JUDGES} of {values.shape[1]} judges.")
    if panel.constant:
        notes.append(
            "Left out, because all their errors are the same, or there are none:"
            f" {', '.join(panel.constant)}."
        )
    judges = len(panel.judges)
    number_of_prompts = len(set(panel.prompts))
    if judges < FEWEST_JUDGES or number_of_prompts < 2 * FEWEST_JUDGES:
        few = f"{counted(judges, 'judge')} and {counted(number_of_prompts, 'prompt')}"
        notes.append(f"Not computed: {few} that all have judged are too few.")
        return Section(title, notes, level=3)
    worth = effective_judges(panel.errors.to_numpy().T, panel.prompts)
    alone = {name: panel.error([name]) for name in panel.judges}
    without = {}
    for name in panel.judges:
        without[name] = panel.error([judge for judge in panel.judges if judge != name])
    together = panel.error(panel.judges)
    worst = max(alone, key=alone.__getitem__)
    words = _RATINGS
    if labels is None:
        words = _VERDICTS
    text = words.error_text
    notes += [
        (
            f"{judges} judges are worth {number(1)(worth.votes)} independent ones: their errors on"
            f" the {counted(len(panel.values), 'item')} that all have judged correlate by"
            f" {number(2)(worth.correlation)} on average."
        ),
        (
            "Independent errors are not small ones: a judge that guesses raises this number as"
            f" well. The error of the {words.rule} of all judges is {text(together)}"
            f" ({words.unit}), without {worst}, whose own error is the largest"
            f" ({text(alone[worst])}), it is {text(without[worst])}."
        ),
        *_about_twins(panel, words),
        f"An error is {words.error}; a wrong label is an error of all judges.",
        *_about_best(panel, words),
    ]
    columns = {
        "judge": panel.judges,
        "correlation with the others' errors": worth.correlations,
        "error alone": alone.values(),
        f"error of the {words.rule} without it": without.values(),
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


def _about_best(panel: Panel, words: _Words) -> list[str]:
    """The best small panel, and whether it is better than the best single judge."""
    best = best_panel(panel.values.to_numpy().T, panel.labels, panel.prompts)
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
