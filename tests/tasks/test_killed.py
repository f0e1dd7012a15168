"""A killed run, or a set that failed, is finished, and no call is repeated whose result is in the
log.
"""

import hashlib
import json
import re
from collections import Counter
from contextvars import copy_context
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval_set
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tests.servers import Request, Response, fails, says, serving
from tests.tasks.killed import kill_and_retry
from tests.tasks.scripted import metric_values, run, samples_of
from tests.tasks.test_urs_crossval import answer_log, cells, reference_log
from urs_inspect.tasks import urs, urs_crossval


@pytest.mark.usefixtures("no_preflight")
def test_a_cross_validation_that_failed_half_way_is_resumed_without_asking_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases, judges = 6, ("openai-api/local/one", "openai-api/local/two")
    size, broken = cases * 2 * 2 * 2, {"now"}
    for name in "AB":
        answer_log(tmp_path, name, limit=cases)
    references = reference_log(tmp_path, "A", limit=cases).location

    def evaluate() -> tuple[bool, EvalLog]:
        task = urs_crossval(
            dataset="sample",
            answers=str(tmp_path / "answers"),
            references=[references, "dataset"],
            cases=cases,
            evaluators=list(judges),
        )
        failing_once(task, broken, after=20)
        graders = [get_model(name, memoize=False) for name in judges]
        success, [header] = copy_context().run(
            eval_set,
            task,
            str(tmp_path / "set"),
            model="none/none",
            model_roles={"grader": graders},
            display="log",
            retry_attempts=0,
            max_samples=2,
        )
        return success, read_eval_log(header.location)

    with serving(lambda request: says('{"Final Score": 7}'), monkeypatch) as server:
        success, first = evaluate()
        kept = sum(sample.error is None for sample in samples_of(first))
        assert not success and not broken and 18 <= kept < size
        success, log = evaluate()
        asked = Counter((request.model, str(request.messages)) for request in server.requests)
    judged = cells(log)
    assert success and len(samples_of(log)) == size == len(judged)
    assert set(judged.values()) == {1} and {key[1] for key in judged} == set(judges)
    assert metric_values(log, "crossval_cell")["judged"] == size
    # Only what was on its way at the failure is asked for again.
    assert len(asked) == size and sum(times - 1 for times in asked.values()) <= 2


def failing_once(task: Task, broken: set[str], after: int) -> None:
    """Have the solver of a task raise once, after so many samples."""
    inner, begun = task.solver, count()
    assert isinstance(inner, Solver)

    @solver
    def breaking() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state = await inner(state, generate)
            if next(begun) >= after and broken:
                broken.clear()
                raise RuntimeError("the disk is full")
            return state

        return solve

    task.solver = breaking()


def given(request: Request) -> str:
    texts = "\n".join(message["content"] for message in request.messages)
    found = re.search(r"<given_instruction>\n(.*?)\n</given_instruction>", texts, re.DOTALL)
    assert found
    return found.group(1)


def evolved(request: Request) -> Response:
    """What a generator makes of an instruction.

    The same whenever it is asked, so that two runs can be compared.
    """
    digest = hashlib.sha256(f"{request.model} {given(request)}".encode()).hexdigest()
    text = (
        "Nothing."
        if digest[0] in "012"
        else json.dumps({"instruction": f"Explain {digest}.", "answer": digest})
    )
    return says(text)


@pytest.mark.satellites
@pytest.mark.usefixtures("no_preflight")
def test_an_evolution_in_its_second_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from urs_inspect.studies._evolve_task import evolve

    seeds = "".join(f"seed{number},Why does thing {number} happen?\n" for number in range(6))
    file, pool, whole = (tmp_path / name for name in ("seeds.csv", "pool.jsonl", "whole.jsonl"))
    file.write_text(f"id,instruction\n{seeds}", encoding="utf-8")
    found = kill_and_retry(
        *(
            "urs_inspect/evolve",
            "-T",
            f"seeds={file}",
            "-T",
            "scenario=understanding",
            "-T",
            "rounds=3",
        ),
        *("-T", f"output={pool}", "--model", "none", "--max-connections", "2", "--log-buffer", "1"),
        *(
            "--model-role",
            "generator=[openai-api/local/one, openai-api/local/two]",
        ),
        reply=evolved,
        answered=12,  # the first round and some of the second, with what is asked once more
        logged=7,
        tmp_path=tmp_path,
        monkeypatch=monkeypatch,
    )
    with serving(evolved, monkeypatch) as server:  # the same evolution without a kill
        generators = [
            get_model(f"openai-api/local/{name}", memoize=False) for name in ("one", "two")
        ]
        task = evolve(str(file), "understanding", rounds=3, output=str(whole))
        log = run(task, tmp_path / "whole", model="none/none", roles={"generator": generators})
        assert log.status == "success", log.error

    # Together both parts asked what the run asks that is never killed: nothing was left out, and
    # nothing is asked twice but the first request of the two samples that may have waited for their
    # second one.
    asked, expected = (
        Counter((request.model, given(request)) for request in some)
        for some in (found.answered, server.requests)
    )
    assert expected.total() > 18, "no generator was asked once more"
    assert not expected - asked
    assert (asked - expected).total() <= 2
    assert pool.read_bytes() == whole.read_bytes()
    assert len({sample.id for sample in samples_of(found.log)}) == len(samples_of(found.log)) == 18
    kept = len(pool.read_text(encoding="utf-8").splitlines())
    assert metric_values(found.log, "evolved")["kept"] == kept
    assert 0 < kept < 18


def test_a_set_that_failed_half_way_is_resumed_without_asking_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases, broken = 14, {"now"}

    def script(request: Request) -> Response:
        return fails(400) if broken and request.number == 9 else says(f"Answer {request.number}.")

    def evaluate(model: Model) -> tuple[bool, list[EvalLog]]:
        options: dict[str, Any] = {
            "limit": cases,
            "display": "log",
            "retry_attempts": 0,
            "max_samples": 1,
        }
        roles = {"grader": "urs_simulation/judge"}
        # In a context of its own, since the harness leaves the model of a set behind.
        return copy_context().run(
            eval_set,
            urs(dataset="sample"),
            str(tmp_path / "set"),
            model=model,
            model_roles=roles,
            **options,
        )

    with serving(script, monkeypatch) as server:
        # One at a time, so that what was answered before the failure is known.
        config = GenerateConfig(max_connections=1, max_retries=0)
        model = get_model(
            "openai-api/local/subject", base_url=server.url, config=config, memoize=False
        )
        success, _ = evaluate(model)
        assert not success
        asked = server.count()
        assert asked < cases
        broken.clear()
        success, [header] = evaluate(model)
        asked_again = server.count() - asked
        assert (
            evaluate(model)[0] and server.count() == asked + asked_again
        )  # what is finished is not run again

    log = read_eval_log(header.location)
    assert success and len({sample.id for sample in samples_of(log)}) == len(samples_of(log))
    assert metric_values(log, "judge_outcome") == {"judged": cases}
    numbers = {int(sample.output.completion.strip("Answer .")) for sample in samples_of(log)}
    reused = sum(number < asked for number in numbers)
    assert reused == 9  # the tenth request failed
    assert asked_again == cases - reused
