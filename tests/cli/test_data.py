"""`urs-inspect data`."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from urs_inspect.datasets import SOURCES, URS
from urs_inspect.datasets.sources import sha256_of

UNVERIFIED = SOURCES["llmbar/Manual"]
BY_HAND = SOURCES["flask"]


def test_list_names_address_hash_and_licence(run: Run) -> None:
    result = run("data", "list")
    assert result.exit_code == 0
    for fact in (URS.name, URS.url, URS.sha256, URS.licence, "here:    no"):
        assert fact in result.output


def test_list_shows_which_hash_is_not_known_and_which_file_has_no_address(run: Run) -> None:
    blocks = run("data", "list").output.split("\n  licence: ")
    [unverified] = [block for block in blocks if UNVERIFIED.name in block]
    [by_hand] = [block for block in blocks if f"\n{BY_HAND.name}\n" in block]
    for block in (unverified, by_hand):
        assert "  here:    no" in block
        assert "  sha256:  hash not known" in block
    assert f"  address: {UNVERIFIED.url}" in unverified
    assert f"  address: none pinned; {BY_HAND.instead}" in by_hand
    assert len(blocks) == len(SOURCES) + 1


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


def test_verify_hashes_a_copy_that_it_cannot_check_and_says_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(tmp_path / "mine"))
    for source in (UNVERIFIED, BY_HAND):
        copy = tmp_path / "mine" / source.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text("something")
        result = run("data", "verify", source.name)
        assert result.exit_code == 0
        assert result.output == f"{source.name}: here, hash not known: {copy} has sha256 {sha256_of(copy)}\n"


def test_verify_fails_for_a_missing_file_without_an_address_and_says_where_it_is(run: Run) -> None:
    result = run("data", "verify", BY_HAND.name)
    assert result.exit_code == 1
    assert result.output == f"{BY_HAND.name}: not here; {BY_HAND.instead}\n"


def test_without_names_only_files_with_an_address_are_fetched_and_verified(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["urs_inspect.cli.data"]  # its name in the package is that of the command
    monkeypatch.setattr(module, "SOURCES", {"a": UNVERIFIED, "b": BY_HAND})
    copy = tmp_path / "cache" / UNVERIFIED.path
    copy.parent.mkdir(parents=True)
    copy.write_text("something")
    assert run("data", "fetch").output == f"{UNVERIFIED.name}: {copy}\n"
    assert run("data", "verify").exit_code == 0


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
