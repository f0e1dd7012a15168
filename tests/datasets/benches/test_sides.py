"""The better response is first in half of the cases, and always the same half."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urs_inspect.datasets.benches.sides import assign_sides


@pytest.mark.parametrize(
    ("case_id", "better"),
    # First bytes of the SHA-256 of the ids: 14, c7, a2, 3b; an odd one puts the better response second.
    [("hhh_0001", "a"), ("x_0001", "b"), ("x_0002", "a"), ("alpaca_eval_0001", "b")],
)
def test_the_side_hangs_on_the_id_alone(case_id: str, better: str) -> None:
    assert assign_sides(case_id, "good", "bad").better == better
    assert assign_sides(case_id, "bad", "good").better == better


@settings(deadline=None, database=None)
@given(case_id=st.text(st.characters(exclude_categories=["Cs"])), better=st.text(), worse=st.text())
def test_the_label_points_at_the_better_response(case_id: str, better: str, worse: str) -> None:
    sides = assign_sides(case_id, better, worse)
    assert (sides.response_a, sides.response_b) == ((better, worse) if sides.better == "a" else (worse, better))


def test_sides_are_balanced() -> None:
    # 10,000 fair coins have a standard deviation of sqrt(10,000 / 4) = 50; four of them are 200.
    firsts = sum(assign_sides(f"case_{number:05d}", "good", "bad").better == "a" for number in range(10_000))
    assert abs(firsts - 5000) < 200
