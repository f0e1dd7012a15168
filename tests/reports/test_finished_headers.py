"""Which logs a report reads, and what is said about the others."""

from pathlib import Path

import pytest
from inspect_ai.log import EvalConfig, EvalDataset, EvalError

from tests.reports.intent.judged_logs import answered, judgement, write_judged
from urs_inspect.reports.finished_headers import finished_headers


def said_of(*names: Path) -> list[str]:
    left_out: list[str] = []
    finished_headers(map(str, names), left_out)
    return left_out


@pytest.mark.parametrize(
    ("epochs", "wanted"),
    [
        (1, 4),
        # Each epoch asks every question.
        (2, 8),
    ],
)
def test_an_unfinished_run_is_counted_against_what_it_was_to_ask(tmp_path: Path, epochs: int, wanted: int) -> None:
    # A file of 1,846, of which `--limit 4` took four; three are done, and nothing was summed up.
    write_judged(
        tmp_path / "half.eval",
        *[answered(str(n), judgement(5.0)) for n in range(3)],
        answered("3", error=EvalError(message="gone", traceback="", traceback_ansi="")),
        status="error",
        dataset=EvalDataset(name="urs", samples=1846, sample_ids=list("0123")),
        config=EvalConfig(limit=4, epochs=epochs),
    )
    assert said_of(tmp_path) == [
        f"half.eval of p/model was left out: its status is 'error', 3 of {wanted} samples are done; finish it with "
        "`inspect eval-retry`."
    ]


def test_a_log_that_names_no_questions_is_counted_against_its_file(tmp_path: Path) -> None:
    dataset = EvalDataset(name="urs", samples=1846)
    write_judged(tmp_path / "half.eval", answered("0", judgement(5.0)), status="cancelled", dataset=dataset)
    [said] = said_of(tmp_path)
    assert "its status is 'cancelled', 1 of 1,846 samples are done" in said


def test_a_cut_off_file_is_called_damaged(tmp_path: Path) -> None:
    whole = Path(write_judged(tmp_path / "cut.eval", answered("0", judgement(5.0))))
    whole.write_bytes(whole.read_bytes()[:200])
    [said] = said_of(tmp_path)
    assert said.startswith("cut.eval was left out: cannot read the log, which is damaged, incomplete or no log at all")


def test_logs_of_other_tasks_of_this_package_are_named_together(tmp_path: Path) -> None:
    for name, task in (("a", "urs_probe"), ("b", "urs_probe"), ("c", "mad"), ("d", "urs")):
        write_judged(tmp_path / f"{name}.eval", answered("0", judgement(5.0)), task=f"urs_inspect/{task}")
    write_judged(tmp_path / "theirs.eval", answered("0", judgement(5.0)), task="theirs/own")
    left_out: list[str] = []
    found = finished_headers([str(tmp_path)], left_out, "urs", also_foreign=True)
    assert sorted(log.eval.task for log in found) == ["theirs/own", "urs_inspect/urs"]
    assert left_out == [
        "3 logs were left out, not being of urs_inspect/urs: 1 of urs_inspect/mad (`urs-inspect rank` reads it), "
        "2 of urs_inspect/urs_probe (`urs-inspect probe` reads them)."
    ]
    left_out.clear()
    assert [log.eval.task for log in finished_headers([str(tmp_path)], left_out, "urs")] == ["urs_inspect/urs"]
