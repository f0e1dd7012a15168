"""A block of a report as tables and sentences, for the terminal and for Markdown alike."""

from collections.abc import Mapping
from dataclasses import dataclass

from urs_inspect.reports.agreement import sentences
from urs_inspect.reports.agreement.report import AgreementBlock, CaseAgreement, CaseLevel, IntentLevel, ModelLevel
from urs_inspect.reports.agreement.sentences import NONE, estimate, plain, without_noise

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class SectionTable:
    """A table; its first column holds names, the others numbers.

    Attributes:
        headings: What stands over the columns.
        rows: The cells.
    """

    headings: tuple[str, ...]
    rows: Rows


@dataclass(frozen=True)
class Section:
    """One kind of agreement.

    Attributes:
        title: What it is about.
        tables: Its tables.
        lines: What is said about them, a sentence or two each.
    """

    title: str
    tables: tuple[SectionTable, ...]
    lines: tuple[str, ...]


def sections_of(block: AgreementBlock) -> tuple[Section, ...]:
    """The kinds of agreement that a block has."""
    found = [
        _intents(block.intents) if block.intents else None,
        _models(block.ratings) if block.ratings else None,
        _cases(block.cases) if block.cases else None,
    ]
    return tuple(section for section in found if section is not None)


def _intents(level: IntentLevel) -> Section:
    points = tuple(
        (p.group, str(p.questions), estimate(p.score), str(p.people or NONE), estimate(p.satisfaction))
        for p in level.points
    )
    by_model = tuple(
        (name, plain(one.pearson.value), without_noise(one), plain(one.spearman))
        for name, one in level.by_model.items()
    )
    return Section(
        "Score and satisfaction by intent",
        (
            SectionTable(("intent", "questions", "score", "people", "satisfaction"), points),
            SectionTable(("scores of", "Pearson", "without noise", "Spearman"), by_model),
        ),
        tuple(sentences.about_intents(level)),
    )


def _models(level: ModelLevel) -> Section:
    points = tuple((p.model, estimate(p.score), estimate(p.rating, 0)) for p in level.points)
    return Section(
        "Score and votes by model",
        (SectionTable(("model", "score", "Bradley-Terry"), points),),
        tuple(sentences.about_models(level)),
    )


def _cases(level: CaseLevel) -> Section:
    headings = ("answers of", "answers", "Spearman", "Kendall", "Pearson", "alpha", "score less rating")
    named: Mapping[str, CaseAgreement] = {"all": level.all, **level.by_group, **level.by_model}
    return Section(
        "Score and rating of single answers",
        (SectionTable(headings, tuple(_case(name, one) for name, one in named.items())),),
        tuple(sentences.about_cases(level)),
    )


def _case(name: str, found: CaseAgreement) -> tuple[str, ...]:
    correlations = (found.correlations.spearman, found.correlations.kendall, found.correlations.pearson)
    shown = [estimate(one) for one in (*correlations, found.alpha)]
    return name, str(found.answers), *shown, estimate(found.difference, sign="+")
