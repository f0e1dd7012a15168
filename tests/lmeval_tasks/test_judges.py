import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.lmeval_tasks.runs import metric, records, run
from tests.lmeval_tasks.scripted_lm import answering
from tests.samer.checkpoints import tiny_checkpoint
from tests.servers import LoopbackServer, Response
from urs_inspect.errors import InputError
from urs_inspect.judging import Message, Reply
from urs_inspect.lmeval_tasks.judges import ReplyCache, open_call
from urs_inspect.lmeval_tasks.judges.reply_cache import key_of
from urs_inspect.lmeval_tasks.settings import Key, read_settings


class Server(LoopbackServer):
    """Replies the same to everything, and notes what it was sent."""

    def __init__(self, reply: dict[str, Any], status: int = 200) -> None:
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
        async with open_call(settings, ReplyCache(None)) as call:
            return await call([Message("system", "Rules."), Message("user", "Case.")])

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
        ("end_turn", "stop"),
        ("max_tokens", "max_tokens"),
        ("refusal", "content_filter"),
        ("model_context_window_exceeded", "model_length"),
    ],
)
def test_anthropic(monkeypatch: pytest.MonkeyPatch, given: str, read: str) -> None:
    server = Server(anthropic("Seven.", given))
    assert asked(server, "anthropic", monkeypatch) == Reply("Seven.", read)
    [(path, body)] = server.sent
    assert path.endswith("/v1/messages")
    assert body == {
        "model": "m",
        "system": "Rules.",
        "messages": [{"role": "user", "content": "Case."}],
        "max_tokens": 99,
        "temperature": 0.0,
    }


@pytest.mark.parametrize(
    ("given", "read"), [("stop", "stop"), ("length", "max_tokens"), ("content_filter", "content_filter")]
)
def test_openai(monkeypatch: pytest.MonkeyPatch, given: str, read: str) -> None:
    server = Server(openai("Seven.", given))
    assert asked(server, "openai", monkeypatch, judge_temperature=None) == Reply("Seven.", read)
    [(path, body)] = server.sent
    assert path.endswith("/v1/chat/completions")
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Rules."}, {"role": "user", "content": "Case."}],
        "max_tokens": 99,
    }


def test_a_refusal_is_none_of_the_judge_s_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(Server(openai("", "stop", "No.")), "openai", monkeypatch) == Reply("No.", "content_filter")


def test_a_case_too_long_for_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"error": {"message": "too long", "code": "context_length_exceeded", "type": "x", "param": None}}
    assert asked(Server(error, 400), "openai", monkeypatch).stop_reason == "model_length"


def test_only_whole_replies_are_kept(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "deep" / "replies.sqlite3")
    for reply in (Reply("cut", "max_tokens"), Reply("", "stop", "error"), Reply("odd", "unknown")):
        cache.put("a", reply)
        assert cache.get("a") is None
    cache.put("a", Reply("whole"))
    cache.close()
    assert ReplyCache(tmp_path / "deep" / "replies.sqlite3").get("a") == Reply("whole")
    assert ReplyCache(None).get("a") is None


def test_a_file_that_is_no_cache_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but long enough to be read as one" * 30)
    with pytest.raises(InputError, match=r"judge_cache: cannot use .*notes\.txt"):
        ReplyCache(tmp_path / "notes.txt")


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


def test_a_key_does_not_show_itself() -> None:
    assert "secret" not in f"{Key('secret')!r} {Key('secret')}"


def test_samer_judges(tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "samer", max_positions=2048)
    metadata = {"judge": "samer", "samer": str(folder), "samer_engine": "transformers", "urs_dataset": "sample"}
    model = answering(lambda question: "" if len(question) % 9 == 0 else f"About {question[:20]}")
    found = run("urs_en", model, metadata, limit=12)
    judged = records(found, "urs_en").values()
    assert [one["explanation"] for one in judged if one["scores"] is None] == []
    values = [one["scores"]["overall"] for one in judged]
    assert len(set(values)) > 5
    assert metric(found, "urs_en", "samer_overall") == pytest.approx(sum(values) / 12)
    assert metric(found, "urs_en", "samer_judge_failed") == 0
    assert not [name for name in found["results"]["urs_en"] if name.startswith("urs_")]


def test_a_folder_that_is_no_samer_is_named_before_anything_is_generated(tmp_path: Path) -> None:
    model = answering(lambda _: "An answer.")
    with pytest.raises(InputError, match="no weights; expected model"):
        run("urs", model, {"judge": "samer", "samer": str(tmp_path), "urs_dataset": "sample"}, limit=2)
    assert model.seen == []
