"""Which annotated pairs are kept, and what is counted of them, without a run."""

import asyncio
import math
from typing import Any

import pytest
from inspect_ai.model import ModelName
from inspect_ai.scorer import SampleScore, Score, Target
from inspect_ai.solver import TaskState

from tests.reports.golden_files import check_golden
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.judging._pair_reply import ANNOTATION
from urs_inspect.samer._annotate_pair import _one_model, _scenario
from urs_inspect.samer._annotate_task import _explain, annotated_pair, annotation_report

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
