"""`urs-inspect crossval`, over logs of real runs."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import write_eval_log

from tests.cli.conftest import Run
from tests.tasks.scripted import Script
from tests.tasks.test_urs_crossval import answer_log, crossval, final, places

_ = places  # a fixture


def test_two_runs_with_other_evaluators_are_one_grid(tmp_path: Path, places: dict[str, Any], run: Run) -> None:
    crossval(tmp_path, places, {"A": Script(final(8))})
    crossval(tmp_path, places, {"C": Script(final(6))})
    done = run("crossval", tmp_path / "crossval", "--output", tmp_path / "out", "--rounds", "200")
    assert done.exit_code == 0, done.output
    assert "6 cases in 3 folds" in done.output
    assert "Grid 1" not in done.output
    # Equation 1: 8 and 6 less 8. A gives itself 2 more than C does, and B's answers as well.
    for text in ("0.00", "−2.00", "+2.00"):
        assert text in done.output
    # No interval where all values are equal.
    assert "2.00 to" not in done.output
    assert "figure_10.svg" in done.output
    assert (tmp_path / "out" / "figure_4.svg").read_text(encoding="utf-8").startswith("<?xml")
    again = run("crossval", tmp_path / "crossval", "--output", tmp_path / "out", "--rounds", "200", "--no-figures")
    assert again.exit_code == 0 and "figure" not in again.output


def test_unfinished_and_foreign_logs_are_left_out_in_words(tmp_path: Path, places: dict[str, Any], run: Run) -> None:
    crossval(tmp_path, places, {"C": Script(final(6))}, {"cases": 2, "folds": 1})
    answer_log(tmp_path, "A", RuntimeError("down"), limit=2)
    (tmp_path / "crossval" / "broken.eval").write_bytes(b"no log")
    odd = crossval(tmp_path, places, {"D": Script(final(6))}, {"cases": 2, "folds": 1})
    odd.eval.metadata = {"dataset": "sample"}
    write_eval_log(odd)
    done = run("crossval", tmp_path / "crossval", tmp_path / "answers", "--rounds", "50")
    assert done.exit_code == 0, done.output
    assert "broken.eval was left out" in done.output
    assert "its judgements cannot be read: KeyError" in done.output
    words = " ".join(done.output.split())
    assert "its status is 'error', 0 of 2 samples are done; finish it with `inspect eval-retry`" in words


@pytest.mark.parametrize("directory", ["answers", "empty"])
def test_logs_without_anything_to_report_are_an_error(
    directory: str, tmp_path: Path, places: dict[str, Any], run: Run
) -> None:
    (tmp_path / "empty").mkdir()
    done = run("crossval", tmp_path / directory)
    assert done.exit_code == 1
    assert "no finished log of urs_crossval, nor answers that several judges have judged, in:" in done.output


def test_a_foreign_directory_is_refused_before_logs_are_read(tmp_path: Path, run: Run) -> None:
    (tmp_path / "means.csv").write_text("mine", encoding="utf-8")
    done = run("crossval", tmp_path / "absent", "--output", tmp_path)
    assert done.exit_code == 1 and "holds means.csv" in done.output
