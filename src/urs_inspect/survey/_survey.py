"""Reads a survey file by what its columns and labels mean: cases, and dropped rows with reasons."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from urs_inspect._util import InputError, choices, did_you_mean, read_yaml_file
from urs_inspect.datasets._cases import Vocabulary
from urs_inspect.datasets._rows import SURROGATE, Fields, Row, read_table, shown
from urs_inspect.rubrics import Rubric
from urs_inspect.survey._case_file import (
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
    shortened,
)
from urs_inspect.survey._near_duplicates import find_duplicates
from urs_inspect.survey._personal import check_libraries, find_personal, kinds, mask
from urs_inspect.survey._questions import (
    NoQuestion,
    detect_language,
    first_question,
    read_transcript,
)
from urs_inspect.survey._vocabulary import LabelError, vocabulary_of

CONVERSATION = "conversation"
INTENT = "intent"

ALIASES: Mapping[str, tuple[str, ...]] = {
    CONVERSATION: (
        "conversation",
        "conversations",
        "messages",
        "dialogue",
        "dialog",
        "transcript",
        "question",
    ),
    INTENT: ("intent", "user_intent"),
    "user": ("user", "user_id", "participant", "participant_id", "respondent"),
    "service": ("service", "llm_service", "llm", "source_llm"),
    "country": ("country",),
    "satisfaction": ("satisfaction",),
    "language": ("language",),
    "id": ("id", "case_id"),
    "reference": ("reference_ans", "reference"),
}
"""What is read, and the names that its column may have without a mapping."""

_NEEDED = (CONVERSATION, INTENT)
_KEYS = ("columns", "intents", "languages", "attention")


@dataclass(frozen=True)
class ColumnMap:
    """What a survey's columns and labels mean."""

    # key of `ALIASES` -> name of its column
    columns: Mapping[str, str] = field(default_factory=dict)
    # label in the survey -> intent of the rubric
    intents: Mapping[str, str] = field(default_factory=dict)
    # label in the survey -> language of the rubric
    languages: Mapping[str, str] = field(default_factory=dict)
    # column of an attention check -> what an attentive person has there, in any case
    attention: Mapping[str, str] = field(default_factory=dict)

    def names(self, what: str) -> tuple[str, ...]:
        """The names that a column may have."""
        if what in self.columns:
            return (self.columns[what],)
        return ALIASES[what]

    @property
    def required(self) -> tuple[tuple[str, ...], ...]:
        """The columns that the file must have, each with its alternative names."""
        wanted = [what for what in ALIASES if what in _NEEDED or what in self.columns]
        attention = [(column,) for column in self.attention]
        return (*map(self.names, wanted), *attention)


def read_mapping(path: Path) -> ColumnMap:
    """Read a YAML file with the keys `columns`, `intents`, `languages` and `attention`, each
    optional.
    """
    raw = read_yaml_file(path, "columns")
    if not isinstance(raw, dict):
        raise InputError(f"{path}: must hold a mapping with the keys {choices(_KEYS)}")
    for key in raw:
        if key not in _KEYS:
            raise InputError(f"{path}: unknown key '{key}'; allowed: {choices(_KEYS)}")
    texts = {key: _texts(raw.get(key) or {}, f"{path}: {key}") for key in _KEYS}
    for what in texts["columns"]:
        if what not in ALIASES:
            raise InputError(
                f"{path}: columns: unknown key '{what}'; allowed: {choices(ALIASES)}"
                f"{did_you_mean(what, ALIASES)}"
            )
    return ColumnMap(**texts)


def _texts(given: object, place: str) -> dict[str, str]:
    if not isinstance(given, dict) or not all(map(_is_text, given.values())):
        raise InputError(f"{place}: must be a mapping of names to texts")
    return {str(name): text.strip() for name, text in given.items()}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


_NEAR = 0.85  # least similarity of near-duplicates
_MAX_EXCERPT = 80
_MAX_DETAIL = 300


class _RowError(Exception):
    """A row makes no case: one of `REASONS`, the column with the error, and what exactly."""

    def __init__(self, reason: str, column: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.column = column
        self.detail = detail


@dataclass(frozen=True)
class _Candidate:
    """A case before the search for duplicates, its row, and who asked."""

    row: int
    user: str
    case: SurveyCase


@dataclass
class _RowReader:
    """Reads one row."""

    row: Row
    columns: ColumnMap
    labels: Vocabulary
    keep_flagged: bool
    fix_spelling: bool
    question: str = ""  # as far as it is known yet, also if the row makes no case
    # column, label as written, and what it was taken for
    respelt: list[tuple[str, str, str]] = field(default_factory=list)

    @cached_property
    def fields(self) -> Fields:
        """The values of the row."""
        return Fields(self.row)

    def read(self, default_id: str) -> _Candidate:
        """Make a case of the row, or raise `_RowError`."""
        if self.fields.problems:
            raise _RowError(FORMAT, "", self.fields.problems[0])
        self._check_attention()
        question = self._question()
        intent = self._resolved(INTENT, self.labels.intent, UNKNOWN_INTENT)
        language = self._language(question)
        identifier = self._text("id") or default_id
        # A reference is an assistant's text; who the user is goes nowhere.
        reference = self._text("reference")
        user = self._text("user")
        typed = {what: self._text(what) for what in ("country", "service", "satisfaction")}
        flags = self._personal(
            {CONVERSATION: question, "id": identifier, **typed}, language, typed["country"]
        )
        case = SurveyCase(
            id=identifier,
            question=question,
            reference=reference,
            intent=intent,
            language=language,
            flags=flags,
            **typed,
        )
        return _Candidate(self.row.number, user, case)

    def _check_attention(self) -> None:
        for column, wanted in self.columns.attention.items():
            given = self.row.values.get(column)
            answer = str(given).strip().casefold()
            is_right = answer == wanted.strip().casefold()
            if given is None or not is_right:
                raise _RowError(ATTENTION, column, f"is {shown(given)}; allowed: {wanted}")

    def _question(self) -> str:
        column = self._column(CONVERSATION)
        value = self.row.values.get(column)
        if value is None:
            raise _RowError(FORMAT, column, "missing")
        if isinstance(value, str):
            if not value.strip():
                raise _RowError(FORMAT, column, "empty")
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
        if SURROGATE.search(question):
            raise _RowError(FORMAT, column, "half a character")
        return question

    def _language(self, question: str) -> str:
        if self._text("language"):
            return self._resolved("language", self.labels.language, UNKNOWN_LANGUAGE)
        detected = detect_language(question)
        if not detected:
            raise _RowError(
                UNKNOWN_LANGUAGE,
                "",
                "neither English nor Chinese by its script; name it in a column 'language'",
            )
        return self._find("", detected, self.labels.language, UNKNOWN_LANGUAGE)

    def _personal(self, texts: Mapping[str, str], language: str, country: str) -> tuple[str, ...]:
        flags: dict[str, None] = {}
        for what, text in texts.items():
            names = kinds(find_personal(text, language, country)) if text else ()
            if names and not self.keep_flagged:
                detail = f"{', '.join(names)}; --keep-flagged keeps such rows, marked"
                raise _RowError(PERSONAL, self._column(what), detail)
            flags |= dict.fromkeys(names)
        return tuple(flags)

    def _resolved(self, what: str, find: Callable[[str], str], reason: str) -> str:
        column = self._column(what)
        label = self._text(what)
        if not label:
            detail = "missing"
            if column in self.row.values:
                detail = "empty"
            raise _RowError(reason, column, detail)
        return self._find(column, label, find, reason)

    def _find(self, column: str, label: str, find: Callable[[str], str], reason: str) -> str:
        try:
            return find(label)
        except LabelError as error:
            if self.fix_spelling and error.nearest:
                self.respelt.append((column, label, error.nearest))
                return error.nearest
            if reason == UNKNOWN_INTENT and error.ambiguous:
                reason = AMBIGUOUS_INTENT
            raise _RowError(reason, column, str(error)) from error

    def _text(self, what: str) -> str:
        """A text or number that may be missing, null or blank."""
        column = self._column(what)
        value = self.row.values.get(column)
        if isinstance(value, float):
            return f"{value:g}"
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if self.fields.blank(column):
            return ""
        return self._checked_text(column).strip()

    def _checked_text(self, column: str) -> str:
        text = self.fields.text(column)
        if self.fields.problems:
            problem = self.fields.problems[0].removeprefix(f"column '{column}': ")
            raise _RowError(FORMAT, column, problem)
        return text

    def _column(self, what: str) -> str:
        names = self.columns.names(what)
        for name in names:
            if name in self.row.values:
                return name
        return names[0]


def read_survey(
    path: Path,
    rubric: Rubric,
    columns: ColumnMap | None = None,
    *,
    keep_flagged: bool = False,
    fix_spelling: bool = False,
) -> Survey:
    """Read a survey, one conversation per row.

    Steps, in this order: format, attention checks, first valid question, intent, language, personal
    data, duplicates of the same user and of others. A row that fails one is dropped and listed; the
    first of several duplicates stays.

    Args:
        path: A `.csv` file with a header, or a `.jsonl` file with one object per line; UTF-8.
            Columns: conversation and intent, and optionally user, service, country, satisfaction,
            language, id and reference.
        rubric: Whose intents and languages the labels mean.
        columns: What columns and labels mean.
        keep_flagged: Keep questions with personal data, marked as such.
        fix_spelling: Take an unknown intent or language for the nearest known one.

    Returns:
        Cases and dropped rows. A case without an id of its own is called by the file and the number
        of its row, as `load_urs` would; dropped rows are named by the line that they begin at. Who
        the user is, is not part of a case.

    Raises:
        InputError: If the file cannot be read, a required column is missing, a label is mapped to
            an unknown id, or a library is missing.
    """
    columns = columns or ColumnMap()
    check_libraries()
    labels = vocabulary_of(rubric, columns.intents, columns.languages)
    try:
        rows, unparsed = read_table(path, columns.required)
    except InputError as error:
        if "missing" not in error.message:
            raise
        raise InputError(f"{error}; a file for --columns can say what a column is called") from None
    dropped = [_unparsed(path, error) for error in unparsed]
    candidates: list[_Candidate] = []
    taken: dict[str, int] = {}
    respelt: Counter[tuple[str, str, str]] = Counter()
    for position, row in enumerate(rows, start=1):
        reader = _RowReader(row, columns, labels, keep_flagged, fix_spelling)
        try:
            candidate = reader.read(f"{path.stem}_{position:04d}")
            name = candidate.case.id
            first = taken.setdefault(name, row.number)
            if first != row.number:
                raise _RowError(FORMAT, "id", f"'{name}' is taken by {row.unit} {first}")
            candidates.append(candidate)
        except _RowError as error:
            detail = _masked(error.detail, _MAX_DETAIL)
            excerpt = ""
            # There may be more personal data than the rules find.
            if error.reason != PERSONAL:
                excerpt = _masked(reader.question, _MAX_EXCERPT)
            dropped.append(Dropped(row.number, error.reason, error.column, detail, excerpt))
        respelt.update(reader.respelt)
    repeats = list(_repeats(candidates))
    repeated = {repeat.row for repeat in repeats}
    kept = [candidate.case for candidate in candidates if candidate.row not in repeated]
    dropped += repeats
    dropped.sort(key=lambda drop: drop.row)
    return Survey(
        path=path,
        rows=len(rows) + len(unparsed),
        cases=tuple(kept),
        dropped=tuple(dropped),
        respelt=respelt,
    )


def _repeats(candidates: list[_Candidate]) -> Iterator[Dropped]:
    questions = [candidate.case.question for candidate in candidates]
    users = [candidate.user for candidate in candidates]
    duplicates = find_duplicates(questions, users, _NEAR)
    for position, duplicate in duplicates.items():
        candidate = candidates[position]
        first = candidates[duplicate.of]
        reason = NEAR_DUPLICATE
        if duplicate.same_text:
            reason = DUPLICATE
        if candidate.user == "" or candidate.user != first.user:
            reason = NEAR_ACROSS
        detail = f"repeats line {first.row} (similarity {duplicate.similarity:.2f})"
        excerpt = _masked(candidate.case.question, _MAX_EXCERPT)
        yield Dropped(candidate.row, reason, "", detail, excerpt)


def _unparsed(path: Path, error: str) -> Dropped:
    place, _, detail = error.removeprefix(f"{path}: ").partition(": ")
    number = int(place.rpartition(" ")[2])
    return Dropped(number, FORMAT, "", detail)


def _masked(text: str, most: int) -> str:
    """A text without what may be personal, on one line, cut short."""
    masked = mask(text, find_personal(text)).encode("utf-8", "replace").decode()
    return shortened(masked, most)


KINDS = {
    "survey_columns": ("columns", "survey._survey:read_mapping", "path"),
    "survey": (
        "conversation|messages|transcript intent|user_intent",
        "survey._survey:read_survey",
        "path rubric",
    ),
}
"""Kinds of files that `urs-inspect check` knows with the survey, as its own table has them."""
