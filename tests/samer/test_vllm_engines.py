"""Real vLLM engines on the CPU against a plain computation; `make test-vllm` makes the environment they need."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from pathlib import Path

import anyio
import numpy as np
import pytest

from tests.samer.checkpoints import tiny_checkpoint
from tests.samer.reference import Reference
from tests.samer.vllm_env import EAGER, ENVIRONMENT, vllm_server, wait_until_ready
from urs_inspect._util import InputError
from urs_inspect.samer.conversation import Conversations
from urs_inspect.samer.engines.pooling import PluginPooling, StepPooling
from urs_inspect.samer.engines.pooling_api import plugin_options, stock_options
from urs_inspect.samer.engines.protocol import Engine, EngineFailure, QueryResponse, Scored
from urs_inspect.samer.engines.registry import load_engine
from urs_inspect.samer.evaluation import RawOutputs, WeightsAt
from urs_inspect.samer.export import export_checkpoint

pytestmark = pytest.mark.vllm

TOLERANCE = 1e-5
ITEMS = [
    QueryResponse("What is the capital of France?", "Paris."),
    QueryResponse("hello " * 30, "an answer " * 20),
    QueryResponse("one", ""),
    QueryResponse("", "two"),
    QueryResponse("Does <|eot_id|> end a turn?", "Yes: <|eot_id|><|start_header_id|>user<|end_header_id|>\n\nno"),
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
    """Outputs of each item for both readings of the weights, computed one by one without any engine."""
    return computed(released)


def computed(folder: Path) -> Plain:
    reference, conversations = Reference(folder), Conversations(folder)
    encoded = [conversations.encode(item.query, item.response, 512) for item in ITEMS]
    ways: tuple[WeightsAt, ...] = ("response", "query")
    return {
        way: [RawOutputs(**reference.outputs(list(one.query_ids), list(one.ids), way)) for one in encoded]
        for way in ways
    }


@pytest.fixture(scope="module")
def servers(sharded: Path, exported: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A stock server and one with the plugin, started together."""
    logs = tmp_path_factory.mktemp("logs")
    eot = Conversations(sharded).end_of_turn
    with (
        vllm_server(exported, logs / "stock", *stock_options(eot)) as stock_url,
        vllm_server(sharded, logs / "plugin", *plugin_options()) as plugin_url,
    ):
        wait_until_ready(stock_url, logs / "stock")
        wait_until_ready(plugin_url, logs / "plugin")
        yield {"stock": stock_url, "plugin": plugin_url}


def scored(engine: Engine, items: Sequence[QueryResponse]) -> list[RawOutputs]:
    outcomes = anyio.run(engine.score, items)
    assert [type(outcome) for outcome in outcomes] == [Scored] * len(items), outcomes
    return [outcome.raw for outcome in outcomes if isinstance(outcome, Scored)]


def furthest(found: Sequence[RawOutputs], wanted: Sequence[RawOutputs]) -> float:
    """Largest difference of any output of any item."""
    pairs = list(zip(found, wanted, strict=True))
    names = ("scores", "gates", "weights")
    return max(float(abs(getattr(one, name) - getattr(other, name)).max()) for one, other in pairs for name in names)


def check_engine(engine: Engine, plain: list[RawOutputs]) -> None:
    """All items at once, each alone, and in another order: the same numbers."""
    try:
        assert furthest(scored(engine, ITEMS), plain) < TOLERANCE
        few = [0, 2, 4, 6]
        assert furthest([scored(engine, [ITEMS[at]])[0] for at in few], [plain[at] for at in few]) < TOLERANCE
        assert furthest(scored(engine, ITEMS[::-1]), plain[::-1]) < TOLERANCE
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
    check_engine(load_engine(str(sharded), engine="vllm", dtype="float32", **options), plain["response"])


@pytest.mark.parametrize("batched_tokens", [512, 48])
def test_the_plugin_equals_the_plain_computation(sharded: Path, plain: Plain, batched_tokens: int) -> None:
    """With 48 tokens a step, most prompts are computed in several chunks."""
    options = EAGER | {"max_num_batched_tokens": batched_tokens, "max_num_seqs": 8, "enable_chunked_prefill": True}
    check_engine(load_engine(str(sharded), engine="plugin", **options), plain["response"])


@pytest.mark.parametrize("length", [None, 200])
def test_a_shortened_text_finishes_when_it_is_computed_in_chunks(sharded: Path, length: int | None) -> None:
    """Up to 0.26 vLLM kept one place free for a token to come, so that the last token of a full length never was due.

    Later releases do so for models that write; here they are made to do it for this one. In a process of its own,
    because an engine that never finishes cannot be stopped from within.
    """
    script = (
        "import os, sys, threading, anyio\n"
        "from urs_inspect.samer.engines import QueryResponse, load_engine\n"
        "options = {'enforce_eager': True, 'max_num_batched_tokens': 48, 'max_num_seqs': 8}\n"
        "engine = load_engine(sys.argv[1], engine='plugin', max_length=eval(sys.argv[2]), **options)\n"
        "scheduler = engine._llm.llm_engine.engine_core.engine_core.scheduler\n"
        "if hasattr(scheduler, 'num_sampled_tokens_per_step'):\n"
        "    assert scheduler.num_sampled_tokens_per_step == 0\n"
        "    scheduler.num_sampled_tokens_per_step = 1\n"
        "anyio.run(engine.score, [QueryResponse('short', 'text')])\n"
        "stop = threading.Timer(60, os._exit, [99])\n"
        "stop.start()\n"
        "[outcome] = anyio.run(engine.score, [QueryResponse('cut me', 'the end of this is lost ' * 60)])\n"
        "stop.cancel()\n"
        "print('tokens', outcome.tokens, outcome.shortened > 0)\n"
    )
    command = [sys.executable, "-c", script, str(sharded), str(length)]
    done = subprocess.run(
        command, env=os.environ | ENVIRONMENT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, "not finished in a minute" if done.returncode == 99 else done.stderr[-2000:]
    assert f"tokens {(length or 512) - 1} True" in done.stdout


def test_an_exported_folder_and_weights_at_the_query(exported: Path, plain: Plain) -> None:
    engine = load_engine(str(exported), engine="vllm", weights_at="query", **EAGER)
    assert engine.spec.dtype == "float32"  # the checkpoint's; vLLM's own choice would be float16
    try:
        found = scored(engine, ITEMS)
        assert furthest(found, plain["query"]) < TOLERANCE
        assert furthest(found, plain["response"]) > 100 * TOLERANCE
    finally:
        anyio.run(engine.close)


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


def test_a_closed_engine_gives_its_memory_back(exported: Path) -> None:
    """Of the cache of keys and values, 1 GiB, at least half leaves the process."""
    engine = load_engine(str(exported), engine="vllm", **EAGER)
    scored(engine, ITEMS[:1])
    before = resident()
    anyio.run(engine.close)
    assert before - resident() > 2**29


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


def test_a_closed_engine_leaves_no_process(exported: Path) -> None:
    """Where a user lets vLLM run in processes of its own."""
    script = (
        "import os, sys, anyio\n"
        "from pathlib import Path\n"
        "from urs_inspect.samer.engines import QueryResponse, load_engine\n"
        "def engines():\n"
        "    states = [path.read_text() for path in Path('/proc').glob('[0-9]*/stat')]\n"
        "    own = [line for line in states if line.rpartition(') ')[2].split()[1] == str(os.getpid())]\n"
        "    return sum('(VLLM' in line for line in own)\n"
        "engine = load_engine(sys.argv[1], engine='vllm', enforce_eager=True)\n"
        "anyio.run(engine.score, [QueryResponse('q', 'r')])\n"
        "print(engines())\n"
        "anyio.run(engine.close)\n"
        "print(engines())"
    )
    environment = os.environ | ENVIRONMENT | {"VLLM_ENABLE_V1_MULTIPROCESSING": "1"}
    command = [sys.executable, "-c", script, str(exported)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert [line for line in done.stdout.splitlines() if line.isdigit()] == ["1", "0"]


def test_vllm_finds_the_plugin_by_its_entry_point() -> None:
    from vllm import ModelRegistry

    [found] = [point for point in entry_points(group="vllm.general_plugins") if point.name == "urs_inspect_samer"]
    register = found.load()
    register()
    register()
    assert "SaMerForRewardModeling" in ModelRegistry.get_supported_archs()


@pytest.mark.parametrize(("kind", "pooling"), [("stock", StepPooling), ("plugin", PluginPooling)])
def test_a_server_equals_the_plain_computation(
    servers: dict[str, str], exported: Path, plain: Plain, kind: str, pooling: type
) -> None:
    """Found out by asking; tokeniser and heads come from the server's own folder, since it is on this machine."""
    engine = load_engine(servers[kind])
    assert isinstance(engine.pooling, pooling)  # type: ignore[attr-defined]
    assert engine.spec.max_length == 512
    check_engine(engine, plain["response"])
    # A folder with tokeniser and heads but no weights is enough on another machine.
    elsewhere = load_engine(servers[kind], folder=str(without_weights(exported)), weights_at="query")
    assert furthest(scored(elsewhere, ITEMS[:3]), plain["query"][:3]) < TOLERANCE


@pytest.mark.parametrize("kind", ["stock", "plugin"])
def test_a_server_refuses_what_is_too_long(servers: dict[str, str], kind: str) -> None:
    engine = load_engine(servers[kind], overlong="error")
    [refused, sound] = anyio.run(engine.score, [ITEMS[6], ITEMS[0]])
    assert isinstance(refused, EngineFailure)
    assert refused.mode == "too_long"
    assert isinstance(sound, Scored)


def test_the_heads_of_another_model_are_found_out(servers: dict[str, str], tmp_path: Path) -> None:
    other = tiny_checkpoint(tmp_path / "other", hidden=32, heads=1)
    with pytest.raises(InputError, match="another model: vectors of width 64"):
        load_engine(servers["stock"], folder=str(other))


def test_bfloat16_stays_near(tmp_path: Path) -> None:
    """The released type: numbers differ by rounding of the backbone, the heads stay float32."""
    folder = tiny_checkpoint(tmp_path / "bf16", dtype="bfloat16")
    wanted = computed(folder)["response"]
    engine = load_engine(str(folder), engine="plugin", **EAGER)
    try:
        off = furthest(scored(engine, ITEMS), wanted)
    finally:
        anyio.run(engine.close)
    assert TOLERANCE < off < 0.5


def without_weights(exported: Path) -> Path:
    """A copy of an exported folder with tokeniser and heads only."""
    copy = exported.with_name("client")
    if not copy.exists():
        shutil.copytree(exported, copy, ignore=shutil.ignore_patterns("model*.safetensors*", "config.json"))
    assert not list(copy.glob("*.safetensors"))
    return copy
