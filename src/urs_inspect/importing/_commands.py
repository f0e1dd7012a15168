"""`urs-inspect import`: answers, verdicts and scores that exist already become logs."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from urs_inspect._util import (
    InputError,
    choices,
    counted,
    read_yaml_or_file,
    visible,
    write_new_file,
)

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

    from urs_inspect.datasets._columns import Preference
    from urs_inspect.importing._answers import ImportedFile, Naming
    from urs_inspect.importing._verdicts import ImportedScore, KnownAnswers

_FILES = click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
_LAB = "lab"
"""Name of a value of all rows of answers that stands before their models."""
_JUDGES = "judges"
_VERDICTS = "verdicts"
"""Keys of --columns beside the names of columns: columns of judges, and what verdicts mean."""
_OUTPUT = click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder to write logs to, or the .eval file where there is one log.",
)


_COLUMNS = click.option(
    "--columns",
    metavar="MAPPING|FILE",
    help="Names of other columns: '{question: ask, answer: said}', or a file of YAML.",
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
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of question_id and question, for FILES that have only ids of questions.",
)
def answers(
    files: tuple[Path, ...],
    output: Path,
    questions: Path | None,
    columns: str | None,
    constants: tuple[str, ...],
    file_name: str | None,
) -> None:
    """Make a log per model of the answers in FILES: .csv, .json or .jsonl in UTF-8.

    Columns are question (or prompt, instruction, input), answer (or output, response, generation,
    completion, text) and model (or generator, model_id); optional are question_id (or id),
    answer_id, reference, intent, language, scenario and group. `model_outputs.json` of AlpacaEval
    is such a file. mad reads the logs (-T responses=DIR), and `inspect score --model none/none`
    judges them, if models have a lab: --set lab=NAME puts NAME/ before those without a slash.
    """
    from urs_inspect.importing._answers import (
        VALUES,
        answer_logs,
        read_answers_file,
        read_questions,
        refuse_twice,
        refuse_unknown,
        with_lab,
        write_logs,
    )

    common = _constants(constants)
    refuse_unknown("set", common, (*VALUES, _LAB))
    lab = common.pop(_LAB, None)
    named = _naming(_mapping(columns, "columns"), common, file_name)
    asked = {} if questions is None else read_questions(questions)
    notes: list[str] = []
    read = _of_all(files, lambda path: read_answers_file(path, named, asked, notes))
    bare = sorted({answer.model for answer in read if "/" not in answer.model})
    if lab is not None:
        read = [with_lab(answer, lab) for answer in read]
    elif bare:
        notes.append(
            f"{counted(len(bare), 'model')} without a slash, such as {bare[0]}: `inspect score`"
            " takes only names such as lab/name; --set lab=NAME puts one before all."
        )
    refuse_twice(((answer.asked, answer.model, "") for answer in read), "answer")
    logs = answer_logs(read, files, notes)
    written = write_logs({log.eval.model: log for log in logs}, output)
    _say(notes)
    models = counted(len(logs), "model")
    click.echo(f"{counted(len(read), 'answer')} of {models} in {_place(output, written)}")


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
    columns: str | None,
    constants: tuple[str, ...],
    file_name: str | None,
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
    from urs_inspect.importing._answers import ALIASES, refuse_unknown
    from urs_inspect.importing._verdicts import KnownAnswers

    names = _mapping(columns, "columns")
    refuse_unknown("columns", map(str, names), (*ALIASES, _JUDGES, _VERDICTS))
    judges = _judges(names.pop(_JUDGES, None))
    meanings = names.pop(_VERDICTS, None)
    means = _meanings(meanings)
    named = _naming(names, _constants(constants), file_name)
    notes: list[str] = []
    known = KnownAnswers(answer_logs, notes)
    read = _of_all(files, lambda path: [named.read(path)])
    if all(file.has("model_b") or file.has("answer_b_id") for file in read):
        if judges:
            raise InputError(
                "columns: judges: only of scores; FILES are pairs, whose judge is the column judge,"
                " or --set judge=NAME"
            )
        write = _write_pairs
        if people:
            write = _write_votes
        write(read, means, known, output, notes)
    else:
        of_pairs = {f"columns: {_VERDICTS}": meanings is not None, "people": people}
        for name, given in of_pairs.items():
            if given:
                raise InputError(
                    f"{name}: only of pairs; not all FILES have model_a and model_b, which"
                    " --columns, --set or --file-name can name"
                )
        _write_scores(read, judges, named.columns.get("label"), known, output, notes)


def _write_pairs(
    files: "list[ImportedFile]",
    meanings: "Mapping[str, Preference | None]",
    known: "KnownAnswers",
    output: Path,
    notes: list[str],
) -> None:
    """Write a log for each judge of pairs, and one of labelled pairs."""
    from urs_inspect.importing._answers import sample_ids, write_logs
    from urs_inspect.importing._verdicts import in_one_order, pair_logs, read_pairs_file

    pairs = _of_all(files, lambda file: read_pairs_file(file, meanings, known))
    asked = [pair.answers[0] for pair in pairs]
    logs = pair_logs(pairs, sample_ids(asked, notes), [file.path for file in files])
    for name, log in logs.items():
        if single := in_one_order(log):
            notes.append(
                f"{name}: {single:,} of {counted(len(log.samples or []), 'pair')} in one order"
                " only; whether the judge prefers a place cannot be seen in these."
            )
    _say_logs(logs, write_logs(logs, output), output, notes)


def _write_votes(
    files: "list[ImportedFile]",
    meanings: "Mapping[str, Preference | None]",
    known: "KnownAnswers",
    output: Path,
    notes: list[str],
) -> None:
    """Write a log of the pairs that people decided, and a file of their votes."""
    from urs_inspect.importing._answers import log_places, sample_ids
    from urs_inspect.importing._verdicts import read_pairs_file
    from urs_inspect.importing._votes import ballot_votes, people_log, refuse_copies
    from urs_inspect.logs._battles import write_copy

    paths = [file.path for file in files]
    refuse_copies(paths)
    pairs = _of_all(files, lambda file: read_pairs_file(file, meanings, known, people=True))
    ids = sample_ids([pair.answers[0] for pair in pairs], notes)
    votes = ballot_votes(pairs, ids)
    if blank := len(pairs) - len(votes):
        notes.append(f"{counted(blank, 'blank vote')}, left out.")
    [place] = log_places(["people"], output)
    file_of_votes = _beside(output, "votes.jsonl")
    write_new_file(file_of_votes, "".join(f"{vote.to_line()}\n" for vote in votes))
    write_copy(people_log(pairs, ids, paths, file_of_votes), place)
    _say(notes)
    ballots = counted(len({vote.ballot for vote in votes}), "pair")
    click.echo(
        f"{counted(len(votes), 'vote')} of people on {ballots} in {place}, one by one in"
        f" {file_of_votes}"
    )


def _beside(output: Path, name: str) -> Path:
    """The place of a further file, which must be free: in the folder of logs, or by a log."""
    place = output / name
    if output.suffix.lower() == ".eval":
        place = output.with_suffix(f".{name}")
    if place.exists():
        raise InputError(f"output: there is a file '{place}' already; name another place")
    return place


def _write_scores(
    files: "list[ImportedFile]",
    judges: list[str],
    label: str | None,
    known: "KnownAnswers",
    output: Path,
    notes: list[str],
) -> None:
    """Write a log for each model with scores, and a file of people's labels."""
    from urs_inspect.importing._answers import refuse_twice, sample_ids, write_logs
    from urs_inspect.importing._verdicts import read_scores_file, score_logs

    read = _of_all(files, lambda file: read_scores_file(file, judges, label, known, notes))
    refuse_twice((score.key for score in read), "score")
    ids = sample_ids([score.answer for score in read], notes)
    labels = [score for score in read if score.judge == label]
    scores = [score for score in read if score.judge != label]
    logs = score_logs(scores, ids, [file.path for file in files])
    file_of_labels = None
    if labels:
        file_of_labels = _beside(output, "labels.csv")
    written = write_logs(logs, output)
    if file_of_labels:
        write_new_file(file_of_labels, _labels_csv(labels, ids))
        notes.append(f"{counted(len(labels), 'label')} of people in {file_of_labels}")
    _say_logs(logs, written, output, notes)


def _say_logs(
    logs: "Mapping[str, EvalLog]", written: list[Path], output: Path, notes: list[str]
) -> None:
    _say(notes)
    click.echo(f"{counted(len(logs), 'log')} in {_place(output, written)}: {choices(logs)}")


_From = TypeVar("_From")
_Read = TypeVar("_Read")


def _of_all(files: Iterable[_From], read: Callable[[_From], list[_Read]]) -> list[_Read]:
    """What is read from all files; refuse them together, each with its own faults."""
    found: list[_Read] = []
    faults: list[str] = []
    for file in files:
        try:
            found += read(file)
        except InputError as error:
            faults.append(error.message)
    if faults:
        raise InputError("\n".join(faults))
    return found


def _labels_csv(labels: "list[ImportedScore]", ids: dict[str, str]) -> str:
    """Labels as `compare --human` reads them."""
    import pandas as pd

    rows = [(ids[label.answer.asked], label.answer.model, label.value) for label in labels]
    return pd.DataFrame(rows, columns=["id", "model", "rating"]).to_csv(index=False)


def _constants(given: tuple[str, ...]) -> dict[str, str]:
    """Values of all rows by name."""
    common: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not value.strip():
            raise InputError(f"set: must be NAME=VALUE, got '{text}'")
        common[name.strip()] = value.strip()
    return common


def _naming(
    columns: Mapping[object, object], common: Mapping[str, str], file_name: str | None
) -> "Naming":
    from urs_inspect.importing._answers import Naming

    try:
        pattern = None if file_name is None else re.compile(file_name)
    except re.error as error:
        raise InputError(f"file-name: '{file_name}' is no regular expression: {error}") from None
    names: dict[str, str] = {}
    for key, name in columns.items():
        if isinstance(name, (dict, list)):
            raise InputError(f"columns: {key}: must be the name of a column, got {name}")
        names[str(key)] = str(name)
    return Naming(names, common, pattern)


def _judges(given: object) -> list[str]:
    """The columns with the scores of a judge each."""
    if given is None:
        return []
    if not isinstance(given, list) or not given:
        raise InputError(f"columns: {_JUDGES}: must be a list such as [GPT-4, Llama3], got {given}")
    return [str(name) for name in given]


def _meanings(given: object) -> "Mapping[str, Preference | None]":
    """What the verdicts of files mean beside the usual ones."""
    from urs_inspect.datasets._columns import label_meanings

    if given is None:
        return {}
    meanings, problems = label_meanings(given, f"columns: {_VERDICTS}")
    if problems:
        raise InputError("\n".join(problems))
    return meanings


def _mapping(given: str | None, option: str) -> dict[object, object]:
    """A mapping that is written in YAML, or in a file of YAML; empty without one."""
    if given is None:
        return {}
    mapping = read_yaml_or_file(given, option)
    if not isinstance(mapping, dict):
        raise InputError(f"{option}: must be a mapping such as {{name: value}}, got '{given}'")
    return mapping


def _place(output: Path, written: list[Path]) -> str:
    return str(output if len(written) > 1 else written[0])


def _say(notes: list[str]) -> None:
    for note in notes:
        click.echo(visible(note), err=True)
