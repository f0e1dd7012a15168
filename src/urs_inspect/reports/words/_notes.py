"""What must be known of a ranking.

How its answers were chosen, cut, judged and counted; and before it is believed: flat judges, equal
answers, judging oneself, and leads that rest on one intent.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np

from urs_inspect._util import counted
from urs_inspect.reports._texts import listed, number, p_value, share
from urs_inspect.reports.numbers._conditions import (
    SHARE,
    Difference,
    OtherPrompts,
    OtherQuestions,
    Reason,
    Unlike,
)
from urs_inspect.reports.numbers._leaderboard import AboutAnswers, Ranking
from urs_inspect.reports.words._comparison import missing_notes
from urs_inspect.rubrics import HIGHEST

_DIFFERENCES = {
    "task": "Another task: {ours}, not {theirs}.",
    "version": ("Another version of the task, whose scores do not compare: {ours}, not {theirs}."),
    "content": "Other data: {ours}, not {theirs}.",
    "rubric": "Another rubric: {ours}, not {theirs}.",
    "panel": "Other judges: {ours}, not {theirs}.",
    "references": "Other references: {ours}, not {theirs}.",
}
_WITHOUT = {"rubric": "not known", "panel": "none", "references": "those of the data"}
"""Conditions that may be empty, in words."""


def reasons_apart(reasons: Iterable[Reason]) -> list[str]:
    """Why models are not compared with the first ones, one sentence for each reason."""
    return [_reason_apart(reason) for reason in reasons]


def _reason_apart(reason: Reason) -> str:
    match reason:
        case Difference(name):
            without = _WITHOUT.get(name)
            ours = reason.ours or without
            theirs = reason.theirs or without
            return _DIFFERENCES[name].format(ours=ours, theirs=theirs)
        case OtherPrompts(kinds):
            return (
                f"Judged with other prompts: they differ for {kinds} of the kinds of cases that"
                " both have."
            )
        case OtherQuestions():
            return _few_in_common(reason)


def _few_in_common(reason: OtherQuestions) -> str:
    if not reason.common:
        return (
            "No question in common with the first ranking, which is over"
            f" {counted(reason.first, 'question')}."
        )
    asked = f"Asked {reason.common:,} of the {reason.first:,} questions of the first ranking"
    if SHARE * reason.common < reason.first:
        return f"{asked}, fewer than half."
    return (
        f"{asked}; all together would be ranked over fewer than half of the {reason.most:,} that"
        f" {reason.model} was asked."
    )


def ranking_notes(ranking: Ranking) -> list[str]:
    """What must be known of the answers of a ranking, one sentence each."""
    about = ranking.about_answers
    notes = unlike_notes(ranking.unlike)
    if about.without_share and ranking.traffic is not None:
        notes.append(
            f"{about.without_share:,} of {ranking.asked + about.without_share:,} questions are of"
            f" kinds without a share in {ranking.traffic.source} and do not count."
        )
    notes += missing_notes(ranking)
    notes += _about_clusters(about, ranking.asked)
    notes += _about_texts(about)
    notes += _about_temperatures(about)
    if 0 < about.without_country < ranking.asked:
        notes.append(
            f"{about.without_country:,} of {ranking.asked:,} questions name no country; they count"
            " everywhere but by country."
        )
    if about.silent_judges:
        notes.append(
            f"{listed(about.silent_judges)} scored no answer: this ranking is by the other judges"
            " of the panel alone."
        )
    return notes


def epoch_notes(ratings: int, file: str) -> list[str]:
    """That ratings of a file do not say which answer they are about; none if all do."""
    if not ratings:
        return []
    return [
        f"{counted(ratings, 'rating')} of {file} without an epoch, about questions that were"
        " answered several times: compared with the mean score over epochs."
    ]


def unlike_notes(unlike: Unlike) -> list[str]:
    """How models were not asked and judged alike, one sentence each."""
    notes = []
    if unlike.structured:
        shares = ", ".join(f"{model} {percent} %" for model, percent in unlike.structured.items())
        notes.append(
            "Judged with structured output in part: the same judge may score otherwise with it than"
            f" without. Share of judgements with it: {shares}. Judge all models with `-T"
            " structured=false`, or all with `true`, to compare them alike."
        )
    if unlike.attempted:
        attempted = ", ".join(f"{model} {count:,}" for model, count in unlike.attempted.items())
        notes.append(
            f"Ranked over the {counted(unlike.common, 'question')} that all"
            f" {len(unlike.attempted)} models attempted; attempted were: {attempted}. Leave out the"
            " log of a model that attempted few to rank the others over more."
        )
    return notes


def cluster_note(
    what: str, clusters: int, consequence: str = "all intervals and tests are over clusters"
) -> str:
    """Of how many clusters the questions, or cases, are, and what follows."""
    number = counted(clusters, "cluster")
    return f"The {what} come from {number}, such as their users: {consequence}."


def _about_clusters(about: AboutAnswers, questions: int) -> list[str]:
    """How many clusters the questions come from, where some are named."""
    notes = []
    if about.clusters:
        notes.append(cluster_note(counted(questions, "question"), about.clusters))
    if about.in_several_clusters:
        notes.append(
            "Logs name different clusters for"
            f" {counted(about.in_several_clusters, 'question')}; for each, one of them counts."
        )
    return notes


def _about_texts(about: AboutAnswers) -> list[str]:
    """How many answers were cut off, and of how many questions a judge saw only a part."""
    notes = []
    if about.cut_off:
        named = ", ".join(f"{model} {count:,}" for model, count in about.cut_off.items())
        notes.append(
            f"{sum(about.cut_off.values()):,} of {about.answers:,} answers were cut off at the"
            f" token limit: {named}. --max-tokens gives a model more room."
        )
    if about.not_shown:
        named = "; ".join(f"{what}: {count:,}" for what, count in about.not_shown.items())
        notes.append(
            f"For {sum(about.not_shown.values()):,} of {about.answers:,} answers the judge could"
            f" not see a part of the question, which its prompt names ({named})."
        )
    return notes


def _about_temperatures(about: AboutAnswers) -> list[str]:
    """Temperatures of judges that differ or were not sent."""
    notes = []
    if about.temperature_not_sent:
        notes.append(
            f"For {about.temperature_not_sent:,} of {about.answers:,} answers the temperature that"
            " was requested of a judge was not sent by its provider's client: that judge ran at its"
            " default temperature."
        )
    if len(about.temperatures) > 1:
        notes.append(f"Judges ran at different temperatures: {', '.join(about.temperatures)}.")
    return notes


# --- warnings ---

_FEWEST = 10
"""Fewest scores of a judge after which a warning says that they are all alike."""
_TOP_SHARE = 0.98
"""Share of top marks from which on a judge can hardly tell answers apart."""
_EQUAL_SHARE = 0.1
"""Share of equal answers of two models from which on a report names them."""
_SIGNED = number(2, sign=True)


def first_cautions(ranking: Ranking) -> list[str]:
    """What is said before anything else: judges whose scores are all alike."""
    scores: dict[str, list[float]] = {}
    for finals in ranking.answers["judge_finals"]:
        for judge, final in finals.items():
            if not np.isnan(final):
                scores.setdefault(judge, []).append(float(final))
    sentences = []
    for judge, given in scores.items():
        top = given.count(HIGHEST)
        if len(given) < _FEWEST:
            continue
        if len(set(given)) == 1:
            sentences.append(
                f"THE JUDGE {judge} GAVE ALL {len(given):,} ANSWERS THE SAME SCORE, {given[0]:g}:"
                " it does not tell answers apart."
            )
        elif top >= _TOP_SHARE * len(given):
            sentences.append(
                f"THE JUDGE {judge} GAVE {top:,} OF {len(given):,} ANSWERS"
                f" ({share(top / len(given))}) THE TOP MARK, {HIGHEST}: it hardly tells answers"
                " apart."
            )
    return sentences


def more_cautions(ranking: Ranking) -> list[str]:
    """What is said right after the headline: self-judging, equal answers, leads of one intent."""
    sentences = [_self_judged(ranking), _equal_answers(ranking), *_leads_of_one_intent(ranking)]
    return [sentence for sentence in sentences if sentence]


def _self_judged(ranking: Ranking) -> str:
    shares = ranking.models["self_judged"]
    names = [ranking.short[str(name)] for name in shares.index[shares > 0]]
    if not names:
        return ""
    what = "was one of the judges of its own answers"
    if len(ranking.conditions.judges) == 1:
        what = "judged its own answers"
    elif len(names) > 1:
        what = "were each among the judges of their own answers"
    return f"SELF-JUDGED: {listed(names)} {what}, which a model may favour."


# --- equal answers ---


def _equal_answers(ranking: Ranking) -> str:
    """Pairs of models with answers that are word for word the same."""
    given = ranking.answers[ranking.answers["answer_digest"] != ""]
    texts = given.drop_duplicates(["question", "epoch", "model"]).pivot(
        index=["question", "epoch"], columns="model", values="answer_digest"
    )
    names = [name for name in ranking.names if name in texts]
    pairs = []
    for first, second in combinations(names, 2):
        both = texts[[first, second]].dropna()
        equal = int((both[first] == both[second]).sum())
        if equal > 1 and equal >= _EQUAL_SHARE * len(both):
            many = f"all {len(both):,}" if equal == len(both) else f"{equal:,} of {len(both):,}"
            pairs.append(f"{ranking.short[first]} and {ranking.short[second]} in {many}")
    return (
        f"Answers that are word for word the same: {listed(pairs, separator='; ')}."
        if pairs
        else ""
    )


# --- leads that rest on one intent ---


def _leads_of_one_intent(ranking: Ranking) -> Iterator[str]:
    """Leads of the first model that rest on one intent."""
    first = ranking.short[ranking.names[0]]
    for case in ranking.without_intents:
        for worse, lead in case.lost.items():
            if lead.clear:
                yield (
                    f"The lead of {first} over {ranking.short[worse]} RESTS ON ONE INTENT,"
                    f" {ranking.title(case.intent)}: without its"
                    f" {counted(case.questions, 'question')} it is {_SIGNED(lead.difference)} (p"
                    f" {p_value(lead.p)})."
                )


def intent_notes(ranking: Ranking) -> list[str]:
    """What else changes without one intent: leads that need every question, and the leader."""
    notes = []
    first = ranking.short[ranking.names[0]]
    for worse in ranking.names:
        intents = [
            ranking.title(case.intent) for case in ranking.without_intents if worse in case.lost
        ]
        clear = any(
            case.lost[worse].clear for case in ranking.without_intents if worse in case.lost
        )
        if intents and not clear:
            one_of = f"the questions of {intents[0]}"
            if len(intents) > 1:
                one_of = f"the questions of any one of {listed(intents, 'and')}"
            notes.append(
                f"The lead of {first} over {ranking.short[worse]} is not significant without"
                f" {one_of}, as fewer questions alone may explain."
            )
    # Which of two models that cannot be distinguished has the higher mean is chance in any case.
    leads = {worse for better, worse in ranking.leads if better == ranking.names[0]}
    cases = [case for case in ranking.without_intents if case.leader in leads]
    parts = [f"{ranking.short[case.leader]} without {ranking.title(case.intent)}" for case in cases]
    if parts:
        notes.append(
            f"Another model would have the highest mean without one intent: {listed(parts)}."
        )
    return notes
