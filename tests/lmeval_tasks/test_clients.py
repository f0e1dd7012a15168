"""Tests of `urs_inspect.lmeval_tasks._clients`."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.servers import LoopbackServer, Response
from urs_inspect._util import InputError
from urs_inspect.judging import Message, Reply
from urs_inspect.lmeval_tasks._clients import (
    Conversation,
    Endpoint,
    InterruptibleBreaker,
    ReplyCache,
    call_parameters,
    key_of,
    open_endpoint,
)
from urs_inspect.lmeval_tasks._settings import Key, read_settings


class Server(LoopbackServer):
    """Replies the same to everything, and notes what it was sent."""

    def __init__(self, reply: Any, status: int = 200) -> None:
        super().__init__()
        self.reply = Response(status, json.dumps(reply).encode())
        self.sent: list[tuple[str, dict[str, Any]]] = []

    def post(self, path: str, body: dict[str, Any], key: str | None) -> Response:
        self.sent.append((path, body))
        return self.reply


def asked(server: Server, provider: str, monkeypatch: pytest.MonkeyPatch, **changed: Any) -> Reply:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    base = f"{server.address}/v1" if provider == "openai" else server.address
    settings = read_settings(
        {
            "judge_model": "m",
            "judge_provider": provider,
            "judge_base_url": base,
            "judge_retries": 0,
            "judge_max_tokens": 99,
            **changed,
        }
    )

    async def ask() -> Reply:
        async with open_endpoint(settings) as endpoint:
            return await endpoint.send([Message("system", "Rules."), Message("user", "Case.")])

    server.start()
    try:
        return asyncio.run(ask())
    finally:
        server.stop()


def anthropic(text: str, stop_reason: str) -> dict[str, Any]:
    return {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def openai(text: str, finish_reason: str, refusal: str | None = None) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": refusal}
    choices = [{"index": 0, "finish_reason": finish_reason, "message": message}]
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": choices}


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (anthropic("Seven.", "end_turn"), "stop"),
        (anthropic("Seven.", "max_tokens"), "max_tokens"),
        (anthropic("Seven.", "refusal"), "content_filter"),
        (anthropic("Seven.", "model_context_window_exceeded"), "model_length"),
        (openai("Seven.", "stop"), "stop"),
        (openai("Seven.", "length"), "max_tokens"),
        (openai("Seven.", "content_filter"), "content_filter"),
    ],
)
def test_requests_and_replies_of_both_protocols(
    monkeypatch: pytest.MonkeyPatch, given: Any, read: str
) -> None:
    server, system, user = (
        Server(given),
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "Case."},
    )
    expected: dict[str, Any]
    if "choices" in given:
        assert asked(server, "openai", monkeypatch, judge_temperature=None) == Reply("Seven.", read)
        place, expected = "/v1/chat/completions", {"messages": [system, user]}
    else:
        assert asked(server, "anthropic", monkeypatch) == Reply("Seven.", read)
        place, expected = (
            "/v1/messages",
            {
                "system": "Rules.",
                "messages": [user],
                "temperature": 0.0,
            },
        )
    [(path, body)] = server.sent
    assert path.endswith(place)
    assert body == {"model": "m", "max_tokens": 99, **expected}


def test_a_refusal_is_none_of_the_judge_s_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(Server(openai("", "stop", "No.")), "openai", monkeypatch) == Reply(
        "No.", "content_filter"
    )


def test_a_reply_without_choices_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    reply = asked(Server({**openai("", "stop"), "choices": []}), "openai", monkeypatch)
    assert (reply.text, reply.stop_reason) == ("", "unknown") and reply.error


def test_a_case_too_long_for_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    error = {
        "error": {
            "message": "too long",
            "code": "context_length_exceeded",
            "type": "x",
            "param": None,
        }
    }
    assert asked(Server(error, 400), "openai", monkeypatch).stop_reason == "model_length"


@pytest.mark.parametrize(
    ("provider", "said"),
    [("openai", "no chat completion.*lack a /v1"), ("anthropic", "no message")],
)
def test_a_page_in_place_of_a_reply_says_what_to_look_at(
    monkeypatch: pytest.MonkeyPatch, provider: str, said: str
) -> None:
    assert re.search(said, asked(Server("<html>Welcome</html>"), provider, monkeypatch).error)


def test_a_key_in_a_reply_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789\n")
    assert (
        asked(Server(openai("You sent sk-0123456789.", "stop")), "openai", monkeypatch).text
        == "You sent …."
    )


def test_an_address_of_the_environment_is_noted_without_credentials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://me:secret@judges.example:8443/v1")
    found = asyncio.run(call_parameters(read_settings({"judge_model": "m"})))
    assert found["base_url"] == "https://judges.example:8443/v1"


def test_a_key_does_not_show_itself() -> None:
    assert "secret" not in f"{Key('secret')!r} {Key('secret')}"


@pytest.mark.parametrize(
    ("value", "text", "shown"),
    [
        ("sk-0123456789", "bad sk-0123456789!", "bad …!"),
        ("sk-01\n23456789", r"b'Bearer sk-01\n23456789'", "b'Bearer …'"),
        ("none", "none at all", "none at all"),  # stands for no key
        ("1", '{"Final Score": 1}', '{"Final Score": 1}'),
    ],
)
def test_a_key_is_hidden_in_texts(value: str, text: str, shown: str) -> None:
    assert Key(value).hidden_in(text) == shown


CASE = [Message("user", "Case.")]


class Script:
    """Replies in order."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)

    async def send(self, messages: Sequence[Message]) -> Reply:
        return Reply(self.replies.pop(0))


def talk(
    script: Script, cache: ReplyCache, scored: bool, breaker: InterruptibleBreaker | None = None
) -> tuple[Reply, Conversation]:
    conversation = Conversation(
        Endpoint(script.send, {"model": "m"}), cache, breaker or InterruptibleBreaker(0)
    )
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
    cache, breaker = ReplyCache(tmp_path / "replies.sqlite3"), InterruptibleBreaker(2)
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
    breaker = InterruptibleBreaker(2)
    for failed in (True, False, True, False):
        breaker.note(failed, "fault")
    assert breaker.stopped == ""
    never = InterruptibleBreaker(0)
    for _ in range(99):
        never.note(True, "fault")
    assert never.stopped == ""


def test_replies_are_kept_as_they_are_but_errors_are_none(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "er" / "replies.sqlite3"
    cache = ReplyCache(file)
    cache.put("a", Reply("", "stop", "error"))
    assert cache.get("a") is None
    cache.put("a", Reply("cut off", "max_tokens"))
    cache.put("b", Reply("whole"))
    cache.close()
    again = ReplyCache(file)
    assert again.get("a") == Reply("cut off", "max_tokens")
    again.drop("a")
    assert again.get("a") is None and again.get("b") == Reply("whole")
    again.close()
    assert ReplyCache(None).get("a") is None


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE TABLE bills (a)", "a database of something else"),
        ("CREATE TABLE replies (key, reply)", "a database of something else"),
    ],
)
def test_a_database_of_something_else_is_refused(tmp_path: Path, statement: str, said: str) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute(statement)
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(InputError, match=f"judge_cache:.*other.db.*{said}"):
        ReplyCache(tmp_path / "other.db")
    if "bills" in statement:
        assert (tmp_path / "other.db").read_bytes() == before


def test_what_cannot_be_found_is_a_miss(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = ReplyCache(tmp_path / "replies.sqlite3")
    assert isinstance(cache._connection, sqlite3.Connection)
    cache._connection.execute("INSERT INTO replies VALUES ('a', X'ff00', 'stop')")
    assert cache.get("a") is None
    cache._connection.execute("DROP TABLE replies")
    assert cache.get("b") is None and cache.get("c") is None
    assert caplog.text.count("judge_cache: replies may not be kept or found") == 1
    cache.close()


def test_a_full_disk_loses_no_judgement(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "replies.sqlite3")
    assert isinstance(cache._connection, sqlite3.Connection)
    cache._connection.close()
    cache.put("a", Reply("whole"))  # does not raise


def test_a_key_depends_on_all_that_a_reply_depends_on() -> None:
    base = {"model": "m", "temperature": 0.0}
    message = [Message("user", "Case.")]
    keys = {
        key_of(base, message),
        key_of({**base, "temperature": 0.1}, message),
        key_of({**base, "model": "n"}, message),
        key_of(base, [Message("user", "Case")]),
        key_of(base, [Message("system", "Case.")]),
        key_of(base, [*message, *message]),
        key_of(base, [Message("user", "\ud800")]),
    }
    assert len(keys) == 7
