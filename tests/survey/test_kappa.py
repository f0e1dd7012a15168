"""Cohen's kappa of the intents that a user and a judge name."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stats.fights import checked
from urs_inspect.survey._case_review import cohen_kappa


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        # p_o = 0.7, p_e = 0.5 * 0.6 + 0.5 * 0.4 = 0.5; 0.2 / 0.5.
        (["yy"] * 20 + ["yn"] * 5 + ["ny"] * 10 + ["nn"] * 15, 0.4),
        (["ab", "ab"], 0),
        (["aa", "bb"], 1),
        (["ab", "ba"], -1),
        (["aa", "aa"], math.nan),
        ([], math.nan),
    ],
)
def test_kappa_by_hand(pairs: list[str], expected: float) -> None:
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    assert cohen_kappa(first, second) == pytest.approx(expected, nan_ok=True)


@checked
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=25))
def test_kappa_is_as_defined_and_whoever_comes_first(pairs: list[tuple[str, str]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    found, n = cohen_kappa(first, second), len(pairs)
    assert cohen_kappa(second, first) == pytest.approx(found, nan_ok=True)
    chance = (
        sum(Fraction(first.count(name), n) * Fraction(second.count(name), n) for name in "abc")
        if n
        else 1
    )
    observed = Fraction(sum(one == other for one, other in pairs), max(n, 1))
    expected = math.nan if chance == 1 else float((observed - chance) / (1 - chance))
    assert found == pytest.approx(expected, nan_ok=True)


def test_both_raters_name_as_many_classes() -> None:
    with pytest.raises(ValueError, match=r"1 classes.*0 by"):
        cohen_kappa(["a"], [])
