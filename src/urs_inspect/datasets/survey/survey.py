"""Turns a survey of conversations into cases (URS paper, section 3.2)."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from urs_inspect.datasets.rows import read_table
from urs_inspect.datasets.sources import sha256_of
from urs_inspect.datasets.survey.columns import finder, header_hint
from urs_inspect.datasets.survey.duplicates import find_duplicates
from urs_inspect.datasets.survey.libraries import check_libraries
from urs_inspect.datasets.survey.personal import find_personal, mask
from urs_inspect.datasets.survey.row_reader import Candidate, RowError, RowReader
from urs_inspect.datasets.survey.survey_case import (
    DUPLICATE,
    FORMAT,
    NEAR_ACROSS,
    NEAR_DUPLICATE,
    PERSONAL,
    Choices,
    Dropped,
    Survey,
)
from urs_inspect.datasets.tabular import Vocabulary
from urs_inspect.errors import InputError

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
