"""`urs-inspect judges`: how good judges are, beside baselines and what others published."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from urs_inspect.cli.cells import NONE
from urs_inspect.cli.pair_judges import print_dataset
from urs_inspect.cli.rating_judges import print_ratings
from urs_inspect.errors import InputError

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

    from urs_inspect.reports import DatasetJudges, DatasetRatings, PublishedTable


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option(
    "--published",
    type=click.Choice(["all", "matching", "none"]),
    default="matching",
    show_default=True,
    help="Which published tables to show: all, those about the datasets of LOGS, or none.",
)
def judges(logs: tuple[str, ...], published: str) -> None:
    """Compare the judges of LOGS of md_eval, judge_pairwise and judge_rating (files or directories)."""
    skipped: list[str] = []
    pairs, ratings, left_out = read_datasets(logs, skipped)
    console = Console()
    for dataset in pairs:
        print_dataset(dataset, console)
    for rated in ratings:
        print_ratings(rated, console)
    for sentence in [*([_left_out(left_out)] if left_out else []), *skipped]:
        console.print(f"\n{sentence}", markup=False, highlight=False)
    names = [dataset.dataset for dataset in pairs] + [rated.dataset for rated in ratings]
    print_published(published, names, console)


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
