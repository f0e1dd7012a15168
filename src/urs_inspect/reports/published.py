"""What others published about judges, as printed, beside which measured results may be laid."""

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
