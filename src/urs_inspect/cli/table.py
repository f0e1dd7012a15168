"""`urs-inspect table`: the results of logs, in the layout of the paper's tables."""

import math
from collections.abc import Iterable
from textwrap import fill
from typing import TYPE_CHECKING

import click
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urs_inspect._util import InputError
from urs_inspect.cli.output import NONE

if TYPE_CHECKING:
    from urs_inspect.reports.results import IntentResult
    from urs_inspect.stats import Estimate

_NAME = 16
"""Width at which names of models are wrapped: six intents with intervals fit beside it in 80 columns."""
_FINAL = "Final score"
"""Title of the table of scores over all questions."""
_Columns = dict[str, list[str]]
"""Heading -> a cell per model."""


@click.command()
@click.argument("logs", nargs=-1, required=True)
def table(logs: tuple[str, ...]) -> None:
    """Show the results of LOGS (files or directories) by intent, language and criterion, one row per model."""
    left_out: list[str] = []
    console = Console()
    print_results(read_results(logs, left_out), console)
    for sentence in left_out:
        console.print(sentence, markup=False, highlight=False)


def read_results(logs: Iterable[str], left_out: list[str] | None = None) -> "list[IntentResult]":
    """Read the results of log files and of all logs below directories.

    Args:
        logs: The names.
        left_out: Gets a sentence about logs that are skipped, if there are any.

    Raises:
        InputError: If there is no log, or none with intent-judged answers.
    """
    from urs_inspect.logs.files import finished_logs
    from urs_inspect.reports.results import read_result

    names, skipped = list(logs), list[str]()
    # Other studies compare over questions that are chosen otherwise; their means would mislead here.
    found = finished_logs(names, skipped, "urs", also_foreign=True)
    results = [result for log in found if (result := read_result(log)) is not None]
    if not results:
        what = f"no log that is finished and has answers scored by intent_judge in: {', '.join(names)}"
        raise InputError("\n".join([what, *skipped]))
    if left_out is not None:
        left_out += skipped
    return sorted(results, key=lambda result: -result.final.value if not math.isnan(result.final.value) else math.inf)


def print_results(results: "list[IntentResult]", console: Console) -> None:
    """Print tables for each set of judges and conditions, because scores of different ones do not compare."""
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
        models = dict.fromkeys(result.model for result in block)
        console.print(f"Models: {', '.join(models)}", markup=False, highlight=False)
        console.print("Mean scores, 1 to 10, with 95% intervals where there are enough questions.", highlight=False)
        names = [fill(name, _NAME) for name in _short_names(block)]
        for title, columns in _tables(block).items():
            _print_table(title, names, columns, console)
            if title == _FINAL:
                console.print(_missing(block), markup=False, highlight=False, end="")


def _missing(results: "list[IntentResult]") -> str:
    """What missing scores leave open, as lines; empty if none is missing."""
    lacking = [
        f"{result.unscored:,} of {result.answers:,} answers of {name} have no score (its mean would be "
        f"{result.lowest:.2f} if they got 1, {result.highest:.2f} if they got 10)"
        for name, result in zip(_short_names(results), results, strict=True)
        if result.unscored
    ]
    if not lacking:
        return ""
    compared = len(results) > 1
    before = "Means are over different questions: " if compared else ""
    after = " `urs-inspect report` compares models over common questions." if compared else ""
    return f"{before}{'; '.join(lacking)}.{after}\n"


def _tables(results: "list[IntentResult]") -> dict[str, _Columns]:
    """Title -> heading -> a cell per model (Tables 4, 12 and 13 of the paper)."""
    cut_off = [str(result.cut_off) for result in results]
    outcomes = sorted({name for result in results for name in result.outcomes})
    languages = sorted({language for result in results for language in result.by_language})
    means: dict[str, list[dict[str, Estimate]]] = {
        "Intents": [result.by_group for result in results],
        "Parts of intents": [result.by_part for result in results],
        "Languages": [result.by_language for result in results],
        **{
            f"Intents, {language}": [
                {group: mean for (group, code), mean in result.by_group_and_language.items() if code == language}
                for result in results
            ]
            for language in (languages if len(languages) > 1 else ())
        },
        "Criteria": [result.by_criterion for result in results],
    }
    overall: _Columns = {
        "final score": [_shown(result.final, " (", " to ", ")") for result in results],
        **{f"answers: {name}": [str(result.outcomes.get(name, 0)) for result in results] for name in outcomes},
        **({"answers cut off": cut_off} if any(result.cut_off for result in results) else {}),
        "self-judged": [NONE if math.isnan(r.self_judged) else f"{r.self_judged:.0%}" for r in results],
    }
    for name, values in (
        ("judges' alpha", [result.judge_alpha for result in results]),
        ("deviation of epochs", [result.epoch_deviation for result in results]),
    ):
        if not all(map(math.isnan, values)):
            overall[name] = [NONE if math.isnan(value) else f"{value:.2f}" for value in values]
    return {_FINAL: overall} | {
        title: {name: [_shown(row.get(name)) for row in rows] for name in sorted({key for row in rows for key in row})}
        for title, rows in means.items()
    }


def _print_table(title: str, names: list[str], columns: _Columns, console: Console) -> None:
    """Print models down, in as many tables as the width of the terminal takes; no number is cut."""
    left = dict(columns)
    room = console.width - max(cell_len(line) for name in names for line in name.splitlines())
    while left:
        taken: dict[str, int] = {}
        for name, cells in left.items():
            width = max(cell_len(part) for text in (*cells, *_words(name).split()) for part in text.splitlines())
            if taken and sum(taken.values()) + len(taken) + width + 1 > room:
                break
            taken[name] = width
        table = Table(box=SIMPLE_HEAD, padding=0, show_edge=False)
        table.add_column("model", no_wrap=True)
        for name, width in taken.items():
            table.add_column(escape(_words(name)), justify="right", width=width)
        for place, model in enumerate(names):
            table.add_row(escape(model), *[columns[name][place] for name in taken])
        console.print(f"\n[bold]{escape(title)}[/bold]{'' if len(left) == len(columns) else ', continued'}")
        console.print(table)
        left = {name: cells for name, cells in left.items() if name not in taken}


def _short_names(results: "list[IntentResult]") -> list[str]:
    """Names of the models without their providers where that leaves no two equal."""
    from urs_inspect.reports.intent.page.tables import short_names

    short = short_names(list(dict.fromkeys(result.model for result in results)))
    return [short[result.model] for result in results]


def _words(name: str) -> str:
    return name.replace("_", " ")


def _shown(estimate: "Estimate | None", before: str = "\n", between: str = "–", after: str = "") -> str:
    if estimate is None or math.isnan(estimate.value):
        return NONE
    bounds = "" if math.isnan(estimate.low) else f"{before}{estimate.low:.2f}{between}{estimate.high:.2f}{after}"
    return f"{estimate.value:.2f}{bounds}"
