"""`urs-inspect addition`: how long a chain of two-digit numbers models add up right."""

import shlex
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Directory for CSV, Markdown and JSON.")
def addition(logs: tuple[str, ...], output: Path | None) -> None:
    """Show how long a chain models add up right, from LOGS of urs_addition (files or directories).

    Laid out as Table 7 of the URS paper, which stands below: the longest chains of which 80% and
    more are right, and the accuracy over chains of 2 to 9 numbers. Models that were asked other
    chains, or in another language, stand in a table of their own.
    """
    from urs_inspect.cli.output import print_sections
    from urs_inspect.reports.addition import ADDITION, SIMULATION, read_addition, sections_of, write_files
    from urs_inspect.reports.output import check_directory

    if output is not None:
        check_directory(output, ADDITION)
    report = read_addition(logs, shlex.join(["urs-inspect", "addition", *logs]))
    console = Console()
    if report.simulated:
        console.print(f"[bold red]{escape(SIMULATION)}[/bold red]", highlight=False)
    print_sections(sections_of(report), console)
    if output is not None:
        written = ", ".join(map(str, write_files(report, output)))
        console.print(f"\nWritten: {escape(written)}", highlight=False, soft_wrap=True)
