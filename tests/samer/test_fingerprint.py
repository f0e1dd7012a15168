"""The fingerprint of a model's folder: every byte that counts changes it, and nothing else does."""

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from tests.samer.checkpoints import tiny_checkpoint
from tests.samer.conftest import SMALL
from urs_inspect.samer import fingerprint as module
from urs_inspect.samer.export import export_checkpoint
from urs_inspect.samer.fingerprint import cache_folder, fingerprint


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint(tmp_path_factory.mktemp("model") / "m", inner_widths=SMALL, shards=3)


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def test_it_is_the_hash_of_names_and_digests(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(b"abc")
    # SHA-256 of "abc" is the example of FIPS 180-2, B.1.
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert fingerprint(tmp_path) == hashlib.sha256(f"[('config.json', '{digest}')]".encode()).hexdigest()


def test_place_and_times_do_not_count(folder: Path, copy: Path) -> None:
    for path in copy.iterdir():
        os.utime(path, (1, 1))
    (copy / "README.md").write_text("other", encoding="utf-8")
    (copy / "optimizer.bin").write_bytes(b"x")
    assert fingerprint(copy) == fingerprint(folder)


def test_any_number_of_any_file_counts(folder: Path, copy: Path) -> None:
    before = fingerprint(folder)
    for path in sorted(copy.glob("*.safetensors")):
        whole = path.read_bytes()
        for place in (len(whole) - 1, len(whole) // 2, len(whole) - len(whole) // 3):
            changed = bytearray(whole)
            changed[place] ^= 1
            times = path.stat()
            path.write_bytes(changed)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            assert fingerprint(copy) != before, (path.name, place)
        path.write_bytes(whole)
    assert fingerprint(copy) == before


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"])
def test_tokeniser_template_and_configuration_count(name: str, folder: Path, copy: Path) -> None:
    with (copy / name).open("a", encoding="utf-8") as file:
        file.write(" ")
    assert fingerprint(copy) != fingerprint(folder)


def test_heads_of_their_own_count_unless_left_out(folder: Path, tmp_path: Path) -> None:
    export_checkpoint(folder, tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "other")
    heads = tmp_path / "other" / "samer_heads" / "heads.safetensors"
    heads.write_bytes(heads.read_bytes()[:-1] + b"\x01")
    assert fingerprint(tmp_path / "one") != fingerprint(tmp_path / "other")
    assert fingerprint(tmp_path / "one", heads=False) == fingerprint(tmp_path / "other", heads=False)


def test_a_folder_without_weights_has_one_too(folder: Path, copy: Path) -> None:
    for path in copy.glob("*.safetensors"):
        path.unlink()
    assert fingerprint(copy) != fingerprint(folder)


def test_a_large_file_is_read_once_until_it_changes(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    computed = module._computed

    def compute(path: Path) -> str:
        read.append(path.name)
        return computed(path)

    monkeypatch.setattr(module, "_computed", compute)
    monkeypatch.setattr(module, "_LARGE", 1 << 12)
    monkeypatch.setattr(module, "_SETTLED", -1.0)
    first = fingerprint(copy)
    assert len([name for name in read if name.endswith("safetensors")]) == 3
    read.clear()
    assert fingerprint(copy) == first
    assert not [name for name in read if name.endswith("safetensors")]

    path, read[:] = copy / "model-00001-of-00003.safetensors", []
    whole, times = bytearray(path.read_bytes()), path.stat()
    whole[-1] ^= 1
    path.write_bytes(whole)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # as a copy that keeps times
    assert fingerprint(copy) != first
    assert path.name in read


def test_what_was_just_written_is_not_remembered(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGE", 1)
    monkeypatch.setattr(module, "_SETTLED", 3600.0)
    fingerprint(copy)
    assert not list((cache_folder() / "digests").glob("*"))
