"""Whether a reply gives the sum."""

from decimal import Decimal

import pytest

from urs_inspect.judging.sum_reply import sum_outcome


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("12 + 34 = 46\nAnswer: 46", ("right", Decimal(46))),
        ("Answer: 46.0", ("right", Decimal(46))),
        ("Answer: 47", ("wrong", Decimal(47))),
        ("I will not.", ("no_number", None)),
        (" \n", ("no_response", None)),
    ],
)
def test_the_sum_must_be_exact(reply: str, expected: tuple[str, Decimal | None]):
    assert sum_outcome(reply, Decimal(46)) == expected
