import asyncio
from collections.abc import Sequence
from pathlib import Path

from urs_inspect.judging import Message, Reply
from urs_inspect.lmeval_tasks.clients import Conversation, Endpoint, ReplyCache
from urs_inspect.lmeval_tasks.patience import Patience

CASE = [Message("user", "Case.")]


class Script:
    """Replies in order."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)

    async def send(self, messages: Sequence[Message]) -> Reply:
        return Reply(self.replies.pop(0))


def talk(
    script: Script, cache: ReplyCache, scored: bool, patience: Patience | None = None
) -> tuple[Reply, Conversation]:
    conversation = Conversation(Endpoint(script.send, {"model": "m"}), cache, patience or Patience(0))
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


def test_who_has_no_patience_asks_nothing_but_the_cache(tmp_path: Path) -> None:
    cache, patience = ReplyCache(tmp_path / "replies.sqlite3"), Patience(2)
    for place in range(2):
        assert patience.over == ""
        patience.note(True, f"fault {place}")
    assert patience.over == "The judge was not asked, since it failed 2 times in a row; last: fault 1"
    reply, conversation = talk(Script("never"), cache, scored=False, patience=patience)
    assert reply.error == conversation.not_asked == patience.over and not conversation.asked
    talk(Script("known"), cache, scored=True)
    reply, conversation = talk(Script(), cache, scored=True, patience=patience)
    assert reply == Reply("known") and not conversation.not_asked
    cache.close()


def test_only_failures_in_a_row_count() -> None:
    patience = Patience(2)
    for failed in (True, False, True, False):
        patience.note(failed, "fault")
    assert patience.over == ""
    never = Patience(0)
    for _ in range(99):
        never.note(True, "fault")
    assert never.over == ""
