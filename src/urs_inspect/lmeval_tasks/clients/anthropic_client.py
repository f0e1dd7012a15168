"""The official client of Anthropic."""

from collections.abc import Sequence
from typing import Any

from anthropic import AsyncAnthropic
from anthropic.types import Message as AnthropicMessage

from urs_inspect.judging import Message, Reply
from urs_inspect.lmeval_tasks.settings import JudgeSettings, Key

_STOPPED = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "max_tokens",
    "refusal": "content_filter",
    "model_context_window_exceeded": "model_length",
}
_NO_MESSAGE = "the reply is no message of Anthropic; is the address (judge_base_url) right? It is given without /v1"


class AnthropicClient:
    """Asks for messages.

    Args:
        settings: Which judge, and how it is asked.
        key: The key.
    """

    def __init__(self, settings: JudgeSettings, key: Key) -> None:
        self._settings = settings
        self._client = AsyncAnthropic(
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
        system = "\n\n".join(message.text for message in messages if message.role == "system")
        request: dict[str, Any] = {
            "model": given.judge_model,
            "messages": [
                {"role": message.role, "content": message.text} for message in messages if message.role != "system"
            ],
            "max_tokens": given.judge_max_tokens,
        }
        if system:
            request["system"] = system
        if given.judge_temperature is not None:
            # Newer versions of the client know no such argument; the endpoint does.
            request["extra_body"] = {"temperature": given.judge_temperature}
        reply = await self._client.messages.create(**request)
        if not isinstance(reply, AnthropicMessage):  # a page, of a server that has it for every address
            return Reply("", "unknown", _NO_MESSAGE)
        text = "".join(block.text for block in reply.content if block.type == "text")
        return Reply(text, _STOPPED.get(reply.stop_reason or "", "unknown"))

    async def close(self) -> None:
        """Close connections."""
        await self._client.close()
