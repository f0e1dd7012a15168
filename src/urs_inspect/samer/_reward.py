"""Reward models besides SaMer.

A linear head at the last token, what its outputs mean, and the prompt that it reads.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from urs_inspect._arguments import check
from urs_inspect._util import InputError, choices, read_yaml_file
from urs_inspect.samer._conversation import ANY_END, Bos, Conversations, Encoded, Overlong
from urs_inspect.samer._evaluation import Evaluation, RawOutputs
from urs_inspect.samer._weights import Array

DESCRIPTION = "reward.yaml"  # file in a model's folder that says what the outputs of its head mean
HEAD = "score.weight"
REWARD = "reward"  # the head's weights in a checkpoint; name of the overall score
Kind = Literal["samer", "reward_model"]  # what a folder, or a server's model, is


_OTHER_HEADS = (  # a pattern of tensor names -> what they are, and a published model that has them
    (
        r"^(gating|regression_layer)\.",
        "a head with gating (gating, regression_layer), as ArmoRM has",
    ),
    (r"^v_head\.", "a value head (v_head), as GRM has"),
    (r"^score\.\d+\.", "a head of several layers (score.0, ...), as INF-ORM has"),
    (r"^classifier\.", "the head of an encoder (classifier)"),
    (
        r"^lm_head\.",
        "a language head alone (lm_head), a logit of which is the reward of Nemotron's",
    ),
)


def unsupported_head(names: Iterable[str]) -> str | None:
    """What a folder without SaMer's heads is, if it is a reward model of another kind.

    Its tensors tell.
    """
    tensors = list(names)
    if HEAD in tensors:
        return None
    for pattern, head in _OTHER_HEADS:
        if any(re.search(pattern, name) for name in tensors):
            return (
                f"a reward model of a kind that is not supported: {head}; supported are SaMer, and"
                f" a decoder with one linear head, {HEAD}"
            )
    return None


class Output(BaseModel):
    """One output of a head, also given by its name alone.

    `offset + scale * logit` is the number that is reported.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str = Field(min_length=1)
    scale: float = 1.0
    offset: float = 0.0

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"name": value}
        return value


class Description(BaseModel):
    """What a head's outputs mean."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    outputs: tuple[Output, ...] = Field(min_length=1)  # in the order of the model's labels
    # the name of an output, or weights by name, of which it is the weighted sum
    overall: str | dict[str, float]
    # of Jinja, in place of the tokenizer's chat template
    template: str | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        columns = [name.lower().replace(" ", "_") for name in self.names]
        if len(set(columns)) < len(columns):
            raise ValueError(f"outputs: a name is there twice: {choices(self.names)}")
        if REWARD in columns and (len(columns) > 1 or self.weights != {REWARD: 1.0}):
            raise ValueError(
                f"outputs: '{REWARD}' is the overall score's name; give the output another"
            )
        if unknown := [name for name in self.weights if name not in self.names] or not self.weights:
            raise ValueError(f"overall: unknown output {unknown}; allowed: {choices(self.names)}")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return tuple(output.name for output in self.outputs)

    @property
    def weights(self) -> Mapping[str, float]:
        """Name of an output -> its weight in the overall score, for those that have one."""
        if isinstance(self.overall, str):
            return {self.overall: 1.0}
        return self.overall

    @property
    def hidden_size(self) -> int:
        """Numbers of what an engine gives for a text.

        They are the logits, since engines run the head themselves.
        """
        return len(self.outputs)

    def raw(self, logits: Array) -> list[RawOutputs]:
        """Logits of shape (n, outputs) as outputs of n texts, every one selected."""
        return [RawOutputs(row, np.ones_like(row), np.zeros_like(row)) for row in logits]

    def evaluate(self, raw: RawOutputs) -> Evaluation:
        """The numbers of one response; they have no common scale."""
        pairs = zip(self.outputs, raw.scores, strict=True)
        scores = np.array([output.offset + output.scale * float(logit) for output, logit in pairs])
        weights = np.array([self.weights.get(name, 0.0) for name in self.names])
        overall = float(np.dot(weights, scores))
        selected = np.ones(len(scores), bool)
        return Evaluation(overall, selected, scores, weights, False)


def load_description(folder: Path, file: str | None, outputs: int) -> Description:
    """The description in a file or in the model's folder; one output needs none.

    `outputs` is how many the head has.
    """
    path = Path(file).expanduser() if file else folder / DESCRIPTION
    if not file and not path.is_file():
        if outputs == 1:
            return Description(outputs=(Output(name=REWARD),), overall=REWARD)
        raise InputError(
            f"{folder}: its head has {outputs} outputs and nothing says what they mean; describe"
            f" them in {path.name} or another file (option description), such as {{outputs: [bad,"
            " good], overall: {good: 1, bad: -1}}"
        )
    description: Description = check(str(path), read_yaml_file(path, "description"), Description)
    if len(description.outputs) != outputs:
        raise InputError(
            f"{path}: describes {len(description.outputs)} outputs; the model's head has {outputs}"
        )
    return description


class RewardConversations(Conversations):
    """Conversations of any chat template, read at their last token.

    Where that is the padding token, the one before it is read: transformers' classifiers look for
    the last token that is not padding, in training too. vLLM reads the last one, so these tokens
    are left away; nothing before sees them.
    """

    def __init__(self, folder: Path, template: str | None, padding: int | None) -> None:
        super().__init__(folder, template)
        self._padding = padding
        words = dict.fromkeys(
            re.findall(r"\b(?:bos|eos|unk|sep|pad|cls|mask)_token\b", self._source)
        )
        if missing := [word for word in words if word not in self._config]:
            raise InputError(
                f"{folder}: the template writes {choices(missing)}, which tokenizer_config.json"
                " lacks"
            )
        written = self._ids(["a", "b"])
        other_response = self._ids(["a", "c"])
        other_query = self._ids(["c", "b"])
        if written in (other_response, other_query):
            raise InputError(
                f"{folder}: the template does not write both the query and the response"
            )

    def encode(
        self,
        query: str,
        response: str,
        max_length: int,
        *,
        overlong: Overlong = "shorten",
        bos: Bos = "single",
    ) -> Encoded:
        """Encode a query and a response; see `Conversations.encode`."""
        encoded = super().encode(query, response, max_length, overlong=overlong, bos=bos)
        kept = list(encoded.ids)
        while len(kept) > 1 and kept[-1] == self._padding:
            kept.pop()
        return replace(encoded, ids=tuple(kept), query_ids=tuple(kept), is_prefix=True)

    def _query_ids(self, query: str) -> list[int]:
        return []  # nothing is read there, and a template may refuse it

    def _single_end_of_turn(self) -> int:
        return ANY_END
