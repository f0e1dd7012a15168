"""Tests of `urs_inspect.discrepancy.evolution`."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urs_inspect._util import InputError
from urs_inspect.discrepancy.embeddings import LexicalSimilarity, normalised
from urs_inspect.discrepancy.evolution import DistinctTexts, Evolution, NearDuplicate, PoolItem, child_id

APPLES = "Tom has 12 apples, gives 5 to Ann and buys 7 more. How many apples does Tom have in the end?"
PEARS = "Tom has 13 apples, gives 5 to Ann and buys 7 more. How many apples does Tom have in the end?"
TRAIN = "A train leaves at noon and covers 80 miles an hour. When has it gone 200 miles?"


def slowly(known: dict[str, str], texts: dict[str, str], threshold: float) -> set[str]:
    """Ids of the near-duplicates, by comparing one text after the other with each that was kept."""
    vectors = LexicalSimilarity()
    kept = list(known.values())
    found = set()
    for name in sorted(texts):
        [mine] = vectors.encode([texts[name]]).astype(np.float64)
        if any(
            normalised(texts[name]) == normalised(other)
            or float(mine @ vectors.encode([other])[0].astype(np.float64)) >= threshold - 1e-6
            for other in kept
        ):
            found.add(name)
        else:
            kept.append(texts[name])
    return found


def test_one_number_apart_is_a_near_duplicate_and_another_problem_is_none():
    distinct = DistinctTexts(0.9)
    assert distinct.add({"a": APPLES, "b": TRAIN}) == {}
    [(name, repeats)] = distinct.add({"c": PEARS}).items()
    assert (name, repeats.of) == ("c", "a")
    assert 0.9 <= repeats.similarity < 1
    assert len(distinct) == 2


def test_equal_apart_from_case_width_and_blanks_is_similarity_1_and_what_is_taken_stays():
    distinct = DistinctTexts(1.0)
    distinct.take({"seed": "Why is the sky blue?", "again": "Why is the sky blue?"})
    assert distinct.add({"a": "  WHY is\nthe sky ｂｌｕｅ? "}) == {"a": NearDuplicate("seed", 1.0)}
    assert len(distinct) == 2


def test_what_was_refused_refuses_nothing():
    # b is near a; c is near b but not near a, so that it stays.
    a, b, c = "abcdefghij" * 3, "abcdefghij" * 3 + "klmnopqr", "klmnopqr" + "abcdefghij" + "klmnopqrstuvwx"
    vectors = LexicalSimilarity().encode([a, b, c])
    cosines = vectors @ vectors.T
    assert cosines[1, 2] > cosines[0, 2]
    threshold = float(cosines[1, 2])
    assert cosines[0, 1] > threshold
    assert set(DistinctTexts(threshold).add({"a": a, "b": b, "c": c})) == {"b"}


@pytest.mark.parametrize("size", [1, 127, 128, 129, 300])
def test_blocks_make_no_difference(size: int):
    rng = random.Random(size)
    words = [f"word{n}" for n in range(12)]
    texts = {f"t{n:03d}": " ".join(rng.choices(words, k=8)) for n in range(size)}
    known = {f"k{n}": " ".join(rng.choices(words, k=8)) for n in range(140)}
    distinct = DistinctTexts(0.8)
    distinct.take(known)
    found = distinct.add(texts)
    assert found.keys() == slowly(known, texts, 0.8)
    assert len(distinct) == len(known) + len(texts) - len(found)
    assert size == 1 or len(found) > 0


@given(st.lists(st.text("ab 猫。", max_size=6), max_size=12), st.randoms())
def test_the_order_of_arrival_never_matters(texts: list[str], rng: random.Random):
    pairs = [(f"t{number:02d}", text) for number, text in enumerate(texts)]
    there = DistinctTexts(0.7).add(dict(pairs))
    rng.shuffle(pairs)
    assert DistinctTexts(0.7).add(dict(pairs)) == there
    assert there.keys() == slowly({}, dict(pairs), 0.7)


@pytest.mark.parametrize("threshold", [0, -1, 1.1, float("nan")])
def test_a_threshold_out_of_range_is_refused(threshold: float):
    with pytest.raises(InputError, match="duplicates: must be a number above 0 and at most 1"):
        DistinctTexts(threshold)


SEEDS = {"sea": "Why does the sea rise and fall?", "iron": "Which process turns iron red?"}
ITEMS = [PoolItem(name, text, "", "Factual_QA", "en", name) for name, text in SEEDS.items()]


def child(seed: str, number: int, text: str) -> PoolItem:
    return PoolItem(child_id(seed, number), text, "", "Factual_QA", "en", seed, seed, "g", number)


def test_a_near_duplicate_of_a_seed_an_earlier_round_or_a_sibling_is_not_kept():
    evolution = Evolution(ITEMS, 0.9)

    def settle(*children: PoolItem) -> dict[str, str]:
        return {name: found.of for name, found in evolution.settle(children).items()}

    assert settle(child("iron", 1, SEEDS["sea"])) == {"iron-r1": "sea"}
    assert settle(child("sea", 2, "What drives the trade winds?")) == {}
    assert [parent.id for parent in evolution.parents.values()] == ["sea-r2", "iron"]
    third = [child("iron", 3, "what drives the  TRADE winds?"), child("sea", 3, "What is amber?")]
    assert settle(*third) == {"iron-r3": "sea-r2"}
    # Siblings are looked at in the order of their ids: "iron-r4" comes first.
    assert settle(*(child(seed, 4, "How do bats hear?") for seed in ("sea", "iron"))) == {"sea-r4": "iron-r4"}
    assert [item.id for item in evolution.kept] == ["sea-r2", "sea-r3", "iron-r4"] and evolution.kept[1] == third[1]
    assert {seed: parent.id for seed, parent in evolution.parents.items()} == {"sea": "sea-r3", "iron": "iron-r4"}
