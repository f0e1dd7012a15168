"""Tests of `urs_inspect.samer._report`: mean weights by scenario, the picture of a training."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState

from tests.telling import tells
from urs_inspect.cli import main
from urs_inspect.samer._report import differing, read_weights


@scorer(metrics=[mean()])
def weighing() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=0.5, metadata=state.metadata["made"])

    return score


def log_of(tmp_path: Path, *samples: dict[str, Any], epochs: int = 1) -> EvalLog:
    dataset = MemoryDataset([Sample(input="x", metadata=facts) for facts in samples])
    task = Task(dataset=dataset, solver=[], scorer=weighing(), epochs=epochs)
    [log] = eval(
        task, model="none/none", display="none", log_realtime=False, log_dir=str(tmp_path / "logs")
    )
    assert log.status == "success", log.error
    return log


SAMPLES = (
    {"scenario": "roleplay", "made": {"weights": {"Style": 0.75, "Vivid": 0.25}}},
    {"scenario": "roleplay", "made": {"weights": {"Style": 1.0, "Emotion": 0.0}}},
    {"intent": "leisure", "made": {"weights": [{"Logic": 1}, {"Logic": 0.5, "Depth": 0.5}]}},
    {"scenario": "roleplay", "made": {"weights": None}},
    {"scenario": "roleplay", "made": {}},
    {"scenario": "roleplay", "made": {"weights": {"Style": "heavy"}}},
)


def test_means_by_hand(tmp_path: Path):
    leisure, roleplay = read_weights([log_of(tmp_path, *SAMPLES)])
    assert (roleplay.scenario, roleplay.responses) == ("roleplay", 2)
    # (0.75 + 1) / 2 and (0.25 + 0) / 2; Emotion never had any.
    assert roleplay.weights == {"Style": 0.875, "Vivid": 0.125}
    assert (leisure.scenario, leisure.responses) == ("leisure", 2)
    assert leisure.weights == {"Logic": 0.75, "Depth": 0.25}
    for one in (leisure, roleplay):
        assert sum(one.weights.values()) == pytest.approx(1)
        assert list(one.weights.values()) == sorted(one.weights.values(), reverse=True)


def of(model: str, weights_at: str, **weights: float) -> dict[str, Any]:
    return {
        "weights": weights,
        "samer": {"engine": "vllm", "model": model, "weights_at": weights_at},
    }


def again(log: EvalLog, *made: dict[str, Any]) -> EvalLog:
    """A copy of a log in which the samples were scored once more."""
    copy = log.model_copy(deep=True)
    for sample, facts in zip(copy.samples or [], made, strict=True):
        assert sample.scores is not None
        sample.scores["weighing1"] = Score(value=0.5, metadata=facts)
    return copy


def test_models_and_ways_of_reading_are_never_mixed(tmp_path: Path):
    samples: list[dict[str, Any]] = [
        {"scenario": "roleplay", "made": of("DIR", "response", Style=1.0)},
        {"scenario": "roleplay", "made": of("DIR", "query", Depth=1.0)},
        {"scenario": "roleplay", "made": of("OTHER", "response", Vivid=1.0)},
        {"scenario": "roleplay", "made": {**of("DIR", "response", Logic=1.0), "samer": None}},
        {"scenario": "roleplay", "made": {**of("DIR", "response", Logic=1.0)}},
    ]
    samples[4]["made"]["samer"]["engine"] = "transformers"  # which gives the same numbers
    found = read_weights([log_of(tmp_path, *samples)])
    assert [
        (one.samer.get("model"), one.samer.get("weights_at"), one.weights) for one in found
    ] == [
        (None, None, {"Logic": 1.0}),
        ("DIR", "query", {"Depth": 1.0}),
        ("DIR", "response", {"Logic": 0.5, "Style": 0.5}),
        ("OTHER", "response", {"Vivid": 1.0}),
    ]
    assert differing(found) == ["model", "weights_at"]
    assert differing(found[1:3]) == ["weights_at"]
    shown = CliRunner().invoke(main, ["samer", "weights", str(tmp_path / "logs")]).output
    assert [
        line.partition(": ")[2].strip()
        for line in shown.splitlines()
        if line.startswith("Mean weight")
    ] == [
        "model not given",
        "model DIR, weights_at query",
        "model DIR, weights_at response",
        "model OTHER, weights_at response",
    ]


def test_a_sample_that_was_scored_again_counts_once_the_last_time(tmp_path: Path):
    log = log_of(tmp_path, *({"made": of("DIR", "response", Style=1.0)} for _ in range(2)))
    twice = again(log, of("DIR", "response", Depth=1.0), of("OTHER", "response", Logic=1.0))
    for logs in ([twice], [log, twice]):  # a copy beside its original changes nothing
        mine, other = read_weights(logs)
        assert (mine.responses, mine.weights) == (2, {"Depth": 0.5, "Style": 0.5})
        assert (other.responses, other.weights) == (1, {"Logic": 1.0})


def test_epochs_are_responses_of_their_own(tmp_path: Path):
    log = log_of(tmp_path, {"made": of("DIR", "response", Style=1.0)}, epochs=3)
    assert [one.responses for one in read_weights([log])] == [3]


def test_the_command_shows_the_heaviest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    log_of(tmp_path, *SAMPLES)
    monkeypatch.setattr("urs_inspect.samer._scoring_commands._HEAVIEST", 1)
    shown = CliRunner().invoke(main, ["samer", "weights", str(tmp_path / "logs")])
    assert shown.exit_code == 0, shown.output
    assert "Style 87.5" in shown.output and "Vivid" not in shown.output
    listed = CliRunner().invoke(main, ["samer", "weights", str(tmp_path / "logs"), "--json"])
    found = json.loads(listed.output)
    assert [one["scenario"] for one in found["weights"]] == ["leisure", "roleplay"]
    assert found["scores"] == [] and "--json" not in shown.output


def test_mean_scores_where_a_dimension_was_selected_are_in_the_json(tmp_path: Path):
    log = log_of(tmp_path, *({"made": of("DIR", "response", Style=1.0)} for _ in range(2)))
    values = ({"overall": 0.2, "Style": 0.4}, {"overall": 0.6, "Style": float("nan")})
    for sample, value in zip(log.samples or [], values, strict=True):
        assert sample.scores is not None
        sample.scores["samer"] = Score(value=dict(value), metadata=sample.metadata["made"])
    write_eval_log(log)
    listed = CliRunner().invoke(main, ["samer", "weights", str(tmp_path / "logs"), "--json"])
    found = json.loads(listed.output)
    [scored] = found["scores"]
    assert scored["log"] == log.location
    assert scored["dimensions"]["overall"]["mean"]["value"] == pytest.approx(0.4)
    assert scored["dimensions"]["Style"]["mean"]["value"] == pytest.approx(0.4)
    assert scored["dimensions"]["Style"]["selected"] == 0.5
    assert [one["weights"] for one in found["weights"]] == [{"Style": 1.0}]
    shown = CliRunner().invoke(main, ["samer", "weights", str(tmp_path / "logs")])
    assert "Style 100.0" in shown.output and "--json" in shown.output


def test_logs_without_weights_are_refused(tmp_path: Path):
    log_of(tmp_path, {"made": {}})
    result = CliRunner().invoke(main, ["samer", "weights", str(tmp_path / "logs")])
    assert result.exit_code == 1 and tells(result.output, "no log ... SaMer")
