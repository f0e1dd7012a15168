"""A judge's log as a prior: ballots for people, votes through the page's API, and the ranking with both."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from inspect_ai import Task
from inspect_ai.log import EvalSample, read_eval_log, write_eval_log

from tests.tasks.contests import Field, command, compete, path_of, pool_file, strength
from urs_inspect._util import InputError
from urs_inspect.annotation.access import HEADER
from urs_inspect.annotation.campaign import Campaign, load_ballots, load_plan
from urs_inspect.annotation.server import create_app
from urs_inspect.tasks import mad

K = 6
SENT = {HEADER: "1"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prior")


@pytest.fixture(scope="module")
def judged(folder: Path) -> Path:
    """A log whose judge prefers the longer answer, which here is the stronger one."""
    task = mad(str(pool_file(folder)), k=K, judge="baseline/longest")
    return path_of(compete(task, folder / "judge", {"contestant": Field().roles()["contestant"]}))


@pytest.fixture(scope="module")
def awaiting(folder: Path, judged: Path) -> Path:
    """A log with ballots among which people's votes and the judge's prior decide."""
    task = mad(responses=str(folder / "judge"), k=K, judge="human", allocation="adaptive", budget=15, prior=str(judged))
    return path_of(compete(task, folder / "human", None))


def vote(log: Path, directory: Path, *people: str) -> list[tuple[str, str]]:
    """Let people vote over HTTP in turn until the page serves nothing; the stronger answer wins. The pairs served."""
    ballots, served = {ballot.id: ballot for ballot in load_ballots(log)}, list[tuple[str, str]]()
    campaign = Campaign(tuple(ballots.values()), directory, people, plan=load_plan(log))
    with TestClient(create_app(campaign), base_url="http://127.0.0.1") as client:
        while open_ballots := [
            (person, found)
            for person in people
            if (found := client.get(f"/vote/{person}").text.partition('data-ballot="')[2].partition('"')[0])
        ]:
            for person, found in open_ballots:
                ballot = ballots[found]
                better = "a" if strength(ballot.response_a) > strength(ballot.response_b) else "b"
                side = "left" if campaign.session(person).left(found) == better else "right"
                body = {"ballot": found, "choice": side, "seconds": 1.0}
                assert client.post(f"/vote/{person}/cast", json=body, headers=SENT).status_code == 200
                served.append((ballot.model_a, ballot.model_b))
        assert "No vote is needed now." in client.get(f"/vote/{people[0]}").text
        overview = client.get("/report").text
        assert 'id="voting"' in overview
        assert not any(name in overview for ballot in ballots.values() for name in (ballot.model_a, ballot.model_b))
    campaign.close()
    return served


def test_from_a_judge_to_a_ranking_by_people(judged: Path, awaiting: Path, tmp_path: Path) -> None:
    assert len(load_ballots(awaiting)) == 3 * K
    plan = load_plan(awaiting)
    assert plan is not None
    assert plan.prior is not None
    assert (plan.allocation, plan.budget, plan.prior.judges) == ("adaptive", 15, ("baseline/longest",))
    served = vote(awaiting, tmp_path / "votes", "ann", "bo")
    assert len(served) <= 15

    votes_alone = ("rank", awaiting, "--votes", tmp_path / "votes")
    facts = json.loads(command(*votes_alone, "--prior", judged, "--json").stdout)
    found = facts.pop("prior")
    assert found["models"] == ["mockllm/ace", "mockllm/good", "mockllm/poor"]
    assert found["weight"] > 0.5
    assert found["judges"] == ["baseline/longest"]
    assert all(
        low < found["bradley_terry"][name] < high for name, (low, high) in found["intervals"]["bradley_terry"].items()
    )
    assert facts["battles"] == len(served)
    assert facts == json.loads(command(*votes_alone, "--json").stdout)
    text = command(*votes_alone, "--prior", judged).output
    assert "Ranking with the judge as a prior" in text
    assert "credible intervals" in text
    ended = command("annotate", awaiting, "--votes", tmp_path / "votes", "--report").output
    assert f"weight of the judge {found['weight']:.2f}" in ended


def test_without_a_prior_people_s_votes_are_allocated_as_well(folder: Path, judged: Path, tmp_path: Path) -> None:
    task = mad(responses=str(folder / "judge"), k=K, judge="human", allocation="adaptive", confidence=0.9)
    log = path_of(compete(task, tmp_path / "human", None))
    plan = load_plan(log)
    assert plan is not None
    assert plan.prior is None
    assert len(vote(log, tmp_path / "votes", "ann")) <= 3 * K
    assert "weight" not in command("annotate", log, "--votes", tmp_path / "votes", "--report").output
    assert (
        json.loads(command("rank", log, "--votes", tmp_path / "votes", "--json").stdout)["models"][0] == "mockllm/ace"
    )


def test_where_a_prior_has_no_use_it_is_refused(judged: Path) -> None:
    log = str(judged)
    for arguments, said in (
        ({"judge": "baseline/longest"}, "prior: only with judge=human"),
        ({"allocation": "random"}, "prior: allocation=random does not look at ratings"),
        ({"previous": log}, "previous: with judge=human only together"),
    ):
        with pytest.raises(InputError, match=said):
            mad(responses=log, k=K, prior=log, **{"judge": "human", "allocation": "adaptive", **arguments})  # type: ignore[arg-type]


def changed(log: Path, target: Path, change: Callable[[int, EvalSample], None], kept: int = 18) -> Path:
    """A copy of a judge's log in which its first `kept` verdicts are changed, by their number, and no others are."""
    read = read_eval_log(str(log))
    compared = [sample for sample in read.samples or [] if "ballot" in sample.metadata][:kept]
    for number, sample in enumerate(compared):
        change(number, sample)
    write_eval_log(read.model_copy(update={"samples": compared}), str(target))
    return target


def unread_from(first: int) -> Callable[[int, EvalSample], None]:
    """Make the verdicts from this number on unreadable, of a judge that is a contestant."""

    def change(number: int, sample: EvalSample) -> None:
        score = (sample.scores or {})["pair_choice"]
        assert isinstance(score.value, dict)
        if number >= first:
            score.value = {**score.value, "outcome": math.nan}
        score.metadata = {**(score.metadata or {}), "judges": ["mockllm/ace"]}

    return change


def rename(old: str, new: str) -> Callable[[int, EvalSample], None]:
    """Compare a model of another name."""

    def change(number: int, sample: EvalSample) -> None:
        values = json.loads(json.dumps(sample.metadata["ballot"]).replace(old, new))
        del values["id"]
        sample.metadata["ballot"] = values

    return change


def adaptive(folder: Path, prior: Path) -> Task:
    return mad(responses=str(folder / "judge"), k=K, judge="human", allocation="adaptive", prior=str(prior))


def test_logs_that_are_no_judge_s_are_refused(folder: Path, judged: Path, awaiting: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is about people's votes, not a judge's verdicts"):
        adaptive(folder, awaiting)
    with pytest.raises(InputError, match=r"none of 18 verdicts in '.*' could be parsed"):
        adaptive(folder, changed(judged, tmp_path / "unread.eval", unread_from(0)))
    with pytest.raises(InputError, match=r"no log .*none\.eval"):
        adaptive(folder, tmp_path / "none.eval")
    with pytest.raises(InputError, match=r"prior: 2 models to compare .* at least 3 are needed"):
        adaptive(folder, changed(judged, tmp_path / "two.eval", lambda number, sample: None, kept=1))


def test_unparsed_verdicts_are_counted_and_a_contestant_as_judge_is_said(
    judged: Path, awaiting: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, folder: Path
) -> None:
    vote(awaiting, tmp_path / "votes", "ann")
    prior = changed(judged, tmp_path / "partial.eval", unread_from(12))
    own = path_of(compete(adaptive(folder, prior), tmp_path / "own", None))
    assert "6 verdicts could not be parsed" in caplog.text
    assert "prior: mockllm/ace is judge and contestant" in caplog.text
    report = ("annotate", own, "--votes", tmp_path / "votes", "--report")
    assert "mockllm/ace is judge and contestant" in command(*report).output
    assert "judge and contestant" not in command("annotate", awaiting, *report[2:]).output
    ranked = ("rank", awaiting, "--votes", tmp_path / "votes", "--prior", prior)
    assert "mockllm/ace is judge and contestant" in command(*ranked).output
    assert json.loads(command(*ranked, "--json").stdout)["prior"]["unread"] == 6


def test_other_models_end_the_run_before_anything_is_compared(judged: Path, tmp_path: Path) -> None:
    prior = changed(judged, tmp_path / "other.eval", rename("mockllm/poor", "mockllm/weak"))
    task = mad(str(pool_file(tmp_path)), k=K, judge="human", allocation="adaptive", prior=str(prior))
    log = compete(task, tmp_path / "logs", {"contestant": Field("ace", "good", "poor").roles()["contestant"]})
    assert log.status == "error"
    said = "the judge has no verdict about mockllm/poor; it compares: mockllm/ace, mockllm/good, mockllm/weak"
    assert log.error is not None
    assert said in log.error.message


def test_models_that_only_the_judge_has_compared_are_said(
    folder: Path, judged: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    weak = rename("mockllm/poor", "mockllm/weak")
    prior = changed(judged, tmp_path / "four.eval", lambda number, sample: weak(number, sample) if number % 2 else None)
    path_of(compete(adaptive(folder, prior), tmp_path / "logs", None))
    assert "prior: mockllm/weak takes no part here" in caplog.text


def test_commands_refuse_a_prior_that_does_not_fit_and_an_order_of_one_s_own(
    judged: Path, awaiting: Path, tmp_path: Path
) -> None:
    prior = changed(judged, tmp_path / "other.eval", rename("mockllm/poor", "mockllm/weak"))
    votes = tmp_path / "votes.jsonl"
    pairs = [("mockllm/ace", "mockllm/poor"), ("mockllm/good", "mockllm/poor"), ("mockllm/ace", "mockllm/good")]
    rows = [{"model_a": one, "model_b": other, "winner": "model_a"} for one, other in pairs]
    votes.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for arguments, said in (
        (("rank", votes, "--prior", prior), "Error: prior: the judge has no verdict about mockllm/poor"),
        (("rank", judged, "--prior", judged), "its verdicts would count twice"),
        (("annotate", awaiting, "--votes", tmp_path / "votes", "--order", "own"), "order: 'own' is not possible"),
    ):
        told = command(*arguments)
        assert told.exit_code == 1 and said in told.output
