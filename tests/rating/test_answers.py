"""Answers of logs that people can rate."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalError, EvalSample, read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput

from tests.reports.judged_logs import answered, judgement, write_judged
from urs_inspect._util import InputError
from urs_inspect.rating._answers import NotRated, answers_to_rate
from urs_inspect.rating._queue import Answer
from urs_inspect.rubrics import load_rubric

BOTH = {"p/x": 4.0, "p/y": 9.0}
REFERENCE = "the reference"


def rated_log(path: Path, *samples: EvalSample, model: str = "p/model", **spec: Any) -> str:
    rubric = load_rubric()
    about = {"rubric": f"{rubric.name} {rubric.version}", **spec.pop("metadata", {})}
    for sample in samples:
        sample.target = REFERENCE
    return write_judged(path, *samples, model=model, metadata=about, **spec)


def of_model(name: str, text: str, panel: Mapping[str, float | None], **others: Any) -> EvalSample:
    score = judgement(5.0, panel=dict(panel))
    output = ModelOutput.from_content("p/model", text)
    return answered(name, score, **{"output": output, **others})


def test_answers_to_rate_by_hand(tmp_path: Path) -> None:
    gone = EvalError(message="gone", traceback="", traceback_ansi="")
    nothing = of_model("q3", "", {"p/x": None, "p/y": 3.0}, output=ModelOutput())
    log = rated_log(
        tmp_path / "a.eval",
        of_model("q1", "one", BOTH, metadata={"intent": "api", "language": "zh"}),
        of_model("q1", "\n again ", {"p/x": 6.0, "p/y": 6.5}, epoch=2, metadata={"intent": "api"}),
        of_model("q2", "two", BOTH, error=gone),
        nothing,
        roles={"grader": list(BOTH)},
    )
    found, skipped = answers_to_rate([log], load_rubric())
    assert [vars(answer) for answer in found] == [
        vars(Answer("q1", "p/model", 1, "api", "zh", "Ask q1", "one", REFERENCE, 5.0)),
        # An answer is shown as it was given.
        vars(Answer("q1", "p/model", 2, "api", "en", "Ask q1", "\n again ", REFERENCE, 0.5)),
        vars(Answer("q3", "p/model", 1, "leisure", "en", "Ask q3", "", REFERENCE, 0.0)),
    ]
    assert skipped == NotRated((), [], failed=1, repeated=0)


def test_answers_in_several_logs_are_rated_once(tmp_path: Path) -> None:
    logs = []
    for judge in ("p/x", "p/y"):
        samples = [of_model(f"q{n}", f"text {n}", {judge: 5.0}) for n in range(3)]
        path = tmp_path / f"{judge[2:]}.eval"
        logs.append(rated_log(path, *samples, roles={"grader": [judge]}))
    found, skipped = answers_to_rate(logs, load_rubric())
    assert [answer.question for answer in found] == ["q0", "q1", "q2"]
    assert skipped == NotRated((), [], failed=0, repeated=3)
    other = [of_model("q1", "another text", {"p/z": 5.0})]
    logs.append(rated_log(tmp_path / "z.eval", *other, roles={"grader": ["p/z"]}))
    with pytest.raises(
        InputError, match=r"'q1' has different answers of p/model, epoch 1.*z\.eval"
    ):
        answers_to_rate(logs, load_rubric())


def test_only_named_answers_are_rated(tmp_path: Path) -> None:
    logs = []
    for model in ("p/a", "p/b"):
        samples = [of_model(f"q{n}", f"text {n}", {"p/x": 5.0}) for n in range(2)]
        logs.append(rated_log(tmp_path / f"{model[2:]}.eval", *samples, model=model))
    only = tmp_path / "only.csv"
    only.write_text("id,model\nq1,p/b\nq0,p/a\nq7,p/a\n", encoding="utf-8")
    found, _ = answers_to_rate(logs, load_rubric(), only)
    assert {(answer.question, answer.model) for answer in found} == {("q0", "p/a"), ("q1", "p/b")}
    for text, message in (
        ("id,model\n", r"only\.csv names no answer"),
        ("id,model\nq0,p/c\n", r"none of 1 answer of .*only\.csv.*p/a, p/b"),
        ("id\nq0\n", "'model'"),
    ):
        only.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            answers_to_rate(logs, load_rubric(), only)


def test_answers_judged_by_another_rubric_are_refused_or_said(tmp_path: Path) -> None:
    rubric = load_rubric()
    for name, judged_by, refused in (
        ("a", f"{rubric.name} {rubric.version}", False),
        ("b", f"{rubric.name} 0.1", False),
        ("c", "another 1", True),
    ):
        sample = of_model("q1", "text", {"p/x": 5.0})
        log = rated_log(tmp_path / f"{name}.eval", sample, metadata={"rubric": judged_by})
        if refused:
            with pytest.raises(InputError, match=r"c\.eval.*'another 1'"):
                answers_to_rate([log], rubric)
            continue
        _, skipped = answers_to_rate([log], rubric)
        assert skipped.versions == ([("b.eval", "0.1")] if name == "b" else [])
    unknown = of_model("q1", "text", {"p/x": 5.0}, metadata={"intent": "gossip"})
    with pytest.raises(InputError, match=r"'q1'.*'gossip'"):
        answers_to_rate([rated_log(tmp_path / "d.eval", unknown)], rubric)


def test_a_sample_that_failed_is_no_answer_to_rate(tmp_path: Path) -> None:
    gone = EvalError(message="gone", traceback="", traceback_ansi="")
    log = rated_log(tmp_path / "a.eval", of_model("q1", "text", {"p/x": 5.0}, error=gone))
    nothing = ((), NotRated((), [], failed=1, repeated=0))
    assert answers_to_rate([log], load_rubric()) == nothing
    only = tmp_path / "only.csv"
    only.write_text("id,model\nq1,p/model\n", encoding="utf-8")
    assert answers_to_rate([log], load_rubric(), only) == nothing


@pytest.mark.parametrize(
    ("panel", "points"),
    [
        ({}, 0.0),
        ({"p/x": 4.0}, 0.0),
        ({"p/x": None, "p/y": None}, 0.0),
        ({"p/x": 9.0, "p/y": None, "p/z": 2.5}, 6.5),
        ({"p/x": 3.0, "p/y": 8.0, "p/z": 4.0}, 5.0),
    ],
)
def test_judges_disagree_by_the_highest_less_the_lowest_score(
    panel: dict[str, float | None], points: float, tmp_path: Path
) -> None:
    sample = of_model("q1", "text", panel)
    log = rated_log(tmp_path / "a.eval", sample, roles={"grader": list(panel) or ["p/x"]})
    [found], _ = answers_to_rate([log], load_rubric())
    assert found.disagreement == points


def test_a_reference_of_several_parts_is_shown_part_by_part(tmp_path: Path) -> None:
    log = rated_log(tmp_path / "a.eval", of_model("q1", "text", {"p/x": 5.0}))
    read_log = read_eval_log(log)
    assert read_log.samples
    read_log.samples[0].target = ["one", "two"]
    write_eval_log(read_log, log)
    [found], _ = answers_to_rate([log], load_rubric())
    assert found.reference == "one\ntwo"
