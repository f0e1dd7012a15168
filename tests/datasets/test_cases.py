"""Tests of `urs_inspect.datasets._cases`."""

import csv
import hashlib
import io
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.datasets import (
    URS,
    UrsCase,
    UrsData,
    Vocabulary,
    in_proportion,
    load_urs,
    read_cases,
    select,
)
from urs_inspect.rubrics import Rubric, load_rubric

Kind = tuple[str, str]

# How many cases of each intent and language.
sizes = st.dictionaries(
    st.tuples(
        st.sampled_from(["advice", "api", "leisure", "qa", "text"]), st.sampled_from(["en", "zh"])
    ),
    st.integers(1, 25),
    min_size=1,
)
seeds = st.integers(0, 2**32)


def make(counts: dict[Kind, int]) -> list[UrsCase]:
    """Cases sorted by kind, as the published file is."""
    return [
        UrsCase(f"{intent}_{language}_{number:04d}", "q", "r", intent, language)
        for (intent, language), count in sorted(counts.items())
        for number in range(count)
    ]


def kind(case: UrsCase) -> Kind:
    return case.intent, case.language


def ids(cases: Sequence[UrsCase]) -> list[str]:
    return [case.id for case in cases]


def farthest_from_proportion(ordered: list[UrsCase]) -> dict[Kind, float]:
    """Slowly: for each kind, the largest difference from its share over all prefixes."""
    total = Counter(map(kind, ordered))
    worst = dict.fromkeys(total, 0.0)
    for m in range(1, len(ordered) + 1):
        prefix = Counter(map(kind, ordered[:m]))
        for k, n in total.items():
            worst[k] = max(worst[k], abs(prefix[k] - m * n / len(ordered)))
    return worst


# --- the order ---


def test_kinds_alternate_as_worked_out_by_hand() -> None:
    # a: (k + 1/2) / 4 = .125 .375 .625 .875    b: (k + 1/2) / 2 = .25 .75    together: a b a a b a
    ordered = in_proportion(make({("a", "en"): 4, ("b", "en"): 2}), seed=0)
    assert [case.intent for case in ordered] == ["a", "b", "a", "a", "b", "a"]
    # Languages are kept apart just so: en .1 .3 .5 .7 .9, zh .5; at the tie the smaller id comes
    # first.
    ordered = in_proportion(make({("a", "en"): 5, ("a", "zh"): 1}), seed=0)
    assert [case.language for case in ordered] == ["en", "en", "en", "zh", "en", "en"]
    ordered = in_proportion(
        [UrsCase(name, "q", "r", kind, "en") for name, kind in ("za", "yb", "xc")], seed=0
    )
    assert ids(ordered) == ["x", "y", "z"]


def test_the_order_of_a_seed_is_the_same_on_every_machine() -> None:
    # Written down once; a change here breaks the comparison with every earlier run under --limit.
    ordered = in_proportion(make({("a", "en"): 4, ("b", "zh"): 2}), seed=0)
    assert [f"{case.intent}{case.id[-1]}" for case in ordered] == [
        "a2",
        "b1",
        "a1",
        "a3",
        "b0",
        "a0",
    ]
    # 20 cases have 20! orders; that two of ten seeds meet by chance is out of the question.
    cases = make({("a", "en"): 20, ("b", "en"): 20})
    orders = [
        tuple(case.id[-4:] for case in in_proportion(cases, seed) if case.intent == intent)
        for seed in range(10)
        for intent in ("a", "b")
    ]
    assert len(set(orders)) == 20


@given(counts=sizes, seed=seeds, mixing=seeds)
def test_the_order_is_a_permutation_that_depends_on_seed_and_order_within_kinds_alone(
    counts: dict[Kind, int], seed: int, mixing: int
) -> None:
    cases = make(counts)
    mixed = list(cases)
    random.Random(mixing).shuffle(mixed)
    members = {k: iter([case for case in cases if kind(case) == k]) for k in counts}
    interleaved = [next(members[kind(case)]) for case in mixed]
    ordered = in_proportion(cases, seed)
    assert in_proportion(interleaved, seed) == ordered
    assert sorted(ids(ordered)) == ids(cases) == ids(make(counts))


@given(counts=sizes, seed=seeds)
def test_every_prefix_holds_every_kind_in_proportion(counts: dict[Kind, int], seed: int) -> None:
    # A prefix that ends at place t of the list holds n_i t + e_i cases of kind i, |e_i| <= 1/2, of
    # m = N t + sum e. So its distance from m n_i / N is |e_i - (n_i / N) sum e|, at most 1/2 (1 +
    # (K - 2) n_i / N).
    ordered = in_proportion(make(counts), seed)
    for k, worst in farthest_from_proportion(ordered).items():
        share = counts[k] / len(ordered)
        assert worst <= (1 + (len(counts) - 2) * share) / 2 + 1e-9


@pytest.mark.data
def test_every_prefix_of_the_published_cases_is_about_one_case_off_at_most(
    published: UrsData,
) -> None:
    ordered = in_proportion(published.cases, seed=0)
    assert max(farthest_from_proportion(ordered).values()) < 1.01


# --- selecting ---

CASES = make({("api", "en"): 1, ("api", "zh"): 2, ("leisure", "en"): 3})


@pytest.mark.parametrize(
    ("languages", "intents", "expected"),
    [
        (None, None, CASES),
        (["en"], None, [CASES[0], *CASES[3:]]),
        (None, ["api"], CASES[:3]),
        (["zh"], ["api", "leisure"], CASES[1:3]),
        (
            ["zh", "en"],
            ["leisure", "api"],
            CASES,
        ),  # in the order of the file, whatever the order of the names
    ],
)
def test_select_keeps_cases_of_the_languages_and_intents_in_their_order(
    languages: list[str] | None, intents: list[str] | None, expected: list[UrsCase]
) -> None:
    assert select(CASES, languages=languages, intents=intents) == expected


def test_selecting_nothing_is_an_error_that_names_what_was_asked_for() -> None:
    with pytest.raises(InputError, match=r"language \['zh'\].*intent \['leisure'\]"):
        select(CASES, languages=["zh"], intents=["leisure"])
    with pytest.raises(InputError, match=r"language any.*intent \['qa'\]"):
        select(CASES, intents=["qa"])
    with pytest.raises(InputError, match=r"language any.*intent any"):
        select([])


LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 12345\n"
HEADER = "question,reference_ans,user_intent,language\n"
GOOD = "Why?,Because.,Leisure,EN\n"
HINT = "Correct the file, or skip invalid rows with -T lenient=true."
INTENTS = (
    "factual_qa, solve_professional_problem, text_assistant, api, ask_for_advice, seek_creativity,"
    " leisure"
)

Write = Callable[[str, "str | bytes"], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


VOCABULARY = Vocabulary(load_rubric().intent_id, load_rubric().language_code)


def read(path: Path, lenient: bool = False, **options: Any) -> UrsData:
    return read_cases(path, "my data", VOCABULARY, id_prefix="my", lenient=lenient, **options)


def error_of(path: Path, lenient: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        read(path, lenient)
    return str(caught.value)


def line(**changes: object) -> str:
    """A good line of JSON, but for the changes; `...` leaves a key out."""
    row = {
        "question": "Why?",
        "reference_ans": "Because.",
        "user_intent": "Leisure",
        "language": "EN",
        **changes,
    }
    return json.dumps({key: value for key, value in row.items() if value is not ...}) + "\n"


# --- faulty rows ---

CSV_ROWS = {
    "blank question": ('" \t　",Because.,Leisure,EN\n', "column 'question': empty"),
    "empty reference": ("Why?,,Leisure,EN\n", "column 'reference_ans': empty"),
    "unknown intent": (
        "Why?,Because.,Sport,EN\n",
        f"column 'user_intent': unknown intent 'Sport'; allowed: {INTENTS}",
    ),
    "two faults": (
        "Why?,Because.,,FR\n",
        "column 'user_intent': empty; column 'language': unknown language 'FR'; allowed: en, zh",
    ),
    "too few cells": ("Why?,Because.,Leisure\n", "column 'language': missing"),
    "too many cells": (
        "Why?,Because.,Leisure,EN,oh, well\n",
        "2 more cells than the header; put texts that hold commas in quotes",
    ),
}

JSONL_ROWS = {
    "missing question": (line(question=...), "column 'question': missing"),
    "missing reference": (line(reference_ans=...), "column 'reference_ans': missing"),
    "blank question": (line(question=" \n\u3000"), "column 'question': empty"),
    "null question": (line(question=None), "column 'question': must be text, is null"),
    "object as intent": (
        line(user_intent={"a": 1}),
        "column 'user_intent': must be text, is {\"a\": 1}",
    ),
    "unknown language": (
        line(language="fr"),
        "column 'language': unknown language 'fr'; allowed: en, zh",
    ),
    "wrong type at length": (
        line(question=["x" * 500]),
        f"column 'question': must be text, is [\"{'x' * 58}",
    ),
    "object as id": (line(id={"a": 1}), "column 'id': must be text, is {\"a\": 1}"),
    "boolean id": (line(id=True), "column 'id': must be text, is true"),
    # An unpaired surrogate is half a character: JSON can spell it, but no log and no request can
    # hold it.
    "half a character": (
        line(question="a \ud83d b"),
        r"column 'question': '\ud83d' is half a character",
    ),
    "half a character as id": (line(id="a\ud83d"), "column 'id': must be text, is \"a?\""),
    "half a character in a list": (
        line(question=["\ud83d"]),
        "column 'question': must be text, is [\"?\"]",
    ),
    "no JSON": ("question: Why?\n", "not JSON: Expecting value (column 1)"),
    "cut short": (line()[:-3] + "\n", "not JSON: Unterminated string starting at (column 89)"),
    "a list": ("[1, 2]\n", "not a JSON object"),
    "null": ("null\n", "not a JSON object"),
    "too deep": ("[" * 100_000 + "\n", "not readable as JSON: "),
    "too many digits": (line(question=7).replace("7", "7" * 5000), "not readable as JSON: "),
}


@pytest.mark.parametrize(("row", "fault"), CSV_ROWS.values(), ids=CSV_ROWS)
def test_an_invalid_csv_row_is_named_and_skipped_only_on_request(
    row: str, fault: str, write: Write
) -> None:
    path = write("my.csv", HEADER + GOOD + row + GOOD)
    assert error_of(path) == f"{path}: line 3: {fault}\n{HINT}"
    data = read(path, lenient=True)
    assert data.skipped == (f"{path}: line 3: {fault}",)
    assert [case.id for case in data.cases] == ["my_0001", "my_0003"]  # a corrected row moves no id


@pytest.mark.parametrize(("row", "fault"), JSONL_ROWS.values(), ids=JSONL_ROWS)
def test_an_invalid_line_of_json_is_named_and_skipped_only_on_request(
    row: str, fault: str, write: Write
) -> None:
    path = write("my.jsonl", line(id="a") + row + line(id="c"))
    first, *rest = error_of(path).splitlines()
    assert first.startswith(f"{path}: line 2: {fault}")
    assert rest == [HINT]
    first.encode()  # the message itself can be printed
    data = read(path, lenient=True)
    assert data.skipped == (first,)
    assert [case.id for case in data.cases] == ["a", "c"]


# --- duplicate ids ---


@pytest.mark.parametrize(
    ("first", "second"),
    [("a", "a"), ("a", " a "), (7, "7"), (7, 7), (None, "my_0001"), ("my_0002", None)],
    ids=repr,
)
def test_a_duplicate_id_names_the_line_that_has_it(
    first: object, second: object, write: Write
) -> None:
    path = write("my.jsonl", line(id=first) + line(id=second))
    taken = "my_0001" if first is None else str(first)
    assert tells(error_of(path), f"{path}: line 2: column 'id': '{taken}' ... line 1 {HINT}")


# --- faulty files ---


@pytest.mark.parametrize("column", ["question", "reference_ans", "user_intent", "language"])
def test_a_missing_csv_column_is_named_before_any_row(column: str, write: Write) -> None:
    present = [name for name in HEADER.strip().split(",") if name != column]
    path = write("my.csv", ",".join(present) + "\na,b,c\n")
    for lenient in (False, True):
        assert tells(
            error_of(path, lenient), f"{path}: line 1: column '{column}' ... {', '.join(present)}"
        )


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("my.csv", "", "the file is empty"),
        (
            "my.csv",
            "question," + HEADER + GOOD,
            "line 1: the header names a column twice: question",
        ),
        ("my.csv", "\ufeff", "the file is empty"),
        ("my.csv", "\r\n \n", "the file is empty"),
        (
            "my.csv",
            HEADER.replace(",", ";") + GOOD,
            "line 1: the cells are separated by semicolons; save it as CSV",
        ),
        (
            "my.csv",
            HEADER.replace(",", "\t") + GOOD,
            "line 1: the cells are separated by tabs; save it as CSV",
        ),
        ("my.csv", HEADER, "no usable case"),
        ("my.jsonl", "", "no usable case"),
        ("my.jsonl", "\n \n", "no usable case"),
        # Broken UTF-8: the line is that of the byte, with and without a byte order mark.
        (
            "my.csv",
            HEADER.encode() + GOOD.encode() + b"Wh\xff?,Because.,Leisure,EN\n",
            "line 3: byte 71 is not UTF-8",
        ),
        (
            "my.csv",
            HEADER.encode() + b"caf\xe9,Because.,Leisure,EN\n",
            "line 2: byte 47 is not UTF-8",
        ),
        (
            "my.csv",
            b"\xef\xbb\xbf" + HEADER.encode() + b"\xff,Because.,Leisure,EN\n",
            "line 2: byte 44 is not UTF-8",
        ),
        (
            "my.jsonl",
            line().encode() + b'{"question": "\xe4\xbd"}\n',
            "line 2: byte 108 is not UTF-8",
        ),
        ("my.csv", (HEADER + GOOD).encode("utf-16"), "is text in UTF-16; save it in UTF-8"),
        ("my.jsonl", line().encode("utf-16-be"), "is text in UTF-16; save it in UTF-8"),
        ("my.csv", (HEADER + GOOD).encode("utf-16-le"), "is text in UTF-16; save it in UTF-8"),
        (
            "my.csv",
            b"PK\x03\x04" + bytes(100),
            "is an Excel workbook or another ZIP archive; save it as CSV in UTF-8",
        ),
        (
            "my.csv",
            b"\xd0\xcf\x11\xe0" + bytes(100),
            "is an old Excel workbook; save it as CSV in UTF-8",
        ),
        (
            "my.csv",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            "is no text file; allowed is text in UTF-8: .csv",
        ),
        ("my.jsonl", LFS, "is a Git LFS pointer and not the file itself; `git lfs pull` gets it"),
        ("my.csv", HEADER + GOOD + "Wh\0y?,Because.,Leisure,EN\n", "line 3: NUL byte"),
        ("my.jsonl", line() + line() + "{\0}\n", "line 3: NUL byte"),
        (
            "my.csv",
            HEADER + GOOD + f'"{GOOD * 6}',
            "line 3: not readable as CSV: a quotation mark opens a cell and none",
        ),
        (
            "my.csv",
            f'"{HEADER}',
            "line 1: not readable as CSV: a quotation mark opens a cell and none closes it",
        ),
        ("my.csv", "q" * 10_000_001, "line 1: a cell has more than 10,000,000 characters"),
        (
            "my.csv",
            HEADER + GOOD + "q" * 10_000_001,
            "line 3: a cell has more than 10,000,000 characters",
        ),
    ],
)
def test_a_file_that_is_no_table_is_refused_even_leniently(
    name: str, content: str | bytes, fault: str, write: Write
) -> None:
    path = write(name, content)
    for lenient in (False, True):
        message = error_of(path, lenient)
        assert message.startswith(f"{path}: {fault}")
        assert len(message.splitlines()) == 1


def test_leniency_that_leaves_no_case_names_the_first_faults(write: Write) -> None:
    path = write("my.jsonl", "nope\n" + line(question="") + line(language="xx") * 30)
    lines = error_of(path, lenient=True).splitlines()
    assert (lines[0], lines[-1], len(lines)) == (f"{path}: no usable case", "... and 12 more", 22)
    assert lines[1].startswith(f"{path}: line 1: not JSON")
    assert lines[2] == f"{path}: line 2: column 'question': empty"
    assert tells(lines[3], f"{path}: line 3: column 'language': ... 'xx'")


def test_rows_without_content_are_no_fault(write: Write) -> None:
    # Empty cells beyond the header are what spreadsheets write.
    good = GOOD.strip()
    table = read(write("my.csv", f"{HEADER},,,\n{good},, \n , ,,\n\n{good}\n,,,,,\n"))
    lines = read(write("my.jsonl", line() + "{}\n" + '{"question": "", "intent": null}\n' + line()))
    assert ids(table.cases) == ids(lines.cases) == ["my_0001", "my_0002"]


@pytest.mark.parametrize("name", ["my.txt", "my", "my.XLSX"])
def test_a_file_of_another_kind_is_refused_and_the_readable_kinds_are_named(
    name: str, write: Write
) -> None:
    path = write(name, HEADER + GOOD)
    hint = " (a workbook: save it as CSV in UTF-8, with commas)" if name == "my.XLSX" else ""
    kind = f"'{path.suffix}' files" if path.suffix else "files without an ending"
    assert error_of(path) == f"{path}: cannot read {kind}; allowed: .csv, .jsonl, .json{hint}"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for path in (tmp_path / "absent.csv", tmp_path / "absent.jsonl", tmp_path / "folder.csv"):
        assert error_of(path) == f"no data file '{path}' (looked for {path.absolute()})"


# --- the line that is named is the line that an editor shows ---


@pytest.mark.parametrize(
    ("rows", "faulty_line"),
    [
        (
            f'\n"one\n\nthree",Because.,Leisure,EN\n\n{GOOD},b,Leisure,EN\n',
            8,
        ),  # a cell of lines and blank lines
        (
            f'{GOOD},"one\ntwo",Leisure,EN\n',
            3,
        ),  # the faulty row has several lines itself: its first
        (f"{GOOD}\r\n\r\n,b,Leisure,EN\r\n".replace("EN\n", "EN\r\n"), 5),
    ],
)
def test_a_faulty_csv_row_is_named_by_its_first_line_in_the_file(
    rows: str, faulty_line: int, write: Write
) -> None:
    path = write("my.csv", HEADER + rows)
    assert error_of(path) == f"{path}: line {faulty_line}: column 'question': empty\n{HINT}"


def test_blank_lines_between_lines_of_json_count(write: Write) -> None:
    path = write("my.jsonl", f"\n{line()}\n \n{line(question='')}")
    assert error_of(path) == f"{path}: line 5: column 'question': empty\n{HINT}"


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
filled = texts.filter(str.strip)
cases = st.lists(st.tuples(filled, filled), min_size=1, max_size=8)


def in_file(name: str, content: str, check: Callable[[Path], None]) -> None:
    """A directory of its own for every example; fixtures would share one."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / name
        path.write_bytes(content.encode())
        check(path)


def as_csv(rows: list[tuple[str, str]], newline: str) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=newline, quoting=csv.QUOTE_ALL)
    writer.writerow(HEADER.strip().split(","))
    writer.writerows((question, reference, "Leisure", "EN") for question, reference in rows)
    return out.getvalue()


@given(rows=cases, newline=st.sampled_from(["\n", "\r\n"]), blank=st.integers(0, 3))
def test_the_line_named_holds_the_faulty_row(
    rows: list[tuple[str, str]], newline: str, blank: int
) -> None:
    content = as_csv(rows, newline) + newline * blank + f"FAULTY,,Leisure,EN{newline}" + GOOD

    def check(path: Path) -> None:
        [first, _] = error_of(path).splitlines()
        number = int(first.removeprefix(f"{path}: line ").partition(":")[0])
        assert re.split("\r\n|\r|\n", content)[number - 1] == "FAULTY,,Leisure,EN"

    in_file("my.csv", content, check)


# --- good files ---


@given(
    rows=cases,
    newline=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(["", "\ufeff"]),
    escaped=st.booleans(),
)
def test_files_are_read_to_the_letter(
    rows: list[tuple[str, str]], newline: str, mark: str, escaped: bool
) -> None:
    lines = [
        json.dumps(
            {"question": q, "reference_ans": r, "user_intent": "API", "language": "CN"},
            ensure_ascii=escaped,
        )
        for q, r in rows
    ]

    def check(path: Path) -> None:
        assert [(case.question, case.reference) for case in read(path).cases] == rows

    in_file("my.csv", mark + as_csv(rows, newline), check)
    in_file("my.jsonl", mark + newline.join(lines), check)


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1e"])
def test_separators_that_python_counts_as_line_ends_do_not_cut_strings(
    separator: str, write: Write
) -> None:
    # JSON allows U+2028 raw inside strings, str.splitlines() would cut there; control characters
    # must be escaped.
    row = {"question": f"a{separator}b", "reference": "r", "intent": "api", "language": "zh"}
    path = write("my.jsonl", json.dumps(row, ensure_ascii=False) + "\n" + line(question=""))
    assert error_of(path).startswith(f"{path}: line 2: column 'question': empty")
    assert read(path, lenient=True).cases[0].question == f"a{separator}b"
    table = write("my.csv", HEADER + f"a{separator}b,r,API,CN\n")
    assert read(table).cases[0].question == f"a{separator}b"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_and_byte_order_mark_do_not_matter_to_csv(newline: str, write: Write) -> None:
    for mark in ("", "\ufeff"):
        data = read(write("my.csv", mark + (HEADER + GOOD + GOOD).replace("\n", newline)))
        assert data.cases == tuple(
            UrsCase(f"my_000{n}", "Why?", "Because.", "leisure", "en") for n in (1, 2)
        )


@pytest.mark.parametrize("reference", ["reference_ans", "reference"])
@pytest.mark.parametrize("intent", ["user_intent", "intent"])
def test_columns_may_bear_either_name_and_any_order(
    reference: str, intent: str, write: Write
) -> None:
    expected = (UrsCase("my_0001", "Why?", "Because.", "ask_for_advice", "zh"),)
    table = (
        f"language,{intent},note,{reference},question\nCN,Ask_for_Advice,ignored,Because.,Why?\n"
    )
    assert read(write("my.csv", table)).cases == expected
    row = {
        "language": "zh",
        intent: "ask for advice",
        "note": 7,
        reference: "Because.",
        "question": "Why?",
    }
    assert read(write("my.jsonl", json.dumps(row))).cases == expected


def test_a_cell_may_be_long_and_a_line_of_json_longer(write: Write) -> None:
    before = csv.field_size_limit()
    assert (
        len(read(write("my.csv", HEADER + "q" * 9_900_000 + ",r,API,CN\n")).cases[0].question)
        == 9_900_000
    )
    assert csv.field_size_limit() == before
    assert (
        len(read(write("my.jsonl", line(question="q" * 1_000_000))).cases[0].question) == 1_000_000
    )


# --- ids, name and hash ---


@pytest.mark.parametrize(
    ("column", "given_value", "expected"),
    [
        *(
            ("id", given, kept)
            for given, kept in (("q-1", "q-1"), (" q ", "q"), (17, "17"), ("", "my_0002"))
        ),
        *(
            ("country", given, kept)
            for given, kept in (("Kenya", "Kenya"), (" DE\t", "DE"), ("", ""), (" ", ""))
        ),
    ],
)
def test_an_id_and_a_country_may_be_blank(
    column: str, given_value: object, expected: str, write: Write
) -> None:
    table = f"{HEADER.strip()},{column}\n{GOOD.strip()},\n{GOOD.strip()},{given_value}\n"
    for path in (write("my.jsonl", line() + line(**{column: given_value})), write("my.csv", table)):
        assert getattr(read(path).cases[1], column) == expected
    assert getattr(read(write("my.jsonl", line(**{column: None}))).cases[0], column) in (
        "",
        "my_0001",
    )


# --- many faults ---


@pytest.mark.parametrize(
    ("faulty", "more"), [(20, []), (21, ["... and 1 more"]), (45, ["... and 25 more"])]
)
def test_more_than_twenty_faults_are_shortened(faulty: int, more: list[str], write: Write) -> None:
    rows = [f"Why?,Because.,Leisure,F{number}\n" for number in range(faulty)]
    path = write("my.csv", HEADER + GOOD + "".join(rows))
    lines = error_of(path).splitlines()
    assert [text.partition(": column")[0] for text in lines[:20]] == [
        f"{path}: line {n}" for n in range(3, 23)
    ]
    assert lines[20:] == [*more, HINT]
    assert len(read(path, lenient=True).skipped) == faulty  # one line a row


# --- without references ---


def test_references_may_be_missing_where_none_are_needed(write: Write) -> None:
    for missing in (..., None, " "):
        path = write("own.jsonl", line(reference_ans=missing))
        assert "column 'reference_ans'" in error_of(path)
        assert [case.reference for case in read(path, need_references=False).cases] == [""]
    for table, reference in (
        ("question,user_intent,language\nWhy?,Leisure,EN\n", ""),
        (HEADER + GOOD, "Because."),
    ):
        assert [
            case.reference for case in read(write("own.csv", table), need_references=False).cases
        ] == [reference]
    with pytest.raises(InputError, match="must be text"):
        read(write("odd.jsonl", line(reference_ans=5)), need_references=False)


# Han characters, and the punctuation that only East Asian text uses.
CJK = re.compile("[\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef]")

URS_INTENTS = dict(zip(INTENTS.split(", "), (573, 500, 124, 28, 269, 193, 159), strict=True))


@pytest.fixture
def published(data_dir: Path) -> UrsData:
    return load_urs("urs", VOCABULARY)


@pytest.fixture(scope="module")
def sample() -> UrsData:
    return load_urs("sample", VOCABULARY)


# --- the published file ---


@pytest.mark.data
def test_the_published_file_holds_the_published_counts(published: UrsData) -> None:
    assert len(published.cases) == 1846 == sum(URS_INTENTS.values())
    assert Counter(case.language for case in published.cases) == {"en": 1014, "zh": 832}
    assert Counter(case.intent for case in published.cases) == URS_INTENTS
    assert (published.name, published.sha256, published.skipped) == ("urs", URS.sha256, ())


@pytest.mark.data
def test_published_cases_hold_their_row_to_the_letter(
    published: UrsData, data_dir: Path, rubric: Rubric
) -> None:
    with (data_dir / "urs" / "data_all.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    languages = {"EN": "en", "CN": "zh"}
    assert [
        (case.question, case.reference, case.intent, case.language) for case in published.cases
    ] == [
        (
            row["question"],
            row["reference_ans"],
            row["user_intent"].lower(),
            languages[row["language"]],
        )
        for row in rows
    ]
    assert [case.id for case in published.cases] == [f"urs_{row:04d}" for row in range(1, 1847)]
    assert sum(case.question != case.question.strip() for case in published.cases) == 350
    assert {row["user_intent"] for row in rows} == {
        intent.label for intent in rubric.intents.values()
    }


# --- the embedded sample ---


def test_the_sample_has_three_cases_of_every_intent_and_language(sample: UrsData) -> None:
    # 7 intents x 2 languages x 3 = 42
    kinds = {(intent, language): 3 for intent in URS_INTENTS for language in ("en", "zh")}
    assert Counter(map(kind, sample.cases)) == kinds
    assert (sample.name, len(sample.cases), sample.skipped) == ("sample", 42, ())
    for part in ("id", "question", "reference"):
        assert len({getattr(case, part).strip() for case in sample.cases}) == 42
    for case in sample.cases:
        assert re.fullmatch(rf"sample_{case.intent}_{case.language}_[123]", case.id)
        written = case.question + case.reference if case.language == "en" else case.question
        assert bool(CJK.search(written)) == (case.language == "zh"), case.id
        # References answer and do not echo.
        assert len(case.reference.strip()) > 20, case.id
        assert case.question.strip() not in case.reference, case.id


@pytest.mark.data
def test_no_question_of_the_sample_is_a_published_one(published: UrsData, sample: UrsData) -> None:
    def essence(text: str) -> str:
        return re.sub(r"\W+", "", text).casefold()

    published_questions = {essence(case.question) for case in published.cases}
    assert not [case.id for case in sample.cases if essence(case.question) in published_questions]


# --- a file of the user ---


def test_a_users_file_is_named_by_its_path_and_read_leniently_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "night shift.CSV"
    path.write_text(
        "question,reference,intent,language\n,Because.,leisure,en\n Why?\t,Because.,leisure,en\n"
    )
    with pytest.raises(InputError, match="line 2: column 'question': empty"):
        load_urs(str(path), VOCABULARY)
    data = load_urs("~/night shift.CSV", VOCABULARY, lenient=True)
    assert (data.name, data.sha256) == (
        "~/night shift.CSV",
        hashlib.sha256(path.read_bytes()).hexdigest(),
    )
    assert [(case.id, case.question) for case in data.cases] == [("night shift_0002", " Why?\t")]
    assert len(data.skipped) == 1


@pytest.mark.parametrize("name", ["nope", "URS", "urs.txt", ""])
def test_an_unknown_dataset_is_an_error_that_names_what_is_allowed(name: str) -> None:
    with pytest.raises(
        InputError,
        match=rf"^unknown dataset '{name}'; allowed: urs, sample, .*\.csv",
    ):
        load_urs(name, VOCABULARY)


# --- conversations, columns that would be lost, clusters ---

TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "First?"},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "Second?"},
]
OWN = {"reference_ans": "Because.", "user_intent": "Leisure", "language": "EN"}


def lines_of(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_messages_may_stand_in_place_of_the_question(write: Write) -> None:
    rows = (
        {**OWN, "messages": TALK},
        {**OWN, "question": "Why?"},
        {**OWN, "messages": TALK, "language": "CN"},
    )
    cell = json.dumps(TALK).replace('"', '""')
    as_csv = f'{HEADER[:-1]},messages\n,Because.,Leisure,EN,"{cell}"\nWhy?,Because.,Leisure,EN,\n'
    for path in (write("own.jsonl", lines_of(*rows)), write("own.csv", as_csv)):
        talk, plain, *_ = read(path).cases
        assert talk.conversation is not None
        assert [(turn.role, turn.text) for turn in talk.conversation.turns] == [
            tuple(one.values()) for one in TALK
        ]
        assert "[User]\nFirst?" in talk.question and talk.question.endswith("Second?")
        assert plain.conversation is None and plain.question == "Why?"
    assert "[用户]\nFirst?" in read(write("own.jsonl", lines_of(*rows))).cases[2].question


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ({**OWN, "messages": TALK, "question": "Why?"}, "place of 'question'"),
        ({**OWN, "messages": TALK[:3]}, "last message ... user's"),
        ({**OWN, "messages": "Why?"}, "list of {role, content}"),
        ({**OWN, "messages": [{"role": "user", "content": "\ud800"}]}, "half a character"),
        ({**OWN, "messages": []}, "list of {role, content}"),
    ],
)
def test_messages_that_cannot_be_asked_are_one_error_of_their_line(
    row: dict[str, Any], named: str, write: Write
) -> None:
    path = write("own.jsonl", lines_of({**OWN, "question": "Why?"}, row))
    first, hint = error_of(path).splitlines()
    assert first.startswith(f"{path}: line 2: column 'messages': ") and tells(first, named)
    assert hint == HINT


@pytest.mark.parametrize(
    ("column", "value", "hint"),
    [
        *(
            (name, "Be brief.", "column 'messages'")
            for name in (
                "system",
                "System_Prompt",
                "history",
                "context",
                "persona",
                "prompt",
                "turns",
            )
        ),
        ("history", ["First?"], "column 'messages'"),
        *(
            (name, "a.png", "only texts are asked")
            for name in (
                "image",
                "images",
                "image_url",
                "audio",
                "video",
                "attachments",
                "functions",
            )
        ),
        ("tools", [{"name": "search"}], "only texts"),
    ],
)
def test_a_column_that_changes_what_is_asked_is_refused_once(
    column: str, value: object, hint: str, write: Write
) -> None:
    row = {**OWN, "question": "Why?"}
    path = write("own.jsonl", lines_of(row, {**row, column: value}, {**row, column: value}))
    for lenient in (False, True):
        error = error_of(path, lenient=lenient)
        assert tells(error, f"{path}: line 2: column '{column}' changes") and tells(error, hint)
        assert "\n" not in error


def test_such_a_column_without_content_and_others_are_no_fault(write: Write) -> None:
    row = {
        **OWN,
        "question": "Why?",
        "system": " ",
        "image": None,
        "history": "",
        "service": "x",
        "satisfaction": 4,
    }
    assert len(read(write("own.jsonl", lines_of(row))).cases) == 1


def test_cases_name_their_cluster_in_the_column_user_or_one_of_choice(write: Write) -> None:
    rows = [
        {**OWN, "question": f"{number}?", "user": user, "session": session}
        for number, (user, session) in enumerate([("ann", 1), ("ann", 2), (7, 2), (None, "")])
    ]
    path = write("own.jsonl", lines_of(*rows))
    assert [case.cluster for case in read(path).cases] == ["ann", "ann", "7", ""]
    assert [case.cluster for case in read(path, cluster="session").cases] == ["1", "2", "2", ""]
    with pytest.raises(InputError, match=r"column 'visit' is missing"):
        read(path, cluster="visit")
    with pytest.raises(InputError, match=r"cluster:.*of 'sample'"):
        load_urs("sample", VOCABULARY, cluster="user")
    wrong = write("wrong.jsonl", lines_of({**OWN, "question": "Why?", "user": ["ann"]}))
    assert "column 'user': must be text" in error_of(wrong)
