"""Reference answers from a file, and cases that take them."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from urs_inspect._util import InputError
from urs_inspect.datasets import UrsCase
from urs_inspect.datasets._references import (
    Reference,
    References,
    gather,
    named,
    question_sha256,
    read_reference_file,
    reference_lines,
    unusable,
    with_references,
)

CASES = [UrsCase(f"c{n}", f" Question {n}?\n", f"Own {n}.", "leisure", "en") for n in range(8)]


def given(
    number: int, text: str | None = None, outcome: str = "usable", source: str = "m/one"
) -> Reference:
    said = f"Reference {number}." if text is None else text
    return Reference(
        f"c{number}", question_sha256(f"Question {number}?"), said, source, "2025-01-01", outcome
    )


def test_a_question_is_hashed_as_models_are_asked_it() -> None:
    assert (
        question_sha256(" 你好?\n")
        == question_sha256("你好?")
        == hashlib.sha256("你好?".encode()).hexdigest()
    )


def test_every_case_takes_its_reference_and_keeps_all_else() -> None:
    taken = with_references(CASES, gather([given(n) for n in range(8)], "file"))
    assert taken == [replace(case, reference=f"Reference {n}.") for n, case in enumerate(CASES)]


@pytest.mark.parametrize(
    ("number", "names", "more"), [(1, 1, None), (5, 5, None), (6, 5, "1 more"), (9, 5, "4 more")]
)
def test_of_many_ids_the_first_five_are_named(number: int, names: int, more: str | None) -> None:
    ids = [f"c{place}" for place in range(number)]
    text = named(ids)
    assert text.startswith(f"{number} (c0")
    assert [name for name in ids if name in text] == ids[:names]
    assert ("more" in text) == (more is not None)
    assert more is None or more in text


def test_what_cannot_serve_is_counted_and_named() -> None:
    changed = Reference("c1", question_sha256("Another?"), "Text.", "m/one")
    references = gather(
        [changed, given(2, "", "empty"), given(3, "Half", "cut"), given(0)], "refs.jsonl"
    )
    with pytest.raises(InputError) as caught:
        with_references(CASES, references)
    for part in (
        "refs.jsonl (by m/one) does not serve 7 of 8 cases",
        "1 (c1) of another question",
        "1 (c2) empty",
        "1 (c3) cut off at the token limit",
        "4 (c4, c5, c6, c7) without one",
        "urs_references",
    ):
        assert part in str(caught.value)
    with pytest.raises(InputError, match=r"7 \(c1, c2, c3, c4, c5, and 2 more\) without one"):
        with_references(CASES, gather([given(0)], "file"))
    assert unusable(CASES[:1], references) == {}  # cases that do not take part need none


def test_the_last_usable_reference_of_a_case_counts() -> None:
    found = gather(
        [given(0, "old"), given(0, "new"), given(0, "", "empty"), given(1, "", "empty"), given(1)],
        "file",
    )
    assert {item.id: item.text for item in found.usable} == {"c0": "new", "c1": "Reference 1."}
    [last] = gather([given(0, "", "empty"), given(0, "Half", "cut")], "file").items
    assert last.outcome == "cut"  # the last one where none is usable


def test_models_questions_and_nothing_are_not_mixed() -> None:
    with pytest.raises(InputError, match="several models: m/one, m/two"):
        gather([given(0), given(1, source="m/two")], "file")
    with pytest.raises(InputError, match=r"two references.*'c0'"):
        gather([given(0), Reference("c0", "other", "Text.", "m/one")], "file")
    with pytest.raises(InputError, match="no answer"):
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


def read(path: Path, *rows: dict[str, object]) -> References:
    """Reads a file with the reference of case `number`, but for the changes."""
    lines = [
        {
            "id": f"c{number}",
            "question_sha256": question_sha256(f"Question {number}?"),
            "reference": f"Reference {number}.",
            "source_model": "m/one",
            **changes,
        }
        for number, changes in enumerate(rows)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return read_reference_file(path)


def test_a_blank_reference_is_an_empty_one(tmp_path: Path) -> None:
    found = read(tmp_path / "r.jsonl", {}, {"reference": " \u200b"}, {"reference": None})
    assert [item.outcome for item in found.items] == ["usable", "empty", "empty"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": ""}, "line 2: column 'id': missing"),
        ({"source_model": ""}, "line 2: column 'source_model': empty"),
        ({"question_sha256": None}, "line 2: column 'question_sha256':.*text"),
        ({"reference": 5}, "line 2: column 'reference':.*text"),
        ({"id": "c0"}, "line 2: column 'id': 'c0'.*line 1"),
        ({"source_model": "m/two"}, "several models: m/one, m/two"),
    ],
)
def test_a_faulty_file_is_refused(changes: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path / "r.jsonl", {}, changes)
