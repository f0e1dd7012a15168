"""`pair_choice`: which of two models' answers the judges prefer.

`human_choice`: which one people prefer.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from logging import getLogger
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from urs_inspect._arguments import Paths, as_list, checked
from urs_inspect._util import InputError, choices
from urs_inspect.annotation._agreement import Majority, majorities
from urs_inspect.annotation._votes import read_votes, vote_files
from urs_inspect.discrepancy._ballots import OUTCOMES, Ballot
from urs_inspect.judging._pair_reply import (
    REPLIES,
    PairReading,
    final_verdict,
    read_pair_reply,
    reply_counts,
)
from urs_inspect.judging._reply_counts import UnkeyedWatch, header_rows, summed
from urs_inspect.judging._scores import as_number
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.scorers._metrics import count_rows, facts_of, number_of
from urs_inspect.solvers._local_judges import EVALUATIONS, pair_facts
from urs_inspect.solvers._pair_asking import call_facts
from urs_inspect.stats import Battle, Ranking, battles_of, rank

logger = getLogger(__name__)

_Key = tuple[tuple[str, str, float, str], ...]


@metric(scores="unreduced")
def ratings() -> Metric:
    """Bradley-Terry ratings by model, the best first; 400 points are odds of ten to one."""

    def compute(scores: list[SampleScore]) -> Value:
        ranking = _ranking(scores)
        if ranking is None:
            return {}
        values = [round(estimate.value, 1) for estimate in ranking.bradley_terry]
        return dict(zip(ranking.players, values, strict=True))

    return compute


@metric(scores="unreduced")
def competition_report() -> Metric:
    """All else about a competition, by row.

    `<model> low` and `high` (95% interval of the rating over resamples of instructions);
    `comparisons`, `ties`, `unread`, `awaiting votes`; `flips`, the share of judges' verdicts in
    both orders that named another response when the order changed; `first shown preferred`, the
    share of read verdicts that are no ties; `separated neighbours` of all neighbours in the
    ranking; `groups that compare`, 1 if the comparisons link all models; counts of failures, and of
    judges' replies without the key, asked again and so on; `<model> missing answers` and `empty
    answers`, which were not compared. `urs-inspect rank` has the ranks, their intervals, and Elo as
    well.
    """

    def compute(scores: list[SampleScore]) -> Value:
        facts = [fact for fact in map(facts_of, scores) if fact.get("model_a")]
        outcomes = Counter(str(fact.get("outcome")) for fact in facts)
        ranking = _ranking(scores)
        named = (fact["lacking"] for fact in facts if fact.get("lacking"))
        lacking: Mapping[str, Mapping[str, int]] = next(named, {})
        rows = {
            "comparisons": float(outcomes["judged"]),
            "unread": float(outcomes["unread"]),
            "awaiting votes": float(outcomes[AWAITING]),
            **_habits(facts),
        }
        if ranking is not None:
            rows |= _rows(ranking)
        modes = (mode for fact in facts for mode in fact.get("failures", ()))
        rows |= count_rows("failures", modes)
        rows |= header_rows(summed(facts))
        for name, counts in lacking.items():
            for kind, count in counts.items():
                if count:
                    rows[f"{name} {kind} answers"] = float(count)
        return {**rows}

    return compute


def _ranking(scores: Sequence[SampleScore]) -> Ranking | None:
    battles = []
    for score in scores:
        facts = facts_of(score)
        outcome = number_of(score, "outcome")
        if not facts.get("model_a") or math.isnan(outcome):
            continue
        instruction = str(facts.get("instruction_id", score.sample_id))
        model_a = str(facts["model_a"])
        model_b = str(facts["model_b"])
        battles.append((model_a, model_b, outcome, instruction))
    if not battles:
        return None
    return _ranked(tuple(battles))


@lru_cache(maxsize=4)
def _ranked(key: _Key) -> Ranking:
    # The harness computes both metrics again whenever its display is refreshed; the same verdicts
    # are ranked once.
    return rank(battles_of(Battle(*battle) for battle in key))


def _rows(ranking: Ranking) -> dict[str, float]:
    rows: dict[str, float] = {"ties": float(ranking.ties)}
    for name, estimate in zip(ranking.players, ranking.bradley_terry, strict=True):
        known = estimate.reported()
        if not math.isnan(known.low):
            rows[f"{name} low"] = round(known.low, 1)
            rows[f"{name} high"] = round(known.high, 1)
    verdicts = [difference.verdict for difference in ranking.differences]
    separated = verdicts.count("significantly different")
    rows["separated neighbours"] = separated / len(verdicts)
    rows["groups that compare"] = float(len(ranking.connectivity.groups))
    return rows


def _habits(facts: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    orders: list[dict[str, str | None]] = []
    for fact in facts:
        orders += fact.get("orders", {}).values()
    both = []
    for given in orders:
        if len(given) == 2 and None not in given.values():
            both.append(given)
    flips = sum(len(set(given.values())) > 1 for given in both)
    shown = chain.from_iterable(given.items() for given in orders)
    firsts = [verdict == first for first, verdict in shown if verdict in ("a", "b")]
    rows: dict[str, float] = {}
    if both:
        rows["flips"] = flips / len(both)
    if firsts:
        rows["first shown preferred"] = sum(firsts) / len(firsts)
    return rows


AWAITING = "awaiting_votes"
_WORDS = {1.0: "a", 0.5: "tie", 0.0: "b"}
_MAX_REPLY = 4_000
_KEPT = ("judges", "orders", "flips", "failures", "votes")


@scorer(metrics=[ratings(), competition_report()])
def pair_choice(judge: str = "grader") -> Scorer:
    """Read the judges' choices between the two answers of a ballot (MAD paper, Eq. 3).

    The value holds `outcome`: 1 if the answer of `model_a` is better, 0.5 for a tie, 0 if that of
    `model_b` is; NaN if no verdict could be read, which is counted and never becomes a tie. A judge
    that was shown both orders and names another response each time sees no difference: a tie,
    counted as a flip. A panel's majority counts; if none, a tie. For the viewer the value names
    both models, without their providers; the metadata has the whole names. Samples in which
    contestants answer have no score.

    Args:
        judge: Who judges, as in `contest`; with `human` a ballot awaits votes of people.

    Returns:
        The scorer; it gives None for samples without a ballot.
    """
    watch = UnkeyedWatch()

    async def score(state: TaskState, target: Target) -> Score | None:
        facts = state.metadata
        if "ballot" not in facts:
            return None
        ballot = Ballot.from_dict(facts["ballot"], f"sample {state.sample_id}")
        if "previous" in facts:
            if state.epoch > 1:
                return None
            return _earlier(ballot, facts["previous"])
        known = pair_facts(state.store.get(EVALUATIONS, []))
        if facts.get("lacking"):
            known["lacking"] = facts["lacking"]
        if judge == "human":
            awaiting = {"judges": ["human"], "outcome": AWAITING, **known}
            return _made(ballot, math.nan, awaiting, "Awaits votes of people.")
        judged = _judged(ballot, state.store.get(REPLIES, []), known)
        for warning in watch.note(judged.metadata or {}):
            logger.warning(warning)
        return judged

    return score


@scorer(metrics=[ratings(), competition_report()])
@checked
def human_choice(votes: Paths) -> Scorer:
    """Give the ballots of a finished log the outcome of people's votes.

    `inspect score LOG --scorer ...`.

    The option with the most votes counts; where several share the most votes, people see no
    difference together: a tie (MAD paper, appendix E.4). `cannot tell` is not counted. Calls no
    model. Votes of an earlier run that this one took over stand, unless the ballot is among the new
    votes.

    Args:
        votes: Files of votes, and directories of them, as `urs-inspect annotate` writes them.

    Returns:
        The scorer; its value is that of `pair_choice`.

    Raises:
        InputError: If there is no file, or a file cannot be read.
    """
    places = as_list(votes)
    reading = read_votes(vote_files(places))
    voted: dict[str, Majority] = {
        majority.ballot: majority for majority in majorities(reading.votes)
    }
    if not voted:
        raise InputError(f"votes: no vote in: {choices(places)}")

    async def score(state: TaskState, target: Target) -> Score | None:
        facts = state.metadata or {}
        if (
            "ballot" not in facts or state.epoch > 1
        ):  # people vote on a ballot once, however often judges did
            return None
        ballot = Ballot.from_dict(facts["ballot"], f"sample {state.sample_id}")
        majority = voted.get(ballot.id)
        if majority is None and facts.get("previous", {}).get("judges") == ["human"]:
            return _earlier(ballot, facts["previous"])
        if majority is None or math.isnan(majority.outcome):
            why = "Everybody who voted could not tell."
            if majority is None:
                why = "Nobody voted."
            waiting = {"judges": ["human"], "outcome": AWAITING}
            return _made(ballot, math.nan, waiting, why)
        sides = ("a", "tie", "b")
        counts = dict(zip(sides, majority.counts, strict=True))
        listed = ", ".join(f"{name}: {count}" for name, count in counts.items())
        details = {
            "judges": ["human"],
            "outcome": "judged",
            "votes": {**counts, "cannot_tell": majority.cannot_tell},
        }
        return _made(
            ballot,
            majority.outcome,
            details,
            f"Votes: {listed}; cannot tell: {majority.cannot_tell}.",
        )

    return score


def _made(ballot: Ballot, outcome: float, facts: dict[str, Any], explanation: str) -> Score:
    verdict = _WORDS.get(outcome, "none")
    short = _short(ballot.model_a, ballot.model_b)
    return Score(
        value={"outcome": outcome, "model_a": short[0], "model_b": short[1]},
        answer={"a": ballot.model_a, "b": ballot.model_b}.get(verdict, verdict),
        explanation=explanation,
        reason="invalid_response_format" if facts.get("outcome") == "unread" else None,
        metadata={
            "model_a": ballot.model_a,
            "model_b": ballot.model_b,
            "instruction_id": ballot.instruction_id,
            "verdict": verdict,
            **facts,
        },
    )


def _short(name_a: str, name_b: str) -> tuple[str, str]:
    """Names without the provider, which would fill the viewer's narrow columns.

    Whole ones if they become equal.
    """
    short_a = name_a.rpartition("/")[2]
    short_b = name_b.rpartition("/")[2]
    if short_a == short_b:
        return name_a, name_b
    return short_a, short_b


def _earlier(ballot: Ballot, facts: Mapping[str, Any]) -> Score:
    outcome = as_number(facts.get("outcome"))
    kept = {key: facts[key] for key in _KEPT if key in facts}
    judged = "judged"
    if math.isnan(outcome):
        judged = "unread"
        if facts.get("judges") == ["human"]:
            judged = AWAITING
    known = {**kept, "previous": True, "outcome": judged}
    return _made(ballot, outcome, known, "Taken over from the earlier run.")


def _judged(
    ballot: Ballot, replies: Sequence[Mapping[str, Any]], known: Mapping[str, Any]
) -> Score:
    readings: dict[str, list[PairReading]] = {}
    for reply in replies:
        of_judge = readings.setdefault(str(reply["judge"]), [])
        of_judge.append(read_pair_reply(reply))
    orders: dict[str, dict[str, str | None]] = {}
    single: dict[str, str | None] = {}
    for name, given in readings.items():
        verdicts = {reading.first: reading.verdicts.get(OVERALL) for reading in given}
        orders[name] = verdicts
        single[name] = final_verdict(list(verdicts.values()))
    outcome = _of_panel([verdict for verdict in single.values() if verdict is not None])
    failed = _failures(readings)
    facts = {
        "judges": list(readings),
        "outcome": "unread" if math.isnan(outcome) else "judged",
        "orders": orders,
        "flips": sum(_flips(verdicts.values()) for verdicts in orders.values()),
        "failures": [failure["mode"] for failure in failed],
        "failure_details": failed,
        **reply_counts(readings),
        "prompt_sha256": sorted({str(reply.get("prompt_sha256", "")) for reply in replies}),
        "prompt_version": sorted({str(reply.get("prompt_version", "")) for reply in replies}),
        **call_facts(replies),
        **known,
    }
    return _made(ballot, outcome, facts, _explained(ballot, readings, single))


def _failures(readings: Mapping[str, Sequence[PairReading]]) -> list[dict[str, Any]]:
    return [
        {"judge": judge, **reading.to_metadata()}
        for judge, given in readings.items()
        for reading in given
        if reading.mode
    ]


def _flips(verdicts: Collection[str | None]) -> bool:
    """Whether a judge's verdict depends on the order."""
    return None not in verdicts and len(set(verdicts)) > 1


def _of_panel(given: Sequence[str]) -> float:
    if not given:
        return math.nan
    (most, count), *others = Counter(given).most_common()
    if others and others[0][1] == count:
        return 0.5
    return OUTCOMES[most]


def _explained(
    ballot: Ballot, readings: Mapping[str, Sequence[PairReading]], single: Mapping[str, str | None]
) -> str:
    names = {"a": ballot.model_a, "b": ballot.model_b, "tie": "tie", None: "unread"}
    parts: list[str] = []
    for judge, given in readings.items():
        parts.append(f"### {judge}: {names[single[judge]]}")
        for reading in given:
            verdict = names[reading.verdicts.get(OVERALL)]
            heading = f"**{names[reading.first]} shown first: {verdict}**"
            if reading.mode:
                heading += f" ({reading.mode}: {reading.detail})"
            parts.append(heading)
            if len(reading.reply) > _MAX_REPLY:
                parts.append(f"{reading.reply[:_MAX_REPLY]}\n\n*(cut)*")
            elif reading.reply:
                parts.append(reading.reply)
    return "\n\n".join(parts)
