"""People in place of a judge: ballots in a log, votes in files, and both together again."""

import json
import math
import shutil
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log, write_eval_log

from tests.tasks.commands import succeed
from tests.tasks.contests import (
    Field,
    choice,
    command,
    comparisons,
    compete,
    path_of,
    pool_file,
    rows,
    strength,
)
from urs_inspect.annotation.campaign import Campaign, load_ballots
from urs_inspect.discrepancy.ballots import Ballot
from urs_inspect.tasks import mad

K = 2
BallotLog = tuple[Path, tuple[Ballot, ...]]


@pytest.fixture(scope="module")
def awaiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log whose ballots await people."""
    folder = tmp_path_factory.mktemp("awaiting")
    roles = {"contestant": Field().roles()["contestant"]}
    log = compete(mad(str(pool_file(folder)), k=K, judge="human"), folder / "logs", roles)
    assert rows(log) == {"comparisons": 0, "unread": 0, "awaiting votes": 3 * K}
    return path_of(log)


@pytest.fixture
def ballot_log(awaiting: Path, tmp_path: Path) -> BallotLog:
    """A copy of it, and its ballots."""
    (tmp_path / "logs").mkdir()
    path = Path(shutil.copy(awaiting, tmp_path / "logs"))
    return path, load_ballots(path)


def vote(directory: Path, ballots: tuple[Ballot, ...], *people: str, leave: int = 0) -> Path:
    """Let people vote as the page does: they see sides only, and prefer the stronger answer; all but some ballots."""
    campaign = Campaign(ballots, directory)
    for person in people:
        session = campaign.session(person)
        while (one := session.current) is not None and session.done < len(ballots) - leave:
            left = session.left(one.id)
            shown = {"a": one.response_a, "b": one.response_b}
            on_left, on_right = shown[left], shown["b" if left == "a" else "a"]
            session.cast(one.id, "left" if strength(on_left) > strength(on_right) else "right", 1.5)
    campaign.close()
    return directory


def test_votes_become_a_ranking_and_scores_of_a_new_log(ballot_log: BallotLog, tmp_path: Path) -> None:
    log, ballots = ballot_log
    assert len(ballots) == 3 * K
    votes = vote(tmp_path / "votes", ballots, "ann", "bo")
    new = tmp_path / "voted.eval"

    result = command("rank", log, "--votes", votes, "--output", new)
    assert result.exit_code == 0, result.output
    assert "12 votes of 2 people on 6 of 6 ballots" in result.output
    assert f"The log with the votes as scores is {new}." in result.output

    voted = read_eval_log(str(new))
    found = rows(voted, "human_choice")
    assert list(found)[:3] == ["mockllm/ace", "mockllm/good", "mockllm/poor"]
    assert (found["comparisons"], found["awaiting votes"]) == (6, 0)
    assert voted.results is not None
    assert voted.results.scores[0].name == "human_choice"  # so that people's ratings are the headline
    before = read_eval_log(str(log))
    assert voted.eval.model_roles == before.eval.model_roles
    assert before.samples and "human_choice" not in (before.samples[-1].scores or {})
    assert command("rank", new).stderr == (
        f"{new}: people's choices count (human_choice), a judge's verdicts in it do not\n"
    )
    facts = choice(comparisons(voted)[0], "human_choice").metadata or {}
    assert facts["votes"] == {"a": 2, "tie": 0, "b": 0, "cannot_tell": 0}


def test_a_judge_s_run_over_the_same_answers_corrects_people_s_votes(ballot_log: BallotLog, tmp_path: Path) -> None:
    log, _ = ballot_log
    judge = path_of(compete(mad(responses=str(log), k=6, judge="baseline/longest"), tmp_path / "second", None))
    more = path_of(compete(mad(responses=str(log), k=6, judge="human"), tmp_path / "first", None))
    votes = vote(tmp_path / "votes", load_ballots(more), "ann", leave=4)
    result = command("rank", more, "--votes", votes, "--judge", judge, "--json")
    assert result.exit_code == 0, result.output
    corrected = json.loads(result.stdout)["corrected"]
    assert (corrected["votes"], corrected["verdicts"], corrected["both"]) == (14, 18, 14)
    assert corrected["agreement"] == 1  # the stronger answer is the longer one here
    assert corrected["judges"] == ["baseline/longest"]


def test_votes_of_an_earlier_run_stand_when_a_model_joins(tmp_path: Path) -> None:
    pool = pool_file(tmp_path)
    two = Field("ace", "good")
    first = compete(mad(str(pool), k=K, judge="human"), tmp_path / "first", {"contestant": two.roles()["contestant"]})
    log = path_of(first)
    voted = tmp_path / "voted.eval"
    votes = vote(tmp_path / "votes", load_ballots(log), "ann")
    assert command("rank", log, "--votes", votes, "--output", voted).exit_code == 0

    task = mad(responses=str(log), previous=str(voted), k=K, judge="human")
    second = compete(task, tmp_path / "second", {"contestant": Field("poor").roles()["contestant"]})
    report = rows(second)
    assert (report["comparisons"], report["awaiting votes"]) == (K, 2 * K)
    joined = path_of(second)
    fresh = tuple(one for one in load_ballots(joined) if "mockllm/poor" in (one.model_a, one.model_b))
    more = vote(tmp_path / "more", fresh, "bo")
    everything = tmp_path / "everything.eval"
    assert command("rank", joined, "--votes", more, "--output", everything).exit_code == 0
    found = rows(read_eval_log(str(everything)), "human_choice")
    assert list(found)[:3] == ["mockllm/ace", "mockllm/good", "mockllm/poor"]
    assert (found["comparisons"], found["awaiting votes"]) == (3 * K, 0)
    # What was taken over counts once, although three of these logs hold it.
    assert json.loads(command("rank", voted, everything, "--json").stdout)["battles"] == 3 * K


def test_inspect_score_attaches_votes_as_well(ballot_log: BallotLog, tmp_path: Path) -> None:
    log, ballots = ballot_log
    votes = vote(tmp_path / "votes", ballots, "ann", "bo")
    new = tmp_path / "scored.eval"
    named = ",".join(str(file) for file in sorted(votes.glob("*.jsonl")))
    succeed(
        *("score", str(log), "--scorer", "urs_inspect/human_choice", "-S", f"votes={named}"),
        *("--action", "append", "--output-file", str(new), "--display", "plain"),
        tmp_path=tmp_path,
    )
    assert rows(read_eval_log(str(new)), "human_choice")["comparisons"] == 6


def test_a_contestant_of_a_provider_without_a_key_is_no_obstacle(
    ballot_log: BallotLog, tmp_path: Path, monkeypatch
) -> None:
    log, ballots = ballot_log
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    changed = read_eval_log(str(log))
    assert changed.eval.model_roles is not None
    config = changed.eval.model_roles["contestant"]
    [*models] = config if isinstance(config, list) else [config]
    changed.eval.model_roles["grader"] = models[0].model_copy(update={"model": "openai/gpt-4o"})
    keyless = tmp_path / "keyless.eval"
    write_eval_log(changed, str(keyless))
    new = tmp_path / "voted.eval"
    result = command("rank", keyless, "--votes", vote(tmp_path / "votes", ballots, "ann"), "--output", new)
    assert result.exit_code == 0, result.output
    assert read_eval_log(str(new)).eval.model_roles == changed.eval.model_roles


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["LOG", "--output", "new.eval"], "output: needs one log of mad, and votes about its ballots"),
        (["LOG", "LOG", "--votes", "VOTES", "--output", "new.eval"], "output: needs one log of mad"),
        (["LOG", "--votes", "VOTES", "--output", "new.csv"], "output: must be the name of a .eval or .json file"),
        (["LOG", "--votes", "VOTES", "--output", "LOG"], "output: there is a file"),
        (["LOG", "--votes", "VOTES", "--output", "no/such/new.eval"], "output: no folder"),
        (["LOG", "--votes", "none.jsonl", "--output", "new.eval"], "no file 'none.jsonl' with votes"),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_line(ballot_log, tmp_path, arguments, said, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    log, ballots = ballot_log
    votes = vote(tmp_path / "votes", ballots, "ann")
    before = log.read_bytes()
    result = command("rank", *[{"LOG": log, "VOTES": votes}.get(one, one) for one in arguments])
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert said in result.output
    assert result.output.count("\n") == 1
    assert log.read_bytes() == before
    assert not (tmp_path / "new.eval").exists()


def test_ballots_without_votes_still_await_them_and_who_cannot_tell_decides_nothing(
    ballot_log: BallotLog, tmp_path: Path
) -> None:
    log, ballots = ballot_log
    campaign = Campaign(ballots, tmp_path / "votes")
    session = campaign.session("ann")
    session.cast(ballots[0].id, "cannot_tell", 1.0)
    session.cast(ballots[1].id, "tie", 1.0)
    campaign.close()
    new = tmp_path / "voted.eval"
    assert command("rank", log, "--votes", tmp_path / "votes", "--output", new).exit_code == 0
    voted = read_eval_log(str(new))
    found = rows(voted, "human_choice")
    assert (found["comparisons"], found["awaiting votes"]) == (1, 5)
    scores = {sample.metadata["ballot"]["id"]: choice(sample, "human_choice") for sample in comparisons(voted)}
    undecided, tie = (scores[ballot.id] for ballot in ballots[:2])
    assert isinstance(undecided.value, dict) and isinstance(tie.value, dict)
    assert math.isnan(float(undecided.value["outcome"])) and tie.value["outcome"] == 0.5
    assert undecided.explanation == "Everybody who voted could not tell."
