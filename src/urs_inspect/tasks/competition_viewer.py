"""How `inspect view` shows a log of a competition."""

from inspect_ai.viewer import ScoreColorScale, TaskSamplesColumn, TaskSamplesSort, ViewerConfig

from urs_inspect.tasks.sample_list import sample_list

_SCORER = "pair_choice"


def competition_viewer() -> ViewerConfig:
    """Show comparisons with both models, the outcome and what was asked; answers of contestants have no score."""
    return sample_list(
        "MAD",
        [
            TaskSamplesColumn.score(_SCORER, "model_a"),
            TaskSamplesColumn.score(_SCORER, "model_b"),
            TaskSamplesColumn.score(_SCORER, "outcome"),
            TaskSamplesColumn(id="answer"),
            TaskSamplesColumn(id="input"),
        ],
        labels={"model_a": "Model a", "model_b": "Model b", "outcome": "Outcome"},
        scales={"outcome": ScoreColorScale(palette="diverging", min=0, max=1)},
        sort=[TaskSamplesSort.score(_SCORER, "outcome", dir="desc")],
    )
