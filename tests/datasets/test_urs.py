"""The published file and the embedded sample are what the paper and the package say they are."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from urs_inspect.datasets import URS, UrsData, Vocabulary, load_urs
from urs_inspect.errors import InputError
from urs_inspect.rubrics import Rubric

# Han characters, and the punctuation that only East Asian text uses.
CJK = re.compile("[\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef]")

# Rows by intent, as published.
INTENTS = {
    "factual_qa": 573,
    "solve_professional_problem": 500,
    "api": 28,
    "ask_for_advice": 269,
    "seek_creativity": 193,
    "leisure": 159,
    "text_assistant": 124,
}


@pytest.fixture
def vocabulary(rubric: Rubric) -> Vocabulary:
    return Vocabulary(rubric.intent_id, rubric.language_code)


@pytest.fixture
def published(data_dir: Path, vocabulary: Vocabulary) -> UrsData:
    return load_urs("urs", vocabulary)


@pytest.fixture
def sample(vocabulary: Vocabulary) -> UrsData:
    return load_urs("sample", vocabulary)


# --- the published file ---


@pytest.mark.data
def test_the_published_file_holds_the_published_counts(published: UrsData) -> None:
    assert len(published.cases) == 1846 == sum(INTENTS.values())
    assert Counter(case.language for case in published.cases) == {"en": 1014, "zh": 832}
    assert Counter(case.intent for case in published.cases) == INTENTS
    assert (published.name, published.sha256, published.skipped) == ("urs", URS.sha256, ())


@pytest.mark.data
def test_published_cases_are_called_by_row(published: UrsData) -> None:
    assert [case.id for case in published.cases] == [f"urs_{row:04d}" for row in range(1, 1847)]


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
    assert {row["user_intent"] for row in rows} == {intent.label for intent in rubric.intents.values()}


@pytest.mark.data
def test_edge_whitespace_of_published_questions_is_kept(published: UrsData) -> None:
    assert sum(case.question != case.question.strip() for case in published.cases) == 350


# --- the embedded sample ---


def test_the_sample_has_three_cases_of_every_intent_and_language(sample: UrsData) -> None:
    # 7 intents x 2 languages x 3 = 42
    assert Counter((case.intent, case.language) for case in sample.cases) == {
        (intent, language): 3 for intent in INTENTS for language in ("en", "zh")
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


def test_a_file_is_named_by_its_path_and_numbers_its_cases_by_its_own_name(
    tmp_path: Path, vocabulary: Vocabulary
) -> None:
    path = tmp_path / "night shift.csv"
    path.write_text("question,reference,intent,language\nWhy?,Because.,leisure,en\n")
    data = load_urs(str(path), vocabulary)
    assert (data.name, [case.id for case in data.cases]) == (str(path), ["night shift_0001"])


def test_a_file_may_lie_below_the_home_directory(
    tmp_path: Path, vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "my.csv").write_text("question,reference,intent,language\nWhy?,Because.,leisure,en\n")
    assert len(load_urs("~/my.csv", vocabulary).cases) == 1


@pytest.mark.parametrize("name", ["nope", "URS", "urs.json", "", "sample.tsv"])
def test_an_unknown_dataset_is_an_error_that_names_what_is_allowed(name: str, vocabulary: Vocabulary) -> None:
    with pytest.raises(InputError) as caught:
        load_urs(name, vocabulary)
    assert str(caught.value) == (
        f"unknown dataset '{name}'; allowed: urs, sample, or the path of a .csv or .jsonl file"
    )


def test_leniency_reaches_a_file_of_the_user(tmp_path: Path, vocabulary: Vocabulary) -> None:
    path = tmp_path / "my.csv"
    path.write_text("question,reference,intent,language\n,Because.,leisure,en\nWhy?,Because.,leisure,en\n")
    with pytest.raises(InputError, match="line 2: column 'question': empty"):
        load_urs(str(path), vocabulary)
    data = load_urs(str(path), vocabulary, lenient=True)
    assert ([case.id for case in data.cases], len(data.skipped)) == (["my_0002"], 1)
