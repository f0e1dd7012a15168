"""Files of plain votes."""

from pathlib import Path
from typing import Any

import pytest

from tests.reports.json_files import write_rows
from urs_inspect.errors import InputError
from urs_inspect.rating import Battle
from urs_inspect.reports.vote_lists import read_vote_list

VOTE = {"model_a": "x", "model_b": "y", "winner": "model_b"}


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_list_of_votes(tmp_path: Path, suffix: str) -> None:
    path = write_rows(tmp_path / f"votes{suffix}", VOTE, {**VOTE, "winner": "tie (bothbad)"}, {**VOTE, "winner": "x"})
    assert [(one.battle.first, one.battle.second, one.battle.outcome) for one in read_vote_list(path)] == [
        ("x", "y", 0.0),
        ("x", "y", 0.5),
        ("x", "y", 1.0),
    ]


def test_a_table_of_votes(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("model_a,model_b,winner,instruction\nx,y,tie,Why?\n y ,x,model_a, Why? \n", encoding="utf-8")
    assert [one.battle for one in read_vote_list(path)] == [
        Battle("x", "y", 0.5, "instruction Why?"),
        Battle("y", "x", 1.0, "instruction Why?"),
    ]


def test_the_arena_names_models_in_the_file_name(tmp_path: Path) -> None:
    rows = [
        {"instruction": "Why?", "output": output, "response_1": "-", "response_2": "-"} for output in ("y-2", "tie")
    ]
    assert [one.battle for one in read_vote_list(write_rows(tmp_path / "x-1-vs-y-2.jsonl", *rows))] == [
        Battle("x-1", "y-2", 0.0, "instruction Why?"),
        Battle("x-1", "y-2", 0.5, "instruction Why?"),
    ]


def test_votes_on_one_instruction_belong_together(tmp_path: Path) -> None:
    path = write_rows(
        tmp_path / "votes.jsonl",
        {**VOTE, "instruction": "Why?"},
        {**VOTE, "data": {"instruction": "Why?"}},
        {**VOTE, "data": "Why?", "question_id": 81},
        {**VOTE, "question_id": "81"},
        VOTE,
        {**VOTE, "instruction": "", "question_id": None},
    )
    clusters = [one.battle.cluster for one in read_vote_list(path)]
    assert clusters[:4] == ["instruction Why?", "instruction Why?", "question 81", "question 81"]
    assert len(set(clusters)) == 4


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**VOTE, "winner": "z"}, "unknown winner 'z'; allowed: model_a, tie, tie (bothbad), model_b, x, y"),
        ({**VOTE, "winner": None}, "unknown winner 'None'"),
        ({**VOTE, "model_b": "x"}, "'x' is compared with itself; two models are needed"),
        ({**VOTE, "model_b": " x "}, "'x' is compared with itself"),
        ({"model_a": "x", "winner": "tie"}, "'model_b' is missing; a vote needs model_a, model_b and winner"),
        ({"model_a": "x", "model_b": "y"}, "'winner' is missing"),
        ({**VOTE, "model_a": 3}, "model_a must be the name of a model, up to 200 printable characters, is 3"),
        ({**VOTE, "model_a": "  "}, 'model_a must be the name of a model, up to 200 printable characters, is "  "'),
        ({**VOTE, "model_a": "\x1b[31mred"}, "model_a must be the name of a model"),
        ({**VOTE, "model_a": "x" * 201}, "model_a must be the name of a model"),
        ({"output": "x"}, "a vote with 'output' stands in a file named <model>-vs-<model>.jsonl"),
        ({"ballot": "1", "annotator": "me", "choice": "a"}, "a vote about a ballot; name the log"),
        ([], "not a JSON object"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, row: Any, message: str) -> None:
    path = write_rows(tmp_path / "votes.jsonl", VOTE, row)
    with pytest.raises(InputError) as caught:
        read_vote_list(path)
    assert str(caught.value).startswith(f"{path}: line 2: {message}")
    assert "\n" not in str(caught.value)


def test_many_faults_are_one_line(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "votes.json", *[{**VOTE, "winner": "z"}] * 30)
    with pytest.raises(InputError) as caught:
        read_vote_list(path)
    assert str(caught.value).startswith(f"{path}: row 1: unknown winner 'z'")
    assert str(caught.value).endswith(" (and 29 more such faults)")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("votes.json", "", "no votes; rows with model_a, model_b and winner are expected"),
        ("votes.json", "[]", "no votes"),
        ("votes.jsonl", "\n\n", "no votes"),
        ("votes.csv", "model_a,model_b,winner\n", "no votes"),
        ("votes.json", '[{"model_a": ', "not JSON: Expecting value"),
        ("votes.jsonl", "{\n", "line 1: not JSON"),
    ],
)
def test_a_file_without_votes_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_vote_list(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(InputError, match="is text in UTF-16"):
        read_vote_list(path)


def test_a_winner_that_is_also_a_name_is_ambiguous(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    votes = [("x", "y", "model_a"), ("x", "model_a", "x"), ("x", "model_a", "model_a")]
    rows = [dict(zip(VOTE, vote, strict=True)) for vote in votes]
    write_rows(path, *rows)
    with pytest.raises(InputError) as caught:
        read_vote_list(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: line 3: ")
    assert "'model_a' is ambiguous" in message
    write_rows(path, *rows[:2])
    assert [vote.battle.outcome for vote in read_vote_list(path)] == [1, 1]
