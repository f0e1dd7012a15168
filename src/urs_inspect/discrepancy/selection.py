"""What was selected for each pair of models, and how."""

from collections.abc import Mapping
from dataclasses import dataclass

from urs_inspect.discrepancy.greedy import SetSimilarity
from urs_inspect.discrepancy.response_similarity import Pair

LAMBDA = 1.0
"""Weight of diversity (MAD paper, section 3.5)."""
K = 10
"""Instructions a pair (MAD paper, section 3.1)."""


@dataclass(frozen=True)
class Selected:
    """An instruction selected for a pair.

    Attributes:
        id: Id of the instruction.
        response_similarity: M(f_i(x), f_j(x)).
        instruction_similarity: M(x, I), to the instructions selected before; 0 for the first.
        objective: What Eq. (2) makes smallest: response similarity + lambda x instruction similarity.
    """

    id: str
    response_similarity: float
    instruction_similarity: float
    objective: float


@dataclass(frozen=True)
class Selection:
    """What was selected, and how.

    Attributes:
        selected: Pair -> its instructions in the order of selection.
        candidates: Pair -> how many instructions it could choose from.
        lam: Lambda.
        set_similarity: How similarity to a set is made.
        size: Instructions in the pool.
    """

    selected: Mapping[Pair, tuple[Selected, ...]]
    candidates: Mapping[Pair, int]
    lam: float
    set_similarity: SetSimilarity
    size: int
