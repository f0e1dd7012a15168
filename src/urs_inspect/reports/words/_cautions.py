"""What must be known before a ranking is believed.

Flat judges, equal answers, judging oneself, and leads that rest on one intent.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from urs_inspect._util import counted
from urs_inspect.reports.layout._tables import listed, number, p_value, share
from urs_inspect.reports.numbers._comparison import ComparedModels
from urs_inspect.reports.numbers._scores import (
    ALL,
    DIGITS,
    Columns,
    OrderedScores,
    Weights,
    compare_models,
)
from urs_inspect.rubrics import HIGHEST
from urs_inspect.stats._bootstrap import Floats, Resampling

if TYPE_CHECKING:
    from urs_inspect.reports.numbers._leaderboard import Ranking

_FEWEST = 10
"""Fewest scores of a judge of which it is said that they are all alike."""
_TOP_SHARE = 0.98
"""Share of top marks from which on a judge can hardly tell answers apart."""
_EQUAL_SHARE = 0.1
"""Share of equal answers of two models from which on a report names them."""
_FEW_ROUNDS = 100
"""Rounds of the bootstrap where only values and p-values are used that need none."""
_SIGNED = number(2, sign=True)


def first_cautions(ranking: "Ranking") -> list[str]:
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


def more_cautions(ranking: "Ranking") -> list[str]:
    """What is said right after the headline: self-judging, equal answers, leads of one intent."""
    sentences = [_self_judged(ranking), _equal_answers(ranking), *_leads_of_one_intent(ranking)]
    return [sentence for sentence in sentences if sentence]


def _self_judged(ranking: "Ranking") -> str:
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


def _equal_answers(ranking: "Ranking") -> str:
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


@dataclass(frozen=True)
class LostLead:
    """A significant lead that is none without the questions of one intent."""

    difference: float  # without them
    p: float  # corrected
    clear: bool  # whether the lead within the intent differs significantly from that elsewhere


@dataclass(frozen=True)
class WithoutIntent:
    """A ranking without the questions of one intent."""

    intent: str
    questions: int  # that are left out
    leader: str  # model with the highest mean without them
    lost: Mapping[str, LostLead]  # model -> the lead of the first model over it


def without_intents(
    scores: OrderedScores, columns: Columns, compared: ComparedModels, resampling: Resampling
) -> tuple[WithoutIntent, ...]:
    """Leave out each intent in turn.

    Only those are returned without which a lead or the leader is another. Fewer questions alone
    take significance away: of uniform leads that are just significant, up to 15% lose it without
    exactly one intent. So a lead rests on an intent only if it is also clearly another there than
    elsewhere (Welch's test, corrected by Bonferroni over intents), which leaves 2%
    (docs/report_coverage.md, six intents).
    """
    if len(columns.groups) < 2 or scores.ranked < 2:
        return ()
    names = scores.table.models
    rounds = (
        resampling.rounds if scores.common_weights.reweight else min(resampling.rounds, _FEW_ROUNDS)
    )
    leads = {worse for better, worse in compared.leads if better == names[0]}
    found = []
    for group in columns.groups:
        rest = np.setdiff1d(columns.questions[ALL], columns.questions[group])
        left = np.isin(scores.common, rest)
        if not left.any():
            continue
        tested, _ = compare_models(scores, {ALL: rest}, replace(resampling, rounds=rounds))
        lost = {}
        for pair in tested[ALL]:
            worse = names[pair.second]
            kept = pair.significant and pair.difference.value > 0
            if pair.first == 0 and worse in leads and not kept:
                differences = scores.comparable[:, 0] - scores.comparable[:, pair.second]
                p = len(columns.groups) * _welch(differences[~left], differences[left])
                lost[worse] = LostLead(
                    pair.difference.value, max(pair.p_holm, pair.p_worst), p < 1 - resampling.level
                )
        means = Weights(None, scores.common_weights.values[left]).means(scores.comparable[left])
        best = int(np.nanargmax(np.round(means, DIGITS)))
        if lost or best != 0:
            found.append(WithoutIntent(group, int((~left).sum()), names[best], lost))
    return tuple(found)


def _welch(first: Floats, second: Floats) -> float:
    """Two-sided p-value of Welch's t-test for equal means; 1 where one group has fewer than two.

    Without any spread within the groups, means that differ are certain to: 0.
    """
    from scipy.special import stdtr

    if min(len(first), len(second)) < 2:
        return 1.0
    parts = np.array([first.var(ddof=1) / len(first), second.var(ddof=1) / len(second)])
    if parts.sum() <= 0:
        return float(first.mean() == second.mean())
    t = (first.mean() - second.mean()) / math.sqrt(parts.sum())
    freedom = parts.sum() ** 2 / (parts**2 / [len(first) - 1, len(second) - 1]).sum()
    return float(2 * stdtr(freedom, -abs(t)))


def _leads_of_one_intent(ranking: "Ranking") -> Iterator[str]:
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


def intent_notes(ranking: "Ranking") -> list[str]:
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
