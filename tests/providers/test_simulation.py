"""Tests of `urs_inspect.providers._simulation`."""

import re
from pathlib import Path
from statistics import median

import pytest
from inspect_ai.log import EvalLog

from tests.tasks.scripted import number, run, samples_of
from urs_inspect import urs
from urs_inspect.datasets import Vocabulary, load_urs
from urs_inspect.datasets._addition import addition_chains, addition_prompt
from urs_inspect.judging._number_reply import read_result
from urs_inspect.providers._simulation import _SENTENCE, SLIPS, simulate_answer, simulate_sum


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("model", "slip"), [*SLIPS.items(), ("quality-7.5", 0.05), ("quality-10", 0.0)]
)
def test_chains_go_wrong_as_often_as_said(language: str, model: str, slip: float) -> None:
    prompt, right, expected = addition_prompt(language), 0, 0.0
    chains = addition_chains([2, 8, 20], 200, 1)
    for chain in chains:
        reply = simulate_sum(prompt.fill(chain), model)
        assert reply is not None and reply.startswith("[simulated answer]")
        assert simulate_sum(prompt.fill(chain), model) == reply
        right += read_result(reply) == chain.total
        expected += (1 - slip) ** (len(chain.numbers) - 1)
    # The errors are ±1, ±10, ±100, so that two slips rarely make up for each other; 4 standard
    # deviations.
    assert abs(right - expected) <= 4 * (len(chains) / 4) ** 0.5 if slip else right == len(chains)


@pytest.mark.parametrize(
    "question",
    [
        "What is 12 + 34?",
        "",
        "Add up these numbers: 12 + 34",
        addition_prompt("en").frame.replace("{chain}", "1 + 2"),
    ],
)
def test_another_question_is_left_to_others(question: str) -> None:
    assert simulate_sum(question, "strong") is None


AS_IS = Vocabulary(lambda label: label, lambda label: label)


def simulated(directory: Path, model: str, **options: int) -> EvalLog:
    model, grader = f"urs_simulation/{model}", "urs_simulation/judge"
    return run(urs(dataset="sample"), directory, model=model, grader=grader, **options)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, EvalLog]:
    with pytest.MonkeyPatch.context() as patched:
        directory = tmp_path_factory.mktemp("runs")
        patched.setenv("INSPECT_LOG_DIR", str(directory / "logs"))
        patched.setenv("XDG_DATA_HOME", str(directory / "data"))
        return {model: simulated(directory / model, model) for model in ("strong", "weak")}


def finals(log: EvalLog) -> dict[str, float]:
    found = {}
    for sample in samples_of(log):
        value = (sample.scores or {})["intent_judge"].value
        assert isinstance(value, dict)
        found[str(sample.id)] = number(value["final"])
    return found


def test_strong_model_beats_the_weak_one_and_both_are_named_as_simulated(logs: dict[str, EvalLog]):
    strong, weak = finals(logs["strong"]), finals(logs["weak"])
    assert sum(strong.values()) > sum(weak.values())
    assert len(set(weak.values())) > 3  # they differ from case to case
    for model, log in logs.items():
        assert log.eval.model == f"urs_simulation/{model}"
        assert re.search("simulation", str(log.eval.model_roles))
        for sample in samples_of(log):
            assert sample.output.completion.startswith("[simulated answer]")
            assert "[simulated judgement]" in (
                (sample.scores or {})["intent_judge"].explanation or ""
            )


def test_simulation_gives_the_same_scores_every_time(logs: dict[str, EvalLog], tmp_path: Path):
    again = finals(simulated(tmp_path, "weak", limit=10))
    assert len(again) == 10
    assert again.items() <= finals(logs["weak"]).items()


def test_usage_is_reported_so_that_the_harness_counts_nothing_itself(logs: dict[str, EvalLog]):
    log = logs["weak"]
    for usage in (log.stats.model_usage["urs_simulation/weak"], log.stats.role_usage["grader"]):
        assert usage.input_tokens > 0
        assert usage.total_tokens == usage.input_tokens + usage.output_tokens


def test_strong_and_weak_differ_in_content_and_not_in_length():
    cases = load_urs("sample", AS_IS).cases
    strong = [simulate_answer(case.question, "strong") for case in cases]
    weak = [simulate_answer(f" {case.question}\n", "weak") for case in cases]
    assert len(cases) == 42
    for better, worse, case in zip(strong, weak, cases, strict=True):
        assert better != worse and not better.startswith(worse)
        right = [
            set(_SENTENCE.findall(case.reference)) & set(_SENTENCE.findall(text))
            for text in (better, worse)
        ]
        assert len(right[0]) >= len(right[1])
    ratios = [len(worse) / len(better) for better, worse in zip(strong, weak, strict=True)]
    assert 0.9 < median(ratios) < 1.1
    assert 15 <= sum(ratio > 1 for ratio in ratios) <= 27


def test_unknown_question_gets_an_answer_without_content():
    answer = simulate_answer("What is new?" + "x" * 500, "weak")

    assert answer.startswith(
        "[simulated answer] This simulated model has nothing to say about: What is new?"
    )
    assert len(answer) < 300
