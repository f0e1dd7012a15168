"""Ballots in the order that an allocation asks for, while several people vote."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from urs_inspect._util import InputError
from urs_inspect.annotation import _queue as queues
from urs_inspect.annotation._campaign import Campaign
from urs_inspect.annotation._queue import BallotQueue, VotingPlan
from urs_inspect.annotation._votes import Vote
from urs_inspect.discrepancy._allocation import Belief, Prior, laplace
from urs_inspect.discrepancy._ballots import Ballot

MODELS = ("apple", "fig", "pear")
PER_PAIR = 4


def made(models: tuple[str, ...] = MODELS, per_pair: int = PER_PAIR) -> tuple[Ballot, ...]:
    """Ballots of every pair, pair by pair, numbered in the order in which they are to be used."""
    return tuple(
        Ballot.between(f"{a}{b}{n}", "Which?", {a: f"{a} {n}", b: f"{b} {n}"})
        for i, a in enumerate(models)
        for b in models[i + 1 :]
        for n in range(per_pair)
    )


class HalfKnown:
    """A prior that says nothing and counts half."""

    def belief_about(self, models: Sequence[str]) -> Belief:
        return lambda battles: replace(laplace(battles), weight=0.5)


PRIOR: Any = HalfKnown()


def plan(**changes: object) -> VotingPlan:
    return VotingPlan(**{"allocation": "adaptive", "confidence": None, **changes})  # type: ignore[arg-type]


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    made_here = Campaign(made(), tmp_path, plan=plan())
    yield made_here
    made_here.close()


@pytest.mark.parametrize("judged", [None, PRIOR])
def test_every_ballot_comes_once_and_those_of_a_pair_in_their_order(
    tmp_path: Path, judged: Prior | None
) -> None:
    campaign = Campaign(made(), tmp_path, plan=plan(prior=judged))
    people, seen = [campaign.session(name) for name in ("ann", "bo", "cy")], list[Ballot]()
    while current := [(person, ballot) for person in people if (ballot := person.current)]:
        assert len({ballot.id for _, ballot in current}) == len(current)
        for person, ballot in current:
            seen.append(ballot)
            person.cast(ballot.id, "tie", 1.0)
    assert sorted(ballot.id for ballot in seen) == sorted(ballot.id for ballot in made())
    for pair in ("applefig", "applepear", "figpear"):
        numbers = [
            ballot.instruction_id for ballot in seen if ballot.instruction_id.startswith(pair)
        ]
        assert numbers == sorted(numbers)
    assert campaign.queue is not None
    assert campaign.queue.state().stopped == "budget"
    assert people[0].progress == (12, 12)
    campaign.close()


def test_votes_of_everybody_decide_what_is_next_and_a_restart_goes_on(tmp_path: Path) -> None:
    judged = plan(prior=PRIOR, budget=8)
    first = Campaign(made(), tmp_path, plan=judged)
    one, other = first.session("ann"), first.session("bo")
    for _ in range(3):
        for person in (one, other):
            ballot = person.current
            assert ballot is not None
            person.cast(ballot.id, "left" if person.left(ballot.id) == "a" else "right", 1.0)
    expected, before = one.current, one.progress
    assert before == (6, 8)
    first.close()
    second = Campaign(made(), tmp_path, plan=judged)
    assert second.session("ann").current == expected
    assert second.session("cy").progress == before
    second.close()


def test_an_undo_brings_the_ballot_back_to_its_person_only(campaign: Campaign) -> None:
    one, other = campaign.session("ann"), campaign.session("bo")
    ballot = one.current
    assert ballot is not None
    one.cast(ballot.id, "left", 1.0)
    one.undo(ballot.id)
    assert one.current == ballot
    assert other.current not in (ballot, None)
    assert one.progress == (0, 12)


def test_reading_the_page_again_changes_nothing_and_an_old_page_may_still_vote(
    campaign: Campaign,
) -> None:
    session = campaign.session("ann")
    assert session.current == session.current
    old = next(ballot for ballot in made() if ballot != session.current)
    session.cast(old.id, "tie", 1.0)
    assert session.current not in (old, None)


def test_a_ballot_that_nobody_votes_on_goes_to_another_person_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue = BallotQueue(made(per_pair=1), plan(budget=1))
    held = queue.next("ann")
    assert held is not None
    assert queue.next("bo") is None
    monkeypatch.setattr(queues, "_HELD", -1.0)
    assert queue.next("bo") == held


def test_a_ballot_with_votes_of_two_people_is_done_once() -> None:
    queue = BallotQueue(made(), plan())
    ballot = queue.next("ann")
    assert ballot is not None
    for name in ("ann", "bo"):
        queue.cast(Vote(ballot.id, name, "a"))
    assert queue.state().done == 1
    queue.undo(ballot.id, "ann")
    assert queue.state().done == 1


def test_a_vote_that_cannot_tell_spends_its_ballot_and_says_nothing() -> None:
    queue = BallotQueue(made(), plan(prior=PRIOR))
    ballot = queue.next("ann")
    assert ballot is not None
    queue.cast(Vote(ballot.id, "ann", "cannot_tell"))
    state = queue.state()
    assert (state.done, state.budget) == (1, 12)
    assert state.weight == 0.5
    assert queue.next("ann") != ballot


def test_the_last_of_two_votes_of_a_person_about_a_ballot_counts() -> None:
    changed, fresh = BallotQueue(made(), plan(prior=PRIOR)), BallotQueue(made(), plan(prior=PRIOR))
    for ballot in made():
        changed.cast(Vote(ballot.id, "ann", "b"))
    for ballot in made():
        changed.cast(Vote(ballot.id, "ann", "a"))
        fresh.cast(Vote(ballot.id, "ann", "a"))
    assert changed.state() == fresh.state()


def test_what_is_wanted_is_done_once_voting_has_ended_early(tmp_path: Path) -> None:
    ballots = made(per_pair=40)
    campaign = Campaign(ballots, tmp_path, plan=plan(confidence=0.9, prior=PRIOR))
    session = campaign.session("ann")
    assert session.progress == (0, len(ballots))
    while ballot := session.current:
        session.cast(ballot.id, "left" if session.left(ballot.id) == "a" else "right", 1.0)
    done, wanted = session.progress
    assert done == wanted < len(ballots)
    campaign.close()


def test_plans_survive_the_log_and_broken_ones_are_named() -> None:
    given = plan(budget=7, seed=3)
    read = VotingPlan.from_dict(given.to_dict(), "x.eval")
    assert (read.allocation, read.budget, read.confidence, read.seed) == ("adaptive", 7, None, 3)
    assert read.prior is None
    for broken in (
        {"allocation": "adaptive"},
        {**given.to_dict(), "pace": 1},
    ):
        with pytest.raises(InputError, match=r"x\.eval: metadata\.voting"):
            VotingPlan.from_dict(broken, "x.eval")


def test_no_more_ballots_are_to_be_voted_on_than_there_are() -> None:
    for budget, most in ((99, 12), (None, 12), (5, 5)):
        assert BallotQueue(made(), plan(budget=budget)).state().budget == most


def test_a_ballot_in_view_that_somebody_else_has_voted_on_is_not_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue = BallotQueue(made(), plan())
    under_way: list[list[tuple[str, str]]] = []
    ask = queue._allocator.ask

    def noted(battles: Any, asked: Any, pending: list[tuple[str, str]]) -> Any:
        under_way.append(pending)
        return ask(battles, asked, pending)

    monkeypatch.setattr(queue._allocator, "ask", noted)
    ballot = queue.next("ann")
    assert ballot is not None and queue.next("bo", wanted=ballot.id) == ballot
    queue.cast(Vote(ballot.id, "bo", "a"))
    queue.next("cy")
    assert under_way == [[], []]


def test_votes_about_other_ballots_are_no_part_of_the_state() -> None:
    elsewhere = Vote("elsewhere", "ann", "a")
    queue = BallotQueue(made(), plan(budget=5), [elsewhere, Vote(made()[0].id, "ann", "a")])
    state = queue.state()
    assert (state.done, state.budget, state.neighbours) == (1, 5, 2)


@pytest.mark.parametrize(("confidence", "sure"), [(0.6, 2), (None, 0), (0.99, 0)])
def test_neighbours_are_in_a_sure_order_by_the_confidence_asked_for(
    confidence: float | None, sure: int
) -> None:
    """Of three votes for the first of each pair, without a confidence as by the usual one."""
    votes = [Vote(made()[place].id, "ann", "a") for place in (0, 4, 8)]
    state = BallotQueue(made(), plan(confidence=confidence), votes).state()
    assert state.sure == sure
