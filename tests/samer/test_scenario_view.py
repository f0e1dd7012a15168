"""Selected dimensions against Table A2."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from urs_inspect._util import InputError
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer.scenario_view import expected_dimensions, related_scenarios, scenario_view

TAXONOMY = load_taxonomy()
SIZE = len(TAXONOMY.dimensions)


def flags(*names: str) -> "np.ndarray":
    return np.array([name in names for name in TAXONOMY.dimensions])


def test_precision_recall_and_f1_by_hand():
    # Category identification has five dimensions: Accuracy, Clarity, Relevance, Completeness, Faithfulness.
    # First query: 2 selected, both right. Second: 3 selected, 1 right. So 3 of 5 selected are right, 3 of 10 found.
    selected = np.stack([flags("Accuracy", "Clarity"), flags("Relevance", "Emojis", "Vivid")])
    view = scenario_view(selected, ["classification_identification"] * 2, TAXONOMY)
    assert (view.total.hits, view.total.selected, view.total.expected) == (3, 5, 10)
    assert (view.total.precision, view.total.recall) == (0.6, 0.3)
    assert view.total.f1 == pytest.approx(2 * 0.6 * 0.3 / 0.9)
    assert [one.name for one in view.scenarios] == ["classification_identification"]
    assert view.macro_f1 == pytest.approx(view.total.f1)


def test_by_a_slow_loop_and_in_any_order():
    random = np.random.default_rng(0)
    scenarios = [str(name) for name in random.choice(list(TAXONOMY.scenarios), 60)]
    selected = random.random((60, SIZE)) < 0.3
    view = scenario_view(selected, scenarios, TAXONOMY)
    for one in view.scenarios:
        rows = [row for row in range(60) if scenarios[row] == one.name]
        pairs = [(row, d) for row in rows for d, name in enumerate(TAXONOMY.dimensions) if selected[row, d]]
        right = [pair for pair in pairs if TAXONOMY.dimensions[pair[1]] in TAXONOMY.scenarios[one.name].dimensions]
        assert (one.queries, one.selected, one.hits) == (len(rows), len(pairs), len(right))
    order = random.permutation(60)
    assert scenario_view(selected[order], [scenarios[row] for row in order], TAXONOMY) == view
    assert view.macro_f1 == pytest.approx(np.mean([one.f1 for one in view.scenarios]))


def test_the_table_itself_is_perfect_and_nothing_selected_is_no_precision():
    scenarios = list(TAXONOMY.scenarios)
    perfect = scenario_view(expected_dimensions(scenarios, TAXONOMY), scenarios, TAXONOMY)
    assert (perfect.total.precision, perfect.total.recall, perfect.macro_f1) == (1, 1, 1)
    nothing = scenario_view(np.zeros((1, SIZE), bool), ["chitchat"], TAXONOMY)
    assert math.isnan(nothing.total.precision) and nothing.total.recall == 0 and nothing.total.f1 == 0


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="unknown scenario 'party'"):
        scenario_view(np.zeros((1, SIZE), bool), ["party"], TAXONOMY)
    with pytest.raises(InputError, match=r"selections of shape \(1, 3\); expected \(1, 42\)"):
        scenario_view(np.zeros((1, 3), bool), ["chitchat"], TAXONOMY)
    with pytest.raises(InputError, match="at least one query"):
        scenario_view(np.zeros((0, SIZE), bool), [], TAXONOMY)


@pytest.mark.data
def test_every_out_of_distribution_scenario_has_one_of_ours(data_dir: Path):
    rows = json.loads((data_dir / "md_eval" / "ood_autoj.json").read_text(encoding="utf-8"))
    assert {row["scenario"] for row in rows} == set(related_scenarios())
    assert set(related_scenarios().values()) <= set(TAXONOMY.scenarios)
