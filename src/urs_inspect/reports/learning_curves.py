"""A picture of a training: losses and held-out accuracies over epochs."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from urs_inspect._util import InputError

_LOSSES = {"selection": "Eq. 1", "dimensions": "Eq. 2", "overall": "Eq. 3"}
"""Losses of an epoch, and their equations in the SaMer paper."""


class _Accuracy(Protocol):
    @property
    def overall(self) -> float: ...
    @property
    def dimensions(self) -> float: ...


class Epoch(Protocol):
    """An epoch of the phase `predictor` or `joint`, with mean losses; only those of `joint` are drawn."""

    @property
    def phase(self) -> str: ...  # noqa: D102
    @property
    def epoch(self) -> int: ...  # noqa: D102
    @property
    def selection(self) -> float: ...  # noqa: D102
    @property
    def dimensions(self) -> float: ...  # noqa: D102
    @property
    def overall(self) -> float: ...  # noqa: D102
    @property
    def held_out(self) -> _Accuracy | None: ...  # noqa: D102


def draw_learning_curves(history: Sequence[Epoch], path: Path) -> None:
    """Draw losses, as shares of those of the first epoch, and held-out accuracies over epochs as SVG.

    Raises:
        InputError: If Altair is missing.
    """
    try:
        altair, vl_convert = import_module("altair"), import_module("vl_convert")
    except ImportError as error:
        raise InputError(
            f"learning curves need altair, which cannot be imported ({error}): pip install 'urs-inspect[viz]'"
        ) from error
    joint = [record for record in history if record.phase == "joint"]
    losses, accuracies = list[tuple[int, str, float]](), list[tuple[int, str, float]]()
    for record in joint:
        for name, label in _LOSSES.items():
            first = getattr(joint[0], name)
            losses.append((record.epoch, label, getattr(record, name) / first if first else 0.0))
        for name in ("overall", "dimensions") if record.held_out is not None else ():
            accuracies.append((record.epoch, name, 100 * getattr(record.held_out, name)))

    def curves(rows: list[tuple[int, str, float]], heading: str) -> Any:
        data = pd.DataFrame(rows, columns=["epoch", "part", "value"])
        return (
            altair.Chart(data, width=300, height=220)
            .mark_line(point=True)
            .encode(
                x=altair.X("epoch:Q", axis=altair.Axis(values=sorted(set(data["epoch"])), format="d")),
                y=altair.Y("value:Q", title=heading, scale=altair.Scale(zero=False)),
                color=altair.Color("part:N", title=None, sort=None),
            )
        )

    panels = [curves(losses, "training loss, first epoch = 1"), curves(accuracies, "held-out accuracy, %")]
    chart = altair.hconcat(*panels).resolve_scale(color="independent")
    path.write_text(vl_convert.vegalite_to_svg(chart.to_dict()), encoding="utf-8")
