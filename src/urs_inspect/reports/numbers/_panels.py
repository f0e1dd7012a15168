"""What a panel of judges is worth: their errors alone, together, and without each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from urs_inspect.stats._bootstrap import Clusters, Floats
from urs_inspect.stats._panels import (
    EffectiveJudges,
    HeldOutPanel,
    best_panel,
    effective_judges,
    panel_error,
)

FEWEST_JUDGES = 3
"""Fewest judges of the same items for which a panel is reported."""
MOST_JUDGES = 12


@dataclass(frozen=True)
class PanelWorth:
    """How many independent judges a panel is worth, its errors, and its best small part."""

    effective: EffectiveJudges
    best: HeldOutPanel
    together: float  # error of the panel of all judges
    alone: Mapping[str, float]  # judge -> its own error
    without: Mapping[str, float]  # judge -> error of the panel of all others


@dataclass(frozen=True)
class Panel:
    """Judges of the same items, and their errors on the items that all have judged."""

    values: pd.DataFrame  # of the judges whose errors vary, one column each
    errors: pd.DataFrame
    labels: Floats | None
    prompts: Clusters
    constant: Sequence[str]  # judges whose errors do not vary
    given: int  # number of judges, of which the first `MOST_JUDGES` count
    worth: PanelWorth | None = None  # None with too few judges or prompts

    @property
    def judges(self) -> list[str]:
        """Their names."""
        return list(map(str, self.values))

    def error(self, judges: Sequence[str]) -> float:
        """Error of the panel of these judges."""
        return panel_error(self.values[list(judges)].to_numpy().T, self.labels)

    @property
    def same(self) -> list[tuple[str, str]]:
        """Every two judges that never differ."""
        values = self.values
        pairs = combinations(self.judges, 2)
        return [pair for pair in pairs if (values[pair[0]] == values[pair[1]]).all()]


def panel_of(values: pd.DataFrame, labels: Floats | None, prompts: Clusters) -> Panel:
    """What a panel of judges is worth.

    `values` has one column per judge, the best first, and one row per item: 1 for a right and 0 for
    a wrong verdict, where `labels` is None, or a rating on the scale of the labels. Items with a
    NaN count for none; `prompts` are the prompt of each item.
    """
    given = values.shape[1]
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
    panel = Panel(values, errors, labels, prompts, constant, given)
    judges = panel.judges
    if len(judges) < FEWEST_JUDGES or len(set(prompts)) < 2 * FEWEST_JUDGES:
        return panel
    without = {}
    for name in judges:
        without[name] = panel.error([judge for judge in judges if judge != name])
    worth = PanelWorth(
        effective=effective_judges(errors.to_numpy().T, prompts),
        best=best_panel(values.to_numpy().T, labels, prompts),
        together=panel.error(judges),
        alone={name: panel.error([name]) for name in judges},
        without=without,
    )
    return replace(panel, worth=worth)
