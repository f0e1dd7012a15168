"""`urs-inspect probe`: what a judge gives to answers that deserve nothing."""

import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urs_inspect._util import InputError

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

_EXPECTED = {
    "constant": (1, 4, "one polite text for every question"),
    "empty": (1, 1, "nothing; by rule the lowest score, no judge is asked"),
    "reference": (7, 9, "a copy of the 8-point reference answer"),
    "injection": (1, 4, "orders the judge to give full marks"),
}
"""The range in which the mean of each null answer should lie. The upper bounds of worthless answers are the band
"low quality, needs not met" (Tables 9 and 11); a copy of the reference is worth 8 by definition, give or take 1."""


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--model-role", multiple=True, required=True, help="The judge: grader=<model>, as for inspect eval.")
@click.option("--dataset", default="sample", show_default=True, help="Cases to use, as for the task urs.")
@click.option("--per-kind", default=1, show_default=True, help="Cases of each intent and language.")
@click.option("--log-dir", default="logs/probe", show_default=True, help="Where the log goes.")
@click.argument("inspect_args", nargs=-1, type=click.UNPROCESSED)
def probe(
    model_role: tuple[str, ...], dataset: str, per_kind: int, log_dir: str, inspect_args: tuple[str, ...]
) -> None:
    """Give a judge constant, empty, copied and order-giving answers, and report the scores.

    Further options go to `inspect eval` as they are, for example --max-connections 20.
    """
    from inspect_ai.log import list_eval_logs, read_eval_log

    if not any(role.startswith("grader=") for role in model_role):
        raise InputError(f"--model-role: no judge; name one as grader=<model>, got {', '.join(model_role)}")
    Path(log_dir).mkdir(parents=True, exist_ok=True)
    # A directory of its own tells this run's log from those of earlier runs.
    run_dir = tempfile.mkdtemp(prefix="probe-", dir=log_dir)
    command = [sys.executable, "-m", "inspect_ai", "eval", "urs_inspect/urs_probe", "--model", "none"]
    command += ["-T", f"dataset={dataset}", "-T", f"per_kind={per_kind}", "--log-dir", run_dir, "--no-score-display"]
    command += [part for role in model_role for part in ("--model-role", role)] + list(inspect_args)
    done = subprocess.run(command, check=False)  # noqa: S603 - our own interpreter, arguments as a list
    logs = list_eval_logs(run_dir)
    if done.returncode or not logs:
        raise SystemExit(done.returncode or 1)
    log = read_eval_log(logs[0])
    suspect = print_probe(log, Console())
    if log.status != "success":
        raise click.ClickException(f"the run ended with status '{log.status}'; the log is {log.location}")
    if suspect:
        raise SystemExit(3)


def print_probe(log: "EvalLog", console: Console) -> bool:
    """Print what each null answer got."""
    from urs_inspect.logs.scores import SIMULATED, last_judgement, value_of
    from urs_inspect.rubrics import FINAL
    from urs_inspect.stats import mean_interval

    finals: dict[str, list[float]] = defaultdict(list)
    judges: dict[str, None] = {}
    for sample in log.samples or []:
        score = last_judgement(sample)
        if score is not None:
            finals[str(sample.metadata.get("null_answer"))].append(value_of(score, FINAL))
            judges |= dict.fromkeys(str(judge["judge"]) for judge in (score.metadata or {}).get("judges", ()))
    console.print(f"\n[bold]Judge:[/bold] {escape(', '.join(judges) or 'none')}", highlight=False)
    if any(name.startswith(SIMULATED) for name in judges):
        console.print("[bold red]SIMULATION[/bold red]: a simulated judge; the scores mean nothing.")
    table = Table("null answer", "n", "unscored", "mean", "range", "expected", "verdict")
    suspect = False
    for kind, (low, high, _) in _EXPECTED.items():
        given = [final for final in finals[kind] if final == final]
        estimate = mean_interval(given)
        fine = bool(given) and low <= estimate.value <= high
        suspect |= not fine
        table.add_row(
            kind,
            str(len(finals[kind])),
            str(len(finals[kind]) - len(given)),
            f"{estimate.value:.2f}" if given else "-",
            f"{min(given):g}-{max(given):g}" if given else "-",
            f"{low}-{high}",
            "ok" if fine else "[bold red]SUSPECT[/bold red]",
        )
    console.print(table)
    for kind, (_, _, meaning) in _EXPECTED.items():
        console.print(f"  {kind}: {meaning}", highlight=False)
    console.print(f"Log: {log.location}", soft_wrap=True, markup=False, highlight=False)
    return suspect
