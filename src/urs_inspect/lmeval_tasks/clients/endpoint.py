"""Where a judge is asked, through the client of its provider."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from urs_inspect.judging import Call, Message, Reply, describe_error
from urs_inspect.lmeval_tasks.clients.anthropic_client import AnthropicClient
from urs_inspect.lmeval_tasks.clients.openai_client import OpenAIClient
from urs_inspect.lmeval_tasks.settings import JudgeSettings, judge_key


@dataclass(frozen=True)
class Endpoint:
    """Where a judge is asked.

    Attributes:
        send: Sends messages, as for `judging.ask`; calls that fail are repeated by the provider's client, waiting
            longer each time. What an endpoint says in place of a reply is in the reply's `error`, without the key.
        parameters: All that a reply depends on besides the messages. Holds no credentials.
    """

    send: Call
    parameters: dict[str, Any]


@asynccontextmanager
async def open_endpoint(settings: JudgeSettings) -> AsyncIterator[Endpoint]:
    """The endpoint of a judge.

    Args:
        settings: Which judge, and how it is asked.

    Yields:
        The endpoint.

    Raises:
        InputError: If there is no judge, or no key.
    """
    key = judge_key(settings)
    client = (AnthropicClient if settings.provider == "anthropic" else OpenAIClient)(settings, key)

    async def send(messages: Sequence[Message]) -> Reply:
        try:
            reply = await client.send(messages)
        except json.JSONDecodeError:  # asked for again by whoever reads replies
            raise
        except Exception as error:  # endpoints repeat in their errors what they were sent
            return Reply("", "unknown", describe_error(error, key.hidden_in))
        return replace(reply, text=key.hidden_in(reply.text), error=key.hidden_in(reply.error))

    try:
        yield Endpoint(send, _parameters(settings, client.base_url))
    finally:
        await client.close()


async def call_parameters(settings: JudgeSettings) -> dict[str, Any]:
    """All that a reply depends on besides the messages, without asking for one; see `Endpoint`.

    Raises:
        InputError: If there is no judge, or no key.
    """
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
