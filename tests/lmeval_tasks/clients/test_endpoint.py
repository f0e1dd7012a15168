import asyncio
import json
import re
from typing import Any

import pytest

from tests.servers import LoopbackServer, Response
from urs_inspect.judging import Message, Reply
from urs_inspect.lmeval_tasks.clients import call_parameters, open_endpoint
from urs_inspect.lmeval_tasks.settings import Key, read_settings


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


@pytest.mark.parametrize(
    ("provider", "said"), [("openai", "no chat completion.*lack a /v1"), ("anthropic", "no message")]
)
def test_a_page_in_place_of_a_reply_says_what_to_look_at(
    monkeypatch: pytest.MonkeyPatch, provider: str, said: str
) -> None:
    assert re.search(said, asked(Server("<html>Welcome</html>"), provider, monkeypatch).error)


def test_a_key_in_a_reply_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789\n")
    assert asked(Server(openai("You sent sk-0123456789.", "stop")), "openai", monkeypatch).text == "You sent …."


def test_an_address_of_the_environment_is_noted_without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
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
