"""A survey file becomes cases: reading, dropping with reasons, removing duplicates."""

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
    Choices,
    Dropped,
    Survey,
    SurveyCase,
)
from urs_inspect.datasets.survey.columns import (
    CONVERSATION,
    INTENT,
    AmbiguousNameError,
    UnknownNameError,
    finder,
    header_hint,
)
from urs_inspect.datasets.survey.duplicates import find_duplicates
from urs_inspect.datasets.survey.personal import check_libraries, find_personal, kinds, mask
from urs_inspect.datasets.survey.questions import NoQuestion, detect_language, first_question, read_transcript


class RowError(Exception):
    """A row makes no case: one of `REASONS`, the column at fault, and what exactly."""

    def __init__(self, reason: str, column: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.column, self.detail = reason, column, detail


@dataclass(frozen=True)
class Candidate:
    """A case before duplicates are looked for, its row, and who asked."""

    row: int
    user: str
    case: SurveyCase


class RowReader:
    """Reads one row.

    Args:
        row: The row.
        options: How it is read.
        labels: How labels become ids.

    Attributes:
        said: What the user said as far as it is known by now; there also if the row turns out to be of no use.
        respelt: Column, label as written, and what it was taken for, of each label that was corrected.
    """

    def __init__(self, row: Row, options: Choices, labels: Vocabulary) -> None:
        self._row, self._options, self._labels = row, options, labels
        self._fields = Fields(row)
        self.said = ""
        self.respelt: list[tuple[str, str, str]] = []

    def read(self, default_id: str) -> Candidate:
        """Make a case of the row.

        Args:
            default_id: Its id, if it has none.

        Raises:
            RowError: If it makes none.
        """
        if self._fields.problems:
            raise RowError(FORMAT, "", self._fields.problems[0])
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
            country=texts["country"],
            service=texts["service"],
            satisfaction=texts["satisfaction"],
            flags=flags,
        )
        return Candidate(self._row.number, texts["user"], case)

    def _check_attention(self) -> None:
        for column, wanted in self._options.attention.items():
            given = self._row.values.get(column)
            if given is None or _plain(given).casefold() != wanted.strip().casefold():
                raise RowError(ATTENTION, column, f"is {shown(given)}; allowed: {wanted}")

    def _question(self) -> str:
        column = self._column(CONVERSATION)
        value = self._row.values.get(column)
        if value is None or (isinstance(value, str) and not value.strip()):
            raise RowError(FORMAT, column, "missing" if value is None else "empty")
        if isinstance(value, str):
            self._checked_text(column)
        try:
            turns = read_transcript(value)
        except InputError as error:
            raise RowError(FORMAT, column, str(error)) from error
        found = first_question(turns)
        if isinstance(found, NoQuestion):
            self.said = next((turn.text for turn in turns), "")
            raise RowError(NO_QUESTION, column, found.detail)
        self.said = found
        if any("\ud800" <= char <= "\udfff" for char in found):
            raise RowError(FORMAT, column, "half a character")
        return found

    def _language(self, question: str) -> str:
        if self._options.language is not None:
            return self._options.language
        if self._text("language"):
            return self._resolved("language", self._labels.language, UNKNOWN_LANGUAGE)
        detected = detect_language(question)
        if not detected:
            raise RowError(
                UNKNOWN_LANGUAGE, "", "neither English nor Chinese by its script; name it in a column 'language'"
            )
        return self._found("", detected, self._labels.language, UNKNOWN_LANGUAGE)

    def _personal(self, texts: Mapping[str, str], language: str, country: str) -> tuple[str, ...]:
        found: dict[str, tuple[str, ...]] = {}
        for what, text in texts.items():
            if text and (names := kinds(find_personal(text, language, country))):
                found[what] = names
        if found and not self._options.keep_flagged:
            what, names = next(iter(found.items()))
            column = self._column(CONVERSATION if what == "question" else what)
            raise RowError(PERSONAL, column, f"{', '.join(names)}; --keep-flagged keeps such rows, marked")
        return tuple(dict.fromkeys(name for names in found.values() for name in names))

    def _resolved(self, what: str, find: Callable[[str], str], reason: str) -> str:
        column, label = self._column(what), self._text(what)
        if not label:
            raise RowError(reason, column, "missing" if column not in self._row.values else "empty")
        return self._found(column, label, find, reason)

    def _found(self, column: str, label: str, find: Callable[[str], str], reason: str) -> str:
        try:
            return find(label)
        except InputError as error:
            if self._options.fix_spelling and isinstance(error, UnknownNameError) and error.nearest:
                self.respelt.append((column, label, error.nearest))
                return error.nearest
            ambiguous = reason == UNKNOWN_INTENT and isinstance(error, AmbiguousNameError)
            raise RowError(AMBIGUOUS_INTENT if ambiguous else reason, column, str(error)) from error

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
            raise RowError(FORMAT, column, self._fields.problems[0].removeprefix(f"column '{column}': "))
        return text

    def _column(self, what: str) -> str:
        names = self._options.mapped.names(what)
        return next((name for name in names if name in self._row.values), names[0])


def _plain(value: object) -> str:
    return str(value).strip()


_MAX_EXCERPT = 80
_MAX_DETAIL = 300


def read_survey(path: Path, vocabulary: Vocabulary, options: Choices | None = None) -> Survey:
    """Read a survey, one conversation a row.

    Steps, in this order: format, attention checks, first valid question, intent, language, personal data, duplicates
    of the same user and of others. A row that fails one is dropped and listed; the first of several duplicates stays.

    Args:
        path: A `.csv` file with a header, or a `.jsonl` file with one object a line; UTF-8. Columns: conversation and
            intent, and optionally user, service, country, satisfaction, language, id and reference.
        vocabulary: How labels become ids.
        options: How it is read.

    Returns:
        Cases and dropped rows. A case without an id of its own is called by the file and the number of its row, as
        `load_urs` would; dropped rows are named by the line that they begin at. Who the user is, is not part of a case.

    Raises:
        InputError: If the file cannot be read, a column that must be there is missing, a label is mapped to nothing
            that exists, or a library is missing.
    """
    options = options or Choices()
    check_libraries()
    labels = Vocabulary(
        finder(options.mapped.intents, vocabulary.intent), finder(options.mapped.languages, vocabulary.language)
    )
    asked = [(column,) for column in options.attention]
    needed = [*options.mapped.required, *asked]
    try:
        rows, unreadable = read_table(path, needed)
    except InputError as error:
        raise InputError(f"{error}{header_hint(path, needed)}") from error
    dropped = [_unreadable(path, fault) for fault in unreadable]
    candidates: list[Candidate] = []
    taken: dict[str, int] = {}
    respelt: Counter[tuple[str, str, str]] = Counter()
    for position, row in enumerate(rows, start=1):
        reader = RowReader(row, options, labels)
        try:
            found = reader.read(f"{path.stem}_{position:04d}")
            if taken.setdefault(found.case.id, row.number) != row.number:
                raise RowError(FORMAT, "id", f"'{found.case.id}' is taken by {row.unit} {taken[found.case.id]}")
            candidates.append(found)
        except RowError as fault:
            detail = _masked(fault.detail, _MAX_DETAIL)
            # Beside what was found there may be more that no rule knows.
            excerpt = "" if fault.reason == PERSONAL else _masked(reader.said, _MAX_EXCERPT)
            dropped.append(Dropped(row.number, fault.reason, fault.column, detail, excerpt))
        respelt.update(reader.respelt)
    repeats = list(_repeats(candidates, options.near))
    gone = {one.row for one in repeats}
    return Survey(
        path=str(path),
        sha256=sha256_of(path),
        rows=len(rows) + len(unreadable),
        cases=tuple(one.case for one in candidates if one.row not in gone),
        dropped=tuple(sorted([*dropped, *repeats], key=lambda one: one.row)),
        near=options.near,
        respelt=respelt,
    )


def _repeats(candidates: list[Candidate], near: float) -> Iterator[Dropped]:
    users = [one.user for one in candidates]
    found = find_duplicates([one.case.question for one in candidates], users, near)
    for position, repeat in found.items():
        one, first = candidates[position], candidates[repeat.of]
        own = one.user != "" and one.user == first.user
        reason = NEAR_ACROSS if not own else DUPLICATE if repeat.same_text else NEAR_DUPLICATE
        detail = f"repeats line {first.row} (similarity {repeat.similarity:.2f})"
        yield Dropped(one.row, reason, "", detail, _masked(one.case.question, _MAX_EXCERPT))


def _unreadable(path: Path, fault: str) -> Dropped:
    place, _, detail = fault.removeprefix(f"{path}: ").partition(": ")
    return Dropped(int(place.rpartition(" ")[2]), FORMAT, "", detail)


def _masked(text: str, most: int) -> str:
    """A text without what may be personal, on one line, cut short."""
    line = " ".join(mask(text, find_personal(text)).split()).encode("utf-8", "replace").decode()
    return line if len(line) <= most else f"{line[: most - 1]}…"
