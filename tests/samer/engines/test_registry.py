"""Which engine is chosen, and what is said when one cannot be used."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from urs_inspect._util import InputError
from urs_inspect.samer.engines import engine_names, load_engine, register_engine, registry


class Made:
    """Stands for an engine."""

    def __init__(self, samer: str, options: dict[str, Any]) -> None:
        self.samer, self.options = samer, options


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Made]]:
    """Replaces all engines by ones that only note how they were made."""
    made: dict[str, list[Made]] = {name: [] for name in engine_names()}
    monkeypatch.setattr(registry, "_registered", {})
    for name in made:

        def make(samer: str, *, bos: str = "single", max_length: int = 0, _name: str = name) -> Any:
            made[_name].append(Made(samer, {"bos": bos, "max_length": max_length}))
            return made[_name][-1]

        register_engine(name, make)
    return made


def installed(monkeypatch: pytest.MonkeyPatch, vllm: bool) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: object() if vllm else None)


@pytest.mark.parametrize(("vllm", "expected"), [(True, "vllm"), (False, "transformers")])
def test_a_folder_is_run_by_vllm_if_that_is_installed(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fake: dict[str, list[Made]],
    tmp_path: Path,
    vllm: bool,
    expected: str,
) -> None:
    installed(monkeypatch, vllm)
    with caplog.at_level("INFO"):
        load_engine(str(tmp_path))
    assert [name for name, made in fake.items() if made] == [expected]
    assert f"is run by {expected}" in caplog.text


@pytest.mark.parametrize("address", ["http://host:8000", "https://host/v1"])
def test_an_address_is_a_server(fake: dict[str, list[Made]], address: str) -> None:
    load_engine(address, bos="double")
    assert fake["server"][0].samer == address
    assert fake["server"][0].options["bos"] == "double"


@pytest.mark.parametrize("name", ["vllm", "plugin", "transformers"])
def test_a_named_engine_is_taken(fake: dict[str, list[Made]], tmp_path: Path, name: str) -> None:
    load_engine(str(tmp_path), engine=name)
    assert len(fake[name]) == 1


@pytest.mark.parametrize(
    ("samer", "options", "message"),
    [
        ("here", {"engine": "onnx"}, "unknown engine 'onnx'; allowed: auto, vllm, plugin, server, transformers"),
        ("here", {"engine": "server"}, r"does not fit engine 'server'; expected an address \(http://host:port\)"),
        ("http://h", {"engine": "vllm"}, "does not fit engine 'vllm'; expected a checkpoint's folder"),
        ("here/nowhere", {}, "no such folder; expected a checkpoint's folder or a server's address"),
        ("http://h", {"speed": 9}, "engine 'server' has no option 'speed'; allowed: bos, max_length"),
        ("http://h", {"bos": "triple"}, "bos 'triple'; allowed: single, double"),
        ("http://h", {"dtype": "float32"}, "engine 'server' has no option 'dtype'"),
    ],
)
def test_what_does_not_fit(
    fake: dict[str, list[Made]], tmp_path: Path, samer: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load_engine(samer.replace("here", str(tmp_path)), **options)
    assert not any(fake.values())


def test_all_engines_know_the_same_readings() -> None:
    import inspect

    for name in engine_names():
        parameters = inspect.signature(registry._factory(name)).parameters
        assert {"samer", "weights_at", "bos", "max_length", "overlong"} <= set(parameters), name
        assert parameters["weights_at"].default is None, name  # the heads' file is asked
        assert ("dtype" in parameters) == (name != "server"), name


@pytest.mark.parametrize("engine", ["vllm", "plugin", "transformers"])
def test_a_type_that_is_unknown_is_refused_before_anything_is_loaded(small: Path, engine: str) -> None:
    with pytest.raises(InputError, match="dtype 'half'; allowed: auto, float32, bfloat16, float16"):
        load_engine(str(small), engine=engine, dtype="half")


@pytest.mark.parametrize(("package", "extra"), [("torch", "samer"), ("transformers", "samer")])
def test_a_missing_package_is_one_line_with_the_way_to_install_it(small: Path, package: str, extra: str) -> None:
    script = (
        f"import sys; sys.modules['{package}'] = None\n"
        "from urs_inspect.samer.engines import load_engine\n"
        "try:\n    load_engine(sys.argv[1], engine='transformers')\n"
        "except Exception as error:\n    print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(small)], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == (
        f"InputError engine 'transformers' needs the package {package}: pip install 'urs-inspect[{extra}]'"
    ), done.stderr


def test_missing_vllm_is_one_line_too(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(InputError, match=r"vLLM.*pip install 'urs-inspect\[vllm\]'"):
        load_engine(str(small), engine="vllm")


def test_engines_and_checkpoints_are_plain_python(small: Path) -> None:
    script = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from urs_inspect.samer import export\n"
        "from urs_inspect.samer.checkpoint import open_checkpoint\n"
        "from urs_inspect.samer.engines import openers, protocol, vllm_local, vllm_server\n"
        "checkpoint = open_checkpoint(sys.argv[1])\n"
        "checkpoint.heads(); checkpoint.conversations().encode('q', 'r', 99)\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(small)], capture_output=True, text=True, check=False)
    loaded = set(json.loads(done.stdout))
    assert {"numpy", "tokenizers"} <= loaded
    assert loaded.isdisjoint({"torch", "vllm", "transformers", "inspect_ai", "safetensors"})


def test_an_unknown_missing_package_is_named() -> None:
    error = registry.missing_package("engine 'mine'", ImportError("No module named 'x'", name="x"))
    assert str(error) == "engine 'mine' cannot be loaded: No module named 'x'"


def test_an_engine_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registry, "_registered", {})
    register_engine("mine", lambda samer, **options: Made(samer, options))  # type: ignore[arg-type]
    engine: Any = load_engine(str(tmp_path), engine="mine", anything=1)
    assert engine.options == {"anything": 1}
    assert "mine" in engine_names()
