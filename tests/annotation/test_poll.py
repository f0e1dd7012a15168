"""Booths: what comes next, what a side means, what is taken back."""

from pathlib import Path

import pytest

from tests.annotation.samples import ballot, ballots, ids
from urs_inspect._util import InputError
from urs_inspect.annotation.poll import Poll
from urs_inspect.annotation.votes import read_votes


def test_ballots_come_one_by_one_until_all_are_done(tmp_path: Path) -> None:
    poll = Poll(ballots(3), tmp_path, ["me"])
    booth = poll.booth("me")
    for number, expected in enumerate(ballots(3)):
        assert (booth.current, booth.done) == (expected, number)
        booth.cast(expected.id, "tie", 1.0)
        assert booth.last == expected.id
    assert (booth.current, booth.done) == (None, 3)
    poll.close()


def test_a_side_becomes_the_response_that_stood_there(tmp_path: Path) -> None:
    poll = Poll(ballots(40), tmp_path, ["me"])
    booth = poll.booth("me")
    for each in ballots(40):
        booth.cast(each.id, "left", 1.0)
    assert {vote.left for vote in booth.store.votes.values()} == {"a", "b"}
    assert all(vote.choice == vote.left == booth.left(vote.ballot) for vote in booth.store.votes.values())
    for each in ballots(40):
        booth.cast(each.id, "right", 1.0)
    assert all({vote.choice, vote.left} == {"a", "b"} for vote in booth.store.votes.values())
    poll.close()


def test_an_undo_brings_the_ballot_back_and_twice_does_no_harm(tmp_path: Path) -> None:
    poll = Poll(ballots(3), tmp_path, ["me"])
    booth = poll.booth("me")
    first, second, third = ids(ballots(3))
    booth.cast(first, "left", 1.0)
    booth.cast(second, "left", 1.0)
    booth.undo(second)
    booth.undo(second)
    assert (booth.current, booth.last, booth.done) == (ballot(1), first, 1)
    booth.cast(second, "right", 1.0)
    booth.cast(third, "tie", 1.0)
    assert booth.store.path.read_text("utf-8").count("undo") == 1
    # One before the last: it comes back although others are open as well.
    booth.undo(third)
    booth.undo(first)
    assert booth.current == ballot(0)
    booth.undo(second)
    assert booth.current == ballot(1)
    poll.close()
    [kept] = [Poll(ballots(3), tmp_path, ["me"]).booth("me")]
    assert (kept.done, kept.last, kept.current) == (0, None, ballot(0))
    kept.store.close()


def test_unknown_ballots_are_refused_and_old_votes_kept(tmp_path: Path) -> None:
    old = Poll([ballot(99)], tmp_path, ["me"])
    old.booth("me").cast(ballot(99).id, "left", 1.0)
    old.close()
    poll = Poll(ballots(2), tmp_path, ["me"])
    booth = poll.booth("me")
    assert (booth.done, booth.elsewhere, booth.last) == (0, 1, None)
    for action in (lambda: booth.cast(ballot(99).id, "left", 1.0), lambda: booth.undo("nonsense")):
        with pytest.raises(InputError, match=r"no ballot '.*' here"):
            action()
    found, reading = poll.report()
    assert (found.votes, len(reading.votes)) == (0, 1)
    poll.close()
    assert [vote.ballot for vote in read_votes([booth.store.path]).votes] == [ballot(99).id]


def test_two_people_have_booths_of_their_own(tmp_path: Path) -> None:
    poll = Poll(ballots(12), tmp_path, ["me", "you"], shuffled=True)
    mine, yours = poll.booth("me"), poll.booth("you")
    assert ids(mine.ballots) != ids(yours.ballots)
    assert set(mine.ballots) == set(yours.ballots)
    mine.cast(ballot(0).id, "tie", 1.0)
    yours.cast(ballot(0).id, "tie", 1.0)
    yours.cast(ballot(1).id, "cannot_tell", 1.0)
    assert (mine.done, yours.done) == (1, 2)
    found, _ = poll.report()
    assert (found.votes, found.compared, found.most_chosen.value) == (3, 1, 1.0)
    poll.close()


def test_only_those_named_may_vote(tmp_path: Path) -> None:
    poll = Poll(ballots(1), tmp_path, ["me"])
    with pytest.raises(InputError, match="annotator 'you' may not vote here; allowed: me"):
        poll.booth("you")
    poll.close()
    assert [path.name for path in tmp_path.iterdir()] == ["me.jsonl"]


def test_if_one_file_is_in_use_no_other_stays_locked(tmp_path: Path) -> None:
    first = Poll(ballots(1), tmp_path, ["you"])
    with pytest.raises(InputError, match="in use by another server"):
        Poll(ballots(1), tmp_path, ["me", "you"])
    Poll(ballots(1), tmp_path, ["me"]).close()
    first.close()
