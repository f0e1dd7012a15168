"""`evolved` and `evolution_report`, on replies that are written down."""

import math
from collections.abc import Callable
from typing import Any, cast

import pytest
from inspect_ai import Task, eval
from inspect_ai import score as rescore
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.scorer import SampleScore, Score, Value
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tests.tasks.scripted import metric_values, samples_of
from urs_inspect.studies._evolved import evolution_report, evolved

WINDS, BATS, AMBER = (
    "What drives the trade winds?",
    "How do bats hear the walls?",
    "Where does amber come from?",
)


def record(
    instruction: str = "", mode: str = "", generator: str = "a", answer: str = "So."
) -> dict[str, Any]:
    base = {"generator": generator, "prompt_version": "v", "prompt_sha256": "0"}
    if mode:
        return {**base, "usable": False, "mode": mode, "detail": f"because of {mode}"}
    return {**base, "usable": True, "instruction": instruction, "answer": answer}


compute = cast("Callable[[list[SampleScore]], Value]", evolution_report())


@solver
def recorded() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.metadata["record"]:
            state.store.set("evolution", state.metadata["record"])
        return state

    return solve


def sample(
    seed: str, number: int, made: dict[str, Any] | None, parent: str | None = None
) -> Sample:
    return Sample(
        id=f"{seed}-r{number}",
        input=f"The seed {seed}.",
        metadata={
            "seed": seed,
            "parent": parent or seed,
            "round": number,
            "duplicates": 0.9,
            "record": made,
        },
    )


def scored(*samples: Sample, tmp_path: Any) -> EvalLog:
    task = Task(dataset=MemoryDataset(list(samples)), solver=recorded(), scorer=evolved())
    [log] = eval(task, model="none/none", display="log", log_dir=str(tmp_path), score_display=False)
    assert log.status == "success", log.error
    return log


def score_of(log: EvalLog) -> Score:
    [only] = samples_of(log)
    assert only.scores
    return only.scores["evolved"]


def test_a_usable_instruction_scores_1_and_is_shown(tmp_path: Any):
    score = score_of(scored(sample("s", 1, record(WINDS)), tmp_path=tmp_path))
    assert score.value == {"usable": 1.0}
    assert score.answer == WINDS
    assert score.explanation and all(
        part in score.explanation for part in ("`a`", "The seed s.", WINDS, "So.")
    )
    assert score.metadata and score.metadata["outcome"] == "usable"
    assert score.metadata["seed_instruction"] == "The seed s."


def test_a_refused_reply_scores_0_and_says_why(tmp_path: Any):
    score = score_of(scored(sample("s", 2, record(mode="copy"), "s-r1"), tmp_path=tmp_path))
    assert (score.value, score.reason) == ({"usable": 0.0}, "invalid_response_format")
    assert (
        score.explanation and "copy" in score.explanation and "because of copy" in score.explanation
    )
    assert score.metadata and score.metadata["outcome"] == "refused_copy"
    assert "seed_instruction" not in score.metadata  # its parent is no seed


@pytest.mark.parametrize("made", [record(mode="call_failed"), None])
def test_no_reply_has_no_score(made: dict[str, Any] | None, tmp_path: Any):
    score = score_of(scored(sample("s", 1, made), tmp_path=tmp_path))
    assert isinstance(score.value, dict) and math.isnan(float(score.value["usable"]))
    assert score.reason == "no_response"
    assert score.metadata and score.metadata["outcome"] == "unscored_call_failed"


def test_counts_by_generator_and_round_add_up(tmp_path: Any):
    # Round 1: x and y say the same, x comes first. z fails. Round 2: x copies seed y; y is new; z
    # is refused.
    log = scored(
        sample("x", 1, record(WINDS, generator="a")),
        sample("y", 1, record(WINDS.upper(), generator="b")),
        sample("z", 1, record(mode="call_failed", generator="c")),
        sample("x", 2, record("THE SEED  Y.", generator="b"), "x-r1"),
        sample("y", 2, record(BATS, generator="c")),
        sample("z", 2, record(mode="leak", generator="a")),
        tmp_path=tmp_path,
    )
    assert metric_values(log, "evolved") == {
        "asked": 6,
        "usable": 4,
        "kept": 2,
        "near-duplicates": 2,
        "usable share generator=a": 0.5,
        "usable share generator=b": 1,
        "usable share generator=c": 0.5,
        "kept generator=a": 1,
        "kept generator=b": 0,
        "kept generator=c": 1,
        "kept round=1": 1,
        "kept round=2": 1,
        "failures call_failed": 1,
        "failures leak": 1,
    }
    assert metric_values(log, "usable") == {"mean": pytest.approx(4 / 5)}
    # Scored again from the log alone, it is the same.
    again = rescore(log, evolved(), action="overwrite", display="none")
    assert metric_values(again, "evolved") == metric_values(log, "evolved")


def test_of_several_epochs_the_first_counts():
    def given(text: str) -> SampleScore:
        facts = {
            "outcome": "usable",
            "generator": "a",
            "failure_mode": "",
            "seed_instruction": "Seed?",
        }
        return SampleScore(
            score=Score(value={"usable": 1.0}, answer=text, metadata=facts),
            sample_id="s-r1",
            sample_metadata={"seed": "s", "round": 1, "duplicates": 0.9},
        )

    rows = compute([given(AMBER), given(BATS)])
    assert isinstance(rows, dict)
    assert (rows["asked"], rows["kept"]) == (1, 1)


def test_nothing_is_nothing():
    rows = compute([])
    assert rows == {"asked": 0, "usable": 0, "kept": 0, "near-duplicates": 0}
