"""Asks the model with some role, for what is neither a sample's answer nor its judgement."""

from collections.abc import Awaitable, Callable

import click
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    model_roles,
)
from inspect_ai.util import LimitExceededError

from urs_inspect.errors import InputError
from urs_inspect.judging import JudgeFailure, JudgePrompt, describe_error


def bound_models(role: str) -> list[Model]:
    """The models with a role, in the order of the command line; empty if there is none."""
    found = model_roles().get(role)
    return found if isinstance(found, list) else [found] if found is not None else []


def models_with(role: str) -> list[Model]:
    """The models with a role, in the order of the command line.

    Raises:
        InputError: If there is none.
    """
    models = bound_models(role)
    if not models:
        raise InputError(
            f"no model has the role '{role}'; name one or several: --model-role '{role}=[provider/a, ...]'"
        )
    return models


def roles_known() -> bool:
    """Whether the roles are those of the run to come, which is so while the `inspect` command makes a task.

    In a script that makes a task and hands it to `eval()`, roles are not set up yet, or are those of an earlier run in
    the same process; nothing can be said about them before the run.
    """
    return click.get_current_context(silent=True) is not None


def ask_role(role: str) -> Callable[[JudgePrompt], Awaitable[str | JudgeFailure]]:
    """A function that sends a prompt to the first model with a role.

    Args:
        role: The role. That a model has it is known only when the function is called.

    Returns:
        The function; it gives the reply, or why there is none, and raises `InputError` if no model has the role.
    """

    async def ask(prompt: JudgePrompt) -> str | JudgeFailure:
        model = models_with(role)[0]
        messages: list[ChatMessage] = [
            ChatMessageSystem(content=prompt.instructions),
            ChatMessageUser(content=prompt.case),
        ]
        try:
            output = await model.generate(messages, config=GenerateConfig(temperature=0))
        except LimitExceededError:
            raise
        except Exception as error:  # one failed call must not end the run
            return JudgeFailure("call_failed", describe_error(error))
        if output.error or not output.choices:
            return JudgeFailure("call_failed", output.error or "The reply had no choices.")
        return output.completion

    return ask
