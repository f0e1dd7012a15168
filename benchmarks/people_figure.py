"""Draws the picture of docs/people.md: one simulated study, scored by a judge and rated in part by
people.

Four models, 200 questions; people rated 40 answers of each model, on the same questions; the judge
agrees with people at 0.8 within a model and misjudges the models by -1, +0.5, +1.5 and 0 points, as
in `ppi_coverage.py`. The truth is known because people and judge are simulated. The seed is the
first; it was not chosen.

    python benchmarks/people_figure.py docs/images/people.png [--seed 0]
"""

import argparse
import sys
from pathlib import Path

import altair
import numpy as np
import pandas as pd
import vl_convert

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.ppi_coverage import QUALITY, Setting, draw, true_means
from urs_inspect.stats import mean_estimates
from urs_inspect.stats._adjusted_means import powered_means

ROWS = ("judge alone", "people alone, 40 ratings", "corrected by people")
COLOURS = ("#d97a1e", "#7f7f7f", "#2f7fc9")


def study(seed: int) -> pd.DataFrame:
    """One row per model and way of estimating its mean, with bounds where they are about people."""
    scores = draw(Setting("same questions", 200, 40, (0.8, 0.8)), np.random.default_rng(seed))
    found, _ = powered_means(scores, {"all": np.arange(len(scores.judge))}, rounds=4000, seed=seed)
    ways = {
        ROWS[0]: [(value, value, value) for value in scores.judge.mean(axis=0)],
        ROWS[1]: [
            (mean.value, mean.low, mean.high) for mean in mean_estimates(found["all"].people)
        ],
        ROWS[2]: [
            (mean.value, mean.low, mean.high) for mean in mean_estimates(found["all"].corrected)
        ],
    }
    rows = [
        {
            "model": f"model {model + 1}",
            "way": way,
            "value": value,
            "low": low,
            "high": high,
            "truth": truth,
        }
        for way, values in ways.items()
        for model, ((value, low, high), truth) in enumerate(zip(values, true_means(), strict=True))
    ]
    return pd.DataFrame(rows)


def main() -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    data = study(arguments.seed)
    base = altair.Chart(data).encode(
        y=altair.Y("way:N", sort=list(ROWS), title=None),
        color=altair.Color(
            "way:N", scale=altair.Scale(domain=list(ROWS), range=list(COLOURS)), legend=None
        ),
    )
    score = altair.Scale(zero=False)
    layers = [
        altair.Chart(data)
        .mark_rule(strokeDash=[4, 3])
        .encode(x=altair.X("truth:Q", scale=score, title="mean score")),
        base.mark_rule(strokeWidth=2).encode(
            x=altair.X("low:Q", scale=score, title="mean score"), x2="high:Q"
        ),
        base.mark_point(filled=True, size=90, opacity=1).encode(
            x=altair.X("value:Q", scale=score, title="mean score")
        ),
    ]
    names = [f"model {model + 1}" for model in range(len(QUALITY))]
    chart = (
        altair.layer(*layers)
        .properties(width=520, height=66)
        .facet(
            row=altair.Row(
                "model:N",
                sort=names,
                title=None,
                header=altair.Header(labelAngle=0, labelAlign="left"),
            )
        )
        .properties(
            title=(
                "SIMULATED: dashed is what all people would give on average; bars are 95% intervals"
            )
        )
    )
    arguments.output.write_bytes(vl_convert.vegalite_to_png(chart.to_json(), scale=2))
    print(data.round(2).to_string(index=False))


if __name__ == "__main__":
    main()
