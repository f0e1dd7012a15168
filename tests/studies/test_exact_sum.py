"""What is said of sums, from scores alone; through the harness it is tested with `urs_addition`."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.scorer import SampleScore, Score

from urs_inspect.stats._agreement import wilson_interval
from urs_inspect.stats._chain_lengths import Trial, accuracy, longest
from urs_inspect.studies._exact_sum import addition_report


def trials(**rights: str) -> list[Trial]:
    """Trials such as `n4="++-"`: three chains of four numbers, the last of which is wrong."""
    return [
        Trial(f"{name}/{place}", int(name[1:]), sign == "+")
        for name, signs in rights.items()
        for place, sign in enumerate(signs)
    ]


def scores(given: list[Trial], outcome: str = "") -> list[SampleScore]:
    return [
        SampleScore(
            score=Score(
                value={"right": float(one.right), "summands": float(one.summands)},
                metadata={"outcome": outcome or ("right" if one.right else "wrong")},
            ),
            sample_id=one.chain,
        )
        for one in given
    ]


def report(given: list[SampleScore]) -> dict[str, float]:
    metric: Any = addition_report()
    return dict(metric(given))


def test_eight_of_ten_are_enough_and_seven_are_not() -> None:
    given = trials(n2="++++++++++", n3="+++++++---", n4="++++++++--", n5="+++++++---")
    assert longest(given) == (4, 2)  # length 3 has 70%, so that the unbroken run ends at 2
    found = report(scores(given))
    assert (found["longest"], found["longest unbroken"]) == (4, 2)
    assert found["accuracy"] == pytest.approx(32 / 40)
    expected = wilson_interval(0.8, 40)
    assert (found["low"], found["high"]) == pytest.approx((expected.low, expected.high))


def test_a_run_begins_at_the_shortest_that_was_tried() -> None:
    assert longest(trials(n5="++", n9="+")) == (9, 9)
    assert longest(trials(n5="+-", n9="+")) == (9, 0)
    assert longest(trials(n5="-")) == (0, 0)
    assert longest([]) == (0, 0)


def test_the_headline_is_over_two_to_nine() -> None:
    # 2: 2 of 2, 9: 1 of 2, 10: 0 of 2, 20: 0 of 2
    found = report(scores(trials(n2="++", n9="+-", n10="--", n20="--")))
    assert found["accuracy"] == pytest.approx(3 / 4)
    assert found["2-10 accuracy"] == pytest.approx(3 / 6)
    assert found["all accuracy"] == pytest.approx(3 / 8)


def test_without_chains_of_its_lengths_a_row_is_left_out() -> None:
    found = report(scores(trials(n12="+")))
    assert "low" not in found and "2-10 accuracy" not in found
    assert found["all accuracy"] == 1
    assert math.isnan(found["accuracy"])


def test_the_headline_is_there_before_the_first_answer() -> None:
    for nothing in ([], [SampleScore(score=Score(value=1.0), sample_id="s")]):
        found = report(nothing)
        assert list(found) == ["accuracy"] and math.isnan(found["accuracy"])


def test_answers_that_cannot_be_read_are_wrong_and_counted() -> None:
    found = report(
        scores(trials(n2="+"))
        + scores(trials(n3="--"), "no_number")
        + scores(trials(n4="-"), "no_response")
    )
    assert (found["accuracy"], found["no_number"], found["no_response"]) == (0.25, 2, 1)


def test_epochs_of_a_chain_are_averaged_and_do_not_narrow_the_interval() -> None:
    once = trials(n2="++--")
    assert accuracy(once * 5) == accuracy(once)
    uneven = [Trial("a", 2, True), Trial("b", 2, True), Trial("b", 2, False)]  # (1 + 1/2) / 2
    assert accuracy(uneven).value == 0.75


@given(
    st.lists(
        st.builds(Trial, st.sampled_from("abcdefgh"), st.integers(2, 6), st.booleans()),
        min_size=1,
        max_size=60,
    )
)
def test_the_longest_is_what_a_slow_look_at_each_length_finds(given: list[Trial]) -> None:
    shares = {
        length: (
            sum(one.right for one in given if one.summands == length)
            / sum(one.summands == length for one in given)
        )
        for length in {one.summands for one in given}
    }
    enough = [length for length, share in shares.items() if share > 0.8 - 1e-9]
    any_length, unbroken = longest(given)
    assert any_length == max(enough, default=0)
    assert unbroken <= any_length
    assert all(length in enough for length in shares if length <= unbroken)
    assert longest(given[::-1]) == (any_length, unbroken)
