"""SaMer as a scorer of URS, alone and beside a judge, and how `inspect view` shows its scores."""

from collections.abc import Mapping
from typing import Any, get_args

from inspect_ai.log import HeadlineMetric
from inspect_ai.viewer import ScoreColorScale, TaskSamplesView, ViewerConfig

from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.samer._engines import FailureMode
from urs_inspect.samer._judgement import score_keys
from urs_inspect.samer._scorer import LEADING, samer, samer_outcome
from urs_inspect.tasks._local_scorer import LocalScorer
from urs_inspect.tasks._viewer import INTENT, SHARE, Scale, sample_column, sample_list

_SAMER_LABELS = {
    "overall": "Overall",
    "evaluation": "Evaluation",
    **dict(zip(LEADING, ("Weighs most", "Weighs second", "Weighs third"), strict=True)),
}
_EVALUATIONS = {
    "scored": "good",
    "no_response": "info",
    **{f"unscored_{mode}": "bad" for mode in ("no_answer", "no_query", *get_args(FailureMode))},
}


def samer_scorer(options: Mapping[str, Any]) -> LocalScorer:
    """The scorer `samer` with its options."""
    return LocalScorer(
        scorers=(samer(**options), samer_outcome()),
        headline=HeadlineMetric(scorer="samer", metric="overall"),
        viewer=samer_viewer,
        beside=with_samer,
    )


def _samer_scales() -> dict[str, Scale]:
    percent = ScoreColorScale(palette="good-high", min=0, max=100)
    return {**dict.fromkeys(score_keys(), SHARE), "percent": percent, "evaluation": _EVALUATIONS}


def _samer_columns() -> tuple[list[str], list[str]]:
    """Overall score and leading dimensions.

    Then all dimensions, which the viewer does not let hide.
    """
    leading = ["samer.overall", *(f"samer_outcome.{key}" for key in LEADING)]
    return leading, [f"samer.{dimension}" for dimension in load_taxonomy().dimensions]


def samer_viewer(name: str) -> ViewerConfig:
    """Intent, language, overall score, leading dimensions and how the evaluation ended, the worst
    first.
    """
    leading, dimensions = _samer_columns()
    facts = [f"samer_outcome.{key}" for key in ("intent", "language", "evaluation", "percent")]
    return sample_list(
        name,
        [*facts[:2], *leading, facts[2], "input", "answer", *dimensions, facts[3]],
        labels={**INTENT, **_SAMER_LABELS},
        scales=_samer_scales(),
        sort=[
            "samer.overall"
        ],  # not compact: a column is as wide as its heading, and dimensions have long names
    )


def with_samer(config: ViewerConfig) -> ViewerConfig:
    """What `intent_viewer` made, with SaMer's overall score and outcome before the input, all else
    at the end.
    """
    view = config.task_samples_view
    if not isinstance(view, TaskSamplesView):
        return config
    columns = view.columns or []
    place = next(
        (place for place, column in enumerate(columns) if column.id == "input"), len(columns)
    )
    leading, dimensions = _samer_columns()
    before = map(sample_column, ("samer_outcome.percent", "samer_outcome.evaluation"))
    last = map(
        sample_column, [*leading, *dimensions, "samer_outcome.intent", "samer_outcome.language"]
    )
    labels = {**_SAMER_LABELS, "percent": "SaMer %", "evaluation": "SaMer ended"}
    merged = view.model_copy(
        update={
            "columns": [*columns[:place], *before, *columns[place:], *last],
            "score_labels": {**(view.score_labels or {}), **labels},
            "score_color_scales": {**(view.score_color_scales or {}), **_samer_scales()},
        }
    )
    return config.model_copy(update={"task_samples_view": merged})
