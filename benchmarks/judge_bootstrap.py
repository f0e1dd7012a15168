"""How long all intervals of one MD-Eval log take, on one core.

Makes scores of the size of MD-Eval: 349 pairs over the scenarios of the taxonomy, one verdict a
pair and one for each dimension of its scenario, asked in both orders. Computes `judge_report` from
them, which is what the header of a log holds and what every refresh of live metrics costs, then all
details that `urs-inspect judges` shows, and prints the median times.

    python benchmarks/judge_bootstrap.py [--repeats 5]
"""

import argparse
import os
import random
from statistics import median
from time import process_time
from typing import Any

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

from inspect_ai.scorer import SampleScore, Score

from urs_inspect.judges._judges import result_of
from urs_inspect.judges._report import pair_details
from urs_inspect.samer import load_taxonomy
from urs_inspect.scorers._pair_metrics import judge_report

PAIRS = 349


def made_up_scores() -> list[SampleScore]:
    """Scores with random verdicts, right on about two thirds and unread on 2%."""
    generator = random.Random(0)  # noqa: S311 - no secret
    scenarios = list(load_taxonomy().scenarios.items())
    scores = []
    for place in range(PAIRS):
        scenario_id, scenario = scenarios[place % len(scenarios)]
        labels = {
            name: generator.choice(("a", "b", "tie")) for name in (*scenario.dimensions, "Overall")
        }

        def judged(labels: dict[str, str] = labels) -> dict[str, str | None]:
            return {
                name: (
                    None
                    if generator.random() < 0.02
                    else generator.choice((label, label, "a", "b"))
                )
                for name, label in labels.items()
            }

        facts: dict[str, Any] = {"labels": labels, "verdicts": {"a": judged(), "b": judged()}}
        sample = {
            "prompt": f"Prompt {place}",
            "group": scenario_id,
            "need": scenario.need,
            "response_a": "x" * generator.randint(1, 2000),
            "response_b": "x" * generator.randint(1, 2000),
        }
        score = Score(value={"overall": 1, "dimensions": 1}, metadata=facts)
        scores.append(SampleScore(score=score, sample_id=place, sample_metadata=sample))
    return scores


def main() -> None:
    """Print what it takes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    scores = made_up_scores()
    report: Any = judge_report()
    header = []
    details = []
    for _ in range(options.repeats):
        before = process_time()
        rows: dict[str, float] = report(scores)
        between = process_time()
        judge = result_of(
            "made up", {(str(one.sample_id), 1): one for one in scores}, orders="both", seed=0
        )
        found = pair_details(judge)
        header.append(between - before)
        details.append(process_time() - between)
    asked = sum(len((score.score.metadata or {})["labels"]) for score in scores)
    print(f"{PAIRS} pairs, {asked} verdicts in each of two orders")
    for name, times, size in (
        ("header of a log", header, len(rows)),
        ("all details", details, len(found)),
    ):
        print(
            f"{name}: {size} numbers in {median(times):.2f} CPU s (from {min(times):.2f} to"
            f" {max(times):.2f})"
        )


if __name__ == "__main__":
    main()
