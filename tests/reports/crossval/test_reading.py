"""Tests of `urs_inspect.reports.crossval.reading`."""

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.model import ChatMessage, get_model

from tests.reports.crossval.grids import BOOTSTRAP, conditions, counts, grid_table
from tests.tasks.scripted import Script, run
from tests.tasks.test_urs_crossval import answer_log, crossval, final, places
from urs_inspect import urs
from urs_inspect.logs.files import read_log
from urs_inspect.reports.crossval.reading import (
    GridTable,
    join_grids,
    order_reversals,
    read_grid,
    read_judged_answers,
    report_grid,
    with_holm,
)
from urs_inspect.reports.crossval.report import ALL, Gap, Preference, SettingOrder
from urs_inspect.reports.intent.scores import Resampling
from urs_inspect.scorers import intent_judge
from urs_inspect.stats import Estimate, holm
from urs_inspect.stats.crossval import SelfPreference

_ = places  # a fixture


def test_another_evaluator_joins() -> None:
    one = grid_table({("e", "s", "m"): [5, 6, 7, 8]})
    other = grid_table({("f", "s", "m"): [4, 4, 4, 4]}, log="two.eval")
    [joined] = join_grids([one, other])
    assert joined.evaluators == ["e", "f"]
    assert set(joined.cells) == {("e", "s", "m"), ("f", "s", "m")}
    assert not joined.apart_because and not joined.notes


def test_of_the_same_cell_the_later_log_counts() -> None:
    one = grid_table({("e", "s", "m"): [5, 6, 7, 8]})
    other = grid_table({("e", "s", "m"): [4, 4, 4, 4]}, log="two.eval")
    [joined] = join_grids([one, other])
    assert joined.cells["e", "s", "m"].finals["c0"] == [4]
    assert joined.notes == [
        "e on m with references by s: the judgements in two.eval count, not those of the earlier one.eval."
    ]


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
def test_other_conditions_stand_apart(changed: dict[str, object], reason: str) -> None:
    one = grid_table({("e", "s", "m"): [5, 6, 7, 8]})
    other = grid_table({("f", "s", "m"): [4, 4, 4]}, log="two.eval")
    other.conditions = conditions(**changed)
    first, second = join_grids([one, other])
    assert first is one and second is other
    assert len(second.apart_because) == 1 and second.apart_because[0].startswith(reason)


def test_other_answers_or_references_stand_apart() -> None:
    one = grid_table({("e", "s", "m"): [5, 6, 7, 8]})
    other = grid_table({("f", "s", "m"): [4, 4]}, log="two.eval")
    other.models["m"], other.sources["s"] = "other answers", "other references"
    _, second = join_grids([one, other])
    assert second.apart_because == ("Other references by s.", "Other answers of m.")


def test_the_largest_grid_comes_first() -> None:
    one = grid_table({("e", "s", "m"): [5]})
    other = grid_table({("f", "s", "m"): [4, 4, 4, 4]}, prompts_sha256="x")
    assert join_grids([one, other]) == [other, one]


def test_a_log_is_read_with_its_failures(tmp_path: Path, places) -> None:
    judge = Script([final(7), final(6), "No.", "No."])
    log = crossval(tmp_path, places, {"C": judge}, {"cases": 4, "folds": 2}, max_samples=1, max_connections=1)
    table = read_grid(read_log(log.location, header_only=True))
    assert counts(table) == {"judged": 2, "unscored_unparseable": 6}
    assert (table.conditions.cases, table.conditions.folds, table.conditions.reference_score) == (4, 2, 8)
    assert sorted(table.folds.values()) == [1, 1, 2, 2]
    assert set(table.cells) == {("mockllm/C", "mockllm/A", f"mockllm/{name}") for name in "AB"}
    finals = [value for cell in table.cells.values() for given in cell.finals.values() for value in given]
    assert sorted(finals) == [6, 7]


def test_epochs_stand_side_by_side_and_a_limit_leaves_cells_short(tmp_path: Path, places) -> None:
    judge = Script([final(7), final(5)])
    log = crossval(tmp_path, places, {"C": judge}, {"cases": 4, "folds": 2}, limit=3, epochs=2)
    table = read_grid(read_log(log.location, header_only=True))
    assert {name[2]: len(cell.finals) for name, cell in table.cells.items()} == {"mockllm/A": 2, "mockllm/B": 1}
    assert {len(given) for cell in table.cells.values() for given in cell.finals.values()} == {2}


def test_a_long_answer_does_not_hide_what_a_sample_is_about(tmp_path: Path) -> None:
    answer_log(tmp_path, "A", "Long. " * 5000)
    given = {"answers": str(tmp_path / "answers"), "references": "dataset"}
    log = crossval(tmp_path, given, {"C": Script(final(7))}, {"cases": 2, "folds": 1})
    [cell] = read_grid(read_log(log.location, header_only=True)).cells.values()
    assert len(cell.finals) == 2


def test_means_folds_and_failures_of_a_cell() -> None:
    # Cases 0 and 2 are fold 1, 1 and 3 fold 2: means 7 and 5 (the failed one aside).
    grid = report_grid(grid_table({("e", "s", "m"): [6, 5, 8, None]}), BOOTSTRAP)
    [cell] = grid.cells
    assert cell.mean.value == pytest.approx(19 / 3) and cell.mean.n == 3
    assert list(cell.folds) == [7, 5]
    assert cell.fold_mean == 6 and cell.fold_deviation == pytest.approx(math.sqrt(2))
    assert (cell.unscored, cell.outcomes) == (1, {"judged": 3, "unscored_call_failed": 1})
    assert not grid.biases and not grid.preferences


def test_a_fold_without_scores_takes_no_part() -> None:
    [cell] = report_grid(grid_table({("e", "s", "m"): [6, None, 8, None]}), BOOTSTRAP).cells
    assert cell.folds[0] == 7 and math.isnan(cell.folds[1])
    assert cell.fold_mean == 7 and math.isnan(cell.fold_deviation)


def test_judgements_that_no_log_has_are_missing() -> None:
    grid = report_grid(grid_table({("e", "s", "m"): [6, 6, 6, 6], ("e", "s", "n"): [5, 5]}), BOOTSTRAP)
    assert grid.cells[1].outcomes == {"judged": 2, "missing": 2} and grid.cells[1].unscored == 2
    # The order is over the two cases that both have.
    [order] = grid.orders
    assert (order.models, order.means, order.cases) == (("m", "n"), (6, 5), 2)


def test_rating_bias_is_about_models_that_are_tested_and_sources() -> None:
    finals = {
        ("e", "a", "a"): [9, 9, 8, 10],  # 9, one too many
        ("e", "a", "b"): [1, 1, 1, 1],
        ("e", "b", "a"): [1, 1, 1, 1],
        ("e", "b", "b"): [8, 8, 7, 7],  # 7.5
        ("e", "dataset", "a"): [1, 1, 1, 1],
        ("e", "dataset", "b"): [1, 1, 1, 1],
    }
    [bias] = report_grid(grid_table(finals), BOOTSTRAP).biases
    assert bias.bias.value == pytest.approx((1 - 0.5) / 2)
    assert {model: one.value for model, one in bias.by_model.items()} == {"a": 1, "b": -0.5}
    [other] = report_grid(grid_table(finals, reference_score=5.0), BOOTSTRAP).biases
    assert other.bias.value == pytest.approx(3.25)


def test_self_preference_by_source_and_over_all() -> None:
    finals = {
        ("a", "a", "a"): [9, 9],
        ("x", "a", "a"): [7, 7],
        ("a", "dataset", "a"): [8, 8],
        ("x", "dataset", "a"): [8, 8],
        ("a", "a", "b"): [6, 6],
        ("x", "a", "b"): [5, 5],
        ("a", "dataset", "b"): [4, 4],
        ("x", "dataset", "b"): [4, 4],
    }
    found = {one.source: one for one in report_grid(grid_table(finals), BOOTSTRAP).preferences}
    assert list(found) == ["a", "dataset", ALL]
    assert {one.evaluator for one in found.values()} == {"a"} and found["a"].others == ("x",)
    values = {source: (r.preference.value, r.leniency.value, r.beyond.value) for source, r in _results(found).items()}
    assert values == {"a": (2, 1, 1), "dataset": (0, 0, 0), ALL: (1, 0.5, 0.5)}


def _results(found):
    return {source: one.result for source, one in found.items()}


def test_with_one_source_it_stands_alone() -> None:
    finals = {("a", "s", "a"): [9, 9], ("x", "s", "a"): [7, 7]}
    assert [one.source for one in report_grid(grid_table(finals), BOOTSTRAP).preferences] == ["s"]
    assert not report_grid(grid_table({("a", "s", "a"): [9, 9]}), BOOTSTRAP).preferences


def test_orders_are_corrected_over_the_whole_grid() -> None:
    up = [5, 6, 7, 8] * 6
    finals = {
        ("e", "s", "m"): [value + 1 for value in up],
        ("e", "s", "n"): up,
        ("f", "s", "m"): up,
        ("f", "s", "n"): [value + (place % 2) for place, value in enumerate(up)],
    }
    grid = report_grid(grid_table(finals), BOOTSTRAP)
    first, second = grid.orders
    assert (first.models, second.models) == (("m", "n"), ("n", "m"))
    [gap], [other] = first.gaps, second.gaps
    assert (gap.p_holm, other.p_holm) == holm([gap.p, other.p])
    assert max(gap.p_holm / gap.p, other.p_holm / other.p) == pytest.approx(2)
    assert gap.apart and other.apart
    [reversal] = grid.reversals
    assert (reversal.first, reversal.second, reversal.ahead, reversal.behind) == ("m", "n", 1, 1)


def test_a_setting_without_common_cases_has_no_order() -> None:
    finals: dict[tuple[str, str, str], list[float | None]] = {
        ("e", "s", "m"): [5, None],
        ("e", "s", "n"): [None, 5],
        ("f", "s", "m"): [5, 5],
        ("f", "s", "n"): [4, 4],
    }
    assert [order.evaluator for order in report_grid(grid_table(finals), BOOTSTRAP).orders] == ["f"]


def _order(*signs: tuple[str, str, float, bool]) -> SettingOrder:
    from urs_inspect.stats import Estimate

    gaps = tuple(Gap(one, other, Estimate(value, 0, 0, 1, 1), 0, 0, apart) for one, other, value, apart in signs)
    return SettingOrder("e", "s", (), (), 1, 1, gaps)


def test_reversals_by_hand() -> None:
    orders = [
        _order(("a", "b", 1, True), ("a", "c", 2, True)),
        _order(("b", "a", 1, False), ("a", "c", 1, False)),
        _order(("b", "a", 2, True), ("c", "a", 0, False)),  # equal means turn nothing
    ]
    [found] = order_reversals(orders)
    assert (found.first, found.second) == ("a", "b")
    assert (found.ahead, found.ahead_apart, found.behind, found.behind_apart) == (1, 1, 2, 1)
    assert order_reversals([]) == ()


def test_the_best_model_comes_first_whatever_logs_name_first() -> None:
    finals: dict[tuple[str, str, str], list[float | None]] = {
        ("e", "s", "none"): [None, None],
        ("e", "s", "low"): [3, 4],
        ("e", "s", "high"): [8, None],
        ("e", "t", "high"): [6, 6],
    }
    grid = report_grid(grid_table(finals), BOOTSTRAP)
    assert grid.models == ("high", "low", "none")
    assert [cell.mean.value for cell in grid.cells if cell.model == "high"] == [8, 6]
    assert next(cell.mean.value for cell in grid.cells if cell.model == "low") == 3.5


def neutral_grid(seed: int, *, favour: float = 0.0) -> GridTable:
    """Three models judge one another, mild and severe alike to all; answers and references are of the same runs.

    Args:
        seed: Seed of the scores.
        favour: What a judge gives its own answers on top.
    """
    chance = np.random.default_rng(seed)
    names, cases = ("A", "B", "C"), 40
    quality, hardness = chance.normal(6.0, 0.7, 3), chance.normal(0.0, 1.0, cases)
    leniency = dict(zip(names, (-0.6, 0.0, 0.8), strict=True))
    finals: dict[tuple[str, str, str], list[float | None]] = {}
    for evaluator, source, (place, model) in product(names, names, enumerate(names)):
        shift = leniency[evaluator] + favour * (evaluator == model)
        scores = quality[place] + hardness + shift + chance.normal(0.0, 1.0, cases)
        # Whoever is shown a text twice gives it the highest score, mild or not.
        finals[evaluator, source, model] = [10.0] * cases if source == model else list(np.clip(scores.round(), 1, 10))
    table = grid_table(finals)
    table.copies = {name: frozenset(table.folds) for name in names}
    return table


def claims(table: GridTable) -> list[float]:
    """What self-preference a report claims: the differences that are significant."""
    [found] = with_holm([report_grid(table, Resampling(300, 0.95, 0)).preferences])
    return [one.result.beyond.value for one in found if one.p_beyond_holm < 0.05]


def test_neutral_judges_are_not_said_to_favour_themselves_where_answers_are_the_references() -> None:
    """With copies in it, a mild judge seems to disfavour itself: its own answers alone leave it no room to be mild."""
    runs = 60
    false = sum(bool(claims(neutral_grid(seed))) for seed in range(runs))
    assert false <= 7  # 5% of 60, and 2.4 standard errors
    partial = [claims(neutral_grid(seed, favour=0.8)) for seed in range(10)]
    assert all(found and min(found) > 0 for found in partial)


def test_copies_leave_rating_bias_and_stay_in_the_means() -> None:
    table = grid_table(
        {("J", "A", "A"): [10, 6], ("J", "A", "B"): [4, 4], ("J", "B", "A"): [7, 7], ("J", "B", "B"): [9, 9]}
    )
    table.copies = {"A": frozenset({"c0"}), "B": frozenset({"c0", "c1"})}
    grid = report_grid(table, BOOTSTRAP)
    [bias] = grid.biases
    assert bias.by_model["A"].value == 6 - 8 == bias.bias.value
    assert math.isnan(bias.by_model["B"].value)
    assert {(cell.source, cell.model): cell.mean.value for cell in grid.cells}["A", "A"] == 8
    assert grid.copies == {"A": 1, "B": 2}


def test_self_preference_is_corrected_over_evaluators_sources_and_runs() -> None:
    def one(evaluator: str, source: str, p: float) -> Preference:
        nothing = Estimate(0.1, 0.0, 0.2, 10, 10, 0.95, 100, 0)
        return Preference(evaluator, source, (), SelfPreference(nothing, nothing, nothing, 1.0, 1.0, p, p))

    parts = [[one("A", "x", 0.01), one("A", "y", 0.04)], [one("B", "x", 0.02), one("B", "", math.nan)]]
    first, second = with_holm(parts)
    assert [found.p_beyond_holm for found in first] == [pytest.approx(0.03), pytest.approx(0.04)]
    assert second[0].p_holm == pytest.approx(0.04)
    assert math.isnan(second[1].p_holm)


CASES = 3


def judge(by_model: dict[str, int]) -> Script:
    """A judge that gives each model's answers one score."""

    def reply(messages: list[ChatMessage]) -> str:
        text = messages[1].text
        return next(f'{{"Final Score": {number}}}' for name, number in by_model.items() if f"by {name}." in text)

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


def rejudged(log: EvalLog, tmp_path: Path, name: str, script: Script) -> None:
    """Judge a log again, into another one."""
    get_model("mockllm/none")
    done = score(log, intent_judge(), action="overwrite", model_roles={"grader": script.model(name)}, display="none")
    write_eval_log(done, str(tmp_path / "logs" / f"{log.eval.model[-1]}-by-{name}.eval"))


GIVEN = {"A": judge({"A": 9, "B": 6}), "X": judge({"A": 7, "B": 5})}


def test_a_panel_is_compared_with_itself(tmp_path: Path) -> None:
    for name in "AB":
        answers(tmp_path, name, GIVEN)
    [found], left_out = read_judged_answers([str(tmp_path / "logs")], BOOTSTRAP)
    assert not left_out
    # Models come in the order of their logs, which may be of the same second.
    assert (found.judges, sorted(found.models), found.questions) == (
        ("mockllm/A", "mockllm/X"),
        ["mockllm/A", "mockllm/B"],
        CASES,
    )
    [preference] = found.preferences
    result = preference.result
    assert (preference.evaluator, preference.others) == ("mockllm/A", ("mockllm/X",))
    assert (result.own, result.others) == (9, 7)
    assert (result.preference.value, result.leniency.value, result.beyond.value) == (2, 1, 1)


def test_logs_that_were_judged_again_are_the_same_answers(tmp_path: Path) -> None:
    for name in "AB":
        log = answers(tmp_path, name, {"A": GIVEN["A"]})
        rejudged(log, tmp_path, "X", GIVEN["X"])
    [found], _ = read_judged_answers([str(tmp_path / "logs")], BOOTSTRAP)
    [preference] = found.preferences
    assert preference.result.preference.value == 2 and preference.result.beyond.value == 1


def test_another_run_has_other_answers(tmp_path: Path) -> None:
    log = answers(tmp_path, "A", {"A": GIVEN["A"]})
    rejudged(log, tmp_path, "X", GIVEN["X"])
    again = answers(tmp_path, "A", {"Y": judge({"A": 1})})
    [found], _ = read_judged_answers([str(tmp_path / "logs")], BOOTSTRAP)
    assert set(found.judges) == {"mockllm/A", "mockllm/X"}
    assert found.notes == (
        f"{Path(again.location).name} of mockllm/A: other answers than those that more judges have judged; left out.",
    )


@pytest.mark.parametrize("changed", [{"judge_language": "zh"}, {"references": "refs.jsonl"}])
def test_other_prompts_or_references_do_not_compare(
    changed: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = answers(tmp_path, "A", {"A": GIVEN["A"]})
    if "references" in changed:
        _references(tmp_path / "refs.jsonl")
        monkeypatch.chdir(tmp_path)
    answers(tmp_path, "A", {"X": GIVEN["X"]}, **changed)
    found, left_out = read_judged_answers([str(tmp_path / "logs")], BOOTSTRAP)
    assert not found and log.status == "success"
    assert [line.split(": ", 1)[1] for line in left_out] == [
        "there is no other judge of the same answers to compare with."
    ] * 2


def _references(path: Path) -> None:
    from urs_inspect.datasets.references import Reference, gather, question_sha256, reference_lines

    samples = urs(dataset="sample").dataset
    items = [Reference(str(one.id), question_sha256(str(one.input)), "Reference.", "m/x") for one in samples]
    path.write_text("".join(reference_lines(gather(items, "here"))), encoding="utf-8")


def test_judges_that_are_not_tested_have_no_self_preference(tmp_path: Path) -> None:
    answers(tmp_path, "B", GIVEN)
    found, [line] = read_judged_answers([str(tmp_path / "logs")], BOOTSTRAP)
    assert not found
    assert line == (
        "No self-preference from 1 log of mockllm/B, judged by mockllm/A, mockllm/X: no judge is among the models."
    )


def test_answers_that_are_their_own_references_take_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the answers of A are its references; for these all judges, mild or not, give one score."""
    from urs_inspect.datasets.references import Reference, gather, question_sha256, reference_lines

    samples = list(urs(dataset="sample").dataset)
    texts = ["An answer by A." if place < CASES - 1 else "Another one." for place in range(len(samples))]
    items = [
        Reference(str(one.id), question_sha256(str(one.input)), text, "mockllm/A")
        for one, text in zip(samples, texts, strict=True)
    ]
    (tmp_path / "refs.jsonl").write_text("".join(reference_lines(gather(items, "here"))), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in "AB":
        answers(tmp_path, name, GIVEN, references="refs.jsonl")
    [found], _ = read_judged_answers([str(tmp_path / "logs")], BOOTSTRAP)
    assert any(f"{CASES - 1} of {CASES} answers of mockllm/A" in note for note in found.notes)
    [own] = found.preferences
    assert own.result.preference.n == 1
