"""Folders that are SaMer checkpoints, and every kind that is not; what they declare; their
fingerprints.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.samer.checkpoints import (
    EOT,
    change_json,
    declaring,
    tiny_checkpoint,
    write_tensor_file,
    write_tokenizer,
    write_weights,
)
from tests.samer.conftest import SMALL
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.datasets._sources import sha256_of
from urs_inspect.samer import _checkpoint as module
from urs_inspect.samer._checkpoint import (
    HEADS_FILE,
    cache_folder,
    declared_weights_at,
    find_heads_file,
    fingerprint,
    resolve_dtype,
    resolve_weights_at,
)
from urs_inspect.samer._checkpoint_check import check_checkpoint, open_checkpoint
from urs_inspect.samer._evaluation import HEAD_KEYS, WeightsAt
from urs_inspect.samer._export import export_checkpoint
from urs_inspect.samer._weights import (
    INDEX,
    Array,
    header_bytes,
    read_header,
    read_metadata,
    read_tensor,
)

Copied = Callable[[str], Path]
LAST_SHARD = "model-00003-of-00003.safetensors"


def all_tensors(folder: Path) -> dict[str, Array]:
    weights = open_checkpoint(folder).weights
    return {
        name: read_tensor(folder / weights.files[name], entry)
        for name, entry in weights.entries.items()
    }


def drop_weights(folder: Path) -> None:
    for path in [*folder.glob("*.safetensors"), folder / INDEX]:
        path.unlink()


def rewrite(folder: Path, change: Callable[[dict[str, Array]], dict[str, Array]]) -> None:
    """Replace all weights by changed ones in one file."""
    tensors = change(all_tensors(folder))
    drop_weights(folder)
    write_weights(folder, tensors)


def rename(tensors: dict[str, Array], prefix: str) -> dict[str, Array]:
    return {prefix + name: array for name, array in tensors.items()}


def no_heads(tensors: dict[str, Array]) -> dict[str, Array]:
    return {name: array for name, array in tensors.items() if not name.startswith("score.")}


def reshaped(name: str, *shape: int) -> Callable[[dict[str, Array]], dict[str, Array]]:
    return lambda tensors: tensors | {name: np.ones(shape, np.float32)}


@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_released_folder_is_a_checkpoint(tmp_path: Path, shards: int, dtype: str) -> None:
    folder = tiny_checkpoint(tmp_path / "m", inner_widths=SMALL, shards=shards, dtype=dtype)
    report = check_checkpoint(folder)
    assert report.errors == []
    assert report.facts["hidden_size"] == "64"
    assert report.facts["num_hidden_layers"] == "2"
    assert report.facts["dimensions"] == "42"
    assert report.facts["dtype"] == {"float32": "F32", "bfloat16": "BF16"}[dtype]
    assert report.facts["max_position_embeddings"] == "512"
    assert report.facts["weights"].startswith(f"33 tensors in {shards} file")
    checkpoint = open_checkpoint(folder)
    assert (checkpoint.hidden_size, checkpoint.max_length, checkpoint.dtype) == (64, 512, dtype)
    assert {array.dtype for array in checkpoint.heads().tensors.values()} == {np.dtype(np.float32)}
    assert (resolve_dtype(checkpoint, "auto"), resolve_dtype(checkpoint, "float16")) == (
        dtype,
        "float16",
    )
    change_json(folder / "config.json", torch_dtype=None)  # then the weights' file says it
    assert resolve_dtype(open_checkpoint(folder), "auto") == dtype


def test_types_that_no_engine_computes_in_are_refused(copied: Copied) -> None:
    folder = copied("m")
    change_json(folder / "config.json", torch_dtype="float64")
    with pytest.raises(
        InputError, match=r"m: config\.json.*dtype 'float64'.*one: float32, bfloat16"
    ):
        resolve_dtype(open_checkpoint(folder), "auto")
    assert resolve_dtype(open_checkpoint(folder), "bfloat16") == "bfloat16"


def armo(tensors: dict[str, Array]) -> dict[str, Array]:
    extra = {
        "regression_layer.weight": (19, 64),
        "gating.layers.0.weight": (8, 64),
        "score.weight": (1, 64),
    }
    return no_heads(tensors) | {name: np.ones(shape, np.float32) for name, shape in extra.items()}


def with_nan(name: str) -> Callable[[dict[str, Array]], dict[str, Array]]:
    def change(tensors: dict[str, Array]) -> dict[str, Array]:
        broken = tensors[name].copy()
        broken.flat[3] = np.nan
        return tensors | {name: broken}

    return change


def only(*texts: str) -> Callable[[Path], None]:
    """Keep no weights, but files of these names."""

    def change(folder: Path) -> None:
        drop_weights(folder)
        for text in texts:
            path = folder / text
            path.parent.mkdir(exist_ok=True)
            path.write_text("{}", encoding="utf-8")

    return change


def weights(change: Callable[[dict[str, Array]], dict[str, Array]]) -> Callable[[Path], None]:
    return lambda folder: rewrite(folder, change)


def peft(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}', encoding="utf-8")
    write_tensor_file(
        folder / "adapter_model.safetensors", {"base_model.model.x": np.ones((2, 2), np.float32)}
    )


def forget_end_of_turn(folder: Path) -> None:
    """Make `<|eot_id|>` ordinary text."""
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    kept = [token for token in content["added_tokens"] if token["content"] != EOT]
    change_json(folder / "tokenizer.json", added_tokens=kept)


def half_a_shard(folder: Path) -> None:
    shard = folder / LAST_SHARD
    shard.write_bytes(shard.read_bytes()[: shard.stat().st_size // 2])


def indexed(file: str) -> Callable[[Path], None]:
    """Say that a weight is in another file."""

    def change(folder: Path) -> None:
        names = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"]
        change_json(folder / INDEX, weight_map=names | {"model.norm.weight": file})

    return change


def config(**values: Any) -> Callable[[Path], None]:
    return lambda folder: change_json(folder / "config.json", **values)


def quantised(folder: Path, kind: str = "I8") -> None:
    """One matrix of the backbone in 8 bits, all else as it was; its file is written anew."""
    name = "model.layers.0.mlp.up_proj.weight"
    file = folder / json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"][name]
    held = read_header(file)
    content = {
        one: file.read_bytes()[entry.start : entry.start + entry.size]
        for one, entry in held.items()
    }
    content[name] = b"\1" * (held[name].size // 4)
    kinds = {one: kind if one == name else entry.dtype for one, entry in held.items()}
    head = header_bytes(
        [(one, kinds[one], held[one].shape, len(raw)) for one, raw in content.items()]
    )
    file.write_bytes(head + b"".join(content.values()))


def second_file(folder: Path) -> None:
    rewrite(folder, lambda tensors: tensors)
    write_tensor_file(folder / "more.safetensors", {"model.norm.weight": np.ones(64, np.float32)})


def parts_of_its_own(folder: Path) -> None:
    rewrite(folder, lambda tensors: tensors | {"uncertainty.weight": np.ones((1, 64), np.float32)})
    change_json(folder / "config.json", auto_map={"AutoModel": "own.Model"})


FIRST_SCORE, SECOND_SCORE, LAST_GATE = (
    HEAD_KEYS["scoring"][0],
    HEAD_KEYS["scoring"][1],
    HEAD_KEYS["predictor"][-1],
)
BAD: dict[str, tuple[Callable[[Path], Any], str]] = {
    "ArmoRM itself": (weights(armo), r"this is ArmoRM itself \(gating and regression layers\)"),
    "a plain classifier": (
        weights(lambda t: no_heads(t) | {"score.weight": np.ones((84, 64), np.float32)}),
        r"a plain classifier \(score.weight\), not SaMer; expected three heads",
    ),
    "a plain Llama": (weights(no_heads), "no heads of SaMer; expected 13 tensors score"),
    "one weight is missing": (
        weights(lambda t: {name: array for name, array in t.items() if name != LAST_GATE}),
        f"1 weights of the heads are missing: {LAST_GATE}",
    ),
    "wrapped by torch.compile": (
        weights(lambda t: rename(t, "_orig_mod.")),
        "tensor names start with '_orig_mod.'",
    ),
    "wrapped by data parallelism": (
        weights(lambda t: rename(t, "module.")),
        "tensor names start with 'module.'",
    ),
    "PEFT": (peft, "a PEFT adapter, not a whole model; expected merged weights"),
    "DeepSpeed": (
        only("global_step100/mp_rank_00.pt", "zero_to_fp32.py"),
        "a DeepSpeed training folder",
    ),
    "pickles": (only("pytorch_model.bin"), "pickled weights only, which are never opened"),
    "no weights": (only(), f"no weights; expected model.safetensors, or {INDEX}"),
    "no index": (lambda f: (f / INDEX).unlink(), f"but no {INDEX}, which says what they hold"),
    "a shard is missing": (
        lambda f: (f / LAST_SHARD).unlink(),
        f"1 of 3 weight files are missing: {LAST_SHARD}",
    ),
    "half a shard": (
        half_a_shard,
        f"{LAST_SHARD}: incomplete, .* bytes are here; download it again",
    ),
    "the index is no index": (lambda f: (f / INDEX).write_text("{}"), f"{INDEX}: not an index"),
    "the index names a file elsewhere": (
        indexed("../other.safetensors"),
        "`weight_map` must name files of this folder",
    ),
    "the index names the wrong shard": (
        indexed("model-00001-of-00003.safetensors"),
        "its files do not hold model.norm.weight",
    ),
    "another hidden size": (
        weights(reshaped(FIRST_SCORE, 24, 32)),
        rf"{FIRST_SCORE} has shape \(24, 32\); expected \(24, 64\)",
    ),
    "widths that do not fit": (
        weights(reshaped(SECOND_SCORE, 16, 23)),
        rf"{SECOND_SCORE} has shape \(16, 23\); expected \(16, 24\)",
    ),
    "heads that differ": (
        weights(reshaped(LAST_GATE, 41, 16)),
        f"the heads differ in dimensions: .*{LAST_GATE}: 41",
    ),
    "41 dimensions": (
        weights(lambda t: t | {keys[-1]: t[keys[-1]][:41] for keys in HEAD_KEYS.values()}),
        "the heads have 41 dimensions; expected 42, those of the taxonomy",
    ),
    "NaN in a head": (
        weights(with_nan(LAST_GATE)),
        f"{LAST_GATE} has 1 values of 672 that are NaN or infinite",
    ),
    "a layer is missing": (
        config(num_hidden_layers=3),
        "9 weights of the backbone are missing: model.layers.2",
    ),
    "a backbone of another shape": (
        config(intermediate_size=96),
        (
            r"model.layers.0.mlp.gate_proj.weight has shape \(128, 64\); expected \(96, 64\), as"
            r" config.json says"
        ),
    ),
    "no config": (
        lambda f: (f / "config.json").unlink(),
        "config.json is missing; expected a model's folder",
    ),
    "config is no JSON": (
        lambda f: (f / "config.json").write_text("{"),
        "config.json: cannot be read as JSON",
    ),
    "config is a list": (
        lambda f: (f / "config.json").write_text("[]"),
        "config.json: expected a mapping",
    ),
    "another architecture": (
        config(model_type="qwen2"),
        "config.json: model_type: unknown value 'qwen2'; allowed: llama",
    ),
    "a size that is none": (
        config(num_hidden_layers="2"),
        "config.json: num_hidden_layers: must be a whole number of at least 1, got '2'",
    ),
    "another activation": (
        config(hidden_act="gelu"),
        "config.json: hidden_act: unknown value 'gelu'; allowed: silu",
    ),
    "an activation that is no name": (
        config(hidden_act=5),
        "config.json: hidden_act: unknown value 5; allowed: silu",
    ),
    "a configuration of int8": (
        config(torch_dtype="int8"),
        "config.json: torch_dtype: unknown value 'int8'; allowed: float32",
    ),
    "a new configuration of int8": (
        config(dtype="int8"),
        "config.json: dtype: unknown value 'int8'; allowed: float32",
    ),
    "weights of int8": (
        quantised,
        (
            r"1 weights are of the type I8, as quantisation writes them:"
            r" model.layers.0.mlp.up_proj.weight; expected float"
        ),
    ),
    "a length below the template's": (
        config(max_position_embeddings=8),
        r"the model takes 8 tokens; expected \d+ or more, since the chat template has \d+",
    ),
    "no chat template": (
        lambda f: write_tokenizer(f, template=None),
        "the tokenizer has no chat template",
    ),
    "eot of several tokens": (
        forget_end_of_turn,
        r"the tokenizer makes \d+ tokens of <\|eot_id\|>; expected 1",
    ),
    "a template without eot": (
        lambda f: write_tokenizer(f, template="{% for m in messages %}{{ m.content }}{% endfor %}"),
        r"the chat template does not end a query with <\|eot_id\|>",
    ),
    "a file of all weights beside shards": (
        lambda f: write_tensor_file(
            f / "model.safetensors", {"model.norm.weight": np.ones(64, np.float32)}
        ),
        f"model.safetensors and {INDEX}, which names 3 files",
    ),
    "a second file of weights without an index": (
        second_file,
        f"model.safetensors and more.safetensors without {INDEX}",
    ),
    "parts of its own": (
        parts_of_its_own,
        (
            r"1 tensor that the plain model does not have: uncertainty.weight and .* code of its"
            r" own .auto_map."
        ),
    ),
    "a bias of a head": (
        weights(lambda t: t | {FIRST_SCORE.replace("weight", "bias"): np.ones(24, np.float32)}),
        r"1 tensor that the plain model does not have: score.scoring_layer.0.bias",
    ),
    "8-bit floats without a scale": (
        lambda f: quantised(f, "F8_E4M3"),
        "1 weights are 8-bit floats without a scale: model.layers.0.mlp.up_proj.weight",
    ),
    "INF-ORM": (
        weights(
            lambda t: (
                no_heads(t) | {f"score.{n}.weight": np.ones((64, 64), np.float32) for n in (0, 2)}
            )
        ),
        "a reward model of a kind that is not supported: a head of several layers .*INF-ORM",
    ),
    "GRM": (
        weights(lambda t: no_heads(t) | {"v_head.summary.0.weight": np.ones((64, 64), np.float32)}),
        "a reward model of a kind that is not supported: a value head .*GRM",
    ),
    "Nemotron": (
        weights(lambda t: no_heads(t) | {"lm_head.weight": np.ones((270, 64), np.float32)}),
        "a reward model of a kind that is not supported: a language head alone .*Nemotron",
    ),
    "an unknown kind of positions": (
        config(rope_scaling={"rope_type": "spiral", "factor": 2.0}),
        "config.json: rope_scaling: unknown type 'spiral'; allowed: default, linear",
    ),
    "an epsilon of text": (
        config(rms_norm_eps="1e-5"),
        "config.json: rms_norm_eps: .* number, got '1e-5'",
    ),
    "a padding token beyond the vocabulary": (
        config(pad_token_id=270),
        "config.json: pad_token_id 270; expected a token's id, 0 to 269, or none",
    ),
    "a configuration of 100,000 levels": (
        lambda f: (f / "config.json").write_text('{"a":' + "[" * 100_000),
        "config.json: cannot be read as JSON",
    ),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), "tokenizer.json is missing"),
    "too small a vocabulary": (
        config(vocab_size=269),
        "the tokenizer has 270 tokens, the model 269",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_every_bad_folder_gets_its_own_message(name: str, copied: Copied) -> None:
    break_it, message = BAD[name]
    folder = copied("broken")
    break_it(folder)
    report = check_checkpoint(folder)
    assert report.checkpoint is None
    with pytest.raises(InputError, match=message) as refused:
        raise InputError("\n".join(report.errors))
    assert str(folder) in str(refused.value)
    with pytest.raises(InputError) as refused:
        open_checkpoint(folder)
    assert str(refused.value).startswith(report.errors[0])
    assert "\n" not in str(refused.value)


def test_several_faults_are_all_listed_and_counted(copied: Copied) -> None:
    folder = copied("broken")
    half_a_shard(folder)
    forget_end_of_turn(folder)
    assert len(check_checkpoint(folder).errors) == 2
    with pytest.raises(InputError, match=r"incomplete.*\(and 1 more;.*`urs-inspect samer check`\)"):
        open_checkpoint(folder)


@pytest.mark.parametrize("name", ["nowhere", "a file"])
def test_what_is_no_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "a file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"no such folder.*SaMer"):
        open_checkpoint(tmp_path / name)


def test_the_weights_of_the_backbone_are_not_read(copied: Copied) -> None:
    """NaN there stays unseen: only headers and heads are read, so that looking at 16 GB takes no
    time.
    """
    folder = copied("unread")
    rewrite(folder, with_nan("model.embed_tokens.weight"))
    assert check_checkpoint(folder).errors == []


def test_code_of_a_model_other_labels_and_other_widths_are_noted(
    copied: Copied, released: Path
) -> None:
    assert check_checkpoint(released).notes == []
    folder = copied("noted")
    change_json(folder / "config.json", auto_map={"AutoModel": "evil.py"}, id2label={"0": "x"})
    notes = check_checkpoint(folder).notes
    assert tells(notes, "config.json ... (auto_map) ... never")
    assert any(tells(note, "(24, 16, 16, 16) ... published") for note in notes)


def test_a_language_head_and_tables_of_positions_are_left_out(copied: Copied) -> None:
    folder = copied("kept")
    further = {"lm_head.weight": (270, 64), "model.layers.0.self_attn.rotary_emb.inv_freq": (16,)}
    rewrite(
        folder,
        lambda tensors: tensors | {name: np.ones(shape, "f4") for name, shape in further.items()},
    )
    assert check_checkpoint(folder).errors == []


def test_heads_of_any_kind_may_lie_beside_a_backbone_to_train_on(copied: Copied) -> None:
    folder = copied("backbone")
    rewrite(folder, armo)
    assert check_checkpoint(folder, heads=False).errors == []
    rewrite_backbone = {"model.layers.0.self_attn.q_proj.bias": np.ones(64, np.float32)}
    write_tensor_file(folder / "model.safetensors", read_all(folder) | rewrite_backbone)
    [error] = check_checkpoint(folder, heads=False).errors
    assert "q_proj.bias" in error


def read_all(folder: Path) -> dict[str, Array]:
    file = folder / "model.safetensors"
    return {name: read_tensor(file, entry) for name, entry in read_header(file).items()}


def test_any_other_value_is_a_fault_of_the_folder(copied: Copied) -> None:
    folder = declaring(copied("m"), "middle")
    with pytest.raises(
        InputError,
        match=r"heads\.safetensors: weights_at: unknown value 'middle'; allowed: response, query",
    ):
        declared_weights_at(folder)
    assert [
        fault
        for fault in check_checkpoint(folder).errors
        if "weights_at: unknown value 'middle'" in fault
    ]


@pytest.mark.parametrize(
    ("told", "wanted", "expected", "warned"),
    [
        (None, None, "response", False),
        (None, "query", "query", False),
        ("query", None, "query", False),
        ("query", "query", "query", False),
        ("query", "response", "response", True),
        ("response", "query", "query", True),
    ],
)
def test_the_user_wins_over_the_file_over_the_default(
    copied: Copied,
    caplog: pytest.LogCaptureFixture,
    told: str | None,
    wanted: WeightsAt | None,
    expected: str,
    warned: bool,
) -> None:
    folder = copied("m")
    heads = folder / open_checkpoint(folder).weights.files["score.scoring_layer.0.weight"]
    if told is not None:
        heads = declaring(folder, told) / HEADS_FILE
        assert check_checkpoint(folder).facts["weights read at"] == told
    assert (find_heads_file(folder), declared_weights_at(folder)) == (heads, told)
    assert resolve_weights_at(folder, wanted) == expected
    said = f"{folder}: ... weights_at={told}; weights_at={wanted} is used"
    assert (tells(caplog.text, said)) is warned
    assert bool(caplog.records) is warned


def test_a_folder_without_heads_declares_nothing(tmp_path: Path) -> None:
    assert (find_heads_file(tmp_path), declared_weights_at(tmp_path)) == (None, None)


def test_an_export_keeps_what_the_heads_say(copied: Copied, tmp_path: Path) -> None:
    folder = copied("m")
    weights, file = open_checkpoint(folder).weights, find_heads_file(folder)
    assert file is not None
    held = [name for name, its in weights.files.items() if its == file.name]
    tensors = {name: read_tensor(file, weights.entries[name]) for name in held}
    write_tensor_file(file, tensors, metadata={"format": "pt", "weights_at": "query"})
    exported = export_checkpoint(folder, tmp_path / "out").folder
    assert read_metadata(exported / HEADS_FILE) == {"weights_at": "query"}
    assert declared_weights_at(exported) == "query"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint(tmp_path_factory.mktemp("model") / "m", inner_widths=SMALL, shards=3)


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def test_it_is_the_hash_of_names_and_digests(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(b"abc")
    # SHA-256 of "abc" is the example of FIPS 180-2, B.1.
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (
        fingerprint(tmp_path)
        == hashlib.sha256(f"[('config.json', '{digest}')]".encode()).hexdigest()
    )


def test_place_and_times_do_not_count(folder: Path, copy: Path) -> None:
    for path in copy.iterdir():
        os.utime(path, (1, 1))
    (copy / "README.md").write_text("other", encoding="utf-8")
    (copy / "optimizer.bin").write_bytes(b"x")
    assert fingerprint(copy) == fingerprint(folder)


def test_any_number_of_any_file_counts(folder: Path, copy: Path) -> None:
    before = fingerprint(folder)
    for path in sorted(copy.glob("*.safetensors")):
        whole = path.read_bytes()
        for place in (len(whole) - 1, len(whole) // 2, len(whole) - len(whole) // 3):
            changed = bytearray(whole)
            changed[place] ^= 1
            times = path.stat()
            path.write_bytes(changed)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            assert fingerprint(copy) != before, (path.name, place)
        path.write_bytes(whole)
    assert fingerprint(copy) == before
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        with (copy / name).open("a", encoding="utf-8") as file:
            file.write(" ")
        before, last = fingerprint(copy), before
        assert before != last
    for path in copy.glob("*.safetensors"):
        path.unlink()
    assert fingerprint(copy) != before  # a folder without weights has one too


def test_heads_of_their_own_count_unless_left_out(folder: Path, tmp_path: Path) -> None:
    export_checkpoint(folder, tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "other")
    heads = tmp_path / "other" / "samer_heads" / "heads.safetensors"
    heads.write_bytes(heads.read_bytes()[:-1] + b"\x01")
    assert fingerprint(tmp_path / "one") != fingerprint(tmp_path / "other")
    assert fingerprint(tmp_path / "one", heads=False) == fingerprint(
        tmp_path / "other", heads=False
    )


def test_a_large_file_is_read_once_until_it_changes(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    computed = sha256_of

    def compute(path: Path) -> str:
        read.append(path.name)
        return computed(path)

    monkeypatch.setattr(module, "sha256_of", compute)
    monkeypatch.setattr(module, "_LARGE", 1 << 12)
    monkeypatch.setattr(module, "_SETTLED", 3600.0)
    fingerprint(copy)
    assert not list(
        (cache_folder() / "digests").glob("*")
    )  # what was just written is not remembered
    read.clear()
    monkeypatch.setattr(module, "_SETTLED", -1.0)
    first = fingerprint(copy)
    assert len([name for name in read if name.endswith("safetensors")]) == 3
    read.clear()
    assert fingerprint(copy) == first
    assert not [name for name in read if name.endswith("safetensors")]

    path, read[:] = copy / "model-00001-of-00003.safetensors", []
    whole, times = bytearray(path.read_bytes()), path.stat()
    whole[-1] ^= 1
    path.write_bytes(whole)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # as a copy that keeps times
    assert fingerprint(copy) != first
    assert path.name in read
