"""Tasks whose metrics are about some of the cases only, or about several things in a case."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval.api.metrics import mean
from lm_eval.api.task import ConfigurableTask

from urs_inspect.lmeval_tasks.metrics import mean_of_known

_PREDICT_ONLY = "bypass"


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
        about: Whether it is about a case; None where only the reply tells.
        higher_is_better: Which way is up; None for a habit, of which neither is better.
    """

    name: str
    aggregate: Callable[[Sequence[Any]], float] = mean
    about: Callable[[Mapping[str, Any]], bool] | None = _always
    higher_is_better: bool | None = True


class MeasuredTask(ConfigurableTask):  # type: ignore[misc]  # lm-eval has no types
    """A task with `measures` and `values` of its own.

    A case lacks the metrics that are not about it. Where several processes share the work, each must have every metric,
    or lm-eval fails on gathering them. So a metric that one of them might lack is written down for every case there, as
    nothing where it is not about it; lm-eval then knows no standard error of it.

    Args:
        config: The task's file.
    """

    measures: tuple[Measure, ...] = ()

    def __init__(self, config: dict[str, Any] | None = None, **kwargs: Any) -> None:
        self._padded: frozenset[str] = frozenset()
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
            self._padded = frozenset(each.name for each in self.measures if not _everywhere(each, shares))
        kwargs |= {"cache_requests": False, "rewrite_requests_cache": False}
        super().build_all_requests(limit=limit, samples=samples, rank=rank, world_size=world_size, **kwargs)

    def process_results(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """The metrics of one case."""
        if self._predict_only:
            return dict(super().process_results(doc, results))
        return {**dict.fromkeys(self._padded), **self.values(doc, results)}

    def aggregation(self) -> dict[str, Callable[..., float]]:
        """How metrics become one number."""
        if self._predict_only:
            return dict(super().aggregation())
        return {
            each.name: mean_of_known if each.name in self._padded and each.aggregate is mean else each.aggregate
            for each in self.measures
        }

    def higher_is_better(self) -> dict[str, bool | None]:
        """Which way is up."""
        if self._predict_only:
            return dict(super().higher_is_better())
        return {each.name: each.higher_is_better for each in self.measures}

    @property
    def _predict_only(self) -> bool:
        return _PREDICT_ONLY in self._metric_fn_list


def _everywhere(measure: Measure, shares: Sequence[Sequence[Mapping[str, Any]]]) -> bool:
    return measure.about is not None and all(any(map(measure.about, docs)) for docs in shares)
