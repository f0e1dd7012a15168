"""Many files through `samer score`: one process against workers on a local Ray, and memory over the
number of files.

A random model, random texts. Each way runs in a process of its own; its rate counts from the first
finished file to the last, without the time that torch and Ray take to start. The rows of all ways
are compared byte by byte.

    python -m benchmarks.samer_partitions [--files 16] [--rows 200] [--many 400]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from tests.samer.checkpoints import Shape, tiny_checkpoint

from urs_inspect.samer._options import SamerOptions
from urs_inspect.samer._partitions import Scorer, find_partitions, score_partitions, settled

WORDS = ("why", "because", "the", "of", "answer", "so", "that", "more")

psutil: Any = import_module("psutil")


def write_files(folder: Path, files: int, rows: int, words: int) -> Path:
    """Parquet files of random texts."""
    pyarrow = import_module("pyarrow")
    parquet = import_module("pyarrow.parquet")
    draw = np.random.default_rng(7)
    folder.mkdir()
    for file in range(files):
        texts = [" ".join(draw.choice(WORDS, draw.integers(5, words))) for _ in range(2 * rows)]
        table = pyarrow.table({"query": texts[:rows], "response": texts[rows:]})
        parquet.write_table(table, folder / f"{file:05}.parquet")
    return folder


def run(model: str, source: str, out: str, workers: int) -> dict[str, Any]:
    """Score a folder, with 0 workers in this process.

    Rows per second and the largest resident memory in MB.
    """
    Path(out).mkdir()
    began = time.perf_counter()
    ends = []
    rows = []
    peaks = {"driver": 0.0, "worker": 0.0}
    choice = SamerOptions(model=model, engine="transformers")
    scorer = Scorer(*settled(choice, workers > 0), {"block": 512})
    partitions = find_partitions(Path(source), Path(out))
    scorer.facts or scorer.load()
    for report, error in score_partitions(partitions, scorer, (None, workers) if workers else None):
        if error:
            raise SystemExit(error)
        ends.append(time.perf_counter())
        rows.append(report.rows)
        here = psutil.Process()
        peaks["driver"] = max(peaks["driver"], here.memory_info().rss / 1e6)
        actors = [
            each
            for each in here.children(recursive=True)
            if each.name().startswith("ray::MapWorker")
        ]
        peaks["worker"] = max([peaks["worker"], *(each.memory_info().rss / 1e6 for each in actors)])
    rate = sum(rows[1:]) / (ends[-1] - ends[0])
    return {
        "rows/s": rate,
        "all s": ends[-1] - began,
        **{f"{name} MB": round(peak) for name, peak in peaks.items()},
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=16)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--many", type=int, default=400, help="files of two rows, for memory")
    parser.add_argument("--way", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        model, source, out, workers = given.way
        print(json.dumps(run(model, source, out, int(workers))))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shape = Shape(hidden=256, heads=4, kv_heads=2, layers=4, intermediate=512)
        large = tiny_checkpoint(folder / "model", shape=shape)
        tiny = tiny_checkpoint(folder / "tiny")
        parts = write_files(folder / "parts", given.files, given.rows, 80)

        def way(model: Path, source: Path, workers: int) -> dict[str, Any]:
            out = folder / f"{source.name}-{workers}"
            command = [
                sys.executable,
                "-m",
                "benchmarks.samer_partitions",
                "--way",
                str(model),
                str(source),
                str(out),
            ]
            shown = subprocess.run([*command, str(workers)], check=True, capture_output=True)
            return dict(json.loads(shown.stdout.splitlines()[-1]))

        print(
            f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {given.files} files of"
            f" {given.rows} rows"
        )
        base = 0.0
        for engines, label in (
            (0, "one process"),
            (1, "Ray, 1 worker"),
            (2, "Ray, 2 workers"),
            (0, "one process"),
        ):
            if (again := folder / f"parts-{engines}").exists():
                again.rename(folder / "first")
            found = way(large, parts, engines)
            base = base or found["rows/s"]
            speed = f"{found['rows/s']:8.1f} rows/s  {found['rows/s'] / base:.2f}x"
            print(f"{label:15} {speed}  {found['all s']:.0f} s in all", flush=True)
        outs = [folder / each for each in ("first", "parts-0", "parts-1", "parts-2")]
        same = {tuple(path.read_bytes() for path in sorted(out.iterdir())) for out in outs}
        print(
            "results of all ways are"
            f" {'the same bytes' if len(same) == 1 else 'NOT the same bytes'}"
        )
        for files in (given.many // 8, given.many):
            found = way(tiny, write_files(folder / f"many{files}", files, 2, 8), 2)
            peaks = ", ".join(f"{name} {found[f'{name} MB']} MB" for name in ("driver", "worker"))
            print(f"{files} files: {peaks}, {found['all s']:.0f} s in all", flush=True)


if __name__ == "__main__":
    main()
