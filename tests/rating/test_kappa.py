"""Cohen's kappa by hand, by a slow definition, and under relabelling."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urs_inspect.rating.kappa import cohen_kappa

CLASSES = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=25)


def test_by_hand() -> None:
    # 50 units: 20 both yes, 15 both no, 5 yes/no, 10 no/yes. p_o = 0.7, p_e = 0.5 * 0.6 + 0.5 * 0.4 = 0.5; 0.2 / 0.5.
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert cohen_kappa(*zip(*pairs, strict=True)) == pytest.approx(0.4)


def test_edges() -> None:
    assert math.isnan(cohen_kappa([], []))
    assert math.isnan(cohen_kappa(["a", "a"], ["a", "a"]))
    assert cohen_kappa(["a", "a"], ["b", "b"]) == 0
    assert cohen_kappa(["a", "b"], ["a", "b"]) == 1
    assert cohen_kappa(["a", "b"], ["b", "a"]) == -1
    with pytest.raises(ValueError, match="1 classes by one rater, 0 by the other"):
        cohen_kappa(["a"], [])


@given(CLASSES)
def test_as_defined_and_whoever_comes_first(pairs: list[tuple[str, str]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    found, n = cohen_kappa(first, second), len(pairs)
    chance = sum(Fraction(first.count(name), n) * Fraction(second.count(name), n) for name in "abc") if n else 1
    if chance == 1:
        assert math.isnan(found)
        return
    observed = Fraction(sum(one == other for one, other in pairs), n)
    assert found == pytest.approx(float((observed - chance) / (1 - chance)))
    assert cohen_kappa(second, first) == found
    renamed = {"a": 3, "b": 1, "c": 2}
    assert cohen_kappa([renamed[one] for one in first], [renamed[one] for one in second]) == found
