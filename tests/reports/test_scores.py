"""Scores of models on the same questions: tables, order and comparisons, by slow obvious code."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.reports.answer_rows import answers, answers_of, ranking_of, row, rows
from urs_inspect.reports.numbers._comparison import (
    ComparedModels,
    _welch,
    compare_table,
    verdict_of,
    without_intents,
)
from urs_inspect.reports.numbers._scores import (
    ALL,
    OrderedScores,
    ScoreTable,
    clusters_of,
    columns_of,
    columns_of_means,
    order_models,
    score_table,
    with_shares,
)
from urs_inspect.reports.numbers._traffic import TrafficMix
from urs_inspect.rubrics import Rubric, load_rubric
from urs_inspect.stats import Estimate, MeanDifference, holm
from urs_inspect.stats._bootstrap import Floats, Resampling
from urs_inspect.stats._power import questions_needed, smallest_difference

NAN = math.nan
HOW = Resampling(200, 0.95, 0)
PANEL = ("p/one", "p/two", "p/three")
Rows = list[dict[str, Any]]


def mean(values: Sequence[float]) -> float:
    """Mean of the known values; NaN without any."""
    known = [value for value in values if not math.isnan(value)]
    return statistics.fmean(known) if known else NAN


def table_of(
    finals: Sequence[Sequence[float]] | Floats,
    *,
    asked: Any = 1,
    unscored: Any = None,
    groups: Sequence[str] = (),
    clusters: Sequence[str] = (),
    scale: tuple[float, float] = (1.0, 10.0),
) -> ScoreTable:
    """A table of scores, a row for each question; models are called by letters."""
    values = np.array(finals, dtype=np.float64)
    number, models = values.shape
    intents = list(groups) or ["leisure"] * number
    facts = pd.DataFrame({"intent": intents, "group": intents, "language": "en", "country": ""})
    if clusters:
        facts["cluster"] = list(clusters)
    given = np.broadcast_to(np.asarray(asked, dtype=np.int64), values.shape)
    lost = np.isnan(values).astype(np.int64)
    if unscored is not None:
        lost = np.asarray(unscored, dtype=np.int64)
    return ScoreTable(facts, tuple("abcdefgh"[:models]), values, {}, given, lost, scale=scale)


# --- tables of scores ---


def random_rows(seed: int) -> Rows:
    """Two epochs of three models before a panel of which any part may fail."""
    generator = np.random.default_rng(seed)
    found = []
    for model in "abc":
        for number in range(12):
            for epoch in (1, 2):
                if model == "b" and number == 3:
                    continue  # was not asked
                given = {judge: float(generator.integers(1, 11)) for judge in PANEL}
                for judge in PANEL:
                    if generator.random() < 0.2:
                        given[judge] = NAN
                final = mean(list(given.values()))
                if (model, number) == ("c", 5):  # nobody was asked about the empty answer
                    given = dict.fromkeys(PANEL, NAN)
                    final = 1.0
                name = f"leisure-en-{number:02}"
                others = {"criterion/clarity": float(generator.integers(1, 11))}
                judges = {"judges": ", ".join(PANEL), "judge_finals": given}
                found.append(row(model, name, final, epoch=epoch, **judges, **others))
    return found


def test_a_table_of_a_panel_agrees_with_plain_counting() -> None:
    given = random_rows(1)
    table = score_table(pd.DataFrame(given), ("c", "a", "b"))
    assert table.panel is not None and table.models == ("c", "a", "b")
    names = [f"leisure-en-{number:02}" for number in range(12)]
    assert list(table.facts.index) == names
    effects = table.panel.effects
    assert effects.sum() == pytest.approx(0)
    for place, name in enumerate(names):
        for column, model in enumerate(table.models):
            own = [one for one in given if (one["model"], one["question"]) == (model, name)]
            by_judge = {}
            for judge in PANEL:
                values = [one["judge_finals"][judge] for one in own]
                if (model, name) == ("c", names[5]):
                    values = [1.0, 1.0]
                by_judge[judge] = values
            cell = (place, column)
            assert table.asked[cell] == len(own)
            assert table.unscored[cell] == sum(math.isnan(one["final"]) for one in own)
            failed = [
                sum(math.isnan(by_judge[judge][epoch]) for judge in PANEL)
                for epoch in range(len(own))
            ]
            assert table.missing[cell] == pytest.approx(sum(failed) / 3)
            assert table.incomplete[cell] == sum(count > 0 for count in failed)
            means = {judge: mean(values) for judge, values in by_judge.items() if values}
            kept = [means[judge] - effects[n] for n, judge in enumerate(PANEL) if means]
            assert table.finals[cell] == pytest.approx(mean(kept), nan_ok=True)
            for score in (1.0, 10.0):
                filled = [
                    mean([score if math.isnan(value) else value for value in values])
                    for values in by_judge.values()
                    if values
                ]
                wanted = mean(filled)
                assert table.filled(score)[cell] == pytest.approx(wanted, nan_ok=True)
            complete = [
                one["criterion/clarity"]
                for one, count in zip(own, failed, strict=True)
                if not count
            ]
            assert table.criteria["clarity"][cell] == pytest.approx(mean(complete), nan_ok=True)
    assert "factuality" not in table.criteria


def test_of_one_judge_missing_epochs_are_filled_and_no_question_that_was_not_asked() -> None:
    given = [
        row("a", "leisure-en-1", 8.0),
        row("a", "leisure-en-1", NAN, epoch=2),
        row("a", "leisure-en-2", NAN),
        row("b", "leisure-en-2", 4.0),
        row("b", "leisure-en-2", 6.0, epoch=2),
    ]
    table = score_table(pd.DataFrame(given), ("a", "b"), scale=(0.0, 10.0))
    assert (table.panel, table.scale) == (None, (0.0, 10.0))
    np.testing.assert_array_equal(table.finals, [[8, NAN], [NAN, 5]])
    np.testing.assert_array_equal(table.filled(0.0), [[4, NAN], [0, 5]])
    np.testing.assert_array_equal(table.missing, [[1, 0], [1, 0]])
    np.testing.assert_array_equal(table.incomplete, [[1, 0], [1, 0]])


def test_a_part_of_a_table_has_the_same_cells() -> None:
    table = score_table(pd.DataFrame(random_rows(2)), ("a", "b", "c"))
    part = table.of(np.array([7, 0, 5]), [2, 0])
    assert part.models == ("c", "a")
    assert list(part.facts.index) == ["leisure-en-07", "leisure-en-00", "leisure-en-05"]
    assert table.panel is not None and part.panel is not None
    pairs = [
        (table.finals, part.finals),
        (table.criteria["clarity"], part.criteria["clarity"]),
        (table.asked, part.asked),
        (table.unscored, part.unscored),
        (table.missing, part.missing),
        (table.incomplete, part.incomplete),
        (table.filled(1.0), part.filled(1.0)),
        (table.panel.finals, part.panel.finals),
    ]
    for whole, chosen in pairs:
        for row_of_part, row_of_whole in enumerate((7, 0, 5)):
            for column, column_of_whole in enumerate((2, 0)):
                np.testing.assert_array_equal(
                    chosen[row_of_part, column], whole[row_of_whole, column_of_whole]
                )


def test_on_a_question_the_judges_count_that_scored_all_ranked_models() -> None:
    table = score_table(pd.DataFrame(random_rows(3)), ("a", "b", "c"))
    assert table.panel is not None
    finals, there = table.by_common_judges(np.array([True, False, True]))
    by_judge = table.panel.finals - table.panel.effects
    for place in range(12):
        common = [n for n in range(3) if not np.isnan(by_judge[place, [0, 2], n]).any()]
        assert there[place] == bool(common)
        for model in range(3):
            wanted = table.finals[place, model]
            if model != 1 and common:
                wanted = mean([by_judge[place, model, n] for n in common])
            np.testing.assert_allclose(finals[place, model], wanted)
    assert table.panel.means().shape == (12, 3)
    np.testing.assert_allclose(table.panel.means(), table.finals)


def test_clusters_are_those_that_any_row_of_a_question_names() -> None:
    table = pd.DataFrame(
        [
            ("q1", ""),
            ("q1", "ann"),
            ("q1", "bob"),
            ("q2", "ann"),
            ("q3", ""),
            ("q4", "question q3"),
        ],
        columns=["question", "cluster"],
    )
    found = clusters_of(table)
    assert list(found.index) == ["q1", "q2", "q3", "q4"]
    assert found["q1"] == found["q2"]
    assert found.nunique() == 3  # a cluster named like a question by itself is another one


def test_facts_of_a_question_are_those_of_its_first_row() -> None:
    given = rows("a", {"leisure-en-1": 5.0}, country="Peru") + rows(
        "b", {"leisure-en-1": 5.0}, country="Chile"
    )
    table = score_table(pd.DataFrame(given), ("b", "a"))
    assert table.facts["country"].tolist() == ["Peru"]


# --- columns ---


def test_columns_by_hand(rubric: Rubric) -> None:
    kinds = [
        ("zeta", "Zeta", "fr", "Peru"),
        ("api", "Solve Problem", "zh", "Chile"),
        ("leisure", "Leisure", "en", "Peru"),
        ("solve_professional_problem", "Solve Problem", "en", "en"),
        ("leisure", "Leisure", "zh", ""),
        ("alpha", "Alpha", "de", "Chile"),
        ("factual_qa", "Factual QA", "en", "Peru"),
        *((name.lower(), name, "en", "") for name in ("Mu", "Beta", "Rho", "Kappa")),
    ]
    facts = pd.DataFrame(kinds, columns=["intent", "group", "language", "country"])
    found = columns_of(facts, rubric)
    known = [intent.group for intent in rubric.intents.values()]
    there = [g for g in dict.fromkeys(known) if g in {"Solve Problem", "Leisure", "Factual QA"}]
    assert found.groups == (*there, "Alpha", "Beta", "Kappa", "Mu", "Rho", "Zeta")
    codes = [code for code in rubric.languages if code in ("en", "zh")]
    assert found.languages == (*codes, "de", "fr")
    parts = [name for name in rubric.intents if name in ("api", "solve_professional_problem")]
    assert found.parts == tuple(f"Solve Problem: {name}" for name in parts)
    # An intent that logs report in two groups is a part of each with the questions of that group.
    twice = [("api", "Code", "en", ""), ("leisure", "Code", "en", ""), ("api", "Code", "zh", "")]
    both = pd.concat([facts, pd.DataFrame(twice, columns=facts.columns)], ignore_index=True)
    of_both = columns_of(both, rubric)
    for part in of_both.parts:
        group, _, intent = part.partition(": ")
        kept = both[(both["group"] == group) & (both["intent"] == intent)]
        assert len(kept) and of_both.questions[part].tolist() == kept.index.tolist()
    assert {"Code: api", "Code: leisure", "Solve Problem: api"} <= set(of_both.parts)
    assert set(found.cells) == {f"{group}/{language}" for _, group, language, _ in kinds}
    # A country that is called like a language
    assert found.countries == ("Peru", "Chile", "en (country)")
    places = {
        ALL: list(range(11)),
        "Leisure": [2, 4],
        "Solve Problem": [1, 3],
        "Solve Problem: api": [1],
        "en": [2, 3, 6, 7, 8, 9, 10],
        "en (country)": [3],
        "Solve Problem/en": [3],
        "Peru": [0, 2, 6],
        "Leisure/zh": [4],
    }
    for key, wanted in places.items():
        assert found.questions[key].tolist() == wanted


# --- order ---


@pytest.mark.parametrize(("scored", "is_ranked"), [(5, True), (4, False), (0, False)])
def test_half_of_the_scores_of_the_model_with_most_make_a_rank(
    scored: int, is_ranked: bool
) -> None:
    # Of twelve questions the model with most scores has ten: half of ten are five.
    finals = np.full((12, 3), 5.0)
    finals[10:, 0] = NAN
    finals[10:, 1] = NAN
    finals[scored:, 2] = NAN
    ordered = order_models(table_of(finals))
    assert ordered.ranked == 2 + is_ranked
    assert len(ordered.common) == (scored if is_ranked else 10)
    assert ordered.is_ranked.tolist() == [True, True, is_ranked]


def test_models_stand_by_mean_then_by_name_and_those_without_a_rank_last() -> None:
    rounded = 0.1 + 0.2  # a little above 0.3
    finals = np.array(
        [
            [9.0, 5.0, rounded, 0.3, 7.0],
            [NAN, 5.0, rounded, 0.3, 7.0],
            [NAN, 5.0, rounded, 0.3, 7.0 + 1e-13],
        ]
    )
    assert finals[0, 2] > finals[0, 3]
    table = replace(table_of(finals), models=("z", "c", "b", "a", "d"))
    ordered = order_models(table)
    # `a` and `b` are equal but for rounding; `z` is not ranked, whatever its score.
    assert ordered.table.models == ("d", "c", "a", "b", "z")
    assert ordered.ranked == 4
    assert np.isnan(ordered.comparable[:, 4]).all()
    np.testing.assert_array_equal(ordered.comparable[:, 0], [7.0, 7.0, 7.0 + 1e-13])


def test_nothing_is_common_where_no_model_has_a_score() -> None:
    ordered = order_models(table_of([[NAN, NAN], [NAN, NAN]]))
    assert (ordered.ranked, ordered.common.tolist()) == (0, [])


def test_clusters_of_the_common_questions_are_numbered_anew() -> None:
    finals = np.array([[NAN, 5], [5, 5], [5, 5], [5, 5]])
    table = table_of(finals, clusters=["u", "v", "v", "w"])
    found = order_models(table).common_clusters
    assert found is not None and found.tolist() == [0, 0, 1]
    assert order_models(table_of(finals)).common_clusters is None
    assert order_models(table_of(finals, clusters=list("uvwx"))).common_clusters is None


def test_only_questions_with_a_share_of_every_kind_count() -> None:
    given = [
        row("a", f"{intent}-{language}-{n}", 5.0)
        for n, (intent, language) in enumerate(
            [("leisure", "en"), ("leisure", "zh"), ("api", "en"), ("factual_qa", "en")]
        )
    ]
    table = score_table(pd.DataFrame(given), ("a",))
    shares = {"intents": {"leisure": 0.5, "api": 0.5}, "languages": {"en": 1.0}}
    kept = with_shares(table, TrafficMix("mix", shares))
    assert list(kept.facts.index) == ["api-en-2", "leisure-en-0"]
    assert len(with_shares(table, None).facts) == 4


def test_criteria_count_where_every_ranked_model_that_has_any_has_a_score() -> None:
    table = table_of([[5, 5, NAN]] * 4)
    criteria = {
        "some": np.array([[1, 2, 9], [3, NAN, 9], [5, 6, 9], [NAN, 8, 9]], dtype=float),
        "one": np.array([[1, NAN, 9]] * 4, dtype=float),
        "none": np.full((4, 3), NAN),
    }
    found = columns_of_means(order_models(replace(table, criteria=criteria)), {})
    assert found["criterion/some"].questions.tolist() == [0, 2]
    np.testing.assert_array_equal(found["criterion/some"].values, [[1, 2, NAN], [5, 6, NAN]])
    assert found["criterion/one"].questions.tolist() == [0, 1, 2, 3]
    assert found["criterion/none"].questions.tolist() == []
    # Columns come in their order and before criteria, the questions of each in that of the table.
    columns = {"z": np.array([2, 0]), ALL: np.arange(4)}
    both = columns_of_means(order_models(replace(table, criteria=criteria)), columns)
    assert list(both) == ["z", ALL, "criterion/some", "criterion/one", "criterion/none"]
    assert (both["z"].questions.tolist(), both["z"].values.shape) == ([0, 2], (2, 3))


# --- comparisons ---


def compared(
    finals: Any, groups: Sequence[str] = (), *, tested: Sequence[str] = (ALL,), **others: Any
) -> ComparedModels:
    """Models compared over all questions, and over those of each group."""
    options = {name: others.pop(name) for name in ("baseline", "together") if name in others}
    how = others.pop("how", HOW)
    ordered: OrderedScores = order_models(table_of(finals, groups=groups, **others))
    facts = ordered.table.facts
    columns = {ALL: np.arange(len(facts))}
    for group in dict.fromkeys(groups):
        columns[group] = np.flatnonzero(facts["group"] == group)
    return compare_table(ordered, columns, tested, how, **options)


def noisy(levels: Sequence[float], questions: int, seed: int = 0) -> Floats:
    generator = np.random.default_rng(seed)
    noise = generator.normal(0, 1, (questions, len(levels)))
    return 5 + np.array(levels) + noise


def difference(
    p_holm: float, p_worst: float, *, n: int = 10, significant: bool = False, level: float = 0.95
) -> MeanDifference:
    estimate = Estimate(1.0, 0.0, 2.0, n, n, level)
    return MeanDifference(0, 1, estimate, p_holm / 4, p_holm, p_worst, significant)


@pytest.mark.parametrize(
    ("tested", "lacking", "verdict"),
    [
        (difference(0.01, 0.01, significant=True), False, "significant"),
        (difference(NAN, NAN, n=0), False, "not comparable"),
        (difference(0.06, 0.06), True, "not distinguishable"),
        (difference(0.0501, 0.06), True, "not distinguishable"),
        (difference(NAN, NAN), True, "not distinguishable"),
        (difference(0.049, 0.06), True, "depends on unscored answers"),
        (difference(0.049, 0.06), False, "not significant over all questions"),
        (difference(0.08, 0.2, level=0.9), True, "depends on unscored answers"),
        (difference(0.04, 0.2, level=0.99), True, "not distinguishable"),
    ],
)
def test_the_verdict_on_a_difference(tested: MeanDifference, lacking: bool, verdict: str) -> None:
    assert verdict_of(tested, lacking=lacking) == verdict


def test_facts_of_models_and_what_is_missing_by_hand() -> None:
    finals = [[9, 5, 1], [8, NAN, 1], [NAN, 4, NAN], [7, 6, NAN], [8, 6, NAN], [9, 6, NAN]]
    asked = [[2, 1, 1], [1, 1, 1], [1, 1, 0], [1, 1, 1], [1, 2, 1], [1, 1, 1]]
    unscored = [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1], [0, 0, 1]]
    found = compared(finals, asked=asked, unscored=unscored)
    assert (found.names, found.ranked, found.with_mean) == (["a", "b", "c"], ["a", "b"], ["a", "b"])
    assert (found.questions, found.asked) == (4, 6)
    assert found.models["answers"].tolist() == [7, 7, 5]
    assert found.models["unscored"].tolist() == [2, 2, 3]
    assert found.models["unscored_share"].tolist() == pytest.approx([2 / 7, 2 / 7, 3 / 5])
    assert found.models["mean_scored"].tolist() == pytest.approx([8.2, 5.4, 1])
    # a: (9 + x) / 2, 8, x, 7, 8, 9; b: 5, x, 4, 6, (6 + x) / 2, 6; c: 1, 1, x, x, x
    for name, score in (("mean_lowest", 1), ("mean_highest", 10)):
        wanted = [
            ((9 + score) / 2 + 32 + score) / 6,
            (5 + score + 4 + 6 + (6 + score) / 2 + 6) / 6,
            (2 + 3 * score) / 5,
        ]
        assert found.models[name].tolist() == pytest.approx(wanted)
    missing = found.missing
    assert (missing.unscored, missing.answers, missing.failed) == (7, 19, {})
    assert missing.attempted == {"a": 6, "b": 6, "c": 5}
    assert missing.scored == {"a": 5, "b": 5, "c": 2}
    # questions with a score of the other ranked model
    assert missing.without == {"a": 5, "b": 5}
    assert (found.mean("b").value, found.mean("a").n) == (5.75, 4)


def test_the_share_that_each_judge_did_not_score() -> None:
    given: Rows = []
    for model in "ab":
        for number in range(4):
            finals = {"p/one": 5.0, "p/two": 6.0}
            if model == "a" and number < 3:
                finals["p/two"] = NAN
            name = f"leisure-en-{number}"
            final = mean(list(finals.values()))
            given.append(row(model, name, final, judges="p/one, p/two", judge_finals=finals))
    ranking = ranking_of(answers(given), rounds=20)
    assert ranking.compared.missing.failed == {"p/two": {"a": 0.75, "b": 0.0}}


def test_ranks_leads_and_the_best_of_columns() -> None:
    groups = ["x"] * 30 + ["y"] * 30 + ["z"] * 3
    finals = noisy([1.5, 0.0, -1.5], 63)
    finals[30:60] = finals[30:60, ::-1]  # in y the last one is best
    finals[30:60, 2] -= 1.2
    found = compared(finals, groups, tested=[ALL, "x", "y", "z"])
    x, y, z = (found.best_in[key] for key in "xyz")
    assert {(pair.first, pair.second) for pair in x.pairs} == {("a", "b"), ("a", "c")}
    assert x.marked == {"a"}
    assert (x.model, len(x.clear), len(x.unclear)) == ("a", 2, 0)
    assert {pair.first for pair in y.pairs} == {y.model}
    assert y.marked == {y.model} | {pair.second for pair in y.unclear}
    # over three questions nothing can be significant
    assert (z.testable, z.marked, z.clear) == (False, frozenset(), ())
    assert x.testable and y.testable
    assert found.question_counts == {ALL: 63, "x": 30, "y": 30, "z": 3}
    assert set(found.leads) == {
        (pair.first, pair.second) for pair in found.comparisons[ALL] if pair.significant
    }
    with_best = found.best_in[ALL].pairs
    assert {(pair.first, pair.second) for pair in with_best} == {
        (found.names[0], found.names[1]),
        (found.names[0], found.names[2]),
    }
    better = {name: sum(worse == name for _, worse in found.leads) for name in found.names}
    worse = {name: sum(first == name for first, _ in found.leads) for name in found.names}
    assert found.models["rank_from"].tolist() == [1 + better[name] for name in found.names]
    assert found.models["rank_to"].tolist() == [3 - worse[name] for name in found.names]


@pytest.mark.parametrize("together", [True, False])
def test_columns_are_corrected_together_or_each_by_itself(together: bool) -> None:
    groups = ["x"] * 20 + ["y"] * 20
    finals = noisy([0.7, 0.0], 40, seed=2)
    found = compared(finals, groups, tested=[ALL, "x", "y"], together=together)
    times = 2 if together else 1
    for key in "xy":
        [pair] = found.comparisons[key]
        assert 0 < pair.p < 0.5
        assert pair.p_holm == pytest.approx(min(1.0, times * pair.p))
    [pair] = found.comparisons[ALL]
    assert pair.p_holm == pair.p


@pytest.mark.parametrize("baseline", ["a", "b", "c"])
def test_with_a_baseline_each_other_model_is_compared_with_it_alone(baseline: str) -> None:
    groups = ["x"] * 20 + ["y"] * 20
    finals = noisy([0.8, 0.4, 0.0], 40, seed=3)
    found = compared(finals, groups, tested=[ALL, "x", "y"], baseline=baseline, together=False)
    for key in (ALL, "x", "y"):
        pairs = found.comparisons[key]
        assert {pair.first for pair in pairs} | {pair.second for pair in pairs} == set("abc")
        assert all(baseline in (pair.first, pair.second) for pair in pairs)
        for pair in pairs:
            assert found.mean(pair.first, key).value >= found.mean(pair.second, key).value
            assert pair.difference.value >= 0
        # two tests by Holm; a baseline that was named beforehand needs no more
        low, high = sorted(pairs, key=lambda pair: pair.p)
        assert low.p_holm == pytest.approx(min(1, 2 * low.p))
        assert high.p_holm == pytest.approx(max(low.p_holm, high.p))


def test_the_level_is_that_of_every_interval() -> None:
    finals = noisy([1.0, 0.0], 40)
    widths = []
    for level in (0.5, 0.99):
        found = compared(finals, how=replace(HOW, level=level))
        [pair] = found.comparisons[ALL]
        for estimate in (pair.difference, found.mean("a")):
            assert estimate.level == level
            widths.append(estimate.high - estimate.low)
    assert widths[2] > 2 * widths[0] and widths[3] > 2 * widths[1]


def test_what_could_have_been_found_and_how_many_questions_would_find_it() -> None:
    clusters = [f"u{place // 2}" for place in range(60)]
    finals = noisy([0.3, 0.0, -0.2, -3.0], 60)
    finals[40:, 3] = NAN  # takes no question away from pairs that are compared
    found = compared(finals, ["x"] * 60, tested=[ALL, "x"], clusters=clusters)
    pair = next(pair for pair in found.comparisons[ALL] if pair.second == "b")
    n, number = pair.difference.n, pair.difference.clusters
    assert (n, number) == (40, 20)
    differences = (finals[:40, 0] - finals[:40, 1]).reshape(20, 2).mean(axis=1)
    error = differences.std(ddof=1) / math.sqrt(20)
    assert pair.error == pytest.approx(error)
    wanted = smallest_difference(error, 20, tests=6)
    assert found.detectable(pair) == pytest.approx(wanted)
    assert found.needed(pair, 0.5) == questions_needed(0.5, pair.error, 40, 20, tests=6)
    assert found.needed(pair, 0.5, "x") == questions_needed(0.5, pair.error, 40, 20, tests=6)
    alone = replace(found, comparisons={**found.comparisons, "x": (pair,)})
    assert alone.needed(pair, 0.5) == questions_needed(0.5, pair.error, 40, 20, tests=6)
    assert alone.needed(pair, 0.5, "x") == questions_needed(0.5, pair.error, 40, 20, tests=1)
    assert alone.needed(pair, 0.5) != alone.needed(pair, 0.5, "x")
    fewer = replace(found, models=found.models.iloc[:3], comparisons={ALL: (pair,), "x": (pair,)})
    assert found.needed(pair, 0.1) != fewer.needed(pair, 0.1)
    assert fewer.detectable(pair) == pytest.approx(smallest_difference(error, 20))
    # of two values McNemar's test needs more
    two_valued = replace(found, two_valued=True)
    assert math.isnan(two_valued.detectable(pair))
    for n, is_known in ((49, False), (50, True)):
        large = replace(pair, difference=replace(pair.difference, n=n))
        assert math.isnan(two_valued.detectable(large)) != is_known


def test_a_pair_without_common_questions_is_no_test() -> None:
    finals = noisy([1.0, 0.5, 0.0], 20)
    finals[9:, 2] = NAN  # is not ranked
    found = compared(finals)
    pair = found.comparisons[ALL][0]
    assert found.ranked == ["a", "b"] and pair.difference.n == 20
    assert {one.verdict for one in found.comparisons[ALL][1:]} == {"not comparable"}
    assert found.detectable(pair) == pytest.approx(smallest_difference(pair.error, 20))
    assert [one.second for one in found.best_in[ALL].pairs] == ["b"]


def test_what_a_verdict_depends_on_is_counted_in_its_own_column() -> None:
    groups = ["x"] * 30 + ["y"] * 30
    finals = noisy([2.0, 0.0], 60)
    finals[:12, 0] = NAN
    finals[30:33, 1] = NAN
    found = compared(finals, groups, tested=[ALL, "x", "y"])
    [over_all] = found.comparisons[ALL]
    [x] = found.comparisons["x"]
    [y] = found.comparisons["y"]
    assert (over_all.verdict, x.verdict) == ("depends on unscored answers",) * 2
    assert over_all.depends_on == {"a": 12, "b": 3} and x.depends_on == {"a": 12}
    assert y.verdict == "significant" and y.depends_on == {}


# --- leads that rest on one intent ---


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("first", "second"), [(2, 9), (30, 3), (12, 12)])
def test_unequal_variances_by_another_library(seed: int, first: int, second: int) -> None:
    generator = np.random.default_rng(seed)
    one = generator.normal(0, 1, first)
    other = generator.normal(0.5, 3, second)
    assert _welch(one, other) == pytest.approx(stats.ttest_ind(one, other, equal_var=False).pvalue)


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [([1.0], [2.0, 3.0], 1.0), ([1.0, 1.0], [2.0, 2.0], 0.0), ([1.0, 1.0], [1.0, 1.0], 1.0)],
)
def test_groups_without_a_spread(first: Sequence[float], second: Sequence[float], p: float) -> None:
    assert _welch(np.array(first), np.array(second)) == p


INTENTS = ("leisure", "factual_qa", "api")


def by_intent(finals: Mapping[str, Floats], **options: Any) -> Any:
    names = [f"{INTENTS[place % 3]}-en-{place:02}" for place in range(45)]
    return ranking_of(answers_of(finals, names), **options)


def test_a_lost_lead_in_numbers() -> None:
    generator = np.random.default_rng(1)
    inside = np.arange(45) % 3 == 0  # of Leisure
    base = generator.normal(5, 1, 45)
    better = base + 3.0 * inside + generator.normal(0, 0.5, 45)
    low = base - 4 + generator.normal(0, 0.5, 45)
    # `d` is like `c`: that these two do not differ is no lead of the first model
    as_low = low + generator.normal(0, 0.5, 45)
    ranking = by_intent({"p/a": better, "p/b": base, "p/c": low, "p/d": as_low})
    assert ("p/a", "p/d") in ranking.compared.leads
    assert ("p/a", "p/b") in ranking.compared.leads and ("p/b", "p/c") in ranking.compared.leads
    [lead] = ranking.without_intents
    difference_there = (better - base)[~inside]
    assert (lead.intent, lead.questions, lead.worse, lead.clear) == ("Leisure", 15, "p/b", True)
    assert lead.difference == pytest.approx(difference_there.mean())
    given = {"p/a": better, "p/b": base, "p/c": low, "p/d": as_low}
    rest = ranking_of(answers_of({name: finals[~inside] for name, finals in given.items()}))
    [pair] = [
        one for one in rest.compared.comparisons[ALL] if {one.first, one.second} == {"p/a", "p/b"}
    ]
    assert lead.p == pytest.approx(pair.p_holm)


def test_without_an_intent_the_worst_case_of_missing_scores_counts() -> None:
    generator = np.random.default_rng(2)
    inside = np.arange(45) % 3 == 0
    base = generator.normal(5, 0.5, 45)
    better = base + np.where(inside, 4.0, 1.0) + generator.normal(0, 0.3, 45)
    better[np.flatnonzero(~inside)[:4]] = NAN
    ranking = by_intent({"p/a": better, "p/b": base})
    assert ranking.compared.leads == [("p/a", "p/b")]
    [lead] = ranking.without_intents
    assert lead.intent == "Leisure" and lead.difference == pytest.approx(1, abs=0.2)
    # 26 differences near 1 are significant; with four of the lowest scores they are not
    assert lead.p > 0.05


def test_a_lead_that_turns_round_without_an_intent_is_lost() -> None:
    generator = np.random.default_rng(3)
    inside = np.arange(45) % 3 == 0
    base = generator.normal(5, 0.5, 45)
    better = base + np.where(inside, 4.5, -0.6) + generator.normal(0, 0.3, 45)
    ranking = by_intent({"p/a": better, "p/b": base})
    assert ranking.compared.leads == [("p/a", "p/b")]
    [lead] = ranking.without_intents
    assert lead.difference < 0 and lead.p < 0.05 and lead.clear


def test_two_intents_are_enough_to_leave_one_out_and_one_is_not() -> None:
    generator = np.random.default_rng(4)
    base = generator.normal(5, 0.5, 30)
    better = base + np.repeat([3.0, 0.0], 15) + generator.normal(0, 0.3, 30)
    found = {"p/a": better, "p/b": base}
    both = [f"{INTENTS[place // 15]}-en-{place:02}" for place in range(30)]
    [lead] = ranking_of(answers_of(found, both)).without_intents
    assert (lead.intent, lead.clear) == ("Leisure", True)
    assert ranking_of(answers_of(found)).without_intents == ()


def test_over_all_questions_every_pair_is_corrected_by_holm_and_nothing_else() -> None:
    found = compared(noisy([0.5, 0.3, 0.0, -0.2], 30), ["x"] * 30, tested=[ALL, "x"])
    pairs = found.comparisons[ALL]
    assert len(pairs) == 6
    assert [pair.p_holm for pair in pairs] == pytest.approx(holm([pair.p for pair in pairs]))
    assert [pair.p_worst for pair in pairs] == [pair.p_holm for pair in pairs]
    # three comparisons with the best of four, twice as the best was chosen by the data
    best = found.comparisons["x"]
    wanted = [min(1.0, 2 * p) for p in holm([pair.p for pair in best])]
    assert [pair.p_holm for pair in best] == pytest.approx(wanted)


def test_a_difference_lies_between_less_and_more_than_the_scale_is_wide() -> None:
    finals = noisy([0.0, 0.0], 30, seed=1)
    [pair] = compared(finals).comparisons[ALL]
    assert pair.difference.low < 0 < pair.difference.high
    extremes = np.tile([[1.0, 10.0], [10.0, 1.0]], (4, 1))
    [pair] = compared(extremes).comparisons[ALL]
    assert -9 <= pair.difference.low < 0 < pair.difference.high <= 9


@pytest.mark.parametrize(
    ("lacking", "model", "certain"), [(2, 1, True), (2, 0, True), (14, 0, False), (14, 1, False)]
)
def test_missing_scores_count_at_their_worst_under_a_mix(
    lacking: int, model: int, certain: bool
) -> None:
    finals = noisy([3.0, -1.0], 30)
    finals[:lacking, model] = NAN
    groups = ["leisure", "api", "api"] * 10
    mix = TrafficMix("mix", {"intents": {"leisure": 0.7, "api": 0.3}})
    ordered = order_models(table_of(finals, groups=groups), mix)
    [pair] = compare_table(ordered, {ALL: np.arange(30)}, [ALL], HOW).comparisons[ALL]
    assert (pair.first, pair.second) == ("a", "b")
    assert pair.p_holm < 0.05
    assert (pair.p_worst < 0.05) == certain == pair.significant


@pytest.mark.parametrize(
    ("scale", "known"), [((1.0, 10.0), False), ((0.0, 10.0), True), ((1.0, 11.0), True)]
)
def test_a_mean_that_may_be_anywhere_on_the_scale_has_no_interval(
    scale: tuple[float, float], known: bool
) -> None:
    # Of 64 ways to draw these six scores, one has only the lowest and one only the highest.
    extremes = np.tile([[1.0], [10.0]], (3, 1))
    how = Resampling(1000, seed=1)
    [mean] = compared(extremes, scale=scale, how=how).means[ALL]
    assert mean.value == 5.5
    if known:
        assert (mean.low, mean.high) == (1.0, 10.0)
    else:
        assert math.isnan(mean.low) and math.isnan(mean.high)


@pytest.mark.parametrize(("models", "questions", "testable"), [(2, 6, True), (2, 5, False)])
def test_a_column_needs_enough_questions_for_its_comparisons(
    models: int, questions: int, testable: bool
) -> None:
    groups = ["x"] * questions + ["y"] * 30
    finals = noisy([0.0] * models, questions + 30)
    found = compared(finals, groups, tested=[ALL, "x", "y"])
    assert (found.best_in["x"].testable, bool(found.best_in["x"].marked)) == (testable,) * 2
    # of three models three differences may be tested, for which six questions are too few
    more = compared(noisy([0.0] * 3, questions + 30), groups, tested=[ALL, "x", "y"])
    assert not more.best_in["x"].testable and more.best_in["y"].testable


def test_questions_with_a_score_of_every_other_model_are_counted_by_model() -> None:
    finals = np.full((10, 3), 5.0)
    finals[0, 0] = finals[1:3, 1] = finals[2:6, 2] = NAN
    missing = compared(finals).missing
    assert missing.without == {"a": 5, "b": 5, "c": 7}
    assert missing.scored == {"a": 9, "b": 8, "c": 6}


def test_a_lead_is_clear_by_a_test_that_is_corrected_over_all_intents() -> None:
    generator = np.random.default_rng(6)
    groups = np.repeat(["x", "y", "z"], 10)
    inside = groups == "x"
    noise = generator.normal(0, 0.6, 30)
    facts = pd.DataFrame({"intent": groups, "group": groups, "language": "en", "country": ""})
    columns = columns_of(facts, load_rubric())
    raw = []
    for more in np.linspace(0.1, 1.0, 16):
        differences = 0.25 + more * inside + noise
        finals = np.column_stack([5 + differences, np.full(30, 5.0)])
        ordered = order_models(table_of(finals, groups=list(groups)))
        whole = compare_table(ordered, {ALL: np.arange(30)}, [ALL], HOW)
        lost = without_intents(ordered, columns, whole, HOW)
        p = stats.ttest_ind(differences[inside], differences[~inside], equal_var=False).pvalue
        for lead in lost:
            if lead.intent == "x":
                assert lead.clear == (3 * p < 0.05)
                raw.append(float(p))
    assert min(raw) < 0.05 / 3 < max(raw) and any(0.05 / 3 < p < 0.05 for p in raw)
