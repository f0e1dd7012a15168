import asyncio
from collections.abc import Sequence
from pathlib import Path

from urs_inspect.judging import CircuitBreaker, Message, Reply
from urs_inspect.lmeval_tasks.clients import Conversation, Endpoint, ReplyCache

CASE = [Message("user", "Case.")]


class Script:
    """Replies in order."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)

    async def send(self, messages: Sequence[Message]) -> Reply:
        return Reply(self.replies.pop(0))


def talk(
    script: Script, cache: ReplyCache, scored: bool, breaker: CircuitBreaker | None = None
) -> tuple[Reply, Conversation]:
    conversation = Conversation(Endpoint(script.send, {"model": "m"}), cache, breaker or CircuitBreaker(0))
    reply = asyncio.run(conversation.call(CASE))
    conversation.end(scored)
    return reply, conversation


def test_what_led_to_a_score_is_kept_and_what_did_not_is_forgotten(tmp_path: Path) -> None:
    cache, script = ReplyCache(tmp_path / "replies.sqlite3"), Script("first", "second", "third")
    assert talk(script, cache, scored=False)[0] == Reply("first")
    assert talk(script, cache, scored=True)[0] == Reply("second")
    known, conversation = talk(script, cache, scored=False)  # as if it could no longer be read
    assert known == Reply("second") and not conversation.asked
    assert talk(script, cache, scored=True)[0] == Reply("third")
    cache.close()


def test_after_failures_in_a_row_only_the_cache_is_asked(tmp_path: Path) -> None:
    cache, breaker = ReplyCache(tmp_path / "replies.sqlite3"), CircuitBreaker(2)
    for place in range(2):
        assert breaker.stopped == ""
        breaker.note(True, f"fault {place}")
    assert "2 times" in breaker.stopped and "fault 1" in breaker.stopped
    reply, conversation = talk(Script("never"), cache, scored=False, breaker=breaker)
    assert reply.error == conversation.not_asked == breaker.stopped and not conversation.asked
    talk(Script("known"), cache, scored=True)
    reply, conversation = talk(Script(), cache, scored=True, breaker=breaker)
    assert reply == Reply("known") and not conversation.not_asked
    cache.close()


def test_only_failures_in_a_row_count() -> None:
    breaker = CircuitBreaker(2)
    for failed in (True, False, True, False):
        breaker.note(failed, "fault")
    assert breaker.stopped == ""
    never = CircuitBreaker(0)
    for _ in range(99):
        never.note(True, "fault")
    assert never.stopped == ""
