"""Tables of scores and of differences, as the page shows them."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from urs_inspect.judging import SCORED_OUTCOMES
from urs_inspect.rating import Estimate
from urs_inspect.reports.intent.page.words import difference_of
from urs_inspect.reports.intent.report import Block, ModelReport, PairedDifference

ALL = "all"
MOST_IN_WORDS = 7
"""Most models of which a matrix has room for words in each cell."""
_MOST_COLUMNS = 8
"""Most columns of a table by language: so many fit on a page of paper."""


@dataclass(frozen=True)
class ScoreColumn:
    """A column of scores.

    Attributes:
        key: As in `Block.best`.
        title: What stands over it.
        over: What stands over this and neighbouring columns together; may be empty.
        questions: Number of its questions; None if the report does not count them.
        main: Whether it sums up the others.
    """

    key: str
    title: str
    over: str = ""
    questions: int | None = None
    main: bool = False


@dataclass(frozen=True)
class ScoreCell:
    """A score.

    Attributes:
        estimate: The mean, 1 to 10, and its interval; None where the model has no question of the kind.
        marked: Whether it is the best of its column or cannot be distinguished from it; never in a column that is not
            tested.
        shade: 0 for the lowest score of the table to 1 for the highest; NaN without a score.
    """

    estimate: Estimate | None
    marked: bool
    shade: float


@dataclass(frozen=True)
class ScoreRow:
    """A model's scores, one a column."""

    model: ModelReport
    cells: tuple[ScoreCell, ...]


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


@dataclass(frozen=True)
class MatrixCell:
    """A model beside another one.

    Attributes:
        pair: Their comparison.
        sign: 1 if the row's model is the first of the pair, else -1.
        kind: `better`, `worse`, `same`, `unscored` (the verdict depends on unscored answers) or `partly` (significant
            over the common questions only) as seen from the row, or `none` if they cannot be compared.
    """

    pair: PairedDifference
    sign: int
    kind: str

    @property
    def value(self) -> float:
        """Mean of the row's scores less those of the column, on the same questions."""
        return self.sign * self.pair.difference.value


@dataclass(frozen=True)
class MatrixRow:
    """A model beside all others.

    Attributes:
        model: The model.
        cells: One per model; None for itself, and where there is no comparison.
        unclear: Models that it cannot be distinguished from.
        depends: Models from which it differs significantly only if the missing scores are like the others.
    """

    model: ModelReport
    cells: tuple[MatrixCell | None, ...]
    unclear: tuple[str, ...]
    depends: tuple[str, ...]


def leaderboard(block: Block) -> ScoreTable:
    """All questions and each reported intent."""
    columns = [_column(block, ALL, "All", main=True)]
    columns += [_column(block, group, _title(block, group)) for group in block.groups]
    return _table(
        block,
        columns,
        lambda model: [model.all, *(model.by_group.get(group) for group in block.groups)],
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


def matrix(block: Block) -> tuple[MatrixRow, ...]:
    """Every model beside every other one, the best first."""
    rows: list[MatrixRow] = []
    for model in block.models:
        cells = tuple(_cell(block, model.model, other.model) for other in block.models)
        beside = [(other.model, cell.kind if cell else "none") for other, cell in zip(block.models, cells, strict=True)]
        unclear = tuple(name for name, kind in beside if kind in ("same", "partly", "none") and name != model.model)
        depends = tuple(name for name, kind in beside if kind == "unscored")
        rows.append(MatrixRow(model, cells, unclear, depends))
    return tuple(rows)


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
    return ScoreColumn(key, title, over, block.question_counts.get(key), main)


def _table(
    block: Block,
    columns: Sequence[ScoreColumn],
    scores: Callable[[ModelReport], Sequence[Estimate | None]],
) -> ScoreTable:
    found = {model.model: scores(model) for model in block.models}
    values = [e.value for row in found.values() for e in row if e is not None and not math.isnan(e.value)]
    lowest, highest = (min(values), max(values)) if values else (math.nan, math.nan)
    marked = [block.best[column.key].marked if column.key in block.best else frozenset() for column in columns]
    rows = [
        ScoreRow(
            model,
            tuple(
                ScoreCell(estimate, model.model in names, _shade(estimate, lowest, highest))
                for estimate, names in zip(found[model.model], marked, strict=True)
            ),
        )
        for model in block.models
    ]
    return ScoreTable(tuple(columns), tuple(rows), lowest, highest)


def _shade(estimate: Estimate | None, lowest: float, highest: float) -> float:
    if estimate is None or math.isnan(estimate.value):
        return math.nan
    return (estimate.value - lowest) / (highest - lowest) if highest > lowest else 0.5


def column_tests(block: Block) -> list[tuple[str, PairedDifference]]:
    """Title of each intent and language, with the best model beside each other one."""
    keys = (key for key in (*block.groups, *block.languages) if key in block.best)
    return [(_title(block, key), pair) for key in keys for pair in block.best[key].others]


def _cell(block: Block, row: str, column: str) -> MatrixCell | None:
    pair = None if row == column else difference_of(block, row, column)
    if pair is None:
        return None
    sign = 1 if pair.first == row else -1
    if pair.significant:
        return MatrixCell(pair, sign, "better" if sign > 0 else "worse")
    kinds = {
        "not distinguishable": "same",
        "depends on unscored answers": "unscored",
        "not significant over all questions": "partly",
    }
    return MatrixCell(pair, sign, kinds.get(pair.verdict, "none"))
