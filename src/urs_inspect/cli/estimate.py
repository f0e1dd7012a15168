"""`urs-inspect estimate`: tokens and cost of a run, before anything is spent."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml
from rich.console import Console
from rich.table import Table

from urs_inspect.errors import InputError, choices

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

    from urs_inspect.reports.estimate import ActualUse, Amount, Lengths, RunEstimate

_TASKS = ("urs", "md_eval")
_UNKNOWN = "not known"


@click.command()
@click.argument("task")
@click.option("--model", required=True, help="Model under test, or several separated by commas.")
@click.option("--model-role", multiple=True, help="grader=<model> or 'grader=[<model>, <model>]', as for inspect eval.")
@click.option("-T", "task_args", multiple=True, help="Argument of the task, name=value.")
@click.option("--limit", type=click.IntRange(min=1), help="Samples that will run.")
@click.option("--epochs", type=click.IntRange(min=1), default=1, show_default=True, help="Runs of each sample.")
@click.option("--from", "source", multiple=True, help="Log or directory of urs from which lengths are measured.")
@click.option("--answer-tokens", type=click.IntRange(min=1), help="Tokens of an answer, in place of an assumption.")
@click.option("--judge-tokens", type=click.IntRange(min=1), help="Tokens of a judge's reply, likewise.")
@click.option("--tokenizer", type=click.Path(path_type=Path), help="tokenizer.json, or a folder that has one.")
@click.option("--prices", type=click.Path(path_type=Path), help="Prices, as for --model-cost-config of inspect eval.")
@click.option("--against", multiple=True, help="Log or directory of the run, to compare with what it really took.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def estimate(
    task: str,
    model: str,
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
    """Estimate what a run of TASK (urs or md_eval) takes, from its real prompts. No model is called.

    Example: urs-inspect estimate urs --model openai/gpt-4o --model-role grader=openai/gpt-4o-mini
    """
    from urs_inspect.reports.estimate import assumed_lengths, load_counter, load_prices, measured_lengths, read_actual
    from urs_inspect.reports.plain_files import plain

    if task.removeprefix("urs_inspect/") not in _TASKS:
        raise InputError(f"no estimate for the task '{task}'; allowed: {choices(_TASKS)}")
    graders = _graders(model_role)
    arguments = _task_arguments(task_args)
    lengths = assumed_lengths(answer_tokens, judge_tokens)
    if source:
        lengths = measured_lengths(source, lengths)
    found = _estimate(
        task.removeprefix("urs_inspect/"),
        arguments,
        limit,
        lengths,
        models=tuple(name.strip() for name in model.split(",") if name.strip()),
        graders=graders,
        epochs=epochs,
        counter=load_counter(tokenizer),
        prices=load_prices(prices),
    )
    actual = read_actual(against, found.task) if against else None
    if as_json:
        click.echo(json.dumps({**plain(found), "actual": plain(actual)}, indent=2, ensure_ascii=False))
        return
    console = Console()
    print_estimate(found, console)
    if actual is not None:
        _print_actual(found, actual, console)


def _estimate(
    task: str, arguments: dict[str, Any], limit: int | None, lengths: "Lengths", **options: Any
) -> "RunEstimate":
    from urs_inspect.judging import PromptBuilder
    from urs_inspect.reports.estimate import estimate_pairs, estimate_urs
    from urs_inspect.rubrics import load_rubric
    from urs_inspect.tasks import md_eval, urs

    if task == "md_eval":
        graders = options.pop("graders")
        if graders:
            raise InputError("--model-role: md_eval has no grader; the model under test is the judge")
        built = _built(md_eval, arguments)
        if arguments.get("judge", "model") != "model":
            raise InputError(f"-T judge={arguments['judge']}: calls no model, so that it costs nothing")
        asked = {
            "protocol": arguments.get("protocol", "joint"),
            "orders": arguments.get("orders", "ab"),
            "seed": arguments.get("seed", 0),
        }
        return estimate_pairs(task, _samples(built, limit), lengths=lengths, **asked, **options)
    if arguments.get("scorer", "judge") == "samer":
        raise InputError("-T scorer=samer: no judge is called; the tokens of the answers are those of scorer=judge")
    rubric = load_rubric(arguments.get("rubric"), arguments.get("prompt"))
    language = arguments.get("judge_language")
    return estimate_urs(
        _samples(_built(urs, arguments), limit),
        PromptBuilder(rubric),
        None if language is None else rubric.language_code(str(language)),
        lengths=lengths,
        **options,
    )


def _built(task: Any, arguments: dict[str, Any]) -> "Task":
    try:
        built: Task = task(**arguments)
    except TypeError as error:
        raise InputError(f"-T: {error}") from error
    return built


def _samples(task: "Task", limit: int | None) -> "Sequence[Sample]":
    return list(task.dataset)[:limit]


def _task_arguments(given: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise InputError(f"-T: expected name=value, got '{one}'")
        found[name.replace("-", "_")] = yaml.safe_load(value)
    return found


def _graders(given: tuple[str, ...]) -> tuple[str, ...]:
    """The models of the role `grader`, in any form that the harness takes."""
    found: list[str] = []
    for one in given:
        role, equals, value = one.partition("=")
        if not equals or role != "grader":
            raise InputError(f"--model-role: expected grader=<model>, got '{one}'")
        try:
            read = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise InputError(f"--model-role: cannot read '{value}'") from error
        for model in read if isinstance(read, list) else [read]:
            name = model.get("model") if isinstance(model, dict) else model
            if not isinstance(name, str) or not name:
                raise InputError(f"--model-role: expected grader=<model>, got '{one}'")
            found.append(name)
    return tuple(found)


def print_estimate(found: "RunEstimate", console: Console) -> None:
    """Print an estimate with all that was assumed."""
    console.print(
        f"{found.task}: {found.samples} samples" + (f", {found.epochs} epochs" if found.epochs > 1 else ""),
        highlight=False,
    )
    table = Table(title="Expected, and from lowest to highest", title_justify="left")
    for heading, width in (("role", 6), ("model", 12)):
        table.add_column(heading, overflow="fold", min_width=width)
    for heading in ("calls", "tokens sent", "tokens received", "US dollars"):
        table.add_column(heading, justify="right")
    for one in found.roles:
        table.add_row(
            one.role,
            one.model,
            _shown(one.calls),
            _shown(one.input_tokens),
            _shown(one.output_tokens),
            _UNKNOWN if one.cost is None else _shown(one.cost, 2),
        )
    console.print(table)
    if found.cost is not None:
        console.print(
            f"Together {_sentence(found.cost)} US dollars" + (", without" if found.unpriced else "."),
            highlight=False,
            end=" " if found.unpriced else "\n",
        )
    if found.unpriced:
        console.print(
            f"{'' if found.cost is not None else 'No price is known of '}{', '.join(found.unpriced)}"
            f"{', of which no price is known' if found.cost is not None else ''}: give it with --prices.",
            highlight=False,
            markup=False,
        )
    for sentence in found.assumptions:
        console.print(f"- {sentence}", highlight=False, markup=False)


def _print_actual(found: "RunEstimate", actual: "ActualUse", console: Console) -> None:
    from urs_inspect.reports.estimate import BOTH

    table = Table(title="What it took, and share of what was expected", title_justify="left")
    for heading, width in (("role", 6), ("model", 12)):
        table.add_column(heading, overflow="fold", min_width=width)
    for heading in ("samples", "tokens sent", "tokens received", "US dollars"):
        table.add_column(heading, justify="right")
    planned = found.samples * found.epochs
    # A judge's estimate is about the answers of all models; a log holds those of one.
    models = len([role for role in found.roles if role.role == "model"])
    for one in actual.roles:
        names = one.model.split(", ")
        expected = [role for role in found.roles if one.role in (role.role, BOTH) and role.model in names]
        sent, received = (
            sum(
                getattr(role, key).expected / (models if role.role == "grader" and one.role != BOTH else 1)
                for role in expected
            )
            * (one.samples / planned if planned else 0.0)
            for key in ("input_tokens", "output_tokens")
        )
        table.add_row(
            one.role,
            one.model,
            f"{one.samples} of {planned}",
            _compared(one.input_tokens, sent),
            _compared(one.output_tokens, received),
            _UNKNOWN if one.cost is None else f"{one.cost:.2f}",
        )
    console.print(table)
    console.print("Shares are of what was expected for so many samples.", highlight=False)
    for sentence in actual.left_out:
        console.print(f"Left out: {sentence}", highlight=False, markup=False)


def _compared(value: int, expected: float) -> str:
    return f"{value:,}" + (f" ({value / expected:.0%})" if expected else " (not estimated)")


def _sentence(amount: "Amount") -> str:
    expected, *bounds = _shown(amount, 2).split("\n")
    return f"{expected} ({' '.join(bounds)})" if bounds else expected


def _shown(amount: "Amount", digits: int = 0) -> str:
    if amount.low == amount.high:
        return f"{amount.expected:,.{digits}f}"
    return f"{amount.expected:,.{digits}f}\n{amount.low:,.{digits}f}\nto {amount.high:,.{digits}f}"
