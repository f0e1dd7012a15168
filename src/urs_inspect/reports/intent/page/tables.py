"""Tables of scores, as the page shows them."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from urs_inspect.judging import SCORED_OUTCOMES
from urs_inspect.rating import Estimate
from urs_inspect.reports.intent.report import Block, ModelReport

ALL = "all"
_MOST_COLUMNS = 8
"""Most columns of a table by language: so many fit on a page of paper."""


@dataclass(frozen=True)
class ScoreColumn:
    """A column of scores.

    Attributes:
        title: What stands over it.
        over: What stands over this and neighbouring columns together; may be empty.
        questions: Number of its questions; None if the report does not count them.
        main: Whether it sums up the others.
    """

    title: str
    over: str = ""
    questions: int | None = None
    main: bool = False


@dataclass(frozen=True)
class ScoreCell:
    """A score.

    Attributes:
        estimate: The mean, 1 to 10, and its interval; None where the model has no question of the kind.
        place: 1 to 3 where it is marked as one of the best three, else 0.
        shade: 0 for the lowest score of the table to 1 for the highest; NaN without a score.
    """

    estimate: Estimate | None
    place: int
    shade: float


@dataclass(frozen=True)
class ScoreRow:
    """A model's scores, one a column."""

    model: ModelReport
    cells: tuple[ScoreCell, ...]
    new_tier: bool


@dataclass(frozen=True)
class ScoreTable:
    """Scores of models.

    Attributes:
        columns: The columns.
        rows: The models, the best first.
        lowest: Lowest score of the table, 1 to 10; NaN without scores.
        highest: Highest score of it.
    """

    columns: tuple[ScoreColumn, ...]
    rows: tuple[ScoreRow, ...]
    lowest: float
    highest: float

    @property
    def over(self) -> list[tuple[str, int]]:
        """What stands over the columns, each with the number of columns that it spans; empty if nothing does."""
        spans: list[tuple[str, int]] = []
        for column in self.columns:
            if spans and column.over and spans[-1][0] == column.over:
                spans[-1] = (column.over, spans[-1][1] + 1)
            else:
                spans.append((column.over, 1))
        return spans if any(title for title, _ in spans) else []


def leaderboard(block: Block) -> ScoreTable:
    """All questions and each reported intent."""
    columns = [_column(block, ALL, "All", main=True)]
    columns += [_column(block, group, _title(block, group)) for group in block.groups]
    return _table(
        block,
        columns,
        lambda model: [model.all, *(model.by_group.get(group) for group in block.groups)],
        (ALL, *block.groups),
    )


def languages(block: Block) -> tuple[ScoreTable, ...]:
    """Each language, then each intent in each language, in parts as in Tables 12 and 13 of the URS paper."""
    keys: list[tuple[str, str]] = [(ALL, code) for code in block.languages]
    keys += [(group, code) for group in block.groups for code in block.languages]
    at_once = max(1, _MOST_COLUMNS // max(1, len(block.languages))) * max(1, len(block.languages))
    return tuple(_by_language(block, keys[start : start + at_once]) for start in range(0, len(keys), at_once))


def _by_language(block: Block, keys: Sequence[tuple[str, str]]) -> ScoreTable:
    columns = [
        _column(block, code, _title(block, code), over="All", main=True)
        if group == ALL
        else _column(block, f"{group}/{code}", _title(block, code), over=_title(block, group))
        for group, code in keys
    ]
    return _table(
        block,
        columns,
        lambda model: [
            model.by_language.get(code) if group == ALL else model.by_group_and_language.get((group, code))
            for group, code in keys
        ],
    )


def parts(block: Block) -> ScoreTable:
    """Each intent that shares its reported group with another one."""
    columns = []
    for part in block.parts:
        group, _, intent = _title(block, part).rpartition(": ")
        columns.append(_column(block, part, intent, over=group))
    return _table(block, columns, lambda model: [model.by_part.get(part) for part in block.parts])


def countries(block: Block) -> ScoreTable:
    """Each country."""
    columns = [_column(block, country, _title(block, country)) for country in block.countries]
    return _table(block, columns, lambda model: [model.by_country.get(country) for country in block.countries])


def criteria(block: Block) -> ScoreTable:
    """Each criterion."""
    columns = [_column(block, criterion, _title(block, criterion)) for criterion in block.criteria]
    return _table(block, columns, lambda model: [model.by_criterion.get(key) for key in block.criteria])


def outcomes(models: Iterable[ModelReport]) -> tuple[str, ...]:
    """Ways in which judging ended that occur, what went well first."""
    found = dict.fromkeys(name for model in models for name, count in model.outcomes.items() if count)
    first = SCORED_OUTCOMES
    return tuple(sorted(found, key=lambda name: (first.index(name) if name in first else len(first), name)))


def several_judgements(models: Iterable[ModelReport]) -> bool:
    """Whether the same judge judged the same answers of any model more than once."""
    return any(not math.isnan(model.judge_deviation) for model in models)


def _title(block: Block, key: str) -> str:
    return block.titles.get(key, key)


def _column(block: Block, key: str, title: str, *, over: str = "", main: bool = False) -> ScoreColumn:
    return ScoreColumn(title, over, block.question_counts.get(key), main)


def _table(
    block: Block,
    columns: Sequence[ScoreColumn],
    scores: Callable[[ModelReport], Sequence[Estimate | None]],
    places: Sequence[str] = (),
) -> ScoreTable:
    found = {model.model: scores(model) for model in block.models}
    values = [e.value for row in found.values() for e in row if e is not None and not math.isnan(e.value)]
    lowest, highest = (min(values), max(values)) if values else (math.nan, math.nan)
    rows = []
    for number, model in enumerate(block.models):
        shown = model.places if len(block.models) > 1 else {}
        marks = [shown.get(key, 0) for key in places or [""] * len(columns)]
        cells = [
            ScoreCell(estimate, mark, _shade(estimate, lowest, highest))
            for estimate, mark in zip(found[model.model], marks, strict=True)
        ]
        new_tier = number > 0 and block.models[number - 1].tier != model.tier
        rows.append(ScoreRow(model, tuple(cells), new_tier))
    return ScoreTable(tuple(columns), tuple(rows), lowest, highest)


def _shade(estimate: Estimate | None, lowest: float, highest: float) -> float:
    if estimate is None or math.isnan(estimate.value):
        return math.nan
    return (estimate.value - lowest) / (highest - lowest) if highest > lowest else 0.5
