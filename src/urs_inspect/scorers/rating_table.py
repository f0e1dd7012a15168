"""`ratings` and `competition_report`: what the comparisons of a competition say about the models."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from urs_inspect.rating import Battle, Ranking, battles_of, rank

_Key = tuple[tuple[str, str, float, str], ...]


@metric(scores="unreduced")
def ratings() -> Metric:
    """Bradley-Terry ratings by model, the best first: mean 1000, 400 points are odds of ten to one.

    Returns:
        The metric; empty before the first verdict.
    """

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

    `<model> low` and `high` (95% interval of the rating over resamples of instructions); `comparisons`, `ties`,
    `unread`, `awaiting votes`; `flips`, the share of judges' verdicts in both orders that named another response when
    the order changed; `first shown preferred`, the share of read verdicts that are no ties; `separated neighbours` of
    all neighbours in the ranking; `groups that compare`, 1 if the comparisons link all models; counts of failures;
    `<model> missing answers` and `empty answers`, which were not compared. `urs-inspect rank` has the ranks, their
    intervals, and Elo as well.

    Returns:
        The metric.
    """

    def compute(scores: list[SampleScore]) -> Value:
        facts = [found for score in scores if (found := score.score.metadata or {}).get("model_a")]
        counted = Counter(str(found.get("outcome")) for found in facts)
        rows: dict[str, float] = {
            "comparisons": float(counted["judged"]),
            "unread": float(counted["unread"]),
            "awaiting votes": float(counted["awaiting_votes"]),
            **_habits(facts),
        }
        ranking = _ranking(scores)
        if ranking is not None:
            rows |= _rows(ranking)
        failures = Counter(mode for found in facts for mode in found.get("failures", ()))
        rows |= {f"failures {mode}": float(count) for mode, count in sorted(failures.items())}
        return {**rows, **_lacking(facts)}

    return compute


def _ranking(scores: Sequence[SampleScore]) -> Ranking | None:
    key: _Key = tuple(
        (str(facts["model_a"]), str(facts["model_b"]), outcome, str(facts.get("instruction_id", score.sample_id)))
        for score in scores
        if (facts := score.score.metadata or {}).get("model_a") and not math.isnan(outcome := _outcome(score))
    )
    return _ranked(key) if key else None


@lru_cache(maxsize=4)
def _ranked(key: _Key) -> Ranking:
    # The harness computes both metrics again whenever its display is refreshed; the same verdicts are ranked once.
    return rank(battles_of(Battle(*one) for one in key))


def _outcome(score: SampleScore) -> float:
    value = score.score.value.get("outcome") if isinstance(score.score.value, dict) else None
    return float(value) if isinstance(value, (int, float)) else math.nan


def _rows(ranking: Ranking) -> dict[str, float]:
    rows: dict[str, float] = {"ties": float(ranking.ties)}
    for name, estimate in zip(ranking.players, ranking.bradley_terry, strict=True):
        known = estimate.reported()
        if not math.isnan(known.low):
            rows |= {f"{name} low": round(known.low, 1), f"{name} high": round(known.high, 1)}
    separated = sum(one.verdict == "significantly different" for one in ranking.differences)
    rows["separated neighbours"] = separated / len(ranking.differences)
    rows["groups that compare"] = float(len(ranking.connectivity.groups))
    return rows


def _lacking(facts: Sequence[dict[str, Any]]) -> dict[str, float]:
    known: dict[str, dict[str, int]] = next((found["lacking"] for found in facts if found.get("lacking")), {})
    return {
        f"{name} {kind} answers": float(count)
        for name, counts in known.items()
        for kind, count in counts.items()
        if count
    }


def _habits(facts: Sequence[dict[str, Any]]) -> dict[str, float]:
    orders = [given for found in facts for given in found.get("orders", {}).values()]
    both = [given for given in orders if len(given) == 2 and None not in given.values()]
    flips = sum(len(set(given.values())) > 1 for given in both)
    firsts = [verdict == first for given in orders for first, verdict in given.items() if verdict in ("a", "b")]
    rows: dict[str, float] = {}
    if both:
        rows["flips"] = flips / len(both)
    if firsts:
        rows["first shown preferred"] = sum(firsts) / len(firsts)
    return rows
