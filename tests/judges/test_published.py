"""What papers published of judges, as it is kept here."""

import pytest

from urs_inspect.judges._published import load_published


def test_published_tables_are_complete() -> None:
    published = load_published()
    assert [table.number for table in published.tables] == [2, 3, 4, 5]
    assert {len(table.judges) for table in published.tables} == {14}
    numbers = {table.number: table.judges for table in published.tables}
    assert numbers[2]["SaMer-8B"] == (0.476, 0.458, 0.354, 0.515, 0.468, 0.345, 0.790, 0.783, 0.631)
    assert numbers[3]["AutoJ-13B"] == (
        70.49,
        82.76,
        77.97,
        72.09,
        76.02,
        None,
        None,
        77.43,
        77.72,
        72.59,
    )
    assert numbers[4]["SaMer-8B"] == (54.35, 65.96, 69.57, 86.57, 84.00)
    assert numbers[5]["SaMer-8B"] == (75.67, 82.33)
    assert numbers[5]["GPT-4o"] == (None, None)


@pytest.mark.parametrize(
    ("datasets", "numbers"),
    [
        (["md_eval"], [5]),
        (["llmbar"], [4]),
        (["llmbar/Manual"], [4]),
        (["autoj", "vicuna"], [2, 3]),
        (["own.csv"], []),
    ],
)
def test_published_tables_are_found_by_dataset(datasets: list[str], numbers: list[int]) -> None:
    assert [table.number for table in load_published().about(datasets)] == numbers


def test_each_row_about_judges_has_a_possible_number_for_each_column() -> None:
    for table in load_published().tables:
        low, high = {"percent": (0, 100), "correlation": (-1, 1)}[table.unit]
        for judge, numbers in table.judges.items():
            assert len(numbers) == len(table.columns), (table.number, judge)
            printed = [number for number in numbers if number is not None]
            assert all(low <= number <= high for number in printed), (table.number, judge)
