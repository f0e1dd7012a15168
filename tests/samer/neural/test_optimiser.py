"""The learning rate's rise and fall, and one step of AdamW."""

import math

import pytest
import torch

from urs_inspect.samer.neural.optimiser import Optimiser, rate


def test_the_rate_rises_and_falls():
    # 20 steps, 10 % of them rising: 1/2, 1, then half a cosine over 18.
    rates = [rate(step, 20, 0.1) for step in range(20)]
    assert rates[:3] == [0.5, 1.0, 1.0]
    assert rates[11] == pytest.approx(0.5)
    assert sorted(rates[1:], reverse=True) == rates[1:]
    assert rate(20, 20, 0.1) == pytest.approx(0)
    assert rate(0, 1, 0.0) == 1


def test_a_step_goes_as_far_as_the_rate_says():
    # AdamW's first step is the rate itself in the direction of the sign, after a decay of rate * decay * weight.
    weight = torch.nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        weight.weight.fill_(2.0)
    optimiser = Optimiser(weight, 20, learning_rate=0.1, betas=(0.9, 0.95), weight_decay=0.5, warmup=0.1)
    optimiser.step(3 * weight.weight.sum())
    first = 0.1 * 0.5  # half of the highest rate, in the first of two rising steps
    assert weight.weight.item() == pytest.approx(2.0 - first * 0.5 * 2.0 - first, abs=1e-6)
    before = weight.weight.item()
    optimiser.step(3 * weight.weight.sum())  # the same gradient: again the rate itself, now the highest
    assert weight.weight.item() == pytest.approx(before - 0.1 * 0.5 * before - 0.1, abs=1e-6)
    assert math.isfinite(weight.weight.item())
