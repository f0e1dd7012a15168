"""Tests of `urs_inspect.providers.simulation`."""

import json
import re
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.model import get_model

from tests.tasks.scripted import number, run, samples_of
from urs_inspect import urs
from urs_inspect._util import InputError
from urs_inspect.datasets.addition import addition_chains, addition_prompt
from urs_inspect.judging import PromptBuilder, ScoreRecord, read_reply
from urs_inspect.judging.evolution import evolution_prompt
from urs_inspect.judging.number_reply import read_result
from urs_inspect.providers.simulation import SLIPS, simulate_answer, simulate_instruction, simulate_judge, simulate_sum
from urs_inspect.rubrics import Rubric


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("model", "slip"), [*SLIPS.items(), ("quality-7.5", 0.05), ("quality-10", 0.0)])
def test_chains_go_wrong_as_often_as_said(language: str, model: str, slip: float) -> None:
    prompt, right, expected = addition_prompt(language), 0, 0.0
    chains = addition_chains([2, 8, 20], 200, 1)
    for chain in chains:
        reply = simulate_sum(prompt.fill(chain), model)
        assert reply is not None and reply.startswith("[simulated answer]")
        assert simulate_sum(prompt.fill(chain), model) == reply
        right += read_result(reply) == chain.total
        expected += (1 - slip) ** (len(chain.numbers) - 1)
    # The errors are ±1, ±10, ±100, so that two slips rarely make up for each other; 4 standard deviations.
    assert abs(right - expected) <= 4 * (len(chains) / 4) ** 0.5 if slip else right == len(chains)


@pytest.mark.parametrize(
    "question",
    ["What is 12 + 34?", "", "Add up these numbers: 12 + 34", addition_prompt("en").frame.replace("{chain}", "1 + 2")],
)
def test_another_question_is_left_to_others(question: str) -> None:
    assert simulate_sum(question, "strong") is None


def prompted(text: str, scenario: str) -> str:
    prompt = evolution_prompt(scenario, text)
    return f"{prompt.instructions}\n{prompt.case}"


def test_an_instruction_depends_on_the_model_and_what_was_given() -> None:
    first = simulate_instruction(prompted("Paint a fence.", "reasoning"), "strong")
    assert first == simulate_instruction(prompted("Paint a fence.", "reasoning"), "strong")
    assert first != simulate_instruction(prompted("Paint a fence.", "reasoning"), "weak")
    assert first != simulate_instruction(prompted("Paint a wall.", "reasoning"), "strong")


def test_an_answer_is_given_where_the_scenario_has_one() -> None:
    asked = simulate_instruction(prompted("Paint a fence.", "reasoning"), "strong")
    free = simulate_instruction(prompted("Paint a fence.", "writing"), "strong")
    assert asked is not None and free is not None
    assert set(json.loads(asked)) == {"instruction", "answer"}
    assert set(json.loads(free)) == {"instruction"}


def test_without_an_instruction_there_is_nothing_to_make() -> None:
    assert simulate_instruction("Which of two responses is better?", "strong") is None


QUESTION = "If leap years are every 4 years, why wasn't 1900 a leap year but 2000 was?"


def simulated(tmp_path: Path, model: str) -> EvalLog:
    return run(urs(dataset="sample"), tmp_path, model=f"urs_simulation/{model}", grader="urs_simulation/judge")


def finals(log: EvalLog) -> dict[str, float]:
    found = {}
    for sample in samples_of(log):
        value = (sample.scores or {})["intent_judge"].value
        assert isinstance(value, dict)
        found[str(sample.id)] = number(value["final"])
    return found


def test_strong_model_beats_the_weak_one_and_both_say_that_they_are_simulated(tmp_path: Path):
    strong, weak = simulated(tmp_path / "strong", "strong"), simulated(tmp_path / "weak", "weak")

    assert sum(finals(strong).values()) > sum(finals(weak).values())
    for log in (strong, weak):
        assert all(sample.output.completion.startswith("[simulated answer]") for sample in samples_of(log))
        assert all(
            "[simulated judgement]" in ((sample.scores or {})["intent_judge"].explanation or "")
            for sample in samples_of(log)
        )


def test_simulation_gives_the_same_scores_every_time(tmp_path: Path):
    first, second = (finals(simulated(tmp_path / name, "weak")) for name in ("first", "second"))

    assert first == second
    assert len(set(first.values())) > 3  # and they do differ from case to case


def test_usage_is_reported_so_that_the_harness_counts_nothing_itself(tmp_path: Path):
    log = run(urs(dataset="sample"), tmp_path, model="urs_simulation/weak", grader="urs_simulation/judge", limit=1)

    for usage in (log.stats.model_usage["urs_simulation/weak"], log.stats.role_usage["grader"]):
        assert usage.input_tokens > 0
        assert usage.total_tokens == usage.input_tokens + usage.output_tokens


def test_unknown_simulated_model_is_refused_with_those_that_exist():
    with pytest.raises(InputError, match=r"unknown simulated model 'gpt'; allowed: strong, weak, judge"):
        get_model("urs_simulation/gpt", memoize=False)


def test_answer_keeps_a_share_of_the_known_reference():
    weak, strong = simulate_answer(QUESTION, 0.1), simulate_answer(f" {QUESTION}\n", 1.0)

    assert weak == "[simulated answer] Because a solar year isn't exactly 365.25 days."
    assert strong.startswith(weak)
    assert len(strong) > len(weak)


def test_unknown_question_gets_an_answer_without_content():
    answer = simulate_answer("What is new?" + "x" * 500, 1.0)

    assert answer.startswith("[simulated answer] This simulated model has nothing to say about: What is new?")
    assert len(answer) < 300


@pytest.mark.parametrize("language", ["en", "zh"])
def test_judgement_is_in_the_form_that_the_prompt_asks_for(language: str, prompts: PromptBuilder, rubric: Rubric):
    for intent in rubric.intents:

        def judge(answer: str, intent: str = intent) -> ScoreRecord:
            names = [*(rubric.criteria[key][language].name for key in rubric.intents[intent].criteria)]
            names.append(rubric.languages[language].final.name)
            prompt = prompts.build(intent, language, question="q", reference="abcdefgh", answer=answer)
            read = read_reply(
                simulate_judge(f"{prompt.instructions}\n{prompt.case}", names), rubric, rubric.intents[intent].criteria
            )
            assert isinstance(read, ScoreRecord)
            return read

        # Shared pairs of neighbouring characters: none, 3 of 7 (1 + 8 * 3 / 7 = 4.4), all.
        assert [judge(answer).final for answer in ("xyz", "abcd", "abcdefgh")] == [1, 4, 9]
        assert all(score is not None for score in judge("abcd").criteria.values())


def test_simulation_is_named_in_the_log(tmp_path: Path):
    log = run(urs(dataset="sample"), tmp_path, model="urs_simulation/weak", grader="urs_simulation/judge", limit=1)

    assert log.eval.model == "urs_simulation/weak"
    assert re.search("simulation", str(log.eval.model_roles))
