"""`inspect eval-set`: several models, and picking up where a set was left."""

from pathlib import Path

import pytest
from inspect_ai import eval_set
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import GenerateConfig, get_model

from tests.servers import Request, Response, fails, says, serving
from tests.tasks.scripted import metric_values, samples_of
from urs_inspect import urs

CASES = 14


def evaluate(log_dir: Path, model, **options) -> tuple[bool, list[EvalLog]]:
    success, headers = eval_set(
        urs(dataset="sample"),
        log_dir=str(log_dir),
        model=model,
        model_roles={"grader": "urs_simulation/judge"},
        limit=CASES,
        display="log",
        retry_attempts=0,
        **options,
    )
    return success, [read_eval_log(header.location) for header in headers]


def test_set_of_two_models_gives_one_log_each_and_is_not_run_twice(tmp_path: Path):
    models = ["urs_simulation/strong", "urs_simulation/weak"]
    success, logs = evaluate(tmp_path / "set", models)

    assert success
    assert {log.eval.model for log in logs} == set(models)
    by_model = {log.eval.model: metric_values(log, "intent_judge")["final"] for log in logs}
    assert by_model["urs_simulation/strong"] > by_model["urs_simulation/weak"]
    again, same = evaluate(tmp_path / "set", models)
    assert again
    assert {log.eval.eval_id for log in same} == {log.eval.eval_id for log in logs}


def test_set_that_failed_half_way_is_resumed_without_asking_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    broken = {"now"}

    def script(request: Request) -> Response:
        return fails(400) if broken and request.number == 9 else says(f"Answer {request.number}.")

    with serving(script, monkeypatch) as server:
        # One at a time, so that what was answered before the failure is known.
        config = GenerateConfig(max_connections=1, max_retries=0)
        model = get_model("openai-api/local/subject", base_url=server.url, config=config, memoize=False)
        success, _ = evaluate(tmp_path / "set", model, max_samples=1)
        assert not success
        asked = server.count()
        assert asked < CASES
        broken.clear()

        success, [log] = evaluate(tmp_path / "set", model, max_samples=1)
        asked_again = server.count() - asked

    assert success
    assert sorted(str(sample.id) for sample in samples_of(log)) == sorted({str(s.id) for s in samples_of(log)})
    assert metric_values(log, "judge_outcome") == {"judged": CASES}
    numbers = {int(sample.output.completion.strip("Answer .")) for sample in samples_of(log)}
    reused = sum(number < asked for number in numbers)
    assert reused == 9  # the tenth request failed
    assert asked_again == CASES - reused
