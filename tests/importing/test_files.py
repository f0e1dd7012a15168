"""What `import` makes of single rows, columns, names and places, by tables."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalSample

from tests.reports.golden_files import check_golden
from tests.reports.json_files import write_rows
from urs_inspect._util import InputError
from urs_inspect.datasets._rows import Row, read_table
from urs_inspect.importing._answers import (
    ImportedAnswer,
    free_place,
    known_answers,
    log_places,
    made_log,
    read_answers_file,
    read_questions,
    sample_ids,
    samples_by_model,
    write_answers,
)
from urs_inspect.importing._files import ImportedFile, Naming
from urs_inspect.importing._pairs import (
    ImportedVerdict,
    pairs_of,
    read_pairs_file,
    write_verdicts,
)
from urs_inspect.importing._recognition import importable
from urs_inspect.importing._scores import read_scores_file, score_logs
from urs_inspect.logs._battles import write_copy
from urs_inspect.logs._comparisons import read_comparisons

NOTHING: Mapping[Any, Any] = {}


def file_of(
    folder: Path, *rows: Mapping[str, Any], name: str = "v.jsonl", **how: Any
) -> ImportedFile:
    return Naming(**how).read(write_rows(folder / name, *rows))


# --- scores ---


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("C", "C"),
        ("P", "P"),
        ("I", "I"),
        ("N", "N"),
        (" C ", "C"),
        ("true", True),
        ("False", False),
        ("yes", True),
        ("NO", False),
        (True, True),
        (3, 3.0),
        ("0", 0.0),
        ("1.5", 1.5),
        (-2, -2.0),
    ],
)
def test_scores_are_letters_truth_values_and_numbers(
    tmp_path: Path, written: Any, read: Any
) -> None:
    row = {"question": "Ask", "model": "m", "judge": "j", "score": written}
    scores: dict[Any, Any] = {}
    read_scores_file(file_of(tmp_path, row), [], None, NOTHING, scores, [])
    [(_, value)] = scores.values()
    assert value == read
    assert type(value) is type(read)


@pytest.mark.parametrize("written", ["good", "inf", "c", "4/5", "[1]"])
def test_what_is_no_score_is_refused(tmp_path: Path, written: Any) -> None:
    row = {"question": "Ask", "model": "m", "judge": "j", "score": written}
    with pytest.raises(InputError) as refused:
        read_scores_file(file_of(tmp_path, row), [], None, NOTHING, {}, [])
    assert written in refused.value.message


@pytest.mark.parametrize("written", ["", "  ", None, "nan", "NaN"])
def test_what_stands_for_no_score_is_none(tmp_path: Path, written: Any) -> None:
    row = {"question": "Ask", "model": "m", "judge": "j"}
    rows = [{**row, "score": written}, {**row, "score": 3}]
    scores: dict[Any, Any] = {}
    notes: list[str] = []
    read = read_scores_file(file_of(tmp_path, *rows), [], None, NOTHING, scores, notes)
    assert [value for _, value in scores.values()] == [3.0]
    assert len(read) == len(notes) == 1


def test_scores_of_a_column_of_each_judge_and_of_people(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"question": "One", "model": "m", "x": 3, "y": "", "who": 1},
        {"question": "One", "model": "n", "x": "", "y": "", "who": ""},
        {"question": "Two", "model": "m", "x": 4, "y": 5, "who": ""},
        {"question": "Two ", "model": "m", "x": 4, "y": 5, "who": ""},  # the same again
    ]
    scores: dict[Any, Any] = {}
    notes: list[str] = []
    read = read_scores_file(file_of(tmp_path, *rows), ["x", "y"], "who", NOTHING, scores, notes)
    assert {key: value for key, (_, value) in scores.items()} == {
        ("One", "m", "x"): 3.0,
        ("One", "m", "who"): 1.0,
        ("Two", "m", "x"): 4.0,
        ("Two", "m", "y"): 5.0,
    }
    assert len(read) == 3
    [note] = notes
    assert "1 row" in note


def test_the_header_counts_samples_with_and_without_a_score(tmp_path: Path) -> None:
    answers = {name: ImportedAnswer(name, name, "m", "so") for name in ("one", "two", "three")}
    scores: dict[tuple[str, str, str], Any] = {
        ("one", "m", "a:b"): (answers["one"], "C"),
        ("two", "m", "a:b"): (answers["two"], "I"),
        ("three", "m", "y"): (answers["three"], 7.0),
    }
    ids = sample_ids(answers.values(), [])
    source = write_rows(tmp_path / "s.jsonl", {"x": 1})
    [log] = score_logs(scores, ids, [source]).values()
    assert log.results is not None
    found = {
        one.name: (one.scored_samples, one.unscored_samples, one.metrics["mean"].value)
        for one in log.results.scores
    }
    assert found == {"a_b": (2, 1, 0.5), "y": (1, 2, 7.0)}
    assert (log.results.total_samples, log.results.completed_samples) == (3, 3)
    by_id = {sample.id: sample for sample in log.samples or []}
    assert set(by_id["one"].scores or {}) == {"a_b"}
    assert set(by_id["three"].scores or {}) == {"y"}


# --- verdicts ---


def verdict_of(folder: Path, winner: Any, *models: str, **more: Any) -> ImportedVerdict:
    one, other = models or ("x", "y")
    row = {"question": "Ask", "model_a": one, "model_b": other, "judge": "j", "winner": winner}
    [read] = read_pairs_file(file_of(folder, row | more), more.pop("meanings", {}), {})
    return read


WINNERS: list[tuple[Any, str]] = [
    *((value, "a") for value in ("a", "A", 1, "1", "model_a", "Model_1", "A>B", "first", "x")),
    *((value, "b") for value in ("b", "B", 2, "2", "model_b", "model_2", "b>a", "second", "y")),
    *((value, "tie") for value in ("tie", "Tie", "tie (bothbad)", "A=B")),
]


@pytest.mark.parametrize(("written", "better"), WINNERS)
def test_verdicts_name_a_place_or_a_model(tmp_path: Path, written: Any, better: str) -> None:
    read = verdict_of(tmp_path, written)
    assert (read.verdict, read.first) == (better, "a")
    # The pair has one order, whichever answer a file names first.
    if written not in ("x", "y"):
        turned = verdict_of(tmp_path, written, "y", "x")
        other = {"a": "b", "b": "a", "tie": "tie"}[better]
        assert (turned.verdict, turned.first) == (other, "b")
        assert [answer.model for answer in turned.answers] == ["x", "y"]


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("a", "a"),
        ("ab", "a"),
        (1, "a"),
        ("b", "b"),
        ("ba", "b"),
        ("2", "b"),
        ("", "a"),
        (None, "a"),
    ],
)
def test_what_was_shown_first(tmp_path: Path, written: Any, first: str) -> None:
    assert verdict_of(tmp_path, "a", first=written).first == first
    assert verdict_of(tmp_path, "a", "y", "x", first=written).first == {"a": "b", "b": "a"}[first]


def test_labels_reasons_and_blank_verdicts(tmp_path: Path) -> None:
    read = verdict_of(tmp_path, "", label="b", reason="Because.")
    assert (read.verdict, read.label, read.reason, read.judge) == (None, "b", "Because.", "j")
    for blank in ("", "  ", "\n", None):
        read = verdict_of(tmp_path, blank, label=blank, first=blank)
        assert (read.verdict, read.label, read.first) == (None, None, "a")
    turned = verdict_of(tmp_path, "tie", "y", "x", label="a")
    assert (turned.verdict, turned.label) == ("tie", "b")
    row = {"question": "Ask", "model_a": "x", "model_b": "y", "judge": "j", "winner": 3}
    for meaning, verdict in (("tie", "tie"), (None, None), ("a", "a")):
        [one] = read_pairs_file(file_of(tmp_path, row), {"3": meaning}, {})  # type: ignore[dict-item]
        assert one.verdict == verdict


def test_meanings_of_ones_own_come_before_the_usual_ones(tmp_path: Path) -> None:
    row = {"question": "Ask", "model_a": "x", "model_b": "y", "judge": "j"}
    meanings: dict[str, Any] = {"a": "b", "x": "tie", "win": None}
    for written, verdict in {"a": "b", "x": "tie", "Win": None, "b": "b", "y": "b"}.items():
        [read] = read_pairs_file(file_of(tmp_path, {**row, "winner": written}), meanings, {})
        assert read.verdict == verdict, written


def test_verdicts_on_a_pair_are_together_whatever_the_order(tmp_path: Path) -> None:
    read = [
        verdict_of(tmp_path, "a"),
        verdict_of(tmp_path, "a", "y", "x"),
        verdict_of(tmp_path, "a", "x", "z"),
    ]
    pairs = pairs_of(read, sample_ids([one.answers[0] for one in read], []))
    assert sorted(len(given) for _, given in pairs.values()) == [1, 2]
    for ballot, given in pairs.values():
        assert [answer.model for answer in given[0].answers] == [ballot.model_a, ballot.model_b]


def test_a_verdict_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    row = {"question": "Ask", "model_a": "x", "model_b": "y", "judge": "j", "winner": "a"}
    files = [file_of(tmp_path, row, row), file_of(tmp_path, row, name="w.jsonl")]
    notes: list[str] = []
    written = write_verdicts(files, {}, NOTHING, False, tmp_path / "v.eval", notes)
    assert "1 log" in written
    [read] = read_comparisons(str(tmp_path / "v.eval"))
    assert read.facts["orders"] == {"j": {"a": "a"}}
    assert "1 of 1 pair" in notes[0]


# --- answers ---


def asked(*pairs: tuple[str, str]) -> list[ImportedAnswer]:
    return [ImportedAnswer(question, name, "m", "so") for question, name in pairs]


@pytest.mark.parametrize(
    ("pairs", "own"),
    [
        ([("One", "1"), ("Two", "2"), ("One ", "1")], True),
        ([("One", "1"), ("Two", "1")], False),  # an id of two questions
        ([("One", "1"), ("One", "2")], False),  # a question with two ids
        ([("One", "1"), ("Two", "2"), ("One", "2")], False),
        ([("One", "1"), ("Two", "")], False),
        ([("One", ""), ("Two", "")], False),
    ],
)
def test_ids_of_files_count_where_they_name_questions(
    pairs: list[tuple[str, str]], own: bool
) -> None:
    notes: list[str] = []
    ids = sample_ids(asked(*pairs), notes)
    if own:
        assert ids == {"One": "1", "Two": "2"}
    else:
        assert all(len(name) == 16 for name in ids.values())
        assert len(set(ids.values())) == len({question.strip() for question, _ in pairs})
    has_names = any(name for _, name in pairs)
    assert bool(notes) == (has_names and not own)


def test_an_answer_is_imported_to_the_last_blank() -> None:
    text = " \tdef f():\n\treturn 1\n\n"
    answers = [ImportedAnswer(f" {number}?\n", "", "m", text) for number in range(2)]
    samples = samples_by_model(answers, {"0?": "x", "1?": "y"})["m"]
    assert [sample.output.completion for sample in samples.values()] == [text] * 2
    assert [sample.input for sample in samples.values()] == [" 0?\n", " 1?\n"]
    assert [sample.messages[-1].text for sample in samples.values()] == [text] * 2


def test_the_first_answer_to_a_question_counts_in_a_log() -> None:
    answers = [
        ImportedAnswer("One", "1", "m", "first", "ref", {"group": "x"}),
        ImportedAnswer("One ", "1", "m", "second"),
        ImportedAnswer("One", "1", "n", "other"),
    ]
    samples = samples_by_model(answers, {"One": "1"})
    assert {model: list(by_id) for model, by_id in samples.items()} == {"m": ["1"], "n": ["1"]}
    sample = samples["m"]["1"]
    assert (sample.output.completion, sample.target, sample.input) == ("first", "ref", "One")
    assert (sample.metadata, sample.output.model) == ({"group": "x"}, "m")


NOTES: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "nothing": ([{"question": "Why is this so often?", "answer": "So."}], []),
    "empty": ([{"question": "Ask", "answer": ""}, {"question": "Two", "answer": " "}], ["2 empty"]),
    "copies": ([{"question": "Ask", "answer": "So."}] * 3, ["2 rows"]),
    "its question": (
        [{"question": "Why is this so often?", "answer": "Why is this so often? So."}],
        ["1 answers contain"],
    ),
    "short questions": ([{"question": "Ask", "answer": "Ask"}], []),
    "half of them": (
        [
            {"question": "Why is this so often?", "answer": "Why is this so often? So."},
            {"question": "Why is that so often?", "answer": "So."},
        ],
        [],
    ),
}


@pytest.mark.parametrize("case", NOTES)
def test_what_is_strange_about_answers_is_noted(tmp_path: Path, case: str) -> None:
    rows, expected = NOTES[case]
    path = write_rows(tmp_path / "a.jsonl", *({"model": "m"} | row for row in rows))
    notes: list[str] = []
    read_answers_file(path, Naming(), {}, {}, notes)
    assert len(notes) == len(expected)
    for note, words in zip(notes, expected, strict=True):
        assert words in note


def test_questions_have_one_text_for_an_id(tmp_path: Path) -> None:
    rows = [{"id": 1, "text": "One"}, {"id": 2, "text": "Two"}, {"id": 1, "text": "One"}]
    assert read_questions(write_rows(tmp_path / "q.jsonl", *rows)) == {"1": "One", "2": "Two"}
    rows[2]["text"] = "Another"
    with pytest.raises(InputError, match="line 3"):
        read_questions(write_rows(tmp_path / "r.jsonl", *rows))
    answer = {"question_id": 3, "answer": "So.", "model": "m"}
    path = write_rows(tmp_path / "a.jsonl", answer)
    with pytest.raises(InputError, match=r"line 1.*questions"):
        read_answers_file(path, Naming(), {"1": "One"}, {}, [])


@pytest.mark.parametrize(("lab", "noted"), [(None, True), ("own", False)])
def test_models_without_a_lab_are_noted(tmp_path: Path, lab: str | None, noted: bool) -> None:
    path = write_rows(tmp_path / "a.jsonl", {"question": "Ask", "answer": "So.", "model": "m"})
    notes: list[str] = []
    naming = Naming(constants={"lab": lab} if lab else {})
    written = write_answers([path], naming, None, tmp_path / "out", notes)
    assert "1 answer of 1 model" in written
    assert any("1 model" in note and " m:" in note for note in notes) == noted


# --- answers that are known ---


@pytest.fixture
def known(tmp_path: Path) -> Any:
    """Two answers in logs, one with an id of its own."""
    source = write_rows(tmp_path / "a.jsonl", {"x": 1})
    for model in ("lab/m", "lab/n"):
        samples: list[EvalSample] = []
        answers = [
            ImportedAnswer("Ask", "q", model, f"{model} says", "", {"answer_id": f"id {model}"})
        ]
        for by_id in samples_by_model(answers, {"Ask": "q"}).values():
            samples += by_id.values()
        log = made_log("imported_answers", model, samples, [source])
        write_copy(log, tmp_path / f"{model[-1]}.eval")
    return known_answers([str(tmp_path / "m.eval"), str(tmp_path / "n.eval")], [])


FOUND: dict[str, dict[str, Any]] = {
    "ids": {"answer_a_id": "id lab/m", "answer_b_id": "id lab/n"},
    "question and models": {"question": "Ask", "model_a": "lab/m", "model_b": "lab/n"},
    "models without a lab": {"question": "Ask", "model_a": "m", "model_b": "n"},
    "id of the question": {"question_id": "q", "model_a": "m", "model_b": "lab/n"},
}


@pytest.mark.parametrize("case", FOUND)
def test_answers_are_found_by_what_a_row_has(tmp_path: Path, known: Any, case: str) -> None:
    row = {"judge": "j", "winner": "model_a"} | FOUND[case]
    [read] = read_pairs_file(file_of(tmp_path, row), {}, known)
    assert [answer.text for answer in read.answers] == ["lab/m says", "lab/n says"]
    assert read.verdict == "a"


LOST: dict[str, tuple[dict[str, Any], str]] = {
    "id": ({"answer_a_id": "no", "answer_b_id": "id lab/n"}, "--answers"),
    "question": ({"question": "No", "model_a": "m", "model_b": "n"}, "--answers"),
    "model": ({"question": "Ask", "model_a": "m", "model_b": "o"}, "m, n"),
    "no question": ({"model_a": "m", "model_b": "n"}, "question_id"),
}


@pytest.mark.parametrize("case", LOST)
def test_answers_that_no_log_has_are_refused(tmp_path: Path, known: Any, case: str) -> None:
    row, words = LOST[case]
    file = file_of(tmp_path, {"judge": "j", "winner": "model_a"} | row)
    with pytest.raises(InputError) as refused:
        read_pairs_file(file, {}, known)
    assert words in refused.value.message


# --- places ---


@pytest.mark.parametrize(
    ("names", "output", "places"),
    [
        (["lab/m", "lab/n"], "out", ["out/lab_m.eval", "out/lab_n.eval"]),
        (["lab/m"], "one.eval", ["one.eval"]),
        (["lab/m"], "one.EVAL", ["one.EVAL"]),
        (["a b/c:d", "e.f-g"], "out", ["out/a_b_c_d.eval", "out/e.f-g.eval"]),
        (["m", "n"], "one.eval", None),
        (["a/b", "a:b"], "out", None),  # the same name of a file
        (["m"], "one.json", None),
        (["m"], "one.csv", None),
        (["old"], "there", None),
        (["m"], "old.eval", None),
    ],
)
def test_places_of_logs(
    tmp_path: Path, names: list[str], output: str, places: list[str] | None
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "old.eval").write_text("")
    (tmp_path / "old.eval").write_text("")
    if places is None:
        with pytest.raises(InputError):
            log_places(names, tmp_path / output)
    else:
        assert log_places(names, tmp_path / output) == [tmp_path / place for place in places]


def test_a_further_file_stands_in_the_folder_or_by_the_log(tmp_path: Path) -> None:
    assert free_place(tmp_path, "labels.csv") == tmp_path / "labels.csv"
    assert free_place(tmp_path / "one.eval", "labels.csv") == tmp_path / "one.labels.csv"
    (tmp_path / "labels.csv").write_text("")
    with pytest.raises(InputError, match=r"labels\.csv"):
        free_place(tmp_path, "labels.csv")


# --- columns ---


def test_columns_have_the_first_name_that_a_file_has(tmp_path: Path) -> None:
    row = {"Prompt": "p", "instruction": "i", "Out-Put": "o", "GENERATOR": "g", "id": 7, "score": 1}
    file = file_of(tmp_path, row)
    assert file.names["question"] == "instruction"  # exact names come before others
    assert (file.names["answer"], file.names["model"]) == ("Out-Put", "GENERATOR")
    assert (file.names["question_id"], file.names["verdict"]) == ("id", "score")
    assert file.has("question", "answer") and not file.has("question", "judge")
    named = file_of(tmp_path, row, columns={"question": "Prompt"}, constants={"judge": "j"})
    assert named.names["question"] == "Prompt"
    assert named.has("judge")


def test_values_of_all_rows_come_from_options_and_names_of_files(tmp_path: Path) -> None:
    row = {"question": "Ask", "answer": "So.", "judge": "own"}
    how: dict[str, Any] = {
        "constants": {"model": "set", "judge": "set"},
        "file_name": re.compile(r"(?P<model>.+)-by"),
    }
    file = file_of(tmp_path, row, name="m-by.jsonl", **how)
    [read] = file.read(lambda fields: (fields.values["model"], fields.values["judge"]))
    assert read == ("m", "set")


@pytest.mark.parametrize(
    "how",
    [
        {"columns": {"nothing": "x"}},
        {"constants": {"nothing": "x"}},
        {"columns": {"question": "nothing"}},
    ],
)
def test_names_that_nothing_reads_are_refused(tmp_path: Path, how: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="nothing"):
        file_of(tmp_path, {"question": "Ask"}, **how)


# --- recognition ---

ASKED: dict[str, Any] = {"question": "Ask"}
PAIR = ASKED | {"model_a": "x", "model_b": "y"}
FILES: dict[str, list[dict[str, Any]]] = {
    "answers.jsonl": [
        ASKED | {"answer": "So.", "model": "m"},
        ASKED | {"answer": "No.", "model": "n"},
    ],
    "no-model.jsonl": [ASKED | {"output": "So."}],
    "anything.jsonl": [ASKED | {"answer": "So."}],
    "by-id.jsonl": [{"question_id": 1, "answer": "So.", "model": "m"}],
    "no-question.jsonl": [{"answer": "So.", "model": "m"}],
    "pairs.jsonl": [PAIR | {"judge": "j", "winner": name} for name in ("model_a", "tie", "", "x")],
    "pairs-of-nobody.jsonl": [PAIR | {"winner": "a"}],
    "pairs-of-people.jsonl": [PAIR | {"winner": "a"}],
    "humaneval.jsonl": [PAIR | {"winner": "a"}],
    "ids.jsonl": [{"question_id": 1, "answer1_id": 2, "answer2_id": 3, "score": 1, "judge": "j"}],
    "draws.jsonl": [PAIR | {"judge": "j", "winner": name} for name in ("draw", "-1", "left", "a")],
    "numbers.jsonl": [PAIR | {"judge": "j", "winner": number} for number in (0, 1, 2)],
    "zero-and-one.jsonl": [PAIR | {"judge": "j", "winner": number} for number in (0, 1)],
    "three.jsonl": [PAIR | {"judge": "j", "winner": number} for number in (1, 2, 3)],
    "four.jsonl": [PAIR | {"judge": "j", "winner": number} for number in (1, 2, 3, 4)],
    "weights.jsonl": [PAIR | {"judge": "j", "winner": 1.5}],
    "many-words.jsonl": [PAIR | {"judge": "j", "winner": f"w{number}"} for number in range(13)],
    "x-vs-y-gpt4.jsonl": [{"question_id": 1, "score": 1}],
    "answer_x-vs-answer_y-human.jsonl": [{"question_id": 1, "score": 1}],
    "named-vs-too.jsonl": [PAIR | {"judge": "j", "winner": "a"}],
    "models-x-vs-y.jsonl": [{"question_id": 1, "score": 1}],
    "scores.jsonl": [ASKED | {"model": "m", "judge": name, "score": 1} for name in "jk"],
    "wide.jsonl": [
        ASKED | {"model": "m", "GPT-4": n, "Human": 1, "rank": 2, "len": 3} for n in (1, 2)
    ],
    "mixed.jsonl": [ASKED | {"model": "m", "GPT-4": value} for value in (1, "good")],
    "blank.jsonl": [ASKED | {"model": "m", "GPT-4": value, "other": ""} for value in (1, "")],
    "twelve.jsonl": [ASKED | {"model": "m", "GPT-4": number} for number in range(12)],
    "thirteen.jsonl": [ASKED | {"model": "m", "GPT-4": number} for number in range(13)],
    "spaces.jsonl": [ASKED | {"model": "m", "GPT-4": " " * n + "1"} for n in range(13)],
}


def test_what_files_hold_and_the_command_that_takes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = []
    for name, given in FILES.items():
        rows: list[Row]
        rows, errors = read_table(write_rows(Path(name), *given), ())
        assert not errors
        found = importable(Path(name), rows)
        if found is None:
            lines.append(f"- {name}: nothing that `import` takes")
        else:
            facts = ", ".join(f"{key} {value}" for key, value in found.contents.items())
            kind = f"{found.kind}{' of a named judge' if found.judged else ''}"
            lines.append(f"- {name}: {kind}; {facts}\n  {found.advice}")
    check_golden("importable", "\n".join(lines) + "\n")
