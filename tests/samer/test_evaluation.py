"""From raw outputs to an evaluation: by hand, the slow way, and properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.samer.test_heads import small_heads, vectors
from urs_inspect._util import InputError
from urs_inspect.samer.evaluation import RawOutputs, evaluate, from_rows, raw_outputs
from urs_inspect.samer.weights import Array

LOGITS = arrays(np.float32, 6, elements=st.floats(-30, 30, width=32))


def raw(scores: list[float], gates: list[float], weights: list[float]) -> RawOutputs:
    return RawOutputs(*(np.array(values, np.float32) for values in (scores, gates, weights)))


def test_by_hand() -> None:
    # Selected: 1 and 3. Weights softmax(0, ln 3) = 1/4, 3/4. Scores sigmoid(0) = 0.5, sigmoid(ln 4) = 0.8.
    # Overall = 0.5 / 4 + 0.8 * 3 / 4 = 0.725. A gate of exactly 0 does not select.
    result = evaluate(raw([0, 5, math.log(4)], [1, 0, 0.1], [0, 9, math.log(3)]))
    assert result.selected.tolist() == [True, False, True]
    assert result.overall == pytest.approx(0.725)
    assert result.weights == pytest.approx([0.25, 0, 0.75])
    assert result.scores == pytest.approx([0.5, 1 / (1 + math.exp(-5)), 0.8])
    assert not result.empty_selection


def test_nothing_selected_takes_the_largest_gate_and_says_so() -> None:
    result = evaluate(raw([1, 2, 3], [-3, -1, -2], [0, 0, 0]))
    assert result.selected.tolist() == [False, True, False]
    assert result.weights.tolist() == [0, 1, 0]
    assert result.overall == pytest.approx(1 / (1 + math.exp(-2)))
    assert result.empty_selection


def test_nothing_selected_and_a_tie_takes_the_first() -> None:
    assert evaluate(raw([1, 2], [0, 0], [0, 0])).selected.tolist() == [True, False]


@given(LOGITS, LOGITS, LOGITS)
def test_equal_to_loops(scores: Array, gates: Array, weights: Array) -> None:
    result = evaluate(RawOutputs(scores, gates, weights))
    chosen = [at for at in range(6) if gates[at] > 0] or [max(range(6), key=lambda at: float(gates[at]))]
    powers = {at: math.exp(float(weights[at])) for at in chosen}
    expected = sum(powers[at] / (1 + math.exp(-float(scores[at]))) for at in chosen) / sum(powers.values())
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
    assert shifted.overall == pytest.approx(result.overall, abs=1e-4)  # softmax knows differences only


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
    with pytest.raises(InputError, match="expected three of one shape"):
        raw([1, 2], [1, 2, 3], [1, 2])


@pytest.mark.parametrize("weights_at", ["response", "query"])
def test_each_position_runs_its_own_heads(weights_at: str) -> None:
    heads, query, response = small_heads(), vectors(3), vectors(3)[::-1]
    outputs = raw_outputs(heads, query, response, weights_at)  # type: ignore[arg-type]
    weighed = heads.weigh(query if weights_at == "query" else response)
    for at, output in enumerate(outputs):
        np.testing.assert_array_equal(output.scores, heads.score(response)[at])
        np.testing.assert_array_equal(output.gates, heads.at_query(query)[at])
        np.testing.assert_array_equal(output.weights, weighed[at])
    assert not np.allclose(heads.weigh(query), heads.weigh(response))


def test_rows_of_the_plugin_are_taken_apart() -> None:
    # Two dimensions: scores | predictor | weights, at the query and at the response.
    rows = np.array([[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]], np.float32)
    at_response, at_query = from_rows(rows), from_rows(rows, "query")
    assert at_response.scores.tolist() == at_query.scores.tolist() == [7, 8]
    assert at_response.gates.tolist() == at_query.gates.tolist() == [3, 4]
    assert (at_response.weights.tolist(), at_query.weights.tolist()) == ([11, 12], [5, 6])


@pytest.mark.parametrize("shape", [(2, 5), (1, 6), (6,), (2, 0)])
def test_rows_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"expected \(2, 3 \* dimensions\)"):
        from_rows(np.zeros(shape, np.float32))
