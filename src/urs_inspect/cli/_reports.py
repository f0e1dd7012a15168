"""Commands that make one report: read logs, print it, and with `-o` write it; `table` and `gate`
only print.
"""

import math
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from rich.console import Console

from urs_inspect._satellites import at
from urs_inspect._util import InputError
from urs_inspect.cli._first_screen import Shown, print_shown, shown_options
from urs_inspect.cli._output import PRICES_HELP, progress_bar

if TYPE_CHECKING:
    from urs_inspect.reports.layout._tables import Report
    from urs_inspect.reports.numbers._human_data import HumanRatings

_FILE = click.Path(path_type=Path)
_LOGS = "LOGS"
"""Stands for the folder of the logs where its name is too long, or there are several."""
_COLUMNS = 80


def report_command(
    kind: str, rounds: int | None, *, figures: bool = False, page: bool = False
) -> Callable[..., click.Command]:
    """Make a command of a function that makes a report.

    Args:
        kind: Address of the `ReportKind`.
        rounds: Rounds of the bootstrap.
        figures: Whether the report is written with figures of its own.
        page: Whether it has a page.
    """
    files = "CSV, Markdown and JSON"
    if figures:
        files = "CSV, Markdown, JSON and figures"
    if page:
        files = f"one page, {files}"
    common = [
        click.Option(["-o", "--output"], type=_FILE, help=f"Directory for {files}."),
        click.Option(["--json", "as_json"], is_flag=True, help="Print JSON in place of tables."),
    ]

    def decorate(make: Callable[..., Any]) -> click.Command:
        @shown_options
        def run(
            logs: tuple[str, ...],
            output: Path | None,
            as_json: bool,
            every: bool,
            only: str | None,
            **options: Any,
        ) -> None:
            from urs_inspect.reports.layout._tables import check_directory

            if output is not None:
                check_directory(output, at(kind))
            command = _command_line(logs, output, options)
            if rounds is not None:
                options["rounds"] = rounds
            with _reading(logs):
                report = make(logs, command=command, **options)
            if output is not None:
                written = _write(report, output, figures=figures, page=page)
                more = [f"Written: {written[0]}, and {len(written) - 1} more files beside it"]
            else:
                more = []
                if page:
                    more = [_way_to_page(logs, options)]
            if as_json:
                click.echo(report.json(), nl=False)
            else:
                print_shown(report, Console(), Shown(every, only), more)

        run.__module__ = make.__module__
        shown = reversed(getattr(run, "__click_params__", []))
        own = reversed(getattr(make, "__click_params__", []))
        return click.Command(
            make.__name__,
            help=make.__doc__,
            callback=run,
            params=[click.Argument(["logs"], nargs=-1, required=True), *own, *common, *shown],
        )

    return decorate


def _command_line(logs: tuple[str, ...], output: Path | None, options: Mapping[str, Any]) -> str:
    """The command that makes the same report again."""
    _, *names = click.get_current_context().command_path.split()
    words = ["urs-inspect", *names, *logs]
    if output is not None:
        words += ["-o", str(output)]
    for option, value in options.items():
        for given in value if isinstance(value, tuple) else (value,):
            if given is None or given is False:
                continue
            words.append(f"--{option.replace('_', '-')}")
            if given is not True:
                words.append(str(given))
    return shlex.join(words)


@contextmanager
def _reading(logs: Iterable[str]) -> Iterator[None]:
    """Shows on a terminal which part of the logs is read; standard output may be read as JSON."""
    from urs_inspect.logs._files import log_files, watching_reads

    errors = Console(stderr=True)
    if not errors.is_terminal:
        yield
        return
    try:
        files = len(log_files(logs))
    except InputError:  # the command itself says what is wrong
        yield
        return
    read: set[str] = set()
    with progress_bar(errors, transient=True) as bar:
        task = bar.add_task("Reading logs", total=files)

        def show(file: str) -> None:
            read.add(file)
            bar.update(task, completed=len(read))
            if len(read) >= files:
                bar.update(task, description="Computing intervals", total=None)

        with watching_reads(show):
            yield


def _write(report: "Report", output: Path, *, figures: bool, page: bool) -> Sequence[Path]:
    """Write a report, without its figures where what draws them is not installed."""
    from urs_inspect.reports.layout._figures import missing_viz
    from urs_inspect.reports.layout._page import further_pages, render_page

    message = missing_viz()
    if figures and message:
        click.echo(f"Written without figures. {message}", err=True)
        report = replace(report, figures={})
    pages = {}
    if page:
        pages = {f"{report.kind.stem}.html": report, **further_pages(report)}
    return report.write(output, {name: partial(render_page, made) for name, made in pages.items()})


def _way_to_page(logs: tuple[str, ...], options: Mapping[str, Any]) -> str:
    """How to see the page of a report, and the answers, where it has them."""
    if "answers" not in options:
        return "A page: add -o DIRECTORY"
    way = "Every answer: add -o DIRECTORY --answers pages, or inspect view --log-dir "
    folder = _LOGS
    if len(logs) == 1 and Path(logs[0]).is_dir():
        folder = shlex.quote(logs[0])
    if len(way) + len(folder) > _COLUMNS:
        folder = _LOGS
    return way + folder


@report_command(
    "reports.words._leaderboard:LEADERBOARD",
    10_000,
    page=True,
)
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
@click.option(
    "--answers",
    type=click.Choice(["pages", "viewer"]),
    help=(
        "Write the answers of the rankings and their judgements as well: tables, and pages to which"
        " the report links; with `viewer` also inspect view with a copy of the logs (11 MB and the"
        " logs), linked from each answer."
    ),
)
def report(
    logs: tuple[str, ...],
    *,
    answers: str | None,
    traffic: Path | None,
    human: Path | None,
    human_scale: str | None,
    prices: Path | None,
    rubric: str | None,
    **options: Any,
) -> Any:
    """Report on LOGS of urs (files or directories): rankings, and with -o a page, tables and what
    is sure about them.

    Models are ranked together only if judges, prompts, references, data, rubric and version of
    the task are the same; others get a ranking of their own, with the reason.
    """
    from urs_inspect.reports._answer_pages import ANSWERS, remove_answers, report_with_answers
    from urs_inspect.reports.layout._tables import check_directory
    from urs_inspect.reports.numbers._answers import read_answers
    from urs_inspect.reports.numbers._costs import load_prices, with_costs
    from urs_inspect.reports.numbers._judge_checks import JUDGE_TASKS
    from urs_inspect.reports.numbers._leaderboard import make_leaderboard
    from urs_inspect.reports.numbers._traffic import read_traffic
    from urs_inspect.reports.words._leaderboard import report_leaderboard
    from urs_inspect.rubrics import load_rubric

    output: Path | None = click.get_current_context().params["output"]
    if answers is not None:  # before logs are read
        if output is None:
            raise InputError("--answers writes files, and needs -o DIRECTORY")
        check_directory(output, ANSWERS)
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
    board = make_leaderboard(read, rubric=texts, traffic=mix, human=ratings, **options)
    said: list[str] = []
    if answers is not None and output is not None:
        made = report_with_answers(board, output, said, len(read.table), viewer=answers == "viewer")
    else:
        made = report_leaderboard(board)
        if output is not None:
            said = remove_answers(output)
    for sentence in said:
        click.echo(sentence, err=True)
    return made


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


@report_command("reports.words._crossval:CROSSVAL", 10_000, figures=True)
def robustness(logs: tuple[str, ...], **options: Any) -> Any:
    """Report from LOGS (files or directories) whether scores hold for other judges and other
    references.

    LOGS of urs_crossval give means, order of the models, rating bias (URS paper, Equation 1) and
    self-preference; several logs are read as one grid where cases, answers and references are the
    same. LOGS of urs, whose answers a panel or, by `inspect score`, several judges have judged,
    give self-preference.
    """
    from urs_inspect.reports._from_logs import report_crossval

    return report_crossval(logs, **options)


@report_command("reports.words._agreement:AGREEMENT", 2000)
@click.option(
    "--human",
    type=_FILE,
    help=(
        "Ratings of answers: .csv or .jsonl with id, model, rating[, rater, epoch], or what"
        " `annotate` saved."
    ),
)
@click.option(
    "--satisfaction",
    type=_FILE,
    help="Satisfaction: .csv or .jsonl with intent, satisfaction[, n, respondent].",
)
@click.option(
    "--scale",
    metavar="LOW,HIGH",
    help=(
        "Lowest and highest value of the one file of --human (by default 1,10) or --satisfaction"
        " (by default 1,5)."
    ),
)
@click.option(
    "--votes",
    multiple=True,
    help=(
        "People's votes between models: a list of votes, a log of mad with people's choices, or"
        " people's votes on comparisons together with the log or file that has these; a file"
        " or directory. May be repeated."
    ),
)
def agreement(logs: tuple[str, ...], scale: str | None, **options: Any) -> Any:
    """Compare the scores in LOGS (of urs, or directories of them) with what people say.

    Give at least one of --human, --satisfaction and --votes. Judges are never mixed: scores by
    another judge, with other prompts, references or data have tables of their own.

    --satisfaction: mean score and mean satisfaction by intent, Pearson over intents (URS paper,
    Figure 5). A row is one person's answer, or, with n, the mean of n people's.

    --votes: mean score and Bradley-Terry rating by model, Pearson over models (Figure 6).

    --human: final score and rating of the same answers: Spearman, Kendall, Pearson and
    Krippendorff's alpha, also by intent and by model, and alpha among people. Ratings of questions
    or models that are not in the logs are skipped and counted; a rating outside the scale is an
    error.
    """
    from urs_inspect.reports._from_logs import report_agreement

    if scale is not None:
        options[_what_has_scale(options)] = parse_scale(scale, "scale")
    return report_agreement(logs, **options)


def _what_has_scale(options: Mapping[str, Any]) -> str:
    """Name of the argument for the scale of the one file that has a scale."""
    if (options["human"] is None) == (options["satisfaction"] is None):
        raise InputError(
            "--scale is of one file; give either --human or --satisfaction, and run the command"
            " once for each"
        )
    if options["human"] is None:
        return "satisfaction_scale"
    return "human_scale"


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
    page = f"Every answer: {report_of} -o report --answers pages"
    print_tables(logs, Shown(every, only), [page])


def print_tables(logs: Iterable[str], shown: Shown, *more: Any) -> None:
    """Print the leaderboard of logs; `more` is as for `print_shown`."""
    from urs_inspect.reports.numbers._answers import read_answers
    from urs_inspect.reports.numbers._judge_checks import JUDGE_TASKS
    from urs_inspect.reports.numbers._leaderboard import make_leaderboard
    from urs_inspect.reports.words._leaderboard import report_leaderboard

    board = make_leaderboard(read_answers(logs, JUDGE_TASKS))
    print_shown(report_leaderboard(board), Console(), shown, *more)
