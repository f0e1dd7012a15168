"""How `inspect view` shows the logs of this package's tasks."""

from inspect_ai.viewer import ScoreColorScale, TaskSamplesColumn, TaskSamplesSort, ViewerConfig

from urs_inspect.judging import FAILURE_MODES
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, Rubric
from urs_inspect.tasks.sample_list import sample_list

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
