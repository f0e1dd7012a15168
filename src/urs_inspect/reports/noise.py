"""Where the noise of a ranking's means comes from, and how many votes a panel of judges is worth."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect._util import counted
from urs_inspect.reports.tables import DASH, Format, Section, Table, level_text, number, share
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST
from urs_inspect.stats.agreement import SPLITS, best_majority, best_mean, effective_judges
from urs_inspect.stats.bootstrap import Floats
from urs_inspect.stats.variance_components import (
    COMPONENTS,
    Judgements,
    VarianceComponents,
    difference_components,
    variance_components,
)

_AGAIN = "inspect score LOG --scorer urs_inspect/intent_judge --model-role grader=JUDGE --action append"
_NOT_MEASURED = {
    "answer": "Answering again is not measured and counts as a part of the questions: run with `--epochs 2`.",
    "judge": "What another judge would change is not measured: run with `--model-role 'grader=[JUDGE, OTHER]'`; logs "
    "of other judges are rankings of their own.",
    "judgement": f"Judging again is not measured and counts as a part of the others: run `{_AGAIN}`.",
}
_SOURCES = {
    "question": "Questions",
    "answering": "Answering again",
    "judges": "Judges differ",
    "judging": "Judging again",
}
_DESIGNS = {
    "margin": "Now",
    "twice_the_questions": "Twice the questions",
    "one_more_epoch": "One more epoch",
    "one_more_judge": "One more judge",
    "judged_once_more": "Judged once more",
    "any_judges": "Any judges, now",
    "any_judges_one_more": "Any judges, one more",
}
_WITH = {
    "twice_the_questions": "with twice the questions",
    "one_more_epoch": "with one more epoch",
    "one_more_judge": "with one more judge",
    "judged_once_more": "if each answer were judged once more",
}
_READING = (
    "Intervals are about these judges, as all others of this report. 'Any judges' takes them for a random sample of "
    "all judges, which adds how far judges differ on the whole; judges are few and seldom a random sample. One more "
    "judge assumes one that differs from these as they differ from each other; judged once more, that the mean of the "
    "judgements counts."
)


@dataclass(frozen=True)
class Noise:
    """Variance components of means and of their differences from the best one, and what cannot be split."""

    table: pd.DataFrame  # kind, first, second, design, components, shares, half-widths; empty without anything to split
    notes: tuple[str, ...]
    level: float


def noise_of(answers: pd.DataFrame, models: Sequence[str], level: float) -> Noise:
    """Split the variance of the means of models, the best one first, over answers to the questions that count."""
    scored = answers.dropna(subset=FINAL)
    scored = scored.assign(
        number=pd.factorize(scored["question"])[0],
        attempt=scored.groupby(["model", "question"]).cumcount(),
    )
    judges = list(dict.fromkeys(judge for finals in scored["judge_finals"] for judge in finals))
    again = any(map(len, scored["earlier_judge_finals"])) if "earlier_judge_finals" in scored else False
    if len(scored) < 2 or not (scored["attempt"].any() or len(judges) > 1 or again):
        what = "One answer to each question, judged once by one judge: what answering and judging add is a part of the "
        what += "noise between questions. `--epochs 2`, a panel of judges, or judging the log again would measure it."
        return Noise(pd.DataFrame(), (what,), level)
    parts = {str(name): _judgements(rows, judges) for name, rows in scored.groupby("model") if name in models}
    found = [("mean", name, "", variance_components(parts[name])) for name in models if name in parts]
    found += [
        ("difference", models[0], name, difference_components(parts[models[0]], parts[name]))
        for name in models[1:]
        if name in parts and models[0] in parts
    ]
    table = pd.DataFrame([_row(*row, level) for row in found])
    return Noise(table, (*_data_notes(scored, judges, models), *_notes(found)), level)


def _judgements(rows: pd.DataFrame, judges: Sequence[str]) -> Judgements:
    """The scores of a model by judge; an answer that no judge was asked about has its score from all of them."""
    codes = {judge: code for code, judge in enumerate(judges)}
    before = rows["earlier_judge_finals"] if "earlier_judge_finals" in rows else [()] * len(rows)
    found = []
    for question, attempt, final, last, earlier in zip(
        rows["number"], rows["attempt"], rows[FINAL], rows["judge_finals"], before, strict=True
    ):
        given = [(j, value) for finals in (last, *earlier) for j, value in finals.items() if value == value]
        found += [
            (question, attempt, codes[judge], value)
            for judge, value in (given or dict.fromkeys(judges, final).items())
            if judge in codes
        ]
    table = np.array(found, dtype=np.float64).T
    question, epoch, judge = table[:3].astype(np.int64)
    return Judgements(question, epoch, judge, table[3])


def _row(kind: str, first: str, second: str, found: VarianceComponents, level: float) -> dict[str, object]:
    parts = found.parts()
    variance = sum(parts[source] for source in _SOURCES if parts[source] == parts[source])
    margins = {
        "margin": found.margin(level),
        "twice_the_questions": found.margin(level, questions=2 * found.questions),
        "one_more_epoch": found.margin(level, epochs=found.epochs + 1) + 0 * found.answer,
        "one_more_judge": found.margin(level, judges=found.judges + 1) + 0 * found.judge,
        "judged_once_more": found.margin(level, judgements=2) + 0 * found.judgement,
        "any_judges": found.margin(level, any_judges=True),
        "any_judges_one_more": found.margin(level, any_judges=True, judges=found.judges + 1),
    }
    return {
        **{"kind": kind, "first": first, "second": second},
        **{name: getattr(found, name) for name in ("questions", "epochs", "judges")},
        **{f"variance_{name}": getattr(found, name) for name in COMPONENTS},
        **{f"share_{name}": parts[name] / variance if variance else math.nan for name in _SOURCES},
        **{name: value if value < HIGHEST - LOWEST else math.nan for name, value in margins.items()},
    }


def _notes(found: Sequence[tuple[str, str, str, VarianceComponents]]) -> list[str]:
    """What is not measured, and what the estimates lack."""
    notes = [note for name, note in _NOT_MEASURED.items() if all(math.isnan(getattr(one, name)) for *_, one in found)]
    negative = Counter(name for *_, one in found for name in one.negative)
    if negative:
        named = ", ".join(f"{name.replace('_', ' by ')} {count}" for name, count in negative.items())
        notes.append(f"Negative estimates of components count as 0: {named} (of {len(found)} rows).")
    without = sum(math.isnan(one.question) for *_, one in found)
    return notes + ([f"{without} of {len(found)} rows have too few questions for an estimate."] if without else [])


def _data_notes(scored: pd.DataFrame, judges: Sequence[str], models: Sequence[str]) -> list[str]:
    """Unequal epochs, judges that failed and judges that never differ, with counts."""
    notes = []
    answers = scored.groupby(["model", "question"]).size().unstack("model").reindex(columns=list(models))
    fewer = {str(name): int((values < values.max()).sum()) for name, values in answers.items()}
    if named := [f"{name} {count:,}" for name, count in fewer.items() if count]:
        notes.append(f"Questions with fewer scored answers than others of the same model: {', '.join(named)}.")
    if len(set(answers.max())) > 1:
        named = [f"{name} {int(count)}" for name, count in answers.max().items()]
        notes.append(f"Models have different numbers of epochs: {', '.join(named)}.")
    asked = [finals for finals in scored["judge_finals"] if any(value == value for value in finals.values())]
    for judge in judges:
        values = [finals.get(judge, math.nan) for finals in asked]
        known = {value for value in values if value == value}
        if failed := sum(value != value for value in values):
            notes.append(f"{judge} gave no score to {failed:,} of {counted(len(values), 'answer')}; the others count.")
        if len(judges) > 1 and len(known) == 1:
            notes.append(f"{judge} gave {known.pop():g} to every answer.")
    return notes


def noise_section(noise: Noise, short: Mapping[str, str], place: int, weighted: bool) -> Section:
    """The section of a ranking."""
    title = "Where noise comes from"
    if noise.table.empty:
        return Section(title, noise.notes, level=3)
    data = noise.table.assign(
        of=[
            short[first] if not second else f"{short[first]} less {short[second]}"
            for first, second in zip(noise.table["first"], noise.table["second"], strict=True)
        ]
    )
    data.insert(0, "block", place)
    named = {"of": "Mean or difference"}
    shares = {f"share_{name}": text for name, text in _SOURCES.items() if data[f"share_{name}"].notna().any()}
    designs = {name: text for name, text in _DESIGNS.items() if data[name].notna().any()}
    leads = [data[data["kind"] == kind].iloc[0] for kind in ("mean", "difference") if (data["kind"] == kind).any()]
    notes = [_sentence(row, designs) for row in leads if row["margin"] == row["margin"]]
    notes += [_READING] if "one_more_judge" in designs else []
    notes += ["Questions have equal weight here, not that of the mix."] if weighted else []
    formats: dict[str, Format] = {**dict.fromkeys(shares, share), **dict.fromkeys(designs, _margin)}
    columns = [str(column) for column in data if column != "of"]
    made = [
        Table(data, formats, headings=named | heads, shown=list(named | heads), title=text)
        for heads, text in (
            (designs, f"Half-width of the {level_text(noise.level)} interval, now and with more of one thing"),
            (shares, "Share of the variance of the mean or difference"),
        )
    ]
    return Section(title, [*notes, *noise.notes], [*made, Table(data[columns], name="noise", shown=())], level=3)


def _margin(value: float) -> str:
    return DASH if math.isnan(value) else f"± {value:.2f}"


def _sentence(row: "pd.Series[Any]", designs: Mapping[str, str]) -> str:
    known = sorted((row[name], name) for name in designs if name in _WITH and row[name] == row[name])
    buys = ", ".join(f"{_margin(value)} {_WITH[name]}" for value, name in known)
    what = "the mean of " if row["kind"] == "mean" else ""
    return f"The interval of {what}{row['of']} is {_margin(row['margin'])}; it would be {buys}."


FEWEST_JUDGES = 3
"""Fewest judges of the same items for which a panel is reported."""
_MOST_JUDGES = 12


def panel_section(names: Sequence[str], values: Floats, labels: Floats | None, prompts: Sequence[str]) -> Section:
    """How many votes a panel of judges is worth, and its best small part.

    Args:
        names: The judges, the best first.
        values: 1 for a right and 0 for a wrong verdict, or ratings on the scale of the labels; shape (judges, items).
        labels: Labels of ratings; None for verdicts.
        prompts: Prompt of each item.
    """
    notes, title = [], "How many votes the judges are worth"
    if len(names) > _MOST_JUDGES:
        notes.append(f"The best {_MOST_JUDGES} of {len(names)} judges.")
        names, values = names[:_MOST_JUDGES], values[:_MOST_JUDGES]
    errors = 1 - values if labels is None else _residuals(values, labels)
    varies = errors.std(axis=1) > 1e-9 if errors.size else np.ones(len(names), dtype=bool)
    if constant := [name for name, kept in zip(names, varies, strict=True) if not kept]:
        notes.append(f"Left out, because all their errors are the same, or there are none: {', '.join(constant)}.")
    names, values, errors = [name for name in names if name not in constant], values[varies], errors[varies]
    if len(names) < FEWEST_JUDGES or len(set(prompts)) < 2 * FEWEST_JUDGES:
        few = f"{counted(len(names), 'judge')} and {counted(len(set(prompts)), 'prompt')} that all have judged"
        return Section(title, [*notes, f"Not computed: {few} are too few."], level=3)
    found = effective_judges(errors, prompts)
    best = best_majority(values, prompts) if labels is None else best_mean(values, labels, prompts)
    show = number(3) if labels is not None else number(1, percent=True)
    votes, correlation = found.votes.reported((1.0, float(len(names)))), found.correlation.reported((-1.0, 1.0))
    what, rule = ("accuracy", "majority") if labels is None else ("Pearson's r", "mean")
    error = (
        "a verdict that differs from the label or could not be parsed"
        if labels is None
        else "a rating's distance from its judge's line on the label"
    )
    notes += [
        f"{len(names)} judges are worth {number(1)(votes)} independent ones: their errors on the "
        f"{counted(values.shape[1], 'item')} that all have judged correlate by {number(2)(correlation)} on average.",
        f"An error is {error}; a wrong label is an error of all judges.",
        f"Best {rule} of {len(best.panel)}: {', '.join(names[judge] for judge in best.panel)}, chosen by "
        f"{share(best.chosen)} of the halves.",
        f"Chosen on one half of the prompts and measured on the other, panels have {what} {show(best.held_out)} (on "
        f"the half that chose them {show(best.apparent)}) and single judges {show(best.single)}; the difference is "
        f"{show(best.gain.low)} to {show(best.gain.high)} in 95% of {SPLITS} splits.",
    ]
    rows = pd.DataFrame({"judge": names, "correlation with the others' errors": found.correlations})
    return Section(title, notes, [Table(rows, {"correlation with the others' errors": number(2)})], level=3)


def _residuals(ratings: Floats, labels: Floats) -> Floats:
    """What ratings have beyond a straight line on the label: another spread of a judge's scale is no shared error."""
    centred, from_mean = labels - labels.mean(), ratings - ratings.mean(axis=1, keepdims=True)
    squares = float(centred @ centred)
    slopes = from_mean @ centred / squares if squares else np.zeros(len(ratings))
    return np.asarray(from_mean - slopes[:, None] * centred, dtype=np.float64)
