"""What every engine of SaMer does: queries and responses in, raw outputs or failures out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

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
