"""Tests of `urs_inspect.datasets.cases`."""

import csv
import hashlib
import io
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urs_inspect._util import InputError
from urs_inspect.datasets import URS, UrsCase, UrsData, Vocabulary, in_proportion, load_urs, read_cases, select
from urs_inspect.rubrics import Rubric, load_rubric

Kind = tuple[str, str]

# How many cases of each intent and language.
sizes = st.dictionaries(
    st.tuples(st.sampled_from(["advice", "api", "leisure", "qa", "text"]), st.sampled_from(["en", "zh"])),
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


def ids(cases: list[UrsCase]) -> list[str]:
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
    # Languages are kept apart just so: en .1 .3 .5 .7 .9, zh .5; at the tie the smaller id comes first.
    ordered = in_proportion(make({("a", "en"): 5, ("a", "zh"): 1}), seed=0)
    assert [case.language for case in ordered] == ["en", "en", "en", "zh", "en", "en"]


def test_at_a_tie_the_smaller_id_comes_first() -> None:
    cases = [UrsCase("z", "q", "r", "a", "en"), UrsCase("y", "q", "r", "b", "en"), UrsCase("x", "q", "r", "c", "en")]
    assert ids(in_proportion(cases, seed=0)) == ["x", "y", "z"]


def test_the_order_of_a_seed_is_the_same_on_every_machine() -> None:
    # Written down once; a change here breaks the comparison with every earlier run under --limit.
    cases = make({("a", "en"): 4, ("b", "zh"): 2})
    assert ids(in_proportion(cases, seed=0)) == [
        "a_en_0002",
        "b_zh_0001",
        "a_en_0001",
        "a_en_0003",
        "b_zh_0000",
        "a_en_0000",
    ]


@given(counts=sizes, seed=seeds)
def test_the_order_is_a_permutation_and_the_input_stays_as_it_was(counts: dict[Kind, int], seed: int) -> None:
    cases = make(counts)
    before = list(cases)
    ordered = in_proportion(cases, seed)
    assert sorted(ids(ordered)) == sorted(ids(cases))
    assert cases == before


@given(counts=sizes, seed=seeds, mixing=seeds)
def test_the_order_depends_on_the_seed_and_the_order_within_kinds_alone(
    counts: dict[Kind, int], seed: int, mixing: int
) -> None:
    cases = make(counts)
    mixed = list(cases)
    random.Random(mixing).shuffle(mixed)
    members = {k: iter([case for case in cases if kind(case) == k]) for k in counts}
    interleaved = [next(members[kind(case)]) for case in mixed]
    assert in_proportion(interleaved, seed) == in_proportion(cases, seed)


def test_another_seed_gives_another_order() -> None:
    # 20 cases have 20! orders; that two of ten seeds meet by chance is out of the question.
    cases = make({("a", "en"): 20})
    assert len({tuple(ids(in_proportion(cases, seed))) for seed in range(10)}) == 10


def test_one_seed_shuffles_kinds_of_one_size_differently() -> None:
    ordered = in_proportion(make({("a", "en"): 20, ("b", "en"): 20}), seed=0)
    numbers = {intent: [case.id[-4:] for case in ordered if case.intent == intent] for intent in ("a", "b")}
    assert numbers["a"] != numbers["b"]


@given(counts=sizes, seed=seeds)
def test_every_prefix_holds_every_kind_in_proportion(counts: dict[Kind, int], seed: int) -> None:
    # A prefix that ends at place t of the list holds n_i t + e_i cases of kind i, |e_i| <= 1/2, of m = N t + sum e.
    # So its distance from m n_i / N is |e_i - (n_i / N) sum e|, at most 1/2 (1 + (K - 2) n_i / N).
    ordered = in_proportion(make(counts), seed)
    for k, worst in farthest_from_proportion(ordered).items():
        share = counts[k] / len(ordered)
        assert worst <= (1 + (len(counts) - 2) * share) / 2 + 1e-9


@given(first=st.integers(1, 60), second=st.integers(1, 60), seed=seeds)
def test_with_two_kinds_no_prefix_is_half_a_case_off(first: int, second: int, seed: int) -> None:
    ordered = in_proportion(make({("a", "en"): first, ("a", "zh"): second}), seed)
    assert max(farthest_from_proportion(ordered).values()) <= 0.5 + 1e-9


@pytest.mark.data
@pytest.mark.parametrize("seed", [0, 1, 42])
def test_seventy_published_cases_cover_intents_and_languages_in_proportion(
    seed: int, data_dir: Path, rubric: Rubric
) -> None:
    cases = load_urs("urs", Vocabulary(rubric.intent_id, rubric.language_code)).cases
    first = in_proportion(cases, seed)[:70]
    # 70 * 573 / 1846 = 21.7, 70 * 500 / 1846 = 19.0, 10.2, 7.3, 6.0, 4.7, 1.1
    assert Counter(case.intent for case in first) == {
        "factual_qa": 21,
        "solve_professional_problem": 18,
        "ask_for_advice": 10,
        "seek_creativity": 8,
        "leisure": 6,
        "text_assistant": 5,
        "api": 2,
    }
    # 70 * 1014 / 1846 = 38.5, 70 * 832 / 1846 = 31.5
    assert Counter(case.language for case in first) == {"en": 39, "zh": 31}
    assert len(set(map(kind, first))) == 14


@pytest.mark.data
def test_every_prefix_of_the_published_cases_is_about_one_case_off_at_most(data_dir: Path, rubric: Rubric) -> None:
    cases = load_urs("urs", Vocabulary(rubric.intent_id, rubric.language_code)).cases
    ordered = in_proportion(cases, seed=0)
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
        (["zh", "en"], ["leisure", "api"], CASES),  # in the order of the file, whatever the order of the names
    ],
)
def test_select_keeps_cases_of_the_languages_and_intents_in_their_order(
    languages: list[str] | None, intents: list[str] | None, expected: list[UrsCase]
) -> None:
    assert select(CASES, languages=languages, intents=intents) == expected


def test_selecting_nothing_is_an_error_that_names_what_was_asked_for() -> None:
    with pytest.raises(InputError, match=r"no case has language \['zh'\] and intent \['leisure'\]"):
        select(CASES, languages=["zh"], intents=["leisure"])
    with pytest.raises(InputError, match=r"no case has language any and intent \['qa'\]"):
        select(CASES, intents=["qa"])
    with pytest.raises(InputError, match="no case has language any and intent any"):
        select([])


LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 12345\n"
HEADER = "question,reference_ans,user_intent,language\n"
GOOD = "Why?,Because.,Leisure,EN\n"
HINT = "Correct the file, or skip invalid rows with -T lenient=true."
INTENTS = "factual_qa, solve_professional_problem, text_assistant, api, ask_for_advice, seek_creativity, leisure"

Write = Callable[[str, "str | bytes"], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


def vocabulary() -> Vocabulary:
    rubric = load_rubric()
    return Vocabulary(rubric.intent_id, rubric.language_code)


def read(path: Path, lenient: bool = False) -> UrsData:
    return read_cases(path, "my data", vocabulary(), id_prefix="my", lenient=lenient)


def error_of(path: Path, lenient: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        read(path, lenient)
    return str(caught.value)


def line(**changes: object) -> str:
    """A good line of JSON, but for the changes; `...` leaves a key out."""
    row = {"question": "Why?", "reference_ans": "Because.", "user_intent": "Leisure", "language": "EN", **changes}
    return json.dumps({key: value for key, value in row.items() if value is not ...}) + "\n"


# --- faulty rows ---

CSV_ROWS = {
    "empty question": (",Because.,Leisure,EN\n", "column 'question': empty"),
    "blank question": ('" \t　",Because.,Leisure,EN\n', "column 'question': empty"),
    "empty reference": ("Why?,,Leisure,EN\n", "column 'reference_ans': empty"),
    "empty intent": ("Why?,Because.,,EN\n", "column 'user_intent': empty"),
    "empty language": ("Why?,Because.,Leisure,\n", "column 'language': empty"),
    "unknown intent": (
        "Why?,Because.,Sport,EN\n",
        f"column 'user_intent': unknown intent 'Sport'; allowed: {INTENTS}",
    ),
    "unknown language": (
        "Why?,Because.,Leisure,FR\n",
        "column 'language': unknown language 'FR'; allowed: en, zh",
    ),
    "two faults": (
        "Why?,,Leisure,FR\n",
        "column 'reference_ans': empty; column 'language': unknown language 'FR'; allowed: en, zh",
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
    "missing intent": (line(user_intent=...), "column 'user_intent': missing"),
    "missing language": (line(language=...), "column 'language': missing"),
    "empty question": (line(question=""), "column 'question': empty"),
    "blank question": (line(question=" \n\u3000"), "column 'question': empty"),
    "unknown intent": (
        line(user_intent="Sport"),
        f"column 'user_intent': unknown intent 'Sport'; allowed: {INTENTS}",
    ),
    "unknown language": (line(language="fr"), "column 'language': unknown language 'fr'; allowed: en, zh"),
    "null question": (line(question=None), "column 'question': must be text, is null"),
    "numeric question": (line(question=7), "column 'question': must be text, is 7"),
    "question in parts": (line(question=["你好"]), "column 'question': must be text, is [\"你好\"]"),
    "object as intent": (line(user_intent={"a": 1}), "column 'user_intent': must be text, is {\"a\": 1}"),
    "boolean language": (line(language=True), "column 'language': must be text, is true"),
    "wrong type at length": (line(question=["x" * 500]), f"column 'question': must be text, is [\"{'x' * 58}"),
    "object as id": (line(id={"a": 1}), "column 'id': must be text, is {\"a\": 1}"),
    "boolean id": (line(id=True), "column 'id': must be text, is true"),
    # An unpaired surrogate is half a character: JSON can spell it, but no log and no request can hold it.
    "half a character": (line(question="a \ud83d b"), r"column 'question': '\ud83d' is half a character"),
    "half a character as id": (line(id="a\ud83d"), "column 'id': must be text, is \"a?\""),
    "half a character in a list": (line(question=["\ud83d"]), "column 'question': must be text, is [\"?\"]"),
    "no JSON": ("question: Why?\n", "not JSON: Expecting value (column 1)"),
    "cut short": (line()[:-3] + "\n", "not JSON: Unterminated string starting at (column 89)"),
    "two objects": (line().strip() + line(), "not JSON: Extra data (column 94)"),
    "raw control character": (
        line(question="Wh~y?").replace("~", "\t"),
        "not JSON: Invalid control character at (column ",
    ),
    "a list": ("[1, 2]\n", "not a JSON object"),
    "a text": ('"Why?"\n', "not a JSON object"),
    "null": ("null\n", "not a JSON object"),
    "too deep": ("[" * 100_000 + "\n", "not readable as JSON: "),
}


@pytest.mark.parametrize(("row", "fault"), CSV_ROWS.values(), ids=CSV_ROWS)
def test_an_invalid_csv_row_is_named_and_skipped_only_on_request(row: str, fault: str, write: Write) -> None:
    path = write("my.csv", HEADER + GOOD + row + GOOD)
    assert error_of(path) == f"{path}: line 3: {fault}\n{HINT}"
    data = read(path, lenient=True)
    assert data.skipped == (f"{path}: line 3: {fault}",)
    assert [case.id for case in data.cases] == ["my_0001", "my_0003"]  # a corrected row moves no id


@pytest.mark.parametrize(("row", "fault"), JSONL_ROWS.values(), ids=JSONL_ROWS)
def test_an_invalid_line_of_json_is_named_and_skipped_only_on_request(row: str, fault: str, write: Write) -> None:
    path = write("my.jsonl", line(id="a") + row + line(id="c"))
    first, *rest = error_of(path).splitlines()
    assert first.startswith(f"{path}: line 2: {fault}")
    assert rest == [HINT]
    first.encode()  # the message itself can be printed
    data = read(path, lenient=True)
    assert data.skipped == (first,)
    assert [case.id for case in data.cases] == ["a", "c"]


def test_a_number_of_too_many_digits_is_a_fault_and_no_crash(write: Write) -> None:
    path = write("my.jsonl", line() + line(question=7).replace("7", "7" * 5000))
    assert error_of(path).startswith(f"{path}: line 2: ")


# --- duplicate ids ---


@pytest.mark.parametrize(
    ("first", "second"),
    [("a", "a"), ("a", " a "), (7, "7"), (7, 7), (None, "my_0001"), ("my_0002", None)],
    ids=repr,
)
def test_a_duplicate_id_names_the_line_that_has_it(first: object, second: object, write: Write) -> None:
    path = write("my.jsonl", line(id=first) + line(id=second))
    taken = "my_0001" if first is None else str(first)
    assert error_of(path) == f"{path}: line 2: column 'id': '{taken}' is taken by line 1\n{HINT}"


# --- faulty files ---


@pytest.mark.parametrize("column", ["question", "reference_ans", "user_intent", "language"])
def test_a_missing_csv_column_is_named_before_any_row(column: str, write: Write) -> None:
    present = [name for name in HEADER.strip().split(",") if name != column]
    path = write("my.csv", ",".join(present) + "\na,b,c\n")
    for lenient in (False, True):
        assert error_of(path, lenient) == (
            f"{path}: line 1: column '{column}' is missing; the header has: {', '.join(present)}"
        )


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("my.csv", "", "the file is empty"),
        ("my.csv", "question," + HEADER + GOOD, "line 1: the header names a column twice: question"),
        ("my.csv", "\ufeff", "the file is empty"),
        ("my.csv", "\r\n \n", "the file is empty"),
        ("my.csv", HEADER.replace(",", ";") + GOOD, "line 1: the cells are separated by semicolons; save it as CSV"),
        ("my.csv", HEADER.replace(",", "\t") + GOOD, "line 1: the cells are separated by tabs; save it as CSV"),
        ("my.csv", HEADER, "no usable case"),
        ("my.jsonl", "", "no usable case"),
        ("my.jsonl", "\n \n", "no usable case"),
        # Broken UTF-8: the line is that of the byte, with and without a byte order mark.
        ("my.csv", HEADER.encode() + GOOD.encode() + b"Wh\xff?,Because.,Leisure,EN\n", "line 3: byte 71 is not UTF-8"),
        ("my.csv", HEADER.encode() + b"caf\xe9,Because.,Leisure,EN\n", "line 2: byte 47 is not UTF-8"),
        ("my.csv", b"\xef\xbb\xbf" + HEADER.encode() + b"\xff,Because.,Leisure,EN\n", "line 2: byte 44 is not UTF-8"),
        ("my.jsonl", line().encode() + b'{"question": "\xe4\xbd"}\n', "line 2: byte 108 is not UTF-8"),
        ("my.csv", (HEADER + GOOD).encode("utf-16"), "is text in UTF-16; save it in UTF-8"),
        ("my.jsonl", line().encode("utf-16-be"), "is text in UTF-16; save it in UTF-8"),
        ("my.csv", (HEADER + GOOD).encode("utf-16-le"), "is text in UTF-16; save it in UTF-8"),
        ("my.csv", b"PK\x03\x04" + bytes(100), "is an Excel workbook or another ZIP archive; save it as CSV in UTF-8"),
        ("my.csv", b"\xd0\xcf\x11\xe0" + bytes(100), "is an old Excel workbook; save it as CSV in UTF-8"),
        ("my.jsonl", LFS, "is a Git LFS pointer and not the file itself; `git lfs pull` gets it"),
        ("my.csv", HEADER + GOOD + "Wh\0y?,Because.,Leisure,EN\n", "line 3: NUL byte"),
        ("my.jsonl", line() + line() + "{\0}\n", "line 3: NUL byte"),
        (
            "my.csv",
            HEADER + GOOD + f'"{GOOD * 6}',
            "line 3: not readable as CSV: a quotation mark opens a cell and none",
        ),
        ("my.csv", f'"{HEADER}', "line 1: not readable as CSV: a quotation mark opens a cell and none closes it"),
        ("my.csv", "q" * 10_000_001, "line 1: a cell has more than 10,000,000 characters"),
        ("my.csv", HEADER + GOOD + "q" * 10_000_001, "line 3: a cell has more than 10,000,000 characters"),
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
    assert lines[0] == f"{path}: no usable case"
    assert lines[1].startswith(f"{path}: line 1: not JSON")
    assert lines[2] == f"{path}: line 2: column 'question': empty"
    assert lines[3].startswith(f"{path}: line 3: column 'language': unknown language 'xx'")
    assert len(lines) == 22
    assert lines[-1] == "... and 12 more"


def test_rows_without_content_are_no_fault(write: Write) -> None:
    table = read(write("my.csv", HEADER + ",,,\n" + GOOD + " , ,,\n\n" + GOOD + ",,,,,\n"))
    lines = read(write("my.jsonl", line() + "{}\n" + '{"question": "", "intent": null}\n' + line()))
    assert [case.id for case in table.cases] == ["my_0001", "my_0002"]
    assert [case.id for case in lines.cases] == ["my_0001", "my_0002"]


def test_a_workbook_is_named_for_what_it_is(write: Write) -> None:
    message = error_of(write("my.XLSX", "anything"))
    assert "cannot read '.XLSX' files; allowed: .csv, .jsonl" in message
    assert "a workbook: save it as CSV in UTF-8" in message


@pytest.mark.parametrize("name", ["my.json", "my.tsv", "my"])
def test_a_file_of_another_kind_is_refused_and_the_readable_kinds_are_named(name: str, write: Write) -> None:
    path = write(name, HEADER + GOOD)
    assert error_of(path) == f"{path}: cannot read '{path.suffix}' files; allowed: .csv, .jsonl"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for path in (tmp_path / "absent.csv", tmp_path / "absent.jsonl", tmp_path / "folder.csv"):
        assert error_of(path) == f"no data file '{path}' (looked for {path.absolute()})"


# --- the line that is named is the line that an editor shows ---


@pytest.mark.parametrize(
    ("rows", "faulty_line"),
    [
        ('"one\ntwo\n\nfour",Because.,Leisure,EN\n,b,Leisure,EN\n', 6),  # a cell of four lines
        (f"{GOOD}\n\n\n,b,Leisure,EN\n", 6),  # blank lines
        (f'\n"one\n\nthree",Because.,Leisure,EN\n\n{GOOD},b,Leisure,EN\n', 8),  # both
        (f'{GOOD},"one\ntwo",Leisure,EN\n', 3),  # the faulty row has several lines itself: its first
        (f"{GOOD}\r\n\r\n,b,Leisure,EN\r\n".replace("EN\n", "EN\r\n"), 5),
    ],
)
def test_a_faulty_csv_row_is_named_by_its_first_line_in_the_file(rows: str, faulty_line: int, write: Write) -> None:
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


def as_csv(rows: list[tuple[str, str]], newline: str, quoting: int = csv.QUOTE_MINIMAL) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=newline, quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(HEADER.strip().split(","))
    writer.writerows((question, reference, "Leisure", "EN") for question, reference in rows)
    return out.getvalue()


@given(rows=cases, newline=st.sampled_from(["\n", "\r\n"]), blank=st.integers(0, 3))
def test_the_line_named_holds_the_faulty_row(rows: list[tuple[str, str]], newline: str, blank: int) -> None:
    table = as_csv(rows, newline, csv.QUOTE_ALL)
    content = table + newline * blank + f"FAULTY,,Leisure,EN{newline}" + GOOD

    def check(path: Path) -> None:
        [first, _] = error_of(path).splitlines()
        number = int(first.removeprefix(f"{path}: line ").partition(":")[0])
        assert re.split("\r\n|\r|\n", content)[number - 1] == "FAULTY,,Leisure,EN"

    in_file("my.csv", content, check)


# --- good files ---


@given(rows=cases, newline=st.sampled_from(["\n", "\r\n"]), mark=st.sampled_from(["", "\ufeff"]))
def test_a_csv_table_is_read_to_the_letter(rows: list[tuple[str, str]], newline: str, mark: str) -> None:
    def check(path: Path) -> None:
        assert [(case.question, case.reference) for case in read(path).cases] == rows

    in_file("my.csv", mark + as_csv(rows, newline, csv.QUOTE_ALL), check)


@given(
    rows=cases,
    newline=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(["", "\ufeff"]),
    escaped=st.booleans(),
)
def test_lines_of_json_are_read_to_the_letter(
    rows: list[tuple[str, str]], newline: str, mark: str, escaped: bool
) -> None:
    lines = [
        json.dumps({"question": q, "reference_ans": r, "user_intent": "API", "language": "CN"}, ensure_ascii=escaped)
        for q, r in rows
    ]

    def check(path: Path) -> None:
        assert [(case.question, case.reference) for case in read(path).cases] == rows

    in_file("my.jsonl", mark + newline.join(lines), check)


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1e"])
def test_separators_that_python_counts_as_line_ends_do_not_cut_strings(separator: str, write: Write) -> None:
    # JSON allows U+2028 raw inside strings, str.splitlines() would cut there; control characters must be escaped.
    row = {"question": f"a{separator}b", "reference": "r", "intent": "api", "language": "zh"}
    path = write("my.jsonl", json.dumps(row, ensure_ascii=False) + "\n" + line(question=""))
    assert error_of(path).startswith(f"{path}: line 2: column 'question': empty")
    assert read(path, lenient=True).cases[0].question == f"a{separator}b"
    table = write("my.csv", HEADER + f"a{separator}b,r,API,CN\n")
    assert read(table).cases[0].question == f"a{separator}b"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_mark_do_not_matter_to_csv(newline: str, mark: str, write: Write) -> None:
    data = read(write("my.csv", mark + (HEADER + GOOD + GOOD).replace("\n", newline)))
    assert data.cases == (
        UrsCase("my_0001", "Why?", "Because.", "leisure", "en"),
        UrsCase("my_0002", "Why?", "Because.", "leisure", "en"),
    )


@pytest.mark.parametrize("reference", ["reference_ans", "reference"])
@pytest.mark.parametrize("intent", ["user_intent", "intent"])
def test_columns_may_bear_either_name_and_any_order(reference: str, intent: str, write: Write) -> None:
    expected = (UrsCase("my_0001", "Why?", "Because.", "ask_for_advice", "zh"),)
    table = f"language,{intent},note,{reference},question\nCN,Ask_for_Advice,ignored,Because.,Why?\n"
    assert read(write("my.csv", table)).cases == expected
    row = {"language": "zh", intent: "ask for advice", "note": 7, reference: "Because.", "question": "Why?"}
    assert read(write("my.jsonl", json.dumps(row))).cases == expected


def test_empty_cells_beyond_the_header_are_what_spreadsheets_write(write: Write) -> None:
    path = write("my.csv", HEADER + GOOD.strip() + ",, \n")
    assert len(read(path).cases) == 1


def test_a_cell_may_be_long_and_a_line_of_json_longer(write: Write) -> None:
    before = csv.field_size_limit()
    assert len(read(write("my.csv", HEADER + "q" * 9_900_000 + ",r,API,CN\n")).cases[0].question) == 9_900_000
    assert csv.field_size_limit() == before
    assert len(read(write("my.jsonl", line(question="q" * 1_000_000))).cases[0].question) == 1_000_000


# --- ids, name and hash ---


@pytest.mark.parametrize(("given_id", "expected"), [("q-1", "q-1"), (" q ", "q"), (17, "17"), ("", "my_0002")])
def test_a_given_id_is_kept_and_an_empty_one_is_numbered_by_row(given_id: object, expected: str, write: Write) -> None:
    assert read(write("my.jsonl", line() + line(id=given_id))).cases[1].id == expected
    table = f"{HEADER.strip()},id\n{GOOD.strip()},\n{GOOD.strip()},{given_id}\n"
    assert read(write("my.csv", table)).cases[1].id == expected


@pytest.mark.parametrize(("given_country", "expected"), [("Kenya", "Kenya"), (" DE\t", "DE"), ("", ""), (" ", "")])
def test_a_country_is_kept_and_may_be_blank(given_country: str, expected: str, write: Write) -> None:
    assert read(write("my.jsonl", line(country=given_country))).cases[0].country == expected
    table = f"{HEADER.strip()},country\n{GOOD.strip()},{given_country}\n"
    assert read(write("my.csv", table)).cases[0].country == expected
    assert read(write("none.jsonl", line() + line(country=None))).cases[1].country == ""


# --- many faults ---


@pytest.mark.parametrize(("faulty", "shown", "more"), [(20, 20, []), (21, 20, ["... and 1 more"]), (45, 20, None)])
def test_more_than_twenty_faults_are_shortened(faulty: int, shown: int, more: list[str] | None, write: Write) -> None:
    path = write("my.csv", HEADER + GOOD + ",Because.,Leisure,FR\n" * faulty)
    *lines, hint = error_of(path).splitlines()
    assert hint == HINT
    assert [text.partition(": column")[0] for text in lines[:shown]] == [f"{path}: line {n}" for n in range(3, 23)]
    assert lines[shown:] == (["... and 25 more"] if more is None else more)
    assert len(read(path, lenient=True).skipped) == faulty  # one line a row, however many faults it has


# --- without references ---


def test_references_may_be_missing_where_none_are_needed(write: Write) -> None:
    for missing in (..., None, " "):
        path = write("own.jsonl", line(reference_ans=missing))
        assert "column 'reference_ans'" in error_of(path)
        assert [case.reference for case in _without(path).cases] == [""]
    path = write("own.csv", "question,user_intent,language\nWhy?,Leisure,EN\n")
    assert [case.reference for case in _without(path).cases] == [""]
    assert [case.reference for case in _without(write("full.csv", HEADER + GOOD)).cases] == ["Because."]
    with pytest.raises(InputError, match="must be text"):
        _without(write("odd.jsonl", line(reference_ans=5)))


def _without(path: Path) -> UrsData:
    return read_cases(path, "my data", vocabulary(), id_prefix="my", need_references=False)


# Han characters, and the punctuation that only East Asian text uses.
CJK = re.compile("[\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef]")

# Rows by intent, as published.
URS_INTENTS = {
    "factual_qa": 573,
    "solve_professional_problem": 500,
    "api": 28,
    "ask_for_advice": 269,
    "seek_creativity": 193,
    "leisure": 159,
    "text_assistant": 124,
}


@pytest.fixture
def urs_vocabulary(rubric: Rubric) -> Vocabulary:
    return Vocabulary(rubric.intent_id, rubric.language_code)


@pytest.fixture
def published(data_dir: Path, urs_vocabulary: Vocabulary) -> UrsData:
    return load_urs("urs", urs_vocabulary)


@pytest.fixture
def sample(urs_vocabulary: Vocabulary) -> UrsData:
    return load_urs("sample", urs_vocabulary)


# --- the published file ---


@pytest.mark.data
def test_the_published_file_holds_the_published_counts(published: UrsData) -> None:
    assert len(published.cases) == 1846 == sum(URS_INTENTS.values())
    assert Counter(case.language for case in published.cases) == {"en": 1014, "zh": 832}
    assert Counter(case.intent for case in published.cases) == URS_INTENTS
    assert (published.name, published.sha256, published.skipped) == ("urs", URS.sha256, ())


@pytest.mark.data
def test_published_cases_hold_their_row_to_the_letter(published: UrsData, data_dir: Path, rubric: Rubric) -> None:
    with (data_dir / "urs" / "data_all.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    languages = {"EN": "en", "CN": "zh"}
    assert [(case.question, case.reference, case.intent, case.language) for case in published.cases] == [
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
    assert {row["user_intent"] for row in rows} == {intent.label for intent in rubric.intents.values()}


# --- the embedded sample ---


def test_the_sample_has_three_cases_of_every_intent_and_language(sample: UrsData) -> None:
    # 7 intents x 2 languages x 3 = 42
    assert Counter((case.intent, case.language) for case in sample.cases) == {
        (intent, language): 3 for intent in URS_INTENTS for language in ("en", "zh")
    }
    assert (sample.name, len(sample.cases), sample.skipped) == ("sample", 42, ())


def test_the_sample_repeats_no_id_question_or_reference(sample: UrsData) -> None:
    for part in ("id", "question", "reference"):
        assert len({getattr(case, part).strip() for case in sample.cases}) == 42


def test_sample_ids_say_intent_language_and_number(sample: UrsData) -> None:
    for case in sample.cases:
        assert re.fullmatch(rf"sample_{case.intent}_{case.language}_[123]", case.id)


def test_sample_cases_are_written_in_their_language(sample: UrsData) -> None:
    for case in sample.cases:
        if case.language == "en":
            assert not CJK.search(case.question + case.reference), case.id
        else:
            assert CJK.search(case.question), case.id


def test_sample_references_answer_and_do_not_echo(sample: UrsData) -> None:
    for case in sample.cases:
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
    tmp_path: Path, urs_vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "night shift.CSV"
    path.write_text("question,reference,intent,language\n,Because.,leisure,en\n Why?\t,Because.,leisure,en\n")
    with pytest.raises(InputError, match="line 2: column 'question': empty"):
        load_urs(str(path), urs_vocabulary)
    data = load_urs("~/night shift.CSV", urs_vocabulary, lenient=True)
    assert (data.name, data.sha256) == ("~/night shift.CSV", hashlib.sha256(path.read_bytes()).hexdigest())
    assert [(case.id, case.question) for case in data.cases] == [("night shift_0002", " Why?\t")]
    assert len(data.skipped) == 1


@pytest.mark.parametrize("name", ["nope", "URS", "urs.json", "", "sample.tsv"])
def test_an_unknown_dataset_is_an_error_that_names_what_is_allowed(name: str, urs_vocabulary: Vocabulary) -> None:
    with pytest.raises(InputError) as caught:
        load_urs(name, urs_vocabulary)
    assert str(caught.value) == (
        f"unknown dataset '{name}'; allowed: urs, sample, or the path of a .csv or .jsonl file"
    )
