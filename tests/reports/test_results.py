"""Reading results back from logs."""

import math
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, read_eval_log

from tests.reports.intent.judged_logs import answered, judgement, write_judged
from urs_inspect.reports.results import read_result
from urs_inspect.tasks import urs


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    """Two epochs over the embedded cases."""
    [header] = inspect_eval(
        urs(dataset="sample"),
        model="urs_simulation/weak",
        model_roles={"grader": "urs_simulation/judge"},
        log_dir=str(tmp_path_factory.mktemp("logs")),
        display="none",
        epochs=2,
    )
    return read_eval_log(header.location)


def test_result_agrees_with_the_metrics_of_the_harness(log: EvalLog) -> None:
    result = read_result(log)
    assert result is not None
    assert log.results is not None
    [metrics] = [score.metrics for score in log.results.scores if score.name == "intent_judge"]
    assert result.final.value == pytest.approx(metrics["final"].value)
    assert (result.final.low, result.final.high) == pytest.approx((metrics["low"].value, metrics["high"].value))
    for name, estimate in {**result.by_group, **result.by_language, **result.by_criterion}.items():
        assert estimate.value == pytest.approx(metrics[name].value)


def test_results_are_read_from_samples_whatever_the_header_holds(log: EvalLog) -> None:
    # So logs of earlier versions, whose headers hold other metrics, are read alike.
    without = log.model_copy(update={"results": None, "reductions": None})
    assert repr(read_result(without)) == repr(read_result(log))


def test_questions_count_once_whatever_the_epochs(log: EvalLog) -> None:
    result = read_result(log)
    assert result is not None
    assert result.samples == 84
    assert result.final.n == 42
    assert result.outcomes == {"judged": 84}
    assert result.judges == ("urs_simulation/judge",)
    assert result.simulated
    assert result.self_judged == 0


def test_the_last_judgement_counts(log: EvalLog) -> None:
    judged_twice = log.model_copy(deep=True)
    for sample in judged_twice.samples or []:
        assert sample.scores is not None
        again = sample.scores["intent_judge"].model_copy(deep=True)
        again.value = dict.fromkeys(again.value, 4.0) if isinstance(again.value, dict) else 4.0
        sample.scores["intent_judge1"] = again
        sample.scores["intent_judge_of_somebody_else"] = again.model_copy(update={"value": 1.0})
    result = read_result(judged_twice)
    assert result is not None
    assert result.final.value == 4.0


def test_run_of_empty_answers_names_the_judges_that_it_has(log: EvalLog) -> None:
    silent = log.model_copy(deep=True)
    for sample in silent.samples or []:
        for score in (sample.scores or {}).values():
            score.metadata = {**(score.metadata or {}), "judges": [], "judges_not_asked": ["p/judge"]}
    found, judged = read_result(silent), read_result(log)
    assert found is not None and judged is not None
    assert (found.judges, judged.judges) == (("p/judge",), ("urs_simulation/judge",))


def test_logs_of_other_tasks_have_no_result(log: EvalLog) -> None:
    foreign = log.model_copy(deep=True)
    for sample in foreign.samples or []:
        sample.scores = {"match": (sample.scores or {})["intent_judge"]}
    assert read_result(foreign) is None


def test_nothing_scored_gives_no_number(log: EvalLog) -> None:
    failed = log.model_copy(deep=True)
    for sample in failed.samples or []:
        assert sample.scores is not None
        score = sample.scores["intent_judge"]
        score.value, score.metadata = math.nan, {"outcome": "unscored_refusal", "judges": [], "self_judged": False}
    result = read_result(failed)
    assert result is not None
    assert math.isnan(result.final.value)
    assert math.isnan(result.self_judged)
    assert result.outcomes == {"unscored_refusal": 84}


def test_bounds_of_the_mean_fill_missing_epochs_and_samples_that_ended_in_an_error(tmp_path: Path) -> None:
    samples = [
        answered("1", judgement(8.0)),
        answered("1", judgement(math.nan, outcome="unparsed"), epoch=2),
        answered("2", judgement(4.0)),
        answered("2", epoch=2),
        answered("3"),
    ]
    result = read_result(read_eval_log(write_judged(tmp_path / "a.eval", *samples)))
    assert result is not None
    assert (result.final.value, result.answers, result.unscored) == (6, 5, 3)
    # Means of questions: (8 + x) / 2, (4 + x) / 2 and x.
    assert (result.lowest, result.highest) == pytest.approx((8 / 3, 26 / 3))
