"""Tests of `urs_inspect.discrepancy._pools`."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.telling import tells
from urs_inspect._util import InputError, check_new_file
from urs_inspect.discrepancy._pools import (
    Instruction,
    Pool,
    check_contestants,
    check_pool,
    load_pool_file,
    short_pairs,
    usable_masks,
)

ITEMS = tuple(Instruction(name, f"Ask {name}") for name in "wxyz")


def pool(**responses: dict[str, str]) -> Pool:
    return Pool("mine", "", ITEMS, responses)


GIVEN = pool(
    a={"w": "one", "x": "two", "y": "three", "z": "four"}, b={"w": "uno", "x": " two ", "y": "\n"}
)


def test_missing_empty_and_equal_answers_cannot_be_compared_and_a_pool_that_is_too_small_says_why() -> (
    None
):
    # x: equal but for blanks; y: b is empty; z: b never came
    masks = usable_masks(GIVEN, [("a", "b"), ("b", "a")])
    assert {pair: mask.tolist() for pair, mask in masks.items()} == {
        pair: [True, False, False, False] for pair in (("a", "b"), ("b", "a"))
    }
    assert GIVEN.lacking() == {"a": {"missing": 0, "empty": 0}, "b": {"missing": 1, "empty": 1}}
    del masks["b", "a"]
    check_pool(GIVEN, 1, masks)
    with pytest.raises(InputError) as caught:
        check_pool(GIVEN, 2, masks)
    assert tells(
        str(caught.value),
        "k=2 ... 'mine' of 4 instructions ... a and b: 1 (1 missing of b, 1 empty of b, 1 answered",
    )


def test_where_only_a_filter_leaves_little_out_no_other_reason_is_given() -> None:
    whole = pool(a=dict.fromkeys("wxyz", "one"), b=dict.fromkeys("wxyz", "uno"))
    masks = usable_masks(whole, [("a", "b")])
    masks["a", "b"] &= np.array([False, True, False, True])
    assert short_pairs(whole, 3, masks) == "a and b: 2"
    assert short_pairs(whole, 2, masks) == ""
    check_pool(whole, 2, masks)
    with pytest.raises(InputError) as caught:
        check_pool(whole, 3, masks, "Take more.")
    assert tells(str(caught.value), "k=3 ... 'mine' of 4 ... a and b: 2. Take more.")


def test_two_empty_answers_are_not_said_to_be_equal() -> None:
    empty = pool(a={"w": "one", "x": " "}, b={"w": "uno", "x": "\n"})
    said = short_pairs(empty, 2, usable_masks(empty, [("a", "b")]))
    assert tells(said, "a and b: 1 ... 1 empty of a ... 1 empty of b")
    assert "equal" not in said


def test_only_some_of_many_pairs_are_named() -> None:
    names = "abcdefg"
    many = pool(**{name: {} for name in names})
    masks = usable_masks(many, [("a", other) for other in names[1:]])
    assert short_pairs(many, 1, masks).endswith("; and 1 more pairs")
    assert short_pairs(many, 0, masks) == ""


def test_some_contestants_of_a_pool() -> None:
    assert GIVEN.among(["b"]).contestants == ("b",)
    with pytest.raises(InputError, match=r"no answers of c.*a, b"):
        GIVEN.among(["c"])


def test_where_answers_of_models_that_met_before_are_is_named() -> None:
    alone = replace(GIVEN, earlier={"new.eval": (), "late.eval": ("one.eval", "two.eval")})
    for held in (replace(GIVEN, earlier={"new.eval": ()}), GIVEN):
        with pytest.raises(InputError) as caught:
            held.among(["c"])
        assert ".eval" not in str(caught.value)
    with pytest.raises(InputError) as caught:
        alone.among(["a", "c"])
    assert "[late.eval, one.eval, two.eval]" in str(caught.value)
    assert "new.eval" not in str(caught.value)


def test_as_many_short_pairs_as_are_named_are_all() -> None:
    names = "abcdef"
    many = pool(**{name: {} for name in names})
    masks = usable_masks(many, [("a", other) for other in names[1:]])
    said = short_pairs(many, 1, masks)
    assert all(f"a and {other}: 0" in said for other in names[1:])
    assert "more pairs" not in said


@pytest.mark.parametrize(("names", "said"), [((), "got none"), (("a",), "got a")])
def test_one_contestant_is_no_competition(names: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=f"at least 2 are needed, {said}"):
        check_contestants(names)
    check_contestants(("a", "b"))


def lines(tmp_path: Path, *rows: object) -> Path:
    path = tmp_path / "seeds.jsonl"
    path.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows),
        encoding="utf-8",
    )
    return path


def test_plain_rows_will_do(tmp_path: Path):
    path = lines(
        tmp_path,
        {"instruction": " Why? "},
        "",
        {"question": "Wie?", "language": "CN", "reference": "So."},
    )
    assert load_pool_file(str(path))[2] == (
        Instruction("seeds_0001", "Why?"),
        Instruction("seeds_0002", "Wie?", "So.", "zh"),
    )
    csv = tmp_path / "mine.csv"
    csv.write_text("question,language\nWarum?, DE \n", encoding="utf-8")
    assert load_pool_file(str(csv))[2][0].language == "de"  # other languages keep their name


def test_every_fault_is_named(tmp_path: Path):
    path = lines(
        tmp_path, {"id": "x", "instruction": ""}, [1], {"instruction": "Why?", "scenario": "poetry"}
    )
    with pytest.raises(InputError) as error:
        load_pool_file(str(path), scenarios=("general", "writing"))
    said = str(error.value)
    assert (
        f"{path}: line 2: not a JSON object" in said
        and f"{path}: line 1: column 'instruction': empty" in said
    )
    assert tells(said, "line 3: column 'scenario': ... 'poetry'; allowed: general, writing")
    path = lines(tmp_path, {"instruction": "Why?", "scenario": "poetry"})
    assert load_pool_file(str(path))[2][0].scenario == "poetry"
    with pytest.raises(InputError, match="no data file"):
        load_pool_file(str(tmp_path / "none.jsonl"))


def test_outputs_that_could_not_be_written_are_refused_early(tmp_path: Path):
    check_new_file(tmp_path / "pool.jsonl", ".jsonl")
    (tmp_path / "there.jsonl").touch()
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "nowhere")
    for name, message in [
        ("pool.json", "must be the name of a .jsonl file"),
        ("there.jsonl", "already"),
        ("dangling.jsonl", "already"),
        ("none/pool.jsonl", "no folder"),
    ]:
        with pytest.raises(InputError, match=message):
            check_new_file(tmp_path / name, ".jsonl")
