"""Numbers as text. What is not known is never `nan`."""

import math

from urs_inspect.rating import Estimate
from urs_inspect.reports.intent.report import UNSCORED_ALERT

NONE = "–"
"""Stands where there is no number."""
UNKNOWN = "not known"
"""Stands where there is a number that nobody wrote down."""
ALERT = "!"
"""Stands beside a share of answers without a score that needs attention."""
_MINUS = "−"
_SMALLEST_P = 0.001
_MINUTE, _HOUR = 60, 3600


def mean_text(value: float) -> str:
    """A score, 1 to 10."""
    return NONE if math.isnan(value) else f"{value:.2f}"


def interval_text(low: float, high: float) -> str:
    """An interval of scores."""
    return "" if math.isnan(low) or math.isnan(high) else f"{low:.2f}–{high:.2f}"


def signed_text(value: float) -> str:
    """A difference or a correlation with its sign."""
    if math.isnan(value):
        return NONE
    text = f"{abs(value):.2f}"
    return text if float(text) == 0 else ("+" if value > 0 else _MINUS) + text


def signed_interval(estimate: Estimate) -> str:
    """An interval that may hold negative numbers."""
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return ""
    return f"{signed_text(estimate.low)} to {signed_text(estimate.high)}"


def p_text(p: float) -> str:
    """A p-value."""
    return NONE if math.isnan(p) else f"<{_SMALLEST_P}" if p < _SMALLEST_P else f"{p:.3f}"


def count_text(number: float) -> str:
    """A number of things."""
    return UNKNOWN if math.isnan(number) else f"{number:,.0f}"


def share_text(share: float) -> str:
    """A share of 1 in percent; never 0% or 100% of what is only nearly that."""
    if math.isnan(share):
        return NONE
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def rank_text(ranks: tuple[int, int] | None) -> str:
    """Ranks that a model may have; of one that is not ranked none."""
    if ranks is None:
        return NONE
    first, last = ranks
    return f"{first}" if first == last else f"{first}–{last}"


def unscored_text(share: float) -> str:
    """A share of answers without a score, one that needs attention with a mark."""
    text = f"{share:.1%}" if 0 < share < 0.1 else share_text(share)
    return f"{text} {ALERT}" if share > UNSCORED_ALERT else text


def money_text(dollars: float) -> str:
    """US dollars, small sums with two digits that say something."""
    if math.isnan(dollars):
        return UNKNOWN
    if dollars == 0 or dollars >= 1:
        return f"${dollars:,.2f}"
    digits = min(6, max(2, 1 - math.floor(math.log10(dollars))))
    return f"${dollars:.{digits}f}"


def duration_text(seconds: float) -> str:
    """A time span in two units at most."""
    if math.isnan(seconds):
        return UNKNOWN
    if seconds < _MINUTE:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    minutes = round(seconds / _MINUTE)
    return f"{minutes // 60:,} h {minutes % 60} min"


def level_text(level: float) -> str:
    """A confidence level in percent."""
    return f"{100 * level:.10g}%"
