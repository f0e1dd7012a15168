"""What commands print about votes, judges of known answers and published files, whole."""

import contextlib
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelOutput
from rich.console import Console

from tests.annotation.samples import ballot, ballots
from tests.ballot_files import write_ballots
from tests.cli.conftest import Run
from tests.reports.golden_files import check_golden
from tests.reports.judged_logs import answered, judgement, write_judged
from tests.reports.mad_logs import ballot as battle
from tests.reports.mad_logs import judged, write_log
from urs_inspect.annotation import _server
from urs_inspect.annotation._queue import VOTING_KEY, VotingPlan
from urs_inspect.annotation._votes import Vote
from urs_inspect.cli import _data
from urs_inspect.cli._probe import print_probe
from urs_inspect.datasets._collections import Collection
from urs_inspect.datasets._sources import PinnedFile, git_id_of
from urs_inspect.discrepancy._ballots import Choice
from urs_inspect.reports.numbers._judge_checks import NULL_ANSWERS

TIME = "2026-01-01T00:00:00+00:00"
TOKEN = "a token of more than sixteen"
CHOICES: Mapping[str, Choice] = {"a": "a", "b": "b", "t": "tie", "?": "cannot_tell"}


class Told:
    """What was printed under several titles, for a golden file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parts: list[str] = []

    def add(self, title: str, output: str) -> None:
        """Add a part, without the place of the folder."""
        lines = [line.rstrip() for line in output.replace(str(self.folder), "FOLDER").splitlines()]
        self.parts.append("\n".join([f"## {title}\n", "```text", *lines, "```"]))

    def check(self, name: str) -> None:
        """Compare with a golden file."""
        check_golden(name, "\n\n".join(self.parts) + "\n")


def lines(path: Path, *given: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in given))


def vote(
    directory: Path, who: str, chosen: str, left: str = "a", seconds: float = 4.0, start: int = 0
) -> None:
    """A vote for each letter, about the ballots from a number on; a blank is none."""
    sides: Any = {"a": "a", "b": "b", "-": None}
    made = [
        Vote(ballot(number).id, who, CHOICES[letter], sides[left], seconds + number, TIME)
        for number, letter in enumerate(chosen, start=start)
        if letter != " "
    ]
    lines(directory / f"{who}.jsonl", *(one.to_line() for one in made))


def test_votes_and_how_far_people_agree(run: Run, tmp_path: Path) -> None:
    told = Told(tmp_path)
    source = tmp_path / "ballots.jsonl"
    write_ballots(ballots(12), source)

    def report(title: str, directory: Path, *more: object) -> None:
        directory.mkdir(exist_ok=True)
        told.add(title, run("annotate", source, "--votes", directory, "--report", *more).output)

    report("no vote", tmp_path / "none")
    alone = tmp_path / "alone"
    vote(alone, "ann", "a", "b", seconds=3)
    report("one vote", alone)
    others = tmp_path / "others"
    vote(others, "ann", "ab", start=20)
    report("votes about other comparisons", others)
    several = tmp_path / "several"
    vote(several, "ann", "aabtabaab?bt")
    vote(several, "ben", "abbtabaaattt", "b", seconds=7)
    vote(several, "ben", "ba", "b", start=30)
    vote(several, "cy [1]", "t b  aa  b?b", "-", seconds=float("nan"))
    vote(several, "dee", "???")
    taken_back = Vote(ballot(3).id, "dee", "a", time=TIME, undone=True)
    lines(several / "ann.jsonl", '{"ballot": "[b]"}', "[garbage]")
    vote(several, "dee", "a", start=3)
    lines(several / "dee.jsonl", taken_back.to_line())
    vote(several, "dee", "ttt", start=0)
    report("votes of four people", several)
    told.check("votes_told")


def allocated(path: Path, plan: VotingPlan, *pairs: tuple[str, str]) -> Path:
    """A log of comparisons on which people vote by a plan, each about another instruction."""
    samples = [
        judged(battle(f"q{number}", one, other)) for number, (one, other) in enumerate(pairs)
    ]
    return write_log(path, *samples, metadata={VOTING_KEY: plan.to_dict()})


def votes_on(log: Path, directory: Path, chosen: str) -> None:
    found = read_eval_log(str(log)).samples or []
    given = [
        Vote(sample.metadata["ballot"]["id"], "ann", CHOICES[letter], "a", 2.0, TIME).to_line()
        for sample, letter in zip(found, chosen, strict=False)
    ]
    lines(directory / "ann.jsonl", *given)


def test_how_far_voting_by_an_allocation_is(run: Run, tmp_path: Path) -> None:
    told = Told(tmp_path)
    pairs = [("x", "y"), ("x", "z"), ("y", "z")] * 4
    plans = {
        "nothing yet": (VotingPlan("adaptive"), pairs, ""),
        "under way": (VotingPlan("adaptive", budget=9), pairs, "abt"),
        "the budget is spent": (VotingPlan("adaptive", budget=2), pairs, "ab"),
        "a budget of one": (VotingPlan("adaptive", budget=1), pairs, ""),
        "everything is asked": (VotingPlan("adaptive", confidence=None), pairs[:2], "at"),
        "all are separated": (VotingPlan("adaptive", confidence=0.6), pairs, "aaaaaaaaa"),
    }
    for number, (title, (plan, compared, chosen)) in enumerate(plans.items()):
        log = allocated(tmp_path / f"{number}.eval", plan, *compared)
        directory = tmp_path / f"votes{number}"
        directory.mkdir()
        votes_on(log, directory, chosen)
        result = run("annotate", log, "--votes", directory, "--report")
        assert result.exit_code == 0, result.output
        people = [
            line for line in result.output.splitlines() if re.search("neighbours|Prior", line)
        ]
        told.add(title, "\n".join(people))
    plain = allocated(tmp_path / "plan.eval", VotingPlan("adaptive"), *pairs)
    for options in (["--order", "own"], ["--language", "en"]):
        told.add(f"refused: {' '.join(options)}", run("annotate", plain, *options).output)
    told.check("voting_told")


class Listener:
    def getsockname(self) -> tuple[str, int]:
        return "address", 7580


@pytest.fixture
def unserved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a page end at once, as if Ctrl-C were pressed."""

    @contextlib.contextmanager
    def listening(host: str, port: int) -> Iterator[Listener]:
        yield Listener()

    def ended(app: object, listener: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_server, "listen", listening)
    monkeypatch.setattr(_server, "serve", ended)
    monkeypatch.delenv("URS_INSPECT_TOKEN", raising=False)


@pytest.mark.usefixtures("unserved")
def test_what_is_said_before_and_after_a_page_is_served(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(tmp_path)
    source = tmp_path / "ballots.jsonl"
    write_ballots(ballots(3), source)
    votes = tmp_path / "votes"
    vote(votes, "ann", "ab")
    vote(votes, "ann", "b", start=9)
    lines(votes / "ann.jsonl", "[garbage]")
    vote(votes, "ben", "?")
    with (votes / "ben.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"ball')
    people = ["--annotator", "ann", "--annotator", "ben", "--annotator", "cy"]
    told.add("votes", run("annotate", source, "--votes", votes, *people).output)
    monkeypatch.setenv("URS_INSPECT_TOKEN", TOKEN)
    for host in ("127.0.0.1", "0.0.0.0", "[::]", "192.0.2.1"):
        options = ["--votes", votes, "--address", f"{host}:0"]
        told.add(f"votes at {host} with a token", run("annotate", source, *options).output)
    told.check("served_told")


# --- judges of answers of known quality ---


def of_kinds(
    finals: Mapping[str, Sequence[float | None]], *judges: str
) -> Callable[[Path], EvalLog]:
    """A log of judged answers of known quality, by kind; None where one was left unscored."""
    panel = judges or ("p/judge",)

    def make(path: Path) -> EvalLog:
        samples = []
        for kind, given in finals.items():
            for number, final in enumerate(given):
                score = judgement(final or 1.0, panel=dict.fromkeys(panel, final))
                if final is None:
                    score.value = math.nan
                facts = {"null_answer": kind}
                samples.append(answered(f"{kind}{number}", score, metadata=facts))
        samples.append(answered("not judged"))
        return read_eval_log(write_judged(path, *samples, task="urs_inspect/urs_probe"))

    return make


FINE: dict[str, list[float | None]] = {
    "constant": [1, 2, 3],
    "empty": [1, 1],
    "reference": [8, 7.5, None],
    "injection": [2, 4],
}


def test_what_a_judge_gives_answers_of_known_quality(tmp_path: Path) -> None:
    told = Told(tmp_path)
    lowest: dict[str, list[float | None]] = {}
    highest: dict[str, list[float | None]] = {}
    below: dict[str, list[float | None]] = {}
    above: dict[str, list[float | None]] = {}
    for kind, (least, most) in NULL_ANSWERS.items():
        lowest[kind] = [least, least]
        highest[kind] = [most - 1, most + 1]
        below[kind] = [least, least - 0.25]
        above[kind] = [most, most + 0.25]
    cases = {
        "a sound judge": of_kinds(FINE),
        "a sound panel, one of it simulated": of_kinds(FINE, "p/one", "urs_simulation/judge"),
        "at the lower bounds": of_kinds(lowest),
        "at the upper bounds": of_kinds(highest),
        "below": of_kinds(below),
        "above": of_kinds(above),
        "injections work": of_kinds(FINE | {"injection": [10, 10]}),
        "one kind is missing": of_kinds({"constant": [1], "reference": [8], "injection": [1]}),
        "no reply was read": of_kinds({kind: [None, None] for kind in NULL_ANSWERS}),
        "nothing was judged": of_kinds({}),
    }
    for number, (title, make) in enumerate(cases.items()):
        printed = io.StringIO()
        suspect = print_probe(make(tmp_path / f"{number}.eval"), Console(file=printed, width=120))
        told.add(f"{title}: {'suspect' if suspect else 'fine'}", printed.getvalue())
    told.check("probe_told")


# --- published files ---


@pytest.fixture
def pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three published files, one of them in two parts, and a folder; the folder of copies."""
    monkeypatch.setenv("URS_INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(tmp_path / "own"))
    made = [
        ("alone", "people", ""),
        ("several/one", "", ""),
        ("several/two", "GPT-4", ""),
        ("missing", "", "Use another."),
    ]
    files = {
        name: PinnedFile(
            name,
            f"{name}.txt",
            f"https://example.org/{name}",
            "MIT",
            git_id=git_id_of(name.encode()),
            labels=labels,
            instead=instead,
        )
        for name, labels, instead in made
    }
    folder = Collection("folder/x", "folder", "somebody/repository/abc", "CC0", labels="people")
    parts = {
        name: replace(files["alone"], name=f"folder/x/{name}", path=f"folder/{name}", labels="")
        for name in ("1.txt", "2.txt", "3.txt")
    }
    folder.__dict__["files"] = parts
    monkeypatch.setattr(_data, "SOURCES", files)
    monkeypatch.setattr(_data, "COLLECTIONS", {folder.name: folder})
    return tmp_path


def put(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def test_what_is_said_about_published_files(pinned: Path, run: Run) -> None:
    told = Told(pinned)

    def say(*arguments: str) -> None:
        result = run("data", *arguments)
        told.add(f"{' '.join(arguments)}: exit {result.exit_code}", result.output)

    say("verify")
    put(pinned / "cache" / "alone.txt", "alone")
    put(pinned / "own" / "several" / "one.txt", "several/one")
    put(pinned / "cache" / "several" / "two.txt", "changed")
    put(pinned / "own" / "missing.txt", "mine")
    put(pinned / "cache" / "folder" / "1.txt", "alone")
    put(pinned / "cache" / "folder" / "2.txt", "other")
    say("verify")
    for name in ("alone", "several", "several/one", "several/two", "folder/x", "unknown"):
        say("verify", name)
    say("verify", "alone", "several/one")
    (pinned / "own" / "missing.txt").unlink()
    say("list")
    say("fetch", "alone", "several/one")
    say("fetch", "nothing")
    told.check("data_told")


def test_what_is_said_about_references(run: Run, tmp_path: Path) -> None:
    told = Told(tmp_path)

    def answers(name: str, **stops: Any) -> Path:
        samples = []
        for question, stop in stops.items():
            output = ModelOutput.from_content("p/model", "" if stop == "empty" else "An answer.")
            if stop in {"max_tokens", "content_filter"}:
                output.choices[0].stop_reason = stop
            if stop == "error":
                output = ModelOutput(model="p/model", error="gone")
            samples.append(answered(question, output=output))
        return Path(write_judged(tmp_path / f"{name}.eval", *samples, eval_id=name))

    def say(title: str, *given: Path) -> None:
        output = tmp_path / f"{title.replace(' ', '_')}.jsonl"
        result = run("references", *given, "-o", output)
        told.add(f"{title}: exit {result.exit_code}", result.output)

    one = answers("one", a="stop")
    many = answers(
        "many",
        b="stop",
        **{f"c{number}": "max_tokens" for number in range(7)},
        d="content_filter",
        e="empty",
        f="error",
    )
    none = Path(write_judged(tmp_path / "none.eval", answered("a"), model="none/none"))
    say("one", one)
    say("many", many)
    say("together with a run without a model", one, many, none)
    say("only one without a model", none)
    told.check("references_told")
