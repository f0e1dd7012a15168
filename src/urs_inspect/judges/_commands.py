"""`urs-inspect judges`: judges compared with labels, with people and with trivial rules."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from urs_inspect._util import InputError, check_folder, choices, counted, write_new_file
from urs_inspect.cli._first_screen import Shown, print_shown, shown_options

if TYPE_CHECKING:
    from urs_inspect.judges._judges import DatasetJudges


@click.command()
@click.argument("logs", nargs=-1, required=True)
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
@shown_options
def judges(
    logs: tuple[str, ...],
    by: tuple[str, ...],
    csv_file: Path | None,
    every: bool,
    only: str | None,
) -> None:
    """Compare the judges of LOGS of md_eval, judge_pairwise, judge_rating, judge_twins and mad
    (files or directories).

    Published results about the datasets of LOGS stand below.
    """
    from urs_inspect.judges._biases import MAD_TASK, battle_biases
    from urs_inspect.judges._judged import TWINS_TASK
    from urs_inspect.judges._judges import read_judges, read_ratings
    from urs_inspect.judges._report import judge_numbers, judges_report
    from urs_inspect.judges._twin_shifts import read_twins
    from urs_inspect.logs._files import finished_logs, nothing_left
    from urs_inspect.reports.layout._tables import csv_text

    if csv_file is not None:
        _check_new(csv_file)
    skipped: list[str] = []
    found = list(finished_logs(logs, skipped))
    measured = [log for log in found if log.eval.task != TWINS_TASK]
    pairs = read_judges(measured)
    ratings = read_ratings(measured)
    twins = [read_twins(log) for log in found if log.eval.task == TWINS_TASK]
    battles = battle_biases(found)
    if not pairs and not ratings and not twins and not battles:
        what = (
            "no log that is finished and has pairs scored by pair_verdict, responses scored by"
            " rating_agreement, twins of answers, or a judge's verdicts of mad"
        )
        raise nothing_left(what, logs, skipped)
    used = _locations([*pairs, *ratings]) | {one.log.location for one in twins}
    if battles:
        used |= {log.location for log in found if log.eval.task == MAD_TASK}
    others = Counter(log.eval.task for log in found if log.location not in used)
    if others:
        skipped.insert(0, _without_scores(others))
    report = judges_report(
        pairs,
        ratings,
        by=by,
        skipped=skipped,
        twins=twins,
        battles=battles,
    )
    written = []
    if csv_file is not None:
        write_new_file(csv_file, csv_text(judge_numbers(pairs, ratings)), "csv")
        written = [f"All numbers: {csv_file}"]
    print_shown(report, Console(), Shown(every, only), written)


def _check_new(csv_file: Path) -> None:
    if csv_file.exists():
        raise InputError(f"csv: {csv_file} exists already; name a new file")
    check_folder(csv_file.absolute().parent, "csv")


def _locations(datasets: "Iterable[DatasetJudges[Any]]") -> set[str]:
    """Where the logs are whose scores are shown."""
    locations: set[str] = set()
    for dataset in datasets:
        locations.update(judge.location for judge in dataset.judges)
    return locations


def _without_scores(tasks: Counter[str]) -> str:
    """A sentence on logs from which nothing is shown."""
    named = [f"{counted(count, 'log')} of {task}" for task, count in sorted(tasks.items())]
    return f"Skipped, because they hold no judged pairs or rated responses: {choices(named)}."
