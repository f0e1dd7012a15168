"""SaMer as a scorer of URS, beside the judge or in place of it."""

from collections.abc import Mapping
from typing import Any

from inspect_ai.log import HeadlineMetric

from urs_inspect.samer._scorer import samer, samer_outcome
from urs_inspect.samer._viewer import samer_viewer, with_samer
from urs_inspect.tasks._local_scorer import LocalScorer


def samer_scorer(options: Mapping[str, Any]) -> LocalScorer:
    """The scorer `samer` with its options."""
    return LocalScorer(
        scorers=(samer(**options), samer_outcome()),
        headline=HeadlineMetric(scorer="samer", metric="overall"),
        viewer=samer_viewer,
        beside=with_samer,
    )
