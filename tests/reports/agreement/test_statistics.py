"""Blocks: judges are never mixed, and what does not fit is said."""

import math
from pathlib import Path

import pytest

from tests.reports.agreement.tables import answers, rows
from urs_inspect.errors import InputError
from urs_inspect.rating import Battle, battles_of, rank
from urs_inspect.reports.agreement.rating_files import HumanRating, HumanRatings
from urs_inspect.reports.agreement.report import PUBLISHED_INTENTS, PUBLISHED_MODELS
from urs_inspect.reports.agreement.resampling import Resampling
from urs_inspect.reports.agreement.satisfaction_files import Satisfaction, SatisfactionRow
from urs_inspect.reports.agreement.statistics import agreement_of
from urs_inspect.reports.agreement.vote_sources import Votes

HOW = Resampling(rounds=20, seed=2)
FINALS = {"a1": 2.0, "a2": 5.0, "b1": 6.0, "b2": 9.0, "c1": 4.0, "c2": 7.0}
HALF = {question: final for question, final in FINALS.items() if question[1] == "1"}


def given(*questions: str, model: str = "m") -> HumanRatings:
    made = [HumanRating(q, model, None, "", 1.0 + place, f"line {place + 2}") for place, q in enumerate(questions)]
    return HumanRatings(Path("r.csv"), (1.0, 10.0), tuple(made), 0)


def said() -> Satisfaction:
    names = {"Leisure": 2.0, "Factual QA": 4.0, "Text Assistant": 3.0}
    return Satisfaction(Path("s.csv"), (1.0, 5.0), tuple(SatisfactionRow(n, v, None, "") for n, v in names.items()))


def test_each_judge_stands_by_itself() -> None:
    stern = {question: final - 1 for question, final in FINALS.items()}
    both = answers(rows("m", FINALS), rows("n", FINALS), rows("m", stern, judge="p/stern"), left_out=("One log.",))
    report = agreement_of(both, human=given(*FINALS), satisfaction=said(), resampling=HOW, sources={"x": ("y",)})
    assert [block.conditions.judges for block in report.blocks] == [("p/judge",), ("p/stern",)]
    assert [block.models for block in report.blocks] == [("m", "n"), ("m",)]
    assert report.blocks[0].apart_because == ()
    assert report.blocks[1].apart_because[0].startswith("Other judges: p/stern, not p/judge")
    first, second = (block.cases for block in report.blocks)
    assert first is not None and second is not None
    assert first.all.answers == second.all.answers == 6
    assert first.all.difference.value == pytest.approx(second.all.difference.value + 1)
    assert (report.left_out, report.sources, report.rounds, report.seed) == (("One log.",), {"x": ("y",)}, 20, 2)


def test_a_block_alone_is_what_it_is_beside_others() -> None:
    alone = agreement_of(answers(rows("m", FINALS)), human=given(*FINALS), satisfaction=said(), resampling=HOW)
    others = answers(rows("m", FINALS), rows("m", FINALS, judge="p/other"))
    for block in agreement_of(others, human=given(*FINALS), satisfaction=said(), resampling=HOW).blocks:
        assert block.cases is not None and alone.blocks[0].cases is not None
        assert block.cases.all == alone.blocks[0].cases.all
        assert block.intents is not None and alone.blocks[0].intents is not None
        assert block.intents.correlation.pearson == alone.blocks[0].intents.correlation.pearson


def test_ratings_may_be_about_questions_that_not_all_models_attempted() -> None:
    found = agreement_of(answers(rows("m", FINALS), rows("n", HALF)), human=given(*FINALS), resampling=HOW)
    [block] = found.blocks
    assert block.cases is not None
    assert block.cases.all.answers == 6
    assert (block.notes, block.cases.notes) == ((), ())


def test_how_questions_were_chosen_is_said_where_means_are_over_them() -> None:
    both = answers(rows("m", FINALS), rows("n", HALF))
    [block] = agreement_of(both, human=given(*FINALS), satisfaction=said(), resampling=HOW).blocks
    assert block.intents is not None and block.cases is not None
    assert block.intents.notes[-1].startswith("Ranked over the 3 questions that all 2 models attempted")
    assert (block.notes, block.cases.notes) == ((), ())


def test_ratings_that_another_block_used_are_not_left_out() -> None:
    others = {"d1": 3.0, "d2": 4.0}
    human = given(*FINALS, "zz")
    report = agreement_of(answers(rows("m", FINALS), rows("m", others, judge="p/own")), human=human, resampling=HOW)
    assert [block.cases is None for block in report.blocks] == [False, True]
    assert report.blocks[1].notes == ("No agreement on single answers: 0 were both rated and scored.",)
    assert report.notes == (
        "1 rating of r.csv about a question or epoch without an answer, left out: 'zz' of m (line 8).",
    )


def test_what_cannot_be_had_is_said_and_the_rest_goes_on() -> None:
    ranking = rank(battles_of([Battle("m", "gpt", 1.0, "1")]), **HOW.options)
    votes = Votes(ranking, ("A note about votes.",))
    [block] = agreement_of(
        answers(rows("m", HALF)), human=given("a1", "b1"), satisfaction=said(), votes=votes, resampling=HOW
    ).blocks
    assert block.ratings is None
    assert block.notes == (
        "No correlation over models: 1 have both scores and votes, at least 3 are needed. Votes are about: m, gpt; "
        "scored were: m.",
    )
    assert block.intents is not None and block.cases is not None


def test_ratings_of_nothing_in_the_logs_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        agreement_of(answers(rows("m", FINALS)), human=given("x1", "x2"), resampling=HOW)
    assert str(caught.value) == (
        "r.csv: none of 2 ratings is about an answer in the logs. 2 ratings of r.csv about a question or epoch without "
        "an answer, left out: 'x1' of m (line 2); 'x2' of m (line 3). The logs have answers of m to 6 questions such "
        "as a1, a2, b1"
    )


def test_nothing_to_compare_with_is_refused() -> None:
    with pytest.raises(InputError, match="give at least one of: ratings, satisfaction, votes"):
        agreement_of(answers(rows("m", FINALS)))


def test_a_simulation_is_marked() -> None:
    simulated = answers(rows("urs_simulation/strong", FINALS), rows("m", FINALS, judge="p/other"))
    report = agreement_of(simulated, satisfaction=said(), resampling=HOW)
    assert {block.models: block.simulated for block in report.blocks} == {
        ("urs_simulation/strong",): True,
        ("m",): False,
    }


def test_what_the_paper_prints() -> None:
    assert (PUBLISHED_INTENTS.pearson, PUBLISHED_MODELS.pearson) == (0.95, 0.94)
    assert PUBLISHED_INTENTS.over_points == pytest.approx((0.604, 0.995), abs=1e-3)
    assert PUBLISHED_MODELS.over_points == pytest.approx((0.760, 0.986), abs=1e-3)
    assert not any(math.isnan(bound) for bound in PUBLISHED_MODELS.over_points)
