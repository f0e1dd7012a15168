"""Tables of intervals at every width: nothing is cut, and nothing is in pieces that need not be."""

import re

import pytest
from rich.console import Console

from urs_inspect.cli.interval_tables import print_intervals

HEADINGS = ("answers of", "answers", "Spearman", "Kendall", "Pearson", "alpha", "score less rating")
NAMES = ("all", "Solve Problem", "provider/a-model-with-a-long-name", "[bold]p/a[/bold]", "模型模型模型模型模型")
ROWS = [
    (name, f"{n}1840", *(f"0.{n}{k} (-0.{n}{k} to 0.{k}{n})" for k in range(1, 5)), f"+0.{n}5 (-0.{n}0 to +0.{n}9)")
    for n, name in enumerate(NAMES, start=1)
]


def printed(width: int) -> str:
    console = Console(width=width)
    with console.capture() as capture:
        print_intervals("Title", HEADINGS, ROWS, console)
    return capture.get()


def names_in(text: str) -> str:
    """What stands in the first columns, put together again."""
    cells = [re.split("[│┃]", line)[1].strip() for line in text.splitlines() if line.startswith(("│", "┃"))]
    return "".join(cells)


@pytest.mark.parametrize("width", [200, 160, 120, 100, 80, 60, 40])
def test_no_interval_and_no_name_is_cut(width: int) -> None:
    text = printed(width)
    assert "…" not in text and "Title" in text
    for _, *cells in ROWS:
        for cell in cells:
            assert all(part in text for part in re.findall(r"\(.*\)|^\S+", cell))
    for name in NAMES:
        assert name.replace(" ", "") in names_in(text).replace(" ", "")


def test_a_wide_terminal_has_one_line_a_row() -> None:
    text = printed(200)
    assert text.count("answers of") == 1
    for name, *cells in ROWS:
        [line] = [line for line in text.splitlines() if f" {name} " in line]
        assert all(cell in line for cell in cells)


def test_eighty_columns_have_whole_brackets_in_two_tables() -> None:
    text = printed(80)
    assert text.count("answers of") == 2
    assert text.count("Title") == 1
    first, second = text.split("answers of")[1:]
    assert "Pearson" in first and "alpha" in second
