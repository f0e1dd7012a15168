"""Booths: what comes next, what a side means, what is taken back."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tests.annotation.samples import ballot, ballots, ids
from tests.ballot_files import write_ballots
from urs_inspect._util import InputError
from urs_inspect.annotation._campaign import Campaign, load_ballots
from urs_inspect.annotation._votes import read_votes
from urs_inspect.discrepancy._ballots import Ballot

LONG = Ballot.between(
    "long", "q" * 5000, {"a": "long response " * 3000, "b": ""}, reference="r" * 5000
)


@solver
def idle() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return state

    return solve


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    """A finished log in which some samples have ballots, one of them over two epochs."""
    samples = [
        Sample(input="q", id="answer", metadata={"model": "apple"}),
        *(
            Sample(input="q", id=each.id, metadata={"ballot": each.to_dict()})
            for each in (*ballots(2), LONG)
        ),
    ]
    [made] = inspect_eval(
        Task(dataset=samples, solver=idle(), epochs=2),
        model="mockllm/model",
        log_dir=str(tmp_path_factory.mktemp("logs")),
        display="none",
        log_realtime=False,
    )
    assert made.status == "success"
    return made


def test_logs_and_files_give_each_ballot_once(log: EvalLog, tmp_path: Path) -> None:
    from_log = load_ballots(Path(log.location))
    assert len(from_log) == 3
    assert set(from_log) == {*ballots(2), LONG}
    write_eval_log(log, str(tmp_path / "log.json"))
    assert load_ballots(tmp_path / "log.json") == from_log
    write_ballots([ballot(3)], tmp_path / "ballots.jsonl")
    assert load_ballots(tmp_path / "ballots.jsonl") == (ballot(3),)


def without_ballots(log: EvalLog) -> EvalLog:
    return log.model_copy(
        update={"samples": [each for each in log.samples or [] if each.id == "answer"]}
    )


def with_a_bad_ballot(log: EvalLog) -> EvalLog:
    samples = [each.model_copy(deep=True) for each in log.samples or []]
    next(each for each in samples if each.id == ballot(0).id).metadata["ballot"]["model_a"] = (
        "zebra"
    )
    return log.model_copy(update={"samples": samples})


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            lambda log: log.model_copy(update={"status": "cancelled"}),
            "its status is 'cancelled'; finish it with",
        ),
        (without_ballots, "no sample has a comparison; they are in logs of the task mad"),
        (with_a_bad_ballot, f"sample {ballot(0).id}: model_a must be the one that sorts first"),
    ],
)
def test_a_log_without_good_ballots_is_refused(
    log: EvalLog, tmp_path: Path, changed: Callable[[EvalLog], EvalLog], words: str
) -> None:
    write_eval_log(changed(log), str(tmp_path / "log.eval"))
    with pytest.raises(InputError, match=rf"log\.eval: {words}"):
        load_ballots(tmp_path / "log.eval")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.eval", None, "no file '.*none.eval'"),
        ("votes.csv", "a,b\n", r"read '\.csv'.*allowed: \.eval, \.json, \.jsonl"),
        ("broken.eval", "not a zip", "log '.*broken.eval'"),
        ("other.json", json.dumps([1]), "log '.*other.json'"),
        ("empty.jsonl", "", "no ballot.*JSON"),
    ],
)
def test_what_is_no_source_of_ballots_is_one_line(
    tmp_path: Path, name: str, content: str | None, words: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(InputError, match=words):
        load_ballots(tmp_path / name)


def test_ballots_come_one_by_one_until_all_are_done(tmp_path: Path) -> None:
    campaign = Campaign(ballots(3), tmp_path, ["me"])
    session = campaign.session("me")
    for number, expected in enumerate(ballots(3)):
        assert (session.current, session.done) == (expected, number)
        session.cast(expected.id, "tie", 1.0)
        assert session.last == expected.id
    assert (session.current, session.done) == (None, 3)
    campaign.close()


def test_a_side_becomes_the_response_that_stood_there(tmp_path: Path) -> None:
    campaign = Campaign(ballots(40), tmp_path, ["me"])
    session = campaign.session("me")
    for each in ballots(40):
        session.cast(each.id, "left", 1.0)
    assert {vote.left for vote in session.store.events.values()} == {"a", "b"}
    assert all(
        vote.choice == vote.left == session.left(vote.ballot)
        for vote in session.store.events.values()
    )
    for each in ballots(40):
        session.cast(each.id, "right", 1.0)
    assert all({vote.choice, vote.left} == {"a", "b"} for vote in session.store.events.values())
    campaign.close()


def test_an_undo_brings_the_ballot_back_and_twice_does_no_harm(tmp_path: Path) -> None:
    campaign = Campaign(ballots(3), tmp_path, ["me"])
    session = campaign.session("me")
    first, second, third = ids(ballots(3))
    session.cast(first, "left", 1.0)
    session.cast(second, "left", 1.0)
    session.undo(second)
    session.undo(second)
    assert (session.current, session.last, session.done) == (ballot(1), first, 1)
    session.cast(second, "right", 1.0)
    session.cast(third, "tie", 1.0)
    assert session.store.path.read_text("utf-8").count("undo") == 1
    # One before the last: it comes back although others are open as well.
    session.undo(third)
    session.undo(first)
    assert session.current == ballot(0)
    session.undo(second)
    assert session.current == ballot(1)
    campaign.close()
    [kept] = [Campaign(ballots(3), tmp_path, ["me"]).session("me")]
    assert (kept.done, kept.last, kept.current) == (0, None, ballot(0))
    kept.store.close()


def test_unknown_ballots_are_refused_and_old_votes_kept(tmp_path: Path) -> None:
    old = Campaign([ballot(99)], tmp_path, ["me"])
    old.session("me").cast(ballot(99).id, "left", 1.0)
    old.close()
    campaign = Campaign(ballots(2), tmp_path, ["me"])
    session = campaign.session("me")
    assert (session.done, session.elsewhere, session.last) == (0, 1, None)
    for action in (
        lambda: session.cast(ballot(99).id, "left", 1.0),
        lambda: session.undo("nonsense"),
    ):
        with pytest.raises(InputError, match=r"no ballot '.*' here"):
            action()
    found, reading = campaign.report()
    assert (found.votes, len(reading.votes)) == (0, 1)
    campaign.close()
    assert [vote.ballot for vote in read_votes([session.store.path]).votes] == [ballot(99).id]


def test_two_people_have_sessions_of_their_own(tmp_path: Path) -> None:
    campaign = Campaign(ballots(12), tmp_path, ["me", "you"], shuffled=True)
    mine, yours = campaign.session("me"), campaign.session("you")
    assert ids(mine.items) != ids(yours.items)
    assert set(mine.items) == set(yours.items)
    mine.cast(ballot(0).id, "tie", 1.0)
    yours.cast(ballot(0).id, "tie", 1.0)
    yours.cast(ballot(1).id, "cannot_tell", 1.0)
    assert (mine.done, yours.done) == (1, 2)
    found, _ = campaign.report()
    assert (found.votes, found.compared, found.most_chosen.value) == (3, 1, 1.0)
    campaign.close()


def test_only_those_named_may_vote_and_if_one_file_is_in_use_no_other_stays_locked(
    tmp_path: Path,
) -> None:
    first = Campaign(ballots(1), tmp_path, ["you"])
    with pytest.raises(InputError, match=r"annotator 'me'.*allowed: you"):
        first.session("me")
    assert [path.name for path in tmp_path.iterdir()] == ["you.jsonl"]
    with pytest.raises(InputError, match="in use"):
        Campaign(ballots(1), tmp_path, ["me", "you"])
    Campaign(ballots(1), tmp_path, ["me"]).close()
    first.close()


def test_a_folder_is_refused_with_the_logs_in_it(tmp_path: Path) -> None:
    (tmp_path / "one.eval").touch()
    with pytest.raises(InputError, match=r"folder.*one\.eval"):
        load_ballots(tmp_path)
