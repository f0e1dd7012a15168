"""How `inspect view` shows a log of intent-judged answers."""

from inspect_ai.viewer import (
    SampleScoreView,
    ScoreColorScale,
    TaskSamplesColumn,
    TaskSamplesSort,
    TaskSamplesView,
    ViewerConfig,
)

from urs_inspect.judging import FAILURE_MODES
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, Rubric

_HIDDEN = ("target", "tokens", "duration", "epoch", "limit", "retries", "error", "sampleUuid")
_OUTCOME = "judge_outcome"


def intent_viewer(rubric: Rubric, name: str, scorer: str = "intent_judge") -> ViewerConfig:
    """Show the list of samples as a heat map, worst first.

    Args:
        rubric: Its criteria become columns, coloured on the scale from 1 to 10.
        name: Name of the view.
        scorer: Scorer whose values are shown.

    Returns:
        The viewer configuration: intent, language and outcome, then final score and criteria in narrow columns.
    """
    language = next(iter(rubric.languages))
    labels = {FINAL: "Final", "outcome": "Judging", "intent": "Intent", "language": "Language"}
    labels |= {criterion: texts[language].short or texts[language].name for criterion, texts in rubric.criteria.items()}
    return ViewerConfig(
        sample_score_view=SampleScoreView(default="grid"),
        task_samples_view=TaskSamplesView(
            name=name,
            columns=[
                TaskSamplesColumn(id="sampleStatus"),
                TaskSamplesColumn(id="sampleId"),
                TaskSamplesColumn.score(_OUTCOME, "intent"),
                TaskSamplesColumn.score(_OUTCOME, "language"),
                TaskSamplesColumn.score(scorer, FINAL),
                *[TaskSamplesColumn.score(scorer, criterion) for criterion in rubric.criteria],
                TaskSamplesColumn.score(_OUTCOME, "outcome"),
                TaskSamplesColumn(id="input"),
                TaskSamplesColumn(id="answer"),
                *[TaskSamplesColumn(id=column, visible=False) for column in _HIDDEN],
            ],
            sort=[TaskSamplesSort.score(scorer, FINAL, dir="asc")],
            score_labels=labels,
            score_color_scales={
                **{key: ScoreColorScale(palette="good-high", min=LOWEST, max=HIGHEST) for key in rubric.score_keys},
                "outcome": {
                    "judged": "good",
                    "partial_panel": "warn",
                    "no_response": "info",
                    **{f"unscored_{mode}": "bad" for mode in FAILURE_MODES},
                },
            },
            color_scales_enabled=True,
            compact_scores=True,
            multiline=False,
        ),
    )
