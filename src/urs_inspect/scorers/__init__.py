"""How an answer becomes a score; metrics stand in the modules."""

from urs_inspect.scorers._intent_judge import intent_judge, judge_outcome
from urs_inspect.scorers._pair_choice import human_choice, pair_choice
from urs_inspect.scorers._pair_verdict import pair_verdict
from urs_inspect.scorers._rating_agreement import rating_agreement

__all__ = [
    "human_choice",
    "intent_judge",
    "judge_outcome",
    "pair_choice",
    "pair_verdict",
    "rating_agreement",
]
