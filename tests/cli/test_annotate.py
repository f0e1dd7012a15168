"""`urs-inspect annotate`, without its page."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.annotation.samples import ballot, ballots
from tests.cli.conftest import Run
from urs_inspect.annotation.votes import Vote
from urs_inspect.discrepancy.ballots import write_ballots


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "ballots.jsonl"
    write_ballots(ballots(3), path)
    return path


def cast(directory: Path, annotator: str, *chosen: str) -> None:
    directory.mkdir(exist_ok=True)
    lines = [Vote(ballot(n).id, annotator, choice, "a", 2.0).to_line() for n, choice in enumerate(chosen)]  # type: ignore[arg-type]
    (directory / f"{annotator}.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")


def test_the_report_tells_agreement_people_and_what_does_not_count(run: Run, source: Path, tmp_path: Path) -> None:
    votes = tmp_path / "votes"
    cast(votes, "ann", "a", "tie", "a", "b")  # the fourth is about a ballot that is not here
    cast(votes, "ben", "a", "tie", "b")
    with (votes / "ben.jsonl").open("a", encoding="utf-8") as file:
        file.write("[garbage]\n")
    result = run("annotate", source, "--votes", votes, "--report")
    assert result.exit_code == 0, result.output
    # Shares of the most chosen option: 1, 1 and 1/2, mean 5/6.
    assert "Votes for the most chosen option: 83.3%" in result.output
    # Six values, a 3, tie 2, b 1; observed 2, expected (36 - 14) / 5 = 22/5; alpha = 1 - 10/22.
    assert "Krippendorff's alpha: 0.55" in result.output
    assert "6 votes on 3 pairs, 3 of them with two choices or more; 1 without" in result.output
    assert "1 votes are about other ballots" in result.output
    assert f"does not count: {votes / 'ben.jsonl'}: line 4: not JSON" in result.output
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in result.output.splitlines() if "│" in line]
    # voter, votes, left, tie, right, cannot tell, left share, p, with others, median seconds
    assert rows == [
        ["ann", "3", "2", "1", "0", "0", "100%", "0.50", "67%", "2"],
        ["ben", "3", "1", "1", "1", "0", "50%", "1.00", "67%", "2"],
    ]


def test_without_votes_the_report_says_so(run: Run, source: Path, tmp_path: Path) -> None:
    cast(tmp_path / "votes", "ann")
    assert run("annotate", source, "--votes", tmp_path / "votes", "--report").output == "No votes yet.\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("none.eval",), "Error: no file 'none.eval' with ballots"),
        (("{source}", "--annotator", "../me"), 'Error: annotator "../me": allowed are 1 to 40 letters'),
        (("{source}", "--votes", "{source}", "--annotator", "me"), "Error: cannot write the votes"),
        (("{source}", "--votes", "nowhere", "--report"), "Error: no directory 'nowhere' with votes"),
        (("{source}", "--host", "no.such.host.invalid"), "Error: cannot listen at no.such.host.invalid"),
    ],
)
def test_bad_input_is_one_line(
    run: Run, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("annotate", *(argument.format(source=source) for argument in arguments))
    assert result.exit_code == 1
    assert result.output.startswith(words)
    assert result.output.count("\n") == 1


def test_a_short_token_is_refused(run: Run, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URS_INSPECT_TOKEN", "short")
    result = run("annotate", source, "--votes", tmp_path / "votes", "--host", "0.0.0.0")
    assert "Error: URS_INSPECT_TOKEN has 5 characters; at least 16 are needed" in result.output


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_it_prints_its_address_and_ctrl_c_ends_it_cleanly(source: Path, tmp_path: Path, host: str) -> None:
    votes = tmp_path / "votes"
    cast(votes, "me", "a")
    (votes / "me.jsonl").write_text((votes / "me.jsonl").read_text("utf-8") + '{"ball', "utf-8")
    command = [sys.executable, "-c", "from urs_inspect.cli import main; main()", "annotate", str(source)]
    options = ["--annotator", "me", "--votes", str(votes), "--port", "0", "--host", host]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
    environment.pop("URS_INSPECT_TOKEN", None)
    process = subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        # A shell that runs the tests in the background has them, and their children, ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    try:
        told = [process.stdout.readline() for _ in range(3)]
        assert "was cut off" in told[0]
        assert "1 of 3 done" in told[1]
        token = r"\?token=[\w-]{43}" if host == "0.0.0.0" else ""
        assert re.search(rf"Vote at http://{re.escape(host)}:\d+/{token}  \(Ctrl-C ends", told[2])
        if token:
            assert "not encrypted" in process.stdout.readline()
            assert "in place of 0.0.0.0" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0
    assert rest.splitlines()[-1] == "me: 1 of 3 done"
    assert "Traceback" not in rest
