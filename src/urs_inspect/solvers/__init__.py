"""How a sample gets its answer."""

from urs_inspect.solvers.answers import NULL_ANSWERS, NullAnswer, evolve_instruction, null_answer
from urs_inspect.solvers.compare_pair import check_judge, compare_pair
from urs_inspect.solvers.contest import contest
from urs_inspect.solvers.give_rating import give_rating

__all__ = [
    "NULL_ANSWERS",
    "NullAnswer",
    "check_judge",
    "compare_pair",
    "contest",
    "evolve_instruction",
    "give_rating",
    "null_answer",
]
