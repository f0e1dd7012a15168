"""Tables of scores, and models beside each other."""

from dataclasses import replace

import pytest

from tests.reports.intent.page.factory import (
    CRITERIA,
    GROUPS,
    NAN,
    estimate,
    make_block,
    make_models,
    with_countries,
    with_missing,
)
from urs_inspect.reports.intent.page import tables


def test_leaderboard_has_all_and_every_intent() -> None:
    block = make_block(make_models(4))
    table = tables.leaderboard(block)
    assert [column.title for column in table.columns] == ["All", *GROUPS]
    assert [column.questions for column in table.columns] == [1846, 556, 455, 186, 300, 170, 179]
    assert [row.model.model for row in table.rows] == [model.model for model in block.models]
    assert [row.cells[2].estimate for row in table.rows] == [model.by_group["Factual QA"] for model in block.models]
    assert table.over == []


def test_marks_go_by_the_test_of_the_column_and_by_nothing_else() -> None:
    block = make_block(make_models(4))
    best = block.best["Factual QA"]
    others = tuple(
        replace(one, verdict="not distinguishable" if n == 1 else "significant") for n, one in enumerate(best.others)
    )
    block = replace(block, best=block.best | {"Factual QA": replace(best, others=others)})
    marked = [row.model.model for row in tables.leaderboard(block).rows if row.cells[2].marked]
    assert set(marked) == {best.model, best.others[1].second}
    # Cells of an intent in a language, and parts of intents, are not tested.
    assert not any(cell.marked for part in tables.languages(block) for row in part.rows for cell in row.cells[2:])
    assert any(row.cells[0].marked for row in tables.languages(block)[0].rows)
    assert not any(cell.marked for row in tables.parts(block).rows for cell in row.cells)


def test_a_verdict_that_depends_on_unscored_answers_leaves_the_mark() -> None:
    block = with_missing(make_block(make_models(4)), 3)
    assert all(
        row.cells[0].marked == (row.model.model in (block.models[0].model, block.models[3].model))
        for row in tables.leaderboard(block).rows
    )


def test_one_model_has_no_mark() -> None:
    table = tables.leaderboard(make_block(make_models(1)))
    assert not any(cell.marked for cell in table.rows[0].cells)


def test_languages_are_laid_out_as_in_the_paper() -> None:
    first, second = tables.languages(make_block(make_models(2)))
    assert first.over == [("All", 2), ("Solve Problem", 2), ("Factual QA", 2), ("Text Assistant", 2)]
    assert second.over == [("Ask for Advice", 2), ("Seek Creativity", 2), ("Leisure", 2)]
    assert [column.title for column in second.columns] == ["English", "Chinese"] * 3
    assert [column.main for column in first.columns] == [True, True] + [False] * 6
    model = first.rows[0].model
    assert first.rows[0].cells[1].estimate == model.by_language["zh"]
    assert second.rows[0].cells[4].estimate == model.by_group_and_language["Leisure", "en"]


@pytest.mark.parametrize(
    ("codes", "widths"), [(("en",), [7]), (("a", "b", "c"), [6, 6, 6, 3]), (tuple("abcdefghi"), [9] * 7)]
)
def test_any_number_of_languages(codes: tuple[str, ...], widths: list[int]) -> None:
    block = replace(make_block(make_models(1)), languages=codes)
    parts = tables.languages(block)
    assert [len(part.columns) for part in parts] == widths
    assert sum(widths) == 7 * len(codes)


def test_shades_go_from_the_lowest_to_the_highest() -> None:
    # 6 of 5 to 9: a quarter of the way
    models = [
        replace(m, by_criterion={CRITERIA[0]: estimate(v)}) for m, v in zip(make_models(3), (9, 5, 6), strict=True)
    ]
    table = tables.criteria(replace(make_block(models), criteria=CRITERIA[:2]))
    assert (table.lowest, table.highest) == (5, 9)
    assert [row.cells[0].shade for row in table.rows] == [1, 0, 0.25]
    assert all(row.cells[1].estimate is None and row.cells[1].shade != row.cells[1].shade for row in table.rows)
    same = tables.criteria(replace(make_block(models[:1]), criteria=CRITERIA[:1]))
    assert same.rows[0].cells[0].shade == 0.5


def test_countries_and_parts() -> None:
    block = with_countries(make_block(make_models(2)))
    assert [column.title for column in tables.countries(block).columns] == list(block.countries)
    assert [column.questions for column in tables.countries(block).columns] == [811, 402, 33, 600]
    assert tables.parts(block).over == [("Solve Problem", 2)]
    assert [column.title for column in tables.parts(block).columns] == [
        "Usage through API",
        "solve_professional_problem",
    ]
    assert tables.parts(block).rows[0].cells[0].estimate == block.models[0].by_part[block.parts[0]]


def test_outcomes_that_occur_good_ones_first() -> None:
    models = [
        replace(m, outcomes=o)
        for m, o in zip(make_models(2), ({"unscored_x": 1, "no_response": 0}, {"judged": 3, "a": 2}), strict=True)
    ]
    assert tables.outcomes(models) == ("judged", "a", "unscored_x")


def test_matrix_is_antisymmetric() -> None:
    block = make_block(make_models(6))
    rows = tables.matrix(block)
    for i, row in enumerate(rows):
        assert row.cells[i] is None
        for j, cell in enumerate(row.cells):
            if cell is None:
                continue
            other = rows[j].cells[i]
            assert other is not None
            assert cell.value == -other.value
            assert cell.value == pytest.approx(row.model.all.value - rows[j].model.all.value)
            kinds = {"better": "worse", "worse": "better", "same": "same"}
            assert other.kind == kinds[cell.kind]
            assert (cell.kind == "same") == (rows[j].model.model in row.unclear)
    assert rows[2].unclear == (rows[3].model.model,)


def test_what_was_never_compared_is_not_significant() -> None:
    block = make_block(make_models(2))
    pair = replace(block.differences[0], questions=0, p=NAN, p_holm=NAN, verdict="not comparable")
    for differences, cell in (((pair,), "none"), ((), None)):
        first, second = tables.matrix(replace(block, differences=differences))
        found = first.cells[1]
        assert (found.kind if found else None) == cell
        assert first.unclear == (second.model.model,)


def test_matrix_has_what_depends_on_unscored_answers() -> None:
    # The last two cannot be distinguished anyway.
    rows = tables.matrix(with_missing(make_block(make_models(4)), 3))
    assert [cell.kind for cell in rows[3].cells if cell] == ["unscored", "unscored", "same"]
    assert rows[3].depends == tuple(row.model.model for row in rows[:2])
    assert rows[0].depends == (rows[3].model.model,)
