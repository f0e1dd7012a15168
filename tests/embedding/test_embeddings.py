"""Tests of `urs_inspect.embedding._embeddings`."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from tests.servers import LoopbackServer, Response
from urs_inspect._util import InputError
from urs_inspect.discrepancy import load_similarity
from urs_inspect.discrepancy._similarity import VectorSimilarity
from urs_inspect.embedding._embeddings import OpenAIEmbeddings, unit


def test_unit_vectors_have_length_one_and_zero_stays_zero() -> None:
    assert np.allclose(unit(np.array([[3, 4], [0, 0]], np.float32)), np.array([[0.6, 0.8], [0, 0]]))


@pytest.mark.parametrize(("argument", "model"), [("", "all-MiniLM-L6-v2"), ("/own", "own")])
def test_sentence_transformers_runs_no_code_of_a_model(
    argument: str, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[object, ...]] = []

    class Library:
        """Stands for the package, and for the model that it loads."""

        @classmethod
        def SentenceTransformer(cls, name: str, *, trust_remote_code: bool) -> "Library":  # noqa: N802 - their name
            calls.append((name.rpartition("/")[2], trust_remote_code))
            return cls()

        def encode(self, texts: list[str], **options: object) -> list[list[int]]:
            calls.append((texts, options["show_progress_bar"]))
            return [[3, 4], [0, 0]]

    monkeypatch.setitem(sys.modules, "sentence_transformers", Library)
    made = load_similarity(f"sentence_transformers{argument}")
    assert isinstance(made, VectorSimilarity)
    assert made.name.startswith("sentence_transformers/") and made.name.endswith(model)
    assert np.allclose(made.encode(["a", "b"]), [[0.6, 0.8], [0.0, 0.0]])
    assert calls == [(model, False), (["a", "b"], False)]


@pytest.fixture
def static_model(tmp_path: Path) -> Path:
    """A static model of three words."""
    from model2vec import StaticModel

    tokenizer = Tokenizer(
        models.WordLevel({"[UNK]": 0, "red": 1, "blue": 2, "car": 3}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    vectors = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 2]], np.float32)
    StaticModel(vectors, tokenizer, config={}).save_pretrained(tmp_path / "static")
    return tmp_path / "static"


def test_model2vec_by_hand(static_model: Path) -> None:
    # "red car" is the mean of (1, 0, 0) and (0, 0, 2): (.5, 0, 1), of length 1 (.4472, 0, .8944).
    model = load_similarity(f"model2vec/{static_model}")
    assert isinstance(model, VectorSimilarity) and model.costly
    found = model.encode(["red car", "blue", "red"])
    assert np.allclose(found, np.array([[0.4472, 0, 0.8944], [0, 1, 0], [1, 0, 0]]), atol=1e-4)


def test_a_model_that_cannot_be_loaded_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match=r"similarity 'model2vec/.*none'") as caught:
        load_similarity(f"model2vec/{tmp_path}/none")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "module", "words"),
    [
        ("model2vec/x", "model2vec", r"model2vec.*pip install 'urs-inspect\[embed\]'"),
        (
            "sentence_transformers/x",
            "sentence_transformers",
            r"needs sentence-transformers.*urs-inspect\[embed\]",
        ),
    ],
)
def test_what_is_not_installed_says_how_to_install_it(
    spec: str, module: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=words):
        load_similarity(spec)


Answer = Callable[[list[str]], tuple[int, dict[str, Any]]]
"""Texts -> status and body."""


class Server(LoopbackServer):
    """An embeddings server on this machine: a text's vector is its length and 1."""

    def __init__(self, answer: Answer, broken: Sequence[int]) -> None:
        super().__init__()
        self.requests: list[dict[str, Any]] = []
        self._answer, self._broken = answer, list(broken)

    def post(self, path: str, body: dict[str, Any], key: str | None) -> Response:
        self.requests.append(body)
        status, reply = (
            (self._broken.pop(0), failure("busy")) if self._broken else self._answer(body["input"])
        )
        return Response(status, json.dumps(reply).encode())

    def model(self, **options: Any) -> OpenAIEmbeddings:
        """Embeddings that ask this server."""
        return OpenAIEmbeddings("m", base_url=f"{self.address}/v1", **options)


def failure(message: str) -> dict[str, Any]:
    """The body of an error."""
    return {"error": {"message": message}}


def rows(*vectors: Sequence[float]) -> Answer:
    """An answer with these vectors whatever was asked, the last one first."""
    data = [
        {"object": "embedding", "index": i, "embedding": list(v)} for i, v in enumerate(vectors)
    ]
    return lambda texts: (200, {"object": "list", "data": data[::-1], "model": "m", "usage": {}})


def unplaced(texts: list[str]) -> tuple[int, dict[str, Any]]:
    """An answer that does not say which text a vector is of."""
    data = [{"object": "embedding", "embedding": [1.0, 2.0]} for _ in texts]
    return 200, {"object": "list", "data": data, "model": "m", "usage": {}}


def right(texts: list[str]) -> tuple[int, dict[str, Any]]:
    return rows(*([len(text), 1.0] for text in texts))(texts)


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Start servers that stop with the test."""
    with ExitStack() as started:

        def start(answer: Answer = right, broken: Sequence[int] = ()) -> Server:
            server = Server(answer, broken)
            server.start()
            started.callback(server.stop)
            return server

        yield start


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_texts_go_in_batches_and_come_back_in_order(serve: Callable[..., Server]) -> None:
    server = serve()
    texts = ["a" * length for length in range(1, 8)]
    found = server.model(batch=3, connections=2).encode(texts)
    expected = np.array([[length, 1.0] for length in range(1, 8)])
    assert np.allclose(found, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    assert sorted(len(request["input"]) for request in server.requests) == [1, 3, 3]
    assert {request["model"] for request in server.requests} == {"m"}


def test_a_busy_server_is_asked_again(serve: Callable[..., Server]) -> None:
    server = serve(broken=[429, 503])
    assert server.model().encode(["abc"]).shape == (1, 2)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(rows([1, 2]), r"answered for texts \[0\] of 2", id="too few"),
        pytest.param(
            rows([1, 2], [1, 2], [1, 2]), r"answered for texts \[0, 1, 2\] of 2", id="too many"
        ),
        pytest.param(unplaced, r"texts \[None, None\] of 2", id="no places"),
        pytest.param(rows([1, 2], [1, 2, 3]), r"widths \[2, 3\]", id="widths"),
        pytest.param(
            rows([1, 2], [1e39, 3]),
            "1 of 2 vectors.*not finite.*text 1",
            id="size",
        ),
        pytest.param(
            lambda _: (400, failure("no such\nmodel")), "refused the texts: .*no such", id="refused"
        ),
        pytest.param(
            lambda _: (401, failure("bad key")),
            "openai/m@.*: AuthenticationError: .*bad key",
            id="key",
        ),
        pytest.param(
            lambda _: (400, failure("context length is 0")),
            "text of 50 characters",
            id="short",
        ),
    ],
)
def test_a_wrong_answer_is_an_error_in_one_line(
    answer: Answer, words: str, serve: Callable[..., Server]
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        serve(answer).model().encode(["a" * 50, "b" * 200])
    assert "\n" not in str(caught.value)


def test_batches_of_different_widths_are_refused(serve: Callable[..., Server]) -> None:
    with pytest.raises(InputError, match=r"widths \[2, 3\]"):
        serve(lambda texts: rows([1.0] * len(texts[0]))(texts)).model(batch=1).encode(["ab", "abc"])


def limited(texts: list[str]) -> tuple[int, dict[str, Any]]:
    """A model that takes 100 characters."""
    if any(len(text) > 100 for text in texts):
        return 400, failure("This model's maximum context length is 100 tokens")
    return right(texts)


def test_a_text_that_is_too_long_is_cut_and_the_others_are_not(
    caplog: pytest.LogCaptureFixture, serve: Callable[..., Server]
) -> None:
    model = serve(limited).model()
    found = model.encode(["abc", "x" * 350, "de"])
    assert found[:, 0] / found[:, 1] == pytest.approx([3, 87, 2], rel=1e-5)  # 350, 175, 87
    assert "1 of 3 texts were cut" in caplog.text
    caplog.clear()
    model.encode(["abc", "de"])
    assert not caplog.records


def test_a_text_that_never_fits_is_named(serve: Callable[..., Server]) -> None:
    with pytest.raises(InputError, match="refused even 50 characters"):
        serve(lambda _: (400, failure("maximum context length is 0"))).model().encode(["x" * 200])


def test_the_key_comes_from_the_environment_and_a_server_of_ones_own_needs_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InputError, match=r"needs a key.*OPENAI_API_KEY"):
        load_similarity("openai")
    own = load_similarity("openai/bge-m3", base_url="http://localhost:8000/v1/")
    assert own.name == "openai/bge-m3@http://localhost:8000/v1"
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert load_similarity("openai").name == "openai/text-embedding-ada-002"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:9/v1")
    assert load_similarity("openai/x").name == "openai/x@http://localhost:9/v1"
    with pytest.raises(InputError, match="batch 0"):
        OpenAIEmbeddings(batch=0)
