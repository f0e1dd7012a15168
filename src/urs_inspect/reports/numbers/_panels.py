"""What a panel of judges is worth: their errors alone, together, and without each."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from urs_inspect.stats._agreement import panel_error
from urs_inspect.stats._bootstrap import Clusters, Floats

FEWEST_JUDGES = 3
"""Fewest judges of the same items for which a panel is reported."""
MOST_JUDGES = 12


@dataclass(frozen=True)
class Panel:
    """Judges of the same items, and their errors on the items that all have judged."""

    values: pd.DataFrame  # of the judges whose errors vary, one column each
    errors: pd.DataFrame
    labels: Floats | None
    prompts: Clusters
    constant: Sequence[str]  # judges whose errors do not vary

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
    return Panel(values, errors, labels, prompts, constant)
