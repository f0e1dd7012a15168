"""Models of the harness as judges."""

from collections.abc import Sequence

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
)

from urs_inspect.judging import Judge, JudgeFailure, Message, Reply, stopped
from urs_inspect.solvers.model_calls import JudgeCalls

_MESSAGES: dict[str, type[ChatMessageSystem | ChatMessageUser | ChatMessageAssistant]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


def judge_of(model: Model, temperature: float | None, cache: bool, model_under_test: str, calls: JudgeCalls) -> Judge:
    """A model as a judge.

    Args:
        model: The model.
        temperature: Sampling temperature, unless the judge's role sets its own; None for the provider's default.
        cache: Whether the harness may answer from its cache.
        model_under_test: Name of the model whose answers it judges; a judge of that name judges itself.
        calls: What its calls share with those of other judges.
    """
    # Without a role the judge is the model under test, whose own temperature is meant for its answers.
    own = model.config.temperature if model.role else None
    config = GenerateConfig(temperature=temperature if own is None else own, cache=True if cache else None)

    async def call(messages: Sequence[Message]) -> Reply:
        sent: list[ChatMessage] = [_MESSAGES[message.role](content=message.text) for message in messages]
        output, temperatures = await calls.generate(model, sent, config)
        stop_reason = output.stop_reason if output.choices else "unknown"
        return Reply(output.completion, stop_reason, output.error or "", temperatures.sent)

    name = str(model)
    return Judge(name, call, config.temperature, name == model_under_test)


def failure_of(output: ModelOutput) -> JudgeFailure | None:
    """Why a reply must not be read, if it must not: it was cut off, withheld, or never came."""
    return stopped(output.stop_reason if output.choices else "unknown", output.error or "")
