"""A ranking at equal length: a lead that length has won, what is said about it, and bad input."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.reports.answer_rows import answers, ranking_of, row
from urs_inspect.reports.answers import Answers
from urs_inspect.reports.leaderboard import Leaderboard, Ranking
from urs_inspect.reports.leaderboard_report import report_leaderboard
from urs_inspect.reports.length_control import EqualLength, length_facts, length_notes, lost_lead
from urs_inspect.reports.scores import Resampling

TRIPLED = math.log2(3)


def judged(
    models: Mapping[str, tuple[float, float]],
    *,
    likes: float,
    questions: int = 150,
    spread: float = 0.7,
    languages: tuple[str, ...] = ("en", "zh"),
    seed: int = 0,
) -> list[list[dict[str, Any]]]:
    """Answers of models, by their quality and their doublings of length, to a judge that likes a doubling so much.

    Chinese answers have a quarter of the characters.
    """
    generator = np.random.default_rng(seed)
    names = [f"leisure-{languages[place % len(languages)]}-{place:03}" for place in range(questions)]
    effects, usual = generator.normal(0, 1, questions), generator.normal(9, 0.8, questions)
    characters = np.array([2.0 if "-zh-" in name else 0.0 for name in names])
    tables = []
    for name, (quality, longer) in models.items():
        lengths = usual + longer + generator.normal(0, spread, questions)
        finals = quality + effects + likes * (lengths - 9) + generator.normal(0, 0.8, questions)
        finals, sizes = np.clip(np.rint(finals), 1, 10), np.rint(np.exp2(lengths - characters))
        tables.append(
            [
                row(name, question, float(final), answer_length=float(size))
                for question, final, size in zip(names, finals, sizes, strict=True)
            ]
        )
    return tables


def controlled(ranking: Ranking) -> EqualLength:
    assert isinstance(ranking.equal_length, EqualLength), ranking.equal_length
    return ranking.equal_length


FIELD = {"p/plain": (6.0, 0.0), "p/tripled": (6.0, TRIPLED), "p/other": (5.4, -0.3), "p/weak": (4.0, 0.4)}


@pytest.fixture(scope="module")
def bought() -> Ranking:
    """A ranking by a judge that likes length, in which one of two equal models writes three times as much."""
    return ranking_of(answers(*judged(FIELD, likes=0.45)), rounds=500)


def test_a_lead_that_length_has_won_is_lost_at_equal_length(bought: Ranking) -> None:
    assert bought.names[0] == "p/tripled" and bought.beside_best("all")[0].significant
    control = controlled(bought)
    assert control.slope.low < 0.45 < control.slope.high
    pair = control.difference((0, 1))
    assert not pair.significant and pair.difference.low < 0 < pair.difference.high
    assert control.ranks == ((1, 2), (1, 2), (3, 3), (4, 4))
    assert "At equal length, tripled is not significantly better than plain:" in lost_lead(bought)
    assert control.lengths[0] == pytest.approx(2 ** (TRIPLED - (TRIPLED + 0.1) / 4), rel=0.1)


def test_the_report_says_so_in_text_and_in_files(bought: Ranking) -> None:
    report = report_leaderboard(Leaderboard((bought,), (), (), Resampling(500, 0.95, 0), ""))
    assert lost_lead(bought) in report.sections[0].warnings
    assert length_notes(bought)[0] in report.sections[0].notes
    assert "At equal length" in report.sections[0].tables[0].text().headings
    facts = report.as_dict()["rankings"][0]
    assert lost_lead(bought) in facts["headline"] and facts["length"]["lost_lead"] == lost_lead(bought)
    tables = report.as_dict()["tables"]
    assert [found["model"] for found in tables["equal_length"]] == bought.names
    first = tables["equal_length"][0]
    assert (
        first["equal_length"] == controlled(bought).means[0].value and first["mean"] == bought.mean("p/tripled").value
    )
    changed = [
        found
        for found in tables["equal_length_differences"]
        if found["better_at_equal_length"] != found["better_by_means"]
    ]
    assert [(found["better_by_means"], found["better_at_equal_length"]) for found in changed] == [("p/tripled", "")]


def test_a_lead_of_quality_survives() -> None:
    models = {**FIELD, "p/tripled": (7.0, TRIPLED)}
    ranking = ranking_of(answers(*judged(models, likes=0.0)), rounds=500)
    assert ranking.names[0] == "p/tripled" and not lost_lead(ranking)
    assert controlled(ranking).difference((0, 1)).difference.value == pytest.approx(1.0, abs=0.25)
    report = report_leaderboard(Leaderboard((ranking,), (), (), Resampling(500, 0.95, 0), ""))
    assert "At equal length" not in report.sections[0].tables[0].text().headings
    assert length_notes(ranking)[0] not in report.sections[0].notes  # nothing goes with length


def test_the_better_model_may_be_another_at_equal_length() -> None:
    models = {"p/long": (6.0, 3.0), "p/short": (7.0, 0.0)}
    ranking = ranking_of(answers(*judged(models, likes=0.6, questions=300)), rounds=500)
    assert ranking.names[0] == "p/long"
    pair = controlled(ranking).difference((0, 1))
    assert (pair.first, pair.significant) == (1, True)
    assert "short less long is +" in lost_lead(ranking) and ", significant." in lost_lead(ranking)


def test_the_language_of_a_question_changes_nothing() -> None:
    one, both = (ranking_of(answers(*judged(FIELD, likes=0.45, languages=names))) for names in (("en",), ("en", "zh")))
    assert controlled(one).slope.value == pytest.approx(controlled(both).slope.value, abs=0.01)


def test_empty_answers_take_no_part_in_the_slope() -> None:
    tables = judged(FIELD, likes=0.45)
    before = controlled(ranking_of(answers(*tables)))
    for place in range(5):
        tables[0][place] |= {"final": 1.0, "answer_length": 0.0, "outcome": "no_response"}
    ranking = ranking_of(answers(*tables))
    control = controlled(ranking)
    assert control.empty == 5 and control.slope.n == 145
    assert control.slope.value == pytest.approx(before.slope.value, abs=0.05)
    assert "5 questions" in length_notes(ranking)[1]
    plain = dict(zip(ranking.names, ranking.means["all"], strict=True))["p/plain"]
    assert control.means[ranking.names.index("p/plain")].n == plain.n == 150


def test_a_model_whose_length_is_its_own_is_said_to_be_hard_to_separate() -> None:
    models = {"p/plain": (6.0, 0.0), "p/long": (6.0, 3.0)}
    wide = ranking_of(answers(*judged(models, likes=0.4, spread=0.3)))
    assert controlled(wide).by_model > 0.9 and any("can hardly be separated" in note for note in length_notes(wide))
    difference = controlled(wide).difference((0, 1)).difference
    plain = wide.comparisons["all"][0].difference
    assert difference.high - difference.low > 2 * (plain.high - plain.low)


def test_missing_scores_make_no_claim_at_equal_length() -> None:
    tables = judged({"p/better": (6.6, 0.0), "p/worse": (6.0, 0.0)}, likes=0.3)
    assert controlled(ranking_of(answers(*tables))).difference((0, 1)).significant
    for place in range(30):
        tables[0][5 * place] |= {"final": math.nan, "outcome": "unscored_refusal"}
    pair = controlled(ranking_of(answers(*tables))).difference((0, 1))
    assert pair.p_holm < 0.05 < pair.p_worst and not pair.significant and pair.difference.n == 120


def test_epochs_are_averaged() -> None:
    once = judged(FIELD, likes=0.45)
    again = [[one | {"epoch": 2} for one in rows] for rows in once]
    twice = controlled(ranking_of(answers(*once, *again)))
    assert twice.means == controlled(ranking_of(answers(*once))).means


def same_lengths(factor: float = 1.0) -> Answers:
    tables = judged({"p/a": (6.0, 0.0), "p/b": (5.0, 0.0)}, likes=0.0, questions=40)
    for first, second in zip(*tables, strict=True):
        second["answer_length"] = factor * first["answer_length"]
    return answers(*tables)


def unknown_lengths() -> Answers:
    tables = judged({"p/a": (6.0, 0.0), "p/b": (5.0, 0.0)}, likes=0.0, questions=40)
    tables[0][3]["answer_length"] = math.nan
    return answers(*tables)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (answers(judged({"p/a": (6.0, 0.0)}, likes=0.0)[0]), "two ranked models"),
        (same_lengths(), "equally long"),
        (same_lengths(3.0), "the same factor at every question"),
        (unknown_lengths(), "1 answer is not known"),
        (answers(*judged({"p/a": (6.0, 0.0), "p/b": (5.0, 0.0)}, likes=0.0, questions=9)), "there are 9"),
    ],
)
def test_what_cannot_be_compared_at_equal_length_has_a_reason(found: Answers, reason: str) -> None:
    ranking = ranking_of(found)
    assert reason in str(length_facts(ranking)["reason"]) and not lost_lead(ranking) and not length_notes(ranking)
    report = report_leaderboard(Leaderboard((ranking,), (), (), Resampling(200, 0.95, 0), ""))
    assert "equal_length" not in report.tables()
    assert any(reason in note for section in report.sections for note in section.notes)
