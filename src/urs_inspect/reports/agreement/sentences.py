"""What a report says in words, for the terminal and for Markdown alike."""

import math

from urs_inspect.rating import Estimate
from urs_inspect.rating.mean_correlation import MeanCorrelation
from urs_inspect.reports.agreement.report import (
    PUBLISHED_INTENTS,
    PUBLISHED_MODELS,
    AgreementBlock,
    CaseLevel,
    IntentLevel,
    ModelLevel,
    PublishedCorrelation,
)
from urs_inspect.reports.agreement.vote_sources import people_counted
from urs_inspect.reports.intent.page.formats import NONE
from urs_inspect.texts import counted

SIMULATION = "SIMULATION: simulated models; the numbers mean nothing."
_MANY = 30
"""Points from which an interval over points is nothing to warn of."""


def estimate(found: Estimate, digits: int = 2, sign: str = "") -> str:
    """A number with its interval: 0.83 (0.70 to 0.91)."""
    if math.isnan(found.value):
        return NONE
    return _shown(found.value, digits, sign) + bounds(found.low, found.high, digits, sign)


def plain(number: float, digits: int = 2) -> str:
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
        f"{plain(low)} and {plain(high)} over other {what}."
    )


def without_noise(found: MeanCorrelation) -> str:
    """Pearson corrected for the noise of the means, with the interval of that; nothing where noise is not known."""
    if math.isnan(found.pearson.low):
        return NONE
    return plain(found.without_noise) + bounds(found.pearson.low, found.pearson.high)


def _correlation(found: MeanCorrelation, points: int, what: str, resampled: str, lacking: str) -> list[str]:
    if math.isnan(found.pearson.value):
        return [f"There is no correlation: all {points} {what} have the same mean on one of the two sides."]
    measured = f"Over {points} {what}: Pearson {plain(found.pearson.value)}, Spearman {plain(found.spearman)}."
    if math.isnan(found.pearson.low):
        why = (
            f"{lacking}. Too little says how far such a mean would scatter"
            if lacking
            else f"the means of these {what} differ no more than noise would make them"
        )
        return [f"{measured} There is no interval, and no correction for noise: {why}."]
    how = f"over resamples of {resampled}, these {what} given."
    if math.isnan(found.without_noise):
        limits = f"{plain(found.pearson.low)} to {plain(found.pearson.high)}"
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
        f"Only {points} points: as a sample of other {what}, Pearson could be anywhere from {plain(low)} to "
        f"{plain(high)} (Fisher's z).",
    ]
