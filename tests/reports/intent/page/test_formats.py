"""Numbers as text."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reports.intent.page.factory import NAN
from urs_inspect.rating import Estimate
from urs_inspect.reports.intent.page import formats


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (formats.mean_text(7.456), "7.46"),
        (formats.mean_text(NAN), "–"),
        (formats.interval_text(7.1, 8), "7.10–8.00"),
        (formats.interval_text(NAN, 8), ""),
        (formats.signed_text(0.424), "+0.42"),
        (formats.signed_text(-0.424), "−0.42"),
        (formats.signed_text(-0.004), "0.00"),
        (formats.signed_interval(Estimate(0, -0.0349, 0.1, 9, 9)), "−0.03 to +0.10"),
        (formats.signed_interval(Estimate(0, NAN, NAN, 1, 1)), ""),
        (formats.p_text(0.0004), "<0.001"),
        (formats.rank_text((1, 3)), "1–3"),
        (formats.rank_text((2, 2)), "2"),
        (formats.rank_text(None), "–"),
        (formats.unscored_text(0.0), "0%"),
        (formats.unscored_text(0.02), "2.0%"),
        (formats.unscored_text(0.0201), "2.0% !"),
        (formats.unscored_text(0.27), "27% !"),
        (formats.p_text(0.0496), "0.050"),
        (formats.p_text(NAN), "–"),
        (formats.count_text(1234567), "1,234,567"),
        (formats.count_text(NAN), "not known"),
        (formats.share_text(0.004), "<1%"),
        (formats.share_text(0.999), ">99%"),
        (formats.share_text(0.251), "25%"),
        (formats.share_text(0.0), "0%"),
        (formats.share_text(1.0), "100%"),
        (formats.money_text(0.0), "$0.00"),
        (formats.money_text(1234.5), "$1,234.50"),
        (formats.money_text(0.0123), "$0.012"),
        (formats.money_text(0.9), "$0.90"),
        (formats.money_text(0.00000004), "$0.000000"),
        (formats.money_text(NAN), "not known"),
        (formats.duration_text(3.94), "3.9 s"),
        (formats.duration_text(12), "12 s"),
        (formats.duration_text(125), "2 min 5 s"),
        (formats.duration_text(7263), "2 h 1 min"),
        (formats.duration_text(3599.8), "1 h 0 min"),
        (formats.duration_text(NAN), "not known"),
        (formats.level_text(0.95), "95%"),
        (formats.level_text(0.995), "99.5%"),
    ],
)
def test_numbers_as_text(given: str, shown: str) -> None:
    assert given == shown


@given(st.floats(width=32, min_value=0, max_value=1e9) | st.just(math.nan))
def test_nothing_is_ever_nan(number: float) -> None:
    functions = [
        formats.mean_text,
        formats.signed_text,
        formats.p_text,
        formats.count_text,
        formats.share_text,
        formats.money_text,
        formats.duration_text,
    ]
    for function in functions:
        text = function(number)
        assert text
        assert "nan" not in text.lower()
        assert "-" not in text
