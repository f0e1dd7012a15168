"""How `inspect view` shows a cross-validation."""

from inspect_ai.viewer import TaskSamplesColumn, TaskSamplesSort, ViewerConfig

from urs_inspect.rubrics import FINAL, Rubric
from urs_inspect.tasks.sample_list import sample_list
from urs_inspect.tasks.viewer import heading, judging_scales

_SCORER, _CELL = "crossval_judge", "crossval_cell"
_NAMES = {"evaluator": "Evaluator", "source": "References", "model": "Tested"}
_FACTS = {"intent": "Intent", "language": "Language"}


def crossval_viewer(rubric: Rubric) -> ViewerConfig:
    """Show the list of judgements, the worst first.

    Args:
        rubric: Its scale is that of the colours.

    Returns:
        The viewer configuration: evaluator, source of the reference, tested model, final score, outcome, intent,
        language, question and answer; scores of criteria are in the samples.
    """
    return sample_list(
        "URS cross-validation",
        [
            *[TaskSamplesColumn.score(_CELL, key) for key in _NAMES],
            TaskSamplesColumn.score(_SCORER, FINAL),
            TaskSamplesColumn.score(_CELL, "outcome"),
            *[TaskSamplesColumn.score(_CELL, key) for key in _FACTS],
            TaskSamplesColumn(id="input"),
            TaskSamplesColumn(id="answer"),
            *[TaskSamplesColumn.score(_SCORER, criterion, visible=False) for criterion in rubric.criteria],
        ],
        labels={
            **{key: heading(name) for key, name in _NAMES.items()},
            **_FACTS,
            FINAL: heading("Final"),
            "outcome": heading("Judging"),
        },
        scales=judging_scales(rubric),
        sort=[TaskSamplesSort.score(_SCORER, FINAL, dir="asc")],
    )
