"""How a sample gets its answer."""

from urs_inspect.solvers._answers import NULL_ANSWERS, NullAnswer, null_answer
from urs_inspect.solvers._compare_pair import check_judge, compare_pair
from urs_inspect.solvers._contest import contest
from urs_inspect.solvers._give_rating import give_rating

__all__ = [
    "NULL_ANSWERS",
    "NullAnswer",
    "check_judge",
    "compare_pair",
    "contest",
    "give_rating",
    "null_answer",
]
