"""People's ratings from CSV and JSON Lines; every fault is named with file and row."""

import json
from pathlib import Path

import pytest

from urs_inspect.errors import InputError
from urs_inspect.reports.agreement.rating_files import HumanRating, read_human_ratings

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
    lines = tmp_path / "r.jsonl"
    rows = [
        {"id": "q1", "model": "m", "rating": 7, "rater": "ann"},
        {"id": "q1", "model": "m", "rating": 8.5, "rater": 7},
        {"id": "q2", "model": "m", "rating": "1"},
    ]
    lines.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    expected = [("q1", "m", None, "ann", 7.0), ("q1", "m", None, "7", 8.5), ("q2", "m", None, "", 1.0)]
    for path in (table, lines):
        found = read_human_ratings(path, SCALE)
        assert [(one.question, one.model, one.epoch, one.rater, one.rating) for one in found.ratings] == expected
        assert (found.repeated, found.scale) == (0, SCALE)


def test_model_rater_and_epoch_may_be_left_out(tmp_path: Path) -> None:
    found = read_human_ratings(write(tmp_path / "r.csv", "17,3", header="id,rating"), SCALE)
    assert found.ratings == (HumanRating("17", "", None, "", 3.0, "line 2"),)
    found = read_human_ratings(write(tmp_path / "e.csv", "q,3,2", "q,4,1", header="id,rating,epoch"), SCALE)
    assert [one.epoch for one in found.ratings] == [2, 1]


def test_a_row_that_repeats_another_is_left_out_and_counted(tmp_path: Path) -> None:
    found = read_human_ratings(write(tmp_path / "r.csv", "q,m,7,ann", "q,m,7.0,ann", "q,m,7,bob", "q,m,7,ann"), SCALE)
    assert (len(found.ratings), found.repeated) == (2, 2)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("q,m,0,ann", "line 3: column 'rating': must be a number from 1 to 10, is \"0\""),
        ("q,m,11,ann", "line 3: column 'rating': must be a number from 1 to 10, is \"11\""),
        ("q,m,good,ann", "line 3: column 'rating': must be a number from 1 to 10, is \"good\""),
        ("q,m,nan,ann", "line 3: column 'rating': must be a number"),
        ("q,m,,ann", "line 3: column 'rating': must be a number"),
        (",m,5,ann", "line 3: column 'id': empty"),
        ("q1,m,6,ann", "line 3: 'ann' rated 'q1' of m 6 here and 5 on line 2; keep one of the two"),
    ],
)
def test_faults_are_named(row: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "q1,m,5,ann", row)
    assert f"{path}: {message}" in error_of(path)


def test_two_ratings_without_a_name_might_be_one_person_or_two(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "q1,m,5", "q1,m,5", header="id,model,rating")
    message = (
        "line 3: 'q1' of m was rated on line 2 already; if these are two people, say who rated in a column 'rater'"
    )
    assert error_of(path) == f"{path}: {message}"


def test_all_faults_are_said_at_once(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", *["q,m,99,x"] * 25)
    assert error_of(path).endswith("... and 5 more")


@pytest.mark.parametrize("epoch", ["0", "-1", "1.5", "one", "9" * 30])
def test_an_epoch_is_a_count(epoch: str, tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", f"q,3,{epoch}", header="id,rating,epoch")
    assert "line 2: column 'epoch': must be a whole number of at least 1" in error_of(path)


def test_files_that_hold_nothing(tmp_path: Path) -> None:
    assert "no rating" in error_of(write(tmp_path / "r.csv"))
    assert "column 'rating' is missing" in error_of(write(tmp_path / "c.csv", header="id,score"))
    assert "no data file" in error_of(tmp_path / "none.csv")
    path = write(tmp_path / "s.csv", "q,m,3,x")
    assert error_of(path, (5.0, 5.0)) == "human-scale: must have a lowest value below a highest, got 5 and 5"
