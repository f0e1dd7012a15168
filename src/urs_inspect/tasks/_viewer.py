"""How `inspect view` shows the logs of each task."""

from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from inspect_ai.viewer import (
    SampleScoreView,
    ScoreColorScale,
    TaskSamplesColumn,
    TaskSamplesSort,
    TaskSamplesView,
    ViewerConfig,
)

from urs_inspect.datasets._references import OUTCOMES, USABLE
from urs_inspect.judging._failures import FAILURE_MODES
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, Rubric
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer._engines import FailureMode
from urs_inspect.samer._judgement import score_keys
from urs_inspect.scorers._case_review import CRITERIA
from urs_inspect.scorers._exact_sum import RIGHT, SUMMANDS
from urs_inspect.scorers._samer import LEADING

_Scale = ScoreColorScale | dict[str, str]

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
_SHARE = ScoreColorScale(palette="good-high", min=0, max=1)
_INTENT = {"intent": "Intent", "language": "Language"}
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
    scales: Mapping[str, _Scale],
    sort: Sequence[str],
    hidden: Iterable[str] = (),
    descending: bool = False,
    compact: bool = False,
) -> ViewerConfig:
    """Show one line per sample: status and id, then the given columns and no other."""
    shown = ["sampleStatus", "sampleId", *columns]
    hidden = [*hidden, *(column for column in _HIDDEN if column not in shown)]
    return ViewerConfig(
        sample_score_view=SampleScoreView(default="grid"),
        task_samples_view=TaskSamplesView(
            name=name,
            columns=[*map(_column, shown), *(_column(column, visible=False) for column in hidden)],
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


def _column(name: str, visible: bool = True) -> TaskSamplesColumn:
    scorer, _, key = name.partition(".")
    shown = {} if visible else {"visible": False}
    return (
        TaskSamplesColumn.score(scorer, key, **shown)
        if key
        else TaskSamplesColumn(id=name, **shown)
    )


def _wide(text: str) -> str:
    """A heading with no-break spaces behind it.

    The viewer makes a column as wide as its heading has characters, up to some 13, and puts the
    mark of sorting inside.
    """
    return text.ljust(13, "\N{NO-BREAK SPACE}")


def _finals(rubric: Rubric) -> dict[str, _Scale]:
    scale = ScoreColorScale(palette="good-high", min=LOWEST, max=HIGHEST)
    return {**dict.fromkeys(rubric.score_keys, scale), "outcome": _OUTCOMES}


def intent_viewer(rubric: Rubric, name: str) -> ViewerConfig:
    """Intent, language, final score, criteria in narrow columns, and outcome, the worst first."""
    language = next(iter(rubric.languages))
    criteria = {
        key: texts[language].short or texts[language].name for key, texts in rubric.criteria.items()
    }
    facts = ("judge_outcome.intent", "judge_outcome.language", f"intent_judge.{FINAL}")
    return sample_list(
        name,
        [
            *facts,
            *(f"intent_judge.{key}" for key in criteria),
            "judge_outcome.outcome",
            "input",
            "answer",
        ],
        labels={FINAL: "Final", "outcome": "Judging", **_INTENT, **criteria},
        scales=_finals(rubric),
        sort=[f"intent_judge.{FINAL}"],
        compact=True,
    )


def crossval_viewer(rubric: Rubric) -> ViewerConfig:
    """The list of judgements of a cross-validation, the worst first.

    Columns: evaluator, source of the reference, tested model, final score and outcome.
    """
    names = {"evaluator": "Evaluator", "source": "References", "model": "Tested"}
    final = f"crossval_judge.{FINAL}"
    cells = [f"crossval_cell.{key}" for key in (*names, "outcome", *_INTENT)]
    return sample_list(
        "URS cross-validation",
        [*cells[:3], final, *cells[3:], "input", "answer"],
        labels={
            key: _wide(text)
            for key, text in {**names, FINAL: "Final", "outcome": "Judging"}.items()
        }
        | _INTENT,
        scales=_finals(rubric),
        sort=[final],
        hidden=[f"crossval_judge.{criterion}" for criterion in rubric.criteria],
    )


def references_viewer() -> ViewerConfig:
    """Intent, language, outcome and whether an answer is usable; those that are not come first."""
    return sample_list(
        "URS references",
        [
            *(f"reference_outcome.{key}" for key in (*_INTENT, "outcome", "usable")),
            "input",
            "answer",
        ],
        labels={**_INTENT, "outcome": _wide("Outcome"), "usable": _wide("Usable")},
        scales={
            "outcome": {outcome: "good" if outcome == USABLE else "bad" for outcome in OUTCOMES}
        },
        sort=["reference_outcome.usable"],
    )


def case_review_viewer() -> ViewerConfig:
    """The judge's verdicts on each question; questions that did not pass come first."""
    labels = {
        "passed": "Passed",
        "understandable": "Clear",
        "self_contained": "Complete",
        "personal_data": "Personal",
        "harmful": "Harmful",
        "plausible_intent": "Intent plausible",
        "intent_agrees": "Intent the same",
        "outcome": "Outcome",
        "user_intent": "User's intent",
        "judge_intent": "Judge's intent",
        "language": "Language",
    }
    verdicts = ("passed", *CRITERIA, "intent_agrees")
    texts = ("outcome", "user_intent", "judge_intent", "language")
    faults = ("personal_data", "harmful")
    return sample_list(
        "URS case review",
        ["input", *(f"case_review.{key}" for key in (*verdicts, *texts)), "answer"],
        labels=labels,
        scales={
            key: {"0": "good", "1": "bad"} if key in faults else {"0": "bad", "1": "good"}
            for key in verdicts
        },
        sort=["case_review.passed"],
        compact=True,
    )


def addition_viewer() -> ViewerConfig:
    """The list of chains, the shortest first.

    Columns: the sum (the target), the number that was read, and whether it is right.
    """
    return sample_list(
        "Addition",
        [f"exact_sum.{SUMMANDS}", "target", "answer", f"exact_sum.{RIGHT}", "input"],
        labels={SUMMANDS: _wide("Numbers"), RIGHT: "Right"},
        scales={RIGHT: _SHARE},
        sort=[f"exact_sum.{SUMMANDS}"],
    )


def pair_viewer(name: str, *, group: str, dimensions: bool) -> ViewerConfig:
    """The list of pairs, wrong verdicts first.

    Columns: group, label (the target), verdict (the answer) and whether it is right.
    """
    shares = {"overall": _wide("Overall")}
    if dimensions:
        shares["dimensions"] = _wide("Dims")
    columns = [f"pair_verdict.{key}" for key in shares]
    return sample_list(
        name,
        ["pair_verdict.group", "target", "answer", *columns, "input"],
        labels={"group": _wide(group), **shares},
        scales=dict.fromkeys(shares, _SHARE),
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
        labels={"group": _wide(group), "rating": _wide("Rating"), "distance": _wide("Distance")},
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


def evolution_viewer() -> ViewerConfig:
    """The given instruction beside the new one, and whether that is usable."""
    return sample_list(
        "Evolution",
        ["input", "answer", "evolved.usable"],
        labels={"usable": "Usable"},
        scales={"usable": _SHARE},
        sort=[],
        compact=True,
    )


def annotation_viewer() -> ViewerConfig:
    """The list of annotated pairs.

    Columns: the known winner (the target), the annotated one (the answer), and what is kept.
    """
    labels = {"agrees": "Agrees", "kept": "Kept"}
    return sample_list(
        "Annotation",
        ["input", "target", "answer", *(f"annotated_pair.{key}" for key in labels)],
        labels=labels,
        scales=dict.fromkeys(labels, _SHARE),
        sort=[],
    )


_SAMER_LABELS = {
    "overall": "Overall",
    "evaluation": "Evaluation",
    **dict(zip(LEADING, ("Weighs most", "Weighs second", "Weighs third"), strict=True)),
}
_EVALUATIONS = {
    "scored": "good",
    "no_response": "info",
    **{f"unscored_{mode}": "bad" for mode in ("no_answer", "no_query", *get_args(FailureMode))},
}


def _samer_scales() -> dict[str, _Scale]:
    percent = ScoreColorScale(palette="good-high", min=0, max=100)
    return {**dict.fromkeys(score_keys(), _SHARE), "percent": percent, "evaluation": _EVALUATIONS}


def _samer_columns() -> tuple[list[str], list[str]]:
    """Overall score and leading dimensions.

    Then all dimensions, which the viewer does not let hide.
    """
    leading = ["samer.overall", *(f"samer_outcome.{key}" for key in LEADING)]
    return leading, [f"samer.{dimension}" for dimension in load_taxonomy().dimensions]


def samer_viewer(name: str) -> ViewerConfig:
    """The list of SaMer's evaluations, the worst first.

    Columns: intent, language, overall score, leading dimensions and how the evaluation ended.
    """
    leading, dimensions = _samer_columns()
    facts = [f"samer_outcome.{key}" for key in ("intent", "language", "evaluation", "percent")]
    return sample_list(
        name,
        [*facts[:2], *leading, facts[2], "input", "answer", *dimensions, facts[3]],
        labels={**_INTENT, **_SAMER_LABELS},
        scales=_samer_scales(),
        sort=[
            "samer.overall"
        ],  # not compact: a column is as wide as its heading, and dimensions have long names
    )


def with_samer(config: ViewerConfig) -> ViewerConfig:
    """What `intent_viewer` made, with SaMer's overall score and outcome.

    These come before the input, all else at the end.
    """
    view = config.task_samples_view
    if not isinstance(view, TaskSamplesView):
        return config
    columns = view.columns or []
    place = next(
        (place for place, column in enumerate(columns) if column.id == "input"), len(columns)
    )
    leading, dimensions = _samer_columns()
    before = map(_column, ("samer_outcome.percent", "samer_outcome.evaluation"))
    last = map(_column, [*leading, *dimensions, "samer_outcome.intent", "samer_outcome.language"])
    labels = {**_SAMER_LABELS, "percent": "SaMer %", "evaluation": "SaMer ended"}
    merged = view.model_copy(
        update={
            "columns": [*columns[:place], *before, *columns[place:], *last],
            "score_labels": {**(view.score_labels or {}), **labels},
            "score_color_scales": {**(view.score_color_scales or {}), **_samer_scales()},
        }
    )
    return config.model_copy(update={"task_samples_view": merged})
