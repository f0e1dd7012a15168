"""Tests of `urs_inspect.samer.training.predictions`."""

import math

import numpy as np
import pytest

from tests.samer.training.made import pair
from urs_inspect._util import InputError
from urs_inspect.samer.evaluation import RawOutputs, evaluate
from urs_inspect.samer.heads import HEAD_KEYS, Heads
from urs_inspect.samer.training import PairLabels, PairPredictions, PairVectors, accuracy, balance, predict_pairs


def heads(seed: int = 0, hidden: int = 6, dimensions: int = 4) -> Heads:
    random = np.random.default_rng(seed)
    tensors = {}
    for names in HEAD_KEYS.values():
        widths = [hidden, *[8] * (len(names) - 1), dimensions]
        for name, inside, out in zip(names, widths, widths[1:], strict=False):
            tensors[name] = random.normal(size=(out, inside)).astype(np.float32)
    return Heads.from_tensors(tensors)


def vectors(pairs: int = 7, seed: int = 1) -> PairVectors:
    table = np.random.default_rng(seed).normal(size=(3 * pairs, 6)).astype(np.float32)
    return PairVectors(table, np.arange(pairs), np.arange(pairs, 3 * pairs).reshape(-1, 2))


@pytest.mark.parametrize("weights_at", ["query", "response"])
def test_predictions_are_those_of_one_response_at_a_time(weights_at: str):
    made, given = heads(), vectors()
    found = predict_pairs(made, given, weights_at)  # type: ignore[arg-type]
    for row in range(len(given)):
        query = given.table[given.queries[row]][None]
        weights = []
        for side in (0, 1):
            response = given.table[given.responses[row, side]][None]
            weigher = query if weights_at == "query" else response
            raw = RawOutputs(made.score(response)[0], made.at_query(query)[0], made.weigh(weigher)[0])
            one = evaluate(raw)
            assert found.overall[row, side] == pytest.approx(one.overall, abs=1e-6)
            assert found.scores[row, side] == pytest.approx(one.scores, abs=1e-6)
            assert (found.selected[row] == one.selected).all()
            weights.append(one.weights)
        assert found.weights[row] == pytest.approx(np.mean(weights, axis=0), abs=1e-6)


def test_swapping_the_responses_swaps_the_winners():
    given = vectors()
    swapped = PairVectors(given.table, given.queries, given.responses[:, ::-1])
    one, other = (predict_pairs(heads(), each) for each in (given, swapped))
    assert (one.winners == -other.winners).all() and one.winners.any()
    assert (one.dimension_winners == -other.dimension_winners).all()


def test_accuracy_by_hand():
    # Overall: a, a (equal scores), b; labels a, a, tie -> right, wrong, not counted: 1 of 2.
    # Dimensions: first wins all. Labels: a and none, b and tie, a and a -> right, wrong, right, right: 3 of 4.
    overall = np.array([[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]])
    scores = np.broadcast_to(np.array([[0.9, 0.9], [0.1, 0.1]]), (3, 2, 2))
    predictions = PairPredictions(overall, scores, np.ones((3, 2), bool), np.full((3, 2), 0.5))
    labels = PairLabels(np.array([1, 1, 0], np.int8), np.array([[1, 2], [-1, 0], [1, 1]], np.int8))
    found = accuracy(predictions, labels)
    assert (found.overall, found.pairs) == (0.5, 2)
    assert (found.dimensions, found.labels) == (0.75, 4)
    assert found.mean == 0.625


def test_accuracy_without_labels_is_not_a_number():
    predictions = PairPredictions(np.zeros((1, 2)), np.zeros((1, 2, 2)), np.ones((1, 2), bool), np.zeros((1, 2)))
    found = accuracy(predictions, PairLabels(np.array([0], np.int8), np.array([[2, 0]], np.int8)))
    assert math.isnan(found.overall) and math.isnan(found.dimensions) and math.isnan(found.mean)


PAIRS = [pair(number, scenario="chitchat" if number % 3 else "roleplay") for number in range(30)]


def test_large_scenarios_are_cut_and_small_ones_named():
    # 20 pairs of chitchat, 10 of roleplay.
    found = balance(PAIRS, least=11, most=15)
    assert found.found == {"chitchat": 20, "roleplay": 10}
    assert found.kept == {"chitchat": 15, "roleplay": 10}
    assert found.short == ("roleplay",)
    assert len(found.pairs) == 25
    assert [one.id for one in found.pairs] == [one.id for one in PAIRS if one in found.pairs]


def test_the_choice_depends_on_seed_and_id_alone():
    chosen = {one.id for one in balance(PAIRS, least=1, most=5, seed=1).pairs}
    assert {one.id for one in balance(PAIRS[::-1], least=1, most=5, seed=1).pairs} == chosen
    assert {one.id for one in balance(PAIRS, least=1, most=5, seed=2).pairs} != chosen


@pytest.mark.parametrize(("least", "most"), [(0, 0), (6, 5), (-1, 5)])
def test_impossible_bounds_are_refused(least: int, most: int):
    with pytest.raises(InputError, match="a scenario; allowed"):
        balance(PAIRS, least=least, most=most)
