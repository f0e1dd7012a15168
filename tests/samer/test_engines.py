"""Which engine is chosen, what is refused, and one engine for all callers with the same options."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.samer.pooling_server import pooling_server, step_script
from tests.samer.stubs import Opening, StubEngine
from tests.telling import tells
from urs_inspect._arguments import check
from urs_inspect._util import InputError
from urs_inspect.samer._conversation import Conversations
from urs_inspect.samer._engines import (
    EngineFailure,
    QueryResponse,
    Scored,
    engine_names,
    load_engine,
    register_engine,
    registry,
    shared,
)
from urs_inspect.samer._engines.shared import (
    AT_ONCE,
    check_engine,
    close_engines,
    shared_engine,
)
from urs_inspect.samer._options import SamerOptions
from urs_inspect.samer._packages import missing_package


@pytest.mark.parametrize(
    ("samer", "options", "installed", "expected"),
    [
        ("here", {}, True, "vllm"),
        ("here", {}, False, "transformers"),
        ("here", {"engine": "transformers", "max_length": 9}, True, "transformers"),
        ("http://host:8000", {"bos": "double"}, True, "server"),
        ("https://host/v1", {}, False, "server"),
        ("here", {"engine": "mine"}, False, "mine"),
    ],
)
def test_the_engine_that_fits_is_made_with_its_options(
    samer: str,
    options: dict[str, Any],
    installed: bool,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    made: list[Any] = []

    def maker(name: str) -> Callable[..., Any]:
        return lambda samer, **given: made.append((name, samer, given))

    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(registry, "find_spec", lambda name: object() if installed else None)
    for name in ("vllm", "server", "transformers", "mine"):
        register_engine(name, maker(name))
    assert "mine" in engine_names()
    samer = samer.replace("here", str(tmp_path))
    with caplog.at_level("INFO"):
        load_engine(samer, **options)
    assert made == [
        (expected, samer, {name: value for name, value in options.items() if name != "engine"})
    ]
    assert (f"is run by {expected}" in caplog.text) is (
        samer == str(tmp_path) and "engine" not in options
    )


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_a_missing_package_is_one_line_with_the_way_to_install_it(
    small: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.delitem(sys.modules, "urs_inspect.samer._neural.transformers_engine", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError) as raised:
        load_engine(str(small), engine="transformers")
    assert tells(
        str(raised.value), f"engine 'transformers' ... {package}: pip install 'urs-inspect[samer]'"
    )
    monkeypatch.setattr(shared, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"engine 'vllm'.*vllm:.*install 'urs-inspect\[vllm\]'"):
        check_engine(SamerOptions(model=str(small), engine="vllm"))
    unknown = missing_package("engine 'mine'", ImportError("No module named 'x'", name="x"))
    assert tells(str(unknown), "engine 'mine' ... 'x'")
    broken = missing_package("training", ImportError("libcudart.so: no such file", name="torch._C"))
    assert tells(str(broken), "training ... torch ... install ... libcudart.so: no such file")


def test_a_registered_engine_whose_package_is_missing_is_one_line(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(samer: str, **options: Any) -> StubEngine:
        raise ModuleNotFoundError("No module named 'x'", name="x")

    monkeypatch.setattr(registry, "_registered", {})
    register_engine("mine", make)
    with pytest.raises(InputError, match="engine 'mine' cannot be loaded: No module named 'x'"):
        load_engine(str(small), engine="mine")


def test_engines_and_checkpoints_are_plain_python(small: Path) -> None:
    script = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from urs_inspect.samer import _export\n"
        "from urs_inspect.samer._checkpoint_check import open_checkpoint\n"
        "from urs_inspect.samer._engines import vllm_local, vllm_server\n"
        "checkpoint = open_checkpoint(sys.argv[1])\n"
        "checkpoint.heads(); checkpoint.conversations().encode('q', 'r', 99)\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(small)], capture_output=True, text=True, check=False
    )
    loaded = set(json.loads(done.stdout))
    assert {"numpy", "tokenizers"} <= loaded
    assert loaded.isdisjoint({"torch", "vllm", "transformers", "inspect_ai", "safetensors"})


@pytest.fixture
def opening(stub_engine: Callable[..., Opening]) -> Opening:
    return stub_engine()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"gpu_memory": 0.5},
            "unknown option gpu_memory; allowed: gpu_memory_utilization, tensor_parallel_size",
        ),
        (
            {"gpu_memory_utilization": "half"},
            "gpu_memory_utilization: must be a number above 0 and at most 1",
        ),
        ({"gpu_memory_utilization": 1.5}, "at most 1, got 1.5"),
        ({"gpu_memory_utilization": float("nan")}, "at most 1, got nan"),
        (
            {"tensor_parallel_size": 0},
            "tensor_parallel_size: must be a whole number of at least 1, got 0",
        ),
        ({"tensor_parallel_size": True}, "at least 1, got True"),
        ({"max_num_batched_tokens": 2.5}, "max_num_batched_tokens: must be a whole number"),
        ({"max_model_len": 100}, "unknown option max_model_len; allowed: gpu_memory_utilization"),
        (0.5, "must be a text, or options: gpu_memory_utilization.*; got 0.5"),
    ],
)
def test_options_of_vllm_are_checked_before_an_engine_is_opened(
    small: Path, options: Any, message: str
) -> None:
    with pytest.raises(InputError, match=f"engine_options: .*{message}"):
        chosen(str(small), engine="vllm", engine_options=options)


def chosen(model: object, **options: Any) -> SamerOptions:
    """What a user chose, checked as a task does."""
    choice: SamerOptions = check("samer", {"model": model, **options}, SamerOptions)
    return choice


def test_options_of_vllm_reach_it_and_no_other_engine(small: Path) -> None:
    given = {"gpu_memory_utilization": 0.5, "max_num_batched_tokens": 100}
    made = chosen(str(small), engine="vllm", engine_options=given)
    assert made.given() == {"engine_options": given}
    same = chosen(str(small), engine="vllm", engine_options=given)
    assert (made, hash(made)) == (same, hash(same))
    assert made != chosen(str(small), engine="vllm", engine_options={"max_num_batched_tokens": 100})
    with pytest.raises(InputError, match=r"engine_options:.*vllm.*transformers"):
        chosen(str(small), engine="transformers", engine_options=given)
    with pytest.raises(InputError, match=r"engine_options:.*`vllm serve`"):
        chosen("http://127.0.0.1:1", engine_options=given)


def choice(folder: Path, **options: Any) -> SamerOptions:
    return chosen(str(folder), engine="stub", **options)


def test_many_who_ask_at_once_share_one_engine(opening: Opening, tmp_path: Path) -> None:
    async def ask() -> list[object]:
        return await asyncio.gather(*[shared_engine(choice(tmp_path)) for _ in range(20)])

    found = asyncio.run(ask())
    assert len(opening.made) == 1
    assert all(engine is opening.made[0] for engine in found)


def test_the_next_run_goes_on_with_the_engine_and_closes_those_it_does_not_use(
    opening: Opening, tmp_path: Path
) -> None:
    first, second = choice(tmp_path), choice(tmp_path, weights_at="query")

    async def both() -> None:
        for wanted in (first, second):
            await shared_engine(wanted)

    for wanted in (first, first, second):
        anyio.run(
            shared_engine, wanted
        )  # a loop of its own, which `asyncio.run` need not give under the harness
    assert [engine.closed for engine in opening.made] == [1, 0]
    anyio.run(both)  # what one run uses is not closed
    assert [engine.closed for engine in opening.made] == [1, 1, 0, 0]


def test_an_engine_that_cannot_be_opened_is_a_failure_and_is_tried_once_a_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stub_engine: Callable[..., Opening]
) -> None:
    tries: list[str] = []

    def broken(samer: str, **_: Any) -> StubEngine:
        tries.append(samer)
        raise RuntimeError("CUDA out of\nmemory")

    stub_engine(make=broken)

    async def ask() -> list[object]:
        return [await shared_engine(choice(tmp_path)) for _ in range(3)]

    found = anyio.run(ask)
    assert (
        found == [EngineFailure("error", "the engine could not be opened: CUDA out of memory")] * 3
    )
    assert len(tries) == 1
    check_engine(choice(tmp_path))
    anyio.run(ask)
    assert len(tries) == 2  # the next run may be luckier


def test_all_engines_are_closed_even_if_one_cannot_be(
    tmp_path: Path, stub_engine: Callable[..., Opening], caplog: pytest.LogCaptureFixture
) -> None:
    opening = stub_engine()

    async def refuse() -> None:
        raise RuntimeError("stuck")

    async def main() -> None:
        for weights_at in ("query", "response", None):
            await shared_engine(choice(tmp_path, weights_at=weights_at))
        opening.made[0].close = refuse  # type: ignore[method-assign]
        await close_engines()
        await close_engines()
        assert not shared._open
        await shared_engine(choice(tmp_path))  # opened anew

    anyio.run(main)
    assert [engine.closed for engine in opening.made] == [0, 1, 1, 0]
    assert tells(caplog.text, "closed: RuntimeError: stuck")


# ## Checked before a run


@pytest.mark.parametrize(
    ("samer", "options", "said"),
    [
        (
            "here",
            {"engine": "onnx"},
            "engine 'onnx'; allowed: auto, vllm, server, transformers",
        ),
        (
            "here",
            {"engine": "server"},
            r"engine 'server'.*\(http://host:port\)",
        ),
        (
            "http://h",
            {"engine": "vllm"},
            "engine 'vllm'.*folder",
        ),
        (
            "here/nowhere",
            {},
            "no such folder",
        ),
        ("here/samer_heads", {}, r"no weights; expected model\.safetensors"),
        (
            "http://h",
            {"dtype": "float32"},
            "engine 'server'.*option 'dtype'; allowed: engine, weights_at, bos, overlong, max_length, folder, description$",
        ),
        ("here", {"weights_at": "answer"}, "weights_at: .*'answer'; allowed: response, query"),
        ("here", {"bos": "none"}, "bos: .*'none'; allowed: single, double"),
        ("here", {"overlong": "cut"}, "overlong: .*'cut'; allowed: shorten, error"),
        ("here", {"max_length": 513}, "max_length 513; allowed are"),
        ("here", {"dtype": "half"}, "dtype: .*'half'; allowed: auto, float32, bfloat16, float16"),
        ("here", {"folder": "x"}, "engine 'transformers'.*option 'folder'"),
        ("here", {}, ""),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_loaded(
    samer: str, options: dict[str, Any], said: str, copied: Callable[[str], Path]
) -> None:
    folder = copied("m")
    (folder / "samer_heads").mkdir()
    engine = "auto" if samer.startswith("http") else "transformers"
    model = samer.replace("here", str(folder))
    with pytest.raises(InputError, match=said) if said else nullcontext():
        check_engine(chosen(model, **{"engine": engine, **options}))
    assert not shared._open


def test_only_what_was_given_is_handed_on() -> None:
    """An engine has its own default for the rest, and a server no option `dtype` at all."""
    assert chosen("http://h").given() == {}
    given = {
        "weights_at": "query",
        "bos": "double",
        "overlong": "error",
        "max_length": 9,
        "dtype": "float32",
    }
    assert chosen("x", **given).given() == given


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": ""}, "samer: model: ... text"),
        ({"model": 7}, "samer: model: ... text"),
        ({"model": "x", "engine": None}, "samer: engine ... text"),
        ({"model": "x", "folder": 3}, "samer: folder ... text"),
        ({"model": "x", "max_length": 0}, "samer: max_length ... whole number ... 1"),
        (
            {"model": "x", "max_length": True},
            "samer: max_length ... whole number ... 1",
        ),
    ],
)
def test_a_value_of_another_type_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        chosen(**given)
    assert tells(str(caught.value), said)


def test_a_server_is_asked_what_it_is_and_its_requests_are_limited(small: Path) -> None:
    seen: list[tuple[str, int]] = []

    def concurrency(name: str, limit: int) -> Any:
        seen.append((name, limit))
        return nullcontext()

    eot = Conversations(small).end_of_turn
    with pooling_server(step_script(eot, 64)) as server:
        wanted = chosen(server.url, folder=str(small))
        check_engine(wanted, concurrency)
        check_engine(wanted, concurrency)
        assert len(server.asked) == 1  # the probe, once however many want to know

        async def ask() -> object:
            engine = await shared_engine(wanted)
            assert not isinstance(engine, EngineFailure)
            [found] = await engine.score([QueryResponse("Why?", "Because.")])
            await engine.close()
            return found

        assert isinstance(asyncio.run(ask()), Scored)
    assert seen == [(f"samer/{server.url}", AT_ONCE)]


def test_a_server_is_asked_again_after_a_while(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(shared, "monotonic", lambda: clock[0])
    monkeypatch.setattr("urs_inspect.samer._engines.vllm_server._wait", lambda *_: 0.0)
    with pooling_server(step_script(Conversations(small).end_of_turn, 64)) as server:
        wanted = chosen(server.url, folder=str(small))
        for passed, asked in ((0, 1), (20, 1), (21, 2)):
            clock[0] += passed
            check_engine(wanted)
            assert len(server.asked) == asked
    clock[0] += 60
    with pytest.raises(InputError, match="no vLLM server answers"):
        check_engine(wanted)
