"""Cross-validation: every evaluator judges every model with references from every source, over
answers that exist.
"""

import json
import math
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import ChatMessage
from inspect_ai.scorer import SampleScore, Score

from tests.reports.json_files import write_rows
from tests.tasks.commands import refused
from tests.tasks.scripted import Reply, Script, between, metric_values, run, samples_of
from tests.telling import tells
from urs_inspect import urs
from urs_inspect._util import InputError
from urs_inspect.datasets import Vocabulary, in_proportion, load_urs
from urs_inspect.datasets._cases import UrsCase
from urs_inspect.rubrics import load_rubric
from urs_inspect.scorers._crossval_judge import crossval_report
from urs_inspect.tasks.urs_crossval import _deal, urs_crossval
from urs_inspect.tasks.urs_references import urs_references

CASES = 42


def answer_log(tmp_path: Path, name: str, reply: Any = None, **options: Any) -> EvalLog:
    """A run of `urs` whose answers are "<name> answers <question>" and are not judged."""

    def say(messages: list[ChatMessage]) -> Reply:
        return f"{name} answers {messages[-1].text}"

    model = Script(reply or say).model(name)
    arguments = {"dataset": "sample", **options.pop("arguments", {})}
    return run(urs(**arguments), tmp_path / "answers", model=model, score=False, **options)


def reference_log(tmp_path: Path, name: str, reply: Any = None, **options: Any) -> EvalLog:
    def say(messages: list[ChatMessage]) -> Reply:
        return f"{name} refers to {messages[-1].text}"

    task = urs_references(dataset="sample")
    return run(task, tmp_path / "references", model=Script(reply or say).model(name), **options)


_made: list[Path] = []


@pytest.fixture
def places(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Answers of A and B, and references of A: copies of logs that are made once per session."""
    if not _made:
        _made.append(tmp_path_factory.mktemp("places"))
        for name in "AB":
            answer_log(_made[0], name)
        reference_log(_made[0], "A")
    shutil.copytree(_made[0], tmp_path, dirs_exist_ok=True)
    [references] = (tmp_path / "references").glob("*.eval")
    return {"answers": str(tmp_path / "answers"), "references": str(references)}


def crossval(
    tmp_path: Path,
    places: dict[str, Any],
    judges: dict[str, Script],
    arguments: dict[str, Any] | None = None,
    **options,
) -> EvalLog:
    names = [f"mockllm/{name}" for name in judges]
    given = {
        "dataset": "sample",
        "cases": 6,
        "folds": 3,
        "evaluators": names,
        **places,
        **(arguments or {}),
    }
    graders = [judge.model(name) for name, judge in judges.items()]
    return run(
        urs_crossval(**given), tmp_path / "crossval", model="none/none", grader=graders, **options
    )


def final(number: int) -> str:
    return json.dumps({"Final Score": number})


def cells(log: EvalLog) -> Counter[tuple[str, ...]]:
    keys = ("case", "evaluator", "source", "model")
    return Counter(tuple(str(sample.metadata[key]) for key in keys) for sample in samples_of(log))


def test_every_cell_is_judged_once_by_its_evaluator_with_its_reference(
    tmp_path: Path, places: dict[str, Any]
) -> None:
    judges = {"A": Script(final(7)), "C": Script(final(5))}
    log = crossval(tmp_path, places, judges, {"references": [places["references"], "dataset"]})
    assert log.status == "success"
    found = cells(log)
    assert len(found) == 6 * 2 * 2 * 2 and set(found.values()) == {1}
    assert {len(judge.seen) for judge in judges.values()} == {24}
    assert metric_values(log, "crossval_judge") == {
        # Only A is both tested and a source: 7 less 8, and 5 less 8.
        "A (mockllm) rating bias": -1,
        "A (mockllm) mean": 7,
        "C (mockllm) rating bias": -3,
        "C (mockllm) mean": 5,
    }
    assert metric_values(log, "crossval_cell") == {
        "judged": 48,
        **{"unkeyed mockllm/A": 24, "unkeyed mockllm/C": 24},
    }
    own = {str(sample.id): sample for sample in urs(dataset="sample").dataset}
    for name, judge in judges.items():
        asked = Counter[tuple[str, str, str]]()
        for messages in judge.seen:
            text = messages[1].text
            answer = between(text, "<answer_to_rate>", "</answer_to_rate>")
            reference = between(text, "<reference_answer>", "</reference_answer>")
            asked[
                answer.split(" ")[0],
                reference.split(" ")[0] if "refers to" in reference else "data",
                name,
            ] += 1
        assert set(asked.values()) == {6} and len(asked) == 4
    for sample in samples_of(log):
        facts = sample.metadata
        case = own[facts["case"]]
        assert sample.input == case.input
        assert sample.target == (
            case.target if facts["source"] == "dataset" else f"A refers to {case.input}"
        )
        assert sample.output.completion == f"{facts['model'][-1]} answers {case.input}"
        assert facts["intent"] == (case.metadata or {})["intent"]
        score = (sample.scores or {})["crossval_judge"]
        assert isinstance(score.value, dict) and score.value["final"] == (
            7 if facts["evaluator"] == "mockllm/A" else 5
        )
        shown = (sample.scores or {})["crossval_cell"].value
        assert isinstance(shown, dict) and shown["model"] == f"{facts['model'][-1]} (mockllm)"
        assert shown["source"] in ("dataset", "A (mockllm)") and shown["outcome"] == "judged"
        judged = score.metadata or {}
        assert [one["judge"] for one in judged["judges"]] == [facts["evaluator"]]
        assert judged["self_judged"] == (facts["evaluator"] == facts["model"])


def test_the_rating_bias_leaves_failures_and_copies_of_references_out() -> None:
    metric: Any = crossval_report()

    def score(final: float | None, **more: Any) -> SampleScore:
        facts = {"evaluator": "e", "source": "m", "model": "m", "reference_score": 8, **more}
        given = (
            Score.unscored(reason="grader_failed")
            if final is None
            else Score(value={"final": final})
        )
        return SampleScore(score=given, sample_metadata=facts)

    copies = [score(8, copy=True), score(10, copy=True)]
    for scores, expected in (
        ([score(9), score(None)], {"e rating bias": 1, "e mean": 9}),
        ([score(9, reference_score=5)], {"e rating bias": 4, "e mean": 9}),
        ([score(9, source="n")], {"e mean": 9}),
        ([], {}),
        (copies, {"e mean": 9}),
        ([*copies, score(6)], {"e rating bias": -2, "e mean": 8}),
        (
            [score(6), score(8, copy=True, source="n", model="n")],
            {"e rating bias": -2, "e mean": 7},
        ),
    ):
        assert dict(metric(scores)) == expected


def test_the_cases_are_those_that_a_limit_takes(tmp_path: Path, places: dict[str, Any]) -> None:
    task = urs_crossval(**places, dataset="sample", cases=6, folds=3, evaluators="x", seed=0)
    found = list(dict.fromkeys((sample.metadata or {})["case"] for sample in task.dataset))
    assert found == [str(sample.id) for sample in urs(dataset="sample", seed=0).dataset][:6]
    other = urs_crossval(**places, dataset="sample", cases=6, folds=3, evaluators="x", seed=1)
    assert {(sample.metadata or {})["case"] for sample in other.dataset} != set(found)
    ids = [str(sample.id) for sample in task.dataset]
    assert ids[0] == f"{found[0]}:x:mockllm/A:mockllm/A"
    assert [one.split(":")[0] for one in ids] == [case for case in found for _ in range(2)]


def test_folds_are_dealt_by_hand() -> None:
    kinds = ["a/en", "b/en", "a/en", "a/zh", "a/en", "b/en"]
    parts = [kind.split("/") for kind in kinds]
    cases = [
        UrsCase(str(n), "?", "", intent, language) for n, (intent, language) in enumerate(parts)
    ]
    # Kind by kind: a/en 0 2 4, a/zh 3, b/en 1 5.
    assert _deal(cases, 2) == {"0": 1, "2": 2, "4": 1, "3": 2, "1": 1, "5": 2}
    assert _deal(cases, 1) == dict.fromkeys("024315", 1)


@pytest.mark.data
def test_folds_of_the_published_cases_hold_intents_and_languages_in_proportion(
    data_dir: Path,
) -> None:
    rubric = load_rubric()
    ordered = in_proportion(
        load_urs("urs", Vocabulary(rubric.intent_id, rubric.language_code)).cases, 0
    )
    whole = Counter((case.intent, case.language) for case in ordered)
    drawn = {case.id: (case.intent, case.language) for case in ordered[:200]}
    folds = _deal(ordered[:200], 5)
    assert Counter(folds.values()) == dict.fromkeys(range(1, 6), 40)
    for fold in range(1, 6):
        found = Counter(drawn[case] for case, number in folds.items() if number == fold)
        assert all(
            abs(found[kind] - 40 * count / len(ordered)) < 1 for kind, count in whole.items()
        )


def test_what_it_costs_is_said_before_and_more_cases_than_there_are_are_all(
    places: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    task = urs_crossval(**places, dataset="sample", folds=2, evaluators="x,y")
    assert len(task.dataset) == 2 * 2 * CASES
    assert "cases=200: there are only 42" in caplog.text
    assert tells(
        caplog.text, "42 cases x 2 evaluators x 1 source ... x 2 tested models: 168 judge calls"
    )
    assert "up to 2 times as many" in caplog.text and "word for word" not in caplog.text


def test_a_log_of_answers_that_did_not_finish_is_named_in_a_warning(
    places: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    files = sorted(Path(places["answers"]).glob("*.eval"))
    log = read_eval_log(str(files[0]))
    log.status = "cancelled"
    log.eval.task_id, log.eval.run_id = "other", "other"
    unfinished = Path(places["answers"]) / "unfinished.eval"
    write_eval_log(log, str(unfinished))
    urs_crossval(**places, dataset="sample", cases=4, folds=2, evaluators="x")
    levels = [one.levelname for one in caplog.records if "unfinished.eval" in one.getMessage()]
    assert levels.count("WARNING") == 1


def test_a_copy_in_place_of_a_second_output_is_noticed(
    tmp_path: Path, places: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    log = answer_log(tmp_path / "more", "A", limit=6)
    task = urs_crossval(
        places["answers"],
        log.location,
        dataset="sample",
        cases=6,
        evaluators="x",
    )
    assert tells(caplog.text, "mockllm/A ... references: 6")
    assert (task.metadata or {})["copies"] == {"mockllm/A": 6}


def test_what_identifies_a_grid_is_in_the_log(tmp_path: Path, places: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {
        **places,
        "dataset": "sample",
        "cases": 6,
        "folds": 2,
        "evaluators": "x",
    }
    one = urs_crossval(**arguments).metadata or {}
    assert (one["cases"], one["folds"], one["evaluators"], one["reference_score"]) == (
        6,
        2,
        ["x"],
        8,
    )
    assert set(one["sources"]) == {"mockllm/A"} and set(one["models"]) == {"mockllm/A", "mockllm/B"}
    again = urs_crossval(**{**arguments, "evaluators": "y"}).metadata or {}
    assert {**again, "evaluators": ["x"]} == one
    other = urs_crossval(**{**arguments, "cases": 7}).metadata or {}
    assert other["cases_sha256"] != one["cases_sha256"] and other["sources"] != one["sources"]
    chinese = urs_crossval(**{**arguments, "judge_language": "zh"}).metadata or {}
    assert chinese["prompts_sha256"] != one["prompts_sha256"]


def test_judgements_that_fail_have_no_score_and_a_reason(
    tmp_path: Path, places: dict[str, Any]
) -> None:
    judges = {"C": Script("No idea."), "D": Script(RuntimeError("down"))}
    log = crossval(tmp_path, places, judges, {"cases": 3})
    assert log.status == "success"
    for sample in samples_of(log):
        score = (sample.scores or {})["crossval_judge"]
        mode = "unparseable" if sample.metadata["evaluator"] == "mockllm/C" else "call_failed"
        assert math.isnan(score.as_float()) and score.reason == "grader_failed"
        assert (score.metadata or {})["failure_mode"] == mode
    assert metric_values(log, "crossval_cell") == {
        **{"unscored_unparseable": 6, "unscored_call_failed": 6},
        "asked again": 6,
    }
    assert len(judges["C"].seen) == 12  # asked once more


def test_an_empty_answer_has_the_lowest_score_without_a_call(tmp_path: Path) -> None:
    answer_log(tmp_path, "A", " ", limit=3)
    judge = Script(final(7))
    places = {"answers": str(tmp_path / "answers"), "references": "dataset"}
    log = crossval(tmp_path, places, {"C": judge}, {"cases": 3})
    assert not judge.seen
    assert metric_values(log, "crossval_judge") == {"C (mockllm) mean": 1}


def _unanswered(tmp_path: Path) -> str:
    """Answers of A without the first two cases, whose samples ended in errors."""
    first = [str(sample.input) for sample in urs(dataset="sample").dataset][:2]

    def reply(messages: list[ChatMessage]) -> Reply:
        return RuntimeError("down") if messages[-1].text in first else "An answer."

    log = answer_log(tmp_path, "A", reply, fail_on_error=False, limit=6)
    assert log.status == "success"
    return log.location


def test_missing_answers_are_refused_or_left_without_a_score(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ids = [str(sample.id) for sample in urs(dataset="sample").dataset][:2]
    places: dict[str, Any] = {"answers": _unanswered(tmp_path), "references": "dataset"}
    with pytest.raises(InputError) as caught:
        urs_crossval(**places, dataset="sample", cases=6, evaluators="x")
    assert tells(str(caught.value), f"of 6 cases, mockllm/A ... 2 ({ids[0]}, {ids[1]})")
    assert "--limit 6" in str(caught.value) and "unanswered=unscored" in str(caught.value)
    with pytest.raises(InputError, match=r"answers: none.*2 cases by mockllm/A"):
        urs_crossval(
            **places, dataset="sample", cases=2, folds=1, evaluators="x", unanswered="unscored"
        )
    judge = Script(final(7))
    log = crossval(tmp_path, places, {"C": judge}, {"unanswered": "unscored"})
    assert len(judge.seen) == 4
    assert metric_values(log, "crossval_cell") == {
        "judged": 4,
        "unscored_no_answer": 2,
        "unkeyed": 4,
    }
    assert tells(caplog.text, "4 judge calls")


def test_missing_references_are_refused_always(tmp_path: Path, places: dict[str, Any]) -> None:
    few = reference_log(tmp_path / "few", "K", limit=4)
    for unanswered in ("refuse", "unscored"):
        with pytest.raises(InputError, match=r"mockllm/K\).*2 of 6 cases: 2 \(.*\)"):
            urs_crossval(
                places["answers"],
                few.location,
                dataset="sample",
                cases=6,
                evaluators="x",
                unanswered=unanswered,
            )


def test_answers_to_other_questions_are_refused(tmp_path: Path) -> None:
    row = {
        "id": "mine",
        "question": "Why?",
        "reference_ans": "So.",
        "user_intent": "Leisure",
        "language": "EN",
    }
    data = write_rows(tmp_path / "own.jsonl", row)
    log = answer_log(tmp_path, "A", arguments={"dataset": str(data)})
    write_rows(data, {**row, "question": "Why not?"})
    with pytest.raises(InputError, match=r"answers: 1 \(mine\) of 1 cases"):
        urs_crossval(log.location, "dataset", dataset=str(data), cases=1, folds=1, evaluators="x")


def test_answers_that_were_judged_with_other_references_serve_together(tmp_path: Path) -> None:
    references = reference_log(tmp_path, "J").location
    answer_log(tmp_path, "A", limit=6)
    answer_log(tmp_path, "B", arguments={"references": references}, limit=6)
    task = urs_crossval(
        str(tmp_path / "answers"), "dataset", dataset="sample", cases=6, evaluators="x"
    )
    assert {(sample.metadata or {})["model"] for sample in task.dataset} == {
        "mockllm/A",
        "mockllm/B",
    }


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"references": "dataset,dataset"}, "references: dataset.*twice"),
        (
            {"models": "mockllm/A"},
            "models: is no longer an argument; use -T answers=<logs of these models>",
        ),
        ({"folds": 7}, "folds: .*6, got 7"),
        ({"evaluators": "all"}, r"evaluators:.*urs_crossval\(evaluators="),
        ({"answers": "absent"}, "answers: no log 'absent'"),
    ],
)
def test_arguments_are_checked(
    changed: dict[str, Any], message: str, places: dict[str, Any]
) -> None:
    arguments = {
        **places,
        "dataset": "sample",
        "cases": 6,
        "folds": 2,
        "evaluators": "x",
        **changed,
    }
    with pytest.raises(InputError, match=message):
        urs_crossval(**arguments)


def test_an_evaluator_without_the_role_ends_the_run(tmp_path: Path, places: dict[str, Any]) -> None:
    task = urs_crossval(**places, dataset="sample", cases=1, folds=1, evaluators="mockllm/X")
    log = run(task, tmp_path, model="none/none", grader=Script("{}").model("C"))
    assert log.status == "error" and log.error is not None
    assert tells(log.error.message, "'mockllm/X' ... role 'grader'; ... mockllm/C")


@pytest.mark.parametrize(
    ("roles", "arguments", "said"),
    [
        (
            [],
            [],
            ("role 'grader' ... --model-role 'grader=[provider/a, ...]'"),
        ),
        (
            ["grader=[none/a, none/a]"],
            [],
            "evaluators: none/a ... role 'grader' twice",
        ),
        (
            ["grader=none/a"],
            ["evaluators=none/b"],
            "none/b ... role 'grader'; allowed: none/a",
        ),
    ],
)
def test_evaluators_are_checked_by_the_command(
    roles: list[str],
    arguments: list[str],
    said: str,
    tmp_path: Path,
    places: dict[str, Any],
    monkeypatch,
    capsys,
) -> None:
    given = [
        "dataset=sample",
        "cases=2",
        "folds=1",
        *(f"{name}={value}" for name, value in places.items()),
        *arguments,
    ]
    refusal = refused(
        *(
            "eval",
            "urs_inspect/urs_crossval",
            "--model",
            "none",
            "--log-dir",
            str(tmp_path / "refused"),
        ),
        *(part for role in roles for part in ("--model-role", role)),
        *(part for argument in given for part in ("-T", argument)),
        monkeypatch=monkeypatch,
        capsys=capsys,
    )
    assert refusal.status == 1
    assert tells(refusal.error.splitlines()[-1], said)
    assert not list((tmp_path / "refused").glob("*"))
