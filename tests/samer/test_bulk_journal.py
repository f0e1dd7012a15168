"""The journal of a bulk evaluation under kills, gaps, other inputs and models, and two processes."""

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from urs_inspect._util import InputError
from urs_inspect.samer.bulk_journal import Journal

HEADER = {"input": "abc", "rows": 3}
RESULTS = {0: {"id": "1", "text": "é"}, 1: {"id": "2"}, 2: {"id": "3"}}


def some(*rows: int) -> dict[int, dict[str, str] | None]:
    return {row: RESULTS[row] for row in rows}


def found(journal: Journal) -> dict[int, Any]:
    return dict(enumerate(journal.results()))


def test_results_come_back_in_order(tmp_path: Path) -> None:
    with Journal(tmp_path / "new" / "j", HEADER) as journal:
        journal.append(some(0, 1))
        journal.append(some(2))
    with Journal(tmp_path / "new" / "j", HEADER) as journal:
        assert (journal.done, journal.healed) == (3, False)
        assert found(journal) == RESULTS


def test_a_kill_at_any_byte_loses_at_most_the_last_line(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path, HEADER) as journal:
        journal.append(some(0, 1, 2))
    whole = path.read_bytes()
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        with Journal(path, HEADER) as journal:
            ended = whole[:size].count(b"\n")
            assert journal.done == max(0, ended - 1)
            assert journal.healed is (not whole[:size].endswith(b"\n") and size > 0)
            journal.append(some(*range(journal.done, 3)))
            assert found(journal) == RESULTS
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("other", "said"),
    [({"input": "xyz", "rows": 3}, "another input"), ({**HEADER, "bos": "double"}, "another bos"), ({}, "another in")],
)
def test_what_was_begun_with_something_else_is_refused(other: dict[str, Any], said: str, tmp_path: Path) -> None:
    with Journal(tmp_path / "j", HEADER) as journal:
        journal.append(some(0, 1, 2))
    before = (tmp_path / "j").read_bytes()
    with pytest.raises(InputError, match=said):
        Journal(tmp_path / "j", other)
    assert (tmp_path / "j").read_bytes() == before


@pytest.mark.parametrize(
    "text", ["my notes\n", "my notes", '{"a": 1}', "[1]", "[1]\n[2]\n", '{"input": "abc", "rows": 3}\n[0, {}]\n']
)
def test_another_file_is_left_alone(text: str, tmp_path: Path) -> None:
    (tmp_path / "j").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="no unfinished bulk evaluation"):
        Journal(tmp_path / "j", HEADER)
    assert (tmp_path / "j").read_text(encoding="utf-8") == text


def test_gaps_are_filled_later_and_results_stay_in_order(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", HEADER) as journal:
        journal.append({0: None, **some(1), 2: None})
        assert (journal.begun, journal.done, journal.gaps) == (3, 1, {0, 2})
        assert list(journal.results()) == [RESULTS[1]]
        journal.append({0: None, **some(2)})
        assert journal.gaps == {0}
    with Journal(tmp_path / "j", HEADER) as journal:
        assert (journal.begun, journal.done, journal.gaps) == (3, 2, {0})
        journal.append({**some(0), 3: {"id": "4"}})
        assert found(journal) == {**RESULTS, 3: {"id": "4"}}
    with Journal(tmp_path / "j", HEADER) as journal:
        assert (journal.begun, journal.gaps, found(journal)) == (4, set(), {**RESULTS, 3: {"id": "4"}})


def test_a_kill_at_any_byte_leaves_a_gap_a_gap(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path, HEADER) as journal:
        journal.append({0: None, **some(1)})
        journal.append(some(0, 2))  # `[0, ...]`, then row 2
    whole = path.read_bytes()
    ends = [len(line) for line in whole.splitlines(keepends=True)]
    assert len(ends) == 5
    states = {0: (0, 0), 1: (0, 0), 2: (1, 0), 3: (2, 1), 4: (2, 2), 5: (3, 3)}  # lines -> begun, done
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        with Journal(path, HEADER) as journal:
            assert (journal.begun, journal.done) == states[whole[:size].count(b"\n")]
            journal.append({row: RESULTS[row] for row in (*journal.gaps, *range(journal.begun, 3))})
            assert found(journal) == RESULTS


@pytest.mark.parametrize("rows", [(1,), (0, 2)])
def test_a_row_out_of_turn_is_a_fault_of_ours(rows: tuple[int, ...], tmp_path: Path) -> None:
    with Journal(tmp_path / "j", HEADER) as journal:
        with pytest.raises(ValueError, match="row"):
            journal.append(some(*rows))
        journal.append(some(0))
        with pytest.raises(ValueError, match="row 0 after 1 rows"):
            journal.append(some(0))


def test_the_numbers_of_a_probe_may_be_rounded_but_not_others(tmp_path: Path) -> None:
    # 3, 4 has length 5, of which 0.02 is 0.1.
    with Journal(tmp_path / "j", {**HEADER, "model": "http://h", "probe": [3.0, 4.0]}):
        pass
    Journal(tmp_path / "j", {**HEADER, "model": "http://h", "probe": [3.0, 4.09]}).close()
    for probe in ([3.0, 4.11], [3.1, 4.1], [3.0], [4.0, 3.0], None):
        with pytest.raises(InputError, match=r"begun with another model at http://h: its numbers for a fixed text"):
            Journal(tmp_path / "j", {**HEADER, "model": "http://h", "probe": probe})


def test_another_model_in_the_same_place_is_named(tmp_path: Path) -> None:
    headers = [
        {**HEADER, "model": "DIR", "fingerprint": files, "served": name}
        for files, name in (("a", "m"), ("b", "m"), ("b", "n"))
    ]
    said = ("its files have changed;", "the server has another name for it;")
    for (first, second), expected in zip(pairwise(headers), said, strict=True):
        path = tmp_path / str(second["served"])
        Journal(path, first).close()
        with pytest.raises(InputError, match=f"begun with another model at DIR: {expected}"):
            Journal(path, second)


def test_two_may_not_write_the_same_output(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", HEADER), pytest.raises(InputError, match="in use"):
        Journal(tmp_path / "j", HEADER)
    Journal(tmp_path / "j", HEADER).close()  # let go again


def test_a_file_system_without_locks_is_not_called_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("urs_inspect.samer.bulk_journal.lock_file", refuse)
    with pytest.raises(InputError, match=r"cannot lock '.*j': No locks available"):
        Journal(tmp_path / "j", HEADER)


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Journal(tmp_path / "j", HEADER) as journal:
        journal.append(some(0))
        before, write = journal.path.read_bytes(), os.write

        def full(descriptor: int, data: bytes) -> int:
            write(descriptor, bytes(data[:5]))
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(InputError, match="No space left on device"):
            journal.append(some(1, 2))
        assert journal.path.read_bytes() == before
        assert journal.done == 1


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        Journal(tmp_path / "file" / "j", HEADER)
