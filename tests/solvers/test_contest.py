"""`contest` outside of a whole competition: roles, and what a limit leaves."""

from pathlib import Path

import click
import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelName
from inspect_ai.solver import TaskState

from tests.tasks.contests import Field, compete
from tests.tasks.scripted import Script, output, samples_of
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.judging._pair_reply import PENDING, REPLIES, PairReply
from urs_inspect.solvers import contest
from urs_inspect.solvers._pair_asking import call_facts, keep_replies
from urs_inspect.solvers._role_models import roles_known

ANSWER = Sample(id="i", input="Why?", metadata={"phase": "answer"})


def asked(tmp_path: Path, roles, sample: Sample = ANSWER, **arguments):
    log = compete(
        Task(dataset=[sample], solver=contest(**arguments)),
        tmp_path / "logs",
        roles,
        fail_on_error=False,
    )
    [found] = samples_of(log)
    return found


def test_each_reply_is_kept_with_the_judge_that_gave_it() -> None:
    state = TaskState(ModelName("none/none"), "s", 1, "?", [])
    replies = [PairReply(first, ("Overall",), first) for first in ("a", "b", "a")]
    keep_replies(state, replies, ["x", "y", "z"])
    kept = state.store.get(REPLIES)
    assert [reply["judge"] for reply in kept] == ["x", "y", "z"]
    assert [reply["reply"] for reply in kept] == ["a", "b", "a"]
    keep_replies(state, replies[:2])
    assert [reply.get("judge") for reply in state.store.get(REPLIES)] == [None, None]
    with pytest.raises(ValueError, match="argument"):
        keep_replies(state, replies, ["x", "y"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"judge": "me"},
            "judge:.*judge 'me'; allowed: grader, human, samer, reward_model, baseline/",
        ),
        ({"orders": "ba"}, "orders: unknown value 'ba'"),
        ({"judge_language": "fr"}, "judge_language: unknown value 'fr'"),
    ],
)
def test_unknown_arguments_are_refused(arguments: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        contest(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        ({"contestant"}, "role 'grader'"),
        ({"grader"}, "role 'contestant'"),
    ],
)
def test_nobody_is_asked_if_a_role_is_missing(tmp_path: Path, keep: set[str], said: str) -> None:
    field = Field()
    sample = asked(tmp_path, {name: role for name, role in field.roles().items() if name in keep})
    assert sample.error is not None and tells(sample.error.message, said)
    assert not field.asked("ace")


def test_one_contestant_will_do_where_others_have_answered(tmp_path: Path) -> None:
    field = Field("ace")
    refused = asked(tmp_path / "one", field.roles())
    assert refused.error is not None and tells(
        refused.error.message, "2 are needed, got mockllm/ace"
    )
    sample = asked(tmp_path / "two", field.roles(), least=1)
    assert sample.store["responses"]["mockllm/ace"]["stop_reason"] == "stop"


def test_a_reply_without_content_is_no_failure_and_one_with_an_error_is(tmp_path: Path) -> None:
    field = Field("ace", "good", ace=output(""), good=output("", error="filtered"))
    replies = asked(tmp_path, field.roles()).store["responses"]
    assert replies["mockllm/ace"] == {"text": "", "stop_reason": "stop"}
    assert replies["mockllm/good"]["error"] == "filtered"


def test_a_limit_of_the_sample_keeps_what_came_before(tmp_path: Path) -> None:
    field = Field("ace", "good")
    task = Task(dataset=[ANSWER], solver=contest(), token_limit=1)
    [sample] = samples_of(compete(task, tmp_path / "logs", field.roles()))
    assert sample.limit is not None
    assert "responses" in sample.store


def test_a_scenario_or_language_without_instructions_gets_the_general_ones(tmp_path: Path) -> None:
    ballot = Ballot.between("i", "Why?", {"x": "one", "y": "two"}, scenario="poetry", language="fr")
    field = Field()
    field.judge = Script('{"comparison": "…", "winner": "1"}')
    sample = Sample(id="c", input="?", metadata={"phase": "compare", "ballot": ballot.to_dict()})
    assert asked(tmp_path, field.roles(), sample, orders="ab").error is None
    [[system, _]] = field.judge.seen
    assert "Accuracy" in system.text or "accura" in system.text


@pytest.mark.parametrize(("own", "asked_for"), [(None, 0), (0.7, 0.7)])
def test_a_judge_is_asked_at_temperature_0_unless_its_role_has_another(
    tmp_path: Path, own: float | None, asked_for: float
) -> None:
    field = Field()
    ballot = Ballot.between("i", "Why?", {"x": "one", "y": "two"})
    field.judge = Script('{"comparison": "…", "winner": "1"}')
    sample = Sample(id="c", input="?", metadata={"phase": "compare", "ballot": ballot.to_dict()})
    roles = field.roles(grader=field.judge.model(temperature=own))
    found = asked(tmp_path, roles, sample, orders="ab")
    assert [given.temperature for given in field.judge.configs] == [asked_for]
    facts = call_facts(found.store[REPLIES])
    assert facts["temperature_requested"] == [asked_for]


def test_a_call_that_a_limit_ended_or_that_failed_has_no_facts() -> None:
    kept = {"prompt_version": "1", "temperature_requested": 0.0, "temperature_sent": 0.0}
    ended = [{**kept, "stop_reason": reason} for reason in (PENDING, "error")]
    assert call_facts(ended) == {}
    later = {**kept, "stop_reason": "stop", "temperature_sent": None, "structured": True}
    assert call_facts([*ended, later]) == {
        "temperature_requested": [0.0],
        "temperature_sent": [None],
        "structured": [True],
    }


def test_roles_are_known_while_a_command_makes_a_task_only() -> None:
    assert not roles_known()
    with click.Context(click.Command("inspect")):
        assert roles_known()
    assert not roles_known()
