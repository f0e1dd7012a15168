"""`urs-inspect data`."""

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Said
from tests.reports.mad_logs import answered, write_answer_log
from tests.telling import tells
from urs_inspect.datasets import SOURCES, URS
from urs_inspect.datasets._sources import sha256_of

FLASK = SOURCES["flask"]


def verify(run: Run, name: str, code: int) -> str:
    result = run("data", "verify", *name.split())
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's directory of data, with files that are others than the published ones."""
    folder = tmp_path / "mine"
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(folder))
    for source in (URS, FLASK):
        (folder / source.path).parent.mkdir(parents=True, exist_ok=True)
        (folder / source.path).write_text('[{"instruction": "Why?"}]')
    return folder


def test_what_is_not_here_is_listed_and_how_to_get_it(run: Run) -> None:
    output = run("data", "list").output
    for fact in (
        URS.name,
        URS.url,
        URS.sha256,
        URS.licence,
        "here:    no",
        f"git id {FLASK.git_id}",
    ):
        assert fact in output
    assert "urs-inspect data fetch urs" in verify(run, "", 1)
    assert "urs-inspect data fetch flask" in verify(run, "flask", 1)


def test_verify_fails_for_a_damaged_copy_and_shows_both_hashes(run: Run, tmp_path: Path) -> None:
    copy = tmp_path / "cache" / URS.path
    copy.parent.mkdir(parents=True)
    copy.write_text("damaged")
    output = verify(run, "urs", 1)
    assert "damaged" in output and URS.sha256 in output and sha256_of(copy) in output


def test_wrong_files_of_the_user_are_named(run: Run, mine: Path) -> None:
    assert str(mine / URS.path) in verify(run, "", 1)
    assert f"expected git id {FLASK.git_id}" in verify(run, "flask", 1)


def test_unknown_name_is_refused_with_those_that_exist(refused: Said) -> None:
    assert "unknown data 'nothing'; allowed: urs" in refused("data", "fetch", "nothing")


def test_the_name_of_a_label_set_stands_for_its_parts(run: Run) -> None:
    shown = verify(run, "judge_bench", 1)
    assert shown.count("judge_bench: 0 of 2 files intact") == 1
    assert shown.count("judge_bench/gpt-4o-2024-05-13: not here") == 1
    assert shown.count("judge_bench/claude-3-5-sonnet-20240620: not here") == 1
    assert "critique_llm" not in shown


@pytest.mark.data
def test_a_set_has_one_line_and_each_wrong_file_its_own(
    run: Run, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [source for source in SOURCES.values() if source.name.startswith("case_study/")]
    for source in sources:
        copy = tmp_path / source.path
        copy.parent.mkdir(parents=True)
        shutil.copy(data_dir / source.path, copy)
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(tmp_path))
    assert verify(run, "case_study", 0) == "case_study: 5 of 5 files intact\n"
    (tmp_path / sources[2].path).unlink()
    lines = verify(run, "case_study", 1).splitlines()
    assert lines[0] == "case_study: 4 of 5 files intact"
    assert [line.partition(": ")[0] for line in lines[1:]] == [sources[2].name]


@pytest.mark.data
def test_fetch_takes_what_is_there(run: Run, data_dir: Path) -> None:
    output = run("data", "fetch", "urs", "md_eval").output
    for source in (URS, SOURCES["md_eval"]):
        assert str(data_dir / source.path) in output
    verify(run, "urs md_eval", 0)


@pytest.mark.data
def test_a_copy_in_the_cache_is_intact(
    run: Run, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("URS_INSPECT_DATA_DIR")
    copy = tmp_path / "cache" / URS.path
    copy.parent.mkdir(parents=True)
    shutil.copy(data_dir / URS.path, copy)
    assert f"intact: {copy}" in verify(run, "urs", 0)


def test_references_of_logs_with_odd_names_are_said_to_the_letter(
    said: Said, tmp_path: Path
) -> None:
    log = write_answer_log(tmp_path / "in[a].eval", "lab/[m]", answered("q[1]", "So."))
    write_answer_log(
        tmp_path / "out[b].eval", "lab/x", answered("q", "So."), status="error", eval_id="b"
    )
    odd = answered("cut[c]", "half")
    odd.output.choices[0].stop_reason = "max_tokens"
    write_answer_log(
        tmp_path / "late[d].eval", "lab/[m]", odd, created="2026-02-01T00:00:00", eval_id="d"
    )
    file = tmp_path / "refs[e].jsonl"
    output = said("references", tmp_path, "-o", file)
    assert tells(output, f"1 reference by lab/[m] is in {file}")
    assert "out[b].eval" in output
    assert tells(output, "1 (cut[c]) ... --max-tokens")
    assert log.name not in output
