"""Failure modes in the harness's words."""

from typing import get_args

import pytest

from urs_inspect.judging import FAILURE_MODES
from urs_inspect.judging.pair_reply import MISSING_VERDICT
from urs_inspect.scorers.arguments import Reason, reason_of

NO_RESPONSE = {"empty_reply", "call_failed", "no_answer", "context_overflow"}
REFUSAL = {"refusal", "content_filter"}


@pytest.mark.parametrize("mode", [*FAILURE_MODES, MISSING_VERDICT])
def test_every_mode_has_a_reason(mode: str) -> None:
    expected = "no_response" if mode in NO_RESPONSE else "refusal" if mode in REFUSAL else "invalid_response_format"
    assert reason_of([mode]) == expected
    assert expected in get_args(Reason)


def test_the_reason_of_most_replies_counts_and_the_first_of_equals() -> None:
    assert reason_of(["unparseable", "call_failed", "empty_reply"]) == "no_response"
    assert reason_of(["refusal", "call_failed"]) == "refusal"
    assert reason_of(["call_failed", "refusal"]) == "no_response"


def test_a_sample_that_nobody_was_asked_about_has_no_response() -> None:
    assert reason_of([]) == "no_response"
