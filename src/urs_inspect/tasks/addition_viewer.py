"""How `inspect view` shows a log of additions."""

from inspect_ai.viewer import ScoreColorScale, TaskSamplesColumn, TaskSamplesSort, ViewerConfig

from urs_inspect.scorers.addition_metrics import RIGHT, SUMMANDS
from urs_inspect.tasks.sample_list import sample_list

_SCORER = "exact_sum"
_NUMBERS = "Numbers".ljust(13, "\N{NO-BREAK SPACE}")  # a column is as wide as its heading, and sorted by this one


def addition_viewer() -> ViewerConfig:
    """Show the chains, shortest first, with the sum (the target), the number that was read, and whether it is right."""
    return sample_list(
        "Addition",
        [
            TaskSamplesColumn.score(_SCORER, SUMMANDS),
            TaskSamplesColumn(id="target"),
            TaskSamplesColumn(id="answer"),
            TaskSamplesColumn.score(_SCORER, RIGHT),
            TaskSamplesColumn(id="input"),
        ],
        labels={SUMMANDS: _NUMBERS, RIGHT: "Right"},
        scales={RIGHT: ScoreColorScale(palette="good-high", min=0, max=1)},
        sort=[TaskSamplesSort.score(_SCORER, SUMMANDS, dir="asc")],
    )
