"""The official client of OpenAI, which many servers understand."""

from collections.abc import Sequence
from typing import Any

from openai import AsyncOpenAI, BadRequestError
from openai.types.chat import ChatCompletion

from urs_inspect.judging import Message, Reply
from urs_inspect.lmeval_tasks.settings import JudgeSettings, Key

_STOPPED = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter"}
_TOO_LONG = "context_length_exceeded"
_NO_COMPLETION = "the reply is no chat completion; does the address (judge_base_url) lack a /v1 at its end?"


class OpenAIClient:
    """Asks for chat completions.

    Args:
        settings: Which judge, and how it is asked.
        key: The key.
    """

    def __init__(self, settings: JudgeSettings, key: Key) -> None:
        self._settings = settings
        self._client = AsyncOpenAI(
            api_key=key.value,
            base_url=settings.judge_base_url,
            timeout=settings.judge_timeout,
            max_retries=settings.judge_retries,
        )

    @property
    def base_url(self) -> str:
        """Where it asks."""
        return str(self._client.base_url)

    async def send(self, messages: Sequence[Message]) -> Reply:
        """Send messages; what the client raises goes on."""
        given = self._settings
        request: dict[str, Any] = {
            "model": given.judge_model,
            "messages": [{"role": message.role, "content": message.text} for message in messages],
            # Newer models of OpenAI refuse the old name, other servers do not know the new one.
            "max_completion_tokens" if given.judge_base_url is None else "max_tokens": given.judge_max_tokens,
        }
        if given.judge_temperature is not None:
            request["temperature"] = given.judge_temperature
        try:
            completion = await self._client.chat.completions.create(**request)
        except BadRequestError as error:
            if error.code == _TOO_LONG:
                return Reply("", "model_length", error.message)
            raise
        if not isinstance(completion, ChatCompletion):  # a page, of a server that has it for every address
            return Reply("", "unknown", _NO_COMPLETION)
        if not completion.choices:
            return Reply("", "unknown", "the reply had no choices")
        choice = completion.choices[0]
        if choice.message.refusal:
            return Reply(choice.message.refusal, "content_filter")
        return Reply(choice.message.content or "", _STOPPED.get(str(choice.finish_reason), "unknown"))

    async def close(self) -> None:
        """Close connections."""
        await self._client.close()
