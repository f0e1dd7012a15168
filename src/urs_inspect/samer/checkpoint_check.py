"""Says whether a folder is a SaMer checkpoint, and exactly what is wrong if not; nothing is loaded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from urs_inspect._util import InputError, choices
from urs_inspect.samer.backbone import backbone_faults
from urs_inspect.samer.checkpoint import HEADS_FILE, Checkpoint, Layout, head_names, read_config, read_head_tensors
from urs_inspect.samer.conversation import END_OF_TURN, Conversations
from urs_inspect.samer.heads import HEAD_KEYS, PUBLISHED_WIDTHS, head_faults, load_heads
from urs_inspect.samer.heads_file import told_weights_at
from urs_inspect.samer.taxonomy import load_taxonomy
from urs_inspect.samer.weights import (
    WHOLE_TYPES,
    WeightFiles,
    find_weights,
    finite_faults,
    read_header,
    shortened_list,
    unscanned_types,
)

_SIZES = (
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "vocab_size",
    "max_position_embeddings",
)
_FLOATS = ("float32", "bfloat16", "float16", "float64")
_VALUES: Mapping[str, tuple[str, ...]] = {
    "hidden_act": ("silu",),  # a Llama's; vLLM computes no other
    "dtype": _FLOATS,
    "torch_dtype": _FLOATS,
}
_WRAPPED = ("module.", "_orig_mod.", "base_model.model.")
_T = TypeVar("_T")
_TRIAL = ("Why is the sky blue?", "Because of the way light scatters.")


@dataclass
class Report:
    """What was looked at.

    Attributes:
        looked_at: What -> what was found, in order.
        notes: Things that are unusual but no fault.
        faults: What must be put right, one line each.
        checkpoint: The checkpoint if there is no fault.
    """

    looked_at: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    checkpoint: Checkpoint | None = None


def check_checkpoint(folder: str | Path, *, heads: bool = True, values: bool = False) -> Report:
    """Look at a folder.

    Args:
        folder: A SaMer checkpoint, as released or exported.
        heads: Whether it must have heads; a backbone to train them on has none.
        values: Whether every weight is read, to find NaN and infinity, not only the heads'; see `finite_faults`.

    Returns:
        What was found; bad input is a fault in it, never an exception.
    """
    folder, report = Path(folder).expanduser(), Report()
    if not folder.is_dir():
        report.faults.append(f"{folder}: no such folder; expected {'a SaMer checkpoint' if heads else 'a Llama'}")
        return report
    weights = _tried(report, lambda: find_weights(folder))
    if weights is None and (folder / "adapter_config.json").is_file():
        return report  # everything else is with its base
    config = _tried(report, lambda: read_config(folder))
    usable = config is not None and _check_config(report, folder, config)
    if weights is not None:
        _describe_weights(report, weights)
    layout = None
    if weights is not None and config is not None and usable:
        look = _check_weights if heads else _check_backbone
        layout = look(report, weights, config)
    conversations = _tried(report, lambda: Conversations(folder))
    if conversations is not None:
        _tried(report, lambda: _check_conversations(report, conversations, config or {}))
    if weights is not None and config is not None and layout is not None and not report.faults:
        _tried(report, lambda: _check_head_values(report, folder, layout, weights))
        if not report.faults:
            report.checkpoint = Checkpoint(folder, layout, config, weights)
    if weights is not None and values:
        _tried(report, lambda: _check_values(report, weights))
    return report


def _tried(report: Report, look: Callable[[], _T]) -> _T | None:
    try:
        return look()
    except InputError as error:
        report.faults.append(str(error))
        return None


def _check_config(report: Report, folder: Path, config: Mapping[str, Any]) -> bool:
    kind = config.get("model_type")
    report.looked_at["architecture"] = f"{', '.join(config.get('architectures') or ['not said'])} ({kind})"
    if kind != "llama":
        report.faults.append(f"{folder}: config.json has model_type '{kind}'; expected 'llama'")
        return False
    for name in _SIZES:
        value = config.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            report.faults.append(f"{folder}: config.json has {name} {value!r}; expected a whole number above 0")
            return False
        report.looked_at[name] = f"{value:,}"
    for name, values in _VALUES.items():
        if (value := config.get(name)) is not None and value not in values:
            report.faults.append(f"{folder}: config.json has {name} {value!r}; expected {choices(values)}")
    if "auto_map" in config:
        report.notes.append("config.json names code of its own (auto_map); it is never run")
    if "quantization_config" in config:
        report.notes.append("config.json says that the weights are quantised; this was not tried")
    return True


def _describe_weights(report: Report, weights: WeightFiles) -> None:
    files = f"{len(weights.names)} file{'s' * (len(weights.names) > 1)}"
    report.looked_at["weights"] = f"{len(weights.entries)} tensors in {files}, {weights.size / 1e9:,.2f} GB"
    report.looked_at["dtype"] = ", ".join(weights.dtypes)
    found = weights.entries.values()
    whole = [one for one in found if one.dtype in WHOLE_TYPES and one.name.endswith(".weight")]
    if whole:
        types = choices(dict.fromkeys(one.dtype for one in whole))
        report.faults.append(
            f"{weights.folder}: {len(whole)} weights are of the type {types}, as quantisation writes them: "
            f"{shortened_list(one.name for one in whole)}; expected floating-point weights"
        )


def _check_weights(report: Report, weights: WeightFiles, config: Mapping[str, Any]) -> Layout | None:
    folder = weights.folder
    layout: Layout = "exported" if (folder / HEADS_FILE).is_file() else "released"
    report.looked_at["layout"] = layout
    shapes = weights.shapes
    if layout == "released" and (wrong := _not_samer(shapes)):
        report.faults.append(f"{folder}: {wrong}")
        return None
    found = _tried(report, lambda: _head_shapes(weights, layout))
    if found is None:
        return None
    faults = list(head_faults(found, config["hidden_size"]))
    if not faults:
        faults = _check_outputs(report, found, config)
    faults.extend(backbone_faults(shapes, config))
    report.faults.extend(f"{folder}: {fault}" for fault in faults)
    return None if faults else layout


def _head_shapes(weights: WeightFiles, layout: Layout) -> dict[str, tuple[int, ...]]:
    if layout == "released":
        return weights.shapes
    return {name: entry.shape for name, entry in read_header(weights.folder / HEADS_FILE).items()}


def _not_samer(shapes: Mapping[str, tuple[int, ...]]) -> str | None:
    """What a folder without SaMer's heads is, where it can be told."""
    missing = [name for name in head_names() if name not in shapes]
    if not missing:
        return None
    for prefix in _WRAPPED:
        if f"{prefix}{missing[0]}" in shapes:
            return f"tensor names start with '{prefix}', left there by training; expected '{missing[0]}'"
    if any(name.startswith("gating.") or name == "regression_layer.weight" for name in shapes):
        return "this is ArmoRM itself (gating and regression layers), SaMer's backbone; expected SaMer's heads score.*"
    if "score.weight" in shapes:
        return "a plain classifier (score.weight), not SaMer; expected three heads, such as " + missing[0]
    if len(missing) == len(list(head_names())):
        return f"no heads of SaMer; expected {len(missing)} tensors score.*, such as {missing[0]}"
    return f"{len(missing)} weights of the heads are missing: {shortened_list(missing)}"


def _check_outputs(report: Report, shapes: Mapping[str, tuple[int, ...]], config: Mapping[str, Any]) -> list[str]:
    dimensions, expected = shapes[HEAD_KEYS["scoring"][-1]][0], len(load_taxonomy().dimensions)
    report.looked_at["dimensions"] = str(dimensions)
    if dimensions != expected:
        return [f"the heads have {dimensions} dimensions; expected {expected}, those of the taxonomy"]
    for head, keys in HEAD_KEYS.items():
        widths = tuple(shapes[key][0] for key in keys[:-1])
        if widths != PUBLISHED_WIDTHS[head]:
            report.notes.append(f"the {head} head has widths {widths}; published are {PUBLISHED_WIDTHS[head]}")
    labels = config.get("id2label")
    if isinstance(labels, dict) and len(labels) != 2 * dimensions:
        report.notes.append(f"config.json has {len(labels)} labels; the released one has {2 * dimensions}")
    return []


def _check_backbone(report: Report, weights: WeightFiles, config: Mapping[str, Any]) -> None:
    report.faults.extend(f"{weights.folder}: {fault}" for fault in backbone_faults(weights.shapes, config))


def _check_conversations(report: Report, conversations: Conversations, config: Mapping[str, Any]) -> None:
    folder = conversations.folder
    report.looked_at["tokenizer"] = f"{conversations.vocabulary:,} tokens"
    report.looked_at["end of turn"] = f"{END_OF_TURN} = {conversations.end_of_turn}"
    rows = config.get("vocab_size")
    if isinstance(rows, int) and conversations.vocabulary > rows:
        report.faults.append(f"{folder}: the tokenizer has {conversations.vocabulary:,} tokens, the model {rows:,}")
    report.looked_at["template"] = f"{conversations.template_tokens} tokens besides query and response"
    if isinstance(limit := config.get("max_position_embeddings"), int):
        _tried(report, lambda: conversations.fitting_length(limit))
    encoded = conversations.encode(*_TRIAL, 1_000_000)
    for ids, what in ((encoded.query_ids, "a query"), (encoded.ids, "a response")):
        if ids[-1] != conversations.end_of_turn:
            report.faults.append(
                f"{folder}: the chat template does not end {what} with {END_OF_TURN}; expected it last"
            )
    if not encoded.is_prefix:
        report.notes.append("the template writes a query differently before a response; two passes are needed")


def _check_head_values(report: Report, folder: Path, layout: Layout, weights: WeightFiles) -> None:
    if told := told_weights_at(folder):
        report.looked_at["weights read at"] = told
    if layout == "exported":
        load_heads(folder / HEADS_FILE)
    else:
        read_head_tensors(weights)


def _check_values(report: Report, weights: WeightFiles) -> None:
    faults = list(finite_faults(weights))
    report.faults.extend(fault for fault in faults if fault not in report.faults)
    if faults:
        report.checkpoint = None
    else:
        report.looked_at["values"] = "all finite"
    if types := unscanned_types(weights):
        report.notes.append(f"weights of the type {choices(types)} were not searched for NaN")
