"""Which logs a report reads, and what is said about the others."""

import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    list_eval_logs,
    read_eval_log,
    write_eval_log,
)

from tests.reports.judged_logs import answered, judgement, write_judged
from tests.telling import Telling, tells
from urs_inspect import tasks
from urs_inspect._satellites import satellites
from urs_inspect.cli import main
from urs_inspect.logs._files import (
    _COMMANDS,
    copies_of_files,
    finished_headers,
    finished_logs,
    latest_runs,
    read_log,
    reading_command,
)

ERROR = EvalError(message="gone", traceback="", traceback_ansi="")


def said_of(*names: Path) -> list[str]:
    left_out: list[str] = []
    finished_headers(map(str, names), left_out)
    return left_out


def whole(path: Path, **facts: Any) -> Path:
    """A log with one judged answer."""
    return Path(write_judged(path, answered("0", judgement(5.0)), **facts))


@pytest.mark.satellites
@pytest.mark.parametrize(
    "command",
    [
        "report",
        "table",
        "compare",
        "judges",
        "robustness",
        "paper addition",
        "gate --margin 0.1 other",
    ],
)
def test_a_file_of_another_kind_is_said_to_be_no_log(command: str, tmp_path: Path) -> None:
    other = tmp_path / "answers.csv"
    other.write_text("id,answer\n1,yes\n", encoding="utf-8")
    words = [str(other) if word == "other" else word for word in command.split()]
    result = CliRunner().invoke(main, [*words, str(other)])
    assert tells(result.output, "answers.csv ... not a log: ... .eval or .json")
    assert "recorder" not in result.output


# A file of 1,846, of which `--limit 4` took four; each epoch asks every question.
@pytest.mark.parametrize(
    ("epochs", "sample_ids", "wanted"),
    [(1, list("0123"), "4"), (2, list("0123"), "8"), (1, None, "1,846")],
)
def test_an_unfinished_run_is_counted_against_what_it_was_to_ask(
    tmp_path: Path, epochs: int, sample_ids: Any, wanted: str
) -> None:
    # Three are done, and nothing was summed up.
    samples = [*(answered(str(n), judgement(5.0)) for n in range(3)), answered("3", error=ERROR)]
    dataset, config = (
        EvalDataset(name="urs", samples=1846, sample_ids=sample_ids),
        EvalConfig(limit=4, epochs=epochs),
    )
    write_judged(tmp_path / "half.eval", *samples, status="error", dataset=dataset, config=config)
    assert said_of(tmp_path) == [
        Telling(f"half.eval of p/model ... 'error', 3 of {wanted} samples ... `inspect eval-retry`")
    ]


def test_a_cut_off_file_is_called_damaged_and_empty_ones_empty(tmp_path: Path) -> None:
    cut = whole(tmp_path / "cut.eval")
    cut.write_bytes(cut.read_bytes()[:200])
    for name in "ab":
        (tmp_path / f"{name}.eval").touch()
    *empty, said = said_of(tmp_path)
    assert empty == [Telling(f"{name}.eval ... empty") for name in "ab"]
    assert tells(said, "cut.eval ... damaged")


def test_logs_of_other_tasks_of_this_package_are_named_together(tmp_path: Path) -> None:
    for name, task in (("a", "urs_probe"), ("b", "urs_probe"), ("c", "mad"), ("d", "urs")):
        whole(tmp_path / f"{name}.eval", task=f"urs_inspect/{task}")
    whole(tmp_path / "theirs.eval", task="theirs/own")
    left_out: list[str] = []
    found = finished_headers([str(tmp_path)], left_out, "urs", also_foreign=True)
    assert sorted(log.eval.task for log in found) == ["theirs/own", "urs_inspect/urs"]
    assert left_out == [
        Telling(
            "3 logs ... urs_inspect/urs: 1 of urs_inspect/mad (`urs-inspect rank` ... 2 of urs_inspect/urs_probe (`urs-inspect report`"
        )
    ]
    left_out.clear()
    assert [log.eval.task for log in finished_headers([str(tmp_path)], left_out, "urs")] == [
        "urs_inspect/urs"
    ]


@pytest.mark.parametrize("given", ["folder", "file"])
def test_a_run_whose_retry_finished_is_never_called_unfinished(tmp_path: Path, given: str) -> None:
    """`inspect eval-retry` writes another log with the same task id.

    Whoever follows the advice again pays again.
    """
    failed = Path(
        write_judged(
            tmp_path / "2026_run_first.eval", answered("0"), status="error", task_id="first"
        )
    )
    done = whole(tmp_path / "2026_again_first.eval", task_id="first")
    left_out: list[str] = []
    found = finished_headers([str(tmp_path if given == "folder" else failed)], left_out)
    assert [log.location for log in found] == ([str(done)] if given == "folder" else [])
    [said] = left_out
    assert (
        "retried by 2026_again_first.eval" in said
        and "eval-retry" not in said
        and "status" not in said
    )


def test_a_run_is_not_called_retried_because_another_attempt_failed_too(tmp_path: Path) -> None:
    first, _ = (
        Path(write_judged(tmp_path / name, answered("0"), status="error", task_id="first"))
        for name in ("2026_run_first.eval", "2026_again_first.eval")
    )
    [said] = said_of(first)
    assert tells(said, "2026_run_first.eval ... status is 'error'") and "retried" not in said


@dataclass(frozen=True)
class Asked:
    """A run that asked some questions, of a model under some conditions."""

    file: str
    questions: frozenset[str]
    run_id: str = ""
    of: str = "p/model"
    conditions: str = ""

    def replaces(self, other: "Asked") -> bool:
        alike = (self.of, self.conditions) == (other.of, other.conditions)
        return alike and not self.questions.isdisjoint(other.questions)


@pytest.mark.parametrize(("later", "kept"), [(5, "later"), (4, "whole")])
def test_a_later_run_of_half_of_the_questions_stands_in_the_place_of_the_whole_one(
    later: int, kept: str
) -> None:
    left_out: list[str] = []
    runs = [
        Asked(f"{name}.eval", frozenset(map(str, range(number))))
        for name, number in (("whole", 9), ("later", later))
    ]
    even = [replace(runs[0], questions=runs[0].questions | {"9"}), runs[1]]
    assert [run.file for run in latest_runs(even, left_out)] == [f"{kept}.eval"]
    [said] = left_out
    assert tells(said, "left out")


def test_of_several_attempts_that_did_not_finish_the_newest_is_named(tmp_path: Path) -> None:
    for day, status in enumerate(("error", "cancelled", "started"), start=1):
        created = f"2026-01-0{day}T00:00:00+00:00"
        write_judged(
            tmp_path / f"{day}.eval", answered("0"), status=status, created=created, task_id="same"
        )
    [said] = said_of(tmp_path)
    assert said.startswith("3.eval") and tells(said, "longer running")


def test_a_thousand_copies_are_one_line_and_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = whole(tmp_path / "a.eval").read_bytes()
    for number in range(1000):
        (tmp_path / f"copy{number}.eval").write_bytes(content)
    read: list[str] = []

    def counting(
        file: str, header_only: bool = False, without: Collection[str] | None = None
    ) -> EvalLog:
        read.append(file)
        return read_log(file, header_only, without)

    monkeypatch.setattr(sys.modules[finished_logs.__module__], "read_log", counting)
    left_out: list[str] = []
    assert len(list(finished_logs([str(tmp_path)], left_out))) == 1
    assert len(read) == 2  # its header, then the whole
    assert left_out == [Telling("1,000 copies of logs ... copy0.eval ... copy of a.eval")]


def test_copies_of_several_logs_are_one_line_too(tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    for name in "abc":
        log = whole(tmp_path / f"{name}.eval", eval_id=name)
        (tmp_path / "backup" / f"{name}.eval").write_bytes(log.read_bytes())
    [said] = said_of(tmp_path)
    assert tells(said, "3 copies of logs")


def test_a_log_in_another_format_is_a_copy_and_one_that_was_judged_anew_is_not(
    tmp_path: Path,
) -> None:
    log = read_eval_log(str(whole(tmp_path / "a.eval", eval_id="one")))
    write_eval_log(log, log.location)
    write_eval_log(log, str(tmp_path / "2026-01-01T00-00-00_a.json"))
    [said] = said_of(tmp_path)
    assert tells(said, "a copy of")
    anew = read_eval_log(str(tmp_path / "a.eval"))
    assert anew.samples
    anew.samples[0].scores = {"intent_judge": judgement(9.0)}
    # Under another name: the harness remembers the summaries of a file that it has read.
    (tmp_path / "2026-01-01T00-00-00_a.json").unlink()
    write_eval_log(anew, str(tmp_path / "2026-01-02T00-00-00_a.json"))
    assert said_of(tmp_path) == []


def test_logs_of_one_header_whose_samples_cannot_be_read_are_no_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = read_eval_log(str(whole(tmp_path / "a.eval", eval_id="one")))
    write_eval_log(log, log.location)
    write_eval_log(log, str(tmp_path / "2026-01-01T00-00-00_a.json"))

    def damaged_samples(file: str) -> Any:
        raise ValueError(file)

    place = "urs_inspect.logs._files.read_eval_log_sample_summaries"
    monkeypatch.setattr(place, damaged_samples)
    said: list[str] = []
    assert len(finished_headers([str(tmp_path)], said)) == 2
    assert said == []


def test_a_log_whose_samples_are_damaged_is_skipped_with_a_line(tmp_path: Path) -> None:
    whole(tmp_path / "good.eval")
    bad = whole(tmp_path / "bad.eval", eval_id="other")
    content = bytearray(bad.read_bytes())
    sample = content.index(b"samples/")
    content[sample + 40 : sample + 80] = bytes(40)
    bad.write_bytes(content)
    left_out: list[str] = []
    assert [Path(log.location).name for log in finished_logs([str(tmp_path)], left_out)] == [
        "good.eval"
    ]
    [said] = left_out
    assert tells(said, "bad.eval ... cannot read")


def test_a_file_that_went_after_its_folder_was_listed_is_no_copy(tmp_path: Path) -> None:
    one, gone, copy = (str(tmp_path / f"{name}.eval") for name in ("a", "gone", "b"))
    Path(copy).write_bytes(whole(Path(one)).read_bytes())
    assert copies_of_files([one, gone, copy]) == {copy: one}


def test_a_folder_is_listed_once_however_many_runs_did_not_finish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        whole(tmp_path / f"{number}.eval", status="error")
    listed: list[str] = []
    glob = Path.glob

    def counted(self: Path, pattern: str) -> Iterator[Path]:
        listed.append(pattern)
        return glob(self, pattern)

    monkeypatch.setattr(Path, "glob", counted)
    finished_headers([str(path) for path in sorted(tmp_path.iterdir())], [])
    assert listed.count("*.eval") <= 1


def test_logs_are_named_as_inspect_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a table of the answers joined with one of inspect-ai by the name of the log has no
    rows.
    """
    for folder in ("here", "logs"):
        (tmp_path / folder).mkdir()
    whole(tmp_path / "logs" / "2026-01-01T00-00-00_urs_a.eval")
    (tmp_path / "link").symlink_to(tmp_path / "logs")
    monkeypatch.chdir(tmp_path / "here")
    for place in (
        "../logs",
        f"{tmp_path}/here/../logs",
        str(tmp_path / "link"),
        f"file://{tmp_path}/logs",
    ):
        [ours] = finished_headers([place], [])
        [theirs] = list_eval_logs(place)
        assert ours.location == theirs.name.removeprefix("file://")
    skipped: list[str] = []
    assert len(finished_headers(["../logs", "../link", str(tmp_path / "logs")], skipped)) == 1
    assert skipped == []


@pytest.mark.satellites
def test_commands_that_read_logs_and_their_tasks_exist() -> None:
    assert reading_command("urs_inspect/urs_assistants") == "urs-inspect paper assistants"
    assert reading_command("urs_inspect/evolve") == reading_command("inspect_evals/urs") == ""
    known = {*tasks.__all__, *chain.from_iterable(each.tasks for each in satellites())}
    for task, command in _COMMANDS.items():
        assert task.removeprefix("urs_inspect/") in known
        assert main.get_command(click.Context(main), command.split()[0]) is not None
