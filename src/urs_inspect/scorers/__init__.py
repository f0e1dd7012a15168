"""How an answer becomes a score, and scores become metrics."""

from urs_inspect.scorers.intent_judge import intent_judge
from urs_inspect.scorers.judge_outcome import judge_outcome
from urs_inspect.scorers.metrics import (
    added_criteria,
    epoch_deviation,
    group_mean,
    judge_alpha,
    self_judged,
    split_group_mean,
)
from urs_inspect.scorers.pair_metrics import judge_report
from urs_inspect.scorers.pair_verdict import pair_verdict

__all__ = [
    "added_criteria",
    "epoch_deviation",
    "group_mean",
    "intent_judge",
    "judge_alpha",
    "judge_outcome",
    "judge_report",
    "pair_verdict",
    "self_judged",
    "split_group_mean",
]
