"""The report of how far a judge and people agree (URS paper, section 4.5)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import pandas as pd

from urs_inspect._util import choices, counted
from urs_inspect.agreement._levels import (
    AgreementBlock,
    CaseLevel,
    IntentLevel,
    MeanLevel,
    ModelLevel,
    NoLevel,
)
from urs_inspect.agreement._mean_correlation import MeanCorrelation
from urs_inspect.logs._naming import short_names
from urs_inspect.reports._texts import DASH, UNKNOWN, Format, number, rating_text
from urs_inspect.reports.layout._tables import FirstScreen, Report, ReportKind, Section, Table
from urs_inspect.reports.numbers._panels import Panel
from urs_inspect.reports.words._comparison import (
    cluster_note,
    epoch_notes,
    reasons_apart,
    unlike_notes,
)
from urs_inspect.reports.words._panels import panel_section
from urs_inspect.stats import Estimate, Resampling
from urs_inspect.stats._bootstrap import fewest_clusters

AGREEMENT = ReportKind("urs-inspect agreement", 3, "urs-inspect agreement", "agreement")

_SIMULATION = "SIMULATION: simulated models; the numbers mean nothing."
_MANY = 30  # points from which an interval over points needs no warning
_STATISTICS = ("spearman", "kendall", "pearson", "alpha", "difference")
_NUMBER = number(2)
_PUBLISHED_INTENTS = (
    "Published (URS paper, section 4.5, Figure 5; another judge, other models and people): Pearson"
    " 0.95 over 6 intents, from the satisfaction of 420 people on a five-point scale; no interval"
    " is printed. Fisher's z puts it between 0.60 and 0.99 over other intents."
)
_PUBLISHED_MODELS = (
    "Published (URS paper, section 4.5, appendix D.3, Figure 6; another judge, other models and"
    " people): Pearson 0.94 over 10 models, from 350 decided of 400 comparisons by five annotators;"
    " no interval is printed. Fisher's z puts it between 0.76 and 0.99 over other models."
)


def agreement_report(
    blocks: Sequence[AgreementBlock],
    notes: Sequence[str],
    how: Resampling,
    sources: Mapping[str, Sequence[str]],
    skipped: Sequence[str] = (),
    command: str = "",
    panel: Panel | None = None,
    warnings: Sequence[str] = (),
) -> Report:
    """The report of blocks as from `agreement_of`.

    `sources` is kind of what people say -> files; `panel` is as from `panel_of_blocks`.
    """
    files = [f"{kind}: {', '.join(names)}" for kind, names in sources.items()]
    about = (
        f"Brackets: {how.level:.0%} bootstrap intervals over {how.rounds} rounds (seed {how.seed})."
    )
    rows = []
    parts = []
    block_facts = []
    for place, block in enumerate(blocks, start=1):
        judge = ", ".join(block.conditions.judges)
        for *names, value in _numbers(block):
            rows.append((place, judge, *names, value, value.clusters))
        of_block = _sections(place, block)
        parts += of_block
        fact = {
            "conditions": block.conditions,
            "models": block.models,
            "simulated": block.simulated,
            "notes": list(chain.from_iterable(section.notes for section in of_block)),
        }
        block_facts.append(fact)
    columns = ["block", "judge", "level", "scope", "statistic", "value", "clusters"]
    numbers = Table(pd.DataFrame(rows, columns=columns), name="agreement", shown=(), main="value")
    sections = [
        Section("What is compared", (*files, *notes, about), (numbers,), warnings=warnings),
        *parts,
    ]
    if panel:
        sections.append(panel_section(panel))
    if skipped:
        sections.append(Section("Skipped", skipped))
    facts = {
        "blocks": block_facts,
        "sources": sources,
        "notes": notes,
        "skipped": skipped,
        "command": command,
        **how.options,
    }
    return Report(
        AGREEMENT,
        "Agreement of judges with people",
        sections,
        facts,
        first=_screen(blocks, notes, warnings),
    )


def why_no_level(level: NoLevel) -> str:
    """Why something that was asked for cannot be computed."""
    if level.both >= level.least:
        return "No agreement over intents: no model has a score on each of them."
    why = (
        f"No agreement over {level.over}: {level.both} have both a judge's score and people's"
        f" ratings or votes, at least {level.least} are needed."
    )
    if not level.said:
        return why
    scored = choices(level.scored) or "none"
    return f"{why} Ratings or votes are about: {choices(level.said)}; scored were: {scored}."


def case_notes(level: CaseLevel) -> list[str]:
    """Which ratings do not count, and how they count."""
    notes = epoch_notes(level.without_epoch, level.file)
    if level.weighted:
        notes.append(
            "Answers were drawn with unequal chances: agreement is that over the rated answers,"
            " unweighted."
        )
    if level.without_score:
        rated = counted(level.without_score, "rated answer")
        notes.append(f"{rated} without a score of the judge, skipped.")
    return notes


def mean_notes(level: MeanLevel) -> list[str]:
    """Which intents and models do not count, and what intervals are over."""
    notes = [
        f"Skipped, {what}: {', '.join(names)}." for what, names in level.skipped.items() if names
    ]
    if level.clusters:
        consequence = "clusters are resampled in place of questions"
        notes.append(cluster_note(counted(level.asked, "question"), level.clusters, consequence))
    if isinstance(level, IntentLevel) and level.means_of_several:
        notes.append(
            f"Some rows of {level.means_of_several} are means of several people: satisfaction"
            " counts as exact."
        )
    if isinstance(level, ModelLevel) and level.apart:
        notes.append(f"NOT ALL MODELS COMPARE: {level.apart}")
    return notes


def _screen(
    blocks: Sequence[AgreementBlock], notes: Sequence[str], warnings: Sequence[str]
) -> FirstScreen:
    """The answer on one screen: a row for each judge and kind of what people say."""
    rows: list[tuple[str, str, str, Estimate, str]] = []
    for block in blocks:
        judge = ", ".join(block.conditions.judges) or UNKNOWN
        if block.cases:
            agreed = block.cases.all
            over = counted(agreed.answers, "answer")
            rows.append((judge, "ratings", "Spearman", agreed.correlations.spearman, over))
            rows.append((judge, "ratings", "alpha", agreed.alpha, over))
        means = (("satisfaction", "intent", block.intents), ("votes", "model", block.ratings))
        for what, point, level in means:
            if level is not None:
                over = counted(len(level.points), point)
                rows.append((judge, what, "Pearson", level.correlation.pearson, over))
    if not rows:
        lacking = chain.from_iterable(block.lacking for block in blocks)
        reasons = dict.fromkeys(map(why_no_level, lacking))
        claim = " ".join(["Nothing could be compared.", *reasons])
        return FirstScreen(claim, warnings, notes)
    judge, what, measure, value, over = rows[0]
    if judge == UNKNOWN:
        judge = "an unnamed judge"
    claim = f"{judge} agrees with people's {what}: {measure} {_NUMBER(value)} over {over}."
    if not value.low > 0:
        claim = f"It is not shown that {claim}"
    simulated = []
    if any(block.simulated for block in blocks):
        simulated = [_SIMULATION]
    data = pd.DataFrame(rows, columns=["judge", "people's", "measure", "value", "over"])
    table = Table(data, {"value": _NUMBER, "over": str})
    basis = [note for note in notes if note not in warnings]
    return FirstScreen(claim, [*simulated, *warnings], basis, table)


def _sections(place: int, block: AgreementBlock) -> list[Section]:
    facts = block.conditions
    title = (
        f"{place}. judge {', '.join(facts.judges) or UNKNOWN}; data {facts.data}; rubric "
        f"{facts.rubric or UNKNOWN}; prompts {facts.prompts}; references "
        f"{facts.references or 'those of the data'}; models {', '.join(block.models)}"
    )
    simulation = []
    if block.simulated:
        simulation = [_SIMULATION]
    reasons = reasons_apart(block.apart_because)
    differs = [f"Not compared with the first block: {reason}" for reason in reasons]
    short = short_names(block.models)
    unlike = unlike_notes(block.unlike)
    lacking = map(why_no_level, block.lacking)
    sections = [Section(title, (*simulation, *differs, *lacking), warnings=simulation)]
    if block.intents:
        sections.append(_intents(block.intents, unlike, short))
    if block.ratings:
        sections.append(_models(block.ratings, unlike, short))
    if block.cases:
        sections.append(_cases(block.cases, short))
    return sections


def _numbers(block: AgreementBlock) -> Iterator[tuple[str, str, str, Estimate]]:
    """Level, scope and statistic of every number, with its interval where there is one."""
    if level := block.intents:
        for scope, correlation in {"all": level.correlation, **level.by_model}.items():
            yield from _correlation_numbers("intents", scope, correlation)
        for point in level.points:
            for name in ("score", "satisfaction"):
                yield "intents", point["group"], name, point[name]
    if block.ratings:
        yield from _correlation_numbers("models", "all", block.ratings.correlation)
        for point in block.ratings.points:
            yield "models", point["model"], "score", point["score"]
            yield "models", point["model"], "bradley_terry", point["rating"]
    if block.cases:
        yield from _case_numbers(block.cases)


def _case_numbers(cases: CaseLevel) -> Iterator[tuple[str, str, str, Estimate]]:
    for scope, agreed in cases.scopes.items():
        numbers = {**vars(agreed), **vars(agreed.correlations)}
        for name in _STATISTICS:
            yield "answers", scope, name, numbers[name]
    if cases.people:
        yield "people", "all", "alpha", cases.people.alpha


def _correlation_numbers(
    level: str, scope: str, found: MeanCorrelation
) -> Iterator[tuple[str, str, str, Estimate]]:
    yield level, scope, "pearson", found.pearson
    for statistic in ("without_noise", "spearman"):
        value = getattr(found, statistic)
        without_interval = replace(found.pearson, value=value, low=math.nan, high=math.nan)
        yield level, scope, statistic, without_interval


def _intents(level: IntentLevel, unlike: Sequence[str], short: Mapping[str, str]) -> Section:
    points = pd.DataFrame(level.points)[["group", "questions", "score", "people", "satisfaction"]]
    formats = {
        **dict.fromkeys(("questions", "people"), number(0)),
        **dict.fromkeys(("score", "satisfaction"), _NUMBER),
    }
    columns = ["scores of", "Pearson", "without noise", "Spearman"]
    models = [
        (short[name], found.pearson.value, _without_noise(found), found.spearman)
        for name, found in level.by_model.items()
    ]
    resampled = "questions, satisfaction taken as exact"
    if level.people_resampled:
        resampled = "questions and people"
    about = _about_means(level, "intents", resampled, _PUBLISHED_INTENTS)
    notes = (*about, *mean_notes(level), *unlike)
    of_models: dict[str, Format] = {"Pearson": _NUMBER, "without noise": str, "Spearman": _NUMBER}
    tables = (
        Table(points, formats, headings={"group": "intent"}),
        Table(pd.DataFrame(models, columns=columns), of_models),
    )
    return Section("Score and satisfaction by intent", notes, tables, 3)


def _models(level: ModelLevel, unlike: Sequence[str], short: Mapping[str, str]) -> Section:
    points = pd.DataFrame(level.points)
    points["model"] = points["model"].map(short)
    notes = (
        (
            f"{counted(level.comparisons, 'comparison')} on"
            f" {counted(level.instructions, 'instruction')}, {counted(level.ties, 'tie')}; scores"
            f" over {counted(level.questions, 'question')}."
        ),
        *_about_means(level, "models", "instructions and questions", _PUBLISHED_MODELS),
        *mean_notes(level),
        *unlike,
    )
    formats = {"score": _NUMBER, "rating": rating_text}
    table = Table(points, formats, headings={"rating": "Bradley-Terry"})
    return Section("Score and votes by model", notes, (table,), 3)


def _about_means(level: MeanLevel, what: str, resampled: str, published: str) -> tuple[str, ...]:
    about = _about_correlation(
        level.correlation, len(level.points), what, resampled, why_no_interval(level)
    )
    return (*about, published)


def why_no_interval(level: MeanLevel) -> str:
    """What an interval would need and is missing; empty if there is one."""
    least = fewest_clusters(level.correlation.pearson.level)
    parts = []
    for what, numbers in level.behind.items():
        few = [name for name, number_behind in numbers.items() if number_behind < least]
        if few:
            parts.append(f"fewer than {least} {what} behind {', '.join(few)}")
    return "; ".join(parts)


def _cases(level: CaseLevel, short: Mapping[str, str]) -> Section:
    rows = []
    for scope, agreed in level.scopes.items():
        name = short.get(scope, scope)
        by = agreed.correlations
        correlations = (by.spearman, by.kendall, by.pearson)
        rows.append((name, agreed.answers, *correlations, agreed.alpha, agreed.difference))
    formats = {
        "answers": number(0),
        **dict.fromkeys(("Spearman", "Kendall", "Pearson", "alpha"), _NUMBER),
    }
    formats["score less rating"] = number(2, sign=True)
    over = "questions"
    if level.all.clusters < level.all.questions:
        over = f"{counted(level.all.clusters, 'cluster')} of questions, such as their users"
    notes = (
        (
            f"{counted(level.all.answers, 'answer')} to {counted(level.all.questions, 'question')}"
            f" were both rated and scored; brackets over resamples of {over}, none over too few."
            " Ratings are means over people; alpha and difference are on the judge's scale, 1"
            " to 10."
        ),
        _among_people(level),
        *case_notes(level),
    )
    table = Table(pd.DataFrame(rows, columns=["answers of", *formats]), formats)
    return Section("Score and rating of single answers", notes, (table,), 3)


def _among_people(level: CaseLevel) -> str:
    people = level.people
    if people is None:
        return "The file does not name raters, so that agreement among people is not known."
    alpha = "no answer has several, so that agreement among people is not known."
    if people.answers:
        alpha = (
            f"on {counted(people.answers, 'answer')} with several, Krippendorff's alpha among"
            f" people is {_NUMBER(people.alpha)}."
        )
    return (
        f"{counted(people.raters, 'person', 'people')} gave {counted(people.ratings, 'rating')};"
        f" {alpha}"
    )


def _without_noise(found: MeanCorrelation) -> str:
    """Pearson corrected for the noise of the means, with its interval.

    A dash where noise is not known.
    """
    if math.isnan(found.pearson.low):
        return DASH
    return _NUMBER(replace(found.pearson, value=found.without_noise))


def _about_correlation(
    found: MeanCorrelation, points: int, what: str, resampled: str, lacking: str
) -> list[str]:
    """A correlation: what was measured, what noise makes of it, and how far few points carry."""
    pearson = found.pearson
    if math.isnan(pearson.value):
        return [
            f"There is no correlation: all {points} {what} have the same mean on one of the two"
            " sides."
        ]
    measured = (
        f"Over {points} {what}: Pearson {_NUMBER(pearson.value)}, Spearman"
        f" {_NUMBER(found.spearman)}."
    )
    how = f"over resamples of {resampled}, these {what} given."
    little = f"the means of these {what} differ no more than noise would make them"
    if math.isnan(pearson.low):
        why = little
        if lacking:
            why = f"{lacking}. Too few to show how far such a mean would scatter"
        notes = [f"{measured} There is no interval, and no correction for noise: {why}."]
    elif math.isnan(found.without_noise):
        notes = [
            f"{measured} As {little}, without it Pearson may be anything from"
            f" {_NUMBER(pearson.low)} to {_NUMBER(pearson.high)}, {how}"
        ]
    else:
        notes = [
            f"{measured} Without the noise of the means Pearson is about {_without_noise(found)}:"
            f" brackets {how}"
        ]
        if pearson.low <= 0 <= pearson.high:
            notes.append(
                f"The interval holds 0: beside the noise of their means, these {what} differ too"
                " little to show whether the two go together."
            )
    low, high = found.over_points
    if points < _MANY and math.isnan(low):
        notes.append(f"{points} points are too few for an interval over other {what}.")
    elif points < _MANY:
        notes.append(
            f"Only {points} points: as a sample of other {what}, Pearson could be anywhere from"
            f" {_NUMBER(low)} to {_NUMBER(high)} (Fisher's z)."
        )
    return notes
