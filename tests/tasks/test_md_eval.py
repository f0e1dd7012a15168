"""`md_eval` on the published file, with baselines and with scripted judges."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage

from tests.tasks.scripted import Reply, Script, judge_numbers, run, samples_of
from urs_inspect.samer import load_taxonomy
from urs_inspect.tasks import md_eval


def judged(log_dir: Path, script: Script | None = None, /, *, limit: int | None = None, **task_args: Any) -> EvalLog:
    model = script.model() if script else "none/none"
    log = run(md_eval(**task_args), log_dir, model=model, grader=None, limit=limit)
    assert log.status == "success", log.error
    return log


def metrics_of(log: EvalLog) -> dict[str, float]:
    return judge_numbers(log)


# --- baselines on all rows ---


@pytest.mark.data
def test_longest_is_right_on_255_of_342(data_dir: Path, tmp_path: Path):
    log = judged(tmp_path, judge="baseline/longest")
    metrics = metrics_of(log)

    assert len(samples_of(log)) == 349
    assert metrics["overall accuracy"] == pytest.approx(255 / 342)
    assert metrics["overall accuracy_all"] == pytest.approx(255 / 342)
    assert metrics["overall unread"] == 0
    assert metrics["overall longer_preference"] == 1
    # Its interval is about 4.6 points either side: sqrt(.746 * .254 / 342) * 1.96 = .046.
    assert 0.68 < metrics["overall accuracy low"] < 0.72
    assert 0.77 < metrics["overall accuracy high"] < 0.81
    # Every result holds the baselines, whoever judged.
    assert metrics["baseline longest overall accuracy"] == metrics["overall accuracy"]
    assert metrics["baseline longest dimension accuracy"] == metrics["dimension accuracy"]
    assert metrics["baseline second overall accuracy"] == pytest.approx(201 / 342)
    assert metrics["baseline copy_overall dimension accuracy"] == pytest.approx(2955 / 3248)
    for kind in ("longest", "shortest", "first", "second", "random"):
        for name in (f"baseline {kind} overall accuracy", f"baseline {kind} dimension accuracy"):
            assert metrics[f"{name} low"] < metrics[name] < metrics[f"{name} high"]
    # The header of the log is short, and begins with the same number and its bounds.
    assert log.results is not None
    [header] = [{name: one.value for name, one in result.metrics.items()} for result in log.results.scores]
    assert len(header) <= 30
    expected = [metrics[f"overall accuracy_all{end}"] for end in ("", " low", " high")]
    assert list(header.values())[:3] == pytest.approx(expected)

    # What was judged.
    labels = [(sample.scores or {})["pair_verdict"].metadata["labels"] for sample in samples_of(log)]  # type: ignore
    # 4,475 dimension labels in the file, 13 of them in the row without responses.
    assert sum(len(given) - 1 for given in labels) == 4475 - 13
    assert [given["Overall"] for given in labels].count("tie") == 7
    metadata = log.eval.metadata or {}
    assert metadata["dataset_sha256"] == "df44c4b8d1d5026aa4057f93bd05ba0cc2ebd922919509d165725f8f1abead02"
    assert len(metadata["dataset_skipped"]) == 1 and "null" in metadata["dataset_skipped"][0]


@pytest.mark.data
def test_second_is_right_on_201_of_350(data_dir: Path, tmp_path: Path):
    metrics = metrics_of(judged(tmp_path, judge="baseline/second"))
    # 201 overall labels are for model_b; the row of two nulls, which is left out, is one of the ties.
    assert metrics["overall three_way"] == pytest.approx(201 / 349)
    assert metrics["overall accuracy"] == pytest.approx(201 / 342)
    assert metrics["overall first_preference"] == 0


@pytest.mark.data
def test_copying_the_overall_label_shows_the_ceiling_of_halo(data_dir: Path, tmp_path: Path):
    log = judged(tmp_path, judge="baseline/copy_overall")
    metrics = judge_numbers(log)
    facts = [(sample.scores or {})["pair_verdict"].metadata or {} for sample in samples_of(log)]
    assert all(one["verdicts"]["a"]["Overall"] == one["labels"]["Overall"] for one in facts)
    # 3,248 dimension labels are no ties, and 2,955 of them equal the overall label. For 8 of them that is a tie, which
    # is a wrong verdict; without those it is 2,955 of 3,240, 91.2%.
    assert metrics["dimension accuracy"] == pytest.approx(2955 / 3248)
    assert metrics["dimension label_halo"] == pytest.approx(2955 / 3240)
    assert metrics["dimension halo"] == 1


@pytest.mark.data
def test_a_judge_that_answers_first_scores_as_the_baseline(data_dir: Path, tmp_path: Path):
    def answer(messages: list[ChatMessage]) -> Reply:
        names = re.findall(r"^- (.+?): ", messages[0].text, re.MULTILINE)
        return json.dumps({name: {"comparison": "x", "winner": "1"} for name in [*names, "Overall"]})

    metrics = metrics_of(judged(tmp_path, Script(answer)))
    for measured in ("overall", "dimension"):
        assert metrics[f"{measured} accuracy"] == metrics[f"baseline first {measured} accuracy"]
        assert metrics[f"{measured} unread"] == 0


# --- arguments ---


@pytest.mark.data
def test_scenarios_are_chosen(data_dir: Path, tmp_path: Path):
    log = judged(tmp_path, judge="baseline/first", scenarios="chitchat, roleplay")
    assert {(sample.metadata or {})["scenario"] for sample in samples_of(log)} == {"chitchat", "roleplay"}
    needs = {(sample.metadata or {})["need"] for sample in samples_of(log)}
    assert needs == {load_taxonomy().scenarios[name].need for name in ("chitchat", "roleplay")}


@pytest.mark.data
def test_per_dimension_in_both_orders_asks_twice_for_each(data_dir: Path, tmp_path: Path):
    judge = Script('{"winner": "1"}')
    log = judged(tmp_path, judge, limit=1, protocol="per_dimension", orders="both")
    [sample] = samples_of(log)
    assert len(judge.seen) == 2 * (len((sample.metadata or {})["dimensions"]) + 1)
    assert {config.temperature for config in judge.configs} == {0}
    metrics = metrics_of(log)
    assert metrics["dimension flips"] == metrics["overall flips"] == 1
    assert metrics["dimension first_preference"] == metrics["overall first_preference"] == 1


@pytest.mark.data
def test_no_model_to_judge_is_a_clear_error(data_dir: Path, tmp_path: Path):
    log = run(md_eval(), tmp_path, model="none/none", grader=None, limit=1)
    assert log.status == "error" and log.error is not None
    assert "--model none cannot judge" in log.error.message
    assert "-T judge=baseline/longest" in log.error.message
