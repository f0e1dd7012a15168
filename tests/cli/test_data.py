"""`urs-inspect data`."""

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from urs_inspect.datasets import SOURCES, URS
from urs_inspect.datasets.sources import sha256_of


def test_list_names_address_hash_and_licence(run: Run) -> None:
    result = run("data", "list")
    assert result.exit_code == 0
    for fact in (URS.name, URS.url, URS.sha256, URS.licence, "here:    no"):
        assert fact in result.output


def test_verify_fails_when_nothing_is_here_and_says_how_to_get_it(run: Run) -> None:
    result = run("data", "verify")
    assert result.exit_code == 1
    assert "urs-inspect data fetch urs" in result.output


def test_verify_fails_for_a_damaged_copy_and_shows_both_hashes(run: Run, tmp_path: Path) -> None:
    copy = tmp_path / "cache" / URS.path
    copy.parent.mkdir(parents=True)
    copy.write_text("damaged")
    result = run("data", "verify", "urs")
    assert result.exit_code == 1
    assert "damaged" in result.output
    assert URS.sha256 in result.output


def test_verify_fails_for_a_wrong_file_of_the_user(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(tmp_path / "mine"))
    (tmp_path / "mine" / "urs").mkdir(parents=True)
    (tmp_path / "mine" / URS.path).write_text("something else")
    result = run("data", "verify")
    assert result.exit_code == 1
    assert str(tmp_path / "mine" / URS.path) in result.output


def test_unknown_name_is_refused_with_those_that_exist(run: Run) -> None:
    result = run("data", "fetch", "nothing")
    assert result.exit_code == 1
    assert "unknown data 'nothing'; allowed: urs" in result.output


@pytest.mark.data
def test_fetch_takes_what_is_there(run: Run, data_dir: Path) -> None:
    result = run("data", "fetch", "urs", "md_eval")
    assert result.exit_code == 0
    for source in (URS, SOURCES["md_eval"]):
        assert str(data_dir / source.path) in result.output
    assert run("data", "verify", "urs", "md_eval").exit_code == 0


@pytest.mark.data
def test_a_copy_in_the_cache_is_intact(
    run: Run, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("URS_INSPECT_DATA_DIR")
    copy = tmp_path / "cache" / URS.path
    copy.parent.mkdir(parents=True)
    shutil.copy(data_dir / URS.path, copy)
    result = run("data", "verify", "urs")
    assert result.exit_code == 0
    assert f"intact: {copy}" in result.output


def test_files_by_git_id_are_listed_and_verified(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(tmp_path / "mine"))
    flask, alpaca = SOURCES["flask"], SOURCES["alpaca_eval"]
    assert f"git id {flask.git_id}" in run("data", "list").output
    missing = run("data", "verify", "flask")
    assert missing.exit_code == 1
    assert "urs-inspect data fetch flask" in missing.output
    for source in (flask, alpaca):
        copy = tmp_path / "mine" / source.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text('[{"instruction": "Why?"}]')
    wrong = run("data", "verify", "flask")
    assert wrong.exit_code == 1
    assert f"expected git id {flask.git_id}" in wrong.output
    other = run("data", "verify", "alpaca_eval")
    assert other.exit_code == 0
    assert "no hash can check" in other.output
    assert sha256_of(tmp_path / "mine" / alpaca.path) in other.output
