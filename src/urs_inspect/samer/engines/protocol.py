"""What an engine offers, and batches of requests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import anyio
from anyio import to_thread

from urs_inspect.samer.conversation import Bos, Overlong
from urs_inspect.samer.evaluation import RawOutputs, WeightsAt

FailureMode = Literal[
    "too_long", "unreachable", "timeout", "refused", "wrong_model", "wrong_shape", "not_finite", "error"
]


@dataclass(frozen=True)
class QueryResponse:
    """What is evaluated.

    Attributes:
        query: What the user asked; may be empty.
        response: What was answered; may be empty.
    """

    query: str
    response: str


@dataclass(frozen=True)
class EngineFailure:
    """Why one item got no outputs; a failure is never a score.

    Attributes:
        mode: What kind of failure.
        detail: One line for the user.
    """

    mode: FailureMode
    detail: str


@dataclass(frozen=True)
class Scored:
    """Outputs of one item.

    Attributes:
        raw: Outputs of the heads.
        shortened: Tokens that were cut from the end of the response to make it fit; 0 if none.
        tokens: Tokens of query and response as the model saw them.
    """

    raw: RawOutputs
    shortened: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class EngineSpec:
    """How an engine was set up, for the log.

    Attributes:
        model: Folder or address of the model.
        weights_at: Where the weighter reads.
        bos: Whether the text starts with the template's start token alone, or with one more.
        dtype: Type that the backbone computes in, as the engine settled it; `as served` by a server.
        max_length: Length that the model is run with; query + response have one token less at most.
        overlong: What happens to a longer one.
    """

    model: str
    weights_at: WeightsAt = "response"
    bos: Bos = "single"
    dtype: str = "auto"
    max_length: int = 8192
    overlong: Overlong = "shorten"


class Engine(Protocol):
    """Runs a SaMer model."""

    @property
    def name(self) -> str:
        """Which engine this is."""

    @property
    def spec(self) -> EngineSpec:
        """How it was set up."""

    async def score(self, items: Sequence[QueryResponse]) -> list[Scored | EngineFailure]:
        """Evaluate items.

        Args:
            items: Queries and responses, any number.

        Returns:
            For each item, in the same order, its outputs or why there are none; an item's fault never raises.
        """

    async def close(self) -> None:
        """Give back what the engine holds; more than once does no harm."""


Outcome = Scored | EngineFailure
Run = Callable[[Sequence[QueryResponse]], list[Outcome]]


@dataclass(eq=False)
class _Ticket:
    item: QueryResponse
    outcome: Outcome | None = None


class Batching:
    """Runs a blocking function in a thread, one call at a time, with all items that are waiting.

    A harness asks for one sample at a time from many tasks; a model wants many items at once.

    Args:
        run: Gives an outcome per item, in order.
        limit: Most items of one call, so that the first caller does not wait for all.
    """

    def __init__(self, run: Run, limit: int = 512) -> None:
        self._run, self._limit = run, limit
        self._waiting: list[_Ticket] = []
        self._turn = anyio.Lock()

    async def score(self, items: Sequence[QueryResponse]) -> list[Outcome]:
        """Get the outcomes of items, in their order; if the function raises, that is the outcome."""
        tickets = [_Ticket(item) for item in items]
        self._waiting.extend(tickets)
        try:
            while any(ticket.outcome is None for ticket in tickets):
                async with self._turn:
                    await self._run_waiting(tickets)
        finally:  # a caller that was cancelled wants nothing more
            mine = set(tickets)
            self._waiting = [ticket for ticket in self._waiting if ticket not in mine]
        return [ticket.outcome for ticket in tickets if ticket.outcome is not None]

    async def _run_waiting(self, tickets: list[_Ticket]) -> None:
        if all(ticket.outcome is not None for ticket in tickets):
            return  # someone else's turn did them
        batch, self._waiting = self._waiting[: self._limit], self._waiting[self._limit :]
        try:
            outcomes = await to_thread.run_sync(self._outcomes, [ticket.item for ticket in batch])
        except BaseException:
            self._waiting[:0] = batch  # cancelled: the others' items go back in front
            raise
        for ticket, outcome in zip(batch, outcomes, strict=True):
            ticket.outcome = outcome

    def _outcomes(self, items: list[QueryResponse]) -> list[Outcome]:
        """Run items together, or one by one if that raises, so that an item's fault stays its own."""
        try:
            outcomes = self._run(items)
            if len(outcomes) != len(items):
                raise RuntimeError(f"{len(outcomes)} outcomes for {len(items)} items")
        except Exception as error:  # a fault of an engine may not end a run
            if len(items) > 1:
                return [outcome for item in items for outcome in self._outcomes([item])]
            return [EngineFailure("error", " ".join(f"{type(error).__name__}: {error}".split())[:300])]
        return outcomes
