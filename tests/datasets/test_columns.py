"""Labelled files under their own names of columns and labels."""

import json
import logging
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.datasets.conftest import WriteRows
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.datasets import PREFERENCES, PairCase, RatingCase, load_pairs, load_ratings
from urs_inspect.datasets._columns import first_few, guess_columns, guess_kind, majority
from urs_inspect.datasets._rows import Row

FOREIGN: dict[str, object] = {
    "question": "Why?",
    "response_A": "Because.",
    "response_B": "It is so.",
    "verdict": "A>B",
}
COLUMNS: dict[str, Any] = {
    "prompt": "question",
    "response_a": "response_A",
    "response_b": "response_B",
    "label": "verdict",
    "labels": {"A>B": "a", "B>A": "b", "A=B": "tie", "bad": "none"},
}


def foreign(**changes: object) -> dict[str, object]:
    return FOREIGN | changes


def labels_of(path: Path, columns: object = COLUMNS) -> list[str]:
    return [case.label for case in load_pairs(str(path), columns=columns).cases]  # type: ignore[arg-type]


def error_of(path: Path, columns: object = COLUMNS) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_pairs(str(path), columns=columns)  # type: ignore[arg-type]
    return str(caught.value).splitlines()


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv"])
def test_columns_and_labels_are_read_under_the_names_of_the_file(
    ending: str, write_rows: WriteRows, tmp_path: Path
) -> None:
    rows = [foreign(verdict=label) for label in ("A>B", " b>a ", "A=B")]
    lines = [",".join(FOREIGN), *[",".join(map(str, row.values())) for row in rows]]
    path = tmp_path / f"my.{ending}"
    texts = {"json": json.dumps(rows, indent=1), "jsonl": "\n".join(map(json.dumps, rows))}
    path.write_text(texts.get(ending, "\n".join(lines)), "utf-8")
    names = tmp_path / "names.yaml"
    names.write_text(json.dumps(COLUMNS), "utf-8")
    for columns in (COLUMNS, json.dumps(COLUMNS), str(names)):
        data = load_pairs(str(path), columns=columns)
        assert data.cases == tuple(
            PairCase(f"my_000{n}", "Why?", "Because.", "It is so.", label, "all")
            for n, label in enumerate(PREFERENCES, start=1)
        )


def test_the_hash_is_that_of_file_and_meaning(write_rows: WriteRows) -> None:
    path = write_rows("my.jsonl", [foreign()])
    swapped = COLUMNS | {"labels": {"A>B": "b"}}
    same = COLUMNS | {"labels": dict(reversed(COLUMNS["labels"].items()))}
    hashes = [load_pairs(str(path), columns=columns).sha256 for columns in (COLUMNS, same, swapped)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_rows_without_a_verdict_or_a_text_are_left_out_and_said_once(
    write_rows: WriteRows, caplog: pytest.LogCaptureFixture
) -> None:
    changes: list[dict[str, object]] = [
        {},
    ]
    changes += [{"response_A": value} for value in (True, True, True, True, None, 7)]
    changes += [{"verdict": value} for value in ("bad", "", None, float("nan"), " ")]
    path = write_rows("my.jsonl", [foreign(**change) for change in changes])
    with caplog.at_level(logging.WARNING):
        data = load_pairs(str(path), columns=COLUMNS)
    assert [case.id for case in data.cases] == ["my_0001"]
    assert len(data.skipped) == len(changes) - 1
    [record] = caplog.records
    assert tells(record.message, "11 of 12 rows: ... 'response_A' ... true: 4 (my_0002, my_0003")
    assert tells(record.message, 'label "bad": 1 (my_0008) ... label: 4 (my_0009')


RATERS: list[tuple[list[object], str, str]] = [
    ([1, 1, 2], "a", "2 of 3 agree"),
    (["2", 2, 2.0], "b", "all 3 agree"),
    ([0, 0, 1], "tie", "2 of 3 agree"),
    ([0, 1, 2], "tie", "no majority"),
    ([1, None, 2], "tie", "no majority"),
    ([None, 2, ""], "b", "all"),
    ([1, 1, None], "a", "all 2 agree"),
]


@pytest.mark.parametrize(("votes", "label", "group"), RATERS)
def test_most_of_several_raters_count_and_their_agreement_is_the_group(
    votes: list[object], label: str, group: str, write_rows: WriteRows
) -> None:
    columns = COLUMNS | {"label": ["x", "y", "z"], "labels": {0: "tie", 1: "a", 2: "b"}}
    row = foreign(**dict(zip("xyz", votes, strict=True)))
    [case] = load_pairs(str(write_rows("my.jsonl", [row])), columns=columns).cases
    assert (case.label, case.group) == (label, group)
    named = load_pairs(
        str(write_rows("g.jsonl", [row | {"subset": "hard"}])),
        columns=columns | {"group": "subset"},
    )
    assert named.cases[0].group == "hard"


def test_a_majority_does_not_depend_on_the_order_of_raters() -> None:
    assert majority(["a", "b", "b"]) == majority(["b", "a", "b"]) == majority(["b", "b", "a"])
    assert majority(["a", "b"]) == majority(["b", "a"])


def test_weighted_preferences_are_read_by_bounds(write_rows: WriteRows) -> None:
    given = [1, 1.0003, 1.499, 1.5, "1.51", 1.9998, 2, "2"]
    columns = COLUMNS | {"labels": {"<1.5": "a", 1.5: "tie", "> 1.5": "b"}}
    path = write_rows("my.jsonl", [foreign(verdict=value) for value in given])
    assert labels_of(path, columns) == ["a", "a", "a", "tie", "b", "b", "b", "b"]
    [message] = error_of(write_rows("x.jsonl", [foreign(verdict="high")]), columns)
    assert tells(message, "line 1: column 'verdict': ... \"high\"; allowed: <1.5, 1.5, > 1.5")


def test_parts_of_a_prompt_are_joined_without_blank_ones(write_rows: WriteRows) -> None:
    rows = [foreign(more=more) for more in ("Say it.", " ", None)] + [foreign()]
    columns = COLUMNS | {"prompt": ["question", "more"]}
    cases = load_pairs(str(write_rows("my.jsonl", rows)), columns=columns).cases
    assert [case.prompt for case in cases] == ["Why?\n\nSay it.", "Why?", "Why?", "Why?"]


def test_columns_that_are_named_are_no_ignored_ones_and_null_is_not_read(
    write_rows: WriteRows,
) -> None:
    rows = [foreign(context="So far.", id="same")] * 2
    path = write_rows("my.jsonl", rows)
    assert tells("\n".join(error_of(path)), "column 'context' changes what is asked")
    columns = COLUMNS | {"prompt": ["context", "question"]}
    assert tells("\n".join(error_of(path, columns)), "'same' is taken by line 1")
    assert len(labels_of(path, columns | {"id": None})) == 2


def test_ids_and_groups_may_stand_in_a_column_that_is_read_as_something_else(
    write_rows: WriteRows,
) -> None:
    rows = [foreign(question=f"Why {number}?", verdict=label) for number, label in enumerate("AB")]
    columns = COLUMNS | {"id": "question", "group": "verdict", "labels": {"A": "a", "B": "b"}}
    data = load_pairs(str(write_rows("my.jsonl", rows)), columns=columns)
    assert [(case.id, case.prompt, case.group, case.label) for case in data.cases] == [
        ("Why 0?", "Why 0?", "A", "a"),
        ("Why 1?", "Why 1?", "B", "b"),
    ]


MISTAKEN: list[tuple[object, list[str]]] = [
    ({"promt": "question"}, ["columns: ... 'promt' ... prompt?); allowed: prompt, "]),
    ({"prompt": 1.5}, ["columns: prompt: must be ... 1.5"]),
    ({"response_a": ["x", "y"]}, ["columns: response_a: must be ... [\"x\""]),
    ({"label": ["x", "x"]}, ["columns: label: must be ... different"]),
    ({"response_a": "x", "response_b": "x"}, ["columns: response_a, response_b ... 'x'"]),
    ({"labels": {"A": "frist"}}, ["columns: labels: \"A\": ... \"frist\"; allowed: a, b, tie, none"]),
    ({"labels": {"A": "a", " a": "b"}}, ["columns: labels: ..."]),
    ({"labels": []}, ["columns: labels: must be ..."]),
    ({"x": 1, "label": 2.5}, ["columns: ... 'x'", "columns: label: ..."]),
    ({}, ["columns: must be a mapping"]),
    ("{a: [", ["columns: not valid YAML"]),
    ("nowhere.yaml", ["columns: no file 'nowhere.yaml'"]),
    (COLUMNS | {"prompt": "qestion"}, ["columns: prompt: ... 2 rows ... 'qestion' (did you mean question?)", "there are: "]),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "expected"), MISTAKEN)
def test_a_mistaken_mapping_is_named_with_what_is_allowed(
    columns: object, expected: list[str], write_rows: WriteRows
) -> None:
    errors = error_of(write_rows("my.jsonl", [foreign()] * 2), columns)
    assert len(errors) == len(expected)
    for error, telling in zip(errors, expected, strict=True):
        assert tells(error, telling)


def test_labels_without_a_meaning_are_counted_once_per_file(write_rows: WriteRows) -> None:
    rows = [foreign(verdict=label) for label in ["A>B", *["A>>B"] * 30, "C"]]
    [message] = error_of(write_rows("my.jsonl", rows))
    assert tells(message, "lines 2, 3, 4 and 28 more: column 'verdict': ... \"A>>B\"")
    assert tells(message, 'did you mean a>b ... (30 times), "C"; allowed: a>b, ')


def test_a_file_without_a_mapping_is_told_what_could_be_given(write_rows: WriteRows) -> None:
    with pytest.raises(InputError) as caught:
        load_pairs(str(write_rows("my.jsonl", [foreign()] * 30)))
    first, second = str(caught.value).splitlines()
    assert tells(first, "'prompt', 'response_a', 'response_b', 'label' ... all of 30 rows")
    assert tells(
        second, "-T columns='{prompt: question, ... label: verdict, labels: {\"A>B\": a}}'"
    )


def test_a_published_benchmark_takes_no_mapping() -> None:
    for load in (load_pairs, load_ratings):
        with pytest.raises(InputError, match=r"^columns: "):
            load("hhh" if load is load_pairs else "flask", columns={"prompt": "x"})


def test_ratings_of_several_raters_are_their_mean(write_rows: WriteRows) -> None:
    rows: list[dict[str, object]] = [
        {"question": "Why?", "response": "So.", "x": 1, "y": "4"},
        {"question": "Why?", "response": "So.", "x": None, "y": 5},
        {"question": "Why?", "response": "So.", "x": None, "y": None},
        {"question": "Why?", "response": False, "x": 1, "y": 1},
    ]
    path = write_rows("my.jsonl", rows)
    columns = {"prompt": "question", "rating": ["x", "y"]}
    data = load_ratings(str(path), scale=(1, 5), columns=columns)
    assert data.cases == (
        RatingCase("my_0001", "Why?", "So.", 2.5, "all"),
        RatingCase("my_0002", "Why?", "So.", 5, "all"),
    )
    assert [line.partition(":")[0] for line in data.skipped] == ["my_0003", "my_0004"]
    with pytest.raises(InputError, match="unknown key 'labels'"):
        load_ratings(str(path), scale=(1, 5), columns={"labels": {"x": "a"}})


def test_a_json_file_that_is_no_list_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "my.json"
    for text in (json.dumps({"data": [FOREIGN]}, indent=1), "a,b\n1,2\n", '"text"'):
        path.write_text(text, "utf-8")
        assert len(error_of(path)) == 1


GUESSED: list[tuple[list[object], dict[str, str]]] = [
    ([1, 2, "a", "TIE"], {}),
    (["A>B", "B>A", "A = B"], {"A = B": "tie", "A>B": "a", "B>A": "b"}),
    (["A>>B", "B>>A"], {"A>>B": "a", "B>>A": "b"}),
    (["left", "right", "both bad"], {"both bad": "tie", "left": "a", "right": "b"}),
    (["response_1", "output_2"], {"output_2": "b", "response_1": "a"}),
    (["bad", "good"], {"bad": "?", "good": "?"}),
    ([0, 1], {"0": "?", "1": "?"}),
    ([1.25, 2, 1], {"<1.5": "a", "1.5": "tie", ">1.5": "b"}),
    ([0.25, 1], {"<0.5": "?", "0.5": "tie", ">0.5": "?"}),
    ([1.5, 2.5], {"<0.5": "?", "0.5": "tie", ">0.5": "?"}),
    ([0.5, 2], {"<0.5": "?", "0.5": "tie", ">0.5": "?"}),
    ([f"label {n}" for n in range(13)], {}),
    (
        [f"grade {letter}" for letter in "defghijklmno"],
        {f"grade {letter}": "?" for letter in "defghijklmno"},
    ),
]


@pytest.mark.parametrize(("labels", "meanings"), GUESSED)
def test_meanings_of_labels_are_guessed_only_where_they_are_plain(
    labels: list[object], meanings: dict[str, str]
) -> None:
    rows = [Row(n, foreign(verdict=label)) for n, label in enumerate(labels)]
    guess = guess_columns("pairs", rows)
    assert guess.labels == meanings
    assert guess.is_open == ("?" in meanings.values())


def test_texts_with_one_answer_and_no_label_are_answers() -> None:
    guess = guess_kind([Row(1, {"instruction": "Why?", "output": "So.", "generator": "m"})])
    assert guess is not None and guess.kind == "answers"
    assert guess_kind([Row(1, {"x": 1})]) is None


@pytest.mark.data
def test_panda_lm_as_a_file_of_ones_own_is_the_named_set(data_dir: Path) -> None:
    path = data_dir / "real_judges/pandalm/testset-v1.json"
    columns = {
        "prompt": ["instruction", "input"],
        "response_a": "response1",
        "response_b": "response2",
        "label": ["annotator1", "annotator2", "annotator3"],
        "labels": {0: "tie", 1: "a", 2: "b"},
    }
    data = load_pairs(str(path), columns=columns)
    named = load_pairs("panda_lm")
    assert [replace(case, id="") for case in data.cases] == [
        replace(case, id="") for case in named.cases
    ]
    # 999 rows less 6 with a response that is no text
    assert Counter(case.group for case in data.cases) == {"all 3 agree": 877, "2 of 3 agree": 116}


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "columns", "labels"),
    [
        (
            "judgebench/dataset=judgebench,response_model=gpt-4o-2024-05-13.jsonl",
            {
                "prompt": "question",
                "response_a": "response_A",
                "response_b": "response_B",
                "labels": {"A>B": "a", "B>A": "b"},
            },
            {"a": 193, "b": 157},
        ),
        (
            "llmbar/Natural/dataset.json",
            {"prompt": "input", "response_a": "output_1", "response_b": "output_2"},
            {"a": 42, "b": 58},
        ),
    ],
)
def test_published_files_are_read_as_they_are(
    file: str, columns: dict[str, Any], labels: dict[str, int], data_dir: Path
) -> None:
    path = data_dir / "real_judges" / file
    assert Counter(labels_of(path, columns)) == labels


def test_a_value_on_a_bound_is_on_neither_side_of_it(write_rows: WriteRows) -> None:
    columns = COLUMNS | {"labels": {"<1.5": "a", ">2.5": "b"}}
    path = write_rows("my.jsonl", [foreign(verdict=value) for value in (1.49, 2.51)])
    assert labels_of(path, columns) == ["a", "b"]
    for value in (1.5, 2.5, 2):
        [message] = error_of(write_rows("x.jsonl", [foreign(verdict=value)]), columns)
        assert tells(message, f"'verdict': ... {value}; allowed: <1.5, >2.5")


def test_a_number_with_a_label_of_its_own_has_that_whatever_bounds_cover_it(
    write_rows: WriteRows,
) -> None:
    columns = COLUMNS | {"labels": {"<3": "a", 2: "tie", "> 1": "b"}}
    path = write_rows("my.jsonl", [foreign(verdict=value) for value in (1.5, 2, "2.0", 2.5, 3, 4)])
    # The first bound that covers a number counts.
    assert labels_of(path, columns) == ["a", "tie", "a", "a", "b", "b"]


def test_a_part_of_a_prompt_that_is_no_text_is_refused(write_rows: WriteRows) -> None:
    columns = COLUMNS | {"prompt": ["question", "more"]}
    [message] = error_of(write_rows("my.jsonl", [foreign(more=7)]), columns)
    assert tells(message, "line 1: column 'question, more': ... text ... 7")


@pytest.mark.parametrize(
    ("names", "few"),
    [("", ""), ("a", "a"), ("abc", "a, b, c"), ("abcd", "a, b, c, ..."), ("abcde", "a, b, c, ...")],
)
def test_the_first_three_names_are_shown(names: str, few: str) -> None:
    assert first_few(list(names)) == few


KINDS: list[tuple[dict[str, object], str | None, dict[str, object]]] = [
    (
        {
            "instruction": "Why?",
            "input": "Here",
            "response1": "x",
            "response2": "y",
            "annotator1": 1,
        },
        "pairs",
        {"prompt": ["instruction", "input"], "response_a": "response1", "response_b": "response2"},
    ),
    ({"question": "Why?", "model_a": "x", "model_b": "y"}, "pairs", {"label": "?"}),
    ({"Question": "Why?", "Out-put": "x", "Human Score": 3}, "ratings", {"rating": "Human Score"}),
    ({"query": "Why?", "generation": "x", "rater1": 3, "rater2": 4}, "ratings", {}),
    ({"query": "Why?", "completion": "x"}, "answers", {"prompt": "query"}),
    ({"query": "Why?"}, None, {}),
    ({"response": "x"}, None, {}),
]


@pytest.mark.parametrize(("row", "kind", "said"), KINDS)
def test_kinds_of_tables_are_told_by_their_columns(
    row: dict[str, object], kind: str | None, said: dict[str, object]
) -> None:
    guess = guess_kind([Row(1, row)])
    assert (guess and guess.kind) == kind
    if guess is not None:
        assert {key: guess.mapping.get(key) for key in said} == said


def test_columns_of_several_raters_are_guessed_where_no_single_one_is_there() -> None:
    row: dict[str, object] = {"query": "Why?", "generation": "x", "rater1": 3, "rater_2": 4}
    guess = guess_columns("ratings", [Row(1, row)])
    assert guess.columns["rating"] == ("rater1", "rater_2")
    assert guess_columns("ratings", [Row(1, row | {"score": 1})]).columns["rating"] == ("score",)


def test_a_table_under_the_usual_names_needs_no_mapping() -> None:
    usual: dict[str, object] = {
        "prompt": "Why?",
        "response_a": "x",
        "response_b": "y",
        "label": "a",
    }
    assert not guess_columns("pairs", [Row(1, usual)]).is_needed
    assert guess_columns("pairs", [Row(1, usual | {"label": "first"})]).is_needed
    lacking = guess_columns("pairs", [Row(1, {"prompt": "Why?"})])
    assert not lacking.is_needed and lacking.is_open
    quoted = guess_columns("pairs", [Row(1, usual | {"label": "it's a"})])
    assert quoted.argument.startswith("-T columns='{") and "'\"'\"'" in quoted.argument
