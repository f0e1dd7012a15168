"""How `inspect view` shows the logs of each task."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from inspect_ai.viewer import (
    SampleScoreView,
    ScoreColorScale,
    TaskSamplesColumn,
    TaskSamplesSort,
    TaskSamplesView,
    ViewerConfig,
)

from urs_inspect.datasets.references import OUTCOMES, USABLE
from urs_inspect.judging import FAILURE_MODES
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, Rubric
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer.engines import FailureMode
from urs_inspect.samer.judgement import score_keys
from urs_inspect.scorers.exact_sum import RIGHT, SUMMANDS
from urs_inspect.scorers.samer import LEADING

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


_OUTCOME = "judge_outcome"
_HEADING = 13


def intent_viewer(rubric: Rubric, name: str, scorer: str = "intent_judge") -> ViewerConfig:
    """Show the list of samples as a heat map, worst first.

    Args:
        rubric: Its criteria become columns, coloured on the scale from 1 to 10.
        name: Name of the view.
        scorer: Scorer whose values are shown.

    Returns:
        The viewer configuration: intent, language and outcome, then final score and criteria in narrow columns.
    """
    return sample_list(
        name,
        [
            TaskSamplesColumn.score(_OUTCOME, "intent"),
            TaskSamplesColumn.score(_OUTCOME, "language"),
            TaskSamplesColumn.score(scorer, FINAL),
            *[TaskSamplesColumn.score(scorer, criterion) for criterion in rubric.criteria],
            TaskSamplesColumn.score(_OUTCOME, "outcome"),
            TaskSamplesColumn(id="input"),
            TaskSamplesColumn(id="answer"),
        ],
        labels=judging_labels(rubric),
        scales=judging_scales(rubric),
        sort=[TaskSamplesSort.score(scorer, FINAL, dir="asc")],
        compact=True,
    )


def judging_labels(rubric: Rubric) -> dict[str, str]:
    """Headings of the columns of a judgement, criteria in short."""
    language = next(iter(rubric.languages))
    labels = {FINAL: "Final", "outcome": "Judging", "intent": "Intent", "language": "Language"}
    criteria = rubric.criteria.items()
    return labels | {criterion: texts[language].short or texts[language].name for criterion, texts in criteria}


def judging_scales(rubric: Rubric) -> dict[str, ScoreColorScale | dict[str, str]]:
    """Colours of the columns of a judgement."""
    return {
        **{key: ScoreColorScale(palette="good-high", min=LOWEST, max=HIGHEST) for key in rubric.score_keys},
        "outcome": {
            "judged": "good",
            "partial_panel": "warn",
            "answer_cut_off": "warn",
            "no_response": "info",
            "no_response_cut_off": "warn",
            "no_response_withheld": "warn",
            **{f"unscored_{mode}": "bad" for mode in FAILURE_MODES},
        },
    }


def pair_viewer(name: str, *, group: str, dimensions: bool) -> ViewerConfig:
    """Show the list of compared pairs, wrong verdicts first.

    Args:
        name: Name of the view.
        group: What the groups of the bench are called.
        dimensions: Whether verdicts on dimensions are asked for.

    Returns:
        The viewer configuration: group, label (the target), verdict (the answer), whether it is right, and the share of
        right verdicts on dimensions.
    """
    shares = {"overall": heading("Overall"), **({"dimensions": heading("Dims")} if dimensions else {})}
    return _list_of_cases(
        name,
        [TaskSamplesColumn(id="target"), TaskSamplesColumn(id="answer")],
        "pair_verdict",
        labels={"group": heading(group), **shares},
        scales={key: ScoreColorScale(palette="good-high", min=0, max=1) for key in shares},
        sort=[TaskSamplesSort.score("pair_verdict", key, dir="asc") for key in shares],
    )


def rating_viewer(name: str, scale: tuple[int, int], label_scale: tuple[float, float], *, group: str) -> ViewerConfig:
    """Show the list of rated responses, those furthest from their labels first.

    Args:
        name: Name of the view.
        scale: Lowest and highest rating of the judge.
        label_scale: Lowest and highest label.
        group: What the groups of the bench are called.

    Returns:
        The viewer configuration: group, label (the target), rating and distance between them.
    """
    return _list_of_cases(
        name,
        [TaskSamplesColumn(id="target")],
        "rating_agreement",
        labels={"group": heading(group), "rating": heading("Rating"), "distance": heading("Distance")},
        scales={
            "rating": ScoreColorScale(palette="neutral", min=scale[0], max=scale[1]),
            "distance": ScoreColorScale(palette="good-low", min=0, max=label_scale[1] - label_scale[0]),
        },
        sort=[TaskSamplesSort.score("rating_agreement", "distance", dir="desc")],
    )


def heading(text: str) -> str:
    """A heading with no-break spaces behind it.

    The viewer makes a column as wide as its heading has characters, up to some 13, and puts the mark of sorting inside.
    """
    return text.ljust(_HEADING, "\N{NO-BREAK SPACE}")


def _list_of_cases(
    name: str,
    columns: list[TaskSamplesColumn],
    scorer: str,
    *,
    labels: dict[str, str],
    scales: dict[str, ScoreColorScale],
    sort: list[TaskSamplesSort],
) -> ViewerConfig:
    """One line a case: id, group, some columns, the scorer's values and the input."""
    return sample_list(
        name,
        [
            TaskSamplesColumn.score(scorer, "group"),
            *columns,
            *[TaskSamplesColumn.score(scorer, key) for key in scales],
            TaskSamplesColumn(id="input"),
        ],
        labels=labels,
        scales=scales,
        sort=sort,
    )


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


_COMPETITION_VIEWER_SCORER = "pair_choice"


def competition_viewer() -> ViewerConfig:
    """Show comparisons with both models, the outcome and what was asked; answers of contestants have no score."""
    return sample_list(
        "MAD",
        [
            TaskSamplesColumn.score(_COMPETITION_VIEWER_SCORER, "model_a"),
            TaskSamplesColumn.score(_COMPETITION_VIEWER_SCORER, "model_b"),
            TaskSamplesColumn.score(_COMPETITION_VIEWER_SCORER, "outcome"),
            TaskSamplesColumn(id="answer"),
            TaskSamplesColumn(id="input"),
        ],
        labels={"model_a": "Model a", "model_b": "Model b", "outcome": "Outcome"},
        scales={"outcome": ScoreColorScale(palette="diverging", min=0, max=1)},
        sort=[TaskSamplesSort.score(_COMPETITION_VIEWER_SCORER, "outcome", dir="desc")],
    )


_CROSSVAL_VIEWER_SCORER, _CELL = "crossval_judge", "crossval_cell"
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
            TaskSamplesColumn.score(_CROSSVAL_VIEWER_SCORER, FINAL),
            TaskSamplesColumn.score(_CELL, "outcome"),
            *[TaskSamplesColumn.score(_CELL, key) for key in _FACTS],
            TaskSamplesColumn(id="input"),
            TaskSamplesColumn(id="answer"),
            *[
                TaskSamplesColumn.score(_CROSSVAL_VIEWER_SCORER, criterion, visible=False)
                for criterion in rubric.criteria
            ],
        ],
        labels={
            **{key: heading(name) for key, name in _NAMES.items()},
            **_FACTS,
            FINAL: heading("Final"),
            "outcome": heading("Judging"),
        },
        scales=judging_scales(rubric),
        sort=[TaskSamplesSort.score(_CROSSVAL_VIEWER_SCORER, FINAL, dir="asc")],
    )


_REFERENCES_VIEWER_SCORER = "reference_outcome"


def references_viewer() -> ViewerConfig:
    """Show the list of answers, those that cannot serve first.

    Returns:
        The viewer configuration: intent, language, outcome, whether it is usable, question and answer.
    """
    keys = ("intent", "language", "outcome", "usable")
    return sample_list(
        "URS references",
        [
            *[TaskSamplesColumn.score(_REFERENCES_VIEWER_SCORER, key) for key in keys],
            TaskSamplesColumn(id="input"),
            TaskSamplesColumn(id="answer"),
        ],
        labels={"intent": "Intent", "language": "Language", "outcome": heading("Outcome"), "usable": heading("Usable")},
        scales={"outcome": {outcome: "good" if outcome == USABLE else "bad" for outcome in OUTCOMES}},
        sort=[TaskSamplesSort.score(_REFERENCES_VIEWER_SCORER, "usable", dir="asc")],
    )


_SAMER_VIEWER_SCORER, _SAMER_VIEWER_OUTCOME, _OVERALL = "samer", "samer_outcome", "overall"
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
            TaskSamplesColumn.score(_SAMER_VIEWER_OUTCOME, "intent"),
            TaskSamplesColumn.score(_SAMER_VIEWER_OUTCOME, "language"),
            *_shown(),
            TaskSamplesColumn(id="input"),
            TaskSamplesColumn(id="answer"),
            *_dimensions(),
            TaskSamplesColumn.score(_SAMER_VIEWER_OUTCOME, "percent"),
        ],
        labels={"intent": "Intent", "language": "Language", **_LABELS},
        scales=_scales(),
        sort=[TaskSamplesSort.score(_SAMER_VIEWER_SCORER, _OVERALL, dir="asc")],
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
    narrow = TaskSamplesColumn.score(_SAMER_VIEWER_OUTCOME, "percent")
    last = [
        *wide,
        *_dimensions(),
        *[TaskSamplesColumn.score(_SAMER_VIEWER_OUTCOME, key) for key in ("intent", "language")],
    ]
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
        TaskSamplesColumn.score(_SAMER_VIEWER_SCORER, _OVERALL),
        *[TaskSamplesColumn.score(_SAMER_VIEWER_OUTCOME, key) for key in LEADING],
        TaskSamplesColumn.score(_SAMER_VIEWER_OUTCOME, "evaluation"),
    ]


def _dimensions() -> list[TaskSamplesColumn]:
    return [TaskSamplesColumn.score(_SAMER_VIEWER_SCORER, name) for name in load_taxonomy().dimensions]


def _scales() -> dict[str, Any]:
    ends = {"scored": "good", "no_response": "info", **{f"unscored_{mode}": "bad" for mode in _MODES}}
    numbers = {key: ScoreColorScale(palette="good-high", min=0, max=1) for key in score_keys()}
    return {**numbers, "percent": ScoreColorScale(palette="good-high", min=0, max=100), "evaluation": ends}
