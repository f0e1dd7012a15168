"""Tests of `urs_inspect.reports.words._published`."""

import json

import pytest
import yaml
from pydantic import ValidationError

from urs_inspect.datasets._published import (
    _PUBLISHED_URS_FILE,
    PublishedUrs,
    load_published_urs,
)
from urs_inspect.rubrics import load_rubric


def test_published_urs_published_tables_are_complete() -> None:
    published = load_published_urs()
    sizes = {table.number: (len(table.rows), len(table.columns)) for table in published.tables}
    assert sizes == {4: (10, 7), 7: (6, 2), 12: (10, 8), 13: (10, 8), 14: (4, 1), 15: (3, 1)}
    assert published.table(4).rows["Qwen-max"] == (7.53, 7.64, 8.24, 7.28, 7.10, 6.63, 7.48)
    assert published.table(7).rows["ERNIE-Bot-4"] == (9, 94)
    assert published.table(13).rows["Deepseek-chat"][-1] == 5.37


def test_table_4_is_what_its_own_columns_say() -> None:
    """All is the mean over cases: the intents' means, weighted by their counts, give it to a
    hundredth.
    """
    table = load_published_urs().table(4)
    counts = [column.cases or 0 for column in table.columns[:-1]]
    assert sum(counts) == 1030
    for scores in table.rows.values():
        mean = sum(count * score for count, score in zip(counts, scores, strict=False)) / sum(
            counts
        )
        assert mean == pytest.approx(scores[-1], abs=0.015)


def test_marks_of_table_4_are_its_best_three_but_for_one() -> None:
    table = load_published_urs().table(4)
    for place, column in enumerate(table.columns):
        best = sorted(table.rows, key=lambda name: -table.rows[name][place])
        marked = {
            name: table.marks[name][place] for name in table.marks if table.marks[name][place]
        }
        if column.name == "Ask for Advice":
            assert marked.pop("ERNIE-Bot-4") == 3  # as printed, though it is fourth
        assert marked == {name: rank for rank, name in enumerate(best[:3], start=1)}


def test_tables_12_and_13_average_to_table_4() -> None:
    """Between its two languages' means lies an intent's mean, but for the row that is printed
    twice.
    """
    published = load_published_urs()
    four = published.table(4)
    names = {"Claude-3-opus-20240229": "Claude-3-opus"}
    for number in (12, 13):
        table = published.table(number)
        for name, scores in four.rows.items():
            if number == 13 and name == "Spark-3.5":
                continue
            row = table.rows[names.get(name, name)]
            for place in range(3):
                intent = [column.name for column in four.columns].index(
                    table.columns[2 * place].name
                )
                low, high = sorted(row[2 * place : 2 * place + 2])
                assert low - 0.005 <= scores[intent] <= high + 0.005, (
                    number,
                    name,
                    table.columns[2 * place].name,
                )


def test_table_6_is_the_rubric_but_for_a_slip() -> None:
    rubric = load_rubric()
    for name, criteria in load_published_urs().criteria.intents.items():
        intent = rubric.intents["api" if "API" in name else name.lower().replace(" ", "_")]
        expected = [rubric.criteria[criterion]["en"].name for criterion in intent.criteria]
        assert [criterion.replace("Factivity", "Factuality") for criterion in criteria] == expected


_RANGES = {"score": (1, 10), "percent": (0, 100), "count": (0, 20)}


def test_each_row_about_models_has_a_possible_number_for_each_column() -> None:
    for table in load_published_urs().tables:
        ranges = [_RANGES[column.unit] for column in table.columns]
        for model, numbers in table.rows.items():
            placed = zip(numbers, ranges, strict=True)
            assert all(low <= number <= high for number, (low, high) in placed), model
        for model, places in table.marks.items():
            assert model in table.rows
            assert len(places) == len(table.columns)
            assert set(places) <= {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("change", "said"),
    [({"rows": {"GPT-4": ["8.63"]}}, "valid number"), ({"colour": "red"}, "Extra inputs")],
)
def test_a_slip_of_ours_is_found(change: dict[str, object], said: str) -> None:
    raw = yaml.safe_load(_PUBLISHED_URS_FILE.read_text(encoding="utf-8"))
    raw["tables"][4] |= change
    with pytest.raises(ValidationError, match=said):
        PublishedUrs.model_validate_json(json.dumps(raw))
