"""Tests of `urs_inspect.solvers._role_models`."""

from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import Model, get_model

from tests.tasks.commands import refused
from tests.tasks.scripted import Script, run, samples_of
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.solvers import give_rating
from urs_inspect.solvers._role_models import bound_models, judge_model, models_with, refuse_no_model
from urs_inspect.tasks import md_eval


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> list[Model]:
    """Two models: both have the role `panel`, the first has the role `single`."""
    made = [get_model(f"mockllm/{name}", memoize=False) for name in "ab"]
    roles = {"single": made[0], "panel": made, "empty": []}
    monkeypatch.setattr("urs_inspect.solvers._role_models.model_roles", lambda: roles)
    return made


def test_one_or_several_models_in_their_order(models: list[Model]) -> None:
    for found in (bound_models, models_with):
        assert found("single") == models[:1]
        assert found("panel") == models


@pytest.mark.parametrize("role", ["empty", "unknown"])
def test_a_role_that_nobody_has(models: list[Model], role: str) -> None:
    assert bound_models(role) == []
    with pytest.raises(InputError) as caught:
        models_with(role)
    assert tells(str(caught.value), f"role '{role}' ... --model-role '{role}=[provider/a, ...]'")


RATINGS = '{"prompt": "Why?", "response": "So.", "rating": 2}\n'


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["md_eval"], "name a model, or -T judge=baseline/longest"),
        (["judge_rating", "-T", "bench=ratings.jsonl", "-T", "scale=1,5"], "name a model"),
    ],
)
def test_the_command_says_so_in_one_line_and_runs_nothing(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ratings.jsonl").write_text(RATINGS, encoding="utf-8")
    task, *rest = arguments
    given = ("eval", f"urs_inspect/{task}", *rest, "--model", "none", "--log-dir", "logs")
    refusal = refused(*given, monkeypatch=monkeypatch, capsys=capsys)
    assert refusal.status == 1
    assert refusal.error.splitlines() == [f"Error: --model none cannot judge; {said}"]
    assert not list(tmp_path.glob("logs/*"))


def test_a_task_made_before_the_model_is_known_ends_at_its_first_sample(tmp_path: Path) -> None:
    task = Task(dataset=MemoryDataset([Sample(id="s", input="Why?")]), solver=give_rating())
    log = run(task, tmp_path, model="none/none", grader=None)
    assert log.status == "error" and log.error is not None
    assert tells(log.error.message, "--model none ... judge")
    assert "baseline" not in log.error.message


def test_outside_a_run_there_is_nothing_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INSPECT_EVAL_MODEL", raising=False)
    refuse_no_model()
    monkeypatch.setenv("INSPECT_EVAL_MODEL", "no_such_provider/x")
    refuse_no_model()
    monkeypatch.setenv("INSPECT_EVAL_MODEL", "none/none")
    with pytest.raises(InputError, match="--model none cannot judge"):
        judge_model()


@pytest.mark.data
def test_a_run_without_a_model_does_not_touch_the_next(data_dir: Path, tmp_path: Path) -> None:
    run(md_eval(judge="baseline/first"), tmp_path, model="none/none", grader=None, limit=1)
    log = run(md_eval(), tmp_path, model=Script("x").model(), grader=None, limit=1)
    assert log.status == "success" and len(samples_of(log)) == 1
