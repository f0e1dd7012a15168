"""How long the selection by maximum discrepancy takes once vectors exist, and how much memory it
needs.

Makes float16 vectors of instructions and of all models' answers and selects for all pairs. The time
is held against one sequential read of the same vectors, and on a small pool against the plain loop
over items and pairs, which must select the same. Run by itself it selects from memory-mapped files
of growing pools, each in a process of its own, and prints time and highest memory; with
`--partitions` from a pool as a whole, from partitions of it in one process, and from the same by 2
workers of Ray, each way in a process of its own, and compares what is selected.

    python -m benchmarks mad_selection python -m benchmarks.mad_selection --partitions 2 10 --models
    6 --instructions 50000 --width 1536 python -m benchmarks.mad_selection [--growth 30000 100000
    300000 1000000] [--width 384]
"""

import argparse
import hashlib
import json
import os
import resource
import sys
import tempfile
from itertools import combinations, pairwise
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import numpy.typing as npt

from benchmarks import Row, in_process, timed
from urs_inspect.discrepancy import Selector
from urs_inspect.scale import select_partitions

Halves = npt.NDArray[np.float16]
TOPICS = 200
BLOCK = 10_000


def rows_of(count: int, width: int, seed: int, own: int) -> Halves:
    """Vectors of the answers of model number `own`, about topics that all models with the seed
    share.
    """
    shared = np.random.default_rng(seed)
    generator = np.random.default_rng((seed, own))
    rows = generator.standard_normal((count, width), dtype=np.float32)
    topics = shared.standard_normal((TOPICS, width), dtype=np.float32)
    common = 1.5 * shared.standard_normal(width, dtype=np.float32)
    about = topics[shared.integers(TOPICS, size=count)]
    rows *= generator.gamma(2.0, 0.3, size=(count, 1)).astype(np.float32)
    rows += common + about + 0.5 * shared.standard_normal((count, width), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float16)


def loop(
    responses: dict[str, Halves], instructions: Halves, k: int, lam: float
) -> dict[tuple[str, str], list[int]]:
    """The selection as one would write it first: pair by pair, item by item, in float64."""

    def cosine(a: Halves, b: Halves) -> float:
        x = a.astype(np.float64)
        y = b.astype(np.float64)
        return float(x @ y / np.sqrt((x @ x) * (y @ y)))

    found: dict[tuple[str, str], list[int]] = {}
    for one, other in combinations(sorted(responses), 2):
        chosen: list[int] = []
        for _ in range(k):
            best = float("inf")
            best_item = -1
            for item in range(len(instructions)):
                if item in chosen:
                    continue
                value = cosine(responses[one][item], responses[other][item])
                if chosen:
                    value += lam * max(cosine(instructions[item], instructions[c]) for c in chosen)
                if value < best:
                    best = value
                    best_item = item
            chosen.append(best_item)
        found[one, other] = chosen
    return found


def ratios(*, quick: bool) -> list[Row]:
    """Selection over one sequential read of the same vectors, and over the plain loop on a small
    pool.
    """
    models = 8
    size = 3_000 if quick else 30_000
    width = 1536
    k = 10
    responses = {f"m{i}": rows_of(size, width, 0, i) for i in range(models)}
    instructions = rows_of(size, width, 0, 99)
    ids = [f"{item:07}" for item in range(size)]
    arrays = [*responses.values(), instructions]
    few = 100
    first = {name: rows[:100] for name, rows in list(responses.items())[:3]}

    def choose(pool: dict[str, Halves], count: int) -> Selector:
        return Selector.from_vectors(pool, instructions[:count], ids[:count], lam=1.0)

    slow = loop(first, instructions[:few], k, 1.0)
    fast = choose(first, few).select(k).selected
    if any([int(one.id) for one in fast[pair]] != items for pair, items in slow.items()):
        raise SystemExit("the loop selects other instructions: the times mean nothing")
    works = {
        "ours": lambda: choose(responses, size).select(k),
        "read": lambda: [array.view(np.int64).max() for array in arrays],
        "ours, few": lambda: choose(first, few).select(k),
        "loop": lambda: loop(first, instructions[:few], k, 1.0),
    }
    costs = timed(works, 3)
    return [
        Row(
            "selection (MAD)",
            f"{models} models x {size:,} instructions x {width}, k={k}",
            costs["ours"],
            costs["read"],
            "one sequential read of the same vectors",
        ),
        Row(
            "selection (MAD)",
            f"3 models x {few} instructions x {width}, k={k}",
            costs["ours, few"],
            costs["loop"],
            "the plain loop over pairs and instructions",
        ),
    ]


def grow_once(folder: Path, size: int, options: argparse.Namespace) -> None:
    """Write vectors to files block by block, select from them memory-mapped, print the cost as
    JSON.
    """
    files = {}
    for own in (*range(options.models), 99):
        path = folder / f"{own}.f16"
        with path.open("wb") as file:
            for first in range(0, size, 10_000):
                count = min(10_000, size - first)
                file.write(rows_of(count, options.width, 7 + first, own).tobytes())
        files[own] = np.memmap(path, np.float16, "r", shape=(size, options.width))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    responses = {f"m{own}": files[own] for own in range(options.models)}
    start = perf_counter()
    Selector.from_vectors(
        responses, files[99], [f"{item:07}" for item in range(size)], lam=options.lam
    ).select(options.k)
    seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    total = sum(array.nbytes for array in files.values())
    print(
        json.dumps(
            {
                "seconds": seconds,
                "before_mb": before / 1024,
                "peak_mb": peak / 1024,
                "gb": total / 1e9,
            }
        )
    )


def grow(options: argparse.Namespace) -> None:
    """Print time and memory for growing pools."""
    print(
        f"memory-mapped: {options.models} models x {options.width}, k={options.k}; memory counts"
        " mapped pages"
    )
    for size in options.growth:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            arguments = ["--one", str(size), "--folder", folder, "--models", str(options.models)]
            arguments += [
                "--width",
                str(options.width),
                "--k",
                str(options.k),
                "--lam",
                str(options.lam),
            ]
            cost = in_process("mad_selection", *arguments)
        print(f"  {size:>9,} instructions, {cost['gb']:6.2f} GB  {cost['seconds']:7.2f} s  highest memory "
              f"{cost['peak_mb']:6.0f} MB ({cost['before_mb']:.0f} MB before)")  # fmt: skip


def write_partitions(folder: Path, count: int, options: argparse.Namespace) -> list[Path]:
    """Write made-up vectors in the files of `embed_partitions`.

    The vectors do not depend on the number of files.
    """
    names = [f"m{own}" for own in range(options.models)]
    paths = []
    edges = np.linspace(0, options.instructions, count + 1).astype(int)
    for number, (first, last) in enumerate(pairwise(edges)):
        paths.append(folder / f"{count:04}-{number:05}.npy")
        shape = (1 + options.models, int(last - first), options.width)
        rows = np.lib.format.open_memmap(paths[-1], "w+", np.float16, shape)
        for start in range(first - first % BLOCK, last, BLOCK):
            begin = max(start, first)
            end = min(start + BLOCK, last)
            for place, own in enumerate((99, *range(options.models))):
                block = rows_of(BLOCK, options.width, 7 + start, own)
                rows[place, begin - first : end - first] = block[begin - start : end - start]
        about = {"made_from": {"similarity": "made up"}, "models": names}
        paths[-1].with_suffix(".json").write_text(
            json.dumps({**about, "ids": [f"{item:07}" for item in range(first, last)]})
        )
    return paths


def select_once(paths: list[Path], by_ray: bool, options: argparse.Namespace) -> None:
    """Select from partitions, or from the whole if there is one.

    Print time, memory and what was selected as JSON.
    """
    if by_ray:
        import ray

        ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    before = peak_of(Path("/proc/self"))
    start = perf_counter()
    if len(paths) == 1:
        rows = np.load(paths[0], mmap_mode="r")
        ids = json.loads(paths[0].with_suffix(".json").read_bytes())["ids"]
        responses = {f"m{own}": rows[1 + own] for own in range(options.models)}
        found = Selector.from_vectors(responses, rows[0], ids, lam=options.lam).select(options.k)
    else:
        found = select_partitions(paths, k=options.k, lam=options.lam, ray=by_ray)
    seconds = perf_counter() - start
    workers = [
        peak_of(folder)
        for folder in Path("/proc").glob("[0-9]*")
        if by_ray and is_own_worker(folder)
    ]
    cost = {
        "seconds": seconds,
        "before_mb": before,
        "peak_mb": peak_of(Path("/proc/self")),
        "workers_mb": workers,
    }
    print(json.dumps({**cost, "selected": hashlib.sha256(repr(found).encode()).hexdigest()}))


def is_own_worker(folder: Path) -> bool:
    """Whether a process is a worker of Ray with partitions, started by the node that this process
    has started.
    """
    try:
        named = b"ray::_Worker" in (folder / "cmdline").read_bytes()
        return named and parent_of(Path("/proc") / str(parent_of(folder))) == os.getpid()
    except OSError:  # it has ended
        return False


def parent_of(folder: Path) -> int:
    """Number of the process that started a process."""
    return int((folder / "status").read_text().partition("PPid:")[2].split()[0])


def peak_of(folder: Path) -> float:
    """Highest memory of a process in MB, by its folder in /proc.

    Unlike `getrusage`, without that of its parent.
    """
    [line] = [
        row for row in (folder / "status").read_text().splitlines() if row.startswith("VmHWM")
    ]
    return int(line.split()[1]) / 1024


def divide(options: argparse.Namespace) -> None:
    """Print time and memory of each way to select from a pool in partitions, and whether all select
    the same.
    """
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        ways = [
            (1, False),
            *((count, by_ray) for count in options.partitions for by_ray in (False, True)),
        ]
        pools = {
            count: write_partitions(Path(folder), count, options)
            for count in {count for count, _ in ways}
        }
        size = sum(path.stat().st_size for path in pools[1]) / 1e9
        print(f"{options.models} models x {options.instructions:,} instructions x {options.width}, k={options.k}, "
              f"{size:.2f} GB in files; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")  # fmt: skip
        selected = set()
        for count, by_ray in ways:
            arguments = [
                "--models",
                str(options.models),
                "--k",
                str(options.k),
                "--lam",
                str(options.lam),
            ]
            arguments += ["--select", *map(str, pools[count]), *["--ray"] * by_ray]
            costs = [in_process("mad_selection", *arguments) for _ in range(options.rounds)]
            selected |= {cost["selected"] for cost in costs}
            name = (
                "the whole" if count == 1 else f"{count} partitions" + ", 2 workers of Ray" * by_ray
            )
            peak = max(cost["peak_mb"] for cost in costs)
            held = max(max(cost["workers_mb"], default=0) for cost in costs)
            print(f"  {name:32} {median(cost['seconds'] for cost in costs):7.2f} s  highest memory {peak:6.0f} MB "
                  f"({costs[0]['before_mb']:.0f} MB before), of a worker {held:.0f} MB")  # fmt: skip
        if len(selected) > 1:
            sys.exit("the ways do not select the same")
        print("  all select the same")


def main() -> None:
    """Select from growing pools."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--lam", type=float, default=1.0)
    parser.add_argument(
        "--growth", type=int, nargs="+", default=[30_000, 100_000, 300_000, 1_000_000]
    )
    parser.add_argument(
        "--folder",
        type=Path,
        help="where these files are put; by default the system's temporary one",
    )
    parser.add_argument(
        "--partitions", type=int, nargs="+", help="numbers of partitions to select from"
    )
    parser.add_argument("--instructions", type=int, default=50_000, help="of a pool in partitions")
    parser.add_argument("--rounds", type=int, default=2, help="of a selection from partitions")
    parser.add_argument("--select", type=Path, nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--ray", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        grow_once(options.folder, options.one, options)
        return
    if options.select:
        select_once(options.select, options.ray, options)
    elif options.partitions:
        divide(options)
    else:
        grow(options)


if __name__ == "__main__":
    main()
