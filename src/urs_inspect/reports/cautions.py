"""What must be known before a ranking is believed: flat judges, equal answers, self-judging, leads of one intent."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from urs_inspect._util import counted
from urs_inspect.reports.comparison import ComparedModels
from urs_inspect.reports.scores import ALL, Columns, OrderedScores, Weights, compare_models
from urs_inspect.reports.tables import listed, number, p_value, share
from urs_inspect.rubrics import HIGHEST
from urs_inspect.stats.bootstrap import Resampling

if TYPE_CHECKING:
    from urs_inspect.reports.leaderboard import Ranking

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
                f"THE JUDGE {judge} GAVE ALL {len(given):,} ANSWERS THE SAME SCORE, {given[0]:g}: it does not tell "
                "answers apart."
            )
        elif top >= _TOP_SHARE * len(given):
            sentences.append(
                f"THE JUDGE {judge} GAVE {top:,} OF {len(given):,} ANSWERS ({share(top / len(given))}) THE TOP MARK, "
                f"{HIGHEST}: it hardly tells answers apart."
            )
    return sentences


def more_cautions(ranking: "Ranking") -> list[str]:
    """What is said right after the headline: self-judging, equal answers, leads that rest on one intent."""
    sentences = [_self_judged(ranking), _equal_answers(ranking), *_fragile_leads(ranking)]
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
    return f"Answers that are word for word the same: {listed(pairs, separator='; ')}." if pairs else ""


# --- leads that rest on one intent ---


@dataclass(frozen=True)
class WithoutIntent:
    """A ranking without the questions of one intent.

    `lost` has the models over which the first one has a significant lead that is none without the intent, each with the
    difference and its corrected p-value there.
    """

    intent: str
    questions: int  # that are left out
    leader: str  # model with the highest mean without them
    lost: Mapping[str, tuple[float, float]]


def without_intents(
    scores: OrderedScores, columns: Columns, compared: ComparedModels, resampling: Resampling
) -> tuple[WithoutIntent, ...]:
    """Leave out each intent in turn; only those are returned without which a lead or the leader is another."""
    if len(columns.groups) < 2 or scores.ranked < 2:
        return ()
    names = scores.table.models
    rounds = resampling.rounds if scores.common_weights.reweight else min(resampling.rounds, _FEW_ROUNDS)
    leads = {worse for better, worse in compared.leads if better == names[0]}
    found = []
    for group in columns.groups:
        rest = np.setdiff1d(columns.questions[ALL], columns.questions[group])
        there = np.flatnonzero(np.isin(scores.common, rest))
        if not len(there):
            continue
        tested, _ = compare_models(scores, {ALL: rest}, replace(resampling, rounds=rounds))
        lost = {
            names[pair.second]: (pair.difference.value, max(pair.p_holm, pair.p_worst))
            for pair in tested[ALL]
            if pair.first == 0 and names[pair.second] in leads and not (pair.significant and pair.difference.value > 0)
        }
        means = Weights(None, scores.common_weights.values[there]).means(scores.comparable[there])
        best = int(np.nanargmax(np.round(means, 9)))
        if lost or best != 0:
            found.append(WithoutIntent(group, len(scores.common) - len(there), names[best], lost))
    return tuple(found)


def _fragile_leads(ranking: "Ranking") -> Iterator[str]:
    """Leads of the first model that are not significant without one intent."""
    first = ranking.short[ranking.names[0]]
    for worse in ranking.names:
        cases = [case for case in ranking.without_intents if worse in case.lost]
        lead = f"The lead of {first} over {ranking.short[worse]}"
        if len(cases) == 1:
            [case] = cases
            difference, p = case.lost[worse]
            yield (
                f"{lead} RESTS ON ONE INTENT, {ranking.title(case.intent)}: without its "
                f"{counted(case.questions, 'question')} it is {_SIGNED(difference)} (p {p_value(p)})."
            )
        elif cases:
            intents = listed([ranking.title(case.intent) for case in cases], "or")
            yield f"{lead} is not significant without the questions of any one of {intents}."


def other_leaders(ranking: "Ranking") -> str:
    """Which models would have the highest mean without one intent; empty if none but the first."""
    cases = [case for case in ranking.without_intents if case.leader != ranking.names[0]]
    parts = [f"{ranking.short[case.leader]} without {ranking.title(case.intent)}" for case in cases]
    return f"The highest mean would be that of another model without one intent: {listed(parts)}." if parts else ""
