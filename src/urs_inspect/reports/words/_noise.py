"""Words on where the noise of a ranking's means comes from, and what a panel of judges is worth."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.reports._texts import DASH, Format, level_text, listed, number, share
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.reports.numbers._answers import JUDGE_AGAIN
from urs_inspect.reports.numbers._noise import (
    FEWEST_JUDGES,
    MOST_JUDGES,
    SOURCES,
    Noise,
    Panel,
    PanelErrors,
    panel_errors,
    panel_of,
)
from urs_inspect.stats._agreement import best_panel, effective_judges
from urs_inspect.stats._bootstrap import Clusters, Floats
from urs_inspect.stats._variance_components import COMPONENTS

_MORE = {
    "twice_the_questions": ("Twice the questions", "with twice the questions"),
    "one_more_epoch": ("One more epoch", "with one more epoch"),
    "one_more_judge": ("One more judge", "with one more judge"),
    "judged_once_more": ("Judged once more", "if each answer were judged once more"),
}
_UNMEASURED = {
    "twice_the_questions": "more questions",
    "one_more_epoch": "another epoch",
    "one_more_judge": "another judge",
    "judged_once_more": "judging again",
}
"""What more data are, where their effect is not known."""
_NOT_MEASURED = {
    "answer": (
        "Answering again is not measured and counts as a part of the questions: run with"
        " `--epochs 2`."
    ),
    "judge": (
        "What another judge would change is not measured: run with `--model-role 'grader=[JUDGE,"
        " OTHER]'`; logs of other judges are rankings of their own."
    ),
    "judgement": (
        f"Judging again is not measured and counts as a part of the others: run `{JUDGE_AGAIN}`."
    ),
}
"""Component -> what to do where the data do not measure it."""
_NOTHING = (
    "One answer to each question, judged once by one judge: what answering and judging add is a"
    " part of the noise between questions. `--epochs 2`, a panel of judges, or judging the log"
    " again would measure it."
)
_CLUSTERS = (
    "The split takes questions as independent: that those of one cluster, such as a user, are alike"
    " is no part of it. These half-widths may therefore be smaller than those of the intervals"
    " above."
)
_READING = (
    "Intervals are about these judges, as all others of this report: how lenient they are on the"
    " whole is no noise. One more judge assumes one that differs from these as they differ from"
    " each other; judged once more, that the mean of the judgements counts."
)


def noise_section(noise: Noise, short: Mapping[str, str], place: int, weighted: bool) -> Section:
    """The section of a ranking."""
    title = "Where noise comes from"
    data = noise.table.copy()
    if data.empty:
        return Section(title, [_NOTHING], level=3)
    data.insert(0, "block", place)
    more = {name: heading for name, (heading, _) in _MORE.items() if data[name].notna().any()}
    notes = []
    first_rows = data[~data["kind"].duplicated() & data["margin"].notna()]
    for _, row in first_rows.iterrows():
        notes.append(_about_interval(row, list(more), short))
    if "one_more_judge" in more:
        notes.append(_READING)
    if weighted:
        notes.append("Questions have equal weight here, not that of the mix.")
    headings = {"first": "Model", "second": "Less", "margin": "Now", **more}
    formats: dict[str, Format] = dict.fromkeys(("margin", *more), _margin)
    for source, (heading, _) in SOURCES.items():
        column = f"share_{source}"
        if data[column].notna().any():
            headings[column] = heading
            formats[column] = share
    text = (
        f"Half-width of the {level_text(noise.level)} interval, now and with more; shares of the"
        " variance"
    )
    table = Table(data, formats, "noise", headings, list(headings), title=text)
    return Section(title, [*notes, *_about_split(noise)], [table], level=3)


def _about_split(noise: Noise) -> list[str]:
    """What the data do not measure, which estimates are negative, and what the split leaves out."""
    variances = noise.table[[f"variance_{name}" for name in COMPONENTS]].set_axis(
        list(COMPONENTS), axis=1
    )
    notes = [note for name, note in _NOT_MEASURED.items() if variances[name].isna().all()]
    negative: Counter[str] = Counter()
    for row in variances.to_dict("records"):
        negative.update(str(name) for name, variance in row.items() if variance < 0)
    named = []
    for name, rows in negative.items():
        named.append(f"{name.replace('_', ' by ')} ({counted(rows, 'row')})")
    if named:
        notes.append(
            f"Negative estimates of components count as 0: {', '.join(named)}, of"
            f" {counted(len(variances), 'row')}."
        )
    if noise.clustered:
        notes.append(_CLUSTERS)
    return notes


def _about_interval(row: "pd.Series[Any]", more: Sequence[str], short: Mapping[str, str]) -> str:
    """How wide the interval of a mean or a difference is, and would be with more data."""
    mean = f"the mean of {short[row['first']]}"
    if row["second"]:
        mean = f"{short[row['first']]} less {short[row['second']]}"
    known = [name for name in more if not math.isnan(row[name])]
    would_be = [
        f"{_margin(row[name])} {_MORE[name][1]}" for name in sorted(known, key=row.__getitem__)
    ]
    parts = [f"The interval of {mean} is {_margin(row['margin'])}"]
    if would_be:
        parts.append(f"it would be {', '.join(would_be)}")
    unknown = [_UNMEASURED[name] for name in more if name not in known]
    if unknown:
        parts.append(f"the effect of {listed(unknown)} was not measured")
    return f"{'; '.join(parts)}."


def _margin(value: float) -> str:
    return DASH if math.isnan(value) else f"± {value:.2f}"


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
    errors = panel_errors(panel)
    words = _VERDICTS if labels is None else _RATINGS
    notes += [
        (
            f"{judges} judges are worth {number(1)(worth.votes)} independent ones: their errors on"
            f" the {counted(len(panel.values), 'item')} that all have judged correlate by"
            f" {number(2)(worth.correlation)} on average."
        ),
        _about_error(errors, words),
        *_about_twins(panel, words),
        f"An error is {words.error}; a wrong label is an error of all judges.",
        *_about_best(panel, words),
    ]
    correlation = "correlation with the others' errors"
    without = f"error of the {words.rule} without it"
    columns = {
        "judge": panel.judges,
        correlation: worth.correlations,
        "error alone": errors.alone.values(),
        without: errors.without.values(),
    }
    formats = {
        "error alone": words.error_text,
        without: words.error_text,
        correlation: number(2),
    }
    return Section(title, notes, [Table(pd.DataFrame(columns), formats)], 3)


def _about_error(errors: PanelErrors, words: _Words) -> str:
    """The error of the panel, with and without the worst judge: what independence does not show."""
    text = words.error_text
    worst = max(errors.alone, key=errors.alone.__getitem__)
    return (
        "Independent errors are not small ones: a judge that guesses raises this number as well."
        f" The error of the {words.rule} of all judges is {text(errors.all)} ({words.unit}),"
        f" without {worst}, whose own error is the largest ({text(errors.alone[worst])}), it is"
        f" {text(errors.without[worst])}."
    )


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
    never = f" (of which {_pairs_text(twins)} never differ)" if twins else ""
    points = " points" if panel.labels is None else ""
    gain, low, high = map(words.gain_text, (best.held_out - best.single, *best.gain))
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
