"""Published results of judges (SaMer paper), as printed."""

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Literal

from urs_inspect.datasets._published import Strict


class PublishedColumn(Strict):
    """A column of a published table."""

    name: str  # what stands over it
    dataset: str  # name of the dataset here that it was measured on there


class PublishedTable(Strict):
    """A table of published results."""

    number: int  # its number in the source
    title: str  # what it shows
    unit: Literal["percent", "correlation"]  # `percent`, or `correlation` from -1 to 1
    columns: tuple[PublishedColumn, ...]
    # judge -> one number a column, None where none was printed
    judges: dict[str, tuple[float | None, ...]]


class Published(Strict):
    """Published results and where they stand."""

    source: str  # the paper
    tables: tuple[PublishedTable, ...]

    def about(self, datasets: Collection[str]) -> tuple[PublishedTable, ...]:
        """The tables with a column about one of the datasets.

        `llmbar` stands for `llmbar/<subset>` as well.
        """
        tables = []
        for table in self.tables:
            measured = {column.dataset for column in table.columns}
            measured |= {dataset.partition("/")[0] for dataset in measured}
            if not measured.isdisjoint(datasets):
                tables.append(table)
        return tuple(tables)


@lru_cache(maxsize=1)
def load_published() -> Published:
    """Load the published results (SaMer paper, Tables 2 to 5)."""
    return Published.load(Path(__file__).parent / "published_judges.yaml")
