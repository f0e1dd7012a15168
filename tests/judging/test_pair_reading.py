"""What all replies about a pair say together."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from urs_inspect.judging import OVERALL
from urs_inspect.judging.pair_calls import First, PairReply
from urs_inspect.judging.pair_reading import about_responses, final_verdict, hold_against, read_pair_reply


def _reading(first: First, **winners: str) -> Any:
    asked = (*winners, OVERALL) if OVERALL not in winners else tuple(winners)
    text = json.dumps({name: {"comparison": "x", "winner": winner} for name, winner in winners.items()})
    return read_pair_reply(asdict(PairReply(first, asked, text)))


@pytest.mark.parametrize(
    ("verdicts", "final"),
    [(["a"], "a"), (["a", "a"], "a"), (["a", "b"], "tie"), (["tie", "b"], "tie"), (["a", None], None), ([], None)],
)
def test_orders_that_disagree_are_a_tie_and_an_unread_one_leaves_none(verdicts: list[str | None], final: str | None):
    assert final_verdict(verdicts) == final


@pytest.mark.parametrize(
    ("shown", "first", "verdict"),
    [("1", "a", "a"), ("2", "a", "b"), ("1", "b", "b"), ("2", "b", "a"), ("tie", "b", "tie"), (None, "a", None)],
)
def test_a_verdict_as_shown_is_turned_into_one_on_a_and_b(shown: Any, first: str, verdict: str | None):
    assert about_responses(shown, first) == verdict


def test_both_orders_are_put_together_with_the_labels_of_what_was_asked():
    readings = [_reading("a", Clarity="1", Overall="1"), _reading("b", Clarity="1", Overall="2")]
    outcome = hold_against({"Clarity": "a", "Depth": "b", OVERALL: "a"}, readings)
    assert outcome.labels == {"Clarity": "a", OVERALL: "a"}
    assert outcome.orders == {"a": {"Clarity": "a", OVERALL: "a"}, "b": {"Clarity": "b", OVERALL: "a"}}
    assert outcome.verdicts == {"Clarity": "tie", OVERALL: "a"}


def test_a_reply_without_a_verdict_leaves_its_name_unread():
    outcome = hold_against({"Clarity": "a", OVERALL: "b"}, [_reading("a", Clarity="2")])
    assert outcome.verdicts == {"Clarity": "b", OVERALL: None}
    assert hold_against({OVERALL: "b"}, []).verdicts == {OVERALL: None}
