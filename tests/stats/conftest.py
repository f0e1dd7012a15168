"""The labels of MD-Eval, for the statistics that are checked on them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from urs_inspect.stats import Verdicts, baseline_verdicts, encode, longer_response
from urs_inspect.stats.bootstrap import number_clusters
from urs_inspect.stats.measures import A, Codes


@dataclass(frozen=True)
class Labels:
    """Items of MD-Eval: pairs, or pairs on one dimension."""

    labels: Codes
    overall: Codes
    prompts: npt.NDArray[np.int64]
    lengths_a: npt.NDArray[np.int64]
    lengths_b: npt.NDArray[np.int64]
    scenarios: list[str]
    dimensions: list[str]

    def baseline(self, kind: str) -> Verdicts:
        """A trivial judge's verdicts on these labels; the first response of the data is shown first."""
        first, dimensions = np.full(len(self.labels), A), self.overall if any(self.dimensions) else None
        ids = [str(place) for place in range(len(self.labels))]
        verdicts = baseline_verdicts(
            kind,
            lengths_a=self.lengths_a,
            lengths_b=self.lengths_b,
            first=first,
            overall_labels=self.overall,
            ids=ids,
        )
        longer = longer_response(self.lengths_a, self.lengths_b)
        return Verdicts(
            self.labels, verdicts, self.prompts, longer, first, overall=dimensions, overall_labels=dimensions
        )


@dataclass(frozen=True)
class MdEval:
    """The published file without the pair whose responses are both missing."""

    pairs: Labels
    fine: Labels


@pytest.fixture
def md_eval(data_dir: Path) -> MdEval:
    rows = json.loads((data_dir / "md_eval" / "test.json").read_text(encoding="utf-8"))
    kept = [row for row in rows if row["response_a"] is not None and row["response_b"] is not None]
    fine = [(row, name) for row in kept for name in row["annotation"]]
    return MdEval(
        _labels(kept, [row["winner"] for row in kept], [""] * len(kept)),
        _labels([row for row, _ in fine], [row["annotation"][name] for row, name in fine], [name for _, name in fine]),
    )


def _labels(rows: list[dict[str, Any]], labels: list[str], dimensions: list[str]) -> Labels:
    return Labels(
        encode(label.removeprefix("model_") for label in labels),
        encode(row["winner"].removeprefix("model_") for row in rows),
        number_clusters([row["prompt"] for row in rows]),
        np.array([len(row["response_a"]) for row in rows]),
        np.array([len(row["response_b"]) for row in rows]),
        [row["scenario"] for row in rows],
        dimensions,
    )
