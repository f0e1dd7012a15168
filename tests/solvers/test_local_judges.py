"""Judges that evaluate both responses themselves: what is kept, and what becomes of a failure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from inspect_ai.model import GenerateConfig, Logprob, Logprobs, ModelName, ModelOutput, ModelUsage
from inspect_ai.solver import TaskState

from tests.tasks.scripted import Script
from urs_inspect._util import InputError
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.judging._pair_reply import REPLIES
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.solvers._contest import _judge_by_baseline, _judge_locally, _reply, _text
from urs_inspect.solvers._local_judges import (
    EVALUATIONS,
    LocalFailure,
    local_judge,
    local_pair,
    local_replies,
    pair_facts,
)

KEPT: list[dict[str, Any]] = [
    {"weights": {"Clarity": 1.0}, "samer": {"engine": "e"}},
    {"samer": {"engine": "f"}},
]


@dataclass
class Pair:
    """A pair of which the first response is better in all."""

    kept: list[dict[str, Any]] = field(default_factory=lambda: list(KEPT))

    def verdict(self, name: str) -> str:
        return "a" if name == OVERALL else "b"

    def table(self, names: Sequence[str]) -> str:
        return f"table of {', '.join(names)}"

    def explained(self, names: tuple[str, str]) -> str:
        return f"{names[0]} before {names[1]}"


@dataclass
class Judge:
    """Gives a pair or a failure, and remembers what it was asked."""

    given: Any
    dimensions: bool = True
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    async def compare(self, query: str, response_a: str, response_b: str) -> Any:
        self.asked.append((query, response_a, response_b))
        return self.given


FAILURE = LocalFailure("call_failed", "the engine is down")
BALLOT = Ballot.between("i", "Why?", {"p/x": "one", "p/y": "two"})


def state() -> TaskState:
    return TaskState(ModelName("none/none"), "s", 1, "?", [], metadata={})


def test_evaluations_are_kept_unless_they_failed() -> None:
    for given, kept in ((Pair(), KEPT), (FAILURE, None)):
        own = state()
        judge = Judge(given)
        assert anyio.run(local_pair, own, judge, "Why?", "one", "two") == given
        assert own.store.get(EVALUATIONS) == kept
        assert judge.asked == [("Why?", "one", "two")]


def test_both_orders_have_the_same_verdicts_and_the_first_the_explanation() -> None:
    found = local_replies(Pair(), ("Clarity", OVERALL), ("b", "a"), "Because.")
    assert [(one.first, one.reply, one.verdicts) for one in found] == [
        ("b", "Because.", {"Clarity": "b", OVERALL: "a"}),
        ("a", "", {"Clarity": "b", OVERALL: "a"}),
    ]
    failed = local_replies(FAILURE, (OVERALL,), ("a", "b"), "Because.")
    assert [(one.first, one.failure, one.error, one.reply) for one in failed] == [
        ("a", "call_failed", "the engine is down", ""),
        ("b", "call_failed", "the engine is down", ""),
    ]
    assert {one.stop_reason for one in failed} == {"error"}


def test_weights_of_each_response_that_has_any_are_facts_of_the_pair() -> None:
    assert pair_facts(KEPT) == {"weights": [{"Clarity": 1.0}], "samer": {"engine": "e"}}
    assert pair_facts([]) == {}


def test_a_judge_that_models_have_no_part_in_takes_no_folder() -> None:
    assert local_judge("grader", None) is None
    with pytest.raises(InputError, match=r"samer: only with judge=.*not with judge=grader"):
        local_judge("grader", {"model": "x"})


@pytest.mark.satellites
def test_a_local_judge_needs_its_folder() -> None:
    with pytest.raises(InputError, match=r"judge=reward_model needs samer"):
        local_judge("reward_model", None)


def test_a_ballot_is_judged_locally_under_the_names_of_its_models() -> None:
    own = state()
    judge: Any = Judge(Pair())
    anyio.run(_judge_locally, own, BALLOT, judge, ("a", "b"), "samer")
    replies = own.store.get(REPLIES)
    assert judge.asked == [("Why?", "one", "two")]
    assert own.output.completion == "p/x before p/y"
    assert [reply["judge"] for reply in replies] == ["samer", "samer"]
    assert [reply["asked"] for reply in replies] == [(OVERALL,), (OVERALL,)]
    failed = state()
    judge = Judge(FAILURE)
    anyio.run(_judge_locally, failed, BALLOT, judge, ("a",), "samer")
    assert failed.output.completion == "the engine is down"


def test_a_baseline_judges_a_ballot_without_its_label() -> None:
    ballot = Ballot.between("i", "Why?", {"p/x": "a longer one", "p/y": "two"})
    longer = "a" if ballot.response_a == "a longer one" else "b"
    verdicts = {}
    for kind in ("longest", "shortest", "first", "copy_overall"):
        own = state()
        _judge_by_baseline(own, ballot, f"baseline/{kind}", ("b",), 0)
        [reply] = own.store.get(REPLIES)
        verdicts[kind] = reply["verdicts"][OVERALL]
    other = "b" if longer == "a" else "a"
    assert verdicts == {
        "longest": longer,
        "shortest": other,
        "first": "b",
        "copy_overall": "tie",
    }


def test_the_random_baseline_chooses_anew_for_each_pair_of_models_of_an_instruction() -> None:
    verdicts = set()
    for rival in range(20):
        own = state()
        ballot = Ballot.between("i", "Why?", {"p/x": "one", f"p/{rival}": "two"})
        _judge_by_baseline(own, ballot, "baseline/random", ("a",), 0)
        [reply] = own.store.get(REPLIES)
        verdicts.add(reply["verdicts"][OVERALL])
    assert {"a", "b"} <= verdicts


def test_an_answer_is_shown_whole_up_to_a_length_and_an_error_in_its_place() -> None:
    assert _text({"text": "", "error": "filtered"}) == "*No answer: filtered*"
    assert _text({"text": "So."}) == "So."
    long = "x" * 100_000
    shown = _text({"text": long})
    length = shown.count("x")
    assert f"{100_000 - length:,} more characters" in shown
    assert _text({"text": "x" * length}) == "x" * length
    assert "(1 more" in _text({"text": "x" * (length + 1)})


def test_log_probabilities_of_a_reply_are_kept_to_five_digits() -> None:
    output = ModelOutput.from_content("m", "So.")
    tokens = [Logprob(token=text, logprob=value) for text, value in (("S", -0.1234567), ("o", -2))]
    output.choices[0].logprobs = Logprobs(content=tokens)
    failed = ModelOutput(model="m", error="filtered", choices=output.choices)
    for one in (output, failed):
        one.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = Script([output, failed]).model("ace")
    replies = [anyio.run(_reply, model, "Why?", GenerateConfig()) for _ in range(2)]
    assert replies[0] == {
        "text": "So.",
        "stop_reason": "stop",
        "log_probabilities": [-0.12346, -2],
    }
    assert replies[1]["error"] == "filtered" and "log_probabilities" not in replies[1]
