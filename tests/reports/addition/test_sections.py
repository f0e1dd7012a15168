"""What is said of additions."""

from pathlib import Path

from inspect_ai.log import EvalConfig

from tests.reports.addition.logs import chains, write_addition
from urs_inspect.reports.addition.report import read_addition
from urs_inspect.reports.addition.sections import sections_of


def said(folder: Path) -> str:
    sections = sections_of(read_addition([str(folder)]))
    return "\n".join(line for section in sections for line in (section.title, *section.lines))


def cells(folder: Path, number: int) -> list[tuple[str, ...]]:
    return list(sections_of(read_addition([str(folder)]))[number].tables[0].rows)


def test_a_row_is_one_of_table_7(tmp_path: Path) -> None:
    write_addition(tmp_path / "a.eval", {2: "+++++", 3: "+++++", 4: "++++-", 5: "+----"})
    # 15 of 20: Wilson's interval from 0.531 to 0.888; 4 of 5: from 0.376 to 0.964.
    assert cells(tmp_path, 0) == [("p/model", "4", "80% (38–96)", "4", "75.0%", "53–89", "20")]
    assert cells(tmp_path, 1) == [("p/model", "2–3: 100%, 4: 80%, 5: 20%")]
    assert cells(tmp_path, 2) == [("p/model", "20", "15", "5", "0", "0")]
    text = said(tmp_path)
    assert "Published in the paper with its own chains; not comparable row by row" in text
    assert "80% right of 5 chains has a 95% interval of 38–96%." in text


def test_unscored_answers_and_epochs_are_said(tmp_path: Path) -> None:
    samples = chains(12, "+!") + chains(12, "-!", epoch=2)
    write_addition(tmp_path / "a.eval", samples, config=EvalConfig(epochs=2))
    text = said(tmp_path)
    assert "p/model: 2 of 4 answers not scored and not counted (no answer 2)." in text
    assert "p/model: each chain was asked in 2 epochs." in text
    assert "Without chains of 2 to 9 numbers there is no accuracy" in text
    assert cells(tmp_path, 0) == [("p/model", "–", "–", "–", "–", "–", "0")]
    assert cells(tmp_path, 2) == [("p/model", "4", "1", "1", "0", "0", "2")]
