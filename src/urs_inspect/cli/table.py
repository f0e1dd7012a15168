"""`urs-inspect table`: the tables of `urs-inspect report` as plain text."""

from collections.abc import Iterable

import click
from rich.console import Console

from urs_inspect.cli.output import print_report


@click.command()
@click.argument("logs", nargs=-1, required=True)
def table(logs: tuple[str, ...]) -> None:
    """Show the results of LOGS (files or directories) by intent, language and criterion, one row per model.

    These are the tables of `urs-inspect report`, with the same intervals.
    """
    print_tables(logs, Console())


def print_tables(logs: Iterable[str], console: Console) -> None:
    """Print all tables of the leaderboard of logs."""
    from urs_inspect.reports.answers import read_answers
    from urs_inspect.reports.leaderboard import make_leaderboard
    from urs_inspect.reports.leaderboard_report import report_leaderboard

    print_report(report_leaderboard(make_leaderboard(read_answers(logs))), console)
