"""A report as sections of lines and tables, for the terminal and for Markdown alike."""

from collections.abc import Mapping

from urs_inspect.reports.agreement import sentences
from urs_inspect.reports.agreement.report import (
    AgreementBlock,
    AgreementReport,
    CaseAgreement,
    CaseLevel,
    IntentLevel,
    ModelLevel,
)
from urs_inspect.reports.agreement.sentences import estimate, plain, without_noise
from urs_inspect.reports.intent.page.formats import NONE
from urs_inspect.reports.intent.page.names import short_names
from urs_inspect.reports.sections import Section, TextTable

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
    simulation = [sentences.SIMULATION] if block.simulated else []
    apart = [f"Apart from the first block: {reason}" for reason in block.apart_because]
    head = Section(f"{number}. {sentences.conditions(block)}", 2, (*simulation, *apart, *block.notes))
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
        (short[name], plain(one.pearson.value), without_noise(one), plain(one.spearman))
        for name, one in level.by_model.items()
    )
    return Section(
        "Score and satisfaction by intent",
        3,
        tuple(sentences.about_intents(level)),
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
        tuple(sentences.about_models(level)),
        (TextTable(("model", "score", "Bradley-Terry"), points, 1),),
    )


def _cases(level: CaseLevel, short: Names) -> Section:
    headings = ("answers of", "answers", "Spearman", "Kendall", "Pearson", "alpha", "score less rating")
    named: list[tuple[str, CaseAgreement]] = [("all", level.all), *level.by_group.items()]
    named += [(short[model], one) for model, one in level.by_model.items()]
    return Section(
        "Score and rating of single answers",
        3,
        tuple(sentences.about_cases(level)),
        (TextTable(headings, tuple(_case(name, one) for name, one in named), 1),),
    )


def _case(name: str, found: CaseAgreement) -> tuple[str, ...]:
    correlations = (found.correlations.spearman, found.correlations.kendall, found.correlations.pearson)
    shown = [estimate(one) for one in (*correlations, found.alpha)]
    return name, f"{found.answers:,}", *shown, estimate(found.difference, sign="+")
