"""What all lists of samples have in common."""

import pytest
from inspect_ai.viewer import TaskSamplesView

from urs_inspect.tasks.viewer import sample_list


@pytest.mark.parametrize("shown", [["input"], ["target", "answer", "input"]])
def test_given_columns_are_shown_once_and_all_others_are_hidden(shown: list[str]) -> None:
    view = sample_list("x", shown, labels={}, scales={}, sort=[])
    assert isinstance(view.task_samples_view, TaskSamplesView)
    columns = view.task_samples_view.columns or []
    assert [column.id for column in columns if column.visible is not False] == ["sampleStatus", "sampleId", *shown]
    names = [column.id for column in columns]
    assert len(names) == len(set(names))
    assert {"target", "answer", "tokens", "duration", "epoch", "error"} <= set(names)
