"""Logs of judged pairs and rated responses -> the judges of each dataset, compared by twos."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from pathlib import PurePosixPath
from typing import Any, Generic, Literal, TypeVar, get_args

import numpy as np
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import SampleScore, Score

from urs_inspect._util import InputError, choices
from urs_inspect.judging._reply_counts import summed
from urs_inspect.judging._scores import last_score
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.logs._naming import (
    CREATED,
    FILE,
    STRUCTURED,
    distinct_names,
    public,
    structured_of,
)
from urs_inspect.logs._scores import SIMULATED
from urs_inspect.scorers._pair_metrics import judged_items
from urs_inspect.scorers._rating_agreement import RatedItem, RatingAgreement, agreement, rated_item
from urs_inspect.stats import (
    BASELINES,
    Estimate,
    JudgeMeasures,
    Verdicts,
    baseline_verdicts,
    compare_means,
    correctness,
    correlation_difference,
    encode,
    holm,
    measure,
)

SIGNIFICANT = 0.05
BASELINE = "baseline/"
"""Prefix of the names of judges that read nothing."""
TELLS_LABELS = BASELINE + "copy_overall"
"""The baseline that is given the overall labels: it shows a ceiling and is not compared."""

Level = Literal["overall", "dimensions"]
LEVELS: tuple[Level, ...] = get_args(Level)
Key = tuple[str, int]
"""Id and epoch of a sample."""
Scores = dict[Key, SampleScore]

_NO_FACTS = ("bench", "judge")
"""Arguments of tasks that say nothing beside the data set and the judge."""
_SETTINGS = (
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "reasoning_effort",
    "reasoning_tokens",
    "effort",
)
"""Settings of a call that are facts."""
_ITEMS: Mapping[Level, str | None] = {"overall": OVERALL, "dimensions": None}
"""Levels as `items_of` names them."""
_SHOWN_FIRST = {"both": ("a", "b"), "ab": ("a",), "seeded": ("a",)}
"""Orders -> responses that are shown first, where no judge's verdicts tell."""
_NAME_OF = ("a", "b", "tie")


@dataclass(frozen=True)
class Effort:
    """Cost and time of the model calls of a run.

    A call that failed or came from a cache has neither, and a call to a model without a price has
    no cost; the mean of the other calls is assumed for them.
    """

    cost: float  # US dollars; NaN if the cost of no call is known
    seconds: float  # as if calls were made one after the other; NaN if the time of no call is known
    calls: int
    without_cost: int
    without_seconds: int


def effort(samples: Sequence[EvalSample]) -> Effort:
    """Cost and time of all model calls of some samples."""
    events = chain.from_iterable(sample.events for sample in samples)
    calls = [event for event in events if isinstance(event, ModelEvent)]
    costs: list[float | None] = []
    times: list[float | None] = []
    for call in calls:
        is_fresh = call.cache != "read"
        usage = call.output.usage
        costs.append(usage.total_cost if is_fresh and usage else None)
        # A failed call took time as well, but not the time of a reply.
        has_reply = is_fresh and call.error is None
        times.append(call.output.time if has_reply else None)
    return Effort(_scaled(costs), _scaled(times), len(calls), costs.count(None), times.count(None))


def _scaled(values: Sequence[float | None]) -> float:
    """The sum, in which the mean of the known values stands for the others."""
    known = [value for value in values if value is not None]
    if not known:
        return math.nan
    mean = math.fsum(known) / len(known)
    return mean * len(values)


@dataclass(frozen=True, kw_only=True, eq=False)
class LoggedJudge:
    """What one log says about one judge."""

    judge: str  # the model, `baseline/<kind>`, `samer/<folder>` or `reward_model/<folder>`
    name: str  # the judge, and what distinguishes its logs if its dataset has several
    judgements: int  # verdicts (overall and on dimensions) or ratings that it was asked for
    effort: Effort
    location: str  # of the log; empty for a computed baseline
    facts: Mapping[str, str] = field(repr=False)  # of the log, as from `log_facts`
    items: Mapping[Key, Any] = field(repr=False)  # scores or ratings by sample and epoch
    reply_counts: Mapping[str, int] = field(default_factory=dict, repr=False)
    """How many of its replies came, and were `unkeyed`, `asked_again` and so on.

    Empty where no model was asked.
    """

    @property
    def simulated(self) -> bool:
        """Whether the judge is a simulation."""
        return self.judge.startswith(SIMULATED)

    @property
    def cost(self) -> float:
        """US dollars per 1,000 judgements; NaN if no call has a known cost."""
        return 1000 * self.effort.cost / self.judgements

    @property
    def seconds(self) -> float:
        """Seconds of model calls in a row per 1,000 judgements; NaN if no call has a known time."""
        return 1000 * self.effort.seconds / self.judgements

    @property
    def samples(self) -> frozenset[str]:
        """Ids of the judged samples."""
        return frozenset(sample_id for sample_id, _ in self.items)


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgeResult(LoggedJudge):
    """What one log says about a judge of pairs, or what a baseline does on the same pairs."""

    protocol: str  # `joint`, `per_dimension` or `overall`; empty for a computed baseline
    orders: str  # in which orders pairs were shown: `ab`, `seeded` or `both`
    seed: int  # of `seeded` and of the random baseline
    overall: JudgeMeasures | None  # None for `copy_overall`, which is given the labels
    dimensions: JudgeMeasures | None  # None if no verdict on a dimension was asked for
    items: Scores = field(repr=False)

    @property
    def is_baseline(self) -> bool:
        """Whether the judge is a baseline."""
        return self.judge.startswith(BASELINE)


Judge = TypeVar("Judge", bound=LoggedJudge)


@dataclass(frozen=True)
class JudgeTest(Generic[Judge]):
    """Two judges of one dataset, compared on the samples that both have judged."""

    first: Judge
    second: Judge
    level: str  # `overall` or `dimensions` of pairs, `pearson` or `spearman` of ratings
    difference: Estimate  # accuracy or correlation of the first less that of the second
    p: float
    adjusted_p: float  # by Holm for all tests of the dataset at this level
    # pairs that only the first, or only the second, has right
    only_one_right: tuple[int, int] | None = None

    @property
    def better(self) -> Judge | None:
        """The significantly better judge, if there is one."""
        if math.isnan(self.adjusted_p) or self.adjusted_p >= SIGNIFICANT:
            return None
        if self.difference.value > 0:
            return self.first
        return self.second


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


def _by_dataset(
    logs: Sequence[EvalLog], read: Callable[[EvalLog], Judge | None]
) -> dict[tuple[str, str, str], list[Judge]]:
    """Judges by name and hash of the dataset, and the scale of its labels if these are ratings."""
    datasets: dict[tuple[str, str, str], list[Judge]] = {}
    for log in logs:
        judge = read(log)
        if judge is None:
            continue
        facts = log.eval.metadata or {}
        scales = (sample.metadata.get("label_scale") for sample in log.samples or [])
        key = (
            str(facts.get("dataset", log.eval.dataset.name)),
            str(facts.get("dataset_sha256", "")),
            str(next(filter(None, scales), "")),
        )
        datasets.setdefault(key, []).append(judge)
    return datasets


def _named(judges: Sequence[Judge]) -> list[Judge]:
    names = distinct_names([(judge.judge, judge.facts) for judge in judges])
    return [replace(judge, name=name) for judge, name in zip(judges, names, strict=True)]


def _scores(log: EvalLog, scorer: str) -> Scores:
    """The last score of each sample that a scorer has scored."""
    scores: Scores = {}
    for sample in log.samples or []:
        score = last_score(sample, scorer)
        if score is not None:
            key = (str(sample.id), sample.epoch)
            scores[key] = SampleScore(
                score=score, sample_id=sample.id, sample_metadata=sample.metadata
            )
    return scores


def _logged(log: EvalLog, scores: Scores) -> dict[str, Any]:
    """What a log says about the calls of its judge."""
    counts: Counter[str] = Counter()
    for of_judge in summed(score.score.metadata for score in scores.values()).values():
        counts.update(of_judge)
    samples = log.samples or []
    judged = [sample for sample in samples if (str(sample.id), sample.epoch) in scores]
    return {
        "effort": effort(judged),
        "location": log.location,
        "facts": log_facts(log),
        "reply_counts": counts,
    }


def log_facts(log: EvalLog) -> dict[str, str]:
    """Arguments, settings of the first model call, prompts, time and file of a log, by name.

    The log must have its samples. Nothing is included whose name sounds like a secret.
    """
    facts: dict[str, Any] = {
        name: value
        for name, value in log.eval.model_args.items()
        if isinstance(value, (str, int, float))
    }
    arguments = log.eval.task_args
    facts |= {name: value for name, value in arguments.items() if name not in _NO_FACTS}
    samer = arguments.get("samer")
    if isinstance(samer, dict):  # an option that differs is named alone
        for name, value in samer.items():
            fact = name
            if name == "model":
                fact = "samer"
            facts[fact] = value
    facts |= _settings_of_first_call(log)
    about = [score.metadata or {} for score in _all_scores(log)]
    about_log = log.eval.metadata or {}
    facts["rubric"] = about_log.get("rubric")
    facts["version"] = log.eval.task_version
    prompts = (known["prompt_version"] for known in about if known.get("prompt_version"))
    facts["prompts"] = next(prompts, None)
    facts[STRUCTURED] = structured_of(about)  # what became of the argument, which may be `auto`
    shown = {name: _shown(value) for name, value in public(facts).items()}
    return {
        **shown,
        CREATED: log.eval.created[:19].replace("T", " "),
        FILE: PurePosixPath(log.location).name,
    }


def _settings_of_first_call(log: EvalLog) -> dict[str, Any]:
    for sample in log.samples or []:
        for event in sample.events:
            if isinstance(event, ModelEvent):
                return {name: getattr(event.config, name) for name in _SETTINGS}
    return {}


def _all_scores(log: EvalLog) -> Iterator[Score]:
    for sample in log.samples or []:
        scores = sample.scores or {}
        yield from scores.values()


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return choices(value)
    return str(value)


def _adjusted(tests: Sequence[JudgeTest[Judge]]) -> list[JudgeTest[Judge]]:
    """Tests of one level with their p-values adjusted by Holm."""
    p_values = holm([test.p for test in tests])
    return [replace(test, adjusted_p=p) for test, p in zip(tests, p_values, strict=True)]


def _different_labels(first: LoggedJudge, second: LoggedJudge) -> InputError:
    return InputError(
        f"{first.location} and {second.location} have different labels for the same samples"
    )


# --- judges of pairs ---


def read_judges(logs: Sequence[EvalLog]) -> list[DatasetJudges[JudgeResult]]:
    """Read the judges in logs of `md_eval` and `judge_pairwise`, samples included.

    Other logs are skipped.
    If a log was scored several times, the last score counts. There is one entry per dataset, in the
    order of the logs; judges and tests are ordered by accuracy with unparsed verdicts counted as
    wrong. Two logs of the same data that have different labels are an error.
    """
    datasets = _by_dataset(logs, read_judge)
    return [_pairs(dataset, sha256, judges) for (dataset, sha256, _), judges in datasets.items()]


def _pairs(dataset: str, sha256: str, judges: list[JudgeResult]) -> DatasetJudges[JudgeResult]:
    def worst_last(judge: JudgeResult) -> list[float]:
        return [-_accuracy_of(judge, level) for level in LEVELS]

    ordered = sorted(_named(judges), key=worst_last)
    logged = {judge.judge for judge in judges}
    baselines: list[JudgeResult] = []
    for baseline in computed_baselines(judges):
        # The log of a baseline replaces the computed one if both agree; else both are shown.
        name = baseline.judge
        if name in logged:
            name += " (computed)"
        same = (judge for judge in ordered if _agrees(judge, baseline))
        baselines.append(next(same, replace(baseline, name=name)))
    tests = []
    for level in LEVELS:
        tests += _paired_tests(ordered, baselines, level)
    computed = tuple(baseline for baseline in baselines if not baseline.location)
    return DatasetJudges(dataset, sha256, tuple(ordered), tuple(tests), computed)


def read_judge(log: EvalLog) -> JudgeResult | None:
    """Read what a log says about its judge; None if no sample was scored by `pair_verdict`."""
    scores: Scores = {}
    for key, score in _scores(log, "pair_verdict").items():
        facts = score.score.metadata or {}
        if facts.get("labels"):
            scores[key] = score
    if not scores:
        return None
    arguments = log.eval.task_args
    judge = str(arguments.get("judge", "model"))
    if judge in ("samer", "reward_model"):
        # Its folder or address, or all its options; the last part is enough.
        model = arguments.get("samer", "")
        if isinstance(model, dict):
            model = model.get("model", "")
        folder = str(model).rstrip("/").rpartition("/")[2]
        judge = f"{judge}/{folder}"
    elif not judge.startswith(BASELINE):
        judge = log.eval.model
    return result_of(
        judge,
        scores,
        protocol=str(arguments.get("protocol", "overall")),
        orders=str(arguments.get("orders", "")),
        seed=int(arguments.get("seed", 0)),
        **_logged(log, scores),
    )


def result_of(
    judge: str, scores: Scores, *, orders: str, seed: int, protocol: str = "", **logged: Any
) -> JudgeResult:
    """Measure a judge on at least one score of `pair_verdict`.

    `logged` are attributes that need a log.
    """
    return JudgeResult(
        judge=judge,
        name=judge,
        judgements=sum(len(_facts(score)["labels"]) for score in scores.values()),
        items=scores,
        protocol=protocol,
        orders=orders,
        seed=seed,
        overall=None if judge == TELLS_LABELS else _measure(scores, "overall"),
        dimensions=_measure(scores, "dimensions"),
        **{"effort": effort(()), "location": "", "facts": {}, **logged},
    )


def _measure(scores: Scores, level: Level) -> JudgeMeasures | None:
    verdicts = items_of(list(scores.values()), _ITEMS[level])
    if verdicts is None:
        return None
    return measure(verdicts).reported()


def _facts(score: SampleScore) -> dict[str, Any]:
    """Labels of the verdicts that were asked for, and verdicts by the response shown first."""
    return {"verdicts": {}, **(score.score.metadata or {})}


def items_of(scores: Sequence[SampleScore], name: str | None = OVERALL) -> Verdicts | None:
    """Verdicts of a run for comparing judges: overall by default, all dimensions for None.

    None if there are none.
    """
    items = judged_items(scores, dimensions=name is None)
    if items is None:
        return None
    return items.verdicts


def _accuracy_of(judge: JudgeResult, level: Level) -> float:
    """Accuracy with unparsed verdicts counted as wrong, by which judges are ranked.

    -inf if there is none.
    """
    measures: JudgeMeasures | None = getattr(judge, level)
    if measures is None or math.isnan(measures.accuracy_all.value):
        return -math.inf
    return measures.accuracy_all.value


def _paired_tests(
    judges: Sequence[JudgeResult], baselines: Sequence[JudgeResult], level: Level
) -> list[JudgeTest[JudgeResult]]:
    """Test every model against every other and the best baseline.

    No two baselines, as each test weakens the others.
    """
    measured = [judge for judge in judges if getattr(judge, level) is not None]
    models = [judge for judge in measured if not judge.is_baseline]
    measured = [judge for judge in baselines if getattr(judge, level) is not None]
    rivals = [judge for judge in measured if judge.judge != TELLS_LABELS]
    pairs = list(combinations(models, 2))
    if rivals:
        best = max(rivals, key=lambda judge: _accuracy_of(judge, level))
        pairs += [(model, best) for model in models]
    tests = [_compare(first, second, level) for first, second in pairs]
    return _adjusted([test for test in tests if test is not None])


def _compare(
    first: JudgeResult, second: JudgeResult, level: Level
) -> JudgeTest[JudgeResult] | None:
    """Compare on the samples of both, in the same order; None if there are none."""

    def asked(judge: JudgeResult, key: Key) -> list[str]:
        names = _facts(judge.items[key])["labels"]
        return [name for name in names if (name == OVERALL) == (level == "overall")]

    both = first.items.keys() & second.items.keys()
    keys = sorted(key for key in both if asked(first, key) == asked(second, key))
    one = items_of([first.items[key] for key in keys], _ITEMS[level])
    other = items_of([second.items[key] for key in keys], _ITEMS[level])
    if one is None or other is None:
        return None
    # Two scorings of the same file have the same labels.
    if not np.array_equal(one.labels, other.labels):
        raise _different_labels(first, second)
    correct = np.stack(
        [correctness(verdicts.labels, verdicts.final) for verdicts in (one, other)], axis=1
    )
    [test] = compare_means(correct, clusters=one.clusters)
    difference = test.difference.reported((-1.0, 1.0))
    better = correct[:, 0] - correct[:, 1]
    only_first = int((better > 0).sum())
    only_second = int((better < 0).sum())
    right = (only_first, only_second)
    return JudgeTest(first, second, level, difference, test.p, math.nan, right)


# --- baselines ---


def computed_baselines(judges: Sequence[JudgeResult]) -> list[JudgeResult]:
    """Every baseline over all pairs of some judges of one dataset, asked as they were.

    Where some judges are models only these count, so that a baseline with a log of its own changes
    nothing about the others. A baseline without verdicts is skipped. `copy_overall` needs overall
    labels, and verdicts on dimensions that it gives them to.
    """
    asked = [judge for judge in judges if not judge.is_baseline] or judges
    samples: Scores = {}
    shown: dict[Key, list[tuple[str, ...]]] = {}
    for key, score in chain.from_iterable(judge.items.items() for judge in asked):
        samples.setdefault(key, score)
        verdicts = _facts(score)["verdicts"]
        if verdicts:
            shown.setdefault(key, []).append(tuple(verdicts))
    labels = _all_labels(asked)
    named = {judge.orders for judge in asked}
    orders, firsts = _common_orders(shown, named)
    unseen = _SHOWN_FIRST[orders]
    seeds = {judge.seed for judge in asked}
    seed = 0
    if len(seeds) == 1:
        seed = seeds.pop()
    results = []
    has_overall = any(OVERALL in of_pair for of_pair in labels.values())
    for kind in BASELINES:
        if BASELINE + kind == TELLS_LABELS and not has_overall:
            continue
        scores = {}
        for key, sample in samples.items():
            shown_first = firsts.get(key, unseen)
            scores[key] = _baseline_score(kind, sample, labels[key], shown_first, seed)
        results.append(result_of(BASELINE + kind, scores, orders=orders, seed=seed))
    return [result for result in results if result.overall or result.dimensions]


def _all_labels(judges: Sequence[JudgeResult]) -> dict[Key, dict[str, str]]:
    """The labels of all verdicts that some judge was asked for.

    Those of the judge that was asked for the most come first, so that dimensions keep their order.
    """
    labels: dict[Key, dict[str, str]] = {}
    for key, score in chain.from_iterable(judge.items.items() for judge in judges):
        of_both = (_facts(score)["labels"], labels.get(key, {}))
        more, known = sorted(of_both, key=len, reverse=True)
        labels[key] = {**more, **known}
    return labels


def _common_orders(
    shown: Mapping[Key, Sequence[tuple[str, ...]]], named: set[str]
) -> tuple[str, dict[Key, tuple[str, ...]]]:
    """Name of the orders common to all judges, `ab` if they differ.

    And the responses that were shown first, by sample and epoch.
    """
    if shown and all(len(orders) == 2 for orders in chain.from_iterable(shown.values())):
        return "both", {key: seen[0] for key, seen in shown.items()}
    firsts: dict[Key, tuple[str, ...]] = {}
    for key, seen in shown.items():
        different = {orders[0] for orders in seen}
        if len(different) > 1:
            return "ab", {}
        firsts[key] = tuple(different)
    if named == {"seeded"}:
        return "seeded", firsts
    if any(first != ("a",) for first in firsts.values()):
        return "seeded", firsts
    return "ab", firsts


def _baseline_score(
    kind: str, given: SampleScore, labels: dict[str, str], firsts: Sequence[str], seed: int
) -> SampleScore:
    """The score that a baseline would get on a pair that is shown in the same orders."""
    sample = given.sample_metadata or {}
    size = len(labels)
    length_a = len(sample.get("response_a", ""))
    length_b = len(sample.get("response_b", ""))
    overall = labels.get(OVERALL, "tie")
    verdicts: dict[str, dict[str, str]] = {}
    for first in firsts:
        codes = baseline_verdicts(
            kind,
            lengths_a=[length_a] * size,
            lengths_b=[length_b] * size,
            first=encode([first] * size),
            overall_labels=encode([overall] * size),
            ids=[f"{given.sample_id}/{name}" for name in labels],
            seed=seed,
        )
        names = [_NAME_OF[int(code)] for code in codes]
        verdicts[first] = dict(zip(labels, names, strict=True))
    score = Score(value=math.nan, metadata={"labels": labels, "verdicts": verdicts})
    return SampleScore(score=score, sample_id=given.sample_id, sample_metadata=sample)


def _agrees(logged: JudgeResult, computed: JudgeResult) -> bool:
    """Whether the log of a baseline has the verdicts of the computed one on every pair of it."""
    if logged.judge != computed.judge:
        return False
    if not computed.items.keys() <= logged.items.keys():
        return False
    for key, score in computed.items.items():
        ours = _facts(score)
        theirs = _facts(logged.items[key])
        if theirs["labels"] != ours["labels"] or theirs["verdicts"] != ours["verdicts"]:
            return False
    return True


# --- judges that rate ---


@dataclass(frozen=True, kw_only=True, eq=False)
class RatingJudge(LoggedJudge):
    """What one log says about one judge that rates."""

    rubric: str  # that it was asked with; empty if there was none
    agreement: RatingAgreement
    items: dict[Key, RatedItem] = field(repr=False)


def read_ratings(logs: Sequence[EvalLog]) -> list[DatasetJudges[RatingJudge]]:
    """Read the judges in logs of `judge_rating`, samples included.

    Other logs are skipped.
    If a log was scored several times, the last score counts. There is one entry per dataset and
    scale of its labels, in the order of the logs. Judges are ordered by Pearson's r; every two are
    tested on the responses that both have rated, by Pearson's r and by Spearman's rho. Two logs of
    the same data that have different labels are an error.
    """
    datasets = _by_dataset(logs, read_rating_judge)
    return [_ratings(dataset, sha256, judges) for (dataset, sha256, _), judges in datasets.items()]


def _ratings(dataset: str, sha256: str, judges: list[RatingJudge]) -> DatasetJudges[RatingJudge]:
    def worst_last(judge: RatingJudge) -> float:
        correlation = judge.agreement.correlations.pearson.value
        if math.isnan(correlation):
            return math.inf
        return -correlation

    ordered = sorted(_named(judges), key=worst_last)
    compared = [_compare_ratings(first, second) for first, second in combinations(ordered, 2)]
    tests: list[JudgeTest[RatingJudge]] = []
    for tests_of_level in zip(*filter(None, compared), strict=True):
        tests += _adjusted(tests_of_level)
    return DatasetJudges(dataset, sha256, tuple(ordered), tuple(tests))


def _compare_ratings(first: RatingJudge, second: RatingJudge) -> list[JudgeTest[RatingJudge]]:
    """Compare two judges by Pearson's r and Spearman's rho on the responses of both.

    Empty if there are none.
    """
    keys = sorted(first.items.keys() & second.items.keys())
    if not keys:
        return []
    items = [first.items[key] for key in keys]
    items_of_second = [second.items[key] for key in keys]
    labels = [item.label for item in items]
    # Two scorings of the same file have the same labels.
    if labels != [item.label for item in items_of_second]:
        raise _different_labels(first, second)
    test = correlation_difference(
        labels,
        [item.rating for item in items],
        [item.rating for item in items_of_second],
        [item.cluster for item in items],
    )
    limits = (-2.0, 2.0)
    pearson = test.pearson.reported(limits)
    spearman = test.spearman.reported(limits)
    return [
        JudgeTest(first, second, "pearson", pearson, test.p_pearson, math.nan),
        JudgeTest(first, second, "spearman", spearman, test.p_spearman, math.nan),
    ]


def read_rating_judge(log: EvalLog) -> RatingJudge | None:
    """Read what a log says about its judge; None if no sample was scored by `rating_agreement`."""
    scores: Scores = {}
    items: dict[Key, RatedItem] = {}
    for key, score in _scores(log, "rating_agreement").items():
        item = rated_item(score)
        if item is not None:
            scores[key] = score
            items[key] = item
    if not items:
        return None
    facts = log.eval.metadata or {}
    return RatingJudge(
        judge=log.eval.model,
        name=log.eval.model,
        judgements=len(items),
        items=items,
        rubric=str(facts.get("rubric", "")),
        agreement=agreement(list(items.values())),
        **_logged(log, scores),
    )
