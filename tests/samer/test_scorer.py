"""Tests of `urs_inspect.samer._scorer`."""

import asyncio
import math
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ModelName,
    ModelOutput,
)
from inspect_ai.scorer import SampleScore, Score, Target
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tests.samer.stubs import DIMENSIONS, Opening, raw
from tests.tasks.scripted import metric_values, output, run, run_all, say, score_of, value_of
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.samer import samer, samer_outcome
from urs_inspect.samer._engines import EngineFailure, QueryResponse, Scored, shared
from urs_inspect.samer._judgement import score_keys
from urs_inspect.samer._report import DimensionScore, read_dimensions
from urs_inspect.samer._scorer import samer_report
from urs_inspect.scorers import pair_verdict
from urs_inspect.solvers import compare_pair
from urs_inspect.stats._bootstrap import student_interval

StubEngine = Callable[..., Opening]


def scoring(folder: Path, how: Solver | None = None, **options: Any) -> Task:
    samples = MemoryDataset([Sample(id=number, input="Why?") for number in range(3)])
    return Task(
        dataset=samples,
        solver=how or say("So."),
        scorer=samer(str(folder), engine="stub", **options),
    )


@pytest.fixture
def opening(stub_engine: Callable[..., Opening]) -> Opening:
    return stub_engine()


def judging(folder: Path) -> Task:
    facts = {"prompt": "Why?", "response_a": "So.", "response_b": "Because.", "label": "b"}
    return Task(
        dataset=MemoryDataset([Sample(id="p", input="Why?", metadata=facts)]),
        solver=compare_pair(
            protocol="overall", judge="samer", samer={"model": str(folder), "engine": "stub"}
        ),
        scorer=pair_verdict(),
    )


@solver
def never(fails: bool) -> Solver:
    """No answer at all; or the second sample ends the run."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if fails and state.sample_id == 2:
            raise RuntimeError("scripted")
        if not fails:
            state.output = ModelOutput(model="mockllm/answers", choices=[], usage=output("").usage)
        return state

    return solve


def test_tasks_of_one_run_share_an_engine_which_is_closed_when_it_ends(
    opening: Opening, tmp_path: Path
) -> None:
    for runs in (1, 2):
        logs = run_all(
            [scoring(tmp_path), judging(tmp_path)],
            tmp_path / "logs",
            model="none/none",
            grader=None,
        )
        assert [log.status for log in logs] == ["success"] * 2
        assert [engine.closed for engine in opening.made] == [1] * runs
        assert not shared._open
    log = run(
        scoring(tmp_path, never(True)),
        tmp_path / "logs",
        model="none/none",
        grader=None,
        max_samples=1,
    )
    assert log.status == "error"
    assert [engine.closed for engine in opening.made] == [1] * len(opening.made)
    assert not shared._open


def test_nobody_is_told_of_hooks(tmp_path: Path) -> None:
    """The harness lists hooks at its start.

    Ours is there only once an engine is open, in this run and the next.
    """
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        # No sample of this run needs these providers, whose import takes three seconds.
        "from inspect_ai.model import _assistant_internal as internal\n"
        "internal._HAS_ANTHROPIC = internal._HAS_OPENAI = False\n"
        "from tests.samer.stubs import Opening\n"
        "from tests.samer.test_scorer import scoring\n"
        "from tests.tasks.scripted import run\n"
        "from urs_inspect.samer._engines import register_engine\n"
        "opening, folder = Opening(), Path(sys.argv[1])\n"
        "register_engine('stub', opening)\n"
        "for _ in range(2):\n"
        "    run(scoring(folder), folder / 'logs', model='none/none', grader=None)\n"
        "print('closed', [engine.closed for engine in opening.made])\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    repository = Path(__file__).parents[2]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=repository, timeout=120, check=False
    )
    assert "closed [1, 1]" in done.stdout, done.stderr
    assert "hooks" not in done.stdout + done.stderr


NAN = math.nan


def score(name: str, overall: float = NAN, facts: Any = None, **dimensions: float) -> SampleScore:
    value: dict[str, Any] = dict.fromkeys(score_keys(), NAN) | {"overall": overall, **dimensions}
    intent, _, _ = name.partition("-")
    return SampleScore(
        score=Score(value=value, metadata=facts or {}),
        sample_id=name,
        sample_metadata={"intent_group": intent},
    )


def dimensions(*scores: SampleScore) -> dict[str, DimensionScore]:
    """What `urs-inspect samer weights --json` reads from a log with these scores."""
    samples = [
        EvalSample(
            id=str(one.sample_id), epoch=number, input="", target="", scores={"samer": one.score}
        )
        for number, one in enumerate(scores)
    ]
    return read_dimensions(EvalLog.model_construct(samples=samples))  # type: ignore[call-arg]


def report(*scores: SampleScore) -> dict[str, float]:
    value = samer_report()(list(scores))  # type: ignore[arg-type]
    assert isinstance(value, dict)
    return {key: float(number) for key, number in value.items() if isinstance(number, (int, float))}


def test_means_and_shares_worked_by_hand() -> None:
    scores = (
        score("x-1", 0.2, Clarity=0.4),
        score("x-2", 0.4, Clarity=0.6, Depth=0.9),
        score("y-1", 0.9),
        score("y-2", NAN, {"failure_mode": "timeout"}),
    )
    rows = report(*scores)
    assert next(iter(rows)) == "overall" and rows["overall"] == pytest.approx(0.5)
    assert rows["overall intent_group=x"] == pytest.approx(0.3)
    assert rows["overall intent_group=y"] == pytest.approx(0.9)
    assert rows["failures timeout"] == 1
    assert "Clarity" not in rows
    # What left the header is read from the log. Clarity: (0.4 + 0.6) / 2, in 2 of 3 evaluated
    # answers.
    found = dimensions(*scores)
    assert (found["Clarity"].mean.value, found["Clarity"].selected) == pytest.approx((0.5, 2 / 3))
    assert (found["Depth"].mean.value, found["Depth"].selected) == pytest.approx((0.9, 1 / 3))
    assert math.isnan(found["Clarity"].mean.low)  # two answers have no interval
    assert next(iter(found)) == "overall" and found["overall"].selected == 1


def test_everything_special_is_counted() -> None:
    rows = report(
        score("x-1", 0.0, {"no_response": True}),
        score("x-2", 0.5, {"shortened": 12, "empty_selection": True}),
        score("x-3", 0.5, {"shortened": 0, "empty_selection": False, "no_response": False}),
        score("x-4", NAN, {"failure_mode": "too_long"}),
        score("x-5", NAN, {"failure_mode": "too_long"}),
    )
    counted = {
        key: rows[key]
        for key in ("no response", "shortened", "empty selection", "failures too_long")
    }
    assert counted == {
        "no response": 1,
        "shortened": 1,
        "empty selection": 1,
        "failures too_long": 2,
    }
    assert "overall intent_group=x" not in rows  # a single group is the whole


def test_epochs_are_averaged_before_intervals() -> None:
    values = (0.2, 0.4, 0.9, 0.5, 0.1, 0.3)
    twice = report(*[score(f"x-{n}", value) for n, value in enumerate(values) for _ in range(4)])
    once = report(*[score(f"x-{n}", value) for n, value in enumerate(values)])
    assert once["low"] < once["overall"] < once["high"]
    assert twice == pytest.approx(once)


def test_it_equals_the_obvious_computation_in_any_order() -> None:
    rng = random.Random(3)
    names = ("Clarity", "Depth", "Style")
    scores = [
        score(
            f"{rng.choice('xyz')}-{n}",
            rng.random(),
            **{name: rng.random() for name in names if rng.random() < 0.6},
        )
        for n in range(60)
    ]
    rows, found = report(*scores), dimensions(*scores)
    rng.shuffle(scores)
    assert report(*scores) == pytest.approx(rows)
    for name in names:
        values = [float(one.score.as_dict()[name]) for one in scores]  # type: ignore[arg-type]
        given = [value for value in values if not math.isnan(value)]
        estimate = student_interval(given)
        one = found[name]
        assert (one.mean.value, one.mean.low, one.mean.high) == pytest.approx(
            (estimate.value, estimate.low, estimate.high)
        )
        assert one.selected == pytest.approx(len(given) / 60)
    whole = student_interval([float(one.score.as_dict()["overall"]) for one in scores])  # type: ignore[arg-type]
    assert (rows["overall"], rows["low"], rows["high"]) == pytest.approx(
        (whole.value, whole.low, whole.high)
    )


def test_no_score_is_the_headline_without_a_value() -> None:
    rows = report()
    assert math.isnan(rows.pop("overall"))
    assert rows == {"no response": 0, "shortened": 0, "empty selection": 0}


def scored(
    log_dir: Path,
    *,
    answer: str = "ten chars.",
    sample: Sample | None = None,
    how: Solver | None = None,
) -> EvalLog:
    task = Task(
        dataset=MemoryDataset(
            [sample or Sample(id="case", input="Why?", metadata={"intent": "leisure"})]
        ),
        solver=how or say(answer),
        scorer=[samer(str(log_dir), engine="stub"), samer_outcome()],
    )
    log = run(task, log_dir / "logs", model="mockllm/answers", grader=None)
    assert log.status == "success", log.error
    return log


def test_the_value_has_every_dimension_and_numbers_for_the_selected_ones(
    tmp_path: Path, opening: Opening
) -> None:
    log = scored(tmp_path)
    value = value_of(log, "samer")
    assert list(value) == ["overall", *DIMENSIONS]
    # Ten characters: Clarity is sigmoid(1) = 0.731, Depth sigmoid(0) = 0.5, each with half of the
    # weight.
    clarity = 1 / (1 + math.exp(-1))
    assert value["Clarity"] == round(clarity, 4)
    assert value["Depth"] == 0.5
    assert value["overall"] == round((clarity + 0.5) / 2, 4)
    assert sum(map(math.isnan, value.values())) == 40
    assert opening.asked == [QueryResponse("Why?", "ten chars.")]
    report = metric_values(log, "samer")
    assert next(iter(report)) == "overall" and report["overall"] == value["overall"]
    assert len(report) <= 25
    score = score_of(log, "samer")
    facts = score.metadata or {}
    assert facts["outcome"] == "scored"
    assert facts["weights"] == {"Clarity": 0.5, "Depth": 0.5}
    assert len(facts["raw"]["gates"]) == 42
    assert facts["samer"]["engine"] == "stub" and facts["samer"]["model"] == str(tmp_path)
    assert "turns_not_seen" not in facts
    assert (score.explanation or "").startswith("**Overall: 0.616** (0 to 1)")


@pytest.mark.usefixtures("opening")
def test_an_empty_answer_has_0_and_is_counted(tmp_path: Path) -> None:
    log = scored(tmp_path, answer=" \n ")
    assert score_of(log, "samer").reason == "no_response"
    assert value_of(log, "samer")["overall"] == 0
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


def test_a_failure_is_never_a_score(tmp_path: Path, stub_engine: StubEngine) -> None:
    stub_engine(lambda item: EngineFailure("timeout", "what was wrong"))
    log = scored(tmp_path)
    score = score_of(log, "samer")
    assert score.reason == "grader_failed"
    assert all(map(math.isnan, value_of(log, "samer").values()))
    assert (score.metadata or {})["failure_mode"] == "timeout"
    assert score.explanation == "**No score: timeout.** what was wrong"
    assert score.answer == "ten chars."
    assert metric_values(log, "samer")["failures timeout"] == 1
    assert math.isnan(metric_values(log, "samer")["overall"])
    assert score_of(log, "samer_outcome").value["evaluation"] == "unscored_timeout"  # type: ignore[index, call-overload]


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
    assert tells((score_of(log, "samer").metadata or {})["detail"], "opened: no room")


def test_of_a_conversation_the_last_user_message_is_the_query(
    tmp_path: Path, opening: Opening
) -> None:
    turns: list[ChatMessage] = [
        ChatMessageSystem(content="Be brief."),
        ChatMessageUser(content="First?"),
        ChatMessageAssistant(content="Yes."),
        ChatMessageUser(content="Second?"),
    ]
    log = scored(tmp_path, sample=Sample(id="case", input=turns))
    assert opening.asked == [QueryResponse("Second?", "ten chars.")]
    assert (score_of(log, "samer").metadata or {})["turns_not_seen"] == 3


def test_turns_that_are_not_seen_are_warned_of_once_and_engines_that_fail_are_no_score(
    tmp_path: Path, stub_engine: StubEngine, caplog: pytest.LogCaptureFixture
) -> None:
    def state(number: int, *asked: str) -> TaskState:
        return TaskState(
            model=ModelName("none/none"),
            sample_id=number,
            epoch=1,
            input="Why?",
            messages=[ChatMessageUser(content=text) for text in asked],
            output=ModelOutput.from_content("m", "So."),
        )

    async def scores(*states: TaskState) -> list[Score]:
        score = samer(str(tmp_path), engine="stub")
        return [found for one in states if (found := await score(one, Target("")))]

    opening = stub_engine()
    given = (state(1, "Why?"), state(2, "First?", "Then?"), state(3, "One?", "Two?", "Three?"))
    found = asyncio.run(scores(*given))
    assert [item.query for item in opening.asked] == ["Why?", "Then?", "Three?"]
    assert [(score.metadata or {}).get("turns_not_seen") for score in found] == [None, 1, 2]
    assert len([line for line in caplog.records if "not all seen" in line.message]) == 1

    def broken(samer: str, **options: Any) -> Any:
        raise InputError("no card")

    shared._open.clear()
    stub_engine(make=broken)
    [failed] = asyncio.run(scores(state(1, "Why?")))
    value: Any = failed.value
    assert failed.reason == "grader_failed" and math.isnan(value["overall"])
    assert "no card" in str(failed.explanation)


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        ({"how": never(False)}, "no_answer"),
        ({"sample": Sample(id="case", input=[ChatMessageSystem(content="Speak.")])}, "no_query"),
    ],
)
def test_without_an_answer_or_a_query_nothing_is_asked(
    given: dict[str, Any], mode: str, tmp_path: Path, opening: Opening
) -> None:
    score = score_of(scored(tmp_path, **given), "samer")
    assert (score.reason, (score.metadata or {})["failure_mode"]) == ("scoring_failed", mode)
    assert not opening.asked


def test_leading_dimensions_are_the_three_that_weigh_most(
    tmp_path: Path, stub_engine: StubEngine
) -> None:
    gates = {"Clarity": 1.0, "Depth": 1.0, "Logic": 1.0, "Style": 1.0}
    stub_engine(lambda item: Scored(raw({}, gates, {"Style": 2.0, "Logic": 1.0, "Depth": -1.0})))
    value = score_of(scored(tmp_path), "samer_outcome").value
    assert isinstance(value, dict)
    assert [value[place] for place in ("first", "second", "third")] == ["Style", "Logic", "Clarity"]


def test_without_samer_there_is_no_outcome(tmp_path: Path) -> None:
    task = Task(
        dataset=MemoryDataset([Sample(id="case", input="Why?")]),
        solver=say("x"),
        scorer=samer_outcome(),
    )
    [log] = eval(
        task, model="mockllm/answers", display="none", log_realtime=False, log_dir=str(tmp_path)
    )
    assert log.status == "success" and not (log.samples or [])[0].scores


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": ""}, "model: ... text"),
        ({"model": "absent"}, "samer 'absent': no such folder"),
        ({"model": ".", "engine": "onnx"}, "unknown engine 'onnx'"),
        (
            {"model": ".", "dtype": "half"},
            "dtype: ... value 'half'; allowed: auto, float32, bfloat16, float16",
        ),
        ({"model": "http://u:p@host:1"}, "no key"),
        ({"model": "."}, "no weights"),
    ],
)
def test_bad_arguments_are_refused_before_any_call(
    given: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        samer(**given)
    assert tells(caught.value.message, said)
    assert "\n" not in caught.value.message
