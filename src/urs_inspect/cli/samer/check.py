"""`urs-inspect samer check`: is this a SaMer checkpoint, and if not, why not."""

from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from urs_inspect.samer.checkpoint_check import Report


@click.command()
@click.argument("folder", metavar="DIR")
@click.option("--quick", is_flag=True, help="Read headers and heads only, and do not look for NaN in the backbone.")
def check(folder: str, quick: bool) -> None:
    """Look at the checkpoint in DIR without loading it, and say what is wrong with it. Fails if something is.

    All weights are read once, to find NaN and infinity: 16 GB for an 8B model.
    """
    from urs_inspect.samer.checkpoint_check import check_checkpoint

    console = Console(soft_wrap=True)
    with console.status(f"reading {escape(folder)}"):
        report = check_checkpoint(folder, values=not quick)
    print_report(report, console)
    if report.faults:
        raise SystemExit(1)


def print_report(report: "Report", console: Console) -> None:
    """Print what was looked at, then the verdict."""
    if report.looked_at:
        table = Table(show_header=False, box=None)
        for what, found in report.looked_at.items():
            table.add_row(what.replace("_", " "), escape(found), style=None)
        console.print(table, highlight=False)
    for note in report.notes:
        console.print(f"[yellow]note:[/yellow] {escape(note)}", highlight=False)
    for fault in report.faults:
        console.print(f"[bold red]fault:[/bold red] {escape(fault)}", highlight=False)
    if not report.faults:
        console.print("[bold green]ok:[/bold green] a SaMer checkpoint", highlight=False)
