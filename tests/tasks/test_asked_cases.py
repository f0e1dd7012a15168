"""Which cases a command will ask, and references for these alone."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import pytest
from inspect_ai._cli.eval import eval_command, eval_set_command
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log, write_eval_log

from tests.tasks.commands import refused, succeed
from urs_inspect import urs
from urs_inspect._util import InputError
from urs_inspect.cli.estimate import estimate
from urs_inspect.datasets import UrsCase
from urs_inspect.tasks.urs_cases import asked_cases

CASES = [UrsCase(f"c{n}", "?", "", "leisure", "en") for n in range(5)]


def chosen(command: click.Command, words: Sequence[str]) -> str:
    with command.make_context(command.name, [*words]):
        return "".join(case.id[1:] for case in asked_cases(CASES))


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ([], "01234"),
        (["--limit", "2"], "01"),
        (["--limit", "9"], "01234"),
        (["--limit", "2-3"], "012"),
        (["--limit", "2", "--sample-shuffle", "7"], "01234"),
        (["--limit", "2", "--sample-shuffle"], "01234"),
        (["--limit", "2", "--run-config", "run.yaml"], "01234"),
        (["--sample-id", "c1,c3"], "13"),
        (["--sample-id", "urs:c1"], "1"),
        (["--sample-id", "c[12]"], "12"),
        (["--sample-id", "zz"], "01234"),
    ],
)
def test_options_of_the_harness(options: list[str], ids: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.yaml").write_text("limit: 4\n", encoding="utf-8")
    assert chosen(eval_command, ["urs", *options]) == ids
    assert chosen(eval_set_command, ["urs", "--log-dir", "x", *options]) == ids


def test_our_own_estimate_and_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen(estimate, ["urs", "--limit", "3"]) == "012"
    monkeypatch.setenv("INSPECT_EVAL_LIMIT", "1")
    assert chosen(eval_command, ["urs"]) == "0"


def test_options_of_other_programs_say_nothing() -> None:
    @click.command()
    @click.option("--limit")
    def other(limit: str) -> None: ...

    assert chosen(other, ["--limit", "2"]) == "01234"
    assert asked_cases(CASES) == CASES


REFERENCES = ("-T", "references=refs.jsonl")
RUN = (
    *("eval", "urs_inspect/urs", "--model", "urs_simulation/strong", "--model-role", "grader=urs_simulation/judge"),
    *("-T", "dataset=sample", "--display", "log", "--log-dir", "logs"),
)


def reference_file(tmp_path: Path, number: int) -> list[str]:
    """References for the first cases; their ids."""
    from urs_inspect.datasets.references import question_sha256

    samples = list(urs(dataset="sample").dataset)[:number]
    rows: list[dict[str, Any]] = [
        {
            "id": sample.id,
            "question_sha256": question_sha256(str(sample.input)),
            "reference": "R.",
            "source_model": "p/m",
        }
        for sample in samples
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "refs.jsonl").write_text(text, encoding="utf-8")
    return [str(sample.id) for sample in samples]


def only_log(folder: Path) -> EvalLog:
    [info] = list_eval_logs(str(folder))
    return read_eval_log(info)


def test_references_of_a_trial_run_serve_the_same_trial_run(tmp_path: Path) -> None:
    ids = reference_file(tmp_path, 4)
    succeed(*RUN, *REFERENCES, "--limit", "4", tmp_path=tmp_path)
    log = only_log(tmp_path / "logs")
    assert [sample.id for sample in log.samples or []] == ids
    assert {sample.target for sample in log.samples or []} == {"R."}

    # What is broken off goes on, with the limit that its log remembers.
    log.status, log.samples = "error", (log.samples or [])[:2]
    write_eval_log(log, tmp_path / "broken" / "b.eval")
    succeed("eval-retry", "broken/b.eval", "--display", "log", "--log-dir", "again", tmp_path=tmp_path)
    again = only_log(tmp_path / "again")
    assert again.status == "success" and {sample.id for sample in again.samples or []} == set(ids)


def test_references_that_the_run_needs_and_lacks_are_still_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reference_file(tmp_path, 4)
    monkeypatch.chdir(tmp_path)
    refusal = refused(*RUN, *REFERENCES, "--limit", "5", monkeypatch=monkeypatch, capsys=capsys)
    said = " ".join(refusal.error.split())
    assert refusal.status == 1
    assert "does not serve 1 of 5 cases: 1 (" in said
    assert "needs references for these alone where `inspect eval` chooses them by `--limit` or `--sample-id`" in said
    with pytest.raises(InputError, match=r"38 of 42 cases: .* in a script, name a file of these cases as `dataset`"):
        urs(dataset="sample", references=str(tmp_path / "refs.jsonl"))
