"""Epochs of training -> a picture."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

from urs_inspect._util import InputError

_INSTALL = "pip install 'urs-inspect[viz]'"


class _Accuracy(Protocol):
    @property
    def overall(self) -> float: ...
    @property
    def dimensions(self) -> float: ...


class Epoch(Protocol):
    """What is drawn of an epoch: those of the phase `joint` only."""

    @property
    def phase(self) -> str:
        """`predictor` or `joint`."""

    @property
    def epoch(self) -> int:
        """Its number from 1."""

    @property
    def selection(self) -> float:
        """Mean loss of the predictor."""

    @property
    def dimensions(self) -> float:
        """Mean loss on dimensions."""

    @property
    def overall(self) -> float:
        """Mean overall loss."""

    @property
    def held_out(self) -> _Accuracy | None:
        """Accuracy on held-out pairs."""


def draw_learning_curves(history: Sequence[Epoch], path: Path) -> None:
    """Draw losses and held-out accuracies over epochs as SVG.

    Args:
        history: The epochs.
        path: The file to write.

    Raises:
        InputError: If matplotlib is missing.
    """
    try:
        figures = import_module("matplotlib.figure")
        matplotlib = import_module("matplotlib")
    except ImportError as error:
        raise InputError(f"learning curves need matplotlib, which cannot be imported ({error}): {_INSTALL}") from error
    joint = [record for record in history if record.phase == "joint"]
    epochs = [record.epoch for record in joint]
    # The same run gives the same file: no date, and ids that do not change.
    with matplotlib.rc_context({"svg.hashsalt": "urs_inspect", "svg.fonttype": "none"}):
        figure = figures.Figure(figsize=(9, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        for name, label in (("selection", "Eq. 1"), ("dimensions", "Eq. 2"), ("overall", "Eq. 3")):
            values = [getattr(record, name) for record in joint]
            left.plot(epochs, [value / values[0] if values[0] else 0 for value in values], marker=".", label=label)
        left.set(xlabel="epoch", ylabel="training loss, first epoch = 1")
        held = [record.held_out for record in joint if record.held_out is not None]
        for name in ("overall", "dimensions"):
            right.plot(epochs[: len(held)], [100 * getattr(one, name) for one in held], marker=".", label=name)
        right.set(xlabel="epoch", ylabel="held-out accuracy, %")
        for axes in (left, right):
            axes.legend(frameon=False)
            axes.grid(alpha=0.3)
        figure.savefig(path, format="svg", metadata={"Date": None})
