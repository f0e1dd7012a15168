"""The cache of exports that stock vLLM needs."""

import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.samer.test_checkpoint import change_json
from urs_inspect._util import InputError
from urs_inspect.samer import export
from urs_inspect.samer.checkpoint import open_checkpoint
from urs_inspect.samer.engines.openers import exported_folder, make_plugin, make_server
from urs_inspect.samer.export import export_checkpoint
from urs_inspect.samer.heads import save_heads


def test_a_released_folder_is_exported_once(small: Path) -> None:
    first = exported_folder(open_checkpoint(small))
    made = (first / "config.json").stat().st_mtime_ns
    assert exported_folder(open_checkpoint(small)) == first
    assert (first / "config.json").stat().st_mtime_ns == made
    assert open_checkpoint(first).layout == "exported"


def test_whoever_comes_second_uses_what_the_first_made(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are past the question whether it is there when the first of them is done."""
    together = threading.Barrier(2)

    def wait_and_save(*arguments: Any, **options: Any) -> None:
        together.wait(20)
        save_heads(*arguments, **options)

    monkeypatch.setattr(export, "save_heads", wait_and_save)
    with ThreadPoolExecutor(2) as pool:
        found = [*pool.map(lambda _: exported_folder(open_checkpoint(small)), range(2))]
    assert found[0] == found[1]
    assert open_checkpoint(found[0]).layout == "exported"
    assert [path.name for path in found[0].parent.iterdir()] == [found[0].name]  # no half of one is left


def test_processes_that_start_together_share_one_export(small: Path) -> None:
    script = (
        "import sys\n"
        "from urs_inspect.samer.checkpoint import open_checkpoint\n"
        "from urs_inspect.samer.engines.openers import exported_folder\n"
        "checkpoint = open_checkpoint(sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "print(exported_folder(checkpoint))"
    )
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", script, str(small)]
    started = [subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for _ in range(4)]
    for process in started:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=60) for process in started]
    assert [process.returncode for process in started] == [0] * 4, outputs
    [folder] = {Path(out.strip()) for out, _ in outputs}
    assert open_checkpoint(folder).layout == "exported"
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_an_export_that_fails_is_still_a_fault(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise InputError("no room")

    monkeypatch.setattr(export, "save_heads", full)
    with pytest.raises(InputError, match="no room"):
        exported_folder(open_checkpoint(small))


def test_a_folder_that_changes_is_exported_anew(copied: Callable[[str], Path]) -> None:
    folder = copied("m")
    first = exported_folder(open_checkpoint(folder))
    change_json(folder / "config.json", note="changed")
    assert exported_folder(open_checkpoint(folder)) != first


def test_an_exported_folder_is_taken_as_it_is(small: Path, tmp_path: Path) -> None:
    export_checkpoint(small, tmp_path / "out")
    assert exported_folder(open_checkpoint(tmp_path / "out")) == tmp_path / "out"


def test_the_plugin_wants_a_released_folder(small: Path, tmp_path: Path) -> None:
    export_checkpoint(small, tmp_path / "out")
    with pytest.raises(InputError, match="engine 'plugin' expects a checkpoint as released"):
        make_plugin(str(tmp_path / "out"))


def test_a_length_for_a_server_is_checked_before_it_is_called() -> None:
    with pytest.raises(InputError, match="max_length 0; expected 1 or more"):
        make_server("http://127.0.0.1:9", max_length=0)
