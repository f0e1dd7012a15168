"""Scorers of URS that are no judges of the harness; satellites offer them by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from inspect_ai.log import HeadlineMetric
from inspect_ai.scorer import Scorer
from inspect_ai.viewer import ViewerConfig

from urs_inspect._satellites import at, offered


@dataclass(frozen=True)
class LocalScorer:
    """What takes part in a run of URS beside the judge, or in place of it."""

    scorers: tuple[Scorer, ...]
    headline: HeadlineMetric
    """Of a run without a judge."""
    viewer: Callable[[str], ViewerConfig]
    """How the viewer shows a run without a judge, by the name of the task."""
    beside: Callable[[ViewerConfig], ViewerConfig]
    """How it shows a run with a judge, whose view is given."""


def local_scorer(name: str, options: Mapping[str, Any]) -> LocalScorer:
    """The scorer of that name with its options."""
    scorer: LocalScorer = at(offered("scorers")[name])(options)
    return scorer
