"""`samer` through the harness: what becomes of what an engine says, and of what it does not say."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tests.samer.stubs import DIMENSIONS, Opening, by_length, raw
from tests.tasks.scripted import metric_values, output, run, say, score_of, value_of
from urs_inspect.errors import InputError
from urs_inspect.samer.engines import EngineFailure, QueryResponse, Scored
from urs_inspect.scorers import samer, samer_outcome

StubEngine = Callable[..., Opening]


def scored(
    log_dir: Path, *, answer: str = "ten chars.", sample: Sample | None = None, how: Solver | None = None
) -> EvalLog:
    task = Task(
        dataset=MemoryDataset([sample or Sample(id="case", input="Why?", metadata={"intent": "leisure"})]),
        solver=how or say(answer),
        scorer=[samer(str(log_dir), engine="stub"), samer_outcome()],
    )
    log = run(task, log_dir / "logs", model="mockllm/answers", grader=None)
    assert log.status == "success", log.error
    return log


def test_the_value_has_every_dimension_and_numbers_for_the_selected_ones(
    tmp_path: Path, stub_engine: StubEngine
) -> None:
    opening = stub_engine()
    log = scored(tmp_path)
    value = value_of(log, "samer")
    assert list(value) == ["overall", *DIMENSIONS]
    # Ten characters: Clarity is sigmoid(1) = 0.731, Depth sigmoid(0) = 0.5, each with half of the weight.
    clarity = 1 / (1 + math.exp(-1))
    assert value["Clarity"] == round(clarity, 4)
    assert value["Depth"] == 0.5
    assert value["overall"] == round((clarity + 0.5) / 2, 4)
    assert sum(map(math.isnan, value.values())) == 40
    assert opening.asked == [QueryResponse("Why?", "ten chars.")]


def test_metadata_and_explanation_say_how_it_came_about(tmp_path: Path, stub_engine: StubEngine) -> None:
    stub_engine()
    score = score_of(scored(tmp_path), "samer")
    facts = score.metadata or {}
    assert facts["outcome"] == "scored"
    assert facts["weights"] == {"Clarity": 0.5, "Depth": 0.5}
    assert len(facts["raw"]["gates"]) == 42
    assert facts["samer"]["engine"] == "stub" and facts["samer"]["model"] == str(tmp_path)
    assert "turns_not_seen" not in facts
    assert (score.explanation or "").startswith("**Overall: 0.616** (0 to 1)")
    assert "| Clarity | 0.731 | 50.0% |" in (score.explanation or "")


def test_metrics_are_the_mean_and_a_report(tmp_path: Path, stub_engine: StubEngine) -> None:
    stub_engine()
    log = scored(tmp_path)
    report = metric_values(log, "samer")
    assert next(iter(report)) == "overall" and report["overall"] == value_of(log, "samer")["overall"]
    assert len(report) <= 25


@pytest.mark.parametrize("blank", ["", " \n "])
def test_an_empty_answer_has_0_and_is_counted(blank: str, tmp_path: Path, stub_engine: StubEngine) -> None:
    stub_engine()
    log = scored(tmp_path, answer=blank)
    score, value = score_of(log, "samer"), value_of(log, "samer")
    assert score.reason == "no_response"
    assert (value["overall"], value["Clarity"], value["Depth"]) == (0, 0, 0)
    assert math.isnan(value["Style"])
    assert metric_values(log, "samer")["no response"] == 1
    assert score_of(log, "samer_outcome").value == {
        "evaluation": "no_response",
        "percent": 0,
        "first": "",
        "second": "",
        "third": "",
        "intent": "leisure",
        "language": "unknown",
    }


@pytest.mark.parametrize("mode", ["too_long", "unreachable", "timeout", "wrong_shape", "not_finite"])
def test_a_failure_is_never_a_score(mode: Any, tmp_path: Path, stub_engine: StubEngine) -> None:
    stub_engine(lambda item: EngineFailure(mode, "what was wrong"))
    log = scored(tmp_path)
    score = score_of(log, "samer")
    assert score.reason == "grader_failed"
    assert all(map(math.isnan, value_of(log, "samer").values()))
    assert (score.metadata or {})["failure_mode"] == mode
    assert score.explanation == f"**No score: {mode}.** what was wrong"
    assert score.answer == "ten chars."
    assert metric_values(log, "samer")[f"failures {mode}"] == 1
    assert math.isnan(metric_values(log, "samer")["overall"])
    assert score_of(log, "samer_outcome").value["evaluation"] == f"unscored_{mode}"  # type: ignore[index, call-overload]


def test_an_engine_that_raises_or_cannot_be_opened_does_not_end_the_run(
    tmp_path: Path, stub_engine: StubEngine
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise MemoryError("no room")

    stub_engine(broken)
    assert metric_values(scored(tmp_path), "samer")["failures error"] == 1
    (tmp_path / "other").mkdir()
    stub_engine(make=broken)
    log = scored(tmp_path / "other")
    assert (score_of(log, "samer").metadata or {})["detail"] == "the engine could not be opened: no room"


def test_a_shortened_answer_and_an_empty_selection_are_flagged(tmp_path: Path, stub_engine: StubEngine) -> None:
    stub_engine(lambda item: Scored(raw(), shortened=3))
    log = scored(tmp_path)
    facts = score_of(log, "samer").metadata or {}
    assert facts["shortened"] == 3 and facts["empty_selection"] is True
    report = metric_values(log, "samer")
    assert (report["shortened"], report["empty selection"]) == (1, 1)


def test_an_answer_that_never_came_is_unscored(tmp_path: Path, stub_engine: StubEngine) -> None:
    @solver
    def nothing() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state.output = ModelOutput(model="mockllm/answers", choices=[], usage=output("").usage)
            return state

        return solve

    opening = stub_engine()
    log = scored(tmp_path, how=nothing())
    score = score_of(log, "samer")
    assert (score.reason, (score.metadata or {})["failure_mode"]) == ("scoring_failed", "no_answer")
    assert not opening.asked


def test_of_a_conversation_the_last_user_message_is_the_query(tmp_path: Path, stub_engine: StubEngine) -> None:
    turns: list[ChatMessage] = [
        ChatMessageSystem(content="Be brief."),
        ChatMessageUser(content="First?"),
        ChatMessageAssistant(content="Yes."),
        ChatMessageUser(content="Second?"),
    ]
    opening = stub_engine()
    log = scored(tmp_path, sample=Sample(id="case", input=turns))
    assert opening.asked == [QueryResponse("Second?", "ten chars.")]
    assert (score_of(log, "samer").metadata or {})["turns_not_seen"] == 3


def test_an_input_without_a_user_is_unscored(tmp_path: Path, stub_engine: StubEngine) -> None:
    stub_engine()
    log = scored(tmp_path, sample=Sample(id="case", input=[ChatMessageSystem(content="Speak.")]))
    assert (score_of(log, "samer").metadata or {})["failure_mode"] == "no_query"


def test_the_engine_is_opened_once_for_all_samples(tmp_path: Path, stub_engine: StubEngine) -> None:
    opening = stub_engine()
    task = Task(
        dataset=MemoryDataset([Sample(id=str(n), input=f"Why {n}?") for n in range(12)]),
        solver=say("Because."),
        scorer=[samer(str(tmp_path), engine="stub"), samer_outcome()],
    )
    log = run(task, tmp_path / "logs", model="mockllm/answers", grader=None, epochs=2)
    assert log.status == "success", log.error
    assert len(opening.made) == 1
    assert len(opening.asked) == 24


def test_leading_dimensions_are_the_three_that_weigh_most(tmp_path: Path, stub_engine: StubEngine) -> None:
    gates = {"Clarity": 1.0, "Depth": 1.0, "Logic": 1.0, "Style": 1.0}
    stub_engine(lambda item: Scored(raw({}, gates, {"Style": 2.0, "Logic": 1.0, "Depth": -1.0})))
    value = score_of(scored(tmp_path), "samer_outcome").value
    assert isinstance(value, dict)
    assert [value[place] for place in ("first", "second", "third")] == ["Style", "Logic", "Clarity"]


def test_without_samer_there_is_no_outcome(tmp_path: Path) -> None:
    task = Task(dataset=MemoryDataset([Sample(id="case", input="Why?")]), solver=say("x"), scorer=samer_outcome())
    [log] = eval(task, model="mockllm/answers", display="none", log_dir=str(tmp_path))
    assert log.status == "success" and not (log.samples or [])[0].scores


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": ""}, "model must be a text"),
        ({"model": "absent"}, "samer 'absent': no such folder"),
        ({"model": ".", "engine": "onnx"}, "unknown engine 'onnx'"),
        ({"model": ".", "dtype": "half"}, "dtype 'half'; allowed: auto, float32, bfloat16, float16"),
        ({"model": "http://u:p@host:1"}, "may hold no key"),
        ({"model": "."}, "no weights"),
    ],
)
def test_bad_arguments_are_refused_before_any_call(
    given: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        samer(**given)
    assert said in caught.value.message
    assert "\n" not in caught.value.message


def test_by_length_is_what_the_tests_take_it_for() -> None:
    assert by_length(QueryResponse("q", "ten chars.")).raw.scores[DIMENSIONS.index("Clarity")] == 1
