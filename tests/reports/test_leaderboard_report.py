"""A leaderboard as a report: sentences, tables, files, and one Markdown file held whole."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.reports.answer_rows import (
    answers,
    answers_of,
    model_of,
    models_of,
    ranking_of,
    row,
    rows,
)
from tests.reports.boards import MIX, rich_board
from tests.reports.golden_files import check_golden
from tests.telling import tells
from urs_inspect.reports.layout._tables import Report, csv_text
from urs_inspect.reports.numbers._leaderboard import Leaderboard, means_frame
from urs_inspect.reports.words._comparison import (
    best_sentence,
    differences_table,
)
from urs_inspect.reports.words._first_screen import leaderboard_screen
from urs_inspect.reports.words._leaderboard import report_leaderboard
from urs_inspect.reports.words._lengths import length_sentence
from urs_inspect.stats._bootstrap import Resampling


@pytest.fixture(scope="module")
def board() -> Leaderboard:
    return rich_board()


@pytest.fixture(scope="module")
def report(board: Leaderboard) -> Report:
    return report_leaderboard(board)


def test_the_report_as_markdown(report: Report) -> None:
    text = report.markdown().encode("utf-8", "replace").decode()
    check_golden("report", text)
    assert not {"nan", "None", "inf"} & set(text.replace("|", " ").split())
    drawn = [section.title for section in report.sections if section.figures]
    assert drawn == ["Languages", "Length and score", "Length and score"]


def test_csv_files_hold_every_mean_and_difference(board: Leaderboard, report: Report) -> None:
    headers = {name: csv_text(table).partition("\n")[0] for name, table in report.tables().items()}
    assert list(headers) == ["leaderboard", "differences", "judge", "lengths", "models", "noise"]
    assert (
        headers["leaderboard"]
        == "block,model,kind,column,mean,low,high,n,beside_best,rank_from,rank_to,unscored_share,mean_scored,mean_lowest,"
        "mean_highest"
    )
    assert (
        headers["differences"]
        == "block,column,first,second,difference,low,high,p,p_holm,p_worst,verdict,depends_on,n,error,detectable"
    )
    ranking, means = board.rankings[0], report.tables()["leaderboard"]
    assert len(means_frame(ranking, 1)) == len(ranking.compared.names) * len(ranking.compared.means)
    rows: Any = means[means["block"] == 1].set_index(["model", "kind", "column"])
    for model in models_of(ranking):
        shown = rows.loc[(model.model, "all", "all")]
        assert shown["mean"] == model.all.value or (
            math.isnan(shown["mean"]) and math.isnan(model.all.value)
        )
        assert shown["mean_lowest"] == model.mean_lowest
        assert (shown["rank_from"], shown["rank_to"]) == (model.ranks or (None, None))
        for cell, mean in model.by_cell.items():
            assert rows["mean"][model.model, "intent and language", cell] == mean.value
    kinds = {"all", "intent", "part", "language", "intent and language", "country", "criterion"}
    assert set(means["kind"]) == kinds
    assert len(differences_table(ranking.compared, 1).data) == sum(
        map(len, ranking.compared.comparisons.values())
    )
    differences = report.tables()["differences"]
    lacking = differences[differences["depends_on"] != ""].iloc[0]
    assert (lacking["verdict"], lacking["depends_on"]) == (
        "depends on unscored answers",
        "p/lacking (7)",
    )
    assert 0.5 < model_of(ranking, "openai/gpt-large").judge_alpha < 1


def test_json_holds_facts_and_tables(board: Leaderboard, report: Report) -> None:
    found = json.loads(report.json())
    assert (found["format"], found["schema_version"]) == ("urs-inspect intent report", 4)
    first, second = found["rankings"]
    assert first["conditions"]["judges"] == ["p/judge", "p/other"]
    assert first["traffic"]["shares"] == MIX.shares and second["models"] == ["urs_simulation/weak"]
    assert first["question_counts"]["all"] == board.rankings[0].compared.questions < first["asked"]
    assert (found["rounds"], found["level"], found["seed"], found["simulated"]) == (
        200,
        0.95,
        0,
        True,
    )
    assert len(found["tables"]["models"]) == 6
    unranked = next(
        row
        for row in found["tables"]["leaderboard"]
        if (row["model"], row["kind"]) == ("p/few", "all")
    )
    assert unranked["mean"] is None and unranked["rank_from"] is None


def test_the_best_and_what_cannot_be_distinguished_from_it_are_marked() -> None:
    finals = 3.0 + np.arange(16) % 4
    better = finals + np.where(np.arange(16) % 2, 1, -0.9)
    ranking = ranking_of(answers_of({"w": finals, "x": better, "y": finals - 1.5}), rounds=500)
    assert ranking.compared.names == ["x", "w", "y"]
    assert (
        ranking.compared.best_in["Leisure"].marked
        == ranking.compared.best_in["all"].marked
        == {"w", "x"}
    )
    said = best_sentence(ranking.compared, "all")
    assert tells(
        said, "No model ... best ... x cannot ... from w ... x has the highest mean ... above y"
    )


@pytest.mark.parametrize(
    ("costs", "judged", "said"),
    [
        ((0.01, 0.02), 0.001, "Cost: $0.32"),
        ((0.01, math.nan), 0.001, "at least $0.12; not known of b ... --prices"),
        ((0.01, 0.02), math.nan, "at least $0.30; not known of the judge ... --prices"),
        ((math.nan, math.nan), math.nan, "Cost: not known ... --prices"),
    ],
)
def test_what_a_run_cost_is_a_lower_bound_where_a_part_is_not_known(
    costs: tuple[float, float], judged: float, said: str
) -> None:
    given = [
        [row(name, f"leisure-en-{n}", 5.0 + n % 3, cost=cost, judge_cost=judged) for n in range(10)]
        for name, cost in zip("ab", costs, strict=True)
    ]
    board = Leaderboard((ranking_of(answers(*given)),), (), (), Resampling(200, 0.95, 0), "")
    sentences = leaderboard_screen(board).basis
    assert any(tells(sentence, said) for sentence in sentences)
    assert ("at least" in " ".join(sentences)) is ("at least" in said)


def test_only_of_simulated_models_it_is_not_said_that_no_cost_is_known() -> None:
    for other, is_named in (("p/a", True), ("urs_simulation/b", False)):
        given = [
            rows(name, {f"leisure-en-{n}": 5.0 + n % 3 for n in range(10)}, judge_cost=math.nan)
            for name in ("urs_simulation/a", other)
        ]
        board = Leaderboard((ranking_of(answers(*given)),), (), (), Resampling(200, 0.95, 0), "")
        basis = leaderboard_screen(board).basis
        assert any(tells(sentence, "Cost: not known") for sentence in basis) is is_named


def test_how_many_questions_it_takes_is_as_rough_as_what_is_known_of_their_spread() -> None:
    draws = np.random.default_rng(3).integers(3, 10, (2, 40))

    def needed(questions: int) -> int | None:
        finals = {name: draws[place, :questions] for place, name in enumerate("ab")}
        return ranking_of(answers_of(finals)).compared.questions_to_tell("all")

    assert needed(5) is None
    rough = needed(12)
    known = needed(40)
    assert rough is not None and len(str(rough).rstrip("0")) == 1
    assert known is not None and len(str(known).rstrip("0")) <= 2


def test_the_screen_and_the_ranking_tell_length_by_one_measure() -> None:
    """The answers of b are twice as long in English; in Chinese, with short answers, they too."""
    sizes = {"a": (400.0, 50.0), "b": (800.0, 100.0)}
    given = [
        [
            row(name, f"leisure-{'en' if n % 2 else 'zh'}-{n}", final + n % 4, answer_length=size)
            for n in range(20)
            for size in [long if n % 2 else short]
        ]
        for (name, (long, short)), final in zip(sizes.items(), (6.0, 3.0), strict=True)
    ]
    ranking = ranking_of(answers(*given))
    board = Leaderboard((ranking,), (), (), Resampling(200, 0.95, 0), "")
    table = leaderboard_screen(board).table
    assert table is not None
    [length] = [name for name in table.data if str(name).startswith("length")]
    assert list(table.data[length]) == ["1.0", "2.0"]
    assert tells(length_sentence(ranking), "a (...): b 2.0 times (0 of 20)")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_several_intents_with_the_same_best_are_counted_and_not_named(number: int) -> None:
    intents = ("leisure", "factual_qa", "api")[:number]
    given = [
        [row(name, f"{intent}-en-{n}", best + n % 3) for intent in intents for n in range(20)]
        for name, best in (("a", 6.0), ("b", 3.0))
    ]
    board = Leaderboard((ranking_of(answers(*given)),), (), (), Resampling(200, 0.95, 0), "")
    [finding] = leaderboard_screen(board).findings
    assert ("Leisure" in finding) == (number == 1)
    assert (str(number) in finding) == (number > 1)


def test_equal_models_share_the_highest_mean_and_have_no_interval() -> None:
    ranking = ranking_of(answers_of({"a": range(1, 9), "b": range(1, 9)}))
    [pair] = ranking.compared.comparisons["all"]
    assert (pair.difference.value, pair.verdict) == (0, "not distinguishable")
    assert math.isnan(pair.difference.low)
    assert tells(best_sentence(ranking.compared, "all"), "a and b share")
    assert [model.ranks for model in models_of(ranking)] == [(1, 2), (1, 2)]


def test_one_model_has_no_rank_and_no_word_about_others() -> None:
    alone = replace(rich_board(), rankings=(ranking_of(answers_of({"a": [5.0, 6.0, 7.0]})),))
    text = report_leaderboard(alone).markdown()
    assert tells(text, "a ... 6.00")
    assert "| Rank |" not in text
    assert "No other model" not in text
    screen = leaderboard_screen(alone)
    assert tells(screen.claim, "a ... mean ... 6.00")
    assert screen.table is not None
    assert not {"rank", "ahead of the next"} & set(screen.table.data)


def test_one_model_with_or_without_scores_is_a_report_of_its_own() -> None:
    for final in (5.0, math.nan):
        rankings = (ranking_of(answers_of({"a": [final]})),)
        alone = Leaderboard(rankings, (), (), Resampling(200, 0.95, 0), "")
        sections = {section.title: section for section in report_leaderboard(alone).sections}
        assert next(iter(sections)) == "Ranking" and "Differences" not in sections
        assert ("Criteria" in sections) == ("Length and score" in sections) == (final == 5)
    assert tells(sections["Ranking"].notes[0], "No model")
