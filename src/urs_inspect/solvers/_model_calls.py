"""Calls of models of the harness: failures, what was sent, and judges that are no longer called."""

import re
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from logging import getLogger
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import click
from inspect_ai.event import ModelEvent
from inspect_ai.hooks import Hooks, RunEnd, hooks
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.solver import TaskState
from inspect_ai.util import LimitExceededError

from urs_inspect._arguments import Structured
from urs_inspect._util import CallFailed, InputError, word_set
from urs_inspect.judging._ask import (
    UNKNOWN,
    CallsStopped,
    CircuitBreaker,
    Message,
    Temperature,
    messages_again,
)
from urs_inspect.judging._failures import KEY_FAULTS, JudgeFailure, describe_error
from urs_inspect.judging._frames import JudgePrompt, Schema
from urs_inspect.solvers._conversations import CHAT_MESSAGES
from urs_inspect.solvers._role_models import models_with, provider_of
from urs_inspect.solvers._structured import ModelKey, is_structured, model_key, response_schema

logger = getLogger(__name__)

ResultT = TypeVar("ResultT")


class CallError(str):
    """Why a call gave no reply, in one line."""


async def attempt(call: Awaitable[ResultT]) -> ResultT | CallError:
    """The result of a call.

    An error of the call is a result as well: one failed call must not end the run.
    """
    try:
        return await call
    except (
        LimitExceededError,
        InputError,
    ):  # a limit of the sample, which the harness ends, or a wrong argument
        raise
    except (CallsStopped, CallFailed) as error:  # their message is the reason
        return CallError(error)
    except Exception as error:
        return CallError(describe_error(error))


def error_of(output: ModelOutput) -> str:
    """Why an output has no reply; empty if it has one."""
    return output.error or ("" if output.choices else "The reply had no choices.")


def messages_of(prompt: JudgePrompt) -> list[ChatMessage]:
    """A prompt as messages of the harness."""
    return [ChatMessageSystem(content=prompt.instructions), ChatMessageUser(content=prompt.case)]


def chat_messages(messages: Sequence[Message]) -> list[ChatMessage]:
    """Messages to a judge as messages of the harness."""
    return [CHAT_MESSAGES[message.role](content=message.text) for message in messages]


@dataclass(frozen=True)
class JudgeOutput:
    """The output of a call of a judge, and whether it was asked again because of its key."""

    output: ModelOutput
    facts: "CallFacts"
    asked_again: bool = False


REMOTE = word_set(
    "anthropic azureai bedrock cloudflare deepseek fireworks google groq hf-inference-providers"
    " litellm-proxy llama-cpp-python meta mistral moonshot ollama openai openai-api openrouter"
    " perplexity sambanova sglang together vllm"
)
"""Providers of the harness that ask a server, and record the request with every parameter of it."""
_NO_PARAMETERS = word_set("messages contents input tools response_format response_schema text")
"""Parts of a request in which the word `temperature` would mean something else."""
_REFUSALS: Mapping[int, str] = {
    401: "not authorized; check its API key",
    403: "forbidden; check what its API key may use",
    404: "not found; check the name of the model and the base URL",
}
_KEY_REFUSED = re.compile(r"api[ _]key|authentication", re.IGNORECASE)
"""Text of a bad request (400) that is refused for its API key, as by Google."""
_ARRIVED = frozenset({"content_filter", "model_length", "max_tokens"})
"""Why a reply ended that did arrive; some clients put an error beside it."""
_NO_CONNECTION = word_set(
    "ConnectionRefusedError gaierror ConnectError ClientConnectorError EndpointConnectionError"
)
"""Names of errors, since each client library has its own: of Python (2), httpx, aiohttp,
botocore.
"""


def http_status(error: BaseException) -> int | None:
    """The HTTP status of a failed call, wherever the provider's client puts it."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "code", "status"):
            if isinstance(value := getattr(holder, name, None), int):
                return value
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):  # of AWS
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        if isinstance(status, int):
            return status
        return None
    if error.__cause__ is None:
        return None
    return http_status(error.__cause__)


def refusal_of(error: BaseException) -> str | None:
    """The status of a call that was refused, and what may help; None for other faults."""
    status = http_status(error)
    if status == 400 and _KEY_REFUSED.search(str(error)):
        return f"400, {_REFUSALS[401]}"
    if status is not None and status in _REFUSALS:
        return f"{status}, {_REFUSALS[status]}"
    return None


def _is_unreachable(error: BaseException | None) -> bool:
    """Whether there was no connection to a server at all.

    One that breaks off, or takes too long, is a connection.
    """
    while error is not None:
        if not _NO_CONNECTION.isdisjoint(kind.__name__ for kind in type(error).__mro__):
            return True
        error = error.__cause__
    return False


BAD_REQUEST = (400, 422)
"""Status of a request that a server does not take as it is."""


@dataclass(frozen=True)
class CallFacts:
    """What a call asked for.

    The sampling temperature that was asked for (None: the provider's default), that in the request,
    and whether the request had a schema of the reply.
    """

    requested: float | None
    sent: Temperature
    structured: bool = False


def _facts(model: Model, last: str, config: GenerateConfig, before: int) -> CallFacts:
    """The temperature in the request of a call that has just ended.

    It is taken from the harness's own record of the call.
    """
    try:
        events = transcript().history.events_from(before)
    except Exception:  # the harness keeps old events on disk, where they may be lost
        events = []
    for event in reversed(events):
        if (
            isinstance(event, ModelEvent)
            and (event.model, event.role) == (str(model), model.role)
            and config.temperature in (None, event.config.temperature)
            and event.input
            and event.input[-1].text == last
        ):
            if (
                event.call is None
            ):  # the harness may not keep requests, and has none for a reply from its cache
                return CallFacts(event.config.temperature, UNKNOWN)
            sent = _parameter(event.call.request)
            known = sent is not None or provider_of(model) in REMOTE
            return CallFacts(event.config.temperature, sent if known else UNKNOWN)
    return CallFacts(
        model.config.temperature if config.temperature is None else config.temperature, UNKNOWN
    )


def _parameter(request: Mapping[str, Any]) -> float | None:
    """The temperature in a request.

    Some providers put it into a part of the request, as `generation_config`.
    """
    given = request.get("temperature")
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return float(given)
    parts = (
        part
        for name, part in request.items()
        if isinstance(part, Mapping) and name not in _NO_PARAMETERS
    )
    return next((value for part in parts if (value := _parameter(part)) is not None), None)


SCORE_LATER = "Answers are kept; samples left unscored can be judged later with `inspect score`."
"""What is left to do where a scorer calls the judge."""


class JudgeCalls:
    """Calls of the judges of one scorer or solver.

    A judge that refuses 20 calls in a row (401, 403, 404, an API key that is not valid), or cannot
    be reached at all after the harness's own retries, is no longer called. A reply resets the
    count, also one that was withheld or cut off. Other faults (429, 5xx, timeouts, connections that
    break off) may pass: they leave the count as it is, so that a short outage does not stop a
    judge. A temperature that was not sent is reported once. `remedy` is what is left to do when a
    judge was stopped.

    `structured` says which judges are asked by the schema of their prompt. Where a server refuses
    one after all, the judge is asked without it from then on, and that is reported once.
    """

    def __init__(
        self, remedy: str = "Replies that came before are kept.", structured: Structured = False
    ) -> None:
        self._remedy = remedy
        self._structured = structured
        self._plain: set[ModelKey] = set()
        self._breakers: WeakKeyDictionary[Model, CircuitBreaker] = WeakKeyDictionary()
        self._seen: dict[tuple[str, str | int, int], str] = {}
        self._cautioned: set[str] = set()

    def begin(self, state: TaskState) -> None:
        """Note a sample.

        One of another run of the same task, where judges may work, resets all counts.

        A sample that is tried again after an error keeps its unique id, in another run it has
        another.
        """
        sample = (str(state.model), state.sample_id, state.epoch)
        if self._seen.get(sample, state.uuid) != state.uuid:
            self._seen.clear()
            self._breakers.clear()
        self._seen[sample] = state.uuid

    async def generate(
        self,
        model: Model,
        messages: Sequence[ChatMessage],
        config: GenerateConfig,
        schema: Schema | None = None,
    ) -> tuple[ModelOutput, CallFacts]:
        """Call a judge, by a schema if it takes one.

        `CallsStopped` is raised if it has failed too often in a row.
        """

        async def call(reply_schema: ResponseSchema | None) -> ModelOutput:
            asked = config.merge(GenerateConfig(response_schema=reply_schema))
            return await model.generate(list(messages), config=asked)

        return await self.watch(model, messages, config, call, schema)

    async def generate_keyed(
        self,
        model: Model,
        prompt: JudgePrompt,
        config: GenerateConfig,
        failure_of: Callable[[ModelOutput], JudgeFailure | None],
    ) -> JudgeOutput:
        """Send a prompt to a judge, once more where its own record is not certain.

        It is not certain where several records of the reply may be its own.

        `failure_of` says why an output cannot be read; None if it can.
        """
        output, facts = await self.generate(model, messages_of(prompt), config, prompt.schema)
        failure = failure_of(output)
        if failure is None or failure.mode not in KEY_FAULTS:
            return JudgeOutput(output, facts)
        again = chat_messages(messages_again(prompt, output.completion, failure))
        output, facts = await self.generate(model, again, config, prompt.schema)
        return JudgeOutput(output, facts, asked_again=True)

    async def ask(
        self,
        role: str,
        prompt: JudgePrompt,
        failure_of: Callable[[str], JudgeFailure | None] = lambda reply: None,
    ) -> tuple[str | JudgeFailure, CallFacts | None, bool]:
        """Send a prompt to the first model with a role, at temperature 0.

        The reply, or why there is none.

        The facts of the call are None if it failed; the last value says whether it was asked again,
        because of a failure that `failure_of` finds in a reply.
        """

        def failure_of_output(output: ModelOutput) -> JudgeFailure | None:
            if error_of(output):
                return None
            return failure_of(output.completion)

        model = models_with(role)[0]
        asking = self.generate_keyed(
            model, prompt, GenerateConfig(temperature=0), failure_of_output
        )
        result = await attempt(asking)
        if isinstance(result, CallError):
            return JudgeFailure("call_failed", result), None, False
        if error := error_of(result.output):
            return JudgeFailure("call_failed", error), None, result.asked_again
        return result.output.completion, result.facts, result.asked_again

    async def watch(
        self,
        model: Model,
        messages: Sequence[ChatMessage],
        config: GenerateConfig,
        call: Callable[[ResponseSchema | None], Awaitable[ModelOutput]],
        schema: Schema | None = None,
    ) -> tuple[ModelOutput, CallFacts]:
        """As `generate`, for a call that is made otherwise, with or without a schema."""
        key = model_key(model)
        if schema is None or key in self._plain or not is_structured(model, self._structured):
            return await self._watch(model, messages, config, lambda: call(None))
        reply_schema = response_schema(schema)
        try:
            output, facts = await self._watch(model, messages, config, lambda: call(reply_schema))
        except Exception as refusal:
            if http_status(refusal) not in BAD_REQUEST or refusal_of(refusal):
                raise
            # If this fails as well, the schema was not what the server refused.
            output, facts = await self._watch(model, messages, config, lambda: call(None))
            self._ask_plainly(model, refusal)
            return output, facts
        return output, replace(facts, structured=True)

    def _ask_plainly(self, model: Model, refusal: Exception) -> None:
        """Ask a judge without a schema from now on."""
        key = model_key(model)
        if key not in self._plain:
            self._plain.add(key)
            logger.warning(
                f"{model}: its server refused the schema of a structured reply:"
                f" {describe_error(refusal)}. The judge is asked without one from now on; scores"
                " record in `structured` how each judgement was asked for."
            )

    async def _watch(
        self,
        model: Model,
        messages: Sequence[ChatMessage],
        config: GenerateConfig,
        call: Callable[[], Awaitable[ModelOutput]],
    ) -> tuple[ModelOutput, CallFacts]:
        breaker = self._breakers.setdefault(model, CircuitBreaker())
        if breaker.stopped:
            raise CallsStopped(breaker.stopped)
        before = transcript().history.event_count
        last = messages[-1].text
        try:
            output = await call()
        except LimitExceededError:  # of the sample, no failure of the judge
            raise
        except Exception as error:
            if refusal_of(error) or _is_unreachable(error):
                self._note(breaker, model, describe_error(error))
            raise
        arrived = output.choices and output.stop_reason in _ARRIVED
        self._note(breaker, model, "" if arrived else output.error or "")
        facts = _facts(model, last, config, before)
        name = str(model)
        if facts.requested is not None and facts.sent is None and name not in self._cautioned:
            self._cautioned.add(name)
            logger.warning(
                f"{name}: temperature {facts.requested:g} was requested, but its provider's client"
                " did not send it: the model runs at its default temperature. Logs record"
                " temperature_requested and temperature_sent."
            )
        return output, facts

    def _note(self, breaker: CircuitBreaker, model: Model, error: str) -> None:
        """Note how a call ended.

        Where that stops the calls, report it now and again at the end of the run.
        """
        was_stopped = breaker.stopped
        breaker.note(bool(error), error)
        if breaker.stopped and not was_stopped:
            _report_at_run_end(
                f"{model}: {breaker.stopped.rstrip('.')}. It is not called again in this run."
                f" {self._remedy}"
            )


def _report_at_run_end(sentence: str) -> None:
    logger.error(sentence)
    fail_command()
    _StoppedAtRunEnd.sentences.append(sentence)
    if not _StoppedAtRunEnd.registered:
        _StoppedAtRunEnd.registered = True
        hooks("judging_stopped", "Reports at the end of a run that judging was stopped.")(
            _StoppedAtRunEnd
        )


def fail_command() -> None:
    """Make the command under way end with the status 1, after all its work.

    The harness ends every run with 0.
    """
    if (context := click.get_current_context(silent=True)) is not None:
        context.find_root().call_on_close(lambda: sys.exit(1))


class _StoppedAtRunEnd(Hooks):
    """A hook that is registered only when needed.

    The harness lists the hooks that it finds when a command starts.
    """

    sentences: list[str] = []  # noqa: RUF012 - one list for the class is meant
    registered = False

    async def on_run_end(self, data: RunEnd) -> None:
        """Repeat below the results which judges were stopped."""
        while self.sentences:
            logger.error(self.sentences.pop(0))
