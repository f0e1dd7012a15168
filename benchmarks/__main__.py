"""All benchmarks whose result is a ratio to a floor or reference of the same run; writes
docs/benchmarks.md.

    make bench
    python -m benchmarks [--quick] [--output FILE] [NAME ...]

`--quick` takes smaller sizes and prints the table without writing it. The published data are used
where URS_INSPECT_DATA_DIR leads to them. Each benchmark is a process of its own, with one thread
for matrix products.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter

from benchmarks import ONE_THREAD, Row, in_process

NAMES = (
    "harness_overhead",
    "judge_overhead",
    "lmeval_judging",
    "reply_parsing",
    "mad_selection",
    "elo_bootstrap",
    "sample_efficiency",
    "report_speed",
    "compare_speed",
    "samer_throughput",
    "samer_heads",
)
PACKAGES = ("inspect-ai", "lm-eval", "numpy", "scipy", "pandas", "evalica", "torch", "transformers")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
INTRODUCTION = """\
# Benchmarks

Written by `{command}`: what each part costs beside its floor or its reference, both measured in the same run. A ratio below 1 is cheaper than the reference. Medians of rounds taken in
turns; CPU seconds are of all threads, and `% wrong` is the share of pairs of models in the wrong order. What the ratios mean is in [performance](performance.md). All models and judges are simulated.
"""


def machine_facts(load: float) -> str:
    """What the ratios were measured on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            line.partition(":")[2]
            for line in cpuinfo.read_text("utf-8").splitlines()
            if "model name" in line
        ]
        model = names[0].strip() if names else model
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"no {package}")
    data = (
        "published data"
        if os.environ.get("URS_INSPECT_DATA_DIR")
        else "the 42 sample cases and simulated votes"
    )
    return (
        f"Machine: {os.cpu_count()} cores, {model}, {platform.system()}, Python"
        f" {platform.python_version()}; load {load:.1f} before and {os.getloadavg()[0]:.1f} after."
        f" Data: {data}.\nPackages: {', '.join(versions)}."
    )


def markdown(results: dict[str, Sequence[Row]]) -> str:
    """One row for each ratio."""
    lines = [
        "| what | size | ours | reference | ratio | against | `python -m benchmarks ...` |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, rows in results.items():
        for row in rows:
            ours, reference = (f"{cost:.3g} {row.unit}" for cost in (row.ours, row.reference))
            ratio = f"{row.ratio:.2f}" if row.ratio >= 0.1 else f"{row.ratio:.2g}"
            cells = (row.what, row.size, ours, reference, f"**{ratio}**", row.against, f"`{name}`")
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def collect(names: Sequence[str], *, quick: bool) -> dict[str, Sequence[Row]]:
    """Rows of each benchmark; one that fails is named and left out."""
    results: dict[str, Sequence[Row]] = {}
    for name in names:
        start = perf_counter()
        try:
            found = in_process(
                "__main__", "--one", name, *(["--quick"] if quick else []), variables=ONE_THREAD
            )
        except subprocess.CalledProcessError as error:
            print(f"{name} failed: exit code {error.returncode}", file=sys.stderr, flush=True)
            continue
        results[name] = [Row(**row) for row in found]
        print(f"{name}: {perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    return results


def main(given: Sequence[str] | None = None) -> None:
    """Run what is named, or everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--output", type=Path, help="by default docs/benchmarks.md if everything is run in full"
    )
    parser.add_argument("--one", choices=NAMES, help=argparse.SUPPRESS)
    options = parser.parse_args(given)
    if options.one:
        rows = import_module(f"benchmarks.{options.one}").ratios(quick=options.quick)
        print("\n" + json.dumps([asdict(row) for row in rows]))
        return
    if unknown := sorted(set(options.names) - set(NAMES)):
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    load = os.getloadavg()[0]
    names = options.names or NAMES
    results = collect(names, quick=options.quick)
    command = "python -m benchmarks --quick" if options.quick else "make bench"
    page = f"{INTRODUCTION.format(command=command)}\n{machine_facts(load)}\n\n{markdown(results)}\n"
    print(page)
    whole = not options.quick and not options.names
    if missing := len(names) - len(results):
        raise SystemExit(f"{missing} of {len(names)} benchmarks failed; nothing is written")
    if output := options.output or (PAGE if whole else None):
        output.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
