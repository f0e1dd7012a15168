"""A report as JSON."""

import math
from dataclasses import fields, is_dataclass
from typing import Any

from urs_inspect.reports.intent.report import IntentReport

FORMAT = "urs-inspect intent report"
"""Tells the file from others."""
SCHEMA_VERSION = 1
"""Raised when a key changes its name or meaning."""


def report_dict(report: IntentReport) -> dict[str, Any]:
    """What JSON can hold of a report.

    Args:
        report: The report.

    Returns:
        The attributes of `IntentReport` by their names, and `format` and `schema_version` before them. Numbers that are
        not known are null; cells of reported intent and language are keyed `<group>/<language>`.
    """
    return {"format": FORMAT, "schema_version": SCHEMA_VERSION, **_plain(report)}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {"/".join(key) if isinstance(key, tuple) else key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
