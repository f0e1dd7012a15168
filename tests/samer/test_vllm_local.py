"""The engine around vLLM, with a stand-in for vLLM; `test_vllm_engines.py` runs the real one."""

import os
import random
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import anyio
import numpy as np
import pytest
from click.testing import CliRunner, Result

from tests.samer.checkpoints import declaring, tiny_checkpoint
from tests.samer.conftest import SMALL
from tests.samer.pooling_server import HIDDEN, check_equal, expected, step_rows
from tests.telling import tells
from urs_inspect._arguments import Samer, check, samer_arguments
from urs_inspect._util import InputError
from urs_inspect.cli import main
from urs_inspect.samer import samer
from urs_inspect.samer._checkpoint_check import open_checkpoint
from urs_inspect.samer._engines import shared
from urs_inspect.samer._engines.protocol import EngineFailure, QueryResponse, Scored
from urs_inspect.samer._engines.registry import load_engine, open_engine
from urs_inspect.samer._engines.shared import check_engine
from urs_inspect.samer._engines.vllm_local import VllmEngine
from urs_inspect.samer._export import exported_folder
from urs_inspect.samer._options import SamerOptions
from urs_inspect.samer._weights import Array

ITEMS = [QueryResponse(f"question {n}", f"answer {n}") for n in range(12)]


class Tensor:
    """As much of a torch tensor as the engine uses."""

    def __init__(self, values: Array) -> None:
        self._values = values
        self.float = self.cpu = lambda: self

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.asarray(self._values, dtype)


class FakeVllm:
    """Stands in for the module `vllm`; notes what it was given."""

    def __init__(self, folder: Path) -> None:
        self.eot = open_checkpoint(folder).conversations().end_of_turn
        self.arguments: dict[str, Any] = {}
        self.batches: list[int] = []
        self.params: list[Any] = []
        self.threads: set[str] = set()
        self.poison: tuple[int, ...] | None = None
        self.spoiled: tuple[int, ...] | None = None
        self.broken: str | None = None
        self.freed: list[str] = []
        self.entered = threading.Event()
        self.release = threading.Event()
        self.release.set()

    def load(self, **arguments: Any) -> "FakeVllm":
        self.threads.add(threading.current_thread().name)
        random.seed(0)
        np.random.seed(0)
        if self.broken:
            raise ValueError(self.broken)
        self.arguments = arguments
        self.llm_engine = SimpleNamespace(
            engine_core=SimpleNamespace(shutdown=lambda: self.freed.append("engine"))
        )
        return self

    def encode(self, prompts: Sequence[dict[str, Any]], **options: Any) -> list[Any]:
        assert options["use_tqdm"] is False
        self.threads.add(threading.current_thread().name)
        ids = [tuple(prompt["prompt_token_ids"]) for prompt in prompts]
        self.batches.append(len(ids))
        self.params.extend(options["pooling_params"])
        self.entered.set()
        assert self.release.wait(20)
        if self.poison in ids:
            raise ValueError("bad\nprompt")
        assert options["pooling_task"] == "token_embed"
        arrays = [
            step_rows(one, self.eot, HIDDEN) * np.float32(np.nan if one == self.spoiled else 1)
            for one in ids
        ]
        return [SimpleNamespace(outputs=SimpleNamespace(data=Tensor(array))) for array in arrays]

    def free(self) -> None:
        self.freed.append("memory")


@pytest.fixture
def folder(small: Path) -> Path:
    return small


@pytest.fixture
def fake(folder: Path, monkeypatch: pytest.MonkeyPatch) -> FakeVllm:
    vllm = FakeVllm(folder)
    modules: dict[str, dict[str, Any]] = {
        "vllm": {"LLM": vllm.load, "PoolingParams": SimpleNamespace},
        "vllm.config": {"PoolerConfig": lambda **options: options},
        "vllm.distributed": {"cleanup_dist_env_and_memory": vllm.free},
    }
    for name, contents in modules.items():
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    for name in ("VLLM_ENABLE_V1_MULTIPROCESSING", "VLLM_LOGGING_LEVEL"):
        monkeypatch.setenv(name, "unset")
        monkeypatch.delenv(name)
    return vllm


def engine(folder: Path, **options: Any) -> VllmEngine:
    made = load_engine(str(folder), engine="vllm", **options)
    assert isinstance(made, VllmEngine)
    return made


def test_what_stock_vllm_is_asked_for(folder: Path, fake: FakeVllm) -> None:
    anyio.run(engine(folder, gpu_memory_utilization=0.5).score, ITEMS[:1])
    pooler = {
        "task": "token_embed",
        "use_activation": False,
        "tok_pooling_type": "STEP",
        "step_tag_id": fake.eot,
    }
    assert fake.arguments == {
        "model": str(exported_folder(open_checkpoint(folder))),
        "runner": "pooling",
        "convert": "embed",
        "dtype": "float32",
        "max_model_len": 512,
        "trust_remote_code": False,
        "pooler_config": pooler,
        "disable_log_stats": True,
        "use_tqdm_on_load": False,
        "gpu_memory_utilization": 0.5,
    }
    assert vars(fake.params[0]) == {"task": "token_embed", "use_activation": False}


def test_everything_runs_in_one_thread(folder: Path, fake: FakeVllm) -> None:
    opened = engine(folder)
    for _ in range(3):
        check_equal(anyio.run(opened.score, ITEMS), expected(folder, ITEMS))
    assert anyio.run(opened.score, []) == []
    assert fake.batches == [len(ITEMS)] * 3
    assert len(fake.threads) == 1
    assert threading.current_thread().name not in fake.threads


def test_callers_that_come_meanwhile_share_a_batch(folder: Path, fake: FakeVllm) -> None:
    opened = engine(folder)
    found: dict[int, Scored | EngineFailure] = {}
    fake.release.clear()

    async def one(at: int) -> None:
        [found[at]] = await opened.score([ITEMS[at]])

    async def everyone() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(one, 0)
            await anyio.to_thread.run_sync(fake.entered.wait, 20)
            for at in range(1, len(ITEMS)):
                group.start_soon(one, at)
            await anyio.wait_all_tasks_blocked()
            fake.release.set()

    anyio.run(everyone)
    check_equal([found[at] for at in range(len(ITEMS))], expected(folder, ITEMS))
    assert fake.batches == [1, len(ITEMS) - 1]


def test_an_item_that_vllm_refuses_or_makes_nan_of_fails_alone(
    folder: Path, fake: FakeVllm
) -> None:
    opened = engine(folder)
    fake.poison = (
        open_checkpoint(folder).conversations().encode(ITEMS[5].query, ITEMS[5].response, 512).ids
    )
    fake.spoiled = (
        open_checkpoint(folder).conversations().encode(ITEMS[7].query, ITEMS[7].response, 512).ids
    )
    found = anyio.run(opened.score, ITEMS)
    not_finite, failure = found.pop(7), found.pop(5)
    assert failure == EngineFailure("error", "ValueError: bad prompt")
    assert isinstance(not_finite, EngineFailure) and not_finite.mode == "not_finite"
    check_equal(found, expected(folder, [*ITEMS[:5], ITEMS[6], *ITEMS[8:]]))


def test_vllm_cannot_load_it(folder: Path, fake: FakeVllm) -> None:
    fake.broken = "No space\nleft on GPU"
    with pytest.raises(InputError, match=r"vLLM.*No space"):
        engine(folder)


@pytest.mark.parametrize(
    "option",
    [
        "runner",
        "pooler_config",
        "trust_remote_code",
        "hf_overrides",
        "convert",
        "enable_chunked_prefill",
    ],
)
def test_options_that_are_samers_own(folder: Path, fake: FakeVllm, option: str) -> None:
    with pytest.raises(InputError, match=f"vllm.*{option} cannot be set"):
        load_engine(str(folder), engine="vllm", **{option: False})


def test_options_of_vllm_from_a_task_a_scorer_and_a_command(
    folder: Path, fake: FakeVllm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    options = {
        "gpu_memory_utilization": 0.5,
        "tensor_parallel_size": 2,
        "max_num_batched_tokens": 100,
    }
    wanted = {**options, "runner": "pooling"}
    monkeypatch.setattr(shared, "find_spec", lambda name: name)  # vLLM counts as installed
    task = samer_arguments(
        check("samer", {"model": str(folder), "engine": "vllm", "engine_options": options}, Samer),
        wanted=True,
        condition="scorer=samer",
    )
    assert task is not None
    for given in (task, {"model": str(folder), "engine": "vllm", "engine_options": options}):
        choice = check("samer", given, SamerOptions)
        check_engine(choice)
        open_engine(choice)
        assert wanted.items() <= fake.arguments.items()
    assert samer(str(folder), engine="vllm", engine_options=options)
    with pytest.raises(InputError, match="engine_options: tensor_parallel_size"):
        samer(str(folder), engine="vllm", engine_options={"tensor_parallel_size": "two"})

    fake.arguments = {}
    rows = tmp_path / "in.jsonl"
    rows.write_text('{"query": "q", "response": "r"}\n', encoding="utf-8")
    command = [
        "samer",
        "score",
        str(rows),
        str(tmp_path / "out.jsonl"),
        "--model",
        str(folder),
        "-S",
        "engine=vllm",
    ]

    def run(text: str) -> Result:
        return CliRunner().invoke(main, [*command, "-S", f"engine_options={text}"])

    for text, said in (
        ("{tensor_parallel_size: two}", "tensor_parallel_size: must be a whole number"),
        ("{", "-S: cannot read 'engine_options={'"),
        ("0.5", "engine_options: must be"),
    ):
        failed = run(text)
        assert failed.exit_code == 1 and said in failed.output and not fake.arguments
    text = "{gpu_memory_utilization: 0.5, tensor_parallel_size: 2, max_num_batched_tokens: 100}"
    assert run(text).exit_code == 0
    assert wanted.items() <= fake.arguments.items()
    command[3] = str(tmp_path / "out")
    with_ray = CliRunner().invoke(
        main, [*command, "-S", "ray=local", "-S", "engine_options={tensor_parallel_size: 2}"]
    )
    assert tells(with_ray.output, "ray=... gives ... one GPU")


@pytest.mark.parametrize("length", [None, 100])
def test_a_text_that_is_cut_leaves_a_token_free(
    folder: Path, fake: FakeVllm, length: int | None
) -> None:
    """vLLM never finishes what has exactly `max_model_len` tokens and is computed in chunks."""
    items = [QueryResponse("q " * 1000, "r"), QueryResponse("q", "r " * 100_000)]
    [refused, cut] = anyio.run(engine(folder, max_length=length).score, items)
    assert isinstance(refused, EngineFailure) and isinstance(cut, Scored)
    assert refused.mode == "too_long"
    assert fake.arguments["max_model_len"] == (length or 512) == cut.tokens + 1
    assert cut.shortened > 100_000


def test_vllm_is_not_installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(InputError, match=r"pip install 'urs-inspect\[vllm\]'"):
        engine(folder)


def test_generators_of_the_program_go_on(folder: Path, fake: FakeVllm) -> None:
    random.seed(7)
    np.random.seed(7)
    wanted = (random.random(), float(np.random.random()))
    random.seed(7)
    np.random.seed(7)
    engine(folder)
    assert (random.random(), float(np.random.random())) == wanted


def test_the_environment_is_a_default_only(
    folder: Path, fake: FakeVllm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")
    engine(folder)
    assert os.environ["VLLM_LOGGING_LEVEL"] == "DEBUG"
    assert os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"


def test_close_frees_once_and_then_items_fail(folder: Path, fake: FakeVllm) -> None:
    opened = engine(folder)
    anyio.run(opened.close)
    anyio.run(opened.close)
    assert fake.freed == ["engine", "memory"]
    [outcome] = anyio.run(opened.score, ITEMS[:1])
    assert isinstance(outcome, EngineFailure)
    assert "closed" in outcome.detail


def test_load_engine_exports_a_released_folder_once(folder: Path, fake: FakeVllm) -> None:
    first = load_engine(str(folder), engine="vllm", max_num_seqs=3)
    exported = fake.arguments["model"]
    assert exported != str(folder)
    assert fake.arguments["max_num_seqs"] == 3
    check_equal(anyio.run(first.score, ITEMS[:2]), expected(folder, ITEMS[:2]))
    load_engine(str(folder), engine="vllm")
    assert fake.arguments["model"] == exported
    load_engine(exported, engine="vllm")
    assert fake.arguments["model"] == exported


@pytest.mark.parametrize("stored", ["float32", "bfloat16"])
def test_the_checkpoints_type_is_kept_unless_another_is_named(
    fake: FakeVllm, tmp_path: Path, stored: str
) -> None:
    """vLLM's own `auto` would make float16 of float32."""
    folder = tiny_checkpoint(tmp_path / "m", dtype=stored, inner_widths=SMALL)
    opened = load_engine(str(folder), engine="vllm")
    assert fake.arguments["dtype"] == opened.spec.dtype == stored
    opened = load_engine(str(folder), engine="vllm", dtype="float16")
    assert fake.arguments["dtype"] == opened.spec.dtype == "float16"


def test_heads_are_read_where_they_were_trained(fake: FakeVllm, tmp_path: Path) -> None:
    """An export keeps what the heads say; a user's word counts more."""
    folder = declaring(tiny_checkpoint(tmp_path / "m", inner_widths=SMALL), "query")
    opened = load_engine(str(folder), engine="vllm")
    assert opened.spec.weights_at == "query"
    assert (
        load_engine(str(folder), engine="vllm", weights_at="response").spec.weights_at == "response"
    )
    check_equal(anyio.run(opened.score, ITEMS[:2]), expected(folder, ITEMS[:2], "query"))
