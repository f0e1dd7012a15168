"""A judge's prior while people vote: the queue, `urs-inspect annotate`, and runs of `mad`."""

import json
import logging
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from inspect_ai import Task
from inspect_ai.log import EvalSample, read_eval_log, write_eval_log

from tests.annotation.test_queue import MODELS, made, plan
from tests.cli.conftest import Run
from tests.cli.test_told import Told, allocated, votes_on
from tests.reports.mad_logs import ballot, write_log
from tests.reports.mad_logs import judged as judged_sample
from tests.tasks.contests import (
    Field,
    command,
    compete,
    path_of,
    pool_file,
)
from tests.tasks.test_competition import said as said_of_log
from tests.tasks.test_mad_people import MANY, vote_over_http
from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.adjusting._judge_prior import MASS, JudgePrior
from urs_inspect.adjusting._verdicts import read_prior
from urs_inspect.annotation._campaign import load_ballots, load_plan
from urs_inspect.annotation._queue import BallotQueue, VotingPlan
from urs_inspect.annotation._votes import Vote
from urs_inspect.stats._battles import Battle, battles_of
from urs_inspect.tasks import mad

PRIOR = JudgePrior(MODELS, np.array([1.0, 0.0, -1.0]), 0.05 * np.eye(3), ("a/judge",), 30)


def test_voting_ends_early_once_the_order_is_sure_and_says_so() -> None:
    queue = BallotQueue(made(per_pair=40), plan(confidence=0.9, prior=PRIOR))
    told = []
    queue.on_change = lambda changed: told.append(changed.state())
    while ballot := queue.next("ann"):
        queue.cast(Vote(ballot.id, "ann", "a"))  # the name that sorts first wins, as the judge says
    last = told[-1]
    assert (last.stopped, last.sure, last.neighbours) == ("separated", 2, 2)
    assert last.done == len(told) < 60
    assert last.weight > MASS


def test_a_prior_about_other_models_is_refused() -> None:
    with pytest.raises(InputError, match=r"verdict.*plum"):
        BallotQueue(made(("apple", "fig", "plum")), plan(prior=PRIOR))


@pytest.fixture(scope="module")
def planned(folder: Path, judged: Path) -> Path:
    """A log with ballots among which people's votes and the judge's prior decide."""
    task = mad(
        responses=str(folder / "judge"),
        k=MANY,
        judge="human",
        allocation={"rule": "adaptive", "budget": 15, "prior": str(judged)},
    )
    return path_of(compete(task, folder / "human", None))


def test_from_a_judge_to_a_ranking_by_people(judged: Path, planned: Path, tmp_path: Path) -> None:
    assert len(load_ballots(planned)) == 3 * MANY
    plan = load_plan(planned)
    assert plan is not None
    assert isinstance(plan.prior, JudgePrior)
    assert (plan.allocation, plan.budget, plan.prior.judges) == (
        "adaptive",
        15,
        ("baseline/longest",),
    )
    served = vote_over_http(planned, tmp_path / "votes", "ann", "bo")
    assert len(served) <= 15

    votes_alone = ("rank", "--all", planned, tmp_path / "votes")
    facts = json.loads(command(*votes_alone, "--prior", judged, "--json").stdout)
    found = facts.pop("prior")
    assert found["models"] == ["mockllm/ace", "mockllm/good", "mockllm/poor"]
    assert found["weight"] > 0.5
    assert found["judges"] == ["baseline/longest"]
    assert all(
        low < found["bradley_terry"][name] < high
        for name, (low, high) in found["intervals"]["bradley_terry"].items()
    )
    assert facts["battles"] == len(served)
    assert facts == json.loads(command(*votes_alone, "--json").stdout)
    text = command(*votes_alone, "--prior", judged).output
    assert "Ranking with the judge as a prior" in text
    assert "credible intervals" in text
    ended = command("annotate", planned, "--votes", tmp_path / "votes", "--report").output
    assert tells(ended, f"{found['weight']:.2f}")


def changed(
    log: Path, target: Path, change: Callable[[int, EvalSample], None], kept: int = 18
) -> Path:
    """A copy of a judge's log in which its first `kept` verdicts are changed, by their number, and
    no others are.
    """
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
    return mad(
        responses=str(folder / "judge"),
        k=MANY,
        judge="human",
        allocation={"rule": "adaptive", "prior": str(prior)},
    )


def test_logs_that_are_no_judge_s_are_refused(
    folder: Path, judged: Path, planned: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="people's votes"):
        adaptive(folder, planned)
    with pytest.raises(InputError, match=r"none of 18 verdicts.*could"):
        adaptive(folder, changed(judged, tmp_path / "unread.eval", unread_from(0)))
    with pytest.raises(InputError, match=r"no log .*none\.eval"):
        adaptive(folder, tmp_path / "none.eval")
    with pytest.raises(InputError, match=r"prior: 2 models.*3 are needed"):
        adaptive(
            folder, changed(judged, tmp_path / "two.eval", lambda number, sample: None, kept=1)
        )


def test_unparsed_verdicts_are_counted_and_a_contestant_as_judge_is_said(
    judged: Path, planned: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, folder: Path
) -> None:
    vote_over_http(planned, tmp_path / "votes", "ann")
    prior = changed(judged, tmp_path / "partial.eval", unread_from(12))
    own = path_of(compete(adaptive(folder, prior), tmp_path / "own", None))
    assert tells(caplog.text, "6 verdicts")
    assert tells(caplog.text, "prior: mockllm/ace ... contestant")
    report = ("annotate", own, "--votes", tmp_path / "votes", "--report")
    assert tells(command(*report).output, "mockllm/ace ... contestant")
    assert "judge and contestant" not in command("annotate", planned, *report[2:]).output
    ranked = ("rank", "--all", planned, tmp_path / "votes", "--prior", prior)
    assert tells(command(*ranked).output, "mockllm/ace ... contestant")
    assert json.loads(command(*ranked, "--json").stdout)["prior"]["unread"] == 6


def test_other_models_end_the_run_before_anything_is_compared(judged: Path, tmp_path: Path) -> None:
    prior = changed(judged, tmp_path / "other.eval", rename("mockllm/poor", "mockllm/weak"))
    task = mad(
        str(pool_file(tmp_path)),
        k=MANY,
        judge="human",
        allocation={"rule": "adaptive", "prior": str(prior)},
    )
    log = compete(
        task, tmp_path / "logs", {"contestant": Field("ace", "good", "poor").roles()["contestant"]}
    )
    assert log.status == "error"
    said = "mockllm/poor; ... mockllm/ace, mockllm/good, mockllm/weak"
    assert log.error is not None
    assert tells(log.error.message, said)


def test_models_that_only_the_judge_has_compared_are_said(
    folder: Path, judged: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    weak = rename("mockllm/poor", "mockllm/weak")
    prior = changed(
        judged,
        tmp_path / "four.eval",
        lambda number, sample: weak(number, sample) if number % 2 else None,
    )
    path_of(compete(adaptive(folder, prior), tmp_path / "logs", None))
    assert tells(caplog.text, "prior: mockllm/weak")


def test_commands_refuse_a_prior_that_does_not_fit_and_an_order_of_one_s_own(
    judged: Path, planned: Path, tmp_path: Path
) -> None:
    prior = changed(judged, tmp_path / "other.eval", rename("mockllm/poor", "mockllm/weak"))
    votes = tmp_path / "votes.jsonl"
    pairs = [
        ("mockllm/ace", "mockllm/poor"),
        ("mockllm/good", "mockllm/poor"),
        ("mockllm/ace", "mockllm/good"),
    ]
    rows = [{"model_a": one, "model_b": other, "winner": "model_a"} for one, other in pairs]
    votes.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for arguments, said in (
        (
            ("rank", votes, "--prior", prior),
            "Error: prior: the judge has no verdict about mockllm/poor",
        ),
        (("rank", judged, "--prior", judged), "its verdicts would count twice"),
        (("rank", judged.parent, "--prior", judged), "its verdicts would count twice"),
        (
            ("annotate", planned, "--votes", tmp_path / "votes", "--order", "own"),
            "order: 'own' is not possible",
        ),
    ):
        told = command(*arguments)
        assert told.exit_code == 1 and said in told.output


def test_a_vote_moves_the_weight_of_the_judge() -> None:
    queue = BallotQueue(made(), plan(prior=PRIOR))
    assert queue.state().weight == pytest.approx(MASS)
    first = queue.next("ann")
    assert first is not None
    queue.cast(Vote(first.id, "ann", "cannot_tell"))
    assert queue.state().weight == pytest.approx(MASS)
    queue.cast(Vote(first.id, "ann", "a"))
    assert queue.state().weight > MASS


def test_plans_with_a_prior_survive_the_log_and_broken_ones_are_named() -> None:
    given = plan(budget=7, prior=PRIOR)
    read = VotingPlan.from_dict(given.to_dict(), "x.eval")
    assert isinstance(read.prior, JudgePrior)
    assert read.prior.players == MODELS
    with pytest.raises(InputError, match=r"x\.eval: metadata\.voting"):
        VotingPlan.from_dict({**given.to_dict(), "prior": {}}, "x.eval")


def test_how_far_voting_with_a_judge_is(run: Run, tmp_path: Path) -> None:
    told = Told(tmp_path)
    pairs = [("x", "y"), ("x", "z"), ("y", "z")] * 4
    verdicts = [
        Battle(one, other, 1.0 if number < 9 else 0.0, f"i{number}")
        for number, (one, other) in enumerate(pairs)
    ]
    prior = JudgePrior.of(battles_of(verdicts), ("x", "p/judge", "z"), unread=1)
    log = allocated(tmp_path / "log.eval", VotingPlan("adaptive", prior=prior), *pairs)
    votes_on(log, tmp_path / "votes", "aba")
    result = run("annotate", log, "--votes", tmp_path / "votes", "--report")
    assert result.exit_code == 0, result.output
    people = [line for line in result.output.splitlines() if re.search("neighbours|Prior", line)]
    told.add("with a judge", "\n".join(people))
    told.check("voting_told_with_a_judge")


def test_the_prior_of_a_log_is_read_and_what_does_not_count_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    samples = [
        judged_sample(ballot(f"q{number}", one, other), outcome)
        for number, (one, other, outcome) in enumerate(
            [("x", "y", 1.0), ("y", "z", 1.0), ("z", "x", 1.0), ("x", "z", math.nan)]
        )
    ]
    assert samples[0].scores
    facts = samples[0].scores["pair_choice"].metadata or {}
    samples[0].scores["pair_choice"].metadata = {**facts, "judges": ["x"]}
    log = write_log(tmp_path / "log.eval", *samples)
    with caplog.at_level(logging.WARNING):
        found = read_prior(str(log))
    assert (found.players, found.unread) == (("x", "y", "z"), 1)
    assert said_of_log(caplog) == [
        Telling("prior: 1 verdict could not"),
        Telling("prior: x is judge"),
    ]
