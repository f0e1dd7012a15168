"""Predicted dimensions, scenario by scenario, compared with those that people chose for it (SaMer
paper, Table A2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import yaml

from urs_inspect._util import InputError
from urs_inspect.rubrics._taxonomy import Taxonomy

_RELATED = Path(__file__).parent / "related_scenarios.yaml"

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SelectionQuality:
    """How well dimensions were selected, over some queries."""

    name: str  # scenario, or `all`
    queries: int
    hits: int  # selected dimensions that belong to the scenario
    selected: int
    expected: int  # dimensions that belong to the scenario

    @property
    def precision(self) -> float:
        """Share of the selected dimensions that belong to the scenario, 0 to 1; NaN if none was
        selected.
        """
        return self.hits / self.selected if self.selected else float("nan")

    @property
    def recall(self) -> float:
        """Share of the scenario's dimensions that were selected, 0 to 1; NaN if it has none."""
        return self.hits / self.expected if self.expected else float("nan")

    @property
    def f1(self) -> float:
        """Harmonic mean of both, 0 to 1; NaN if nothing was selected or expected."""
        return (
            2 * self.hits / (self.selected + self.expected)
            if self.selected + self.expected
            else float("nan")
        )


@dataclass(frozen=True)
class ScenarioView:
    """Quality over all queries together (micro average), and by scenario in the order of the
    taxonomy.
    """

    total: SelectionQuality
    scenarios: tuple[SelectionQuality, ...]

    @property
    def macro_f1(self) -> float:
        """Mean of the scenarios' F1, 0 to 1."""
        return sum(quality.f1 for quality in self.scenarios) / len(self.scenarios)


def scenario_view(selected: Flags, scenarios: Sequence[str], taxonomy: Taxonomy) -> ScenarioView:
    """Compare the dimensions selected for n queries, shape (n, D), with those of the queries'
    scenarios (Table A2).
    """
    if selected.shape != (len(scenarios), len(taxonomy.dimensions)) or not len(scenarios):
        raise InputError(
            f"selections of shape {selected.shape}; expected"
            f" {(len(scenarios), len(taxonomy.dimensions))}, with at least one query"
        )
    expected = expected_dimensions(scenarios, taxonomy)
    hits = selected & expected
    given = np.array(scenarios)

    def quality(name: str, rows: Flags) -> SelectionQuality:
        sums = [int(flags[rows].sum()) for flags in (hits, selected, expected)]
        return SelectionQuality(name, int(rows.sum()), *sums)

    present = [name for name in taxonomy.scenarios if name in set(scenarios)]
    return ScenarioView(
        quality("all", np.ones(len(scenarios), bool)),
        tuple(quality(name, given == name) for name in present),
    )


def expected_dimensions(scenarios: Sequence[str], taxonomy: Taxonomy) -> Flags:
    """Dimensions of each query's scenario, shape (n, D)."""
    rows = {
        name: [dimension in taxonomy.scenario(name).dimensions for dimension in taxonomy.dimensions]
        for name in dict.fromkeys(scenarios)
    }
    return np.array([rows[name] for name in scenarios], bool).reshape(
        len(scenarios), len(taxonomy.dimensions)
    )


@lru_cache(maxsize=1)
def related_scenarios() -> dict[str, str]:
    """Scenarios of the out-of-distribution rows -> the scenario of the taxonomy that stands for
    them.
    """
    found: dict[str, str] = yaml.safe_load(_RELATED.read_text(encoding="utf-8"))
    return found
