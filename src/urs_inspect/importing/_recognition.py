"""What `urs-inspect import` takes: the kind of a file by its columns and name, and the command."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from urs_inspect._satellites import Importable
from urs_inspect._util import choices
from urs_inspect.datasets._columns import guess_meaning, in_one_line
from urs_inspect.datasets._rows import Fields, Row, label_key
from urs_inspect.importing._answers import read_answers_file
from urs_inspect.importing._files import ANSWER_ALIASES, ImportedFile, Naming
from urs_inspect.importing._pairs import VERDICTS
from urs_inspect.importing._scores import score_in

_UNKNOWN = '"?"'
_OPTIONS = {
    "--questions QUESTIONS": "QUESTIONS (a file of question_id and question)",
    "--answers ANSWERS": "ANSWERS (the logs that `urs-inspect import answers` wrote)",
    "--set judge=NAME": "NAME (a name)",
    "--set model=NAME": "NAME (a name)",
}
"""Options with what only a person knows -> what to write there."""
_BETWEEN = "-vs-"
_START = re.compile(r"(answer|response|output|model)s?[_-]")
_PERSON = re.compile(r"(?<![a-z])(human|people|person)s?(?![a-z])", re.IGNORECASE)
_BY_PERSON = re.compile(f"[-_]{_PERSON.pattern}", re.IGNORECASE)
_NO_SCORE = re.compile(
    r"(^|_)(id|index|rank|epoch|seed|turn)$|len|token|time|price|cost|confidence", re.IGNORECASE
)
_MOST_VALUES = 12
_MODELS = ("model_a", "model_b")


def importable(path: Path, rows: Sequence[Row]) -> Importable | None:
    """What a file holds that `urs-inspect import` takes; None if it does not.

    Raises:
        InputError: If it holds answers of which some cannot be read.
    """
    file = Naming().of_rows(path, rows, ANSWER_ALIASES)
    if not (file.has("question") or file.has("question_id")):
        return None
    return _pairs(file) or _scores(file) or _answers(file)


def _different(file: ImportedFile, *what: str) -> list[str]:
    """Different values of some columns, as texts; none of a column that is not there."""
    names = [file.names[name] for name in what if file.has(name)]
    values = [row.values.get(name) for name in names for row in file.rows]
    return sorted({str(value) for value in values if value not in (None, "")})


def _contents(file: ImportedFile, *models: str) -> dict[str, Any]:
    """How many rows and questions there are, and models where columns name them."""
    questions = _different(file, "question") or _different(file, "question_id")
    counts: dict[str, Any] = {"entries": len(file.rows), "questions": len(questions)}
    if file.has(*models):
        counts["models"] = len(_different(file, *models))
    return counts


def _found(
    file: ImportedFile,
    kind: str,
    contents: Mapping[str, Any],
    columns: Mapping[str, Any],
    options: list[str],
) -> Importable:
    """What a file holds, with the command that takes it."""
    verb = "verdicts"
    if kind == "answers":
        verb = "answers"
    words = [_OPTIONS[option] for option in options if option in _OPTIONS]
    if columns:
        mapping = in_one_line(columns)
        options.insert(0, f"--columns {shlex.quote(mapping)}")
        if _UNKNOWN in mapping:
            words.append(f"{_UNKNOWN} (a, b, tie or none)")
    command = ["urs-inspect import", verb, shlex.quote(str(file.path)), *options, f"-o {verb}/"]
    advice = f"`{' '.join(command)}` makes logs of it"
    if words:
        advice += f"; fill in {choices(words)}"
    return Importable(kind, verb == "verdicts" and file.has("judge"), contents, f"{advice}.")


# --- pairs ---


def _pairs(file: ImportedFile) -> Importable | None:
    """Verdicts of a judge, or votes of people, on pairs."""
    pattern = _name_pattern(file.path)
    has_ids = file.has("answer_a_id", "answer_b_id")
    has_sides = has_ids or file.has(*_MODELS)
    if not file.has("verdict") or not (has_sides or pattern):
        return None
    given = Counter(label_key(row.values.get(file.names["verdict"])) for row in file.rows)
    given.pop("", None)
    models = map(label_key, _different(file, *_MODELS))
    unknown = sorted(given.keys() - {*VERDICTS, *models})
    if len(unknown) > _MOST_VALUES or any("." in key for key in unknown):  # or weights
        return None
    kind = "verdicts"
    options = []
    contents = _contents(file, *_MODELS)
    if not has_sides:
        options.append(f"--file-name {shlex.quote(pattern)}")
    if file.has("judge"):
        contents["judges"] = choices(_different(file, "judge"))
    elif _PERSON.search(file.path.stem):
        kind = "votes of people"
        options.append("--people")
    else:
        options.append("--set judge=NAME")
    if has_ids or not file.has("question"):
        options.append("--answers ANSWERS")
    contents["verdict"] = dict(sorted(given.items()))
    columns = {}
    if unknown:
        columns["verdicts"] = {key: _meaning(key, set(given)) for key in unknown}
    return _found(file, kind, contents, columns, options)


def _name_pattern(path: Path) -> str:
    """A pattern of the two models in a file's name; empty if it does not look like it."""
    first, between, second = path.stem.partition(_BETWEEN)
    if not between:
        return ""
    start = _START.match(first)
    before = ""
    if start and second.startswith(start[0]):
        before = start[0]
    end = re.escape(path.suffix)
    person = _BY_PERSON.search(second)
    if person:
        end = person[0]
    return f"{before}(?P<model_a>.+){_BETWEEN}{before}(?P<model_b>.+){end}"


def _meaning(key: str, given: set[str]) -> str:
    """What a verdict may mean; `?` where only a person knows."""
    numbers = given - {"-1"}
    if key == "-1":
        return "none"  # FastChat's mark of a reply that it could not read
    # 0 beside 1 alone may be the second answer
    ties = {"3": numbers <= {"1", "2", "3"}, "0": numbers == {"0", "1", "2"}}
    if ties.get(key):
        return "tie"
    return guess_meaning(key)


# --- scores ---


def _scores(file: ImportedFile) -> Importable | None:
    """Scores of answers, by a column of the judge or a column of each judge."""
    if not file.has("model"):
        return None
    contents = _contents(file, "model")
    columns: dict[str, Any] = {}
    if file.has("judge", "score"):
        judges = _different(file, "judge")
    else:
        scored = list(_scored_columns(file))
        label = next((column for column in scored if _PERSON.search(column)), "")
        judges = [column for column in scored if column != label]
        if not judges:
            return None
        columns["judges"] = judges
        if label:
            columns["label"] = label
            contents["labels"] = label
    contents["judges"] = choices(judges)
    return _found(file, "scores", contents, columns, [])


def _scored_columns(file: ImportedFile) -> Iterator[str]:
    """Columns in which each value is a score, and which are not read as anything else."""
    read = [file.names.get(what) for what in ("question", "question_id", "model", "answer")]
    for column in file.columns:
        if column in read or _NO_SCORE.search(column):
            continue
        rows = map(Fields, file.rows)
        given = [fields for fields in rows if not fields.blank(column)]
        different = {str(fields.values[column]).strip() for fields in given}
        if not different or len(different) > _MOST_VALUES:
            continue
        if None not in [score_in(fields, column) for fields in given]:
            yield column


# --- answers ---


def _answers(file: ImportedFile) -> Importable | None:
    """Answers of models; a file of questions with `answer` and no model may be anything."""
    models = _different(file, "model")
    if not file.has("answer"):
        return None
    if not file.has("model") and file.names["answer"] in ("answer", "text"):
        return None
    constants = {}
    asked = {}
    options = []
    if not file.has("question"):
        asked = {name: name for name in _different(file, "question_id")}
        options.append("--questions QUESTIONS")
    if not file.has("model"):
        constants["model"] = "NAME"
        options.append("--set model=NAME")
    read = read_answers_file(file.path, Naming(constants=constants), asked, {}, [])
    contents: dict[str, Any] = {
        "answers": len(read),
        "questions": len({one.asked for one in read}),
    }
    if models:
        contents["models"] = choices(models)
    return _found(file, "answers", contents, {}, options)
