"""Exports: a plain Llama beside its heads, nothing lost, no half of one, and the cache of them."""

import json
import os
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from tests.samer.checkpoints import Shape, change_json, tiny_checkpoint
from tests.samer.conftest import SMALL
from urs_inspect._util import InputError
from urs_inspect.samer import _export as export_module
from urs_inspect.samer._checkpoint import fingerprint
from urs_inspect.samer._checkpoint_check import check_checkpoint, open_checkpoint
from urs_inspect.samer._evaluation import HEAD_NAMES, save_heads
from urs_inspect.samer._export import (
    HEADS_NAME,
    assemble_checkpoint,
    export_checkpoint,
    exported_folder,
)
from urs_inspect.samer._weights import INDEX, find_weights, read_header, write_tensors


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("shards", [1, 3, 5])
def test_every_tensor_arrives_bit_by_bit(tmp_path: Path, shards: int, dtype: str) -> None:
    source = tiny_checkpoint(tmp_path / "in", inner_widths=SMALL, shards=shards, dtype=dtype)
    done = export_checkpoint(source, tmp_path / "out")
    before, after = open_checkpoint(source), open_checkpoint(done.folder)
    assert (before.layout, after.layout) == ("released", "exported")
    kept = {name for name in before.weights.entries if name.startswith("model.")}
    assert set(after.weights.entries) == kept
    for name in kept:
        old, new = before.weights.entries[name], after.weights.entries[name]
        assert (old.dtype, old.shape) == (new.dtype, new.shape)
        np.testing.assert_array_equal(before.weights.read(name), after.weights.read(name))
    for name, array in before.heads().tensors.items():
        np.testing.assert_array_equal(after.heads().tensors[name], array)
    with_backbone = {
        before.weights.files[name] for name in kept
    }  # a file of heads alone is left out
    assert set(after.weights.names) == with_backbone
    assert (len(with_backbone) < shards) == (shards > 1)


def test_the_folder_is_what_stock_vllm_loads(released: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()  # an empty one is used
    done = export_checkpoint(released, tmp_path / "out")
    config = json.loads((done.folder / "config.json").read_text(encoding="utf-8"))
    assert config["architectures"] == ["LlamaModel"]
    assert config["hidden_size"] == 64
    beside = [name for path in done.folder.glob("*.safetensors") for name in read_header(path)]
    assert len(beside) == 20
    assert not any(name.startswith("score.") for name in beside)
    assert done.heads == done.folder / "samer_heads" / "heads.safetensors"
    assert not (done.folder / "model.safetensors").samefile(released / "model.safetensors")
    assert check_checkpoint(done.folder).errors == []
    assert done.folder.stat().st_mode & 0o777 == 0o755


def test_only_the_file_with_heads_takes_room(small: Path, tmp_path: Path) -> None:
    done = export_checkpoint(small, tmp_path / "out")
    weights = open_checkpoint(small).weights
    with_heads = {weights.files[name] for name in HEAD_NAMES}
    after = open_checkpoint(done.folder).weights.names
    assert with_heads & {*after}
    for name in after:
        assert (done.folder / name).samefile(small / name) is (name not in with_heads)
    index = json.loads((done.folder / INDEX).read_text(encoding="utf-8"))
    sizes = [entry.size for entry in open_checkpoint(done.folder).weights.entries.values()]
    assert index["metadata"]["total_size"] == sum(sizes)


def test_without_links_files_are_copied(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("link", "symlink"):
        monkeypatch.setattr(os, kind, Mock(side_effect=OSError("no links here")))
    done = export_checkpoint(small, tmp_path / "out")
    with_heads = {open_checkpoint(small).weights.files[name] for name in HEAD_NAMES}
    copied = {*open_checkpoint(done.folder).weights.names} - with_heads
    assert copied
    for name in copied:
        assert (done.folder / name).read_bytes() == (small / name).read_bytes()
        assert not (done.folder / name).samefile(small / name)


def test_a_source_of_links_is_linked_to_the_files_themselves(small: Path, tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    hub.mkdir()
    for path in small.iterdir():
        (hub / path.name).symlink_to(path)
    done = export_checkpoint(hub, tmp_path / "out")
    shutil.rmtree(hub)
    assert check_checkpoint(done.folder).errors == []


def test_code_and_training_state_stay_behind(copied: Callable[[str], Path], tmp_path: Path) -> None:
    source = copied("in")
    change_json(source / "config.json", auto_map={"AutoModel": "evil.py"})
    for name in ("evil.py", "training_args.bin", "optimizer.pt"):
        (source / name).write_text("x", encoding="utf-8")
    done = export_checkpoint(source, tmp_path / "out")
    assert {path.suffix for path in done.folder.iterdir()} == {".json", ".safetensors", ""}
    assert "auto_map" not in json.loads((done.folder / "config.json").read_text(encoding="utf-8"))


def test_companions_are_copies_that_later_changes_of_the_source_do_not_reach(
    copied: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = copied("in")
    monkeypatch.setenv("HOME", str(tmp_path))
    done = export_checkpoint("~/in", "~/deep/er/out")
    assert done.folder == tmp_path / "deep" / "er" / "out"
    companions = [path for path in done.folder.glob("*.json") if path.name != "config.json"]
    tokenizer = (source / "tokenizer.json").read_bytes()
    assert (done.folder / "tokenizer.json").read_bytes() == tokenizer
    assert len(companions) >= 2
    for path in companions:
        assert path.stat().st_nlink == 1 and not path.is_symlink()


def trained(folder: Path, source: Path, **declared: str) -> Path:
    """Heads as training writes them beside a report."""
    folder.mkdir()
    heads = open_checkpoint(source).heads()
    save_heads(heads, folder / HEADS_NAME, metadata=declared)
    return folder


def test_heads_go_with_the_backbone_that_they_were_trained_on(
    small: Path, copied: Callable[[str], Path], tmp_path: Path
) -> None:
    """Heads that the backbone has, in its own files or in one of their own, make no difference."""
    exported = export_checkpoint(small, tmp_path / "exported").folder
    for name, backbone in (("a", small), ("b", exported)):
        mark = fingerprint(backbone, heads=False)
        heads = trained(tmp_path / name, small, backbone="x", backbone_fingerprint=mark)
        done = assemble_checkpoint(backbone, heads, tmp_path / f"made {name}")
        assert check_checkpoint(done.folder).errors == []
        assert done.declared["backbone_fingerprint"] == mark
    other = copied("other")
    change_json(other / "config.json", note="changed")
    with pytest.raises(InputError, match="another backbone"):
        assemble_checkpoint(other, tmp_path / "a", tmp_path / "again")
    declares_nothing = trained(tmp_path / "c", small)
    assert assemble_checkpoint(other, declares_nothing, tmp_path / "made c").folder.is_dir()
    no_llama = trained(tmp_path / "d", small, backbone="lexical")
    with pytest.raises(InputError, match=r"'lexical'.*no Llama"):
        assemble_checkpoint(small, no_llama, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_heads_that_do_not_fit_a_backbone_are_refused(small: Path, tmp_path: Path) -> None:
    made = {
        "3 dimensions": tiny_checkpoint(tmp_path / "few", dimensions=3, inner_widths=SMALL),
        "width 32": tiny_checkpoint(
            tmp_path / "narrow", shape=Shape(hidden=32, heads=1), inner_widths=SMALL
        ),
    }
    for number, (told, folder) in enumerate(made.items()):
        (tmp_path / str(number)).mkdir()
        file = tmp_path / str(number) / HEADS_NAME
        weights = find_weights(folder)
        write_tensors(file, {name: weights.read(name) for name in HEAD_NAMES})
        with pytest.raises(InputError, match=rf"{HEADS_NAME}: .*{told}"):
            assemble_checkpoint(small, file, tmp_path / "out")
    with pytest.raises(InputError, match=r"none: no such file.*samer train"):
        assemble_checkpoint(small, tmp_path / "none", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_target_that_holds_something_is_left_alone(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"already there.*empty folder"):
        export_checkpoint(small, out)
    assert [path.name for path in out.iterdir()] == ["mine"]
    with pytest.raises(InputError, match="already there"):
        export_checkpoint(small, out / "mine")


@pytest.mark.parametrize("step", ["_rewrite", "_write_json", "save_heads"])
def test_an_export_that_is_cut_short_leaves_nothing_and_can_run_again(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(export_module, step, Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            export_checkpoint(small, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    export_checkpoint(small, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_is_no_released_checkpoint_makes_nothing(small: Path, tmp_path: Path) -> None:
    out = export_checkpoint(small, tmp_path / "out").folder
    (tmp_path / "in").mkdir()
    for source, said in (
        (out, "exported already; expected a checkpoint as released"),
        (tmp_path / "in", "no weights"),
    ):
        with pytest.raises(InputError, match=said):
            export_checkpoint(source, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_a_released_folder_is_exported_once_until_it_changes(
    copied: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied("m")
    first = exported_folder(open_checkpoint(folder))
    made = (first / "config.json").stat().st_mtime_ns
    assert exported_folder(open_checkpoint(folder)) == first
    assert (first / "config.json").stat().st_mtime_ns == made
    assert exported_folder(open_checkpoint(first)) == first  # as it is
    change_json(folder / "config.json", note="changed")
    with monkeypatch.context() as patched, pytest.raises(InputError, match="no room"):
        patched.setattr(export_module, "save_heads", Mock(side_effect=InputError("no room")))
        exported_folder(open_checkpoint(folder))
    assert exported_folder(open_checkpoint(folder)) != first


def test_whoever_comes_second_uses_what_the_first_made(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are past the question whether it is there when the first of them is done."""
    together = threading.Barrier(2)

    def wait_and_save(*arguments: Any, **options: Any) -> None:
        together.wait(20)
        save_heads(*arguments, **options)

    monkeypatch.setattr(export_module, "save_heads", wait_and_save)
    with ThreadPoolExecutor(2) as pool:
        found = [*pool.map(lambda _: exported_folder(open_checkpoint(small)), range(2))]
    assert found[0] == found[1]
    assert open_checkpoint(found[0]).layout == "exported"
    assert [path.name for path in found[0].parent.iterdir()] == [
        found[0].name
    ]  # no half of one is left
