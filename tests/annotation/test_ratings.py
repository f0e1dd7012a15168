"""Ratings and their files."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.annotation.samples import rated, rating
from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.annotation._ratings import (
    Rating,
    holds_ratings,
    inclusion_weights,
    parse_rating,
    rater_reports,
    read_ratings,
)
from urs_inspect.annotation._votes import Vote, VoteStore, read_votes

ONE, TWO, THREE = (rated(number) for number in range(3))


def write(path: Path, *events: Rating, more: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{event.to_line()}\n" for event in events) + more, "utf-8")
    return path


def undo(of: Rating) -> Rating:
    return replace(of, undone=True, time="2099-01-01T00:00:00+00:00")


def test_a_rating_that_is_taken_back_is_a_line_with_its_time() -> None:
    line = json.loads(undo(rating(ONE, 7, criteria={"clarity": 3})).to_line())
    assert line["undo"] is True and line["time"].startswith("2099")
    whole = json.loads(rating(ONE, 7, criteria={"clarity": 3}).to_line())
    scored = {"scores", "criteria", "seconds", "cannot_tell"} & set(whole)
    assert len(scored) >= 2 and not scored & set(line) and "undo" not in whole


scores = st.integers(1, 10)
names = st.text(min_size=1, max_size=30)


@given(names, names, names, scores, st.dictionaries(names, scores), st.floats(1, 3), st.booleans())
def test_lines_round_trip(
    question: str,
    model: str,
    rater: str,
    final: int,
    criteria: dict[str, int],
    rate: float,
    check: bool,
) -> None:
    given = Rating(
        question,
        model,
        2,
        rater,
        "0f",
        check,
        final,
        criteria,
        rate,
        0.25,
        1.5,
        "2026-01-01T00:00:00+00:00",
    )
    line = given.to_line()
    assert "\n" not in line
    read = parse_rating(line.encode())
    assert read == replace(given, rate=read.rate)
    assert read.rate == pytest.approx(rate, rel=1e-4)
    taken = parse_rating(undo(given).to_line().encode())
    assert (taken.undone, taken.about) == (True, given.about)


@given(
    st.binary(max_size=300)
    | st.recursive(st.none() | st.floats() | st.text(), st.lists).map(
        lambda v: json.dumps(v).encode()
    )
)
def test_any_line_is_read_or_refused(line: bytes) -> None:
    try:
        parse_rating(line)
    except ValueError:
        return
    raise AssertionError("no such line is a rating")


WHOLE = json.loads(rating(ONE, 7, criteria={"clarity": 3}).to_line())


@given(
    st.sampled_from(sorted(WHOLE)),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers()),
)
def test_a_rating_with_any_other_value_is_read_within_the_scale_or_refused(
    key: str, value: object
) -> None:
    try:
        read = parse_rating(json.dumps({**WHOLE, key: value}).encode())
    except ValueError:
        return
    assert 1 <= read.final <= 10
    assert 0 < read.rate < math.inf


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        *(
            ({"rating": rating}, "rating must be a whole number from 1 to 10")
            for rating in (11, 7.5, True)
        ),
        ({"criteria": {"clarity": 0}}, "clarity.*whole number.*1 to 10"),
        ({"criteria": [1]}, "criteria.*object"),
        ({"epoch": 0}, "epoch.*whole number.*1"),
        ({"weight": 0}, "weight.*above 0"),
        ({"threshold": "1"}, "threshold.*above 0"),
        ({"check": 1}, "check.*true or false"),
        ({"rater": ""}, "rater.*text"),
        ({"ballot": "x"}, "vote.*comparison"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_rating(json.dumps({**WHOLE, **changes}).encode())


def test_the_last_rating_of_a_person_counts_and_damaged_lines_are_listed(tmp_path: Path) -> None:
    taken = rating(TWO, 4)
    write(
        tmp_path / "me.jsonl",
        rating(ONE, 3),
        taken,
        rating(ONE, 8),
        undo(taken),
        more='{"id": "q1"}\nnonsense\n',
    )
    write(tmp_path / "you.jsonl", rating(ONE, 5, "you"))
    found = read_ratings([tmp_path])
    assert {(each.annotator, each.final) for each in found.ratings} == {("me", 8), ("you", 5)}
    assert (found.replaced, found.undone) == (1, 1)
    assert [error.partition(": ")[2] for error in found.errors] == [
        Telling("line 5: model ... text"),
        Telling("line 6: not JSON: ... column 1"),
    ]


def test_a_check_neither_replaces_nor_counts(tmp_path: Path) -> None:
    write(
        tmp_path / "me.jsonl",
        rating(ONE, 3),
        rating(TWO, 6),
        rating(ONE, 7, check=True),
        rating(THREE, 9, check=True),
    )
    found = read_ratings([tmp_path])
    assert [each.final for each in found.ratings] == [3, 6]
    assert [(one.final, other.final) for one, other in found.checks] == [
        (3, 7)
    ]  # the third was never rated first
    [me] = rater_reports(found)
    assert (me.ratings, me.checks, me.from_own, me.mean) == (2, 1, 4, 4.5)


def test_weights_by_hand(tmp_path: Path) -> None:
    """1 / (1 - exp(-rate * threshold)) with the highest threshold of the model; 1 once all of a
    model are rated.
    """
    other = rated(0, "pear")
    write(
        tmp_path / "me.jsonl",
        rating(ONE, 3, rate=2.0, threshold=0.1),
        rating(TWO, 3, rate=1.0, threshold=0.4),
        rating(other, 3, rate=3.0, threshold=None),
    )
    found = read_ratings([tmp_path])
    weights = [found.weights[each.answer_id] for each in found.ratings]
    assert weights == pytest.approx([1 / (1 - math.exp(-0.8)), 1 / (1 - math.exp(-0.4)), 1.0])


def test_votes_and_ratings_are_not_mixed(tmp_path: Path) -> None:
    votes = Vote("x", "me", "a").to_line() + "\n"
    (tmp_path / "me.jsonl").write_text(votes, "utf-8")
    with pytest.raises(InputError, match="not ratings"):
        read_ratings([tmp_path])
    assert (tmp_path / "me.jsonl").read_text("utf-8") == votes
    write(tmp_path / "rated" / "me.jsonl", rating(ONE, 3))
    with pytest.raises(InputError, match=r"not a vote.*another folder"):
        VoteStore(tmp_path / "rated", "me")
    [error] = read_votes([tmp_path / "rated" / "me.jsonl"]).errors
    assert tells(error, "not a vote")


def test_files_of_ratings_are_recognised(tmp_path: Path) -> None:
    assert holds_ratings(write(tmp_path / "me.jsonl", rating(ONE, 3)))
    assert holds_ratings(write(tmp_path / "torn.jsonl", more="{torn\n" + rating(ONE, 3).to_line()))
    (tmp_path / "own.jsonl").write_text(
        '{"id": "q0", "model": "apple", "rater": "me", "rating": 5}\n', "utf-8"
    )
    assert not holds_ratings(tmp_path / "own.jsonl")
    assert not holds_ratings(tmp_path / "none.jsonl")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no file.*ratings"):
        read_ratings([tmp_path / "empty"])


def drawn(question: int, model: str, rate: float, threshold: float | None, **more: Any) -> Rating:
    return rating(rated(question, model), 5, rate=rate, threshold=threshold, **more)


def test_an_answer_weighs_by_how_far_its_model_s_answers_were_drawn() -> None:
    found = inclusion_weights(
        [
            drawn(0, "apple", 1.0, 0.2),
            drawn(1, "apple", 2.0, 0.5),
            drawn(0, "pear", 1.0, 0.25),
            drawn(0, "plum", 3.0, None),
            drawn(1, "plum", 1.0, 0.1),
            drawn(0, "fig", 1.0, 0.5, questions="en"),
            drawn(1, "fig", 1.0, 2.0, questions="zh"),
            drawn(0, "apple", 3.0, 0.1, check=True),
        ]
    )
    expected = {
        rated(0, "apple").id: 1 / (1 - math.exp(-1.0 * 0.5)),
        rated(1, "apple").id: 1 / (1 - math.exp(-2.0 * 0.5)),
        rated(0, "pear").id: 1 / (1 - math.exp(-1.0 * 0.25)),
        rated(0, "plum").id: 1.0,
        rated(1, "plum").id: 1.0,
        rated(0, "fig").id: 1 / (1 - math.exp(-0.5)),
        rated(1, "fig").id: 1 / (1 - math.exp(-2.0)),
    }
    assert found == pytest.approx(expected)


def test_answers_that_nobody_could_rate_were_drawn_as_well(tmp_path: Path) -> None:
    given = [
        rating(ONE, 5, rate=1.0, threshold=0.1),
        rating(TWO, 1, rate=1.0, threshold=0.4, cannot_tell=True),
        rating(THREE, 1, rate=1.0, threshold=0.9, cannot_tell=True, check=True),
    ]
    reading = read_ratings([write(tmp_path / "me.jsonl", *given)])
    assert reading.weights[ONE.id] == pytest.approx(1 / (1 - math.exp(-0.4)), rel=1e-5)
    assert [one.answer_id for one in reading.cannot_tell] == [TWO.id]


def test_a_check_needs_a_rating_before_it_and_belongs_to_its_rater(tmp_path: Path) -> None:
    file = write(
        tmp_path / "all.jsonl",
        rating(ONE, 5, "ann"),
        rating(ONE, 8, "ann", check=True),
        rating(TWO, 8, "ann", check=True),
        rating(ONE, 2, "ben"),
        rating(ONE, 3, "ben", check=True),
    )
    reading = read_ratings([file])
    assert [(one.final, again.final) for one, again in reading.checks] == [(5, 8), (2, 3)]
    assert [(one.annotator, one.final) for one in reading.ratings] == [("ann", 5), ("ben", 2)]
    by_name = {report.rater: report for report in rater_reports(reading)}
    assert (by_name["ann"].checks, by_name["ann"].from_own) == (1, 3)
    assert by_name["ben"].from_own == 1


def test_distances_from_others_have_no_sign_and_times_are_medians(tmp_path: Path) -> None:
    file = write(
        tmp_path / "all.jsonl",
        rating(ONE, 4, "ann", seconds=1.0),
        rating(TWO, 8, "ann", seconds=2.0),
        rating(THREE, 5, "ann", seconds=9.0),
        rating(ONE, 6, "ben", seconds=math.nan),
        rating(TWO, 5, "ben", seconds=math.nan),
        rating(TWO, 9, "cy"),
    )
    by_name = {report.rater: report for report in rater_reports(read_ratings([file]))}
    # ann: 4 against 6, 8 against the mean of 5 and 9; the third answer has nobody else's.
    assert (by_name["ann"].from_others, by_name["ann"].seconds) == (1.5, 2)
    assert by_name["ben"].from_others == pytest.approx((2 + 3.5) / 2)
    assert math.isnan(by_name["ben"].seconds)


def test_the_language_of_the_questions_is_kept_in_the_file() -> None:
    given = rating(ONE, 5, questions="zh")
    assert parse_rating(given.to_line().encode()).questions == "zh"
    assert "questions" not in json.loads(rating(ONE, 5).to_line())
