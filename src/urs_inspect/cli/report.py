"""`urs-inspect report`: which model to use for which intent, and how sure that is."""

import shlex
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from urs_inspect._util import InputError
from urs_inspect.cli.output import PRICES_HELP, print_report

_NOTHING_WRITTEN = (
    "Nothing was written. -o DIRECTORY writes a page with intents, languages, criteria, paired tests and cost, and the "
    "same as tables; `urs-inspect table` prints them."
)


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Directory for report.html, report.md, report.json and CSV files; without it the rankings are printed and "
    "nothing is written.",
)
@click.option(
    "--traffic",
    type=click.Path(path_type=Path),
    help="YAML file with your own shares of intents, languages or countries, by which everything is weighted.",
)
@click.option(
    "--human",
    type=click.Path(path_type=Path),
    help="People's ratings of some answers: .csv or .jsonl with id, model, rating[, rater, epoch, weight], or a "
    "directory of `annotate --rate`. Beside the judge's means there are means corrected by them.",
)
@click.option("--human-scale", help="Lowest and highest rating of --human; by default 1,10.")
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
    human: Path | None,
    human_scale: str | None,
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
    from urs_inspect.cli.reports import parse_scale
    from urs_inspect.reports.answers import read_answers
    from urs_inspect.reports.costs import load_prices, with_costs
    from urs_inspect.reports.human_data import read_human_ratings
    from urs_inspect.reports.leaderboard import make_leaderboard
    from urs_inspect.reports.leaderboard_report import LEADERBOARD, report_leaderboard
    from urs_inspect.reports.page import render_page
    from urs_inspect.reports.tables import check_directory
    from urs_inspect.reports.traffic import read_traffic
    from urs_inspect.rubrics import load_rubric

    if output is not None:
        check_directory(output, LEADERBOARD)
    texts, console = load_rubric(rubric), Console()
    if human_scale and not human:
        raise InputError("--human-scale is the scale of --human, which is missing")
    scale = parse_scale(human_scale or "1,10", "human-scale")
    ratings = read_human_ratings(human, scale) if human else None
    with console.status("Reading logs"):
        answers = read_answers(logs)
        if prices is not None:
            answers = with_costs(answers, load_prices(prices))
        countries_there = [country for country in answers.table["country"].unique() if country]
        mix = None if traffic is None else read_traffic(traffic, texts, countries_there)
    to = [] if output is None else ["-o", str(output)]
    words = ["urs-inspect", "report", *logs, *to, "--rounds", str(rounds), "--seed", str(seed)]
    options = {
        "--traffic": traffic,
        "--human": human,
        "--human-scale": human_scale,
        "--countries": countries,
        "--prices": prices,
        "--rubric": rubric,
    }
    words += [str(word) for name, value in options.items() if value is not None for word in (name, value)]
    with console.status("Computing intervals"):
        board = make_leaderboard(
            answers,
            rubric=texts,
            traffic=mix,
            countries=countries,
            human=ratings,
            rounds=rounds,
            seed=seed,
            command=shlex.join(words),
        )
        made = report_leaderboard(board)
    print_report(replace(made, sections=[section for section in made.sections if section.level == 2]), console)
    if output is None:
        console.print(f"\n{_NOTHING_WRITTEN}", highlight=False, markup=False)
        return
    with console.status("Drawing the page"):
        files = made.write(output, {"report.html": lambda: render_page(made)})
    console.print(f"\nWritten: {', '.join(map(str, files))}", highlight=False, markup=False, soft_wrap=True)
