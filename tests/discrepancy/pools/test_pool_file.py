"""Pool files, written whole and read back."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from urs_inspect.discrepancy.pools.evolution import PoolItem
from urs_inspect.discrepancy.pools.pool import Instruction
from urs_inspect.discrepancy.pools.pool_file import check_output, load_pool_file, write_pool_file
from urs_inspect.errors import InputError

ITEMS = [
    PoolItem("a-r1", "为什么？\n两行", "因为。", "Factual_QA", "zh", "a", "a", "m/one", 1),
    PoolItem("b-r2", 'Why "so"?', "", "Leisure", "en", "b", "b-r1", "m/two", 2),
]


def test_what_is_written_is_read_back(tmp_path: Path):
    path = tmp_path / "pool.jsonl"
    assert write_pool_file(path, ITEMS, "reasoning") == path
    name, sha256, instructions = load_pool_file(str(path), scenarios=("reasoning",))
    assert name == str(path)
    assert sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert instructions == (
        Instruction("a-r1", "为什么？\n两行", "因为。", "zh", "reasoning"),
        Instruction("b-r2", 'Why "so"?', "", "en", "reasoning"),
    )
    first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert first == {
        "id": "a-r1",
        "question": "为什么？\n两行",
        "reference_ans": "因为。",
        "user_intent": "Factual_QA",
        "language": "zh",
        "scenario": "reasoning",
        "seed": "a",
        "parent": "a",
        "generator": "m/one",
        "round": 1,
    }
    assert [entry.name for entry in tmp_path.iterdir()] == ["pool.jsonl"]


def test_plain_rows_will_do(tmp_path: Path):
    path = tmp_path / "mine.jsonl"
    path.write_text(
        '{"instruction": " Why? "}\n\n{"question": "Wie?", "language": "CN", "reference": "So."}\n', "utf-8"
    )
    assert load_pool_file(str(path))[2] == (
        Instruction("mine_0001", "Why?"),
        Instruction("mine_0002", "Wie?", "So.", "zh"),
    )


def test_other_languages_keep_their_name(tmp_path: Path):
    path = tmp_path / "mine.csv"
    path.write_text("question,language\nWarum?, DE \n", encoding="utf-8")
    assert load_pool_file(str(path))[2][0].language == "de"


def test_every_fault_is_named(tmp_path: Path):
    path = tmp_path / "mine.jsonl"
    path.write_text(
        '{"id": "x", "instruction": ""}\n[1]\n{"instruction": "Why?", "scenario": "poetry"}\n', encoding="utf-8"
    )
    with pytest.raises(InputError) as error:
        load_pool_file(str(path), scenarios=("general", "writing"))
    said = str(error.value)
    assert f"{path}: line 2: not a JSON object" in said
    assert f"{path}: line 1: column 'instruction': empty" in said
    assert "line 3: column 'scenario': unknown scenario 'poetry'; allowed: general, writing" in said
    path.write_text('{"instruction": "Why?", "scenario": "poetry"}', encoding="utf-8")
    assert load_pool_file(str(path))[2][0].scenario == "poetry"


def test_a_missing_file_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="no data file"):
        load_pool_file(str(tmp_path / "none.jsonl"))


def test_no_file_is_written_over(tmp_path: Path):
    path = tmp_path / "pool.jsonl"
    path.write_text("mine", encoding="utf-8")
    assert write_pool_file(path, ITEMS, "writing") == tmp_path / "pool-2.jsonl"
    assert write_pool_file(path, ITEMS[:1], "writing") == tmp_path / "pool-3.jsonl"
    assert path.read_text(encoding="utf-8") == "mine"
    assert len(load_pool_file(str(tmp_path / "pool-2.jsonl"))[2]) == 2


def test_a_file_system_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def no_links(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "pool.jsonl"
    assert write_pool_file(path, ITEMS, "writing") == path
    assert write_pool_file(path, ITEMS, "writing") == tmp_path / "pool-2.jsonl"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["pool-2.jsonl", "pool.jsonl"]


def test_a_pool_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_pool_file(tmp_path / "pool.jsonl", ITEMS, "writing")
    assert list(tmp_path.iterdir()) == []


def test_outputs_that_could_not_be_written_are_refused_early(tmp_path: Path):
    check_output(tmp_path / "pool.jsonl")
    (tmp_path / "there.jsonl").touch()
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "nowhere")
    for name, message in [
        ("pool.json", "must be the name of a .jsonl file"),
        ("there.jsonl", "already"),
        ("dangling.jsonl", "already"),
        ("none/pool.jsonl", "no folder"),
    ]:
        with pytest.raises(InputError, match=message):
            check_output(tmp_path / name)
