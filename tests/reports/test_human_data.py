"""Tests of `urs_inspect.reports.numbers._human_data`."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.annotation.samples import rated, rating
from tests.reports.json_files import write_rows
from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.annotation._ratings import Rating
from urs_inspect.reports._unused_ratings import UnusedRatings, unused_notes
from urs_inspect.reports.numbers._human_data import (
    HumanRating,
    ScaleDoubt,
    on_scale_of_judge,
    read_human_ratings,
)
from urs_inspect.reports.words._corrected import repeat_notes, scale_doubt

SCALE = (1.0, 10.0)


def write(path: Path, *rows: str, header: str = "id,model,rating,rater") -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def error_of(path: Path, scale: tuple[float, float] = SCALE) -> str:
    with pytest.raises(InputError) as caught:
        read_human_ratings(path, scale)
    return str(caught.value)


def test_both_kinds_of_files_hold_the_same(tmp_path: Path) -> None:
    table = write(tmp_path / "r.csv", "q1,m,7,ann", "q1,m, 8.5 ,7", "q2, m ,1,")
    given: list[tuple[object, ...]] = [("q1", "m", 7, "ann"), ("q1", "m", 8.5, 7), ("q2", "m", "1")]
    rows = [dict(zip(("id", "model", "rating", "rater"), row, strict=False)) for row in given]
    expected = [
        ("q1", "m", None, "ann", 7.0),
        ("q1", "m", None, "7", 8.5),
        ("q2", "m", None, "", 1.0),
    ]
    for path in (table, write_rows(tmp_path / "r.jsonl", *rows)):
        found = read_human_ratings(path, SCALE)
        assert [
            (one.question, one.model, one.epoch, one.rater, one.rating) for one in found.ratings
        ] == expected
        assert (found.unused.repeated, found.scale) == (0, SCALE)


def test_model_rater_and_epoch_may_be_left_out(tmp_path: Path) -> None:
    found = read_human_ratings(write(tmp_path / "r.csv", "17,3", header="id,rating"), SCALE)
    assert found.ratings == (HumanRating("17", "", None, "", 3.0, "line 2"),)
    found = read_human_ratings(
        write(tmp_path / "e.csv", "q,3,2", "q,4,1", header="id,rating,epoch"), SCALE
    )
    assert [one.epoch for one in found.ratings] == [2, 1]


def test_a_row_that_repeats_another_is_left_out_and_counted(tmp_path: Path) -> None:
    found = read_human_ratings(
        write(tmp_path / "r.csv", "q,m,7,ann", "q,m,7.0,ann", "q,m,7,bob", "q,m,7,ann"), SCALE
    )
    assert (len(found.ratings), found.unused.repeated) == (2, 2)


def test_columns_that_are_not_read_are_named(tmp_path: Path) -> None:
    found = read_human_ratings(
        write(tmp_path / "r.csv", "q1,5,2,x", header="id,rating,weigth,"), SCALE
    )
    assert found.unused == UnusedRatings(columns=("weigth",))
    assert unused_notes(found.path, found.unused) == [Telling("r.csv ... not read: weigth")]
    all_read = write(tmp_path / "e.csv", "q1,5,2", header="id,rating,weight")
    assert read_human_ratings(all_read, SCALE).unused == UnusedRatings()
    lines = [{"id": "q1", "rating": 5}, {"id": "q2", "rating": 6, "remark": "fine"}]
    found = read_human_ratings(write_rows(tmp_path / "r.jsonl", *lines), SCALE)
    assert found.unused.columns == ("remark",)


def test_weights_of_rated_answers(tmp_path: Path) -> None:
    found = read_human_ratings(
        write(tmp_path / "r.csv", "q1,5,2.5", "q2,5,40", header="id,rating,weight"), SCALE
    )
    assert found.weighted and [one.weight for one in found.ratings] == [2.5, 40]
    found = read_human_ratings(
        write(tmp_path / "e.csv", "q1,5,", "q2,5,", header="id,rating,weight"), SCALE
    )
    assert not found.weighted and [one.weight for one in found.ratings] == [1, 1]


COLUMNS, WEIGHTS, EPOCHS = "id,model,rating,rater", "id,rating,weight,rater", "id,rating,epoch"


@pytest.mark.parametrize(
    ("header", "first", "row", "message"),
    [
        (
            COLUMNS,
            "q1,m,5,ann",
            "q,m,0,ann",
            "column 'rating': must be a number from 1 to 10, is \"0\"",
        ),
        (
            COLUMNS,
            "q1,m,5,ann",
            "q,m,11,ann",
            "column 'rating': must be a number from 1 to 10, is \"11\"",
        ),
        (
            COLUMNS,
            "q1,m,5,ann",
            "q,m,good,ann",
            "column 'rating': must be a number from 1 to 10, is \"good\"",
        ),
        (COLUMNS, "q1,m,5,ann", "q,m,nan,ann", "column 'rating': must be a number"),
        (COLUMNS, "q1,m,5,ann", "q,m,,ann", "column 'rating': must be a number"),
        (COLUMNS, "q1,m,5,ann", ",m,5,ann", "column 'id': empty"),
        (
            COLUMNS,
            "q1,m,5,ann",
            "q1,m,6,ann",
            "'ann' rated 'q1' of m 6 here and 5 on line 2; keep one of the two",
        ),
        (
            COLUMNS,
            "q1,m,5,",
            "q1,m,5,",
            "'q1' of m was rated on line 2 already; if these are two people, name them",
        ),
        (WEIGHTS, "q1,5,2,ann", "q2,5,0,bo", "column 'weight': must be a number above 0, is \"0\""),
        (
            WEIGHTS,
            "q1,5,2,ann",
            "q2,5,-1,bo",
            "column 'weight': must be a number above 0, is \"-1\"",
        ),
        (WEIGHTS, "q1,5,2,ann", "q2,5,,bo", "column 'weight': must be a number above 0, is \"\""),
        (
            WEIGHTS,
            "q1,5,2,ann",
            "q2,5,inf,bo",
            "column 'weight': must be a number above 0, is \"inf\"",
        ),
        (
            WEIGHTS,
            "q1,5,2,ann",
            "q1,5,3,bo",
            "'q1' has the weight 3 here and 2 on line 2; an answer has one weight",
        ),
        *[
            (
                EPOCHS,
                "q1,5,1",
                f"q,3,{epoch}",
                "column 'epoch': must be a whole number of at least 1",
            )
            for epoch in ("0", "-1", "1.5", "one", "9" * 30)
        ],
    ],
)
def test_faults_are_named(header: str, first: str, row: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", first, row, header=header)
    assert f"{path}: line 3: {message}" in error_of(path)


def test_an_answer_is_named_by_question_model_and_epoch(tmp_path: Path) -> None:
    header = "id,model,epoch,rating,rater"
    epochs = write(tmp_path / "a.csv", "q1,m,1,5,ann", "q1,m,2,6,ann", "q1,,1,7,ann", header=header)
    assert len(read_human_ratings(epochs, SCALE).ratings) == 3
    for row, answer in (
        ("q1,m,2", "'q1' of m, epoch 2"),
        ("q1,m,", "'q1' of m"),
        ("q1,,2", "'q1', epoch 2"),
        ("q1,,", "'q1'"),
    ):
        named = write(tmp_path / "b.csv", f"{row},5,ann", f"{row},6,ann", header=header)
        assert tells(error_of(named), f"line 3: 'ann' rated {answer} 6 ... 5 on line 2")
        unnamed = write(tmp_path / "c.csv", f"{row},5,", f"{row},5,", header=header)
        assert tells(error_of(unnamed), f"line 3: {answer} was rated on line 2")


def test_all_faults_are_said_at_once(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", *["q,m,99,x"] * 25, "q1,m,5,x", *["q1,m,6,x"] * 9)
    error = error_of(path)
    assert tells(error, "lines 2, 3, 4 and 22 more: column 'rating' ... \"99\"")
    assert tells(error, "line 28: 'x' rated")
    assert len(error.splitlines()) == 1 + 9


def test_a_fault_of_an_id_is_said_once(tmp_path: Path) -> None:
    for wrong in ([1], None, "", {"a": 1}, True):
        path = write_rows(
            tmp_path / "r.jsonl", {"id": wrong, "rating": 5}, {"id": "q", "rating": 5}
        )
        assert error_of(path).count("column 'id'") == 1


def test_a_rating_that_is_no_label_is_named_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "q1,m,C,x", *[f"q{n},m,maybe,x" for n in range(2, 9)])
    with pytest.raises(InputError) as error:
        read_human_ratings(path, None)
    assert tells(str(error.value), 'lines 3, 4, 5 and 4 more: ... "maybe" ... allowed: c, p, i, n')


def test_files_that_hold_nothing(tmp_path: Path) -> None:
    assert "no rating" in error_of(write(tmp_path / "r.csv"))
    assert "column 'rating' is missing" in error_of(write(tmp_path / "c.csv", header="id,score"))
    assert "no data file" in error_of(tmp_path / "none.csv")
    path = write(tmp_path / "s.csv", "q,m,3,x")
    assert tells(error_of(path, (5.0, 5.0)), "human-scale: ... got 5 and 5")


# --- scales, labels and doubts ---


@pytest.mark.parametrize(
    ("given", "rating"),
    [("C", 1), ("p", 0.5), ("I", 0), ("n", 0), ("yes", 1), ("No", 0), ("true", 1), ("FALSE", 0)],
)
@pytest.mark.parametrize("scale", [None, (1.0, 5.0)])
def test_letters_and_words_are_labels_whatever_the_scale(
    given: str, rating: float, scale: tuple[float, float] | None, tmp_path: Path
) -> None:
    found = read_human_ratings(write(tmp_path / "r.csv", f"q1,m,{given},x"), scale)
    assert found.scale == (0.0, 1.0)
    assert [one.rating for one in found.ratings] == [rating]


def test_numbers_need_a_scale_and_mix_with_no_label(tmp_path: Path) -> None:
    numbers = write(tmp_path / "n.csv", "q1,m,3,x", "q2,m,4,x")
    with pytest.raises(InputError, match=r"human-scale.*n\.csv"):
        read_human_ratings(numbers, None)
    both = write(tmp_path / "b.csv", "q1,m,3,x", "q2,m,yes,x")
    with pytest.raises(InputError, match=r"b\.csv: line 3: .*rating"):
        read_human_ratings(both, SCALE)
    with pytest.raises(InputError, match=r"b\.csv: line 2: .*rating"):
        read_human_ratings(both, None)


@pytest.mark.parametrize(
    ("rating", "scale", "judge", "mapped"),
    [
        (1.0, (1.0, 5.0), (1.0, 10.0), 1.0),
        (5.0, (1.0, 5.0), (1.0, 10.0), 10.0),
        (2.0, (1.0, 5.0), (1.0, 10.0), 3.25),
        (0.5, (0.0, 1.0), (1.0, 10.0), 5.5),
        (3.0, (1.0, 5.0), (0.0, 1.0), 0.5),
        (10.0, (0.0, 10.0), (1.0, 3.0), 3.0),
    ],
)
def test_ratings_are_mapped_by_a_straight_line(
    rating: float, scale: tuple[float, float], judge: tuple[float, float], mapped: float
) -> None:
    assert on_scale_of_judge(np.array([rating]), scale, judge) == pytest.approx([mapped])
    if judge == (1.0, 10.0):
        assert on_scale_of_judge(np.array([rating]), scale) == pytest.approx([mapped])


@pytest.mark.parametrize(
    ("ratings", "scale", "other"),
    [
        ([1, 2, 3, 4, 5] * 2, (1, 10), "1,5"),
        ([1, 2, 3, 4, 5] * 2, (1, 9), "1,5"),  # 5 is the middle, and above it nothing
        ([1, 2, 3, 4, 5] * 2, (1, 7), None),  # 5 is in the upper half
        ([0, 1, 0, 1, 1] * 2, (0, 10), "0,1"),
        ([1, 2, 3, 3, 2] * 2, (1, 10), "1,3"),
        ([0, 2, 3, 4, 5] * 2, (0, 10), "0,5"),
        ([1, 2, 3, 6, 7] * 2, (1, 100), "1,7"),
        ([1, 2, 3, 9, 10] * 2, (1, 100), "1,10"),
        ([0, 2, 3, 9, 10] * 2, (0, 100), "0,10"),
        ([1, 20, 30, 40, 50] * 2, (1, 100), ""),
        ([1, 2, 3, 4, 5] * 2 + [6], (1, 10), None),
        ([1, 2, 3, 4, 5, 1, 2, 3, 4], (1, 10), None),  # nine are too few
    ],
)
def test_a_scale_is_doubted_where_nothing_is_above_its_middle(
    ratings: list[float], scale: tuple[float, float], other: str | None, tmp_path: Path
) -> None:
    rows = [f"q{place},m,{rating},x" for place, rating in enumerate(ratings)]
    found = read_human_ratings(write(tmp_path / "r.csv", *rows), scale)
    if other is None:
        assert (found.doubt, scale_doubt(found)) == (None, "")
        return
    usual = None
    if other:
        low, high = map(float, other.split(","))
        usual = (low, high)
    assert found.doubt == ScaleDoubt(max(ratings), len(ratings), usual)
    told = scale_doubt(found)
    assert tells(told, f"{max(ratings):g} of {len(ratings)} ratings")
    assert tells(told, f"scale {scale[0]} to {scale[1]}")
    assert re.findall(r"\d+,\d+", told) == ([other] if other else [])


def test_what_repeats_and_what_contradicts(tmp_path: Path) -> None:
    rows = ["q1,m,3,ann", "q1,m,3,ann", "q1,m,4,bob", "q1,n,5,ann", "q2,m,3,ann"]
    found = read_human_ratings(write(tmp_path / "r.csv", *rows), SCALE)
    assert (len(found.ratings), found.unused.repeated, found.weighted) == (4, 1, False)
    assert [one.place for one in found.ratings] == ["line 2", "line 4", "line 5", "line 6"]
    header = "id,rating,rater,weight"
    weighted = write(tmp_path / "w.csv", "q1,3,ann,2", "q1,4,bob,2", "q2,4,bob,3", header=header)
    found = read_human_ratings(weighted, SCALE)
    assert found.weighted and [one.weight for one in found.ratings] == [2, 2, 3]


# --- ratings that `annotate` saved ---


def saved(path: Path, *events: Rating, more: str = "") -> Path:
    text = "".join(f"{event.to_line()}\n" for event in events)
    path.write_text(text + more, encoding="utf-8")
    return path


def test_saved_ratings_by_hand(tmp_path: Path) -> None:
    one, two, three, four = (rated(number) for number in range(4))
    taken = rating(four, 2, "ann")
    saved(
        tmp_path / "ann.jsonl",
        rating(one, 3, "ann", rate=2.0, threshold=0.1),
        rating(two, 6, "ann", rate=1.0, threshold=0.5),
        rating(one, 4, "ann", rate=2.0, threshold=0.1),
        rating(one, 8, "ann", check=True),
        rating(two, 5, "ann", check=True),
        rating(three, 1, "ann", threshold=0.2, cannot_tell=True),
        taken,
        replace(taken, undone=True, time="2099-01-01T00:00:00+00:00"),
        more="nonsense\n",
    )
    saved(tmp_path / "ben.jsonl", rating(one, 9, "ben", rate=2.0, threshold=0.1))
    found = read_human_ratings(tmp_path, None)
    assert {(each.model, each.epoch) for each in found.ratings} == {("apple", 1)}
    assert len(found.ratings) == 3
    assert {(each.question, each.rater, each.rating) for each in found.ratings} == {
        ("q0", "ann", 4.0),
        ("q1", "ann", 6.0),
        ("q0", "ben", 9.0),
    }
    assert {each.place for each in found.ratings} == {str(tmp_path)}
    assert (found.scale, found.unused.repeated) == (SCALE, 0)
    assert (found.weighted, found.doubt) == (True, None)
    # Answers were drawn up to the highest threshold, one of them with twice the rate.
    chances = {"q0": 1 - math.exp(-2.0 * 0.5), "q1": 1 - math.exp(-0.5)}
    for each in found.ratings:
        assert each.weight == pytest.approx(1 / chances[each.question])
    untold, changed, wrong = unused_notes(tmp_path, found.unused)
    assert tells(untold, "1 answer") and tells(changed, "1 rating ... 1 taken back")
    assert tells(wrong, "ann.jsonl ... line 9")
    # 4 and then 8, 6 and then 5
    [repeat] = repeat_notes(found)
    assert tells(repeat, "ann ... 2 answers twice ... 2.5;")


def test_saved_ratings_are_on_the_scale_of_the_rubric_and_of_something(tmp_path: Path) -> None:
    path = saved(tmp_path / "me.jsonl", rating(rated(0), 3))
    found = read_human_ratings(path, SCALE)
    assert (found.unused, found.repeats, len(found.ratings)) == (UnusedRatings(), (), 1)
    for scale in ((1.0, 5.0), (0.0, 10.0)):
        with pytest.raises(InputError) as caught:
            read_human_ratings(path, scale)
        said = str(caught.value)
        assert tells(said, f"me.jsonl ... 1,10 ... {scale[0]:g},{scale[1]:g}")
    untold = saved(tmp_path / "untold.jsonl", rating(rated(0), 1, cannot_tell=True))
    with pytest.raises(InputError, match=r"untold\.jsonl: no rating$"):
        read_human_ratings(untold, None)
    (tmp_path / "torn").mkdir()
    saved(tmp_path / "torn" / "me.jsonl", more="nonsense\n")
    with pytest.raises(InputError, match=r"(?s)torn: no rating\n.*me\.jsonl.*line 1"):
        read_human_ratings(tmp_path / "torn", None)
    one = saved(
        tmp_path / "once.jsonl",
        rating(rated(0), 3),
        rating(rated(0), 7, check=True),
    )
    [repeat] = repeat_notes(read_human_ratings(one, None))
    assert tells(repeat, "me ... 1 answer twice ... 4.0;")
