"""A killed run, or a set that failed, is finished, and no call is repeated whose result is in the
log.
"""

import hashlib
import json
import re
from collections import Counter
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval_set
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import GenerateConfig, Model, get_model

from tests.servers import Request, Response, fails, says, serving
from tests.tasks.killed import kill_and_retry
from tests.tasks.scripted import metric_values, run, samples_of
from tests.tasks.test_urs_crossval import answer_log, cells, reference_log
from tests.telling import tells
from urs_inspect.tasks import evolve, urs


def test_a_run_of_urs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = kill_and_retry(
        *(
            "urs_inspect/urs",
            "-T",
            "dataset=sample",
            "-T",
            "preflight=false",
            "--max-connections",
            "2",
        ),
        *("--model", "openai-api/local/subject", "--model-role", "grader=urs_simulation/judge"),
        reply=lambda request: says(f"Answer {request.number}."),
        answered=25,
        logged=10,  # the harness writes samples to the log ten at a time
        tmp_path=tmp_path,
        monkeypatch=monkeypatch,
    )
    ids = Counter(str(sample.id) for sample in samples_of(found.log))
    assert ids == Counter(str(sample.id) for sample in urs(dataset="sample").dataset)
    assert {sample.epoch for sample in samples_of(found.log)} == {1}
    assert metric_values(found.log, "judge_outcome") == {"judged": 42}
    # An answer with a number below the count at the kill was given before it.
    numbers = [
        int(re.findall(r"\d+", sample.output.completion)[0]) for sample in samples_of(found.log)
    ]
    reused = sum(number < found.before for number in numbers)
    assert reused >= 10
    assert len(found.requests) - found.before == 42 - reused


def test_a_cross_validation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases, judges = 6, ("openai-api/local/one", "openai-api/local/two")
    size = cases * 2 * 2 * 2
    for name in "AB":
        answer_log(tmp_path, name)
    references = reference_log(tmp_path, "A").location
    found = kill_and_retry(
        *(
            "urs_inspect/urs_crossval",
            "-T",
            "dataset=sample",
            "-T",
            f"answers={tmp_path / 'answers'}",
        ),
        *("-T", f"references={references},dataset", "-T", f"cases={cases}", "--model", "none"),
        *("-T", "preflight=false"),  # its calls are repeated by every attempt
        *("--model-role", f"grader=[{', '.join(judges)}]", "--max-connections", "2"),
        *("--max-samples", "2", "--log-buffer", "1"),
        reply=lambda request: says('{"Final Score": 7}'),
        answered=20,
        logged=14,
        tmp_path=tmp_path,
        monkeypatch=monkeypatch,
    )
    assert tells(found.output, f"{size} judge calls")
    assert 14 <= found.kept < size
    judged = cells(found.log)
    assert len(samples_of(found.log)) == size == len(judged) and set(judged.values()) == {1}
    assert {key[1] for key in judged} == set(judges)
    assert metric_values(found.log, "crossval_cell")["judged"] == size
    # Only what was on its way at the kill is asked for again.
    asked = Counter((request.model, str(request.messages)) for request in found.requests)
    assert len(asked) == size and sum(times - 1 for times in asked.values()) <= 20 + 2 - found.kept


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


def test_an_evolution_in_its_second_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
            "-T",
            "preflight=false",
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
        task = evolve(str(file), "understanding", rounds=3, output=str(whole), preflight=False)
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
