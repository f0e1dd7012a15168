"""The command: options in, tables or JSON out."""

import json
from pathlib import Path

import click
from rich.console import Console

from urs_inspect.cli.cells import PRICES_HELP
from urs_inspect.cli.estimate.arguments import read_graders, read_models, read_task_arguments
from urs_inspect.cli.estimate.plans import TASKS, estimate_task, lengths_of
from urs_inspect.cli.estimate.tables import print_actual, print_estimate
from urs_inspect.errors import InputError, choices

_PREFIX = "urs_inspect/"


@click.command()
@click.argument("task")
@click.option("--model", help="Model under test, or several separated by commas; none for urs_crossval.")
@click.option("--model-role", multiple=True, help="grader=<model> or 'grader=[<model>, <model>]', as for inspect eval.")
@click.option("-T", "task_args", multiple=True, help="Argument of the task, name=value.")
@click.option("--limit", type=click.IntRange(min=1), help="Samples that will run.")
@click.option("--epochs", type=click.IntRange(min=1), default=1, show_default=True, help="Runs of each sample.")
@click.option("--from", "source", multiple=True, help="Log or directory of urs from which lengths are measured.")
@click.option("--answer-tokens", type=click.IntRange(min=1), help="Tokens of an answer, in place of an assumption.")
@click.option("--judge-tokens", type=click.IntRange(min=1), help="Tokens of a judge's reply, likewise.")
@click.option("--tokenizer", type=click.Path(path_type=Path), help="tokenizer.json, or a folder that has one.")
@click.option("--prices", type=click.Path(path_type=Path), help=f"Prices of models. {PRICES_HELP}")
@click.option(
    "--against",
    multiple=True,
    help="Log or directory of the run: what it took for the samples, epochs, models and judges of the estimate.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def estimate(
    task: str,
    model: str | None,
    model_role: tuple[str, ...],
    task_args: tuple[str, ...],
    limit: int | None,
    epochs: int,
    source: tuple[str, ...],
    answer_tokens: int | None,
    judge_tokens: int | None,
    tokenizer: Path | None,
    prices: Path | None,
    against: tuple[str, ...],
    as_json: bool,
) -> None:
    """Estimate what a run of TASK (urs, urs_crossval or md_eval) takes, from its real prompts. No model is called.

    Example: urs-inspect estimate urs --model openai/gpt-4o --model-role grader=openai/gpt-4o-mini
    """
    from urs_inspect.reports.estimate import load_counter, load_prices, read_actual
    from urs_inspect.reports.plain_files import plain

    name = task.removeprefix(_PREFIX)
    if name not in TASKS:
        raise InputError(f"no estimate for the task '{task}'; allowed: {choices(TASKS)}")
    models, graders = read_models(name, model), read_graders(model_role)
    found = estimate_task(
        name,
        read_task_arguments(task_args),
        limit,
        models,
        graders,
        epochs=epochs,
        lengths=lengths_of(name, source, answer_tokens, judge_tokens, models, graders),
        counter=load_counter(tokenizer),
        prices=load_prices(prices),
    )
    actual = read_actual(against, found.task, found) if against else None
    if as_json:
        facts = {name: value for name, value in plain(found).items() if name != "ids"}
        click.echo(json.dumps({**facts, "actual": plain(actual)}, indent=2, ensure_ascii=False))
        return
    console = Console()
    print_estimate(found, console)
    if actual is not None:
        print_actual(found, actual, console)
