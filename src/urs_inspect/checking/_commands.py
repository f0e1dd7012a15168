"""`urs-inspect check`: what is in files of one's own, and what is wrong with them."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from urs_inspect._util import InputError, choices
from urs_inspect.checking._contents import contents_of
from urs_inspect.checking._recognition import TABLES, Recognised, kind_of, kinds
from urs_inspect.datasets._cases import SKIP_INVALID
from urs_inspect.datasets._columns import ColumnGuess
from urs_inspect.datasets._rows import read_table


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
    recognised = {file: kind_of(Path(file), kind) for file in files}
    rubric = _rubric_among(recognised)
    cases = _of_kind(recognised, "cases")
    checked = [_check_file(file, found, rubric, cases, scale) for file, found in recognised.items()]
    if as_json:
        click.echo(json.dumps(list(map(vars, checked)), ensure_ascii=False, indent=2))
    else:
        for one in checked:
            _print_checked(one)
    click.get_current_context().exit(int(any(one.errors for one in checked)))


_TEXTS = (".yaml", ".yml", ".jinja", ".j2")


def _files_of(name: str) -> list[str]:
    """A file, or the files of a directory that can be checked."""
    if not Path(name).is_dir():
        return [name]
    files = sorted(
        str(path) for path in Path(name).iterdir() if path.suffix.lower() in (*TABLES, *_TEXTS)
    )
    if not files:
        raise InputError(
            f"{name}: no file to check; there could be {choices((*TABLES, *_TEXTS))} files"
        )
    return files


def _of_kind(recognised: Mapping[str, Recognised], wanted: str) -> list[str]:
    return [file for file, found in recognised.items() if found.kind == wanted]


def _rubric_among(recognised: Mapping[str, Recognised]) -> str | None:
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
    file: str, found: Recognised, rubric: str | None, cases: Sequence[str], scale: str | None
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
        checked.contents = contents_of(found.kind, file, rubric, cases, scale, columns)
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
