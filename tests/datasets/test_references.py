"""Reference answers from a file, and cases that take them."""

import hashlib
import json
from pathlib import Path

import pytest

from urs_inspect._util import InputError
from urs_inspect.datasets import UrsCase
from urs_inspect.datasets.references import (
    Reference,
    References,
    gather,
    question_sha256,
    read_reference_file,
    reference_lines,
    unusable,
    with_references,
)

CASES = [UrsCase(f"c{n}", f" Question {n}?\n", f"Own {n}.", "leisure", "en") for n in range(8)]


def given(number: int, text: str | None = None, outcome: str = "usable", source: str = "m/one") -> Reference:
    said = f"Reference {number}." if text is None else text
    return Reference(f"c{number}", question_sha256(f"Question {number}?"), said, source, "2025-01-01", outcome)


def row(number: int, **changed: object) -> dict[str, object]:
    return {
        "id": f"c{number}",
        "question_sha256": question_sha256(f"Question {number}?"),
        "reference": f"Reference {number}.",
        "source_model": "m/one",
        "created": "2025-01-01",
        **changed,
    }


def write(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path


def test_a_question_is_hashed_as_models_are_asked_it() -> None:
    assert question_sha256(" 你好?\n") == question_sha256("你好?") == hashlib.sha256("你好?".encode()).hexdigest()


def test_every_case_takes_its_reference_and_keeps_all_else() -> None:
    references = gather([given(n) for n in range(8)], "file")
    taken = with_references(CASES, references)
    assert [case.reference for case in taken] == [f"Reference {n}." for n in range(8)]
    assert [(case.id, case.question, case.intent) for case in taken] == [(c.id, c.question, c.intent) for c in CASES]


def test_what_cannot_serve_is_counted_and_named() -> None:
    changed = Reference("c1", question_sha256("Another?"), "Text.", "m/one")
    items = [changed, given(2, "", "empty"), given(3, "Half", "cut"), given(0)]
    with pytest.raises(InputError) as caught:
        with_references(CASES, gather(items, "refs.jsonl"))
    said = str(caught.value)
    assert "refs.jsonl (by m/one) does not serve 7 of 8 cases" in said
    assert "1 (c1) of another question" in said
    assert "1 (c2) empty" in said
    assert "1 (c3) cut off at the token limit" in said
    assert "4 (c4, c5, c6, c7) without one" in said
    assert "urs_references" in said


def test_only_the_first_ids_are_named() -> None:
    with pytest.raises(InputError, match=r"7 \(c1, c2, c3, c4, c5, and 2 more\) without one"):
        with_references(CASES, gather([given(0)], "file"))


def test_cases_that_do_not_take_part_need_no_reference() -> None:
    assert unusable(CASES[:1], gather([given(0), given(5, "", "empty")], "file")) == {}


def test_the_last_usable_reference_of_a_case_counts() -> None:
    found = gather([given(0, "old"), given(0, "new"), given(0, "", "empty"), given(1, "", "empty"), given(1)], "file")
    assert {item.id: item.text for item in found.usable} == {"c0": "new", "c1": "Reference 1."}


def test_models_questions_and_nothing_are_not_mixed() -> None:
    with pytest.raises(InputError, match="several models: m/one, m/two"):
        gather([given(0), given(1, source="m/two")], "file")
    with pytest.raises(InputError, match="two references of case 'c0', of different questions"):
        gather([given(0), Reference("c0", "other", "Text.", "m/one")], "file")
    with pytest.raises(InputError, match="no answer in file"):
        gather([], "file")


def test_what_is_written_is_read_again_with_the_same_hash(tmp_path: Path) -> None:
    found = gather([given(1, "二\u2028\n\n{}"), given(0), given(2, "", "empty")], "log")
    path = tmp_path / "refs.jsonl"
    path.write_text("".join(reference_lines(found)), encoding="utf-8")
    again = read_reference_file(path)
    assert set(again.items) == set(found.usable)
    assert again.sha256 == found.sha256
    assert again.label == f"m/one (sha256 {found.sha256[:12]})"


def test_the_hash_is_that_of_questions_and_answers_alone() -> None:
    one = References("m/one", "here", (given(0), given(1)))
    turned = References("m/two", "there", (given(1), given(0), given(2, "", "empty")))
    assert one.sha256 == turned.sha256
    for other in (given(1, "Reference 1!"), Reference("c1", "other", "Reference 1.", "m/one")):
        assert References("m/one", "here", (given(0), other)).sha256 != one.sha256


def test_a_blank_reference_is_an_empty_one(tmp_path: Path) -> None:
    found = read_reference_file(
        write(tmp_path / "r.jsonl", row(0), row(1, reference=" \u200b"), row(2, reference=None))
    )
    assert [item.outcome for item in found.items] == ["usable", "empty", "empty"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row(0), row(1, id="")], "line 2: column 'id': missing"),
        ([row(0, source_model="")], "line 1: column 'source_model': empty"),
        ([row(0, question_sha256=None)], "line 1: column 'question_sha256': must be text"),
        ([row(0, reference=5)], "line 1: column 'reference': must be text"),
        ([row(0), row(0)], "line 2: column 'id': 'c0' is taken by line 1"),
        ([row(0), row(1, source_model="m/two")], "several models: m/one, m/two"),
    ],
)
def test_a_faulty_file_is_refused(rows: list[dict[str, object]], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_reference_file(write(tmp_path / "r.jsonl", *rows))
