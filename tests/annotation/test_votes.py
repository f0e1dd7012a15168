"""Tests of `urs_inspect.annotation._votes`."""

import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.annotation.samples import ballots, ids
from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.annotation._votes import (
    Vote,
    VoteStore,
    annotator_name,
    left_side,
    now,
    own_order,
    parse_line,
    read_votes,
)

EARLY, LATE = "2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00"


def undo_of(ballot: str, annotator: str, time: str = "") -> Vote:
    return Vote(ballot, annotator, "a", time=time, undone=True)


def write(path: Path, *events: Vote | str) -> Path:
    lines = [event if isinstance(event, str) else event.to_line() for event in events]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


@given(
    ballot=st.text(min_size=1, max_size=40).filter(lambda text: text.isprintable()),
    choice=st.sampled_from(["a", "b", "tie", "cannot_tell"]),
    left=st.sampled_from(["a", "b", None]),
    seconds=st.floats(0, 1e6).map(lambda value: round(value, 2)),
)
def test_a_vote_comes_back_from_its_line(ballot, choice, left, seconds) -> None:
    vote = Vote(ballot, "小明", choice, left, seconds, now())
    assert "\n" not in vote.to_line()
    assert parse_line(vote.to_line().encode()) == vote


def test_the_line_has_the_published_keys() -> None:
    vote = {
        "ballot": "id",
        "annotator": "me",
        "choice": "a",
        "left": "b",
        "seconds": 1.23,
        "time": EARLY,
    }
    assert json.loads(Vote("id", "me", "a", "b", 1.234, EARLY).to_line()) == vote
    undo = {"ballot": "id", "annotator": "me", "undo": True, "time": EARLY}
    assert json.loads(undo_of("id", "me", EARLY).to_line()) == undo


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "not JSON"),
        (b"3", "not a JSON object"),
        (b'{"annotator": "me", "choice": "a"}', "ballot.*text"),
        (b'{"ballot": "x", "annotator": "", "choice": "a"}', "annotator.*text"),
        (
            b'{"ballot": "x", "annotator": "me", "choice": "left"}',
            "choice.*a, b, tie, cannot_tell",
        ),
        (b'{"ballot": "x", "annotator": "me", "choice": ["a"]}', "choice.*one of"),
        (
            b'{"ballot": "x", "annotator": "me", "choice": "a", "left": "left"}',
            "left.*a or b",
        ),
        (b"\xff", "not UTF-8"),
        (b"[" * 9_000, "not readable as JSON"),
        (b" " * 10_001, "longer than 10000 bytes"),
    ],
)
def test_a_line_that_is_no_vote_says_why(line: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_line(line)


@pytest.mark.parametrize("seconds", ["null", '"3"', "true", "1e999", "-Infinity", "1" + "0" * 400])
def test_odd_seconds_do_not_cost_the_vote(seconds: str) -> None:
    vote = parse_line(
        f'{{"ballot": "x", "annotator": "me", "choice": "b", "seconds": {seconds}}}'.encode()
    )
    assert isinstance(vote, Vote)
    assert vote.choice == "b"
    assert math.isnan(vote.seconds)


def test_the_last_line_of_a_person_about_a_ballot_counts(tmp_path: Path) -> None:
    path = write(
        tmp_path / "votes.jsonl",
        Vote("x", "me", "a"),
        Vote("x", "you", "tie"),
        Vote("y", "me", "b"),
        Vote("x", "me", "b"),
        undo_of("y", "me"),
        Vote("z", "me", "a"),
        undo_of("z", "me"),
        Vote("z", "me", "cannot_tell"),
    )
    reading = read_votes([path])
    assert {(vote.ballot, vote.annotator): vote.choice for vote in reading.votes} == {
        ("x", "me"): "b",
        ("x", "you"): "tie",
        ("z", "me"): "cannot_tell",
    }
    # Six votes were cast: three count, y was taken back, and the first ones about x and z were
    # replaced.
    assert (reading.undone, reading.replaced, reading.errors) == (1, 2, ())


X_EARLY, X_LATE = Vote("x", "me", "a", time=EARLY), Vote("x", "me", "b", time=LATE)
AT_FIRST, THEN = (
    (X_EARLY, Vote("y", "me", "a", time=EARLY)),
    (X_LATE, undo_of("y", "me", time=LATE)),
)
ONE, OTHER = (Vote("x", "me", "a"),), (Vote("x", "me", "b"),)
EARLY_A, EARLY_B = (X_EARLY,), (Vote("x", "me", "b", time=EARLY),)
WITHOUT_ZONE = (Vote("x", "me", "a", time=LATE.removesuffix("+00:00")),)
LATE_ELSEWHERE = (Vote("x", "me", "a", time="2026-01-01T23:00:00-02:00"),)


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        pytest.param([AT_FIRST, THEN], "b", id="across files the later time counts"),
        pytest.param([THEN, AT_FIRST], "b", id="in any order of the files"),
        pytest.param([ONE, OTHER], "b", id="without times the file that is named later"),
        pytest.param([OTHER, ONE], "a", id="in this order as well"),
        pytest.param([EARLY_A, EARLY_B], "b", id="at the same time as well"),
        pytest.param([EARLY_B, EARLY_A], "a", id="at the same time in this order"),
        pytest.param([(X_LATE,), ONE], "a", id="and where one has no time"),
        pytest.param([WITHOUT_ZONE, EARLY_B], "b", id="or a time without a zone"),
        pytest.param([LATE_ELSEWHERE, (X_LATE,)], "a", id="times of several zones compare"),
        pytest.param(
            [(X_LATE, X_EARLY)], "a", id="within a file the last line, even if the clock went back"
        ),
    ],
)
def test_which_vote_of_a_person_counts(
    tmp_path: Path, files: list[tuple[Vote, ...]], kept: str
) -> None:
    paths = [write(tmp_path / str(number), *events) for number, events in enumerate(files)]
    assert [(vote.ballot, vote.choice) for vote in read_votes(paths).votes] == [("x", kept)]


def test_votes_of_several_files_are_counted_together(tmp_path: Path) -> None:
    first = write(tmp_path / "1", Vote("x", "me", "a"), undo_of("y", "me"), undo_of("z", "me"))
    second = write(tmp_path / "2", "?", Vote("x", "me", "b"), Vote("y", "you", "a"))
    third = write(tmp_path / "3", "!", Vote("z", "me", "tie"))
    reading = read_votes([first, second, third])
    kept = {(vote.ballot, vote.annotator): vote.choice for vote in reading.votes}
    assert kept == {("x", "me"): "b", ("y", "you"): "a", ("z", "me"): "tie"}
    assert reading.undone == 1  # that of y; z was voted on again
    assert [error.split(":")[0] for error in reading.errors] == [str(second), str(third)]


def test_a_vote_cast_twice_replaces_one(tmp_path: Path) -> None:
    paths = [write(tmp_path / str(number), Vote("x", "me", "a")) for number in range(3)]
    for many in (1, 2, 3):
        reading = read_votes(paths[:many])
        assert (len(reading.votes), reading.replaced, reading.undone) == (1, many - 1, 0)
    assert read_votes([]).votes == ()


def test_a_line_is_readable_without_a_program() -> None:
    line = Vote("题", "小明", "a").to_line()
    assert "题" in line and "小明" in line
    assert json.loads(line)["seconds"] is None  # not known, and NaN is no JSON


def test_bad_lines_are_named_and_cost_no_other_vote(tmp_path: Path) -> None:
    path = write(
        tmp_path / "votes.jsonl", Vote("x", "me", "a"), "garbage", "", Vote("y", "me", "b")
    )
    path.write_bytes(path.read_bytes() + b'{"ballot": "z", "ann')
    reading = read_votes([path])
    assert [vote.ballot for vote in reading.votes] == ["x", "y"]
    assert reading.errors == (
        Telling(f"{path}: line 2: not JSON: ... column 1"),
        Telling(f"{path}: line 5: not JSON: ... column 17"),
    )


def test_votes_about_other_ballots_are_kept_apart_and_a_missing_file_is_named(
    tmp_path: Path,
) -> None:
    reading = read_votes(
        [write(tmp_path / "votes.jsonl", Vote("x", "me", "a"), Vote("old", "me", "b"))]
    )
    known, unknown = reading.about(["x", "y"])
    assert ([vote.ballot for vote in known], [vote.ballot for vote in unknown]) == (["x"], ["old"])
    with pytest.raises(InputError, match=r"votes '.*none\.jsonl': No such"):
        read_votes([tmp_path / "none.jsonl"])


@pytest.mark.parametrize("name", ["me", "小明", "Anna-Lena", "a.b_c 2", "x" * 40, "Zoe\u0308"])
def test_names_of_people_are_allowed(name: str) -> None:
    assert annotator_name(annotator_name(name)) == annotator_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        ".",
        "..",
        "../me",
        "a/b",
        "a\\b",
        ".hidden",
        "x.",
        "x" * 41,
        "a\x00b",
        "a\nb",
        "C:",
        "~",
        "me\n",
        "<b>",
    ],
)
def test_names_that_are_paths_are_not(name: str) -> None:
    with pytest.raises(InputError, match="allowed are 1 to 40 letters"):
        annotator_name(name)


WHOLE = Vote("x", "me", "a", "a", 1.0, EARLY)


def test_votes_are_there_when_it_opens_again(tmp_path: Path) -> None:
    with VoteStore(tmp_path / "votes", "me") as store:
        for event in (
            WHOLE,
            Vote("y", "me", "tie"),
            Vote("x", "me", "b"),
            Vote("z", "me", "a"),
            undo_of("z", "me"),
        ):
            store.add(event)
        assert list(store.events) == ["y", "x"]
    with VoteStore(tmp_path / "votes", "me") as again:
        assert {ballot: vote.choice for ballot, vote in again.events.items()} == {
            "y": "tie",
            "x": "b",
        }
        assert list(again.events) == ["y", "x"]  # the last one cast is the last
        assert (again.repaired, again.errors) == ("", ())
    assert again.path.read_bytes().count(b"\n") == 5


def test_a_vote_is_on_the_disk_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bytes] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        synced.append(path.read_bytes())
        assert not store.events

    with VoteStore(tmp_path, "me") as store:
        path = store.path
        monkeypatch.setattr(os, "fsync", fsync)
        store.add(WHOLE)
        assert synced == [WHOLE.to_line().encode() + b"\n"]
        assert store.events == {"x": WHOLE}


@pytest.mark.parametrize("cut", [1, 20, len(WHOLE.to_line()) - 1])
def test_a_torn_last_line_is_moved_aside(tmp_path: Path, cut: int) -> None:
    whole = Vote("y", "me", "b").to_line().encode() + b"\n"
    torn = WHOLE.to_line().encode()[:cut]
    path = tmp_path / "me.jsonl"
    path.write_bytes(whole + torn)
    with VoteStore(tmp_path, "me") as store:
        assert "was cut off" in store.repaired
        assert store.errors == ()
        assert path.read_bytes() == whole
        assert (tmp_path / "me.jsonl.torn").read_bytes() == torn + b"\n"
        store.add(WHOLE)
        assert list(store.events) == ["y", "x"]
    assert [vote.ballot for vote in read_votes([path]).votes] == ["y", "x"]


def test_a_whole_last_line_without_a_break_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "me.jsonl"
    path.write_text(WHOLE.to_line(), "utf-8")
    with VoteStore(tmp_path, "me") as store:
        assert store.repaired == ""
        assert store.events == {"x": WHOLE}
        store.add(Vote("y", "me", "b"))
    assert [vote.ballot for vote in read_votes([path]).votes] == ["x", "y"]


def test_bad_lines_and_votes_of_others_stay_where_they_are(tmp_path: Path) -> None:
    content = f"garbage\n{Vote('x', 'you', 'a').to_line()}\n{WHOLE.to_line()}\n".encode()
    path = tmp_path / "me.jsonl"
    path.write_bytes(content)
    with VoteStore(tmp_path, "me") as store:
        assert store.errors == (Telling(f"{path}: line 1: not JSON: ... column 1"),)
        assert store.events == {"x": WHOLE}
    assert path.read_bytes() == content


@pytest.mark.parametrize("failing", ["write", "fsync"])
def test_a_full_disk_leaves_no_half_vote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
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
        assert list(store.events) == ["x"]
        store.add(Vote("y", "me", "b"))
    assert [vote.choice for vote in read_votes([store.path]).votes] == ["a", "b"]


def test_two_servers_cannot_have_one_file(tmp_path: Path) -> None:
    with VoteStore(tmp_path, "me"):
        with pytest.raises(InputError, match=r"me\.jsonl'.*in use"):
            VoteStore(tmp_path, "me")
        script = (
            "import sys; from pathlib import Path; from urs_inspect.annotation import VoteStore\n"
            "VoteStore(Path(sys.argv[1]), 'me')"
        )
        other = subprocess.run(
            [sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=False
        )
        assert tells(other.stderr, "in use")
        VoteStore(tmp_path, "you").close()
    VoteStore(tmp_path, "me").close()


def test_a_file_system_without_locks_is_not_called_another_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("urs_inspect.annotation._votes.lock_file", refuse)
    with pytest.raises(InputError, match=r"lock.*'.*me\.jsonl': No locks"):
        VoteStore(tmp_path, "me")


def test_lines_of_many_threads_do_not_mix(tmp_path: Path) -> None:
    with VoteStore(tmp_path, "me") as store, ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: store.add(Vote(f"ballot {number}", "me", "a")), range(200)))
        assert len(store.events) == 200
    reading = read_votes([store.path])
    assert (len(reading.votes), reading.errors) == (200, ())


def test_lines_appended_by_hand_are_not_overwritten(tmp_path: Path) -> None:
    with VoteStore(tmp_path, "me") as store:
        store.add(WHOLE)
        with store.path.open("a", encoding="utf-8") as file:
            file.write(Vote("by hand", "me", "b").to_line() + "\n")
        store.add(Vote("y", "me", "a"))
    assert [vote.ballot for vote in read_votes([store.path]).votes] == ["x", "by hand", "y"]


def test_a_place_that_cannot_be_written_is_named_and_a_closed_store_takes_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(InputError, match=r"cannot write.*votes"):
        VoteStore(tmp_path / "file", "me")
    with pytest.raises(InputError, match="allowed are 1 to 40"):
        VoteStore(tmp_path, "../me")
    store = VoteStore(tmp_path, "me")
    store.close()
    with pytest.raises(OSError, match="closed"):
        store.add(WHOLE)


def test_a_side_stays_the_same() -> None:
    # First bytes 3b and e8 of sha256("side\nme\n1") and of sha256("side\nme\n10"), worked out with
    # coreutils' sha256sum
    assert [left_side("me", "1"), left_side("me", "10")] == ["a", "b"]


def test_sides_are_even_and_those_of_two_people_independent() -> None:
    numbers = [str(number) for number in range(4000)]
    mine = [left_side("me", number) for number in numbers]
    same = [left_side("you", number) == side for number, side in zip(numbers, mine, strict=True)]
    # Four standard deviations of a fair coin: 4 * sqrt(4000) / 2 = 126
    for heads in (
        mine.count("a"),
        [left_side(number, "ballot") for number in numbers].count("a"),
        sum(same),
    ):
        assert abs(heads - 2000) < 126


def test_an_own_order_is_a_permutation_of_ones_own() -> None:
    given = ballots(20)
    mine, yours = own_order("me", given), own_order("you", given)
    assert set(mine) == set(yours) == set(given)
    assert mine != yours
    assert mine != given
    assert own_order("me", given[::-1]) == mine
    # Whom a ballot more comes to keeps the order of the others.
    assert [each for each in ids(own_order("me", ballots(21))) if each in ids(given)] == ids(mine)
