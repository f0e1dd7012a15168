"""Base of tasks whose metrics apply to some of the cases only, or to several things in a case."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from lm_eval.api.metrics import mean, mean_stderr
from lm_eval.api.task import ConfigurableTask

from urs_inspect.stats._bootstrap import bootstrap_counts, cluster_counts, percentile_bounds

_PREDICT_ONLY = "bypass"
_STDERR = "_stderr"  # lm-eval's suffix of the metric that is a standard error
_UNKNOWN = "N/A"


def not_used(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, float]:
    """For a task's file, where lm-eval needs a function; `process_results` of the class is used."""
    raise NotImplementedError


def _always(doc: Mapping[str, Any]) -> bool:
    return True


@dataclass(frozen=True)
class Measure:
    """A metric."""

    name: str
    # for `mean`, lm-eval knows the standard error
    aggregate: Callable[[Sequence[Any]], float] = mean
    about: Callable[[Mapping[str, Any]], bool] = _always  # whether it may apply to a case
    sure: bool = True  # whether a case that it may apply to has it, whatever the reply
    higher_is_better: bool | None = True  # None for a habit, of which neither is better


class MeasuredTask(ConfigurableTask):  # type: ignore[misc]  # lm-eval has no types
    """A task with `measures` and `values` of its own.

    A case lacks the metrics that do not apply to it. Where several processes share the work, each
    must have every metric, or lm-eval fails on gathering them. So a mean that one of them might
    lack is listed for every case there, as None where it does not apply. lm-eval knows a standard
    error of its own mean only, which cannot skip None; so the standard error is a metric of its own
    there, under the name that lm-eval looks for.
    """

    def __init__(self, config: dict[str, Any] | None = None, **kwargs: Any) -> None:
        self._padded: dict[str, Callable[..., Any]] = {}
        given = config or {}
        own = {key: value for key, value in given.items() if key != "class"}
        super().__init__(config=own, **kwargs)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The metrics of all cases."""
        raise NotImplementedError

    def values(self, doc: Mapping[str, Any], results: Sequence[Any]) -> Mapping[str, Any]:
        """The metrics that apply to one case; `results` are the model's, request by request."""
        raise NotImplementedError

    def build_all_requests(
        self,
        *,
        limit: int | None = None,
        samples: list[int] | None = None,
        rank: int = 0,
        world_size: int = 1,
        **kwargs: Any,
    ) -> None:
        """Prepare the requests, without lm-eval's cache of them, which does not know options."""
        if world_size > 1:
            shares = []
            for process in range(world_size):
                docs = self.doc_iterator(
                    rank=process, limit=limit, samples=samples, world_size=world_size
                )
                shares.append([doc for _, doc in docs])
            self._padded = {}
            for measure in self.measures:
                if measure.aggregate is mean and _might_lack(measure, shares):
                    known = _MeanOfKnown()
                    # In this order lm-eval computes: a mean, then the error that it leaves.
                    self._padded[measure.name] = known.mean
                    self._padded[f"{measure.name}{_STDERR}"] = known.error
        kwargs |= {"cache_requests": False, "rewrite_requests_cache": False}
        super().build_all_requests(
            limit=limit, samples=samples, rank=rank, world_size=world_size, **kwargs
        )

    def process_results(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """The metrics of one case."""
        if self.predict_only:
            return dict(super().process_results(doc, results))
        return {**dict.fromkeys(self._padded), **self.values(doc, results)}

    def aggregation(self) -> dict[str, Callable[..., Any]]:
        """How metrics become one number."""
        if self.predict_only:
            return dict(super().aggregation())
        return {measure.name: measure.aggregate for measure in self.measures} | self._padded

    def higher_is_better(self) -> dict[str, bool | None]:
        """Which way is up."""
        if self.predict_only:
            return dict(super().higher_is_better())
        return {measure.name: measure.higher_is_better for measure in self.measures}

    @property
    def predict_only(self) -> bool:
        """Whether answers are only generated."""
        return _PREDICT_ONLY in self._metric_fn_list


class _MeanOfKnown:
    """The mean without missing values, and then its standard error as lm-eval has it."""

    def __init__(self) -> None:
        self._error: float | str = _UNKNOWN

    def mean(self, values: Sequence[float | None]) -> float:
        """The mean; NaN if no value is there."""
        known = [value for value in values if value is not None]
        self._error = _UNKNOWN
        if len(known) > 1:
            self._error = mean_stderr(known)
        if known:
            return float(mean(known))
        return math.nan

    def error(self, values: Sequence[None]) -> float | str:
        """The standard error of the mean before."""
        return self._error


def _might_lack(measure: Measure, shares: Sequence[Sequence[Mapping[str, Any]]]) -> bool:
    """Whether a process might lack a metric that another has."""
    possible = [any(map(measure.about, docs)) for docs in shares]
    return any(possible) and not (measure.sure and all(possible))


Part = Sequence[int]
"""What a case adds: hits, trials, and the number of its cluster."""


def ratio(parts: Sequence[Part]) -> float:
    """All hits by all trials; NaN without trials."""
    trials = sum(part[1] for part in parts)
    if trials:
        return sum(part[0] for part in parts) / trials
    return math.nan


def ratio_low(parts: Sequence[Part]) -> float:
    """Lower bound of the 95% interval of `ratio`, by the bootstrap over clusters."""
    return _bounds(parts)[0]


def ratio_high(parts: Sequence[Part]) -> float:
    """Upper bound of the same interval."""
    return _bounds(parts)[1]


def _bounds(parts: Sequence[Part]) -> tuple[float, float]:
    cluster_of_part = [part[2] for part in parts]
    hits_and_trials = np.array([part[:2] for part in parts]).reshape(-1, 2)
    sums = cluster_counts(cluster_of_part, hits_and_trials)
    if np.count_nonzero(sums[:, 1]) < 2:
        return math.nan, math.nan
    hits, trials = bootstrap_counts(sums).T
    unknown = np.full(len(hits), np.nan)
    rounds = np.divide(hits, trials, out=unknown, where=trials > 0)
    clusters = np.count_nonzero(sums[:, 1:], axis=0)
    low, high = percentile_bounds(rounds[:, None], clusters=clusters)
    return float(low[0]), float(high[0])
