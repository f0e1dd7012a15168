"""Tests of `urs_inspect.discrepancy`."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from urs_inspect._util import InputError, check_new_file
from urs_inspect.discrepancy.evolution import PoolItem
from urs_inspect.discrepancy.pools import (
    Instruction,
    Pool,
    check_contestants,
    check_pool,
    draw_seeds,
    load_pool_file,
    load_seeds,
    short_pairs,
    usable_masks,
    write_pool_file,
)

ITEMS = tuple(Instruction(name, f"Ask {name}") for name in "wxyz")


def pool(**responses: dict[str, str]) -> Pool:
    return Pool("mine", "", ITEMS, responses)


GIVEN = pool(a={"w": "one", "x": "two", "y": "three", "z": "four"}, b={"w": "uno", "x": " two ", "y": "\n"})


def test_missing_empty_and_equal_answers_cannot_be_compared() -> None:
    # x: equal but for blanks; y: b is empty; z: b never came
    [(pair, mask)] = usable_masks(GIVEN, [("a", "b")]).items()
    assert pair == ("a", "b")
    assert mask.tolist() == [True, False, False, False]
    assert usable_masks(GIVEN, [("b", "a")])["b", "a"].tolist() == mask.tolist()


def test_what_is_lacking_is_counted_by_kind() -> None:
    assert GIVEN.lacking() == {"a": {"missing": 0, "empty": 0}, "b": {"missing": 1, "empty": 1}}


def test_a_pool_that_is_too_small_says_why() -> None:
    masks = usable_masks(GIVEN, [("a", "b")])
    check_pool(GIVEN, 1, masks)
    with pytest.raises(InputError) as caught:
        check_pool(GIVEN, 2, masks)
    assert str(caught.value) == (
        "k=2 is more than the pool 'mine' of 4 instructions can give to a and b: 1 (1 missing of b, 1 empty of b, "
        "1 answered with equal words). Lower k, or take a larger pool"
    )


def test_only_some_of_many_pairs_are_named() -> None:
    names = "abcdefg"
    many = pool(**{name: {} for name in names})
    masks = usable_masks(many, [("a", other) for other in names[1:]])
    assert short_pairs(many, 1, masks).endswith("; and 1 more pairs")
    assert short_pairs(many, 0, masks) == ""


def test_some_contestants_of_a_pool() -> None:
    assert GIVEN.among(["b"]).contestants == ("b",)
    with pytest.raises(InputError, match="no answers of 'c'; there are some of a, b"):
        GIVEN.among(["c"])


@pytest.mark.parametrize(("names", "said"), [((), "got none"), (("a",), "got a")])
def test_one_contestant_is_no_competition(names: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=f"at least 2 are needed, {said}"):
        check_contestants(names)
    check_contestants(("a", "b"))


POOL_FILE_ITEMS = [
    PoolItem("a-r1", "为什么？\n两行", "因为。", "Factual_QA", "zh", "a", "a", "m/one", 1),
    PoolItem("b-r2", 'Why "so"?', "", "Leisure", "en", "b", "b-r1", "m/two", 2),
]


def test_what_is_written_is_read_back(tmp_path: Path):
    path = tmp_path / "pool.jsonl"
    assert write_pool_file(path, POOL_FILE_ITEMS, "reasoning") == path
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
    assert write_pool_file(path, POOL_FILE_ITEMS, "writing") == tmp_path / "pool-2.jsonl"
    assert write_pool_file(path, POOL_FILE_ITEMS[:1], "writing") == tmp_path / "pool-3.jsonl"
    assert path.read_text(encoding="utf-8") == "mine"
    assert len(load_pool_file(str(tmp_path / "pool-2.jsonl"))[2]) == 2


def test_a_file_system_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def no_links(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "pool.jsonl"
    assert write_pool_file(path, POOL_FILE_ITEMS, "writing") == path
    assert write_pool_file(path, POOL_FILE_ITEMS, "writing") == tmp_path / "pool-2.jsonl"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["pool-2.jsonl", "pool.jsonl"]


def test_a_pool_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_pool_file(tmp_path / "pool.jsonl", POOL_FILE_ITEMS, "writing")
    assert list(tmp_path.iterdir()) == []


def test_outputs_that_could_not_be_written_are_refused_early(tmp_path: Path):
    check_new_file(tmp_path / "pool.jsonl", ".jsonl")
    (tmp_path / "there.jsonl").touch()
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "nowhere")
    for name, message in [
        ("pool.json", "must be the name of a .jsonl file"),
        ("there.jsonl", "already"),
        ("dangling.jsonl", "already"),
        ("none/pool.jsonl", "no folder"),
    ]:
        with pytest.raises(InputError, match=message):
            check_new_file(tmp_path / name, ".jsonl")


def lines(tmp_path: Path, *rows: object) -> Path:
    path = tmp_path / "seeds.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("text", ["instruction", "question"])
@pytest.mark.parametrize("reference", ["reference", "answer", "output", "reference_ans"])
def test_columns_go_by_several_names(text: str, reference: str, tmp_path: Path):
    [seed] = load_seeds(lines(tmp_path, {text: "Why?", reference: "So."}), "Factual_QA")
    assert (seed.id, seed.seed, seed.text, seed.reference) == ("seeds_0001", "seeds_0001", "Why?", "So.")
    assert (seed.intent, seed.language, seed.parent, seed.generator, seed.round) == ("Factual_QA", "en", "", "", 0)


def test_what_a_row_says_of_itself_counts(tmp_path: Path):
    row = {"id": 7, "instruction": "Pourquoi ?", "language": "fr", "user_intent": "Leisure", "reference": None}
    [seed] = load_seeds(lines(tmp_path, row), "Factual_QA")
    assert (seed.id, seed.language, seed.intent, seed.reference) == ("7", "fr", "Leisure", "")


@pytest.mark.parametrize(
    ("text", "language"), [("天空为什么是蓝色的？", "zh"), ("空はなぜ青いの？", "en"), ("Why?", "en")]
)
def test_a_row_without_a_language_goes_by_its_script(text: str, language: str, tmp_path: Path):
    assert load_seeds(lines(tmp_path, {"question": text}), "Factual_QA")[0].language == language


def test_csv_will_do(tmp_path: Path):
    path = tmp_path / "seeds.csv"
    path.write_text('id,question,answer\na,"Why, then?",\n', encoding="utf-8")
    [seed] = load_seeds(path, "Factual_QA")
    assert (seed.id, seed.text, seed.reference) == ("a", "Why, then?", "")


def test_seed_file_every_fault_is_named(tmp_path: Path):
    path = lines(
        tmp_path,
        {"id": "a", "instruction": "Why?"},
        {"id": "a", "instruction": "Where?"},
        {"id": "b", "instruction": "  "},
        {"id": "c", "instruction": "When?", "answer": 4},
        "{broken",
        {"id": "d"},
    )
    with pytest.raises(InputError) as error:
        load_seeds(path, "Factual_QA")
    said = str(error.value)
    assert "line 5: not JSON" in said
    assert "line 2: column 'id': 'a' is taken by line 1" in said
    assert "line 3: column 'instruction': empty" in said
    assert "line 4: column 'answer': must be text, is 4" in said
    assert "line 6: column 'instruction': missing" in said


def test_a_file_without_seeds_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="no usable case"):
        load_seeds(lines(tmp_path), "Factual_QA")


def test_a_header_without_an_instruction_is_refused(tmp_path: Path):
    path = tmp_path / "seeds.csv"
    path.write_text("id,text\na,Why?\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1: column 'instruction' is missing; the header has: id, text"):
        load_seeds(path, "Factual_QA")


def test_a_draw_is_the_beginning_of_the_whole_order(tmp_path: Path):
    seeds = load_seeds(lines(tmp_path, *({"id": str(n), "question": f"Why {n}?"} for n in range(20))), "Factual_QA")
    everything = draw_seeds(seeds, None, 3)
    assert sorted(seed.id for seed in everything) == sorted(seed.id for seed in seeds)
    assert draw_seeds(seeds, 5, 3) == everything[:5]
    assert draw_seeds(seeds, 99, 3) == everything
    assert draw_seeds(seeds, None, 4) != everything != list(seeds)
