"""People in place of a judge: ballots in a log, votes in files or over HTTP, and rankings."""

import json
import math
import shutil
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
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
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.annotation._access import HEADER
from urs_inspect.annotation._campaign import Campaign, load_ballots, load_plan
from urs_inspect.annotation._server import create_app
from urs_inspect.annotation._vote_page import VotePage
from urs_inspect.annotation._votes import Vote
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.tasks import mad

K, MANY = 2, 6
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
    """Let people vote as the page does: they see sides only, and prefer the stronger answer; all
    but some ballots.
    """
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


def test_votes_become_a_ranking_and_scores_of_a_new_log(
    ballot_log: BallotLog, tmp_path: Path
) -> None:
    log, ballots = ballot_log
    assert len(ballots) == 3 * K
    votes = vote(tmp_path / "votes", ballots, "ann", "bo")
    new = tmp_path / "voted.eval"

    result = command("rank", "--all", log, votes, "--output", new)
    assert result.exit_code == 0, result.output
    assert tells(result.output, "12 votes of 2 people ... 6 of 6 comparisons")
    assert tells(result.output, f"Log ... scores: ... {new}")

    voted = read_eval_log(str(new))
    found = rows(voted, "human_choice")
    assert list(found)[:3] == ["mockllm/ace", "mockllm/good", "mockllm/poor"]
    assert (found["comparisons"], found["awaiting votes"]) == (6, 0)
    assert voted.results is not None
    assert (
        voted.results.scores[0].name == "human_choice"
    )  # so that people's ratings are the headline
    before = read_eval_log(str(log))
    assert voted.eval.model_roles == before.eval.model_roles
    assert before.samples and "human_choice" not in (before.samples[-1].scores or {})
    assert not command("rank", "--all", new).stderr  # no judge's verdicts are left out
    facts = choice(comparisons(voted)[0], "human_choice").metadata or {}
    assert facts["votes"] == {"a": 2, "tie": 0, "b": 0, "cannot_tell": 0}


def test_people_who_have_not_voted_yet_do_not_stop_the_ranking(
    ballot_log: BallotLog, tmp_path: Path
) -> None:
    log, ballots = ballot_log
    votes = tmp_path / "votes"
    votes.mkdir()
    (votes / "late.jsonl").touch()
    for given in (votes, votes / "late.jsonl"):
        none = command("rank", log, given)
        assert none.exit_code == 1
        assert tells(none.output, f"no votes yet ... {given}")
    vote(votes, ballots, "ann")
    (votes / "torn.jsonl").write_text('{"ballot": "b', encoding="utf-8")
    result = command("rank", "--all", log, votes)
    assert result.exit_code == 0, result.output
    assert tells(result.output, "6 votes of 1 ... 6 of 6 comparisons")


def test_votes_of_an_earlier_run_stand_when_a_model_joins(tmp_path: Path) -> None:
    pool = pool_file(tmp_path)
    two = Field("ace", "good")
    first = compete(
        mad(str(pool), k=K, judge="human"),
        tmp_path / "first",
        {"contestant": two.roles()["contestant"]},
    )
    log = path_of(first)
    voted = tmp_path / "voted.eval"
    votes = vote(tmp_path / "votes", load_ballots(log), "ann")
    assert command("rank", log, votes, "--output", voted).exit_code == 0

    task = mad(responses=str(log), previous=str(voted), k=K, judge="human")
    second = compete(task, tmp_path / "second", {"contestant": Field("poor").roles()["contestant"]})
    report = rows(second)
    assert (report["comparisons"], report["awaiting votes"]) == (K, 2 * K)
    joined = path_of(second)
    fresh = tuple(
        one for one in load_ballots(joined) if "mockllm/poor" in (one.model_a, one.model_b)
    )
    more = vote(tmp_path / "more", fresh, "bo")
    everything = tmp_path / "everything.eval"
    assert command("rank", joined, more, "--output", everything).exit_code == 0
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
    result = command("rank", keyless, vote(tmp_path / "votes", ballots, "ann"), "--output", new)
    assert result.exit_code == 0, result.output
    assert read_eval_log(str(new)).eval.model_roles == changed.eval.model_roles


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["LOG", "--output", "new.eval"],
            "output: ... one log of mad",
        ),
        (
            ["LOG", "LOG", "VOTES", "--output", "new.eval"],
            "output: ... one log of mad",
        ),
        (
            ["LOG", "VOTES", "--output", "new.csv"],
            "output: ... .eval or .json",
        ),
        (["LOG", "VOTES", "--output", "LOG"], "output: ... a file"),
        (["LOG", "VOTES", "--output", "no/such/new.eval"], "output: no folder"),
        (
            ["LOG", "none.jsonl", "--output", "new.eval"],
            "no file ... 'none.jsonl'",
        ),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_line(
    ballot_log, tmp_path, arguments, said, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log, ballots = ballot_log
    votes = vote(tmp_path / "votes", ballots, "ann")
    before = log.read_bytes()
    result = command("rank", *[{"LOG": log, "VOTES": votes}.get(one, one) for one in arguments])
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert tells(result.output, said)
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
    assert command("rank", log, tmp_path / "votes", "--output", new).exit_code == 0
    voted = read_eval_log(str(new))
    found = rows(voted, "human_choice")
    assert (found["comparisons"], found["awaiting votes"]) == (1, 5)
    scores = {
        sample.metadata["ballot"]["id"]: choice(sample, "human_choice")
        for sample in comparisons(voted)
    }
    undecided, tie = (scores[ballot.id] for ballot in ballots[:2])
    assert isinstance(undecided.value, dict) and isinstance(tie.value, dict)
    assert math.isnan(float(undecided.value["outcome"])) and tie.value["outcome"] == 0.5
    assert tells(undecided.explanation, "could not tell")


# ## An allocation, and votes through the page's API


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prior")


@pytest.fixture(scope="module")
def judged(folder: Path) -> Path:
    """A log whose judge prefers the longer answer, which here is the stronger one."""
    task = mad(str(pool_file(folder)), k=MANY, judge="baseline/longest")
    return path_of(compete(task, folder / "judge", {"contestant": Field().roles()["contestant"]}))


def vote_over_http(log: Path, directory: Path, *people: str) -> list[tuple[str, str]]:
    """Let people vote over HTTP in turn until the page serves nothing; the stronger answer wins.

    The pairs served.
    """
    ballots, served = {ballot.id: ballot for ballot in load_ballots(log)}, list[tuple[str, str]]()
    campaign = Campaign(tuple(ballots.values()), directory, people, plan=load_plan(log))
    with TestClient(create_app(VotePage(campaign)), base_url="http://127.0.0.1") as client:
        while open_ballots := [
            (person, found)
            for person in people
            if (
                found := client.get(f"/vote/{person}")
                .text.partition('data-ballot="')[2]
                .partition('"')[0]
            )
        ]:
            for person, found in open_ballots:
                ballot = ballots[found]
                better = "a" if strength(ballot.response_a) > strength(ballot.response_b) else "b"
                side = "left" if campaign.session(person).left(found) == better else "right"
                body = {"ballot": found, "choice": side, "seconds": 1.0}
                assert (
                    client.post(
                        f"/vote/{person}/cast", json=body, headers={HEADER: "1"}
                    ).status_code
                    == 200
                )
                served.append((ballot.model_a, ballot.model_b))
        assert "No vote is needed now." in client.get(f"/vote/{people[0]}").text
        overview = client.get("/report").text
        assert 'id="voting"' in overview
        assert not any(
            name in overview
            for ballot in ballots.values()
            for name in (ballot.model_a, ballot.model_b)
        )
    campaign.close()
    return served


def test_people_s_scores_count_in_place_of_a_judge_s(judged: Path, tmp_path: Path) -> None:
    """They prefer the weaker answers, so that no verdict of the judge is theirs."""
    votes, new = tmp_path / "ann.jsonl", tmp_path / "voted.eval"
    weaker = [
        Vote(one.id, "ann", "b" if strength(one.response_a) > strength(one.response_b) else "a")
        for one in load_ballots(judged)
    ]
    votes.write_text("".join(f"{one.to_line()}\n" for one in weaker), encoding="utf-8")
    assert command("rank", judged, votes, "--output", new).exit_code == 0
    ranked = [json.loads(command("rank", log, "--json").stdout)["models"] for log in (judged, new)]
    assert ranked[0] == ranked[1][::-1] == ["mockllm/ace", "mockllm/good", "mockllm/poor"]


def test_without_a_prior_people_s_votes_are_allocated_as_well(
    folder: Path, judged: Path, tmp_path: Path
) -> None:
    task = mad(
        responses=str(folder / "judge"),
        k=MANY,
        judge="human",
        allocation={"rule": "adaptive", "confidence": 0.9},
    )
    log = path_of(compete(task, tmp_path / "human", None))
    plan = load_plan(log)
    assert plan is not None
    assert plan.prior is None
    assert len(vote_over_http(log, tmp_path / "votes", "ann")) <= 3 * MANY
    assert (
        "weight" not in command("annotate", log, "--votes", tmp_path / "votes", "--report").output
    )
    assert (
        json.loads(command("rank", log, tmp_path / "votes", "--json").stdout)["models"][0]
        == "mockllm/ace"
    )


def test_where_a_prior_has_no_use_it_is_refused(judged: Path) -> None:
    log = str(judged)
    for arguments, said in (
        ({"judge": "baseline/longest"}, "prior: only with judge=human"),
        ({"rule": "random"}, "prior: allocation=random does not look at ratings"),
    ):
        with pytest.raises(InputError, match=said):
            mad(
                responses=log,
                k=MANY,
                judge=arguments.get("judge", "human"),
                allocation={"rule": arguments.get("rule", "adaptive"), "prior": log},
            )
    with pytest.raises(InputError, match="previous: with judge=human only together"):
        mad(responses=log, k=MANY, judge="human", allocation="adaptive", previous=log)
