"""How long `compare` takes beyond reading logs, against drawing the resamples alone.

python -m benchmarks compare_speed
"""

import numpy as np
import pandas as pd

from benchmarks import Row, timed
from urs_inspect.comparison import compare
from urs_inspect.stats._bootstrap import resample


def frame(models: int, samples: int) -> pd.DataFrame:
    """Right and wrong answers of models of growing quality, in clusters of five."""
    generator = np.random.default_rng(0)
    hard = generator.normal(size=(samples, 1))
    values = (generator.normal(size=(samples, models)) + np.linspace(0, 0.2, models) > hard).astype(
        float
    )
    names = [f"s{number:06}" for number in range(samples)]
    facts = {"sample": names, "cluster": [f"c{number // 5:06}" for number in range(samples)]}
    return pd.concat(
        [pd.DataFrame({**facts, "model": f"m{m}", "value": values[:, m]}) for m in range(models)]
    )


def draw(samples: int, rounds: int) -> None:
    """What every bootstrap has to do, and nothing else."""
    for _ in resample(samples, rounds):
        pass


def ratios(*, quick: bool) -> list[Row]:
    """`compare` over drawing the resamples alone, with clusters and without."""
    models, samples, rounds = (4, 2_000, 2_000) if quick else (10, 20_000, 10_000)
    table = frame(models, samples)
    works = {
        "each by itself": lambda: compare(table.drop(columns="cluster"), rounds=rounds),
        "clusters of five": lambda: compare(table, rounds=rounds),
        "floor": lambda: draw(samples, rounds),
    }
    *ours, (_, floor) = timed(works, 1).items()
    size = f"{models} models x {samples:,} answers, {rounds:,} rounds"
    return [
        Row(f"`compare`, {name}", size, cost, floor, "drawing resamples of single answers alone")
        for name, cost in ours
    ]
