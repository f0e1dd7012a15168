"""AdamW whose rate rises and then falls along a cosine (SaMer paper, section 5.1)."""

import math

import torch
from torch import Tensor, nn


class Optimiser:
    """Takes steps on the weights of a module.

    Args:
        module: The module.
        steps: Number of steps there will be.
        learning_rate: Highest learning rate.
        betas: Of AdamW.
        weight_decay: Of AdamW.
        warmup: Share of the steps in which the rate rises.
    """

    def __init__(
        self,
        module: nn.Module,
        steps: int,
        *,
        learning_rate: float,
        betas: tuple[float, float],
        weight_decay: float,
        warmup: float,
    ) -> None:
        self._adam = torch.optim.AdamW(module.parameters(), lr=learning_rate, betas=betas, weight_decay=weight_decay)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._adam, lambda step: rate(step, steps, warmup))

    def step(self, loss: Tensor) -> None:
        """Go down the gradient of a loss."""
        self._adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._adam.step()
        self._schedule.step()


def rate(step: int, steps: int, warmup: float) -> float:
    """Share of the highest learning rate at a step: a linear rise, then half a cosine down to 0.

    Args:
        step: The step, from 0.
        steps: Number of steps.
        warmup: Share of them that rise.

    Returns:
        0 to 1.
    """
    rising = math.ceil(warmup * steps)
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising)))
