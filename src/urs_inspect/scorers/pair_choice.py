"""`pair_choice`: which of two models' answers the judges prefer; `human_choice`: which one people prefer."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from urs_inspect.annotation.agreement import Majority, majorities
from urs_inspect.annotation.votes import read_votes, vote_files
from urs_inspect.discrepancy.ballots import OUTCOMES, Ballot
from urs_inspect.errors import InputError, choices
from urs_inspect.judging import OVERALL, REPLIES
from urs_inspect.judging.pair_reading import PairReading, read_pair_reply
from urs_inspect.samer.judgement import EVALUATIONS, pair_facts
from urs_inspect.scorers.known_arguments import known_arguments
from urs_inspect.scorers.rating_table import competition_report, ratings
from urs_inspect.solvers.pair_asking import temperature_facts

AWAITING = "awaiting_votes"
_WORDS = {1.0: "a", 0.5: "tie", 0.0: "b"}
_MAX_REPLY = 4_000
_KEPT = ("judges", "orders", "flips", "failures", "votes")


@scorer(metrics=[ratings(), competition_report()])
def pair_choice(judge: str = "grader") -> Scorer:
    """Read the judges' choices between the two answers of a ballot (MAD paper, Eq. 3).

    The value holds `outcome`: 1 if the answer of `model_a` is better, 0.5 for a tie, 0 if that of `model_b` is; NaN if
    no verdict could be read, which is counted and never becomes a tie. A judge that was shown both orders and names
    another response each time sees no difference: a tie, counted as a flip. A panel's majority counts; if none, a tie.
    For the viewer the value names both models, without their providers; the metadata has the whole names.
    Samples in which contestants answer have no score.

    Args:
        judge: Who judges, for ballots that await people.

    Returns:
        The scorer.
    """

    async def score(state: TaskState, target: Target) -> Score | None:
        facts = state.metadata
        if "ballot" not in facts:
            return None
        ballot = Ballot.from_dict(facts["ballot"], f"sample {state.sample_id}")
        if "previous" in facts:
            return _earlier(ballot, facts["previous"]) if state.epoch == 1 else None
        known = {"lacking": facts["lacking"]} if facts.get("lacking") else {}
        known |= pair_facts(state.store.get(EVALUATIONS, []))
        if judge == "human":
            awaiting = {"judges": ["human"], "outcome": AWAITING, **known}
            return _made(ballot, math.nan, awaiting, "Awaits people's votes.")
        return _judged(ballot, state.store.get(REPLIES, []), known)

    return score


@scorer(metrics=[ratings(), competition_report()])
@known_arguments
def human_choice(votes: str | list[str]) -> Scorer:
    """Give the ballots of a finished log the outcome of people's votes: `inspect score LOG --scorer ...`.

    The option with the most votes counts; where several share the most votes, people see no difference together: a tie
    (MAD paper, appendix E.4). `cannot tell` counts for nothing. Calls no model. What people said in an earlier run
    that this one took over stands, unless it is among the votes.

    Args:
        votes: Files of votes, and directories of them, as `urs-inspect annotate` writes them.

    Returns:
        The scorer; its value is that of `pair_choice`.

    Raises:
        InputError: If there is no file, or a file cannot be read.
    """
    named = [votes] if isinstance(votes, str) else votes
    found: dict[str, Majority] = {one.ballot: one for one in majorities(read_votes(vote_files(named)).votes)}
    if not found:
        raise InputError(f"votes: no vote in: {choices(named)}")

    async def score(state: TaskState, target: Target) -> Score | None:
        facts = state.metadata or {}
        if "ballot" not in facts or state.epoch > 1:  # people vote on a ballot once, however often judges did
            return None
        ballot = Ballot.from_dict(facts["ballot"], f"sample {state.sample_id}")
        one = found.get(ballot.id)
        if one is None and facts.get("previous", {}).get("judges") == ["human"]:
            return _earlier(ballot, facts["previous"])
        if one is None or math.isnan(one.outcome):
            said = "Nobody voted." if one is None else "Everybody who voted could not tell."
            return _made(ballot, math.nan, {"judges": ["human"], "outcome": AWAITING}, said)
        counts = dict(zip(("a", "tie", "b"), one.counts, strict=True))
        said = ", ".join(f"{name}: {count}" for name, count in counts.items())
        details = {"judges": ["human"], "outcome": "judged", "votes": {**counts, "cannot_tell": one.cannot_tell}}
        return _made(ballot, one.outcome, details, f"Votes: {said}; cannot tell: {one.cannot_tell}.")

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


def _short(one: str, other: str) -> tuple[str, str]:
    """Names without the provider, which would fill the viewer's narrow columns; whole ones if they become equal."""
    short = one.rpartition("/")[2], other.rpartition("/")[2]
    return (one, other) if short[0] == short[1] else short


def _earlier(ballot: Ballot, facts: Mapping[str, Any]) -> Score:
    given = facts.get("outcome")
    outcome = float(given) if isinstance(given, (int, float)) else math.nan
    kept = {key: facts[key] for key in _KEPT if key in facts}
    missing = AWAITING if facts.get("judges") == ["human"] else "unread"
    judged = missing if math.isnan(outcome) else "judged"
    return _made(ballot, outcome, {**kept, "previous": True, "outcome": judged}, "Taken over from the earlier run.")


def _judged(ballot: Ballot, replies: Sequence[Mapping[str, Any]], known: Mapping[str, Any]) -> Score:
    readings: dict[str, list[PairReading]] = {}
    for reply in replies:
        readings.setdefault(str(reply["judge"]), []).append(read_pair_reply(reply))
    verdicts = {name: [one.verdicts.get(OVERALL) for one in found] for name, found in readings.items()}
    single = {name: _of_judge(given) for name, given in verdicts.items()}
    outcome = _of_panel([verdict for verdict in single.values() if verdict is not None])
    failed = [{"judge": name, **one.to_metadata()} for name, found in readings.items() for one in found if one.mode]
    facts = {
        "judges": list(readings),
        "outcome": "unread" if math.isnan(outcome) else "judged",
        "orders": {name: {one.first: one.verdicts.get(OVERALL) for one in found} for name, found in readings.items()},
        "flips": sum(None not in given and len(set(given)) > 1 for given in verdicts.values()),
        "failures": [failure["mode"] for failure in failed],
        "failure_details": failed,
        "unkeyed": sum(one.unkeyed for found in readings.values() for one in found),
        "prompt_sha256": sorted({str(reply.get("prompt_sha256", "")) for reply in replies}),
        "prompt_version": sorted({str(reply.get("prompt_version", "")) for reply in replies}),
        **temperature_facts(replies),
        **known,
    }
    return _made(ballot, outcome, facts, _explained(ballot, readings, single))


def _of_judge(given: Sequence[str | None]) -> str | None:
    """One judge's verdict: that of all orders, a tie where they disagree, none where one could not be read."""
    if not given or None in given:
        return None
    return given[0] if len(set(given)) == 1 else "tie"


def _of_panel(given: Sequence[str]) -> float:
    if not given:
        return math.nan
    (most, count), *others = Counter(given).most_common()
    return 0.5 if others and others[0][1] == count else OUTCOMES[most]


def _explained(ballot: Ballot, readings: Mapping[str, Sequence[PairReading]], single: Mapping[str, str | None]) -> str:
    names = {"a": ballot.model_a, "b": ballot.model_b, "tie": "tie", None: "unread"}
    parts: list[str] = []
    for judge, found in readings.items():
        parts.append(f"### {judge}: {names[single[judge]]}")
        for one in found:
            shown_first = ballot.model_a if one.first == "a" else ballot.model_b
            verdict = names[one.verdicts.get(OVERALL)]
            failure = f" ({one.mode}: {one.detail})" if one.mode else ""
            parts.append(f"**{shown_first} shown first: {verdict}**{failure}")
            if one.reply:
                more = "\n\n*(cut)*" if len(one.reply) > _MAX_REPLY else ""
                parts.append(one.reply[:_MAX_REPLY] + more)
    return "\n\n".join(parts)
