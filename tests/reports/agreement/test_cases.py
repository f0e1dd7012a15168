"""Scores and ratings answer by answer: how they are laid side by side, and what comes of it."""

import math
import re
from pathlib import Path
from typing import Any

import pytest

from tests.reports.agreement.tables import answers, rows
from urs_inspect.errors import InputError
from urs_inspect.rating import interval_alpha
from urs_inspect.reports.agreement.cases import case_level, left_out, match_ratings
from urs_inspect.reports.agreement.models import model_names
from urs_inspect.reports.agreement.rating_files import HumanRating, HumanRatings
from urs_inspect.reports.agreement.report import CaseLevel
from urs_inspect.reports.agreement.resampling import Resampling
from urs_inspect.reports.intent.answers import Answers

HOW = Resampling(rounds=40, seed=1)
ONE = {"a1": 2.0, "a2": 4.0, "b1": 6.0, "b2": 8.0}


def ratings(*given: tuple[Any, ...], scale: tuple[float, float] = (1.0, 5.0), repeated: int = 0) -> HumanRatings:
    """Ratings such as ("a1", "m", 3), with rater and epoch if they follow."""
    made = []
    for number, (question, model, value, *others) in enumerate(given, start=2):
        rater, epoch = (*others, "", None)[0], others[1] if len(others) > 1 else None
        made.append(HumanRating(str(question), str(model), epoch, str(rater), float(str(value)), f"line {number}"))
    return HumanRatings(Path("r.csv"), scale, tuple(made), repeated)


def level(found: Answers, given: HumanRatings) -> "CaseLevel | str":
    return case_level(match_ratings(found.table, model_names(found.table), given), given, HOW)


def agreed(found: Answers, given: HumanRatings) -> CaseLevel:
    made = level(found, given)
    assert isinstance(made, CaseLevel), made
    return made


def test_values_worked_out_by_hand() -> None:
    # Ratings 1 3 2 5 of 1 to 5 against finals 2 4 6 8: deviations -1.75 .25 -.75 2.25 and -3 -1 1 3, products
    # 5.25 - .25 - .75 + 6.75 = 11, squares 8.75 and 20. Ranks 1 3 2 4; one of six pairs is discordant.
    # On the scale 1 to 10 the ratings are 1, 5.5, 3.25, 10, so that scores are 1, -1.5, 2.75, -2 more.
    found = agreed(answers(rows("m", ONE)), ratings(("a1", "m", 1), ("a2", "m", 3), ("b1", "m", 2), ("b2", "m", 5)))
    correlations = found.all.correlations
    assert correlations.pearson.value == pytest.approx(11 / math.sqrt(8.75 * 20))
    assert (correlations.spearman.value, correlations.kendall.value) == pytest.approx((0.8, 4 / 6))
    assert found.all.difference.value == pytest.approx(0.0625)
    assert found.all.alpha.value == pytest.approx(interval_alpha([[1, 5.5, 3.25, 10], [2, 4, 6, 8]]))
    assert (found.all.answers, found.all.questions) == (4, 4)
    assert (found.people, found.notes, found.scale) == (None, (), (1.0, 5.0))
    assert (correlations.pearson.rounds, correlations.pearson.seed) == (40, 1)


def test_several_people_are_averaged_and_held_against_each_other() -> None:
    given = [("a1", "m", 1, "ann"), ("a1", "m", 2, "bob"), ("a2", "m", 3, "ann"), ("a2", "m", 3, "bob")]
    given += [("b1", "m", 5, "ann"), ("b1", "m", 4, "bob"), ("b2", "m", 5, "cyd")]
    found = agreed(answers(rows("m", ONE)), ratings(*given))
    alone = agreed(answers(rows("m", ONE)), ratings(("a1", "m", 1.5), ("a2", "m", 3), ("b1", "m", 4.5), ("b2", "m", 5)))
    assert found.all == alone.all
    assert found.people is not None
    assert (found.people.raters, found.people.ratings, found.people.answers) == (3, 7, 3)
    nan = math.nan
    table = [[1, 3, 5, nan], [2, 3, 4, nan], [nan, nan, nan, 5]]
    assert found.people.alpha.value == pytest.approx(interval_alpha(table))


def test_parts_are_those_of_their_own_answers() -> None:
    found = answers(rows("m", ONE), rows("n", {"a1": 3.0, "b1": 5.0, "b2": 1.0}))
    given: list[tuple[Any, ...]]
    given = [
        ("a1", "m", 1),
        ("a2", "m", 4),
        ("b1", "m", 2),
        ("b2", "m", 5),
        ("a1", "n", 2),
        ("b1", "n", 5),
        ("b2", "n", 1),
    ]
    whole = agreed(found, ratings(*given))
    assert list(whole.by_model) == ["m", "n"]
    assert list(whole.by_group) == ["Factual QA", "Leisure"]
    assert whole.by_model["n"] == agreed(found, ratings(*given[4:])).all
    leisure = [one for one in given if str(one[0])[0] == "a"]
    assert whole.by_group["Leisure"] == agreed(found, ratings(*leisure)).all
    assert whole.all.questions == 4 and whole.all.answers == 7


def test_the_question_is_the_cluster() -> None:
    models = [rows(f"m{n}", {"a1": 1.0 + n, "a2": 4.0 + n}) for n in range(4)]
    given = [(q, f"m{n}", 1 + (n + (q == "a2")) % 5) for n in range(4) for q in ("a1", "a2")]
    assert agreed(answers(*models), ratings(*given)).all.correlations.pearson.clusters == 2


def test_a_file_without_models_is_about_the_only_one() -> None:
    bare = ratings(("a1", "", 1), ("a2", "", 3), ("b1", "", 2))
    named = ratings(("a1", "m", 1), ("a2", "m", 3), ("b1", "m", 2))
    found = answers(rows("m", ONE))
    assert agreed(found, bare).all == agreed(found, named).all
    with pytest.raises(
        InputError, match=re.escape("r.csv: line 2: no model; the logs hold answers of m, n: say whose")
    ):
        level(answers(rows("m", ONE), rows("n", ONE)), bare)


def test_what_is_not_in_the_logs_is_left_out_with_examples() -> None:
    given = [("a1", "m", 1), ("a2", "m", 3), *[(f"q{n}", "m", 2) for n in range(5)], ("a1", "gpt", 4)]
    made = ratings(*given, repeated=2)
    matched = match_ratings(answers(rows("m", ONE)).table, {"m": "m"}, made)
    found = case_level(matched, made, HOW)
    assert isinstance(found, CaseLevel)
    assert (found.all.answers, found.notes) == (2, ())
    assert left_out(made, [matched]) == [
        "5 ratings of r.csv about a question or epoch without an answer, left out: 'q0' of m (line 4); 'q1' of m "
        "(line 5); 'q2' of m (line 6) and 2 more.",
        "1 rating of r.csv about another model, left out: 'a1' of gpt (line 9).",
        "2 rows of r.csv repeat another one, left out.",
    ]


def test_left_out_is_only_what_no_block_used() -> None:
    made = ratings(("a1", "m", 1), ("a2", "m", 3), ("b1", "n", 2), ("b2", "n", 4), ("zz", "m", 1), ("a1", "gpt", 2))
    one = match_ratings(answers(rows("m", ONE)).table, {"m": "m"}, made)
    other = match_ratings(answers(rows("n", ONE)).table, {"n": "n"}, made)
    assert (len(one.answers), len(other.answers)) == (2, 2)
    assert (
        left_out(made, [one, other])
        == left_out(made, [other, one])
        == [
            "1 rating of r.csv about a question or epoch without an answer, left out: 'zz' of m (line 6).",
            "1 rating of r.csv about another model, left out: 'a1' of gpt (line 7).",
        ]
    )


def test_answers_without_a_score_are_counted_and_never_become_one() -> None:
    finals = {**ONE, "b2": math.nan}
    given = ratings(("a1", "m", 1), ("a2", "m", 3), ("b1", "m", 2), ("b2", "m", 5))
    found = agreed(answers(rows("m", finals)), given)
    assert found.notes == ("1 rated answer without a score of the judge, left out.",)
    assert found.all == agreed(answers(rows("m", ONE)), ratings(("a1", "m", 1), ("a2", "m", 3), ("b1", "m", 2))).all


def test_epochs() -> None:
    twice = answers(rows("m", {"a1": 2.0, "a2": 4.0, "b1": 9.0}) + rows("m", {"a1": 6.0, "a2": math.nan}, epoch=2))
    whole = agreed(twice, ratings(("a1", "m", 1), ("a2", "m", 3), ("b1", "m", 5)))
    mean = agreed(
        answers(rows("m", {"a1": 4.0, "a2": 4.0, "b1": 9.0})), ratings(("a1", "m", 1), ("a2", "m", 3), ("b1", "m", 5))
    )
    assert whole.all == mean.all
    second = agreed(twice, ratings(("a1", "m", 1, "", 2), ("a2", "m", 3, "", 1), ("b1", "m", 5)))
    assert second.all.difference.value == pytest.approx(((6 - 1) + (4 - 5.5) + (9 - 10)) / 3)
    assert whole.notes == (
        "2 ratings of r.csv without an epoch, about questions that were answered several times: held against the mean "
        "score over epochs.",
    )
    assert second.notes == ()
    made = ratings(("a1", "m", 1), ("b1", "m", 5), ("b1", "m", 5, "", 2))
    assert "'b1' of m, epoch 2 (line 4)" in left_out(made, [match_ratings(twice.table, {"m": "m"}, made)])[0]


def test_two_answers_have_no_correlation_and_five_questions_no_interval() -> None:
    two = agreed(answers(rows("m", ONE)), ratings(("a1", "m", 1), ("a2", "m", 3))).all
    for found in (two.correlations.pearson, two.correlations.spearman, two.correlations.kendall):
        assert all(map(math.isnan, (found.value, found.low, found.high)))
    assert two.difference.value == pytest.approx(((2 - 1) + (4 - 5.5)) / 2)
    finals = {f"a{n}": float(1 + (3 * n) % 7) for n in range(6)}
    given = [(question, "m", 1 + n % 5) for n, question in enumerate(finals)]
    five, six = (agreed(answers(rows("m", finals)), ratings(*given[:n])).all for n in (5, 6))
    for one, other in zip(
        (five.correlations.pearson, five.alpha, five.difference),
        (six.correlations.pearson, six.alpha, six.difference),
        strict=True,
    ):
        assert not math.isnan(one.value) and math.isnan(one.low) and math.isnan(one.high)
        assert other.low <= other.value <= other.high


def test_one_answer_is_too_few() -> None:
    found = level(answers(rows("m", ONE)), ratings(("a1", "m", 1), ("zz", "m", 2)))
    assert found == "No agreement on single answers: 1 was both rated and scored."
