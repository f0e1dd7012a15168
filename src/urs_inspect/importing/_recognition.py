"""What `urs-inspect import` takes: the kind of a file by its columns and name, and the command."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from urs_inspect._util import choices
from urs_inspect.cli._check import Importable
from urs_inspect.datasets._columns import columns_of, guess_meaning, in_one_line, plain_name
from urs_inspect.datasets._rows import Fields, Row, label_key
from urs_inspect.importing._answers import ALIASES, Naming, read_answers_file
from urs_inspect.importing._verdicts import VERDICTS, score_in

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
    table = _Table(path, rows, _names(columns_of(rows)))
    return _pairs(table) or _scores(table) or _answers(table)


def _names(present: Sequence[str]) -> dict[str, str]:
    """The column of each thing that is read: its usual name, else the nearest; empty without."""
    nearest = {plain_name(column): column for column in present}
    names: dict[str, str] = {}
    for what, aliases in ALIASES.items():
        usual = [alias for alias in aliases if alias in present]
        plain = map(plain_name, aliases)
        near = [nearest[alias] for alias in plain if alias in nearest]
        names[what] = next(iter([*usual, *near]), "")
    return names


@dataclass(frozen=True)
class _Table:
    """A file, and which of its columns are read."""

    path: Path
    rows: Sequence[Row]
    names: Mapping[str, str]

    def has(self, *what: str) -> bool:
        """Whether there is a column for each."""
        return all(self.names[name] for name in what)

    def values(self, what: str) -> Iterator[Any]:
        """The values of what has a column."""
        column = self.names[what]
        return (row.values.get(column) for row in self.rows if column)

    def different(self, *what: str) -> list[str]:
        """Different values of some columns, as texts."""
        values = chain.from_iterable(map(self.values, what))
        return sorted({str(value) for value in values if value not in (None, "")})

    @property
    def asked(self) -> str:
        """What says which question it is; empty if nothing does."""
        return next(filter(self.has, ("question", "question_id")), "")

    def counted(self, *models: str) -> dict[str, Any]:
        """How many rows and questions there are, and models where columns name them."""
        counts: dict[str, Any] = {
            "entries": len(self.rows),
            "questions": len(self.different(self.asked)),
        }
        if models:
            counts["models"] = len(self.different(*models))
        return counts

    def renamed(self, *what: str) -> dict[str, str]:
        """Columns that only `--columns` can name."""
        columns = {name: self.names[name] for name in what}
        return {
            name: column
            for name, column in columns.items()
            if column and column not in ALIASES[name]
        }

    def found(
        self,
        kind: str,
        contents: Mapping[str, Any],
        columns: Mapping[str, Any],
        options: Sequence[str],
    ) -> Importable:
        """What the file holds, with the command."""
        verb = "verdicts"
        if kind == "answers":
            verb = "answers"
        parts = ["urs-inspect import", verb, shlex.quote(str(self.path))]
        given = list(options)
        if columns:
            given.insert(0, f"--columns {shlex.quote(in_one_line(columns))}")
        command = " ".join([*parts, *given, f"-o {verb}/"])
        judged = verb == "verdicts" and self.has("judge")
        advice = f"`{command}` makes logs of it"
        waiting = [f"{word} ({meaning})" for word, meaning in _waiting(given).items()]
        if waiting:
            advice += f"; fill in {choices(waiting)}"
        return Importable(kind, judged, contents, f"{advice}.")


def _waiting(options: Sequence[str]) -> dict[str, str]:
    """Placeholders in options, and what they stand for."""
    words = set()
    for option in options:
        last_word = option.rpartition(" ")[2]
        words.add(last_word.rpartition("=")[2])
    if any(_UNKNOWN in option for option in options):
        words.add(_UNKNOWN)
    return {word: meaning for word, meaning in _PLACEHOLDERS.items() if word in words}


# --- pairs ---


def _pairs(table: _Table) -> Importable | None:
    """Verdicts of a judge, or votes of people, on pairs."""
    pattern = _name_pattern(table.path)
    sides = next((pair for pair in _SIDES if table.has(*pair)), None)
    if not table.asked or not table.has("verdict"):
        return None
    if not sides and not pattern:
        return None
    given = Counter(label_key(value) for value in table.values("verdict"))
    given.pop("", None)
    models = map(label_key, table.different("model_a", "model_b"))
    known = {*VERDICTS, *models}
    unknown = sorted(given.keys() - known)
    weighted = any("." in key for key in unknown)
    if weighted or len(unknown) > _MOST_VALUES:
        return None
    names_people = bool(_PERSON.search(table.path.stem))
    people = names_people and not table.has("judge")
    options = []
    if not sides:
        options.append(f"--file-name {shlex.quote(pattern)}")
    if people:
        options.append("--people")
    elif not table.has("judge"):
        options.append("--set judge=NAME")
    if sides == _IDS or not table.has("question"):
        options.append("--answers ANSWERS")
    kind = "verdicts"
    if people:
        kind = "votes of people"
    contents = table.counted(*sides) if sides == _MODELS else table.counted()
    if table.has("judge"):
        contents["judges"] = choices(table.different("judge"))
    contents["verdict"] = dict(sorted(given.items()))
    read = (table.asked, "verdict", "judge", *(sides or ()))
    columns: dict[str, Any] = table.renamed(*read)
    if unknown:
        columns["verdicts"] = {key: _meaning(key, set(given)) for key in unknown}
    return table.found(kind, contents, columns, options)


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
    if key == "-1":
        return "none"  # FastChat's mark of a reply that it could not read
    numbers = given - {"-1"}
    if key == "3":
        if numbers <= {"1", "2", "3"}:
            return "tie"
        return "?"
    if key == "0":  # which beside 1 alone may as well be the second answer
        if numbers == {"0", "1", "2"}:
            return "tie"
        return "?"
    return guess_meaning(key)


# --- scores ---


def _scores(table: _Table) -> Importable | None:
    """Scores of answers, by a column of the judge or a column of each judge."""
    if not table.asked or not table.has("model"):
        return None
    contents = table.counted("model")
    named = table.has("judge", "score")
    judges = []
    if named:
        judges = table.different("judge")
    columns: dict[str, Any] = {}
    read = [table.asked, "model"]
    if named:
        read += ["judge", "score"]
    else:
        scored = list(_scored_columns(table))
        label = next((column for column in scored if _PERSON.search(column)), "")
        judges = [column for column in scored if column != label]
        if not judges:
            return None
        columns["judges"] = judges
        if label:
            columns["label"] = label
            contents["labels"] = label
    contents["judges"] = choices(judges)
    all_columns = {**table.renamed(*read), **columns}
    return table.found("scores", contents, all_columns, [])


def _scored_columns(table: _Table) -> Iterator[str]:
    """Columns in which each value is a score, and which are not read as anything else."""
    read = {table.names[what] for what in ("question", "question_id", "model", "answer")}
    for column in columns_of(table.rows):
        values = [row.values.get(column) for row in table.rows]
        texts = {str(value).strip() for value in values if value is not None}
        given = texts - {""}
        if column in read or _NO_SCORE.search(column):
            continue
        if not given or len(given) > _MOST_VALUES:
            continue
        if all(_is_score(row, column) for row in table.rows):
            yield column


def _is_score(row: Row, column: str) -> bool:
    """Whether a value is blank, or a score as `import verdicts` reads it."""
    fields = Fields(row)
    return fields.blank(column) or score_in(fields, column) is not None


# --- answers ---


def _answers(table: _Table) -> Importable | None:
    """Answers of models; a file of questions with `answer` and no model may be anything."""
    answer = table.names["answer"]
    if not answer and table.has("model") and "text" in columns_of(table.rows):
        answer = "text"
    by_model = table.has("model")
    if not table.asked or not answer:
        return None
    if not by_model and answer in ("answer", "text"):
        return None
    renamed = table.renamed(table.asked, "model", "answer")
    constants = {}
    asked = {}
    options = []
    if not table.has("question"):
        asked = {name: name for name in table.different("question_id")}
        options.append("--questions QUESTIONS")
    if not by_model:
        constants["model"] = "NAME"
        options.append("--set model=NAME")
    read = read_answers_file(table.path, Naming(renamed, constants), asked, [])
    contents: dict[str, Any] = {
        "answers": len(read),
        "questions": len({answer_read.asked for answer_read in read}),
    }
    if by_model:
        contents["models"] = choices(table.different("model"))
    return table.found("answers", contents, renamed, options)
