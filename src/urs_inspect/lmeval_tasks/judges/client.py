"""Calls of judges: which client, how many at a time, from the cache if they were made before."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from urs_inspect.judging import Call, Message, Reply
from urs_inspect.lmeval_tasks.judges.anthropic_client import AnthropicClient
from urs_inspect.lmeval_tasks.judges.openai_client import OpenAIClient
from urs_inspect.lmeval_tasks.judges.reply_cache import ReplyCache, key_of
from urs_inspect.lmeval_tasks.settings import JudgeSettings, judge_key


@asynccontextmanager
async def open_call(settings: JudgeSettings, cache: ReplyCache) -> AsyncIterator[Call]:
    """A function that sends messages to the judge.

    Args:
        settings: Which judge, and how it is asked.
        cache: Replies of earlier calls.

    Yields:
        The function, as for `judging.ask`. At most `judge_concurrency` of its calls are under way at a time; calls that
        fail are repeated by the provider's client, waiting longer each time.

    Raises:
        InputError: If there is no judge, or no key.
    """
    key = judge_key(settings)
    slots = asyncio.Semaphore(settings.judge_concurrency)
    parameters: dict[str, Any] = {
        "provider": settings.provider,
        "base_url": settings.judge_base_url,
        "model": settings.judge_model,
        "temperature": settings.judge_temperature,
        "max_tokens": settings.judge_max_tokens,
    }
    client = (AnthropicClient if settings.provider == "anthropic" else OpenAIClient)(settings, key)

    async def call(messages: Sequence[Message]) -> Reply:
        name = key_of(parameters, messages)
        if (known := cache.get(name)) is not None:
            return known
        async with slots:
            reply = await client.send(messages)
        cache.put(name, reply)
        return reply

    try:
        yield call
    finally:
        await client.close()
