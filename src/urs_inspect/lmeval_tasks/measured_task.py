"""Tasks whose metrics are about some of the cases only, or about several things in a case."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval.api.metrics import mean, mean_stderr
from lm_eval.api.task import ConfigurableTask

_PREDICT_ONLY = "bypass"
_STDERR = "_stderr"
"""What lm-eval puts behind the name of a metric for that of its standard error."""
_UNKNOWN = "N/A"


def not_used(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, float]:
    """Stands in a task's file, since lm-eval asks for a function there; `process_results` of the class is used."""
    raise NotImplementedError


def _always(doc: Mapping[str, Any]) -> bool:
    return True


@dataclass(frozen=True)
class Measure:
    """A metric.

    Attributes:
        name: Its name.
        aggregate: Makes one number of those of all cases; for `mean` lm-eval knows the standard error.
        about: Whether it may be about a case.
        sure: Whether a case that it may be about has it, whatever the reply; else only the reply tells.
        higher_is_better: Which way is up; None for a habit, of which neither is better.
    """

    name: str
    aggregate: Callable[[Sequence[Any]], float] = mean
    about: Callable[[Mapping[str, Any]], bool] = _always
    sure: bool = True
    higher_is_better: bool | None = True


class MeasuredTask(ConfigurableTask):  # type: ignore[misc]  # lm-eval has no types
    """A task with `measures` and `values` of its own.

    A case lacks the metrics that are not about it. Where several processes share the work, each must have every metric,
    or lm-eval fails on gathering them. So a mean that one of them might lack is written down for every case there, as
    nothing where it is not about it. lm-eval knows a standard error of none but its own mean, which cannot pass over
    nothing; so the standard error is a metric of its own there, under the name that lm-eval looks for.

    Args:
        config: The task's file.
    """

    measures: tuple[Measure, ...] = ()

    def __init__(self, config: dict[str, Any] | None = None, **kwargs: Any) -> None:
        self._padded: dict[str, _MeanOfKnown] = {}
        super().__init__(config={key: value for key, value in (config or {}).items() if key != "class"}, **kwargs)

    def values(self, doc: Mapping[str, Any], results: Sequence[Any]) -> Mapping[str, Any]:
        """The metrics of one case; those that are not about it are left out.

        Args:
            doc: The case.
            results: What the model gave, request by request.
        """
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
        """Prepare what the model is asked. lm-eval's cache of requests is left out: it knows nothing of options."""
        if world_size > 1:
            shares = [
                [doc for _, doc in self.doc_iterator(rank=each, limit=limit, samples=samples, world_size=world_size)]
                for each in range(world_size)
            ]
            means = [each for each in self.measures if each.aggregate is mean]
            self._padded = {each.name: _MeanOfKnown() for each in means if _might_lack(each, shares)}
        kwargs |= {"cache_requests": False, "rewrite_requests_cache": False}
        super().build_all_requests(limit=limit, samples=samples, rank=rank, world_size=world_size, **kwargs)

    def process_results(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """The metrics of one case."""
        if self.predict_only:
            return dict(super().process_results(doc, results))
        # lm-eval computes metrics in this order: a mean first, then the standard error that it leaves.
        nothing = dict.fromkeys(name for padded in self._padded for name in (padded, f"{padded}{_STDERR}"))
        return {**nothing, **self.values(doc, results)}

    def aggregation(self) -> dict[str, Callable[..., Any]]:
        """How metrics become one number."""
        if self.predict_only:
            return dict(super().aggregation())
        found: dict[str, Callable[..., Any]] = {each.name: each.aggregate for each in self.measures}
        for name, known in self._padded.items():
            found |= {name: known.mean, f"{name}{_STDERR}": known.error}
        return found

    def higher_is_better(self) -> dict[str, bool | None]:
        """Which way is up."""
        if self.predict_only:
            return dict(super().higher_is_better())
        return {each.name: each.higher_is_better for each in self.measures}

    @property
    def predict_only(self) -> bool:
        """Whether the answers are all that is wanted."""
        return _PREDICT_ONLY in self._metric_fn_list


class _MeanOfKnown:
    """The mean of the values that are there, and then its standard error as lm-eval has it."""

    def __init__(self) -> None:
        self._error: float | str = _UNKNOWN

    def mean(self, values: Sequence[float | None]) -> float:
        """The mean; NaN if no value is there."""
        known = [value for value in values if value is not None]
        self._error = mean_stderr(known) if len(known) > 1 else _UNKNOWN
        return float(mean(known)) if known else math.nan

    def error(self, values: Sequence[None]) -> float | str:
        """The standard error of the mean before."""
        return self._error


def _might_lack(measure: Measure, shares: Sequence[Sequence[Mapping[str, Any]]]) -> bool:
    """Whether a process might lack a metric that another has."""
    possible = [any(map(measure.about, docs)) for docs in shares]
    return any(possible) and not (measure.sure and all(possible))
