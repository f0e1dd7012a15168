"""Random tiny checkpoints in the released layout, and a tokeniser of our own for them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from urs_inspect.samer._checkpoint import HEADS_FILE
from urs_inspect.samer._checkpoint_check import open_checkpoint
from urs_inspect.samer._evaluation import HEAD_KEYS, PUBLISHED_WIDTHS, save_heads
from urs_inspect.samer._weights import Array, header_bytes

DIMENSIONS = 42
SPECIAL = (
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
)
BOS, EOT = SPECIAL[0], SPECIAL[4]
_MERGES = [
    ("Ċ", "Ċ"),
    ("Ġ", "a"),
    ("t", "h"),
    ("th", "e"),
    ("Ġ", "the"),
    ("e", "r"),
    ("i", "n"),
    ("Ġ", "Ġ"),
    ("<", "|"),
]

# Turns as Llama 3 has them: header, blank line, trimmed content, closing token.
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role"
    " }}<|end_header_id|>\n"
    "\n"
    "{{ m.content | trim }}<|eot_id|>{% endfor %}{% if add_generation_prompt"
    " %}<|start_header_id|>assistant<|end_header_id|>\n"
    "\n"
    "{% endif %}"
)


@dataclass(frozen=True)
class Shape:
    """Sizes of a random Llama."""

    hidden: int = 64
    heads: int = 2
    kv_heads: int = 1
    layers: int = 2
    intermediate: int = 128


TINY = Shape()


def tiny_checkpoint(
    path: Path,
    *,
    seed: int = 0,
    shape: Shape = TINY,
    max_positions: int = 512,
    dimensions: int = DIMENSIONS,
    inner_widths: dict[str, tuple[int, ...]] | None = None,
    dtype: str = "float32",
    shards: int = 1,
) -> Path:
    """Write a random SaMer checkpoint in the released layout, in one file or `shards` with an
    index; return its folder.

    A head of attention has the width `hidden / heads`, of which vLLM on a CPU wants 32 or more.
    `inner_widths` are those within SaMer's heads, by default the published ones; `dtype` is
    `float32`, or `bfloat16` as released.
    """
    path.mkdir(parents=True)
    vocabulary = write_tokenizer(path, max_positions)
    rng = np.random.default_rng(seed)
    tensors = backbone_tensors(rng, shape, vocabulary)
    tensors |= head_tensors(rng, shape.hidden, dimensions, inner_widths)
    write_weights(path, tensors, dtype=dtype, shards=shards)
    config = released_config(shape, vocabulary, max_positions, dimensions, dtype)
    (path / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    return path


def head_tensors(
    rng: np.random.Generator,
    hidden: int,
    dimensions: int = DIMENSIONS,
    inner: dict[str, tuple[int, ...]] | None = None,
) -> dict[str, Array]:
    """Random heads by their released names, scaled so that outputs are of order 1."""
    tensors = {}
    for head, keys in HEAD_KEYS.items():
        widths = (hidden, *(inner or PUBLISHED_WIDTHS)[head], dimensions)
        for key, inside, out in zip(keys, widths[:-1], widths[1:], strict=True):
            tensors[key] = (
                rng.standard_normal((out, inside), np.float32) * np.float32(1.4 / inside**0.5)
            ).astype("f4")
    return tensors


def backbone_tensors(rng: np.random.Generator, shape: Shape, vocabulary: int) -> dict[str, Array]:
    """Random weights of a Llama without its language head."""

    def matrix(out: int, inside: int) -> Array:
        return (rng.standard_normal((out, inside), np.float32) * np.float32(inside**-0.5)).astype(
            "f4"
        )

    def norm() -> Array:
        return (1 + 0.1 * rng.standard_normal(shape.hidden, np.float32)).astype("f4")

    head_width = shape.hidden // shape.heads
    keys_and_values = head_width * shape.kv_heads
    embeddings = rng.standard_normal((vocabulary, shape.hidden), np.float32)
    tensors: dict[str, Array] = {"model.embed_tokens.weight": embeddings}
    for layer in range(shape.layers):
        name = f"model.layers.{layer}."
        tensors |= {
            f"{name}input_layernorm.weight": norm(),
            f"{name}self_attn.q_proj.weight": matrix(shape.hidden, shape.hidden),
            f"{name}self_attn.k_proj.weight": matrix(keys_and_values, shape.hidden),
            f"{name}self_attn.v_proj.weight": matrix(keys_and_values, shape.hidden),
            f"{name}self_attn.o_proj.weight": matrix(shape.hidden, shape.hidden),
            f"{name}post_attention_layernorm.weight": norm(),
            f"{name}mlp.gate_proj.weight": matrix(shape.intermediate, shape.hidden),
            f"{name}mlp.up_proj.weight": matrix(shape.intermediate, shape.hidden),
            f"{name}mlp.down_proj.weight": matrix(shape.hidden, shape.intermediate),
        }
    return tensors | {"model.norm.weight": norm()}


def released_config(
    shape: Shape, vocabulary: int, max_positions: int, dimensions: int, dtype: str
) -> dict[str, Any]:
    """A configuration as the released training writes it: twice as many labels as dimensions, pad
    token 0.
    """
    labels = [f"LABEL_{index}" for index in range(2 * dimensions)]
    return {
        "architectures": ["LlamaForSequenceClassification"],
        "model_type": "llama",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": vocabulary - len(SPECIAL),
        "eos_token_id": vocabulary - 1,
        "pad_token_id": 0,
        "hidden_act": "silu",
        "hidden_size": shape.hidden,
        "intermediate_size": shape.intermediate,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "max_position_embeddings": max_positions,
        "mlp_bias": False,
        "rms_norm_eps": 1e-05,
        "rope_scaling": None,
        "rope_theta": 500000.0,
        "tie_word_embeddings": False,
        "torch_dtype": dtype,
        "transformers_version": "4.43.4",
        "use_cache": False,
        "vocab_size": vocabulary,
        "id2label": {str(index): label for index, label in enumerate(labels)},
        "label2id": {label: index for index, label in enumerate(labels)},
    }


def write_weights(
    path: Path, tensors: dict[str, Array], *, dtype: str = "float32", shards: int = 1
) -> None:
    """Write `model.safetensors`, or several files with an index; heads come in the last one."""
    if shards == 1:
        write_tensor_file(path / "model.safetensors", tensors, dtype)
        return
    names = list(tensors)
    parts = np.array_split(np.arange(len(names)), shards)
    index: dict[str, str] = {}
    for number, part in enumerate(parts, 1):
        file = f"model-{number:05}-of-{shards:05}.safetensors"
        write_tensor_file(path / file, {names[at]: tensors[names[at]] for at in part}, dtype)
        index |= {names[at]: file for at in part}
    total = sum(array.size for array in tensors.values()) * (2 if dtype == "bfloat16" else 4)
    content = {"metadata": {"total_size": total}, "weight_map": dict(sorted(index.items()))}
    (path / "model.safetensors.index.json").write_text(
        json.dumps(content, indent=2), encoding="utf-8"
    )


def write_tensor_file(
    file: Path,
    tensors: dict[str, Array],
    dtype: str = "float32",
    metadata: dict[str, str] | None = None,
) -> None:
    """Write a safetensors file of float32, or of bfloat16 by cutting the lower half of each
    number.
    """
    stored = {
        name: (array.view(np.uint32) >> 16).astype(np.uint16) if dtype == "bfloat16" else array
        for name, array in tensors.items()
    }
    kind = {"bfloat16": "BF16", "float32": "F32"}[dtype]
    entries = [(name, kind, array.shape, array.nbytes) for name, array in stored.items()]
    head = header_bytes(entries, metadata or {"format": "pt"})
    with file.open("wb") as out:
        out.write(head)
        for array in stored.values():
            out.write(np.ascontiguousarray(array).tobytes())


def write_tokenizer(
    path: Path, max_positions: int = 512, *, template: str | None = CHAT_TEMPLATE
) -> int:
    """Write a byte-level tokeniser with a few merges and Llama 3's special tokens; return the size
    of its vocabulary.

    As in Llama 3's files, encoding "with special tokens" puts a start token in front.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {
        text: index for index, text in enumerate([*alphabet, *("".join(pair) for pair in _MERGES)])
    }
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=_MERGES))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in SPECIAL]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A",
        pair=f"{BOS} $A {BOS} $B",
        special_tokens=[(BOS, tokenizer.token_to_id(BOS))],
    )
    tokenizer.save(str(path / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BOS,
        "eos_token": EOT,
        "clean_up_tokenization_spaces": False,
        "model_max_length": max_positions,
    } | ({} if template is None else {"chat_template": template})
    (path / "tokenizer_config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    return int(tokenizer.get_vocab_size())


def declaring(folder: Path, value: str) -> Path:
    """Put heads beside the weights that declare where weights are read, as training writes them."""
    heads = open_checkpoint(folder).heads()
    (folder / HEADS_FILE).parent.mkdir()
    save_heads(heads, folder / HEADS_FILE, metadata={"weights_at": value, "backbone": "b"})
    return folder


def change_json(path: Path, **values: Any) -> None:
    """Set some keys of a JSON file."""
    content = json.loads(path.read_text(encoding="utf-8")) | values
    path.write_text(json.dumps(content), encoding="utf-8")
