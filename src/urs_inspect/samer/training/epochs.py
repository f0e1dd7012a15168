"""What is known of one epoch of training."""

import math
from dataclasses import dataclass

from urs_inspect.samer.training.predictions import Accuracy


@dataclass(frozen=True)
class EpochRecord:
    """One epoch.

    Attributes:
        epoch: Its number from 1; of the predictor's own epochs, counted from 1 as well.
        phase: `predictor` or `joint`.
        loss: Mean loss over the steps.
        selection: Mean of the predictor's loss.
        dimensions: Mean of the loss on dimensions; NaN in the predictor's phase.
        overall: Mean of the overall loss, likewise.
        held_out: Accuracy on held-out pairs after the epoch; None if there are none, or in the predictor's phase.
    """

    epoch: int
    phase: str
    loss: float
    selection: float
    dimensions: float = math.nan
    overall: float = math.nan
    held_out: Accuracy | None = None
