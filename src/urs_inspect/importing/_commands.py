"""`urs-inspect import`: answers, verdicts and scores that exist already become logs."""

import re
from pathlib import Path
from typing import Any

import click

from urs_inspect._util import InputError, read_yaml_or_file, visible
from urs_inspect.datasets._columns import Preference, label_meanings
from urs_inspect.importing._files import ALIASES, Naming, of_all, refuse_unknown

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FILES = click.argument("files", nargs=-1, required=True, type=_FILE)
_OUTPUT = click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder to write logs to, or the .eval file where there is one log.",
)


_COLUMNS = click.option(
    "--columns",
    default="{}",
    metavar="MAPPING|FILE",
    help="Names of other columns: '{question: ask, answer: reply}', or a file of YAML.",
)
_SET = click.option(
    "--set",
    "constants",
    multiple=True,
    metavar="NAME=VALUE",
    help="A value of all rows, such as model=lab/name or judge=gpt-4. May be repeated.",
)
_FILE_NAME = click.option(
    "--file-name",
    default="",
    metavar="REGEX",
    help="Values in the names of files, as '(?P<model_a>.+)-vs-(?P<model_b>.+)-gpt4'.",
)


@click.group("import")
def import_() -> None:
    """Make logs of answers, verdicts and scores that exist already, without any model."""


@import_.command()
@_FILES
@_OUTPUT
@_COLUMNS
@_SET
@_FILE_NAME
@click.option(
    "--questions",
    type=_FILE,
    help="A file of question_id and question, for FILES that have only ids of questions.",
)
def answers(
    files: tuple[Path, ...],
    output: Path,
    questions: Path | None,
    columns: str,
    constants: tuple[str, ...],
    file_name: str,
) -> None:
    """Make a log per model of the answers in FILES: .csv, .json or .jsonl in UTF-8.

    Columns are question (or prompt, instruction, input), answer (or output, response, generation,
    completion, text) and model (or generator, model_id); optional are question_id (or id),
    answer_id, reference, intent, language, scenario and group. `model_outputs.json` of AlpacaEval
    is such a file. mad reads the logs (-T responses=DIR), and `inspect score --model none/none`
    judges them, if models have a lab: --set lab=NAME puts NAME/ before those without a slash.
    """
    from urs_inspect.importing._answers import write_answers

    notes: list[str] = []
    naming = _naming(_mapping(columns), constants, file_name)
    written = write_answers(files, naming, questions, output, notes)
    _say(notes, written)


@import_.command()
@_FILES
@_OUTPUT
@_COLUMNS
@_SET
@_FILE_NAME
@click.option(
    "--people",
    is_flag=True,
    help="The verdicts are votes of people, any number on a pair; judge may name the person.",
)
@click.option(
    "--answers",
    "answer_logs",
    multiple=True,
    help="Logs of the answers, by which ids are resolved and texts added. May be repeated.",
)
def verdicts(
    files: tuple[Path, ...],
    output: Path,
    people: bool,
    answer_logs: tuple[str, ...],
    columns: str,
    constants: tuple[str, ...],
    file_name: str,
) -> None:
    """Make logs of the verdicts on pairs, or the scores of answers, in FILES.

    Pairs: question or question_id, model_a and model_b (or answer_a_id and answer_b_id, with
    --answers), judge, verdict (a, b, tie, or a model), and perhaps label, first and reason. The
    answer named first was shown first; both orders are kept. If verdicts have other names,
    --columns '{verdicts: {3: tie}}' says which of a, b, tie and none they mean. `rank --prior`
    reads the log of a judge, `judges` that of labelled pairs.

    Votes, with --people: the same, by choice without judge. The log people.eval holds who won each
    pair, for `rank` and, beside logs of judges, `judges --only bias`; votes.jsonl holds the votes,
    for `rank`.

    Scores: question or question_id, model, judge and score, or, with --columns '{judges: [GPT-4,
    Llama3]}', a column for each judge. There is a log per model, and `compare --scorer JUDGE` reads
    these. With --columns '{label: COLUMN}' people's labels in this column go to labels.csv, for
    `compare --human`.
    """
    from urs_inspect.importing._answers import known_answers
    from urs_inspect.importing._pairs import write_verdicts
    from urs_inspect.importing._scores import write_scores

    names = _mapping(columns)
    refuse_unknown("columns", names, (*ALIASES, "judges", "verdicts"))
    judges = names.pop("judges", [])
    if not isinstance(judges, list):
        raise InputError(f"columns: judges: must be a list such as [GPT-4, Llama3], got {judges}")
    meanings: dict[str, Preference | None] = {}
    if "verdicts" in names:
        meanings, problems = label_meanings(names.pop("verdicts"), "columns: verdicts")
        if problems:
            raise InputError("\n".join(problems))
    naming = _naming(names, constants, file_name)
    notes: list[str] = []
    known = known_answers(answer_logs, notes)
    read = of_all(files, lambda path: [naming.read(path)])
    if all(file.has("model_b") or file.has("answer_b_id") for file in read):
        if judges:
            raise InputError(
                "columns: judges: only of scores; FILES are pairs, whose judge is the column judge,"
                " or --set judge=NAME"
            )
        written = write_verdicts(read, meanings, known, people, output, notes)
    else:
        if meanings or people:
            raise InputError(
                "people, and columns: verdicts: only of pairs; not all FILES have model_a and"
                " model_b, which --columns, --set or --file-name can name"
            )
        label = naming.columns.get("label")
        written = write_scores(read, list(map(str, judges)), label, known, output, notes)
    _say(notes, written)


def _naming(columns: dict[str, Any], constants: tuple[str, ...], file_name: str) -> Naming:
    """How files are read, by three options."""
    common: dict[str, str] = {}
    for text in constants:
        name, _, value = map(str.strip, text.partition("="))
        if not value:
            raise InputError(f"set: must be NAME=VALUE, got '{text}'")
        common[name] = value
    try:
        pattern = re.compile(file_name)
    except re.error as error:
        raise InputError(f"file-name: '{file_name}' is no regular expression: {error}") from None
    for key, column in columns.items():
        if isinstance(column, (dict, list)):
            raise InputError(f"columns: {key}: must be the name of a column, got {column}")
    return Naming({key: str(column) for key, column in columns.items()}, common, pattern)


def _mapping(given: str) -> dict[str, Any]:
    """What --columns says in YAML, or in a file of YAML."""
    mapping = read_yaml_or_file(given, "columns")
    if not isinstance(mapping, dict):
        raise InputError(f"columns: must be a mapping such as {{name: value}}, got '{given}'")
    return {str(key): value for key, value in mapping.items()}


def _say(notes: list[str], written: str) -> None:
    for note in notes:
        click.echo(visible(note), err=True)
    click.echo(written)
