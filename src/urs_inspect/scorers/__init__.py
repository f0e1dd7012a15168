"""How an answer becomes a score, and scores become metrics."""

from urs_inspect.scorers.evolved import evolution_report, evolved
from urs_inspect.scorers.intent_judge import intent_judge, judge_outcome
from urs_inspect.scorers.metrics import group_finals, intent_report, outcome_counts
from urs_inspect.scorers.pair_choice import competition_report, human_choice, pair_choice, ratings
from urs_inspect.scorers.pair_metrics import judge_report
from urs_inspect.scorers.pair_verdict import pair_verdict
from urs_inspect.scorers.rating_agreement import rating_agreement, rating_report
from urs_inspect.scorers.samer import samer, samer_outcome, samer_report

__all__ = [
    "competition_report",
    "evolution_report",
    "evolved",
    "group_finals",
    "human_choice",
    "intent_judge",
    "intent_report",
    "judge_outcome",
    "judge_report",
    "outcome_counts",
    "pair_choice",
    "pair_verdict",
    "rating_agreement",
    "rating_report",
    "ratings",
    "samer",
    "samer_outcome",
    "samer_report",
]
