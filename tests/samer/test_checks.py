"""What checks of a folder find, piece by piece, and rules of descriptions, heads and vectors."""

import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import Run
from tests.reports.golden_files import check_golden
from tests.reports.judged_logs import write_judged
from tests.samer.checkpoints import (
    change_json,
    declaring,
    head_tensors,
    tiny_checkpoint,
    write_tensor_file,
)
from tests.samer.conftest import SMALL as NARROW
from tests.samer.stubs import DIMENSIONS, raw
from tests.samer.test_summaries import annotation
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.samer._checkpoint import (
    HEADS_FILE,
    Checkpoint,
    cache_folder,
    fingerprint,
    is_reward_model,
    labels_of,
    resolve_dtype,
    resolve_weights_at,
)
from urs_inspect.samer._checkpoint_check import (
    _backbone_shapes,
    _further_errors,
    _Llama,
    _not_samer,
    _type_errors,
    check_checkpoint,
    open_checkpoint,
)
from urs_inspect.samer._conversation import ANY_END, Encoded
from urs_inspect.samer._engines import EngineFailure, EngineSpec, QueryResponse, Scored
from urs_inspect.samer._engines.protocol import StepPooling, encode_all, one_line, outcomes
from urs_inspect.samer._evaluation import (
    HEAD_KEYS,
    HEAD_NAMES,
    Heads,
    RawOutputs,
    evaluate,
    head_errors,
    inner_widths,
    raw_outputs,
)
from urs_inspect.samer._export import Export
from urs_inspect.samer._pairs import PairLabels
from urs_inspect.samer._report import ScenarioWeights
from urs_inspect.samer._reward import Description, load_description, unsupported_head
from urs_inspect.samer._scoring_commands import _print_weights, _say_facts, _silence, print_export
from urs_inspect.samer._training_commands import _held_out_shares
from urs_inspect.samer._vectors import Accuracy, PairVectors, predict_pairs
from urs_inspect.samer._weights import (
    TensorEntry,
    WeightFiles,
    header_bytes,
    read_header,
    shortened_list,
)

# --- folders ---


def trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines())


def test_the_check_to_read(
    small: Path,
    copied: Callable[[str], Path],
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    broken = copied("broken")
    change_json(broken / "config.json", auto_map={"AutoModel": "x.Y"}, quantization_config={})
    change_json(broken / "config.json", num_hidden_layers=3, max_position_embeddings=3)
    made = tiny_checkpoint(tmp_path / "query", inner_widths=NARROW)
    parts = []
    for name, folder, options in (
        ("as released", small, ["--quick"]),
        ("all values", small, []),
        (
            "with heads beside it that declare where they read",
            declaring(made, "query"),
            ["--quick"],
        ),
        ("broken", broken, ["--quick"]),
    ):
        done = run("samer", "check", folder, *options)
        assert done.exit_code == int(name == "broken")
        said = done.output.replace(str(folder), "FOLDER")
        parts += [f"# {name}", trimmed(said), ""]
    check_golden("samer_check", "\n".join(parts))


def test_types_of_all_files_are_told(small: Path, copied: Callable[[str], Path]) -> None:
    folder = copied("mixed")
    file = min(folder.glob("*.safetensors"))
    weights = open_checkpoint(small).weights
    kept = {name: weights.read(name) for name in read_header(file)}
    write_tensor_file(file, kept, "bfloat16")
    facts = check_checkpoint(folder).facts
    assert facts["dtype"] in ("BF16, F32", "F32, BF16")
    assert tells(facts["weights"], f"{len(weights.entries)} tensors in 3 files")
    assert check_checkpoint(small).facts["dtype"] == "F32"


def test_where_copies_and_digests_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("URS_INSPECT_CACHE_DIR", "~/kept")
    assert cache_folder() == Path("/home/me/kept/samer")
    monkeypatch.setenv("URS_INSPECT_CACHE_DIR", "")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: f"/caches/{name}")
    assert cache_folder() == Path("/caches/urs_inspect/samer")


@pytest.mark.parametrize(
    ("facts", "told", "not_told"),
    [
        ({"weights_at": "query"}, "stub: float32 ... weights ... query", "reward"),
        ({"reward": {"overall": "a + b"}}, "stub: float32 ... reward = a + b", "weights"),
    ],
)
def test_how_rows_are_scored_is_told(
    facts: dict[str, Any], told: str, not_told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _say_facts({"engine": "stub", "dtype": "float32", **facts})
    said = capsys.readouterr()
    assert tells(said.err, told) and not_told not in said.err and not said.out


def test_nothing_but_the_console_is_heard_in_silence(capfd: pytest.CaptureFixture[str]) -> None:
    with _silence() as console:
        sys.stdout.write("hidden\n")
        os.write(2, b"hidden\n")
        console.print("shown")
    sys.stdout.write("again\n")
    os.write(2, b"again\n")
    said = capfd.readouterr()
    assert (said.out, said.err) == ("again\n", "shown\nagain\n")


def test_types_in_which_no_nan_can_be_found_are_noted(copied: Callable[[str], Path]) -> None:
    folder = copied("m")
    for values in (False, True):
        assert not any("NaN" in note for note in check_checkpoint(folder, values=values).notes)
    last = max(folder.glob("*.safetensors"))
    odd = [("model.odd", "F8_E4M3", (2,), 2)]
    last.write_bytes(header_bytes(odd, {"format": "pt"}) + b"\0\0")
    index = folder / "model.safetensors.index.json"
    files = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
    files = {name: file for name, file in files.items() if file != last.name}
    change_json(index, weight_map={**files, "model.odd": last.name})
    notes = check_checkpoint(folder, values=True).notes
    assert any(tells(note, "F8_E4M3 ... NaN") for note in notes)


def test_heads_that_cannot_be_read_make_no_checkpoint(copied: Callable[[str], Path]) -> None:
    folder = copied("m")
    (folder / HEADS_FILE).parent.mkdir()
    (folder / HEADS_FILE).write_bytes(b"broken")
    report = check_checkpoint(folder)
    assert report.checkpoint is None and report.facts["layout"] == "exported"
    assert [error for error in report.errors if str(folder / HEADS_FILE) in error]


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "base_model.model."])
def test_names_that_training_left_a_prefix_on_are_told_from_other_models(prefix: str) -> None:
    whole = dict.fromkeys(HEAD_NAMES, (1, 1))
    assert _not_samer(whole) is None
    prefixed = {f"{prefix}{name}": shape for name, shape in whole.items()}
    assert tells(_not_samer(prefixed), f"'{prefix}' ... expected '{HEAD_NAMES[0]}'")
    others = {f"{prefix}model.norm.weight": (1,)}
    assert tells(_not_samer(others), f"no heads ... {HEAD_NAMES[0]}")
    half = dict(list(whole.items())[2:])
    assert tells(_not_samer(half), f"2 weights ... missing: {HEAD_NAMES[0]}, {HEAD_NAMES[1]}")


def test_the_first_error_is_told_with_the_number_of_others(copied: Callable[[str], Path]) -> None:
    folder = copied("m")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError) as caught:
        open_checkpoint(folder)
    assert "more" not in str(caught.value)
    (folder / "config.json").unlink()
    errors = check_checkpoint(folder).errors
    with pytest.raises(InputError) as caught:
        open_checkpoint(folder)
    assert tells(str(caught.value), f"{errors[0]} ... {len(errors) - 1} more")
    assert len(errors) == 2


def entries(**kinds: str) -> dict[str, TensorEntry]:
    return {name: TensorEntry(name, kind, (1,), 0, 1) for name, kind in kinds.items()}


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ({"a.weight": "F32", "b.weight": "BF16"}, []),
        (
            {"a.weight": "I8", "b.weight": "U8", "c.weight": "I8"},
            ["3 weights ... I8, U8 ... a.weight"],
        ),
        ({"a.position_ids": "I64"}, []),  # no weight
        ({"a.weight": "F8_E4M3"}, ["1 weights ... without a scale: a.weight"]),
        ({"a.weight": "F8_E4M3", "a.weight_scale": "F32"}, []),
        ({"a.weight": "F8_E5M2", "a.weight_scale_inv": "F32"}, []),
        (
            {"a.weight": "F8_E4M3", "b.weight_scale": "F32", "c.weight": "I32"},
            ["1 ... I32", "scale"],
        ),
    ],
)
def test_types_that_quantisation_leaves_are_named(kinds: dict[str, str], told: list[str]) -> None:
    found = list(_type_errors(entries(**kinds)))
    assert len(found) == len(told)
    assert all(tells(one, pattern) for one, pattern in zip(found, told, strict=True))


@pytest.mark.parametrize(
    ("names", "config", "told"),
    [
        (["a", "b"], {}, None),
        (["a", "lm_head.weight", "model.layers.0.rotary_emb.inv_freq"], {}, None),
        (["a", "x"], {}, "1 tensor ... x"),
        (["a", "x", "y", "z", "w"], {}, "4 tensors ... x, y, z and 1 more"),
        (["a", "x"], {"auto_map": {}}, "1 tensor ... x ... auto_map"),
        (["a", "b.weight_scale", "b.weight_scale_inv"], {"quantization_config": {}}, None),
        (["a", "b.weight_scale"], {}, "1 tensor ... b.weight_scale"),
    ],
)
def test_tensors_that_no_engine_would_use_are_named(
    names: list[str], config: dict[str, Any], told: str | None
) -> None:
    shapes = dict.fromkeys(names, (1,))
    found = list(
        _further_errors(shapes, ["a", "b"], config, (r"^lm_head\.", r"\.rotary_emb\.inv_freq$"))
    )
    assert len(found) == int(told is not None)
    assert told is None or tells(found[0], told)


SIZES: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 12,
    "vocab_size": 30,
    "max_position_embeddings": 99,
}


@pytest.mark.parametrize(
    ("settings", "queries", "keys"),
    [
        ({}, 8, 8),
        ({"num_key_value_heads": 2}, 8, 4),
        ({"head_dim": 3}, 12, 12),
        ({"head_dim": 3, "num_key_value_heads": 1}, 12, 3),
    ],
)
def test_shapes_of_a_llama(settings: dict[str, Any], queries: int, keys: int) -> None:
    llama = _Llama.model_validate({**SIZES, **settings})
    shapes = _backbone_shapes({}, llama)
    layer = "model.layers.1."
    assert shapes["model.embed_tokens.weight"] == (30, 8)
    assert shapes[f"{layer}self_attn.q_proj.weight"] == (queries, 8)
    assert shapes[f"{layer}self_attn.k_proj.weight"] == (keys, 8)
    assert shapes[f"{layer}self_attn.v_proj.weight"] == (keys, 8)
    assert shapes[f"{layer}self_attn.o_proj.weight"] == (8, queries)
    assert shapes[f"{layer}mlp.up_proj.weight"] == (12, 8)
    assert shapes[f"{layer}mlp.down_proj.weight"] == (8, 12)
    assert len(shapes) == 2 + 2 * 9
    attention = _backbone_shapes({"attention_bias": True}, llama)
    assert attention[f"{layer}self_attn.k_proj.bias"] == (keys,)
    assert len(attention) == 2 + 2 * 13 and f"{layer}mlp.up_proj.bias" not in attention
    mlp = _backbone_shapes({"mlp_bias": True}, llama)
    assert mlp[f"{layer}mlp.up_proj.bias"] == (12,) and len(mlp) == 2 + 2 * 12


def checkpoint(dtype: str = "BF16", **config: Any) -> Checkpoint:
    weights = WeightFiles(Path("m"), entries(a=dtype), {"a": "model.safetensors"})
    return Checkpoint(Path("m"), "released", config, weights)


@pytest.mark.parametrize(
    ("made", "dtype"),
    [
        (checkpoint(dtype="BF16"), "bfloat16"),
        (checkpoint(dtype="F32"), "float32"),
        (checkpoint(dtype="F32", torch_dtype="float16"), "float16"),
        (
            Checkpoint(Path("m"), "released", {"dtype": "bfloat16", "torch_dtype": "float16"},
                       WeightFiles(Path("m"), entries(a="F32"), {"a": "x"})),
            "bfloat16",
        ),
        (checkpoint(dtype="F64"), "F64"),
    ],
)  # fmt: skip
def test_the_type_of_a_checkpoint(made: Checkpoint, dtype: str) -> None:
    assert made.dtype == dtype
    if dtype == "F64":
        with pytest.raises(InputError):
            resolve_dtype(made, "auto")
    else:
        assert resolve_dtype(made, "auto") == dtype
    assert resolve_dtype(made, "float16") == "float16"


@pytest.mark.parametrize(
    ("config", "length"),
    [({"max_position_embeddings": 5, "n_positions": 3}, 5), ({"n_positions": 3}, 3), ({}, 0)],
)
def test_the_length_of_a_checkpoint(config: dict[str, Any], length: int) -> None:
    assert checkpoint(**config).max_length == length


@pytest.mark.parametrize(
    ("config", "labels"),
    [({}, 2), ({"num_labels": 5}, 5), ({"id2label": {"0": "x"}}, 1),
     ({"id2label": {"0": "x"}, "num_labels": 5}, 1), ({"id2label": None}, 2)],
)  # fmt: skip
def test_the_labels_of_a_classifier(config: dict[str, Any], labels: int) -> None:
    assert labels_of(config) == labels


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        ("a", "a"),
        ("abc", "a, b, c"),
        ("abcd", "a, b, c and 1 more"),
        ("abcdefg", "a, b, c and 4 more"),
    ],
)
def test_long_lists_are_shortened(names: str, listed: str) -> None:
    assert shortened_list(names) == listed


def test_types_are_in_the_order_of_their_bytes() -> None:
    held = {
        "a": TensorEntry("a", "F32", (1,), 0, 400),
        "b": TensorEntry("b", "BF16", (1,), 0, 300),
        "c": TensorEntry("c", "BF16", (1,), 0, 200),
    }
    weights = WeightFiles(Path("m"), held, {"a": "2", "b": "1", "c": "2"})
    assert weights.dtypes == ("BF16", "F32")
    assert (weights.size, weights.names) == (900, ("1", "2"))
    assert weights.path("c") == Path("m") / "2"


# --- reward models ---


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"outputs": ["good"], "overall": "good"}, None),
        ({"outputs": ["reward"], "overall": "reward"}, None),
        ({"outputs": ["reward"], "overall": {"reward": 1.0}}, None),
        ({"outputs": ["reward"], "overall": {"reward": -1.0}}, "reward"),
        ({"outputs": ["Reward", "x"], "overall": "x"}, "reward"),
        ({"outputs": ["a b", "A_B"], "overall": "a b"}, "twice"),
        ({"outputs": ["a", "A"], "overall": "a"}, "twice"),
        ({"outputs": ["a", "b"], "overall": "c"}, "overall ... allowed: a, b"),
        ({"outputs": ["a", "b"], "overall": {"a": 1, "c": 2}}, "overall ... c ... allowed: a, b"),
        ({"outputs": ["a", "b"], "overall": {}}, "overall"),
        ({"outputs": [], "overall": "a"}, "outputs"),
        ({"outputs": [""], "overall": ""}, "name"),
        ({"outputs": [{"name": "a", "scale": math.inf}], "overall": "a"}, "scale"),
        ({"outputs": [{"name": "a", "shift": 1}], "overall": "a"}, "shift"),
        ({"outputs": ["a"], "overall": "a", "template": ""}, "template"),
    ],
)
def test_a_description_has_names_that_fit(
    tmp_path: Path, given: dict[str, Any], refused: str | None
) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(json.dumps(given), encoding="utf-8")
    if refused is None:
        assert load_description(tmp_path, str(file), 1).outputs
        return
    with pytest.raises(InputError) as caught:
        load_description(tmp_path, str(file), len(given["outputs"]))
    assert tells(str(caught.value), f"own.yaml ... {refused}")


def test_one_output_needs_no_description_and_others_do(tmp_path: Path) -> None:
    alone = load_description(tmp_path, None, 1)
    assert (alone.names, dict(alone.weights)) == (("reward",), {"reward": 1.0})
    with pytest.raises(InputError) as caught:
        load_description(tmp_path, None, 2)
    assert tells(str(caught.value), f"{tmp_path} ... 2 outputs")
    two = {"outputs": ["a", "b"], "overall": "b"}
    (tmp_path / "reward.yaml").write_text(json.dumps(two), encoding="utf-8")
    assert load_description(tmp_path, None, 2).names == ("a", "b")
    for outputs in (1, 3):
        with pytest.raises(InputError) as caught:
            load_description(tmp_path, None, outputs)
        assert tells(str(caught.value), f"reward.yaml ... 2 outputs ... {outputs}")


def test_a_reward_is_the_weighted_sum_of_scaled_outputs() -> None:
    made = Description.model_validate(
        {
            "outputs": [{"name": "a", "scale": 2, "offset": -1}, "b", "c"],
            "overall": {"a": 0.5, "c": -2},
        }
    )
    [one, other] = made.raw(np.array([[3, 7, 0.5], [0, 0, 0]], np.float32))
    found = made.evaluate(one)
    assert found.scores.tolist() == [5, 7, 0.5]
    assert found.weights.tolist() == [0.5, 0, -2]
    assert found.overall == 0.5 * 5 - 2 * 0.5
    assert found.selected.all() and not found.empty_selection
    assert made.evaluate(other).overall == -0.5


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["score.weight", "v_head.weight"], None),
        (["model.x"], None),
        (["v_head.summary.weight"], "GRM"),
        (["gating.layers.0.weight"], "ArmoRM"),
        (["regression_layer.weight"], "ArmoRM"),
        (["score.0.weight"], "INF-ORM"),
        (["classifier.weight"], "encoder"),
        (["lm_head.weight"], "Nemotron"),
        (["v_head.weight", "lm_head.weight"], "GRM"),
        (["model.lm_head.weight"], None),
    ],
)
def test_heads_of_other_kinds_are_named(names: list[str], kind: str | None) -> None:
    found = unsupported_head(names)
    assert (found is None) if kind is None else (found is not None and kind in found)


# --- heads ---


def test_a_dimension_with_a_gate_of_0_is_not_selected() -> None:
    found = evaluate(raw({}, {"Style": 0.0, "Depth": 1e-6}))
    assert [name for name, one in zip(DIMENSIONS, found.selected, strict=True) if one] == ["Depth"]
    assert not found.empty_selection
    nearest = evaluate(raw({}, {"Style": -0.5, "Depth": -0.25}, {"Style": 9.0}))
    assert DIMENSIONS[int(np.argmax(nearest.selected))] == "Depth"
    assert nearest.empty_selection and nearest.selected.sum() == 1 and nearest.weights.sum() == 1


def test_an_overall_score_is_never_above_1() -> None:
    source = np.random.default_rng(0)
    for _ in range(50):
        row = source.normal(size=42).astype(np.float32) * 50
        found = evaluate(RawOutputs(np.full(42, 99, np.float32), np.abs(row) + 1, row))
        assert found.overall <= 1


@pytest.mark.parametrize("head", ["scores", "gates", "weights"])
@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_outputs_that_are_no_numbers_are_refused_by_name(head: str, value: float) -> None:
    given = {"scores": {"Style": 0.0}, "gates": {"Style": 1.0}, "weights": {"Style": 0.0}}
    given[head] = {"Style": value}
    with pytest.raises(InputError, match=head):
        evaluate(raw(**given))


SMALL = {"scoring": (6, 5, 4, 3), "predictor": (5, 4, 3), "weighter": (5, 4, 3)}


def heads() -> Heads:
    return Heads(head_tensors(np.random.default_rng(1), 8, 4, SMALL))


@pytest.mark.parametrize("weights_at", ["query", "response"])
def test_each_head_reads_where_it_should(weights_at: Any) -> None:
    made = heads()
    queries, responses = np.random.default_rng(2).normal(size=(2, 3, 8)).astype(np.float32)
    for row, found in enumerate(raw_outputs(made, queries, responses, weights_at)):
        at = queries if weights_at == "query" else responses
        np.testing.assert_allclose(found.scores, made.score(responses)[row], rtol=1e-5)
        np.testing.assert_allclose(found.gates, made.select(queries)[row], rtol=1e-5)
        np.testing.assert_allclose(found.weights, made.weigh(at)[row], rtol=1e-5)
    table = np.concatenate([queries, responses])
    pairs = PairVectors(table, np.array([0]), np.array([[3, 4]]))
    predicted = predict_pairs(made, pairs, weights_at)
    for side in (0, 1):
        [expected] = raw_outputs(made, queries[:1], responses[side : side + 1], weights_at)
        assert predicted.overall[0, side] == pytest.approx(evaluate(expected).overall)


def test_widths_of_heads_are_checked_one_after_the_other() -> None:
    shapes = {name: array.shape for name, array in heads().tensors.items()}
    assert head_errors(shapes) == head_errors(shapes, 8) == []
    wrong = head_errors(shapes, 9)
    assert len(wrong) == 3 and all("9" in one for one in wrong)
    first, second, *_ = HEAD_KEYS["scoring"]
    found = head_errors({**shapes, second: (5, 7)})
    assert found == [f"{second} has shape (5, 7); expected (5, 6)"]
    last = HEAD_KEYS["weighter"][-1]
    [found_last] = head_errors({**shapes, last: (5, 3)})
    assert "differ" in found_last and f"{last}: 5" in found_last
    assert head_errors({**shapes, first: (6,)}) == [f"{first} has 1 axes; expected 2"]
    missing = {name: shape for name, shape in shapes.items() if name != last}
    assert head_errors(missing) == [f"{last} is missing"]


@pytest.mark.parametrize(
    ("narrowing", "first", "last"), [(1, 2048, 1024), (4, 512, 256), (2000, 1, 1)]
)
def test_heads_are_narrowed_to_one_at_least(narrowing: int, first: int, last: int) -> None:
    widths = inner_widths(narrowing)
    assert (widths["scoring"][0], widths["scoring"][-1]) == (first, last)
    assert [len(widths[head]) for head in ("scoring", "predictor", "weighter")] == [4, 3, 3]


@pytest.mark.parametrize(
    ("overall", "dimensions", "mean"),
    [(0.5, 1.0, 0.75), (math.nan, 1.0, 1.0), (0.5, math.nan, 0.5), (math.nan, math.nan, math.nan)],
)
def test_a_mean_of_what_is_defined(overall: float, dimensions: float, mean: float) -> None:
    assert Accuracy(overall, dimensions, 1, 1).mean == pytest.approx(mean, nan_ok=True)


# --- engines ---


def test_outcomes_keep_their_places_beside_failures() -> None:
    made = Description.model_validate({"outputs": ["a"], "overall": "a"})
    too_long, refused = EngineFailure("too_long", "x"), EngineFailure("refused", "y")
    encoded: list[Any] = [
        Encoded((1, 2), (1,), True, shortened=3),
        too_long,
        Encoded((1,), (1,), True),
        Encoded((1, 2, 3), (1,), True),
        Encoded((4,), (4,), True),
    ]
    vectors: list[Any] = [
        np.array([[0], [10.0]]),
        refused,
        np.array([[0], [30.0]]),
        np.array([[0], [math.nan]]),
    ]
    found = outcomes(made, "response", encoded, vectors)
    assert found[1] is too_long and found[2] is refused
    first, third = found[0], found[3]
    assert isinstance(first, Scored) and isinstance(third, Scored)
    assert (first.raw.scores.tolist(), first.shortened, first.tokens) == ([10.0], 3, 2)
    assert (third.raw.scores.tolist(), third.tokens) == ([30.0], 3)
    assert isinstance(found[4], EngineFailure) and found[4].mode == "not_finite"


def test_stock_vllm_is_told_to_pool_at_ends_of_turn_or_to_classify() -> None:
    samer, reward = StepPooling(9, 6), StepPooling(ANY_END, 2)
    assert (samer.task, reward.task) == ("token_embed", "classify")
    assert samer.options == {
        "convert": "embed",
        "pooler_config": {
            "task": "token_embed",
            "tok_pooling_type": "STEP",
            "step_tag_id": 9,
            "use_activation": False,
        },
    }
    assert reward.options == {
        "convert": "classify",
        "pooler_config": {"task": "classify", "use_activation": False},
    }
    assert (samer.size((9, 1, 9)), reward.size((9, 1, 9))) == ((2, 6), (2,))


def test_items_that_do_not_fit_fail_alone(small: Path) -> None:
    conversations = open_checkpoint(small).conversations()
    spec = EngineSpec("m", max_length=60, overlong="error")
    items = [QueryResponse("q", "r"), QueryResponse("q", "r " * 200)]
    fits, long = encode_all(conversations, spec, items)
    assert isinstance(fits, Encoded)
    assert isinstance(long, EngineFailure) and long.mode == "too_long"
    double = EngineSpec("m", max_length=60, bos="double")
    [twice] = encode_all(conversations, double, items[:1])
    assert isinstance(twice, Encoded) and len(twice.ids) == len(fits.ids) + 1


@pytest.mark.parametrize(
    ("error", "named", "line"),
    [
        (ValueError("a\n b"), False, "a b"),
        (ValueError("a"), True, "ValueError: a"),
        (ValueError(), False, "ValueError"),
        (ValueError("x" * 400), False, "x" * 300),
    ],
)
def test_an_error_on_one_line(error: Exception, named: bool, line: str) -> None:
    assert one_line(error, named=named) == line


# --- what is printed ---


def test_tables_of_weights_and_exports(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    many = {f"D{place}": weight for place, weight in enumerate((0.4, 0.25, 0.15, 0.1, 0.06, 0.04))}
    here = {"model": "DIR", "weights_at": "response", "bos": "single"}
    _print_weights(
        [
            ScenarioWeights("roleplay", 12, many, here),
            ScenarioWeights("chitchat", 3, {"Style": 1.0}, here),
            ScenarioWeights("all", 1, {"Depth": 0.5}, {**here, "bos": "double"}),
            ScenarioWeights("all", 1, {"Depth": 0.5}, {}),
        ]
    )
    parts = [trimmed(capsys.readouterr().out)]
    monkeypatch.setattr(
        "urs_inspect.samer._conversation.Conversations",
        lambda folder: SimpleNamespace(end_of_turn=269),
    )
    for declared in (
        {},
        {"weights_at": "query"},
        {"weights_at": "query", "backbone_dtype": "float32"},
    ):
        print_export(Export(Path("a b"), Path("a b/heads.safetensors"), declared))
        parts += [f"# {declared}", trimmed(capsys.readouterr().out)]
    check_golden("samer_tables", "\n".join(parts) + "\n")


def test_annotations_to_read(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def record(name: str, scenario: str) -> dict[str, Any]:
        texts = {"prompt": f"p {name}", "response_a": "x", "response_b": "y"}
        return {**texts, "id": name, "scenario": scenario, "dimensions": {"Style": "a"}}

    samples = [
        annotation(
            f"a{n}",
            annotated=n < 7,
            kept=n < 6,
            label="a" if n < 4 or n == 6 else "",
            agrees=n < 4,
            record=record(f"a{n}", "chitchat" if n < 4 else "roleplay"),
        )
        for n in range(8)
    ]
    write_judged(tmp_path / "logs" / "a.eval", *samples, task="urs_inspect/samer_annotate")
    write_judged(tmp_path / "logs" / "b.eval", *samples[:1], task="urs_inspect/urs")
    done = run("samer", "annotate", "logs", "out.jsonl", "--per-scenario", "3,3")
    assert done.exit_code == 0, done.output
    written = [json.loads(line)["id"] for line in Path("out.jsonl").read_text("utf-8").splitlines()]
    assert len(written) == 5
    check_golden("samer_annotate", trimmed(done.output) + "\n")


# --- which kind a folder is of ---


@pytest.mark.parametrize(
    ("config", "files", "reward"),
    [
        (None, [], False),
        ({"model_type": "llama", "num_labels": 1}, [], True),  # without weights, for a server
        ({"model_type": "llama", "num_labels": 42}, [], False),
        ({"model_type": "llama"}, [], False),
        ({"model_type": "llama", "num_labels": 42}, ["reward.yaml"], True),
        ({"model_type": "qwen2", "num_labels": 42}, [], True),
        ({"model_type": "qwen2", "num_labels": 1}, ["samer_heads/heads.safetensors"], False),
        ({"model_type": "llama", "num_labels": 1}, ["samer_heads/heads.safetensors"], False),
    ],
)
def test_whose_folder_it_is(
    tmp_path: Path, config: dict[str, Any] | None, files: list[str], reward: bool
) -> None:
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}", encoding="utf-8")
    assert is_reward_model(tmp_path) is reward


@pytest.mark.parametrize(
    ("declared", "wanted", "used", "warned"),
    [
        (None, None, "response", False),
        ("query", None, "query", False),
        ("response", None, "response", False),
        (None, "query", "query", False),
        ("query", "query", "query", False),
        ("query", "response", "response", True),
        ("response", "query", "query", True),
    ],
)
def test_where_weights_are_read(
    declared: str | None,
    wanted: Any,
    used: str,
    warned: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(
        "urs_inspect.samer._checkpoint.declared_weights_at", lambda folder: declared
    )
    assert resolve_weights_at(tmp_path, wanted) == used
    assert len(caplog.records) == int(warned)
    assert not warned or (f"={declared}" in caplog.text and f"={wanted}" in caplog.text)


def test_only_samer_has_weights_to_read(tmp_path: Path) -> None:
    config = {"model_type": "qwen2"}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert resolve_weights_at(tmp_path, None) == "response"
    with pytest.raises(InputError):
        resolve_weights_at(tmp_path, "query")


def test_a_fingerprint_is_of_every_file_that_engines_read(tmp_path: Path) -> None:
    names = ("config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja",
             "model.safetensors.index.json", "reward.yaml", "samer_heads/heads.safetensors")  # fmt: skip
    (tmp_path / "samer_heads").mkdir()
    seen = [fingerprint(tmp_path)]
    for name in names:
        (tmp_path / name).write_text("{}", encoding="utf-8")
        seen.append(fingerprint(tmp_path))
    assert len(set(seen)) == len(seen)
    (tmp_path / "notes.txt").write_text("{}", encoding="utf-8")
    assert fingerprint(tmp_path) == seen[-1]
    assert fingerprint(tmp_path, heads=False) == seen[-2]
    (tmp_path / "config.json").rename(tmp_path / "other.json")
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "other.json").rename(tmp_path / "tokenizer.json")
    assert fingerprint(tmp_path) not in seen  # equal contents under another name


# --- shares of held-out pairs ---


@pytest.mark.parametrize("weights_at", ["query", "response"])
def test_shares_of_held_out_pairs_with_trained_and_with_equal_weights(weights_at: Any) -> None:
    made = heads()
    source = np.random.default_rng(7)
    number = 300
    table = source.normal(size=(3 * number, 8)).astype(np.float32) * 3
    places = np.arange(number, 3 * number).reshape(-1, 2)
    pairs = PairVectors(table, np.arange(number), places)
    overall = source.choice([1, -1, 0, 2], number).astype(np.int8)
    labels = PairLabels(overall, np.full((number, 4), 2, np.int8))
    right: dict[str, list[bool]] = {"overall": [], "overall_with_equal_weights": []}
    for row in range(number):
        if abs(overall[row]) != 1:
            continue
        sides = []
        for place in places[row]:
            [outputs] = raw_outputs(made, table[[row]], table[[place]], weights_at)
            sides.append(evaluate(outputs))
        one, other = sides
        right["overall"].append((one.overall > other.overall) == (overall[row] == 1))
        means = [side.scores[side.selected].mean() for side in sides]
        right["overall_with_equal_weights"].append((means[0] > means[1]) == (overall[row] == 1))
    expected = {name: float(np.mean(hits)) for name, hits in right.items()}
    if weights_at == "response":  # where the two sides of a pair have weights of their own
        assert expected["overall"] != expected["overall_with_equal_weights"]
    assert _held_out_shares(made, pairs, labels, weights_at) == pytest.approx(expected)
