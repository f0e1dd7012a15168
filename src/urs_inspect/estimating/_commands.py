"""`urs-inspect estimate`: tokens and cost of a run before it starts."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from urs_inspect._satellites import at, satellites
from urs_inspect._util import InputError, choices, did_you_mean, parse_yaml
from urs_inspect.cli._first_screen import print_screen
from urs_inspect.cli._output import PRICES_HELP, print_report
from urs_inspect.cli._values import named_values

if TYPE_CHECKING:
    from inspect_ai import Task

    from urs_inspect.estimating._lengths import Lengths

_PREFIX = "urs_inspect/"
_ANSWER = "answer"
_REPLY = "reply"
_TOKENS = (_ANSWER, _REPLY)
"""Whose tokens `--from` can give as numbers."""
_TOKENIZER = "tokenizer.json"
_FORMS = (
    f"logs, a folder of logs, {_ANSWER}=TOKENS, {_REPLY}=TOKENS, a tokenizer, which must be a file"
    f" called {_TOKENIZER}, or a folder that has one"
)
"""What `--from` takes."""


@dataclass(frozen=True)
class _Sources:
    """What an estimate is made from."""

    logs: Sequence[str]
    tokens: Mapping[str, int]  # by name, one of `_TOKENS`
    tokenizer: Path | None


@click.command()
@click.argument("task")
@click.option(
    "--model",
    help="Model under test, or several separated by commas; none where the task has none.",
)
@click.option(
    "--model-role",
    multiple=True,
    help="<role>=<model> or '<role>=[<model>, <model>]', as for inspect eval.",
)
@click.option("-T", "task_args", multiple=True, help="Argument of the task, name=value.")
@click.option("--limit", type=click.IntRange(min=1), help="Samples that will run.")
@click.option(
    "--epochs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Runs of each sample.",
)
@click.option(
    "--from",
    "source",
    multiple=True,
    metavar="LOGS|NAME=TOKENS|TOKENIZER",
    help=(
        "Logs of urs: lengths, and spread of scores. Or tokens of an answer or a judge's reply,"
        " answer=1000 or reply=300, which come before those of logs. Or a tokenizer.json, or a"
        " folder that has one, by which tokens are counted. May be repeated."
    ),
)
@click.option("--prices", type=click.Path(path_type=Path), help=f"Prices of models. {PRICES_HELP}")
@click.option(
    "--against",
    multiple=True,
    help=(
        "Log or directory of the run: what it took for the samples, epochs, models and judges of"
        " the estimate."
    ),
)
@click.option("--all", "every", is_flag=True, help="Print ranges and assumptions as well.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def estimate(  # noqa: PLR0913 - one argument an option
    task: str,
    model: str | None,
    model_role: tuple[str, ...],
    task_args: tuple[str, ...],
    limit: int | None,
    epochs: int,
    source: tuple[str, ...],
    prices: Path | None,
    against: tuple[str, ...],
    every: bool,
    as_json: bool,
) -> None:
    """Estimate what a run of TASK takes: it is run with models that only count tokens.

    No model is called.

    Example: urs-inspect estimate urs --model openai/gpt-4o --model-role grader=openai/gpt-4o-mini
    """
    from urs_inspect.estimating._actual_use import read_actual
    from urs_inspect.estimating._estimate import GRADER, Basis, estimate_run, with_precision
    from urs_inspect.estimating._lengths import load_counter
    from urs_inspect.estimating._report import assumption_sentences, estimate_report
    from urs_inspect.reports.layout._tables import plain
    from urs_inspect.reports.numbers._costs import load_prices

    name = task.removeprefix(_PREFIX)
    sources = _sources(source)
    models = _models(model)
    roles = _roles(model_role)
    found = estimate_run(
        name,
        _maker(name),
        named_values(task_args, "-T"),
        models=models,
        roles=roles,
        limit=limit,
        epochs=epochs,
        basis=Basis(
            counter=load_counter(sources.tokenizer),
            lengths=_lengths(sources, models, roles.get(GRADER, ())),
            prices=load_prices(prices),
        ),
    )
    found = with_precision(found, sources.logs)
    actual = None
    if against:
        actual = read_actual(against, found.task, found)
    if as_json:
        facts = {**plain(found), "assumptions": list(assumption_sentences(found))}
        del facts["ids"]
        click.echo(json.dumps({**facts, "actual": plain(actual)}, indent=2, ensure_ascii=False))
        return
    console = Console()
    report = estimate_report(found, actual)
    if every:
        print_report(report, console)
        return
    if report.first is not None:
        print_screen(report.first, console, ["Ranges and assumptions: --all"])
    if actual is not None:
        print_report(replace(report, sections=report.sections[-1:]), console)


def _models(given: str | None) -> tuple[str, ...]:
    names = dict.fromkeys(name.strip() for name in (given or "").split(","))
    return tuple(name for name in names if name and name not in ("none", "none/none"))


def _roles(given: tuple[str, ...]) -> dict[str, list[str]]:
    """Models by role, in any form that inspect-ai takes."""
    found: dict[str, list[str]] = defaultdict(list)
    for argument in given:
        role, _, value = argument.partition("=")
        read = parse_yaml(value, f"--model-role: cannot read '{value}'")
        for model in read if isinstance(read, list) else [read]:
            name = model
            if isinstance(model, dict):
                name = model.get("model")
            if not role or not isinstance(name, str) or not name:
                raise InputError(
                    "--model-role: expected <role>=<model>, such as grader=<model>, got"
                    f" '{argument}'"
                )
            found[role].append(name)
    return found


def _maker(name: str) -> "Callable[[Mapping[str, Any]], Task]":
    """What makes the task of that name of its arguments."""
    from urs_inspect import tasks

    addresses = {own: f"tasks:{own}" for own in tasks.__all__}
    for satellite in satellites():
        addresses.update(satellite.tasks)
    if name not in addresses:
        raise InputError(f"no task '{name}'; allowed: {choices(sorted(addresses))}")
    task = at(addresses[name])

    def make(arguments: Mapping[str, Any]) -> "Task":
        allowed = list(signature(task).parameters)
        if unknown := [argument for argument in arguments if argument not in allowed]:
            raise InputError(f"-T: no argument {choices(unknown)}; allowed: {choices(allowed)}")
        try:
            made: Task = task(**arguments)
        except TypeError as error:
            raise InputError(f"-T: {error}") from error
        return made

    return make


def _sources(given: Sequence[str]) -> _Sources:
    """What the values of `--from` are, each by its form."""
    logs: list[str] = []
    tokens: dict[str, int] = {}
    tokenizer = None
    for one in given:
        name, _, number = one.partition("=")
        file = _tokenizer_file(Path(one))
        if name in _TOKENS:
            tokens[name] = _number_of_tokens(name, number)
        elif file is not None:
            tokenizer = file
        else:
            logs.append(one)
    return _Sources(logs, tokens, tokenizer)


def _number_of_tokens(name: str, number: str) -> int:
    """A number of tokens, as in answer=1000."""
    if number.isascii() and number.isdecimal() and int(number) > 0:
        return int(number)
    raise InputError(
        f"--from: {name}: must be a whole number of tokens of at least 1, as {name}=1000, got"
        f" '{name}={number}'"
    )


def _tokenizer_file(path: Path) -> Path | None:
    """The tokenizer that a path is or has, if any."""
    file = path
    if path.is_dir():
        file = path / _TOKENIZER
    if file.name == _TOKENIZER and file.is_file():
        return file
    return None


def _lengths(sources: _Sources, models: Sequence[str], judges: Sequence[str]) -> "Lengths":
    """Lengths as measured in logs, as assumed without; a number that is given comes before both."""
    from urs_inspect.estimating._lengths import Lengths, measured_lengths
    from urs_inspect.logs._files import log_files

    given = Lengths(sources.tokens.get(_ANSWER), sources.tokens.get(_REPLY))
    if not sources.logs:
        return given
    try:
        for one in sources.logs:
            if not log_files([one]):
                raise InputError(f"no log in '{one}'")
        logged = measured_lengths(sources.logs, models=models, judges=judges or models)
    except InputError as error:
        names = [log.partition("=")[0] for log in sources.logs if "=" in log]
        hints = "".join(did_you_mean(name, _TOKENS) for name in names)
        reason = error.message.rstrip(".")
        raise InputError(f"--from: {reason}{hints}; allowed: {_FORMS}") from error
    return replace(given, logged=logged)
