"""The answers of a report's rankings: tables, pages, logs in inspect view, and links to these."""

import base64
import hashlib
import io
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from urs_inspect.answer_pages._judgements import judgement_markup, reason_of
from urs_inspect.logs._files import about_damaged, local_path, read_log, short_name
from urs_inspect.logs._naming import whole_characters
from urs_inspect.logs._responses import text_of
from urs_inspect.logs._scores import last_judgement
from urs_inspect.reports._texts import Format, number
from urs_inspect.reports.layout._page import environment
from urs_inspect.reports.layout._tables import (
    SIMULATION,
    Card,
    Excerpt,
    Report,
    ReportKind,
    Section,
    Table,
    check_directory,
    plain,
)
from urs_inspect.reports.numbers._answers import CRITERION
from urs_inspect.reports.numbers._leaderboard import Leaderboard, Ranking
from urs_inspect.reports.numbers._scores import ALL, column_key
from urs_inspect.reports.words._cards import excerpt, extreme_answers, model_cards, shortened
from urs_inspect.reports.words._leaderboard import report_leaderboard
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
_VIEW = "../view/index.html#/tasks/{}/samples/sample/{}/{}/scoring"
_APP = '<div id="app"></div>'
_SHOWN = 400
"""Characters of an answer that a card shows."""


def report_with_answers(
    board: Leaderboard, output: Path, said: list[str], read: int, *, viewer: bool
) -> Report:
    """Write the answers of a leaderboard, and make its report with links to them.

    With `viewer`, inspect view is written as well. Texts are read from the logs of the board; what
    an earlier report wrote in its directory `output` is replaced. `said` gets a sentence about what
    is written and about everything that could not be; `read` is how many answers were read, those
    that do not count among them.
    """
    check_directory(output, ANSWERS)
    pages = output / "answers"
    if pages.is_symlink() or pages.is_file():
        raise InputError(
            f"output: pages are written to '{pages}', which is a link or a file; move it"
        )
    excerpts: dict[str, list[Excerpt]] = {}
    names, logs = _write(board, output, said, excerpts, viewer=viewer)
    rows = sum(len(ranking.answers) for ranking in board.rankings)
    tables = [name for name in names if "/" not in name]
    notes = [f"{counted(rows, 'answer')}: {', '.join(tables)}; open report.html to read them."]
    if read > rows:
        others = counted(read - rows, "other answer")
        notes.append(f"Left out, because they do not count in any ranking: {others}.")
    if logs:
        size = sum(file.stat().st_size for file in _files_below(output / "view"))
        notes.append(
            f"view/ is inspect view with {counted(logs, 'log')}, whole ({size / 1e6:,.0f} MB). It"
            f" needs a server on this computer: `{_SERVE}` in the folder of this report, then"
            " http://127.0.0.1:8000/report.html."
        )
    said += [f"{output}: {note}" for note in notes]

    def linked(sections: Sequence[Section], ranking: Ranking, place: int) -> list[Section]:
        own = Section("All answers", notes, [_answers_table(ranking, place)], 3, folded=True)
        made = []
        for section in (*sections[:-1], own, *sections[-1:]):  # the conditions are last
            linked_tables = [_with_links(table, ranking, place) for table in section.tables]
            made.append(replace(section, tables=linked_tables))
        return made

    def cards() -> list[Card]:
        first = board.rankings[0]
        made = []
        for card, model in zip(model_cards(first, excerpts), first.compared.names, strict=True):
            made.append(replace(card, link=page_of(first, 1, model)))
        return made

    return replace(report_leaderboard(board, linked), cards=cards)


def _write(
    board: Leaderboard,
    output: Path,
    said: list[str],
    excerpts: dict[str, list[Excerpt]],
    *,
    viewer: bool,
) -> tuple[list[str], int]:
    """Replace the answers of an earlier report: names of the files, and number of logs to view.

    `excerpts` gets the worst and best answers of each model of the first ranking.
    """
    view = output / "view"
    earlier = _earlier(output)
    free = "view" in earlier or not (view.is_symlink() or view.exists())
    if viewer and not free:
        said.append(f"inspect view is not written: {view} is not as a report wrote it.")
    try:
        output.mkdir(parents=True, exist_ok=True)
        # Until all is written, the earlier answers stay.
        with TemporaryDirectory(prefix=".answers-", dir=output) as folder:
            draft = Path(folder)
            (draft / "answers").mkdir()
            bundle = {}
            if viewer and free:
                bundle = _bundle(board, draft / "view", said)
            names = _files(board, bundle, draft, said, excerpts)
            taken = [name for name in names if name not in earlier and (output / name).exists()]
            if taken:
                raise InputError(
                    f"output: '{output}' holds {choices(taken)}, which no report wrote; move them"
                )
            facts = {
                "format": ANSWERS.format,
                "schema_version": ANSWERS.version,
                "files": names,
                "view": _digest(draft / "view") if bundle else "",
            }
            said += remove_answers(output)
            (output / ANSWERS.json).write_text(json.dumps(facts) + "\n", encoding="utf-8")
            (output / "answers").mkdir(exist_ok=True)
            for name in [*names, "view"] if bundle else names:
                (draft / name).rename(output / name)
    except OSError as error:
        raise InputError(
            f"output: cannot write to '{output}': {error.strerror or error}"
        ) from error
    return names, len(bundle)


def _answers_table(ranking: Ranking, place: int) -> Table:
    """Number and lowest score of each model's answers, with a link to the worst ones."""
    stats = ranking.answers.groupby("model")[FINAL].agg(["size", "min"]).loc[ranking.compared.names]
    data = stats.set_axis(["Answers", "Lowest score"], axis=1).assign(Worst="ten worst")
    formats: dict[str, Format] = {"Answers": number(0), "Lowest score": number(2), "Worst": str}
    links = {}
    for row, name in enumerate(ranking.compared.names):
        links[row, "Worst"] = f"{page_of(ranking, place, name)}#worst"
    return Table(data.reset_index(names="Model"), formats, links=links)


def remove_answers(output: Path) -> list[str]:
    """Remove the answers that an earlier report wrote; sentences on that.

    A bundle that was changed since stays.
    """
    earlier = _earlier(output)
    if not earlier or not os.access(output, os.W_OK):  # writing the report says so
        return []
    size = 0
    with TemporaryDirectory(prefix=".answers-", dir=output) as folder:  # a bundle is whole, or gone
        for place, name in enumerate(earlier):
            moved = (output / name).rename(Path(folder) / str(place))
            size += len(_files_below(moved)) or 1
    with suppress(OSError):  # it may hold other files
        (output / "answers").rmdir()
    said = [f"{output}: removed the answers of the earlier report ({counted(size, 'file')})."]
    for path in (output / "view", output / "answers"):
        if path.is_symlink() or path.exists():
            said.append(f"{path} is not as a report wrote it, and stays.")
    return said


def _earlier(output: Path) -> list[str]:
    """Names of what an earlier report wrote and is there, except a bundle that was changed.

    Its own list is last.
    """
    view = output / "view"
    linked = (output / "answers").is_symlink()
    names = []
    try:
        facts = json.loads((output / ANSWERS.json).read_text(encoding="utf-8"))
        if facts["format"] != ANSWERS.format:
            return []
        for pattern in ANSWERS.others:
            for file in output.glob(pattern):
                name = file.relative_to(output).as_posix()
                if name in facts["files"] and not (linked and "/" in name):
                    names.append(name)
        if view.is_dir() and not view.is_symlink() and _digest(view) == facts["view"]:
            names.append("view")
    except (OSError, ValueError, TypeError, KeyError):
        return []
    return [*names, ANSWERS.json]


def _files_below(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in _files_below(folder):
        with file.open("rb") as opened:
            content = hashlib.file_digest(opened, "sha256").hexdigest()
        digest.update(f"{file.relative_to(folder)}\0{content}".encode())
    return digest.hexdigest()


def page_of(ranking: Ranking, place: int, model: str, key: str = ALL) -> str:
    """Address, relative to the report, of a model's page, or of that of an intent and language.

    Else a part of it.
    """
    groups = [cell.rpartition("/")[0] for cell in ranking.columns.cells]
    group = key
    if key in ranking.columns.parts:
        group = key.partition(": ")[0]
    if groups.count(group) == 1:
        key = ranking.columns.cells[groups.index(group)]
    cell = ""
    if key in ranking.columns.cells:
        cell = key
    title = _name(f"{ranking.compared.short[model]} {cell}", f"{place}/{model}/{cell}")
    page = f"answers/{place}-{title}.html"
    if cell or key == ALL:
        return page
    anchor = "all"
    if group in groups:
        anchor = _name(group)
    return f"{page}#{anchor}"


def _name(text: str, of: str = "") -> str:
    """A name for files and anchors: what is readable in a text, and a hash that is its own."""
    readable = re.sub("[^a-z0-9]+", "-", text.lower())[:60]
    digest = hashlib.sha256((of or text).encode()).hexdigest()[:8]
    return f"{readable}-{digest}"


def _with_links(table: Table, ranking: Ranking, place: int) -> Table:
    """The table with links from models, and from means of intents and languages, to answers."""
    compared = ranking.compared
    columns = ranking.columns
    links = {}
    if list(table.data)[:2] == ["Questions of", ""]:  # the best models, one row for each intent
        for row, group in enumerate((ALL, *columns.groups)):
            for language in table.data.columns[1:]:
                key = column_key(group, language)
                if compared.question_counts.get(key):
                    best = compared.best_in[key].model
                    links[row, language] = page_of(ranking, place, best, key)
    names = dict(zip(compared.names, compared.names, strict=True))
    for name, short in compared.short.items():
        names[short] = name
    linked = {*columns.groups, *columns.parts, *columns.languages, *columns.cells}
    for head in {"Model", "model"} & set(table.data):
        for row, shown in enumerate(table.data[head]):
            model = names.get(shown)
            if model is None:
                continue
            links[row, head] = page_of(ranking, place, model)
            for column in linked & set(table.data):
                links[row, column] = page_of(ranking, place, model, column)
    return replace(table, links={**links, **table.links})


# --- files ---


def _files(
    board: Leaderboard,
    bundle: Mapping[str, str],
    output: Path,
    said: list[str],
    excerpts: dict[str, list[Excerpt]],
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
            for model in ranking.compared.names:
                table = _with_texts(ranking, place, model, said)
                if place == 1:
                    excerpts[model] = _excerpts(ranking, table)
                first = ["block", "model", "id", "epoch", *_TEXTS, FINAL]
                others = table.columns.difference([*first, *_NOT_WRITTEN], sort=False)
                written = table[[*first, *others]]
                records = plain(written.to_dict("records"))
                for record in records:
                    lines.write(json.dumps(record, ensure_ascii=False))
                    lines.write("\n")
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
    """Answers of a model, the worst first, with texts of their logs: asked, answered and judged."""
    own = ranking.answers[ranking.answers["model"] == model]
    table = own.sort_values([FINAL, "question", "epoch"], kind="stable")
    texts = _texts_of(map(str, table["log"].unique()), said)
    keys = list(zip(table["log"], table["question"], table["epoch"], strict=True))
    pages = []
    for cell, key in zip(table["group"] + "/" + table["language"], keys, strict=True):
        anchor = _name(key[1], str(key[1:]))
        pages.append(f"{page_of(ranking, place, model, cell)}#{anchor}")
    table = table.rename(columns={"question": "id"})
    table = table.assign(block=place, location=table["log"], page=pages)
    table["log"] = table["log"].map(short_name)
    table[list(_TEXTS)] = [texts.get(key, [""] * len(_TEXTS)) for key in keys]
    return table


def _excerpts(ranking: Ranking, answers: pd.DataFrame) -> list[Excerpt]:
    """The worst and the best of a model's answers, in short, with links to them."""
    excerpts = []
    for row in extreme_answers(answers).to_dict("records"):
        by_scores = excerpt(ranking, row, row["question"] or row["id"])
        excerpts.append(
            replace(
                by_scores,
                answer=shortened(row["answer"], _SHOWN),
                reason=visible(reason_of(row["explanation"])),
                link=row["page"],
            )
        )
    return excerpts


def _texts_of(logs: Iterable[str], said: list[str]) -> dict[tuple[str, str, int], list[str]]:
    """Log, id and epoch -> `_TEXTS` of an answer; `said` gets what cannot be read."""
    texts = {}
    for log in logs:
        try:
            samples = read_log(log, without=_UNUSED).samples or []
        except InputError as error:
            said.append(f"Texts of its answers are missing: {about_damaged(log, error)}")
            continue
        for sample in samples:
            score = last_judgement(sample)
            target = sample.target
            found = (
                text_of(sample),
                sample.output.completion if sample.output.choices else "",
                target if isinstance(target, str) else "\n".join(target),
                score.reason if score else "",
                score.explanation if score else "",
                sample.uuid,
            )
            key = (log, whole_characters(str(sample.id)), sample.epoch)
            texts[key] = [whole_characters(text or "") for text in found]
    return texts


# --- pages ---


def _shown(text: str) -> str:
    """A text with a picture for every character that a page would not show."""
    return visible(text).translate(_PICTURES)


def _pages(
    ranking: Ranking, place: int, model: str, table: pd.DataFrame, bundle: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The page of a model and those of its intents and languages: file name and content."""
    by_cell = dict(iter(table.groupby(table["group"] + "/" + table["language"])))
    parts = {key: by_cell[key] for key in ranking.columns.cells if key in by_cell}
    facts: Any = ranking.compared.models.loc[model]
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
        "text": _shown,
        "judgement": lambda text: judgement_markup(_shown(text)),
        "criterion": CRITERION,
    }
    template = environment("urs_inspect.answer_pages").get_template("answers.html.jinja")
    index = [
        (key, len(part), part[FINAL].isna().sum(), part[FINAL].min()) for key, part in parts.items()
    ]
    worst = table[table[FINAL].notna()][:10].to_dict("records")
    yield page_of(ranking, place, model), template.render(shown, key="", index=index, answers=worst)
    for key, part in parts.items():
        answers = part.to_dict("records")
        for row in answers:
            log = bundle.get(row["location"], "")
            parts_of_route = (log, str(row["id"]), str(row["epoch"]))
            route = [quote(part, safe="") for part in parts_of_route]
            row["view"] = log and _VIEW.format(*route)
        yield (
            page_of(ranking, place, model, key),
            template.render(shown, key=key, index=(), answers=answers),
        )


# --- inspect view ---


def _bundle(board: Leaderboard, view: Path, said: list[str]) -> dict[str, str]:
    """Make a bundle of inspect view with the logs that count: log -> its name there.

    Nothing if that fails.
    """
    names = dict[str, str]()
    created = {run.log: run.created[:19].replace(":", "-") for run in board.runs}
    for log in pd.concat([ranking.answers["log"] for ranking in board.rankings]).unique():
        name = short_name(log)
        # The harness takes it for a log only if its name begins with a time.
        if name.endswith(".json"):
            name = f"{created.get(name, '')}_{name}"
        if name in names.values():
            name = f"{len(names)}-{name}"
        names[log] = name
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
