"""`urs-inspect judges`: judges of pairs and of ratings compared."""

from collections import Counter
from pathlib import Path

import click
from rich.console import Console

from urs_inspect._util import InputError
from urs_inspect.cli.output import print_report


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
    type=click.Choice(["scenario", "need", "dimension", "intent", "language", "measure", "failure"]),
    help="Also show the accuracy (of ratings the agreement) by scenario or group, need, dimension, intent or language, "
    "all measures, or failures by mode. May be repeated.",
)
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write every number of every judge and baseline, with its bounds, to a CSV file; it must not exist.",
)
def judges(logs: tuple[str, ...], published: str, by: tuple[str, ...], csv_file: Path | None) -> None:
    """Compare the judges of LOGS of md_eval, judge_pairwise and judge_rating (files or directories)."""
    from urs_inspect.logs.files import finished_logs
    from urs_inspect.reports.judge_details import NUMBERS, judges_report
    from urs_inspect.reports.judges import read_judges, read_ratings
    from urs_inspect.reports.tables import csv_text

    if csv_file is not None and csv_file.exists():
        raise InputError(f"csv: {csv_file} exists already; name a new file")
    skipped: list[str] = []
    found = list(finished_logs(logs, skipped))
    pairs, ratings = read_judges(found), read_ratings(found)
    if not pairs and not ratings:
        what = "no log that is finished and has pairs scored by pair_verdict or responses scored by rating_agreement"
        raise InputError("\n".join([f"{what} in: {', '.join(logs)}", *skipped]))
    used = {judge.location for dataset in pairs for judge in dataset.judges}
    used |= {judge.location for dataset in ratings for judge in dataset.judges}
    tasks = Counter(log.eval.task for log in found if log.location not in used)
    if tasks:
        have = "1 log has" if tasks.total() == 1 else f"{tasks.total()} logs have"
        named = ", ".join(f"{count} of {task}" for task, count in sorted(tasks.items()))
        what = "no pairs scored by pair_verdict and no responses scored by rating_agreement"
        skipped.insert(0, f"Skipped: {have} {what} ({named}).")
    numbers = csv_file is not None
    report = judges_report(pairs, ratings, by=by, published=published, skipped=skipped, numbers=numbers)
    console = Console()
    print_report(report, console)
    if csv_file is not None:
        csv_file.write_text(csv_text(report.tables()[NUMBERS]), encoding="utf-8")
        console.print(f"\nAll numbers: {csv_file}", markup=False, highlight=False, soft_wrap=True)
