"""Published results of the URS paper, as printed."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict

_HERE = Path(__file__).parent
_PUBLISHED_URS_FILE = _HERE / "published_urs.yaml"
PUBLISHED_SCORES = (4, 12, 13)
"""Numbers of the tables of scores by intent and language."""


class Strict(BaseModel):
    """What a YAML file holds; a field that is not named here is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a YAML file; by way of JSON, so that lists are tuples though types are strict."""
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        return cls.model_validate_json(json.dumps(content))


class UrsColumn(Strict):
    """A column of a published table."""

    name: str  # what stands over it; often a reported intent
    language: str = ""  # code of the language of its cases; empty for all
    cases: int | None = None  # number of cases as printed; None where none was
    unit: Literal["score", "percent", "count"] = "score"  # from 1 to 10, in percent, or a number


class UrsTable(Strict):
    """A table of published results."""

    number: int  # its number in the paper
    title: str  # what it shows
    columns: tuple[UrsColumn, ...]
    rows: dict[str, tuple[float, ...]]  # model or service -> one number a column
    # model -> for each column 1, 2 or 3 where it is marked as the first, second or third, else 0
    marks: dict[str, tuple[int, ...]] = {}
    notes: tuple[str, ...] = ()  # what a reader must know about it, a sentence each


class UrsCriteria(Strict):
    """Table 6: which criteria judge which intent."""

    number: int  # its number in the paper
    title: str  # what it shows
    intents: dict[str, tuple[str, ...]]  # intent -> its five criteria, in the order printed
    notes: tuple[str, ...] = ()  # what a reader must know about it, a sentence each


class PublishedUrs(Strict):
    """Published results of the URS paper."""

    source: str  # the paper
    evaluator: str  # the judge of all scores
    criteria: UrsCriteria  # table 6
    tables: tuple[UrsTable, ...]  # tables 4, 7 and 12 to 15

    def table(self, number: int) -> UrsTable:
        """The table of that number."""
        return {table.number: table for table in self.tables}[number]


@lru_cache(maxsize=1)
def load_published_urs() -> PublishedUrs:
    """Load the published results (URS paper, Tables 4, 6, 7 and 12 to 15)."""
    return PublishedUrs.load(_PUBLISHED_URS_FILE)
