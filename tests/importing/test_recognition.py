"""`urs-inspect check` of files that `urs-inspect import` takes: the command that it prints works."""

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Run, Said
from tests.reports.json_files import write_rows
from tests.telling import tells

pytestmark = pytest.mark.satellites  # `check` is of another satellite

ALPACA = {"instruction": "Ask", "output": "So.", "generator": "m", "dataset": "d"}
PAIR = {
    "question_id": 1,
    "answer1_id": "id a",
    "answer2_id": "id b",
    "text": "Because.",
    "score": 1,
}
VOTE = {"question_id": 1, "text": "Ask", "score": 2}
GRADED = {
    "model": "m",
    "question": "Ask",
    "response": "So.",
    "GPT-4": "True",
    "Human-Eval": "False",
}


def printed(run: Run, file: object) -> tuple[str, list[str]]:
    """What `check` says of a good file, and the arguments of the command that it prints."""
    result = run("check", file)
    assert result.exit_code == 0, result.output
    command = result.output.split("`")[1]
    return result.output, shlex.split(command)[1:]


def works(run: Run, command: list[str], place: Path, **filled: object) -> None:
    """Run a printed command with its placeholders filled in."""
    words = [str(filled.get(word, word)) for word in command]
    words[words.index("-o") + 1] = str(place)
    result = run(*words)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (ALPACA, "answers, ok: answers 1; questions 1; models m"),
        ({"Question": "Ask", "Response": "So.", "Model": "m"}, "answers, ok: answers 1"),
        (GRADED, "scores, ok: entries 1; ... labels Human-Eval; judges GPT-4"),
        (
            {"Question": "Ask", "Model": "m", "GPT-4": "True", "Human-Eval": "False"},
            "labels Human-Eval; judges GPT-4",
        ),
        (
            {"question": "Ask", "model": "m", "judge": "j", "score": 3},
            "scores, ok: entries 1; ... judges j",
        ),
        (
            {"question": "Ask", "model_1": "m", "model_2": "n", "judge": "j", "verdict": "A>B"},
            "verdicts, ok: entries 1; questions 1; models 2; judges j; verdict a>b 1",
        ),
    ],
)
def test_the_command_of_a_whole_file_works_as_it_is(
    row: dict[str, Any], told: str, run: Run, tmp_path: Path
) -> None:
    output, command = printed(run, write_rows(tmp_path / "own.json", row))
    assert tells(output, told)
    works(run, command, tmp_path / "logs")


def test_the_commands_of_reviews_and_votes_work_when_filled_in(run: Run, tmp_path: Path) -> None:
    """As Vicuna's are published: answers and questions by ids, models in names of files."""
    answers = [
        {"question_id": 1, "answer_id": f"id {model}", "model_id": model, "text": f"{model} so"}
        for model in ("a", "b")
    ]
    questions = write_rows(tmp_path / "questions.jsonl", {"question_id": 1, "text": "Ask"})
    output, command = printed(run, write_rows(tmp_path / "answers.jsonl", *answers))
    assert tells(output, "answers, ok: answers 2; questions 1; models a, b")
    logs = tmp_path / "answers"
    works(run, command, logs, QUESTIONS=questions)
    review = {**PAIR, "score": 3}
    output, command = printed(run, write_rows(tmp_path / "a-vs-b-gpt9.jsonl", review))
    assert tells(output, "verdicts, ok: entries 1; questions 1; verdict 3 1")
    assert "{verdicts: {3: tie}}" in command
    works(run, command, tmp_path / "judged", ANSWERS=logs)
    name = "answer_a-vs-answer_b-human-reviewer.jsonl"
    output, command = printed(run, write_rows(tmp_path / name, VOTE, VOTE))
    assert tells(output, "votes of people, ok: entries 2; questions 1; verdict 2 2")
    works(run, command, tmp_path / "people", ANSWERS=logs)


@pytest.mark.parametrize(
    ("name", "rows", "option"),
    [
        ("a-vs-b-by-people.jsonl", [VOTE, VOTE], "--people"),
        ("a-vs-b.jsonl", [VOTE, VOTE], "judge=NAME"),
        ("a-vs-b.jsonl", [VOTE, {**VOTE, "question_id": 2}], "judge=NAME"),
        ("a-vs-b.jsonl", [{**PAIR, "score": 0}, PAIR], '{0: "?"}'),
        (
            "a-vs-b.jsonl",
            [{**PAIR, "question_id": n, "score": n} for n in range(3)],
            "{0: tie}",
        ),
        ("humaneval-a-vs-b.jsonl", [PAIR], "judge=NAME"),
        (
            "a-vs-b.jsonl",
            [{**PAIR, "score": -1}, {**PAIR, "question_id": 2, "score": 3}],
            '{"-1": none, 3: tie}',
        ),
        ("a-vs-b.jsonl", [{**PAIR, "score": 0}, {**PAIR, "score": 9}], '{0: "?", 9: "?"}'),
        ("own.jsonl", [{"prompt": "Ask", "output": "So."}], "model=NAME"),
    ],
)
def test_what_only_a_person_knows_is_left_open(
    name: str, rows: list[dict[str, Any]], option: str, run: Run, tmp_path: Path
) -> None:
    _, command = printed(run, write_rows(tmp_path / name, *rows))
    if option.startswith("{"):
        assert any(f"verdicts: {option}" in word for word in command)
    else:
        assert option in command


def test_answers_that_cannot_be_read_are_an_error(run: Run, said: Said, tmp_path: Path) -> None:
    rows = [ALPACA, {**ALPACA, "output": "Another."}]
    result = run("check", write_rows(tmp_path / "own.json", *rows))
    assert result.exit_code == 1
    assert tells(result.output, "answers, error: row 2 ... second answer")


def test_rows_that_cannot_be_read_are_an_error(run: Run, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a-vs-b.jsonl", PAIR, {**PAIR, "question_id": 2})
    path.write_text(path.read_text("utf-8") + '{"question_id": 3, "text": "cut', "utf-8")
    result = run("check", path)
    assert result.exit_code == 1
    assert tells(result.output, "verdicts, error: line 3")


def test_weighted_preferences_are_pairs_with_labels(run: Run, tmp_path: Path) -> None:
    """As AlpacaEval 2 publishes them."""
    row = {
        "instruction": "Ask", "output_1": "So.", "generator_1": "m", "output_2": "No.",
        "generator_2": "n", "annotator": "j", "preference": 1.9900139974,
    }  # fmt: skip
    result = run("check", write_rows(tmp_path / "annotations.json", row))
    assert tells(result.output, "judge_pairwise ... label: preference ... entries 1 ... label b 1")


def test_ratings_by_named_people_are_no_answers_to_import(run: Run, tmp_path: Path) -> None:
    row = {"question": "Ask", "response": "So.", "human_score": 2, "annotator": "x", "model": "m"}
    result = run("check", write_rows(tmp_path / "own.json", row))
    assert tells(result.output, "ratings, error ... judge_rating ... rating: human_score")


def test_a_command_can_be_pasted_whatever_names_are_in_it(run: Run, tmp_path: Path) -> None:
    row = {"question": "Ask", "model": "m", "the 'GPT-4'": 1, "a $b GPT-4": 2}
    file = write_rows(tmp_path / "it's here.json", row, {**row, "model": "n"})
    _, command = printed(run, file)
    assert command[:2] == ["import", "verdicts"] and str(file) in command
    columns = yaml.safe_load(command[command.index("--columns") + 1])
    assert columns == {"judges": ["the 'GPT-4'", "a $b GPT-4"]}
