"""What one log of judged pairs says about its judge."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import SampleScore

from urs_inspect.judging import OVERALL
from urs_inspect.rating import JudgeMeasures, measure
from urs_inspect.reports.effort import NO_EFFORT, Effort, effort
from urs_inspect.reports.naming import facts_of
from urs_inspect.reports.results import SIMULATED
from urs_inspect.scorers.pair_metrics import items_of

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
        return f"samer/{str(arguments.get('samer', '')).rstrip('/').rpartition('/')[2]}"
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
