"""Logs of judged pairs and rated responses -> the judges of each dataset, and which of every two is better."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Generic

from inspect_ai.log import EvalLog
from inspect_ai.scorer import SampleScore

from urs_inspect.logs.naming import distinct_names, facts_of
from urs_inspect.logs.scores import last_score
from urs_inspect.reports.judge_result import (
    LEVELS,
    Judge,
    JudgeResult,
    JudgeTest,
    Key,
    LoggedJudge,
    accuracy_of,
    adjusted,
    agrees,
    computed_baselines,
    different_labels,
    effort,
    paired_tests,
    read_judge,
)
from urs_inspect.scorers.rating_agreement import RatedItem, RatingAgreement, agreement, rated_item
from urs_inspect.stats import correlation_difference


@dataclass(frozen=True)
class DatasetJudges(Generic[Judge]):
    """The judges of one dataset, the best one first, and how every two compare."""

    dataset: str
    sha256: str
    judges: tuple[Judge, ...]  # those with a log
    tests: tuple[JudgeTest[Judge], ...]
    baselines: tuple[Judge, ...] = ()  # computed, without those that agree with a log

    @property
    def samples(self) -> frozenset[str]:
        """Ids of the samples that any judge with a log has judged."""
        return frozenset().union(*(judge.samples for judge in self.judges))

    def is_partial(self, judge: LoggedJudge) -> bool:
        """Whether a judge has judged only some of these samples."""
        return len(judge.samples) < len(self.samples)


def read_judges(logs: Sequence[EvalLog]) -> list[DatasetJudges[JudgeResult]]:
    """Read the judges in logs of `md_eval` and `judge_pairwise`, samples included; other logs are skipped.

    If a log was scored several times, the last score counts.

    Returns:
        One entry per dataset, in the order of the logs. Judges and tests are ordered by accuracy with unparsed verdicts
        counted as wrong.

    Raises:
        InputError: If two logs of the same data have different labels.
    """
    return [_pairs(*key, judges) for key, judges in _by_dataset(logs, read_judge).items()]


def _pairs(dataset: str, sha256: str, _scale: str, judges: list[JudgeResult]) -> DatasetJudges[JudgeResult]:
    ordered = sorted(_named(judges), key=lambda judge: [-accuracy_of(judge, level) for level in LEVELS])
    logged = {judge.judge for judge in judges}
    baselines: list[JudgeResult] = []
    for baseline in computed_baselines(judges):
        # The log of a baseline replaces the computed one if both agree; else both are shown.
        name = f"{baseline.judge} (computed)" if baseline.judge in logged else baseline.judge
        same = (judge for judge in ordered if agrees(judge, baseline))
        baselines.append(next(same, replace(baseline, name=name)))
    tests = [test for level in LEVELS for test in paired_tests(ordered, baselines, level)]
    computed = tuple(baseline for baseline in baselines if not baseline.location)
    return DatasetJudges(dataset, sha256, tuple(ordered), tuple(tests), computed)


def _by_dataset(
    logs: Sequence[EvalLog], read: Callable[[EvalLog], Judge | None]
) -> dict[tuple[str, str, str], list[Judge]]:
    """Judges by name and hash of the dataset, and the scale of its labels if these are ratings."""
    datasets: dict[tuple[str, str, str], list[Judge]] = {}
    for log in logs:
        if (judge := read(log)) is not None:
            facts = log.eval.metadata or {}
            scales = (sample.metadata.get("label_scale") for sample in log.samples or [])
            scale = str(next((scale for scale in scales if scale), ""))
            key = str(facts.get("dataset", log.eval.dataset.name)), str(facts.get("dataset_sha256", "")), scale
            datasets.setdefault(key, []).append(judge)
    return datasets


def _named(judges: Sequence[Judge]) -> list[Judge]:
    names = distinct_names([(judge.judge, judge.facts) for judge in judges])
    return [replace(judge, name=name) for judge, name in zip(judges, names, strict=True)]


@dataclass(frozen=True, kw_only=True, eq=False)
class RatingJudge(LoggedJudge):
    """What one log says about one judge that rates."""

    rubric: str  # that it was asked with; empty if there was none
    agreement: RatingAgreement
    by_intent: dict[str, RatingAgreement]  # where responses have an intent
    items: dict[Key, RatedItem] = field(repr=False)


def read_ratings(logs: Sequence[EvalLog]) -> list[DatasetJudges[RatingJudge]]:
    """Read the judges in logs of `judge_rating`, samples included; other logs are skipped.

    If a log was scored several times, the last score counts.

    Returns:
        One entry per dataset and scale of its labels, in the order of the logs. Judges are ordered by Pearson's r;
        every two are tested on the responses that both have rated, by Pearson's r and by Spearman's rho.

    Raises:
        InputError: If two logs of the same data have different labels.
    """
    return [_ratings(*key, judges) for key, judges in _by_dataset(logs, read_rating_judge).items()]


def _ratings(dataset: str, sha256: str, _scale: str, judges: list[RatingJudge]) -> DatasetJudges[RatingJudge]:
    ordered = sorted(_named(judges), key=_rank)
    tests = [_compare(first, second) for first, second in combinations(ordered, 2)]
    by_level = [adjusted(level) for level in zip(*(two for two in tests if two), strict=True)]
    return DatasetJudges(dataset, sha256, tuple(ordered), tuple(test for level in by_level for test in level))


def _rank(judge: RatingJudge) -> float:
    value = judge.agreement.correlations.pearson.value
    return math.inf if math.isnan(value) else -value


def _compare(first: RatingJudge, second: RatingJudge) -> list[JudgeTest[RatingJudge]]:
    """Compare two judges by Pearson's r and Spearman's rho on the responses of both; empty if there are none."""
    keys = sorted(first.items.keys() & second.items.keys())
    if not keys:
        return []
    one, other = ([judge.items[key] for key in keys] for judge in (first, second))
    labels = [item.label for item in one]
    if labels != [item.label for item in other]:  # two scorings of the same file have the same labels
        raise different_labels(first, second)
    found = correlation_difference(
        labels, [item.rating for item in one], [item.rating for item in other], [item.cluster for item in one]
    )
    differences = {"pearson": (found.pearson, found.p_pearson), "spearman": (found.spearman, found.p_spearman)}
    return [
        JudgeTest(first, second, level, difference.reported((-2.0, 2.0)), p, math.nan)
        for level, (difference, p) in differences.items()
    ]


def read_rating_judge(log: EvalLog) -> RatingJudge | None:
    """Read what a log says about its judge; None if no sample was scored by `rating_agreement`."""
    samples = {(str(sample.id), sample.epoch): sample for sample in log.samples or []}
    items: dict[Key, RatedItem] = {}
    for key, sample in samples.items():
        if (score := last_score(sample, "rating_agreement")) is not None:
            rated = SampleScore(score=score, sample_id=sample.id, sample_metadata=sample.metadata)
            if (item := rated_item(rated)) is not None:
                items[key] = item
    if not items:
        return None
    intents: dict[str, list[RatedItem]] = {}
    for item in items.values():
        if intent := item.places["intent"]:
            intents.setdefault(intent, []).append(item)
    return RatingJudge(
        judge=log.eval.model,
        name=log.eval.model,
        judgements=len(items),
        effort=effort([samples[key] for key in items]),
        location=log.location,
        facts=facts_of(log),
        items=items,
        rubric=str((log.eval.metadata or {}).get("rubric", "")),
        agreement=agreement(list(items.values())),
        by_intent={intent: agreement(members) for intent, members in sorted(intents.items())},
    )
