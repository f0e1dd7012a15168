"""What an engine offers, and what all engines share.

They share batches of requests, vectors at two positions, and outcomes.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

import anyio
import numpy as np
from anyio import to_thread
from anyio.lowlevel import RunVar

from urs_inspect._util import InputError
from urs_inspect.samer._checkpoint import (
    Checkpoint,
    resolve_dtype,
    resolve_weights_at,
)
from urs_inspect.samer._checkpoint_check import open_model
from urs_inspect.samer._conversation import (
    ANY_END,
    Bos,
    Conversations,
    Encoded,
    Ids,
    Overlong,
    OverlongError,
)
from urs_inspect.samer._evaluation import Heads, RawOutputs, WeightsAt, raw_outputs
from urs_inspect.samer._options import SamerOptions
from urs_inspect.samer._reward import Description
from urs_inspect.samer._weights import Array

_T = TypeVar("_T")

FailureMode = Literal[
    "too_long",
    "unreachable",
    "timeout",
    "refused",
    "wrong_model",
    "wrong_shape",
    "not_finite",
    "error",
]


@dataclass(frozen=True)
class QueryResponse:
    """What is evaluated: what the user asked and what was answered; either may be empty."""

    query: str
    response: str


@dataclass(frozen=True)
class EngineFailure:
    """Why one item got no outputs, in one line; a failure is never a score."""

    mode: FailureMode
    detail: str


@dataclass(frozen=True)
class Scored:
    """Outputs of one item."""

    raw: RawOutputs
    shortened: int = 0  # tokens that were cut from the end of the response to make it fit
    tokens: int = 0  # of query and response as the model saw them


@dataclass(frozen=True)
class EngineSpec:
    """How an engine was set up, for the log."""

    model: str  # folder or address
    weights_at: WeightsAt = "response"
    bos: Bos = "single"
    # that the backbone computes in, as the engine resolved it; `as served` by a server
    dtype: str = "auto"
    # that the model is run with; query + response have one token less at most
    max_length: int = 8192
    overlong: Overlong = "shorten"
    reward: Description | None = None  # what a reward model's outputs mean; None for SaMer


def open_with_spec(choice: SamerOptions, *, on_cpu: bool = False) -> tuple[Checkpoint, EngineSpec]:
    """Check a model's folder, and settle how an engine in this process runs it.

    If it runs `on_cpu`, the type `auto` is float32.
    """
    checkpoint = open_model(choice.model, choice.description)
    dtype = "float32"
    if not on_cpu or choice.dtype != "auto":
        dtype = resolve_dtype(checkpoint, choice.dtype)
    spec = EngineSpec(
        choice.model,
        resolve_weights_at(checkpoint.folder, choice.weights_at),
        choice.bos,
        dtype,
        checkpoint.conversations().fitting_length(checkpoint.max_length, choice.max_length),
        choice.overlong,
        checkpoint.reward,
    )
    return checkpoint, spec


class Engine(Protocol):
    """Runs a SaMer model."""

    @property
    def name(self) -> str:
        """Which engine this is."""

    @property
    def spec(self) -> EngineSpec:
        """How it was set up."""

    async def score(self, items: Sequence[QueryResponse]) -> "list[Outcome]":
        """Outputs of each item in the same order, or why there are none.

        An item's fault never raises.
        """

    async def close(self) -> None:
        """Give back what the engine holds; more than once does no harm."""


Outcome = Scored | EngineFailure


def one_line(error: BaseException, *, named: bool = False) -> str:
    """An error's text on one line of at most 300 characters, after its type if `named`.

    Its type if it has no text.
    """
    name = type(error).__name__
    return " ".join((f"{name}: {error}" if named else str(error)).split())[:300] or name


@dataclass(eq=False)
class _Ticket:
    item: QueryResponse
    outcome: Outcome | None = None


class Batching:
    """Runs a blocking function in a thread, one call at a time, with all items that are waiting.

    A harness asks for one sample at a time from many tasks; a model wants many items at once.
    `limit` is the most items of one call, so that the first caller does not wait for all.
    """

    def __init__(
        self, run: Callable[[Sequence[QueryResponse]], list[Outcome]], limit: int = 512
    ) -> None:
        self._run = run
        self._limit = limit
        self._waiting: list[_Ticket] = []
        self._turn = anyio.Lock()

    async def score(self, items: Sequence[QueryResponse]) -> list[Outcome]:
        """Get the outcomes of items, in their order.

        If the function raises, that is the outcome.
        """
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
            return  # another caller's turn did them
        batch = self._waiting[: self._limit]
        self._waiting = self._waiting[self._limit :]
        try:
            outcomes = await to_thread.run_sync(self._outcomes, [ticket.item for ticket in batch])
        except BaseException:
            self._waiting[:0] = batch  # cancelled: the others' items go back in front
            raise
        for ticket, outcome in zip(batch, outcomes, strict=True):
            ticket.outcome = outcome

    def _outcomes(self, items: list[QueryResponse]) -> list[Outcome]:
        """Run items together, or one by one if that raises.

        So an item's fault stays its own.
        """
        try:
            outcomes = self._run(items)
            if len(outcomes) != len(items):
                raise RuntimeError(f"{len(outcomes)} outcomes for {len(items)} items")
        except Exception as error:  # a fault of an engine may not end a run
            if len(items) > 1:
                return [self._outcomes([item])[0] for item in items]
            return [EngineFailure("error", one_line(error, named=True))]
        return outcomes


def of_loop(variable: RunVar[_T], make: Callable[[], _T]) -> _T:
    """What belongs to this event loop, made when it is first asked for."""
    try:
        return variable.get()
    except LookupError:
        value = make()
        variable.set(value)
        return value


# ## Vectors at two positions


AnyHeads = Heads | Description
"""What makes outputs of vectors; of a reward model, whose engine runs the head itself, of
logits.
"""


class ReplyError(Exception):
    """What an engine gave cannot be used; `detail` is one line for the user."""

    def __init__(self, mode: FailureMode, detail: str) -> None:
        super().__init__(detail)
        self.mode = mode
        self.detail = detail


@dataclass(frozen=True)
class Reading:
    """A sequence of tokens to run, and the positions at which the model's vector is read."""

    ids: Ids
    positions: tuple[int, ...]


def readings(encoded: Encoded) -> list[Reading]:
    """What gives the vector at the query's end, and then that at the response's end.

    It is one pass where that is enough.
    """
    query = len(encoded.query_ids) - 1
    last = len(encoded.ids) - 1
    if encoded.is_prefix:  # attention is causal, so the response changes nothing at the query's end
        return [Reading(encoded.ids, (query, last))]
    return [Reading(encoded.query_ids, (query,)), Reading(encoded.ids, (last,))]


@dataclass(frozen=True)
class StepPooling:
    """Stock vLLM: STEP pooling with one vector per end-of-turn token.

    The logits at the last token without one.
    """

    end_of_turn: int  # ANY_END for a reward model, whose head vLLM runs itself
    hidden_size: int

    @property
    def task(self) -> str:
        """What vLLM calls it."""
        if self.end_of_turn == ANY_END:
            return "classify"
        return "token_embed"

    @property
    def options(self) -> dict[str, Any]:
        """`convert` and `pooler_config` for vLLM."""
        step = {}
        if self.end_of_turn != ANY_END:
            step = {"tok_pooling_type": "STEP", "step_tag_id": self.end_of_turn}
        pooler = {"task": self.task, **step, "use_activation": False}
        return {"convert": "embed" if step else "classify", "pooler_config": pooler}

    def size(self, ids: Ids) -> tuple[int, ...]:
        """Shape that a reply to a prompt must have."""
        steps = () if self.end_of_turn == ANY_END else (ids.count(self.end_of_turn),)
        return (*steps, self.hidden_size)

    def pair(self, encoded: Encoded, replies: Sequence[Array]) -> Array:
        """Vectors at the query's and at the response's end, from replies to `readings`.

        Their shape is (2, hidden).
        """
        asked = readings(encoded)
        if len(replies) != len(asked):
            raise ReplyError("wrong_shape", f"{len(replies)} results for {len(asked)} prompts")
        rows = []
        for reading, reply in zip(asked, replies, strict=True):
            expected = self.size(reading.ids)
            if reply.shape != expected:
                raise ReplyError(
                    "wrong_shape", f"a result of shape {reply.shape}; expected {expected}"
                )
            if not np.isfinite(reply).all():
                raise ReplyError(
                    "not_finite", "a result has NaN or infinity; expected finite numbers"
                )
            # of logits a single row, which is the last one
            rows_of = reply.reshape(-1, self.hidden_size)
            rows += [
                rows_of[reading.ids[: at + 1].count(self.end_of_turn) - 1]
                for at in reading.positions
            ]
        return np.stack(rows)


def encode_all(
    conversations: Conversations, spec: EngineSpec, items: Sequence[QueryResponse]
) -> list[Encoded | EngineFailure]:
    """Token ids of each item, or a failure if they are too many."""
    encoded: list[Encoded | EngineFailure] = []
    for item in items:
        try:
            given = (item.query, item.response, spec.max_length)
            encoded.append(conversations.encode(*given, overlong=spec.overlong, bos=spec.bos))
        except InputError as error:
            encoded.append(
                EngineFailure(
                    "too_long" if isinstance(error, OverlongError) else "error", str(error)
                )
            )
    return encoded


def outcomes(
    heads: AnyHeads,
    weights_at: WeightsAt,
    encoded: Sequence[Encoded | EngineFailure],
    pairs: Sequence[Array | EngineFailure],
) -> list[Outcome]:
    """Run the heads on all vectors at once, in float32, and put every result in its place.

    `pairs` holds for each item that was encoded its two vectors, shape (2, hidden), or why there
    are none.
    """
    usable = [pair for pair in pairs if not isinstance(pair, EngineFailure)]
    vectors = np.array(usable, np.float32).reshape(-1, 2, heads.hidden_size)
    if isinstance(heads, Description):
        outputs = iter(heads.raw(vectors[:, 1]))
    else:
        outputs = iter(raw_outputs(heads, vectors[:, 0], vectors[:, 1], weights_at))
    remaining = iter(pairs)

    def outcome(item: Encoded | EngineFailure) -> Outcome:
        if isinstance(item, EngineFailure):
            return item
        pair = next(remaining)
        if isinstance(pair, EngineFailure):
            return pair
        raw = next(outputs)
        if not raw.is_finite:
            return EngineFailure("not_finite", "the model gave NaN or infinity")
        return Scored(raw, item.shortened, len(item.ids))

    return [outcome(item) for item in encoded]


class LocalEngine(ABC):
    """An engine in this process: the items of all callers go to the model together."""

    name: str

    def __init__(self, checkpoint: Checkpoint, spec: EngineSpec, limit: int = 512) -> None:
        self.spec = spec
        self._conversations = checkpoint.conversations()
        self._heads = spec.reward or checkpoint.heads()
        self._batching = Batching(self._run, limit)

    async def score(self, items: Sequence[QueryResponse]) -> list[Outcome]:
        """Evaluate items in a thread; see `Engine.score`."""
        return await self._batching.score(items)

    def _run(self, items: Sequence[QueryResponse]) -> list[Outcome]:
        encoded = encode_all(self._conversations, self.spec, items)
        pairs = self._pairs([item for item in encoded if isinstance(item, Encoded)])
        return outcomes(self._heads, self.spec.weights_at, encoded, pairs)

    @abstractmethod
    def _pairs(self, ready: Sequence[Encoded]) -> list[Array | EngineFailure]:
        """Vectors at the end of each query and of each response, or why there are none."""
