"""Tests of `urs_inspect.agreement._levels`, and of whole reports."""

import json
import math
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, pearsonr

from tests.reports.answer_rows import answers, row
from tests.reports.golden_files import check_golden, rows_of
from tests.reports.json_files import write_rows
from tests.reports.mad_logs import ballot
from tests.reports.rated_answers import GROUPS, ONE, RATED, ratings, rows
from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.agreement._from_logs import report_agreement
from urs_inspect.agreement._levels import (
    AgreementBlock,
    CaseLevel,
    IntentLevel,
    ModelLevel,
    NoLevel,
    _means_by_intent,
    agreement_of,
    case_level,
    intent_level,
    model_level,
    panel_of_blocks,
)
from urs_inspect.agreement._mean_correlation import (
    MeanCorrelation,
    correlate_means,
    exact_means,
    fisher_interval,
)
from urs_inspect.agreement._people import (
    Satisfaction,
    SatisfactionRow,
    Votes,
    read_vote_ranking,
)
from urs_inspect.agreement._report import (
    _PUBLISHED_INTENTS,
    _PUBLISHED_MODELS,
    _about_correlation,
    agreement_report,
    case_notes,
    mean_notes,
    why_no_interval,
    why_no_level,
)
from urs_inspect.annotation._agreement import agreement
from urs_inspect.annotation._votes import Vote
from urs_inspect.logs._battles import HumanBattles
from urs_inspect.reports._unused_ratings import UnusedRatings, unused_notes
from urs_inspect.reports.layout._tables import Report, Section
from urs_inspect.reports.numbers._answers import Answers
from urs_inspect.reports.numbers._human_data import HumanRatings
from urs_inspect.reports.numbers._matching import match_ratings, model_names, unused
from urs_inspect.reports.numbers._scores import score_table
from urs_inspect.stats import (
    Battle,
    Estimate,
    MeanDraws,
    Resampling,
    battles_of,
    interval_alpha,
    rank,
)
from urs_inspect.stats._bootstrap import resample
from urs_inspect.stats._correlation import derived_seed

NAN = math.nan
HOW = Resampling(rounds=40, seed=1)


def level(found: Answers, given: HumanRatings) -> CaseLevel | NoLevel:
    return case_level(match_ratings(found.table, model_names(found.table), given), given, HOW)


def agreed(found: Answers, given: HumanRatings) -> CaseLevel:
    made = level(found, given)
    assert isinstance(made, CaseLevel), made
    return made


def test_values_worked_out_by_hand() -> None:
    # Ratings 1 3 2 5 of 1 to 5 against finals 2 4 6 8: deviations -1.75 .25 -.75 2.25 and -3 -1 1
    # 3, products 5.25 - .25 - .75 + 6.75 = 11, squares 8.75 and 20. Ranks 1 3 2 4; one of six pairs
    # is discordant. On the scale 1 to 10 the ratings are 1, 5.5, 3.25, 10, so that scores are 1,
    # -1.5, 2.75, -2 more.
    found = agreed(RATED, ratings(("a1", "m", 1), ("a2", "m", 3), ("b1", "m", 2), ("b2", "m", 5)))
    correlations = found.all.correlations
    assert correlations.pearson.value == pytest.approx(11 / math.sqrt(8.75 * 20))
    assert (correlations.spearman.value, correlations.kendall.value) == pytest.approx((0.8, 4 / 6))
    assert found.all.difference.value == pytest.approx(0.0625)
    assert found.all.alpha.value == pytest.approx(
        interval_alpha([[1, 5.5, 3.25, 10], [2, 4, 6, 8]])
    )
    assert (found.all.answers, found.all.questions) == (4, 4)
    assert (found.people, case_notes(found)) == (None, [])
    assert (correlations.pearson.rounds, correlations.pearson.seed) == (40, 1)


def test_several_people_are_averaged_and_held_against_each_other() -> None:
    given = [
        ("a1", "m", 1, "ann"),
        ("a1", "m", 2, "bob"),
        ("a2", "m", 3, "ann"),
        ("a2", "m", 3, "bob"),
    ]
    given += [("b1", "m", 5, "ann"), ("b1", "m", 4, "bob"), ("b2", "m", 5, "cyd")]
    found = agreed(RATED, ratings(*given))
    alone = agreed(
        RATED, ratings(("a1", "m", 1.5), ("a2", "m", 3), ("b1", "m", 4.5), ("b2", "m", 5))
    )
    assert found.all == alone.all
    assert found.people is not None
    assert (found.people.raters, found.people.ratings, found.people.answers) == (3, 7, 3)
    table = [[1, 3, 5, NAN], [2, 3, 4, NAN], [NAN, NAN, NAN, 5]]
    assert found.people.alpha.value == pytest.approx(interval_alpha(table))


def test_parts_are_those_of_their_own_answers() -> None:
    found = answers(rows("m", ONE), rows("n", {"a1": 3.0, "b1": 5.0, "b2": 1.0}))
    given = [("a1", "m", 1), ("a2", "m", 4), ("b1", "m", 2), ("b2", "m", 5)]
    given += [("a1", "n", 2), ("b1", "n", 5), ("b2", "n", 1)]
    whole = agreed(found, ratings(*given))
    assert list(whole.scopes) == ["all", "Factual QA", "Leisure", "m", "n"]
    assert whole.scopes["n"] == agreed(found, ratings(*given[4:])).all
    leisure = [one for one in given if one[0][0] == "a"]
    assert whole.scopes["Leisure"] == agreed(found, ratings(*leisure)).all
    assert whole.all.questions == 4 and whole.all.answers == 7


def test_the_question_is_the_cluster() -> None:
    models = [rows(f"m{n}", {"a1": 1.0 + n, "a2": 4.0 + n}) for n in range(4)]
    given = [(q, f"m{n}", 1 + (n + (q == "a2")) % 5) for n in range(4) for q in ("a1", "a2")]
    assert agreed(answers(*models), ratings(*given)).all.correlations.pearson.clusters == 2


def of_users(seed: int, named: bool) -> tuple[Answers, HumanRatings]:
    """Eight users' six questions.

    Judge and people differ by user, and their scores have no correlation.
    """
    generator = np.random.default_rng(seed)
    users, each = 8, 6
    names = [f"a{number:02}" for number in range(users * each)]
    finals, people = (
        np.repeat(generator.normal(5.5, 1.0, users), each) + generator.normal(0, 0.5, users * each)
        for _ in range(2)
    )
    found = answers(rows("m", dict(zip(names, finals.tolist(), strict=True))))
    if named:
        found = replace(
            found,
            table=found.table.assign(cluster=[f"user {n // each}" for n in range(len(names))]),
        )
    given = [(name, "m", value) for name, value in zip(names, people.tolist(), strict=True)]
    return found, ratings(*given, scale=(1.0, 10.0))


def test_questions_of_one_user_are_one_cluster_of_the_agreement_on_single_answers() -> None:
    """Means differ by 0 and correlations are 0; intervals over questions miss both far too
    often.
    """
    runs = 60
    missed = {True: 0, False: 0}
    for seed, named in product(range(runs), (True, False)):
        found, given = of_users(seed, named)
        made = case_level(
            match_ratings(found.table, model_names(found.table), given),
            given,
            Resampling(200, seed=seed),
        )
        assert isinstance(made, CaseLevel)
        difference = made.all.difference
        missed[named] += not difference.low <= 0 <= difference.high
        assert made.all.clusters == (8 if named else 48)
        assert (
            made.all.correlations.pearson.clusters == made.all.alpha.clusters == made.all.clusters
        )
    assert missed[False] > runs / 4
    assert missed[True] <= binom.ppf(0.999, runs, 0.05)


def test_a_file_without_models_is_about_the_only_one() -> None:
    bare = ratings(("a1", "", 1), ("a2", "", 3), ("b1", "", 2))
    named = ratings(("a1", "m", 1), ("a2", "m", 3), ("b1", "m", 2))
    assert agreed(RATED, bare).all == agreed(RATED, named).all
    with pytest.raises(InputError, match=r"r\.csv: line 2: no model.*m, n: .*'model'"):
        level(answers(rows("m", ONE), rows("n", ONE)), bare)


def test_what_is_not_in_the_logs_is_left_out_with_examples() -> None:
    given = [
        ("a1", "m", 1),
        ("a2", "m", 3),
        *[(f"q{n}", "m", 2) for n in range(5)],
        ("a1", "gpt", 4),
    ]
    made = ratings(*given, repeated=2)
    found = agreed(RATED, made)
    assert (found.all.answers, case_notes(found)) == (2, [])
    assert unused(made, [match_ratings(RATED.table, {"m": "m"}, made)]) == [
        (
            Telling(
                "5 ratings of r.csv ... skipped: 'q0' of m (line 4); 'q1' of m (line 5); 'q2' of m (line 6) and 2 more"
            )
        ),
        Telling("1 rating of r.csv ... model, skipped: 'a1' of gpt (line 9)"),
        Telling("2 repeated rows ... r.csv"),
    ]


def test_answers_without_a_score_are_counted_and_never_become_one() -> None:
    finals = {**ONE, "b2": math.nan}
    given = ratings(("a1", "m", 1), ("a2", "m", 3), ("b1", "m", 2), ("b2", "m", 5))
    found = agreed(answers(rows("m", finals)), given)
    assert case_notes(found) == [Telling("1 rated answer ... skipped")]
    assert found.all == agreed(RATED, ratings(("a1", "m", 1), ("a2", "m", 3), ("b1", "m", 2))).all


def test_epochs() -> None:
    twice = answers(
        rows("m", {"a1": 2.0, "a2": 4.0, "b1": 9.0})
        + rows("m", {"a1": 6.0, "a2": math.nan}, epoch=2)
    )
    given = ratings(("a1", "m", 1), ("a2", "m", 3), ("b1", "m", 5))
    whole = agreed(twice, given)
    assert whole.all == agreed(answers(rows("m", {"a1": 4.0, "a2": 4.0, "b1": 9.0})), given).all
    second = agreed(twice, ratings(("a1", "m", 1, "", 2), ("a2", "m", 3, "", 1), ("b1", "m", 5)))
    assert second.all.difference.value == pytest.approx(((6 - 1) + (4 - 5.5) + (9 - 10)) / 3)
    assert case_notes(whole) == [Telling("2 ratings of r.csv without an epoch")]
    assert case_notes(second) == []
    made = ratings(("a1", "m", 1), ("b1", "m", 5), ("b1", "m", 5, "", 2))
    assert (
        "'b1' of m, epoch 2 (line 4)"
        in unused(made, [match_ratings(twice.table, {"m": "m"}, made)])[0]
    )


def test_two_answers_have_no_correlation_and_five_questions_no_interval() -> None:
    one = level(RATED, ratings(("a1", "m", 1), ("zz", "m", 2)))
    assert isinstance(one, NoLevel)
    assert tells(why_no_level(one), "answers: 1 have both")
    two = agreed(RATED, ratings(("a1", "m", 1), ("a2", "m", 3))).all
    for found in (two.correlations.pearson, two.correlations.spearman, two.correlations.kendall):
        assert all(map(math.isnan, (found.value, found.low, found.high)))
    assert two.difference.value == pytest.approx(((2 - 1) + (4 - 5.5)) / 2)
    finals = {f"a{n}": float(1 + (3 * n) % 7) for n in range(6)}
    given = [(question, "m", 1 + n % 5) for n, question in enumerate(finals)]
    five, six = (agreed(answers(rows("m", finals)), ratings(*given[:n])).all for n in (5, 6))
    for without in (five.correlations.pearson, five.alpha, five.difference):
        assert (
            not math.isnan(without.value) and math.isnan(without.low) and math.isnan(without.high)
        )
    for found in (six.correlations.pearson, six.alpha, six.difference):
        assert found.low <= found.value <= found.high


# At this level two questions make an interval.
INTENTS_HOW = Resampling(rounds=80, level=0.5, seed=4)
INTENTS_ONE = {"a1": 2, "a2": 4, "b1": 5, "b2": 7, "b3": 9, "c1": 8, "c2": 9, "d1": 3, "d2": 8}
OTHER = {"a1": 4, "a2": 6, "b1": 7, "b2": 9, "b3": 8, "c1": 6, "c2": 7, "d1": 5, "d2": 2}


SCORED = answers(rows("m", INTENTS_ONE), rows("n", OTHER))


def satisfaction(
    *told: tuple[str, int, float], people: int | None = 100, **means: float
) -> Satisfaction:
    """What named people said (intent, person, value), and means of so many people by intent."""
    single = [
        SatisfactionRow(GROUPS[key], value, None, f"p{person}") for key, person, value in told
    ]
    said = [SatisfactionRow(GROUPS[key], value, people, "") for key, value in means.items()]
    return Satisfaction(Path("s.csv"), (1.0, 5.0), (*single, *said))


def intents_level(found: Answers, said: Satisfaction, how: Resampling = INTENTS_HOW) -> IntentLevel:
    models = list(dict.fromkeys(found.table["model"]))
    made = intent_level(score_table(found.table, models), said, how)
    assert isinstance(made, IntentLevel)
    return made


def test_intents_values_worked_out_by_hand() -> None:
    # Leisure: (3 + 5) / 2 = 4, Factual QA: (7 + 8) / 2 = 7.5, Text Assistant: (8.5 + 6.5) / 2 = 7.5
    # against 2, 4, 3. Deviations -7/3 7/6 7/6 and -1 1 0: products 7/3 + 7/6 = 3.5, squares 49/9 +
    # 49/36 * 2 = 49/6, and 2.
    found = intents_level(SCORED, satisfaction(a=2, b=4, c=3))
    assert found.correlation.pearson.value == pytest.approx(3.5 / math.sqrt(49 / 6 * 2))
    assert [(p["group"], p["score"].value, p["satisfaction"].value) for p in found.points] == [
        ("Factual QA", 7.5, 4),
        ("Text Assistant", 7.5, 3),
        ("Leisure", 4, 2),
    ]
    assert [(p["questions"], p["people"]) for p in found.points] == [(3, 100), (2, 100), (2, 100)]
    assert mean_notes(found) == [Telling("Skipped, intents without satisfaction: Solve Problem")]
    assert all(
        math.isnan(bound) for bound in found.correlation.over_points
    )  # three points have no such interval
    assert not found.people_resampled


def test_the_interval_is_that_of_a_slow_resampling() -> None:
    found = intents_level(SCORED, satisfaction(a=2, b=4, c=3, d=1))
    drawn_means = []
    for place, key in enumerate(
        "badc"
    ):  # Factual QA, Leisure, Solve Problem, Text Assistant, in alphabetical order
        questions = [question for question in INTENTS_ONE if question[0] == key]
        generator = np.random.default_rng(derived_seed(4, 0, place))
        drawn = generator.integers(len(questions), size=(INTENTS_HOW.rounds, len(questions)))
        both = np.array([(INTENTS_ONE[question] + OTHER[question]) / 2 for question in questions])
        drawn_means.append([np.mean(both[numbers]) for numbers in drawn])
    expected = correlate_means(
        MeanDraws(
            np.array([7.5, 4.0, 4.5, 7.5]),
            np.array(drawn_means).T,
            np.array([3, 2, 2, 2]),
            4,
            np.array([3, 2, 2, 2]),
        ),
        exact_means([4, 2, 1, 3]),
        clusters=2,
        level=0.5,
        seed=4,
    )
    pearson = found.correlation.pearson
    assert (pearson.low, pearson.high) == pytest.approx(
        (expected.pearson.low, expected.pearson.high)
    )
    assert (pearson.rounds, pearson.seed) == (80, 4)
    assert found.correlation.over_points == pytest.approx(fisher_interval(pearson.value, 4, 0.5))
    for name, means in {
        "m": [3, 7, 8.5, 5.5],
        "n": [5, 8, 6.5, 3.5],
    }.items():  # each model by itself
        assert found.by_model[name].pearson.value == pytest.approx(
            pearsonr(means, [2, 4, 3, 1]).statistic
        )


def test_the_order_of_logs_and_rows_does_not_matter() -> None:
    said = satisfaction(a=2, b=4, c=3, d=1)
    found = intents_level(SCORED, said)
    turned = answers(rows("n", dict(reversed(OTHER.items()))), rows("m", INTENTS_ONE))
    other = Satisfaction(said.path, said.scale, said.rows[::-1])
    assert intents_level(turned, other).correlation == found.correlation


def test_people_that_are_resampled_widen_the_interval() -> None:
    finals = answers(
        rows(
            "m",
            {f"{key}{n}": n % 3 + 2 * place for place, key in enumerate("abcd") for n in range(40)},
        )
    )
    told = [(key, n, 1.0 + (place + n) % 5) for place, key in enumerate("abcd") for n in range(6)]
    means: dict[str, Any] = {
        key: float(np.mean([value for other, _, value in told if other == key])) for key in "abcd"
    }
    how = Resampling(rounds=80, seed=4)
    exact, moved = (
        intents_level(finals, said, how) for said in (satisfaction(**means), satisfaction(*told))
    )
    assert moved.correlation.pearson.value == pytest.approx(exact.correlation.pearson.value)
    assert moved.people_resampled
    # Six people each leave every correlation possible, which is no interval to report.
    assert exact.correlation.pearson.high - exact.correlation.pearson.low < 0.1
    assert math.isnan(moved.correlation.pearson.low)


MANY = [
    (key, person, 1.0 + (place * person) % 5)
    for place, key in enumerate("abc", 1)
    for person in range(9)
]
ONE_PERSON = satisfaction(*MANY, ("d", 0, 2))
MIXED = satisfaction(("a", 1, 2), ("a", 2, 3), ("b", 1, 4), people=40, c=3)


@pytest.mark.parametrize(
    ("said", "without", "lacking"),
    [
        pytest.param(ONE_PERSON, "", "people behind Solve Problem", id="one person for an intent"),
        pytest.param(
            satisfaction(("a", 1, 2), ("b", 1, 4), ("c", 2, 3)),
            "",
            "people behind Factual QA, Leisure, Text Assistant",
            id="one person for every intent is not exact",
        ),
        pytest.param(
            satisfaction(a=2, b=4, c=3),
            "a2",
            "questions behind Leisure",
            id="one question",
        ),
        pytest.param(
            MIXED, "", "people behind Factual QA", id="means of many beside single people"
        ),
    ],
)
def test_without_several_people_and_questions_for_every_intent_there_is_no_interval(
    said: Satisfaction, without: str, lacking: str
) -> None:
    finals = {question: final for question, final in INTENTS_ONE.items() if question != without}
    found = intents_level(
        answers(rows("m", finals), rows("n", {question: OTHER[question] for question in finals})),
        said,
    )
    assert why_no_interval(found) == f"fewer than 2 {lacking}"
    for correlation in (found.correlation, *found.by_model.values()):
        assert not math.isnan(correlation.pearson.value)
        assert all(
            map(
                math.isnan,
                (correlation.pearson.low, correlation.pearson.high, correlation.without_noise),
            )
        )
    note = "s.csv ... several people ... exact"
    assert (tells(mean_notes(found), note)) == (said is MIXED)
    single = [p["group"] for p in found.points if p["people"] == 1]  # whose mean has no interval
    assert all(math.isnan(p["satisfaction"].low) for p in found.points if p["group"] in single)
    assert said is not ONE_PERSON or single == ["Solve Problem"]
    assert (
        said is not ONE_PERSON or sum(math.isnan(p["satisfaction"].low) for p in found.points) == 1
    )


def test_answers_without_a_score_and_models_without_an_intent() -> None:
    partial = {
        question: math.nan if question[0] == "d" else final for question, final in OTHER.items()
    }
    said = satisfaction(a=2, b=4, c=3, d=1)
    found = intents_level(answers(rows("m", INTENTS_ONE), rows("n", partial)), said)
    assert set(found.by_model) == {"m"}
    assert tells(mean_notes(found)[0], "some intent: n")
    assert found.correlation.pearson == found.by_model["m"].pearson
    assert not math.isnan(found.correlation.pearson.low)


@pytest.mark.parametrize(
    ("given", "said", "sentence"),
    [
        (
            [INTENTS_ONE],
            satisfaction(a=2, b=4, e=3),
            "2 have both ... at least 3",
        ),
        ([INTENTS_ONE], satisfaction(e=3), "0 have both"),
        (
            [{q: v for q, v in INTENTS_ONE.items() if q[0] in keys} for keys in ("ab", "cd")],
            satisfaction(a=2, b=4, c=3),
            "no model has a score on each of them",
        ),
    ],
)
def test_scores_and_satisfaction_that_cannot_be_correlated(
    given: list[dict[str, float]], said: Satisfaction, sentence: str
) -> None:
    models = ["m", "n"][: len(given)]
    table = score_table(answers(*map(rows, models, given)).table, models)
    found = intent_level(table, said, INTENTS_HOW)
    assert isinstance(found, NoLevel)
    assert tells(why_no_level(found), f"No agreement over intents: {sentence}")


def test_too_few_questions_leave_no_interval() -> None:
    """A table of `1.00 (-1.00 to 1.00)` says nothing and looks like something."""
    found = intents_level(SCORED, satisfaction(a=2, b=4, c=3, d=1), Resampling(80, 0.95, 4))
    assert all(math.isnan(one.pearson.low) for one in (found.correlation, *found.by_model.values()))
    assert all(math.isnan(point["score"].low) for point in found.points)
    assert "fewer than 6 questions" in why_no_interval(found)


# At this level two questions make an interval.
MODELS_HOW = Resampling(rounds=60, level=0.5, seed=3)
FINALS: dict[str, dict[str, float]] = {
    "x": {"a1": 9, "a2": 8, "b1": 7},
    "y": {"a1": 8, "a2": 4, "b1": 6},
    "z": {"a1": 2, "a2": 3, "b1": 7},
}
FOUGHT = (
    [("x", "y", 1.0)] * 6
    + [("y", "z", 1.0)] * 5
    + [("z", "x", 0.0)] * 4
    + [("y", "x", 1.0), ("z", "y", 1.0)]
)


def votes(fought: list[tuple[str, str, float]] = FOUGHT) -> Votes:
    battles = battles_of(Battle(*one, cluster=f"{number}") for number, one in enumerate(fought))
    return Votes(rank(battles, **MODELS_HOW.options), ())


def models_level(cast_votes: Votes, **finals: dict[str, float]) -> ModelLevel | NoLevel:
    table = answers(*[rows(model, scores) for model, scores in (finals or FINALS).items()]).table
    models = list(dict.fromkeys(table["model"]))
    return model_level(score_table(table, models), model_names(table), cast_votes, MODELS_HOW)


def compared(cast_votes: Votes, **finals: dict[str, float]) -> ModelLevel:
    found = models_level(cast_votes, **finals)
    assert isinstance(found, ModelLevel), found
    return found


@pytest.mark.parametrize("over", ["intents", "models"])
def test_questions_of_one_user_are_one_cluster_of_means_over_intents_and_models(over: str) -> None:
    """Eight users, twelve questions of each, four on each intent.

    The true mean of every model is 5.5.
    """
    runs = 60
    users = np.repeat(np.arange(8), 12)
    names = [f"{'abc'[number % 3]}{number:02}" for number in range(len(users))]
    user_of = {name: f"user {user}" for name, user in zip(names, users.tolist(), strict=True)}
    missed = {True: 0, False: 0}
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        logs = []
        for model in "xyz":
            finals = 5.5 + generator.normal(0, 0.7, 8)[users] + generator.normal(0, 0.5, len(users))
            logs += rows(model, dict(zip(names, finals.tolist(), strict=True)))
        table = answers(logs).table
        for named in (True, False):
            clusters = table["question"].map(user_of) if named else ""
            scores = score_table(table.assign(cluster=clusters), list("xyz"))
            found: Any
            if over == "intents":
                found = intent_level(
                    scores, satisfaction(a=2, b=4, c=3), Resampling(200, seed=seed)
                )
            else:
                found = model_level(
                    scores, model_names(table), votes(), Resampling(MODELS_HOW.rounds, seed=seed)
                )
            first = min(
                found.points,
                key=lambda point: str(point["group" if over == "intents" else "model"]),
            )
            missed[named] += not first["score"].low <= 5.5 <= first["score"].high
            assert first["score"].clusters == (8 if named else first["score"].n)
            assert (found.asked, found.clusters) == (len(scores.facts), 8 if named else 0)
            noted = mean_notes(found)
            assert any(": 8; " in note for note in noted) == named
    # At 5%, more than 9 of 60 happen in one of a thousand such tests.
    assert missed[True] <= 9 < missed[False]


def test_values_are_those_of_the_means_and_the_ranking() -> None:
    found = compared(votes())
    assert [(point["model"], point["score"].value) for point in found.points] == [
        ("x", 8),
        ("y", 6),
        ("z", 4),
    ]
    ratings = [point["rating"].value for point in found.points]
    # The means 8 6 4 are evenly spaced: with ratings r1 r2 r3, r = (r1 - r3) / sqrt(2 * squared
    # deviations).
    deviations = sum((rating - sum(ratings) / 3) ** 2 for rating in ratings)
    assert found.correlation.pearson.value == pytest.approx(
        (ratings[0] - ratings[2]) / math.sqrt(2 * deviations)
    )
    assert found.correlation.spearman == pytest.approx(1)
    assert (found.comparisons, found.instructions, found.ties, found.questions) == (17, 17, 0, 3)
    assert mean_notes(found) == []


def test_models_the_interval_is_that_of_a_slow_resampling() -> None:
    given = votes()
    found = compared(given)
    order = given.ranking.players
    drawn = np.random.default_rng(derived_seed(3, 2)).integers(3, size=(60, 3))
    finals = np.array(
        [[FINALS[model][question] for question in ("a1", "a2", "b1")] for model in order]
    )
    means = [finals[:, picked].mean(axis=1) for picked in drawn]
    expected = correlate_means(
        MeanDraws(finals.mean(axis=1), np.array(means), np.full(3, 3), 3, np.full(3, 3)),
        MeanDraws(
            np.array([one.value for one in given.ranking.bradley_terry]),
            given.ranking.draws,
            np.full(3, 9),
            3,
            np.full(3, 9),
        ),
        clusters=3,
        level=0.5,
        seed=3,
    )
    pearson = found.correlation.pearson
    assert (pearson.low, pearson.high) == pytest.approx(
        (expected.pearson.low, expected.pearson.high)
    )


def test_one_question_or_instruction_leaves_no_interval_and_that_is_said() -> None:
    found = compared(votes(), **{**FINALS, "x": {"a1": 9, "a2": math.nan, "b1": math.nan}})
    assert tells(why_no_interval(found), "2 questions behind x")
    together = [Battle(*one, cluster="the only one") for one in FOUGHT]
    found = compared(Votes(rank(battles_of(together), **MODELS_HOW.options), ()))
    assert why_no_interval(found) == "fewer than 2 instructions behind the votes"
    assert not math.isnan(found.correlation.pearson.value)
    assert math.isnan(found.correlation.pearson.low) and math.isnan(found.correlation.without_noise)


def test_models_of_one_side_are_left_out_and_named() -> None:
    fought = [*FOUGHT, ("x", "w", 1.0), ("w", "x", 1.0)]
    found = compared(votes(fought), **FINALS, v={"a1": 1, "a2": 1, "b1": 2})
    assert [point["model"] for point in found.points] == ["x", "y", "z"]
    assert mean_notes(found) == [
        Telling("votes but ... score: w"),
        Telling("scores but ... votes: v"),
    ]


def test_a_bare_name_will_do_where_one_model_has_it() -> None:
    finals = {
        "x (temperature=0)": FINALS["x"],
        "y": FINALS["y"],
        "z (a)": FINALS["z"],
        "z (b)": FINALS["z"],
    }
    table = answers(*[rows(model, scores) for model, scores in finals.items()]).table
    names = model_names(table)
    assert names == {**{name: name for name in finals}, "x": "x (temperature=0)"}
    found = models_level(votes(), **finals)
    assert isinstance(found, NoLevel)
    assert tells(why_no_level(found), "2 have both")


def test_votes_that_do_not_link_all_models_are_said() -> None:
    found = compared(votes([("x", "y", 1.0), ("z", "w", 1.0)]), **FINALS, w=FINALS["x"])
    assert tells(mean_notes(found)[0], "NOT ALL MODELS COMPARE: ")


def test_two_models_are_too_few() -> None:
    found = models_level(
        votes(), x=FINALS["x"], y=FINALS["y"], z={"a1": math.nan, "a2": math.nan, "b1": math.nan}
    )
    assert isinstance(found, NoLevel)
    assert tells(why_no_level(found), "2 have both ... 3 ... x, y, z; ... x, y")


STATISTICS_HOW = Resampling(rounds=20, seed=2)
STATISTICS_FINALS = {"a1": 2.0, "a2": 5.0, "b1": 6.0, "b2": 9.0, "c1": 4.0, "c2": 7.0}
WHOLE = answers(rows("m", STATISTICS_FINALS))
HALF = {question: final for question, final in STATISTICS_FINALS.items() if question[1] == "1"}


def given(*questions: str) -> HumanRatings:
    return ratings(
        *[(question, "m", place) for place, question in enumerate(questions, 1)], scale=(1.0, 10.0)
    )


SAID = satisfaction(people=None, a=2, b=4, c=3)


def blocks(found: Answers, **said_by_people: Any) -> list[AgreementBlock]:
    return agreement_of(found, resampling=STATISTICS_HOW, **said_by_people)[0]


def test_a_block_alone_is_what_it_is_beside_that_of_another_judge() -> None:
    people: dict[str, Any] = {"human": given(*STATISTICS_FINALS), "satisfaction": SAID}
    stern = {question: final - 1 for question, final in STATISTICS_FINALS.items()}
    [alone] = blocks(WHOLE, **people)
    first, second = blocks(
        answers(rows("m", STATISTICS_FINALS), rows("m", stern, judge="p/stern")), **people
    )
    assert alone.intents is not None and first.cases is not None and second.cases is not None
    assert (first.cases, first.intents) == (alone.cases, alone.intents)
    assert first.cases.all.difference.value == pytest.approx(second.cases.all.difference.value + 1)
    assert second.intents is not None
    assert second.intents.correlation.pearson.value == pytest.approx(
        alone.intents.correlation.pearson.value
    )


def test_an_agreement_without_an_interval_is_not_claimed() -> None:
    """Five questions are too few for an interval, whatever the correlation is."""
    found = blocks(WHOLE, human=given(*list(STATISTICS_FINALS)[:5]))
    [block] = found
    assert block.cases is not None and math.isnan(block.cases.all.correlations.spearman.low)
    screen = agreement_report(found, (), STATISTICS_HOW, {}).first
    assert screen is not None
    assert tells(screen.claim, "not shown ... p/judge agrees")


def test_ratings_may_be_about_questions_that_not_all_models_attempted() -> None:
    both = answers(rows("m", STATISTICS_FINALS), rows("n", HALF))
    [block] = blocks(both, human=given(*STATISTICS_FINALS), satisfaction=SAID)
    assert block.cases is not None and block.intents is not None
    assert block.cases.all.answers == 6
    # How questions were chosen is noted where means are over them.
    assert (block.lacking, case_notes(block.cases)) == ((), [])
    report = agreement_report([block], (), STATISTICS_HOW, {})
    noted = [section.title for section in report.sections if _tells_of_three(section)]
    assert noted == ["Score and satisfaction by intent"]


def _tells_of_three(section: Section) -> bool:
    return any(tells(note, "3 questions ... 2 models attempted") for note in section.notes)


def test_ratings_that_another_block_used_are_not_skipped() -> None:
    both = answers(rows("m", STATISTICS_FINALS), rows("n", {"d1": 3.0, "d2": 4.0}, judge="p/own"))
    human = given(*STATISTICS_FINALS, "zz")
    found, unused_here = agreement_of(both, human=human, resampling=STATISTICS_HOW)
    assert [block.cases is None for block in found] == [False, True]
    assert [why_no_level(level) for level in found[1].lacking] == [Telling("answers: 0 have both")]
    assert unused_here == UnusedRatings(lost={"answer": ["'zz' of m (line 8)"]})
    assert (
        agreement_of(Answers(both.table[::-1], {}, ()), human=human, resampling=STATISTICS_HOW)[1]
        == unused_here
    )


def test_what_cannot_be_computed_is_noted_and_the_rest_goes_on() -> None:
    votes = Votes(rank(battles_of([Battle("m", "gpt", 1.0, "1")]), **STATISTICS_HOW.options), ())
    [block] = blocks(
        answers(rows("m", HALF)), human=given("a1", "b1"), satisfaction=SAID, votes=votes
    )
    assert block.ratings is None
    assert [why_no_level(level) for level in block.lacking] == [
        Telling("1 have both ... 3 ... m, gpt; ... m")
    ]
    assert block.intents is not None and block.cases is not None


@pytest.mark.satellites
def test_judges_of_three_blocks_are_worth_fewer_that_err_alike() -> None:
    """Two judges make the same errors, the third one errors of its own."""
    generator = np.random.default_rng(0)
    people = {f"a{n:02}": round(float(generator.uniform(3, 8)), 2) for n in range(60)}
    error, other = generator.normal(size=(2, 60))
    errors = {"p/a": error, "p/b": 2 * error, "p/c": other}
    finals = [
        rows(
            "m",
            {name: value + 0.5 * e for (name, value), e in zip(people.items(), given, strict=True)},
            judge=judge,
        )
        for judge, given in errors.items()
    ]
    human = ratings(*[(name, "m", value) for name, value in people.items()], scale=(1.0, 10.0))
    panel = panel_of_blocks(answers(*finals).table, human)
    assert panel is not None and panel.worth is not None
    assert panel.judges == ["1. p/a", "2. p/b", "3. p/c"]
    correlations = panel.worth.effective.correlations.tolist()
    assert correlations[0] == pytest.approx(correlations[1]) and correlations[0] > 0.4 > abs(
        correlations[2]
    )
    assert panel_of_blocks(answers(*finals[:2]).table, human) is None
    assert panel_of_blocks(answers(finals[0]).table, human) is None
    unrated = rows("m", {"b1": 5.0, "b2": 6.0}, judge="p/d")
    same = panel_of_blocks(answers(*finals, unrated).table, human)
    assert same is not None and same.values.equals(panel.values)
    assert panel_of_blocks(answers(*finals[:2], unrated).table, human) is None


def test_ratings_of_nothing_in_the_logs_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        agreement_of(WHOLE, human=given("x1", "x2"), resampling=STATISTICS_HOW)
    assert tells(
        str(caught.value),
        "r.csv: none of 2 ratings ... 'x1' of m (line 2) and 'x2' of m (line 3). ... m to 6 questions ... a1, a2, b1",
    )
    both = answers(rows("m", STATISTICS_FINALS), rows("n", HALF))
    with pytest.raises(InputError, match=r"answers of m, n to 6 questions such as a1, a2, b1$"):
        agreement_of(both, human=given("x1"), resampling=STATISTICS_HOW)


def test_nothing_to_compare_with_is_refused() -> None:
    with pytest.raises(InputError, match="--human, --satisfaction, --votes"):
        report_agreement(["nowhere"])


def test_what_is_skipped_of_votes_is_said_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [{"model_a": a, "model_b": b, "winner": "model_a"} for a, b, _ in FOUGHT]
    votes = read_vote_ranking([str(write_rows(tmp_path / "votes.jsonl", *lines))], MODELS_HOW)
    scores = answers(*([row(name, "q1", 5.0)] for name in ("x", "y", "z")))
    room = "urs_inspect.agreement._from_logs"
    monkeypatch.setattr(f"{room}.read_answers", lambda logs: scores)
    monkeypatch.setattr(
        f"{room}.read_vote_ranking", lambda paths, how: replace(votes, skipped=("torn.jsonl",))
    )
    assert "torn.jsonl" in report_agreement(["logs"], votes=["votes"], rounds=60).markdown()
    asked = ballot("Why?", "x", "y")
    people = HumanBattles(
        battles=battles_of([Battle("x", "y", 1.0, "i")]),
        agreement=agreement([Vote(asked.id, name, "a", "a", 2.0) for name in ("ann", "bo")]),
        replaced=0,
        undecided=0,
        unknown=3,
        faults=(),
        asked={asked.id: asked},
        outcomes={asked.id: 1.0},
    )
    monkeypatch.setattr(
        f"{room}.read_vote_ranking",
        lambda paths, how: replace(votes, skipped=("torn.jsonl",), people=people),
    )
    text = report_agreement(["logs"], votes=["votes"], rounds=60).markdown()
    assert tells(text, "2 votes of ... on 1 of 1 comparison")
    assert tells(text, "3 votes are about other ... torn.jsonl")


# --- the report ---


def example() -> Report:
    fought = [
        Battle("m", "n", 1.0, "1"),
        Battle("n", "o|p", 1.0, "2"),
        Battle("o|p", "m", 0.5, "3"),
    ]
    votes = Votes(rank(battles_of(fought), **STATISTICS_HOW.options), ("A note about votes.",))
    logs = [
        rows(model, {q: v - n for q, v in STATISTICS_FINALS.items()})
        for n, model in enumerate(("m", "n", "o|p"))
    ]
    found, unused = agreement_of(
        answers(*logs, rows("urs_simulation/x", STATISTICS_FINALS, judge="p/other")),
        human=given(*STATISTICS_FINALS, "zz"),
        satisfaction=SAID,
        votes=votes,
        resampling=STATISTICS_HOW,
    )
    return agreement_report(
        found,
        [*votes.skipped, *unused_notes(Path("r.csv"), unused)],
        STATISTICS_HOW,
        {"votes": ["v.csv"]},
        ["A log was left out."],
    )


def test_the_report_to_read() -> None:
    check_golden("agreement", example().markdown())


def test_every_number_is_a_row_of_the_csv(tmp_path: Path) -> None:
    made = example()
    assert [file.name for file in made.write(tmp_path)] == [
        "agreement.md",
        "agreement.csv",
        "agreement.json",
    ]
    table = made.tables()["agreement"]
    assert ",".join(table.columns) == "block,judge,level,scope,statistic,value,low,high,n,clusters"
    assert set(table["level"]) == {"intents", "models", "answers"}
    found = {(row.block, row.level, row.scope, row.statistic): row for row in rows_of(table)}
    pearson = found[1, "models", "all", "pearson"]
    block = made.facts["blocks"][0]
    assert (pearson.n, pearson.judge) == (3, "p/judge")
    value = f"{pearson.value:.2f}".replace("-", "−")
    assert tells(block["notes"], f"Over 3 models: Pearson {value}")
    assert found[1, "intents", "m", "without_noise"].low is not None
    exact = found[1, "intents", "Leisure", "satisfaction"]
    assert exact.value == 2.0 and math.isnan(
        exact.low
    )  # a mean that counts as exact has no interval
    facts = json.loads(made.json())
    json_rows = {
        (row["block"], row["scope"], row["statistic"]): row for row in facts["tables"]["agreement"]
    }
    assert json_rows[1, "Leisure", "satisfaction"]["low"] is None
    scopes = set(table[(table["block"] == 1) & (table["statistic"] == "kendall")]["scope"])
    assert scopes > {"Leisure", "Factual QA", "Text Assistant"}
    assert tells(
        facts["blocks"][0]["notes"], "3 points are too few for an interval over other intents"
    )
    assert tells(
        facts["blocks"][0]["notes"], "Published (URS paper ... Pearson 0.95 over 6 intents"
    )
    assert (facts["rounds"], facts["sources"]) == (20, {"votes": ["v.csv"]})


@pytest.mark.parametrize(
    ("published", "pearson", "points"),
    [(_PUBLISHED_INTENTS, 0.95, 6), (_PUBLISHED_MODELS, 0.94, 10)],
)
def test_published_correlations_have_the_interval_of_fishers_z(
    published: str, pearson: float, points: int
) -> None:
    low, high = fisher_interval(pearson, points)
    assert tells(published, f"Pearson {pearson} over {points} ... between {low:.2f} and {high:.2f}")


@pytest.mark.parametrize(
    ("pearson", "without_noise", "over_points", "parts"),
    [
        (
            (0.9, 0.8, 1.0),
            0.95,
            (0.3, 0.99),
            [r"0.95 \(0.80 to 1.00\): brackets", "Only 6 points: .* 0.30 to 0.99"],
        ),
        (
            (0.4, -0.5, 1.0),
            0.6,
            (-0.6, 0.9),
            ["about 0.60", "The interval holds 0", "Only 6 points"],
        ),
        (
            (0.4, -1.0, 1.0),
            NAN,
            (-0.6, 0.9),
            ["no more than noise .* from −1.00 to 1.00", "Only 6 points"],
        ),
        (
            (0.4, NAN, NAN),
            NAN,
            (-0.6, 0.9),
            ["no interval, .*: 1 person on Leisure", "Only 6 points"],
        ),
        (
            (NAN, NAN, NAN),
            NAN,
            (NAN, NAN),
            ["There is no correlation: all 6 intents have the same mean"],
        ),
        (
            (1.0, 1.0, 1.0),
            1.0,
            (NAN, NAN),
            ["about 1.00", "6 points are too few for an interval over other intents"],
        ),
    ],
)
def test_how_sure_a_correlation_is_in_words(
    pearson: tuple[float, float, float],
    without_noise: float,
    over_points: tuple[float, float],
    parts: list[str],
) -> None:
    found = MeanCorrelation(Estimate(*pearson, 6, 6), without_noise, 0.94, over_points)
    notes = _about_correlation(found, 6, "intents", "questions", "1 person on Leisure")
    assert len(notes) == len(parts)
    assert all(re.search(part, note) for part, note in zip(parts, notes, strict=True))


# --- matching and counting, by slow obvious code ---


def test_agreement_of_judge_and_people_as_plain_counting_says() -> None:
    generator = np.random.default_rng(7)
    finals = {f"{'ab'[n % 2]}{n}": float(generator.integers(1, 11)) for n in range(20)}
    finals["a18"] = math.nan
    given = []
    by_rater: dict[str, list[float]] = {"ann": [], "bo": [], "cy": []}
    means = []
    for place, question in enumerate(finals):
        said = {name: float(generator.integers(1, 6)) for name in by_rater}
        if place % 3:
            del said["cy"]
        if place % 5 == 0:
            del said["bo"]
        for name in by_rater:
            by_rater[name].append(said.get(name, math.nan))
        given += [(question, "m", value, name) for name, value in said.items()]
        means.append(sum(said.values()) / len(said))
    found = agreed(answers(rows("m", finals)), ratings(*given))
    assert found.people is not None
    assert found.people.raters == 3 and found.people.ratings == len(given)
    several = [place for place in range(20) if place % 5 or place % 3 == 0]
    assert found.people.answers == len(several)
    assert found.people.alpha.value == pytest.approx(interval_alpha(list(by_rater.values())))
    assert (found.without_score, found.file, found.weighted) == (1, "r.csv", False)
    scores = np.array(list(finals.values()))
    rescaled = 1 + (np.array(means) - 1) * 9 / 4
    is_scored = ~np.isnan(scores)
    for scope, chosen in (
        ("all", is_scored),
        ("Leisure", is_scored & (np.arange(20) % 2 == 0)),
        ("Factual QA", is_scored & (np.arange(20) % 2 == 1)),
        ("m", is_scored),
    ):
        part = found.scopes[scope]
        assert part.answers == part.questions == part.clusters == chosen.sum()
        assert part.difference.value == pytest.approx((scores - rescaled)[chosen].mean())
        alpha = interval_alpha([scores[chosen].tolist(), rescaled[chosen].tolist()])
        assert part.alpha.value == pytest.approx(alpha)
        rho = pearsonr(scores[chosen], rescaled[chosen]).statistic
        assert part.correlations.pearson.value == pytest.approx(rho)


@pytest.mark.parametrize(("number", "has_level"), [(1, False), (2, True)])
def test_two_scored_answers_make_an_agreement(number: int, has_level: bool) -> None:
    given = ratings(*[(question, "m", 3) for question in list(ONE)[:number]])
    found = level(RATED, given)
    assert isinstance(found, CaseLevel) == has_level
    if not has_level:
        assert found == NoLevel("answers", 1, 2)


def test_intents_and_models_that_do_not_count_are_in_order() -> None:
    finals = {f"{letter}1": 5.0 + n for n, letter in enumerate("edcba")}
    some = {question: final for question, final in finals.items() if question[0] != "c"}
    said = satisfaction(c=3, b=4, a=2)
    found = intents_level(
        answers(rows("m", finals), rows("z", some), rows("k", some)), said, INTENTS_HOW
    )
    assert found.skipped["intents without satisfaction"] == sorted([GROUPS["d"], GROUPS["e"]])
    assert found.skipped["models without a score on some intent"] == ["z", "k"]
    assert [point["group"] for point in found.points] == [GROUPS[letter] for letter in "bca"]
    lacking = intents_level(
        answers(rows("m", {"a1": 5.0, "b1": 6.0, "c1": 8.0})), satisfaction(e=3, d=4, a=2, b=3, c=1)
    )
    assert lacking.skipped["intents without a score"] == sorted([GROUPS["d"], GROUPS["e"]])
    few = intent_level(score_table(RATED.table, ["m"]), satisfaction(b=3, a=2, d=1), INTENTS_HOW)
    assert few == NoLevel(
        "intents", 2, 3, (GROUPS["b"], GROUPS["a"], GROUPS["d"]), ["Factual QA", "Leisure"]
    )


def test_questions_people_and_clusters_behind_means_by_hand() -> None:
    finals = {"a1": 5.0, "a2": 6.0, "a3": math.nan, "b1": 7.0, "c1": 2.0, "c2": 3.0}
    table = rows("m", finals)
    for one in table:
        one["cluster"] = "ann" if one["question"][0] == "a" else ""
    said = satisfaction(("a", 1, 3.0), ("a", 2, 5.0), ("b", 1, 4.0), ("c", 2, 2.0))
    found = intents_level(answers(table), said)
    names = [GROUPS[letter] for letter in "abc"]
    assert {key: dict(found.behind[key]) for key in found.behind} == {
        "questions": dict(zip(names, (2, 1, 2), strict=True)),
        "people": dict(zip(names, (2, 1, 1), strict=True)),
        "clusters": dict(zip(names, (1, 1, 2), strict=True)),
    }
    assert (found.asked, found.clusters, found.people_resampled) == (6, 4, True)
    exact = intents_level(answers(table), satisfaction(people=None, a=3, b=4, c=2))
    assert "people" not in exact.behind or not exact.behind["people"]
    # The means are those of the questions of each intent, and a cluster is drawn as a whole.
    scores = {point["group"]: point["score"] for point in exact.points}
    assert [scores[name].value for name in names] == [5.5, 7, 2.5]
    assert [(scores[name].n, scores[name].clusters) for name in names] == [(2, 1), (1, 1), (2, 2)]


def test_users_with_questions_on_several_intents_are_drawn_for_all_of_them() -> None:
    beyond = {"a": 0.0, "b": 1.0, "c": 3.0}
    finals = {
        f"{letter}{number}": 1 + 2 * number + more
        for letter, more in beyond.items()
        for number in range(4)
    }
    made = [
        {**one, "cluster": f"user {int(one['question'][1])}"}
        for model in "mn"
        for one in rows(model, finals)
    ]
    table = score_table(answers(made).table, ["m", "n"])
    groups = [GROUPS[letter] for letter in "abc"]
    means = _means_by_intent(table, groups, Resampling(40, seed=2))
    counts = np.concatenate(list(resample(4, 40, derived_seed(2, 0))))
    drawn = counts @ np.array([1.0, 3, 5, 7]) / 4
    for one, more in zip(means, beyond.values(), strict=True):
        assert one.values.tolist() == [4 + more, 4 + more]
        assert one.draws == pytest.approx(np.column_stack([drawn + more, drawn + more]))


def test_models_of_votes_by_hand() -> None:
    finals = {**FINALS, "w": {"a1": 5.0, "a2": 5.0, "b1": 5.0}}
    with_other = [*FOUGHT, ("x", "other", 1.0), ("other", "y", 0.5)]
    found = compared(votes(with_other), **finals)
    assert found.skipped == {
        "models with votes but without a score": ["other"],
        "models with scores but without votes": ["w"],
    }
    ranking = votes(with_other).ranking
    assert [point["model"] for point in found.points] == [
        name for name in ranking.players if name != "other"
    ]
    for point in found.points:
        place = ranking.players.index(point["model"])
        assert point["rating"] == ranking.bradley_terry[place]
        own = list(FINALS[point["model"]].values())
        assert point["score"].value == pytest.approx(sum(own) / 3)
    assert (found.comparisons, found.instructions, found.ties) == (19, 19, 1)
    assert (found.questions, found.asked, found.clusters) == (3, 3, 0)
    assert dict(found.behind["questions"]) == dict.fromkeys("xyz", 3)
    assert dict(found.behind["instructions"]) == {"the votes": 19}
    assert "clusters" not in found.behind
    # Two of the three questions are of one user; y has no score on the third.
    users = {"a1": "ann", "a2": "ann", "b1": "ben"}
    made = [
        row(model, question, math.nan if (model, question) == ("y", "b1") else final, cluster=user)
        for model in "xyz"
        for (question, user), final in zip(users.items(), FINALS[model].values(), strict=True)
    ]
    table = answers(made).table
    by_user = model_level(score_table(table, list("xyz")), model_names(table), votes(), MODELS_HOW)
    assert isinstance(by_user, ModelLevel)
    assert dict(by_user.behind["questions"]) == {"x": 3, "y": 2, "z": 3}
    assert dict(by_user.behind["clusters"]) == {"x": 2, "y": 1, "z": 2}
    assert by_user.clusters == 2
