"""`urs-inspect demo`, `new` and `check`: a run with simulated models, files of one's own, what is
wrong with them.
"""

import json
import re
import shlex
import shutil
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import yaml
from rich.console import Console
from rich.markup import escape

from urs_inspect._satellites import at, offered
from urs_inspect._util import InputError, choices, counted, read_yaml
from urs_inspect.cli._reports import parse_scale, print_tables
from urs_inspect.datasets import UrsData, Vocabulary, load_urs
from urs_inspect.datasets._rows import SURPLUS, Row, read_records, read_table, refuse
from urs_inspect.judging import PromptBuilder
from urs_inspect.rubrics import Rubric, load_rubric


@click.command()
@click.option("--log-dir", default="logs/demo", show_default=True, help="Where the logs go.")
def demo(log_dir: str) -> None:
    """Run URS on the embedded cases with simulated models: no key, no network, no cost."""
    from inspect_ai import eval as inspect_eval

    from urs_inspect.providers import SIMULATION
    from urs_inspect.tasks import urs

    console = Console()
    console.print(
        "[bold red]SIMULATION[/bold red]: the answers and judgements below come from simple rules,"
        " not from language models. They show how a run looks; the scores mean nothing.\n"
    )
    logs = inspect_eval(
        urs(dataset="sample"),
        model=[f"{SIMULATION}/strong", f"{SIMULATION}/weak"],
        model_roles={"grader": f"{SIMULATION}/judge"},
        log_dir=log_dir,
        tags=["simulation"],
        display="none",
    )
    failed = [log for log in logs if log.status != "success"]
    if failed:
        raise click.ClickException(
            f"the run ended with status '{failed[0].status}': {failed[0].error}"
        )
    print_tables([log.location for log in logs], console)
    command = f"{_inspect()} view --log-dir {shlex.quote(log_dir)}"
    console.print(
        f"\nLook at every answer and judgement:  [bold]{escape(command)}[/bold]", soft_wrap=True
    )


def _inspect() -> str:
    """How a shell in this directory calls the harness of this environment, whether that is
    activated or not.
    """
    own = shutil.which("inspect", path=sysconfig.get_path("scripts"))
    if own is None:
        return shlex.join([sys.executable, "-m", "inspect_ai"])
    on_path = shutil.which("inspect")
    if on_path is not None and Path(on_path).samefile(own):
        return "inspect"
    below = Path(own).parent != Path.cwd() and Path(own).is_relative_to(Path.cwd())
    return shlex.quote(str(Path(own).relative_to(Path.cwd())) if below else own)


@click.command()
@click.argument("kind", type=click.Choice(["rubric", "cases", "pairs"]))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
def new(kind: str, folder: Path) -> None:
    """Write files to start from into DIR, and print the commands that run them.

    rubric: intents, criteria and bands of your own, the judge's prompt, and cases. cases: questions
    of your own users with reference answers, for the URS rubric. pairs: labelled pairs and rated
    answers, to test a judge.
    """
    package = Path(__file__).parents[1]
    sources = sorted((package / "cli" / "templates" / kind).iterdir())
    sources += (
        [package / "rubrics" / "urs" / "frame.en.jinja"] if kind == "rubric" else []
    )  # a prompt to start from
    contents = {folder / source.name: source.read_bytes() for source in sources}
    if taken := [path for path in contents if path.exists() or path.is_symlink()]:
        raise InputError(
            f"nothing was written, because there is already {choices(taken)}; name another folder"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in contents.items():
            path.write_bytes(content)
    except OSError as error:
        raise InputError(f"cannot write to '{folder}': {error.strerror or error}") from error
    commands = (package / "cli" / "templates" / f"{kind}.txt").read_text(encoding="utf-8")
    click.echo(
        f"Wrote {choices(contents)}.\n\n{commands.replace('{dir}', shlex.quote(str(folder)))}",
        nl=False,
    )


_KINDS = {
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
for _address in offered("kinds of files").values():
    _KINDS = at(_address) | _KINDS  # their keys are the rarer ones


@click.command()
@click.argument("named", metavar="FILES...", nargs=-1, required=True)
@click.option(
    "--kind",
    type=click.Choice(list(_KINDS)),
    help="What FILES are, rubrics aside, if not recognised.",
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
    files = list(dict.fromkeys(file for name in named for file in _files_of(name)))
    kinds = {file: _kind_of(Path(file), kind) for file in files}
    rubrics, cases = (
        [file for file, (name, _) in kinds.items() if name == which]
        for which in ("rubric", "cases")
    )
    if len(rubrics) > 1 and len(rubrics) < len(kinds):
        raise InputError(
            f"check other files with one rubric at a time; given are {choices(rubrics)}"
        )
    checked: list[dict[str, Any]] = []
    for file, (name, note) in kinds.items():
        contents = {}
        errors = [note]
        if name in _KINDS:
            try:
                contents = _read(name, file, rubrics[0] if rubrics else None, cases, scale)
                errors = []
            except (InputError, OSError) as error:
                errors = str(error).splitlines()
                if note:
                    errors.append(note)
        errors = [
            error.removeprefix(f"{Path(file).resolve()}: ").removeprefix(f"{file}: ")
            for error in errors
        ]
        checked.append({"file": file, "kind": name, "contents": contents, "errors": errors})
    if as_json:
        click.echo(json.dumps(checked, ensure_ascii=False, indent=2))
    for found in [] if as_json else checked:
        parts: list[str] = []
        for name, part in found["contents"].items():
            value = part
            if isinstance(part, dict):
                value = choices(f"{key} {number:g}" for key, number in part.items())
            parts.append(f"{name} {value}")
        for text in [f"error: {error}" for error in found["errors"]] or [f"ok: {'; '.join(parts)}"]:
            click.echo(f"{found['file']}: {found['kind']}, {text}")
    click.get_current_context().exit(int(any(found["errors"] for found in checked)))


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
    there is none.
    """
    if path.suffix.lower() in (".jinja", ".j2"):
        return kind or "prompt", ""
    try:
        names = _names(path)
    except (InputError, OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        return kind or "unknown", "" if kind else " ".join(str(error).split())
    columns = {name: known.split() for name, (known, *_) in _KINDS.items()}
    lacks = {
        name: [each for each in columns[name] if names.isdisjoint(each.split("|"))]
        for name in columns
    }
    there = {name: len(columns[name]) - len(lacks[name]) for name in columns}
    enough = [name for name in columns if there[name] >= max(1, len(lacks[name]))]
    best = max(enough, key=there.__getitem__, default="unknown")
    if kind is not None and best != "rubric":
        return kind, ""
    exact = best != "unknown" and not lacks[best] and there[best] > 2
    if path.suffix.lower() in _TABLES and not exact and (alike := _judged_texts(path, names)):
        return alike
    if best == "unknown":
        allowed = "; ".join(f"{name} ({choices(columns[name])})" for name in columns)
        return (
            best,
            f"has {choices(sorted(names)) or 'no key or column'}; name the --kind: {allowed}",
        )
    return best, (
        f"recognised as {best} without {choices(lacks[best])}; --kind names another"
        if lacks[best]
        else ""
    )


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
        if lacking and (kind, lacking) != ("pairs", ["label"]):
            continue
        if kind == "answers":
            return (
                kind,
                (
                    f"prompts ({here['prompt']}) and answers ({here['response']}) without labels:"
                    " `urs-inspect samer score` reads them; judge_rating reads the columns prompt,"
                    " response and rating"
                ),
            )
        task = "judge_pairwise" if kind == "pairs" else "judge_rating"
        renamed = [
            f"{name} to {column}" for column, name in here.items() if name and name != column
        ]
        notes = [f"for {task} rename {choices(renamed)}"] if renamed else []
        if lacking:
            notes.append("add a column label: a, b or tie")
        elif kind == "pairs" and (others := _other_labels(path, here["label"])):
            notes.append(f"in label write a, b or tie for {choices(others)}")
        return kind, "; ".join(notes)
    return None


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


def _read(
    kind: str, file: str, rubric: str | None, cases: Sequence[str], scale: str | None
) -> dict[str, Any]:
    """What is in a file, as the loader of its kind reads it."""
    module, _, name = _KINDS[kind][1].rpartition(".")
    load = getattr(import_module(f"urs_inspect.{module}"), name)
    own = partial(cache(load_rubric), rubric)
    unknown: Counter[str] = Counter()

    def lookup(what: str, find: Callable[[str], str], label: str) -> str:
        try:
            return find(label)
        except InputError:
            unknown[f"{what} '{label.strip()}'"] += 1
            raise

    def cases_of(text: str) -> UrsData:
        names = Vocabulary(
            partial(lookup, "intent", own().intent_id),
            partial(lookup, "language", own().language_code),
        )
        return load_urs(text, names, need_references=False)

    limits = parse_scale(scale or ("1,5" if kind == "satisfaction" else "1,10"), "scale")
    arguments: dict[str, Callable[[], Any]] = {
        "path": lambda: Path(file),
        "paths": lambda: [Path(file)],
        "text": lambda: file,
        "scale": lambda: limits,
        "rubric": own,
        "rubric_path": lambda: rubric,
        "countries": lambda: (
            {row.country for f in cases for row in cases_of(f).cases}
            if cases
            else _names(Path(file))
        ),
    }
    special: dict[str, Callable[..., Any]] = {
        "cases": cases_of,
        "ratings": lambda text, scale: load(text, scale=scale),
    }
    try:
        read = special.get(kind, load)(*(arguments[name]() for name in _KINDS[kind][2].split()))
    except InputError as error:
        lacks = [
            f"not in the rubric {own().name}: {name}, {counted(n, 'row')}"
            for name, n in unknown.most_common(20)
        ]
        raise InputError("\n".join([str(error), *lacks])) from error
    refuse(getattr(read, "errors", ()))
    if isinstance(read, Rubric):
        PromptBuilder(read)  # renders every prompt, or says what is wrong with it
        parts = {
            name: choices(getattr(read, name))
            for name in ("intents", "criteria", "languages", "bands")
        }
        about = {"rubric": f"{read.name} {read.version}"}
        if kind == "rubric":
            about |= parts
        return about
    if kind == "traffic":
        return dict(read.shares)
    read = read[-1] if kind == "pool" else read
    parts_of = ("cases", "ratings", "rows", "usable", "votes", "own", "columns")
    items = next((getattr(read, name) for name in parts_of if hasattr(read, name)), read)
    contents: dict[str, Any] = {"entries": len(items)}
    if "scale" in _KINDS[kind][2]:
        contents["scale"] = limits
    for name in ("intent", "group", "language", "label", "choice", "rater", "source"):
        if values := Counter(str(getattr(item, name)) for item in items if getattr(item, name, "")):
            contents[name] = dict(sorted(values.items()))
    if kind == "cases" and (blank := sum(not case.reference.strip() for case in items)):
        contents["without reference"] = blank
    return contents | {
        name: len(getattr(read, name)) for name in ("dropped", "skipped") if getattr(read, name, ())
    }
