"""Vectors at two positions, and the requests for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from urs_inspect._util import InputError
from urs_inspect.samer.conversation import Conversations, Encoded, OverlongError
from urs_inspect.samer.engines.protocol import EngineFailure, EngineSpec, FailureMode, Outcome, QueryResponse, Scored
from urs_inspect.samer.evaluation import RawOutputs, WeightsAt, from_rows, raw_outputs
from urs_inspect.samer.heads import Heads
from urs_inspect.samer.weights import Array

Prompt = tuple[int, ...]


class ReplyError(Exception):
    """What an engine gave cannot be read.

    Attributes:
        mode: What kind of failure.
        detail: One line for the user.
    """

    def __init__(self, mode: FailureMode, detail: str) -> None:
        super().__init__(detail)
        self.mode = mode
        self.detail = detail


class Pooling(Protocol):
    """How an engine pools: which rows it returns for a prompt, and what they mean."""

    @property
    def task(self) -> str:
        """Name of the pooling task."""

    def prompts(self, encoded: Encoded) -> list[Prompt]:
        """The prompts of one item: query + response, and the query alone if one pass cannot give both vectors."""

    def size(self, prompt: Prompt) -> tuple[int, int]:
        """Shape that a reply to a prompt must have."""

    def rows(self, encoded: Encoded, replies: Sequence[Array]) -> Array:
        """Pick the rows at the query's and at the response's last token, shape (2, width).

        Raises:
            ReplyError: If a reply has another shape or is not finite.
        """

    def outputs(self, rows: Array) -> list[RawOutputs]:
        """Make outputs of rows, shape (n, 2, width)."""


@dataclass(frozen=True)
class StepPooling:
    """Stock vLLM with STEP pooling: one vector for each end-of-turn token; the heads run here, in float32.

    Attributes:
        heads: The heads.
        end_of_turn: Id of the end-of-turn token.
        weights_at: Where the weighter reads.
    """

    heads: Heads
    end_of_turn: int
    weights_at: WeightsAt = "response"
    task: str = "token_embed"

    def prompts(self, encoded: Encoded) -> list[Prompt]:
        """One prompt if the query is a prefix, else two."""
        return [encoded.ids] if encoded.is_prefix else [encoded.ids, encoded.query_ids]

    def size(self, prompt: Prompt) -> tuple[int, int]:
        """(end-of-turn tokens, hidden size)."""
        return prompt.count(self.end_of_turn), self.heads.hidden_size

    def rows(self, encoded: Encoded, replies: Sequence[Array]) -> Array:
        """The query's vector is the one of its last end-of-turn token, the response's the last one."""
        prompts = self.prompts(encoded)
        _check(prompts, replies, self)
        if len(prompts) == 2:
            return np.stack([replies[1][-1], replies[0][-1]])
        return np.stack([replies[0][encoded.query_ids.count(self.end_of_turn) - 1], replies[0][-1]])

    def outputs(self, rows: Array) -> list[RawOutputs]:
        """Run the heads, each where it is needed."""
        return raw_outputs(self.heads, rows[:, 0], rows[:, 1], self.weights_at)


@dataclass(frozen=True)
class PluginPooling:
    """vLLM with this package's plugin: all heads at the query's and at the response's last token.

    Attributes:
        dimensions: Dimensions of a head.
        end_of_turn: Id of the end-of-turn token.
        weights_at: Where the weighter reads.
        told: Whether the engine is told where the query ends. A server cannot be: it takes the last end-of-turn token
            before the last token, which is checked here for each item.
    """

    dimensions: int
    end_of_turn: int
    weights_at: WeightsAt = "response"
    told: bool = False
    task: str = "token_classify"

    def prompts(self, encoded: Encoded) -> list[Prompt]:
        """One prompt if the query is a prefix and the engine finds its end, else two."""
        if encoded.is_prefix and (self.told or self._found(encoded.ids) == encoded.query_length - 1):
            return [encoded.ids]
        return [encoded.ids, encoded.query_ids]

    def size(self, prompt: Prompt) -> tuple[int, int]:
        """(2, three heads)."""
        return 2, 3 * self.dimensions

    def rows(self, encoded: Encoded, replies: Sequence[Array]) -> Array:
        """Both rows of one reply; of two replies the last row of each."""
        prompts = self.prompts(encoded)
        _check(prompts, replies, self)
        return np.stack([replies[1][1], replies[0][1]]) if len(prompts) == 2 else replies[0]

    def outputs(self, rows: Array) -> list[RawOutputs]:
        """Pick from each row the heads that count there."""
        return [from_rows(pair, self.weights_at) for pair in rows]

    def _found(self, ids: Prompt) -> int:
        """The rule of `vllm_plugin.pooler.query_position`."""
        return next((at for at in range(len(ids) - 2, -1, -1) if ids[at] == self.end_of_turn), len(ids) - 1)


def _check(prompts: Sequence[Prompt], replies: Sequence[Array], pooling: Pooling) -> None:
    if len(replies) != len(prompts):
        raise ReplyError("wrong_shape", f"{len(replies)} results for {len(prompts)} prompts")
    for prompt, reply in zip(prompts, replies, strict=True):
        expected = pooling.size(prompt)
        if reply.shape != expected:
            raise ReplyError("wrong_shape", f"a result of shape {reply.shape}; expected {expected}")
        if not np.isfinite(reply).all():
            raise ReplyError("not_finite", "a result has NaN or infinity; expected finite numbers")


def encode_all(
    conversations: Conversations, spec: EngineSpec, items: Sequence[QueryResponse]
) -> list[Encoded | EngineFailure]:
    """Encode items.

    Args:
        conversations: The model's tokeniser and template.
        spec: Length, start tokens and what happens to longer items.
        items: Queries and responses.

    Returns:
        For each item its token ids, or a failure if they are too many.
    """

    def encode(item: QueryResponse) -> Encoded | EngineFailure:
        try:
            return conversations.encode(
                item.query, item.response, spec.max_length, overlong=spec.overlong, bos=spec.bos
            )
        except OverlongError as error:
            return EngineFailure("too_long", str(error))
        except InputError as error:
            return EngineFailure("error", str(error))

    return [encode(item) for item in items]


def outcomes(
    pooling: Pooling, encoded: Sequence[Encoded | EngineFailure], rows: Sequence[Array | ReplyError]
) -> list[Outcome]:
    """Run on all rows at once what is left to run, and put every result in its place.

    Args:
        pooling: How the engine pools.
        encoded: All items.
        rows: For each item that was encoded its rows, shape (2, width), or why there are none.

    Returns:
        One outcome for each item.
    """
    sound = [row for row in rows if not isinstance(row, ReplyError)]
    outputs = iter(pooling.outputs(np.stack(sound)) if sound else [])
    remaining = iter(rows)

    def outcome(item: Encoded | EngineFailure) -> Outcome:
        if isinstance(item, EngineFailure):
            return item
        row = next(remaining)
        if isinstance(row, ReplyError):
            return EngineFailure(row.mode, row.detail)
        return Scored(next(outputs), item.shortened, len(item.ids))

    return [outcome(item) for item in encoded]


def one_line(error: BaseException) -> str:
    """An error's text on one line, at most 300 characters, or its type if it has none."""
    return " ".join(str(error).split())[:300] or type(error).__name__
