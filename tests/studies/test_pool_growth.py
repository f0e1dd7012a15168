"""Seeds, near-duplicates, lines of descent and the file of a pool that grows."""

import hashlib
import json
import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.discrepancy.test_pools import lines
from urs_inspect._util import InputError
from urs_inspect.discrepancy._lexical import LexicalSimilarity, normalised
from urs_inspect.discrepancy._pools import (
    Instruction,
    load_pool_file,
)
from urs_inspect.studies._pool_growth import (
    DistinctTexts,
    Evolution,
    NearDuplicate,
    PoolItem,
    child_id,
    draw_seeds,
    load_seeds,
    write_pool_file,
)

POOL_FILE_ITEMS = [
    PoolItem("a-r1", "为什么？\n两行", "因为。", "Factual_QA", "zh", "a", "a", "m/one", 1),
    PoolItem("b-r2", 'Why "so"?', "", "Leisure", "en", "b", "b-r1", "m/two", 2),
]

LAST_LINE = {
    "id": "b-r2",
    "question": 'Why "so"?',
    "reference_ans": "",
    "user_intent": "Leisure",
    "language": "en",
    "scenario": "reasoning",
    "seed": "b",
    "parent": "b-r1",
    "generator": "m/two",
    "round": 2,
}


def test_what_is_written_is_read_back(tmp_path: Path):
    path = tmp_path / "pool.jsonl"
    assert write_pool_file(path, POOL_FILE_ITEMS, "reasoning") == path
    expected = (
        Instruction("a-r1", "为什么？\n两行", "因为。", "zh", "reasoning", "Factual_QA"),
        Instruction("b-r2", 'Why "so"?', "", "en", "reasoning", "Leisure"),
    )
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert load_pool_file(str(path), scenarios=("reasoning",)) == (str(path), sha256, expected)
    first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert list(first.items()) == [
        ("id", "a-r1"), ("question", "为什么？\n两行"), ("reference_ans", "因为。"), ("user_intent", "Factual_QA"),
        ("language", "zh"), ("scenario", "reasoning"), ("seed", "a"), ("parent", "a"), ("generator", "m/one"),
        ("round", 1),
    ]  # fmt: skip
    assert json.loads(path.read_text(encoding="utf-8").splitlines()[1]) == LAST_LINE
    assert [entry.name for entry in tmp_path.iterdir()] == ["pool.jsonl"]
    assert path.stat().st_mode & 0o777 == 0o644  # others may read it


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


def test_a_pool_that_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_pool_file(tmp_path / "pool.jsonl", POOL_FILE_ITEMS, "writing")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["instruction", "question"])
@pytest.mark.parametrize("reference", ["reference", "answer", "output", "reference_ans"])
def test_columns_go_by_several_names(text: str, reference: str, tmp_path: Path):
    [seed] = load_seeds(lines(tmp_path, {text: "Why?", reference: "So."}), "Factual_QA")
    assert (seed.id, seed.seed, seed.text, seed.reference) == (
        "seeds_0001",
        "seeds_0001",
        "Why?",
        "So.",
    )
    assert (seed.intent, seed.language, seed.parent, seed.generator, seed.round) == (
        "Factual_QA",
        "en",
        "",
        "",
        0,
    )


def test_what_a_row_says_of_itself_counts_also_in_csv(tmp_path: Path):
    row = {
        "id": 7,
        "instruction": "Pourquoi ?",
        "language": "fr",
        "user_intent": "Leisure",
        "reference": None,
    }
    [seed] = load_seeds(lines(tmp_path, row), "Factual_QA")
    assert (seed.id, seed.language, seed.intent, seed.reference) == ("7", "fr", "Leisure", "")
    path = tmp_path / "seeds.csv"
    path.write_text('id,question,answer\na,"Why, then?",\n', encoding="utf-8")
    [seed] = load_seeds(path, "Factual_QA")
    assert (seed.id, seed.text, seed.reference) == ("a", "Why, then?", "")


def test_a_row_without_a_language_goes_by_its_script(tmp_path: Path):
    rows = [{"question": text} for text in ("天空为什么是蓝色的？", "空はなぜ青いの？", "Why?")]
    assert [seed.language for seed in load_seeds(lines(tmp_path, *rows), "Factual_QA")] == [
        "zh",
        "en",
        "en",
    ]


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
    for fault in (
        "line 5: not JSON",
        "line 2: column 'id': 'a' is taken by line 1",
        "line 3: column 'instruction': empty",
        "line 4: column 'answer': must be text, is 4",
        "line 6: column 'instruction': missing",
    ):
        assert fault in str(error.value)
    with pytest.raises(InputError, match="no usable case"):
        load_seeds(lines(tmp_path), "Factual_QA")
    path = tmp_path / "seeds.csv"
    path.write_text("id,text\na,Why?\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 1: column 'instruction'.*id, text"):
        load_seeds(path, "Factual_QA")


def test_a_draw_is_the_beginning_of_the_whole_order(tmp_path: Path):
    seeds = load_seeds(
        lines(tmp_path, *({"id": str(n), "question": f"Why {n}?"} for n in range(20))), "Factual_QA"
    )
    everything = draw_seeds(seeds, None, 3)
    assert sorted(seed.id for seed in everything) == sorted(seed.id for seed in seeds)
    assert draw_seeds(seeds, 5, 3) == everything[:5]
    assert draw_seeds(seeds, 99, 3) == everything
    assert draw_seeds(seeds, None, 4) != everything != list(seeds)


APPLES = (
    "Tom has 12 apples, gives 5 to Ann and buys 7 more. How many apples does Tom have in the end?"
)

PEARS = (
    "Tom has 13 apples, gives 5 to Ann and buys 7 more. How many apples does Tom have in the end?"
)

TRAIN = "A train leaves at noon and covers 80 miles an hour. When has it gone 200 miles?"


def slowly(known: dict[str, str], texts: dict[str, str], threshold: float) -> set[str]:
    """Ids of the near-duplicates, by comparing one text after the other with each that was kept."""
    vectors = LexicalSimilarity()
    kept = list(known.values())
    found = set()
    for name in sorted(texts):
        [mine] = vectors.encode([texts[name]]).astype(np.float64)
        if any(
            normalised(texts[name]) == normalised(other)
            or float(mine @ vectors.encode([other])[0].astype(np.float64)) >= threshold - 1e-6
            for other in kept
        ):
            found.add(name)
        else:
            kept.append(texts[name])
    return found


def test_one_number_apart_is_a_near_duplicate_and_another_problem_is_none():
    distinct = DistinctTexts(0.9)
    assert distinct.add({"a": APPLES, "b": TRAIN}) == {}
    [(name, repeats)] = distinct.add({"c": PEARS}).items()
    assert (name, repeats.of) == ("c", "a")
    assert 0.9 <= repeats.similarity < 1
    assert len(distinct) == 2


def test_a_text_just_as_similar_as_the_threshold_repeats_and_a_little_less_does_not():
    [repeats] = DistinctTexts(0.5).add({"a": APPLES, "c": PEARS}).values()
    for threshold, is_repeat in (
        (repeats.similarity, True),
        (repeats.similarity - 1e-4, True),
        (repeats.similarity + 1e-4, False),
    ):
        refused = DistinctTexts(threshold).add({"a": APPLES, "c": PEARS})
        assert bool(refused) == is_repeat


@pytest.mark.parametrize(
    ("there", "added", "repeats"),
    [
        ({}, {"1": "qwer", "2": "zxcv", "3": "qwer zxcv"}, "1"),
        ({}, {"1": "zxcv", "2": "qwer", "3": "qwer zxcv"}, "1"),
        ({"9": "qwer"}, {"1": "zxcv", "3": "qwer zxcv"}, "9"),
        ({"9": "qwer", "8": "zxcv"}, {"3": "qwer zxcv"}, "9"),
        ({"9": "qwer"}, {"1": "zxcv", "3": "qwer zxcv zxcv"}, "1"),  # more like the later one
    ],
)
def test_of_two_texts_as_similar_the_earlier_one_is_repeated(
    there: dict[str, str], added: dict[str, str], repeats: str
):
    distinct = DistinctTexts(0.6)
    distinct.take(there)
    [(name, refused)] = distinct.add(added).items()
    assert (name, refused.of) == ("3", repeats)


def test_equal_apart_from_case_width_and_blanks_is_similarity_1_and_what_is_taken_stays():
    distinct = DistinctTexts(1.0)
    distinct.take({"seed": "Why is the sky blue?", "again": "Why is the sky blue?"})
    assert distinct.add({"a": "  WHY is\nthe sky ｂｌｕｅ? "}) == {"a": NearDuplicate("seed", 1.0)}
    assert len(distinct) == 2


def test_what_was_refused_refuses_nothing():
    # b is near a; c is near b but not near a, so that it stays.
    a, b, c = (
        "abcdefghij" * 3,
        "abcdefghij" * 3 + "klmnopqr",
        "klmnopqr" + "abcdefghij" + "klmnopqrstuvwx",
    )
    vectors = LexicalSimilarity().encode([a, b, c])
    cosines = vectors @ vectors.T
    assert cosines[1, 2] > cosines[0, 2]
    threshold = float(cosines[1, 2])
    assert cosines[0, 1] > threshold
    assert set(DistinctTexts(threshold).add({"a": a, "b": b, "c": c})) == {"b"}


@pytest.mark.parametrize("size", [1, 127, 128, 129, 300])
def test_blocks_make_no_difference(size: int):
    rng = random.Random(size)
    words = [f"word{n}" for n in range(12)]
    texts = {f"t{n:03d}": " ".join(rng.choices(words, k=8)) for n in range(size)}
    known = {f"k{n}": " ".join(rng.choices(words, k=8)) for n in range(140)}
    distinct = DistinctTexts(0.8)
    distinct.take(known)
    found = distinct.add(texts)
    assert found.keys() == slowly(known, texts, 0.8)
    assert len(distinct) == len(known) + len(texts) - len(found)
    assert size == 1 or len(found) > 0


@given(st.lists(st.text("ab 猫。", max_size=6), max_size=12), st.randoms())
def test_the_order_of_arrival_never_matters(texts: list[str], rng: random.Random):
    pairs = [(f"t{number:02d}", text) for number, text in enumerate(texts)]
    there = DistinctTexts(0.7).add(dict(pairs))
    rng.shuffle(pairs)
    assert DistinctTexts(0.7).add(dict(pairs)) == there
    assert there.keys() == slowly({}, dict(pairs), 0.7)


@pytest.mark.parametrize("threshold", [0, -1, 1.1, float("nan")])
def test_a_threshold_out_of_range_is_refused(threshold: float):
    with pytest.raises(InputError, match=r"duplicates:.*above 0.*at most 1"):
        DistinctTexts(threshold)


SEEDS = {"sea": "Why does the sea rise and fall?", "iron": "Which process turns iron red?"}

SEED_ITEMS = [PoolItem(name, text, "", "Factual_QA", "en", name) for name, text in SEEDS.items()]


def child(seed: str, number: int, text: str) -> PoolItem:
    return PoolItem(child_id(seed, number), text, "", "Factual_QA", "en", seed, seed, "g", number)


def test_a_near_duplicate_of_a_seed_an_earlier_round_or_a_sibling_is_not_kept():
    evolution = Evolution(SEED_ITEMS, 0.9)

    def settle(*children: PoolItem) -> dict[str, str]:
        return {name: found.of for name, found in evolution.settle(children).items()}

    assert settle(child("iron", 1, SEEDS["sea"])) == {"iron-r1": "sea"}
    assert settle(child("sea", 2, "What drives the trade winds?")) == {}
    assert [parent.id for parent in evolution.parents.values()] == ["sea-r2", "iron"]
    third = [child("iron", 3, "what drives the  TRADE winds?"), child("sea", 3, "What is amber?")]
    assert settle(*third) == {"iron-r3": "sea-r2"}
    # Siblings are looked at in the order of their ids: "iron-r4" comes first.
    assert settle(*(child(seed, 4, "How do bats hear?") for seed in ("sea", "iron"))) == {
        "sea-r4": "iron-r4"
    }
    assert [item.id for item in evolution.kept] == [
        "sea-r2",
        "sea-r3",
        "iron-r4",
    ] and evolution.kept[1] == third[1]
    assert {seed: parent.id for seed, parent in evolution.parents.items()} == {
        "sea": "sea-r3",
        "iron": "iron-r4",
    }
