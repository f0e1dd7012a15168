"""`urs-inspect report`: which model to use for which intent, and how sure that is."""

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urs_inspect._util import counted
from urs_inspect.cli.output import PRICES_HELP

if TYPE_CHECKING:
    from urs_inspect.reports.intent.report import Block, IntentReport

_NONE = "-"
_NOTHING_WRITTEN = (
    "Nothing was written. -o DIRECTORY writes a page with intents, languages, criteria, paired tests and cost, and the "
    "same as tables."
)


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Directory for report.html, report.md, report.json, leaderboard.csv and differences.csv; without it the "
    "rankings are printed and nothing is written.",
)
@click.option(
    "--traffic",
    type=click.Path(path_type=Path),
    help="YAML file with your own shares of intents, languages or countries, by which everything is weighted.",
)
@click.option("--countries", type=click.IntRange(min=1), help="Most countries with a column of their own.")
@click.option(
    "--rounds", type=click.IntRange(min=100), default=10_000, show_default=True, help="Rounds of the bootstrap."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the bootstrap.")
@click.option(
    "--prices",
    type=click.Path(path_type=Path),
    help=f"Prices of models, for answers whose log has tokens and no cost. {PRICES_HELP}",
)
@click.option("--rubric", help="Rubric of your own (YAML) that the runs were made with: names and order of intents.")
def report(
    logs: tuple[str, ...],
    output: Path | None,
    traffic: Path | None,
    countries: int | None,
    rounds: int,
    seed: int,
    prices: Path | None,
    rubric: str | None,
) -> None:
    """Report on LOGS of urs (files or directories): rankings, and with -o a page, tables and what is sure about them.

    Models are ranked together only if judges, prompts, references, data, rubric and version of
    the task are the same; others get a ranking of their own, with the reason.
    """
    from urs_inspect.reports.costs import load_prices, with_costs
    from urs_inspect.reports.intent.answers import read_answers
    from urs_inspect.reports.intent.markdown import INTENT_REPORT, write_report
    from urs_inspect.reports.intent.statistics import report_of
    from urs_inspect.reports.intent.traffic import read_traffic
    from urs_inspect.reports.output import check_directory
    from urs_inspect.rubrics import load_rubric

    if output is not None:
        check_directory(output, INTENT_REPORT)
    texts = load_rubric(rubric)
    console = Console()
    with console.status("Reading logs"):
        answers = read_answers(logs)
        if prices is not None:
            answers = with_costs(answers, load_prices(prices))
        named = [country for country in answers.table["country"].unique() if country]
        mix = None if traffic is None else read_traffic(traffic, texts, named)
    with console.status("Computing intervals"):
        found = report_of(
            answers,
            rubric=texts,
            traffic=mix,
            countries=countries,
            rounds=rounds,
            seed=seed,
            command=_command(logs, output, traffic, countries, rounds, seed, prices, rubric),
        )
    files: tuple[Path, ...] = ()
    if output is not None:
        with console.status("Drawing the page"):
            files = write_report(found, output)
    print_report(found, console)
    written = f"Written: {', '.join(map(str, files))}" if files else _NOTHING_WRITTEN
    console.print(f"\n{written}", highlight=False, markup=False, soft_wrap=bool(files))


def _command(
    logs: tuple[str, ...],
    output: Path | None,
    traffic: Path | None,
    countries: int | None,
    rounds: int,
    seed: int,
    prices: Path | None,
    rubric: str | None,
) -> str:
    to = [] if output is None else ["-o", str(output)]
    words = ["urs-inspect", "report", *logs, *to, "--rounds", str(rounds), "--seed", str(seed)]
    options = {"--traffic": traffic, "--countries": countries, "--prices": prices, "--rubric": rubric}
    return shlex.join(
        [*words, *(str(w) for name, value in options.items() if value is not None for w in (name, value))]
    )


def print_report(report: "IntentReport", console: Console) -> None:
    """Print the rankings in short, and what was left out."""
    if report.simulated:
        console.print("[bold red]SIMULATION[/bold red]: simulated models; the scores mean nothing.")
    for number, block in enumerate(report.blocks, start=1):
        _print_block(block, number if len(report.blocks) > 1 else None, console)
    if report.left_out:
        console.print("\n[bold]Left out[/bold]")
    for sentence in report.left_out:
        console.print(f"- {sentence}", highlight=False, markup=False)


def _print_block(block: "Block", number: int | None, console: Console) -> None:
    from urs_inspect.reports.intent.page.tables import ALERT, SELF_JUDGED, column_sentences, headline, traffic_sentence
    from urs_inspect.reports.intent.report import UNSCORED_ALERT

    said = block.conditions
    console.print(f"\n[bold]Ranking{'' if number is None else f' {number}'}[/bold]")
    over = counted(block.questions, "question")
    if block.questions < block.asked:
        over = f"{block.questions:,} of the {counted(block.asked, 'question')} asked"
    console.print(
        f"Judge: {', '.join(said.judges) or 'none'}. Data: {said.dataset} {said.dataset_sha256[:8]}, "
        f"{over}. Rubric: {said.rubric}. Prompts: {said.prompts}",
        highlight=False,
        markup=False,
    )
    for sentence in (*block.apart_because, traffic_sentence(block), *block.notes):
        if sentence:
            console.print(sentence, highlight=False, markup=False)
    console.print(_leaderboard(block))
    if any(model.self_judged > 0 for model in block.models):
        console.print(f"{SELF_JUDGED} judged answers of its own.", highlight=False)
    if any(model.unscored for model in block.models):
        legend = "these as 1-10: the mean over all questions if each answer without a score got 1, and if each got 10."
        if any(model.unscored_share > UNSCORED_ALERT for model in block.models):
            legend += f" {ALERT} more than {UNSCORED_ALERT:.0%} of the answers have no score."
        console.print(legend, highlight=False, markup=False)
    console.print(headline(block).first.striptags(), highlight=False, markup=False)
    for title, questions, sentence in column_sentences(block):
        text = f"- {title} ({counted(questions, 'question')}): {sentence.striptags()}"
        console.print(text, highlight=False, markup=False)


def _leaderboard(block: "Block") -> Table:
    from urs_inspect.reports.intent.page.tables import SELF_JUDGED, interval_text, rank_text, unscored_text
    from urs_inspect.reports.intent.report import UNSCORED_ALERT

    missing = any(model.unscored for model in block.models)
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("model", overflow="fold")
    for heading in ("mean", "interval", "no score", *(["these as 1-10"] if missing else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    for model in block.models:
        one, share = model.all, unscored_text(model.unscored_share)
        table.add_row(
            rank_text(model.ranks) + (f" {SELF_JUDGED}" if model.self_judged > 0 else ""),
            escape(model.model),
            _NONE if math.isnan(one.value) else f"{one.value:.2f}",
            interval_text(one.low, one.high) or _NONE,
            f"[bold red]{share}[/bold red]" if model.unscored_share > UNSCORED_ALERT else share,
            *([interval_text(model.mean_lowest, model.mean_highest) if model.unscored else ""] if missing else []),
        )
    return table
