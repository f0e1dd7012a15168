"""How a sample gets its answer."""

from urs_inspect.solvers.compare_pair import compare_pair
from urs_inspect.solvers.null_answer import NULL_ANSWERS, NullAnswer, null_answer

__all__ = ["NULL_ANSWERS", "NullAnswer", "compare_pair", "null_answer"]
