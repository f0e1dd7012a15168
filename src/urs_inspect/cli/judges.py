"""`urs-inspect judges`: how good judges are, beside baselines and what others published."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from urs_inspect.cli.cells import NONE
from urs_inspect.cli.pair_judges import print_dataset
from urs_inspect.cli.rating_judges import print_ratings
from urs_inspect.cli.text_tables import print_text_table
from urs_inspect.errors import InputError

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

    from urs_inspect.reports import DatasetJudges, DatasetRatings, PublishedTable
    from urs_inspect.reports.judge_details import Detail
    from urs_inspect.reports.sections import TextTable


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
    from urs_inspect.reports.judge_details import details_csv, pair_details, rating_details

    if csv_file is not None and csv_file.exists():
        raise InputError(f"csv: {csv_file} exists already; name a new file")
    skipped: list[str] = []
    pairs, ratings, left_out = read_datasets(logs, skipped)
    console = Console()
    for dataset in pairs:
        print_dataset(dataset, console)
        print_details({judge.name: pair_details(judge) for judge in dataset.judges} if by else {}, by, console)
    for rated in ratings:
        print_ratings(rated, console)
        print_details({judge.name: rating_details(judge) for judge in rated.judges} if by else {}, by, console)
    if csv_file is not None:
        csv_file.write_text(details_csv(pairs, ratings), encoding="utf-8")
        console.print(f"\nAll numbers: {csv_file}", markup=False, highlight=False, soft_wrap=True)
    for sentence in [*([_left_out(left_out)] if left_out else []), *skipped]:
        console.print(f"\n{sentence}", markup=False, highlight=False)
    names = [dataset.dataset for dataset in pairs] + [rated.dataset for rated in ratings]
    print_published(published, names, console)


def print_details(judges: "Mapping[str, Sequence[Detail]]", by: Iterable[str], console: Console) -> None:
    """Print what logs hold about judges beyond their headline.

    Args:
        judges: The details of each judge of one dataset, by its name.
        by: What to show: a grouping, `measure`, or `failure`.
        console: Where to.
    """
    for what in by:
        chosen = {name: [one for one in details if one.by == _BY.get(what, what)] for name, details in judges.items()}
        if not any(chosen.values()):
            console.print(f"\n{_nothing(what)}", markup=False, highlight=False)
        for level in dict.fromkeys(one.level for details in chosen.values() for one in details):
            cells = {
                name: {(one.group, one.measure): _detail(one) for one in details if one.level == level}
                for name, details in chosen.items()
            }
            print_text_table(_details_table(what, cells), console, _title(what, level))


_BY = {"measure": "all"}
_LEVELS = {"overall": "verdicts as a whole", "dimensions": "verdicts on dimensions"}


def _nothing(what: str) -> str:
    if what == "failure":
        return "Failures: none."
    if what == "measure":
        return "No measures: no judgement can be counted."
    return f"No figures by {what}: the logs have no such groups, or only one."


def _title(what: str, level: str) -> str:
    if what == "failure":
        return "Failures by mode"
    if level == "ratings":
        return f"Agreement with the labels by {what}"
    number = "Shares in %, alpha from -1 to 1," if what == "measure" else "Accuracy in %"
    return f"{number} by {what}: {_LEVELS[level]}"


def _details_table(what: str, cells: "Mapping[str, Mapping[tuple[str, str], str]]") -> "TextTable":
    from urs_inspect.reports.sections import TextTable

    keys = list(dict.fromkeys(key for of_judge in cells.values() for key in of_judge))
    named = [place for place in (0, 1) if len({key[place] for key in keys}) > 1] or [0]
    return TextTable(
        headings=(*((what, "measure")[place] for place in named), *cells),
        rows=tuple(
            (*(key[place] for place in named), *(of_judge.get(key, NONE) for of_judge in cells.values()))
            for key in keys
        ),
        names=len(named),
    )


def _detail(one: "Detail") -> str:
    if one.measure == "count":
        return f"{one.value:.0f}"
    share = one.level != "ratings" and one.measure != "alpha"
    factor, digits = (100, 1) if share else (1, 3)
    shown = f"{factor * one.value:.{digits}f}"
    if math.isnan(one.low):
        return shown
    return f"{shown} ({factor * one.low:.{digits}f} to {factor * one.high:.{digits}f})"


def read_datasets(
    logs: Iterable[str], skipped: list[str]
) -> "tuple[list[DatasetJudges], list[DatasetRatings], list[EvalLog]]":
    """Read the judges of log files and of all logs below directories.

    Args:
        logs: The names.
        skipped: Gets a sentence about logs that are skipped, as from `finished_logs`.

    Returns:
        The datasets of judged pairs, those of rated responses, and the finished logs that have neither.

    Raises:
        InputError: If there is no log, or none with judged pairs or rated responses.
    """
    from urs_inspect.reports import finished_logs, read_judges, read_ratings

    names = list(logs)
    found = list(finished_logs(names, skipped))
    pairs, ratings = read_judges(found), read_ratings(found)
    if not pairs and not ratings:
        what = "no log that is finished and has pairs scored by pair_verdict or responses scored by rating_agreement"
        raise InputError("\n".join([f"{what} in: {', '.join(names)}", *skipped]))
    used = {judge.location for dataset in pairs for judge in dataset.judges}
    used |= {judge.location for rated in ratings for judge in rated.judges}
    return pairs, ratings, [log for log in found if log.location not in used]


def _left_out(logs: "list[EvalLog]") -> str:
    tasks = Counter(log.eval.task for log in logs)
    named = ", ".join(f"{count} of {task}" for task, count in sorted(tasks.items()))
    several = "1 log has" if len(logs) == 1 else f"{len(logs)} logs have"
    return f"Left out: {several} no pairs scored by pair_verdict and no responses scored by rating_agreement ({named})."


def print_published(which: str, datasets: list[str], console: Console) -> None:
    """Print what others published: all tables, those about the datasets (`matching`), or `none`."""
    from urs_inspect.reports import load_published

    published = load_published()
    tables = {"all": published.tables, "matching": published.about(datasets), "none": ()}[which]
    if not tables:
        return
    console.print(f"\n[bold]PUBLISHED, NOT MEASURED HERE:[/bold] {published.source}", highlight=False)
    for table in tables:
        console.print(_published_table(table))


def _published_table(published: "PublishedTable") -> Table:
    unit = "%" if published.unit == "percent" else "-1 to 1"
    title = f"Published, Table {published.number}. {published.title} ({unit})"
    table = Table(title=title, title_justify="left", padding=0)  # up to eleven columns must fit on a terminal
    table.add_column("judge", no_wrap=True)
    for column in published.columns:
        table.add_column(column.name, justify="right", min_width=max(map(len, column.name.split())))
    digits = 2 if published.unit == "percent" else 3
    for judge, numbers in published.judges.items():
        table.add_row(judge, *[NONE if number is None else f"{number:.{digits}f}" for number in numbers])
    return table
