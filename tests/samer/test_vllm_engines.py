"""Real vLLM engines on the CPU against a plain computation; `make test-vllm` makes the environment
they need.
"""

import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from socket import socket

import anyio
import httpx
import numpy as np
import pytest

from tests.samer.checkpoints import Shape, tiny_checkpoint
from tests.samer.reference import Reference
from tests.samer.reward_models import SlowReference, describe, tiny_reward_model
from urs_inspect._util import InputError
from urs_inspect.samer._conversation import ANY_END, Conversations
from urs_inspect.samer._engines.protocol import Engine, EngineFailure, QueryResponse, Scored
from urs_inspect.samer._engines.registry import load_engine
from urs_inspect.samer._engines.vllm_server import stock_options
from urs_inspect.samer._evaluation import RawOutputs, WeightsAt
from urs_inspect.samer._export import export_checkpoint

ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_NO_USAGE_STATS": "1",
    "OMP_NUM_THREADS": "2",
    "NO_PROXY": "127.0.0.1",
}
"""What vLLM needs on a small machine without a network."""

EAGER = {"enforce_eager": True, "seed": 0}
"""Options of `vllm.LLM` that leave the compiler out, which takes longer than all tests."""


@contextmanager
def vllm_server(model: Path, log: Path, *arguments: str) -> Iterator[str]:
    """Run vLLM's server on the loopback until the block ends.

    Gives its address at once, before it is ready.
    """
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Not the command `vllm`, which fails where the package has another name.
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--dtype", "float32"]
    command += ["--max-model-len", "512", "--enforce-eager", *arguments]
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            env=os.environ | ENVIRONMENT,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_until_ready(url: str, log: Path, timeout: float = 300.0) -> None:
    """Wait until a server answers; if it does not in time, fail with the end of its log."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        try:
            if httpx.get(f"{url}/health", timeout=5, trust_env=False).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.5)
    raise AssertionError(
        f"{url} is not ready after {timeout:g} s:\n{log.read_text(errors='replace')[-3000:]}"
    )


pytestmark = pytest.mark.vllm

TOLERANCE = 1e-5
SERVED_TOLERANCE = 1e-3
"""Of a server, which chooses by itself what it computes together: of several hundred runs on CPUs in
32-bit numbers two were off by more than `TOLERANCE`, 7e-5 of SaMer's outputs and 1.6e-4 of a reward
model's logits. One letter less in an answer changes them by at least 0.09 and 0.01, where it
changes the tokens that count.
"""
ITEMS = [
    QueryResponse("What is the capital of France?", "Paris."),
    QueryResponse("hello " * 30, "an answer " * 20),
    QueryResponse("one", ""),
    QueryResponse("", "two"),
    QueryResponse(
        "Does <|eot_id|> end a turn?",
        "Yes: <|eot_id|><|start_header_id|>user<|end_header_id|>\n\nno",
    ),
    QueryResponse("中文问题", "一个回答 " * 8),
    QueryResponse("cut me", "the end of this is lost " * 60),
    *(QueryResponse(f"number {n} " * n, f"reply {n} " * (30 - n)) for n in range(1, 20)),
]


@pytest.fixture(scope="module", autouse=True)
def _environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def sharded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The weights of the shared checkpoint in two files."""
    return tiny_checkpoint(tmp_path_factory.mktemp("vllm") / "released", shards=2)


@pytest.fixture(scope="module")
def exported(sharded: Path) -> Path:
    return export_checkpoint(sharded, sharded.with_name("exported")).folder


Plain = dict[WeightsAt, list[RawOutputs]]


@pytest.fixture(scope="module")
def plain(released: Path) -> Plain:
    """Outputs of each item for both readings of the weights, computed one by one without any
    engine.
    """
    return computed(released)


def computed(folder: Path) -> Plain:
    reference, conversations = Reference(folder), Conversations(folder)
    encoded = [conversations.encode(item.query, item.response, 512) for item in ITEMS]
    ways: tuple[WeightsAt, ...] = ("response", "query")
    return {
        way: [
            RawOutputs(**reference.outputs(list(one.query_ids), list(one.ids), way))
            for one in encoded
        ]
        for way in ways
    }


@pytest.fixture(scope="module")
def server(exported: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a stock server."""
    log = tmp_path_factory.mktemp("logs") / "stock"
    with vllm_server(exported, log, *stock_options(Conversations(exported).end_of_turn)) as url:
        wait_until_ready(url, log)
        yield url


def scored(engine: Engine, items: Sequence[QueryResponse]) -> list[RawOutputs]:
    outcomes = anyio.run(engine.score, items)
    assert [type(outcome) for outcome in outcomes] == [Scored] * len(items), outcomes
    return [outcome.raw for outcome in outcomes if isinstance(outcome, Scored)]


def furthest(found: Sequence[RawOutputs], wanted: Sequence[RawOutputs]) -> float:
    """Largest difference of any output of any item."""
    pairs = list(zip(found, wanted, strict=True))
    names = ("scores", "gates", "weights")
    return max(
        float(abs(getattr(one, name) - getattr(other, name)).max())
        for one, other in pairs
        for name in names
    )


def check_engine(engine: Engine, plain: list[RawOutputs], tolerance: float = TOLERANCE) -> None:
    """All items at once, each alone, and in another order: the same numbers."""
    try:
        assert furthest(scored(engine, ITEMS), plain) < tolerance
        few = [0, 2, 4, 6]
        assert (
            furthest([scored(engine, [ITEMS[at]])[0] for at in few], [plain[at] for at in few])
            < tolerance
        )
        assert furthest(scored(engine, ITEMS[::-1]), plain[::-1]) < tolerance
        [cut] = anyio.run(engine.score, [ITEMS[6]])
        assert isinstance(cut, Scored)
        assert cut.tokens == 511
        assert cut.shortened > 0
    finally:
        anyio.run(engine.close)


def test_the_plain_computation_tells_items_apart(plain: Plain) -> None:
    """A tolerance means nothing if all outputs are alike."""
    for name in ("scores", "gates", "weights"):
        stacked = np.stack([getattr(one, name) for one in plain["response"]])
        assert stacked.shape == (len(ITEMS), 42)
        assert float(stacked.std(axis=0).min()) > 100 * TOLERANCE


def test_stock_vllm_equals_the_plain_computation(sharded: Path, plain: Plain) -> None:
    options = EAGER | {"max_num_batched_tokens": 512, "max_num_seqs": 8}
    check_engine(
        load_engine(str(sharded), engine="vllm", dtype="float32", **options), plain["response"]
    )


def test_a_shortened_text_finishes(exported: Path, plain: Plain) -> None:
    """Up to 0.26 vLLM kept one place free for a token to come, so that a text of the full length
    never finished.
    """
    engine = load_engine(
        str(exported), engine="vllm", max_length=200, **EAGER | {"max_num_seqs": 8}
    )
    try:
        [cut] = anyio.run(engine.score, [ITEMS[6]])
        assert isinstance(cut, Scored)
        assert (cut.tokens, cut.shortened > 0) == (199, True)
    finally:
        anyio.run(engine.close)


def test_an_exported_folder_and_weights_at_the_query(exported: Path, plain: Plain) -> None:
    engine = load_engine(str(exported), engine="vllm", weights_at="query", **EAGER)
    assert engine.spec.dtype == "float32"  # the checkpoint's; vLLM's own choice would be float16
    try:
        found = scored(engine, ITEMS)
        assert furthest(found, plain["query"]) < TOLERANCE
        assert furthest(found, plain["response"]) > 100 * TOLERANCE
    finally:
        anyio.run(engine.close)


def test_a_closed_engine_gives_its_memory_back(exported: Path) -> None:
    """Of the cache of keys and values, 1 GiB, at least half leaves the process."""
    engine = load_engine(str(exported), engine="vllm", **EAGER)
    scored(engine, ITEMS[:1])
    before = resident()
    anyio.run(engine.close)
    assert before - resident() > 2**29


def resident() -> int:
    """Bytes of this process that are in memory."""
    return (
        int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        * resource.getpagesize()
    )


def test_a_closed_engine_leaves_no_process(exported: Path) -> None:
    """Where a user lets vLLM run in processes of its own."""
    script = (
        "import os, sys, anyio\n"
        "from pathlib import Path\n"
        "from urs_inspect.samer._engines import QueryResponse, load_engine\n"
        "def engines():\n"
        "    states = [path.read_text() for path in Path('/proc').glob('[0-9]*/stat')]\n"
        "    own = [line for line in states if line.rpartition(') ')[2].split()[1] =="
        " str(os.getpid())]\n"
        "    return sum('(VLLM' in line for line in own)\n"
        "engine = load_engine(sys.argv[1], engine='vllm', enforce_eager=True)\n"
        "anyio.run(engine.score, [QueryResponse('q', 'r')])\n"
        "print(engines())\n"
        "anyio.run(engine.close)\n"
        "print(engines())"
    )
    environment = os.environ | ENVIRONMENT | {"VLLM_ENABLE_V1_MULTIPROCESSING": "1"}
    command = [sys.executable, "-c", script, str(exported)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert [line for line in done.stdout.splitlines() if line.isdigit()] == ["1", "0"]


def test_a_server_equals_the_plain_computation(server: str, exported: Path, plain: Plain) -> None:
    """Tokenizer and heads come from the server's own folder, since it is on this machine."""
    engine = load_engine(server)
    assert engine.spec.max_length == 512
    check_engine(engine, plain["response"], SERVED_TOLERANCE)
    # A folder with tokenizer and heads but no weights is enough on another machine.
    elsewhere = load_engine(server, folder=str(without_weights(exported)), weights_at="query")
    assert furthest(scored(elsewhere, ITEMS[:3]), plain["query"][:3]) < SERVED_TOLERANCE


def test_a_server_refuses_what_is_too_long(server: str) -> None:
    engine = load_engine(server, overlong="error")
    [refused, sound] = anyio.run(engine.score, [ITEMS[6], ITEMS[0]])
    assert isinstance(refused, EngineFailure)
    assert refused.mode == "too_long"
    assert isinstance(sound, Scored)


def test_the_heads_of_another_model_are_found_out(server: str, tmp_path: Path) -> None:
    other = tiny_checkpoint(tmp_path / "other", shape=Shape(hidden=32, heads=1))
    with pytest.raises(InputError, match=r"shape \(2, 64\); expected \(2, 32\); .*other"):
        load_engine(server, folder=str(other))


def test_bfloat16_stays_near(tmp_path: Path) -> None:
    """The released type: numbers differ by rounding of the backbone, the heads stay float32."""
    folder = tiny_checkpoint(tmp_path / "bf16", dtype="bfloat16")
    wanted = computed(folder)["response"]
    engine = load_engine(str(folder), engine="vllm", **EAGER)
    try:
        off = furthest(scored(engine, ITEMS), wanted)
    finally:
        anyio.run(engine.close)
    assert TOLERANCE < off < 0.5


def without_weights(exported: Path) -> Path:
    """A copy of an exported folder with tokeniser and heads only."""
    copy = exported.with_name("client")
    if not copy.exists():
        shutil.copytree(
            exported, copy, ignore=shutil.ignore_patterns("model*.safetensors*", "config.json")
        )
    assert not list(copy.glob("*.safetensors"))
    return copy


# ## Reward models


@pytest.mark.parametrize(
    ("architecture", "labels", "padding"), [("qwen2", 1, "eos"), ("llama", 3, None)]
)
@pytest.mark.parametrize("served", [False, True])
def test_reward_models_agree_with_transformers_called_by_hand(
    tmp_path: Path, architecture: str, labels: int, padding: str | None, served: bool
) -> None:
    folder = tiny_reward_model(tmp_path / "m", architecture, labels=labels, padding=padding)
    describe(folder, outputs=[f"h{n}" for n in range(labels)], overall="h0")
    reference, items = (
        SlowReference(folder),
        [
            *ITEMS[:4],
            *ITEMS[7:],
        ],
    )  # nothing cut, no special tokens
    expected = [reference.logits(item.query, item.response) for item in items]

    async def scores(address: str, **options: object) -> list[list[float]]:
        engine = load_engine(address, **options)  # type: ignore[arg-type]
        found = await engine.score(items)
        await engine.close()
        return [
            [float(logit) for logit in each.raw.scores]
            for each in found
            if isinstance(each, Scored)
        ]

    if served:
        with vllm_server(folder, log := tmp_path / "server.log", *stock_options(ANY_END)) as url:
            wait_until_ready(url, log)
            numbers = anyio.run(scores, url)
    else:
        numbers = anyio.run(lambda: scores(str(folder), engine="vllm", dtype="float32", **EAGER))
    tolerance = SERVED_TOLERANCE if served else TOLERANCE
    np.testing.assert_allclose(numbers, expected, atol=tolerance, rtol=0)


def test_many_callers_at_once(exported: Path, plain: Plain) -> None:
    engine = load_engine(str(exported), engine="vllm", dtype="float32", **EAGER)
    found: dict[int, RawOutputs] = {}

    async def one(at: int) -> None:
        [outcome] = await engine.score([ITEMS[at]])
        assert isinstance(outcome, Scored)
        found[at] = outcome.raw

    async def everyone() -> None:
        async with anyio.create_task_group() as group:
            for at in range(len(ITEMS)):
                group.start_soon(one, at)
        await engine.close()

    anyio.run(everyone)
    assert furthest([found[at] for at in range(len(ITEMS))], plain["response"]) < TOLERANCE
