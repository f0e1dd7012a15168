"""Where the noise of a ranking's means comes from, and how many votes a panel of judges is
worth.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from urs_inspect._util import counted
from urs_inspect.reports._answers import JUDGE_AGAIN
from urs_inspect.reports._tables import DASH, Format, Section, Table, level_text, number, share
from urs_inspect.rubrics import FINAL
from urs_inspect.scorers._metrics import CLUSTER
from urs_inspect.stats._agreement import best_panel, effective_judges, panel_error
from urs_inspect.stats._bootstrap import Clusters, Floats
from urs_inspect.stats._variance_components import (
    COMPONENTS,
    VarianceComponents,
    difference_components,
    variance_components,
)

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
_SOURCES = {
    "question": ("Questions", ("question",)),
    "answering": ("Answering again", ("answer",)),
    "judges": ("Judges differ", ("question_judge", "answer_judge")),
    "judging": ("Judging again", ("judgement",)),
}
"""What noise comes from, its heading, and its components."""
_MORE = {
    "twice_the_questions": ("Twice the questions", "with twice the questions"),
    "one_more_epoch": ("One more epoch", "with one more epoch"),
    "one_more_judge": ("One more judge", "with one more judge"),
    "judged_once_more": ("Judged once more", "if each answer were judged once more"),
}
_READING = (
    "Intervals are about these judges, as all others of this report: how lenient they are on the"
    " whole is no noise. One more judge assumes one that differs from these as they differ from"
    " each other; judged once more, that the mean of the judgements counts."
)


@dataclass(frozen=True)
class Noise:
    """Variance components of means and of their differences from the best one, and what cannot be
    split.
    """

    # kind, first, second, design, components, shares, half-widths; empty without anything to split
    table: pd.DataFrame
    notes: tuple[str, ...]
    level: float


def noise_of(answers: pd.DataFrame, models: Sequence[str], level: float) -> Noise:
    """Split the variance of the means of models, the best one first, over answers to the questions
    that count.
    """
    scored = answers.dropna(subset=FINAL)
    judges = list(dict.fromkeys(judge for finals in scored["judge_finals"] for judge in finals))
    again = scored["earlier_judge_finals"].map(len).any()
    if not models or not (
        scored.duplicated(["model", "question"]).any() or len(judges) > 1 or again
    ):
        what = (
            "One answer to each question, judged once by one judge: what answering and judging add"
            " is a part of the noise between questions. `--epochs 2`, a panel of judges, or judging"
            " the log again would measure it."
        )
        return Noise(pd.DataFrame(), (what,), level)
    scores = {str(name): rows for name, rows in _judgements(scored, judges).groupby("model")}
    best = scores[models[0]]
    found = {("mean", name, ""): variance_components(scores[name]) for name in models}
    found |= {
        ("difference", models[0], name): difference_components(best, scores[name])
        for name in models[1:]
    }
    notes = [
        text
        for name, text in _NOT_MEASURED.items()
        if all(math.isnan(s.components[name]) for s in found.values())
    ]
    negative = Counter(
        name for split in found.values() for name in COMPONENTS if split.components[name] < 0
    )
    if negative:
        named = ", ".join(
            f"{name.replace('_', ' by ')} ({counted(count, 'row')})"
            for name, count in negative.items()
        )
        notes.append(
            f"Negative estimates of components count as 0: {named}, of"
            f" {counted(len(found), 'row')}."
        )
    if (scored[CLUSTER] != "").any():
        notes.append(_CLUSTERS)
    return Noise(
        pd.DataFrame([_row(*row, split, level) for row, split in found.items()]),
        tuple(notes),
        level,
    )


def _judgements(scored: pd.DataFrame, judges: Sequence[str]) -> pd.DataFrame:
    """Each judgement of each answer.

    An answer that no judge was asked about has its score from all of them.
    """
    question = pd.factorize(scored["question"])[0]
    columns = (scored[name] for name in ("model", FINAL, "judge_finals", "earlier_judge_finals"))
    rows = []
    for place, (model, final, last, earlier) in enumerate(zip(*columns, strict=True)):
        given = [
            (j, value)
            for finals in (last, *earlier)
            for j, value in finals.items()
            if value == value
        ]
        for judge, value in given or dict.fromkeys(judges, final).items():
            if judge in judges:  # a judge that only judged before is not one of the panel
                rows.append((model, question[place], place, judges.index(judge), value))
    return pd.DataFrame(rows, columns=["model", "question", "answer", "judge", "score"])


def _row(
    kind: str, first: str, second: str, split: VarianceComponents, level: float
) -> dict[str, object]:
    parts = split.parts()
    of = split.components
    variance = np.nansum(list(parts.values()))
    shares = {
        name: [parts[part] for part in of_source] for name, (_, of_source) in _SOURCES.items()
    }
    # Adding 0 times a component leaves out what needs a component that was not measured.
    return {
        "kind": kind,
        "first": first,
        "second": second,
        **{name: getattr(split, name) for name in ("questions", "epochs", "judges")},
        **{f"variance_{name}": value for name, value in of.items()},
        **{
            f"share_{name}": (
                np.nansum(of_source) / variance
                if variance and of_source[0] == of_source[0]
                else math.nan
            )
            for name, of_source in shares.items()
        },
        "margin": split.margin(level),
        "twice_the_questions": split.margin(level, questions=2 * split.questions),
        "one_more_epoch": _if_known(of["answer"], split.margin(level, epochs=split.epochs + 1)),
        "one_more_judge": _if_known(of["judge"], split.margin(level, judges=split.judges + 1)),
        "judged_once_more": _if_known(of["judgement"], split.margin(level, judgements=2)),
    }


def _if_known(variance: float, margin: float) -> float:
    """A margin, NaN where the variance that it would lessen is not known."""
    return math.nan if math.isnan(variance) else margin


_CLUSTERS = (
    "The split takes questions as independent: that those of one cluster, such as a user, are alike"
    " is no part of it. These half-widths may therefore be smaller than those of the intervals"
    " above."
)


def noise_section(noise: Noise, short: Mapping[str, str], place: int, weighted: bool) -> Section:
    """The section of a ranking."""
    title = "Where noise comes from"
    data = noise.table.copy()
    if data.empty:
        return Section(title, noise.notes, level=3)
    data.insert(0, "block", place)
    more = {name: heading for name, (heading, _) in _MORE.items() if data[name].notna().any()}
    shares = {f"share_{name}": heading for name, (heading, _) in _SOURCES.items()}
    shares = {name: heading for name, heading in shares.items() if data[name].notna().any()}
    notes = []
    for row in data[~data["kind"].duplicated() & data["margin"].notna()].to_dict("records"):
        what = (
            f"{short[row['first']]} less {short[row['second']]}"
            if row["second"]
            else f"the mean of {short[row['first']]}"
        )
        buys = ", ".join(
            f"{_margin(row[name])} {_MORE[name][1]}" for name in sorted(more, key=row.__getitem__)
        )
        notes.append(f"The interval of {what} is {_margin(row['margin'])}; it would be {buys}.")
    notes += [_READING] if "one_more_judge" in more else []
    notes += ["Questions have equal weight here, not that of the mix."] if weighted else []
    headings = (
        {
            "first": "Model",
            "second": "Less",
            "margin": "Now",
        }
        | more
        | shares
    )
    formats: dict[str, Format] = {
        **dict.fromkeys(("margin", *more), _margin),
        **dict.fromkeys(shares, share),
    }
    text = (
        f"Half-width of the {level_text(noise.level)} interval, now and with more; shares of the"
        " variance"
    )
    table = Table(data, formats, "noise", headings, list(headings), title=text)
    return Section(title, [*notes, *noise.notes], [table], level=3)


def _margin(value: float) -> str:
    return DASH if math.isnan(value) else f"± {value:.2f}"


FEWEST_JUDGES = 3
"""Fewest judges of the same items for which a panel is reported."""
_MOST_JUDGES = 12


def panel_section(values: pd.DataFrame, labels: Floats | None, prompts: Clusters) -> Section:
    """How many votes a panel of judges is worth, and its best small part.

    `values` has one column per judge, the best first, and one row per item: 1 for a right and 0 for
    a wrong verdict, where `labels` is None, or a rating on the scale of the labels. Items with a
    NaN count for none; `prompts` are the prompt of each item.
    """
    title = "How many votes the judges are worth"
    known = values.notna().all(axis=1).to_numpy()
    notes = (
        [f"The best {_MOST_JUDGES} of {values.shape[1]} judges."]
        if values.shape[1] > _MOST_JUDGES
        else []
    )
    values = values[known].iloc[:, :_MOST_JUDGES]
    prompts = [p for p, kept in zip(prompts, known, strict=True) if kept]
    # What ratings have beyond a straight line on the label: another spread of a judge's scale is no
    # shared error.
    line = (
        np.ones((len(values), 1))
        if labels is None
        else np.column_stack([np.ones(len(values)), labels[known]])
    )
    errors = values - line @ np.linalg.lstsq(line, values.to_numpy())[0]
    constant = [str(name) for name in values if len(errors) and np.allclose(errors[name], 0)]
    if constant:
        notes.append(
            "Left out, because all their errors are the same, or there are none:"
            f" {', '.join(constant)}."
        )
    values = values.drop(columns=constant)
    errors = errors.drop(columns=constant)
    judges = list(map(str, values))
    of = len(set(prompts))
    if len(judges) < FEWEST_JUDGES or of < 2 * FEWEST_JUDGES:
        few = f"{counted(len(judges), 'judge')} and {counted(of, 'prompt')} that all have judged"
        return Section(title, [*notes, f"Not computed: {few} are too few."], level=3)
    worth = effective_judges(errors.to_numpy().T, prompts)
    best = best_panel(values.to_numpy().T, None if labels is None else labels[known], prompts)
    show = number(1, percent=True) if labels is None else number(3)
    what, rule, error = (
        ("accuracy", "majority", "a verdict that differs from the label or could not be parsed")
        if labels is None
        else ("Pearson's r", "mean", "a rating's distance from its judge's line on the label")
    )
    errors_of = _panel_errors(values, None if labels is None else labels[known])
    gains = [
        100 * gain if labels is None else gain for gain in (best.held_out - best.single, *best.gain)
    ]
    gain, low, high = map(number(1, sign=True) if labels is None else number(3, sign=True), gains)
    same = [two for two in combinations(values, 2) if (values[two[0]] == values[two[1]]).all()]
    alike = (
        "right and wrong on the same items" if labels is None else "the same ratings of all items"
    )
    twins = "; ".join(f"{first} and {second}" for first, second in same)
    members = {judges[judge] for judge in best.panel}
    within = "; ".join(
        f"{first} and {second}" for first, second in same if {str(first), str(second)} <= members
    )
    never = f" (of which {within} never differ)" if within else ""
    points = " points" if labels is None else ""
    notes += [
        (
            f"{len(judges)} judges are worth {number(1)(worth.votes)} independent ones: their"
            f" errors on the {counted(len(values), 'item')} that all have judged correlate by"
            f" {number(2)(worth.correlation)} on average."
        ),
        _error_of_all(errors_of, judges, rule, labels is None),
    ]
    if same:
        notes.append(
            f"Judges that never differ ({alike}): {twins}. Both in a panel are one judge with two"
            " votes."
        )
    notes += [
        f"An error is {error}; a wrong label is an error of all judges.",
        (
            f"Best {rule} of {len(best.panel)}:"
            f" {', '.join(judges[judge] for judge in best.panel)}{never}, chosen by"
            f" {share(best.chosen)} of the halves."
        ),
        (
            "Chosen on one half of the prompts and measured on the other, the best panel has"
            f" {what} {show(best.held_out)} (on the half that chose it {show(best.apparent)}), and"
            f" the best single judge, chosen and measured in the same way, {show(best.single)}; the"
            f" difference is {gain}{points} on average and {low} to {high} in 95% of splits."
        ),
    ]
    heading = "correlation with the others' errors"
    alone = "error alone"
    without = f"error of the {rule} without it"
    columns = {
        "judge": judges,
        heading: worth.correlations,
        alone: errors_of.alone,
        without: errors_of.without,
    }
    shown = number(1, percent=True) if labels is None else number(2)
    return Section(
        title,
        notes,
        [
            Table(
                pd.DataFrame(columns),
                {
                    alone: shown,
                    without: shown,
                    heading: number(2),
                },
            )
        ],
        3,
    )


class _PanelErrors(NamedTuple):
    """Errors of the panel of all judges, of each judge alone, and of the panel without it."""

    all: float
    alone: list[float]
    without: list[float]


def _panel_errors(values: pd.DataFrame, labels: Floats | None) -> _PanelErrors:
    judges = values.to_numpy().T
    places = range(len(judges))
    return _PanelErrors(
        panel_error(judges, labels),
        [panel_error(judges[[place]], labels) for place in places],
        [panel_error(np.delete(judges, place, axis=0), labels) for place in places],
    )


def _error_of_all(found: _PanelErrors, judges: Sequence[str], rule: str, verdicts: bool) -> str:
    """The error of the panel, with and without the worst judge: what independence alone does not
    show.
    """
    shown = number(1, percent=True) if verdicts else number(2)
    unit = (
        "of the items"
        if verdicts
        else "points, the standard deviation of the labels from their line on it"
    )
    worst = int(np.argmax(found.alone))
    return (
        "Independent errors are not small ones: a judge that guesses raises this number as well."
        f" The error of the {rule} of all judges is {shown(found.all)} ({unit}), without"
        f" {judges[worst]}, whose own error is the largest ({shown(found.alone[worst])}), it is"
        f" {shown(found.without[worst])}."
    )
