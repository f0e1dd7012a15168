"""Differences between models, as the page shows them."""

from dataclasses import dataclass

from urs_inspect.reports.intent.page.words import difference_of
from urs_inspect.reports.intent.report import Block, ModelReport, PairedDifference

MOST_IN_WORDS = 7
"""Most models of which a matrix has room for words in each cell."""


@dataclass(frozen=True)
class MatrixCell:
    """A model beside another one.

    Attributes:
        pair: Their comparison.
        sign: 1 if the row's model is the first of the pair, else -1.
        kind: `better`, `worse` or `same` as seen from the row, or `none` without common questions.
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
        cells: One a model; None for itself, and where there is no comparison.
        unclear: Models that it cannot be told apart from.
        new_tier: Whether a tier begins here.
    """

    model: ModelReport
    cells: tuple[MatrixCell | None, ...]
    unclear: tuple[str, ...]
    new_tier: bool


def matrix(block: Block) -> tuple[MatrixRow, ...]:
    """Every model beside every other one, the best first."""
    rows: list[MatrixRow] = []
    for model in block.models:
        cells = tuple(_cell(block, model.model, other.model) for other in block.models)
        unclear = tuple(
            other.model
            for other, cell in zip(block.models, cells, strict=True)
            if other is not model and (cell is None or not cell.pair.apart)
        )
        new_tier = bool(rows) and rows[-1].model.tier != model.tier
        rows.append(MatrixRow(model, cells, unclear, new_tier))
    return tuple(rows)


def _cell(block: Block, row: str, column: str) -> MatrixCell | None:
    pair = None if row == column else difference_of(block, row, column)
    if pair is None:
        return None
    sign = 1 if pair.first == row else -1
    if not pair.questions:
        return MatrixCell(pair, sign, "none")
    above = sign * pair.difference.value > 0
    return MatrixCell(pair, sign, "same" if not pair.apart else "better" if above else "worse")
