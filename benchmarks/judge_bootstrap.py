"""How long all intervals of one MD-Eval log take, on one core.

Makes verdicts of the size of MD-Eval: 349 pairs over the scenarios of the taxonomy, one verdict a pair and one for
each dimension of its scenario, asked in both orders. Measures all verdicts, then by dimension, scenario and need, and
prints the median time.

    python benchmarks/judge_bootstrap.py [--rounds 2000] [--repeats 5]
"""

import argparse
import os
from collections.abc import Iterator
from statistics import median
from time import process_time

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy as np

from urs_inspect.rating import JudgeMeasures, Verdicts, measure, measure_groups
from urs_inspect.samer import load_taxonomy

PAIRS = 349


def verdicts_of(pairs: list[int], generator: np.random.Generator, overall: np.ndarray | None = None) -> Verdicts:
    """Random verdicts on items of the given pairs, right on about 70% and unread on 2%."""
    size = len(pairs)
    labels = generator.choice(3, size=size, p=(0.33, 0.4, 0.27))

    def judged() -> np.ndarray:
        said = np.where(generator.random(size) < 0.55, labels, generator.integers(3, size=size))
        return np.where(generator.random(size) < 0.02, 3, said)

    return Verdicts(
        labels=labels,
        verdicts=judged(),
        clusters=np.array(pairs),
        longer=generator.integers(2, size=size),
        first=np.zeros(size, dtype=int),
        swapped=judged(),
        overall=overall,
        overall_labels=None if overall is None else overall % 3,
    )


def measured(rounds: int) -> Iterator[JudgeMeasures]:
    """Everything that is reported about one log."""
    generator = np.random.default_rng(0)
    scenarios = list(load_taxonomy().scenarios.items())
    ids, kinds = zip(*(scenarios[pair % len(scenarios)] for pair in range(PAIRS)), strict=True)
    needs = [kind.need for kind in kinds]
    whole = verdicts_of(list(range(PAIRS)), generator)
    yield measure(whole, rounds=rounds)
    for groups in (ids, needs):
        yield from measure_groups(whole, groups, rounds=rounds).values()

    pairs, dimensions = zip(*((pair, name) for pair in range(PAIRS) for name in kinds[pair].dimensions), strict=True)
    fine = verdicts_of(list(pairs), generator, overall=whole.final[list(pairs)])
    yield measure(fine, rounds=rounds)
    for groups in (dimensions, [ids[pair] for pair in pairs], [needs[pair] for pair in pairs]):
        yield from measure_groups(fine, groups, rounds=rounds).values()


def main() -> None:
    """Print what it takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    times = []
    for _ in range(options.repeats):
        before = process_time()
        found = list(measured(options.rounds))
        times.append(process_time() - before)
    intervals = [one for group in found for one in vars(group).values() if one.low == one.low]
    print(f"{len(found)} groups, {len(intervals)} intervals of {options.rounds} rounds, "
          f"{found[0].unread.n} pairs, {max(group.unread.n for group in found)} dimension verdicts: "
          f"{median(times):.2f} CPU s (from {min(times):.2f} to {max(times):.2f})")  # fmt: skip


if __name__ == "__main__":
    main()
