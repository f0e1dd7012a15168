"""How `inspect view` shows the logs of each task."""

from collections.abc import Iterable, Mapping, Sequence

from inspect_ai.viewer import (
    SampleScoreView,
    ScoreColorScale,
    TaskSamplesColumn,
    TaskSamplesSort,
    TaskSamplesView,
    ViewerConfig,
)

from urs_inspect.datasets import UrsCase
from urs_inspect.datasets._references import OUTCOMES, USABLE
from urs_inspect.judging._failures import FAILURE_MODES
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, Rubric

Scale = ScoreColorScale | dict[str, str]

# The viewer shows every column of its own that is not declared hidden.
_HIDDEN = (
    "target",
    "tokens",
    "duration",
    "epoch",
    "limit",
    "retries",
    "error",
    "sampleUuid",
    "answer",
)
SHARE = ScoreColorScale(palette="good-high", min=0, max=1)
INTENT = {"intent": "Intent", "language": "Language"}
_OUTCOMES = {
    "judged": "good",
    "partial_panel": "warn",
    "answer_cut_off": "warn",
    "no_response": "info",
    "no_response_cut_off": "warn",
    "no_response_withheld": "warn",
    **{f"unscored_{mode}": "bad" for mode in FAILURE_MODES},
}


def sample_list(
    name: str,
    columns: Iterable[str],
    *,
    labels: Mapping[str, str],
    scales: Mapping[str, Scale],
    sort: Sequence[str],
    hidden: Iterable[str] = (),
    descending: bool = False,
    compact: bool = False,
) -> ViewerConfig:
    """Show one line per sample: status and id, then the given columns and no other.

    Columns of scores are narrow if `compact`; the viewer then cuts off texts of more than five
    characters.
    """
    shown = ["sampleStatus", "sampleId", *columns]
    hidden = [*hidden, *(column for column in _HIDDEN if column not in shown)]
    return ViewerConfig(
        sample_score_view=SampleScoreView(default="grid"),
        task_samples_view=TaskSamplesView(
            name=name,
            columns=[
                *map(sample_column, shown),
                *(sample_column(column, visible=False) for column in hidden),
            ],
            sort=[
                TaskSamplesSort.score(*by.split("."), dir="desc" if descending else "asc")
                for by in sort
            ],
            score_labels=dict(labels),
            score_color_scales=dict(scales),
            color_scales_enabled=True,
            compact_scores=compact,
            multiline=False,
        ),
    )


def sample_column(name: str, visible: bool = True) -> TaskSamplesColumn:
    scorer, _, key = name.partition(".")
    shown = {} if visible else {"visible": False}
    if key:
        return TaskSamplesColumn.score(scorer, key, **shown)
    return TaskSamplesColumn(id=name, **shown)


def wide(text: str) -> str:
    """A heading with no-break spaces behind it.

    The viewer makes a column as wide as its heading has characters, up to some 13, and puts the
    mark of sorting inside.
    """
    return text.ljust(13, "\N{NO-BREAK SPACE}")


def _finals(rubric: Rubric) -> dict[str, Scale]:
    scale = ScoreColorScale(palette="good-high", min=LOWEST, max=HIGHEST)
    return {**dict.fromkeys(rubric.score_keys, scale), "outcome": _OUTCOMES}


def intent_viewer(rubric: Rubric, name: str, cases: Sequence[UrsCase]) -> ViewerConfig:
    """Intent, language, final score, outcome, question and criteria, the worst first.

    Columns that would be the same in every row, or empty, for these cases are hidden.
    """
    language = next(iter(rubric.languages))
    intents = {case.intent for case in cases}
    judged_by = {key for intent in intents for key in rubric.intents[intent].criteria}
    criteria = {
        key: texts[language].short or texts[language].name for key, texts in rubric.criteria.items()
    }
    columns = {
        "judge_outcome.intent": len(intents) > 1,
        "judge_outcome.language": len({case.language for case in cases}) > 1,
        f"intent_judge.{FINAL}": True,
        "judge_outcome.outcome": True,
        "input": True,
        **{f"intent_judge.{key}": key in judged_by for key in criteria},
        "answer": True,
    }
    return sample_list(
        name,
        [column for column, shown in columns.items() if shown],
        labels={
            FINAL: wide("Final"),
            "outcome": wide("Judging"),
            "intent": wide("Intent"),
            "language": "Language",
            **criteria,
        },
        scales=_finals(rubric),
        sort=[f"intent_judge.{FINAL}"],
        hidden=[column for column, shown in columns.items() if not shown],
    )


def crossval_viewer(rubric: Rubric) -> ViewerConfig:
    """The list of judgements of a cross-validation, the worst first.

    Columns: evaluator, source of the reference, tested model, final score and outcome.
    """
    names = {"evaluator": "Evaluator", "source": "References", "model": "Tested"}
    final = f"crossval_judge.{FINAL}"
    cells = [f"crossval_cell.{key}" for key in (*names, "outcome", *INTENT)]
    return sample_list(
        "URS cross-validation",
        [*cells[:3], final, *cells[3:], "input", "answer"],
        labels={
            key: wide(text) for key, text in {**names, FINAL: "Final", "outcome": "Judging"}.items()
        }
        | INTENT,
        scales=_finals(rubric),
        sort=[final],
        hidden=[f"crossval_judge.{criterion}" for criterion in rubric.criteria],
    )


def references_viewer() -> ViewerConfig:
    """Intent, language, outcome and whether an answer is usable; those that are not come first."""
    return sample_list(
        "URS references",
        [
            *(f"reference_outcome.{key}" for key in (*INTENT, "outcome", "usable")),
            "input",
            "answer",
        ],
        labels={**INTENT, "outcome": wide("Outcome"), "usable": wide("Usable")},
        scales={
            "outcome": {outcome: "good" if outcome == USABLE else "bad" for outcome in OUTCOMES}
        },
        sort=["reference_outcome.usable"],
    )


def pair_viewer(name: str, *, group: str, dimensions: bool) -> ViewerConfig:
    """The list of pairs, wrong verdicts first.

    Columns: group, label (the target), verdict (the answer) and whether it is right.
    """
    shares = {"overall": wide("Overall")}
    if dimensions:
        shares["dimensions"] = wide("Dims")
    columns = [f"pair_verdict.{key}" for key in shares]
    return sample_list(
        name,
        ["pair_verdict.group", "target", "answer", *columns, "input"],
        labels={"group": wide(group), **shares},
        scales=dict.fromkeys(shares, SHARE),
        sort=columns,
    )


def rating_viewer(
    name: str, scale: tuple[int, int], label_scale: tuple[float, float], *, group: str
) -> ViewerConfig:
    """Group, label (the target), rating, and distance between them, the largest first."""
    return sample_list(
        name,
        [
            "rating_agreement.group",
            "target",
            "rating_agreement.rating",
            "rating_agreement.distance",
            "input",
        ],
        labels={"group": wide(group), "rating": wide("Rating"), "distance": wide("Distance")},
        scales={
            "rating": ScoreColorScale(palette="neutral", min=scale[0], max=scale[1]),
            "distance": ScoreColorScale(
                palette="good-low", min=0, max=label_scale[1] - label_scale[0]
            ),
        },
        sort=["rating_agreement.distance"],
        descending=True,
    )


def competition_viewer() -> ViewerConfig:
    """Comparisons with both models, the outcome and the instruction.

    Answers of contestants have no score.
    """
    labels = {"model_a": "Model a", "model_b": "Model b", "outcome": "Outcome"}
    return sample_list(
        "MAD",
        [*(f"pair_choice.{key}" for key in labels), "answer", "input"],
        labels=labels,
        scales={"outcome": ScoreColorScale(palette="diverging", min=0, max=1)},
        sort=["pair_choice.outcome"],
        descending=True,
    )
