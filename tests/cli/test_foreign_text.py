"""Names of models, files and data that look like the terminal's markup are shown as they are."""

from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval

from tests.cli.conftest import Run
from tests.samer.checkpoints import tiny_checkpoint
from tests.samer.conftest import SMALL
from tests.samer.stubs import pair
from tests.tasks.scripted import Script
from urs_inspect.samer.training import write_training
from urs_inspect.tasks import urs

ODD = "[viz]x"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "[viz]"
    path.mkdir()
    monkeypatch.setenv("URS_INSPECT_CACHE_DIR", str(path / "cache"))
    monkeypatch.setenv("COLUMNS", "400")
    return path


def test_models_in_the_table(run: Run, folder: Path, tmp_path: Path) -> None:
    inspect_eval(
        urs(dataset="sample"),
        model=Script("Because.").model(ODD),
        model_roles={"grader": "urs_simulation/judge"},
        log_dir=str(tmp_path / "logs"),
        display="none",
        log_realtime=False,
        limit=1,
    )
    result = run("table", tmp_path / "logs")
    assert result.exit_code == 0, result.output
    assert f"mockllm/{ODD}" in result.output


def test_paths_of_data(run: Run, folder: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "data").symlink_to(data_dir)
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(folder / "data"))
    for command in ("list", "fetch", "verify"):
        result = run("data", command, *(["md_eval"] if command != "list" else []))
        assert result.exit_code == 0, result.output
        assert str(folder / "data") in result.output


def test_paths_of_vectors_heads_and_pairs(run: Run, folder: Path) -> None:
    write_training(folder / "pairs.jsonl", [pair(number) for number in range(10)])
    backbone = tiny_checkpoint(folder / "llama", inner_widths=SMALL)
    common = ("samer", "train", folder / "pairs.jsonl", "--narrowing", "64", "--held-out", "0", "--epochs", "1")
    assert str(folder / "cache") in run("samer", "embed", folder / "pairs.jsonl", "--backbone", backbone).output
    trained = run(*common, "--out", folder / "out", "--backbone", backbone)
    assert trained.exit_code == 0 and f"in {folder / 'out'};" in trained.output and str(backbone) in trained.output
    assembled = run("samer", "assemble", backbone, folder / "out", folder / "model")
    assert f"backbone:  {folder / 'model'}" in assembled.output
    refused = run(*common, "--out", folder / "out")
    assert refused.exit_code == 1 and f"{folder / 'out'}: already there" in refused.output
