"""Benchmarks, run with `python -m benchmarks.NAME`; `python -m benchmarks` (`make bench`) collects
their ratios.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Row:
    """What something costs beside its floor or reference, measured in the same run; less is better.

    Attributes:
        what: What is measured.
        size: How much of it, in words.
        ours: Cost of this package.
        reference: Cost of what it is held against.
        against: What that is, in words.
        unit: Unit of both costs.
    """

    what: str
    size: str
    ours: float
    reference: float
    against: str
    unit: str = "CPU s"

    @property
    def ratio(self) -> float:
        """Our cost in costs of the reference."""
        return self.ours / self.reference


def timed(
    works: Mapping[str, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = process_time,
) -> dict[str, float]:
    """Median cost of each work, taken in turns so that all meet the same machine.

    A first round is not counted.
    """
    costs: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds + 1):
        for name, work in works.items():
            start = clock()
            work()
            costs[name].append(clock() - start)
    return {name: median(found[1:]) for name, found in costs.items()}


def in_process(
    module: str,
    *arguments: str,
    variables: Mapping[str, str] | None = None,
    limit: float | None = None,
) -> Any:
    """The JSON that a module prints last in a process of its own, which inherits no memory and has
    `limit` seconds.
    """
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    environment = os.environ | (variables or {})
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment, timeout=limit
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def alternate(
    module: str, kinds: Sequence[str], arguments: Sequence[str], rounds: int
) -> dict[str, list[dict[str, float]]]:
    """Costs of each kind in each round, in a process each (`--one KIND`).

    Every second round goes backwards.
    """
    costs: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
    for number in range(rounds):
        for kind in kinds if number % 2 == 0 else tuple(reversed(kinds)):
            cost = in_process(module, "--one", kind, *arguments)
            costs[kind].append(cost)
            facts = "  ".join(f"{value:g} {name}" for name, value in cost.items())
            print(f"round {number + 1}  {kind:9}  {facts}", file=sys.stderr, flush=True)
    return costs
