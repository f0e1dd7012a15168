"""`urs-inspect check`: what it says of files of every kind, right and wrong."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Run
from tests.cli.test_told import Told
from tests.telling import tells
from urs_inspect.checking._contents import _contents_of_rows
from urs_inspect.datasets import load_ratings

RUBRIC = """
extends: urs
name: mine
version: "3"
"""
CASE = {"question": "Why?", "reference_ans": "So.", "user_intent": "leisure", "language": "en"}
PAIR = {"prompt": "Why?", "response_a": "So.", "response_b": "No.", "label": "a"}
RATED = {"prompt": "Why?", "response": "So.", "rating": 4}
REFERENCE = {
    "id": "c1",
    "question_sha256": "a" * 64,
    "reference": "So.",
    "source_model": "p/m",
}
VOTE = {"model_a": "x", "model_b": "y", "winner": "tie"}
BALLOT_VOTE = {"ballot": "b1", "annotator": "ann", "choice": "a", "left": "b", "seconds": 2.0}
SATISFIED = {"user_intent": "leisure", "satisfaction": 4}
FOREIGN = {"question": "Why?", "response_A": "So.", "response_B": "No.", "verdict": "A>B"}

TABLES: dict[str, list[dict[str, Any]]] = {
    "cases": [CASE, {**CASE, "language": "zh"}, {**CASE, "reference_ans": "", "id": "x"}],
    "cases_wrong": [CASE, {**CASE, "user_intent": "gossip"}, {**CASE, "language": ""}],
    "cases_without_language": [{"question": "Why?", "reference": "So.", "intent": "leisure"}],
    "pairs": [PAIR, {**PAIR, "label": "tie", "group": "hard"}, {**PAIR, "label": "b"}],
    "pairs_wrong": [PAIR, {**PAIR, "label": "c"}],
    "pairs_of_others": [FOREIGN, {**FOREIGN, "verdict": "A=B"}, {**FOREIGN, "verdict": "B>A"}],
    "pairs_unclear": [{**FOREIGN, "verdict": verdict} for verdict in ("good", "bad")],
    "ratings": [RATED, {**RATED, "rating": 9.5, "group": "hard"}],
    "ratings_wrong": [RATED, {**RATED, "rating": 11}],
    "ratings_of_others": [{"question": "Why?", "output": "So.", "score": 4}],
    "references": [REFERENCE, {**REFERENCE, "id": "c2", "reference": ""}],
    "human_ratings": [{"id": "c1", "rating": 4}, {"id": "c2", "rating": 7, "rater": "ann"}],
    "human_ratings_wrong": [{"id": "c1", "rating": 11}],
    "votes": [VOTE, {**VOTE, "winner": "x"}],
    "votes_wrong": [VOTE, {**VOTE, "winner": "z"}],
    "ballot_votes": [BALLOT_VOTE, {**BALLOT_VOTE, "ballot": "b2", "choice": "tie"}],
    "ballot_votes_wrong": [BALLOT_VOTE, {**BALLOT_VOTE, "choice": "left"}],
    "satisfaction": [SATISFIED, {**SATISFIED, "satisfaction": 5}],
    "satisfaction_wrong": [{**SATISFIED, "satisfaction": 6}],
    "leaderboard": [{"model": "x", "rating": 1000.5}, {"model": "y", "rating": 990}],
    "pool": [{"instruction": "Why?"}, {"instruction": "How?"}],
    "answers": [{"prompt": "Why?", "response": "So."}],
    "unknown": [{"colour": "red", "size": 3}],
    "nothing": [],
}
TEXTS = {
    "rubric.yaml": RUBRIC,
    "rubric_wrong.yaml": f"{RUBRIC}intents: {{leisure: {{criteria: [no_such]}}}}\n",
    "rubric_without_name.yaml": "extends: urs\nintents: {}\n",
    "prices.yaml": "p/m: {input: 1, output: 2, input_cache_write: 0, input_cache_read: 0}\n",
    "prices_wrong.yaml": "p/m: {input: a, output: 2, input_cache_write: 0, input_cache_read: 0}\n",
    "traffic.yaml": "intents: {leisure: 0.75, api: 0.25}\n",
    "traffic_wrong.yaml": "intents: {gossip: 1}\n",
    "prompt_wrong.jinja": "{{ nothing_of_this_name }}",
    "broken.yaml": "a: [",
    "other.yaml": "colour: red\n",
    "broken.jsonl": '{"question": ',
    "unreadable.jsonl": "\x00",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """All the files."""
    for name, rows in TABLES.items():
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.satellites
def test_what_is_said_of_files_of_every_kind(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(folder)
    monkeypatch.chdir(folder)

    def say(*arguments: str) -> None:
        result = run("check", *arguments)
        assert result.exit_code in (0, 1), result.output
        told.add(f"{' '.join(arguments)}: exit {result.exit_code}", result.output)

    for name in (*(f"{table}.jsonl" for table in TABLES), *TEXTS):
        say(name)
    say("cases.jsonl", "traffic.yaml", "rubric.yaml", "--json")
    say("cases.jsonl", "pairs_wrong.jsonl")
    say("ratings.jsonl", "human_ratings.jsonl", "--scale", "0,20")
    say("ratings_of_others.jsonl", "--scale", "1,5")
    say("satisfaction_wrong.jsonl", "--scale", "1,7")
    say("unknown.jsonl", "--kind", "pool")
    say("human_ratings.jsonl", "rubric.yaml", "--kind", "votes")
    say("rubric.yaml", "rubric_wrong.yaml")
    say("rubric.yaml", "rubric_wrong.yaml", "cases.jsonl")
    (folder / "below" / "deeper").mkdir(parents=True)
    say("below")
    for name in ("cases.csv", "cases.txt", "deeper/pairs.jsonl"):
        (folder / "below" / name).write_text("question,language\nWhy?,en\n", encoding="utf-8")
    say("below")
    say("below/cases.txt")
    told.check("check_told")


@pytest.mark.satellites
def test_columns_of_answers_are_those_with_which_their_ratings_are_read(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is installed that imports them."""
    monkeypatch.setattr("urs_inspect.checking._recognition._importable", lambda path, rows: None)
    answers = folder / "unrated.jsonl"
    answers.write_text('{"question": "Why?", "output": "So."}\n', encoding="utf-8")
    output = run("check", answers).output
    [columns] = re.findall("-T columns='(.*)'", output)
    answers.write_text('{"question": "Why?", "output": "So.", "points": 3}\n', encoding="utf-8")
    given = yaml.safe_load(columns.replace("?", "points"))
    [case] = load_ratings(str(answers), scale=(1, 5), columns=given).cases
    assert (case.prompt, case.response, case.rating) == ("Why?", "So.", 3)


def test_an_unknown_kind_lists_the_known_ones_and_a_missing_file_is_named(
    run: Run, folder: Path
) -> None:
    result = run("check", folder / "pool.jsonl", "--kind", "colours")
    assert result.exit_code == 2
    assert tells(result.output, "colours") and "'ballot_votes'" in result.output
    output = run("check", folder / "nowhere.jsonl").output
    assert tells(output, "nowhere.jsonl ... error")
    output = run("check", folder / "ratings.jsonl", "--scale", "5,1").output
    assert tells(output, "ratings.jsonl ... scale: ... '5,1'")


def test_a_file_that_cannot_be_read_has_the_kind_that_was_given(run: Run, folder: Path) -> None:
    for name in ("unreadable.jsonl", "broken.yaml"):
        alone, given = run("check", folder / name), run("check", folder / name, "--kind", "votes")
        assert (alone.exit_code, given.exit_code) == (1, 1)
        assert tells(alone.output, f"{name}: unknown, error")
        assert tells(given.output, f"{name}: votes, error")


def test_files_of_a_folder_are_told_by_their_endings_in_letters_of_any_case(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    below = folder / "below"
    below.mkdir()
    for name in ("B.JSONL", "a.jsonl"):
        (below / name).write_bytes((folder / "votes.jsonl").read_bytes())
    output = run("check", "below").output
    assert [line.partition(":")[0] for line in output.splitlines()] == [
        "below/B.JSONL",
        "below/a.jsonl",
    ]


@pytest.mark.parametrize("where", ["rows", "votes", "usable"])
def test_entries_are_counted_with_their_labels_and_with_those_left_out(where: str) -> None:
    items = [SimpleNamespace(label=label, group="") for label in ("b", "a", "b", None)]
    read = SimpleNamespace(**{where: items}, skipped=("x", "y"), dropped=())
    found = _contents_of_rows("pairs", read)
    assert found == {"entries": 4, "label": {"a": 1, "b": 2}, "skipped": 2}
    assert list(found["label"]) == ["a", "b"]
    assert _contents_of_rows("pool", items[:1]) == {"entries": 1, "label": {"b": 1}}


def test_references_of_blanks_are_none() -> None:
    cases = [SimpleNamespace(reference=text) for text in ("So.", "", " \n", "No.")]
    assert _contents_of_rows("cases", SimpleNamespace(cases=cases))["without reference"] == 2
    found = _contents_of_rows("cases", SimpleNamespace(cases=cases[::3]))
    assert found == {"entries": 2}
