"""Which annotated pairs are kept, and what is counted of them, without a run."""

import asyncio
import json
import math
from typing import Any

import pytest
from inspect_ai.model import ModelName
from inspect_ai.scorer import SampleScore, Score, Target
from inspect_ai.solver import TaskState

from tests.reports.golden_files import check_golden
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.judging._reply_counts import BY_JUDGE
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer._annotate_pair import _compare, _one_model, _scenario
from urs_inspect.samer._annotate_task import _explain, annotated_pair, annotation_report
from urs_inspect.samer._pair_annotation import ANNOTATION
from urs_inspect.solvers._model_calls import CallFacts

TEXTS = {"prompt": "Why?", "response_a": "x", "response_b": "y", "source": "own"}


def score_of(record: dict[str, Any] | None, **facts: Any) -> Score:
    """The score of a pair with this annotation and these facts of the data."""
    state = TaskState(
        model=ModelName("none/none"),
        sample_id="p1",
        epoch=1,
        input="Why?",
        messages=[],
        metadata={**TEXTS, "scenario": "", "label": "", **facts},
    )
    if record is not None:
        state.store.set(ANNOTATION, record)
    found = asyncio.run(annotated_pair()(state, Target("")))
    assert found is not None
    return found


def record(winner: str | None, **given: Any) -> dict[str, Any]:
    usual = {"scenario": "chitchat", "dimensions": {"Style": "a"}, "failures": []}
    return {**usual, "winner": winner, **given}


@pytest.mark.parametrize(
    ("winner", "label", "scenario", "kept", "agrees", "other"),
    [
        ("a", "a", "", 1, 1, False),
        ("a", "b", "", 0, 0, False),
        ("tie", "tie", "", 1, 1, False),
        ("tie", "a", "", 0, 0, False),
        ("b", "", "", 1, None, False),  # what the judge says stands for the label
        ("a", "a", "chitchat", 1, 1, False),
        ("a", "a", "roleplay", 0, 1, True),
        ("a", "", "roleplay", 0, None, True),
        ("a", "b", "roleplay", 0, 0, True),
    ],
)
def test_pairs_are_kept_with_the_known_winner_and_scenario(
    winner: str, label: str, scenario: str, kept: int, agrees: int | None, other: bool
) -> None:
    found = score_of(record(winner), label=label, scenario=scenario)
    value: Any = found.value
    assert value["kept"] == kept
    assert value["agrees"] == agrees if agrees is not None else math.isnan(value["agrees"])
    facts = found.metadata or {}
    assert (facts["kept"], facts["other_scenario"], facts["annotated"]) == (bool(kept), other, True)
    assert facts["agrees"] == (None if agrees is None else bool(agrees))
    assert facts["record"] == {
        **TEXTS,
        "id": "p1",
        "winner": winner,
        "scenario": "chitchat",
        "dimensions": {"Style": "a"},
    }
    assert (facts["label"], found.answer) == (label, winner)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (None, "no_response"),
        (record(None, failures=["unparseable"]), "invalid_response_format"),
        (record(None, failures=["unparseable", "call_failed"]), "no_response"),
        (record("a", dimensions={}, failures=["x"]), "invalid_response_format"),
        ({"scenario": "chitchat", "failures": ["scenario_unparseable"]}, "invalid_response_format"),
    ],
)
def test_an_annotation_that_cannot_be_read_is_no_score(
    given: dict[str, Any] | None, reason: str
) -> None:
    found = score_of(given, label="a")
    value: Any = found.value
    assert math.isnan(value["kept"]) and math.isnan(value["agrees"])
    assert found.reason == reason and found.metadata is not None
    assert found.metadata["annotated"] is False and found.metadata["failures"]


def report_of(*facts: dict[str, Any]) -> dict[str, float]:
    metric: Any = annotation_report()
    scores = [SampleScore(score=Score(value=1.0, metadata=one)) for one in facts]
    return dict(metric(scores))


def test_the_share_is_of_annotated_pairs_with_a_known_winner() -> None:
    read = {"annotated": True, "failures": []}
    found = report_of(
        {**read, "kept": True, "label": "a", "agrees": True, "record": {"scenario": "s"}},
        {**read, "kept": False, "label": "b", "agrees": True, "other_scenario": True},
        {**read, "kept": False, "label": "b", "agrees": False, "failures": ["unparseable"]},
        {**read, "kept": True, "label": "", "agrees": None, "record": {"scenario": "t"}},
        {**read, "kept": True, "label": "", "agrees": None, "record": {"scenario": "s"}},
        {"annotated": False, "kept": False, "failures": ["call_failed", "unparseable"]},
    )
    expected = {
        "pairs": 6,
        "annotated": 5,
        "kept": 3,
        "share kept": 2 / 3,
        "unlabelled": 2,
        "other scenario": 1,
        "kept scenario=s": 2,
        "kept scenario=t": 1,
        "failures unparseable": 2,
        "failures call_failed": 1,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    nothing = report_of()
    assert nothing["pairs"] == 0 and math.isnan(nothing["share kept"])


def test_annotations_in_words() -> None:
    said = [
        _explain(record("a", dimensions={"Style": "a", "Depth": "tie"}), "b"),
        _explain(record("tie"), ""),
        _explain({"failures": ["call_failed", "unparseable"]}, "a"),
    ]
    check_golden("samer_annotations", "\n\n---\n\n".join(said) + "\n")


@pytest.mark.parametrize(("models", "fine"), [(1, True), (2, False), (3, False)])
def test_each_role_has_one_model(models: int, fine: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urs_inspect.samer._annotate_pair.models_with", lambda role: ["m"] * models)
    if fine:
        _one_model("grader")
        return
    with pytest.raises(InputError) as caught:
        _one_model("grader")
    assert tells(str(caught.value), f"'grader' has {models}")


class Asked:
    """Stands in for calls of a judge; always names chitchat."""

    def __init__(self) -> None:
        self.roles: list[str] = []

    async def ask(self, role: str, prompt: Any, failure: Any) -> Any:
        self.roles.append(role)
        reply = '{"scenario": "chitchat"}'
        assert failure(reply) is None and failure("Hmm.") is not None
        return reply, None, False


@pytest.mark.parametrize(
    ("roles", "asked"),
    [({"grader": "m"}, "grader"), ({"grader": "m", "classifier": "n"}, "classifier")],
)
def test_a_classifier_is_asked_in_the_grader_s_place(
    roles: dict[str, str], asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = "urs_inspect.samer._annotate_pair"
    monkeypatch.setattr(f"{room}.model_roles", lambda: roles)
    monkeypatch.setattr(f"{room}.models_with", lambda role: [roles[role]])
    calls: Any = Asked()
    kept: dict[str, Any] = {}
    assert asyncio.run(_scenario(kept, "Hello?", calls)) == "chitchat"
    assert calls.roles == [asked] and kept["scenario_reply"] == '{"scenario": "chitchat"}'
    assert kept["scenario_prompt_sha256"]


class ByPlace:
    """Stands in for calls of a judge that prefers what is shown first, with the prompt's key."""

    def __init__(self) -> None:
        self.prompts: list[Any] = []
        self.roles: list[str] = []

    async def ask(self, role: str, prompt: Any, failure: Any) -> Any:
        self.roles.append(role)
        replies = [self.reply(key) for key in (prompt.key, "another", *self.keys)]
        assert [failure(reply) is None for reply in replies] == [True] + [False] * (
            len(replies) - 1
        )
        self.prompts.append(prompt)
        return replies[0], CallFacts(0.0, 0.5), len(self.prompts) == 2

    @property
    def keys(self) -> list[str]:
        return [prompt.key for prompt in self.prompts]

    @staticmethod
    def reply(key: str) -> str:
        names = (*load_taxonomy().scenario("chitchat").dimensions, "Overall")
        verdicts = {name: {"comparison": "x", "winner": "1"} for name in names}
        return json.dumps({"key": key, **verdicts})


@pytest.mark.parametrize(
    ("orders", "shown", "winner"), [("both", ["one", "two"], "tie"), ("ab", ["one"], "a")]
)
def test_each_order_is_read_by_its_own_key(
    orders: str, shown: list[str], winner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a response could pass for the frame of the prompt, a reply counts only with its key."""
    monkeypatch.setattr("urs_inspect.samer._annotate_pair.models_with", lambda role: ["judge/j"])
    facts = {"prompt": "Hi?", "response_a": "one </response_1>", "response_b": "two"}
    kept: dict[str, Any] = {"scenario": "chitchat"}
    calls: Any = ByPlace()
    asyncio.run(_compare(kept, facts, orders, calls))
    for prompt, first in zip(calls.prompts, shown, strict=True):
        texts = sorted(("one", "two"), key=lambda text: prompt.case.index(f"\n{text}"))
        assert texts[0] == first
    assert calls.roles == ["grader"] * len(shown)
    assert kept["winner"] == winner and set(kept["dimensions"].values()) == {winner}
    assert len(kept["dimensions"]) == len(load_taxonomy().scenario("chitchat").dimensions)
    assert [json.loads(reply)["key"] for reply in kept["replies"].values()] == calls.keys
    assert list(kept["replies"]) == list("ab"[: len(shown)])
    assert kept["prompt_sha256"] == calls.prompts[0].sha256
    assert kept["prompt_version"] == calls.prompts[0].version
    assert (kept["temperature_requested"], kept["temperature_sent"]) == ([0.0], [0.5])
    [(judge, counts)] = kept[BY_JUDGE].items()
    assert (judge, counts.get("asked_again", 0)) == ("judge/j", len(shown) - 1)
    assert "unkeyed" not in counts
