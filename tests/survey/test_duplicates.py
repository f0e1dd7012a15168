"""Near-duplicates by MinHash agree with a comparison of every pair."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urs_inspect.survey._near_duplicates import (
    Duplicate,
    bands,
    find_duplicates,
    normalise,
    shingles,
)


def found(*texts: str, users: list[str] | None = None, near: float = 0.85) -> dict[int, Duplicate]:
    return find_duplicates(texts, users or [""] * len(texts), near)


def test_what_does_not_matter() -> None:
    assert found("What is AI?", "what is  ai", "ＷＨＡＴ is AI？", "“What is AI”") == {
        place: Duplicate(0, 1.0, True) for place in (1, 2, 3)
    }
    assert found("天为什么 是蓝的？", "天为什么是蓝的") == {1: Duplicate(0, 1.0, True)}


def test_what_does_matter() -> None:
    assert found("1+1", "1-1", "1*1", "11", "c", "c++") == {}
    assert normalise("?!") == "?!"


def test_by_hand() -> None:
    # abcdefghij: 8 shingles; abcdefghik: 8, 7 of them in common: 7 / 9.
    assert shingles("abcdefghij") & shingles("abcdefghik") == shingles("abcdefghi")
    assert found("abcdefghij", "abcdefghik", near=0.77) == {1: Duplicate(0, 7 / 9, False)}
    assert found("abcdefghij", "abcdefghik", near=0.78) == {}


def test_all_shingles_in_common_are_not_the_same_text() -> None:
    assert found("abcabcabc", "abcabcabcabc") == {1: Duplicate(0, 1.0, False)}


def test_other_numbers_make_another_question() -> None:
    long = (
        "please list all the prime numbers that are smaller than {} and explain how you found them,"
        " step by step"
    )
    assert found(long.format(100), long.format(200)) == {}
    assert list(found(long.format(100), long.format(100) + " now")) == [1]


def test_the_first_stays_and_a_repeat_hides_nothing() -> None:
    # The third is near the second, which is gone, but not near the first.
    a, b, c = "abcdefghijklmnop", "abcdefghijklmnopqr", "abcdefghijklmnopqrst"
    assert list(found(a, b, c, near=0.8)) == [1]


def test_the_users_own_question_is_named() -> None:
    # The middle one is as near to both others, which are too far from each other to repeat one
    # another.
    texts = ["xxabcdefghijklmnopqr", "abcdefghijklmnopqryy", "abcdefghijklmnopqr"]
    assert found(*texts, users=["p1", "p2", "p2"])[2].of == 1
    assert found(*texts, users=["p2", "p1", "p2"])[2].of == 0
    assert found(*texts, users=["", "p1", ""])[2].of == 0
    assert found(*texts, users=["p1", "", ""])[2].of == 0  # who is not known is nobody's user


@given(
    st.lists(st.text("abc 你", min_size=1, max_size=12), max_size=12),
    st.sampled_from([0.5, 0.7, 0.85, 1.0]),
)
def test_as_by_comparing_every_pair(texts: list[str], near: float) -> None:
    kept: list[int] = []
    expected = {}
    for place, text in enumerate(texts):
        own = shingles(normalise(text))
        others = [
            (len(own & (s := shingles(normalise(texts[k])))) / len(own | s), -k) for k in kept
        ]
        if others and max(others)[0] >= near:
            expected[place] = -max(others)[1]
        else:
            kept.append(place)
    assert {
        place: one.of for place, one in find_duplicates(texts, [""] * len(texts), near).items()
    } == expected


def test_bands_miss_hardly_any_pair_at_the_threshold() -> None:
    for near in (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0):
        number, rows = bands(near)
        assert number * rows <= 128
        assert (1 - near**rows) ** number < 1e-4
    assert bands(0.85) == (21, 6)  # (1 - 0.85^6)^21 = 4.8e-5; with 7 rows, 18 bands: 4.5e-4


def test_pairs_just_above_the_threshold_are_found() -> None:
    source = random.Random(0)
    words = ["".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(400)]
    texts = [" ".join(source.sample(words, 12)) for _ in range(60)]
    close = [text[:-3] for text in texts]
    similar = {
        len(texts) + place
        for place, (one, other) in enumerate(zip(texts, close, strict=True))
        if len(shingles(one) & shingles(other)) / len(shingles(one) | shingles(other)) >= 0.85
    }
    assert len(similar) == 60
    assert set(found(*texts, *close)) == similar
    assert all(not shingles(a) >= shingles(b) for a, b in combinations(texts, 2))


@pytest.mark.parametrize("near", [0.4, 1.1, float("nan")])
def test_thresholds_out_of_range(near: float) -> None:
    with pytest.raises(ValueError, match=r"near.*0\.5 to 1"):
        found("a", near=near)
