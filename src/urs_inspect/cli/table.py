"""`urs-inspect table`: the results of logs, in the layout of the paper's tables."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urs_inspect.errors import InputError

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

    from urs_inspect.rating import MeanInterval
    from urs_inspect.reports import IntentResult


@click.command()
@click.argument("logs", nargs=-1, required=True)
def table(logs: tuple[str, ...]) -> None:
    """Show the results of LOGS (files or directories) by intent, language and criterion."""
    left_out: list[str] = []
    console = Console()
    print_results(read_results(logs, left_out), console)
    for sentence in left_out:
        console.print(sentence, markup=False, highlight=False)


def read_results(logs: Iterable[str], left_out: list[str] | None = None) -> "list[IntentResult]":
    """Read the results of log files and of all logs below directories.

    Args:
        logs: The names.
        left_out: Gets a sentence about logs that another command reads, if there are any.

    Raises:
        InputError: If there is no log, or none with intent-judged answers.
    """
    from urs_inspect.reports import finished_logs, read_result
    from urs_inspect.reports.reading_commands import PACKAGE, of_other_tasks, reading_command

    names = list(logs)
    results: list[IntentResult] = []
    others: list[EvalLog] = []
    for log in finished_logs(names):
        # Other studies compare over questions that are chosen otherwise; their means would mislead here.
        if reading_command(log.eval.task) not in ("", reading_command(f"{PACKAGE}urs")):
            others.append(log)
        elif (result := read_result(log)) is not None:
            results.append(result)
    sentences = [of_other_tasks(others, f"{PACKAGE}urs")] if others else []
    if not results:
        what = f"no log that is finished and has answers scored by intent_judge in: {', '.join(names)}"
        raise InputError("\n".join([what, *sentences]))
    if left_out is not None:
        left_out += sentences
    return sorted(results, key=lambda result: -result.final.mean if not math.isnan(result.final.mean) else math.inf)


def print_results(results: "list[IntentResult]", console: Console) -> None:
    """Print one table for each set of judges and conditions, because scores of different ones do not compare."""
    for judges, conditions in dict.fromkeys((result.judges, result.conditions) for result in results):
        block = [result for result in results if (result.judges, result.conditions) == (judges, conditions)]
        console.print(f"\n[bold]Judge:[/bold] {escape(', '.join(judges) or 'none')}", highlight=False)
        console.print(
            f"Data: {conditions.dataset}, {conditions.questions} questions. Rubric: {conditions.rubric}. "
            f"Prompts: {conditions.prompts}",
            markup=False,
            highlight=False,
        )
        if any(result.simulated for result in block):
            console.print("[bold red]SIMULATION[/bold red]: simulated models; the scores mean nothing.")
        console.print(_table(block))


def _table(results: "list[IntentResult]") -> Table:
    """Models across; overall, intents, languages, their cells, criteria and outcomes down (Tables 4, 12 and 13)."""
    table = Table(title="Mean score, 1 to 10, ± half of the 95% interval", title_justify="left")
    table.add_column("", no_wrap=True)
    for result in results:
        table.add_column(escape(result.model), justify="right", overflow="fold")
    table.add_row("Final score", *[_shown(result.final) for result in results], style="bold", end_section=True)
    _section(table, [{**result.by_group, **result.by_part} for result in results])
    _section(table, [result.by_language for result in results])
    _section(
        table, [{" ".join(key): value for key, value in result.by_group_and_language.items()} for result in results]
    )
    _section(table, [result.by_criterion for result in results])
    for name in sorted({name for result in results for name in result.outcomes}):
        table.add_row(
            escape(f"Answers: {name.replace('_', ' ')}"), *[str(result.outcomes.get(name, 0)) for result in results]
        )
    table.add_row("Self-judged", *["-" if math.isnan(r.self_judged) else f"{r.self_judged:.0%}" for r in results])
    for name, values in (
        ("Judges' alpha", [result.judge_alpha for result in results]),
        ("Deviation of epochs", [result.epoch_deviation for result in results]),
    ):
        if not all(map(math.isnan, values)):
            table.add_row(name, *["-" if math.isnan(value) else f"{value:.2f}" for value in values])
    return table


def _section(table: Table, columns: "list[dict[str, MeanInterval]]") -> None:
    names = sorted({name for column in columns for name in column})
    for name in names:
        shown = [_shown(column.get(name)) for column in columns]
        table.add_row(escape(name.replace("_", " ")), *shown, end_section=name == names[-1])


def _shown(estimate: "MeanInterval | None") -> str:
    if estimate is None or math.isnan(estimate.mean):
        return "-"
    if math.isnan(estimate.low):
        return f"{estimate.mean:.2f}"
    below, above = estimate.mean - estimate.low, estimate.high - estimate.mean
    if math.isclose(below, above):
        return f"{estimate.mean:.2f} ±{above:.2f}"
    return f"{estimate.mean:.2f} -{below:.2f}/+{above:.2f}"  # cut to the scale
