"""What is said about logs that do not count, and which ones do, in many situations at once."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalResults,
    read_eval_log,
    write_eval_log,
)

from tests.logs.test_files import Asked
from tests.reports.golden_files import check_golden
from tests.reports.judged_logs import answered, judgement, write_judged
from urs_inspect._util import InputError
from urs_inspect.logs._files import (
    finished_headers,
    finished_logs,
    latest_runs,
    local_path,
    log_files,
    read_summaries,
    watching_reads,
    whole_logs,
    without_checks_of_judges,
)

ERROR = EvalError(message="gone", traceback="", traceback_ansi="")


def write(path: Path, *, questions: int = 1, **facts: Any) -> Path:
    samples = [answered(str(number), judgement(5.0)) for number in range(questions)]
    return Path(write_judged(path, *samples, **{"eval_id": path.stem, **facts}))


def day(number: int) -> str:
    return f"2026-01-{number:02d}T00:00:00+00:00"


def damaged(folder: Path) -> None:
    write(folder / "good.eval")
    for number in range(5):
        (folder / f"cut{number}.eval").write_bytes(b"PK" + bytes([number]) * 40)
    (folder / "empty.eval").touch()


def copies(folder: Path, number: int) -> None:
    for name in range(number):
        content = write(folder / f"log{name}.eval").read_bytes()
        (folder / "copies").mkdir(exist_ok=True)
        (folder / "copies" / f"log{name}.eval").write_bytes(content)


def unfinished(folder: Path) -> None:
    asked: dict[str, Any] = {
        "one.eval": ({"sample_ids": [1, 2, 3], "samples": 3}, {"epochs": 2}, "error"),
        "running.eval": ({"samples": 1234}, {}, "started"),
        "stopped.eval": ({}, {"epochs": 3}, "cancelled"),
        "last.eval": ({"samples": 5}, {}, "error"),
        "very_last.eval": ({"samples": 5}, {}, "error"),
    }
    for number, (name, (dataset, config, status)) in enumerate(asked.items(), start=1):
        failed = [answered("lost", error=ERROR)] if name == "one.eval" else []
        write_judged(
            folder / name,
            answered("done", judgement(5.0)),
            *failed,
            status=status,
            dataset=EvalDataset(name="d", **dataset),
            config=EvalConfig(**config),
            created=day(number),
        )


def retried(folder: Path, number: int) -> None:
    for task in range(number):
        for attempt, status in enumerate(("error", "success"), start=1):
            name = f"{task}_attempt{attempt}.eval"
            write(folder / name, task_id=f"task{task}", status=status, created=day(attempt))
    write(folder / "never.eval", task_id="never", status="cancelled", created=day(9))


def other_tasks(folder: Path, *tasks: str) -> None:
    for number, task in enumerate(tasks):
        write(folder / f"{number}.eval", task=task)


OTHERS = ("urs_inspect/mad", "theirs/one", "urs_inspect/urs_probe", "urs_inspect/mad")
FOLDERS: dict[str, Callable[[Path], None]] = {
    "nothing is there": lambda folder: folder.mkdir(),
    "damaged and empty files": damaged,
    "one copy": lambda folder: copies(folder, 1),
    "two copies": lambda folder: copies(folder, 2),
    "unfinished runs": unfinished,
    "one retried run": lambda folder: retried(folder, 1),
    "two retried runs": lambda folder: retried(folder, 2),
    "three retried runs": lambda folder: retried(folder, 3),
    "one log of another task": lambda folder: other_tasks(folder, "urs_inspect/urs", OTHERS[0]),
    "logs of other tasks": lambda folder: other_tasks(folder, "urs_inspect/urs", *OTHERS),
}


def headers_of(folder: Path) -> list[str]:
    """Names of the logs that count, then what is said about the others."""
    said: list[str] = []
    found = finished_headers([str(folder)], said, "urs")
    names = ", ".join(Path(log.location).name for log in found) or "none"
    lines = []
    for line in said:
        of_harness = re.sub(r"\(ValueError: .*\)", "(REASON)", line)
        lines.append(of_harness.replace(str(folder), "FOLDER"))
    return [f"Counted: {names}", *lines]


def checks_of_judges(*tasks: str) -> list[str]:
    logs: list[Any] = []
    for task in tasks:
        logs.append(SimpleNamespace(eval=SimpleNamespace(task=f"urs_inspect/{task}")))
    said: list[str] = []
    left = without_checks_of_judges(logs, said)
    names = ", ".join(log.eval.task for log in left)
    return [f"Counted: {names}", *said]


CHECKS = (
    ("urs", "urs"),
    ("urs_probe", "md_eval"),
    ("urs", "urs_probe"),
    ("urs", "urs_probe", "urs_probe"),
    ("mad", "judge_twins", "urs_probe", "judge_pairwise", "judge_rating", "md_eval"),
    ("urs", "urs_crossval", "md_eval"),
)


def run(file: str, first: int, last: int, run_id: str = "", **others: Any) -> Asked:
    """A run that asked the questions of these numbers."""
    return Asked(file, frozenset(map(str, range(first, last + 1))), run_id, **others)


RUNS: dict[str, list[Asked]] = {
    "different questions": [run("a", 1, 4), run("b", 5, 8)],
    "another model or condition": [
        run("a", 1, 4),
        run("b", 1, 4, of="p/other"),
        run("c", 1, 4, conditions="warm"),
    ],
    "all again": [run("a", 1, 4), run("b", 1, 4)],
    "one question, twice": [run("a", 1, 1), run("b", 1, 1)],
    "a half again": [run("a", 1, 8), run("b", 1, 4)],
    "less than half again": [run("a", 1, 8), run("b", 1, 3)],
    "only one of many again": [run("a", 1, 1234), run("b", 7, 7)],
    "two parts again": [run("a", 1, 8), run("b", 1, 2), run("c", 3, 4)],
    "two small parts again": [run("a", 1, 8), run("b", 1, 1), run("c", 2, 3)],
    "the same part again twice": [run("a", 1, 9), run("b", 1, 4), run("c", 1, 4)],
    "a part again, and then all": [run("a", 1, 8), run("b", 1, 3), run("c", 1, 8)],
    "another file of the same run": [run("x/a", 1, 4, "one"), run("y/a", 1, 4, "one")],
    "four files of the same run": [run(f"{name}.eval", 1, 4, "one") for name in "abcde"],
    "five times": [run(f"{name}.eval", 1, 4, name) for name in "abcdef"],
    "five small ones": [
        *(run(f"{name}.eval", 1, 9, of=name) for name in "abcde"),
        *(run(f"{name}2.eval", 2, 3, of=name) for name in "abcde"),
    ],
}


def runs_of(runs: Sequence[Asked]) -> list[str]:
    said: list[str] = []
    kept = latest_runs(runs, said)
    return [f"Counted: {', '.join(one.file for one in kept)}", *said]


def test_what_is_said_of_logs_that_do_not_count(tmp_path: Path) -> None:
    parts: list[str] = []

    def add(title: str, lines: Sequence[str]) -> None:
        parts.append("\n".join([f"## {title}\n", *(f"- {line}" for line in lines)]))

    for number, (title, make) in enumerate(FOLDERS.items()):
        folder = tmp_path / str(number)
        make(folder)
        add(title, headers_of(folder))
    for tasks in CHECKS:
        add(f"logs of {', '.join(tasks)}", checks_of_judges(*tasks))
    for title, runs in RUNS.items():
        add(f"runs: {title}", runs_of(runs))
    check_golden("left_out", "\n\n".join(parts) + "\n")


def test_logs_come_in_the_order_in_which_they_were_made_whatever_their_names(
    tmp_path: Path,
) -> None:
    for name, number in (("a", 3), ("b", 1), ("c", 2)):
        write(tmp_path / f"{name}.eval", created=day(number))
    found = finished_headers([str(tmp_path)], [])
    assert [Path(log.location).stem for log in found] == ["b", "c", "a"]


@pytest.mark.parametrize(
    ("name", "is_log"),
    [
        ("any.eval", True),
        ("2026-01-01T00-00-00_urs_a.json", True),
        ("2026-01-01T00:00:00+00:00_urs_a.json", True),
        ("notes.json", False),
        ("x_2026-01-01T00-00-00.json", False),
        ("2026-01-01T00-00-00_urs_a.jsonl", False),
        ("any.eval.txt", False),
    ],
)
def test_files_of_a_folder_are_told_by_their_names(name: str, is_log: bool, tmp_path: Path) -> None:
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    (tmp_path / "folder.eval").mkdir()
    file = tmp_path / "deep" / "deeper" / name
    file.touch()
    assert log_files([str(tmp_path)]) == ([str(file)] if is_log else [])
    assert log_files([str(file), str(file), str(tmp_path)]) == [str(file)]


def test_an_address_of_a_file_is_read_as_its_path() -> None:
    assert local_path("file:///logs/a%20b.eval") == "/logs/a b.eval"
    assert local_path("/logs/a%20b.eval") == "/logs/a%20b.eval"


def test_a_missing_log_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.eval"):
        finished_headers([str(tmp_path / "nowhere.eval")], [])


def test_each_log_is_told_when_its_samples_are_read(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{name}.eval") for name in "ab"]
    read: list[str] = []
    with watching_reads(read.append):
        headers = finished_headers([str(tmp_path)], [])
        assert read == []
        list(whole_logs(headers, []))
        assert [Path(file) for file in read] == files
        read_summaries(headers[0], [])
        assert len(read) == 3
    list(whole_logs(headers, []))
    assert len(read) == 3


def test_samples_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    log = read_eval_log(str(write(tmp_path / "a.eval")), header_only=True)
    Path(log.location).write_bytes(b"PK")
    said: list[str] = []
    assert read_summaries(log, said) is None
    [sentence] = said
    assert sentence.startswith("a.eval was left out: its samples cannot be read")


def test_samples_that_were_counted_stand_in_for_those_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = read_eval_log(str(write(tmp_path / "a.eval", questions=4, status="error")))
    log.results = EvalResults(total_samples=4, completed_samples=3, scores=[])
    write_eval_log(log, log.location)

    def damaged_samples(file: str) -> Any:
        raise ValueError(file)

    place = "urs_inspect.logs._files.read_eval_log_sample_summaries"
    monkeypatch.setattr(place, damaged_samples)
    said: list[str] = []
    finished_headers([str(tmp_path)], said)
    assert "3 of 4 samples are done" in said[0]
    log.results = None
    write_eval_log(log, log.location)
    said.clear()
    finished_headers([str(tmp_path)], said)
    assert "0 of 4 samples are done" in said[0]


def test_only_the_finished_attempt_at_the_same_task_makes_a_run_a_retried_one(
    tmp_path: Path,
) -> None:
    """Names of files may hold each other's ids."""
    failed = write(tmp_path / "2026_ab.eval", task_id="ab", status="error")
    write(tmp_path / "2026_abc.eval", task_id="abc")
    (tmp_path / "2026_ab_cut.eval").write_bytes(b"PK")
    said: list[str] = []
    assert finished_headers([str(failed)], said) == []
    [sentence] = said
    assert "status is 'error'" in sentence


def test_whole_logs_of_a_task_are_read_with_or_without_some_fields(tmp_path: Path) -> None:
    write(tmp_path / "a.eval")
    write(tmp_path / "b.eval", task="urs_inspect/mad")
    [log] = finished_logs([str(tmp_path)], [], "urs", without={"scores"})
    assert log.samples and not log.samples[0].scores
    [log] = finished_logs([str(tmp_path)], [], "urs")
    assert log.samples and log.samples[0].scores
