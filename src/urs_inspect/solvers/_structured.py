"""Structured output of judges.

What a server makes of a JSON schema, and the schema as the harness sends it.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from inspect_ai.model import Model, ModelOutput, ResponseSchema
from inspect_ai.util import JSONSchema

from urs_inspect._arguments import Structured
from urs_inspect.judging._frames import Schema, record_schema
from urs_inspect.solvers._role_models import provider_of

ModelKey = tuple[str, str]

takes_schema: dict[ModelKey, bool] = {}
"""Whether the server of a model followed a schema when it was asked, in this process."""

_NAMES = ("Final Score", "综合得分")
_PLACEHOLDER = "1"
_NESTED = "Overall"
_WINNER = "winner"
TINY_SCHEMA = record_schema(
    {**dict.fromkeys(_NAMES, _PLACEHOLDER), _NESTED: {_WINNER: _WINNER}},
    {
        _PLACEHOLDER: {"type": "integer", "minimum": 1, "maximum": 10},
        _WINNER: {"type": "string", "enum": ["1", "2", "tie"]},
    },
    keyed=False,
)
"""All that schemas of records have: some servers refuse names with blanks or Chinese characters,
ranges or lists.
"""


def model_key(model: Model) -> ModelKey:
    """Name and address of a model."""
    return str(model), str(address_of(model))


def address_of(model: Model) -> str | None:
    """The address of a model's server.

    None for that of its provider, or if the harness is to start the server.

    Unlike `base_url`, it does not change when a server of vLLM is started.
    """
    if provider_of(model) == "vllm":
        return getattr(model.api, "_init_base_url", None) or os.environ.get("VLLM_BASE_URL")
    return model.api.base_url


def is_structured(model: Model, structured: Structured) -> bool:
    """Whether a judge is asked by a schema."""
    if structured == "auto":
        return takes_schema.get(model_key(model), False)
    return structured


def response_schema(schema: Schema) -> ResponseSchema:
    """A schema as the harness sends it.

    With `strict`, OpenAI and Mistral hold the model to it. OpenAI, and vLLM, SGLang and others with
    an API like OpenAI's, get it as `response_format`, all but OpenAI without the ranges of numbers,
    as Anthropic does; DeepSeek gets JSON mode only; for Bedrock the harness sends it to Claude
    only.
    """
    return ResponseSchema(
        name="judgement", json_schema=JSONSchema.model_validate(schema), strict=True
    )


def follows_schema(output: ModelOutput) -> bool:
    """Whether the reply to a request with `TINY_SCHEMA` keeps to it, as far as it goes.

    The request names nothing of the schema, so that only a server that holds the model to it makes
    such a reply.
    """
    if output.stop_reason == "max_tokens" or not output.completion.strip():
        return (
            True  # the server took the schema, and the model thought for longer than it was given
        )
    try:
        reply: Any = json.loads(output.completion)
    except ValueError:
        return False
    return isinstance(reply, Mapping) and set(TINY_SCHEMA["required"]) <= reply.keys()
