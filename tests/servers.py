"""Servers on the loopback that fail as scripted; first of all one for chat completions.

That one speaks just enough of the OpenAI protocol for the model `openai-api/local/<name>` of the
harness.
"""

import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass(frozen=True)
class Request:
    """One request, as far as a script needs it."""

    number: int  # how many requests for the same model came before it
    model: str  # without its provider
    messages: list[dict[str, Any]]  # the chat so far, each message with `role` and `content`
    schema: dict[str, Any] | None = None  # the JSON schema that the reply is to follow


@dataclass(frozen=True)
class Response:
    """What goes back: a status and a body, or a fault of the connection."""

    status: int = 200
    body: bytes = b""  # sent as JSON whatever it holds
    delay: float = 0.0  # seconds before it is sent; a server that shuts down waits no longer
    drop: bool = False  # close the connection without a word
    missing: int = 0  # how many bytes of the announced body are never sent


Script = Callable[[Request], Response]


def says(text: str, finish_reason: str = "stop", delay: float = 0.0) -> Response:
    """A completion."""
    message = {"role": "assistant", "content": text}
    body = {
        "id": "chatcmpl-0",
        "object": "chat.completion",
        "created": 0,
        "model": "local",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    return Response(body=json.dumps(body).encode(), delay=delay)


def fails(status: int) -> Response:
    """An error as the protocol words it."""
    return Response(
        status,
        json.dumps({"error": {"message": f"scripted {status}", "type": "scripted"}}).encode(),
    )


HANGS = Response(delay=3600.0)
DROPS = Response(drop=True)
GARBAGE = Response(body=b'{"choices": [{"mess')
CUT_OFF = Response(body=says("never seen whole").body, missing=20)
NO_CHOICES = Response(
    body=(
        b'{"id": "0", "object": "chat.completion", "created": 0, "model": "local", "choices": [], '
        b'"usage": {"prompt_tokens": 1, "completion_tokens": 0, "total_tokens": 1}}'
    )
)


class LoopbackServer:
    """A web server; a subclass says what it answers."""

    def __init__(self) -> None:
        self.trickle = 0.0  # seconds between two bytes of the body of a response to a POST
        self.closing = threading.Event()  # set when the server shuts down
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.owner = self

    @property
    def address(self) -> str:
        """Where it is, without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def get(self, path: str) -> Response:
        """The answer to a GET."""
        return fails(404)

    def post(self, path: str, body: dict[str, Any], key: str | None) -> Response:
        """The answer to a POST, after its delay; `key` is the header of authorization."""
        return fails(404)

    def delayed(self, response: Response) -> Response:
        """The response, when its time has come or the server shuts down."""
        if response.delay:
            self.closing.wait(response.delay)
        return response

    def start(self) -> None:
        """Begin to answer."""
        threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()

    def stop(self) -> None:
        """End it; what hangs is let go."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()


class ChatServer(LoopbackServer):
    """The server; `requests` holds what it was asked, in order of arrival."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)

    @property
    def url(self) -> str:
        """Base address, as the harness wants it."""
        return f"{self.address}/v1"

    def environment(self) -> dict[str, str]:
        """Variables through which the harness finds the server, on the loopback even if there is a
        proxy.
        """
        return {
            "LOCAL_BASE_URL": self.url,
            "LOCAL_API_KEY": "none",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }

    def count(self, model: str | None = None) -> int:
        """How many requests came, in all or for one model."""
        with self._lock:
            return sum(model in (None, request.model) for request in self.requests)

    def wait_for(self, number: int, timeout: float = 60.0) -> None:
        """Wait until so many requests have come."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.requests) >= number, timeout), (
                "too few requests came"
            )

    def post(self, path: str, body: dict[str, Any], key: str | None) -> Response:
        """Note a request, whatever its path, and look up what becomes of it."""
        model = str(body["model"])
        with self._arrived:
            number = sum(request.model == model for request in self.requests)
            schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
            request = Request(number, model, body["messages"], schema)
            self.requests.append(request)
            self._arrived.notify_all()
        return self.delayed(self.script(request))


@contextmanager
def serving(script: Script, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """Run a server and make it known to the harness, here and in child processes."""
    server = ChatServer(script)
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    server.start()
    try:
        yield server
    finally:
        server.stop()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    owner: LoopbackServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about clients that are gone; they were killed, or gave up waiting."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_GET(self) -> None:
        self._send(self.server.owner.get(self.path))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._send(self.server.owner.post(self.path, body, self.headers["Authorization"]))

    def _send(self, response: Response) -> None:
        if response.drop:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.close_connection = response.missing > 0
        self.send_response(response.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        owner = self.server.owner
        if owner.trickle and self.command == "POST":
            for byte in response.body:
                self.wfile.write(bytes([byte]))
                time.sleep(owner.trickle)
                if owner.closing.is_set():
                    return
        self.wfile.write(response.body[: len(response.body) - response.missing])

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
