"""What comparisons say about the strengths of models, those under way included."""

from urs_inspect.discrepancy.posterior import Posterior, laplace
from urs_inspect.rating.battles import Battles
from urs_inspect.rating.bootstrap import Integers


class Belief:
    """The posterior, computed when first needed: a fixed rule without a confidence needs none.

    Args:
        battles: Comparisons with an outcome.
        pending: Numbers of the two models, shape (2,), of each comparison under way; its outcome is taken for the
            expected one.
    """

    def __init__(self, battles: Battles, pending: list[Integers]) -> None:
        self._battles = battles
        self._pending = pending
        self._settled: Posterior | None = None
        self._current: Posterior | None = None

    def settled(self) -> "Belief":
        """The belief without what is under way."""
        alone = Belief(self._battles, [])
        alone._settled = self._settle()
        return alone

    def posterior(self) -> Posterior:
        """The posterior after all comparisons, those under way included."""
        if self._current is None:
            self._current = self._settle()
        while self._pending:
            self._current = self._current.after(self._pending.pop())
        return self._current

    def add(self, pair: Integers) -> None:
        """Count one more comparison as under way."""
        self._pending.append(pair)

    def _settle(self) -> Posterior:
        if self._settled is None:
            self._settled = laplace(self._battles)
        return self._settled
