"""`case_review_report`: how many cases passed a review, and why the others did not."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from urs_inspect.rating.kappa import cohen_kappa
from urs_inspect.rating.proportions import wilson_interval

_SHARES = (
    "passed", "understandable", "self_contained", "plausible_intent", "personal_data", "harmful", "intent_agrees",
)  # fmt: skip


@metric(scores="unreduced")
def case_review_report() -> Metric:
    """Shares over the reviewed cases, 0 to 1, and counts.

    Rows: `passed`, NaN without a review; `cases`; `reviewed`; for `passed`, each verdict and `intent_agrees` (accuracy
    of the user's intent by the judge's) the share, `<name> low` and `<name> high` (95 %, Wilson); `intent
    kappa` (Cohen); `passed language=<code>`, `passed intent=<name>`; `failures <mode>`. Repeated reviews of a case
    count as one, with their mean, except for kappa, which is over reviews. `cases`, `reviewed` and failures count
    reviews of all epochs.

    Returns:
        The metric.
    """

    def compute(scores: list[SampleScore]) -> Value:
        given = [(str(score.sample_id), score.score.value) for score in scores if isinstance(score.score.value, dict)]
        reviewed = [(case, value) for case, value in given if value.get("outcome") == "reviewed"]
        modes = Counter(str(value.get("outcome")).removeprefix("unreviewed_") for _, value in given)
        modes.pop("reviewed", None)
        # The headline comes first and is there before the first review as well: the harness looks for it.
        rows = {"passed": math.nan, "cases": float(len(given)), "reviewed": float(len(reviewed))}
        for name in _SHARES:
            rows |= _share(name, reviewed)
        pairs = [(str(value["user_intent"]), str(value["judge_intent"])) for _, value in reviewed]
        kappa = cohen_kappa([user for user, _ in pairs], [judge for _, judge in pairs])
        rows |= {} if math.isnan(kappa) else {"intent kappa": kappa}
        for label, key in (("language", "language"), ("intent", "user_intent")):
            for group in sorted({str(value[key]) for _, value in reviewed}):
                part = _by_case("passed", ((case, value) for case, value in reviewed if value[key] == group))
                rows[f"passed {label}={group}"] = math.fsum(part) / len(part)
        return {**rows, **{f"failures {mode}": float(number) for mode, number in sorted(modes.items())}}

    return compute


def _by_case(name: str, reviewed: Iterable[tuple[str, Mapping[str, Any]]]) -> list[float]:
    values: dict[str, list[float]] = defaultdict(list)
    for case, value in reviewed:
        values[case].append(float(value[name]))
    return [math.fsum(several) / len(several) for several in values.values()]


def _share(name: str, reviewed: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, float]:
    values = _by_case(name, reviewed)
    if not values:
        return {}
    found = wilson_interval(math.fsum(values) / len(values), len(values))
    return {name: found.mean, f"{name} low": found.low, f"{name} high": found.high}
