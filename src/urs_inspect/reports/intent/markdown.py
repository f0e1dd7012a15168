"""The report as Markdown, CSV and JSON files."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from urs_inspect._util import counted, escaped
from urs_inspect.datasets.published import PUBLISHED_SCORES, UrsColumn, UrsTable, load_published_urs
from urs_inspect.reports.intent.block_report import ALL
from urs_inspect.reports.intent.page import render_page
from urs_inspect.reports.intent.page import tables as formats
from urs_inspect.reports.intent.page.tables import (
    MARKED,
    SELF_JUDGED,
    column_sentences,
    column_tests,
    headline,
    mean_text,
    methods,
    traffic_sentence,
    verdict,
)
from urs_inspect.reports.intent.report import (
    UNSCORED_ALERT,
    Block,
    Conditions,
    IntentReport,
    ModelReport,
    PairedDifference,
    Run,
)
from urs_inspect.reports.output import ReportKind, check_directory, csv_text, report_json, write_directory
from urs_inspect.stats import Estimate

_MARKS = {1: "\\*{}", 2: "**{}**", 3: "<u>{}</u>"}
"""How the best three of a column are marked in Table 4 of the URS paper."""
_LEGEND = "The first of a column is marked \\*, the second is **bold**, the third <u>underlined</u>."
_LANGUAGES = {"en": "English", "zh": "Chinese"}
_COMMAND, _CODE = re.compile(r"\\`((?:urs-inspect|inspect)(?: [a-z-]+)+)\\`"), r"`\1`"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """A table of cells that are Markdown already; `left` are the columns that hold no numbers."""
    rule = ["---" if number in left else "---:" for number in range(len(header))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def items(sentences: Iterable[str]) -> str:
    """Sentences as a list, escaped but for commands that they name."""
    return "\n".join(f"- {_COMMAND.sub(_CODE, escaped(sentence))}" for sentence in sentences)


def published_markdown() -> list[str]:
    """Tables 4, 12 and 13 of the URS paper, as printed, with what must be said about them."""
    published = load_published_urs()
    caution = (
        f"**Published in the paper with its judge ({escaped(published.evaluator)}); not comparable row by row:** other "
        "models, another judge, other prompts and a part of the cases. They are here for the order of magnitude."
    )
    parts = ["## Published in the paper", caution]
    for table in map(published.table, PUBLISHED_SCORES):
        parts += [f"### Table {table.number}. {escaped(table.title)}", _table(table)]
        parts += [_LEGEND] if table.marks else []
        parts += [items(table.notes)] if table.notes else []
    return parts


def _table(table: UrsTable) -> str:
    rows = [[escaped(name), *_numbers(table, name)] for name in table.rows]
    cases = ["" if column.cases is None else str(column.cases) for column in table.columns]
    header = ["Model", *map(_heading, table.columns)]
    return markdown_table(header, [["Cases", *cases], *rows] if any(cases) else rows)


def _heading(column: UrsColumn) -> str:
    return escaped(f"{column.name}, {_LANGUAGES[column.language]}" if column.language else column.name)


def _numbers(table: UrsTable, name: str) -> list[str]:
    numbers = table.rows[name]
    marks = table.marks.get(name, (0,) * len(numbers))
    return [_MARKS.get(mark, "{}").format(mean_text(number)) for number, mark in zip(numbers, marks, strict=True)]


MEANS = (
    *("block", "model", "kind", "column", "mean", "low", "high", "n", "beside_best"),
    *("rank_from", "rank_to", "unscored_share", "mean_scored", "mean_lowest", "mean_highest"),
)
"""Columns of the table of means.

A kind is `all`, `intent`, `part`, `language`, `intent and language`, `country` or `criterion`. `beside_best`, in
columns that are tested, is `best` or the verdict on the difference to the best. The rows of the kind `all` have the
ranks, the share of answers without a score, the mean of all scores that the model has, and the mean over all
questions if each missing score were the lowest or the highest.
"""
DIFFERENCES = (
    *("block", "column", "first", "second", "difference", "low", "high"),
    *("p", "p_holm", "p_worst", "verdict", "depends_on", "n"),
)
"""Columns of the table of differences: all pairs in the column `all`, and the best model of each intent and language
beside each other one. `depends_on` names models with the number of their answers without a score."""


def means_csv(report: IntentReport) -> str:
    """Every mean with its interval, a row each; blocks are numbered from 1, and what is not known is empty."""
    rows = (
        (number, model.model, kind, column, *_csv_tables_numbers(estimate), *_rest(block, model, kind, column))
        for number, block in enumerate(report.blocks, start=1)
        for model in block.models
        for kind, column, estimate in _columns(model)
    )
    return csv_text(MEANS, rows)


def differences_csv(report: IntentReport) -> str:
    """Every paired difference, a row each."""
    rows = (row for number, block in enumerate(report.blocks, start=1) for row in _differences(number, block))
    return csv_text(DIFFERENCES, rows)


def _columns(model: ModelReport) -> Iterator[tuple[str, str, Estimate]]:
    yield "all", "all", model.all
    kinds = {
        "intent": model.by_group,
        "part": model.by_part,
        "language": model.by_language,
        "intent and language": {"/".join(cell): one for cell, one in model.by_group_and_language.items()},
        "country": model.by_country,
        "criterion": model.by_criterion,
    }
    for kind, columns in kinds.items():
        for column, estimate in columns.items():
            yield kind, column, estimate


def _rest(block: Block, model: ModelReport, kind: str, column: str) -> Iterator[object]:
    best = block.best.get(column) if kind in ("all", "intent", "language") else None
    beside = {} if best is None else {best.model: "best"} | {one.second: one.verdict for one in best.others}
    yield beside.get(model.model, "")
    if kind == "all":
        yield from model.ranks or ("", "")
        yield from (model.unscored_share, model.mean_scored, model.mean_lowest, model.mean_highest)
    else:
        yield from [""] * 6


def _differences(number: int, block: Block) -> Iterator[Sequence[object]]:
    tested = {"all": block.differences} | {key: one.others for key, one in block.best.items() if key != "all"}
    for column, pairs in tested.items():
        for one in pairs:
            value, low, high, n = _csv_tables_numbers(one.difference)
            depends = "; ".join(f"{name} ({unscored})" for name, unscored in one.depends_on.items())
            tests = (one.p, one.p_holm, one.p_worst, one.verdict, depends)
            yield number, column, one.first, one.second, value, low, high, *tests, n


def _csv_tables_numbers(estimate: Estimate) -> tuple[float, float, float, int]:
    return estimate.value, estimate.low, estimate.high, estimate.n


_SIMULATION = (
    "**SIMULATION: models whose names begin with `urs_simulation/` are simulated; their scores mean nothing.**"
)

_Mean = Callable[[ModelReport], Estimate | None]
_Column = tuple[str, str, _Mean]
"""Key, title, and the mean of a model."""


def report_markdown(report: IntentReport) -> str:
    """Write a report as Markdown: who is best, leaderboards, languages, differences in words.

    Args:
        report: The report.

    Returns:
        The text; what comes from logs is escaped.
    """
    parts = ["# Which model serves which intent", *([_SIMULATION] if report.simulated else [])]
    for number, block in enumerate(report.blocks, start=1):
        parts += [f"## Ranking {number}" if len(report.blocks) > 1 else "## Ranking", *_block(block, report.level)]
    if report.left_out:
        parts += ["## Left out", items(report.left_out)]
    parts += ["## Runs", "\n\n".join(map(_run, report.runs)), "## Method", _method(report), *published_markdown()]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block, level: float) -> list[str]:
    parts = []
    if block.apart_because:
        parts += ["It stands apart from the first ranking:", items(block.apart_because)]
    said = headline(block)
    parts += [escaped(f"{said.first.striptags()} {said.more.striptags()}".strip())]
    parts += [
        items(
            f"{title} ({counted(questions, 'question')}): {sentence.striptags()}"
            for title, questions, sentence in column_sentences(block)
        )
    ]
    parts += [_conditions(block.conditions), escaped(traffic_sentence(block)), items(block.notes)]
    parts += ["### Leaderboard", _leaderboard(block), _legend(block, level)]
    if any(model.self_judged > 0 for model in block.models):
        parts.append(f"{SELF_JUDGED} judged answers of its own.")
    if len(block.models) > 1:
        parts += ["### Differences", _markdown_differences(block, [("All", one) for one in block.differences], level)]
        if tests := column_tests(block):
            parts += ["### The best of each intent and language", _markdown_differences(block, tests, level)]
    if len(block.languages) > 1:
        for language in block.languages:
            parts += [f"### {escaped(block.titles.get(language, language))}", _language(block, language)]
    if block.parts:
        parts += ["### Parts of intents", _plain(block, block.parts, lambda model: model.by_part)]
    if block.countries:
        parts += ["### Countries", _plain(block, block.countries, lambda model: model.by_country)]
    if block.criteria:
        parts += ["### Criteria", _plain(block, block.criteria, lambda model: model.by_criterion)]
    return [*parts, "### Answers", _answers(block), "### Tokens, money and time", _usage(block)]


def _conditions(conditions: Conditions) -> str:
    digits = f" (sha256 {conditions.dataset_sha256[:12]})" if conditions.dataset_sha256 else ""
    return items(
        [
            f"Judges: {', '.join(conditions.judges) or 'none'}",
            f"Data: {conditions.dataset}{digits}",
            f"References: {conditions.references or 'those of the data'}",
            f"Rubric: {conditions.rubric or 'not known'}; prompts: {conditions.prompts}",
            f"Task: {conditions.task}, version {conditions.task_version}",
        ]
    )


def _leaderboard(block: Block) -> str:
    header = ["Rank", "Model", *(_title(block, group) for group in block.groups), "All", "Without a score"]
    header += ["Mean with these as 1 to 10"]
    cases = ["", "Questions", *(f"{block.question_counts[key]:,}" for key in (*block.groups, ALL)), "", ""]
    rows = [
        [
            _with_mark(formats.rank_text(model.ranks), model),
            escaped(model.model),
            *(_marked(block, model, group, model.by_group.get(group)) for group in block.groups),
            _marked(block, model, ALL, model.all),
            formats.unscored_text(model.unscored_share),
            formats.interval_text(model.mean_lowest, model.mean_highest) if model.unscored else "",
        ]
        for model in block.models
    ]
    return markdown_table(header, [cases, *rows], left=(1,))


def _legend(block: Block, level: float) -> str:
    said = [f"Mean final score, 1 to 10, with its {formats.level_text(level)} interval."]
    if len(block.models) > 1:
        said.append(MARKED)
    if any(model.unscored_share > UNSCORED_ALERT for model in block.models):
        said.append(f"{formats.ALERT} More than {UNSCORED_ALERT:.0%} of the answers have no score.")
    return " ".join(said)


def _with_mark(text: str, model: ModelReport) -> str:
    return f"{text} {SELF_JUDGED}" if model.self_judged > 0 else text


def _marked(block: Block, model: ModelReport, key: str, estimate: Estimate | None) -> str:
    marked = key in block.best and model.model in block.best[key].marked
    return _mean(estimate, "**{}**" if marked else "{}")


def _markdown_differences(block: Block, tests: Sequence[tuple[str, PairedDifference]], level: float) -> str:
    interval = f"{formats.level_text(level)} interval"
    rows = [
        [
            escaped(title),
            escaped(one.first),
            escaped(one.second),
            formats.signed_text(one.difference.value),
            formats.signed_interval(one.difference),
            formats.p_text(one.p_holm),
            formats.p_text(one.p_worst),
            f"{one.questions:,}",
            escaped(verdict(one, block)),
        ]
        for title, one in tests
    ]
    header = ["Questions of", "First", "Second", "Difference", interval, "p (Holm)", "p, worst case", "n", "Verdict"]
    return markdown_table(header, rows, left=(0, 1, 2, 8))


def _language(block: Block, language: str) -> str:
    cells = [(group, language) for group in block.groups if f"{group}/{language}" in block.question_counts]
    columns = [(f"{cell[0]}/{language}", _title(block, cell[0]), _cell(cell)) for cell in cells]
    return _means(block, [*columns, (language, "All", lambda model: model.by_language.get(language))])


def _cell(cell: tuple[str, str]) -> _Mean:
    return lambda model: model.by_group_and_language.get(cell)


def _plain(block: Block, keys: Iterable[str], means: Callable[[ModelReport], dict[str, Estimate]]) -> str:
    def of(key: str) -> _Mean:
        return lambda model: means(model).get(key)

    return _means(block, [(key, _title(block, key), of(key)) for key in keys])


def _means(block: Block, columns: Sequence[_Column]) -> str:
    header = ["Model", *(title for _, title, _ in columns)]
    rows = [
        [escaped(model.model), *(_marked(block, model, key, of(model)) for key, _, of in columns)]
        for model in block.models
    ]
    counts = block.question_counts
    cases = [f"{counts[key]:,}" if key in counts else "" for key, _, _ in columns]
    return markdown_table(header, [["Questions", *cases], *rows] if any(cases) else rows)


def _mean(estimate: Estimate | None, mark: str = "{}") -> str:
    if estimate is None or math.isnan(estimate.value):
        return formats.NONE
    interval = formats.interval_text(estimate.low, estimate.high)
    return mark.format(formats.mean_text(estimate.value)) + (f" ({interval})" if interval else "")


def _answers(block: Block) -> str:
    header = ["Model", "Answers", "Unscored", "Empty", "Errors", "Mean of all its scores", "Judged by itself"]
    header += ["Deviation between epochs", "Deviation of the judge", "Median length", "Length and score (rho)"]
    rows = [
        [
            escaped(model.model),
            *map(formats.count_text, (model.answers, model.unscored, model.empty, model.errors)),
            formats.mean_text(model.mean_scored),
            formats.share_text(model.self_judged),
            formats.mean_text(model.epoch_deviation),
            formats.mean_text(model.judge_deviation),
            formats.count_text(model.lengths.median),
            formats.signed_text(model.lengths.correlation.value),
        ]
        for model in block.models
    ]
    return markdown_table(header, rows)


def _usage(block: Block) -> str:
    header = [
        "Model",
        "Tokens in",
        "Tokens out",
        "Judges' tokens in",
        "Judges' tokens out",
        "Cost",
        "Judges' cost",
        "Time",
    ]
    rows = []
    for model in block.models:
        used = model.usage
        tokens = (used.input_tokens, used.output_tokens, used.judge_input_tokens, used.judge_output_tokens)
        money = (formats.money_text(used.cost), formats.money_text(used.judge_cost))
        rows.append(
            [escaped(model.model), *map(formats.count_text, tokens), *money, formats.duration_text(used.seconds)]
        )
    return markdown_table(header, rows)


def _run(run: Run) -> str:
    # A fence longer than any run of backticks within: a command may hold whatever a user typed.
    fence = "`" * max(3, 1 + max((len(part) for part in _backticks(run.command)), default=0))
    package = run.package or "not known"
    facts = f"{counted(run.samples, 'sample')}, begun {run.created}, inspect-ai {package}, prompts {run.prompts}"
    return f"{escaped(run.model)}: {escaped(run.log)} ({escaped(facts)})\n\n{fence}\n{run.command}\n{fence}"


def _backticks(text: str) -> list[str]:
    kept = "".join(character if character == "`" else " " for character in text)
    return kept.split()


def _method(report: IntentReport) -> str:
    level = formats.level_text(report.level)
    lines = [
        f"Epochs of a question are averaged first. Intervals ({level}) are percentiles of {report.rounds:,} rounds in "
        f"which whole questions are drawn with replacement (seed {report.seed}), moved out as Student's t asks for few "
        "questions; fewer than a sign test needs have none.",
        *(f"{title}: {sentence}" for title, sentence in methods(report.level)),
        "The deviation between epochs is what answering and judging once more changes; that of the judge, what judging "
        "the same answer once more does (`inspect score`). Both are pooled standard deviations of the final score.",
        "Models stand in one ranking only if judges, prompts, rubric, references, data and version of the task are the "
        "same, and if the questions that all of them were asked are at least half of those that any of them was asked.",
    ]
    return "\n\n".join([*lines, *([f"Made by: `{report.command}`"] if report.command else [])])


def _title(block: Block, key: str) -> str:
    return escaped(block.titles.get(key, key))


INTENT_REPORT = ReportKind(
    "urs-inspect intent report",
    2,
    "urs-inspect report",
    "report.json",
    ("report.html", "leaderboard.csv", "differences.csv", "report.md"),
)
"""How these reports are told from other files."""


def write_report(report: IntentReport, directory: Path) -> tuple[Path, ...]:
    """Write a report as a page, CSV, Markdown and JSON.

    Args:
        report: The report.
        directory: Where to; it is made if it is not there.

    Returns:
        The files.

    Raises:
        InputError: As `write_directory`; or if matplotlib, which draws the figures, is missing, before anything is
            written.
    """
    check_directory(directory, INTENT_REPORT)  # drawing takes seconds
    texts = {
        "report.html": render_page(report),
        "leaderboard.csv": means_csv(report),
        "differences.csv": differences_csv(report),
        "report.md": report_markdown(report),
        INTENT_REPORT.json: report_json(INTENT_REPORT, report),
    }
    return write_directory(directory, texts, INTENT_REPORT)
