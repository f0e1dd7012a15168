"""Labels of training pairs, and how pairs are balanced and divided, by hand and by slow loops."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.samer.stubs import pair
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer._pairs import (
    ABSENT,
    PairLabels,
    balance,
    check_split,
    dealt,
    label_pairs,
    read_training,
    split_off,
)


def labels(overall: list[int], *dimensions: list[int]) -> PairLabels:
    """Codes overall and, a list a pair, on the dimensions."""
    return PairLabels(np.array(overall, np.int8), np.array(dimensions, np.int8))


@pytest.mark.parametrize(
    ("written", "read"),
    [("a", "a"), ("b", "b"), ("model_a", "a"), ("model_b", "b"), ("tie", "tie")],
)
def test_either_name_of_a_side_is_read(tmp_path: Path, written: str, read: str) -> None:
    row = {"prompt": "p", "response_a": "x", "response_b": "y", "winner": written}
    row |= {"dimensions": {"Style": written}}  # type: ignore[dict-item]
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8-sig")
    [found] = read_training(path, load_taxonomy())
    assert (found.winner, found.dimensions, found.id) == (read, {"Style": read}, "d_000001")


def test_ties_are_known_and_absent_labels_are_not() -> None:
    found = labels([1], [1, -1, 0, ABSENT])
    assert found.known.tolist() == [[True, True, True, False]]
    assert len(labels([1, 0], [1], [0])) == 2
    taken = labels([1, -1, 0], [1], [-1], [0]).take(np.array([2, 0]))
    assert (taken.overall.tolist(), taken.dimensions.tolist()) == ([0, 1], [[0], [1]])


def test_codes_are_those_of_equation_2() -> None:
    pairs = [pair(1, winner=winner, dimensions={}) for winner in ("a", "b", "tie", None)]
    assert label_pairs(pairs, ["Style"]).overall.tolist() == [1, -1, 0, 2]


# Overall and dimension of the pair to fit, then of the one that is held out.
@pytest.mark.parametrize(
    ("codes", "refused"),
    [
        ((1, 1, 1, 1), None),
        ((1, 0, 1, 1), None),  # ties can be learnt
        ((1, 2, 1, 1), "no pair to fit"),  # the held-out pair has a label, which is none to fit
        ((2, 1, 2, -1), None),  # a dimension is enough to choose an epoch
        ((2, 1, -1, 2), None),  # and so is the overall label
        ((1, 1, 0, 0), "1 held-out"),
        ((1, 1, 2, 2), "1 held-out"),
        ((1, 1, 0, 2), "1 held-out"),
    ],
)
def test_a_split_needs_labels_on_both_sides(
    codes: tuple[int, int, int, int], refused: str | None
) -> None:
    given = labels([codes[0], codes[2]], [codes[1]], [codes[3]])
    fit, held = np.array([0]), np.array([1])
    if refused is None:
        check_split(given, fit, held)
        return
    with pytest.raises(InputError) as caught:
        check_split(given, fit, held)
    assert tells(str(caught.value), refused)


def test_without_held_out_pairs_only_what_is_fitted_counts() -> None:
    given = labels([1], [1])
    check_split(given, np.array([0]), None)
    check_split(given, np.array([0]), np.array([], np.intp))
    with pytest.raises(InputError):
        check_split(given, np.array([], np.intp), None)


def of(scenario: str, number: int) -> list[Any]:
    return [pair(0, id=f"{scenario}{n}", scenario=scenario) for n in range(number)]


@pytest.mark.parametrize(
    ("least", "most", "kept", "short"),
    [
        (5, 5, {"few": 4, "many": 5, "some": 5}, ("few",)),
        (4, 6, {"few": 4, "many": 6, "some": 5}, ()),
        (6, 7, {"few": 4, "many": 7, "some": 5}, ("few", "some")),
        (0, 1, {"few": 1, "many": 1, "some": 1}, ()),
        (8, 9, {"few": 4, "many": 7, "some": 5}, ("few", "many", "some")),
    ],
)
def test_scenarios_are_cut_at_the_most_and_named_below_the_least(
    least: int, most: int, kept: dict[str, int], short: tuple[str, ...]
) -> None:
    pairs = [*of("some", 5), *of("many", 7), *of("few", 4)]
    random.Random(1).shuffle(pairs)
    found = balance(pairs, least=least, most=most)
    assert (found.kept, found.short) == (kept, short)
    assert found.found == {"few": 4, "many": 7, "some": 5}
    assert list(found.kept) == ["few", "many", "some"]
    assert Counter(one.scenario for one in found.pairs) == kept
    assert list(found.pairs) == [one for one in pairs if one in found.pairs]


def test_the_usual_balance_is_that_of_the_paper() -> None:
    found = balance([*of("large", 5501), *of("enough", 2000), *of("short", 1999)])
    assert found.kept == {"enough": 2000, "large": 5500, "short": 1999}
    assert found.short == ("short",)


def test_prompts_are_dealt_by_stratum_and_one_with_several_counts_to_the_first() -> None:
    prompts = ["p", "q", "r", "p", "s", "t", "r"]
    strata = ["c", "b", "a", "a", "b", "c", "c"]
    order = dealt(prompts, strata, seed=0)
    assert sorted(order) == ["p", "q", "r", "s", "t"]
    assert [{"p": "a", "r": "a", "q": "b", "s": "b", "t": "c"}[prompt] for prompt in order] == [
        *"aabbc"
    ]
    many = [str(n) for n in range(50)]
    orders = {tuple(dealt(many, None, seed)) for seed in range(4)}
    assert len(orders) == 4
    assert dealt(many[::-1], None, 0) == dealt(many, None, 0)


@pytest.mark.parametrize("share", [0.001, 0.1, 0.24, 0.25, 0.26, 0.5, 0.9])
@pytest.mark.parametrize("seed", [0, 3])
def test_what_is_held_out_is_evenly_spaced_in_the_order_of_strata(share: float, seed: int) -> None:
    source = random.Random(seed)
    prompts = [f"p{source.randrange(20)}" for _ in range(60)]
    strata = [f"s{int(prompt[1:]) % 3}" for prompt in prompts]
    fit, held = split_off(prompts, share, strata=strata, seed=seed)
    order = dealt(prompts, strata, seed)
    count = max(1, round(share * len(order)))
    # Slow: the prompt in the middle of each of so many equal parts.
    chosen = [order[int(len(order) * (2 * part + 1) / (2 * count))] for part in range(count)]
    assert {prompts[row] for row in held} == set(chosen)
    assert sorted([*fit, *held]) == list(range(60))
    assert not {prompts[row] for row in fit} & set(chosen)


def test_a_share_that_would_leave_nothing_is_refused() -> None:
    for prompts, share in ((["p"], 0.5), (["p", "q"], 0.9)):
        with pytest.raises(InputError):
            split_off(prompts, share)
    fit, held = split_off(["p", "q"], 0.5)
    assert (len(fit), len(held)) == (1, 1)
