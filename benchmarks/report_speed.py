"""What a report over 20 models and all 1,846 cases costs: time, memory and the size of the page.

Makes the log of one simulated model of known quality, through the task `urs` and the harness, and
copies of it for the other models, with scores of their own; or takes the logs in a folder. Then
times the parts of the report, and the command as a whole, each round in processes of their own. Two
floors are measured in the same run: reading whole logs in place of summaries, and a plain loop over
rounds of the bootstrap.

    URS_INSPECT_DATA_DIR=DIR python -m benchmarks.report_speed [--logs FOLDER] [--models 20]
    [--repeats 3]

Making the logs takes about five minutes of CPU; with `--logs` they are kept for the next time.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, TypeVar

from benchmarks import ONE_THREAD, Row, in_process

os.environ.update(ONE_THREAD)

from inspect_ai.log import EvalLog

from urs_inspect.providers._simulated_judgement import final_of, level_for, read_quality

BEST = 8.8
WORST = 5.0
WHOLE_LOGS = 2
LOOPED_ROUNDS = 20
JUDGE = "urs_simulation/judge"
COMMAND = "from urs_inspect.cli import main; main()"
Made = TypeVar("Made")


def make_logs(folder: Path, models: int, dataset: str) -> None:
    """Run the task with a simulated model of known quality, and copy its log for the others with
    scores of their own.

    Logs that are there already are left.
    """
    from inspect_ai import eval as inspect_eval
    from inspect_ai.log import list_eval_logs, read_eval_log, write_eval_log

    from urs_inspect.tasks import urs

    headers = {
        file.name: read_eval_log(file, header_only=True) for file in list_eval_logs(str(folder))
    }
    there = {log.eval.model: file for file, log in headers.items() if log.status == "success"}
    step = (BEST - WORST) / max(1, models - 1)
    qualities = [BEST - step * place for place in range(models)]
    first = f"urs_simulation/quality-{qualities[0]:.2f}"
    if first not in there:
        [log] = inspect_eval(
            urs(dataset=dataset),
            model=first,
            model_roles={"grader": JUDGE},
            log_dir=str(folder),
            log_realtime=False,
            score_display=False,
            display="none",
        )
        there[first] = log.location
    for quality in qualities[1:]:
        name = f"urs_simulation/quality-{quality:.2f}"
        if name not in there:
            log = read_eval_log(there[first])
            take_over(log, name)
            write_eval_log(log, str(folder / f"copy-{quality:.2f}.eval"))
            print(f"made a log of {name}", file=sys.stderr, flush=True)


def take_over(log: EvalLog, model: str) -> None:
    """Give a log another simulated model: its name, and the scores that its answers would have."""
    first = log.eval.model
    log.eval.model = model
    log.eval.task_id = log.eval.eval_id = model.replace("/", "-")
    log.stats.model_usage[model] = log.stats.model_usage.pop(first)
    quality = read_quality(model.removeprefix("urs_simulation/"))
    for sample in log.samples or []:
        sample.model_usage[model] = sample.model_usage.pop(first)
        score = (sample.scores or {})["intent_judge"]
        if quality is None or not isinstance(score.value, dict) or score.metadata is None:
            raise SystemExit(f"no scores of a model of known quality: {model}")
        final = final_of(level_for("judge", quality.answer(str(sample.input))) or math.nan)
        given = {
            key: math.nan if _missing(value) else float(final) for key, value in score.value.items()
        }
        score.value = dict(given)
        score.metadata["judges"][0] |= {"final": final}
        score.metadata["judge_finals"] = [[JUDGE, final]]


def _missing(value: object) -> bool:
    return not isinstance(value, (int, float)) or math.isnan(value)


def measure_parts(folder: Path) -> dict[str, Any]:
    """Time each part of the report in this process."""
    from urs_inspect.reports.layout._page import render_page
    from urs_inspect.reports.numbers._answers import read_answers
    from urs_inspect.reports.numbers._comparison import ROUNDS
    from urs_inspect.reports.numbers._leaderboard import make_leaderboard
    from urs_inspect.reports.words._leaderboard import report_leaderboard

    costs: dict[str, Any] = {"imported": {"peak_mb": _peak()}}

    def timed(name: str, make: Callable[[], Made]) -> Made:
        wall = perf_counter()
        cpu = process_time()
        made = make()
        costs[name] = {
            "wall": perf_counter() - wall,
            "cpu": process_time() - cpu,
            "peak_mb": _peak(),
        }
        return made

    answers = timed("reading", lambda: read_answers([str(folder)]))
    board = timed("statistics", lambda: make_leaderboard(answers))
    page = timed("page", lambda: render_page(report_leaderboard(board)))
    [ranking] = board.rankings
    costs["page_mb"] = len(page.encode()) / 1e6
    costs["rows"] = len(answers.table)
    costs["models"] = len(ranking.compared.names)
    costs["rounds"] = ROUNDS
    costs["differences"] = len(ranking.compared.comparisons["all"])
    costs["intervals"] = costs["differences"] + len(ranking.compared.names) * len(
        ranking.compared.means
    )
    return costs


def measure_floors(folder: Path) -> dict[str, Any]:
    """Time what the parts are held against: whole logs, and a plain loop over rounds; both scaled
    up.
    """
    import numpy as np
    from inspect_ai.log import list_eval_logs, read_eval_log

    from urs_inspect.reports.numbers._answers import read_answers
    from urs_inspect.reports.numbers._comparison import ROUNDS
    from urs_inspect.reports.numbers._scores import columns_of, score_table
    from urs_inspect.rubrics import load_rubric

    files = list_eval_logs(str(folder))
    answers = read_answers([str(folder)]).table
    begun = process_time()
    for file in files[:WHOLE_LOGS]:
        read_eval_log(file)
    whole = (process_time() - begun) / min(WHOLE_LOGS, len(files)) * len(files)
    table = score_table(answers, sorted(set(answers["model"])))
    masks = [
        np.isin(np.arange(len(table.facts)), members)
        for members in columns_of(table.facts, load_rubric()).questions.values()
    ]
    scores = np.concatenate([table.finals, *table.criteria.values()], axis=1)
    first, second = np.triu_indices(len(table.models), 1)
    generator = np.random.default_rng(0)
    begun = process_time()
    for _ in range(LOOPED_ROUNDS):
        drawn = generator.integers(len(scores), size=len(scores))
        chosen = scores[drawn]
        np.nanmean(chosen, axis=0)
        for mask in masks:
            np.nanmean(table.finals[drawn[mask[drawn]]], axis=0)
        np.nanmean(chosen[:, first] - chosen[:, second], axis=0)
    return {"whole_logs": whole, "plain_loop": (process_time() - begun) / LOOPED_ROUNDS * ROUNDS}


def measure_command(folder: Path) -> dict[str, float]:
    """Time `urs-inspect report` as a user runs it."""
    with tempfile.TemporaryDirectory() as out:
        begun = perf_counter()
        running = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "report", str(folder), "-o", f"{out}/report"],
            stdout=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(running.pid, 0)
        wall = perf_counter() - begun
        if status:
            raise SystemExit("urs-inspect report failed")
        size = sum(path.stat().st_size for path in Path(out).rglob("*") if path.is_file()) / 1e6
    return {
        "wall": wall,
        "cpu": used.ru_utime + used.ru_stime,
        "peak_mb": used.ru_maxrss / 1024,
        "files_mb": size,
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _apart(part: str, folder: Path) -> Any:
    """Measure in a process of its own."""
    return in_process("report_speed", "--one", part, "--logs", str(folder))


def ratios(*, quick: bool) -> list[Row]:
    """Parts of the report over their floors."""
    dataset = "urs" if os.environ.get("URS_INSPECT_DATA_DIR") and not quick else "sample"
    models = 3 if quick else 5
    with tempfile.TemporaryDirectory() as folder:
        make_logs(Path(folder), models, dataset)
        parts = [_apart("parts", Path(folder)) for _ in range(1 if quick else 2)]
        floors = _apart("floors", Path(folder))
    read, drawn = (
        median(cost[name]["cpu"] for cost in parts) for name in ("reading", "statistics")
    )
    size = f"{models} simulated models, {parts[0]['rows']:,} answers"
    intervals = f"{size}, {parts[0]['intervals']} intervals of {parts[0]['rounds']:,} rounds"
    loop = f"a plain loop for means and differences, scaled from {LOOPED_ROUNDS} rounds"
    return [
        Row(
            "report: reading logs",
            size,
            read,
            floors["whole_logs"],
            "reading whole logs, scaled from two",
        ),
        Row("report: statistics", intervals, drawn, floors["plain_loop"], loop),
    ]


def main() -> None:
    """Print what a report costs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--logs", type=Path, help="where the logs are, or go; by default a folder that is removed"
    )
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--dataset", default="urs", help="as for the task urs")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", choices=("parts", "floors"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(
            json.dumps((measure_parts if options.one == "parts" else measure_floors)(options.logs))
        )
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.logs or Path(temporary)
        make_logs(folder, options.models, options.dataset)
        parts = []
        commands = []
        for number in range(options.repeats):
            parts.append(_apart("parts", folder))
            commands.append(measure_command(folder))
            print(f"round {number + 1} of {options.repeats}", file=sys.stderr, flush=True)
        print_costs(parts, commands, _apart("floors", folder), folder)


def print_costs(
    parts: list[dict[str, Any]],
    commands: list[dict[str, float]],
    floors: dict[str, float],
    folder: Path,
) -> None:
    """Print medians of all rounds, and ratios to the floors."""
    one = parts[0]
    size = sum(path.stat().st_size for path in folder.rglob("*.eval")) / 1e6
    print(f"{one['models']} models, {one['rows']:,} answers in {size:.0f} MB of logs; {one['intervals']:,} intervals, "
          f"{one['differences']} of them differences, {one['rounds']:,} rounds\n")  # fmt: skip
    print("| | wall, s | CPU, s | peak memory up to here, MB |\n|---|---|---|---|")
    print(f"| imports | | | {median(cost['imported']['peak_mb'] for cost in parts):.0f} |")
    for name in ("reading", "statistics", "page"):
        wall, cpu, peak = (
            median(cost[name][key] for cost in parts) for key in ("wall", "cpu", "peak_mb")
        )
        print(f"| {name} | {wall:.1f} | {cpu:.1f} | {peak:.0f} |")
    wall, cpu, peak = (median(cost[key] for cost in commands) for key in ("wall", "cpu", "peak_mb"))
    print(f"| `urs-inspect report` | {wall:.1f} | {cpu:.1f} | {peak:.0f} |")
    read, drawn = (
        median(cost[name]["cpu"] for cost in parts) for name in ("reading", "statistics")
    )
    print(f"\npage {one['page_mb']:.2f} MB, all files {commands[0]['files_mb']:.2f} MB")
    times = {
        "reading whole logs": floors["whole_logs"] / read,
        "a plain loop over rounds": floors["plain_loop"] / drawn,
    }
    print(
        f"reading whole logs, scaled from {WHOLE_LOGS}: {floors['whole_logs']:.0f} CPU s, "
        f"{times['reading whole logs']:.1f} times as long"
    )
    print(f"a plain loop over rounds, scaled from {LOOPED_ROUNDS}: {floors['plain_loop']:.0f} CPU s, "
          f"{times['a plain loop over rounds']:.0f} times as long as all statistics")  # fmt: skip


if __name__ == "__main__":
    main()
