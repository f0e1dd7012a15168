"""`urs-inspect check`: what is in files of one's own, and what is wrong with them."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import yaml

from urs_inspect._satellites import at, offered
from urs_inspect._util import InputError, choices, counted, read_yaml
from urs_inspect.cli._reports import parse_scale
from urs_inspect.datasets import UrsData, Vocabulary, load_urs
from urs_inspect.datasets._rows import SURPLUS, Row, read_records, read_table, refuse
from urs_inspect.judging import PromptBuilder
from urs_inspect.rubrics import Rubric, load_rubric

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
    "satisfaction": (
        "intent|user_intent satisfaction",
        "reports.numbers._human_data.read_satisfaction",
        "path scale rubric",
    ),
    "leaderboard": ("model rating|rank", "reports.numbers._rankings.read_leaderboard", "path"),
    "pool": ("instruction|question", "discrepancy._pools.load_pool_file", "text"),
}
"""Kind of file -> its keys or columns (where several kinds have as many, the first counts), loader,
arguments.
"""


@cache
def kinds() -> dict[str, tuple[str, str, str]]:
    """All kinds of files; those of satellites come first, since their keys are the rarer ones."""
    found = dict(_CORE_KINDS)
    for address in offered("kinds of files").values():
        found = at(address) | found
    return found


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
    of URS. The exit code is 1 if a file has an error.
    """
    files: dict[str, None] = {}
    for name in named:
        files.update(dict.fromkeys(_files_of(name)))
    recognised = {file: _kind_of(Path(file), kind) for file in files}
    rubric = _rubric_among(recognised)
    cases = _of_kind(recognised, "cases")
    checked = [
        _check_file(file, name, note, rubric, cases, scale)
        for file, (name, note) in recognised.items()
    ]
    if as_json:
        click.echo(json.dumps(list(map(vars, checked)), ensure_ascii=False, indent=2))
    else:
        for one in checked:
            _print_checked(one)
    click.get_current_context().exit(int(any(one.errors for one in checked)))


def _of_kind(recognised: Mapping[str, tuple[str, str]], wanted: str) -> list[str]:
    return [file for file, (kind, _) in recognised.items() if kind == wanted]


def _rubric_among(recognised: Mapping[str, tuple[str, str]]) -> str | None:
    """The rubric by which the other files are checked."""
    rubrics = _of_kind(recognised, "rubric")
    if len(rubrics) > 1 and len(rubrics) < len(recognised):
        raise InputError(
            f"check other files with one rubric at a time; given are {choices(rubrics)}"
        )
    return rubrics[0] if rubrics else None


def _check_file(
    file: str, kind: str, note: str, rubric: str | None, cases: Sequence[str], scale: str | None
) -> _Checked:
    """Read a file as its kind; `note` says what its kind was recognised without."""
    checked = _Checked(file, kind)
    if kind not in kinds():
        checked.errors = [_without_file(note, file)]
        return checked
    try:
        checked.contents = _read(kind, file, rubric, cases, scale)
    except (InputError, OSError) as error:
        errors = str(error).splitlines()
        if note:
            errors.append(note)
        checked.errors = [_without_file(error, file) for error in errors]
    return checked


def _without_file(error: str, file: str) -> str:
    """An error without the name of its file, which is printed before it."""
    return error.removeprefix(f"{Path(file).resolve()}: ").removeprefix(f"{file}: ")


def _print_checked(checked: _Checked) -> None:
    start = f"{checked.file}: {checked.kind}"
    if checked.errors:
        for error in checked.errors:
            click.echo(f"{start}, error: {error}")
        return
    parts: list[str] = []
    for name, part in checked.contents.items():
        value = part
        if isinstance(part, dict):
            value = choices(f"{key} {number:g}" for key, number in part.items())
        parts.append(f"{name} {value}")
    click.echo(f"{start}, ok: {'; '.join(parts)}")


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


def _kind_of(path: Path, kind: str | None) -> tuple[str, str]:
    """The kind that has most of its keys or columns in a file, and a note on those it lacks, or why
    there is none. A `kind` that is given counts for all files but rubrics.
    """
    if path.suffix.lower() in (".jinja", ".j2"):
        return kind or "prompt", ""
    try:
        names = _names(path)
    except (InputError, OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        return (kind, "") if kind else ("unknown", " ".join(str(error).split()))
    best = _best_match(names)
    if kind and (best is None or best.kind != "rubric"):
        return kind, ""
    return _recognised(path, names, best)


def _recognised(path: Path, names: Collection[str], best: "_Match | None") -> tuple[str, str]:
    """What a file is of which nobody said what it is, and a note."""
    if best is not None and best.is_exact:
        return best.kind, ""
    alike = _judged_texts(path, names) if path.suffix.lower() in _TABLES else None
    if alike is not None:
        return alike
    if best is None:
        here = choices(sorted(names)) or "no key or column"
        return "unknown", f"has {here}; name the --kind: {_kinds_with_columns()}"
    if best.lacking:
        lacking = choices(best.lacking)
        return best.kind, f"recognised as {best.kind} without {lacking}; --kind names another"
    return best.kind, ""


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


_PROMPT = ("prompt", "question", "instruction", "query", "input")
_SAVED = ("response", "output", "completion", "generation")
_ALIKE = {
    "pairs": {
        "prompt": _PROMPT,
        "response_a": ("responsea", "response1", "outputa", "output1", "answera", "answer1"),
        "response_b": ("responseb", "response2", "outputb", "output2", "answerb", "answer2"),
        "label": ("label", "winner", "preference", "choice", "verdict", "better"),
    },
    "ratings": {
        "prompt": _PROMPT,
        "response": (*_SAVED, "answer"),
        "rating": ("rating", "score", "humanrating", "humanscore"),
    },
    "answers": {"prompt": _PROMPT, "response": _SAVED},
}
"""Kind of table with texts that are judged -> column -> names that it often has elsewhere, without
punctuation.
"""
_LABELS = ("a", "b", "tie", "model_a", "model_b", "1", "2")
_MOST_LABELS = 5


def _judged_texts(path: Path, names: Collection[str]) -> tuple[str, str] | None:
    """Pairs, ratings or answers under other names of columns, and what to rename.

    None for any other table.
    """
    by_name = {re.sub(r"[\W_]", "", name.lower()): name for name in names}
    for kind, columns in _ALIKE.items():
        here = {column: _first_of(known, by_name) for column, known in columns.items()}
        lacking = [column for column, name in here.items() if not name]
        if not lacking or (kind, lacking) == ("pairs", ["label"]):
            return kind, _advice(path, kind, here)
    return None


def _advice(path: Path, kind: str, here: Mapping[str, str]) -> str:
    """What to rename or add; `here` has the name of each column in the file, empty for none."""
    if kind == "answers":
        return (
            f"prompts ({here['prompt']}) and answers ({here['response']}) without labels:"
            " `urs-inspect samer score` reads them; judge_rating reads the columns prompt,"
            " response and rating"
        )
    task = "judge_pairwise" if kind == "pairs" else "judge_rating"
    notes: list[str] = []
    renamed = [f"{name} to {column}" for column, name in here.items() if name not in ("", column)]
    if renamed:
        notes.append(f"for {task} rename {choices(renamed)}")
    if kind == "pairs":
        notes += _advice_on_labels(path, here["label"])
    return "; ".join(notes)


def _advice_on_labels(path: Path, column: str) -> list[str]:
    if not column:
        return ["add a column label: a, b or tie"]
    others = _other_labels(path, column)
    return [f"in label write a, b or tie for {choices(others)}"] if others else []


def _first_of(known: Sequence[str], by_name: Mapping[str, str]) -> str:
    return next((by_name[name] for name in known if name in by_name), "")


def _other_labels(path: Path, column: str) -> list[str]:
    """Labels, up to five, that no file of pairs may have."""
    labels = dict.fromkeys(str(row.values.get(column)).strip() for row in _rows(path))
    return [label for label in labels if label.lower() not in _LABELS][:_MOST_LABELS]


def _names(path: Path) -> set[str]:
    """Columns of a table, or keys of a mapping and of the mappings in it."""
    if path.suffix.lower() in (".yaml", ".yml"):
        raw = read_yaml(path.read_text(encoding="utf-8-sig"))
        parts = [raw, *raw.values()] if isinstance(raw, dict) else []
        return {str(key) for part in parts if isinstance(part, dict) for key in part}
    names: set[str] = set()
    for row in _rows(path):
        names |= row.values.keys()
    return names - {SURPLUS}


def _rows(path: Path) -> list[Row]:
    rows, errors = read_records(path) if path.suffix.lower() == ".json" else read_table(path, ())
    refuse([] if rows else errors)
    return rows


@dataclass
class _Reader:
    """Reads files with the names of a rubric, and counts those that the rubric does not have."""

    rubric_file: str | None
    cases_files: Sequence[str]
    scale: tuple[float, float]
    unknown: Counter[str] = field(default_factory=Counter)

    def rubric(self) -> Rubric:
        """The rubric among the files, or that of URS."""
        return load_rubric(self.rubric_file)

    def cases(self, file: str) -> UrsData:
        """The cases in a file, which need no references."""
        rubric = self.rubric()
        names = Vocabulary(
            partial(self._look_up, "intent", rubric.intent_id),
            partial(self._look_up, "language", rubric.language_code),
        )
        return load_urs(file, names, need_references=False)

    def countries(self, file: str) -> set[str]:
        """The countries of all cases; without cases, any that a file with traffic may name."""
        if not self.cases_files:
            return _names(Path(file))
        countries: set[str] = set()
        for cases_file in self.cases_files:
            countries.update(row.country for row in self.cases(cases_file).cases)
        return countries

    def read(self, kind: str, file: str) -> Any:
        """What the loader of a kind makes of a file."""
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
            return load(file, scale=self.scale)
        return load(*(arguments[name]() for name in names.split()))

    def _look_up(self, what: str, find: Callable[[str], str], label: str) -> str:
        try:
            return find(label)
        except InputError:
            self.unknown[f"{what} '{label.strip()}'"] += 1
            raise


_MOST_UNKNOWN = 20
_DEFAULT_SCALES = {"satisfaction": "1,5"}


def _read(
    kind: str, file: str, rubric: str | None, cases: Sequence[str], scale: str | None
) -> dict[str, Any]:
    """What is in a file, as the loader of its kind reads it."""
    limits = parse_scale(scale or _DEFAULT_SCALES.get(kind, "1,10"), "scale")
    reader = _Reader(rubric, cases, limits)
    try:
        read = reader.read(kind, file)
    except InputError as error:
        lines = [str(error)]
        for name, rows in reader.unknown.most_common(_MOST_UNKNOWN):
            rubric_name = reader.rubric().name
            lines.append(f"not in the rubric {rubric_name}: {name}, {counted(rows, 'row')}")
        raise InputError("\n".join(lines)) from error
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
