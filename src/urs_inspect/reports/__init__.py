"""Logs -> typed results."""

from urs_inspect.reports.results import IntentResult, last_judgement, read_result, value_of

__all__ = ["IntentResult", "last_judgement", "read_result", "value_of"]
