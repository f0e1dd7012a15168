"""How far raters agree about the answers of a campaign."""

import math
from pathlib import Path

import pytest

from tests.annotation.samples import rating
from tests.rating.samples import answer
from urs_inspect._util import InputError
from urs_inspect.annotation._ratings import Rating, read_ratings
from urs_inspect.annotation._votes import Vote
from urs_inspect.rating._campaign import RatingStore, about, rating_agreement

ONE, TWO, THREE = (answer(number) for number in range(3))


def write(path: Path, *events: Rating) -> Path:
    path.write_text("".join(f"{event.to_line()}\n" for event in events), "utf-8")
    return path


def test_agreement_by_hand(tmp_path: Path) -> None:
    write(
        tmp_path / "ann.jsonl",
        rating(ONE, 2, "ann"),
        rating(TWO, 4, "ann"),
        rating(THREE, 9, "ann"),
    )
    write(tmp_path / "ben.jsonl", rating(ONE, 4, "ben"), rating(TWO, 4, "ben"))
    found = rating_agreement(read_ratings([tmp_path]))
    assert (found.ratings, found.answers, dict(found.by_count)) == (5, 3, {1: 1, 2: 2})
    # Values 2, 4 | 4, 4: within 4 + 4 over 4 values; all pairs 3 * 2 * 4 / 3. 1 - (8 / 4) / (24 /
    # 12) = 0.
    assert found.alpha.value == pytest.approx(0)
    assert found.alpha.n == 2
    ann, ben = found.raters
    assert (ann.rater, ann.ratings, ann.mean, ann.from_others) == ("ann", 3, 5, 1)
    assert (ben.rater, ben.ratings, ben.from_others, ben.checks) == ("ben", 2, 1, 0)
    assert math.isnan(ben.from_own)
    nothing = rating_agreement(about((), read_ratings([tmp_path])))
    assert (nothing.ratings, nothing.raters) == (0, ())


def test_answers_count_by_how_many_rated_them(tmp_path: Path) -> None:
    file = write(
        tmp_path / "all.jsonl",
        rating(ONE, 4, "ann"),
        rating(TWO, 8, "ann"),
        rating(THREE, 5, "ann"),
        rating(ONE, 6, "ben"),
        rating(TWO, 5, "ben"),
        rating(TWO, 9, "cy"),
    )
    found = rating_agreement(read_ratings([file]))
    assert (found.by_count, found.answers, found.ratings) == ({1: 1, 2: 1, 3: 1}, 3, 6)


def test_nothing_about_other_answers_counts(tmp_path: Path) -> None:
    file = write(
        tmp_path / "me.jsonl",
        rating(ONE, 5),
        rating(ONE, 8, check=True),
        rating(TWO, 1, cannot_tell=True),
    )
    reading = read_ratings([file])
    here = about([ONE.id], reading)
    assert (len(here.ratings), len(here.checks), here.cannot_tell) == (1, 1, ())
    here = about([TWO.id], reading)
    assert (here.ratings, here.checks, len(here.cannot_tell)) == ((), (), 1)


def test_ratings_have_no_place_among_votes(tmp_path: Path) -> None:
    votes = Vote("x", "me", "a").to_line() + "\n"
    (tmp_path / "me.jsonl").write_text(votes, "utf-8")
    with pytest.raises(InputError, match=r"not a rating.*another folder"):
        RatingStore(tmp_path, "me")
    assert (tmp_path / "me.jsonl").read_text("utf-8") == votes
