"""Where the noise of a ranking's means comes from, and what a panel of judges is worth."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from urs_inspect._util import counted
from urs_inspect.reports.layout._tables import (
    DASH,
    Format,
    Section,
    Table,
    level_text,
    number,
    share,
)
from urs_inspect.reports.numbers._answers import JUDGE_AGAIN
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


@dataclass(frozen=True)
class Noise:
    """Variance components of means and of their differences from the best one."""

    # kind, first, second, design, components, shares, half-widths; empty without anything to split
    table: pd.DataFrame
    notes: tuple[str, ...]  # what cannot be split, and what a reader must know of the rest
    level: float


def noise_of(answers: pd.DataFrame, models: Sequence[str], level: float) -> Noise:
    """Split the variance of the means of models, the best one first.

    The answers are those to the questions that count.
    """
    scored = answers.dropna(subset=FINAL)
    judges = list(dict.fromkeys(chain.from_iterable(scored["judge_finals"])))
    answered_again = scored.duplicated(["model", "question"]).any()
    judged_again = scored["earlier_judge_finals"].map(len).any()
    if not models or not (answered_again or judged_again or len(judges) > 1):
        return Noise(pd.DataFrame(), (_NOTHING,), level)
    judgements = _judgements(scored, judges)
    scores = {str(name): rows for name, rows in judgements.groupby("model")}
    best, *others = models
    splits = {("mean", name, ""): variance_components(scores[name]) for name in models}
    for name in others:
        split = difference_components(scores[best], scores[name])
        splits["difference", best, name] = split
    notes = _about_splits([split.components for split in splits.values()])
    if (scored[CLUSTER] != "").any():
        notes.append(_CLUSTERS)
    rows = [_row(*row, split, level) for row, split in splits.items()]
    return Noise(pd.DataFrame(rows), tuple(notes), level)


def _judgements(scored: pd.DataFrame, judges: Sequence[str]) -> pd.DataFrame:
    """Each judgement of each answer.

    An answer that no judge was asked about has its score from all of them.
    """
    question = pd.factorize(scored["question"])[0]
    columns = (scored[name] for name in ("model", FINAL, "judge_finals", "earlier_judge_finals"))
    rows = []
    for place, (model, final, last, earlier) in enumerate(zip(*columns, strict=True)):
        given: list[tuple[str, float]] = []
        for finals in (last, *earlier):
            given += [(judge, score) for judge, score in finals.items() if not math.isnan(score)]
        for judge, score in given or dict.fromkeys(judges, final).items():
            if judge in judges:  # a judge that only judged before is not one of the panel
                rows.append((model, question[place], place, judges.index(judge), score))
    return pd.DataFrame(rows, columns=["model", "question", "answer", "judge", "score"])


def _row(
    kind: str, first: str, second: str, split: VarianceComponents, level: float
) -> dict[str, object]:
    parts = pd.Series(split.parts())
    components = split.components
    shares = {}
    for source, (_, names) in _SOURCES.items():
        known = parts.sum() > 0 and not math.isnan(parts[names[0]])
        shares[f"share_{source}"] = parts[list(names)].sum() / parts.sum() if known else math.nan
    return {
        "kind": kind,
        "first": first,
        "second": second,
        "questions": split.questions,
        "epochs": split.epochs,
        "judges": split.judges,
        **{f"variance_{name}": value for name, value in components.items()},
        **shares,
        "margin": split.margin(level),
        "twice_the_questions": split.margin(level, questions=2 * split.questions),
        "one_more_epoch": _if_known(
            components["answer"], split.margin(level, epochs=split.epochs + 1)
        ),
        "one_more_judge": _if_known(
            components["judge"], split.margin(level, judges=split.judges + 1)
        ),
        "judged_once_more": _if_known(components["judgement"], split.margin(level, judgements=2)),
    }


def _if_known(variance: float, margin: float) -> float:
    """A margin, NaN where the variance that it would lessen is not known."""
    return math.nan if math.isnan(variance) else margin


def _about_splits(splits: Sequence[Mapping[str, float]]) -> list[str]:
    """What the data do not measure, and which estimates are negative, by components of each row."""
    notes = [
        note
        for name, note in _NOT_MEASURED.items()
        if all(math.isnan(components[name]) for components in splits)
    ]
    negative: Counter[str] = Counter()
    for components in splits:
        negative.update(name for name in COMPONENTS if components[name] < 0)
    named = [
        f"{name.replace('_', ' by ')} ({counted(rows, 'row')})" for name, rows in negative.items()
    ]
    if named:
        notes.append(
            f"Negative estimates of components count as 0: {', '.join(named)}, of"
            f" {counted(len(splits), 'row')}."
        )
    return notes


def noise_section(noise: Noise, short: Mapping[str, str], place: int, weighted: bool) -> Section:
    """The section of a ranking."""
    title = "Where noise comes from"
    data = noise.table.copy()
    if data.empty:
        return Section(title, noise.notes, level=3)
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
    for source, (heading, _) in _SOURCES.items():
        column = f"share_{source}"
        if data[column].notna().any():
            headings[column] = heading
            formats[column] = share
    text = (
        f"Half-width of the {level_text(noise.level)} interval, now and with more; shares of the"
        " variance"
    )
    table = Table(data, formats, "noise", headings, list(headings), title=text)
    return Section(title, [*notes, *noise.notes], [table], level=3)


def _about_interval(row: "pd.Series[Any]", more: Sequence[str], short: Mapping[str, str]) -> str:
    """How wide the interval of a mean or a difference is, and would be with more data."""
    mean = f"the mean of {short[row['first']]}"
    if row["second"]:
        mean = f"{short[row['first']]} less {short[row['second']]}"
    would_be = [
        f"{_margin(row[name])} {_MORE[name][1]}" for name in sorted(more, key=row.__getitem__)
    ]
    return f"The interval of {mean} is {_margin(row['margin'])}; it would be {', '.join(would_be)}."


def _margin(value: float) -> str:
    return DASH if math.isnan(value) else f"± {value:.2f}"


# --- panels of judges ---

FEWEST_JUDGES = 3
"""Fewest judges of the same items for which a panel is reported."""
_MOST_JUDGES = 12


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


@dataclass(frozen=True)
class _Panel:
    """Judges of the same items, and their errors on the items that all have judged."""

    values: pd.DataFrame  # of the judges whose errors vary, one column each
    errors: pd.DataFrame
    labels: Floats | None
    prompts: Clusters
    constant: Sequence[str]  # judges whose errors do not vary

    @property
    def judges(self) -> list[str]:
        """Their names."""
        return list(map(str, self.values))

    @property
    def same(self) -> list[tuple[str, str]]:
        """Every two judges that never differ."""
        values = self.values
        pairs = combinations(self.judges, 2)
        return [pair for pair in pairs if (values[pair[0]] == values[pair[1]]).all()]


def panel_section(values: pd.DataFrame, labels: Floats | None, prompts: Clusters) -> Section:
    """How many votes a panel of judges is worth, and its best small part.

    `values` has one column per judge, the best first, and one row per item: 1 for a right and 0 for
    a wrong verdict, where `labels` is None, or a rating on the scale of the labels. Items with a
    NaN count for none; `prompts` are the prompt of each item.
    """
    title = "How many votes the judges are worth"
    panel = _panel_of(values, labels, prompts)
    notes = []
    if values.shape[1] > _MOST_JUDGES:
        notes.append(f"The best {_MOST_JUDGES} of {values.shape[1]} judges.")
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
    errors = _panel_errors(panel)
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


def _panel_of(values: pd.DataFrame, labels: Floats | None, prompts: Clusters) -> _Panel:
    known = values.notna().all(axis=1).to_numpy()
    values = values[known].iloc[:, :_MOST_JUDGES].rename(columns=str)
    prompts = [prompt for prompt, kept in zip(prompts, known, strict=True) if kept]
    # What ratings have beyond a straight line on the label: another spread of a judge's scale is no
    # shared error.
    line = np.ones((len(values), 1))
    if labels is not None:
        labels = labels[known]
        line = np.column_stack([line, labels])
    errors = values - line @ np.linalg.lstsq(line, values.to_numpy())[0]
    constant = [str(name) for name in values if len(errors) and np.allclose(errors[name], 0)]
    return _Panel(
        values.drop(columns=constant), errors.drop(columns=constant), labels, prompts, constant
    )


class _PanelErrors(NamedTuple):
    """Errors of the panel of all judges, of each judge alone, and of the panel without it."""

    all: float
    alone: dict[str, float]
    without: dict[str, float]


def _panel_errors(panel: _Panel) -> _PanelErrors:
    values = panel.values

    def error(judges: pd.DataFrame) -> float:
        return panel_error(judges.to_numpy().T, panel.labels)

    return _PanelErrors(
        error(values),
        {name: error(values[[name]]) for name in panel.judges},
        {name: error(values.drop(columns=name)) for name in panel.judges},
    )


def _about_error(errors: _PanelErrors, words: _Words) -> str:
    """The error of the panel, with and without the worst judge: what independence does not show."""
    text = words.error_text
    worst = max(errors.alone, key=errors.alone.__getitem__)
    return (
        "Independent errors are not small ones: a judge that guesses raises this number as well."
        f" The error of the {words.rule} of all judges is {text(errors.all)} ({words.unit}),"
        f" without {worst}, whose own error is the largest ({text(errors.alone[worst])}), it is"
        f" {text(errors.without[worst])}."
    )


def _about_twins(panel: _Panel, words: _Words) -> list[str]:
    if not panel.same:
        return []
    return [
        f"Judges that never differ ({words.alike}): {_pairs_text(panel.same)}. Both in a panel are"
        " one judge with two votes."
    ]


def _pairs_text(pairs: Iterable[tuple[str, str]]) -> str:
    return "; ".join(map(" and ".join, pairs))


def _about_best(panel: _Panel, words: _Words) -> list[str]:
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
