"""Tests of `urs_inspect.discrepancy._lexical`."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from urs_inspect.discrepancy._lexical import LexicalSimilarity


def similarity(one: str, other: str, width: int = 2048) -> float:
    a, b = LexicalSimilarity(width).encode([one, other])
    return float(a @ b)


def without_hashing(one: str, other: str) -> float:
    """Cosine of roots of n-gram counts, n-grams kept apart."""

    def counts(text: str) -> Counter[str]:
        text = f" {' '.join(text.casefold().split())} "
        return Counter(text[i : i + n] for n in (2, 3, 4) for i in range(len(text) - n + 1))

    a, b = counts(one), counts(other)
    length = (sum(a.values()) * sum(b.values())) ** 0.5
    return float(sum((a[gram] * b[gram]) ** 0.5 for gram in a) / length)


def test_by_hand() -> None:
    # " ab " has the n-grams " a", "ab", "b ", " ab", "ab ", " ab "; " ac " shares " a" of them: 1 /
    # 6. In 2^16 buckets these eleven do not collide.
    assert similarity("ab", "ac", 2**16) == pytest.approx(1 / 6, abs=1e-6)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The quick brown fox jumps over the lazy dog.",
            "A quick brown fox jumped over a lazy dog!",
        ),
        ("今天天气很好，我们去公园散步。", "今天天气不好，我们在家看书。"),
        ("def f(x):\n    return x ** 2", "def g(y):\n    return y ** 2"),
        ("abc", "xyz"),
    ],
)
def test_hashing_changes_little(one: str, other: str) -> None:
    assert similarity(one, other, 2**18) == pytest.approx(without_hashing(one, other), abs=0.02)
    assert similarity(one, other) == pytest.approx(without_hashing(one, other), abs=0.12)


def test_case_width_and_blanks_do_not_matter() -> None:
    assert similarity("Hello  World\n", "ｈｅｌｌｏ world") == pytest.approx(1.0)


@given(st.text(min_size=1).filter(str.strip), st.text(min_size=1).filter(str.strip))
@example("broken \ud800 text", "whole")
def test_it_is_a_cosine_of_unit_vectors(one: str, other: str) -> None:
    a, b = LexicalSimilarity().encode([one, other])
    assert np.linalg.norm(a) == pytest.approx(1.0, abs=1e-5)
    assert -1.00001 <= float(a @ b) <= 1.00001
    assert float(a @ b) == pytest.approx(similarity(other, one), abs=1e-6)
    assert similarity(one, one) == pytest.approx(1.0, abs=1e-5)


def test_where_all_parts_of_a_text_cancel_one_still_counts() -> None:
    """In 16 buckets the six n-grams of "ai" cancel each other, and those of "at" do not."""
    found = LexicalSimilarity(16).encode(["ai", "at", "ai"])
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0)
    assert [np.count_nonzero(row) for row in found] == [1, 6, 1]
    assert float(found[0] @ found[2]) == pytest.approx(1.0)


def test_every_machine_has_the_same_vectors() -> None:
    [found] = LexicalSimilarity(64).encode(["Grüße, 世界 😀"])
    assert np.round(found[:16] * 100).tolist() == [
        27,
        19,
        0,
        0,
        0,
        19,
        19,
        0,
        19,
        0,
        -19,
        19,
        0,
        -19,
        -19,
        0,
    ]
