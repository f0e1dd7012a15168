"""Simulated sums: labelled, fixed, and wrong as often as they are said to be."""

import pytest

from urs_inspect.datasets.addition import addition_chains, addition_prompt
from urs_inspect.judging.number_reply import read_result
from urs_inspect.providers.simulated_addition import SLIPS, simulate_sum


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
