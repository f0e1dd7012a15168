"""How a command reads logs, writes the report on them and prints it."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from urs_inspect._util import InputError
from urs_inspect.cli._first_screen import Shown, print_shown, shown_options
from urs_inspect.cli._output import progress_bar

if TYPE_CHECKING:
    from urs_inspect.reports.layout._tables import Report, ReportKind

_NOT_REPEATED = ("logs", "output", "as_json", "every", "only")
"""What `command_line` puts first, and what only says how a report is printed."""


def output_options(files: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options of all reports: `-o` (as `output`), `--json` (as `as_json`), and those of
    `shown_options`.

    Args:
        files: What is written to the directory, for the help.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        output = click.option(
            "-o",
            "--output",
            type=click.Path(path_type=Path),
            help=f"Directory for {files}.",
        )
        as_json = click.option(
            "--json", "as_json", is_flag=True, help="Print JSON in place of tables."
        )
        return output(as_json(shown_options(command)))

    return decorate


def log_report_command(files: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add to a command that reports on logs what all of these take: the context, the argument
    `logs`, and the options of `output_options`.

    Args:
        files: What is written to the directory, for the help.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        logs = click.argument("logs", nargs=-1, required=True)
        return logs(output_options(files)(click.pass_context(command)))

    return decorate


def check_output(output: Path | None, kind: "ReportKind") -> None:
    """Refuse a directory with files that are not of such a report; before logs are read."""
    from urs_inspect.reports.layout._tables import check_directory

    if output is not None:
        check_directory(output, kind)


def command_line(context: click.Context) -> str:
    """The command that makes the same report again: logs, `-o`, then options as they were given."""
    _, *names = context.command_path.split()
    words = ["urs-inspect", *names, *context.params["logs"]]
    if context.params["output"] is not None:
        words += ["-o", str(context.params["output"])]
    for name, value in context.params.items():
        if name not in _NOT_REPEATED:
            words += _option_words(f"--{name.replace('_', '-')}", value)
    return shlex.join(words)


def _option_words(option: str, value: Any) -> list[str]:
    """An option as it is given: not at all, as a flag, with a value, or with several in turn."""
    if value is None or value is False:
        return []
    if value is True:
        return [option]
    words = []
    for one in value if isinstance(value, tuple) else (value,):
        words += [option, str(one)]
    return words


@contextmanager
def reading(logs: Iterable[str]) -> Iterator[None]:
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


def emit(
    report: "Report",
    output: Path | None,
    shown: Shown,
    *,
    as_json: bool,
    page: bool = False,
    figures: bool = False,
    unwritten: str = "",
) -> None:
    """Write a report where that is asked for, and print it.

    Args:
        report: The report.
        output: Directory to write it to, if any.
        shown: What of it is printed.
        as_json: Whether it is printed as JSON instead.
        page: Whether a page is written as well.
        figures: Whether the report has figures; where the package that draws them is missing, it
            is written without them.
        unwritten: Last line where nothing is written: how to have more.
    """
    more = [unwritten] if unwritten else []
    if output is not None:
        written = _write(report, output, page=page, figures=figures)
        more = [f"Written: {written[0]}, and {len(written) - 1} more files beside it"]
    if as_json:
        click.echo(report.json(), nl=False)
    else:
        print_shown(report, Console(), shown, more)


def _write(report: "Report", output: Path, *, page: bool, figures: bool) -> Sequence[Path]:
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
