"""Tests of `urs_inspect.samer._engines.vllm_server`."""

import base64
import shutil
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.samer.checkpoints import declaring, write_tokenizer
from tests.samer.pooling_server import (
    HIDDEN,
    Body,
    PoolingServer,
    Script,
    check_equal,
    expected,
    fails,
    pooling_server,
    replies,
    says,
    step_rows,
    step_script,
)
from tests.samer.stubs import StubEngine
from tests.servers import Response
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.samer._bulk import check_rows, model_identity, score_file
from urs_inspect.samer._checkpoint import fingerprint
from urs_inspect.samer._conversation import Conversations
from urs_inspect.samer._engines import vllm_server
from urs_inspect.samer._engines.protocol import EngineFailure, QueryResponse, ReplyError, Scored
from urs_inspect.samer._engines.registry import load_engine
from urs_inspect.samer._engines.vllm_server import (
    ServerEngine,
    base_address,
    failure,
    pooling_body,
    read_replies,
)
from urs_inspect.samer._evaluation import WeightsAt

ITEM = QueryResponse("a question", "an answer")
ITEMS = [QueryResponse(f"question {n}", f"answer {n}") for n in range(8)]
EOT = 269  # id of the token that closes a turn in the tiny checkpoints
SOUND = step_script(EOT, HIDDEN)


@pytest.fixture(autouse=True)
def _quick_and_direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm_server, "_wait", lambda *_: 0.0)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("VLLM_API_KEY", raising=False)


def opened_at(url: str, folder: Path | None, **options: Any) -> ServerEngine:
    engine = load_engine(url, folder=None if folder is None else str(folder), **options)
    assert isinstance(engine, ServerEngine)
    return engine


@contextmanager
def opened(
    script: Script, folder: Path, **options: Any
) -> Iterator[tuple[ServerEngine, PoolingServer]]:
    """An engine whose server was sound while it was opened, and follows the script after that."""
    with pooling_server(SOUND) as server:
        engine = opened_at(server.url, folder, **({"timeout": 20.0, "attempts": 3} | options))
        server.asked.clear()
        server.script = script
        yield engine, server


def late(delay: Any) -> Script:
    """A sound server that takes its time, in seconds by the number of the request."""
    return lambda number, body: replace(SOUND(number, body), delay=delay(number))


def score(engine: ServerEngine, items: Sequence[QueryResponse]) -> list[Scored | EngineFailure]:
    async def once() -> list[Scored | EngineFailure]:
        try:
            return await engine.score(items)
        finally:
            await engine.close()

    return anyio.run(once)


@pytest.mark.parametrize("weights_at", ["response", "query"])
def test_a_stock_server(small: Path, weights_at: WeightsAt) -> None:
    with pooling_server(SOUND) as server:
        engine = opened_at(server.url + "/v1/", small, weights_at=weights_at)
        assert (engine.spec.model, engine.spec.max_length, engine.spec.dtype) == (
            server.url,
            512,
            "as served",
        )
        check_equal(score(engine, ITEMS), expected(small, ITEMS, weights_at))
        assert all(len(body["input"]) == 1 for body in server.asked)


# A template whose query alone ends in a way of its own is no prefix of the whole; one with another
# turn before the response leads the server's rule astray.
_NO_PREFIX = (
    "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>{{"
    " m.content }}{% if loop.last %}!{% endif %}<|eot_id|>{% endfor %}"
)
_TURN_BETWEEN = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant'"
    " %}<|start_header_id|><|eot_id|>{% endif %}{{ m.content }}<|eot_id|>{% endfor %}"
)


@pytest.mark.parametrize(("template", "prompts"), [(_NO_PREFIX, 2), (_TURN_BETWEEN, 1)])
def test_a_second_prompt_where_one_pass_cannot_give_both_vectors(
    copied: Any, template: str, prompts: int
) -> None:
    folder = copied("m")
    write_tokenizer(folder, template=template)
    with opened(SOUND, folder) as (engine, server):
        check_equal(score(engine, ITEMS), expected(folder, ITEMS))
        assert {len(body["input"]) for body in server.asked} == {prompts}


def test_results_keep_their_order_when_replies_do_not(small: Path) -> None:
    with opened(late(lambda number: 0.02 * (8 - number % 8)), small) as (engine, _):
        check_equal(score(engine, ITEMS), expected(small, ITEMS))


@pytest.mark.parametrize("fault", [fails(429), fails(503), fails(500), Response(drop=True)])
def test_a_fault_that_passes_is_tried_again(small: Path, fault: Response) -> None:
    script: Script = lambda number, body: fault if number < 2 else SOUND(number, body)  # noqa: E731
    with opened(script, small) as (engine, server):
        check_equal(score(engine, [ITEM]), expected(small, [ITEM]))
        assert len(server.asked) == 3


@pytest.mark.parametrize(("response", "mode", "said", "attempts"), [
    (fails(503, "overloaded"), "unreachable", "status 503: overloaded", 3),
    (Response(drop=True), "unreachable", "", 3),
    (fails(400, "no such option"), "refused", "status 400: no such option", 1),
    (fails(400, "This model's maximum context length is 512 tokens."), "too_long", "maximum context length", 1),
    (fails(401, "Unauthorized"), "refused", "status 401", 1),
    (fails(404, "The model `samer` does not exist."), "wrong_model", "does not exist", 1),
    (Response(302, b""), "refused", "status 302", 1),
    (Response(200, b"<html>a proxy</html>"), "wrong_shape", "not JSON", 1),
    (Response(200, b'{"data": [{"index": 0}]}', missing=4), "unreachable", "", 3),
    (says(["data"]), "wrong_shape", "no list `data`", 1),
    (says({"data": []}), "wrong_shape", "0 results for 1 prompts", 1),
    (says({"data": [{"index": 7, "data": ""}]}), "wrong_shape", "1 results for 1 prompts", 1),
    (says({"data": [{"index": 0, "data": [[1.0] * 64]}]}), "wrong_shape", "shape (1, 64); expected (2, 64)", 1),
    (says({"data": [{"index": 0, "data": [[1.0], [1.0, 2.0]]}]}), "wrong_shape", "lists of numbers", 1),
    (says({"data": [{"index": 0, "data": "AAAA"}]}), "wrong_shape", "not base64 of float32", 1),
    (says({"data": [{"index": 0, "data": "AAAAAA=="}]}), "wrong_shape", "1 numbers; expected 2 x 64", 1),
    (says({"data": [{"index": 0, "data": "?"}]}), "wrong_shape", "not base64", 1),
    (says({"data": [{"index": 0, "data": [[float("nan")] * 64] * 2}]}), "not_finite", "NaN or infinity", 1),
    (says({"data": [{"index": 0, "data": None}]}), "wrong_shape", "shape ()", 1),
])  # fmt: skip
def test_a_fault_is_a_failure_of_its_item(
    small: Path, response: Response, mode: str, said: str, attempts: int
) -> None:
    with opened(lambda *_: response, small) as (engine, server):
        [outcome] = score(engine, [ITEM])
        assert isinstance(outcome, EngineFailure), outcome
        assert (outcome.mode, len(server.asked)) == (mode, attempts)
        assert (
            server.url in outcome.detail and said in outcome.detail and "\n" not in outcome.detail
        )


def test_a_server_that_hangs_or_trickles(small: Path) -> None:
    """Of the latter each byte comes in time, the reply never does."""
    with opened(lambda *_: Response(delay=60.0), small, timeout=0.5, attempts=2) as (
        engine,
        server,
    ):
        [outcome] = score(engine, [ITEM])
        assert isinstance(outcome, EngineFailure)
        assert (outcome.mode, len(server.asked)) == ("timeout", 2)
        assert "no whole reply within 0.5 s" in outcome.detail
    with opened(SOUND, small, timeout=0.4, attempts=1) as (engine, server):
        server.trickle = 0.05
        [outcome] = score(engine, [ITEM])
        assert isinstance(outcome, EngineFailure) and outcome.mode == "timeout"


def test_an_item_that_is_too_long_is_never_sent_and_one_that_fails_costs_no_other(
    small: Path,
) -> None:
    bad = list(Conversations(small).encode(ITEMS[3].query, ITEMS[3].response, 512).ids)
    script: Script = lambda number, body: (  # noqa: E731
        fails(400) if body["input"] == [bad] else SOUND(number, body)
    )
    with opened(script, small) as (engine, server):
        found = score(
            engine, [*ITEMS, QueryResponse("q " * 1000, "r"), QueryResponse("q", "r " * 100_000)]
        )
        assert len(server.asked) == len(ITEMS) + 1
    cut, too_long, refused = found.pop(), found.pop(), found.pop(3)
    assert isinstance(cut, Scored) and (cut.tokens, cut.shortened > 100_000) == (511, True)
    assert [one.mode for one in (too_long, refused) if isinstance(one, EngineFailure)] == [
        "too_long",
        "refused",
    ]
    check_equal(found, expected(small, ITEMS[:3] + ITEMS[4:]))


def test_at_most_32_requests_at_once(small: Path) -> None:
    many = [QueryResponse(f"q{n}", f"r{n}") for n in range(80)]
    with opened(late(lambda _: 0.05), small) as (engine, server):
        check_equal(score(engine, many), expected(small, many))
        assert 8 < server.most_at_once <= 32


def test_the_callers_own_limit_is_kept(small: Path) -> None:
    """As the harness's `concurrency()` would."""
    entered = 0

    async def go() -> None:
        gate = anyio.Semaphore(2)

        @asynccontextmanager
        async def connection() -> AsyncIterator[None]:
            nonlocal entered
            async with gate:
                entered += 1
                yield

        with opened(late(lambda _: 0.02), small, connections=connection) as (engine, server):
            check_equal(await engine.score(ITEMS), expected(small, ITEMS))
            await engine.close()
            assert (entered, server.most_at_once) == (len(ITEMS), 2)

    anyio.run(go)


def test_event_loops_one_after_the_other(small: Path) -> None:
    """A connection of a loop that is gone is never used again, even if nobody closed it."""
    with opened(SOUND, small) as (engine, _):
        for _ in range(3):
            check_equal(anyio.run(engine.score, [ITEM]), expected(small, [ITEM]))


def test_the_key_is_sent_and_the_ids_are_plain(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "not-a-real-key")
    with opened(SOUND, small) as (engine, server):
        score(engine, [ITEM])
        assert set(server.keys) == {"Bearer not-a-real-key"}
        [body] = server.asked
        assert body["input"] == [
            list(Conversations(small).encode(ITEM.query, ITEM.response, 512).ids)
        ]
        assert (body["model"], body["task"], body["use_activation"]) == (
            "samer",
            "token_embed",
            False,
        )


def model(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "max_model_len": 512} | more


@pytest.mark.parametrize(("models", "said"), [
    (fails(404), "no vLLM server answers .status 404"),
    (fails(401), "no vLLM server answers .status 401"),
    (fails(503), "no vLLM server answers .status 503"),
    (Response(200, b"<html>"), "not JSON"),
    (says({"data": []}), "on the server: none; expected one"),
    (says([1]), "on the server: none; expected one"),
    (says({"data": [model("a"), model("b")]}), "on the server: a, b; expected one"),
])  # fmt: skip
def test_servers_that_are_refused_before_anything_is_sent(
    small: Path, models: Response, said: str
) -> None:
    with pooling_server(lambda *_: fails(500)) as server:
        server.models = models
        with pytest.raises(InputError, match=said) as caught:
            opened_at(server.url, small, attempts=2)
        assert "\n" not in str(caught.value)
        assert not server.asked
    with pytest.raises(InputError, match="no vLLM server answers"):  # nothing listens any more
        opened_at(server.url, small, attempts=2)


def pooled(make: Any) -> Script:
    return lambda _, body: replies(body, [make(ids) for ids in body["input"]])


@pytest.mark.parametrize(("script", "said"), [
    (lambda *_: fails(404), r'status 404.*--runner pooling .*\"step_tag_id\":269'),
    (lambda *_: fails(400, "Unsupported task"), "does not pool .*Unsupported task"),
    (lambda *_: fails(500, "dead"), "does not pool .*dead"),
    (lambda *_: says({"choices": []}), "no list `data`"),
    (
        pooled(lambda ids: np.ones(HIDDEN, np.float32)),
        r"\(64,\).*\(2, 64\)",
    ),
    (pooled(lambda ids: np.ones((len(ids), HIDDEN), np.float32)), r"shape \(\d+, 64\)"),
    # All heads at both positions, as our plugin for vLLM served a released folder before it was
    # removed.
    (pooled(lambda ids: np.ones((2, 126), np.float32)), r"shape \(2, 126\); expected \(2, 64\); export the checkp"),
    (step_script(EOT, 32), r"shape \(2, 32\); expected \(2, 64\)"),
])  # fmt: skip
def test_servers_that_do_not_fit(small: Path, script: Script, said: str) -> None:
    with pooling_server(script) as server, pytest.raises(InputError, match=said):
        opened_at(server.url, small)


def test_a_server_that_is_still_starting(small: Path) -> None:
    with pooling_server(SOUND) as server:
        ready = says({"data": [model("samer", max_model_len=100)]})
        server.models = lambda number: fails(503) if number < 2 else ready
        engine = opened_at(server.url, small)
        assert engine.spec.max_length == 100
        assert server.asked[0]["model"] == "samer"


@pytest.mark.parametrize("fault", [fails(429), fails(503), Response(drop=True)])
def test_the_first_call_is_tried_again_where_that_may_help(small: Path, fault: Response) -> None:
    script: Script = lambda number, body: fault if number < 2 else SOUND(number, body)  # noqa: E731
    with pooling_server(script) as server:
        opened_at(server.url, small, attempts=3)
        assert len(server.asked) == 3
    with (
        pooling_server(lambda *_: fails(400)) as server,
        pytest.raises(InputError, match="does not pool"),
    ):
        opened_at(server.url, small, attempts=3)
    assert len(server.asked) == 1


def test_a_server_that_trickles_holds_the_start_no_longer_than_the_timeout(small: Path) -> None:
    """All attempts together, where each byte comes in time and the reply never does."""
    with pooling_server(SOUND) as server:
        server.trickle = 0.05
        start = time.monotonic()
        with pytest.raises(InputError, match=r"pool.*0.5 s"):
            opened_at(server.url, small, timeout=0.5, attempts=5)
        assert time.monotonic() - start < 5.0


def test_a_server_is_opened_from_within_an_event_loop(small: Path) -> None:
    async def inside(url: str) -> ServerEngine:
        return opened_at(url, small)

    with pooling_server(SOUND) as server:
        assert anyio.run(inside, server.url).spec.max_length == 512


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows * 0, "numbers ... 0"),
        (lambda rows: rows / np.linalg.norm(rows, axis=1, keepdims=True), "vectors have length 1"),
        (lambda rows: rows, ""),
    ],
)
def test_vectors_that_are_hardly_the_models_are_noticed(
    small: Path, caplog: pytest.LogCaptureFixture, change: Any, said: str
) -> None:
    with pooling_server(pooled(lambda ids: change(step_rows(ids, EOT, HIDDEN)))) as server:
        opened_at(server.url, small)
    assert tells(caplog.text, said)
    assert bool(caplog.records) is bool(said)


@pytest.mark.parametrize("limit", [-5, 0, "long"])
def test_a_length_that_is_none_is_noticed(
    small: Path, caplog: pytest.LogCaptureFixture, limit: object
) -> None:
    with pooling_server(SOUND) as server:
        server.models = says({"data": [model("samer", max_model_len=limit)]})
        assert opened_at(server.url, small).spec.max_length == 8192
    assert tells(caplog.text, f"max_model_len {limit!r} ... 8192")


DEEP = Response(200, b'{"data": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")


def test_replies_of_many_levels_are_one_line(small: Path) -> None:
    with pooling_server(SOUND) as server:
        server.models = DEEP
        with pytest.raises(InputError, match="nested too deeply"):
            opened_at(server.url, small)
    levels: Any = 1.0
    for _ in range(900):
        levels = [levels]
    for script in (lambda *_: DEEP, lambda *_: says({"data": [{"index": 0, "data": levels}]})):
        with (
            pooling_server(script) as server,
            pytest.raises(InputError, match="does not pool") as caught,
        ):
            opened_at(server.url, small)
        assert "\n" not in str(caught.value)
    with opened(lambda *_: DEEP, small) as (engine, _):
        [outcome] = score(engine, [ITEM])
    assert isinstance(outcome, EngineFailure) and outcome.mode == "wrong_shape"
    assert "no message" not in failure(503, DEEP.body.decode()).detail


def test_the_folder_of_a_server_on_this_machine(small: Path, tmp_path: Path) -> None:
    with pooling_server(SOUND) as server:
        server.models = says({"data": [model("samer", root=str(small))]})
        assert opened_at(server.url, None).folder == small
        for root in (None, "meta/a-hub-name", str(tmp_path / "gone"), "../here"):
            server.models = says({"data": [model("samer", root=root)]})
            with pytest.raises(InputError, match="folder=DIR"):
                opened_at(server.url, None)


def test_heads_are_read_where_their_file_says(small: Path, tmp_path: Path) -> None:
    told = declaring(Path(shutil.copytree(small, tmp_path / "told")), "query")
    with pooling_server(SOUND) as server:
        read = [
            opened_at(server.url, told, weights_at=wanted) for wanted in (None, "response", "query")
        ]
        assert [one.spec.weights_at for one in read] == ["query", "response", "query"]
        assert opened_at(server.url, small).spec.weights_at == "response"


@pytest.mark.parametrize(
    "given",
    [
        {"timeout": 0.0},
        {"timeout": -1.0},
        {"timeout": float("nan")},
        {"attempts": 0},
        {"max_length": 0},
    ],
)
def test_options_out_of_range(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(given))}: must be a"):
        load_engine("http://127.0.0.1:9", **given)


class Backbone:
    """A stock server's script; `noise` moves every vector by that share of its length, as rounding
    does.
    """

    def __init__(self) -> None:
        self.noise, self.turn, self.random = np.float32(0), 0, np.random.default_rng(1)
        self.answering = 10_000

    def __call__(self, number: int, body: Body) -> Response:
        if number >= self.answering:
            return fails(500)
        # Turned, they are those of another backbone of the same width.
        found = [
            np.roll(step_rows([*ids], EOT, HIDDEN), self.turn, axis=1) for ids in body["input"]
        ]
        return replies(
            body,
            [
                rows + self.noise * self.random.standard_normal(rows.shape, np.float32)
                for rows in found
            ],
        )


def test_a_folder_is_known_by_its_fingerprint_and_a_server_also_by_name_and_numbers(
    small: Path,
) -> None:
    known = fingerprint(small)
    assert anyio.run(model_identity, StubEngine(model=str(small))) == {"fingerprint": known}
    assert anyio.run(model_identity, StubEngine(model="elsewhere")) == {}
    script = Backbone()
    with pooling_server(script) as server:
        engine = opened_at(server.url, small, attempts=1)
        found = anyio.run(model_identity, engine)
        assert len(server.asked) == 2  # one of them when the engine was opened
        script.answering = 2
        with pytest.raises(
            InputError, match=rf"samer={server.url}: status 500: scripted \(unreachable\)"
        ):
            anyio.run(model_identity, engine)
    assert (found["served"], found["fingerprint"]) == ("samer", known)
    assert len(found["probe"]) == 126 and np.isfinite(found["probe"]).all()


def test_a_server_that_comes_back_with_another_model_is_not_mixed_in(
    small: Path, tmp_path: Path
) -> None:
    rows, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows.write_text(
        "".join(f'{{"query": "Why {n}?", "response": "So."}}\n' for n in range(8)), encoding="utf-8"
    )
    script = Backbone()
    with pooling_server(script) as server:

        def run() -> int:
            engine = opened_at(server.url, small, attempts=1)
            try:
                return anyio.run(lambda: score_file(check_rows(rows), out, engine)).resumed
            finally:
                script.answering = 10_000

        script.answering = 5
        with pytest.raises(
            InputError, match=r"stopped with 3 of 8 rows done: 5 got no answer \(unreachable"
        ):
            run()
        server.models = says({"data": [{"id": "renamed", "max_model_len": 512}]})
        with pytest.raises(InputError, match=r"another model at .*another name"):
            run()
        server.models = says({"data": [{"id": "samer", "max_model_len": 512}]})
        script.turn = 3
        with pytest.raises(InputError, match=r"another model at .*fixed text"):
            run()
        script.turn, script.noise = 0, np.float32(0.002)
        assert run() == 3


# ## Bodies, replies and errors


@pytest.mark.parametrize(("given_", "wanted"), [
    ("http://host:8000", "http://host:8000"),
    ("http://host:8000/", "http://host:8000"),
    (" http://host:8000/v1/ ", "http://host:8000"),
    ("https://host/samer/v1", "https://host/samer"),
    ("http://[::1]:8000", "http://[::1]:8000"),
])  # fmt: skip
def test_addresses(given_: str, wanted: str) -> None:
    assert base_address(given_) == wanted


@pytest.mark.parametrize(
    "wrong",
    ["http://", "host:8000", "ftp://host", "http://host:x", "http://host:99999", "", "/a/b"],
)
def test_what_is_no_address(wrong: str) -> None:
    with pytest.raises(InputError, match=r"expected such as http://127\.0\.0\.1:8000"):
        base_address(wrong)


@pytest.mark.parametrize(
    "secret", ["http://me:pass@host", "http://host?key=pass", "http://host#pass"]
)
def test_an_address_may_hold_no_secret_and_the_error_does_not_repeat_it(secret: str) -> None:
    with pytest.raises(InputError, match="set VLLM_API_KEY") as caught:
        base_address(secret)
    assert "pass" not in str(caught.value)


def test_bodies() -> None:
    assert pooling_body("m", [(1, 2)]) == {
        "model": "m", "input": [[1, 2]], "use_activation": False, "encoding_format": "float",
    }  # fmt: skip
    packed = pooling_body("m", [(1,), (2,)], "token_embed")
    assert (packed["input"], packed["task"], packed["encoding_format"]) == (
        [[1], [2]],
        "token_embed",
        "base64",
    )
    assert (packed["embed_dtype"], packed["endianness"]) == ("float32", "little")


def test_replies_come_in_the_order_of_the_prompts() -> None:
    first, second = np.array([[1.5, -2.0]], "<f4"), np.array([[3.0], [0.25]], "<f4")
    body = {
        "data": [
            {"index": 1, "data": second.tolist()},
            {"index": 0, "data": base64.b64encode(first.tobytes()).decode()},
        ]
    }
    replies = read_replies(body, [(1, 2), (2, 1)])
    np.testing.assert_array_equal(replies[0], first)
    np.testing.assert_array_equal(replies[1], second)
    assert {reply.dtype for reply in replies} == {np.dtype(np.float32)}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["data", "index", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(_JSON)
def test_any_json_is_read_or_refused(body: object) -> None:
    """Nothing but `ReplyError` comes out, whatever a server says."""
    try:
        replies = read_replies(body, [(2, 2)])
    except ReplyError as error:
        assert error.mode == "wrong_shape"
        assert "\n" not in error.detail
    else:
        assert [reply.shape for reply in replies] == [(2, 2)]


@given(st.text(max_size=300), st.sampled_from([302, 400, 401, 404, 413, 429, 500, 503]))
def test_any_error_text_becomes_one_short_line(text: str, status: int) -> None:
    error = failure(status, text)
    assert len(error.detail) < 230
    assert len(error.detail.splitlines()) == 1


@pytest.mark.parametrize(("text", "said"), [
    ('{"error": {"message": "a\\nb"}}', "status 400: a b"),
    ('{"detail": "not here"}', "status 400: not here"),
    ('{"error": "plain"}', "status 400: plain"),
    ("", "status 400: no message"),
    ("<html>x</html>", "status 400: <html>x</html>"),
])  # fmt: skip
def test_a_servers_own_words(text: str, said: str) -> None:
    assert failure(400, text).detail == said
