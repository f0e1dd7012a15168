"""Builds the task as a run would, without models, and has its samples counted."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any

from urs_inspect.errors import InputError, choices

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
    from urs_inspect.reports.estimate import estimate_crossval
    from urs_inspect.tasks import arguments as reading
    from urs_inspect.tasks.urs_crossval import urs_crossval

    if not graders:
        raise InputError("--model-role: name the evaluators: --model-role 'grader=[provider/a, ...]'")
    if twice := sorted({name for name in graders if graders.count(name) > 1}):
        raise InputError(f"--model-role: {choices(twice)} is there twice; each evaluator needs a name of its own")
    chosen = reading.names(arguments.get("evaluators", reading.ALL), "evaluators", str) or list(graders)
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
