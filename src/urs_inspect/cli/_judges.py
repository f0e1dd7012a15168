"""`urs-inspect judges` and `probe`: judges compared, and what a judge gives to answers that deserve
nothing.
"""

import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urs_inspect._util import InputError, check_folder, write_new_file
from urs_inspect.cli._output import print_report

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option(
    "--published",
    type=click.Choice(["all", "matching", "none"]),
    default="matching",
    show_default=True,
    help="Which published tables to show: all, those about the datasets of LOGS, or none.",
)
@click.option(
    "--by",
    "by",
    multiple=True,
    type=click.Choice(
        ["scenario", "need", "dimension", "intent", "language", "measure", "failure"]
    ),
    help=(
        "Also show the accuracy (of ratings the agreement) by scenario or group, need, dimension,"
        " intent or language, all measures, or failures by mode. May be repeated."
    ),
)
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help=(
        "Write every number of every judge and baseline, with its bounds, to a CSV file; it must"
        " not exist."
    ),
)
def judges(
    logs: tuple[str, ...], published: str, by: tuple[str, ...], csv_file: Path | None
) -> None:
    """Compare the judges of LOGS of md_eval, judge_pairwise and judge_rating (files or
    directories).
    """
    from urs_inspect.logs._files import finished_logs, nothing_left
    from urs_inspect.reports.layout._tables import csv_text
    from urs_inspect.reports.numbers._judges import read_judges, read_ratings
    from urs_inspect.reports.words._judge_details import NUMBERS, judges_report

    if csv_file is not None and csv_file.exists():
        raise InputError(f"csv: {csv_file} exists already; name a new file")
    if csv_file is not None:
        check_folder(csv_file.absolute().parent, "csv")
    skipped: list[str] = []
    found = list(finished_logs(logs, skipped))
    pairs = read_judges(found)
    ratings = read_ratings(found)
    if not pairs and not ratings:
        what = (
            "no log that is finished and has pairs scored by pair_verdict or responses scored by"
            " rating_agreement"
        )
        raise nothing_left(what, logs, skipped)
    used = set()
    for dataset in pairs:
        for judge in dataset.judges:
            used.add(judge.location)
    used |= {judge.location for dataset in ratings for judge in dataset.judges}
    tasks = Counter(log.eval.task for log in found if log.location not in used)
    if tasks:
        have = "1 log has" if tasks.total() == 1 else f"{tasks.total()} logs have"
        named = ", ".join(f"{count} of {task}" for task, count in sorted(tasks.items()))
        what = "no pairs scored by pair_verdict and no responses scored by rating_agreement"
        skipped.insert(0, f"Skipped: {have} {what} ({named}).")
    numbers = csv_file is not None
    report = judges_report(
        pairs, ratings, by=by, published=published, skipped=skipped, numbers=numbers
    )
    console = Console()
    print_report(report, console)
    if csv_file is not None:
        write_new_file(csv_file, csv_text(report.tables()[NUMBERS]), "csv")
        console.print(f"\nAll numbers: {csv_file}", markup=False, highlight=False, soft_wrap=True)


def _without_logs(
    _context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    """What goes to `inspect eval`; a log, or what else is no option or its value, is refused."""
    for before, word in pairwise(["", *given]):
        if not word.startswith("-") and (word.endswith(".eval") or not before.startswith("-")):
            from urs_inspect.logs._files import PACKAGE, reading_command

            reads = reading_command(f"{PACKAGE}urs_probe")
            hint = f"`{reads}` reads logs of urs_probe beside those of urs"
            raise InputError(f"probe starts a run and takes no log, got '{word}'; {hint}")
    return given


@click.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "--model-role",
    multiple=True,
    required=True,
    help="The judge: grader=<model>, as for inspect eval.",
)
@click.option(
    "--dataset", default="sample", show_default=True, help="Cases to use, as for the task urs."
)
@click.option("--per-kind", default=1, show_default=True, help="Cases of each intent and language.")
@click.option("--log-dir", default="logs/probe", show_default=True, help="Where the log goes.")
@click.argument(
    "inspect_args", nargs=-1, type=click.UNPROCESSED, callback=_without_logs, is_eager=True
)
def probe(
    model_role: tuple[str, ...],
    dataset: str,
    per_kind: int,
    log_dir: str,
    inspect_args: tuple[str, ...],
) -> None:
    """Give a judge constant, empty, copied and order-giving answers, and report the scores.

    Further options go to `inspect eval` as they are, for example --max-connections 20.
    """
    from inspect_ai.log import list_eval_logs, read_eval_log

    if not any(role.startswith("grader=") for role in model_role):
        raise InputError(
            f"--model-role: no judge; name one as grader=<model>, got {', '.join(model_role)}"
        )
    Path(log_dir).mkdir(parents=True, exist_ok=True)
    # A directory of its own tells this run's log from those of earlier runs.
    run_dir = tempfile.mkdtemp(prefix="probe-", dir=log_dir)
    command = [
        sys.executable,
        "-m",
        "inspect_ai",
        "eval",
        "urs_inspect/urs_probe",
        "--model",
        "none",
    ]
    command += [
        "-T",
        f"dataset={dataset}",
        "-T",
        f"per_kind={per_kind}",
        "--log-dir",
        run_dir,
        "--no-score-display",
    ]
    command += [part for role in model_role for part in ("--model-role", role)] + list(inspect_args)
    done = subprocess.run(command, check=False)  # noqa: S603 - our own interpreter, arguments as a list
    logs = list_eval_logs(run_dir)
    if done.returncode or not logs:
        raise SystemExit(done.returncode or 1)
    log = read_eval_log(logs[0])
    suspect = print_probe(log, Console())
    if log.status != "success":
        raise click.ClickException(
            f"the run ended with status '{log.status}'; the log is {log.location}"
        )
    if suspect:
        raise SystemExit(3)


def print_probe(log: "EvalLog", console: Console) -> bool:
    """Print what each null answer got."""
    from urs_inspect.logs._scores import SIMULATED, last_judgement, value_of
    from urs_inspect.reports.numbers._judge_checks import NULL_ANSWERS
    from urs_inspect.rubrics import FINAL
    from urs_inspect.stats import mean_interval

    finals: dict[str, list[float]] = defaultdict(list)
    judges: dict[str, None] = {}
    for sample in log.samples or []:
        score = last_judgement(sample)
        if score is not None:
            finals[str(sample.metadata.get("null_answer"))].append(value_of(score, FINAL))
            judges |= dict.fromkeys(
                str(judge["judge"]) for judge in (score.metadata or {}).get("judges", ())
            )
    console.print(f"\n[bold]Judge:[/bold] {escape(', '.join(judges) or 'none')}", highlight=False)
    if any(name.startswith(SIMULATED) for name in judges):
        console.print(
            "[bold red]SIMULATION[/bold red]: a simulated judge; the scores mean nothing."
        )
    table = Table("null answer", "n", "unscored", "mean", "range", "expected", "verdict")
    suspect = False
    for kind, (low, high, _) in NULL_ANSWERS.items():
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
    for kind, (_, _, meaning) in NULL_ANSWERS.items():
        console.print(f"  {kind}: {meaning}", highlight=False)
    console.print(f"Log: {log.location}", soft_wrap=True, markup=False, highlight=False)
    return suspect
