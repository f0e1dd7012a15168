"""What logs of judged pairs say about judges, baselines among them, and paired tests."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import SampleScore, Score

from urs_inspect._util import InputError
from urs_inspect.judging import OVERALL
from urs_inspect.logs.naming import facts_of
from urs_inspect.logs.scores import SIMULATED
from urs_inspect.scorers.pair_metrics import items_of
from urs_inspect.stats import (
    BASELINES,
    JudgeMeasures,
    PairedComparison,
    baseline_verdicts,
    compare,
    correctness,
    encode,
    holm,
    measure,
)


@dataclass(frozen=True)
class Effort:
    """What the model calls of a run cost and how long they took.

    A call that failed or came from a cache has neither, and one to a model without a price has no cost. The mean of
    the calls that are known then stands for those that are not.

    Attributes:
        cost: US dollars of all calls; NaN if the cost of none is known.
        seconds: Seconds of all calls, taken one after the other; NaN if the time of none is known.
        calls: Number of calls.
        without_cost: Calls whose cost is not known.
        without_seconds: Calls whose time is not known.
    """

    cost: float
    seconds: float
    calls: int
    without_cost: int
    without_seconds: int


NO_EFFORT = Effort(math.nan, math.nan, 0, 0, 0)
"""Of a judge that makes no calls."""


def effort(samples: Sequence[EvalSample]) -> Effort:
    """Add up all model calls of some samples.

    Args:
        samples: Samples with their events.

    Returns:
        Cost and time, scaled from the calls that are known to all of them.
    """
    calls = [event for sample in samples for event in sample.events if isinstance(event, ModelEvent)]
    costs, times = [_cost(call) for call in calls], [_seconds(call) for call in calls]
    return Effort(_scaled(costs), _scaled(times), len(calls), costs.count(None), times.count(None))


def _cost(call: ModelEvent) -> float | None:
    usage = call.output.usage
    return None if call.cache == "read" or usage is None else usage.total_cost


def _seconds(call: ModelEvent) -> float | None:
    # A failed call took time as well, but not the time of a reply.
    return None if call.cache == "read" or call.error is not None else call.output.time


def _scaled(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) * len(values) if known else math.nan


BASELINE = "baseline/"
"""What the name of a judge that reads nothing begins with."""
TELLS_LABELS = BASELINE + "copy_overall"
"""The baseline that is told the overall labels: it shows a ceiling and is no rival."""

Level = Literal["overall", "dimensions"]
LEVELS: tuple[Level, ...] = get_args(Level)
ITEMS: Mapping[Level, str | None] = {"overall": OVERALL, "dimensions": None}
"""The verdicts of each level, as `items_of` names them."""

_VERDICT = re.compile(r"pair_verdict(-?\d+)?")

Scores = dict[tuple[str, int], SampleScore]


@dataclass(frozen=True)
class JudgeResult:
    """What one log says about one judge, or what a baseline does on the same pairs.

    Attributes:
        judge: The model, or `baseline/<kind>`.
        name: The judge, with what tells its logs apart if its dataset has several.
        protocol: What was asked for: `joint`, `per_dimension` or `overall`; empty for a computed baseline.
        orders: In which orders pairs were shown: `ab`, `seeded` or `both`.
        seed: Seed of `seeded` and of the random baseline.
        pairs: Number of judged pairs; each epoch counts.
        verdicts: Number of verdicts asked for, overall and on dimensions.
        overall: Measures of the verdicts as a whole; None for `copy_overall`, which is told them.
        dimensions: Measures of the verdicts on dimensions; None if none was asked for.
        effort: What its calls took; nothing for a baseline.
        simulated: Whether the judge is a simulation.
        location: Where the log is; empty for a computed baseline.
        facts: What may tell the log from others of the same judge, as from `facts_of`.
        scores: The scores by sample and epoch.
    """

    judge: str
    name: str
    protocol: str
    orders: str
    seed: int
    pairs: int
    verdicts: int
    overall: JudgeMeasures | None
    dimensions: JudgeMeasures | None
    effort: Effort
    simulated: bool
    location: str
    facts: Mapping[str, str] = field(repr=False)
    scores: Scores = field(repr=False)

    @property
    def is_baseline(self) -> bool:
        """Whether the judge is a baseline."""
        return self.judge.startswith(BASELINE)

    @property
    def cost(self) -> float:
        """US dollars per 1,000 verdicts; NaN if no call has a known cost."""
        return 1000 * self.effort.cost / self.verdicts

    @property
    def seconds(self) -> float:
        """Seconds that model calls took per 1,000 verdicts, one after the other; NaN if no call has a known time."""
        return 1000 * self.effort.seconds / self.verdicts

    @property
    def samples(self) -> frozenset[str]:
        """Ids of the judged pairs."""
        return frozenset(sample_id for sample_id, _ in self.scores)


def read_judge(log: EvalLog) -> JudgeResult | None:
    """Read what a log says about its judge; None if no sample was scored by `pair_verdict`."""
    samples = {(str(sample.id), sample.epoch): sample for sample in log.samples or []}
    scores = {key: score for key, sample in samples.items() if (score := _last_score(sample)) is not None}
    if not scores:
        return None
    arguments = log.eval.task_args
    judge = _judge_of(log)
    return result_of(
        judge,
        scores,
        protocol=str(arguments.get("protocol", "overall")),
        orders=str(arguments.get("orders", "")),
        seed=int(arguments.get("seed", 0)),
        took=effort([samples[key] for key in scores]),
        location=log.location,
        facts=facts_of(log),
    )


def _judge_of(log: EvalLog) -> str:
    """A baseline, SaMer with the last part of its folder or address, or the model under test."""
    arguments = log.eval.task_args
    judge = str(arguments.get("judge", "model"))
    if judge == "samer":
        samer = arguments.get("samer", "")
        model = samer.get("model", "") if isinstance(samer, dict) else samer
        return f"samer/{str(model).rstrip('/').rpartition('/')[2]}"
    return judge if judge.startswith(BASELINE) else log.eval.model


def result_of(
    judge: str,
    scores: Scores,
    *,
    orders: str,
    seed: int,
    protocol: str = "",
    took: Effort = NO_EFFORT,
    location: str = "",
    facts: Mapping[str, str] | None = None,
) -> JudgeResult:
    """Measure a judge on its scores.

    Args:
        judge: The model, or `baseline/<kind>`.
        scores: At least one score of `pair_verdict`.
        orders: In which orders pairs were shown.
        seed: Seed of these.
        protocol: What was asked for.
        took: What its calls took.
        location: Where its log is.
        facts: What may tell that from others of the same judge.

    Returns:
        The result, named as the judge.
    """
    return JudgeResult(
        judge=judge,
        name=judge,
        protocol=protocol,
        orders=orders,
        seed=seed,
        pairs=len(scores),
        verdicts=sum(len(labels_of(score)) for score in scores.values()),
        overall=None if judge == TELLS_LABELS else _measure(scores, "overall"),
        dimensions=_measure(scores, "dimensions"),
        effort=took,
        simulated=judge.startswith(SIMULATED),
        location=location,
        facts=facts or {},
        scores=scores,
    )


def accuracy_of(judge: JudgeResult, level: Level) -> float:
    """Accuracy with unread verdicts counted as wrong, by which judges are ranked; -inf if there is none."""
    measures: JudgeMeasures | None = getattr(judge, level)
    return -math.inf if measures is None or math.isnan(measures.accuracy_all.value) else measures.accuracy_all.value


def labels_of(score: SampleScore) -> dict[str, str]:
    """Labels of the verdicts that were asked for."""
    labels: dict[str, str] = (score.score.metadata or {})["labels"]
    return labels


def verdicts_of(score: SampleScore) -> dict[str, dict[str, str | None]]:
    """Verdicts by which response was shown first, the first order first."""
    verdicts: dict[str, dict[str, str | None]] = (score.score.metadata or {}).get("verdicts", {})
    return verdicts


def _last_score(sample: EvalSample) -> SampleScore | None:
    found = [score for name, score in (sample.scores or {}).items() if _VERDICT.fullmatch(name)]
    if not found or not (found[-1].metadata or {}).get("labels"):
        return None
    return SampleScore(score=found[-1], sample_id=sample.id, sample_metadata=sample.metadata)


def _measure(scores: Scores, level: Level) -> JudgeMeasures | None:
    verdicts = items_of(list(scores.values()), ITEMS[level])
    return None if verdicts is None else measure(verdicts).reported()


SIGNIFICANT = 0.05


@dataclass(frozen=True)
class JudgePair:
    """Two judges of one dataset, tested on the pairs that both were shown.

    Attributes:
        first: The one, a model.
        second: The other, a model or a baseline.
        level: Whether verdicts as a whole or on dimensions are compared.
        comparison: Difference of their accuracies over labels that are no ties, unread verdicts being wrong.
        adjusted_p: The p-value of the sign-flip test, adjusted by Holm for all tests of the dataset at this level.
    """

    first: JudgeResult
    second: JudgeResult
    level: Level
    comparison: PairedComparison
    adjusted_p: float

    @property
    def better(self) -> JudgeResult | None:
        """The better judge; None if the pairs cannot tell them apart."""
        if math.isnan(self.adjusted_p) or self.adjusted_p >= SIGNIFICANT:
            return None
        return self.first if self.comparison.difference.value > 0 else self.second


def paired_tests(judges: Sequence[JudgeResult], baselines: Sequence[JudgeResult], level: Level) -> list[JudgePair]:
    """Test every model against every other and against the best baseline.

    Two baselines are never tested: what they say is known beforehand, and each test makes the others weaker.

    Args:
        judges: The judges of one dataset; baselines among them take no part.
        baselines: Every baseline once, on all pairs. The one with the best accuracy takes part; `copy_overall` does
            not, which is told labels.
        level: Verdicts as a whole or on dimensions.

    Returns:
        The tests of all that share pairs.

    Raises:
        InputError: If two logs of the same data have different labels.
    """
    models = [judge for judge in judges if not judge.is_baseline and getattr(judge, level) is not None]
    rivals = [one for one in baselines if getattr(one, level) is not None and one.judge != TELLS_LABELS]
    best = max(rivals, key=lambda judge: accuracy_of(judge, level), default=None)
    two = list(combinations(models, 2)) + [(model, best) for model in models if best is not None]
    found = [(one, other, result) for one, other in two if (result := _compare(one, other, level)) is not None]
    adjusted = holm([result.p for _, _, result in found])
    return [JudgePair(one, other, level, result, p) for (one, other, result), p in zip(found, adjusted, strict=True)]


def _compare(one: JudgeResult, other: JudgeResult, level: Level) -> PairedComparison | None:
    """Compare on the samples of both, in the same order; None if there are none."""
    keys = sorted(
        key
        for key in one.scores.keys() & other.scores.keys()
        if _names(one.scores[key], level) == _names(other.scores[key], level)
    )
    both = [items_of([judge.scores[key] for key in keys], ITEMS[level]) for judge in (one, other)]
    first, second = both
    if first is None or second is None:
        return None
    if not np.array_equal(first.labels, second.labels):  # two scorings of the same file have the same labels
        raise InputError(f"{one.location} and {other.location} have different labels for the same samples")
    right, other_right = (correctness(verdicts.labels, verdicts.final) for verdicts in (first, second))
    return compare(right, other_right, first.clusters)


def _names(score: SampleScore, level: Level) -> list[str]:
    return [name for name in labels_of(score) if (name == OVERALL) == (level == "overall")]


_NAME_OF = ("a", "b", "tie")

Key = tuple[str, int]


@dataclass(frozen=True)
class _Asked:
    """How the judges of a dataset were asked.

    Attributes:
        orders: `both`, if all of them were asked in both orders; else the order in which all saw a pair first, `ab` or
            `seeded`; `ab` if they saw different ones.
        firsts: Which responses were shown first, one for each order, by sample and epoch.
        labels: Labels of all verdicts that any of them was asked for, likewise.
        samples: Any of their scores of it, likewise.
        seed: The seed of all of them; 0 if they differ in it.
    """

    orders: str
    firsts: Mapping[Key, tuple[str, ...]]
    labels: Mapping[Key, dict[str, str]]
    samples: Scores
    seed: int


def computed_baselines(judges: Sequence[JudgeResult]) -> list[JudgeResult]:
    """Every baseline over all pairs of some judges, asked as they were.

    Args:
        judges: Judges of one dataset, with a log each. Where some are models, only these count: a baseline with a log
            of its own changes nothing about the others.

    Returns:
        One result a baseline; none for one that says nothing of its own, as `copy_overall` where nobody was asked
        about dimensions.
    """
    asked = _asked([judge for judge in judges if not judge.is_baseline] or judges)
    answers = {kind: {key: _answered(kind, key, asked) for key in asked.samples} for kind in BASELINES}
    results = [result_of(BASELINE + kind, answers[kind], orders=asked.orders, seed=asked.seed) for kind in BASELINES]
    return [result for result in results if any(getattr(result, level) is not None for level in LEVELS)]


def agrees(logged: JudgeResult, computed: JudgeResult) -> bool:
    """Whether the log of a baseline says the same as the computed one on every pair of it."""
    return logged.judge == computed.judge and all(
        key in logged.scores
        and labels_of(logged.scores[key]) == labels_of(score)
        and verdicts_of(logged.scores[key]) == verdicts_of(score)
        for key, score in computed.scores.items()
    )


def _asked(judges: Sequence[JudgeResult]) -> _Asked:
    samples: Scores = {}
    labels: dict[Key, dict[str, str]] = {}
    shown: dict[Key, list[tuple[str, ...]]] = {}
    for judge in judges:
        for key, score in judge.scores.items():
            samples.setdefault(key, score)
            # The labels of who was asked for the most come first, so that dimensions keep their order.
            more, known = sorted((labels_of(score), labels.get(key, {})), key=len, reverse=True)
            labels[key] = {**more, **known}
            if seen := tuple(verdicts_of(score)):
                shown.setdefault(key, []).append(seen)
    orders, firsts = _orders(shown, {judge.orders for judge in judges})
    unseen = ("a", "b") if orders == "both" else ("a",)
    seeds = {judge.seed for judge in judges}
    return _Asked(
        orders=orders,
        firsts={key: firsts.get(key, unseen) for key in samples},
        labels=labels,
        samples=samples,
        seed=seeds.pop() if len(seeds) == 1 else 0,
    )


def _orders(shown: Mapping[Key, Sequence[tuple[str, ...]]], named: set[str]) -> tuple[str, dict[Key, tuple[str, ...]]]:
    """Name of the orders that all judges have in common, and the orders themselves."""
    if shown and all(len(orders) == 2 for several in shown.values() for orders in several):
        return "both", {key: several[0] for key, several in shown.items()}
    firsts = {key: {orders[0] for orders in several} for key, several in shown.items()}
    if any(len(seen) > 1 for seen in firsts.values()):
        return "ab", {}
    same = {key: tuple(seen) for key, seen in firsts.items()}
    if named == {"seeded"} or any(seen != ("a",) for seen in same.values()):
        return "seeded", same
    return "ab", same


def _answered(kind: str, key: Key, asked: _Asked) -> SampleScore:
    """The score that a baseline would get on a pair, shown in the same orders."""
    given, labels = asked.samples[key], asked.labels[key]
    sample = given.sample_metadata or {}
    size = len(labels)
    verdicts: dict[str, dict[str, str]] = {}
    for first in asked.firsts[key]:
        codes = baseline_verdicts(
            kind,
            lengths_a=[len(sample.get("response_a", ""))] * size,
            lengths_b=[len(sample.get("response_b", ""))] * size,
            first=encode([first] * size),
            overall_labels=encode([labels.get(OVERALL, "tie")] * size),
            ids=[f"{given.sample_id}/{name}" for name in labels],
            seed=asked.seed,
        )
        verdicts[first] = {name: _NAME_OF[int(code)] for name, code in zip(labels, codes, strict=True)}
    score = Score(value=math.nan, metadata={"labels": labels, "verdicts": verdicts})
    return SampleScore(score=score, sample_id=given.sample_id, sample_metadata=sample)
