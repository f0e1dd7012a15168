"""Logs of rated responses -> how far each judge agrees with the labels, and which of two agrees more."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import SampleScore

from urs_inspect._util import InputError
from urs_inspect.logs.naming import distinct_names, facts_of
from urs_inspect.logs.scores import SIMULATED
from urs_inspect.reports.judge_result import (
    LEVELS,
    Effort,
    JudgePair,
    JudgeResult,
    accuracy_of,
    agrees,
    computed_baselines,
    effort,
    paired_tests,
    read_judge,
)
from urs_inspect.scorers.rating_agreement import RatedItem, RatingAgreement, agreement, rated_item
from urs_inspect.stats import CorrelationDifferences, Estimate, correlation_difference, holm


@dataclass(frozen=True)
class DatasetJudges:
    """The judges of one dataset.

    Attributes:
        dataset: Its name.
        sha256: Hash of its file.
        judges: Those with a log, the best overall accuracy first, unread verdicts being wrong.
        baselines: Baselines computed over all pairs of the models with a log (of all logs, if there is no model), asked
            as these were; without those whose log says the same.
        tests: Every two models, and each model against the baseline with the best accuracy.
    """

    dataset: str
    sha256: str
    judges: tuple[JudgeResult, ...]
    baselines: tuple[JudgeResult, ...]
    tests: tuple[JudgePair, ...]

    @property
    def samples(self) -> frozenset[str]:
        """Ids of the pairs that any judge with a log has judged."""
        return frozenset().union(*(judge.samples for judge in self.judges))

    def is_partial(self, judge: JudgeResult) -> bool:
        """Whether a judge has judged only some of these pairs."""
        return len(judge.samples) < len(self.samples)


def read_judges(logs: Sequence[EvalLog]) -> list[DatasetJudges]:
    """Read what logs of `md_eval` and `judge_pairwise` say about judges.

    Args:
        logs: Complete logs, samples included; others are passed over. If one was scored several times, the last score
            counts.

    Returns:
        One entry a dataset, in the order in which the logs name them.

    Raises:
        InputError: If two logs of the same data have different labels.
    """
    by_dataset: dict[tuple[str, str], list[JudgeResult]] = {}
    for log in logs:
        if (result := read_judge(log)) is not None:
            facts = log.eval.metadata or {}
            key = str(facts.get("dataset", log.eval.dataset.name)), str(facts.get("dataset_sha256", ""))
            by_dataset.setdefault(key, []).append(result)
    return [_dataset(name, sha256, judges) for (name, sha256), judges in by_dataset.items()]


def _dataset(name: str, sha256: str, judges: list[JudgeResult]) -> DatasetJudges:
    names = distinct_names([(judge.judge, judge.facts) for judge in judges])
    named = [replace(judge, name=given) for judge, given in zip(judges, names, strict=True)]
    ordered = sorted(named, key=_rank)
    logged = {judge.judge for judge in judges}
    # Of a baseline with a log, the log stands for the computed one if both say the same; else both are shown.
    baselines = [
        next((judge for judge in ordered if agrees(judge, computed)), None) or _apart(computed, logged)
        for computed in computed_baselines(judges)
    ]
    tests = [test for level in LEVELS for test in paired_tests(ordered, baselines, level)]
    computed_only = tuple(baseline for baseline in baselines if not baseline.location)
    return DatasetJudges(name, sha256, tuple(ordered), computed_only, tuple(tests))


def _rank(judge: JudgeResult) -> tuple[float, ...]:
    return tuple(-accuracy_of(judge, level) for level in LEVELS)


def _apart(computed: JudgeResult, logged: set[str]) -> JudgeResult:
    return replace(computed, name=f"{computed.judge} (computed)") if computed.judge in logged else computed


SIGNIFICANT = 0.05

_SCORER = re.compile(r"rating_agreement(-?\d+)?")

Items = dict[tuple[str, int], RatedItem]


@dataclass(frozen=True)
class RatingJudge:
    """What one log says about one judge that rates.

    Attributes:
        judge: The model.
        name: The judge, with what tells its logs apart if its dataset has several.
        rubric: Name of the rubric that it was asked with; empty if there was none.
        responses: Number of rated responses; each epoch counts.
        agreement: Agreement with the labels over all of them.
        by_intent: The same by intent, where responses have one.
        effort: What its calls took.
        simulated: Whether the judge is a simulation.
        location: Where the log is.
        facts: What may tell the log from others of the same judge, as from `facts_of`.
        items: The responses by sample and epoch.
    """

    judge: str
    name: str
    rubric: str
    responses: int
    agreement: RatingAgreement
    by_intent: dict[str, RatingAgreement]
    effort: Effort
    simulated: bool
    location: str
    facts: Mapping[str, str] = field(repr=False)
    items: Items = field(repr=False)

    @property
    def cost(self) -> float:
        """US dollars per 1,000 ratings; NaN if no call has a known cost."""
        return 1000 * self.effort.cost / self.responses

    @property
    def seconds(self) -> float:
        """Seconds that model calls took per 1,000 ratings, one after the other; NaN if no call has a known time."""
        return 1000 * self.effort.seconds / self.responses

    @property
    def samples(self) -> frozenset[str]:
        """Ids of the rated responses."""
        return frozenset(sample_id for sample_id, _ in self.items)


@dataclass(frozen=True)
class RatingPair:
    """Two judges of one dataset, compared on the responses that both have rated.

    Attributes:
        first: The one.
        second: The other.
        differences: Correlations of the first less those of the second, both resampled together.
        pearson_p: The p-value of the difference in Pearson's r, adjusted by Holm for all pairs of the dataset.
        spearman_p: The same for Spearman's rho.
    """

    first: RatingJudge
    second: RatingJudge
    differences: CorrelationDifferences
    pearson_p: float
    spearman_p: float

    @property
    def better(self) -> RatingJudge | None:
        """The judge that agrees more by Pearson's r; None if the responses cannot tell them apart."""
        return self._better(self.differences.pearson, self.pearson_p)

    @property
    def better_by_spearman(self) -> RatingJudge | None:
        """The judge that agrees more by Spearman's rho; None likewise."""
        return self._better(self.differences.spearman, self.spearman_p)

    def _better(self, difference: Estimate, p: float) -> RatingJudge | None:
        if math.isnan(p) or p >= SIGNIFICANT:
            return None
        return self.first if difference.value > 0 else self.second


@dataclass(frozen=True)
class DatasetRatings:
    """The judges that rated one dataset.

    Attributes:
        dataset: Its name.
        sha256: Hash of its file.
        judges: The highest Pearson correlation first.
        tests: Every two judges that have rated the same responses.
    """

    dataset: str
    sha256: str
    judges: tuple[RatingJudge, ...]
    tests: tuple[RatingPair, ...]

    @property
    def samples(self) -> frozenset[str]:
        """Ids of the responses that any judge has rated."""
        return frozenset().union(*(judge.samples for judge in self.judges))

    def is_partial(self, judge: RatingJudge) -> bool:
        """Whether a judge has rated only some of these responses."""
        return len(judge.samples) < len(self.samples)


def read_ratings(logs: Sequence[EvalLog]) -> list[DatasetRatings]:
    """Read what logs of `judge_rating` say about judges.

    Args:
        logs: Complete logs, samples included; others are passed over. If one was scored several times, the last score
            counts.

    Returns:
        One entry a dataset and scale of its labels, in the order in which the logs name them.

    Raises:
        InputError: If two logs of the same data have different labels.
    """
    by_dataset: dict[tuple[str, str, str], list[RatingJudge]] = {}
    for log in logs:
        if (result := read_rating_judge(log)) is not None:
            facts = log.eval.metadata or {}
            name = str(facts.get("dataset", log.eval.dataset.name))
            key = name, str(facts.get("dataset_sha256", "")), _label_scale(log)
            by_dataset.setdefault(key, []).append(result)
    return [_rating_judges_dataset(name, sha256, judges) for (name, sha256, _), judges in by_dataset.items()]


def read_rating_judge(log: EvalLog) -> RatingJudge | None:
    """Read what a log says about its judge; None if no sample was scored by `rating_agreement`."""
    samples = {(str(sample.id), sample.epoch): sample for sample in log.samples or []}
    items = {key: item for key, sample in samples.items() if (item := _item(sample)) is not None}
    if not items:
        return None
    intents: dict[str, list[RatedItem]] = {}
    for item in items.values():
        if intent := item.places["intent"]:
            intents.setdefault(intent, []).append(item)
    return RatingJudge(
        judge=log.eval.model,
        name=log.eval.model,
        rubric=str((log.eval.metadata or {}).get("rubric", "")),
        responses=len(items),
        agreement=agreement(list(items.values())),
        by_intent={intent: agreement(members) for intent, members in sorted(intents.items())},
        effort=effort([samples[key] for key in items]),
        simulated=log.eval.model.startswith(SIMULATED),
        location=log.location,
        facts=facts_of(log),
        items=items,
    )


def _item(sample: EvalSample) -> RatedItem | None:
    found = [score for name, score in (sample.scores or {}).items() if _SCORER.fullmatch(name)]
    if not found:
        return None
    return rated_item(SampleScore(score=found[-1], sample_id=sample.id, sample_metadata=sample.metadata))


def _label_scale(log: EvalLog) -> str:
    scales = (sample.metadata.get("label_scale") for sample in log.samples or [])
    return str(next((scale for scale in scales if scale), ""))


def _rating_judges_dataset(name: str, sha256: str, judges: list[RatingJudge]) -> DatasetRatings:
    names = distinct_names([(judge.judge, judge.facts) for judge in judges])
    ordered = sorted(
        (replace(judge, name=given) for judge, given in zip(judges, names, strict=True)), key=_rating_judges_rank
    )
    compared = [
        (one, other, found) for one, other in combinations(ordered, 2) if (found := _difference(one, other)) is not None
    ]
    pearson = holm([found.p_pearson for _, _, found in compared])
    spearman = holm([found.p_spearman for _, _, found in compared])
    tests = [RatingPair(*test, p, q) for test, p, q in zip(compared, pearson, spearman, strict=True)]
    return DatasetRatings(name, sha256, tuple(ordered), tuple(tests))


def _rating_judges_rank(judge: RatingJudge) -> float:
    value = judge.agreement.correlations.pearson.value
    return math.inf if math.isnan(value) else -value


def _difference(one: RatingJudge, other: RatingJudge) -> CorrelationDifferences | None:
    """Compare on the responses of both, in the same order; None if there are none."""
    keys = sorted(one.items.keys() & other.items.keys())
    if not keys:
        return None
    first, second = ([judge.items[key] for key in keys] for judge in (one, other))
    labels = [item.label for item in first]
    if labels != [item.label for item in second]:  # two scorings of the same file have the same labels
        raise InputError(f"{one.location} and {other.location} have different labels for the same samples")
    return correlation_difference(
        labels, [item.rating for item in first], [item.rating for item in second], [item.cluster for item in first]
    )
