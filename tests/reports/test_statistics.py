"""Answers become a report: every number by hand or by slow obvious code."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.report_coverage import EQUAL, FALSE, population, simulate

from tests.reports import boards
from tests.reports.answer_rows import (
    answers,
    answers_of,
    model_of,
    models_of,
    ranking_of,
    row,
    rows,
)
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.reports.numbers._answers import Answers
from urs_inspect.reports.numbers._leaderboard import Ranking, make_leaderboard
from urs_inspect.reports.numbers._scores import ALL, compare_models, order_models, score_table
from urs_inspect.reports.numbers._traffic import TrafficMix
from urs_inspect.reports.words._first_screen import ranking_notes
from urs_inspect.reports.words._leaderboard import left_out
from urs_inspect.rubrics import Rubric, load_rubric
from urs_inspect.stats._bootstrap import Resampling

NAN = math.nan
KINDS = [kind.split("-") for kind in boards.KINDS]


def random_answers(
    seed: int, questions: int = 60, models: int = 3, missing: float = 0.1, epochs: int = 2
) -> Answers:
    """Models of which each is better than the one before, with unscored answers."""
    generator = np.random.default_rng(seed)
    names = [
        f"{intent}-{language}-{n}"
        for n, (intent, language) in zip(range(questions), cycle(KINDS), strict=False)
    ]
    table = []
    for (model, name), epoch in product(product(range(models), names), range(1, epochs + 1)):
        final = float(np.clip(round(generator.normal(5 + model, 1.5)), 1, 10))
        table.append(
            row(f"m{model}", name, NAN if generator.random() < missing else final, epoch=epoch)
        )
    return answers(table)


# --- means ---


def test_means_by_hand() -> None:
    # Epochs first: question 1 of a is (4 + 6) / 2 = 5; with question 2 (7) Leisure is 6; all is (5
    # + 7 + 9) / 3.
    found = answers(
        [
            row("a", "leisure-en-1", 4.0),
            row("a", "leisure-en-1", 6.0, epoch=2),
            row("a", "leisure-zh-2", 7.0),
            row("a", "leisure-zh-2", NAN, epoch=2),
            row("a", "factual_qa-zh-3", 9.0, epoch=1),
        ],
        rows("b", {"leisure-en-1": 1.0, "leisure-zh-2": 2.0, "factual_qa-zh-3": 3.0}),
    )
    model = model_of(found, "a")
    assert model.all.value == 7
    assert {name: one.value for name, one in model.by_group.items()} == {
        "Factual QA": 9,
        "Leisure": 6,
    }
    assert {name: one.value for name, one in model.by_language.items()} == {"en": 5, "zh": 8}
    assert {cell: one.value for cell, one in model.by_cell.items()} == {
        "Factual QA/zh": 9,
        "Leisure/en": 5,
        "Leisure/zh": 7,
    }
    assert model.by_criterion["clarity"].value == 7
    assert "factuality" not in model.by_criterion
    assert (model.questions, model.answers, model.epochs, model.unscored) == (3, 5, 2, 1)
    assert model.outcomes == {"judged": 4, "unscored_refusal": 1}
    # Question 1: deviations -1 and 1 about its mean, one degree of freedom.
    assert model.epoch_deviation == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize("seed", range(3))
def test_all_columns_agree_with_plain_means(seed: int) -> None:
    found = random_answers(seed)
    ranking = ranking_of(found)
    table = found.table.groupby(
        ["model", "question", "intent", "group", "language"], as_index=False
    )["final"].mean()
    known = table.dropna().groupby("question")["model"].nunique()
    common = set(known[known == 3].index)
    assert 30 < len(common) < 60
    table = table[table["question"].isin(common)]
    table = table.assign(
        cell=table["group"] + "/" + table["language"], part=table["group"] + ": " + table["intent"]
    )
    for model in models_of(ranking):
        own = table[table["model"] == model.model]
        assert model.all.value == pytest.approx(own["final"].mean())
        for column in ("group", "language", "cell", "part"):
            shown = getattr(model, f"by_{column}")
            plain = own.groupby(column)["final"].agg(["mean", "count"]).loc[list(shown)]
            assert [one.value for one in shown.values()] == pytest.approx(plain["mean"].tolist())
            assert [one.n for one in shown.values()] == plain["count"].tolist()
    assert set(ranking.columns.parts) == {
        "Solve Problem: api",
        "Solve Problem: solve_professional_problem",
    }
    assert (ranking.compared.questions, ranking.compared.asked) == (len(common), 60)
    assert ranking.compared.question_counts["Leisure/zh"] == sum(
        name.startswith("leisure-zh") for name in common
    )
    assert ranking.columns.countries == () and not any(
        "country" in note for note in ranking_notes(ranking)
    )


def test_the_order_of_logs_and_answers_changes_nothing() -> None:
    found = random_answers(4)
    one, other = (
        ranking_of(found),
        ranking_of(replace(found, table=found.table.sample(frac=1, random_state=1))),
    )
    assert one.compared.names == other.compared.names and repr(one.compared.means) == repr(
        other.compared.means
    )
    assert one.compared.comparisons["all"] == other.compared.comparisons["all"]


def test_ids_of_the_rubric_give_order_and_names_and_others_come_last() -> None:
    ranking = ranking_of(random_answers(0))
    assert ranking.columns.groups == ("Factual QA", "Solve Problem", "Leisure")
    assert ranking.columns.languages == ("en", "zh")
    names = {"api": "Usage through API", "Solve Problem: api": "Solve Problem: Usage through API"}
    names |= {"en": "English", "zh": "Chinese", "criterion/clarity": "Clarity"}
    assert names.items() <= ranking.titles.items()
    own = [
        row("a", f"x{n}", 5.0, intent="own_intent", group="Own", language="fr") for n in range(3)
    ]
    ranking = ranking_of(answers(own + rows("a", {"leisure-en-1": 5.0})))
    assert ranking.columns.groups == ("Leisure", "Own")
    assert ranking.columns.languages == ("en", "fr")
    assert (ranking.titles["own_intent"], ranking.titles["fr"]) == ("Own intent", "fr")


# --- ranking ---


def far_apart(seed: int, levels: Sequence[float], noise: float, questions: int = 150) -> Ranking:
    """Models of these levels, whose scores share the effect of each question."""
    generator = np.random.default_rng(seed)
    effects = generator.normal(0, 1, questions)
    finals = {
        f"m{place:02}": level + effects + generator.normal(0, noise, questions)
        for place, level in enumerate(levels)
    }
    return ranking_of(answers_of(finals), rounds=1000)


def test_rank_intervals_never_part_models_that_cannot_be_distinguished() -> None:
    # Each model differs significantly from the next but one only: a line between any two neighbours
    # would be false.
    ranking = far_apart(6, [7 - 0.16 * number for number in range(5)], 0.9)
    ranks = {model.model: model.ranks for model in models_of(ranking)}
    significant = [
        (pair.first, pair.second)
        for pair in ranking.compared.comparisons["all"]
        if pair.significant
    ]
    assert 0 < len(significant) < len(ranking.compared.comparisons["all"])
    for place, (name, (first, last)) in enumerate(ranks.items(), start=1):
        assert first == 1 + sum(second == name for _, second in significant) <= place
        assert last == 5 - sum(better == name for better, _ in significant) >= place
    for pair in ranking.compared.comparisons["all"]:
        assert pair.p_holm >= pair.p
        one, other = ranks[pair.first], ranks[pair.second]
        assert pair.significant or max(one[0], other[0]) <= min(one[1], other[1])


def test_twenty_five_models_far_apart_all_differ_significantly() -> None:
    # 300 pairs: by the share of 1,000 rounds alone no corrected p-value could be below 0.3.
    ranking = far_apart(1, [-number / 5 for number in range(25)], 0.1)
    assert all(one.significant for one in ranking.compared.comparisons["all"])
    assert {model.model: model.ranks for model in models_of(ranking)} == {
        f"m{n:02}": (n + 1, n + 1) for n in range(25)
    }


# --- what did not count ---


def test_errors_and_unscored_answers_are_counted_and_never_a_score() -> None:
    empty = [f"no_response{ending}" for ending in ("", "_cut_off", "_withheld")]
    found = answers(
        [
            row("a", "leisure-en-1", 4.0),
            row("a", "leisure-en-2", NAN, outcome="error", error="gone"),
            row("a", "leisure-en-3", NAN),
            *(
                row("a", f"leisure-en-{n}", 1.0, outcome=outcome)
                for n, outcome in enumerate(empty, start=4)
            ),
        ]
    )
    model = model_of(found, "a")
    assert model.all.value == (4 + 1 + 1 + 1) / 4
    assert (model.questions, model.answers, model.unscored, model.errors, model.empty) == (
        4,
        6,
        2,
        1,
        3,
    )
    assert model.cut_off == 1


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"outcome": "answer_cut_off"}, ["2 of 4", ": a 2.", "--max-tokens"]),
        ({"not_shown": "image 2"}, ["2 of 4", "could not see", "image 2: 2"]),
        ({"judge_temperatures": "1"}, ["temperatures: 0, 1"]),
        ({"judge_temperatures": "0 (not sent)"}, ["2 of 4", "not sent"]),  # no other temperature
    ],
)
def test_what_must_be_known_of_answers_is_said(facts: dict[str, Any], said: list[str]) -> None:
    both = {"leisure-en-1": 5.0, "leisure-en-2": 5.0}
    [note] = ranking_notes(ranking_of(answers(rows("a", both, **facts), rows("b", both))))
    assert all(words in note for words in said)


def test_a_model_without_any_score_is_last_and_has_no_numbers() -> None:
    found = answers(rows("a", {"leisure-en-1": NAN}), rows("b", {"leisure-en-1": 2.0}))
    ranking = ranking_of(found)
    assert ranking.compared.names == ["b", "a"]
    last = models_of(ranking)[1]
    assert (
        math.isnan(last.all.value)
        and math.isnan(last.self_judged)
        and math.isnan(last.length_correlation.value)
    )
    assert last.ranks is None
    assert (last.mean_lowest, last.mean_highest) == (1, 10)
    assert last.bins == []


# --- facts of models ---


def test_usage_is_the_sum_and_means_stand_for_what_is_not_known() -> None:
    given = [row("a", f"leisure-en-{n}", 5.0, cost=cost) for n, cost in enumerate([1.0, 3.0, NAN])]
    usage = model_of(answers(given), "a")
    assert (usage.input_tokens, usage.judge_output_tokens, usage.judge_cost) == (30, 120, 1.5)
    assert usage.cost == pytest.approx(6.0)
    assert usage.seconds == 6.0
    assert math.isnan(model_of(answers(rows("a", {"leisure-en-1": 1.0})), "a").cost)


def test_lengths_by_hand() -> None:
    # Lengths 10 to 200, scores falling: rho is -1; ten bins of two answers.
    given = [
        row("a", f"leisure-en-{n:02d}", 20.0 - n, answer_length=10.0 * (n + 1), cluster=f"u{n % 8}")
        for n in range(20)
    ]
    lengths = model_of(answers(given), "a")
    assert lengths.length_correlation.value == pytest.approx(-1)
    assert (lengths.length_correlation.n, lengths.length_correlation.clusters) == (20, 8)
    assert lengths.median_length == 105
    assert [(one.length, one.score, one.answers) for one in lengths.bins][:2] == [
        (15, 19.5, 2),
        (35, 17.5, 2),
    ]
    assert len(lengths.bins) == 10
    unknown = model_of(answers(rows("a", {"leisure-en-1": 1.0}, answer_length=NAN)), "a")
    assert math.isnan(unknown.median_length) and unknown.bins == []


def test_self_judged_and_simulated_by_the_judge() -> None:
    judges = {"judges": "p/x, urs_simulation/a"}
    one = {"leisure-en-1": 5.0}
    found = answers(
        rows("urs_simulation/a", one, **judges, self_judged=True), rows("b", one, **judges)
    )
    assert [model_of(found, name).self_judged for name in ("urs_simulation/a", "b")] == [1, 0]
    assert model_of(found, "b").simulated and make_leaderboard(found, rounds=5).simulated


def test_the_deviation_of_the_judge_is_that_between_judgements_of_one_answer() -> None:
    found = answers(
        [
            # Deviations -1 and 1 about 7, one degree of freedom; -1, 0 and 1 about 5, two: sqrt((2
            # + 2) / 3).
            row("a", "leisure-en-1", 8.0, earlier_finals=(6.0,)),
            row("a", "leisure-en-2", 5.0, earlier_finals=(4.0, 6.0)),
            row("a", "leisure-en-3", 9.0),
            row("a", "leisure-en-4", math.nan, earlier_finals=(1.0,)),
        ],
        rows("b", {f"leisure-en-{number}": 5.0 for number in range(1, 5)}),
    )
    assert model_of(found, "a").judge_deviation == pytest.approx(math.sqrt(4 / 3))
    assert math.isnan(model_of(found, "a").epoch_deviation)
    assert math.isnan(model_of(found, "b").judge_deviation)


# --- countries ---


def countries(*names: str) -> Answers:
    return answers(
        [row("a", f"leisure-en-{n}", float(n), country=name) for n, name in enumerate(names)]
    )


def test_countries_have_columns_the_most_frequent_first() -> None:
    ranking = ranking_of(countries("Peru", "Chile", "Chile", "", "Ghana", "Ghana", "Ghana"))
    means = {name: one.value for name, one in model_of(ranking).by_country.items()}
    assert list(means) == list(ranking.columns.countries) and means == {
        "Ghana": 5,
        "Chile": 1.5,
        "Peru": 0,
    }
    assert tells(ranking_notes(ranking)[0], "1 of 7 questions ... country")


def test_countries_stand_by_their_questions_and_then_by_the_alphabet() -> None:
    ranking = ranking_of(countries("Togo", "Peru", "Chile", "Ghana", "Ghana", "Chile"))
    assert ranking.columns.countries == ("Chile", "Ghana", "Peru", "Togo")


def test_a_country_may_be_called_as_a_language() -> None:
    ranking = ranking_of(countries("en", "en", "zh"))
    assert ranking.columns.countries == ("en (country)", "zh")
    assert ranking.compared.question_counts["en"] == 3


# --- traffic ---


@pytest.fixture
def skewed() -> Answers:
    """Eight Leisure questions of score 2, two Factual QA of score 8, half of each in either
    language.
    """
    finals = {f"leisure-{'en' if n % 2 else 'zh'}-{n}": 2.0 for n in range(8)}
    finals |= {f"factual_qa-{'en' if n % 2 else 'zh'}-{n}": 8.0 for n in range(2)}
    return answers(rows("a", finals), rows("b", dict.fromkeys(finals, 4.0)))


def mix(**shares: dict[str, float]) -> TrafficMix:
    return TrafficMix("mix.yaml", shares)


def test_shares_reweight_means_by_hand(skewed: Answers) -> None:
    # Without a mix (8 * 2 + 2 * 8) / 10 = 3.2, so that b leads; half and half it is 5, so that a
    # does.
    assert ranking_of(skewed).compared.names == ["b", "a"]
    ranking = ranking_of(skewed, traffic=mix(intents={"leisure": 0.5, "factual_qa": 0.5}))
    assert ranking.compared.names == ["a", "b"]
    assert model_of(ranking).all.value == pytest.approx(5)
    assert model_of(ranking).by_group["Leisure"].value == pytest.approx(2)
    assert model_of(ranking).by_language["en"].value == pytest.approx(5)
    assert ranking.traffic is not None
    # Weights 1/16 eight times and 1/4 twice: 1 / (8 / 256 + 2 / 16).
    assert ranking.traffic.effective_questions == pytest.approx(1 / (8 / 256 + 2 / 16))
    assert ranking.traffic.shares == {"intents": {"leisure": 0.5, "factual_qa": 0.5}}
    assert ranking.compared.comparisons["all"][0].difference.value == pytest.approx(1)


def test_questions_without_a_share_do_not_count(skewed: Answers) -> None:
    ranking = ranking_of(skewed, traffic=mix(intents={"leisure": 1.0}))
    assert (ranking.compared.questions, ranking.columns.groups) == (8, ("Leisure",))
    assert tells(ranking_notes(ranking)[0], "2 of 10 questions ... mix.yaml")
    assert model_of(ranking).answers == 8


def test_shares_that_cannot_be_had_are_an_error() -> None:
    found = answers(rows("a", {"leisure-en-1": 1.0, "leisure-en-2": 2.0, "factual_qa-zh-1": 3.0}))
    clash = mix(intents={"leisure": 0.9, "factual_qa": 0.1}, languages={"en": 0.1, "zh": 0.9})
    with pytest.raises(InputError, match="no weights"):
        make_leaderboard(found, traffic=clash, rounds=5)
    with pytest.raises(InputError, match="no question of 'api'"):
        make_leaderboard(found, traffic=mix(intents={"api": 1.0}), rounds=5)


def test_a_later_block_that_cannot_have_the_shares_is_left_out() -> None:
    both = {"leisure-en-1": 1.0, "factual_qa-en-1": 2.0}
    found = answers(rows("a", both), rows("b", both), rows("c", {"leisure-en-1": 1.0}, judges="x"))
    report = make_leaderboard(
        found, traffic=mix(intents={"leisure": 0.5, "factual_qa": 0.5}), rounds=5
    )
    assert len(report.rankings) == 1
    [sentence] = left_out(report)
    assert tells(sentence, "ranking of c ... mix.yaml: intents: ")


# --- whole ---


def test_parameters_are_echoed() -> None:
    found = replace(random_answers(0, questions=20), left_out=("x was left out.",))
    report = make_leaderboard(found, rounds=30, level=0.9, seed=5, command="urs-inspect report x")
    assert (report.resampling, report.command) == (Resampling(30, 0.9, 5), "urs-inspect report x")
    assert report.skipped == ("x was left out.",)
    estimate = model_of(report.rankings[0]).all
    assert (estimate.rounds, estimate.level, estimate.seed) == (30, 0.9, 5)


def test_a_rubric_of_ones_own_names_its_intents(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(
        "name: mine\n"
        "version: '1'\n"
        "intents:\n"
        "  gossip:\n"
        "    label: Gossip\n"
        "    group: Gossip\n"
        "    criteria: [clarity]\n"
        "    text:\n"
        "      en: {name: Talk about others, definition: d}\n"
        "      zh: {name: 八卦, definition: d}\n",
        encoding="utf-8",
    )
    rubric: Rubric = load_rubric(str(file))
    found = answers(
        [row("a", "x", 5.0, intent="gossip", group="Gossip"), row("a", "leisure-en-1", 4.0)]
    )
    ranking = ranking_of(found, rubric=rubric)
    assert ranking.columns.groups == ("Leisure", "Gossip")
    assert ranking.titles["gossip"] == "Talk about others"


def test_pandas_is_given_no_reason_to_warn(recwarn: pytest.WarningsRecorder) -> None:
    make_leaderboard(random_answers(1, questions=10), rounds=5)
    assert not [
        one
        for one in recwarn
        if issubclass(one.category, (pd.errors.PerformanceWarning, RuntimeWarning))
    ]


def test_the_benchmark_of_coverage_makes_answers_that_a_report_can_read() -> None:
    found = simulate(population("sample"), EQUAL[:3], rounds=50, seed=0)
    assert set(found.columns) >= {("all", "all"), ("differences", "differences of two models")}
    assert found.orders[FALSE] in (False, True)


# --- questions of one user ---


def of_users(seed: int, named: bool) -> Answers:
    """Two equally good models on 8 users' 12 questions, where one or the other suits a user
    better.
    """
    generator = np.random.default_rng(seed)
    suits = np.repeat(generator.normal(0, 0.66, 8), 12)
    finals = {
        "a": np.clip(5.5 + suits / 2 + generator.normal(0, 0.53, 96), 1, 10),
        "b": np.clip(5.5 - suits / 2 + generator.normal(0, 0.53, 96), 1, 10),
    }
    found = answers_of(finals)
    if named:
        user = "user " + (found.table["question"].str[-3:].astype(int) // 12).astype(str)
        found = replace(found, table=found.table.assign(cluster=user))
    return found


def significant(found: Answers) -> bool:
    """Whether the difference is, by the test of a report."""
    scores = order_models(score_table(found.table, ("a", "b")))
    tested, _ = compare_models(scores, {ALL: np.arange(96)}, Resampling(100, 0.95, 0))
    return tested[ALL][0].significant


def test_questions_of_one_user_are_one_cluster_in_means_and_tests_of_a_report() -> None:
    seeds = range(24)
    unnamed = [significant(of_users(seed, named=False)) for seed in seeds]
    named = [significant(of_users(seed, named=True)) for seed in seeds]
    assert sum(unnamed) >= 7 and sum(named) <= 3  # of 24; 10 and 1 to be expected
    # A report has the same tests.
    false = unnamed.index(True)
    assert ranking_of(of_users(false, named=False)).compared.leads
    assert bool(ranking_of(of_users(false, named=True)).compared.leads) == named[false]
    ranking = ranking_of(of_users(0, named=True))
    [pair] = ranking.compared.comparisons["all"]
    assert {
        pair.difference.clusters,
        ranking.compared.mean("a").clusters,
        ranking.compared.mean("a", "Leisure").clusters,
    } == {8}
    assert ranking.compared.mean("a").n == 96
    plain = ranking_of(of_users(0, named=False))
    assert pair.error > 1.5 * plain.compared.comparisons["all"][0].error
    assert any("96 questions" in note and ": 8; " in note for note in ranking_notes(ranking))
    assert not any(": 8; " in note for note in ranking_notes(plain))


def test_clusters_count_under_a_mix_and_in_the_worst_case_too() -> None:
    found = of_users(0, named=True)
    mix = TrafficMix("mix.yaml", {"intents": {"leisure": 1.0}})
    weighted = make_leaderboard(found, traffic=mix, rounds=300).rankings[0]
    [pair] = weighted.compared.comparisons["all"]
    assert pair.difference.clusters == 8 and pair.p > 0.05
    lacking = found.table.assign(
        final=found.table["final"].where(found.table["question"] != "leisure-en-000")
    )
    for ranking in (
        ranking_of(replace(found, table=lacking)),
        ranking_of(replace(found, table=lacking), traffic=mix),
    ):
        assert ranking.compared.comparisons["all"][0].p_worst > 0.05


def test_questions_without_a_cluster_are_their_own(caplog: pytest.LogCaptureFixture) -> None:
    found = of_users(1, named=True)
    some = found.table["cluster"].where(found.table["cluster"] != "user 0", "")
    ranking = ranking_of(replace(found, table=found.table.assign(cluster=some)))
    assert ranking.compared.mean("a").clusters == 7 + 12
    moved = found.table["cluster"].where(found.table["model"] != "b", "another")
    ranking = ranking_of(replace(found, table=found.table.assign(cluster=moved)))
    assert any("different clusters for 96 questions" in note for note in ranking_notes(ranking))
