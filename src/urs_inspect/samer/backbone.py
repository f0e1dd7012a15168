"""The weights that a Llama must have, by the headers of its files."""

from collections.abc import Iterator, Mapping
from typing import Any

from urs_inspect.samer.weights import shortened_list

_PREFIX = "model."


def backbone_faults(shapes: Mapping[str, tuple[int, ...]], config: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the weights of a backbone; other tensors do not count.

    Args:
        shapes: Tensor name -> shape.
        config: Its `config.json`.

    Yields:
        A line for what is missing, and one for the first wrong shape.
    """
    expected = backbone_shapes(config)
    if missing := [name for name in expected if name not in shapes]:
        if all(name.removeprefix(_PREFIX) in shapes for name in missing):
            yield f"tensor names lack '{_PREFIX}'; expected {shortened_list(missing)}, as a whole model is saved"
        else:
            yield f"{len(missing)} weights of the backbone are missing: {shortened_list(missing)}"
    for name, shape in expected.items():
        if name in shapes and shapes[name] != shape:
            yield f"{name} has shape {shapes[name]}; expected {shape}, as config.json says"
            return


def backbone_shapes(config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a Llama's weights without its language head.

    Args:
        config: Its `config.json`.

    Returns:
        Tensor name -> shape.
    """
    hidden, between, heads = config["hidden_size"], config["intermediate_size"], config["num_attention_heads"]
    width = config.get("head_dim") or hidden // heads
    queries, keys = width * heads, width * (config.get("num_key_value_heads") or heads)
    attention = {"q_proj": (queries, hidden), "k_proj": (keys, hidden), "v_proj": (keys, hidden)}
    attention["o_proj"] = (hidden, queries)
    mlp = {"gate_proj": (between, hidden), "up_proj": (between, hidden), "down_proj": (hidden, between)}
    layer: dict[str, tuple[int, ...]] = {"input_layernorm.weight": (hidden,)}
    for part, matrices, bias in (("self_attn", attention, "attention_bias"), ("mlp", mlp, "mlp_bias")):
        for name, shape in matrices.items():
            layer[f"{part}.{name}.weight"] = shape
            if config.get(bias):
                layer[f"{part}.{name}.bias"] = shape[:1]
    layer["post_attention_layernorm.weight"] = (hidden,)
    shapes = {
        f"{_PREFIX}embed_tokens.weight": (config["vocab_size"], hidden),
        f"{_PREFIX}norm.weight": (hidden,),
    }
    for number in range(config["num_hidden_layers"]):
        shapes |= {f"{_PREFIX}layers.{number}.{name}": shape for name, shape in layer.items()}
    return shapes
