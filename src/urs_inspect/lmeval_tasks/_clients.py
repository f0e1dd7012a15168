"""Clients of judges, with retries and a cache of replies.

There are OpenAI-compatible endpoints and Anthropic.
"""

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from functools import partial
from logging import getLogger
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from anthropic import AsyncAnthropic
from anthropic.types import Message as AnthropicMessage
from openai import AsyncOpenAI, BadRequestError
from openai.types.chat import ChatCompletion

from urs_inspect._util import InputError
from urs_inspect.judging import Message, Reply
from urs_inspect.judging._ask import UNKNOWN, Call, CircuitBreaker
from urs_inspect.judging._failures import describe_error
from urs_inspect.lmeval_tasks._settings import JudgeSettings, judge_key

logger = getLogger(__name__)

_ANTHROPIC_STOPPED = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "max_tokens",
    "refusal": "content_filter",
    "model_context_window_exceeded": "model_length",
}
_OPENAI_STOPPED = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter"}
_TOO_LONG = "context_length_exceeded"
_NO_MESSAGE = (
    "the reply is no message of Anthropic; is the address (judge_base_url) right? It is given"
    " without /v1"
)
_NO_COMPLETION = (
    "the reply is no chat completion; does the address (judge_base_url) lack a /v1 at its end?"
)


async def _ask_anthropic(
    client: AsyncAnthropic, settings: JudgeSettings, messages: Sequence[Message]
) -> Reply:
    request: dict[str, Any] = {
        "model": settings.judge_model,
        "messages": [
            {"role": message.role, "content": message.text}
            for message in messages
            if message.role != "system"
        ],
        "max_tokens": settings.judge_max_tokens,
    }
    if system := "\n\n".join(message.text for message in messages if message.role == "system"):
        request["system"] = system
    if settings.judge_temperature is not None:
        # Newer versions of the client know no such argument; the endpoint does.
        request["extra_body"] = {"temperature": settings.judge_temperature}
    reply = await client.messages.create(**request)
    if not isinstance(reply, AnthropicMessage):  # a page, of a server that has it for every address
        return Reply("", "unknown", _NO_MESSAGE)
    text = "".join(block.text for block in reply.content if block.type == "text")
    return Reply(text, _ANTHROPIC_STOPPED.get(reply.stop_reason or "", "unknown"))


async def _ask_openai(
    client: AsyncOpenAI, settings: JudgeSettings, messages: Sequence[Message]
) -> Reply:
    request: dict[str, Any] = {
        "model": settings.judge_model,
        "messages": [{"role": message.role, "content": message.text} for message in messages],
        # Newer models of OpenAI refuse the old name, other servers do not know the new one.
        (
            "max_completion_tokens" if settings.judge_base_url is None else "max_tokens"
        ): settings.judge_max_tokens,
    }
    if settings.judge_temperature is not None:
        request["temperature"] = settings.judge_temperature
    try:
        completion = await client.chat.completions.create(**request)
    except BadRequestError as error:
        if error.code == _TOO_LONG:
            return Reply("", "model_length", error.message)
        raise
    # a page, of a server that has it for every address
    if not isinstance(completion, ChatCompletion):
        return Reply("", "unknown", _NO_COMPLETION)
    if not completion.choices:
        return Reply("", "unknown", "the reply had no choices")
    choice = completion.choices[0]
    if choice.message.refusal:
        return Reply(choice.message.refusal, "content_filter")
    return Reply(
        choice.message.content or "", _OPENAI_STOPPED.get(str(choice.finish_reason), "unknown")
    )


@dataclass(frozen=True)
class Endpoint:
    """An open connection to a judge.

    `send` is a call as for `judging.ask`; the provider's client repeats calls that fail, waiting
    longer each time. An error of the endpoint is in the reply's `error`, without the key.
    """

    send: Call
    parameters: dict[str, Any]  # all that a reply depends on besides the messages; no credentials


@asynccontextmanager
async def open_endpoint(settings: JudgeSettings) -> AsyncIterator[Endpoint]:
    """Open the endpoint of a judge; `InputError` if there is no judge or no key."""
    key = judge_key(settings)
    options: dict[str, Any] = {
        "api_key": key.value,
        "base_url": settings.judge_base_url,
        "timeout": settings.judge_timeout,
        "max_retries": settings.judge_retries,
    }
    client: AsyncAnthropic | AsyncOpenAI
    ask: Call
    if settings.provider == "anthropic":
        client = AsyncAnthropic(**options)
        ask = partial(_ask_anthropic, client, settings)
    else:
        client = AsyncOpenAI(**options)
        ask = partial(_ask_openai, client, settings)

    async def send(messages: Sequence[Message]) -> Reply:
        try:
            reply = await ask(messages)
        except json.JSONDecodeError:  # what reads replies asks again
            raise
        except Exception as error:  # endpoints repeat in their errors what they were sent
            return Reply("", "unknown", describe_error(error, key.hidden_in))
        text_without_key = key.hidden_in(reply.text)
        error_without_key = key.hidden_in(reply.error)
        return replace(reply, text=text_without_key, error=error_without_key)

    try:
        yield Endpoint(send, _parameters(settings, str(client.base_url)))
    finally:
        await client.close()


async def call_parameters(settings: JudgeSettings) -> dict[str, Any]:
    """All that a reply depends on besides the messages, without asking for one; see `Endpoint`."""
    async with open_endpoint(settings) as endpoint:
        return endpoint.parameters


def _parameters(settings: JudgeSettings, base_url: str) -> dict[str, Any]:
    address = urlsplit(base_url)
    # The address may be one of the environment, with a user's name and password in it.
    host = address.netloc.rpartition("@")[2]
    return {
        "provider": settings.provider,
        "base_url": f"{address.scheme}://{host}{address.path.rstrip('/')}",
        "model": settings.judge_model,
        "temperature": settings.judge_temperature,
        "max_tokens": settings.judge_max_tokens,
    }


_TABLE = "replies (key TEXT PRIMARY KEY, text TEXT NOT NULL, stop_reason TEXT NOT NULL)"
_TABLES = "SELECT sql FROM sqlite_master WHERE type = 'table'"
_WAIT_S = 30


class ReplyCache:
    """Replies by judge, parameters and prompt.

    Each is safe on disk once it is put, and processes may share a file.
    """

    def __init__(self, file: Path | None) -> None:
        self._connection: sqlite3.Connection | None = None
        self._broken = False
        if file is None:
            return
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(file, timeout=_WAIT_S, isolation_level=None)
            self._open(self._connection)
        except (OSError, sqlite3.Error) as error:
            self.close()
            raise InputError(f"judge_cache: cannot use '{file}': {error}") from error

    def get(self, key: str) -> Reply | None:
        """The reply of an earlier call; None if there was none, or it cannot be had."""
        rows = self._execute("SELECT text, stop_reason FROM replies WHERE key = ?", key)
        if not rows or not all(isinstance(value, str) for value in rows[0]):
            return None
        return Reply(*rows[0])

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply; an error is none."""
        if not reply.error:
            self._execute(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?)",
                key,
                reply.text,
                reply.stop_reason,
            )

    def drop(self, key: str) -> None:
        """Forget a reply."""
        self._execute("DELETE FROM replies WHERE key = ?", key)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self, connection: sqlite3.Connection) -> None:
        tables = [made for (made,) in connection.execute(_TABLES)]
        if tables and f"CREATE TABLE {_TABLE}" not in tables:
            raise sqlite3.DatabaseError("it is a database of something else")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE}")

    def _execute(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        if self._connection is None:
            return []
        try:
            with closing(self._connection.execute(statement, values)) as found:
                return found.fetchall()
        except (
            sqlite3.Error,
            UnicodeEncodeError,
        ) as error:  # a full disk must not lose the judgement itself
            if not self._broken:
                logger.warning(f"judge_cache: replies may not be kept or found: {error}")
            self._broken = True
            return []


def key_of(parameters: Mapping[str, Any], messages: Sequence[Message]) -> str:
    """SHA-256 of all that a reply depends on."""
    sent = [(message.role, message.text) for message in messages]
    text = json.dumps([dict(parameters), sent], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class InterruptibleBreaker(CircuitBreaker):
    """A circuit breaker that an interrupt opens as well."""

    def __init__(self, give_up: int) -> None:
        super().__init__(give_up)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._under_way: set[asyncio.Future[Any]] = set()

    async def wait_for(self, asking: Callable[[], Awaitable[Reply]]) -> Reply | None:
        """Make a call unless calls are stopped.

        None if it was not made, or was ended by an interrupt.
        """
        if self.stopped:
            return None
        self._loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(asking())
        self._under_way.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if self._is_interrupt():
                return None
            raise
        finally:
            self._under_way.discard(task)

    def interrupt(self) -> None:
        """Stop calling, and end the calls under way. For a handler of signals, from any thread."""
        self.stopped = "Judging was interrupted."
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end)

    def _is_interrupt(self) -> bool:
        """Whether only the call was ended, and not the task that waits for it."""
        waiting = asyncio.current_task()
        return bool(self.stopped) and waiting is not None and not waiting.cancelling()

    def _end(self) -> None:
        for task in self._under_way:
            task.cancel()


@dataclass
class Conversation:
    """Calls about one answer, whose replies are cached only when their outcome is known.

    `asked` tells whether the endpoint was asked, `not_asked` why it was not although there was no
    cached reply.
    """

    endpoint: Endpoint
    cache: ReplyCache
    breaker: InterruptibleBreaker
    asked: bool = False
    not_asked: str = ""
    new: dict[str, Reply] = field(default_factory=dict)
    known: list[str] = field(default_factory=list)

    async def call(self, messages: Sequence[Message]) -> Reply:
        """Send messages, unless the reply is known; as for `judging.ask`."""
        parameters = self.endpoint.parameters
        name = key_of(parameters, messages)
        reply = self.cache.get(name)
        if reply is not None:
            self.known.append(name)
        else:
            self.asked = self.asked or not self.breaker.stopped
            reply = await self.breaker.wait_for(lambda: self.endpoint.send(messages))
            if reply is None:
                self.not_asked = self.breaker.stopped
                return Reply("", "unknown", self.not_asked)
            self.new[name] = reply
        # The clients send what is asked for, or nothing for None.
        return replace(reply, temperature_sent=parameters.get("temperature", UNKNOWN))

    def end(self, scored: bool) -> None:
        """Keep the replies that led to a score, and forget all others.

        Whole or cut off, they lead to the score again.

        A reply that could not be read is asked for anew by the next run, even if a cache has it:
        what reads replies may have been another version when it was kept.
        """
        if scored:
            for name, reply in self.new.items():
                self.cache.put(name, reply)
        else:
            for name in self.known:
                self.cache.drop(name)
