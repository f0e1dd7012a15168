"""Tests of `urs_inspect.reports.numbers._crossval` and its figures."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.model import ChatMessage, get_model

from tests.reports.golden_files import check_golden, rows_of
from tests.tasks.scripted import Script, run
from tests.tasks.test_urs_crossval import answer_log, crossval, final, places
from tests.telling import Telling, tells
from urs_inspect import urs
from urs_inspect._util import InputError
from urs_inspect.datasets._references import Reference, gather, question_sha256, reference_lines
from urs_inspect.logs._files import read_log
from urs_inspect.reports.layout._tables import Report
from urs_inspect.reports.numbers._answers import read_answers
from urs_inspect.reports.numbers._conditions import Conditions, Difference
from urs_inspect.reports.numbers._crossval import (
    ALL,
    Grid,
    GridLog,
    JudgedRuns,
    bias_table,
    grids_of,
    mean_table,
    order_tables,
    outcome_table,
    preference_table,
    read_grid_log,
    read_judged_runs,
    reversals_of,
    with_holm,
)
from urs_inspect.reports.words._crossval import (
    _differences,
    crossval_report,
    grid_notes,
    report_crossval,
    runs_notes,
    stability,
    without_preference,
)
from urs_inspect.scorers import intent_judge
from urs_inspect.stats import Estimate, Resampling, holm

_ = places  # a fixture
HOW = Resampling(500, 0.95, 0)
NASTY = "m/<script>|*`名"
Finals = Mapping[tuple[str, str, str], Sequence[float | None]]


def grid_log(
    finals: Finals,
    *,
    log: str = "one.eval",
    folds: int = 2,
    copies: Mapping[str, set[str]] | None = None,
    clusters: Mapping[str, str] | None = None,
    **changed: Any,
) -> GridLog:
    """A log of cells, each with one final score per case; None for a judgement that failed."""
    rows = [
        {
            **{
                "case": f"c{place}",
                "cluster": (clusters or {}).get(f"c{place}", ""),
                "fold": place % folds + 1,
                "evaluator": key[0],
                "source": key[1],
                "model": key[2],
            },
            "outcome": "judged" if final is not None else "unscored_call_failed",
            "final": math.nan if final is None else float(final),
            "copy": key[1] == key[2] and f"c{place}" in (copies or {}).get(key[2], ()),
        }
        for key, given in finals.items()
        for place, final in enumerate(given)
    ]
    evaluators, sources, models = (
        list(dict.fromkeys(key[place] for key in finals)) for place in range(3)
    )
    conditions = {
        **{
            "dataset": "sample",
            "dataset_sha256": "d" * 64,
            "cases": max(map(len, finals.values())),
            "folds": folds,
        },
        **{
            "cases_sha256": "c" * 64,
            "rubric": "urs 1",
            "rubric_sha256": "r" * 64,
            "prompts_sha256": "p" * 64,
        },
        **{"reference_score": 8.0, "task_version": "1"},
    }
    hashes = {("references", name): name for name in sources}
    hashes |= {("answers", name): name for name in models}
    return GridLog(
        log, conditions | changed, (evaluators, sources, models), hashes, pd.DataFrame(rows)
    )


def grid(finals: Finals, **changed: Any) -> Grid:
    [found] = grids_of([grid_log(finals, **changed)])
    return found


def cell(table: pd.DataFrame, **key: str) -> Any:
    """The only row with some values."""
    [row] = rows_of(table[(table[list(key)] == list(key.values())).all(axis=1)])
    return row


def outcomes(found: Grid, **key: str) -> dict[str, int]:
    """How the judging of some cells ended, and how often."""
    table = outcome_table(found, mean_table(found, HOW))
    chosen = table[(table[list(key)] == list(key.values())).all(axis=1)]
    return dict(zip(chosen["outcome"], chosen["judgements"], strict=True))


def preferences(found: Grid, how: Resampling = HOW) -> pd.DataFrame:
    return preference_table(found.scores_without_copies, how)


# --- logs that are read together ---


def test_another_evaluator_joins() -> None:
    one = grid_log({("e", "s", "m"): [5, 6, 7, 8]})
    other = grid_log({("f", "s", "m"): [4, 4, 4, 4]}, log="two.eval")
    [joined] = grids_of([one, other])
    assert joined.scores.evaluators == ["e", "f"]
    assert len(mean_table(joined, HOW)) == 2
    assert not joined.differs and not grid_notes(joined)


def test_of_the_same_cell_the_later_log_counts() -> None:
    one = grid_log({("e", "s", "m"): [5, 6, 7, 8]})
    other = grid_log({("e", "s", "m"): [4, 4, 4, 4]}, log="two.eval")
    [joined] = grids_of([one, other])
    assert joined.scores.values[0, 0, 0, 0] == 4
    assert grid_notes(joined) == [Telling("1 cell of one.eval ... later log")]
    assert len(joined.judgements) == 4


def test_cases_that_only_a_replaced_log_has_do_not_count() -> None:
    one = grid_log({("e", "s", "m"): [5, 6, 7, 8]}, clusters={"c0": "ann"})
    other = grid_log({("e", "s", "m"): [4, 4]}, log="two.eval")
    [joined] = grids_of([one, other])
    assert joined.scores.values.tolist() == [[[[4]]], [[[4]]]]
    assert rows_of(mean_table(joined, HOW))[0].mean.n == 2


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"dataset_sha256": "x", "dataset": "urs"}, "Other data: urs, not sample."),
        ({"cases_sha256": "x"}, "Other cases"),
        ({"folds": 4}, "Another number of folds: 4, not 2."),
        ({"rubric_sha256": "x"}, "Another rubric"),
        ({"reference_score": 5.0}, "Another rubric"),
        ({"prompts_sha256": "x"}, "Judged with other prompts"),
        ({"task_version": "2"}, "Another version of the task: 2, not 1."),
    ],
)
def test_other_conditions_are_another_grid(changed: dict[str, Any], reason: str) -> None:
    one = grid_log({("e", "s", "m"): [5, 6, 7, 8]})
    other = grid_log({("f", "s", "m"): [4, 4, 4]}, log="two.eval")
    other = replace(other, conditions={**one.conditions, **changed})
    first, second = grids_of([one, other])
    assert (first.scores.evaluators, second.scores.evaluators, first.differs) == (["e"], ["f"], [])
    assert len(second.differs) == 1 and _differences(second)[0].startswith(reason)


def test_other_answers_or_references_are_another_grid() -> None:
    one = grid_log({("e", "s", "m"): [5, 6, 7, 8]})
    other = grid_log({("f", "s", "m"): [4, 4, 4, 4]}, log="two.eval")
    hashes = {
        ("references", "s"): "other",
        ("answers", "m"): "other",
        ("answers", "n"): "more",
    }
    [_, second] = grids_of([one, replace(other, hashes=hashes)])
    assert _differences(second) == ["Other references by s.", "Other answers by m."]


def test_the_largest_grid_comes_first() -> None:
    one = grid_log({("e", "s", "m"): [5]})
    other = grid_log({("f", "s", "m"): [4, 4, 4, 4]}, prompts_sha256="x")
    assert [found.scores.evaluators for found in grids_of([one, other])] == [["f"], ["e"]]


def read(log: EvalLog) -> GridLog:
    return read_grid_log(read_log(log.location, header_only=True))


def test_a_log_is_read_with_its_failures(tmp_path: Path, places: dict[str, Any]) -> None:
    judge = Script([final(7), final(6), "No.", "No."])
    log = crossval(
        tmp_path, places, {"C": judge}, {"cases": 4, "folds": 2}, max_samples=1, max_connections=1
    )
    table = read(log)
    assert Counter(table.judgements["outcome"]) == {"judged": 2, "unscored_unparseable": 6}
    assert [table.conditions[name] for name in ("cases", "folds", "reference_score")] == [4, 2, 8]
    assert sorted(table.judgements.drop_duplicates("case")["fold"]) == [1, 1, 2, 2]
    assert table.axes == (["mockllm/C"], ["mockllm/A"], ["mockllm/A", "mockllm/B"])
    assert sorted(table.judgements["final"].dropna()) == [6, 7]


def test_a_log_names_the_clusters_of_its_cases(tmp_path: Path, places: dict[str, Any]) -> None:
    log = crossval(tmp_path, places, {"C": Script([final(7)] * 8)}, {"cases": 4, "folds": 2})
    whole = read_log(log.location)
    for number, sample in enumerate(whole.samples or []):
        sample.metadata["cluster"] = "ann" if number < 4 else ""
    write_eval_log(whole, tmp_path / "named.eval")
    found = read_grid_log(read_log(str(tmp_path / "named.eval"), header_only=True))
    named = found.judgements[found.judgements["cluster"] == "ann"]["case"]
    assert set(found.judgements["cluster"]) == {"ann", ""} and 0 < named.nunique() < 4
    [grid_of_log] = grids_of([found])
    assert grid_of_log.scores.clusters is not None


def test_replies_without_the_key_are_counted_by_evaluator(
    tmp_path: Path, places: dict[str, Any]
) -> None:
    log = crossval(tmp_path, places, {"C": Script([final(7)] * 8)}, {"cases": 2, "folds": 1})
    [grid_of_log] = grids_of([read(log)])
    [judge] = grid_of_log.scores.evaluators
    assert [note for note in grid_notes(grid_of_log) if tells(note, f"WARNING: {judge} left out")]


def test_epochs_and_a_limit_that_leaves_cells_short(tmp_path: Path, places: dict[str, Any]) -> None:
    """One of the answers is so long that the summary of its sample is cut."""
    answer_log(tmp_path, "L", "Long. " * 5000, limit=2)
    judge = Script([final(7), final(5)])
    log = crossval(tmp_path, places, {"C": judge}, {"cases": 2, "folds": 2}, limit=5, epochs=2)
    table = read(log).judgements
    assert dict(table.groupby("model")["case"].nunique()) == {
        "mockllm/A": 2,
        "mockllm/B": 2,
        "mockllm/L": 1,
    }
    assert set(table.groupby(["model", "case"]).size()) == {2}


# --- numbers ---


def test_means_folds_and_failures_of_a_cell() -> None:
    # Cases 0 and 2 are fold 1, 1 and 3 fold 2: means 7 and 5 (the failed one excluded).
    found = grid({("e", "s", "m"): [6, 5, 8, None]})
    [row] = rows_of(mean_table(found, HOW))
    assert row.mean.value == pytest.approx(19 / 3) and row.mean.n == 3
    assert (row.fold_1, row.fold_2, row.fold_mean) == (7, 5, 6)
    assert row.fold_deviation == pytest.approx(math.sqrt(2))
    assert row.unscored == 1
    assert outcomes(found) == {"judged": 3, "unscored_call_failed": 1}
    assert not len(bias_table(found.scores, 8, HOW)) and not len(preferences(found))
    [row] = rows_of(
        mean_table(grid({("e", "s", "m"): [6, None, 8, None]}), HOW)
    )  # a fold without scores
    assert row.fold_1 == row.fold_mean == 7
    assert math.isnan(row.fold_2) and math.isnan(row.fold_deviation)


def test_judgements_that_no_log_has_are_missing() -> None:
    found = grid({("e", "s", "m"): [6, 6, 6, 6], ("e", "s", "n"): [5, 5]})
    row = cell(mean_table(found, HOW), model="n")
    assert outcomes(found, model="n") == {"judged": 2, "missing": 2} and row.unscored == 2
    # The order is over the two cases that both have.
    orders, _ = order_tables(found.scores, HOW)
    assert [(row.model, row.mean, row.cases) for row in rows_of(orders)] == [
        ("m", 6, 2),
        ("n", 5, 2),
    ]


def test_rating_bias_is_about_models_that_are_tested_and_sources() -> None:
    own = {("e", "a", "a"): [9, 9, 8, 10], ("e", "b", "b"): [8, 8, 7, 7]}  # 9, one too many; 7.5
    scores = grid(
        {("e", s, m): [1] * 4 for s, m in product(("a", "b", "dataset"), "ab")} | own
    ).scores
    values = {row.model: row.bias.value for row in rows_of(bias_table(scores, 8, HOW))}
    assert values == {ALL: pytest.approx((1 - 0.5) / 2), "a": 1, "b": -0.5}
    assert bias_table(scores, 5.0, HOW)["bias"][0].value == pytest.approx(3.25)


def test_self_preference_by_source_and_over_all() -> None:
    rated = {
        "a": {"a": (9, 7), "b": (6, 5)},
        "dataset": {"a": (8, 8), "b": (4, 4)},
    }  # by a, and by x
    finals = {
        (judge, source, model): [pair[place]] * 2
        for source, by_model in rated.items()
        for model, pair in by_model.items()
        for place, judge in enumerate("ax")
    }
    table = preferences(grid(finals))
    assert list(table["source"]) == ["a", "dataset", ALL]
    assert set(table["evaluator"]) == {"a"} and set(table["others"]) == {"x"}
    numbers = {
        row.source: (row.preference.value, row.leniency.value, row.beyond.value)
        for row in rows_of(table)
    }
    assert numbers == {"a": (2, 1, 1), "dataset": (0, 0, 0), ALL: (1, 0.5, 0.5)}


def test_with_one_source_there_is_no_row_over_all() -> None:
    finals = {("a", "s", "a"): [9, 9], ("x", "s", "a"): [7, 7]}
    assert list(preferences(grid(finals))["source"]) == ["s"]
    assert not len(preferences(grid({("a", "s", "a"): [9, 9]})))


def test_orders_are_corrected_over_the_whole_grid() -> None:
    up = [5, 6, 7, 8] * 6
    more, mixed = (
        [value + 1 for value in up],
        [value + (place % 2) for place, value in enumerate(up)],
    )
    finals = {
        ("e", "s", "m"): more,
        ("e", "s", "n"): up,
        ("f", "s", "m"): up,
        ("f", "s", "n"): mixed,
    }
    orders, pairs = order_tables(grid(finals).scores, HOW)
    assert list(orders["model"]) == ["m", "n", "n", "m"]
    assert list(pairs["p_holm"]) == list(holm(list(pairs["p"])))
    assert max(pairs["p_holm"] / pairs["p"]) == pytest.approx(2)
    assert pairs["apart"].all()
    [reversal] = reversals_of(pairs)
    assert list(reversal.values()) == ["m", "n", 1, 1, 1, 1]


def test_a_setting_without_common_cases_has_no_order() -> None:
    none, both = (
        {("e", "s", "m"): [5, None], ("e", "s", "n"): [None, 5]},
        {("f", "s", "m"): [5, 5], ("f", "s", "n"): [4, 4]},
    )
    finals: Finals = {**none, **both}
    found = grid(finals)
    orders, pairs = order_tables(found.scores, HOW)
    assert set(orders["evaluator"]) == {"f"}
    assert tells(stability(found.scores, orders, pairs)[-1], "1 setting without")


def test_reversals_by_hand() -> None:
    pairs = [
        *(("a", "b", 1, True), ("a", "c", 2, True)),
        *(("b", "a", 1, False), ("a", "c", 1, False)),
        *(("b", "a", 2, True), ("c", "a", 0, False)),  # equal means reverse nothing
    ]
    rows = [
        (first, second, Estimate(value, 0, 0, 1, 1), apart) for first, second, value, apart in pairs
    ]
    [found] = reversals_of(pd.DataFrame(rows, columns=["first", "second", "difference", "apart"]))
    assert list(found.values()) == ["a", "b", 1, 1, 2, 1]
    assert reversals_of(pd.DataFrame(columns=["first", "second", "difference", "apart"])) == []


def test_the_best_model_comes_first_whatever_logs_name_first() -> None:
    first: Finals = {("e", "s", "none"): [None, None], ("e", "s", "low"): [3, 4]}
    finals: Finals = {**first, ("e", "s", "high"): [8, None], ("e", "t", "high"): [6, 6]}
    found = grid(finals)
    assert found.scores.models == ["high", "low", "none"]
    assert [row.mean.value for row in rows_of(mean_table(found, HOW)) if row.model == "high"] == [
        8,
        6,
    ]


def neutral_grid(seed: int, *, favour: float = 0.0) -> Grid:
    """Three models judge one another, each as mild or severe to all; answers and references are of
    the same runs.

    `favour` is what a judge gives its own answers on top.
    """
    chance = np.random.default_rng(seed)
    names, cases = ("A", "B", "C"), 40
    quality, hardness = chance.normal(6.0, 0.7, 3), chance.normal(0.0, 1.0, cases)
    leniency = dict(zip(names, (-0.6, 0.0, 0.8), strict=True))
    finals: dict[tuple[str, str, str], list[float | None]] = {}
    for evaluator, source, (place, model) in product(names, names, enumerate(names)):
        shift = leniency[evaluator] + favour * (evaluator == model)
        scores = quality[place] + hardness + shift + chance.normal(0.0, 1.0, cases)
        # A judge that is shown a text twice gives it the highest score, mild or not.
        finals[evaluator, source, model] = (
            [10.0] * cases if source == model else list(np.clip(scores.round(), 1, 10))
        )
    return grid(finals, copies={name: {f"c{place}" for place in range(cases)} for name in names})


def grid_of_users(seed: int, named: bool) -> Grid:
    """Two equal models and judges, on 8 users' 6 cases.

    One or the other model, and judge, suits a user better.
    """
    chance = np.random.default_rng(seed)
    users, each = 8, 6
    finals: dict[tuple[str, str, str], list[float | None]] = {}
    for evaluator, model in product("AB", "AB"):
        of_user = np.repeat(chance.normal(6.0, 1.0, users), each)
        finals[evaluator, "R", model] = (of_user + chance.normal(0.0, 0.4, users * each)).tolist()
    clusters = {f"c{place}": f"user {place // each}" for place in range(users * each)}
    [found] = grids_of([grid_log(finals, clusters=clusters if named else {})])
    return found


def test_cases_of_one_user_are_one_cluster_in_the_intervals_and_tests_of_a_grid() -> None:
    runs = 60
    how = Resampling(200, 0.95, 0)
    false = {True: 0, False: 0}
    missed = {True: 0, False: 0}
    for seed, named in product(range(runs), (True, False)):
        found = grid_of_users(seed, named)
        assert any("8 clusters" in note for note in grid_notes(found)) == named
        _, pairs = order_tables(found.scores, how)
        false[named] += bool(pairs["p"].iloc[0] < 0.05)
        mean = mean_table(found, how)["mean"].iloc[0]
        assert mean.clusters == (8 if named else 48)
        preference = preference_table(found.scores, how)["preference"].iloc[0]
        missed[named] += not preference.low <= 0 <= preference.high
    # At 5%, more than 9 of 60 happen in one of a thousand such tests.
    assert max(false[True], missed[True]) <= 9 < min(false[False], missed[False])


def claims(found: Grid) -> list[float]:
    """What self-preference a report claims: the differences that are significant."""
    [table] = with_holm([preferences(found, Resampling(300, 0.95, 0))])
    return [row.beyond.value for row in rows_of(table) if row.p_beyond_holm < 0.05]


def test_neutral_judges_are_not_reported_to_favour_themselves_where_answers_are_the_references() -> (
    None
):
    """With copies in it, a mild judge seems to disfavour itself: its own answers alone leave it no
    room to be mild.
    """
    runs = 60
    false = sum(bool(claims(neutral_grid(seed))) for seed in range(runs))
    assert false <= 7  # 5% of 60, and 2.4 standard errors
    partial = [claims(neutral_grid(seed, favour=0.8)) for seed in range(10)]
    assert all(found and min(found) > 0 for found in partial)


def test_copies_leave_rating_bias_and_stay_in_the_means() -> None:
    finals = {
        ("J", "A", "A"): [10, 6],
        ("J", "A", "B"): [4, 4],
        ("J", "B", "A"): [7, 7],
        ("J", "B", "B"): [9, 9],
    }
    found = grid(finals, copies={"A": {"c0"}, "B": {"c0", "c1"}})
    biases = bias_table(found.scores_without_copies, 8, HOW)
    values = {row.model: row.bias.value for row in rows_of(biases)}
    assert values["A"] == values[ALL] == 6 - 8
    assert math.isnan(values["B"])
    assert cell(mean_table(found, HOW), source="A", model="A").mean.value == 8
    assert found.copies == {"A": 1, "B": 2}


def test_self_preference_is_corrected_over_evaluators_sources_and_runs() -> None:
    parts = [pd.DataFrame({"p": p, "p_beyond": p}) for p in ([0.01, 0.04], [0.02, math.nan])]
    first, second = with_holm(parts)
    assert list(first["p_beyond_holm"]) == [pytest.approx(0.03), pytest.approx(0.04)]
    assert second["p_holm"][0] == pytest.approx(0.04)
    assert math.isnan(second["p_holm"][1])


# --- ordinary runs ---


CASES = 3


def judge(by_model: dict[str, int]) -> Script:
    """A judge that gives each model's answers one score."""

    def reply(messages: list[ChatMessage]) -> str:
        text = messages[1].text
        return next(
            f'{{"Final Score": {number}}}'
            for name, number in by_model.items()
            if f"by {name}." in text
        )

    return Script(reply)


def answers(tmp_path: Path, name: str, graders: dict[str, Script], **options: Any) -> EvalLog:
    models = [script.model(judging) for judging, script in graders.items()]
    return run(
        urs(dataset="sample", **options),
        tmp_path / "logs",
        model=Script(f"An answer by {name}.").model(name),
        grader=models,
        limit=CASES,
    )


def judged_runs(tmp_path: Path) -> tuple[list[JudgedRuns], list[str]]:
    """Runs that show self-preference, and why others do not."""
    answers = read_answers([str(tmp_path / "logs")])
    runs = read_judged_runs(answers)
    without = [without_preference(found) for found in runs if not found.judge_is_tested]
    return [found for found in runs if found.judge_is_tested], [*answers.left_out, *without]


def rejudged(log: EvalLog, tmp_path: Path, name: str, script: Script) -> None:
    """Judge a log again, into another one."""
    get_model("mockllm/none")
    done = score(
        log,
        intent_judge(),
        action="overwrite",
        model_roles={"grader": script.model(name)},
        display="none",
    )
    write_eval_log(done, str(tmp_path / "logs" / f"{log.eval.model[-1]}-by-{name}.eval"))


GIVEN = {"A": judge({"A": 9, "B": 6}), "X": judge({"A": 7, "B": 5})}


def test_a_panel_is_compared_with_itself_where_one_of_it_is_tested(tmp_path: Path) -> None:
    answers(tmp_path, "B", GIVEN)
    assert judged_runs(tmp_path) == (
        [],
        [Telling("1 log of mockllm/B, ... mockllm/A, mockllm/X: no judge")],
    )
    answers(tmp_path, "A", GIVEN)
    [found], skipped = judged_runs(tmp_path)
    assert not skipped
    # Models come in the order of their logs, which may be of the same second.
    assert found.scores.evaluators == ["mockllm/A", "mockllm/X"]
    assert sorted(found.scores.models) == ["mockllm/A", "mockllm/B"]
    assert len(found.scores.values) == CASES
    [row] = rows_of(preference_table(found.scores, HOW))
    assert (row.evaluator, row.others, row.own_mean, row.others_mean) == (
        "mockllm/A",
        "mockllm/X",
        9,
        7,
    )
    assert (row.preference.value, row.leniency.value, row.beyond.value) == (2, 1, 1)


def test_logs_that_were_judged_again_are_the_same_answers_and_another_run_has_others(
    tmp_path: Path,
) -> None:
    for name in "AB":
        log = answers(tmp_path, name, {"A": GIVEN["A"]})
        rejudged(log, tmp_path, "X", GIVEN["X"])
    again = answers(tmp_path, "A", {"Y": judge({"A": 1})})
    [found], _ = judged_runs(tmp_path)
    assert set(found.scores.evaluators) == {"mockllm/A", "mockllm/X"}
    [row] = rows_of(preference_table(found.scores, HOW))
    assert row.preference.value == 2 and row.beyond.value == 1
    assert runs_notes(found) == [
        Telling(f"{Path(again.location).name} of mockllm/A: other answers")
    ]


@pytest.mark.parametrize("changed", [{"judge_language": "zh"}, {"references": "refs.jsonl"}])
def test_other_prompts_or_references_do_not_compare(
    changed: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = answers(tmp_path, "A", {"A": GIVEN["A"]})
    if "references" in changed:
        _references(tmp_path / "refs.jsonl", "m/x", "Reference.")
        monkeypatch.chdir(tmp_path)
    answers(tmp_path, "A", {"X": GIVEN["X"]}, **changed)
    found, skipped = judged_runs(tmp_path)
    assert not found and log.status == "success"
    assert [line.split(": ", 1)[1] for line in skipped] == [Telling("no other judge")] * 2


def _references(path: Path, by: str, *texts: str) -> None:
    """References for all cases, the last text for the rest."""
    samples = list(urs(dataset="sample").dataset)
    items = [
        Reference(
            str(one.id), question_sha256(str(one.input)), texts[min(place, len(texts) - 1)], by
        )
        for place, one in enumerate(samples)
    ]
    path.write_text("".join(reference_lines(gather(items, "here"))), encoding="utf-8")


def test_answers_that_are_their_own_references_take_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of the answers of A are its references; for these all judges, mild or not, give one
    score.
    """
    _references(
        tmp_path / "refs.jsonl", "mockllm/A", *["An answer by A."] * (CASES - 1), "Another one."
    )
    monkeypatch.chdir(tmp_path)
    for name in "AB":
        answers(tmp_path, name, GIVEN, references="refs.jsonl")
    [found], _ = judged_runs(tmp_path)
    assert any(f"{CASES - 1} of {CASES} answers of mockllm/A" in note for note in runs_notes(found))
    [own] = rows_of(preference_table(found.scores, HOW))
    assert own.preference.n == 1


# --- the report ---


def example(**changed: Any) -> Grid:
    """Two evaluators, one of them tested; a failed judgement and a model without any score."""
    up = [5, 6, 7, 8, 6, 7, 8, 9]
    finals: dict[tuple[str, str, str], list[float | None]] = {}
    for evaluator, more in (("m/a", 1), ("m/x", 0)):
        for source in ("m/a", "dataset"):
            finals[evaluator, source, "m/a"] = [value + more for value in up]
            finals[evaluator, source, NASTY] = [
                None,
                *[value - 1 + place % 2 for place, value in enumerate(up)][1:],
            ]
            finals[evaluator, source, "m/none"] = [None] * 8
    return grid(finals, **changed)


def unstable() -> Grid:
    """Two models that change places between two evaluators, significantly in both."""
    up = [5.0, 6, 7, 8] * 6
    more, less = (
        [value + 1 + place % 2 for place, value in enumerate(up)],
        [value - 1 for value in up],
    )
    keys = [
        ("urs_simulation/e", "s", "m"),
        ("urs_simulation/e", "s", "n"),
        ("f", "s", "m"),
        ("f", "s", "n"),
    ]
    return grid(dict(zip(keys, (more, less, less, more), strict=True)), prompts_sha256="x" * 64)


def report(*grids: Grid) -> Report:
    chosen = grids or (example(),)
    return crossval_report(
        chosen, [], HOW, ["one.eval"], ["two.eval was left out."], "urs-inspect robustness logs"
    )


def test_the_report_to_read() -> None:
    own: Finals = {("m/a", "", "m/a"): [9, 8], ("m/x", "", "m/a"): [7, 8]}
    scores: Finals = {**own, **{(judge, "", "m/b"): [5, 6] for judge in ("m/a", "m/x")}}
    conditions = Conditions((), "urs", "", "urs 1", "1234", "", "3-A")
    runs = JudgedRuns(
        conditions, frozenset(["a.eval"]), grid(scores).scores, {"m/a": ["old.eval"]}, {}
    )
    second = replace(unstable(), differs=[Difference("dataset_sha256", "x", "y")])
    made = crossval_report(
        [example(), second], [runs], HOW, ["one.eval"], ["two.eval was left out."]
    )
    check_golden("crossval", made.markdown())


def test_everything_is_written_and_nothing_is_nan(tmp_path: Path) -> None:
    made = report()
    written = made.write(tmp_path / "out")
    assert [path.name for path in written] == [
        *(
            "crossval.md",
            "means.csv",
            "orders.csv",
            "differences.csv",
            "rating_bias.csv",
            "self_preference.csv",
        ),
        *("figure_4.svg", "figure_10.svg", "rating_bias.svg", "crossval.json"),
    ]
    for path in written:
        assert not re.search(r"\bnan\b", path.read_text(encoding="utf-8"), re.IGNORECASE), path.name
    tables = made.tables()
    means = tables["means"]
    assert list(means) == [
        *("grid", "evaluator", "source", "model", "mean", "low", "high", "n"),
        *("unscored", "fold_mean", "fold_deviation", "fold_1", "fold_2"),
    ]
    assert len(means) == 12 and means["unscored"].tolist()[:3] == [0, 1, 8]
    assert tables["rating_bias"][["evaluator", "model", "bias"]].to_numpy().tolist()[0] == [
        "m/a",
        "all",
        0,
    ]
    preference = tables["self_preference"]
    assert preference["source"].tolist() == ["m/a", "dataset", "all"]
    assert set(preference["preference"]) == {1} and set(preference["others"]) == {"m/x"}
    [found] = made.as_dict()["grids"]
    assert found["conditions"]["reference_score"] == 8
    cell_of_nasty = {"evaluator": "m/a", "source": "m/a", "model": NASTY}
    assert [row for row in found["outcomes"] if row.items() >= cell_of_nasty.items()] == [
        {**cell_of_nasty, "outcome": "judged", "judgements": 7},
        {**cell_of_nasty, "outcome": "unscored_call_failed", "judgements": 1},
    ]


def test_empty_tables_keep_their_columns(tmp_path: Path) -> None:
    report(grid({("e", "s", "m"): [5, 6]})).write(tmp_path)
    header = (tmp_path / "self_preference.csv").read_text(encoding="utf-8").strip().split(",")
    bounds = [
        f"{name}{part}"
        for name in ("preference", "leniency", "beyond")
        for part in ("", "_low", "_high", "_n")
    ]
    p_values = ["p", "p_beyond", "p_holm", "p_beyond_holm"]
    assert header == [
        "from",
        "evaluator",
        "source",
        "others",
        "own_mean",
        "others_mean",
        *bounds,
        *p_values,
    ]
    assert (tmp_path / "rating_bias.csv").read_text(
        encoding="utf-8"
    ) == "grid,evaluator,model,bias,low,high,n\n"
    differences = "grid,evaluator,source,first,second,difference,low,high,n,p,p_holm,apart\n"
    assert (tmp_path / "differences.csv").read_text(encoding="utf-8") == differences


def test_figures_of_an_earlier_report_are_removed(tmp_path: Path) -> None:
    first, later = (
        replace(made, figures=dict.fromkeys(made.figures, "<svg/>"))
        for made in (report(example(), unstable()), report())
    )
    names = {path.name for path in first.write(tmp_path)}
    (tmp_path / "figure_4_mine.svg").write_text("mine", encoding="utf-8")
    assert names - {path.name for path in later.write(tmp_path)} == {
        "figure_4_2.svg",
        "figure_10_2.svg",
    }
    assert {path.name for path in tmp_path.iterdir()} == names - {
        "figure_4_2.svg",
        "figure_10_2.svg",
    } | {"figure_4_mine.svg"}


def figures(made: Report) -> dict[str, str]:
    """Name of each figure -> the text in it."""
    drawn = {name: draw() for name, draw in made.figures.items() if callable(draw)}
    return {name: " ".join(ElementTree.fromstring(svg).itertext()) for name, svg in drawn.items()}


def test_figures_hold_names_and_say_what_has_no_score() -> None:
    made = report(example(), unstable())
    found, again = (
        figures(made),
        figures(replace(made, figures={"figure_10.svg": made.figures["figure_10.svg"]})),
    )
    assert again["figure_10.svg"] == found["figure_10.svg"]
    assert set(found) == {
        *("figure_4.svg", "figure_10.svg", "rating_bias.svg"),
        *("figure_4_2.svg", "figure_10_2.svg"),
    }
    for name in ("figure_4.svg", "figure_10.svg"):
        assert "a, references of the data" in found[name]
        assert "a reference is worth 8" in found[name]
        assert not re.search(r"\b(nan|null)\b", found[name], re.IGNORECASE)
    assert "a, references of the data: no score for none." in found["figure_10.svg"]
    assert "all models B" in found["rating_bias.svg"] and "B = a" in found["rating_bias.svg"]
    assert "no score" not in found["figure_4.svg"]  # it has the best two of three
    assert "SIMULATION" in found["figure_4.svg"]
    assert not any("SIMULATION" in text for text in figures(report()).values())


def test_nothing_is_made_up_where_nothing_has_a_score() -> None:
    nothing = grid({("e", "s", "e"): [None, None], ("f", "s", "e"): [None, None]})
    assert all(math.isnan(row.mean.value) for row in rows_of(mean_table(nothing, HOW)))
    both = grid({("e", "s", "e"): [None, None], ("e", "s", "g"): [None, None]})
    assert tells(stability(both.scores, *order_tables(both.scores, HOW))[0], "In no setting")
    assert "nan" not in report(nothing).markdown()
    assert not report(nothing).figures


def test_other_logs_alone_are_an_error_with_reasons(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no finished log.*urs_crossval") as caught:
        report_crossval([str(tmp_path)])
    assert tells(caught.value, f"inspect eval urs_inspect/urs_crossval ... answers={tmp_path}")


def test_a_log_without_samples_is_left_out(tmp_path: Path, places: dict[str, Any]) -> None:
    log = crossval(tmp_path, places, {"C": Script([final(7)] * 4)}, {"cases": 2, "folds": 2})
    empty = read_log(log.location).model_copy(update={"samples": []})
    write_eval_log(empty, tmp_path / "empty.eval")
    with pytest.raises(InputError, match=r"empty\.eval was left out: it has no samples"):
        report_crossval([str(tmp_path / "empty.eval")])
