"""Logs -> typed results."""

from urs_inspect.reports.judges import DatasetJudges, JudgePair, JudgeResult, read_judge, read_judges
from urs_inspect.reports.published import Published, PublishedTable, load_published
from urs_inspect.reports.results import IntentResult, last_judgement, read_result, value_of

__all__ = [
    "DatasetJudges",
    "IntentResult",
    "JudgePair",
    "JudgeResult",
    "Published",
    "PublishedTable",
    "last_judgement",
    "load_published",
    "read_judge",
    "read_judges",
    "read_result",
    "value_of",
]
