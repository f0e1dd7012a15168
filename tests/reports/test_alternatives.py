"""A ranking at equal length: leads that length has won, their warnings, and models that cannot be compared."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.reports.answer_rows import answers, ranking_of, row
from urs_inspect.reports.answers import Answers
from urs_inspect.reports.leaderboard import Leaderboard, Ranking
from urs_inspect.reports.leaderboard_report import report_leaderboard
from urs_inspect.reports.tables import Report
from urs_inspect.stats.bootstrap import Resampling

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


def row_of(ranking: Ranking, name: str) -> Any:
    """Row of a model."""
    return ranking.equal_length.over_all.loc[name]


def pair_of(ranking: Ranking, *names: str) -> Any:
    """The comparison of two models at equal length, the better one first."""
    [pair] = [pair for pair in ranking.equal_length.pairs.itertuples() if {pair.first, pair.second} == set(names)]
    return pair


def slope_of(ranking: Ranking) -> Any:
    return ranking.equal_length.facts["slope"]


def report_of(ranking: Ranking) -> Report:
    return report_leaderboard(Leaderboard((ranking,), (), (), Resampling(500, 0.95, 0), ""))


FIELD = {"p/plain": (6.0, 0.0), "p/tripled": (6.0, TRIPLED), "p/other": (5.4, -0.3), "p/weak": (4.0, 0.4)}


@pytest.fixture(scope="module")
def bought() -> Ranking:
    """A ranking by a judge that likes length, in which one of two equal models writes three times as much."""
    return ranking_of(answers(*judged(FIELD, likes=0.45)), rounds=500)


def test_a_lead_that_length_has_won_is_lost_at_equal_length(bought: Ranking) -> None:
    assert bought.names[0] == "p/tripled" and bought.beside_best("all")[0].significant
    assert slope_of(bought).low < 0.45 < slope_of(bought).high
    pair = pair_of(bought, "p/tripled", "p/plain")
    assert pair.verdict == "not distinguishable" and pair.better_by_judge == "p/tripled"
    assert pair.difference.low < 0 < pair.difference.high
    found = bought.equal_length.over_all
    assert list(zip(found["rank_from"], found["rank_to"], strict=True)) == [(1, 2), (1, 2), (3, 3), (4, 4)]
    assert row_of(bought, "p/tripled")["length"] == pytest.approx(2 ** (TRIPLED - (TRIPLED + 0.1) / 4), rel=0.1)


def test_the_report_says_so_in_text_and_in_files(bought: Ranking) -> None:
    [lost] = bought.equal_length.warnings
    assert "1 lead" in lost and "does not survive at equal length: tripled over plain, " in lost
    report = report_of(bought)
    assert lost in report.sections[0].warnings
    assert {lost, bought.equal_length.notes[0]} <= set(report.sections[0].notes)
    assert "At equal length" in report.sections[0].tables[1].text().headings
    made = report.as_dict()
    assert lost in made["rankings"][0]["headline"] and made["rankings"][0]["length"]["lost_lead"] == lost
    first = made["tables"]["equal_length"][0]
    assert (first["model"], first["mean"]) == ("p/tripled", bought.mean("p/tripled").value)
    assert first["low"] < first["equal_length"] == row_of(bought, "p/tripled")["equal_length"].value < first["high"]
    pairs = made["tables"]["equal_length_differences"]
    assert [pair["better_by_judge"] for pair in pairs if pair["verdict"] != "significant"] == ["p/tripled"]


def test_a_lead_of_quality_survives() -> None:
    ranking = ranking_of(answers(*judged({**FIELD, "p/tripled": (7.0, TRIPLED)}, likes=0.0)), rounds=500)
    assert ranking.names[0] == "p/tripled" and not ranking.equal_length.warnings
    assert pair_of(ranking, "p/tripled", "p/plain").difference.value == pytest.approx(1.0, abs=0.25)
    start = report_of(ranking).sections[0]
    assert "At equal length" not in start.tables[0].text().headings
    assert ranking.equal_length.notes[0] not in start.notes  # nothing goes with length


def test_the_better_model_may_be_another_at_equal_length() -> None:
    models = {"p/long": (6.0, 3.0), "p/short": (7.0, 0.0)}
    ranking = ranking_of(answers(*judged(models, likes=0.6, questions=300)), rounds=500)
    assert ranking.names[0] == "p/long"
    pair = pair_of(ranking, *models)
    assert (pair.first, pair.verdict) == ("p/short", "significant")
    [lost] = ranking.equal_length.warnings
    assert "long over short, −" in lost and lost.endswith(", significantly reversed.")


def test_neither_languages_nor_epochs_change_anything() -> None:
    one, both = (judged(FIELD, likes=0.45, languages=names) for names in (("en",), ("en", "zh")))
    plain = ranking_of(answers(*both))
    assert slope_of(ranking_of(answers(*one))).value == pytest.approx(slope_of(plain).value, abs=0.01)
    again = ranking_of(answers(*both, *([found | {"epoch": 2} for found in rows] for rows in both)))
    pd.testing.assert_frame_equal(again.equal_length.means, plain.equal_length.means)


def test_empty_answers_take_no_part_in_the_slope() -> None:
    tables = judged(FIELD, likes=0.45)
    before = slope_of(ranking_of(answers(*tables)))
    for place in range(5):
        tables[0][place] |= {"final": 1.0, "answer_length": 0.0, "outcome": "no_response"}
    ranking = ranking_of(answers(*tables))
    assert ranking.equal_length.facts["empty"] == 5 and slope_of(ranking).n == 145
    assert slope_of(ranking).value == pytest.approx(before.value, abs=0.05)
    assert "5 questions" in ranking.equal_length.notes[1]
    assert row_of(ranking, "p/plain")["equal_length"].n == ranking.mean("p/plain").n == 150


def test_a_model_whose_length_is_its_own_is_said_to_be_hard_to_separate() -> None:
    wide = ranking_of(answers(*judged({"p/plain": (6.0, 0.0), "p/long": (6.0, 3.0)}, likes=0.4, spread=0.3)))
    assert wide.equal_length.facts["by_model"] > 0.9
    assert any("can hardly be separated" in note for note in wide.equal_length.notes)
    difference, plain = pair_of(wide, "p/plain", "p/long").difference, wide.comparisons["all"][0].difference
    assert difference.high - difference.low > 2 * (plain.high - plain.low)


def test_missing_scores_make_no_claim_at_equal_length() -> None:
    tables = judged({"p/better": (6.6, 0.0), "p/worse": (6.0, 0.0)}, likes=0.3)
    assert pair_of(ranking_of(answers(*tables)), "p/better", "p/worse").verdict == "significant"
    for place in range(30):
        tables[0][5 * place] |= {"final": math.nan, "outcome": "unscored_refusal"}
    pair = pair_of(ranking_of(answers(*tables)), "p/better", "p/worse")
    assert pair.verdict == "depends on unscored answers" and pair.difference.n == 120
    assert pair.p_holm < 0.05 < pair.p_worst


TWO = {"p/a": (6.0, 0.0), "p/b": (5.0, 0.0)}


def two(*, factor: float = math.nan, questions: int = 40) -> list[list[dict[str, Any]]]:
    """Answers of two models; with a factor the second one's are so much longer."""
    tables = judged(TWO, likes=0.0, questions=questions)
    for first, second in zip(*tables, strict=True):
        second["answer_length"] = second["answer_length"] if math.isnan(factor) else factor * first["answer_length"]
    return tables


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (answers(two()[0]), "two ranked models"),
        (answers(*two(factor=1.0)), "equally long"),
        (answers(*two(factor=3.0)), "the same factor at every question"),
        (
            answers([row("p/a", "leisure-en-000", 5.0, epoch=2, answer_length=math.nan)], *two()),
            "1 answer is not known",
        ),
        (answers(*two(questions=9)), "there are 9"),
    ],
)
def test_what_cannot_be_compared_at_equal_length_has_a_reason(found: Answers, reason: str) -> None:
    ranking = ranking_of(found)
    assert reason in str(ranking.equal_length.facts["reason"]) and not ranking.equal_length.warnings
    report = report_of(ranking)
    assert "equal_length" not in report.tables()
    assert any(reason in note for section in report.sections for note in section.notes)
