"""Models of inspect-ai as judges of a sample's answer."""

from collections.abc import Awaitable, Callable, Sequence
from logging import getLogger
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
)
from inspect_ai.scorer import Score, Target
from inspect_ai.solver import TaskState
from inspect_ai.util import collect

from urs_inspect.judging import Answer, AnswerJudging, Judge, Judged, JudgeFailure, Judgement, Message, Reply
from urs_inspect.judging.answers import check_temperature
from urs_inspect.judging.ask import stopped
from urs_inspect.judging.failures import STOPPED_AT_LIMIT
from urs_inspect.solvers.model_calls import SCORE_LATER, JudgeCalls

logger = getLogger(__name__)

_MESSAGES: dict[str, type[ChatMessageSystem | ChatMessageUser | ChatMessageAssistant]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


class AnswerJudge:
    """Judges the answer of a sample (URS paper, section 4.1) with models of inspect-ai.

    The sample's metadata must name its `intent` and `language`; its target is the reference answer.
    """

    def __init__(self, judging: AnswerJudging, temperature: float | None, cache: bool) -> None:
        self._judging = judging
        self._temperature = check_temperature(temperature)
        self._cache = cache
        self._calls = JudgeCalls(SCORE_LATER)
        self._warned: set[str] = set()

    async def score(
        self, state: TaskState, target: Target, judges: Callable[[], Sequence[Model]], model_under_test: str
    ) -> Score:
        """Judge the answer; never raises for what a judge or its endpoint does.

        Args:
            state: The sample with its answer.
            target: The reference answer.
            judges: Gives the judges of the run.
            model_under_test: Name of the model whose answer it is; a judge of that name judges itself.
        """
        self._calls.begin(state)
        output, metadata = state.output, state.metadata or {}
        answer = Answer(
            intent=str(metadata.get("intent", "")),
            language=str(metadata.get("language", "")),
            question=_question(state),
            reference=target.text,
            text=output.completion if output.choices else None,
            stop_reason=output.stop_reason if output.choices else "unknown",
            error=output.error or "",
        )

        def asked() -> list[Judge]:
            return [
                judge_of(model, self._temperature, self._cache, model_under_test, self._calls) for model in judges()
            ]

        judged = await self._judging.judge(answer, asked, _collect)
        self._warn(judged, model_under_test)
        facts: dict[str, Any] = {
            "answer": output.completion,
            "explanation": judged.explanation,
            "metadata": dict(judged.metadata),
        }
        if judged.value is not None:
            return Score(value=dict(judged.value), reason=judged.reason, **facts)
        return Score.unscored(reason=judged.reason or "scoring_failed", **facts)

    def _warn(self, judged: Judged, model: str) -> None:
        """Warn once per run of each judge that failed, and of each model whose answer was cut off."""
        warnings: dict[str, str] = {}
        for judgement in judged.metadata.get("judges", ()):
            if judgement.get("failure_mode") == "call_failed":
                warnings[f"failed/{judgement['judge']}"] = (
                    f"The judge {judgement['judge']} failed, for the first time in this run: "
                    f"{judgement['failure_detail']} "
                    "Answers are kept; samples left unscored can be judged later with `inspect score`."
                )
        if judged.metadata.get("answer_stop_reason") in STOPPED_AT_LIMIT:
            warnings[f"cut off/{model}"] = (
                f"An answer of {model} was cut off at the token limit, for the first time in this run. Answers that "
                "are cut off keep their scores and are counted as answer_cut_off, or as no_response_cut_off where "
                "nothing was left of them; raise --max-tokens if the model needs more room."
            )
        for key in warnings.keys() - self._warned:
            self._warned.add(key)
            logger.warning(warnings[key])


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


def _question(state: TaskState) -> str | None:
    try:
        return state.input_text
    except ValueError:  # a sample of another task, without a user message
        return None


async def _collect(judgements: Sequence[Awaitable[Judgement]]) -> Sequence[Judgement]:
    return await collect(*judgements)
