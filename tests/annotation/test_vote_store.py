"""The votes file that a server appends to: nothing is lost but the vote in flight."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from urs_inspect.annotation.vote_store import VoteStore
from urs_inspect.annotation.votes import Undo, Vote, read_votes
from urs_inspect.errors import InputError

WHOLE = Vote("x", "me", "a", "a", 1.0, "2026-01-01T00:00:00+00:00")


def test_votes_are_there_when_it_opens_again(tmp_path: Path) -> None:
    with VoteStore(tmp_path / "votes", "me") as store:
        for event in (WHOLE, Vote("y", "me", "tie"), Vote("x", "me", "b"), Vote("z", "me", "a"), Undo("z", "me")):
            store.add(event)
        assert list(store.votes) == ["y", "x"]
    with VoteStore(tmp_path / "votes", "me") as again:
        assert {ballot: vote.choice for ballot, vote in again.votes.items()} == {"y": "tie", "x": "b"}
        assert list(again.votes) == ["y", "x"]  # the last one cast is the last
        assert (again.healed, again.faults) == ("", ())
    assert again.path.read_bytes().count(b"\n") == 5


def test_a_vote_is_on_the_disk_before_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bytes] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        synced.append(path.read_bytes())
        assert not store.votes

    with VoteStore(tmp_path, "me") as store:
        path = store.path
        monkeypatch.setattr(os, "fsync", fsync)
        store.add(WHOLE)
        assert synced == [WHOLE.to_line().encode() + b"\n"]
        assert store.votes == {"x": WHOLE}


@pytest.mark.parametrize("cut", [1, 20, len(WHOLE.to_line()) - 1])
def test_a_torn_last_line_is_moved_aside(tmp_path: Path, cut: int) -> None:
    whole = Vote("y", "me", "b").to_line().encode() + b"\n"
    torn = WHOLE.to_line().encode()[:cut]
    path = tmp_path / "me.jsonl"
    path.write_bytes(whole + torn)
    with VoteStore(tmp_path, "me") as store:
        assert "was torn" in store.healed
        assert store.faults == ()
        assert path.read_bytes() == whole
        assert (tmp_path / "me.jsonl.torn").read_bytes() == torn + b"\n"
        store.add(WHOLE)
        assert list(store.votes) == ["y", "x"]
    assert [vote.ballot for vote in read_votes([path]).votes] == ["y", "x"]


def test_a_whole_last_line_without_a_break_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "me.jsonl"
    path.write_text(WHOLE.to_line(), "utf-8")
    with VoteStore(tmp_path, "me") as store:
        assert store.healed == ""
        assert store.votes == {"x": WHOLE}
        store.add(Vote("y", "me", "b"))
    assert [vote.ballot for vote in read_votes([path]).votes] == ["x", "y"]


def test_bad_lines_and_votes_of_others_stay_where_they_are(tmp_path: Path) -> None:
    content = f"garbage\n{Vote('x', 'you', 'a').to_line()}\n{WHOLE.to_line()}\n".encode()
    path = tmp_path / "me.jsonl"
    path.write_bytes(content)
    with VoteStore(tmp_path, "me") as store:
        assert store.faults == (f"{path}: line 1: not JSON",)
        assert store.votes == {"x": WHOLE}
    assert path.read_bytes() == content


@pytest.mark.parametrize("failing", ["write", "fsync"])
def test_a_full_disk_leaves_no_half_vote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    real = os.write

    def write_half(descriptor: int, data: bytes) -> int:
        real(descriptor, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    def fail(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with VoteStore(tmp_path, "me") as store:
        store.add(WHOLE)
        before = store.path.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(os, failing, write_half if failing == "write" else fail)
            with pytest.raises(OSError, match=r"No space|Input/output"):
                store.add(Vote("y", "me", "a"))
        assert store.path.read_bytes() == before
        assert list(store.votes) == ["x"]
        store.add(Vote("y", "me", "b"))
    assert [vote.choice for vote in read_votes([store.path]).votes] == ["a", "b"]


def test_two_servers_cannot_have_one_file(tmp_path: Path) -> None:
    with VoteStore(tmp_path, "me"):
        with pytest.raises(InputError, match=r"me\.jsonl' are in use by another server"):
            VoteStore(tmp_path, "me")
        script = (
            "import sys; from pathlib import Path; from urs_inspect.annotation import VoteStore\n"
            "VoteStore(Path(sys.argv[1]), 'me')"
        )
        other = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=False)
        assert "in use by another server" in other.stderr
        VoteStore(tmp_path, "you").close()
    VoteStore(tmp_path, "me").close()


def test_a_file_system_without_locks_is_not_called_another_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("urs_inspect.annotation.vote_store.lock_file", refuse)
    with pytest.raises(InputError, match=r"cannot lock the votes '.*me\.jsonl': No locks available"):
        VoteStore(tmp_path, "me")


def test_lines_of_many_threads_do_not_mix(tmp_path: Path) -> None:
    with VoteStore(tmp_path, "me") as store:

        def cast(first: int) -> None:
            for number in range(first, first + 25):
                store.add(Vote(f"ballot {number}", "me", "a"))

        threads = [threading.Thread(target=cast, args=(100 * thread,)) for thread in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store.votes) == 200
    reading = read_votes([store.path])
    assert (len(reading.votes), reading.faults) == (200, ())


def test_lines_appended_by_hand_are_not_overwritten(tmp_path: Path) -> None:
    with VoteStore(tmp_path, "me") as store:
        store.add(WHOLE)
        with store.path.open("a", encoding="utf-8") as file:
            file.write(Vote("by hand", "me", "b").to_line() + "\n")
        store.add(Vote("y", "me", "a"))
    assert [vote.ballot for vote in read_votes([store.path]).votes] == ["x", "by hand", "y"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(InputError, match="cannot write the votes"):
        VoteStore(tmp_path / "file", "me")
    with pytest.raises(InputError, match="allowed are 1 to 40"):
        VoteStore(tmp_path, "../me")


def test_a_closed_store_takes_nothing(tmp_path: Path) -> None:
    store = VoteStore(tmp_path, "me")
    store.close()
    with pytest.raises(OSError, match="closed"):
        store.add(WHOLE)
