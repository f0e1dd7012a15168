"""The list of samples in `inspect view`, with what all lists of this package have in common."""

from collections.abc import Mapping, Sequence

from inspect_ai.viewer import (
    SampleScoreView,
    ScoreColorScale,
    TaskSamplesColumn,
    TaskSamplesSort,
    TaskSamplesView,
    ViewerConfig,
)

_ALWAYS = ("sampleStatus", "sampleId")
# The viewer shows every column of its own that is not said to be hidden.
_HIDDEN = ("target", "tokens", "duration", "epoch", "limit", "retries", "error", "sampleUuid", "answer")


def sample_list(
    name: str,
    columns: Sequence[TaskSamplesColumn],
    *,
    labels: Mapping[str, str],
    scales: Mapping[str, ScoreColorScale | dict[str, str]],
    sort: Sequence[TaskSamplesSort],
    compact: bool = False,
) -> ViewerConfig:
    """Show one line a sample: status and id, then the given columns and no other.

    Args:
        name: Name of the view.
        columns: The columns in their order.
        labels: Key of a score -> heading of its column.
        scales: Key of a score -> its colours.
        sort: By which columns lines are sorted.
        compact: Whether a column of scores is narrower than its heading.

    Returns:
        The viewer configuration.
    """
    shown = {column.id for column in columns}
    return ViewerConfig(
        sample_score_view=SampleScoreView(default="grid"),
        task_samples_view=TaskSamplesView(
            name=name,
            columns=[
                *[TaskSamplesColumn(id=column) for column in _ALWAYS],
                *columns,
                *[TaskSamplesColumn(id=column, visible=False) for column in _HIDDEN if column not in shown],
            ],
            sort=list(sort),
            score_labels=dict(labels),
            score_color_scales=dict(scales),
            color_scales_enabled=True,
            compact_scores=compact,
            multiline=False,
        ),
    )
