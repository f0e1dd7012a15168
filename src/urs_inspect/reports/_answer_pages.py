"""The answers that count in a report: tables, pages to read them, the logs in inspect view; and
links to these.
"""

import base64
import hashlib
import io
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pandas as pd
from inspect_ai.log import bundle_log_dir
from markupsafe import Markup

from urs_inspect._util import InputError, choices, counted, visible
from urs_inspect.logs._files import about_damaged, local_path, read_log, short_name
from urs_inspect.logs._naming import whole_characters
from urs_inspect.logs._responses import text_of
from urs_inspect.logs._scores import last_judgement
from urs_inspect.reports._answers import CRITERION
from urs_inspect.reports._leaderboard import Leaderboard, Ranking
from urs_inspect.reports._leaderboard_report import report_leaderboard
from urs_inspect.reports._page import environment
from urs_inspect.reports._scores import ALL
from urs_inspect.reports._tables import (
    SIMULATION,
    Format,
    Report,
    ReportKind,
    Section,
    Table,
    check_directory,
    number,
    plain,
)
from urs_inspect.rubrics import FINAL

_JSONL = "answers.jsonl"
_PARQUET = "answers.parquet"
_MORE = (_JSONL, _PARQUET, f"answers/*-{'[0-9a-f]' * 8}.html")
ANSWERS = ReportKind(
    "urs-inspect answers", 1, "urs-inspect report --answers", "answers", more=_MORE
)
"""The files of answers; `answers.json` has the names of the others, and the hash of the bundle."""
_UNUSED = {"events", "messages", "store", "error_retries"}
_TEXTS = ("question", "answer", "reference", "reason", "explanation", "uuid")
_BY_JUDGE = ("judge_finals", "reply_counts")  # mappings, which are JSON in Parquet
_NOT_WRITTEN = ("earlier_finals", "earlier_judge_finals", "answer_digest", "location")
_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"} | {
    0x7F: 0x2421
}
"""Control characters, of which a page would show nothing -> their pictures."""
_STYLE = (Path(__file__).parent / "templates" / "answers.css").read_text(encoding="utf-8")
_POLICY = (
    "default-src 'none'; style-src"
    f" 'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'; img-src"
    " data:; base-uri 'none'; form-action 'none'"
)
_SERVE = "python -m http.server --bind 127.0.0.1"
_APP = '<div id="app"></div>'


def report_with_answers(
    board: Leaderboard, output: Path, said: list[str], read: int, *, viewer: bool
) -> Report:
    """Write the answers of a leaderboard, and make its report with links to them; with `viewer`
    inspect view as well.

    Texts are read from the logs of the board; what an earlier report wrote in its directory
    `output` is replaced. `said` gets a sentence about what is written and about everything that
    could not be; `read` is how many answers were read, those that do not count among them.
    """
    check_directory(output, ANSWERS)
    pages = output / "answers"
    view = output / "view"
    earlier = _earlier(output)
    if pages.is_symlink() or pages.is_file():
        raise InputError(
            f"output: pages are written to '{pages}', which is a link or a file; move it"
        )
    try:
        output.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(
            prefix=".answers-", dir=output
        ) as folder:  # until all is written, the earlier stay
            (Path(folder) / "answers").mkdir()
            free = "view" in earlier or not (view.is_symlink() or view.exists())
            bundle = _bundle(board, Path(folder) / "view", said) if viewer and free else {}
            if viewer and not free:
                said.append(f"inspect view is not written: {view} is not as a report wrote it.")
            names = _files(board, bundle, Path(folder), said)
            if taken := [
                name for name in names if name not in earlier and (output / name).exists()
            ]:
                raise InputError(
                    f"output: '{output}' holds {choices(taken)}, which no report wrote; move them"
                )
            digest = _digest(Path(folder) / "view") if bundle else ""
            said += remove_answers(output)
            facts = {
                "format": ANSWERS.format,
                "schema_version": ANSWERS.version,
                "files": names,
                "view": digest,
            }
            (output / ANSWERS.json).write_text(json.dumps(facts) + "\n", encoding="utf-8")
            pages.mkdir(exist_ok=True)
            written = [*names, "view"] if bundle else names
            for name in written:
                (Path(folder) / name).rename(output / name)
    except OSError as error:
        raise InputError(
            f"output: cannot write to '{output}': {error.strerror or error}"
        ) from error
    tables = [name for name in names if "/" not in name]
    rows = sum(len(each.answers) for each in board.rankings)
    notes = [
        f"{counted(rows, 'answer')} in {', '.join(tables)}; to read:"
        f" {counted(len(names) - len(tables), 'page')}."
    ]
    if read > rows:
        notes.append(
            "Left out, because they do not count in any ranking:"
            f" {counted(read - rows, 'other answer')}."
        )
    if bundle:
        size = (
            sum(file.stat().st_size for file in (output / "view").rglob("*") if file.is_file())
            / 1e6
        )
        notes.append(
            f"view/ is inspect view with {counted(len(bundle), 'log')}, whole ({size:,.0f} MB). It"
            f" needs a server on this computer: `{_SERVE}` in the folder of this report, then"
            " http://127.0.0.1:8000/report.html."
        )
    said += [f"{output}: {note}" for note in notes]

    def linked(sections: Sequence[Section], ranking: Ranking, place: int) -> list[Section]:
        stats = (
            ranking.answers.groupby("model")[FINAL].agg(["size", "min"]).loc[list(ranking.names)]
        )
        columns = {
            "Model": ranking.names,
            "Answers": stats["size"],
            "Lowest score": stats["min"],
            "Worst": "ten worst",
        }
        formats: dict[str, Format] = {"Answers": number(0), "Lowest score": number(2), "Worst": str}
        links = {
            (row, "Worst"): f"{page_of(ranking, place, name)}#worst"
            for row, name in enumerate(ranking.names)
        }
        own = Section(
            "Answers that count", notes, [Table(pd.DataFrame(columns), formats, links=links)], 3
        )
        return [
            replace(
                section, tables=[_with_links(table, ranking, place) for table in section.tables]
            )
            for section in (*sections[:-1], own, *sections[-1:])  # the conditions are last
        ]

    return report_leaderboard(board, linked)


def remove_answers(output: Path) -> list[str]:
    """Remove the answers that an earlier report wrote, except a bundle that was changed since;
    sentences on that.
    """
    if not (earlier := _earlier(output)) or not os.access(
        output, os.W_OK
    ):  # writing the report says so
        return []
    with TemporaryDirectory(prefix=".answers-", dir=output) as folder:  # a bundle is whole, or gone
        moved = [
            (output / name).rename(Path(folder) / str(place)) for place, name in enumerate(earlier)
        ]
        size = sum(sum(file.is_file() for file in path.rglob("*")) or 1 for path in moved)
    with suppress(OSError):  # it may hold other files
        (output / "answers").rmdir()
    kept = [
        path for path in (output / "view", output / "answers") if path.is_symlink() or path.exists()
    ]
    said = [f"{output}: removed the answers of the earlier report ({counted(size, 'file')})."]
    return said + [f"{path} is not as a report wrote it, and stays." for path in kept]


def _earlier(output: Path) -> list[str]:
    """Names of what an earlier report wrote and is there, except a bundle that was changed.

    Its own list is last.
    """
    view = output / "view"
    linked = (output / "answers").is_symlink()
    try:
        facts = json.loads((output / ANSWERS.json).read_text(encoding="utf-8"))
        there = [
            file.relative_to(output).as_posix()
            for pattern in ANSWERS.others
            for file in output.glob(pattern)
        ]
        names = [name for name in there if name in facts["files"] and not (linked and "/" in name)]
        names += (
            ["view"]
            if view.is_dir() and not view.is_symlink() and _digest(view) == facts["view"]
            else []
        )
        return [*names, ANSWERS.json] if facts["format"] == ANSWERS.format else []
    except (OSError, ValueError, TypeError, KeyError):
        return []


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        with file.open("rb") as opened:
            content = hashlib.file_digest(opened, "sha256").hexdigest()
        digest.update(f"{file.relative_to(folder)}\0{content}".encode())
    return digest.hexdigest()


def page_of(ranking: Ranking, place: int, model: str, key: str = ALL) -> str:
    """Address, relative to the report, of a model's page, or of that of an intent and language.

    Else a part of it.
    """
    groups = [cell.rpartition("/")[0] for cell in ranking.columns.cells]
    group = key.partition(": ")[0] if key in ranking.columns.parts else key
    if groups.count(group) == 1:
        key = ranking.columns.cells[groups.index(group)]
    cell = key if key in ranking.columns.cells else ""
    title = _name(f"{ranking.short[model]} {cell}", f"{place}/{model}/{cell}")
    anchor = "" if cell or key == ALL else f"#{_name(group) if group in groups else 'all'}"
    return f"answers/{place}-{title}.html{anchor}"


def _name(text: str, of: str = "") -> str:
    """A name for files and anchors of what is readable in a text, with a hash that distinguishes
    any two.
    """
    readable = re.sub("[^a-z0-9]+", "-", text.lower())[:60]
    digest = hashlib.sha256((of or text).encode()).hexdigest()[:8]
    return f"{readable}-{digest}"


def _with_links(table: Table, ranking: Ranking, place: int) -> Table:
    """The table with links from models, and from means of intents and languages, to answers."""
    names = {text: name for name in ranking.names for text in (name, ranking.short[name])}
    columns = ranking.columns
    linked = (*columns.groups, *columns.parts, *columns.languages, *columns.cells)
    keys = {key: key for key in linked} | {"Model": ALL, "model": ALL}
    head = next((name for name in ("Model", "model") if name in table.data), "")
    links = {
        (row, column): page_of(ranking, place, names[model], keys[column])
        for row, model in enumerate(table.data.get(head, ()))
        for column in map(str, table.data)
        if model in names and column in keys
    }
    groups = {"All": ALL} | {ranking.title(group): group for group in columns.groups}
    for row, title in enumerate(
        table.data.get("Questions of", ()) if "" in table.data else ()
    ):  # names the best
        for column in table.data.columns[1:]:
            key = (
                column
                if column and groups[title] == ALL
                else f"{groups[title]}/{column}".removesuffix("/")
            )
            if ranking.question_counts.get(key):
                links[row, column] = page_of(ranking, place, ranking.best(key), key)
    return replace(table, links={**links, **table.links})


# --- files ---


def _files(
    board: Leaderboard, bundle: Mapping[str, str], output: Path, said: list[str]
) -> list[str]:
    """Write tables and pages of answers; their names."""
    names = [_JSONL]
    writer = None
    arrow: Any = None
    try:
        import_module("pyarrow.parquet")
        arrow = import_module("pyarrow")
        names.append(_PARQUET)
    except ImportError as error:
        said.append(
            f"{_PARQUET} is not written: pyarrow cannot be imported ({error}); pip install"
            " 'urs-inspect[viz]'"
        )
    with ExitStack() as stack:
        lines = stack.enter_context((output / _JSONL).open("w", encoding="utf-8", newline="\n"))
        for place, ranking in enumerate(board.rankings, start=1):
            for model in ranking.names:
                table = _with_texts(ranking, place, model, said)
                first = ["block", "model", "id", "epoch", *_TEXTS, FINAL, *table]
                written = table[[name for name in dict.fromkeys(first) if name not in _NOT_WRITTEN]]
                records = plain(written.to_dict("records"))
                lines.writelines(
                    json.dumps(record, ensure_ascii=False) + "\n" for record in records
                )
                if arrow:
                    for column in _BY_JUDGE:
                        written[column] = [json.dumps(record[column]) for record in records]
                    part = arrow.Table.from_pandas(
                        written, writer and writer.schema, preserve_index=False
                    )
                    writer = writer or stack.enter_context(
                        arrow.parquet.ParquetWriter(output / _PARQUET, part.schema)
                    )
                    writer.write_table(part)
                for name, page in _pages(ranking, place, model, table, bundle):
                    (output / name).write_text(page, encoding="utf-8")
                    names.append(name)
    return names


def _with_texts(ranking: Ranking, place: int, model: str, said: list[str]) -> pd.DataFrame:
    """Answers of a model, the worst first, with what was asked, answered and judged, read from
    their logs.
    """
    table = ranking.answers[ranking.answers["model"] == model].sort_values(
        [FINAL, "question", "epoch"], kind="stable"
    )
    texts: dict[tuple[str, str, int], list[str]] = {}
    for log in map(str, table["log"].unique()):
        try:
            samples = read_log(log, without=_UNUSED).samples or []
        except InputError as error:
            said.append(f"Texts of its answers are missing: {about_damaged(log, error)}")
            continue
        for sample in samples:
            score = last_judgement(sample)
            target = sample.target
            said_by_judge = (score.reason or "", score.explanation or "") if score else ("", "")
            answer = sample.output.completion if sample.output.choices else ""
            reference = target if isinstance(target, str) else "\n".join(target)
            given = (text_of(sample), answer, reference, *said_by_judge, sample.uuid or "")
            texts[log, whole_characters(str(sample.id)), sample.epoch] = [
                *map(whole_characters, given)
            ]
    keys = list(zip(table["log"], table["question"], table["epoch"], strict=True))
    of_cells = [
        page_of(ranking, place, model, cell) for cell in table["group"] + "/" + table["language"]
    ]
    pages = [
        f"{page}#{_name(key[1], str(key[1:]))}" for page, key in zip(of_cells, keys, strict=True)
    ]
    table = table.rename(columns={"question": "id"}).assign(
        block=place, location=table["log"], page=pages
    )
    table["log"] = table["log"].map(short_name)
    table[list(_TEXTS)] = [texts.get(key, [""] * len(_TEXTS)) for key in keys]
    return table


# --- pages ---


def _pages(
    ranking: Ranking, place: int, model: str, table: pd.DataFrame, bundle: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The page of a model, and one for each intent and language with its answers: file name and
    content.
    """
    by_cell = dict(iter(table.groupby(table["group"] + "/" + table["language"])))
    parts = {key: by_cell[key] for key in ranking.columns.cells if key in by_cell}
    facts: Any = ranking.models.loc[model]
    shown = {
        "policy": _POLICY,
        "style": Markup(_STYLE),  # noqa: S704 (our own file)
        "simulation": SIMULATION if facts["simulated"] else "",
        "serve": _SERVE if bundle else "",
        "ranking": ranking,
        "place": place,
        "model": model,
        "epochs": facts["epochs"],
        "number": number(2),
        "address": lambda key=ALL: page_of(ranking, place, model, key).removeprefix("answers/"),
        "name": _name,
        "text": lambda text: visible(text).translate(_PICTURES),
        "criterion": CRITERION,
    }
    template = environment().get_template("answers.html.jinja")
    index = [
        (key, len(part), part[FINAL].isna().sum(), part[FINAL].min()) for key, part in parts.items()
    ]
    worst = table[table[FINAL].notna()][:10].to_dict("records")
    yield page_of(ranking, place, model), template.render(shown, key="", index=index, answers=worst)
    for key, part in parts.items():
        answers = part.to_dict("records")
        for row in answers:
            log = bundle.get(row["location"], "")
            route = (quote(str(each), safe="") for each in (log, row["id"], row["epoch"]))
            row["view"] = (
                log and "../view/index.html#/tasks/{}/samples/sample/{}/{}/scoring".format(*route)
            )
        yield (
            page_of(ranking, place, model, key),
            template.render(shown, key=key, index=(), answers=answers),
        )


# --- inspect view ---


def _bundle(board: Leaderboard, view: Path, said: list[str]) -> dict[str, str]:
    """Make a bundle of inspect view with the logs that count: log -> its name there; nothing if
    that fails.
    """
    names = dict[str, str]()
    created = {run.log: run.created[:19].replace(":", "-") for run in board.runs}
    for log in dict.fromkeys(log for ranking in board.rankings for log in ranking.answers["log"]):
        name = short_name(log)
        if name.endswith(
            ".json"
        ):  # the harness takes it for a log only if its name begins with a time
            name = f"{created.get(name, '')}_{name}"
        names[log] = f"{len(names)}-{name}" if name in names.values() else name
    try:
        with TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
            for log, name in names.items():
                shutil.copyfile(local_path(log), Path(folder) / name)
            bundle_log_dir(folder, str(view))
        index = view / "index.html"
        wait = f"<p>Loading. Opened from a folder, this page needs: {_SERVE}</p>"
        index.write_text(
            index.read_text(encoding="utf-8").replace(_APP, _APP.replace("><", f">{wait}<")),
            "utf-8",
        )
    except Exception as error:  # the harness's own, and those of the file system
        said.append(f"inspect view is not written: {type(error).__name__}: {error}")
        return {}
    return {log: name for log, name in names.items() if (view / "logs" / name).exists()}
