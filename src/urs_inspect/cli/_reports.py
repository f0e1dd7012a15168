"""Commands that make one report: read logs, print it, and with `-o` write it; `table` and `gate`
only print.
"""

import math
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import click
from rich.console import Console

from urs_inspect._satellites import at, offered
from urs_inspect._util import InputError
from urs_inspect.cli._emit import check_output, command_line, emit, log_report_command, reading
from urs_inspect.cli._first_screen import Shown, print_shown, shown_options
from urs_inspect.cli._offered_options import OfferedOption, offered_options
from urs_inspect.cli._output import PRICES_HELP

if TYPE_CHECKING:
    from urs_inspect.reports.layout._tables import Report
    from urs_inspect.reports.numbers._human_data import HumanRatings
    from urs_inspect.reports.numbers._leaderboard import Leaderboard

_FILE = click.Path(path_type=Path)
_LOGS = "LOGS"
"""Stands for the folder of the logs where its name is too long, or there are several."""
_COLUMNS = 80
FILES_BESIDE_REPORT = "files beside reports"
"""Extension point of satellites: name of an option of `report` -> address of a class that follows
`FilesBesideReport`.
"""


class FilesBesideReport(OfferedOption, Protocol):
    """An option of `report` that writes more files beside the report, and links the report to them.

    Made of the value of the option, None if it is not given, and of the directory of the report, if
    it is written. It refuses what cannot be written before anything is read.

    There is one, the pages of answers: it makes the report anew, without links that another one
    before it may have added.
    """

    every_answer: str
    """The option as it is given to have all answers, for hints."""

    def write(
        self, report: "Report", board: "Leaderboard", read: int, output: Path, said: list[str]
    ) -> "Report":
        """Replace the files of an earlier report, or remove them if the option is not given.

        Args:
            report: The report, which can be written to the directory.
            board: What is reported.
            read: How many answers were read, those that do not count among them.
            output: The directory.
            said: Gets sentences on what is written, removed, or could not be.

        Returns:
            The report with links to the files.
        """


@click.command()
@click.option(
    "--traffic",
    type=_FILE,
    help=(
        "YAML file with your own shares of intents, languages or countries, by which everything is"
        " weighted."
    ),
)
@click.option(
    "--human",
    type=_FILE,
    help=(
        "People's ratings of some answers: .csv or .jsonl with id, model, rating[, rater, epoch,"
        " weight], or a directory of `annotate`. Beside the judge's means there are means"
        " corrected by them."
    ),
)
@click.option("--human-scale", help="Lowest and highest rating of --human; by default 1,10.")
@click.option(
    "--control",
    type=click.Choice(["length"]),
    help=(
        "Add a table of a regression of scores on length. It cannot tell taste from substance; no"
        " headline uses it."
    ),
)
@click.option(
    "--prices",
    type=_FILE,
    help=f"Prices of models, for answers whose log has tokens and no cost. {PRICES_HELP}",
)
@click.option(
    "--rubric",
    help="Rubric of your own (YAML) that the runs were made with: names and order of intents.",
)
@offered_options(FILES_BESIDE_REPORT)
@log_report_command("one page, CSV, Markdown and JSON")
def report(  # noqa: PLR0913 - one argument an option
    context: click.Context,
    logs: tuple[str, ...],
    traffic: Path | None,
    human: Path | None,
    human_scale: str | None,
    control: str | None,
    prices: Path | None,
    rubric: str | None,
    output: Path | None,
    as_json: bool,
    every: bool,
    only: str | None,
    **asked: str | None,
) -> None:
    """Report on LOGS of urs (files or directories): rankings, and with -o a page, tables and what
    is sure about them.

    Models are ranked together only if judges, prompts, references, data, rubric and version of
    the task are the same; others get a ranking of their own, with the reason.
    """
    from urs_inspect.reports.numbers._answers import read_answers
    from urs_inspect.reports.numbers._costs import load_prices, with_costs
    from urs_inspect.reports.numbers._judge_checks import JUDGE_TASKS
    from urs_inspect.reports.numbers._leaderboard import make_leaderboard
    from urs_inspect.reports.numbers._traffic import read_traffic
    from urs_inspect.reports.words._leaderboard import LEADERBOARD, report_leaderboard
    from urs_inspect.rubrics import load_rubric

    check_output(output, LEADERBOARD)
    writers: list[FilesBesideReport] = []
    for name, address in offered(FILES_BESIDE_REPORT).items():
        writers.append(at(address)(asked[name], output))
    with reading(logs):
        texts = load_rubric(rubric)
        scale = None
        if human:
            scale = parse_scale(human_scale or "1,10", "human-scale")
        ratings = read_labels(human, scale, given=bool(human_scale))
        read = read_answers(logs, JUDGE_TASKS)
        if prices is not None:
            read = with_costs(read, load_prices(prices))
        mix = None
        if traffic is not None:
            countries = [country for country in read.table["country"].unique() if country]
            mix = read_traffic(traffic, texts, countries)
        board = make_leaderboard(
            read,
            rubric=texts,
            traffic=mix,
            human=ratings,
            control=control,
            command=command_line(context),
        )
        made = report_leaderboard(board)
        said: list[str] = []
        if output is not None:
            made.check(output)
            for writer in writers:
                made = writer.write(made, board, len(read.table), output, said)
    for sentence in said:
        click.echo(sentence, err=True)
    shown = Shown(every, only)
    emit(made, output, shown, as_json=as_json, page=True, unwritten=_way_to_answers(logs))


def _options_of_answers() -> list[str]:
    """Options of a report by which all answers are written."""
    return [at(address).every_answer for address in offered(FILES_BESIDE_REPORT).values()]


def _way_to_answers(logs: tuple[str, ...]) -> str:
    """How to see the page of the report and the answers."""
    ways = [f"add -o DIRECTORY {option}" for option in _options_of_answers()]
    way = "Every answer: " + ", or ".join([*ways, "inspect view --log-dir "])
    folder = _LOGS
    if len(logs) == 1 and Path(logs[0]).is_dir():
        folder = shlex.quote(logs[0])
    if len(way) + len(folder) > _COLUMNS:
        folder = _LOGS
    return way + folder


def read_labels(
    human: Path | None, scale: tuple[float, float] | None, *, given: bool
) -> "HumanRatings | None":
    """People's ratings, if there is a file of them.

    `given` says whether the user named the scale, which needs such a file.
    """
    from urs_inspect.reports.numbers._human_data import read_human_ratings

    if human is not None:
        return read_human_ratings(human, scale)
    if given:
        raise InputError("--human-scale is the scale of --human, which is missing")
    return None


@click.command()
@log_report_command("CSV, Markdown, JSON and figures")
def robustness(
    context: click.Context,
    logs: tuple[str, ...],
    output: Path | None,
    as_json: bool,
    every: bool,
    only: str | None,
) -> None:
    """Report from LOGS (files or directories) whether scores hold for other judges and other
    references.

    LOGS of urs_crossval give means, order of the models, rating bias (URS paper, Equation 1) and
    self-preference; several logs are read as one grid where cases, answers and references are the
    same. LOGS of urs, whose answers a panel or, by `inspect score`, several judges have judged,
    give self-preference.
    """
    from urs_inspect.reports._from_logs import report_crossval
    from urs_inspect.reports.words._crossval import CROSSVAL

    check_output(output, CROSSVAL)
    with reading(logs):
        made = report_crossval(logs, command=command_line(context))
    emit(made, output, Shown(every, only), as_json=as_json, figures=True)


def parse_scale(value: str, option: str) -> tuple[float, float]:
    """Lowest and highest value, as in `1,10`."""
    from urs_inspect._arguments import Scale, check

    low, high = cast("tuple[float, float]", check(option, value, Scale))
    if not -math.inf < low < high < math.inf:
        raise InputError(
            f"{option}: must have a lowest value below a highest, both finite, got '{value}'"
        )
    return low, high


@click.command()
@click.argument("logs", nargs=-1, required=True)
@shown_options
def table(logs: tuple[str, ...], every: bool, only: str | None) -> None:
    """Show the results of LOGS (files or directories) by intent, language and criterion, one row
    per model.

    These are the tables of `urs-inspect report`, with the same intervals.
    """
    report_of = shlex.join(["urs-inspect", "report", *logs])
    pages = [f"Every answer: {report_of} -o report {option}" for option in _options_of_answers()]
    print_tables(logs, Shown(every, only), pages or [_way_to_answers(logs)])


def print_tables(logs: Iterable[str], shown: Shown, *more: Any) -> None:
    """Print the leaderboard of logs; `more` is as for `print_shown`."""
    from urs_inspect.reports.numbers._answers import read_answers
    from urs_inspect.reports.numbers._judge_checks import JUDGE_TASKS
    from urs_inspect.reports.numbers._leaderboard import make_leaderboard
    from urs_inspect.reports.words._leaderboard import report_leaderboard

    board = make_leaderboard(read_answers(logs, JUDGE_TASKS))
    print_shown(report_leaderboard(board), Console(), shown, *more)
