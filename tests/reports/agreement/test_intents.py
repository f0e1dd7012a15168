"""Scores and satisfaction by intent: by hand, by a slow resampling, by properties."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr

from tests.reports.agreement.tables import answers, rows
from urs_inspect.rating import Estimate, MeanDraws
from urs_inspect.rating.mean_correlation import correlate_means, derived_seed, exact_means, fisher_interval
from urs_inspect.reports.agreement.intents import intent_level
from urs_inspect.reports.agreement.report import IntentLevel
from urs_inspect.reports.agreement.resampling import CORRELATIONS, Resampling, reported
from urs_inspect.reports.agreement.satisfaction_files import Satisfaction, SatisfactionRow
from urs_inspect.reports.intent.answers import Answers
from urs_inspect.reports.intent.question_table import question_table

# At this level two questions make an interval.
HOW = Resampling(rounds=80, level=0.5, seed=4)
ONE = {"a1": 2, "a2": 4, "b1": 5, "b2": 7, "b3": 9, "c1": 8, "c2": 9, "d1": 3, "d2": 8}
OTHER = {"a1": 4, "a2": 6, "b1": 7, "b2": 9, "b3": 8, "c1": 6, "c2": 7, "d1": 5, "d2": 2}


def satisfaction(**values: float) -> Satisfaction:
    names = {"a": "Leisure", "b": "Factual QA", "c": "Text Assistant", "d": "Solve Problem", "e": "Ask for Advice"}
    told = tuple(SatisfactionRow(names[key], value, 100, "") for key, value in values.items())
    return Satisfaction(Path("s.csv"), (1.0, 5.0), told)


def level(found: Answers, said: Satisfaction, how: Resampling = HOW) -> IntentLevel:
    models = list(dict.fromkeys(found.table["model"]))
    made = intent_level(question_table(found.table, models), said, how)
    assert isinstance(made, IntentLevel)
    return made


def test_values_worked_out_by_hand() -> None:
    # Leisure: (3 + 5) / 2 = 4, Factual QA: (7 + 8) / 2 = 7.5, Text Assistant: (8.5 + 6.5) / 2 = 7.5 against 2, 4, 3.
    # Deviations -7/3 7/6 7/6 and -1 1 0: products 7/3 + 7/6 = 3.5, squares 49/9 + 49/36 * 2 = 49/6, and 2.
    found = level(answers(rows("m", ONE), rows("n", OTHER)), satisfaction(a=2, b=4, c=3))
    assert found.correlation.pearson.value == pytest.approx(3.5 / math.sqrt(49 / 6 * 2))
    assert [(p.group, p.score.value, p.satisfaction.value) for p in found.points] == [
        ("Factual QA", 7.5, 4),
        ("Text Assistant", 7.5, 3),
        ("Leisure", 4, 2),
    ]
    assert [(p.questions, p.people) for p in found.points] == [(3, 100), (2, 100), (2, 100)]
    assert found.notes == ("Intents without satisfaction were left out: Solve Problem.",)
    assert all(math.isnan(bound) for bound in found.correlation.over_points)  # three points have no such interval
    assert not found.people_resampled


def test_models_by_themselves() -> None:
    found = level(answers(rows("m", ONE), rows("n", OTHER)), satisfaction(a=2, b=4, c=3, d=1))
    assert set(found.by_model) == {"m", "n"}
    said = [2, 4, 3, 1]
    assert found.by_model["m"].pearson.value == pytest.approx(pearsonr([3, 7, 8.5, 5.5], said).statistic)
    assert found.by_model["n"].pearson.value == pytest.approx(pearsonr([5, 8, 6.5, 3.5], said).statistic)
    assert found.correlation.over_points == pytest.approx(fisher_interval(found.correlation.pearson.value, 4, 0.5))


def test_the_interval_is_that_of_a_slow_resampling() -> None:
    found = level(answers(rows("m", ONE), rows("n", OTHER)), satisfaction(a=2, b=4, c=3, d=1))
    drawn_means = []
    for place, key in enumerate("badc"):  # Factual QA, Leisure, Solve Problem, Text Assistant, in alphabetical order
        questions = [question for question in ONE if question[0] == key]
        generator = np.random.default_rng(derived_seed(4, 0, place))
        drawn = generator.integers(len(questions), size=(HOW.rounds, len(questions)))
        both = np.array([(ONE[question] + OTHER[question]) / 2 for question in questions])
        drawn_means.append([np.mean(both[numbers]) for numbers in drawn])
    expected = correlate_means(
        MeanDraws(np.array([7.5, 4.0, 4.5, 7.5]), np.array(drawn_means).T, np.array([3, 2, 2, 2]), 4),
        exact_means([4, 2, 1, 3]),
        clusters=2,
        level=0.5,
        seed=4,
    )
    pearson = found.correlation.pearson
    assert (pearson.low, pearson.high) == pytest.approx((expected.pearson.low, expected.pearson.high))
    assert (pearson.rounds, pearson.seed) == (80, 4)


def test_the_order_of_logs_and_rows_does_not_matter() -> None:
    said = satisfaction(a=2, b=4, c=3, d=1)
    found = level(answers(rows("m", ONE), rows("n", OTHER)), said)
    turned = answers(rows("n", dict(reversed(OTHER.items()))), rows("m", ONE))
    other = Satisfaction(said.path, said.scale, said.rows[::-1])
    assert level(turned, other).correlation == found.correlation


def test_people_that_are_resampled_widen_the_interval() -> None:
    finals = {f"{key}{n}": float(n % 3 + 2 * place) for place, key in enumerate("abcd") for n in range(40)}
    names = ("Leisure", "Factual QA", "Text Assistant", "Solve Problem")
    people = tuple(
        SatisfactionRow(name, 1 + (place + number) % 5, None, f"p{number}")
        for place, name in enumerate(names)
        for number in range(6)
    )
    means = satisfaction(
        **{key: float(np.mean([r.value for r in people if r.group == n])) for key, n in zip("abcd", names, strict=True)}
    )
    how = Resampling(rounds=80, seed=4)
    exact = level(answers(rows("m", finals)), means, how)
    moved = level(answers(rows("m", finals)), Satisfaction(Path("s.csv"), (1.0, 5.0), people), how)
    assert moved.correlation.pearson.value == pytest.approx(exact.correlation.pearson.value)
    assert moved.people_resampled
    # Six people each leave every correlation possible, which is no interval to report.
    assert exact.correlation.pearson.high - exact.correlation.pearson.low < 0.1
    assert math.isnan(moved.correlation.pearson.low)


def people(*told: tuple[str, int, float]) -> Satisfaction:
    """Satisfaction of named people: intent, person, value."""
    names = {"a": "Leisure", "b": "Factual QA", "c": "Text Assistant", "d": "Solve Problem"}
    said = tuple(SatisfactionRow(names[key], value, None, f"p{person}") for key, person, value in told)
    return Satisfaction(Path("s.csv"), (1.0, 5.0), said)


def test_where_one_person_stands_for_an_intent_there_is_no_interval() -> None:
    many = [(key, person, 1.0 + (place * person) % 5) for place, key in enumerate("abc", 1) for person in range(9)]
    found = level(answers(rows("m", ONE), rows("n", OTHER)), people(*many, ("d", 0, 2.0)))
    assert found.why_no_interval == "fewer than 2 people on Solve Problem"
    for correlation in (found.correlation, *found.by_model.values()):
        assert not math.isnan(correlation.pearson.value)
        assert all(map(math.isnan, (correlation.pearson.low, correlation.pearson.high, correlation.without_noise)))
    bounds = {point.group: point.satisfaction.low for point in found.points}
    assert [group for group, low in bounds.items() if math.isnan(low)] == ["Solve Problem"]


def test_one_person_for_every_intent_is_not_exact() -> None:
    found = level(answers(rows("m", ONE)), people(("a", 1, 2), ("b", 1, 4), ("c", 2, 3)))
    assert found.why_no_interval == "fewer than 2 people on Factual QA, Leisure, Text Assistant"
    assert math.isnan(found.correlation.pearson.low) and math.isnan(found.correlation.without_noise)
    # The same numbers as means of a hundred people count as exact.
    assert not math.isnan(level(answers(rows("m", ONE)), satisfaction(a=2, b=4, c=3)).correlation.pearson.low)


def test_one_question_of_an_intent_is_said() -> None:
    few = {question: final for question, final in ONE.items() if question != "a2"}
    found = level(answers(rows("m", few)), satisfaction(a=2, b=4, c=3))
    assert found.why_no_interval == "fewer than 2 questions with a score on Leisure"
    assert math.isnan(found.correlation.pearson.low)


def test_means_of_many_beside_single_people_are_said() -> None:
    one = people(("a", 1, 2), ("a", 2, 3), ("b", 1, 4))
    mean = SatisfactionRow("Text Assistant", 3.0, 40, "")
    found = level(answers(rows("m", ONE)), Satisfaction(one.path, one.scale, (*one.rows, mean)))
    assert "Some rows of s.csv are means of several people: satisfaction counts as exact." in found.notes
    assert found.why_no_interval == "fewer than 2 people on Factual QA"


def test_epochs_of_a_question_are_averaged() -> None:
    twice = rows("m", {**ONE, "a1": 1.0}) + rows("m", {"a1": 3.0}, epoch=2)
    said = satisfaction(a=2, b=4, c=3, d=1)
    assert level(answers(twice), said).correlation == level(answers(rows("m", {**ONE, "a1": 2.0})), said).correlation


def test_answers_without_a_score_and_models_without_an_intent() -> None:
    partial = {question: final for question, final in OTHER.items() if question[0] != "d"} | {"d1": math.nan}
    found = level(answers(rows("m", ONE), rows("n", {**partial, "d2": math.nan})), satisfaction(a=2, b=4, c=3, d=1))
    assert set(found.by_model) == {"m"}
    assert found.notes[0] == "Left out of the mean over models, for want of a score on some intent: n."
    assert found.correlation.pearson == found.by_model["m"].pearson


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (satisfaction(a=2, b=4, e=3), "No correlation over intents: 2 have both scores and satisfaction in s.csv"),
        (satisfaction(e=3), "No correlation over intents: 0 have both"),
    ],
)
def test_two_intents_are_too_few(said: Satisfaction, sentence: str) -> None:
    found = intent_level(question_table(answers(rows("m", ONE)).table, ["m"]), said, HOW)
    assert isinstance(found, str) and found.startswith(sentence)


def test_without_a_model_that_has_all_intents_there_is_none() -> None:
    halves = [{q: v for q, v in ONE.items() if q[0] in keys} for keys in ("ab", "cd")]
    table = question_table(answers(rows("m", halves[0]), rows("n", halves[1])).table, ["m", "n"])
    found = intent_level(table, satisfaction(a=2, b=4, c=3), HOW)
    assert found == "No correlation over intents: no model has a score on each of them."


def test_too_few_questions_leave_no_interval() -> None:
    """A table of `1.00 (-1.00 to 1.00)` says nothing and looks like something."""
    found = level(answers(rows("m", ONE), rows("n", OTHER)), satisfaction(a=2, b=4, c=3, d=1), Resampling(80, 0.95, 4))
    assert all(math.isnan(one.pearson.low) for one in (found.correlation, *found.by_model.values()))
    assert all(math.isnan(point.score.low) for point in found.points)
    assert "fewer than 6 questions" in found.why_no_interval


@pytest.mark.parametrize(
    ("low", "high", "clusters", "kept"),
    [
        (-1.0, 1.0, 40, False),
        (0.4, 0.4, 40, False),
        (0.4, 0.9, 5, False),
        (0.4, 1.2, 40, True),
    ],
)
def test_which_intervals_of_correlations_are_reported(low: float, high: float, clusters: int, kept: bool) -> None:
    found = reported(Estimate(0.5, low, high, 40, clusters), CORRELATIONS)
    assert (found.low, found.high) == (low, 1.0) if kept else math.isnan(found.low) and math.isnan(found.high)
