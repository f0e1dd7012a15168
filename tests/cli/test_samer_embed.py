"""`urs-inspect samer embed` and `train` with folders that are no backbone: one line each, and nothing computed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.samer.checkpoints import tiny_checkpoint
from tests.samer.conftest import SMALL
from tests.samer.stubs import pair
from tests.samer.test_checkpoint import BAD, no_heads, rename, rewrite
from urs_inspect._util import InputError
from urs_inspect.cli import main
from urs_inspect.discrepancy.vector_cache import VectorCache
from urs_inspect.samer.checkpoint_check import open_backbone
from urs_inspect.samer.training import write_training

_OF_HEADS = {
    "ArmoRM itself",
    "a plain classifier",
    "a plain Llama",
    "one weight is missing",
    "another hidden size",
    "widths that do not fit",
    "heads that differ",
    "41 dimensions",
    "NaN in a head",
}
"""Folders that lack nothing but heads; vectors can be made of them."""
_OTHERWISE = {
    "wrapped by torch.compile": "weights of the backbone are missing",
    "too small a vocabulary": r"embed_tokens.weight has shape \(270, 64\); expected \(269, 64\)",
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    write_training(path, [pair(number) for number in range(3)])
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_checkpoint(tmp_path / "model", inner_widths=SMALL, shards=3)


@pytest.mark.parametrize("name", sorted(BAD))
def test_every_bad_backbone_is_named_and_heads_make_no_difference(name: str, folder: Path) -> None:
    break_it, message = BAD[name]
    break_it(folder)
    if name in _OF_HEADS:
        open_backbone(folder)
        return
    with pytest.raises(InputError, match=_OTHERWISE.get(name, message)) as caught:
        open_backbone(folder)
    assert str(caught.value).startswith(f"backbone {folder}") and "\n" not in str(caught.value)


@pytest.mark.parametrize("command", ["embed", "train"])
def test_a_bad_backbone_is_one_line_and_nothing_is_computed(
    command: str, data: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(VectorCache, "add", lambda *_: pytest.fail("vectors were computed"))
    (folder / "tokenizer.json").unlink()
    more = ["--out", str(tmp_path / "out")] if command == "train" else []
    done = CliRunner().invoke(main, ["samer", command, str(data), "--backbone", str(folder), *more])
    assert done.exit_code == 1 and isinstance(done.exception, SystemExit)
    [line] = [line for line in done.output.splitlines() if line.strip()]
    assert line.startswith(f"Error: backbone {folder}")


def test_names_without_their_prefix_are_told(data: Path, folder: Path) -> None:
    rewrite(folder, lambda tensors: {name.removeprefix("model."): array for name, array in no_heads(tensors).items()})
    done = CliRunner().invoke(main, ["samer", "embed", str(data), "--backbone", str(folder)])
    assert done.exit_code == 1
    assert "tensor names lack 'model.'; expected model.embed_tokens.weight" in done.output


def test_a_llama_is_loaded_without_a_word(data: Path, folder: Path) -> None:
    rewrite(folder, lambda tensors: tensors | rename(tensors, "more."))
    command = [sys.executable, "-c", "from urs_inspect.cli import main; main()", "samer", "embed", str(data)]
    done = subprocess.run([*command, "--backbone", str(folder)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert [line[:16] for line in done.stdout.splitlines() if "vectors " not in line[:9]] == ["6 items computed"]


def test_biases_that_are_announced_must_be_there(data: Path, folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8")) | {"attention_bias": True}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    done = CliRunner().invoke(main, ["samer", "embed", str(data), "--backbone", str(folder)])
    assert done.exit_code == 1 and "8 weights of the backbone are missing" in done.output
