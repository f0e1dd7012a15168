"""`urs-inspect check`: what is in files of one's own, and what is wrong with them."""

import json
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import yaml

from urs_inspect._satellites import Importable, at, offered
from urs_inspect._util import InputError, choices, read_yaml
from urs_inspect.cli._reports import parse_scale
from urs_inspect.datasets import UrsData, Vocabulary, load_urs
from urs_inspect.datasets._cases import SKIP_INVALID
from urs_inspect.datasets._columns import ColumnGuess, columns_of, guess_kind
from urs_inspect.datasets._rows import Row, read_table, refuse
from urs_inspect.judging import PromptBuilder
from urs_inspect.rubrics import Rubric, load_rubric

_OF_SATELLITE = ("", "", "")
"""Keeps the place of a satellite's kind among those of core."""
_CORE_KINDS = {
    "rubric": (
        "name version criteria|bands|extends intents|languages",
        "rubrics.load_rubric",
        "text",
    ),
    "prices": ("input output", "reports.numbers._costs.load_prices", "path"),
    "traffic": (
        "intents|languages|countries",
        "reports.numbers._traffic.read_traffic",
        "path rubric countries",
    ),
    "prompt": (".jinja", "rubrics.load_rubric", "rubric_path text"),
    "cases": (
        "question|messages reference_ans|reference user_intent|intent language",
        "datasets.load_urs",
        "text",
    ),
    "pairs": ("prompt|messages response_a response_b label", "datasets.load_pairs", "text"),
    "ratings": ("prompt|messages response rating", "datasets.load_ratings", "text scale"),
    "references": (
        "question_sha256 reference source_model",
        "datasets._references.read_reference_file",
        "path",
    ),
    "human_ratings": ("id rating", "reports.numbers._human_data.read_human_ratings", "path scale"),
    "votes": ("model_a model_b winner|data", "logs._battles.read_vote_list", "path"),
    "ballot_votes": ("ballot annotator choice|undo", "annotation.read_votes", "paths"),
    "ballots": (
        "instruction_id model_a model_b response_a response_b",
        "annotation.load_ballots",
        "path",
    ),
    "satisfaction": _OF_SATELLITE,
    "leaderboard": ("model rating|rank", "reports.numbers._rankings.read_leaderboard", "path"),
    "pool": ("instruction|question", "discrepancy._pools.load_pool_file", "text"),
}
"""Kind of file -> its keys or columns (where several kinds have as many, the first counts), loader,
arguments; a scale that is not 1,10 where nobody names it stands behind `scale=`.
"""


@cache
def kinds() -> dict[str, tuple[str, str, str]]:
    """All kinds of files; those of satellites without a place among those of core come first,
    since their keys are the rarer ones.
    """
    found = dict(_CORE_KINDS)
    for address in offered("kinds of files").values():
        added = at(address)
        first = {kind: added[kind] for kind in added if kind not in _CORE_KINDS}
        found = first | found | added
    return {kind: known for kind, known in found.items() if known != _OF_SATELLITE}


def _known_kind(context: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """A kind that is known; they are looked up when one is given, not on import."""
    if given is None:
        return None
    chosen: str = click.Choice(list(kinds())).convert(given, option, context)
    return chosen


@dataclass
class _Checked:
    """What is in a file, or what is wrong with it."""

    file: str
    kind: str
    contents: dict[str, Any] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)


@click.command()
@click.argument("named", metavar="FILES...", nargs=-1, required=True)
@click.option(
    "--kind",
    metavar="KIND",
    callback=_known_kind,
    help="What FILES are, rubrics aside, if not recognised; an unknown kind lists all.",
)
@click.option(
    "--scale",
    metavar="LOW,HIGH",
    help="Of ratings, by default 1,10; of satisfaction, by default 1,5.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(named: tuple[str, ...], kind: str | None, scale: str | None, as_json: bool) -> None:
    """Say what is in FILES of your own and what is wrong with them, without a model.

    Of a directory, as `new` writes it, the tables, rubrics and prompts in it are checked, not those
    further below. Each is recognised by its columns or keys and read as its task or command reads
    it. What names intents or languages is checked against the rubric among FILES, else against that
    of URS. The exit code is 0 if each file can be used as it is, or by the import that is printed;
    it is 1 if one has an error, as where a task needs the `columns` that are printed.
    """
    files: dict[str, None] = {}
    for name in named:
        files.update(dict.fromkeys(_files_of(name)))
    recognised = {file: _kind_of(Path(file), kind) for file in files}
    rubric = _rubric_among(recognised)
    cases = _of_kind(recognised, "cases")
    checked = [_check_file(file, found, rubric, cases, scale) for file, found in recognised.items()]
    if as_json:
        click.echo(json.dumps(list(map(vars, checked)), ensure_ascii=False, indent=2))
    else:
        for one in checked:
            _print_checked(one)
    click.get_current_context().exit(int(any(one.errors for one in checked)))


@dataclass(frozen=True)
class _Recognised:
    """What a file is taken for."""

    kind: str
    note: str = ""  # what it was recognised without, or why it was not
    guess: ColumnGuess | None = None  # what its columns have, where they have other names
    importable: Importable | None = None  # what `urs-inspect import` makes of it


def _of_kind(recognised: Mapping[str, _Recognised], wanted: str) -> list[str]:
    return [file for file, found in recognised.items() if found.kind == wanted]


def _rubric_among(recognised: Mapping[str, _Recognised]) -> str | None:
    """The rubric by which the other files are checked."""
    rubrics = _of_kind(recognised, "rubric")
    if len(rubrics) > 1 and len(rubrics) < len(recognised):
        raise InputError(
            f"check other files with one rubric at a time; given are {choices(rubrics)}"
        )
    if rubrics:
        return rubrics[0]
    return None


def _check_file(
    file: str, found: _Recognised, rubric: str | None, cases: Sequence[str], scale: str | None
) -> _Checked:
    """Read a file as its kind, under the names of columns that it has."""
    checked = _Checked(file, found.kind)
    guess = found.guess
    if found.importable is not None:
        checked.contents = dict(found.importable.contents)
        checked.advice = [found.importable.advice]
        _, errors = read_table(Path(file), ())
        checked.errors = [_without_file(error, file) for error in errors]
        return checked
    if found.kind not in kinds():
        checked.errors = [_without_file(found.note, file)]
        return checked
    if guess is not None:
        checked.errors = [_needs(file, guess, scale)]
        if guess.is_open:
            return checked
    try:
        columns = None
        if guess:
            columns = guess.mapping
        checked.contents = _read(found.kind, file, rubric, cases, scale, columns)
    except (InputError, OSError) as error:
        _note_faults(checked, error, found.note)
    if checked.contents.get("without reference"):
        checked.advice.append(
            "A run refuses rows without a reference, unless -T references=FILE gives it."
        )
    return checked


def _note_faults(checked: _Checked, error: Exception, note: str) -> None:
    """Note why a file could not be read, and what it was recognised without."""
    for line in str(error).splitlines():
        notes = checked.errors
        if line == SKIP_INVALID:
            notes = checked.advice
        notes.append(_without_file(line, checked.file))
    if note:
        checked.errors.append(note)


def _needs(file: str, guess: ColumnGuess, scale: str | None) -> str:
    """The command that reads a file under the names of its columns, as far as these are clear."""
    task = "judge_rating"
    if guess.kind == "pairs":
        task = "judge_pairwise"
    needed = guess.argument
    if guess.kind == "ratings":
        needed += f" -T scale={scale or 'LOWEST,HIGHEST'}"
    with_labels = "answers with ratings"
    if guess.kind == "pairs":
        with_labels = "pairs with labels"
    command = f"inspect eval urs_inspect/{task} -T bench={shlex.quote(file)} {needed}"
    filled = ""
    if guess.is_open:
        filled = "; in place of ? write a column, or of a label a, b, tie or none"
    return f"{with_labels}: needs columns=, perhaps {command}{filled}"


def _without_file(error: str, file: str) -> str:
    """An error without the name of its file, which is printed before it."""
    return error.removeprefix(f"{Path(file).resolve()}: ").removeprefix(f"{file}: ")


def _print_checked(checked: _Checked) -> None:
    start = f"{checked.file}: {checked.kind}"
    if checked.errors:
        for error in checked.errors:
            click.echo(f"{start}, error: {error}")
        if checked.contents:
            click.echo(f"{start}, with these columns: {_told(checked.contents)}")
    else:
        click.echo(f"{start}, ok: {_told(checked.contents)}")
    for sentence in checked.advice:
        click.echo(f"{checked.file}: {sentence}")


def _told(contents: Mapping[str, Any]) -> str:
    parts: list[str] = []
    for name, part in contents.items():
        value = part
        if name == "scale":
            parts.append("read as {:g} to {:g} (another scale: --scale LOW,HIGH)".format(*part))
            continue
        if isinstance(part, dict):
            value = choices(f"{key} {number:g}" for key, number in part.items())
        parts.append(f"{name} {value}")
    return "; ".join(parts)


_TABLES = (".csv", ".jsonl", ".json")
_TEXTS = (".yaml", ".yml", ".jinja", ".j2")


def _files_of(name: str) -> list[str]:
    """A file, or the files of a directory that can be checked."""
    if not Path(name).is_dir():
        return [name]
    files = sorted(
        str(path) for path in Path(name).iterdir() if path.suffix.lower() in (*_TABLES, *_TEXTS)
    )
    if not files:
        raise InputError(
            f"{name}: no file to check; there could be {choices((*_TABLES, *_TEXTS))} files"
        )
    return files


def _kind_of(path: Path, kind: str | None) -> _Recognised:
    """The kind that has most of its keys or columns in a file.

    A `kind` that is given counts for all files but rubrics.
    """
    if path.suffix.lower() in (".jinja", ".j2"):
        return _Recognised(kind or "prompt")
    try:
        names = _names(path)
    except (InputError, OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        if kind:
            return _Recognised(kind)
        return _Recognised("unknown", " ".join(str(error).split()))
    best = _best_match(names)
    if kind and (best is None or best.kind != "rubric"):
        return _Recognised(kind)
    return _recognised(path, names, best)


def _recognised(path: Path, names: Collection[str], best: "_Match | None") -> _Recognised:
    """What a file is of which nobody said what it is."""
    if best is not None and best.is_exact:
        return _Recognised(best.kind)
    rows = []
    if path.suffix.lower() in _TABLES:
        rows = _rows(path)
    guess = guess_kind(rows)
    try:
        imported = None
        if rows:
            imported = _importable(path, rows)
    except InputError as error:
        return _Recognised("answers", str(error))
    if imported is not None and (imported.judged or guess is None or guess.kind == "answers"):
        return _Recognised(imported.kind, importable=imported)
    if guess is not None and guess.kind == "answers":
        return _Recognised(guess.kind, _advice_on_answers(guess))
    if guess is not None:
        return _Recognised(guess.kind, guess=guess)
    return _by_match(names, best)


def _by_match(names: Collection[str], best: "_Match | None") -> _Recognised:
    """What a file is by its keys or columns alone."""
    if best is None:
        if not names:
            return _Recognised("unknown", "the file is empty, or has no key or column")
        here = choices(sorted(names))
        return _Recognised("unknown", f"has {here}; name the --kind: {_kinds_with_columns()}")
    if best.lacking:
        lacking = choices(best.lacking)
        note = f"recognised as {best.kind} without {lacking}"
        if best.kind != "rubric":
            note += "; --kind names another"
        return _Recognised(best.kind, note)
    return _Recognised(best.kind)


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


def _names(path: Path) -> set[str]:
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


@dataclass
class _Reader:
    """Reads files with the names of a rubric."""

    rubric_file: str | None
    cases_files: Sequence[str]
    scale: tuple[float, float]

    def rubric(self) -> Rubric:
        """The rubric among the files, or that of URS."""
        return load_rubric(self.rubric_file)

    def cases(self, file: str) -> UrsData:
        """The cases in a file, which need no references."""
        rubric = self.rubric()
        names = Vocabulary(rubric.intent_id, rubric.language_code)
        return load_urs(file, names, need_references=False)

    def countries(self, file: str) -> set[str]:
        """The countries of all cases; without cases, any that a file with traffic may name."""
        if not self.cases_files:
            return _names(Path(file))
        countries: set[str] = set()
        for cases_file in self.cases_files:
            countries.update(row.country for row in self.cases(cases_file).cases)
        return countries

    def read(self, kind: str, file: str, columns: Mapping[str, Any] | None = None) -> Any:
        """What the loader of a kind makes of a file, with names of columns as of `load_pairs`."""
        if kind == "cases":
            return self.cases(file)
        _, address, names = kinds()[kind]
        module, _, name = address.rpartition(".")
        load = getattr(import_module(f"urs_inspect.{module}"), name)
        arguments: dict[str, Callable[[], Any]] = {
            "path": lambda: Path(file),
            "paths": lambda: [Path(file)],
            "text": lambda: file,
            "scale": lambda: self.scale,
            "rubric": self.rubric,
            "rubric_path": lambda: self.rubric_file,
            "countries": lambda: self.countries(file),
        }
        if kind == "ratings":
            return load(file, scale=self.scale, columns=columns)
        if kind == "pairs":
            return load(file, columns=columns)
        return load(*(arguments[name.partition("=")[0]]() for name in names.split()))


def _usual_scale(kind: str) -> str:
    """The scale of a kind of files where nobody names it."""
    for name in kinds()[kind][2].split():
        argument, _, scale = name.partition("=")
        if argument == "scale" and scale:
            return scale
    return "1,10"


def _read(
    kind: str,
    file: str,
    rubric: str | None,
    cases: Sequence[str],
    scale: str | None,
    columns: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What is in a file, as the loader of its kind reads it."""
    limits = parse_scale(scale or _usual_scale(kind), "scale")
    read = _Reader(rubric, cases, limits).read(kind, file, columns)
    refuse(getattr(read, "errors", ()))
    if isinstance(read, Rubric):
        return _contents_of_rubric(kind, read)
    if kind == "traffic":
        return dict(read.shares)
    if kind == "pool":
        read = read[-1]
    contents = _contents_of_rows(kind, read)
    if "scale" in kinds()[kind][2]:
        contents = {"entries": contents.pop("entries"), "scale": limits, **contents}
    return contents


def _contents_of_rubric(kind: str, rubric: Rubric) -> dict[str, Any]:
    PromptBuilder(rubric)  # renders every prompt, or says what is wrong with it
    contents: dict[str, Any] = {"rubric": f"{rubric.name} {rubric.version}"}
    if kind == "rubric":
        for part in ("intents", "criteria", "languages", "bands"):
            contents[part] = choices(getattr(rubric, part))
    return contents


_ROWS = ("cases", "ratings", "rows", "usable", "votes", "own", "columns")
"""Where the loaders of several kinds keep what they read."""
_COUNTED = ("intent", "group", "language", "label", "choice", "rater", "source")


def _contents_of_rows(kind: str, read: Any) -> dict[str, Any]:
    """How many entries there are, and how often each label occurs in them."""
    items = read
    for name in _ROWS:
        if hasattr(read, name):
            items = getattr(read, name)
            break
    contents: dict[str, Any] = {"entries": len(items)}
    for name in _COUNTED:
        values = Counter(str(value) for item in items if (value := getattr(item, name, "")))
        if values:
            contents[name] = dict(sorted(values.items()))
    if kind == "cases":
        blank = sum(not case.reference.strip() for case in items)
        if blank:
            contents["without reference"] = blank
    for name in ("dropped", "skipped"):
        if getattr(read, name, ()):
            contents[name] = len(getattr(read, name))
    return contents
