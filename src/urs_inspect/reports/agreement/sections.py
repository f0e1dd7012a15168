"""Agreement as text, Markdown, CSV and JSON."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from urs_inspect._util import counted
from urs_inspect.reports.agreement.people import people_counted
from urs_inspect.reports.agreement.report import (
    PUBLISHED_INTENTS,
    PUBLISHED_MODELS,
    AgreementBlock,
    AgreementReport,
    CaseAgreement,
    CaseLevel,
    IntentLevel,
    ModelLevel,
    PublishedCorrelation,
)
from urs_inspect.reports.intent.page.tables import NONE, short_names
from urs_inspect.reports.output import (
    ReportKind,
    Section,
    TextTable,
    csv_text,
    plain,
    report_dict,
    sections_markdown,
    write_directory,
)
from urs_inspect.stats import Estimate
from urs_inspect.stats.mean_correlation import MeanCorrelation

SIMULATION = "SIMULATION: simulated models; the numbers mean nothing."
_MANY = 30
"""Points from which an interval over points is nothing to warn of."""


def estimate(found: Estimate, digits: int = 2, sign: str = "") -> str:
    """A number with its interval: 0.83 (0.70 to 0.91)."""
    if math.isnan(found.value):
        return NONE
    return _shown(found.value, digits, sign) + bounds(found.low, found.high, digits, sign)


def sentences_plain(number: float, digits: int = 2) -> str:
    """A number without an interval."""
    return NONE if math.isnan(number) else _shown(number, digits)


def bounds(low: float, high: float, digits: int = 2, sign: str = "") -> str:
    """An interval in brackets; nothing where there is none."""
    return "" if math.isnan(low) else f" ({_shown(low, digits, sign)} to {_shown(high, digits, sign)})"


def _shown(number: float, digits: int, sign: str = "") -> str:
    rounded = round(number, digits)
    text = f"{rounded:{sign}.{digits}f}" if rounded else f"{0.0:.{digits}f}"  # a zero has no sign
    return text.replace("-", "−")


def conditions(block: AgreementBlock) -> str:
    """Under what the scores of a block came about."""
    found = block.conditions
    sha = f" (sha256 {found.dataset_sha256[:8]})" if found.dataset_sha256 else ""
    facts = {
        "judge": ", ".join(found.judges) or "not known",
        "data": f"{found.dataset}{sha}",
        "rubric": found.rubric or "not known",
        "prompts": found.prompts,
        "references": found.references or "those of the data",
        "models": ", ".join(block.models),
    }
    return "; ".join(f"{name} {value}" for name, value in facts.items())


def about_intents(level: IntentLevel) -> list[str]:
    """The correlation over intents in words."""
    moved = "questions and people" if level.people_resampled else "questions, satisfaction taken as exact"
    return [
        *_correlation(level.correlation, len(level.points), "intents", moved, level.why_no_interval),
        *_few(level.correlation, len(level.points), "intents"),
        published(PUBLISHED_INTENTS, "intents"),
        *level.notes,
    ]


def about_models(level: ModelLevel) -> list[str]:
    """The correlation over models in words."""
    return [
        f"{counted(level.comparisons, 'comparison')} on {counted(level.instructions, 'instruction')}, "
        f"{counted(level.ties, 'tie')}; scores over {counted(level.questions, 'question')}.",
        *_correlation(
            level.correlation, len(level.points), "models", "instructions and questions", level.why_no_interval
        ),
        *_few(level.correlation, len(level.points), "models"),
        published(PUBLISHED_MODELS, "models"),
        *level.notes,
    ]


def about_cases(level: CaseLevel) -> list[str]:
    """The agreement on single answers in words."""
    found, people = level.all, level.people
    lines = [
        f"{counted(found.answers, 'answer')} to {counted(found.questions, 'question')} were both rated and scored; "
        "brackets over resamples of questions, none over too few. Ratings are means over people; alpha and difference "
        "are on the judge's scale, 1 to 10."
    ]
    if people is None:
        lines.append("The file does not say who rated, so that agreement among people is not known.")
    else:
        lines.append(
            f"{people_counted(people.raters)} gave {counted(people.ratings, 'rating')}; "
            + (
                f"on {counted(people.answers, 'answer')} with several, Krippendorff's alpha among people is "
                f"{estimate(people.alpha)}."
                if people.answers
                else "no answer has several, so that agreement among people is not known."
            )
        )
    return [*lines, *level.notes]


def published(found: PublishedCorrelation, what: str) -> str:
    """What the paper prints, labelled as such."""
    low, high = found.over_points
    return (
        f"Published (URS paper, {found.place}; another judge, other models and people): Pearson {found.pearson:.2f} "
        f"over {found.points} {what}, from {found.basis}; no interval is printed. Fisher's z puts it between "
        f"{sentences_plain(low)} and {sentences_plain(high)} over other {what}."
    )


def without_noise(found: MeanCorrelation) -> str:
    """Pearson corrected for the noise of the means, with the interval of that; nothing where noise is not known."""
    if math.isnan(found.pearson.low):
        return NONE
    return sentences_plain(found.without_noise) + bounds(found.pearson.low, found.pearson.high)


def _correlation(found: MeanCorrelation, points: int, what: str, resampled: str, lacking: str) -> list[str]:
    if math.isnan(found.pearson.value):
        return [f"There is no correlation: all {points} {what} have the same mean on one of the two sides."]
    measured = (
        f"Over {points} {what}: Pearson {sentences_plain(found.pearson.value)}, "
        f"Spearman {sentences_plain(found.spearman)}."
    )
    if math.isnan(found.pearson.low):
        why = (
            f"{lacking}. Too little says how far such a mean would scatter"
            if lacking
            else f"the means of these {what} differ no more than noise would make them"
        )
        return [f"{measured} There is no interval, and no correction for noise: {why}."]
    how = f"over resamples of {resampled}, these {what} given."
    if math.isnan(found.without_noise):
        limits = f"{sentences_plain(found.pearson.low)} to {sentences_plain(found.pearson.high)}"
        return [
            f"{measured} The means of these {what} differ no more than noise would make them: without it Pearson may "
            f"be anything from {limits}, {how}"
        ]
    return [f"{measured} Without the noise of the means Pearson is about {without_noise(found)}: brackets {how}"]


def _few(found: MeanCorrelation, points: int, what: str) -> list[str]:
    if math.isnan(found.pearson.value):
        return []
    lines = []
    if found.pearson.low <= 0 <= found.pearson.high and not math.isnan(found.without_noise):
        lines.append(
            f"The interval holds 0: beside the noise of their means, these {what} differ too little to say whether the "
            "two go together."
        )
    if points >= _MANY:
        return lines
    low, high = found.over_points
    if math.isnan(low):
        return [*lines, f"{points} points say next to nothing: no interval over other {what} can be had."]
    return [
        *lines,
        f"Only {points} points: as a sample of other {what}, Pearson could be anywhere from {sentences_plain(low)} to "
        f"{sentences_plain(high)} (Fisher's z).",
    ]


Names = Mapping[str, str]
"""Model -> its name in a table."""


def sections_of(report: AgreementReport) -> list[Section]:
    """The sections of a report in their order: sources, each block with its kinds of agreement, what was left out."""
    facts = [f"{kind}: {', '.join(files)}" for kind, files in report.sources.items()]
    how = f"Brackets: {report.level:.0%} bootstrap intervals over {report.rounds} rounds (seed {report.seed})."
    found = [Section("What is compared", 2, (*facts, *report.notes, how))]
    for number, block in enumerate(report.blocks, start=1):
        found += _block(number, block)
    return found + ([Section("Left out", 2, report.left_out)] if report.left_out else [])


def _block(number: int, block: AgreementBlock) -> list[Section]:
    simulation = [SIMULATION] if block.simulated else []
    apart = [f"Apart from the first block: {reason}" for reason in block.apart_because]
    head = Section(f"{number}. {conditions(block)}", 2, (*simulation, *apart, *block.notes))
    short = short_names(block.models)
    kinds = [
        _intents(block.intents, short) if block.intents else None,
        _models(block.ratings, short) if block.ratings else None,
        _cases(block.cases, short) if block.cases else None,
    ]
    return [head, *[section for section in kinds if section is not None]]


def _intents(level: IntentLevel, short: Names) -> Section:
    points = tuple(
        (
            p.group,
            f"{p.questions:,}",
            estimate(p.score),
            f"{p.people:,}" if p.people else NONE,
            estimate(p.satisfaction),
        )
        for p in level.points
    )
    by_model = tuple(
        (short[name], sentences_plain(one.pearson.value), without_noise(one), sentences_plain(one.spearman))
        for name, one in level.by_model.items()
    )
    return Section(
        "Score and satisfaction by intent",
        3,
        tuple(about_intents(level)),
        (
            TextTable(("intent", "questions", "score", "people", "satisfaction"), points, 1),
            TextTable(("scores of", "Pearson", "without noise", "Spearman"), by_model, 1),
        ),
    )


def _people(number: int | None) -> str:
    return f"{number:,}" if number else NONE


def _models(level: ModelLevel, short: Names) -> Section:
    points = tuple((short[p.model], estimate(p.score), estimate(p.rating, 0)) for p in level.points)
    return Section(
        "Score and votes by model",
        3,
        tuple(about_models(level)),
        (TextTable(("model", "score", "Bradley-Terry"), points, 1),),
    )


def _cases(level: CaseLevel, short: Names) -> Section:
    headings = ("answers of", "answers", "Spearman", "Kendall", "Pearson", "alpha", "score less rating")
    named: list[tuple[str, CaseAgreement]] = [("all", level.all), *level.by_group.items()]
    named += [(short[model], one) for model, one in level.by_model.items()]
    return Section(
        "Score and rating of single answers",
        3,
        tuple(about_cases(level)),
        (TextTable(headings, tuple(_case(name, one) for name, one in named), 1),),
    )


def _case(name: str, found: CaseAgreement) -> tuple[str, ...]:
    correlations = (found.correlations.spearman, found.correlations.kendall, found.correlations.pearson)
    shown = [estimate(one) for one in (*correlations, found.alpha)]
    return name, f"{found.answers:,}", *shown, estimate(found.difference, sign="+")


AGREEMENT = ReportKind(
    "urs-inspect agreement",
    1,
    "urs-inspect agreement",
    "agreement.json",
    ("agreement.csv", "agreement.md"),
)
"""How these reports are told from other files."""

_HEADER = ("block", "judge", "level", "scope", "statistic", "value", "low", "high", "n", "clusters")
_Numbers = Iterator[tuple[str, str, str, Estimate]]


def write_files(report: AgreementReport, directory: Path) -> tuple[Path, ...]:
    """Write `agreement.csv`, `agreement.md` and `agreement.json`.

    Returns:
        The files.

    Raises:
        InputError: As `write_directory`.
    """
    as_json = json.dumps(agreement_dict(report), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    texts = (numbers_csv(report), agreement_markdown(report), as_json)
    return write_directory(directory, dict(zip((*AGREEMENT.others, AGREEMENT.json), texts, strict=True)), AGREEMENT)


def agreement_dict(report: AgreementReport) -> dict[str, Any]:
    """What JSON can hold of a report: the attributes of `AgreementReport` by their names; null is not known."""
    published = {"intents": PUBLISHED_INTENTS, "models": PUBLISHED_MODELS}
    return report_dict(
        AGREEMENT,
        report,
        published_in_the_urs_paper={
            name: {**plain(found), "over_points": plain(found.over_points)} for name, found in published.items()
        },
    )


def numbers_csv(report: AgreementReport) -> str:
    """One row a number, with its interval where there is one."""
    return csv_text(
        _HEADER,
        [
            (
                number,
                ", ".join(block.conditions.judges),
                *(level, scope, statistic),
                *(found.value, found.low, found.high, found.n, found.clusters),
            )
            for number, block in enumerate(report.blocks, start=1)
            for level, scope, statistic, found in _numbers(block)
        ],
    )


def agreement_markdown(report: AgreementReport) -> str:
    """The report to read; what comes from logs and files is escaped."""
    return sections_markdown("Agreement of judges with people", sections_of(report))


def _numbers(block: AgreementBlock) -> _Numbers:
    if block.intents:
        for scope, found in {"all": block.intents.correlation, **block.intents.by_model}.items():
            yield from _files_correlation("intents", scope, found)
        for point in block.intents.points:
            yield "intents", point.group, "score", point.score
            yield "intents", point.group, "satisfaction", point.satisfaction
    if block.ratings:
        yield from _files_correlation("models", "all", block.ratings.correlation)
        for one in block.ratings.points:
            yield "models", one.model, "score", one.score
            yield "models", one.model, "bradley_terry", one.rating
    if block.cases:
        for scope, found_cases in {"all": block.cases.all, **block.cases.by_group, **block.cases.by_model}.items():
            for statistic in ("spearman", "kendall", "pearson"):
                yield "answers", scope, statistic, getattr(found_cases.correlations, statistic)
            yield "answers", scope, "alpha", found_cases.alpha
            yield "answers", scope, "difference", found_cases.difference
        if block.cases.people:
            yield "people", "all", "alpha", block.cases.people.alpha


def _files_correlation(level: str, scope: str, found: MeanCorrelation) -> _Numbers:
    yield level, scope, "pearson", found.pearson
    for statistic in ("without_noise", "spearman"):
        value = getattr(found, statistic)
        yield level, scope, statistic, replace(found.pearson, value=value, low=math.nan, high=math.nan)
