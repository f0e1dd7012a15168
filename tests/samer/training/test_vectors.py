"""Vectors of queries and of queries with responses."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.samer.training.made import Memory, pair
from urs_inspect._util import InputError
from urs_inspect.samer.training import PairVectors, TextEmbedder, fill_cache, pair_vectors
from urs_inspect.samer.training.vectors import unit_scale


class Lengths:
    """A text's vector: its number of characters, and 1."""

    name = "lengths"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> Any:
        self.seen += texts
        return np.array([[len(text), 1.0] for text in texts], np.float32)


def test_joined_is_one_text():
    queries, both = TextEmbedder(Lengths(), "joined").embed(["abc", ""], ["de", "f"])
    assert queries.tolist() == [[3, 1], [0, 0]]  # a blank text has no vector
    assert both.tolist() == [[7, 1], [3, 1]]  # with the blank line between


def test_beside_is_two_vectors():
    model = Lengths()
    queries, both = TextEmbedder(model).embed(["abc", "abc"], ["de", ""])
    assert queries.tolist() == [[3, 1, 0, 0], [3, 1, 0, 0]]
    assert both.tolist() == [[3, 1, 2, 1], [3, 1, 0, 0]]
    assert sorted(model.seen) == ["abc", "de"]  # each text once


def test_the_two_layouts_have_caches_of_their_own():
    assert TextEmbedder(Lengths()).name != TextEmbedder(Lengths(), "joined").name
    with pytest.raises(InputError, match="unknown layout 'above'; allowed: joined, beside"):
        TextEmbedder(Lengths(), "above")
    with pytest.raises(InputError, match="nothing but blank texts"):
        TextEmbedder(Lengths()).embed([""], [" "])


PAIRS = [pair(1), pair(2), pair(3, prompt="prompt 1", response_a="first 1", response_b="another one")]


def test_each_item_is_computed_once_and_found_again():
    cache, model = Memory(), Lengths()
    told: list[tuple[int, int]] = []
    # Items: 2 of pair 1, 2 of pair 2, and of pair 3 only the second response is new.
    assert fill_cache(PAIRS, TextEmbedder(model, "joined"), cache, batch=2, progress=lambda *n: told.append(n)) == 5
    assert told == [(2, 5), (4, 5), (5, 5)]
    vectors = pair_vectors(PAIRS, cache)
    queries, first, second = vectors.gather()
    assert queries.dtype == np.float32 and vectors.hidden_size == 2
    assert queries[:, 0].tolist() == [8, 8, 8]
    assert first[:, 0].tolist() == [17, 17, 17]
    assert second[:, 0].tolist() == [18, 18, 21]
    assert vectors.take(np.array([2])).gather()[2][:, 0].tolist() == [21]
    seen = len(model.seen)
    assert fill_cache(PAIRS, TextEmbedder(model, "joined"), cache) == 0 and len(model.seen) == seen


def test_an_interrupted_run_goes_on_where_it_was():
    class Broken(Lengths):
        def encode(self, texts: Sequence[str]) -> Any:
            if self.seen:
                raise KeyboardInterrupt
            return super().encode(texts)

    cache = Memory()
    with pytest.raises(KeyboardInterrupt):
        fill_cache(PAIRS, TextEmbedder(Broken()), cache, batch=2)
    assert fill_cache(PAIRS, TextEmbedder(Lengths()), cache, batch=2) == 3


def test_a_missing_vector_is_a_clear_error():
    cache = Memory()
    fill_cache(PAIRS[:1], TextEmbedder(Lengths()), cache)
    with pytest.raises(InputError, match="4 of 9 vectors were never computed: urs-inspect samer embed"):
        pair_vectors(PAIRS, cache)


def test_a_query_is_not_mistaken_for_a_response():
    odd = [pair(1, prompt='["p", "r"]', response_a="x", response_b="y"), pair(2, prompt="p", response_a="r")]
    cache = Memory()
    fill_cache(odd, TextEmbedder(Lengths()), cache)
    assert len(cache.kept) == 2 + 4


def test_scaled_vectors_have_a_mean_square_of_one():
    # Queries 1 and 3, both responses 3: mean squares (1 + 9) / 2 = 5, 9 and 9, whose mean is 23 / 3.
    table = np.array([[1.0], [3.0]], np.float32)
    given = PairVectors(table, np.array([0, 1]), np.array([[1, 1], [1, 1]]))
    assert unit_scale(given) == pytest.approx((3 / 23) ** 0.5)
    assert unit_scale(PairVectors(table * 0, given.queries, given.responses)) == 1
