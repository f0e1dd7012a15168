"""Grids of several logs: read together where they compare, and never otherwise."""

from pathlib import Path

import pytest

from tests.reports.crossval.grids import conditions, counts, grid_table
from tests.tasks.scripted import Script
from tests.tasks.test_urs_crossval import answer_log, crossval, final, places
from urs_inspect.reports.crossval.grid_logs import join_grids, read_grid
from urs_inspect.reports.log_files import read_log

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
