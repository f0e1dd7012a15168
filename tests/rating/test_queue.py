"""The order in which answers are rated, and what ratings stand for."""

import math
from collections import Counter

import numpy as np
import pytest

from tests.annotation.samples import rating
from tests.rating.samples import answer, answers
from urs_inspect.annotation._ratings import inclusion_weights
from urs_inspect.rating._queue import ToRate, draw, sampling_rate


@pytest.mark.parametrize(("disagreement", "rate"), [(0, 1), (0.5, 1.5), (2, 3), (9, 3)])
def test_answers_on_which_judges_disagree_are_drawn_more_often(
    disagreement: float, rate: float
) -> None:
    assert sampling_rate(answer(0, disagreement=disagreement)) == rate


def test_models_take_turns_and_every_answer_comes_once() -> None:
    found = draw([*answers(9, "apple", "pear"), *answers(4, "plum")])
    assert sorted(drawn.answer.id for drawn in found) == sorted(
        each.id for each in [*answers(9, "apple", "pear"), *answers(4, "plum")]
    )
    for turn in range(4):
        assert {drawn.answer.model for drawn in found[3 * turn : 3 * turn + 3]} == {
            "apple",
            "pear",
            "plum",
        }
    ends = [drawn.answer.model for drawn in found if drawn.threshold is None]
    assert sorted(ends) == ["apple", "pear", "plum"]
    assert draw([]) == ()


def test_the_order_of_a_model_does_not_depend_on_the_other_models_or_on_the_order_of_the_logs() -> (
    None
):
    alone = [drawn.answer.id for drawn in draw(answers(30, "apple"))]
    beside = draw([*answers(30, "pear"), *reversed(answers(30, "apple"))])
    assert [drawn.answer.id for drawn in beside if drawn.answer.model == "apple"] == alone
    assert alone != [each.id for each in answers(30, "apple")]


def test_every_beginning_is_spread_over_the_intents() -> None:
    found = draw(answers(300, "apple"))
    for n in (9, 30, 60, 150):
        counts = Counter(drawn.answer.intent for drawn in found[:n])
        assert max(counts.values()) - min(counts.values()) <= 2


def _weighted(found: tuple[ToRate, ...], n: int, value: dict[str, float]) -> float:
    """The weighted mean of the first n answers, with weights as read from the ratings."""
    rated = [rating(d.answer, 5, rate=d.rate, threshold=d.threshold) for d in found[:n]]
    weights = inclusion_weights(rated)
    return float(
        np.average(
            [value[r.question] for r in rated], weights=[weights[r.answer_id] for r in rated]
        )
    )


def test_weighted_means_of_every_beginning_are_those_of_all_answers() -> None:
    """Ratings that depend on what makes an answer likely to be drawn: plain means are wrong,
    weighted ones right.
    """
    chance = np.random.default_rng(7)
    scores = chance.normal(5.5, 2, 60).clip(1, 10)
    value = {f"q{n}": scores[n] - 2 * abs(scores[n] - 5.5) for n in range(60)}
    truth = float(np.mean(list(value.values())))
    beginnings, runs = (6, 20, 45), 300
    weighted, plain = np.empty((runs, 3)), np.empty((runs, 3))
    for run in range(runs):
        # Other texts, other chances.
        found = draw(
            [
                answer(number, disagreement=abs(scores[number] - 5.5), text=f"{run} {number}")
                for number in range(60)
            ]
        )
        for place, n in enumerate(beginnings):
            weighted[run, place] = _weighted(found, n, value)
            plain[run, place] = np.mean([value[drawn.answer.question] for drawn in found[:n]])
    errors = weighted.std(axis=0) / math.sqrt(runs)
    assert (abs(weighted.mean(axis=0) - truth) < 3.5 * errors).all()
    assert (abs(plain.mean(axis=0) - truth) > 5 * errors).all()


def test_all_answers_rated_have_the_same_weight() -> None:
    found = draw([answer(n, disagreement=s) for n, s in enumerate((4, 0, 4, 0, 1, 3))])
    value = {f"q{n}": float(n) for n in range(6)}
    assert _weighted(found, 6, value) == pytest.approx(2.5)


def test_the_turns_of_models_do_not_follow_their_names() -> None:
    names = [f"m{number}" for number in range(8)]
    first = [drawn.answer.model for drawn in draw(answers(3, *names))[:8]]
    assert sorted(first) == names
    assert first not in (names, names[::-1])
    again = draw(answers(3, *names[::-1]))[8:16]
    assert [drawn.answer.model for drawn in again] == first
