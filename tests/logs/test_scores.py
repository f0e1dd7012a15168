"""Tests of `urs_inspect.logs._scores`."""

import math

from inspect_ai.model import ModelUsage

from urs_inspect.logs._scores import usage_of


def test_what_a_cache_held_was_sent_as_well() -> None:
    used = ModelUsage(
        input_tokens=1,
        output_tokens=2,
        total_tokens=38,
        input_tokens_cache_read=30,
        input_tokens_cache_write=5,
    )
    found = usage_of(used)
    assert (found.sent, found.received) == (36, 2)
    assert math.isnan(found.cost)
    assert usage_of(ModelUsage()).cost == 0  # no token, no cost
