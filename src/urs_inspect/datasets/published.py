"""Published results of the URS and SaMer papers, as printed."""

import json
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, model_validator

_FILE = Path(__file__).parent / "published_judges.yaml"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PublishedColumn(_Strict):
    """A column of a published table.

    Attributes:
        name: What stands over it.
        dataset: Name of the dataset here that it was measured on there.
    """

    name: str
    dataset: str


class PublishedTable(_Strict):
    """A table of published results.

    Attributes:
        number: Its number in the source.
        title: What it shows.
        unit: `percent`, or `correlation` from -1 to 1.
        columns: Its columns.
        judges: Judge -> one number a column, None where none was printed.
    """

    number: int
    title: str
    unit: Literal["percent", "correlation"]
    columns: tuple[PublishedColumn, ...]
    judges: dict[str, tuple[float | None, ...]]

    @model_validator(mode="after")
    def _rows_fit(self) -> "PublishedTable":
        low, high = (0, 100) if self.unit == "percent" else (-1, 1)
        for judge, numbers in self.judges.items():
            if len(numbers) != len(self.columns) or any(n is not None and not low <= n <= high for n in numbers):
                raise ValueError(
                    f"table {self.number}, '{judge}': needs {len(self.columns)} numbers from {low} to {high}"
                )
        return self


class Published(_Strict):
    """Published results and where they stand.

    Attributes:
        source: The paper.
        tables: Its tables.
    """

    source: str
    tables: tuple[PublishedTable, ...]

    def about(self, datasets: Collection[str]) -> tuple[PublishedTable, ...]:
        """The tables with a column about one of the datasets; `llmbar` stands for `llmbar/<subset>` as well."""
        return tuple(
            table
            for table in self.tables
            if any({column.dataset, column.dataset.partition("/")[0]} & set(datasets) for column in table.columns)
        )


@lru_cache(maxsize=1)
def load_published() -> Published:
    """Load the published results (SaMer paper, Tables 2 to 5)."""
    return Published.model_validate(yaml.safe_load(_FILE.read_text(encoding="utf-8")))


_PUBLISHED_URS_FILE = Path(__file__).parent / "published_urs.yaml"
_RANGES = {"score": (1, 10), "percent": (0, 100), "count": (0, 20)}
_PLACES = (0, 1, 2, 3)
PUBLISHED_SCORES = (4, 12, 13)
"""Numbers of the tables of scores by intent and language."""


class _StrictUrs(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class UrsColumn(_StrictUrs):
    """A column of a published table.

    Attributes:
        name: What stands over it; often a reported intent.
        language: Code of the language of its cases; empty for all.
        cases: Number of cases as printed; None where none was.
        unit: `score` from 1 to 10, `percent`, or `count`.
    """

    name: str
    language: str = ""
    cases: int | None = None
    unit: Literal["score", "percent", "count"] = "score"


class UrsTable(_StrictUrs):
    """A table of published results.

    Attributes:
        number: Its number in the paper.
        title: What it shows.
        columns: Its columns.
        rows: Model or service -> one number a column.
        marks: Model -> for each column 1, 2 or 3 where it is marked as the first, second or third, else 0.
        notes: What a reader must know about it, a sentence each.
    """

    number: int
    title: str
    columns: tuple[UrsColumn, ...]
    rows: dict[str, tuple[float, ...]]
    marks: dict[str, tuple[int, ...]] = {}
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _rows_fit(self) -> "UrsTable":
        for row, numbers in self.rows.items():
            if len(numbers) != len(self.columns):
                raise ValueError(f"table {self.number}, '{row}': needs {len(self.columns)} numbers")
            for column, number in zip(self.columns, numbers, strict=True):
                low, high = _RANGES[column.unit]
                if not low <= number <= high:
                    raise ValueError(f"table {self.number}, '{row}': {column.name} must lie from {low} to {high}")
        for row, places in self.marks.items():
            if row not in self.rows or len(places) != len(self.columns) or not set(places) <= set(_PLACES):
                raise ValueError(f"table {self.number}, marks of '{row}': one of {_PLACES} for each column of a row")
        return self


class UrsCriteria(_StrictUrs):
    """Table 6: which criteria judge which intent.

    Attributes:
        number: Its number in the paper.
        title: What it shows.
        intents: Intent -> its five criteria, in the order printed.
        notes: What a reader must know about it, a sentence each.
    """

    number: int
    title: str
    intents: dict[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()


class PublishedUrs(_StrictUrs):
    """Published results of the URS paper.

    Attributes:
        source: The paper.
        evaluator: The judge of all scores.
        criteria: Table 6.
        tables: Tables 4, 7 and 12 to 15.
    """

    source: str
    evaluator: str
    criteria: UrsCriteria
    tables: tuple[UrsTable, ...]

    def table(self, number: int) -> UrsTable:
        """The table of that number.

        Raises:
            KeyError: If it is not among `tables`.
        """
        for table in self.tables:
            if table.number == number:
                return table
        raise KeyError(f"no table {number}; there are {', '.join(str(table.number) for table in self.tables)}")


@lru_cache(maxsize=1)
def load_published_urs() -> PublishedUrs:
    """Load the published results (URS paper, Tables 4, 6, 7 and 12 to 15)."""
    raw = yaml.safe_load(_PUBLISHED_URS_FILE.read_text(encoding="utf-8"))
    # JSON, so that lists are tuples though the types are strict.
    return PublishedUrs.model_validate_json(json.dumps(raw))
