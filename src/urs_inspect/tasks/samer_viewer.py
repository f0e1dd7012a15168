"""How `inspect view` shows what SaMer said."""

from typing import Any, get_args

from inspect_ai.viewer import ScoreColorScale, TaskSamplesColumn, TaskSamplesSort, TaskSamplesView, ViewerConfig

from urs_inspect.samer import load_taxonomy
from urs_inspect.samer.engines import FailureMode
from urs_inspect.samer.judgement import score_keys
from urs_inspect.scorers.samer_outcome import LEADING
from urs_inspect.tasks.sample_list import sample_list

_SCORER, _OUTCOME, _OVERALL = "samer", "samer_outcome", "overall"
_MODES = ("no_answer", "no_query", *get_args(FailureMode))
_LABELS = {_OVERALL: "Overall", "evaluation": "Evaluation"}
_LABELS |= dict(zip(LEADING, ("Weighs most", "Weighs second", "Weighs third"), strict=True))


def samer_viewer(name: str) -> ViewerConfig:
    """Show the list of samples by overall score, worst first.

    Args:
        name: Name of the view.

    Returns:
        The viewer configuration: intent, language, overall score, the three dimensions with the largest weights, how
        the evaluation ended, input and answer; then all dimensions as a heat map, which the viewer does not let hide.
    """
    return sample_list(
        name,
        [
            TaskSamplesColumn.score(_OUTCOME, "intent"),
            TaskSamplesColumn.score(_OUTCOME, "language"),
            *_shown(),
            TaskSamplesColumn(id="input"),
            TaskSamplesColumn(id="answer"),
            *_dimensions(),
            TaskSamplesColumn.score(_OUTCOME, "percent"),
        ],
        labels={"intent": "Intent", "language": "Language", **_LABELS},
        scales=_scales(),
        sort=[TaskSamplesSort.score(_SCORER, _OVERALL, dir="asc")],
        compact=False,  # a column is as wide as its heading, and dimensions have long names
    )


def with_samer(config: ViewerConfig) -> ViewerConfig:
    """Add SaMer's columns to the list of judged samples.

    Args:
        config: What `intent_viewer` made.

    Returns:
        The same with overall score and outcome of SaMer before the input, and all dimensions after everything else.
    """
    view = config.task_samples_view
    if not isinstance(view, TaskSamplesView):
        return config
    columns = view.columns or []
    at = next((place for place, column in enumerate(columns) if column.id == "input"), len(columns))
    *wide, evaluation = _shown()
    narrow = TaskSamplesColumn.score(_OUTCOME, "percent")
    last = [*wide, *_dimensions(), *[TaskSamplesColumn.score(_OUTCOME, key) for key in ("intent", "language")]]
    merged = view.model_copy(
        update={
            "columns": [*columns[:at], narrow, evaluation, *columns[at:], *last],
            "score_labels": {**(view.score_labels or {}), **_LABELS, "percent": "SaMer %", "evaluation": "SaMer ended"},
            "score_color_scales": {**(view.score_color_scales or {}), **_scales()},
        }
    )
    return config.model_copy(update={"task_samples_view": merged})


def _shown() -> list[TaskSamplesColumn]:
    return [
        TaskSamplesColumn.score(_SCORER, _OVERALL),
        *[TaskSamplesColumn.score(_OUTCOME, key) for key in LEADING],
        TaskSamplesColumn.score(_OUTCOME, "evaluation"),
    ]


def _dimensions() -> list[TaskSamplesColumn]:
    return [TaskSamplesColumn.score(_SCORER, name) for name in load_taxonomy().dimensions]


def _scales() -> dict[str, Any]:
    ends = {"scored": "good", "no_response": "info", **{f"unscored_{mode}": "bad" for mode in _MODES}}
    numbers = {key: ScoreColorScale(palette="good-high", min=0, max=1) for key in score_keys()}
    return {**numbers, "percent": ScoreColorScale(palette="good-high", min=0, max=100), "evaluation": ends}
