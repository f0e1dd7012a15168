"""Logs -> typed results."""

from urs_inspect.reports.battles import HumanBattles, read_battles, read_human_battles
from urs_inspect.reports.judge_result import Effort, JudgePair, JudgeResult, read_judge
from urs_inspect.reports.judges import (
    DatasetJudges,
    DatasetRatings,
    RatingJudge,
    RatingPair,
    read_judges,
    read_rating_judge,
    read_ratings,
)
from urs_inspect.reports.log_files import finished_logs, log_files
from urs_inspect.reports.published import Published, PublishedTable, load_published
from urs_inspect.reports.rankings import Comparison, read_comparisons
from urs_inspect.reports.responses import ANSWER, COMPARE, RESPONSES, read_pool
from urs_inspect.reports.results import IntentResult, last_judgement, read_result, value_of

__all__ = [
    "ANSWER",
    "COMPARE",
    "RESPONSES",
    "Comparison",
    "DatasetJudges",
    "DatasetRatings",
    "Effort",
    "HumanBattles",
    "IntentResult",
    "JudgePair",
    "JudgeResult",
    "Published",
    "PublishedTable",
    "RatingJudge",
    "RatingPair",
    "finished_logs",
    "last_judgement",
    "load_published",
    "log_files",
    "read_battles",
    "read_comparisons",
    "read_human_battles",
    "read_judge",
    "read_judges",
    "read_pool",
    "read_rating_judge",
    "read_ratings",
    "read_result",
    "value_of",
]
