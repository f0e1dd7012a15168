"""How an answer becomes a score, and scores become metrics."""

from urs_inspect.scorers.intent_judge import intent_judge
from urs_inspect.scorers.judge_outcome import judge_outcome
from urs_inspect.scorers.metrics import (
    added_criteria,
    ci,
    epoch_deviation,
    group_mean,
    judge_alpha,
    self_judged,
    split_group_mean,
)

__all__ = [
    "added_criteria",
    "ci",
    "epoch_deviation",
    "group_mean",
    "intent_judge",
    "judge_alpha",
    "judge_outcome",
    "self_judged",
    "split_group_mean",
]
