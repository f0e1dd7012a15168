"""How numbers are written in reports that are not yet `reports.tables.Report`s."""

import math

from urs_inspect.logs.naming import short_names
from urs_inspect.stats import Estimate

__all__ = [
    "NONE",
    "interval_text",
    "level_text",
    "mean_text",
    "p_text",
    "share_text",
    "short_names",
    "signed_interval",
    "signed_text",
]

NONE = "–"
"""Stands where there is no number."""
_MINUS = "−"
_SMALLEST_P = 0.001


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


def share_text(share: float) -> str:
    """A share of 1 in percent; never 0% or 100% of what is only nearly that."""
    if math.isnan(share):
        return NONE
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def level_text(level: float) -> str:
    """A confidence level in percent."""
    return f"{100 * level:.10g}%"
