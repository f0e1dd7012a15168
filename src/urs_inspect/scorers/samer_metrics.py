"""`samer_report`: what SaMer's scores of a run say together."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from urs_inspect.scorers.metrics import interval_rows, number_of

OVERALL = "overall"
SCALE = (0.0, 1.0)
_GROUPS = ("intent_group", "language")
_COUNTS = {"no response": "no_response", "shortened": "shortened", "empty selection": "empty_selection"}

_Rows = dict[str, float]


@metric(scores="unreduced")
def samer_report() -> Metric:
    """The overall score with its interval, its mean by intent and language, and counts of everything special.

    One metric of the whole score, because the harness copies every score once for each key that has metrics of its own,
    at every refresh of the display.

    Returns:
        The metric. Rows: `overall`; `low` and `high`, its 95% interval, and `stderr`; `overall intent_group=<intent>`
        and `overall language=<code>`, if there are several; counts of `no response`, `shortened`, `empty selection` and
        `failures <mode>`. Epochs of a sample are averaged first, so that intervals are over samples. The 42 dimensions
        and the means by scenario are in `urs-inspect samer weights`.
    """

    def compute(scores: list[SampleScore]) -> Value:
        evaluated = [score for score in scores if not math.isnan(number_of(score, OVERALL))]
        rows: _Rows = interval_rows(OVERALL, sample_means(evaluated, OVERALL), SCALE)
        for key in _GROUPS:
            rows |= _by_group(evaluated, key)
        facts = [score.score.metadata or {} for score in scores]
        rows |= {title: float(sum(bool(one.get(key)) for one in facts)) for title, key in _COUNTS.items()}
        failures = Counter(str(one["failure_mode"]) for one in facts if one.get("failure_mode"))
        return {**rows, **{f"failures {mode}": float(count) for mode, count in sorted(failures.items())}}

    return compute


def sample_means(scores: Iterable[SampleScore], key: str) -> list[float]:
    """One value for each sample: the mean over its epochs that have one."""
    samples: dict[str, list[float]] = defaultdict(list)
    for score in scores:
        if not math.isnan(value := number_of(score, key)):
            samples[str(score.sample_id)].append(value)
    return [math.fsum(values) / len(values) for values in samples.values()]


def _by_group(evaluated: Sequence[SampleScore], key: str) -> _Rows:
    groups: dict[str, list[SampleScore]] = defaultdict(list)
    for score in evaluated:
        if group := (score.sample_metadata or {}).get(key):
            groups[str(group)].append(score)
    if len(groups) < 2:
        return {}
    means = {group: sample_means(groups[group], OVERALL) for group in sorted(groups)}
    return {f"{OVERALL} {key}={group}": math.fsum(values) / len(values) for group, values in means.items()}
