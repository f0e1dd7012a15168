"""The heads: a value by hand, an obvious implementation, torch, and what does not fit."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.samer.checkpoints import head_tensors
from tests.samer.reference import ReferenceHeads
from urs_inspect._util import InputError
from urs_inspect.samer import heads as heads_module
from urs_inspect.samer.heads import HEAD_KEYS, Heads, heads_size, inner_widths, load_heads, save_heads
from urs_inspect.samer.weights import Array, read_header, write_tensors

SMALL = {"scoring": (6, 5, 4, 3), "predictor": (5, 4, 3), "weighter": (5, 4, 3)}


def small_heads(seed: int = 0, dimensions: int = 4) -> Heads:
    return Heads.from_tensors(head_tensors(np.random.default_rng(seed), 8, dimensions, SMALL))


def vectors(n: int, hidden: int = 8) -> Array:
    return np.random.default_rng(7).standard_normal((n, hidden)).astype(np.float32)


def test_by_hand() -> None:
    # Every layer is the number 1 but the last, 2. SiLU(x) = x / (1 + e^-x):
    # SiLU(1) = 0.731059, SiLU(0.731059) = 0.493492, SiLU(0.493492) = 0.306423, SiLU(0.306423) = 0.176504.
    # Predictor and weighter have three activations: 2 * 0.306423 = 0.612847; the scorer four: 2 * 0.176504 = 0.353007.
    one, two = np.ones((1, 1), np.float32), np.full((1, 1), 2, np.float32)
    heads = Heads((one, one, one, one, two), (one, one, one, two), (one, one, one, two))
    scores, weights = heads.at_response(one)
    assert scores[0, 0] == pytest.approx(0.353007, abs=1e-6)
    assert weights[0, 0] == pytest.approx(0.612847, abs=1e-6)
    assert heads.at_query(one)[0, 0] == pytest.approx(0.612847, abs=1e-6)


@pytest.mark.parametrize("narrowing", [1, 64, 5000])
def test_the_size_of_heads_is_that_of_their_file(narrowing: int, tmp_path: Path) -> None:
    tensors = head_tensors(np.random.default_rng(0), 8, 4, inner_widths(narrowing))
    save_heads(Heads.from_tensors(tensors), tmp_path / "h")
    assert heads_size(8, 4, narrowing) == sum(entry.size for entry in read_header(tmp_path / "h").values())


def test_equal_to_loops_over_numbers() -> None:
    heads = small_heads()

    def slow(layers: tuple[Array, ...], vector: list[float]) -> list[float]:
        for depth, layer in enumerate(layers):
            vector = [sum(float(w) * v for w, v in zip(row, vector, strict=True)) for row in layer]
            if depth < len(layers) - 1:
                vector = [v / (1 + math.exp(-v)) for v in vector]
        return vector

    texts = vectors(3)
    for layers, fast in (
        (heads.scoring, heads.score),
        (heads.predictor, heads.at_query),
        (heads.weighter, heads.weigh),
    ):
        expected = [slow(layers, [float(v) for v in vector]) for vector in texts]
        np.testing.assert_allclose(fast(texts), expected, atol=1e-5)


def test_equal_to_torch_with_the_released_state_dict() -> None:
    tensors = head_tensors(np.random.default_rng(1), 64)
    module = ReferenceHeads(64)
    module.load_state_dict({k.removeprefix("score."): torch.from_numpy(v) for k, v in tensors.items()})  # strict
    module.eval()
    heads, texts = Heads.from_tensors(tensors), vectors(5, 64)
    with torch.inference_mode():
        expected = [m(torch.from_numpy(texts)).numpy() for m in (module.scoring_layer, module.weighting_layer)]
        gates = module.dimpred_layer(torch.from_numpy(texts)).numpy()
    for ours, theirs in zip((*heads.at_response(texts), heads.at_query(texts)), (*expected, gates), strict=True):
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
    heads = Heads((one,) * 5, (one,) * 4, (one,) * 4)
    texts = np.array([[-1e4], [1e4], [0]], np.float32)
    before = texts.copy()
    np.testing.assert_array_equal(heads.at_query(texts), [[0], [1e4], [0]])  # SiLU(-1e4) = 0, without a warning
    np.testing.assert_array_equal(texts, before)


def test_written_and_read_back(tmp_path: Path) -> None:
    heads = small_heads()
    save_heads(heads, tmp_path / "heads.safetensors", metadata={"trained on": "nothing"})
    again = load_heads(tmp_path / "heads.safetensors")
    for name, array in heads.tensors().items():
        np.testing.assert_array_equal(again.tensors()[name], array)


@pytest.mark.parametrize("key", [key for keys in HEAD_KEYS.values() for key in keys])
def test_every_missing_weight_is_named(tmp_path: Path, key: str) -> None:
    tensors = small_heads().tensors()
    del tensors[key]
    write_tensors(tmp_path / "h.safetensors", tensors)
    with pytest.raises(InputError, match=f"{key} is missing"):
        load_heads(tmp_path / "h.safetensors")
    with pytest.raises(InputError, match=f"{key} is missing"):
        Heads.from_tensors(tensors)


@pytest.mark.parametrize("key", [key for keys in HEAD_KEYS.values() for key in keys])
@pytest.mark.parametrize("axis", [0, 1])
def test_every_wrong_width_is_found(key: str, axis: int) -> None:
    tensors = small_heads().tensors()
    tensors[key] = np.delete(tensors[key], 0, axis)
    with pytest.raises(InputError, match=r"has shape|differ in dimensions"):
        Heads.from_tensors(tensors)


def test_a_weight_with_three_axes_is_refused() -> None:
    tensors = small_heads().tensors()
    tensors[HEAD_KEYS["weighter"][1]] = np.zeros((2, 2, 2), np.float32)
    with pytest.raises(InputError, match=r"score.weighting_layer.3.weight has 3 axes; expected 2"):
        Heads.from_tensors(tensors)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_weight_that_is_not_finite_is_refused(tmp_path: Path, value: float) -> None:
    tensors = small_heads().tensors()
    key = HEAD_KEYS["predictor"][2]
    tensors[key] = tensors[key].copy()
    tensors[key][0, 1] = value
    write_tensors(tmp_path / "h.safetensors", tensors)
    with pytest.raises(InputError, match=f"{key} has 1 values of 12 that are NaN or infinite"):
        load_heads(tmp_path / "h.safetensors")


@pytest.mark.parametrize("shape", [(3, 7), (8,), (1, 2, 8)])
def test_vectors_of_another_model_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"expected \(n, 8\)"):
        small_heads().score(np.zeros(shape, np.float32))
