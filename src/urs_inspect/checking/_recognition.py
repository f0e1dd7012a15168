"""What kind of file one of a person's own is, by its keys or columns."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import yaml

from urs_inspect._satellites import Importable, at, offered
from urs_inspect._util import InputError, choices, read_yaml
from urs_inspect.datasets._columns import ColumnGuess, columns_of, guess_kind
from urs_inspect.datasets._rows import Row, read_table, refuse

_OF_SATELLITE = ("", "", "")
"""Keeps the place of a satellite's kind among those of core."""
_CORE_KINDS = {
    "rubric": (
        "name version criteria|bands|extends intents|languages",
        "rubrics:load_rubric",
        "text",
    ),
    "prices": ("input output", "reports.numbers._costs:load_prices", "path"),
    "traffic": (
        "intents|languages|countries",
        "reports.numbers._traffic:read_traffic",
        "path rubric countries",
    ),
    "prompt": (".jinja", "rubrics:load_rubric", "rubric_path text"),
    "cases": (
        "question|messages reference_ans|reference user_intent|intent language",
        "datasets:load_urs",
        "text",
    ),
    "pairs": ("prompt|messages response_a response_b label", "datasets:load_pairs", "text"),
    "ratings": ("prompt|messages response rating", "datasets:load_ratings", "text scale"),
    "references": (
        "question_sha256 reference source_model",
        "datasets._references:read_reference_file",
        "path",
    ),
    "human_ratings": ("id rating", "reports.numbers._human_data:read_human_ratings", "path scale"),
    "votes": ("model_a model_b winner|data", "logs._battles:read_vote_list", "path"),
    "ballot_votes": ("ballot annotator choice|undo", "annotation:read_votes", "paths"),
    "ballots": (
        "instruction_id model_a model_b response_a response_b",
        "annotation:load_ballots",
        "path",
    ),
    "satisfaction": _OF_SATELLITE,
    "leaderboard": ("model rating|rank", "reports.numbers._rankings:read_leaderboard", "path"),
    "pool": ("instruction|question", "discrepancy._pools:load_pool_file", "text"),
}
"""Kind of file -> its keys or columns (where several kinds have as many, the first counts), the
address of its loader, and the loader's arguments. `scale=` gives a default scale other than 1,10.
"""


@cache
def kinds() -> dict[str, tuple[str, str, str]]:
    """All kinds of files; those of satellites without a place among those of core come first,
    since their keys are the rarer ones.
    """
    known = dict(_CORE_KINDS)
    for address in offered("kinds of files").values():
        added = at(address)
        first = {kind: added[kind] for kind in added if kind not in _CORE_KINDS}
        known = first | known | added
    return {kind: facts for kind, facts in known.items() if facts != _OF_SATELLITE}


TABLES = (".csv", ".jsonl", ".json")
"""Endings of the names of tables."""


@dataclass(frozen=True)
class Recognised:
    """What a file is taken for."""

    kind: str
    note: str = ""  # what it was recognised without, or why it was not
    guess: ColumnGuess | None = None  # what its columns have, where they have other names
    importable: Importable | None = None  # what `urs-inspect import` makes of it


def kind_of(path: Path, kind: str | None) -> Recognised:
    """The kind that has most of its keys or columns in a file.

    A `kind` that is given counts for all files but rubrics.
    """
    if path.suffix.lower() in (".jinja", ".j2"):
        return Recognised(kind or "prompt")
    try:
        names = names_in(path)
    except (InputError, OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        if kind:
            return Recognised(kind)
        return Recognised("unknown", " ".join(str(error).split()))
    best = _best_match(names)
    if kind and (best is None or best.kind != "rubric"):
        return Recognised(kind)
    return _recognised(path, names, best)


def _recognised(path: Path, names: Collection[str], best: "_Match | None") -> Recognised:
    """What a file is whose kind was not given."""
    if best is not None and best.is_exact:
        return Recognised(best.kind)
    rows = []
    if path.suffix.lower() in TABLES:
        rows = _rows(path)
    guess = guess_kind(rows)
    try:
        imported = None
        if rows:
            imported = _importable(path, rows)
    except InputError as error:
        return Recognised("answers", str(error))
    if imported is not None and (imported.judged or guess is None or guess.kind == "answers"):
        return Recognised(imported.kind, importable=imported)
    if guess is not None and guess.kind == "answers":
        return Recognised(guess.kind, _advice_on_answers(guess))
    if guess is not None:
        return Recognised(guess.kind, guess=guess)
    return _by_match(names, best)


def _by_match(names: Collection[str], best: "_Match | None") -> Recognised:
    """What a file is by its keys or columns alone."""
    if best is None:
        if not names:
            return Recognised("unknown", "the file is empty, or has no key or column")
        here = choices(sorted(names))
        return Recognised("unknown", f"has {here}; name the --kind: {_kinds_with_columns()}")
    if best.lacking:
        lacking = choices(best.lacking)
        note = f"recognised as {best.kind} without {lacking}"
        if best.kind != "rubric":
            note += "; --kind names another"
        return Recognised(best.kind, note)
    return Recognised(best.kind)


def _importable(path: Path, rows: Sequence[Row]) -> Importable | None:
    """What the first satellite that recognises a table says of it."""
    for address in offered("importable files").values():
        found: Importable | None = at(address)(path, rows)
        if found is not None:
            return found
    return None


def _advice_on_answers(guess: ColumnGuess) -> str:
    prompt = choices(guess.columns["prompt"])
    response = choices(guess.columns["response"])
    rated = replace(guess, columns={**guess.columns, "rating": ("?",)})
    return (
        f"prompts ({prompt}) and answers ({response}) without labels: `urs-inspect samer score`"
        f" reads them; judge_rating does with a column of ratings: {rated.argument}"
    )


@dataclass(frozen=True)
class _Match:
    """How many keys or columns of a kind a file has, and which it lacks."""

    kind: str
    there: int
    lacking: tuple[str, ...]

    @property
    def is_exact(self) -> bool:
        """Whether nothing is lacking of a kind with several columns."""
        return not self.lacking and self.there > 2


def _best_match(names: Collection[str]) -> _Match | None:
    """The first kind with most columns among these names, of those with half of them at least."""
    best: _Match | None = None
    for kind, (columns, *_) in kinds().items():
        wanted = columns.split()
        lacking = tuple(column for column in wanted if not _is_there(column, names))
        there = len(wanted) - len(lacking)
        if there < max(1, len(lacking)):
            continue
        if best is None or there > best.there:
            best = _Match(kind, there, lacking)
    return best


def _is_there(column: str, names: Collection[str]) -> bool:
    """Whether a column is there under any of its names, which `|` divides."""
    return any(name in names for name in column.split("|"))


def _kinds_with_columns() -> str:
    listed = [f"{kind} ({choices(columns.split())})" for kind, (columns, *_) in kinds().items()]
    return "; ".join(listed)


def names_in(path: Path) -> set[str]:
    """Columns of a table, or keys of a mapping and of the mappings in it."""
    if path.suffix.lower() in (".yaml", ".yml"):
        raw = read_yaml(path.read_text(encoding="utf-8-sig"))
        parts = []
        if isinstance(raw, dict):
            parts = [raw, *raw.values()]
        return {str(key) for part in parts if isinstance(part, dict) for key in part}
    return set(columns_of(_rows(path)))


def _rows(path: Path) -> list[Row]:
    rows, errors = read_table(path, ())
    refuse([] if rows else errors)
    return rows
