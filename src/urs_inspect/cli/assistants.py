"""`urs-inspect assistants`: models beside search engines and translators."""

import shlex
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Directory for CSV, Markdown and JSON.")
@click.option(
    "--rounds", type=click.IntRange(min=1), default=10_000, show_default=True, help="Rounds of the bootstrap."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Its seed.")
def assistants(logs: tuple[str, ...], output: Path | None, rounds: int, seed: int) -> None:
    """Compare models, search engines and translators in LOGS of urs_assistants (files or directories).

    Laid out as Tables 14 and 15 of the URS paper, which stand below. Means are over the questions
    that all have a score for; how many each has, and what became of its other answers, stands
    beside. Scores of other judges, prompts, references or data stand in a table of their own.
    """
    from urs_inspect.cli.output import print_sections
    from urs_inspect.reports.assistants import (
        ASSISTANTS,
        SIMULATION,
        compare_assistants,
        read_assistants,
        sections_of,
        write_files,
    )
    from urs_inspect.reports.output import check_directory

    if output is not None:
        check_directory(output, ASSISTANTS)
    command = shlex.join(["urs-inspect", "assistants", *logs, "--rounds", str(rounds), "--seed", str(seed)])
    report = compare_assistants(read_assistants(logs), rounds=rounds, seed=seed, command=command)
    console = Console()
    if report.simulated:
        console.print(f"[bold red]{escape(SIMULATION)}[/bold red]", highlight=False)
    print_sections(sections_of(report), console)
    if output is not None:
        written = ", ".join(map(str, write_files(report, output)))
        console.print(f"\nWritten: {escape(written)}", highlight=False, soft_wrap=True)
