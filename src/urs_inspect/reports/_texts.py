"""Numbers, lists of names and levels as text."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from urs_inspect.stats import Estimate

DASH = "–"
"""Shown where a number is not known."""
UNKNOWN = "not known"
COMMAND = "run: "
"""Begins a note that is a command: a terminal prints it as one line, so that it can be copied."""
Format = Callable[[Any], str]


_MOST_NAMES = 4
_SMALL = 2
_MEDIUM = 50
"""Widths of scales up to which means have three decimals, and two."""


def number(digits: int = 2, *, sign: bool = False, percent: bool = False) -> Format:
    """A format of numbers and estimates.

    It writes `0.83`, `0.83 (0.70 to 0.91)`, `+0.83`, `83%`, or a dash for NaN and None.

    Args:
        digits: Number of decimals.
        sign: Whether a number above 0 has a plus.
        percent: Whether a share is written in percent.

    Returns:
        A function from a value to its text.

    Examples:
        >>> from urs_inspect.reports import number
        >>> number(0, percent=True)(0.83)
        '83%'
    """

    def digits_of(value: float) -> str:
        shown = round(100 * value if percent else value, digits) or 0.0  # no negative zero
        return f"{shown:{'+' if sign and shown else ''},.{digits}f}".replace("-", "−") + (
            "%" if percent else ""
        )

    def text(value: Any) -> str:
        if isinstance(value, Estimate):
            bounds = ""
            if not math.isnan(value.low):
                bounds = f" ({digits_of(value.low)} to {digits_of(value.high)})"
            if math.isnan(value.value):
                return DASH
            return digits_of(value.value) + bounds
        if value is None or math.isnan(value):
            return DASH
        return digits_of(value)

    return text


def decimals(width: float) -> int:
    """Decimals with which means are written on a scale of some width: 3, 2 or 1."""
    if width <= _SMALL:
        return 3
    if width <= _MEDIUM:
        return 2
    return 1


def p_value(value: float | None) -> str:
    """A p-value as text: `0.042`, `<0.001`, or a dash if it is not known."""
    if value is None or math.isnan(value):
        return DASH
    if value < 0.001:
        return "<0.001"
    return f"{value:.3f}"


def share(value: float) -> str:
    """A share of 1 in percent, never 0% or 100% of what is only nearly that: `83%`, `<1%`, or a
    dash for NaN.
    """
    if math.isnan(value):
        return DASH
    if 0 < value < 0.005:
        return "<1%"
    if 0.995 <= value < 1:
        return ">99%"
    return f"{value:.0%}"


def rating_text(value: Estimate | float) -> str:
    """A rating of Bradley-Terry or Elo, or its estimate, which unlike a count has no separators:
    `1024`.
    """
    return number(0)(value).replace(",", "")


def count(value: float) -> str:
    """A count, or that it is not known."""
    if math.isnan(value):
        return UNKNOWN
    return f"{value:,.0f}"


def money(dollars: float) -> str:
    """US dollars, small sums with two significant digits."""
    if math.isnan(dollars):
        return UNKNOWN
    if dollars == 0 or dollars >= 1:
        return f"${dollars:,.2f}"
    return f"${dollars:.{min(6, max(2, 1 - math.floor(math.log10(dollars))))}f}"


def duration(seconds: float) -> str:
    """A time span in at most two units."""
    if math.isnan(seconds):
        return UNKNOWN
    if seconds < 60:
        if seconds >= 10:
            return f"{seconds:.0f} s"
        return f"{seconds:.1f} s"
    whole = round(seconds)
    minutes = round(seconds / 60)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def listed(
    names: Sequence[str], joint: str = "and", separator: str = ", ", most: int = _MOST_NAMES
) -> str:
    """Names as part of a sentence, those beyond the most as a count."""
    shown = list(names)
    if len(shown) > most + 1:
        shown = [*shown[:most], f"{len(names) - most} more"]
    if len(shown) == 1:
        return shown[0]
    return f"{separator.join(shown[:-1])} {joint} {shown[-1]}"


def level_text(level: float) -> str:
    """A confidence level in percent: `95%`."""
    return f"{100 * level:.10g}%"


def ranks_text(models: pd.DataFrame) -> list[str]:
    """The ranks that each model may have, `1–2`, or a dash."""
    texts = []
    for low, high in zip(models["rank_from"], models["rank_to"], strict=True):
        if pd.isna(low):
            texts.append(DASH)
        else:
            texts.append(f"{low:g}" if low == high else f"{low:g}–{high:g}")
    return texts
