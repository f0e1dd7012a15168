"""`judge_outcome`: every judgement that failed can be counted and seen."""

from pathlib import Path

from inspect_ai import Task, score
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import Model
from inspect_ai.scorer import match
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tests.tasks.scripted import Script, metric_values, one_case, output, record, run, samples_of
from urs_inspect.scorers import intent_judge, judge_outcome

ANSWERS = ["good", "good", "bad", "filtered", "dead", ""]
COUNTED = {"judged": 2, "no_response": 1, "unscored": 3}
"""More than three outcomes: those of unscored samples count together."""


@solver
def answer_from_metadata() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = output(state.metadata["answer"])
        return state

    return solve


def judge(name: str = "judge") -> Model:
    """A judge that fails in the way that the answer names."""

    def reply(messages):
        case = messages[1].text
        if "dead" in case:
            return RuntimeError("no route to host")
        if "filtered" in case:
            return output("", stop_reason="content_filter")
        return "no idea" if "bad" in case else record(7)

    return Script(reply).model(name)


def outcomes(tmp_path: Path, grader: Model | list[Model] | None = None, **options) -> EvalLog:
    samples = [
        Sample(id=n, input="q", target="t", metadata={**(one_case().metadata or {}), "answer": answer})
        for n, answer in enumerate(ANSWERS)
    ]
    task = Task(
        dataset=MemoryDataset(samples),
        solver=answer_from_metadata(),
        scorer=[intent_judge(attempts=1), judge_outcome()],
    )
    return run(task, tmp_path, model="mockllm/answers", grader=grader or judge(), **options)


def outcome_of(log: EvalLog, name: str = "judge_outcome") -> dict[str | int, dict[str, str]]:
    found = {}
    for sample in samples_of(log):
        assert sample.scores is not None
        found[sample.id] = sample.scores[name].value
    return found  # type: ignore[return-value]


def test_outcomes_are_counted(tmp_path: Path):
    log = outcomes(tmp_path)

    assert log.status == "success"
    assert metric_values(log, "judge_outcome") == COUNTED
    assert [outcome_of(log)[n]["outcome"] for n in range(len(ANSWERS))] == [
        "judged",
        "judged",
        "unscored_unparseable",
        "unscored_content_filter",
        "unscored_call_failed",
        "no_response",
    ]


def test_score_names_the_reason_and_the_kind_of_case(tmp_path: Path):
    log = outcomes(tmp_path)

    assert outcome_of(log)[2] == {"outcome": "unscored_unparseable", "intent": "Leisure", "language": "en"}
    reasons = {sample.id: sample.scores["judge_outcome"].reason for sample in samples_of(log) if sample.scores}
    assert reasons == {0: None, 1: None, 2: "grader_failed", 3: "grader_failed", 4: "grader_failed", 5: "no_response"}


def test_every_epoch_counts(tmp_path: Path):
    log = outcomes(tmp_path, epochs=2)

    assert metric_values(log, "judge_outcome") == {key: 2 * count for key, count in COUNTED.items()}


def test_part_of_a_panel_counts_apart(tmp_path: Path):
    log = outcomes(tmp_path, grader=[judge("a"), Script(record(5)).model("b")])

    # b judges all five answers that are not empty, a judges two of them.
    assert metric_values(log, "judge_outcome") == {
        "judged": 2,
        "partial_panel": 3,
        "no_response": 1,
    }


def test_outcomes_of_an_appended_judgement_are_counted_for_that_judgement(tmp_path: Path):
    first = outcomes(tmp_path)
    again = score(
        first,
        [intent_judge(attempts=1), judge_outcome()],
        model_roles={"grader": Script(record(4)).model("other")},
        action="append",
        display="log",
    )
    path = str(tmp_path / "again.eval")
    write_eval_log(again, path)
    log = read_eval_log(path)

    appended = [
        name for name in samples_of(log)[0].scores or {} if name.startswith("judge_outcome") and name[-1].isdigit()
    ]
    assert len(appended) == 1
    by_case = outcome_of(log, appended[0])
    assert [by_case[n]["outcome"] for n in range(len(ANSWERS))] == [*["judged"] * 5, "no_response"]
    assert [outcome_of(log)[n]["outcome"] for n in range(len(ANSWERS))][2] == "unscored_unparseable"
    # The other judge's counts stand in the results beside those of the first.
    assert log.results is not None
    counts = [
        {key: metric.value for key, metric in result.metrics.items()}
        for result in log.results.scores
        if result.name.startswith("judge_outcome")
    ]
    assert counts == [COUNTED, {"judged": 5, "no_response": 1}]


def test_outcome_appended_by_itself_is_that_of_the_last_judgement(tmp_path: Path):
    # `inspect score` takes one scorer at a time.
    log = outcomes(tmp_path)
    good = Script(record(4)).model("other")
    log = score(log, intent_judge(attempts=1), model_roles={"grader": good}, action="append", display="log")
    log = score(log, judge_outcome(), action="append", display="log")

    names = [name for name in samples_of(log)[0].scores or {} if name.startswith("judge_outcome")]
    assert len(names) == 2
    assert outcome_of(log, names[0])[2]["outcome"] == "unscored_unparseable"
    assert outcome_of(log, names[1])[2]["outcome"] == "judged"


def test_overwritten_judgement_is_the_one_that_counts(tmp_path: Path):
    again = score(
        outcomes(tmp_path),
        [intent_judge(attempts=1), judge_outcome()],
        model_roles={"grader": Script(record(4)).model("other")},
        action="overwrite",
        display="log",
    )

    assert metric_values(again, "judge_outcome") == {"judged": 5, "no_response": 1}


def test_case_that_was_not_judged_has_no_outcome(tmp_path: Path):
    task = Task(
        dataset=MemoryDataset([Sample(input="q", target="t", metadata={"answer": "t"})]),
        solver=answer_from_metadata(),
        scorer=[match(), judge_outcome()],
    )
    log = run(task, tmp_path, model="mockllm/answers", grader=None)

    assert log.status == "success"
    assert list(samples_of(log)[0].scores or {}) == ["match"]
