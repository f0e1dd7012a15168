"""Reads a survey file: cases, and dropped rows with reasons."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from urs_inspect._util import InputError
from urs_inspect.datasets.cases import Vocabulary
from urs_inspect.datasets.rows import Fields, Row, read_table, shown
from urs_inspect.datasets.sources import sha256_of
from urs_inspect.datasets.survey.case_file import (
    AMBIGUOUS_INTENT,
    ATTENTION,
    DUPLICATE,
    FORMAT,
    NEAR_ACROSS,
    NEAR_DUPLICATE,
    NO_QUESTION,
    PERSONAL,
    UNKNOWN_INTENT,
    UNKNOWN_LANGUAGE,
    Dropped,
    Survey,
    SurveyCase,
    SurveyOptions,
)
from urs_inspect.datasets.survey.columns import (
    CONVERSATION,
    INTENT,
    AmbiguousNameError,
    UnknownNameError,
    finder,
    header_hint,
)
from urs_inspect.datasets.survey.near_duplicates import find_duplicates
from urs_inspect.datasets.survey.personal import check_libraries, find_personal, kinds, mask
from urs_inspect.datasets.survey.questions import NoQuestion, detect_language, first_question, read_transcript

_MAX_EXCERPT = 80
_MAX_DETAIL = 300


class _RowError(Exception):
    """A row makes no case: one of `REASONS`, the column with the error, and what exactly."""

    def __init__(self, reason: str, column: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.column, self.detail = reason, column, detail


@dataclass(frozen=True)
class _Candidate:
    """A case before the search for duplicates, its row, and who asked."""

    row: int
    user: str
    case: SurveyCase


class _RowReader:
    """Reads one row."""

    def __init__(self, row: Row, options: SurveyOptions, labels: Vocabulary) -> None:
        self._row, self._options, self._labels = row, options, labels
        self._fields = Fields(row)
        self.question = ""  # as far as it is known yet, also if the row makes no case
        self.respelt: list[tuple[str, str, str]] = []  # column, label as written, and what it was taken for

    def read(self, default_id: str) -> _Candidate:
        """Make a case of the row, or raise `_RowError`."""
        if self._fields.problems:
            raise _RowError(FORMAT, "", self._fields.problems[0])
        self._check_attention()
        question = self._question()
        intent = self._resolved(INTENT, self._labels.intent, UNKNOWN_INTENT)
        language = self._language(question)
        texts = {what: self._text(what) for what in ("reference", "country", "service", "satisfaction", "user")}
        identifier = self._text("id") or default_id
        # A reference is an assistant's text; who the user is goes nowhere.
        typed = {what: texts[what] for what in ("country", "service", "satisfaction")}
        flags = self._personal({"question": question, "id": identifier, **typed}, language, texts["country"])
        case = SurveyCase(
            id=identifier,
            question=question,
            reference=texts["reference"],
            intent=intent,
            language=language,
            flags=flags,
            **typed,
        )
        return _Candidate(self._row.number, texts["user"], case)

    def _check_attention(self) -> None:
        for column, wanted in self._options.attention.items():
            given = self._row.values.get(column)
            if given is None or str(given).strip().casefold() != wanted.strip().casefold():
                raise _RowError(ATTENTION, column, f"is {shown(given)}; allowed: {wanted}")

    def _question(self) -> str:
        column = self._column(CONVERSATION)
        value = self._row.values.get(column)
        if value is None or (isinstance(value, str) and not value.strip()):
            raise _RowError(FORMAT, column, "missing" if value is None else "empty")
        if isinstance(value, str):
            self._checked_text(column)
        try:
            turns = read_transcript(value)
        except InputError as error:
            raise _RowError(FORMAT, column, str(error)) from error
        question = first_question(turns)
        if isinstance(question, NoQuestion):
            self.question = next((turn.text for turn in turns), "")
            raise _RowError(NO_QUESTION, column, question.detail)
        self.question = question
        if any("\ud800" <= char <= "\udfff" for char in question):
            raise _RowError(FORMAT, column, "half a character")
        return question

    def _language(self, question: str) -> str:
        if self._options.language is not None:
            return self._options.language
        if self._text("language"):
            return self._resolved("language", self._labels.language, UNKNOWN_LANGUAGE)
        detected = detect_language(question)
        if not detected:
            raise _RowError(
                UNKNOWN_LANGUAGE, "", "neither English nor Chinese by its script; name it in a column 'language'"
            )
        return self._find("", detected, self._labels.language, UNKNOWN_LANGUAGE)

    def _personal(self, texts: Mapping[str, str], language: str, country: str) -> tuple[str, ...]:
        flags: dict[str, None] = {}
        for what, text in texts.items():
            names = kinds(find_personal(text, language, country)) if text else ()
            if names and not self._options.keep_flagged:
                column = self._column(CONVERSATION if what == "question" else what)
                raise _RowError(PERSONAL, column, f"{', '.join(names)}; --keep-flagged keeps such rows, marked")
            flags |= dict.fromkeys(names)
        return tuple(flags)

    def _resolved(self, what: str, find: Callable[[str], str], reason: str) -> str:
        column, label = self._column(what), self._text(what)
        if not label:
            raise _RowError(reason, column, "missing" if column not in self._row.values else "empty")
        return self._find(column, label, find, reason)

    def _find(self, column: str, label: str, find: Callable[[str], str], reason: str) -> str:
        try:
            return find(label)
        except InputError as error:
            if self._options.fix_spelling and isinstance(error, UnknownNameError) and error.nearest:
                self.respelt.append((column, label, error.nearest))
                return error.nearest
            ambiguous = reason == UNKNOWN_INTENT and isinstance(error, AmbiguousNameError)
            raise _RowError(AMBIGUOUS_INTENT if ambiguous else reason, column, str(error)) from error

    def _text(self, what: str) -> str:
        """A text or number that may be missing, null or blank."""
        column = self._column(what)
        value = self._row.values.get(column)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return f"{value:g}" if isinstance(value, float) else str(value)
        return "" if self._fields.blank(column) else self._checked_text(column).strip()

    def _checked_text(self, column: str) -> str:
        text = self._fields.text(column)
        if self._fields.problems:
            raise _RowError(FORMAT, column, self._fields.problems[0].removeprefix(f"column '{column}': "))
        return text

    def _column(self, what: str) -> str:
        names = self._options.columns.names(what)
        return next((name for name in names if name in self._row.values), names[0])


def read_survey(path: Path, vocabulary: Vocabulary, options: SurveyOptions | None = None) -> Survey:
    """Read a survey, one conversation per row.

    Steps, in this order: format, attention checks, first valid question, intent, language, personal data, duplicates
    of the same user and of others. A row that fails one is dropped and listed; the first of several duplicates stays.

    Args:
        path: A `.csv` file with a header, or a `.jsonl` file with one object per line; UTF-8. Columns: conversation and
            intent, and optionally user, service, country, satisfaction, language, id and reference.
        vocabulary: How labels become ids.
        options: How the survey is read.

    Returns:
        Cases and dropped rows. A case without an id of its own is called by the file and the number of its row, as
        `load_urs` would; dropped rows are named by the line that they begin at. Who the user is, is not part of a case.

    Raises:
        InputError: If the file cannot be read, a required column is missing, a label is mapped to an unknown id, or a
            library is missing.
    """
    options = options or SurveyOptions()
    check_libraries()
    labels = Vocabulary(
        finder(options.columns.intents, vocabulary.intent), finder(options.columns.languages, vocabulary.language)
    )
    required = [*options.columns.required, *((column,) for column in options.attention)]
    try:
        rows, unparsed = read_table(path, required)
    except InputError as error:
        raise InputError(f"{error}{header_hint(path, required)}") from error
    dropped = [_unparsed(path, error) for error in unparsed]
    candidates: list[_Candidate] = []
    taken: dict[str, int] = {}
    respelt: Counter[tuple[str, str, str]] = Counter()
    for position, row in enumerate(rows, start=1):
        reader = _RowReader(row, options, labels)
        try:
            candidate = reader.read(f"{path.stem}_{position:04d}")
            if (first := taken.setdefault(candidate.case.id, row.number)) != row.number:
                raise _RowError(FORMAT, "id", f"'{candidate.case.id}' is taken by {row.unit} {first}")
            candidates.append(candidate)
        except _RowError as error:
            detail = _masked(error.detail, _MAX_DETAIL)
            # There may be more personal data than the rules find.
            excerpt = "" if error.reason == PERSONAL else _masked(reader.question, _MAX_EXCERPT)
            dropped.append(Dropped(row.number, error.reason, error.column, detail, excerpt))
        respelt.update(reader.respelt)
    repeats = list(_repeats(candidates, options.near))
    repeated = {repeat.row for repeat in repeats}
    return Survey(
        path=str(path),
        sha256=sha256_of(path),
        rows=len(rows) + len(unparsed),
        cases=tuple(candidate.case for candidate in candidates if candidate.row not in repeated),
        dropped=tuple(sorted([*dropped, *repeats], key=lambda drop: drop.row)),
        near=options.near,
        respelt=respelt,
    )


def _repeats(candidates: list[_Candidate], near: float) -> Iterator[Dropped]:
    questions = [candidate.case.question for candidate in candidates]
    duplicates = find_duplicates(questions, [candidate.user for candidate in candidates], near)
    for position, duplicate in duplicates.items():
        candidate, first = candidates[position], candidates[duplicate.of]
        own = candidate.user != "" and candidate.user == first.user
        reason = NEAR_ACROSS if not own else DUPLICATE if duplicate.same_text else NEAR_DUPLICATE
        detail = f"repeats line {first.row} (similarity {duplicate.similarity:.2f})"
        yield Dropped(candidate.row, reason, "", detail, _masked(candidate.case.question, _MAX_EXCERPT))


def _unparsed(path: Path, error: str) -> Dropped:
    place, _, detail = error.removeprefix(f"{path}: ").partition(": ")
    return Dropped(int(place.rpartition(" ")[2]), FORMAT, "", detail)


def _masked(text: str, most: int) -> str:
    """A text without what may be personal, on one line, cut short."""
    line = " ".join(mask(text, find_personal(text)).split()).encode("utf-8", "replace").decode()
    return line if len(line) <= most else f"{line[: most - 1]}…"
