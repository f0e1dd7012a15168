"""Tests of `urs_inspect.reports.numbers._crossval` and its figures."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from inspect_ai import score
from inspect_ai.log import EvalError, EvalLog, EvalSample, write_eval_log
from inspect_ai.model import ChatMessage, ModelOutput, get_model
from inspect_ai.scorer import Score

from tests.reports.golden_files import check_golden, rows_of
from tests.reports.judged_logs import answered, judgement, unscored, write_judged
from tests.tasks.scripted import Script, run
from tests.tasks.test_urs_crossval import answer_log, crossval, final, places
from tests.telling import Telling, tells
from urs_inspect import urs
from urs_inspect._util import InputError
from urs_inspect.datasets._references import Reference, gather, question_sha256, reference_lines
from urs_inspect.logs._files import read_log
from urs_inspect.logs._grids import GridLog, _judged, read_grid_log, read_grid_logs
from urs_inspect.reports._from_logs import report_crossval
from urs_inspect.reports.layout._tables import Report
from urs_inspect.reports.numbers._answers import read_answers
from urs_inspect.reports.numbers._conditions import Conditions, Difference
from urs_inspect.reports.numbers._crossval import (
    ALL,
    Grid,
    JudgedRuns,
    bias_table,
    crossval_of,
    grids_of,
    mean_table,
    order_tables,
    outcome_table,
    preference_table,
    read_judged_runs,
    reversals_of,
    with_holm,
)
from urs_inspect.reports.words._crossval import (
    _differences,
    crossval_report,
    grid_notes,
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


@pytest.mark.parametrize(
    ("error", "score", "outcome", "final"),
    [
        ("gone", judgement(5.0), "error", math.nan),
        ("gone", None, "error", math.nan),
        (None, None, "not_judged", math.nan),
        (None, judgement(5.0), "judged", 5.0),
        (None, unscored(), "unscored_refusal", math.nan),
        (None, Score(value={"final": 4.0}), "unknown", 4.0),
    ],
)
def test_how_a_judgement_ended(
    error: str | None, score: Score | None, outcome: str, final: float
) -> None:
    sample: Any = SimpleNamespace(error=error)
    found, value = _judged(sample, score)
    assert found == outcome
    assert value == pytest.approx(final, nan_ok=True)


def test_logs_are_read_in_their_order_and_those_without_judgements_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = {
        "late.eval": grid_log({("e", "s", "m"): [5]}, log="late.eval"),
        "empty.eval": grid_log({("e", "s", "m"): []}, log="empty.eval"),
        "early.eval": grid_log({("e", "s", "m"): [6]}, log="early.eval"),
    }

    def read_one(log: EvalLog) -> GridLog:
        return made[Path(log.location).name]

    monkeypatch.setattr("urs_inspect.logs._grids.read_grid_log", read_one)
    logs: list[Any] = [
        SimpleNamespace(location=f"/logs/{name}.eval")
        for name in ("late", "torn", "empty", "early")
    ]
    skipped = ["before"]
    assert [one.name for one in read_grid_logs(logs, skipped)] == ["late.eval", "early.eval"]
    assert skipped[1:] == [Telling("torn.eval ... KeyError"), Telling("empty.eval ... no samples")]


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


def test_cases_that_any_cell_has_are_missing_in_all_others() -> None:
    log = grid_log({("e", "s", "m"): [6, 6, 6, 6], ("e", "s", "n"): [5, 5, 5, 5]})
    table = log.judgements
    lost = (table["model"] == "m") & (table["case"] == "c0")
    lost |= (table["model"] == "n") & table["case"].isin(["c2", "c3"])
    [found] = grids_of([replace(log, judgements=table[~lost])])
    assert outcomes(found, model="m") == {"judged": 3, "missing": 1}
    assert outcomes(found, model="n") == {"judged": 2, "missing": 2}


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
    orders, _ = order_tables(found.scores, HOW)
    assert set(orders["evaluator"]) == {"f"}
    assert tells(stability(crossval_of([found], [], HOW).grids[0])[-1], "1 setting without")


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
        assert any(": 8; " in note for note in grid_notes(found)) == named
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


# --- logs and grids by slow obvious code ---


def judged_sample(case: str, judge_finals: Sequence[float | None], **facts: Any) -> EvalSample:
    """A sample of a grid with its judgements; None for one that failed."""
    scores = {}
    for place, given in enumerate(judge_finals):
        score = judgement(given) if given is not None else unscored("call_failed")
        scores[f"crossval_judge{place or ''}"] = score
    about = {"case": case, "fold": 1, "evaluator": "e", "source": "s", "model": "m", **facts}
    others = {"error": about.pop("error")} if "error" in about else {}
    return answered(case, scores=scores, metadata=about, **others)


def write_grid(path: Path, *samples: EvalSample, **spec: Any) -> str:
    facts = {
        "cases": 4,
        "cases_sha256": "c",
        "folds": 2,
        "reference_score": 8,
        "prompts_sha256": "p",
        "evaluators": ["e"],
        "sources": {"s": "sha of s"},
        "models": {"m": "sha of m"},
    }
    return write_judged(
        path, *samples, task="urs_inspect/urs_crossval", model="none/none", metadata=facts, **spec
    )


def test_every_fact_of_a_log_by_hand(tmp_path: Path) -> None:
    gone = EvalError(message="gone", traceback="", traceback_ansi="")
    location = write_grid(
        tmp_path / "grid.eval",
        judged_sample("c0", [3.0, 7.0], cluster=" ann "),
        judged_sample("c1", [None], cluster=None, fold=2),
        judged_sample("c2", [6.0], error=gone),
        judged_sample("c3", [], copy=True),
        judged_sample("c4", [5.0], copy=False, cluster="  "),
        task_version="3-B",
    )
    found = read_grid_log(read_log(location, header_only=True))
    assert found.judgements.fillna("none").to_numpy().tolist() == [
        ["c0", "ann", 1, "e", "s", "m", "judged", 7.0, False],
        ["c1", "", 2, "e", "s", "m", "unscored_call_failed", "none", False],
        ["c2", "", 1, "e", "s", "m", "error", "none", False],
        ["c3", "", 1, "e", "s", "m", "not_judged", "none", True],
        ["c4", "", 1, "e", "s", "m", "judged", 5.0, False],
    ]
    assert (found.name, found.axes) == ("grid.eval", (["e"], ["s"], ["m"]))
    assert found.hashes == {("references", "s"): "sha of s", ("answers", "m"): "sha of m"}
    assert found.conditions["task_version"] == "3"
    assert found.conditions["reference_score"] == 8


def test_logs_without_samples_and_damaged_ones_are_named(tmp_path: Path) -> None:
    whole = write_grid(tmp_path / "whole.eval", judged_sample("c0", [3.0]))
    empty = write_grid(tmp_path / "empty.eval")
    odd = write_judged(tmp_path / "odd.eval", judged_sample("c0", [3.0]))
    skipped: list[str] = []
    logs = [read_log(path, header_only=True) for path in (empty, odd, whole)]
    assert [log.name for log in read_grid_logs(logs, skipped)] == ["whole.eval"]
    assert skipped == [Telling("empty.eval ... no samples"), Telling("odd.eval ... cannot be read")]


AXES = (("e", "f"), ("s", "m"), ("m", "n", "o"))
Cell = tuple[str, str, str]


def random_logs(seed: int) -> list[GridLog]:
    """Two logs that share cells, with epochs, failures, copies, and cases that one of them lacks."""
    chance = np.random.default_rng(seed)
    cells = list(product(*AXES))
    logs = []
    for name, keys, cases in (("one.eval", cells[:9], 14), ("two.eval", cells[6:], 12)):
        finals = {key: [None] * cases for key in keys}
        log = grid_log(finals, log=name, folds=3)
        table = pd.concat([log.judgements, log.judgements.iloc[::3]], ignore_index=True)
        table["final"] = np.rint(chance.normal(5, 2, len(table))).clip(1, 10)
        lost = chance.random(len(table)) < 0.15
        table.loc[lost, "final"] = math.nan
        table["outcome"] = np.where(lost, "unscored_refusal", "judged")
        is_own = table["source"] == table["model"]
        table["copy"] = is_own & table["case"].isin(["c1", "c2"])
        kept = table.drop(index=chance.choice(len(table), 6, replace=False).tolist())
        conditions = {**log.conditions, "cases": 14}
        logs.append(replace(log, judgements=kept, conditions=conditions))
    return logs


def mean_of(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def test_a_grid_agrees_with_plain_counting() -> None:
    logs = random_logs(1)
    [found] = grids_of(logs)
    # Of a cell that both logs have, the judgements of the later one alone count.
    second = set(product(*logs[1].axes)) & set(
        logs[1].judgements[["evaluator", "source", "model"]].itertuples(index=False, name=None)
    )
    given: dict[Cell, dict[str, list[float]]] = {}
    given_without: dict[Cell, dict[str, list[float]]] = {}
    ended: Counter[tuple[Cell, str]] = Counter()
    fold = {}
    cases = set()
    for place, log in enumerate(logs):
        for one in rows_of(log.judgements):
            key = (one.evaluator, one.source, one.model)
            if place == 0 and key in second:
                continue
            ended[key, one.outcome] += 1
            fold[one.case] = one.fold
            cases.add(one.case)
            given.setdefault(key, {}).setdefault(one.case, []).append(one.final)
            if not one.copy:
                given_without.setdefault(key, {}).setdefault(one.case, []).append(one.final)

    names = sorted(cases)
    scores = found.scores
    places = list(product(*(range(len(axis)) for axis in scores.axes)))
    means = {}
    for judge, source, model in places:
        key = (scores.evaluators[judge], scores.sources[source], scores.models[model])
        for shown, plain in ((scores, given), (found.scores_without_copies, given_without)):
            own = [mean_of(plain.get(key, {}).get(case, [])) for case in names]
            np.testing.assert_allclose(shown.values[:, judge, source, model], own)
        means[key] = [mean_of(given.get(key, {}).get(case, [])) for case in names]
    over_settings = {
        model: mean_of([mean_of(own) for key, own in means.items() if key[2] == model])
        for model in AXES[2]
    }
    assert scores.models == sorted(over_settings, key=lambda model: -over_settings[model])
    copied = {(one.model, one.case) for log in logs for one in rows_of(log.judgements) if one.copy}
    assert found.copies == {"m": len({case for _, case in copied})}

    table = mean_table(found, HOW)
    there = set(product(*logs[0].axes)) | set(product(*logs[1].axes))
    assert len(table) == len(there)
    for one in rows_of(table):
        own = means[one.evaluator, one.source, one.model]
        assert (one.evaluator, one.source, one.model) in there
        assert one.mean.value == pytest.approx(mean_of(own))
        assert one.unscored == sum(math.isnan(value) for value in own)
        folds = [
            mean_of([value for value, case in zip(own, names, strict=True) if fold[case] == number])
            for number in (1, 2, 3)
        ]
        assert [one.fold_1, one.fold_2, one.fold_3] == pytest.approx(folds)
        assert one.fold_mean == pytest.approx(sum(folds) / 3)
        assert one.fold_deviation == pytest.approx(np.std(folds, ddof=1))
    for key in there:
        counts = {outcome: number for (cell, outcome), number in ended.items() if cell == key}
        lacking = len(names) - len(given.get(key, {}))
        if lacking:
            counts["missing"] = lacking
        of_cell = dict(zip(("evaluator", "source", "model"), key, strict=True))
        assert outcomes(found, **of_cell) == counts


def test_of_grids_the_one_of_most_judged_cases_comes_first_whatever_their_epochs() -> None:
    one = grid_log({("e", "s", "m"): [5, 6, 7]})
    twice = replace(one, judgements=pd.concat([one.judgements] * 2, ignore_index=True))
    other = grid_log({("f", "s", "m"): [4, 4, 4, 4]}, prompts_sha256="x")
    assert [found.scores.evaluators for found in grids_of([twice, other])] == [["f"], ["e"]]


def test_models_stand_by_their_means_over_settings_each_with_one_weight() -> None:
    # m: 4 in four cases of one setting and 10 in one of the other; n: 6 in all
    finals: Finals = {
        ("e", "s", "n"): [6, 6, 6, 6],
        ("e", "s", "m"): [4, 4, 4, 4],
        ("f", "s", "n"): [6, 6, 6, 6],
        ("f", "s", "m"): [10, None, None, None],
    }
    assert grid(finals).scores.models == ["m", "n"]


def test_there_are_rows_of_cells_that_a_log_has_alone() -> None:
    one = grid_log({("e", "s", "m"): [5, 6]})
    other = grid_log({("f", "s", "n"): [4, 4]}, log="two.eval")
    [found] = grids_of([one, other])
    table = mean_table(found, HOW)
    assert table[["evaluator", "model"]].to_numpy().tolist() == [["e", "m"], ["f", "n"]]
    assert table.index.tolist() == [0, 1] and set(table["unscored"]) == {0}


def test_cells_that_a_later_log_has_as_well_are_counted_by_log() -> None:
    finals: Finals = {("e", "s", "m"): [5, 6], ("e", "s", "n"): [5, 6], ("f", "s", "m"): [1, 2]}
    one = grid_log(finals)
    two = grid_log({key: finals[key] for key in list(finals)[:2]}, log="two.eval")
    three = grid_log({("e", "s", "n"): [7, 7]}, log="three.eval")
    [found] = grids_of([one, two, three])
    assert found.replaced == {"one.eval": 2, "two.eval": 1}


def test_self_preference_is_corrected_over_all_tables() -> None:
    tables = [
        pd.DataFrame({"source": ["s", "t"], "p": [0.01, 0.04], "p_beyond": [0.02, math.nan]}),
        pd.DataFrame({"source": ["u"], "p": [0.03], "p_beyond": [0.01]}),
    ]
    first, second = with_holm(tables)
    # three tests: 0.01 x 3, then 0.03 x 2, then 0.04, none below the one before it
    assert first["p_holm"].tolist() == pytest.approx([0.03, 0.06])
    assert second["p_holm"].tolist() == pytest.approx([0.06])
    assert first["p_beyond_holm"].tolist() == pytest.approx([0.02, math.nan], nan_ok=True)
    assert second["p_beyond_holm"].tolist() == pytest.approx([0.02])
    assert (first["source"].tolist(), second["source"].tolist()) == (["s", "t"], ["u"])


def test_orders_are_apart_by_the_level_and_the_corrected_p_value() -> None:
    chance = np.random.default_rng(5)
    base = chance.normal(5, 1, 30)
    finals: dict[Cell, list[float | None]] = {}
    for evaluator in "efgh":
        for model, level in (("m", 0.45), ("n", 0.0)):
            values = base + level + chance.normal(0, 0.8, 30)
            finals[evaluator, "s", model] = list(map(float, values))
    scores = grid(finals).scores
    for level in (0.5, 0.95, 0.999):
        _, pairs = order_tables(scores, replace(HOW, level=level))
        assert pairs["p_holm"].tolist() == pytest.approx(holm(list(pairs["p"])))
        assert pairs["apart"].tolist() == [p < 1 - level for p in pairs["p_holm"]]
    assert sum(pairs["p"] < 0.05) > 0 and (pairs["p"] < pairs["p_holm"]).any()


# --- ordinary runs, from logs made by hand ---


def panel_log(
    folder: Path,
    model: str,
    finals: Mapping[str, Sequence[float]],
    judges: Sequence[str],
    *,
    name: str = "",
    text: str = "the answer",
    **spec: Any,
) -> None:
    """A log of a model: question -> a score of each judge; an epoch for each full set of these."""
    samples = []
    for question, given in finals.items():
        for start in range(0, len(given), len(judges)):
            panel = dict(zip(judges, given[start : start + len(judges)], strict=True))
            score = judgement(sum(panel.values()) / len(panel), panel=dict(panel))
            sample = answered(question, score, epoch=1 + start // len(judges), target=" reference ")
            sample.output = ModelOutput.from_content(model, text)
            samples.append(sample)
    described = {"roles": {"grader": list(judges)}, "eval_id": name or model, **spec}
    write_judged(folder / f"{name or model[2:]}.eval", *samples, model=model, **described)


def test_panels_of_several_runs_by_hand(tmp_path: Path) -> None:
    both = ("p/a", "p/x")
    panel_log(tmp_path, "p/a", {"q0": [9, 7, 7, 5], "q1": [8, 8]}, both, created="2026-01-01")
    panel_log(tmp_path, "p/b", {"q0": [5, 4], "q1": [3, 2]}, both, created="2026-01-02")
    [found] = read_judged_runs(read_answers([str(tmp_path)]))
    assert found.scores.axes == (["p/a", "p/x"], [""], ["p/a", "p/b"])
    assert found.scores.values[:, :, 0].tolist() == [
        [[8, 5], [6, 4]],  # q0 by the judges a and x, of the models a and b
        [[8, 3], [8, 2]],
    ]
    assert (found.others, found.copies, found.scores.clusters) == ({}, {}, None)
    assert found.judge_is_tested
    assert {Path(log).name for log in found.logs} == {"a.eval", "b.eval"}


@pytest.mark.parametrize(
    ("judges", "is_tested"),
    [(("p/a", "p/x"), True), (("p/y", "p/x"), False), (("p/a",), False)],
)
def test_self_preference_needs_a_tested_judge_and_another_one(
    tmp_path: Path, judges: Sequence[str], is_tested: bool
) -> None:
    panel_log(tmp_path, "p/a", {"q0": [9.0] * len(judges)}, judges)
    [found] = read_judged_runs(read_answers([str(tmp_path)]))
    assert found.judge_is_tested == is_tested


def test_the_run_with_most_judges_counts_and_the_last_of_equal_ones(tmp_path: Path) -> None:
    # Three answers to one question: judged by one judge, by two, and by two later.
    panel_log(tmp_path, "p/a", {"q0": [1]}, ("p/x",), name="one", created="2026-01-03")
    panel_log(tmp_path, "p/a", {"q0": [2, 2]}, ("p/x", "p/y"), name="two", created="2026-01-01")
    panel_log(tmp_path, "p/a", {"q0": [3, 3]}, ("p/x", "p/z"), name="three", created="2026-01-02")
    [found] = read_judged_runs(read_answers([str(tmp_path)]))
    assert found.scores.values.flatten().tolist() == [3, 3]
    assert set(found.scores.evaluators) == {"p/x", "p/z"}
    assert {model: sorted(logs) for model, logs in found.others.items()} == {
        "p/a": ["one.eval", "two.eval"]
    }


@pytest.mark.parametrize(
    ("references", "text", "copies"),
    [
        ("p/a (made)", "reference", {"p/a": (3, 3)}),
        ("p/a (made)", "another", {}),
        ("p/a-large (made)", "reference", {}),
        ("", "reference", {}),
    ],
)
def test_copies_are_answers_of_the_model_that_made_the_references(
    tmp_path: Path, references: str, text: str, copies: dict[str, tuple[int, int]]
) -> None:
    finals = {"q0": [9, 7, 7, 5], "q1": [8, 8]}  # three answers by two judges
    about = {"references": references}
    panel_log(tmp_path, "p/a", finals, ("p/a", "p/x"), text=text, metadata=about)
    panel_log(tmp_path, "p/b", finals, ("p/a", "p/x"), text=text, metadata=about)
    [found] = read_judged_runs(read_answers([str(tmp_path)]))
    assert found.copies == copies
    [own] = [place for place, name in enumerate(found.scores.models) if name == "p/a"]
    assert np.isnan(found.scores.values[..., own]).all() == bool(copies)
    assert not np.isnan(found.scores.values[..., 1 - own]).any()


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
    results = crossval_of(chosen, [], HOW)
    left_out = ["two.eval was left out."]
    return crossval_report(results, ["one.eval"], left_out, "urs-inspect robustness logs")


def test_the_report_to_read() -> None:
    own: Finals = {("m/a", "", "m/a"): [9, 8], ("m/x", "", "m/a"): [7, 8]}
    scores: Finals = {**own, **{(judge, "", "m/b"): [5, 6] for judge in ("m/a", "m/x")}}
    conditions = Conditions((), "urs", "", "urs 1", "1234", "", "3-A")
    runs = JudgedRuns(
        conditions, frozenset(["a.eval"]), grid(scores).scores, {"m/a": ["old.eval"]}, {}
    )
    second = replace(unstable(), differs=[Difference("dataset_sha256", "x", "y")])
    results = crossval_of([example(), second], [runs], HOW)
    made = crossval_report(results, ["one.eval"], ["two.eval was left out."])
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
    assert tells(stability(crossval_of([both], [], HOW).grids[0])[0], "In no setting")
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


def test_a_report_of_ordinary_runs_says_which_show_no_self_preference(tmp_path: Path) -> None:
    finals = {"q0": [9, 7], "q1": [8, 8], "q2": [7, 6]}
    for model in ("p/a", "p/b"):
        panel_log(tmp_path, model, finals, ("p/a", "p/x"))
    panel_log(
        tmp_path,
        "p/c",
        finals,
        ("p/y", "p/x"),
        metadata={"dataset": "other", "dataset_sha256": "c" * 64},
    )
    (tmp_path / "cut.eval").write_bytes(b"PK")
    report = report_crossval([str(tmp_path)], rounds=20)
    [found] = report.facts["runs"]
    assert (found["judges"], found["models"]) == (["p/a", "p/x"], ["p/a", "p/b"])
    skipped = " ".join(report.facts["skipped"])
    assert tells(skipped, "1 log of p/c, judged by ... p/x ... no judge is among")
    assert "cut.eval" in skipped
