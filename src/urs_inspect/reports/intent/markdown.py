"""A report as Markdown."""

import math
from collections.abc import Callable, Iterable, Sequence

from urs_inspect.rating import Estimate
from urs_inspect.reports.intent.page import formats
from urs_inspect.reports.intent.page.words import verdict
from urs_inspect.reports.intent.question_table import ALL
from urs_inspect.reports.intent.report import Block, Conditions, IntentReport, ModelReport, Run
from urs_inspect.texts import escaped

_MARKS = {1: "\\*{}", 2: "**{}**", 3: "<u>{}</u>"}
_LEGEND = "The first of a column is marked \\*, the second is **bold**, the third <u>underlined</u>."
_SIMULATION = (
    "**SIMULATION: models whose names begin with `urs_simulation/` are simulated; their scores mean nothing.**"
)

_Mean = Callable[[ModelReport], Estimate | None]
_Column = tuple[str, str, _Mean]
"""Key, title, and the mean of a model."""


def report_markdown(report: IntentReport) -> str:
    """Write a report as Markdown: leaderboards as in Table 4 of the URS paper, languages, differences in words, tiers.

    Args:
        report: The report.

    Returns:
        The text; what comes from logs is escaped.
    """
    parts = ["# Which model serves which intent", *([_SIMULATION] if report.simulated else [])]
    for number, block in enumerate(report.blocks, start=1):
        parts += [f"## Ranking {number}" if len(report.blocks) > 1 else "## Ranking", *_block(block, report.level)]
    if report.left_out:
        parts += ["## Left out", _items(report.left_out)]
    parts += ["## Runs", "\n\n".join(map(_run, report.runs)), "## Method", _method(report)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block, level: float) -> list[str]:
    parts = []
    if block.apart_because:
        parts += ["It stands apart from the first ranking:", _items(block.apart_because)]
    parts += [_conditions(block.conditions), _traffic(block), _items(block.notes)]
    parts += ["### Leaderboard", _leaderboard(block, level), _LEGEND]
    if any(model.self_judged > 0 for model in block.models):
        parts.append("† judged answers of its own.")
    if len(block.models) > 1:
        parts += ["### Tiers", "No two models of a tier can be told apart.", _tiers(block)]
        parts += ["### Differences", _differences(block, level)]
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
    return _items(
        [
            f"Judges: {', '.join(conditions.judges) or 'none'}",
            f"Data: {conditions.dataset}{digits}",
            f"References: {conditions.references or 'those of the data'}",
            f"Rubric: {conditions.rubric or 'not known'}; prompts: {conditions.prompts}",
            f"Task: {conditions.task}, version {conditions.task_version}",
        ]
    )


def _traffic(block: Block) -> str:
    if block.traffic is None:
        return ""
    shares = "; ".join(
        f"{kind}: {', '.join(f'{name} {formats.share_text(share)}' for name, share in given.items())}"
        for kind, given in block.traffic.shares.items()
    )
    return escaped(
        f"Means and intervals are weighted by the mix of {block.traffic.source} ({shares}); the "
        f"{block.questions} questions then say as much as {block.traffic.effective_questions:.0f} of equal weight."
    )


def _leaderboard(block: Block, level: float) -> str:
    header = [
        "Model",
        *(_title(block, group) for group in block.groups),
        "All",
        f"{formats.level_text(level)} interval",
    ]
    cases = ["Questions", *(str(block.question_counts[key]) for key in (*block.groups, ALL)), ""]
    rows = [
        [
            escaped(model.model) + (" †" if model.self_judged > 0 else ""),
            *(_marked(model, group, model.by_group.get(group)) for group in block.groups),
            _marked(model, ALL, model.all),
            formats.interval_text(model.all.low, model.all.high),
        ]
        for model in block.models
    ]
    return _table(header, [cases, *rows])


def _marked(model: ModelReport, key: str, estimate: Estimate | None) -> str:
    if estimate is None or math.isnan(estimate.value):
        return formats.NONE
    return _MARKS.get(model.places.get(key, 0), "{}").format(formats.mean_text(estimate.value))


def _tiers(block: Block) -> str:
    return "\n".join(f"{number}. {', '.join(map(escaped, tier))}" for number, tier in enumerate(block.tiers, start=1))


def _differences(block: Block, level: float) -> str:
    interval = f"{formats.level_text(level)} interval"
    rows = [
        [
            escaped(one.first),
            escaped(one.second),
            formats.signed_text(one.difference.value),
            formats.signed_interval(one.difference),
            formats.p_text(one.p_holm),
            str(one.questions),
            verdict(one),
        ]
        for one in block.differences
    ]
    header = ["First", "Second", "Difference", interval, "p (Holm)", "Questions", "In words"]
    return _table(header, rows, left=(0, 1, 6))


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
    rows = [[escaped(model.model), *(_mean(of(model)) for _, _, of in columns)] for model in block.models]
    cases = [str(block.question_counts.get(key, "")) for key, _, _ in columns]
    return _table(header, [["Questions", *cases], *rows] if any(cases) else rows)


def _mean(estimate: Estimate | None) -> str:
    if estimate is None or math.isnan(estimate.value):
        return formats.NONE
    interval = formats.interval_text(estimate.low, estimate.high)
    return formats.mean_text(estimate.value) + (f" ({interval})" if interval else "")


def _answers(block: Block) -> str:
    header = ["Model", "Answers", "Unscored", "Empty", "Errors", "Judged by itself", "Deviation between epochs"]
    header += ["Median length", "Length and score (rho)"]
    rows = [
        [
            escaped(model.model),
            *map(str, (model.answers, model.unscored, model.empty, model.errors)),
            formats.share_text(model.self_judged),
            formats.mean_text(model.judge_noise),
            formats.count_text(model.lengths.median),
            formats.signed_text(model.lengths.correlation.value),
        ]
        for model in block.models
    ]
    return _table(header, rows)


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
    return _table(header, rows)


def _run(run: Run) -> str:
    # A fence longer than any run of backticks within: a command may hold whatever a user typed.
    fence = "`" * max(3, 1 + max((len(part) for part in _backticks(run.command)), default=0))
    facts = (
        f"{run.samples} samples, begun {run.created}, inspect-ai {run.package or 'not known'}, prompts {run.prompts}"
    )
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
        "Differences are paired by question; p-values are two-sided, of the same rounds, and corrected by Holm's "
        "method over all pairs of a ranking. Two models can be told apart where the corrected p is below "
        f"{1 - report.level:.2g}.",
        "A new tier begins at the first model that can be told apart from a member of the current one.",
    ]
    return "\n\n".join([*lines, *([f"Made by: `{report.command}`"] if report.command else [])])


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    rule = ["---" if number in left else "---:" for number in range(len(header))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def _items(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {escaped(sentence)}" for sentence in sentences)


def _title(block: Block, key: str) -> str:
    return escaped(block.titles.get(key, key))
