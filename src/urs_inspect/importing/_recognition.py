"""What `urs-inspect import` takes: the kind of a file by its columns and name, and the command."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from urs_inspect._util import choices
from urs_inspect.cli._check import Importable
from urs_inspect.datasets._columns import guess_meaning, in_one_line
from urs_inspect.datasets._rows import Fields, Row, label_key
from urs_inspect.importing._answers import read_answers_file
from urs_inspect.importing._files import ANSWER_ALIASES, ImportedFile, Naming
from urs_inspect.importing._pairs import VERDICTS
from urs_inspect.importing._scores import score_in

_UNKNOWN = '"?"'
_PLACEHOLDERS = {
    "QUESTIONS": "a file of question_id and question",
    "ANSWERS": "the logs that `urs-inspect import answers` wrote",
    "NAME": "a name",
    _UNKNOWN: "a, b, tie or none",
}
"""What stands in a command where only a person knows -> what to write there."""
_BETWEEN = "-vs-"
_START = re.compile(r"(answer|response|output|model)s?[_-]")
_PERSON = re.compile(r"(?<![a-z])(human|people|person)s?(?![a-z])", re.IGNORECASE)
_NO_SCORE = re.compile(
    r"(^|_)(id|index|rank|epoch|seed|turn)$|len|token|time|price|cost|confidence", re.IGNORECASE
)
_MOST_VALUES = 12


def importable(path: Path, rows: Sequence[Row]) -> Importable | None:
    """What a file holds that `urs-inspect import` takes; None if it does not.

    Raises:
        InputError: If it holds answers of which some cannot be read.
    """
    file = Naming().of_rows(path, rows)
    if not _asked(file):
        return None
    return _pairs(file) or _scores(file) or _answers(Naming().of_rows(path, rows, ANSWER_ALIASES))


def _asked(file: ImportedFile) -> str:
    """What says which question it is; empty if nothing does."""
    return next(filter(file.has, ("question", "question_id")), "")


def _different(file: ImportedFile, *what: str) -> list[str]:
    """Different values of some columns, as texts."""
    values = [row.values.get(file.names[name]) for name in what for row in file.rows]
    return sorted({str(value) for value in values if value not in (None, "")})


def _contents(file: ImportedFile, *models: str) -> dict[str, Any]:
    """How many rows and questions there are, and models where columns name them."""
    counts: dict[str, Any] = {
        "entries": len(file.rows),
        "questions": len(_different(file, _asked(file))),
    }
    if models:
        counts["models"] = len(_different(file, *models))
    return counts


def _found(
    file: ImportedFile,
    kind: str,
    contents: Mapping[str, Any],
    columns: Mapping[str, Any],
    options: Sequence[str],
) -> Importable:
    """What a file holds, with the command that takes it."""
    verb = "verdicts"
    if kind == "answers":
        verb = "answers"
    parts = ["urs-inspect import", verb, shlex.quote(str(file.path))]
    written = " ".join(options)
    if columns:
        mapping = in_one_line(columns)
        parts.append(f"--columns {shlex.quote(mapping)}")
        if _UNKNOWN in mapping:
            written += _UNKNOWN
    command = " ".join([*parts, *options, f"-o {verb}/"])
    advice = f"`{command}` makes logs of it"
    words = [f"{word} ({meaning})" for word, meaning in _PLACEHOLDERS.items() if word in written]
    if words:
        advice += f"; fill in {choices(words)}"
    judged = verb == "verdicts" and file.has("judge")
    return Importable(kind, judged, contents, f"{advice}.")


# --- pairs ---


def _pairs(file: ImportedFile) -> Importable | None:
    """Verdicts of a judge, or votes of people, on pairs."""
    pattern = _name_pattern(file.path)
    sides = next((pair for pair in _SIDES if file.has(*pair)), ())
    if not file.has("verdict") or not (sides or pattern):
        return None
    given = Counter(label_key(row.values.get(file.names["verdict"])) for row in file.rows)
    given.pop("", None)
    models = map(label_key, _different(file, *filter(file.has, _MODELS)))
    unknown = sorted(given.keys() - {*VERDICTS, *models})
    weighted = any("." in key for key in unknown)
    if weighted or len(unknown) > _MOST_VALUES:
        return None
    kind = "verdicts"
    options = []
    contents = _contents(file, *(sides if sides == _MODELS else ()))
    if not sides:
        options.append(f"--file-name {shlex.quote(pattern)}")
    if file.has("judge"):
        contents["judges"] = choices(_different(file, "judge"))
    elif _PERSON.search(file.path.stem):
        kind = "votes of people"
        options.append("--people")
    else:
        options.append("--set judge=NAME")
    if sides == _IDS or not file.has("question"):
        options.append("--answers ANSWERS")
    contents["verdict"] = dict(sorted(given.items()))
    columns = {}
    if unknown:
        columns["verdicts"] = {key: _meaning(key, set(given)) for key in unknown}
    return _found(file, kind, contents, columns, options)


_MODELS = ("model_a", "model_b")
_IDS = ("answer_a_id", "answer_b_id")
_SIDES = (_IDS, _MODELS)


def _name_pattern(path: Path) -> str:
    """A pattern of the two models in a file's name; empty if it does not look like it."""
    first, between, second = path.stem.partition(_BETWEEN)
    if not between:
        return ""
    start = _START.match(first)
    before = ""
    if start and second.startswith(start[0]):
        before = start[0]
    person = _PERSON.search(second)
    end = re.escape(path.suffix)
    if person and second[person.start() - 1] in "-_":
        end = second[person.start() - 1 : person.end()]
    return f"{before}(?P<model_a>.+){_BETWEEN}{before}(?P<model_b>.+){end}"


def _meaning(key: str, given: set[str]) -> str:
    """What a verdict may mean; `?` where only a person knows."""
    numbers = given - {"-1"}
    if key == "-1":
        return "none"  # FastChat's mark of a reply that it could not read
    if key == "3" and numbers <= {"1", "2", "3"}:
        return "tie"
    if key == "0" and numbers == {"0", "1", "2"}:  # beside 1 alone it may be the second answer
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
    by_model = file.has("model")
    if not file.has("answer"):
        return None
    if not by_model and file.names["answer"] in ("answer", "text"):
        return None
    constants = {}
    asked = {}
    options = []
    if not file.has("question"):
        asked = {name: name for name in _different(file, "question_id")}
        options.append("--questions QUESTIONS")
    if not by_model:
        constants["model"] = "NAME"
        options.append("--set model=NAME")
    read = read_answers_file(file.path, Naming(constants=constants), asked, {}, [])
    contents: dict[str, Any] = {
        "answers": len(read),
        "questions": len({one.asked for one in read}),
    }
    if by_model:
        contents["models"] = choices(_different(file, "model"))
    return _found(file, "answers", contents, {}, options)
