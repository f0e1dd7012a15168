"""The heads and evaluations: values by hand, an obvious implementation, torch, and what does not
fit.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.samer.checkpoints import head_tensors
from tests.samer.reference import ReferenceHeads
from urs_inspect._util import InputError
from urs_inspect.samer import _evaluation as heads_module
from urs_inspect.samer._evaluation import (
    HEAD_KEYS,
    HEAD_NAMES,
    Heads,
    RawOutputs,
    evaluate,
    heads_size,
    inner_widths,
    load_heads,
    raw_outputs,
    save_heads,
)
from urs_inspect.samer._weights import Array, read_header, write_tensors

SMALL = {"scoring": (6, 5, 4, 3), "predictor": (5, 4, 3), "weighter": (5, 4, 3)}


LAST = [keys[-1] for keys in HEAD_KEYS.values()]


def small_heads(seed: int = 0, dimensions: int = 4) -> Heads:
    return Heads(head_tensors(np.random.default_rng(seed), 8, dimensions, SMALL))


def vectors(n: int, hidden: int = 8) -> Array:
    return np.random.default_rng(7).standard_normal((n, hidden)).astype(np.float32)


def test_by_hand() -> None:
    # Every layer is the number 1 but the last, 2. SiLU(x) = x / (1 + e^-x): SiLU(1) = 0.731059,
    # SiLU(0.731059) = 0.493492, SiLU(0.493492) = 0.306423, SiLU(0.306423) = 0.176504. Predictor and
    # weighter have three activations: 2 * 0.306423 = 0.612847; the scorer four: 2 * 0.176504 =
    # 0.353007.
    one, two = np.ones((1, 1), np.float32), np.full((1, 1), 2, np.float32)
    heads = Heads({key: two if key in LAST else one for key in HEAD_NAMES})
    scores, weights = heads.score(one), heads.weigh(one)
    assert scores[0, 0] == pytest.approx(0.353007, abs=1e-6)
    assert weights[0, 0] == pytest.approx(0.612847, abs=1e-6)
    assert heads.select(one)[0, 0] == pytest.approx(0.612847, abs=1e-6)


@pytest.mark.parametrize("narrowing", [1, 64, 5000])
def test_written_heads_have_the_size_that_was_said_and_are_read_back(
    narrowing: int, tmp_path: Path
) -> None:
    tensors = head_tensors(np.random.default_rng(0), 8, 4, inner_widths(narrowing))
    save_heads(Heads(tensors), tmp_path / "h")
    assert heads_size(8, 4, narrowing) == sum(
        entry.size for entry in read_header(tmp_path / "h").values()
    )
    again = load_heads(tmp_path / "h").tensors
    assert all(np.array_equal(again[name], array) for name, array in tensors.items())


def test_equal_to_loops_over_numbers() -> None:
    heads = small_heads()

    def slow(layers: Sequence[Array], vector: list[float]) -> list[float]:
        for depth, layer in enumerate(layers):
            vector = [sum(float(w) * v for w, v in zip(row, vector, strict=True)) for row in layer]
            if depth < len(layers) - 1:
                vector = [v / (1 + math.exp(-v)) for v in vector]
        return vector

    texts = vectors(3)
    for layers, fast in (
        (heads.layers("scoring"), heads.score),
        (heads.layers("predictor"), heads.select),
        (heads.layers("weighter"), heads.weigh),
    ):
        expected = [slow(layers, [float(v) for v in vector]) for vector in texts]
        np.testing.assert_allclose(fast(texts), expected, atol=1e-5)


def test_equal_to_torch_with_the_released_state_dict() -> None:
    tensors = head_tensors(np.random.default_rng(1), 64)
    module = ReferenceHeads(64)
    module.load_state_dict(
        {k.removeprefix("score."): torch.from_numpy(v) for k, v in tensors.items()}
    )  # strict
    module.eval()
    heads, texts = Heads(tensors), vectors(5, 64)
    with torch.inference_mode():
        expected = [
            m(torch.from_numpy(texts)).numpy()
            for m in (module.scoring_layer, module.weighting_layer)
        ]
        gates = module.dimpred_layer(torch.from_numpy(texts)).numpy()
    for ours, theirs in zip(
        (heads.score(texts), heads.weigh(texts), heads.select(texts)),
        (*expected, gates),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
        assert ours.dtype == np.float32
    assert (heads.hidden_size, heads.dimensions) == (64, 42)


def test_rows_do_not_depend_on_each_other_nor_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    heads, texts = small_heads(), vectors(10)
    whole = heads.score(texts)
    monkeypatch.setattr(heads_module, "_BLOCK", 3)
    np.testing.assert_allclose(heads.score(texts), whole, atol=1e-6)
    np.testing.assert_allclose(heads.score(texts[::-1])[::-1], whole, atol=1e-6)
    assert heads.score(texts[:0]).shape == (0, 4)


def test_input_is_left_alone_and_extremes_give_the_limits() -> None:
    one = np.ones((1, 1), np.float32)
    heads = Heads(dict.fromkeys(HEAD_NAMES, one))
    texts = np.array([[-1e4], [1e4], [0]], np.float32)
    before = texts.copy()
    np.testing.assert_array_equal(
        heads.select(texts), [[0], [1e4], [0]]
    )  # SiLU(-1e4) = 0, without a warning
    np.testing.assert_array_equal(texts, before)


@pytest.mark.parametrize("key", HEAD_NAMES)
def test_a_weight_that_is_missing_or_of_another_shape_is_named(tmp_path: Path, key: str) -> None:
    tensors = dict(small_heads().tensors)
    for axis in (0, 1):
        with pytest.raises(InputError, match=r"has shape|differ in dimensions"):
            Heads(tensors | {key: np.delete(tensors[key], 0, axis)})
    with pytest.raises(InputError, match=f"{key} has 3 axes; expected 2"):
        Heads(tensors | {key: np.zeros((2, 2, 2), np.float32)})
    del tensors[key]
    write_tensors(tmp_path / "h.safetensors", tensors)
    with pytest.raises(InputError, match=f"{key} is missing"):
        load_heads(tmp_path / "h.safetensors")
    with pytest.raises(InputError, match=f"{key} is missing"):
        Heads(tensors)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_weight_that_is_not_finite_is_refused(tmp_path: Path, value: float) -> None:
    tensors = dict(small_heads().tensors)
    key = HEAD_KEYS["predictor"][2]
    tensors[key] = tensors[key].copy()
    tensors[key][0, 1] = value
    write_tensors(tmp_path / "h.safetensors", tensors)
    with pytest.raises(InputError, match=f"{key} has 1 values of 12"):
        load_heads(tmp_path / "h.safetensors")


@pytest.mark.parametrize("shape", [(3, 7), (8,), (1, 2, 8)])
def test_vectors_of_another_model_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"expected \(n, 8\)"):
        small_heads().score(np.zeros(shape, np.float32))


LOGITS = arrays(np.float32, 6, elements=st.floats(-30, 30, width=32))


def raw(scores: list[float], gates: list[float], weights: list[float]) -> RawOutputs:
    return RawOutputs(*(np.array(values, np.float32) for values in (scores, gates, weights)))


def test_an_evaluation_by_hand() -> None:
    # Selected: 1 and 3. Weights softmax(0, ln 3) = 1/4, 3/4. Scores sigmoid(0) = 0.5, sigmoid(ln 4)
    # = 0.8. Overall = 0.5 / 4 + 0.8 * 3 / 4 = 0.725. A gate of exactly 0 does not select.
    result = evaluate(raw([0, 5, math.log(4)], [1, 0, 0.1], [0, 9, math.log(3)]))
    assert result.selected.tolist() == [True, False, True]
    assert result.overall == pytest.approx(0.725)
    assert result.weights == pytest.approx([0.25, 0, 0.75])
    assert result.scores == pytest.approx([0.5, 1 / (1 + math.exp(-5)), 0.8])
    assert not result.empty_selection


@given(LOGITS, LOGITS, LOGITS)
@example(
    np.zeros(6, np.float32), np.array([-3, -1, -2, -1, -9, -9], np.float32), np.zeros(6, np.float32)
)
def test_equal_to_loops(scores: Array, gates: Array, weights: Array) -> None:
    result = evaluate(RawOutputs(scores, gates, weights))
    # If no gate is open, the largest; of several such the first.
    chosen = [at for at in range(6) if gates[at] > 0] or [
        max(range(6), key=lambda at: float(gates[at]))
    ]
    assert np.flatnonzero(result.selected).tolist() == chosen
    powers = {at: math.exp(float(weights[at])) for at in chosen}
    expected = sum(powers[at] / (1 + math.exp(-float(scores[at]))) for at in chosen) / sum(
        powers.values()
    )
    assert result.overall == pytest.approx(expected, abs=1e-9)
    assert result.empty_selection == all(gate <= 0 for gate in gates)


@given(LOGITS, LOGITS, LOGITS, st.permutations(range(6)))
def test_bounds_and_order(scores: Array, gates: Array, weights: Array, order: list[int]) -> None:
    result = evaluate(RawOutputs(scores, gates, weights))
    assert 0 <= result.overall <= 1
    assert result.weights.sum() == pytest.approx(1)
    assert not result.weights[~result.selected].any()
    if (gates > 0).any():  # among tied gates the order decides which one stands in
        other = evaluate(RawOutputs(scores[order], gates[order], weights[order]))
        assert other.overall == pytest.approx(result.overall, abs=1e-12)
    shifted = evaluate(RawOutputs(scores, gates, weights + np.float32(8)))
    assert shifted.overall == pytest.approx(
        result.overall, abs=1e-4
    )  # softmax knows differences only


def test_extremes_do_not_overflow() -> None:
    result = evaluate(raw([1e30, -1e30], [1, 1], [1e30, -1e30]))
    assert result.overall == 1
    assert result.scores.tolist() == [1, 0]


@pytest.mark.parametrize("name", ["scores", "gates", "weights"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_never_a_score(name: str, value: float) -> None:
    values = {"scores": [0.0, 1], "gates": [0.0, 1], "weights": [0.0, 1]}
    values[name] = [0, value]
    with pytest.raises(InputError, match=f"outputs: {name} has NaN or infinity"):
        evaluate(raw(**values))


def test_outputs_of_different_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="one shape"):
        raw([1, 2], [1, 2, 3], [1, 2])


@pytest.mark.parametrize("weights_at", ["response", "query"])
def test_each_position_runs_its_own_heads(weights_at: str) -> None:
    heads, query, response = small_heads(), vectors(3), vectors(3)[::-1]
    outputs = raw_outputs(heads, query, response, weights_at)  # type: ignore[arg-type]
    weighed = heads.weigh(query if weights_at == "query" else response)
    for at, output in enumerate(outputs):
        np.testing.assert_array_equal(output.scores, heads.score(response)[at])
        np.testing.assert_array_equal(output.gates, heads.select(query)[at])
        np.testing.assert_array_equal(output.weights, weighed[at])
    assert not np.allclose(heads.weigh(query), heads.weigh(response))
