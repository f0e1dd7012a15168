"""Which differences are significant when scores are missing, and when the best of a column is
chosen by the data.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from scipy import stats

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
from urs_inspect.reports.numbers._answers import Answers
from urs_inspect.reports.numbers._leaderboard import make_leaderboard
from urs_inspect.reports.numbers._scores import (
    ALL,
    OrderedScores,
    ScoreTable,
    compare_models,
    order_models,
)
from urs_inspect.reports.numbers._traffic import TrafficMix
from urs_inspect.reports.words._comparison import best_sentence, missing_notes
from urs_inspect.reports.words._first_screen import leaderboard_screen
from urs_inspect.reports.words._leaderboard import report_leaderboard
from urs_inspect.stats._bootstrap import Floats, Resampling

NAN = math.nan
RUNS = 250
ALPHA = 0.001
"""How often a test below may fail by chance, though at most 5% of claims are false."""
MOST_FALSE = int(stats.binom.ppf(1 - ALPHA, RUNS, 0.05))


def scores(
    generator: np.random.Generator, questions: int, models: int, shift: float = 0.0
) -> Floats:
    """Final scores of models of one quality that share the effect of each question.

    The first may be better.
    """
    levels = (
        7.4 + generator.normal(0, 1, (questions, 1)) + generator.normal(0, 1, (questions, models))
    )
    levels[:, 0] += shift
    return np.clip(np.rint(levels), 1, 10)


def without_worst(finals: Floats, share: float, models: Sequence[int] = (0,)) -> Floats:
    """The same without the worst scores of some models."""
    kept = finals.copy()
    for model in models:
        kept[np.argsort(finals[:, model], kind="stable")[: round(share * len(finals))], model] = NAN
    return kept


def table_of(finals: Floats) -> ScoreTable:
    """The scores as the report has them, with one epoch."""
    facts = pd.DataFrame(
        {"intent": "leisure", "group": "Leisure", "language": "en", "country": ""},
        index=range(len(finals)),
    )
    names = tuple(f"m{number}" for number in range(finals.shape[1]))
    return ScoreTable(
        facts,
        names,
        finals,
        {},
        np.ones(finals.shape, dtype=np.int64),
        np.isnan(finals).astype(int),
    )


def claims(finals: Floats, seed: int) -> tuple[int, int]:
    """Number of significant differences over all pairs, and over the comparisons with the best of a
    column.
    """
    ordered: OrderedScores = order_models(table_of(finals))
    every = np.arange(len(finals))
    found, _ = compare_models(
        ordered, {ALL: every, "x": every}, resampling=Resampling(200, 0.95, seed)
    )
    return sum(one.significant for one in found[ALL]), sum(one.significant for one in found["x"])


# --- false claims ---


@pytest.mark.parametrize(("models", "share"), [(2, 0.02), (2, 0.05), (3, 0.25), (2, 0.5)])
def test_scores_missing_by_badness_never_yield_more_false_claims_than_nominal(
    models: int, share: float
) -> None:
    generator = np.random.default_rng((models, int(100 * share)))
    found = [
        claims(without_worst(scores(generator, 60, models), share), seed) for seed in range(RUNS)
    ]
    assert np.count_nonzero(found, axis=0).max() <= MOST_FALSE


def test_best_scores_missing_from_one_model_and_worst_from_another_yield_no_more_false_claims() -> (
    None
):
    generator = np.random.default_rng(9)
    false = 0
    for seed in range(RUNS):
        finals = without_worst(scores(generator, 60, 2), 0.2)
        finals[np.argsort(-finals[:, 1], kind="stable")[:12], 1] = NAN
        false += claims(finals, seed)[0] > 0
    assert false <= MOST_FALSE


@pytest.mark.parametrize("models", [2, 4, 8])
def test_the_best_of_equal_models_is_significantly_better_in_few_runs(models: int) -> None:
    generator = np.random.default_rng(models)
    false = sum(claims(scores(generator, 60, models), seed)[1] > 0 for seed in range(RUNS))
    assert false <= MOST_FALSE


def test_a_better_model_is_found_though_scores_are_missing() -> None:
    # 2% of the scores of a model that is better by 1 may be as low as can be: its mean falls by
    # about 0.15.
    generator = np.random.default_rng(0)
    found = [
        claims(without_worst(scores(generator, 200, 3, shift=1.0), 0.02), seed)
        for seed in range(20)
    ]
    assert all(over_all >= 2 and beside_best == 2 for over_all, beside_best in found)


# --- what a report says ---


def lacking(missing: int = 80, questions: int = 300) -> tuple[Answers, Floats]:
    """Two equal models, the worst scores of one of which are missing."""
    generator = np.random.default_rng(5)
    whole = scores(generator, questions, 2)
    some = without_worst(whole, missing / questions)
    return answers_of({"lacking": some[:, 0], "whole": some[:, 1]}), whole


def test_the_80_worst_of_300_scores_missing_make_no_claim() -> None:
    found, whole = lacking()
    ranking = ranking_of(found)
    [pair] = ranking.compared.comparisons["all"]
    # On the common questions the model seems to be better: that is what must not be claimed.
    assert (pair.first, pair.difference.n) == ("lacking", 220)
    assert pair.p_holm < 0.001
    assert (pair.verdict, pair.depends_on) == ("depends on unscored answers", {"lacking": 80})
    assert pair.p_worst == 1
    assert [model.ranks for model in models_of(ranking)] == [(1, 2), (1, 2)]
    for key in ("Leisure", "en"):
        assert ranking.compared.best_in[key].pairs[0].verdict == "depends on unscored answers"
        assert ranking.compared.best_in[key].marked == {"lacking", "whole"}
    model = model_of(ranking)
    assert model.unscored_share == pytest.approx(80 / 300)
    kept = np.sort(whole[:, 0])[80:]
    assert model.mean_scored == pytest.approx(kept.mean())
    assert model.mean_lowest == pytest.approx((kept.sum() + 80) / 300)
    assert model.mean_highest == pytest.approx((kept.sum() + 800) / 300)
    assert model.mean_lowest <= whole[:, 0].mean() <= model.mean_highest
    other = models_of(ranking)[1]
    assert (
        other.mean_lowest
        == other.mean_highest
        == other.mean_scored
        == pytest.approx(whole[:, 1].mean())
    )


def test_means_ranks_and_tests_are_over_the_questions_that_all_ranked_models_have_a_score_for() -> (
    None
):
    ranking = ranking_of(
        answers(
            rows(
                "a",
                {
                    "leisure-en-1": 5.0,
                    "leisure-en-2": 9.0,
                    "leisure-en-3": NAN,
                    "leisure-zh-4": 4.0,
                },
            ),
            rows(
                "b",
                {
                    "leisure-en-1": 3.0,
                    "leisure-en-2": NAN,
                    "leisure-en-3": 1.0,
                    "leisure-zh-4": 2.0,
                },
            ),
        )
    )
    # Questions 1 and 4.
    assert (ranking.compared.questions, ranking.compared.asked) == (2, 4)
    assert [(one.model, one.all.value, one.all.n) for one in models_of(ranking)] == [
        ("a", 4.5, 2),
        ("b", 2.5, 2),
    ]
    assert (
        ranking.compared.question_counts["all"],
        ranking.compared.question_counts["en"],
        ranking.compared.question_counts["zh"],
    ) == (2, 1, 1)
    assert ranking.compared.comparisons["all"][0].difference.value == 2
    assert [one.mean_scored for one in models_of(ranking)] == [6, 2]
    assert (ranking.compared.missing.unscored, ranking.compared.missing.answers) == (2, 8)
    assert tells(missing_notes(ranking.compared)[0], "2 of 8 answers ... 2 of 4 questions")


def test_the_model_that_takes_questions_away_is_named() -> None:
    lost = {"a": 0, "b": 6, "c": 1}
    ranking = ranking_of(
        answers_of({name: [NAN] * count + [5.0] * (20 - count) for name, count in lost.items()})
    )
    assert ranking.compared.questions == 14
    [note] = [note for note in missing_notes(ranking.compared) if note.startswith("b ")]
    assert "19 questions" in note


def test_a_model_that_lacks_most_scores_is_not_ranked_and_takes_nothing_from_the_others() -> None:
    full = np.arange(20.0) % 5 + 3
    few = np.where(np.arange(20) < 9, full, NAN)
    ranking = ranking_of(answers_of({"a": full, "b": full - 1, "few": few}))
    assert ranking.compared.questions == 20
    assert [(model.model, model.ranks) for model in models_of(ranking)] == [
        ("a", (1, 1)),
        ("b", (2, 2)),
        ("few", None),
    ]
    last = models_of(ranking)[-1]
    assert math.isnan(last.all.value) and last.mean_scored == pytest.approx(np.nanmean(few))
    assert {
        pair.verdict for pair in ranking.compared.comparisons["all"] if pair.second == "few"
    } == {"not comparable"}
    assert any(
        tells(note, "few ... not ranked") and "9 questions" in note
        for note in missing_notes(ranking.compared)
    )


def test_missing_epochs_and_errors_are_filled_in_the_worst_case() -> None:
    # Question 1 of a: 8 and a missing one; question 2: an error. Lowest (8 + 1) / 2 = 4.5 and 1,
    # highest 9 and 10.
    found = answers(
        [
            row("a", "leisure-en-1", 8.0),
            row("a", "leisure-en-1", NAN, epoch=2),
            row("a", "leisure-en-2", NAN, outcome="error", error="gone"),
            row("a", "leisure-en-2", NAN, epoch=2),
            row("a", "leisure-en-3", 6.0),
            row("a", "leisure-en-3", 4.0, epoch=2),
        ]
    )
    model = model_of(found)
    assert [model.mean_lowest, model.mean_highest] == pytest.approx([10.5 / 3, 24 / 3])
    assert (model.mean_scored, model.all.value, model.questions) == (6.5, 6.5, 2)
    assert (model.unscored_share, model.unscored, model.errors) == (0.5, 3, 1)


def test_missing_epochs_alone_can_make_a_verdict_depend_on_them() -> None:
    # The lower of two epochs of each question is missing: every question has a score.
    generator = np.random.default_rng(3)
    table = []
    for number in range(100):
        for model in "ab":
            first, second = sorted(scores(generator, 2, 1)[:, 0])
            name = f"leisure-en-{number}"
            table += [
                row(model, name, NAN if model == "a" else first),
                row(model, name, second, epoch=2),
            ]
    [pair] = ranking_of(answers(table)).compared.comparisons["all"]
    assert (pair.difference.n, pair.p_holm < 0.001) == (100, True)
    assert (pair.verdict, pair.depends_on) == ("depends on unscored answers", {"a": 100})


def test_missing_scores_of_the_worse_model_count_as_well() -> None:
    # Better by 2; of the worse one the best are missing, so that it might be the better one.
    generator = np.random.default_rng(1)
    finals = np.clip(scores(generator, 100, 2) - np.array([0, 2]), 1, 10)
    finals[np.argsort(finals[:, 1])[-40:], 1] = NAN
    [pair] = ranking_of(answers_of({"a": finals[:, 0], "b": finals[:, 1]})).compared.comparisons[
        "all"
    ]
    assert (pair.first, pair.verdict, pair.depends_on) == (
        "a",
        "depends on unscored answers",
        {"b": 40},
    )


def test_models_that_lack_nothing_are_not_compared_on_what_a_third_one_left_over_alone() -> None:
    # The third has no score of the hard questions, on which b is better by 1; on the easy ones a
    # is.
    noise = np.random.default_rng(7).normal(0, 0.5, (100, 3))
    finals = 6 + noise + np.where(np.arange(100) < 45, 0.0, 1.0)[:, None] * np.array([1, 0, 0])
    finals[:45] += np.array([0, 55 / 45, 0])
    finals[:45, 2] = NAN
    ranking = ranking_of(answers_of(dict(zip("abc", finals.T, strict=True))))
    [pair] = [
        one for one in ranking.compared.comparisons["all"] if {one.first, one.second} == {"a", "b"}
    ]
    assert (pair.difference.n, pair.p_holm < 0.001) == (55, True)
    # The verdict must not contradict the p-value over the common questions.
    assert pair.p_worst >= 0.05
    assert (pair.verdict, pair.depends_on) == ("not significant over all questions", {})
    for key in (ALL, "Leisure"):
        assert {"a", "b"} <= ranking.compared.best_in[key].marked
        said = best_sentence(ranking.compared, key)
        assert "over the 55 common questions" in said and "not over all" in said
        assert not tells(said, "distinguished from b")


def test_with_shares_of_traffic_means_and_worst_case_are_weighted() -> None:
    # Leisure has 10 questions and half of the weight, Factual QA 30 and the other half.
    finals = {f"leisure-en-{n}": 2.0 for n in range(10)} | {
        f"factual_qa-en-{n}": 8.0 for n in range(30)
    }
    some = {
        name: NAN if name in ("leisure-en-0", "factual_qa-en-0", "factual_qa-en-1") else 6.0
        for name in finals
    }
    mix = TrafficMix("mix.yaml", {"intents": {"leisure": 0.5, "factual_qa": 0.5}})
    ranking = ranking_of(answers(rows("a", finals), rows("b", some)), traffic=mix)
    assert {model.model: model.all.value for model in models_of(ranking)} == pytest.approx(
        {"a": 5, "b": 6}
    )
    lowest = {model.model: model.mean_lowest for model in models_of(ranking)}
    # (9 * 6 + 1) / 10 and (28 * 6 + 2) / 30, halves of each.
    assert lowest == pytest.approx({"a": 5, "b": 0.5 * 5.5 + 0.5 * 170 / 30})


def test_the_worst_case_with_shares_is_that_of_the_weighted_questions() -> None:
    # The missing scores are in an intent of almost no weight: the claim survives, as it would not
    # without the shares.
    generator = np.random.default_rng(2)
    finals = np.clip(scores(generator, 200, 2) - np.array([0, 1.5]), 1, 10)
    finals[:60, 0] = NAN
    finals = np.append(finals, np.full((3, 2), 5.0), axis=0)
    names = [
        f"{'factual_qa' if 60 <= place < 200 else 'leisure'}-en-{place}" for place in range(203)
    ]
    found = answers_of(dict(zip("ab", finals.T, strict=True)), names)
    assert ranking_of(found).compared.comparisons["all"][0].verdict == "depends on unscored answers"
    mix = TrafficMix("mix.yaml", {"intents": {"leisure": 0.001, "factual_qa": 0.999}})
    assert ranking_of(found, traffic=mix).compared.comparisons["all"][0].verdict == "significant"


# --- intents and languages ---


def test_each_intent_and_language_has_its_own_best() -> None:
    generator = np.random.default_rng(0)
    places = np.arange(80)
    names = [
        f"{'leisure' if n % 2 else 'factual_qa'}-{'en' if n < 40 else 'zh'}-{n:02}" for n in places
    ]
    effects, better = generator.normal(0, 1, 80), np.where(places % 2, 8.0, 5.0)
    noise = generator.normal(0, 1, (2, 80))
    ranking = ranking_of(
        answers_of({"a": better + effects + noise[0], "b": 13 - better + effects + noise[1]}, names)
    )
    cells = {"Leisure/en", "Leisure/zh", "Factual QA/en", "Factual QA/zh"}
    assert set(ranking.compared.comparisons) == {"all", "Leisure", "Factual QA", "en", "zh", *cells}
    assert (
        ranking.compared.best_in["Leisure"].model,
        ranking.compared.best_in["Factual QA"].model,
    ) == ("a", "b")
    assert (
        ranking.compared.best_in["Leisure"].marked
        == ranking.compared.best_in["Leisure/zh"].marked
        == {"a"}
    )
    assert ranking.compared.best_in["Leisure"].pairs[0].difference.n == 40
    assert ranking.compared.best_in["en"].pairs[0].verdict == "not distinguishable"
    assert ranking.compared.best_in["en"].marked == {"a", "b"}


def test_comparisons_with_the_best_are_corrected_for_its_choice_by_hand() -> None:
    # Three comparisons, four models: Holm's 3, 2 and 1 times p, and twice that for the choice of
    # one of four.
    generator = np.random.default_rng(4)
    finals = scores(generator, 50, 4) + np.array([0.9, 0.0, 0.3, 0.6])
    ordered = order_models(table_of(np.clip(finals, 1, 10)))
    found, _ = compare_models(ordered, {"x": np.arange(50)}, resampling=Resampling(2000, 0.95, 0))
    assert {one.first for one in found["x"]} == {0}
    raw = sorted(one.p for one in found["x"])
    expected, highest = [], 0.0
    for place, p in enumerate(raw):
        highest = max(highest, min(1.0, (3 - place) * p))
        expected.append(min(1.0, 2 * highest))
    assert sorted(one.p_holm for one in found["x"]) == pytest.approx(expected)


def test_one_model_has_no_comparison_and_no_mark() -> None:
    ranking = ranking_of(answers(rows("a", {"leisure-en-1": 5.0})))
    assert ranking.compared.best_in["Leisure"].model == "a"
    assert (
        ranking.compared.best_in["Leisure"].pairs,
        ranking.compared.best_in["Leisure"].marked,
    ) == (
        (),
        frozenset(),
    )
    assert model_of(ranking).ranks == (1, 1)


def test_one_model_without_some_scores_is_not_said_to_be_compared() -> None:
    _, whole = lacking()
    board = make_leaderboard(
        answers_of({"alone": without_worst(whole, 80 / 300)[:, 0]}), rounds=200
    )
    [ranking] = board.rankings
    [model] = models_of(ranking)
    assert "over 220 of 300 questions" in leaderboard_screen(board).claim
    [row] = report_leaderboard(board).sections[0].tables[0].text().rows
    assert f"{model.mean_lowest:.2f}–{model.mean_highest:.2f}" in row
    [note] = [note for note in missing_notes(ranking.compared) if "no score" in note]
    assert "220 of 300" in note
    assert not any(word in note for word in ("every", "rank", "difference", "tests"))
    complete = make_leaderboard(answers_of({"alone": whole[:, 0]}), rounds=200)
    assert " of 300 " not in leaderboard_screen(complete).claim
