"""Options that a vLLM server is started with, so that it gives what SaMer's heads need."""

import json


def stock_options(end_of_turn: int) -> tuple[str, ...]:
    """Options of `vllm serve` for an exported folder.

    The server then gives one vector for every end of a turn: that of the query, and that of the response.

    Args:
        end_of_turn: Id of the end-of-turn token, 128009 in Llama 3.

    Returns:
        The options, to be quoted for a shell (`shlex.join`).
    """
    pooler = {
        "task": "token_embed",
        "tok_pooling_type": "STEP",
        "step_tag_id": end_of_turn,
        "use_activation": False,
    }
    return ("--runner", "pooling", "--convert", "embed", "--pooler-config", _compact(pooler))


def plugin_options() -> tuple[str, ...]:
    """Options of `vllm serve` for a released folder, where this package is installed beside vLLM."""
    overrides, pooler = {"architectures": ["SaMerForRewardModeling"]}, {"task": "token_classify"}
    return ("--runner", "pooling", "--hf-overrides", _compact(overrides), "--pooler-config", _compact(pooler))


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
