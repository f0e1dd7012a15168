"""Similarity of two texts by asking a model."""

from collections.abc import Awaitable, Callable

from urs_inspect.judging.frames import JudgePrompt
from urs_inspect.judging.keys import read_keyed
from urs_inspect.judging.outcomes import ASK_AGAIN, JudgeFailure
from urs_inspect.judging.similarity_prompt import similarity_prompt
from urs_inspect.judging.similarity_reply import read_similarity


def asked_similarity(
    ask: Callable[[JudgePrompt], Awaitable[str | JudgeFailure]], attempts: int = 2
) -> Callable[[str, str], Awaitable[float | str]]:
    """Put asking and reading together, as the similarity `llm` wants it.

    Args:
        ask: Sends a prompt to a model and gives its reply, or the failure if there is none. Both prompt parts go
            along: the instructions as system message, the case as user message.
        attempts: How often to ask before giving up, 1 or more.

    Returns:
        A function of two texts: the similarity from 0 to 1, or the failure's mode and detail.
    """

    async def similarity(first: str, second: str) -> float | str:
        found: float | JudgeFailure = JudgeFailure("call_failed", "The model was not asked.")
        for _ in range(attempts):
            prompt = similarity_prompt(first, second)
            reply = await ask(prompt)
            found = reply if isinstance(reply, JudgeFailure) else read_keyed(reply, prompt.key, read_similarity).result
            if not isinstance(found, JudgeFailure) or found.mode not in ASK_AGAIN:
                break
        return f"{found.mode}: {found.detail}" if isinstance(found, JudgeFailure) else found

    return similarity
