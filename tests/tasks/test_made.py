"""What tasks are made of, without a run: columns of the viewer, samples, and what is said."""

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.viewer import ScoreColorScale, ViewerConfig

from tests.reports.golden_files import check_golden
from tests.telling import Telling
from urs_inspect._util import InputError
from urs_inspect.datasets import UrsCase
from urs_inspect.datasets._conversations import read_messages
from urs_inspect.rubrics import Rubric
from urs_inspect.solvers._role_models import chosen_evaluators
from urs_inspect.tasks._urs_cases import case_to_sample
from urs_inspect.tasks._viewer import (
    competition_viewer,
    crossval_viewer,
    intent_viewer,
    pair_viewer,
    rating_viewer,
    references_viewer,
)
from urs_inspect.tasks.judge_pairwise import judge_pairwise
from urs_inspect.tasks.judge_rating import judge_rating
from urs_inspect.tasks.urs_crossval import _announce, _draw, _Grid, _Source


def case(name: str, intent: str = "leisure", language: str = "en", **others: Any) -> UrsCase:
    return UrsCase(name, f" Ask {name}? ", f" Reference {name}. ", intent, language, **others)


def lines_of(viewer: ViewerConfig) -> list[str]:
    """Columns in their order, what they are called and coloured by, and how rows are sorted."""
    view = viewer.task_samples_view
    assert view is not None and not isinstance(view, list)
    shown = []
    for column in view.columns or []:
        hidden = " (hidden)" if column.visible is False else ""
        shown.append(f"{column.id}{hidden}")
    sort = [f"{by.column} {by.dir}" for by in view.sort or []]
    colours: dict[str, list[str]] = {}
    for name, scale in (view.score_color_scales or {}).items():
        if isinstance(scale, ScoreColorScale):
            told = f"{scale.palette} from {scale.min:g} to {scale.max:g}"
            colours.setdefault(told, []).append(name)
        elif not isinstance(scale, str):
            for value, colour in scale.items():
                colours.setdefault(f"{name} {colour}", []).append(value)
    labels = {name: label.strip() for name, label in (view.score_labels or {}).items()}
    return [
        f"columns: {', '.join(shown).replace('score__', '').replace('__', '.')}",
        f"sorted: {', '.join(sort).replace('score__', '').replace('__', '.') or 'no'}",
        f"labels: {json.dumps(labels, ensure_ascii=False)}",
        *(f"{colour}: {', '.join(names)}" for colour, names in colours.items()),
    ]


def test_columns_of_the_viewer(rubric: Rubric) -> None:
    one = [case("a"), case("b")]
    viewers = {
        "one intent and language": intent_viewer(rubric, "URS", one),
        "two intents": intent_viewer(rubric, "URS", [*one, case("c", "api")]),
        "two languages": intent_viewer(rubric, "URS", [*one, case("c", language="zh")]),
        "cross-validation": crossval_viewer(rubric),
        "references": references_viewer(),
        "pairs": pair_viewer("Pairs", group="Scenario", dimensions=True),
        "pairs as wholes": pair_viewer("Pairs", group="Group", dimensions=False),
        "ratings": rating_viewer("Ratings", (1, 10), (1.0, 5.0), group="Intent"),
        "competition": competition_viewer(),
    }
    parts = []
    for title, viewer in viewers.items():
        assert viewer.task_samples_view is not None
        parts.append("\n".join([f"## {title}\n", *(f"- {line}" for line in lines_of(viewer))]))
    check_golden("viewers", "\n\n".join(parts) + "\n")


def test_a_case_with_a_cluster_and_a_conversation_is_asked_as_messages(rubric: Rubric) -> None:
    conversation = read_messages(
        [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": " Why? "},
        ]
    )
    sample = case_to_sample(case("a", cluster="ann", conversation=conversation), rubric)
    assert not isinstance(sample.input, str)
    assert [(one.role, one.text) for one in sample.input] == [
        ("system", "Be short."),
        ("user", "Hi"),
        ("assistant", "Yes?"),
        ("user", " Why? "),
    ]
    assert sample.metadata is not None and sample.metadata["cluster"] == "ann"
    plain = case_to_sample(case("a"), rubric)
    assert plain.metadata is not None and "cluster" not in plain.metadata


# --- labelled files ---


def made(make: Any, path: Path, rows: Sequence[Mapping[str, Any]], **arguments: Any) -> Task:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    task: Task = make(bench=str(path), **arguments)
    return task


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    own = [one.message for one in caplog.records if one.name.startswith("urs_inspect")]
    caplog.clear()
    return own


TALK = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Yes?"},
    {"role": "user", "content": "Why?"},
]
PAIR: dict[str, Any] = {
    "prompt": "Why?",
    "response_a": "So.",
    "response_b": "No.",
    "label": "b",
    "group": "hard",
}
TALKED: dict[str, Any] = {"messages": TALK, "response_a": "So.", "response_b": "No.", "label": "a"}


def test_a_labelled_pair_becomes_a_sample(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = [PAIR, TALKED, {**PAIR, "dimensions": {"Clarity": "a"}}]
    task = made(judge_pairwise, tmp_path / "pairs.jsonl", rows)
    [first, second, third] = task.dataset
    assert first.metadata == {
        "group": "hard",
        "scenario": "hard",
        "need": "",
        "prompt": "Why?",
        "response_a": "So.",
        "response_b": "No.",
        "label": "b",
        "dimensions": {},
    }
    assert (first.target, first.input) == (
        "b",
        "Why?\n\n--- response a ---\nSo.\n\n--- response b ---\nNo.",
    )
    assert second.metadata is not None and second.metadata["query"] == "Why?"
    assert third.metadata is not None and third.metadata["dimensions"] == {}
    assert said(caplog) == [Telling("pairs.jsonl: labels on dimensions (1 of 3 pairs)")]
    assert task.metadata is not None
    assert (task.metadata["labels_by"], task.metadata["dataset_skipped"]) == ("", [])


RATED = {"prompt": "Why?", "response": "So.", "rating": 4, "group": "hard"}
BY_INTENT = {**RATED, "intent": "leisure", "language": "en", "reference": "So be it."}


def test_a_rated_response_becomes_a_sample_on_the_scale_of_the_labels(tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    [sample] = made(judge_rating, path, [RATED], scale="0,7").dataset
    facts = sample.metadata or {}
    assert (facts["rating"], facts["label_scale"], facts["group"]) == (4, [0, 7], "hard")
    assert (facts["prompt"], facts["response"], sample.target) == ("Why?", "So.", "4")
    by_schema, plainly = (
        made(judge_rating, path, [RATED], scale="0,7", structured=structured).dataset[0].metadata
        for structured in ("auto", False)
    )
    assert by_schema is not None and plainly is not None
    assert len(by_schema.keys() - plainly.keys()) == 1
    with pytest.raises(InputError, match=r"scale: .*whole numbers, got 0\.5 to 7"):
        made(judge_rating, path, [RATED], scale="0.5,7")


@pytest.mark.parametrize(
    ("highest", "scale", "is_said"),
    [(5, None, True), (5.5, None, False), (5, "1,10", False), (5, "1,5", False), (4, None, True)],
)
def test_labels_of_the_lower_half_alone_may_be_on_another_scale(
    highest: float,
    scale: str | None,
    is_said: bool,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    rows = [{**BY_INTENT, "rating": 1}, {**BY_INTENT, "rating": highest}]
    made(judge_rating, tmp_path / "ratings.jsonl", rows, rubric="urs", scale=scale)
    expected = [Telling("no label is above 5 ... scale=1,5")] if is_said else []
    assert said(caplog) == expected


def test_a_judge_with_a_rubric_needs_a_reference_of_every_answer(tmp_path: Path) -> None:
    rows = [BY_INTENT, {**BY_INTENT, "reference": " "}, {**BY_INTENT, "reference": None}]
    with pytest.raises(InputError, match=r"'reference' is empty.*2 \(ratings_0002, ratings_0003\)"):
        made(judge_rating, tmp_path / "ratings.jsonl", rows, rubric="urs")


# --- cross-validation ---

CASES = tuple(case(name) for name in "abc")


def grid(answers: Mapping[str, Mapping[str, str]], *sources: str, **others: Any) -> _Grid:
    texts = {one.id: one.reference.strip() for one in CASES}
    named = tuple(_Source(name, f"sha of {name}", texts) for name in sources or ("dataset",))
    return _Grid(CASES, 2, others.get("evaluators", ("j/one", "j/two")), named, answers)


def test_every_cell_is_a_sample_and_copies_of_the_own_reference_are_marked(
    rubric: Rubric,
) -> None:
    answers = {"m": {"a": " Reference a.\n", "b": "Own."}, "n": {"a": "Reference a.", "c": " "}}
    made_of = grid(answers, "m", "dataset")
    samples = list(made_of.samples(rubric))
    assert len(samples) == 3 * 2 * 2 * 2
    assert [one.id for one in samples[:5]] == [
        "a:j/one:m:m",
        "a:j/one:m:n",
        "a:j/one:dataset:m",
        "a:j/one:dataset:n",
        "a:j/two:m:m",
    ]
    facts = {str(one.id): one.metadata or {} for one in samples}
    assert {name for name, one in facts.items() if one.get("copy")} == {
        "a:j/one:m:m",
        "a:j/two:m:m",
    }
    assert facts["a:j/two:dataset:n"]["answer"] == "Reference a."
    assert "answer" not in facts["c:j/two:dataset:m"]
    assert {one["fold"] for one in facts.values()} == {1, 2}
    assert {one["reference_score"] for one in facts.values()} == {8}
    # Three answers that are not blank, before two evaluators, against two sources.
    assert made_of.judgements == 12
    assert made_of.copies() == {"m": 1}
    assert made_of.facts()["copies"] == {"m": 1} and grid(answers).copies() == {}


def test_what_a_run_costs_and_its_copies_are_said(caplog: pytest.LogCaptureFixture) -> None:
    answers = {"m": {"a": "Reference a.", "b": "Reference b."}, "n": {"a": "x"}}
    with caplog.at_level(logging.WARNING):
        _announce(grid(answers, "m", "x"), 2)
        many = said(caplog)
        _announce(grid({"m": {"a": "x"}}, evaluators=("j/one",)), 1)
        one = said(caplog)
    check_golden("crossval_announced", "\n".join(["- " + line for line in [*many, *one]]) + "\n")


@pytest.mark.parametrize(
    ("number", "folds", "taken", "is_said"),
    [(2, 2, "ab", False), (3, 3, "abc", False), (4, 3, "abc", True), (3, 4, "", False)],
)
def test_cases_are_the_first_ones_and_no_fewer_than_folds(
    number: int, folds: int, taken: str, is_said: bool, caplog: pytest.LogCaptureFixture
) -> None:
    if not taken:
        with pytest.raises(InputError, match=r"folds: .*3, got 4"):
            _draw(CASES, number, folds)
        return
    assert [one.id for one in _draw(CASES, number, folds)] == list(taken)
    assert said(caplog) == ([Telling("cases=4 ... only 3")] if is_said else [])


def test_evaluators_have_the_role_once() -> None:
    assert chosen_evaluators(None, ["a", "b"]) == ("a", "b")
    assert chosen_evaluators(["b"], ["a", "b"]) == ("b",)
    with pytest.raises(InputError, match="evaluators: a has the role 'grader' twice"):
        chosen_evaluators(None, ["a", "b", "a"])
    with pytest.raises(InputError, match=r"evaluators: c, d does not have .*allowed: a, b"):
        chosen_evaluators(["d", "a", "c"], ["a", "b"])
