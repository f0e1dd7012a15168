"""`urs-inspect estimate`: tokens and cost of a run before it starts."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml
from rich.console import Console

from urs_inspect._util import InputError, choices, read_yaml
from urs_inspect.cli.output import PRICES_HELP, print_text_table

_NONE = ("none", "none/none")


def read_models(task: str, given: str | None) -> tuple[str, ...]:
    """The models under test; none for a task that asks none.

    Raises:
        InputError: If there are none where some are needed, or the other way round.
    """
    models = tuple(dict.fromkeys(name.strip() for name in (given or "").split(",") if name.strip()))
    if task == "urs_crossval":
        if set(models) - set(_NONE):
            raise InputError(f"--model: {task} judges answers that exist; leave it out, or say none, got '{given}'")
        return ()
    if not models or set(models) & set(_NONE):
        raise InputError("--model: name the model under test, or several separated by commas")
    return models


def read_task_arguments(given: tuple[str, ...]) -> dict[str, Any]:
    """Arguments of the task by name, each as YAML; of one that is given twice the last counts, as for the harness.

    Raises:
        InputError: If one has another form.
    """
    found: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise InputError(f"-T: expected name=value, got '{one}'")
        try:
            found[name.replace("-", "_")] = read_yaml(value)
        except yaml.YAMLError as error:
            raise InputError(f"-T: cannot read '{one}': {getattr(error, 'problem', error)}") from error
    return found


def read_graders(given: tuple[str, ...]) -> tuple[str, ...]:
    """The models of the role `grader`, in any form that the harness takes.

    Raises:
        InputError: If another role is named, or no model.
    """
    found: list[str] = []
    for one in given:
        role, equals, value = one.partition("=")
        if not equals or role != "grader":
            raise InputError(f"--model-role: expected grader=<model>, got '{one}'")
        try:
            read = read_yaml(value)
        except yaml.YAMLError as error:
            raise InputError(f"--model-role: cannot read '{value}': {getattr(error, 'problem', error)}") from error
        for model in read if isinstance(read, list) else [read]:
            name = model.get("model") if isinstance(model, dict) else model
            if not isinstance(name, str) or not name:
                raise InputError(f"--model-role: expected grader=<model>, got '{one}'")
            found.append(name)
    return tuple(found)


if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

    from urs_inspect.judging import PromptBuilder
    from urs_inspect.reports.estimate import Lengths, RunEstimate

TASKS = ("urs", "urs_crossval", "md_eval")
_Names = tuple[str, ...]


def lengths_of(
    task: str, logs: _Names, answer: int | None, judgement: int | None, models: _Names, graders: _Names
) -> "Lengths":
    """Lengths as measured in logs, as assumed without; a number that is given comes before both.

    Raises:
        InputError: If no log can be used, or the task has nothing that a log of `urs` could say.
    """
    from urs_inspect.reports.estimate import assumed_lengths, measured_lengths

    assumed = assumed_lengths(answer, judgement)
    if not logs:
        return assumed
    if task == "md_eval":
        raise InputError("--from: logs of urs say nothing about replies of md_eval; give --judge-tokens")
    found = measured_lengths(logs, assumed, models=models, judges=graders or models)
    if answer is not None:
        found = replace(found, answer=assumed.answer, about_answers=assumed.about_answers)
    if judgement is not None:
        found = replace(found, judgement=assumed.judgement, about_judgements=assumed.about_judgements)
    return found


def estimate_task(
    task: str, arguments: dict[str, Any], limit: int | None, models: _Names, graders: _Names, **options: Any
) -> "RunEstimate":
    """Estimate a run.

    Args:
        task: One of `TASKS`.
        arguments: Its arguments.
        limit: Most samples.
        models: The models under test.
        graders: The models of the role `grader`.
        options: `epochs`, `lengths`, `counter` and `prices`, as for `estimate_urs`.

    Raises:
        InputError: If the task cannot be built, or would call no model.
    """
    plan = {"urs": _urs, "urs_crossval": _crossval, "md_eval": _md_eval}[task]
    return plan(arguments, limit, models, graders, options)


def _urs(
    arguments: dict[str, Any], limit: int | None, models: _Names, graders: _Names, options: dict[str, Any]
) -> "RunEstimate":
    from urs_inspect.reports.estimate import estimate_urs
    from urs_inspect.tasks import urs

    if arguments.get("scorer", "judge") == "samer":
        raise InputError("-T scorer=samer: no judge is called; the tokens of the answers are those of scorer=judge")
    samples = _samples(_built(urs, arguments), limit)
    return estimate_urs(samples, *_prompts(arguments), models=models, graders=graders, **options)


def _crossval(
    arguments: dict[str, Any], limit: int | None, models: _Names, graders: _Names, options: dict[str, Any]
) -> "RunEstimate":
    from urs_inspect._arguments import ALL, Names, check, names
    from urs_inspect.reports.estimate import estimate_crossval
    from urs_inspect.tasks.urs_crossval import urs_crossval

    if not graders:
        raise InputError("--model-role: name the evaluators: --model-role 'grader=[provider/a, ...]'")
    if twice := sorted({name for name in graders if graders.count(name) > 1}):
        raise InputError(f"--model-role: {choices(twice)} is there twice; each evaluator needs a name of its own")
    chosen = names(check("evaluators", arguments.get("evaluators", ALL), Names), "evaluators") or list(graders)
    if unknown := sorted(set(chosen) - set(graders)):
        raise InputError(f"-T evaluators: {choices(unknown)} has no role grader; allowed: {choices(graders)}")
    # In a thread of its own no command is running, so that the task takes the names and looks for no models.
    with ThreadPoolExecutor(1) as pool:
        built = pool.submit(_built, urs_crossval, {**arguments, "evaluators": chosen}).result()
    return estimate_crossval(_samples(built, limit), *_prompts(arguments), **options)


def _md_eval(
    arguments: dict[str, Any], limit: int | None, models: _Names, graders: _Names, options: dict[str, Any]
) -> "RunEstimate":
    from urs_inspect.reports.estimate import estimate_pairs
    from urs_inspect.tasks import md_eval

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
    return estimate_pairs("md_eval", _samples(built, limit), models=models, **asked, **options)


def _prompts(arguments: dict[str, Any]) -> "tuple[PromptBuilder, str | None]":
    """What builds the judges' prompts, and their language if it is not that of each case."""
    from urs_inspect.judging import PromptBuilder
    from urs_inspect.rubrics import load_rubric

    rubric = load_rubric(arguments.get("rubric"), arguments.get("prompt"))
    language = arguments.get("judge_language")
    return PromptBuilder(rubric), None if language is None else rubric.language_code(str(language))


def _built(task: "Callable[..., Task]", arguments: dict[str, Any]) -> "Task":
    allowed = list(signature(task).parameters)
    if unknown := [name for name in arguments if name not in allowed]:
        raise InputError(f"-T: no argument {choices(unknown)}; allowed: {choices(allowed)}")
    try:
        return task(**arguments)
    except TypeError as error:
        raise InputError(f"-T: {error}") from error


def _samples(task: "Task", limit: int | None) -> "Sequence[Sample]":
    return list(task.dataset)[:limit]


if TYPE_CHECKING:
    from urs_inspect.reports.estimate import Actual, ActualUse, Amount, RunEstimate

_UNKNOWN = "not known"


def print_estimate(found: "RunEstimate", console: Console) -> None:
    """Print an estimate with all that was assumed."""
    from urs_inspect._util import counted

    epochs = f", {found.epochs} epochs" if found.epochs > 1 else ""
    console.print(f"{found.task}: {counted(found.samples, 'sample')}{epochs}", highlight=False)
    rows = [
        (
            one.role,
            one.model,
            _shown(one.calls),
            _shown(one.input_tokens),
            _shown(one.output_tokens),
            _UNKNOWN if one.cost is None else _shown(one.cost, 2),
        )
        for one in found.roles
    ]
    _print_table("Expected, and from lowest to highest", "calls", rows, console)
    console.print(_cost(found), highlight=False, markup=False)
    for sentence in found.assumptions:
        console.print(f"- {sentence}", highlight=False, markup=False)


def print_actual(found: "RunEstimate", actual: "ActualUse", console: Console) -> None:
    """Print what runs took, as a share of what was expected of as many samples."""
    rows = []
    for one in sorted(actual.roles, key=lambda one: _place(found, one)):
        samples, sent, received = _expected(found, one)
        rows.append(
            (
                one.role,
                one.model,
                f"{one.samples:,} of {samples:,}" if samples else f"{one.samples:,}",
                _compared(one.input_tokens, sent),
                _compared(one.output_tokens, received),
                _UNKNOWN if one.cost is None else f"{one.cost:,.2f}",
            )
        )
    _print_table("What it took, and share of what was expected", "samples", rows, console)
    console.print("Shares are of what was expected for so many samples.", highlight=False)
    for sentence in actual.left_out:
        console.print(f"Left out: {sentence}", highlight=False, markup=False)


def _print_table(title: str, counted: str, rows: "Sequence[tuple[str, ...]]", console: Console) -> None:
    from urs_inspect.reports.output import TextTable

    headings = ("role", "model", counted, "tokens sent", "tokens received", "US dollars")
    print_text_table(TextTable(headings, tuple(rows), 2), console, title)


def _cost(found: "RunEstimate") -> str:
    unpriced = ", ".join(found.unpriced)
    if found.cost is None:
        return f"No price is known of {unpriced}: give it with --prices."
    together = f"Together {_sentence(found.cost)} US dollars"
    if not unpriced:
        return f"{together}."
    return f"{together}, without {unpriced}, of which no price is known: give it with --prices."


def _place(found: "RunEstimate", one: "Actual") -> tuple[int, str]:
    """Where a model stands in the estimate; those that it does not name come last, by name."""
    names = one.model.split(", ")
    return next((n for n, role in enumerate(found.roles) if role.model in names), len(found.roles)), one.model


def _expected(found: "RunEstimate", one: "Actual") -> tuple[int, float, float]:
    """Samples of all runs of which a model would have a part, and what was expected of it for those that it had."""
    from urs_inspect.reports.estimate import BOTH

    names = one.model.split(", ")
    roles = [role for role in found.roles if one.role in (role.role, BOTH) and role.model in names]
    sent, received = (
        sum(getattr(role, key).expected / (role.samples * role.runs) for role in roles if role.samples) * one.samples
        for key in ("input_tokens", "output_tokens")
    )
    return max((role.samples * role.runs for role in roles), default=0), sent, received


def _compared(value: int, expected: float) -> str:
    return f"{value:,}" + (f" ({value / expected:.0%})" if expected else " (not estimated)")


def _sentence(amount: "Amount") -> str:
    expected, *bounds = _shown(amount, 2).split("\n")
    return f"{expected} ({' '.join(bounds)})" if bounds else expected


def _shown(amount: "Amount", digits: int = 0) -> str:
    if amount.low == amount.high:
        return f"{amount.expected:,.{digits}f}"
    return f"{amount.expected:,.{digits}f}\n{amount.low:,.{digits}f}\nto {amount.high:,.{digits}f}"


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
    from urs_inspect.reports.output import plain

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
