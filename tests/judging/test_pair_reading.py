"""How each end of a call about a pair is read, and what is counted of the replies."""

import json
from dataclasses import asdict, replace

import pytest

from urs_inspect.judging._pair_reply import (
    MISSING_VERDICT,
    PENDING,
    First,
    PairReading,
    PairReply,
    compare_with_labels,
    final_verdict,
    read_pair_reply,
    reply_counts,
    unswap,
)
from urs_inspect.judging._verdicts import OVERALL

ONE = (OVERALL,)
THREE = ("Clarity", "Depth", OVERALL)
BOTH_WAYS: tuple[First, First] = ("a", "b")


def said(**winners: str) -> str:
    return json.dumps({name: {"winner": winner} for name, winner in winners.items()})


FIRST = '{"winner": "1"}'
ALL_FIRST = said(Clarity="1", Depth="1", Overall="1")
SOME = said(Clarity="1", Overall="2")


@pytest.mark.parametrize(
    ("reply", "verdicts", "mode"),
    [
        pytest.param(PairReply("a", ONE, FIRST), {OVERALL: "a"}, "", id="one verdict"),
        pytest.param(
            PairReply("a", THREE, SOME),
            {"Clarity": "a", "Depth": None, OVERALL: "b"},
            MISSING_VERDICT,
            id="one is missing",
        ),
        pytest.param(
            PairReply("a", ONE, FIRST, failure="refusal", error="no"), {}, "refusal", id="failure"
        ),
        pytest.param(
            PairReply("a", ONE, FIRST, stop_reason="error", error="no route"),
            {},
            "call_failed",
            id="call failed",
        ),
        pytest.param(
            PairReply("a", ONE, FIRST, stop_reason="error"), {}, "call_failed", id="no reply"
        ),
        pytest.param(
            PairReply("a", ONE, FIRST, error="no route"), {}, "call_failed", id="an error alone"
        ),
        pytest.param(
            PairReply("a", ONE, FIRST, stop_reason="max_tokens"), {}, "truncated", id="one, cut off"
        ),
        pytest.param(
            PairReply("a", THREE, ALL_FIRST, stop_reason="max_tokens"),
            dict.fromkeys(THREE, "a"),
            "truncated",
            id="several, cut off",
        ),
        pytest.param(
            PairReply("a", THREE, "Well,", stop_reason="max_tokens"),
            {},
            "truncated",
            id="cut off before any verdict",
        ),
        pytest.param(
            PairReply("a", THREE, "", stop_reason="content_filter"),
            {},
            "content_filter",
            id="withheld",
        ),
        pytest.param(
            PairReply("a", ONE, "", stop_reason="model_length"),
            {},
            "context_overflow",
            id="too long",
        ),
        pytest.param(PairReply("a", ONE, "", stop_reason=PENDING), {}, "no_answer", id="pending"),
        pytest.param(
            PairReply("a", ONE, "", stop_reason=PENDING, error="limit"),
            {},
            "no_answer",
            id="pending with an error",
        ),
        pytest.param(PairReply("a", ONE, "Hm."), {}, "unparseable", id="no record"),
        pytest.param(PairReply("a", ONE, FIRST, stop_reason="odd"), {OVERALL: "a"}, "", id="odd"),
    ],
)
@pytest.mark.parametrize("shown_first", BOTH_WAYS)
def test_each_end_of_a_call_is_read(
    reply: PairReply, verdicts: dict[str, str | None], mode: str, shown_first: First
) -> None:
    turned = {"a": shown_first, "b": "b" if shown_first == "a" else "a", None: None}
    found = read_pair_reply(replace(reply, first=shown_first))
    assert found.first == shown_first
    assert found.asked == reply.asked
    assert found.verdicts == {name: turned[verdict] for name, verdict in verdicts.items()}
    assert found.mode == mode
    assert bool(found.detail) == bool(mode)
    assert (found.failure is None) == (not mode or bool(verdicts))
    if found.failure is not None:
        assert (found.failure.mode, found.failure.detail) == (mode, found.detail)
    if reply.error and mode in ("call_failed", "refusal"):
        assert found.detail == reply.error
    if mode == MISSING_VERDICT:
        assert "Depth" in found.detail
        assert "Clarity" not in found.detail
    # As the store of a sample keeps it, with a name of a later version.
    kept = {**asdict(replace(reply, first=shown_first)), "new": 1}
    assert read_pair_reply(kept) == found


KEYED = '{"key": "bcdfghjk", "winner": "2"}'


@pytest.mark.parametrize(
    ("text", "needs_key", "mode", "unkeyed", "near"),
    [
        (KEYED, True, "", False, False),
        (KEYED.replace("bcdfghjk", "bcdfghxx"), True, "", False, True),
        (KEYED.replace("bcdfghjk", "vvvvvvvv"), False, "wrong_key", False, False),
        ('{"winner": "2"}', False, "", True, False),
        ('{"winner": "2"}', True, "no_key", True, False),
    ],
)
def test_a_reply_counts_with_the_key_or_where_it_needs_none(
    text: str, needs_key: bool, mode: str, unkeyed: bool, near: bool
) -> None:
    reply = PairReply("a", ONE, text, key="bcdfghjk", needs_key=needs_key, asked_again=True)
    found = read_pair_reply(reply)
    assert (found.mode, found.unkeyed, found.near_key) == (mode, unkeyed, near)
    assert found.verdicts == ({} if mode else {OVERALL: "b"})
    assert found.asked_again


def test_verdicts_of_a_judge_without_a_prompt_are_taken_as_they_are() -> None:
    reply = PairReply("b", ONE, "| 0.7 |", verdicts={OVERALL: "a"})
    found = read_pair_reply(reply)
    assert found.verdicts == {OVERALL: "a"}
    assert found.computed
    assert found.reply == "| 0.7 |"


def test_only_written_replies_are_counted_by_judge() -> None:
    written = read_pair_reply(PairReply("a", ONE, FIRST, key="bcdfghjk"))
    computed = read_pair_reply(PairReply("a", ONE, "| 0.7 |", verdicts={OVERALL: "a"}))
    failed = read_pair_reply(PairReply("a", ONE, stop_reason="error"))
    again = replace(written, unkeyed=False, asked_again=True, several_records=True)
    found = reply_counts({"x": [written, again, failed], "y": [computed], "z": [written]})
    assert found == {
        "unkeyed": 2,
        "asked_again": 1,
        "near_key": 0,
        "several_records": 1,
        "reply_counts": {
            "x": {"replies": 2, "unkeyed": 1, "asked_again": 1, "several_records": 1},
            "z": {"replies": 1, "unkeyed": 1},
        },
    }
    assert reply_counts({})["reply_counts"] == {}


@pytest.mark.parametrize(
    ("verdicts", "final"),
    [
        (["a"], "a"),
        (["a", "a"], "a"),
        (["a", "b"], "tie"),
        (["a", "tie"], "tie"),
        (["tie", "tie"], "tie"),
        (["a", None], None),
        ([None, None], None),
        ([], None),
    ],
)
def test_the_final_verdict_of_all_orders(verdicts: list[str | None], final: str | None) -> None:
    assert final_verdict(verdicts) == final


def test_what_was_shown_second_is_the_other_response() -> None:
    table = {(word, first): unswap(word, first) for word in ("1", "2", "tie") for first in "ab"}
    assert table == {
        ("1", "a"): "a",
        ("1", "b"): "b",
        ("2", "a"): "b",
        ("2", "b"): "a",
        ("tie", "a"): "tie",
        ("tie", "b"): "tie",
    }


def test_labels_of_what_was_asked_are_compared_and_replies_of_one_order_add_up() -> None:
    labels = {OVERALL: "a", "Clarity": "b", "Depth": "tie", "Wit": "a"}
    readings = [
        PairReading("a", ("Clarity",), {"Clarity": "b"}),
        PairReading("a", (OVERALL,), {OVERALL: "a"}),
        PairReading("b", ("Clarity", OVERALL), {"Clarity": "b", OVERALL: "b"}),
    ]
    found = compare_with_labels(labels, readings)
    assert found.labels == {OVERALL: "a", "Clarity": "b"}
    assert found.orders == {
        "a": {OVERALL: "a", "Clarity": "b"},
        "b": {OVERALL: "b", "Clarity": "b"},
    }
    assert found.verdicts == {OVERALL: "tie", "Clarity": "b"}
    nothing = compare_with_labels(labels, [PairReading("a", ("Depth",), {})])
    assert nothing.verdicts == {OVERALL: None, "Depth": None}
