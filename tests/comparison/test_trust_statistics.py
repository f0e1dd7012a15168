"""Scores that may be taken without a person: by hand, and the promise in simulations."""

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from urs_inspect.comparison._trust_statistics import NOBODY, Shown, fewest_agreed, find_shown

TARGET = 0.9
MISS = 0.1
CALIBRATIONS = 500
NOISE = 0.035
"""Of a share of so many calibrations, 2.6 standard errors of 10%."""


def shown(signs: Any, agrees: Any) -> Shown:
    """What is shown by labels of all answers."""
    signs = np.atleast_2d(np.asarray(signs, float))
    agrees = np.atleast_2d(np.asarray(agrees, bool))
    return find_shown(signs, np.arange(signs.shape[1]), agrees, at_least=TARGET, miss=MISS)


def right(number: int, total: int) -> Any:
    return np.arange(total) < number


def test_fewest_agreed_are_those_that_a_binomial_test_shows() -> None:
    for labelled in (1, 21, 22, 38, 100, 301):
        fewest = int(fewest_agreed(labelled, TARGET, MISS))
        if fewest <= labelled:
            assert binomtest(fewest, labelled, TARGET, "greater").pvalue <= MISS
        assert binomtest(fewest - 1, labelled, TARGET, "greater").pvalue > MISS
    # 0.9 to the power of 22 is the first below 0.1.
    assert fewest_agreed(21, TARGET, MISS) == 22
    assert fewest_agreed(22, TARGET, MISS) == 22
    assert fewest_agreed(0, TARGET, MISS) == 1


@pytest.mark.parametrize(("agreed", "labels", "taken"), [
    (22, 22, 1), (21, 21, 0), (95, 100, 1), (94, 100, 0),
])  # fmt: skip
def test_one_sign_for_all_is_one_exact_test(agreed: int, labels: int, taken: float) -> None:
    found = shown(np.ones(labels), right(agreed, labels))
    assert (found.by == 0).mean() == taken
    assert (found.agreed, found.tested) == ((0, 0) if taken else (agreed, labels))


def test_signs_that_tell_give_a_part() -> None:
    signs = np.repeat([2.0, 1.0], 100)
    found = shown(signs, np.concatenate([np.ones(100), np.arange(100) % 2]))
    assert (found.by == np.repeat([0, NOBODY], 100)).all()
    assert (found.agreed, found.tested) == (150, 200)


def test_a_cheaper_judge_takes_over_what_it_is_right_in() -> None:
    signs = [np.repeat([2.0, 1.0], 100), np.ones(200)]
    half = np.concatenate([np.ones(100), np.arange(100) % 2])
    found = shown(signs, [half, np.ones(200)])
    assert (found.by == np.repeat([0, 1], 100)).all()
    assert (found.agreed, found.tested) == (150, 200)
    # Whatever is better about the cheaper one: what the last judge keeps must be shown as well.
    assert (shown(signs, [np.ones(200), half]).by == NOBODY).all()
    keeps = np.concatenate([np.ones(100), right(88, 100)])
    assert (shown(signs, [np.ones(200), keeps]).by == 1).all()


@cache
def fewest_by_hand(labelled: int) -> int:
    """The smallest number that an exact binomial test takes for more than the target."""
    chances = binom.pmf(np.arange(labelled + 1), labelled, TARGET)
    for agreed in range(labelled + 1):
        if chances[agreed:].sum() <= MISS:
            return agreed
    return labelled + 1


def slow_shown(signs: Any, places: Any, agrees: Any) -> tuple[list[int], int, int]:
    """Who gives each score, and the labels and agreements of the test that failed.

    The last judge first; of each ten thresholds, from the share of its scores on which three labels
    (or as many as there can be) may disagree, to all of them.
    """
    answers = signs.shape[1]
    spare = [number - fewest_by_hand(number) for number in range(len(places) + 1)]
    by = [NOBODY] * answers
    for judge in range(len(signs) - 1, -1, -1):
        scored = sorted(sign for sign in signs[judge].tolist() if sign > -np.inf)
        if not scored:
            continue
        before = by
        labels = len(places) * len(scored) / answers
        possible = spare[: int(labels) + 1]
        least = next(n for n, some in enumerate(possible) if some >= min(3, max(possible)))
        strictest = least / labels if least else 1.0
        thresholds = set()
        for step in range(10):
            share = strictest + (1 - strictest) * step / 9
            place = math.floor((1 - share) * (len(scored) - 1) + 1e-9)
            thresholds.add(scored[place])
        for threshold in sorted(thresholds, reverse=True):
            taken = [
                judge if sign >= threshold else other
                for sign, other in zip(signs[judge], before, strict=True)
            ]
            for one in sorted(set(taken) - {NOBODY}):
                rows = [row for row, place in enumerate(places) if taken[place] == one]
                agreed = sum(bool(agrees[one][row]) for row in rows)
                if agreed < fewest_by_hand(len(rows)):
                    return by, len(rows), agreed
            by = taken
    return by, 0, 0


@pytest.mark.parametrize("seed", range(6))
def test_rules_are_tried_in_an_order_that_no_label_decides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    signs = rng.normal(size=(2, 150))
    signs[1, rng.random(150) < 0.2] = -np.inf
    signs[0] = np.round(signs[0], 1)
    places = rng.permutation(150)[:120]
    sure = 1 / (1 + np.exp(-2.5 - 1.5 * signs))
    agrees = (rng.random((2, 150)) < np.where(np.isfinite(signs), sure, 0))[:, places]
    found = find_shown(signs, places, agrees, at_least=TARGET, miss=MISS)
    by, tested, agreed = slow_shown(signs, places, agrees)
    assert found.by.tolist() == by
    assert (found.labels, found.tested, found.agreed) == (120, tested, agreed)
    assert (found.at_least, found.miss) == (TARGET, MISS)


def test_answers_without_a_score_are_never_taken() -> None:
    signs = np.repeat([1.0, -np.inf], 50)
    found = shown(signs, np.ones(100))
    assert (found.by == np.repeat([0, NOBODY], 50)).all()
    nothing = shown(np.full(50, -np.inf), np.zeros(50))
    assert (nothing.by == NOBODY).all() and nothing.needed is None


@pytest.mark.parametrize(("tested", "agreed"), [(10, 10), (10, 9), (3, 3), (40, 35), (1, 0)])
def test_two_labels_that_agree_as_often_as_not_are_added_to_those_seen(
    tested: int, agreed: int
) -> None:
    """Three labels that all agree do not show that all others will."""
    labels = 40
    found = Shown(np.zeros(labels, np.int64), TARGET, MISS, labels, tested, agreed)
    share = (agreed + 1) / (tested + 2)
    for wanted in (0, 20, 60, 300):
        new = wanted * tested // labels
        chances = binom.pmf(np.arange(new + 1), new, share)
        fewest = int(fewest_agreed(new, TARGET, MISS))
        assert float(found.chance(wanted)) == pytest.approx(chances[fewest:].sum())


def test_labels_needed_give_the_power_that_they_promise() -> None:
    """The test that failed was about a half of the labels."""
    seen = Shown(np.zeros(1, int), TARGET, MISS, labels=1996, tested=998, agreed=958)
    assert seen.needed is not None
    tested = seen.needed // 2
    agreed = np.random.default_rng(1).binomial(tested, 0.959, 4000)  # with the two that are added
    often = float((agreed >= fewest_agreed(tested, TARGET, MISS)).mean())
    assert 0.77 < often < 0.9
    assert seen.chance(seen.needed) == pytest.approx(often, abs=0.02)
    assert Shown(np.zeros(1, int), TARGET, MISS, labels=100, tested=100, agreed=90).needed is None
    assert Shown(np.zeros(1, int), 0.3, MISS, labels=100).needed is None


Chances = Callable[[Any], Any]
NUMBER = 1_000
SIGNS: dict[str, Callable[[np.random.Generator], Any]] = {
    "distinct": lambda generator: generator.random(NUMBER),
    "tied": lambda generator: generator.integers(3, size=NUMBER) / 2,
    "constant": lambda _generator: np.full(NUMBER, 0.5),
}
JUDGES: dict[str, Chances] = {
    "just at the share": lambda signs: np.full_like(signs, 0.9),
    "just below at every sign": lambda signs: np.full_like(signs, 0.899),
    "surer and better": lambda signs: 0.75 + 0.25 * signs,
    "surer and worse": lambda signs: 0.98 - 0.2 * signs,
    "good in the upper half": lambda signs: np.where(signs >= 0.5, 0.97, 0.6),
    "just below in the upper half": lambda signs: np.where(signs >= 0.5, 0.899, 0.6),
    "better in the middle": lambda signs: 0.99 - 0.5 * np.abs(signs - 0.5),
    "never right": lambda signs: np.zeros_like(signs),
}


def broken(signs: Any, chances: Any, labels: int, together: bool, seed: int) -> float:
    """Share of calibrations in which people agree too seldom with what some judge takes."""
    generator = np.random.default_rng(seed)
    count = 0
    for _ in range(CALIBRATIONS):
        places = generator.integers(NUMBER, size=labels)
        luck = generator.random((1 if together else len(signs), labels))
        agrees = luck < chances[:, places]
        by = find_shown(signs, places, agrees, at_least=TARGET, miss=MISS).by
        shares = [chances[judge][by == judge].mean() for judge in np.unique(by[by != NOBODY])]
        count += any(share < TARGET - 1e-9 for share in shares)
    return count / CALIBRATIONS


@pytest.fixture(scope="module")
def _fewest_once() -> Iterator[None]:
    """Work out once what the same number of labels must agree in; binomial quantiles are slow."""
    known: dict[tuple[Any, ...], Any] = {}

    def fewest(labelled: Any, at_least: float, miss: float) -> Any:
        asked = (np.asarray(labelled).tobytes(), at_least, miss)
        if asked not in known:
            known[asked] = fewest_agreed(labelled, at_least, miss)
        return known[asked]

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("urs_inspect.comparison._trust_statistics.fewest_agreed", fewest)
        yield


FALLIBLE = [judge for judge in JUDGES if judge != "just at the share"]
"""Judges with which people agree too seldom somewhere."""


@pytest.mark.usefixtures("_fewest_once")
@pytest.mark.parametrize(("signs", "judge"), [
    *product(["distinct", "tied"], FALLIBLE),
    # Where the signs are constant, the other judges are never wrong, or are one of these.
    ("constant", "just below at every sign"),
    ("constant", "surer and better"),
])  # fmt: skip
@pytest.mark.parametrize("labels", [30, 150])
def test_promise_is_kept(judge: str, signs: str, labels: int) -> None:
    given = SIGNS[signs](np.random.default_rng(labels))[None]
    assert broken(given, JUDGES[judge](given), labels, False, labels) <= MISS + NOISE


def two_judges(first: str, last: str) -> tuple[Any, Any]:
    """Signs of two judges, and how likely people agree with them."""
    signs = np.random.default_rng(5).random((2, NUMBER))
    return signs, np.stack([JUDGES[first](signs[0]), JUDGES[last](signs[1])])


@pytest.mark.usefixtures("_fewest_once")
@pytest.mark.parametrize("first", [
    "just below at every sign", "surer and better", "good in the upper half", "never right",
])  # fmt: skip
@pytest.mark.parametrize("last", [
    "just below at every sign", "surer and better", "better in the middle",
    "just below in the upper half",
])  # fmt: skip
@pytest.mark.parametrize("together", [False, True])
def test_promise_of_each_of_two_judges_is_kept(first: str, last: str, together: bool) -> None:
    """Both judges' errors go together, or have nothing to do with each other."""
    signs, chances = two_judges(first, last)
    assert broken(signs, chances, 150, together, 6) <= MISS + NOISE


@pytest.mark.usefixtures("_fewest_once")
@pytest.mark.parametrize("first", JUDGES)
@pytest.mark.parametrize("together", [False, True])
def test_promise_is_kept_where_the_last_judge_is_right_in_what_the_first_one_takes(
    first: str, together: bool
) -> None:
    """The last judge is right in all but what the first one takes, and in a part of the rest."""
    signs, chances = two_judges(first, "just at the share")
    chances[1] = np.where(signs[0] > 0.5, 1.0, 0.8)
    assert broken(signs, chances, 150, together, 7) <= MISS + NOISE


def taken(chances: Any, signs: Any, labels: int) -> float:
    """Mean share that needs no person."""
    generator = np.random.default_rng(3)
    shares = []
    for _ in range(100):
        places = generator.integers(NUMBER, size=labels)
        agrees = generator.random(labels) < chances[places]
        by = find_shown(signs[None], places, agrees[None], at_least=TARGET, miss=MISS).by
        shares.append((by != NOBODY).mean())
    return float(np.mean(shares))


def test_what_is_good_enough_is_taken() -> None:
    signs = np.random.default_rng(4).random(NUMBER)
    assert taken(np.where(signs > 0.5, 0.99, 0.7), signs, 200) > 0.45
    # Signs that mean nothing cost power: the first thresholds are tested by few labels.
    assert taken(np.full(NUMBER, 0.97), signs, 200) > 0.75
    agree = np.where(signs < 0.85, 1.0, 0.5)
    assert taken(np.where(agree == 1, 0.98, 0.77), agree, 100) > 0.84
