"""Whether a folder is a SaMer checkpoint, and exactly what is wrong if not; no model is loaded."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, Field, model_validator

from urs_inspect._arguments import Count, check
from urs_inspect._util import InputError, choices, counted
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.samer._checkpoint import (
    HEADS_FILE,
    Checkpoint,
    Layout,
    declared_weights_at,
    is_reward_model,
    labels_of,
    read_config,
)
from urs_inspect.samer._conversation import END_OF_TURN, Conversations
from urs_inspect.samer._evaluation import HEAD_KEYS, HEAD_NAMES, PUBLISHED_WIDTHS, head_errors
from urs_inspect.samer._packages import imported
from urs_inspect.samer._reward import HEAD, load_description, unsupported_head
from urs_inspect.samer._weights import (
    INTEGER_TYPES,
    TensorEntry,
    WeightFiles,
    find_weights,
    finite_errors,
    read_header,
    shortened_list,
    unscanned_types,
)

Shapes = Mapping[str, tuple[int, ...]]
Config = Mapping[str, Any]
_T = TypeVar("_T")

_ROPE_TYPES = ("default", "linear", "dynamic", "yarn", "longrope", "llama3")
_WRAPPED = ("module.", "_orig_mod.", "base_model.model.")
# Tensors that every engine leaves out, and that change no score: a language head, tables that are
# computed anyway.
_LEFT_OUT = (r"^lm_head\.", r"\.rotary_emb\.inv_freq$")
_SCALES = (r"_scale(_inv)?$",)  # of quantised weights
_OWN_CODE = "config.json names code of its own (auto_map); it is never run"
_TRIAL = ("Why is the sky blue?", "Because of the way light scatters.")


@dataclass
class Report:
    """What was found in a folder."""

    # what was looked at -> what was found, in order
    facts: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # unusual, but no error
    errors: list[str] = field(default_factory=list)
    checkpoint: Checkpoint | None = None  # if there is no error

    def refuse(self, folder: Path, faults: Iterable[str]) -> None:
        """Note what is wrong with a folder."""
        self.errors.extend(f"{folder}: {fault}" for fault in faults)

    def attempt(self, look: Callable[[], _T]) -> _T | None:
        """The result of a look, or None after noting its error."""
        try:
            return look()
        except InputError as error:
            self.errors.append(str(error))
            return None


def open_checkpoint(folder: str | Path) -> Checkpoint:
    """Check a folder and open it.

    Takes under a second for an 8B model, because only headers and heads are read.
    """
    return _opened(check_checkpoint(folder))


def check_model(
    folder: str | Path, description: str | None = None, *, values: bool = False
) -> Report:
    """Look at a folder of SaMer or of a reward model.

    The description of a reward model is in its folder or in another file.
    """
    path = Path(folder).expanduser()
    if description is None and not is_reward_model(path):
        return check_checkpoint(folder, values=values)
    report = Report()
    report.attempt(lambda: _check_reward_model(report, path, description, values))
    return report


def open_model(folder: str | Path, description: str | None = None) -> Checkpoint:
    """Check a folder as `check_model` does, and open it."""
    return _opened(check_model(folder, description))


def _opened(report: Report) -> Checkpoint:
    if report.checkpoint is None:
        rest = len(report.errors) - 1
        more = ""
        if rest:
            more = f" (and {rest} more; see `urs-inspect samer check`)"
        raise InputError(report.errors[0] + more)
    return report.checkpoint


def open_backbone(folder: Path) -> Config:
    """Check the folder of a Llama that heads are trained on; returns its `config.json`.

    Whatever heads it has do not matter.
    """
    if errors := check_checkpoint(folder, heads=False).errors:
        raise InputError(f"backbone {errors[0]}")
    return read_config(folder)


def check_checkpoint(folder: str | Path, *, heads: bool = True, values: bool = False) -> Report:
    """Look at a folder, as released or exported.

    Bad input becomes an error in the report, never an exception.

    A backbone to train `heads` on has none; with `values`, every weight is read to find NaN and
    infinity.
    """
    folder = Path(folder).expanduser()
    report = Report()
    if folder.is_dir():
        _check_folder(report, folder, heads, values)
    else:
        expected = "a Llama"
        if heads:
            expected = "a SaMer checkpoint"
        report.errors.append(f"{folder}: no such folder; expected {expected}")
    return report


def _check_folder(report: Report, folder: Path, heads: bool, values: bool) -> None:
    weights = report.attempt(lambda: find_weights(folder))
    if weights is None and (folder / "adapter_config.json").is_file():
        return  # everything else is with its base
    config = report.attempt(lambda: read_config(folder))
    llama = None
    if config is not None:
        llama = report.attempt(lambda: _check_config(report, folder, config))
    if weights is not None:
        _describe_weights(report, weights)
    checkpoint = None
    if weights is not None and config is not None and llama is not None:
        if heads:
            checkpoint = _check_weights(report, weights, config, llama)
        else:
            _check_backbone(report, weights, config, llama)
    report.attempt(lambda: _check_conversations(report, Conversations(folder), config or {}))
    if checkpoint is not None:
        _check_heads(report, checkpoint)
    if weights is not None and values:
        report.attempt(lambda: _check_values(report, weights))


def _check_heads(report: Report, checkpoint: Checkpoint) -> None:
    """Read the heads, and what their file declares; keep the checkpoint if nothing is wrong."""
    if report.errors:
        return
    declared = report.attempt(lambda: declared_weights_at(checkpoint.folder))
    if declared:
        report.facts["weights read at"] = declared
    report.attempt(checkpoint.heads)
    if not report.errors:
        report.checkpoint = checkpoint


def _check_reward_model(
    report: Report, folder: Path, description: str | None, values: bool
) -> None:
    """Look at a decoder with a linear head that is not SaMer; see `check_checkpoint`."""
    config = read_config(folder)
    weights = find_weights(folder)
    name = str((config.get("architectures") or "?")[0])
    report.facts["architecture"] = f"{name} ({config.get('model_type')})"
    _describe_weights(report, weights)
    outputs = _outputs_of(folder, name, weights.shapes, config)
    check(f"{folder}: config.json", config, _Settings)
    if report.errors:
        return
    report.refuse(folder, _classifier_errors(folder, name, weights.shapes, config))
    if "auto_map" in config:
        report.notes.append(_OWN_CODE)
    reward = load_description(folder, description, outputs)
    report.facts["outputs"] = ", ".join(reward.names)
    report.facts["reward"] = " + ".join(
        f"{weight:g} x {output}" for output, weight in reward.weights.items()
    )
    checkpoint = Checkpoint(folder, "released", config, weights, reward)
    _check_template(report, checkpoint)
    if report.errors:
        return
    report.checkpoint = checkpoint
    if values:
        _check_values(report, weights)


def _outputs_of(folder: Path, name: str, shapes: Shapes, config: Config) -> int:
    """How many outputs the linear head of a classifier has; `InputError` if it has no such head."""
    if kind := unsupported_head(shapes):
        raise InputError(f"{folder}: {kind}")
    if not name.endswith("ForSequenceClassification"):
        raise InputError(
            f"{folder}: {name} is no ...ForSequenceClassification; a model's own code is never run"
        )
    shape = shapes.get(HEAD, ())
    labels = labels_of(config)
    if len(shape) != 2 or shape[0] != labels:
        raise InputError(
            f"{folder}: {HEAD} has shape {shape or 'none'}; expected a decoder's linear head for"
            f" the {labels} labels of config.json (encoders are not run)"
        )
    return labels


def _check_template(report: Report, checkpoint: Checkpoint) -> None:
    """Look at a reward model's template and tokenizer."""
    conversations = checkpoint.conversations()
    limit = checkpoint.max_length
    _check_tokenizer(report, conversations, checkpoint.config.get("vocab_size", 0), limit)
    if cut := conversations.template_tokens - len(conversations.encode("", "", limit).ids):
        report.notes.append(
            f"the template ends with {cut} tokens that pad; the model is read before them"
        )


def _check_tokenizer(
    report: Report, conversations: Conversations, vocabulary: object, limit: object
) -> None:
    """Whether a tokenizer and a chat template fit a model of these sizes."""
    report.facts["template"] = f"{conversations.template_tokens} tokens besides query and response"
    if isinstance(vocabulary, int) and conversations.vocabulary > vocabulary:
        tokens = f"{conversations.vocabulary:,} tokens, the model {vocabulary:,}"
        report.refuse(conversations.folder, [f"the tokenizer has {tokens}"])
    if isinstance(limit, int):
        report.attempt(lambda: conversations.fitting_length(limit))


def _known_rope(value: dict[str, Any]) -> dict[str, Any]:
    # where there is one for each kind of layers, the library reads them
    of_kinds = any(isinstance(entry, dict) for entry in value.values())
    kind = value.get("rope_type", value.get("type"))
    if not of_kinds and kind not in (None, *_ROPE_TYPES):
        raise ValueError(f"unknown type '{kind}'; allowed: {choices(_ROPE_TYPES)}")
    return value


_Factor = Annotated[float, Field(strict=True, gt=0)]
_Rope = Annotated[dict[str, Any], AfterValidator(_known_rope)]
_Type = Literal["float32", "bfloat16", "float16", "float64"]


class _Settings(BaseModel):
    """Settings in `config.json` on which an engine would stumble while it loads any model."""

    rms_norm_eps: _Factor | None = None
    rope_theta: _Factor | None = None
    rope_scaling: _Rope | None = None
    rope_parameters: _Rope | None = None
    vocab_size: Annotated[int, Field(strict=True)] | None = None
    pad_token_id: Annotated[int, Field(strict=True, ge=-1)] | None = None

    @model_validator(mode="after")
    def _padding_is_a_token(self) -> Self:
        if self.vocab_size is not None and (self.pad_token_id or 0) >= self.vocab_size:
            raise ValueError(
                f"pad_token_id {self.pad_token_id}; expected a token's id, 0 to"
                f" {self.vocab_size - 1:,}, or none"
            )
        return self


class _Sizes(BaseModel):
    hidden_size: Count
    num_hidden_layers: Count
    num_attention_heads: Count
    intermediate_size: Count
    vocab_size: Count
    max_position_embeddings: Count


class _Llama(_Sizes, _Settings):
    """Settings of a Llama."""

    model_type: Literal["llama"]
    hidden_act: Literal["silu"] | None = None  # vLLM computes no other
    dtype: _Type | None = None
    torch_dtype: _Type | None = None
    head_dim: Count | None = None
    num_key_value_heads: Count | None = None


def _check_config(report: Report, folder: Path, config: Config) -> _Llama:
    kind = config.get("model_type")
    report.facts["architecture"] = (
        f"{', '.join(config.get('architectures') or ['not given'])} ({kind})"
    )
    llama: _Llama = check(f"{folder}: config.json", config, _Llama)
    for name in _Sizes.model_fields:
        report.facts[name] = f"{getattr(llama, name):,}"
    if "auto_map" in config:
        report.notes.append(_OWN_CODE)
    if "quantization_config" in config:
        report.notes.append("config.json declares quantised weights; these were not tried")
    return llama


def _classifier_errors(folder: Path, name: str, shapes: Shapes, config: Config) -> Iterator[str]:
    """A line for each way in which the weights are not those of the plain classifier.

    The plain classifier is what the engines would run.
    """
    engine = imported(
        "urs_inspect.samer._neural.transformers_engine", f"{folder}: the check of a reward model"
    )
    plain = engine.plain_classifier(folder)
    if plain.name != name:
        yield f"config.json has the architecture {name}; transformers would run it as {plain.name}"
        return
    missing = [tensor for tensor in plain.shapes if tensor not in shapes]
    if missing:
        yield (
            f"{len(missing)} weights are missing: {shortened_list(missing)}; download the folder"
            " again"
        )
    for tensor, shape in plain.shapes.items():
        if tensor in shapes and shapes[tensor] != shape:
            yield f"{tensor} has shape {shapes[tensor]}; expected {shape}, as config.json says"
            return
    yield from _further_errors(shapes, plain.shapes, config, (*_LEFT_OUT, *plain.left_out))


def _further_errors(
    shapes: Shapes, expected: Iterable[str], config: Config, left_out: Iterable[str]
) -> Iterator[str]:
    """A line for tensors that no engine would use, or that only some would.

    Without them the scores would be another model's.
    """
    patterns = list(left_out)
    if "quantization_config" in config:
        patterns.extend(_SCALES)
    ignored = re.compile("|".join(patterns))
    known = set(expected)
    further = [name for name in shapes if name not in known and not ignored.search(name)]
    if not further:
        return
    code = ""
    if "auto_map" in config:
        code = " and config.json names code of its own (auto_map), which is never run"
    number = "1 tensor" if len(further) == 1 else f"{len(further)} tensors"
    yield (
        f"{number} that the plain model does not have: {shortened_list(further)}{code}; "
        "without them its scores would be those of another model"
    )


def _describe_weights(report: Report, weights: WeightFiles) -> None:
    files = counted(len(weights.names), "file")
    report.facts["weights"] = (
        f"{len(weights.entries)} tensors in {files}, {weights.size / 1e9:,.2f} GB"
    )
    report.facts["dtype"] = ", ".join(weights.dtypes)

    report.refuse(weights.folder, _type_errors(weights.entries))


def _type_errors(entries: Mapping[str, TensorEntry]) -> Iterator[str]:
    """A line for integers, as quantisation writes, and one for 8-bit floats without a scale."""
    integers = {
        name: entry.dtype
        for name, entry in entries.items()
        if entry.dtype in INTEGER_TYPES and name.endswith(".weight")
    }
    if integers:
        yield (
            f"{len(integers)} weights are of the type {choices(dict.fromkeys(integers.values()))},"
            f" as quantisation writes them: {shortened_list(integers)}; expected floating-point"
            " weights"
        )
    unscaled = [
        name
        for name, entry in entries.items()
        if entry.dtype.startswith("F8_")
        and not {f"{name}_scale", f"{name}_scale_inv"} & entries.keys()
    ]
    if unscaled:
        yield (
            f"{len(unscaled)} weights are 8-bit floats without a scale: {shortened_list(unscaled)};"
            " expected a tensor ..._scale or ..._scale_inv beside each, or weights of 16 or 32 bits"
        )


def _check_backbone(report: Report, weights: WeightFiles, config: Config, llama: _Llama) -> None:
    """Look at the tensors of a Llama to train heads on; heads beside it do not count."""
    shapes = weights.shapes
    own = {name: shape for name, shape in shapes.items() if name.startswith(_PREFIX)}
    expected = _backbone_shapes(config, llama)
    report.refuse(weights.folder, _backbone_errors(shapes, expected))
    report.refuse(weights.folder, _further_errors(own, expected, config, _LEFT_OUT))


def _check_weights(
    report: Report, weights: WeightFiles, config: Config, llama: _Llama
) -> Checkpoint | None:
    folder = weights.folder
    shapes = weights.shapes
    layout: Layout = "released"
    if (folder / HEADS_FILE).is_file():
        layout = "exported"
    report.facts["layout"] = layout
    if layout == "released" and (wrong := _not_samer(shapes)):
        report.refuse(folder, [wrong])
        return None
    heads: Shapes | None = shapes
    if layout == "exported":
        entries = report.attempt(lambda: read_header(folder / HEADS_FILE))
        heads = None
        if entries is not None:
            heads = {name: entry.shape for name, entry in entries.items()}
    if heads is None:
        return None
    expected = _backbone_shapes(config, llama)
    errors = [
        *(head_errors(heads, llama.hidden_size) or _check_outputs(report, heads)),
        *_backbone_errors(shapes, expected),
        *_further_errors(shapes, [*expected, *HEAD_NAMES], config, _LEFT_OUT),
    ]
    report.refuse(folder, errors)
    if errors:
        return None
    return Checkpoint(folder, layout, config, weights)


def _not_samer(shapes: Shapes) -> str | None:
    """What a folder without SaMer's heads is, where that is known."""
    missing = [name for name in HEAD_NAMES if name not in shapes]
    if not missing:
        return None
    for prefix in _WRAPPED:
        if f"{prefix}{missing[0]}" in shapes:
            return (
                f"tensor names start with '{prefix}', left there by training; expected"
                f" '{missing[0]}'"
            )
    if any(name.startswith("gating.") or name == "regression_layer.weight" for name in shapes):
        return (
            "this is ArmoRM itself (gating and regression layers), SaMer's backbone; expected"
            " SaMer's heads score.*"
        )
    if "score.weight" in shapes:
        return (
            "a plain classifier (score.weight), not SaMer; expected three heads, such as "
            + missing[0]
        )
    if kind := unsupported_head(shapes):
        return kind
    if len(missing) == len(HEAD_NAMES):
        return (
            f"no heads of SaMer; expected {len(missing)} tensors score.*, such as {missing[0]}, or"
            f" {HEAD}"
        )
    return f"{len(missing)} weights of the heads are missing: {shortened_list(missing)}"


def _check_outputs(report: Report, shapes: Shapes) -> list[str]:
    dimensions = shapes[HEAD_KEYS["scoring"][-1]][0]
    expected = len(load_taxonomy().dimensions)
    report.facts["dimensions"] = str(dimensions)
    if dimensions != expected:
        return [
            f"the heads have {dimensions} dimensions; expected {expected}, those of the taxonomy"
        ]
    for head, keys in HEAD_KEYS.items():
        widths = tuple(shapes[key][0] for key in keys[:-1])
        if widths != PUBLISHED_WIDTHS[head]:
            report.notes.append(
                f"the {head} head has widths {widths}; published are {PUBLISHED_WIDTHS[head]}"
            )
    return []


_PREFIX = "model."


def _backbone_errors(shapes: Shapes, expected: Shapes) -> Iterator[str]:
    """A line for the weights of a Llama that are missing, and one for a wrong shape.

    Of wrong shapes the first one counts.
    """
    if missing := [name for name in expected if name not in shapes]:
        if all(name.removeprefix(_PREFIX) in shapes for name in missing):
            yield (
                f"tensor names lack '{_PREFIX}'; expected {shortened_list(missing)}, as a whole"
                " model is saved"
            )
        else:
            yield f"{len(missing)} weights of the backbone are missing: {shortened_list(missing)}"
    for name, shape in expected.items():
        if name in shapes and shapes[name] != shape:
            yield f"{name} has shape {shapes[name]}; expected {shape}, as config.json says"
            return


def _backbone_shapes(config: Config, llama: _Llama) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a Llama's weights without its language head."""
    hidden = llama.hidden_size
    between = llama.intermediate_size
    heads = llama.num_attention_heads
    width = llama.head_dim or hidden // heads
    queries = width * heads
    keys = width * (llama.num_key_value_heads or heads)
    matrices = {
        "self_attn.q_proj": (queries, hidden),
        "self_attn.k_proj": (keys, hidden),
        "self_attn.v_proj": (keys, hidden),
        "self_attn.o_proj": (hidden, queries),
        "mlp.gate_proj": (between, hidden),
        "mlp.up_proj": (between, hidden),
        "mlp.down_proj": (hidden, between),
    }
    layer: dict[str, tuple[int, ...]] = {"input_layernorm.weight": (hidden,)}
    for name, shape in matrices.items():
        layer[f"{name}.weight"] = shape
        if config.get("attention_bias" if name.startswith("self_attn") else "mlp_bias"):
            layer[f"{name}.bias"] = shape[:1]
    layer["post_attention_layernorm.weight"] = (hidden,)
    shapes = {
        f"{_PREFIX}embed_tokens.weight": (llama.vocab_size, hidden),
        f"{_PREFIX}norm.weight": (hidden,),
    }
    for number in range(llama.num_hidden_layers):
        shapes |= {f"{_PREFIX}layers.{number}.{name}": shape for name, shape in layer.items()}
    return shapes


def _check_conversations(report: Report, conversations: Conversations, config: Config) -> None:
    folder = conversations.folder
    report.facts["tokenizer"] = f"{conversations.vocabulary:,} tokens"
    report.facts["end of turn"] = f"{END_OF_TURN} = {conversations.end_of_turn}"
    limit = config.get("max_position_embeddings")
    _check_tokenizer(report, conversations, config.get("vocab_size"), limit)
    encoded = conversations.encode(*_TRIAL, 1_000_000)
    for ids, text in ((encoded.query_ids, "a query"), (encoded.ids, "a response")):
        if ids[-1] != conversations.end_of_turn:
            fault = f"the chat template does not end {text} with {END_OF_TURN}; expected it last"
            report.refuse(folder, [fault])
    if not encoded.is_prefix:
        report.notes.append(
            "the template writes a query differently before a response; two passes are needed"
        )


def _check_values(report: Report, weights: WeightFiles) -> None:
    errors = list(finite_errors(weights))
    report.errors.extend(error for error in errors if error not in report.errors)
    if errors:
        report.checkpoint = None
    else:
        report.facts["values"] = "all finite"
    if types := unscanned_types(weights):
        report.notes.append(f"weights of the type {choices(types)} were not searched for NaN")
