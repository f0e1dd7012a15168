"""Answers of a block -> one row a question and one column a model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from urs_inspect.rating.bootstrap import Floats, Integers
from urs_inspect.reports.intent.answer_rows import CRITERION
from urs_inspect.rubrics import FINAL, Rubric

ALL = "all"


@dataclass(frozen=True)
class QuestionTable:
    """Scores of models on the same questions. Epochs of a question are averaged first, since they belong together.

    Attributes:
        facts: One row a question, its id as index, with the columns intent, group, language and country.
        models: Names of the models.
        finals: Final scores, NaN where a model has none, shape (questions, models). Where some epochs have no score, it
            is the mean of the others.
        criteria: Criterion -> scores, of the same shape.
        asked: Number of answers, with or without a score, of the same shape.
        unscored: Number of answers without a score, of the same shape.
    """

    facts: pd.DataFrame
    models: tuple[str, ...]
    finals: Floats
    criteria: dict[str, Floats]
    asked: Integers
    unscored: Integers

    def filled(self, score: float) -> Floats:
        """Final scores in which each answer without a score has this one; NaN where a model was not asked."""
        known = (self.asked - self.unscored) * np.nan_to_num(self.finals)
        total = known + self.unscored * score
        return np.asarray(np.divide(total, self.asked, out=np.full(total.shape, np.nan), where=self.asked > 0))

    def of(self, chosen: Integers, models: Sequence[int]) -> "QuestionTable":
        """Some questions and models of it, by their numbers and in their order."""
        return QuestionTable(
            self.facts.iloc[chosen],
            tuple(self.models[number] for number in models),
            self.finals[chosen][:, list(models)],
            {name: values[chosen][:, list(models)] for name, values in self.criteria.items()},
            self.asked[chosen][:, list(models)],
            self.unscored[chosen][:, list(models)],
        )


def question_table(answers: pd.DataFrame, models: Sequence[str]) -> QuestionTable:
    """Average epochs, and lay models side by side.

    Args:
        answers: Rows of the table of answers.
        models: Names of the models.

    Returns:
        The table, questions in the order of their ids, so that the order of logs does not change any interval.
    """
    facts = answers.groupby("question", sort=True)[["intent", "group", "language", "country"]].first()
    criteria = [name for name in answers.columns if str(name).startswith(CRITERION)]
    cells = answers.groupby(["question", "model"], sort=True)
    means, asked, known = cells[[FINAL, *criteria]].mean(), cells.size(), cells[FINAL].count()

    def values(column: "pd.Series[float]") -> Floats:
        wide = column.unstack("model")
        return wide.reindex(index=facts.index, columns=list(models)).to_numpy(dtype=np.float64)

    def counts(column: "pd.Series[int]") -> Integers:
        return np.nan_to_num(values(column.astype(float))).astype(np.int64)

    scored = {name: values(means[name]) for name in criteria}
    return QuestionTable(
        facts,
        tuple(models),
        values(means[FINAL]),
        {name.removeprefix(CRITERION): given for name, given in scored.items() if not np.isnan(given).all()},
        counts(asked),
        counts(asked - known),
    )


@dataclass(frozen=True)
class Columns:
    """The columns of a block: what they are called, and which questions each is about.

    Attributes:
        groups: Ids of reported intents, in the order of the rubric.
        parts: Reported intent and intent, where several share a reported one, as `<group>: <intent>`.
        languages: Codes of languages, in the order of the rubric.
        cells: Reported intent and language, where there are such questions.
        countries: Names of countries, the most frequent first; the rest together as the last.
        questions: Key of a column -> numbers of its questions; keys are `all`, a group, part or language,
            `<group>/<language>`, and the name of a country.
    """

    groups: tuple[str, ...]
    parts: tuple[str, ...]
    languages: tuple[str, ...]
    cells: tuple[tuple[str, str], ...]
    countries: tuple[str, ...]
    questions: dict[str, Integers]


def columns_of(facts: pd.DataFrame, rubric: Rubric, countries: int | None = None) -> Columns:
    """Find the columns of some questions.

    Args:
        facts: As in `QuestionTable`.
        rubric: Says in which order intents and languages stand; those that it does not know come last.
        countries: Most countries with a column of their own; None for all.
    """
    groups = _ordered(facts["group"], [intent.group for intent in rubric.intents.values()])
    languages = _ordered(facts["language"], rubric.languages)
    intents = _ordered(facts["intent"], rubric.intents)
    pairs = list(dict.fromkeys(zip(facts["group"], facts["intent"], strict=True)))
    parts = {
        f"{group}: {intent}": (facts["group"] == group) & (facts["intent"] == intent)
        for group in groups
        if sum(first == group for first, _ in pairs) > 1
        for intent in intents
        if (group, intent) in pairs
    }
    masks = {ALL: facts["group"].notna()}
    masks |= {group: facts["group"] == group for group in groups}
    masks |= parts
    masks |= {language: facts["language"] == language for language in languages}
    cells = {(g, c): masks[g] & masks[c] for g in groups for c in languages if (masks[g] & masks[c]).any()}
    masks |= {f"{group}/{language}": mask for (group, language), mask in cells.items()}
    shown = {
        f"{name} (country)" if name in masks else name: members
        for name, members in _countries(facts["country"], countries).items()
    }
    masks |= {name: facts["country"].isin(members) for name, members in shown.items()}
    return Columns(
        groups=tuple(groups),
        parts=tuple(parts),
        languages=tuple(languages),
        cells=tuple(cells),
        countries=tuple(shown),
        questions={key: np.flatnonzero(mask.to_numpy()) for key, mask in masks.items()},
    )


def _ordered(values: "pd.Series[str]", order: Iterable[str]) -> list[str]:
    there = set(values)
    known = [name for name in dict.fromkeys(order) if name in there]
    return known + sorted(there - set(known))


def _countries(values: "pd.Series[str]", most: int | None) -> dict[str, list[str]]:
    """Name of a column -> countries in it."""
    counts = values[values != ""].value_counts()
    names = sorted(counts.index, key=lambda name: (-counts[name], name))
    if most is None or len(names) <= most:
        return {name: [name] for name in names}
    rest = names[most:]
    # One country alone needs no pool.
    pooled = rest[0] if len(rest) == 1 else f"{len(rest)} other countries"
    return {**{name: [name] for name in names[:most]}, pooled: rest}
