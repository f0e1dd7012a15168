"""A report as Markdown."""

import math
from collections.abc import Callable, Iterable, Sequence

from urs_inspect.rating import Estimate
from urs_inspect.reports.intent.markdown_parts import items, markdown_table, published_markdown
from urs_inspect.reports.intent.page import formats
from urs_inspect.reports.intent.page.tables import column_tests
from urs_inspect.reports.intent.page.words import (
    MARKED,
    SELF_JUDGED,
    column_sentences,
    headline,
    methods,
    traffic_sentence,
    verdict,
)
from urs_inspect.reports.intent.question_table import ALL
from urs_inspect.reports.intent.report import (
    UNSCORED_ALERT,
    Block,
    Conditions,
    IntentReport,
    ModelReport,
    PairedDifference,
    Run,
)
from urs_inspect.texts import counted, escaped

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
        parts += ["### Differences", _differences(block, [("All", one) for one in block.differences], level)]
        if tests := column_tests(block):
            parts += ["### The best of each intent and language", _differences(block, tests, level)]
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


def _differences(block: Block, tests: Sequence[tuple[str, PairedDifference]], level: float) -> str:
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
