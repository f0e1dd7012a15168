"""A user's rated responses, on a scale of the user's, with or without intents of a rubric."""

import math
from pathlib import Path

import pytest

from tests.datasets.conftest import WriteRows
from urs_inspect.datasets import RatingCase, RatingData, Vocabulary, load_ratings
from urs_inspect.datasets.sources import sha256_of
from urs_inspect.errors import InputError
from urs_inspect.rubrics import Rubric

GOOD = {"prompt": "Why?", "response": "Because.", "rating": 7}


def row(**changes: object) -> dict[str, object]:
    """A good row, but for the changes; `...` leaves a column out."""
    return {key: value for key, value in {**GOOD, **changes}.items() if value is not ...}


@pytest.fixture
def vocabulary(rubric: Rubric) -> Vocabulary:
    return Vocabulary(rubric.intent_id, rubric.language_code)


def load(path: Path, vocabulary: Vocabulary | None = None, scale: tuple[float, float] | None = (1, 10)) -> RatingData:
    return load_ratings(str(path), scale=scale, vocabulary=vocabulary)


def error_of(path: Path, vocabulary: Vocabulary | None = None, scale: tuple[float, float] | None = (1, 10)) -> str:
    with pytest.raises(InputError) as caught:
        load(path, vocabulary, scale)
    return str(caught.value)


# --- good files ---


def test_rows_become_cases(write_rows: WriteRows) -> None:
    full = row(id=9, group="g", reference=" So.\n", intent="anything", language="fr", rating="1")
    path = write_rows("my.jsonl", [row(), full])
    data = load(path)
    assert data.cases == (
        RatingCase("my_0001", "Why?", "Because.", 7, "all"),
        RatingCase("9", "Why?", "Because.", 1, "g", " So.\n", "anything", "fr"),
    )
    assert (data.name, data.sha256, data.scale, data.skipped) == (str(path), sha256_of(path), (1, 10), ())


@pytest.mark.parametrize(
    ("rating", "value"), [(1, 1), (10, 10), (7.25, 7.25), ("7.25", 7.25), (" 8 ", 8), ([6, 9, 9], 8), (["6", 7], 6.5)]
)
def test_ratings_are_numbers_of_the_scale_or_several_of_them(
    rating: object, value: float, write_rows: WriteRows
) -> None:
    assert load(write_rows("my.jsonl", [row(rating=rating)])).cases[0].rating == value


def test_a_csv_file_is_read_alike(write_rows: WriteRows) -> None:
    path = write_rows("my.csv", "rating,response,prompt,group\n7,Because.,Why?,\n-0.5,No.,Who?,g\n")
    assert load(path, scale=(-1, 7)).cases == (
        RatingCase("my_0001", "Why?", "Because.", 7, "all"),
        RatingCase("my_0002", "Who?", "No.", -0.5, "g"),
    )


def test_intents_and_languages_become_ids_of_the_rubric_and_intents_groups(
    write_rows: WriteRows, vocabulary: Vocabulary
) -> None:
    rows = [row(intent="Ask_for_Advice", language="CN"), row(intent="leisure", language="en", group="mine")]
    assert load(write_rows("my.jsonl", rows), vocabulary).cases == (
        RatingCase("my_0001", "Why?", "Because.", 7, "ask_for_advice", intent="ask_for_advice", language="zh"),
        RatingCase("my_0002", "Why?", "Because.", 7, "mine", intent="leisure", language="en"),
    )


# --- faults ---


@pytest.mark.parametrize(
    "rating", [0, 11, 0.99, -7, math.nan, math.inf, "", "high", None, True, [], [7, 11], [7, None], {"a": 7}, 10**400]
)
def test_a_rating_outside_the_scale_is_named_with_the_scale(rating: object, write_rows: WriteRows) -> None:
    path = write_rows("my.jsonl", [row(), row(rating=rating)])
    message = error_of(path)
    assert message.startswith(f"{path}: line 2: column 'rating': must be a number from 1 to 10, is ")
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("faulty", "fault"),
    [
        (row(rating=...), "column 'rating': missing"),
        (row(response=None), "column 'response': must be text, is null"),
        (row(response=...), "column 'response': missing"),
        (row(prompt=" "), "column 'prompt': empty"),
        (row(reference=7), "column 'reference': must be text, is 7"),
        (row(intent=["leisure"]), "column 'intent': must be text, is [\"leisure\"]"),
        (row(id="first"), "column 'id': 'first' is taken by line 1"),
    ],
)
def test_a_faulty_row_is_named(faulty: object, fault: str, write_rows: WriteRows) -> None:
    path = write_rows("my.jsonl", [row(id="first"), faulty])
    assert error_of(path) == f"{path}: line 2: {fault}"


def test_with_a_rubric_intent_and_language_are_obligatory_and_known(
    write_rows: WriteRows, vocabulary: Vocabulary, rubric: Rubric
) -> None:
    path = write_rows("my.jsonl", [row(), row(intent="sport", language="fr"), row(intent="", language="en")])
    first, second, third = error_of(path, vocabulary).splitlines()
    assert first.endswith("line 1: column 'intent': missing; column 'language': missing")
    assert f"unknown intent 'sport'; allowed: {', '.join(rubric.intents)}" in second
    assert "unknown language 'fr'; allowed: en, zh" in second
    assert third.endswith("line 3: column 'intent': empty")
    table = write_rows("my.csv", "prompt,response,rating\nWhy?,Because.,7\n")
    assert error_of(table, vocabulary) == (
        f"{table}: line 1: column 'intent' is missing; the header has: prompt, response, rating"
    )


@pytest.mark.parametrize("scale", [(5, 1), (5, 5), (1, math.inf), (math.nan, 5)])
def test_a_scale_that_is_none_is_refused(scale: tuple[float, float], write_rows: WriteRows) -> None:
    assert error_of(write_rows("my.jsonl", [row()]), scale=scale).startswith(
        "scale: must have a lowest rating below a highest, got "
    )


def test_a_file_of_the_user_needs_a_scale(write_rows: WriteRows) -> None:
    path = write_rows("my.jsonl", [row()])
    assert error_of(path, scale=None) == f"scale: '{path}' needs one, lowest and highest possible rating"


def test_an_empty_response_is_data(write_rows: WriteRows) -> None:
    assert [case.response for case in load(write_rows("my.jsonl", [row(response="")])).cases] == [""]
