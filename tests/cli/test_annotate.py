"""`urs-inspect annotate`, for votes, without its page."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.annotation.samples import ballot, ballots
from tests.ballot_files import write_ballots
from tests.cli.conftest import Run, Said, cells_of
from tests.telling import tells
from urs_inspect.annotation._votes import Vote
from urs_inspect.discrepancy._ballots import Ballot


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "ballots.jsonl"
    write_ballots(ballots(3), path)
    return path


def write(path: Path, *lines: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def cast(directory: Path, annotator: str, *chosen: str, more: tuple[str, ...] = ()) -> None:
    votes = [Vote(ballot(n).id, annotator, choice, "a", 2.0) for n, choice in enumerate(chosen)]  # type: ignore[arg-type]
    write(directory / f"{annotator}.jsonl", *(vote.to_line() for vote in votes), *more)


def test_the_report_tells_agreement_people_and_what_does_not_count(
    run: Run, source: Path, tmp_path: Path
) -> None:
    votes = tmp_path / "votes"
    cast(votes, "ann", "a", "tie", "a", "b")  # the fourth is about a ballot that is not here
    cast(votes, "ben", "a", "tie", "b", more=("[garbage]",))
    result = run("annotate", source, "--votes", votes, "--report")
    assert result.exit_code == 0, result.output
    # Shares of the most chosen option: 1, 1 and 1/2, mean 5/6.
    assert tells(result.output, "most chosen option: 83.3%")
    # Six values, a 3, tie 2, b 1; observed 2, expected (36 - 14) / 5 = 22/5; alpha = 1 - 10/22.
    assert "Krippendorff's alpha: 0.55" in result.output
    assert tells(result.output, "6 votes ... 3 pairs, 3 of ... 1 without")
    assert tells(result.output, "1 votes ... other comparisons")
    assert tells(result.output, f"not count: {votes / 'ben.jsonl'}: line 4")
    # voter, votes, left, tie, right, cannot tell, left share, p, with others, median seconds
    assert cells_of(result.output) == [
        ["ann", "3", "2", "1", "0", "0", "100%", "0.50", "67%", "2"],
        ["ben", "3", "1", "1", "1", "0", "50%", "1.00", "67%", "2"],
    ]


def test_the_share_of_one_pair_has_no_interval_and_that_of_several_stays_within_all(
    run: Run, source: Path, tmp_path: Path
) -> None:
    votes = tmp_path / "votes"
    cast(votes, "ann", "a")
    cast(votes, "ben", "a")
    output = run("annotate", source, "--votes", votes, "--report").output
    assert tells(output, "2 votes on 1 pair, 1 of them")
    assert "100.0%" in output
    assert "interval" not in output and "nan" not in output
    write_ballots(ballots(12), source)
    cast(votes, "ann", *"a" * 12)
    cast(votes, "ben", *"a" * 11, "b")
    output = run("annotate", source, "--votes", votes, "--report").output
    # Shares: eleven times 1, and 1/2. Mean 0.9583, deviation 0.1443, and Student's t is 2.201.
    assert tells(output, "95.8% (95% interval 86.7% to 100.0%)")


def test_without_votes_the_report_says_so(run: Run, source: Path, tmp_path: Path) -> None:
    cast(tmp_path / "votes", "ann")
    assert (
        run("annotate", source, "--votes", tmp_path / "votes", "--report").output
        == "No votes yet.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("{source} --annotator ../me", 'annotator "../me": allowed are 1 to 40 letters'),
        ("{source} --votes {source} --annotator me", "cannot write the votes"),
        ("{source} --votes nowhere --report", "no directory 'nowhere' with votes"),
        ("{source} --address no.such.host.invalid:0", "cannot listen at no.such.host.invalid"),
        ("{source} --address 7580", "address: must be HOST:PORT"),
        ("{source} --address 127.0.0.1:", "address: must be HOST:PORT"),
        ("{source} --address [::1]:99999", "address: must be HOST:PORT"),
        (
            "{source} {source}",
            "votes are about one log or file of comparisons, got 2",
        ),
    ],
)
def test_bad_input_is_refused(
    refused: Said,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: str,
    words: str,
) -> None:
    monkeypatch.chdir(source.parent)
    cast(Path("votes"), "me", "a")
    error = refused("annotate", *arguments.format(source=source).split())
    assert error.startswith(f"Error: {words}")


def test_bad_options_are_refused(run: Run, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("annotate", source, "--order", "none").exit_code == 2
    monkeypatch.setenv("URS_INSPECT_TOKEN", "short")
    result = run("annotate", source, "--votes", source.parent / "votes", "--address=0.0.0.0:7580")
    assert tells(result.output, "URS_INSPECT_TOKEN ... 5 characters ... 16")


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_it_prints_its_address_and_ctrl_c_ends_it_cleanly(
    source: Path, tmp_path: Path, host: str
) -> None:
    votes = tmp_path / "votes"
    cast(votes, "me", "a")
    with (votes / "me.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"ball')
    command = [
        sys.executable,
        "-c",
        "from urs_inspect.cli import main; main()",
        "annotate",
        str(source),
    ]
    options = ["--annotator", "me", "--votes", str(votes), "--address", f"{host}:0"]
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
        port = int(re.findall(r":(\d+)/", told[2])[0])
        while process.poll() is None:  # the address is printed before the server is imported
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0
    assert rest.splitlines()[-1] == "me: 1 of 3 done"
    assert "Traceback" not in rest


def test_only_pairs_of_answers_to_questions_of_one_language_are_voted_on(
    run: Run, refused: Said, tmp_path: Path
) -> None:
    tea = Ballot.between("tea", "茶？", {"apple": "x", "pear": "y"}, language="zh")
    write_ballots([ballot(0), tea], tmp_path / "ballots.jsonl")
    cast(tmp_path / "votes", "ann", "tie")
    command = (
        "annotate",
        tmp_path / "ballots.jsonl",
        "--votes",
        tmp_path / "votes",
        "--report",
        "--language",
    )
    assert tells(run(*command, "zh").output, "1 votes ... other comparisons")
    assert "1 vote on 1 pair" in run(*command, "en").output
    assert tells(refused(*command, "fr"), "'fr'; there are: en, zh")
