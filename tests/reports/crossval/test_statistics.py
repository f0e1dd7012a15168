"""Grids -> numbers, worked out by hand."""

import math

import pytest

from tests.reports.crossval.grids import BOOTSTRAP, grid_table
from urs_inspect.rating import holm
from urs_inspect.reports.crossval.report import ALL, Gap, SettingOrder
from urs_inspect.reports.crossval.statistics import order_reversals, report_grid


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
    from urs_inspect.rating import Estimate

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
