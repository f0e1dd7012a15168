"""`urs-inspect crossval`: whether results are stable across evaluators and references, and whom evaluators favour."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape

from urs_inspect.cli.output import print_sections

if TYPE_CHECKING:
    from urs_inspect.reports.crossval.report import CrossvalReport


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Directory for tables and figures.")
@click.option(
    "--rounds", type=click.IntRange(min=1), default=10_000, show_default=True, help="Rounds of the bootstrap."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Its seed.")
@click.option("--no-figures", is_flag=True, help="Leave the figures out, which need matplotlib.")
def crossval(logs: tuple[str, ...], output: Path | None, rounds: int, seed: int, no_figures: bool) -> None:
    """Show what LOGS (files or directories) say about evaluators.

    LOGS of urs_crossval give means, order of the models, rating bias (URS paper, Equation 1) and
    self-preference; several logs are read as one grid where cases, answers and references are the
    same. LOGS of urs, whose answers a panel or, by `inspect score`, several judges have judged,
    give self-preference.
    """
    from urs_inspect.reports.crossval.figures import check_drawing
    from urs_inspect.reports.crossval.reading import read_crossval
    from urs_inspect.reports.crossval.tables import CROSSVAL, write_files
    from urs_inspect.reports.output import check_directory

    if output is not None:
        check_directory(output, CROSSVAL)
        if not no_figures:
            check_drawing()
    command = ["urs-inspect", "crossval", *logs, "--rounds", str(rounds), "--seed", str(seed)]
    report = read_crossval(logs, rounds=rounds, seed=seed, command=shlex.join(command))
    console = Console()
    print_report(report, console)
    if output is not None:
        written = write_files(report, output, figures=not no_figures)
        names = ", ".join(path.name for path in written)
        console.print(f"\n{escape(str(output))}: {escape(names)}", highlight=False, soft_wrap=True)


def print_report(report: "CrossvalReport", console: Console) -> None:
    """Print all sections."""
    from urs_inspect.reports.crossval.tables import SIMULATION, sections_of

    if report.simulated:
        console.print(f"[bold red]{escape(SIMULATION)}[/bold red]", highlight=False)
    print_sections(sections_of(report), console)
