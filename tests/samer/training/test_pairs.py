"""Tests of `urs_inspect.samer.training.pairs`."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.samer.training.made import pair
from urs_inspect._util import InputError
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer.training import (
    ABSENT,
    PairLabels,
    fold_numbers,
    label_pairs,
    read_training,
    split_off,
    write_training,
)

NAMES = ("Logic", "Style", "Depth")


def test_each_preference_has_its_number():
    pairs = [
        pair(1, winner="a", dimensions={"Logic": "a", "Depth": "tie"}),
        pair(2, winner="b", dimensions={"Style": "b"}),
        pair(3, winner="tie", dimensions={}),
        pair(4, winner=None, dimensions={}),
    ]
    labels = label_pairs(pairs, NAMES)
    assert labels.overall.tolist() == [1, -1, 0, ABSENT]
    assert labels.dimensions.tolist() == [[1, 2, 0], [2, -1, 2], [2, 2, 2], [2, 2, 2]]


def test_swapping_the_responses_twice_changes_nothing():
    labels = label_pairs([pair(1, winner="b", dimensions={"Logic": "a", "Style": "b", "Depth": "tie"})], NAMES)
    swapped = labels.swapped()
    assert swapped.overall.tolist() == [1]
    assert swapped.dimensions.tolist() == [[-1, 1, 0]]
    assert (swapped.swapped().dimensions == labels.dimensions).all()
    assert PairLabels(np.array([2], np.int8), np.array([[2]], np.int8)).swapped().overall.tolist() == [ABSENT]


def test_an_unknown_dimension_names_the_pair():
    with pytest.raises(InputError, match="pair 'p7': unknown dimension 'Charm'; allowed: Logic, Style, Depth"):
        label_pairs([pair(7, dimensions={"Charm": "a"})], NAMES)


def test_shapes_must_fit():
    with pytest.raises(ValueError, match="labels of shapes"):
        PairLabels(np.zeros(2, np.int8), np.zeros((3, 1), np.int8))


GOOD: dict[str, Any] = {
    "id": "x",
    "prompt": "Hello?",
    "response_a": "Hi",
    "response_b": "",
    "winner": "model_b",
    "scenario": "chitchat",
    "dimensions": {"Style": "tie", "Attractiveness": "a"},
    "source": "own",
    "more": 1,
}


def written(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_a_line_is_read_with_aliases(tmp_path: Path):
    [found] = read_training(written(tmp_path / "d.jsonl", "", GOOD), load_taxonomy())
    assert found.winner == "b" and found.response_b == "" and found.source == "own"
    assert found.dimensions == {"Style": "tie", "Engagement": "a"}


def test_what_is_written_is_read_back(tmp_path: Path):
    pairs = [pair(1), pair(2, winner=None, dimensions={}, scenario="", prompt="两\n行 \u2028")]
    path = tmp_path / "d.jsonl"
    assert write_training(path, pairs) == 2
    assert read_training(path, load_taxonomy()) == pairs
    assert list(tmp_path.iterdir()) == [path]


def test_lines_without_id_get_one(tmp_path: Path):
    bare = {key: GOOD[key] for key in ("prompt", "response_a", "response_b")}
    found = read_training(written(tmp_path / "d.jsonl", bare, bare), load_taxonomy())
    assert [one.id for one in found] == ["d_000001", "d_000002"]
    assert found[0].winner is None and found[0].dimensions == {}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prompt": " "}, "'prompt' must be a text"),
        ({"response_a": None}, "'response_a' must be a text, is null"),
        ({"winner": "left"}, "'winner': \"left\"; allowed: a, b, tie"),
        ({"winner": 1}, "'winner': 1; allowed"),
        ({"dimensions": ["Style"]}, "'dimensions' must be an object"),
        ({"dimensions": {"Charm": "a"}}, "unknown dimension 'Charm'"),
        ({"dimensions": {"Style": None}}, "dimension 'Style': null; allowed: a, b, tie"),
        ({"scenario": "party"}, "unknown scenario 'party'"),
        ({"id": 3}, "'id' must be a text"),
    ],
)
def test_faults_name_line_and_field(change: dict[str, Any], said: str, tmp_path: Path):
    path = written(tmp_path / "d.jsonl", {**GOOD, "id": "y"}, {**GOOD, **change})
    with pytest.raises(InputError) as caught:
        read_training(path, load_taxonomy())
    assert str(caught.value).startswith(f"{path}: line 2: ") and said in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["{"], "line 1: not JSON"),
        (["[1]"], "line 1: not a JSON object"),
        ([], "no pair in it"),
        ([GOOD, GOOD], "line 2: id 'x' is taken by line 1"),
    ],
)
def test_unreadable_files_are_refused(lines: list[object], said: str, tmp_path: Path):
    with pytest.raises(InputError, match=said):
        read_training(written(tmp_path / "d.jsonl", *lines), load_taxonomy())


def test_bytes_that_are_no_text_are_refused(tmp_path: Path):
    path = tmp_path / "d.jsonl"
    path.write_bytes(b'{"prompt": "\xff"}')
    with pytest.raises(InputError, match="line 1: not JSON in UTF-8"):
        read_training(path, load_taxonomy())
    with pytest.raises(InputError, match="cannot read"):
        read_training(tmp_path / "absent.jsonl", load_taxonomy())


PROMPTS = [f"prompt {number % 40}" for number in range(100)]
STRATA = [f"scenario {number % 40 % 4}" for number in range(100)]


def test_a_prompt_is_in_one_fold_and_strata_are_spread():
    folds = fold_numbers(PROMPTS, 5, strata=STRATA, seed=3)
    by_prompt = {prompt: {int(f) for p, f in zip(PROMPTS, folds, strict=True) if p == prompt} for prompt in PROMPTS}
    assert all(len(found) == 1 for found in by_prompt.values())
    # 10 prompts a stratum in 5 folds: 2 in each.
    cells = Counter((int(prompt.split()[1]) % 4, fold) for prompt, found in by_prompt.items() for fold in found)
    assert set(cells.values()) == {2} and len(cells) == 20


def test_order_and_copies_do_not_matter_but_the_seed_does():
    folds = fold_numbers(PROMPTS, 5, seed=1)
    order = np.random.default_rng(0).permutation(100)
    assert (fold_numbers([PROMPTS[place] for place in order], 5, seed=1) == folds[order]).all()
    assert (fold_numbers([*PROMPTS, PROMPTS[0]], 5, seed=1)[:-1] == folds).all()
    assert (fold_numbers(PROMPTS, 5, seed=2) != folds).any()


@pytest.mark.parametrize("folds", [0, 1, 41])
def test_impossible_folds_are_refused(folds: int):
    with pytest.raises(InputError, match=f"{folds} folds of 40 prompts"):
        fold_numbers(PROMPTS, folds)


def test_what_is_held_out_shares_no_prompt_and_is_spread():
    fit, held = split_off(PROMPTS, 0.2, strata=STRATA, seed=5)
    assert sorted([*fit, *held]) == list(range(100))
    assert not {PROMPTS[row] for row in fit} & {PROMPTS[row] for row in held}
    # A fifth of 40 prompts, two of each of four strata.
    assert Counter(int(prompt.split()[1]) % 4 for prompt in {PROMPTS[row] for row in held}) == dict.fromkeys(
        range(4), 2
    )


def test_nothing_need_be_held_out():
    fit, held = split_off(PROMPTS, 0)
    assert len(fit) == 100 and len(held) == 0


@pytest.mark.parametrize(("share", "said"), [(1, "allowed: 0 to below 1"), (-0.1, "allowed"), (0.99, "leaves none")])
def test_impossible_shares_are_refused(share: float, said: str):
    with pytest.raises(InputError, match=said):
        split_off(PROMPTS, share)
