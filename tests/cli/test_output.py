"""What is printed: tables at every width, of which nothing is cut, and names that look like the
terminal's markup.
"""

import re
from pathlib import Path

import pytest
from rich.console import Console

from tests.cli.conftest import Run
from tests.reports.judged_logs import answered, judgement, write_judged
from urs_inspect.cli._output import print_text_table
from urs_inspect.reports.layout._tables import TextTable

HEADINGS = ("answers of", "answers", "Spearman", "Kendall", "Pearson", "alpha", "score less rating")
NAMES = (
    "all",
    "Solve Problem",
    "provider/a-model-with-a-long-name",
    "[bold]p/a[/bold]",
    "模型模型模型模型模型",
)
ROWS = tuple(
    (
        name,
        f"{n}1840",
        *(f"0.{n}{k} (−0.{n}{k} to 0.{k}{n})" for k in range(1, 5)),
        f"+0.{n}5 (−0.{n}0 to +0.{n}9)",
    )
    for n, name in enumerate(NAMES, start=1)
)
JUDGES = (
    "openrouter/anthropic/claude-sonnet-4-0",
    "openrouter/openai/gpt-4o-mini-2024-07-18",
    "[red]m[/red]",
)
CROSSED = TextTable(
    ("evaluator", "references by", *[f"B = {name}" for name in JUDGES], "p", "cases, of [all]"),
    tuple(
        (
            one,
            other,
            *["−0.27 (−0.37 to +0.11)", "<0.001 (−1.00 to 1.00)", "8.12"],
            "<0.001",
            "1,846 of 1,846",
        )
        for one in JUDGES
        for other in ("dataset", *JUDGES)
    ),
    2,
)


def printed(width: int, found: TextTable | None = None) -> str:
    console = Console(width=width)
    with console.capture() as capture:
        print_text_table(found or TextTable(HEADINGS, ROWS, 1), console, "Title")
    return capture.get()


def cells_in(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]
        for line in text.splitlines()
        if line[:1] in "│┃"
    ]


def column_in(text: str, place: int) -> str:
    """What stands in a column, put together again."""
    return "".join(cells[place] for cells in cells_in(text))


@pytest.mark.parametrize("width", [200, 160, 120, 100, 80, 60, 40])
def test_no_interval_and_no_name_is_cut(width: int) -> None:
    text = printed(width)
    assert "…" not in text and "Title" in text
    for _, *cells in ROWS:
        for cell in cells:
            assert all(part in text for part in re.findall(r"\(.*\)|^\S+", cell))
    for name in NAMES:
        assert name.replace(" ", "") in column_in(text, 0).replace(" ", "")


@pytest.mark.parametrize("width", [200, 100, 80, 66])
def test_two_columns_of_long_names_break_no_number_and_keep_every_border(width: int) -> None:
    text = printed(width, CROSSED)
    assert "…" not in text and text.count("Title") == 1
    assert all(len(line) <= width for line in text.splitlines())
    tables = [line for line in text.splitlines() if line.startswith(("│", "┃"))]
    assert tables and all(line.endswith(("│", "┃")) for line in tables)
    numbers = {
        cell for cells in cells_in(text) for cell in cells[2:] if re.search(r"\d\.\d|\d of", cell)
    }
    whole = {
        part for row in CROSSED.rows for cell in row[2:] for part in (cell, *cell.split(" (", 1))
    }
    assert numbers <= whole | {f"({part}" for part in whole}
    for name in JUDGES:
        assert name in column_in(text, 0) and name in column_in(text, 1)


def test_short_names_are_not_folded_for_the_sake_of_long_ones() -> None:
    found = TextTable(
        ("case", "why", "question", "n"), (("survey_0001", "harmful", "Which film? " * 20, "1"),), 3
    )
    assert "│ survey_0001 │ harmful │" in printed(80, found)


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


def test_a_table_without_numbers_or_rows_is_a_table() -> None:
    assert "why" in printed(80, TextTable(("model", "why"), (), 2))
    assert (
        printed(60, TextTable(("model", "why"), (("m", "because " * 30),), 2)).count("because")
        == 30
    )


# --- names of models, files and data are shown as they are ---


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "[viz]"
    path.mkdir()
    monkeypatch.setenv("URS_INSPECT_CACHE_DIR", str(path / "cache"))
    monkeypatch.setenv("COLUMNS", "400")
    return path


def test_names_of_models_in_the_table(run: Run, tmp_path: Path) -> None:
    write_judged(tmp_path / "log.eval", answered("q", judgement(5.0)), model="mockllm/[viz]x")
    assert "mockllm/[viz]x" in run("table", "--all", tmp_path / "log.eval").output


def test_paths_of_data(
    run: Run, folder: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "data").symlink_to(data_dir)
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(folder / "data"))
    for command in ("list", "fetch", "verify"):
        result = run("data", command, *(["md_eval"] if command != "list" else []))
        assert result.exit_code == 0, result.output
        assert str(folder / "data") in result.output


@pytest.mark.satellites
def test_paths_of_vectors_heads_and_pairs(run: Run, folder: Path) -> None:
    from tests.samer.checkpoints import tiny_checkpoint
    from tests.samer.conftest import SMALL
    from tests.samer.stubs import pair
    from urs_inspect.samer._pairs import write_training

    write_training(folder / "pairs.jsonl", [pair(number) for number in range(10)])
    backbone = tiny_checkpoint(folder / "llama", inner_widths=SMALL)
    common = (
        "samer",
        "train",
        folder / "pairs.jsonl",
        "-S",
        "narrowing=64",
        "-S",
        "held_out=0",
        "-S",
        "epochs=1",
    )
    assert (
        str(folder / "cache")
        in run("samer", "embed", folder / "pairs.jsonl", "-S", f"backbone={backbone}").output
    )
    trained = run(*common, folder / "out", "-S", f"backbone={backbone}")
    assert (
        trained.exit_code == 0
        and f"in {folder / 'out'};" in trained.output
        and str(backbone) in trained.output
    )
    assembled = run("samer", "assemble", backbone, folder / "out", folder / "model")
    assert f"backbone:  {folder / 'model'}" in assembled.output
    refused = run(*common, folder / "out")
    assert refused.exit_code == 1 and f"{folder / 'out'}: already there" in refused.output
