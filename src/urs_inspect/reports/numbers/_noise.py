"""Where the noise of a ranking's means comes from, and what a panel of judges is worth."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from urs_inspect.rubrics import FINAL
from urs_inspect.scorers._metrics import CLUSTER
from urs_inspect.stats._agreement import panel_error
from urs_inspect.stats._bootstrap import Clusters, Floats
from urs_inspect.stats._variance_components import (
    VarianceComponents,
    difference_components,
    variance_components,
)

SOURCES = {
    "question": ("Questions", ("question",)),
    "answering": ("Answering again", ("answer",)),
    "judges": ("Judges differ", ("question_judge", "answer_judge")),
    "judging": ("Judging again", ("judgement",)),
}
"""What noise comes from, its heading, and its components."""


@dataclass(frozen=True)
class Noise:
    """Variance components of means and of their differences from the best one."""

    # kind, first, second, design, components (`variance_` and one of `COMPONENTS`), shares,
    # half-widths; empty without anything to split
    table: pd.DataFrame
    clustered: bool  # whether questions belong to clusters, which the split does not know
    level: float


def noise_of(answers: pd.DataFrame, models: Sequence[str], level: float) -> Noise:
    """Split the variance of the means of models, the best one first.

    The answers are those to the questions that count.
    """
    scored = answers.dropna(subset=FINAL)
    judges = list(dict.fromkeys(chain.from_iterable(scored["judge_finals"])))
    answered_again = scored.duplicated(["model", "question"]).any()
    judged_again = scored["earlier_judge_finals"].map(len).any()
    is_repeated = answered_again or judged_again or len(judges) > 1
    clustered = bool((scored[CLUSTER] != "").any())
    if not models or not is_repeated:
        return Noise(pd.DataFrame(), clustered, level)
    judgements = _judgements(scored, judges)
    scores = {str(name): rows for name, rows in judgements.groupby("model")}
    best, *others = models
    splits = {("mean", name, ""): variance_components(scores[name]) for name in models}
    for name in others:
        split = difference_components(scores[best], scores[name])
        splits["difference", best, name] = split
    rows = [_row(*row, split, level) for row, split in splits.items()]
    return Noise(pd.DataFrame(rows), clustered, level)


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
        if not given:
            given = [(judge, final) for judge in judges]
        for judge, score in given:
            if judge in judges:  # a judge that only judged before is not one of the panel
                rows.append((model, question[place], place, judges.index(judge), score))
    return pd.DataFrame(rows, columns=["model", "question", "answer", "judge", "score"])


def _row(
    kind: str, first: str, second: str, split: VarianceComponents, level: float
) -> dict[str, object]:
    parts = pd.Series(split.parts())
    whole = parts.sum()
    components = split.components
    shares = {}
    for source, (_, names) in SOURCES.items():
        share = math.nan
        if whole > 0 and not math.isnan(parts[names[0]]):
            share = parts[list(names)].sum() / whole
        shares[f"share_{source}"] = share
    one_more_epoch = split.margin(level, epochs=split.epochs + 1)
    one_more_judge = split.margin(level, judges=split.judges + 1)
    judged_once_more = split.margin(level, judgements=2)
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
        "one_more_epoch": _if_known(components["answer"], one_more_epoch),
        "one_more_judge": _if_known(components["judge"], one_more_judge),
        "judged_once_more": _if_known(components["judgement"], judged_once_more),
    }


def _if_known(variance: float, margin: float) -> float:
    """A margin, NaN where the variance that it would lessen is not known."""
    if math.isnan(variance):
        return math.nan
    return margin


# --- panels of judges ---

FEWEST_JUDGES = 3
"""Fewest judges of the same items for which a panel is reported."""
MOST_JUDGES = 12


@dataclass(frozen=True)
class Panel:
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


def panel_of(values: pd.DataFrame, labels: Floats | None, prompts: Clusters) -> Panel:
    known = values.notna().all(axis=1).to_numpy()
    values = values[known].iloc[:, :MOST_JUDGES]
    values = values.rename(columns=str)
    prompts = [prompt for prompt, kept in zip(prompts, known, strict=True) if kept]
    # What ratings have beyond a straight line on the label: another spread of a judge's scale is no
    # shared error.
    line = np.ones((len(values), 1))
    if labels is not None:
        labels = labels[known]
        line = np.column_stack([line, labels])
    coefficients = np.linalg.lstsq(line, values.to_numpy())[0]
    errors = values - line @ coefficients
    constant = [str(name) for name in values if len(errors) and np.allclose(errors[name], 0)]
    values = values.drop(columns=constant)
    errors = errors.drop(columns=constant)
    return Panel(values, errors, labels, prompts, constant)


class PanelErrors(NamedTuple):
    """Errors of the panel of all judges, of each judge alone, and of the panel without it."""

    all: float
    alone: dict[str, float]
    without: dict[str, float]


def panel_errors(panel: Panel) -> PanelErrors:
    values = panel.values

    def error(judges: pd.DataFrame) -> float:
        return panel_error(judges.to_numpy().T, panel.labels)

    alone = {}
    without = {}
    for name in panel.judges:
        alone[name] = error(values[[name]])
        without[name] = error(values.drop(columns=name))
    return PanelErrors(error(values), alone, without)
