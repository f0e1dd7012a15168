"""A vLLM pooling server on the loopback, without vLLM: any answer or fault that a test scripts, and
true outputs.
"""

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tests.servers import LoopbackServer, Response
from urs_inspect.samer._checkpoint_check import open_checkpoint
from urs_inspect.samer._engines import EngineFailure, QueryResponse, Scored
from urs_inspect.samer._evaluation import RawOutputs, WeightsAt, raw_outputs
from urs_inspect.samer._weights import Array

Body = Mapping[str, Any]
Script = Callable[[int, Body], Response]
HIDDEN = 64  # width of the tiny checkpoints' vectors


def vector(ids: Sequence[int], hidden: int) -> Array:
    """A stand-in for a causal model: a vector that depends on all ids up to a position, and on none
    after it.
    """
    seed = int.from_bytes(hashlib.sha256(repr(list(ids)).encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(hidden).astype(np.float32)


def step_rows(ids: Sequence[int], eot: int, hidden: int) -> Array:
    """What STEP pooling gives: a vector for each end-of-turn token."""
    return np.stack([vector(ids[: at + 1], hidden) for at, one in enumerate(ids) if one == eot])


def expected(
    folder: Path, items: Sequence[QueryResponse], weights_at: WeightsAt = "response"
) -> list[RawOutputs]:
    """Outputs of items by hand: the stand-in's vectors at both ends, then the heads of a
    checkpoint.
    """
    checkpoint = open_checkpoint(folder)
    conversations = checkpoint.conversations()
    encoded = [conversations.encode(item.query, item.response, 512) for item in items]
    at_query = np.stack([vector(one.query_ids, HIDDEN) for one in encoded])
    at_response = np.stack([vector(one.ids, HIDDEN) for one in encoded])
    return raw_outputs(checkpoint.heads(), at_query, at_response, weights_at)


def check_equal(
    found: Sequence[Scored | EngineFailure],
    wanted: Sequence[RawOutputs],
    tolerance: float = 1e-5,
    rtol: float = 1e-5,
) -> None:
    """All outputs of all items."""
    for one, other in zip(found, wanted, strict=True):
        assert isinstance(one, Scored), one
        for name in ("scores", "gates", "weights"):
            np.testing.assert_allclose(
                getattr(one.raw, name), getattr(other, name), rtol=rtol, atol=tolerance
            )


def replies(body: Body, arrays: Sequence[Array]) -> Response:
    """A sound reply in the encoding that was asked for."""
    packed = body["encoding_format"] == "base64"
    entries = [
        {
            "index": index,
            "object": "pooling",
            "data": (
                base64.b64encode(array.astype("<f4").tobytes()).decode()
                if packed
                else array.tolist()
            ),
        }
        for index, array in enumerate(arrays)
    ]
    return says({"id": "pool-0", "object": "list", "model": body["model"], "data": entries})


def step_script(eot: int, hidden: int) -> Script:
    """A stock server with STEP pooling."""
    return lambda _, body: replies(body, [step_rows(ids, eot, hidden) for ids in body["input"]])


def says(content: Any, status: int = 200) -> Response:
    """Any JSON."""
    return Response(status, json.dumps(content).encode())


def fails(status: int, message: str = "scripted") -> Response:
    """An error as vLLM words it."""
    return says({"error": {"message": message, "type": "scripted", "code": status}}, status)


class PoolingServer(LoopbackServer):
    """The server; `asked` holds the bodies of the requests to pool, in order of arrival."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script
        self.models: Response | Callable[[int], Response] = says(
            {"data": [{"id": "samer", "max_model_len": 512}]}
        )
        self.asked: list[Body] = []
        self.keys: list[str | None] = []
        self.most_at_once = 0
        self._at_once = 0
        self._greeted = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Its address."""
        return self.address

    def get(self, path: str) -> Response:
        """Answer which models there are."""
        if path != "/v1/models":
            return fails(404)
        if isinstance(self.models, Response):
            return self.models
        self._greeted += 1
        return self.models(self._greeted - 1)

    def post(self, path: str, body: Body, key: str | None) -> Response:
        """Note a request to pool and answer it."""
        if path != "/pooling":
            return fails(404)
        with self._lock:
            number = len(self.asked)
            self.asked.append(body)
            self.keys.append(key)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return self.delayed(self.script(number, body))
        finally:
            with self._lock:
                self._at_once -= 1


@contextmanager
def pooling_server(script: Script) -> Iterator[PoolingServer]:
    """Run a server until the block ends."""
    server = PoolingServer(script)
    server.start()
    try:
        yield server
    finally:
        server.stop()
