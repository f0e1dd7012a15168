"""One rule for logs in every command: damaged files and copies are a line each, and what was
retried is no advice.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval

import urs_inspect
from tests.cli.conftest import Said
from tests.reports.judged_logs import answered, judgement, write_judged
from tests.reports.mad_logs import XY, XZ, judged, write_log
from tests.reports.pairs import write_pairs
from tests.reports.task_logs import write_addition
from tests.telling import tells
from urs_inspect import judge_pairwise, urs, urs_references
from urs_inspect.providers import SIMULATION

JUDGE = {"grader": f"{SIMULATION}/judge"}
ESTIMATE = (
    "estimate",
    "urs",
    "--model",
    f"{SIMULATION}/strong",
    "--model-role",
    f"grader={SIMULATION}/judge",
)
DATA = ("-T", "dataset=sample")
TASKS: dict[str, Callable[[Path], Task]] = {
    "urs": lambda _: urs(dataset="sample"),
    "estimated": lambda _: urs(dataset="sample"),
    "judge_pairwise": lambda folder: judge_pairwise(str(write_pairs(folder / "pairs.jsonl"))),
    "urs_addition": lambda _: urs_inspect.urs_addition(lengths="2", per_length=2),
    "urs_references": lambda _: urs_references(dataset="sample"),
    "urs_case_review": lambda _: urs_inspect.urs_case_review(dataset="sample"),
}
COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "urs": [("table",), ("report",)],
    "estimated": [(*ESTIMATE, *DATA, "--from"), (*ESTIMATE, *DATA, "--against")],
    "judge_pairwise": [("judges",)],
    "mad": [("rank",)],
    "urs_addition": [("paper", "addition")],
    "urs_references": [("references", "-o", "{out}")],
    "urs_case_review": [("cases", "review", "-o", "{out}")],
}
# Read by commands of satellites; other such tasks are left out by their own names.
_OF_SATELLITES = ("estimated", "judge_pairwise")
CASES = [
    pytest.param(task, marks=pytest.mark.satellites if task in _OF_SATELLITES else ())
    for task in COMMANDS
]


@pytest.mark.parametrize("task", CASES)
def test_damaged_files_and_copies_are_skipped_with_one_line_each(
    task: str, tmp_path: Path, said: Said, refused: Said
) -> None:
    folder = tmp_path / "logs"
    if task == "mad":
        write_log(folder / "log.eval", judged(XY, 1.0), judged(XZ, 0.5))
    else:
        asked = TASKS[task](tmp_path)
        model = f"{SIMULATION}/strong"
        [log] = inspect_eval(
            asked,
            model=model,
            model_roles=JUDGE,
            log_dir=str(folder),
            limit=3,
            display="none",
            log_realtime=False,
        )
        assert log.status == "success", log.error
    content = Path(next(folder.iterdir())).read_bytes()
    for number in range(20):
        (folder / f"z{number}.eval").write_bytes(content)
    (folder / "cut.eval").write_bytes(content[: len(content) // 2])
    for place, command in enumerate(COMMANDS[task]):
        words = [word.format(out=tmp_path / f"{place}.jsonl") for word in command]
        output = said(*words, folder)
        assert output.count("cut.eval") == 1
        assert output.count("20 copies of") == 1
        words = [word.format(out=tmp_path / f"{place} again.jsonl") for word in command]
        assert "cut.eval" in refused(*words, folder / "cut.eval")


def test_logs_that_another_command_reads_are_named(
    said: Said, refused: Said, tmp_path: Path
) -> None:
    other = write_addition(tmp_path / "addition.eval", {2: "+"})
    words = "urs_inspect/urs: 1 of urs_inspect/urs_addition (`urs-inspect paper addition`"
    assert tells(" ".join(refused("table", other).split()), words)
    write_judged(tmp_path / "urs.eval", answered("q", judgement(5.0)))
    assert tells(said("table", tmp_path), words)
