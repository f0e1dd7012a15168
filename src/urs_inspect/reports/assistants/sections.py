"""A report of models and assistants as sections of lines and tables, for the terminal and for Markdown alike."""

import math

from urs_inspect.reports.assistants.answers import CHOSEN, EMPTY, FACTUAL, NO_RESULT, NOTHING, SCORED, TRANSLATION
from urs_inspect.reports.assistants.report import AssistantReport, Comparison, ServiceScore
from urs_inspect.reports.intent.page.formats import (
    NONE,
    interval_text,
    level_text,
    mean_text,
    p_text,
    signed_interval,
    signed_text,
)
from urs_inspect.reports.published_section import published_section
from urs_inspect.reports.sections import Section, TextTable
from urs_inspect.texts import counted

SIMULATION = "SIMULATION: models whose names begin with `urs_simulation/` are simulated; their scores mean nothing."

_TITLES = {
    FACTUAL: "Factual QA (laid out as Table 14)",
    TRANSLATION: "Translation (laid out as Table 15)",
    CHOSEN: "Cases chosen by their ids",
}
_PUBLISHED = {FACTUAL: 14, TRANSLATION: 15}
_ROUNDING = 1e-9
_FIRST = (SCORED, EMPTY, NOTHING, NO_RESULT)


def sections_of(report: AssistantReport) -> list[Section]:
    """The sections of a report in their order; published tables follow the last comparison of their cases."""
    found: list[Section] = []
    for cases, title in _TITLES.items():
        several = [one for one in report.comparisons if one.cases == cases]
        for number, one in enumerate(several, start=1):
            found += _comparison(one, title if len(several) == 1 else f"{title}, {number} of {len(several)}")
        if several and cases in _PUBLISHED:
            found.append(published_section(_PUBLISHED[cases], judged=True))
    if report.left_out:
        found.append(Section("Left out", 2, report.left_out))
    found.append(Section("Method", 2, tuple(_method(report))))
    return found


def _comparison(found: Comparison, title: str) -> list[Section]:
    apart = [f"Apart from the first table of these cases: {reason}" for reason in found.apart_because]
    lines = (*apart, *_conditions(found), *_in_common(found), *_leader(found))
    return [
        Section(title, 2, lines, (_scores(found),)),
        Section("What became of the answers", 3, tuple(_about_answers(found)), (_became(found),)),
        *([Section("Differences on the common questions", 3, (), (_differences(found),))] if found.differences else []),
    ]


def _conditions(found: Comparison) -> list[str]:
    facts = found.conditions
    sha256 = f" (sha256 {facts.dataset_sha256[:8]})" if facts.dataset_sha256 else ""
    references = f" References: {facts.references}." if facts.references else ""
    return [
        f"Judge: {', '.join(facts.judges) or 'none'}.",
        f"Data: {facts.dataset}{sha256}. Rubric: {facts.rubric}. Prompts: {facts.prompts}.{references}",
    ]


def _in_common(found: Comparison) -> list[str]:
    """How many questions the means are over, and what would make them more."""
    several = len(found.services)
    asked = counted(found.questions, "question")
    if several == 1:
        return [f"One alone, over {found.common} of {asked}; nothing to compare it with."]
    names = " and ".join(found.without.services) if found.without else ""
    if not found.common:
        advice = (
            f"Leave out the logs of {names}: the others share {counted(found.without.common, 'question')}."
            if found.without
            else "Nothing can be compared by leaving some out."
        )
        return [f"No question of {asked} has a score from all {several}, so that there are no means. {advice}"]
    said = [
        f"Means are over the {counted(found.common, 'question')} of {found.questions} that all {several} have a score "
        "for."
    ]
    if found.without:
        said.append(f"Without {names}, the others would share {found.without.common}.")
    if any(math.isnan(one.mean.low) for one in found.services):
        said.append("Over so few questions there is no interval.")
    return said


def _leader(found: Comparison) -> list[str]:
    """Whether the best is the best."""
    if not found.differences:
        return []
    best = found.services[0].service
    pairs = [one for one in found.differences if one.first == best]
    close = [one.second for one in pairs if not one.apart]
    if not close:
        return [f"{best} is ahead of all others."]
    rest = len(pairs) - len(close)
    others = f" It is ahead of the {'other one' if rest == 1 else f'other {rest}'}." if rest else ""
    same = [one.second for one in pairs if abs(one.difference.value) < _ROUNDING]
    mean = f"the highest mean, the same as {' and '.join(same)}," if same else "the highest mean,"
    return [f"{best} has {mean} but cannot be told apart from {' and '.join(close)}.{others}"]


def _scores(found: Comparison) -> TextTable:
    nothing = _any_nothing(found)
    headings = ("no.", "answered by", "score", "interval", "scored")
    rows = tuple(
        (
            str(place),
            one.service,
            mean_text(one.mean.value),
            interval_text(one.mean.low, one.mean.high) or NONE,
            f"{one.scored} of {one.questions}",
            *([mean_text(one.with_nothing.value)] if nothing else []),
        )
        for place, one in enumerate(found.services, start=1)
    )
    return TextTable((*headings, *(["nothing = 1"] if nothing else [])), rows, 2)


def _any_nothing(found: Comparison) -> bool:
    return any(NOTHING in one.became for one in found.services)


def _became(found: Comparison) -> TextTable:
    there = {what for one in found.services for what in one.became}
    kinds = [what for what in _FIRST if what in there or what == SCORED]
    kinds += sorted(there - set(kinds))
    rows = tuple(
        (one.service, str(sum(one.became.values())), *[str(one.became.get(what, 0)) for what in kinds])
        for one in found.services
    )
    return TextTable(("answered by", "answers", *kinds), rows, 1)


def _about_answers(found: Comparison) -> list[str]:
    said = []
    if any(EMPTY in one.became for one in found.services):
        said.append("Empty answers have the lowest score, 1, without a judge.")
    if _any_nothing(found):
        said.append(
            "A search that finds no page has no score, and its question counts for nobody. In the column 'nothing = 1' "
            "it has the lowest score, as an empty answer has, over the "
            f"{counted(found.common_with_nothing, 'question')} that are then common."
        )
    said += [
        f"{one.service} judged {counted(one.self_judged, 'answer')} of its own."
        for one in found.services
        if one.self_judged
    ]
    return said + [_failed(one) for one in found.services if one.because]


def _failed(one: ServiceScore) -> str:
    times = one.became[NO_RESULT]
    often = ", most often" if times > 1 else ""
    return f"{one.service} failed {counted(times, 'time')}{often}: {one.because}"


def _differences(found: Comparison) -> TextTable:
    # Places stand for names, two of which in every row would leave no room for numbers.
    place = {one.service: number for number, one in enumerate(found.services, start=1)}
    rows = tuple(
        (
            f"{place[one.first]} and {place[one.second]}",
            f"{place[one.first]} is ahead" if one.apart else "cannot tell apart",
            signed_text(one.difference.value),
            signed_interval(one.difference) or NONE,
            p_text(one.p),
            p_text(one.p_holm),
        )
        for one in found.differences
    )
    return TextTable(("no.", "in words", "difference", "interval", "p", "p (Holm)"), rows, 2)


def _method(report: AssistantReport) -> list[str]:
    return [
        "Scored: questions with a score, of those asked. Difference: the first less the second, question by question.",
        f"Intervals: {level_text(report.level)}, bootstrap over questions, {report.rounds:,} rounds (seed "
        f"{report.seed}); epochs of a question are averaged first.",
        f"One is ahead of another where the p-value of the paired bootstrap is below {1 - report.level:.2g} after "
        "Holm's correction; else they cannot be told apart, which does not say that they are equal.",
    ]
