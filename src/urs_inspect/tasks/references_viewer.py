"""How `inspect view` shows answers that are to become references."""

from inspect_ai.viewer import TaskSamplesColumn, TaskSamplesSort, ViewerConfig

from urs_inspect.datasets.references import OUTCOMES, USABLE
from urs_inspect.tasks.sample_list import sample_list
from urs_inspect.tasks.viewer import heading

_SCORER = "reference_outcome"


def references_viewer() -> ViewerConfig:
    """Show the list of answers, those that cannot serve first.

    Returns:
        The viewer configuration: intent, language, outcome, whether it is usable, question and answer.
    """
    keys = ("intent", "language", "outcome", "usable")
    return sample_list(
        "URS references",
        [
            *[TaskSamplesColumn.score(_SCORER, key) for key in keys],
            TaskSamplesColumn(id="input"),
            TaskSamplesColumn(id="answer"),
        ],
        labels={"intent": "Intent", "language": "Language", "outcome": heading("Outcome"), "usable": heading("Usable")},
        scales={"outcome": {outcome: "good" if outcome == USABLE else "bad" for outcome in OUTCOMES}},
        sort=[TaskSamplesSort.score(_SCORER, "usable", dir="asc")],
    )
