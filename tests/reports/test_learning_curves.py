"""The picture of a training."""

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from urs_inspect._util import InputError
from urs_inspect.reports.samer import draw_learning_curves


@dataclass(frozen=True)
class Held:
    overall: float
    dimensions: float


@dataclass(frozen=True)
class Epoch:
    phase: str
    epoch: int
    selection: float
    dimensions: float
    overall: float
    held_out: Held | None


HISTORY = [
    Epoch("predictor", 1, 5.0, math.nan, math.nan, None),
    Epoch("joint", 1, 4.0, 2.0, 0.3, Held(0.5, 0.6)),
    Epoch("joint", 2, 2.0, 1.0, 0.3, Held(0.7, 0.6)),
]


def test_the_picture_is_the_same_every_time(tmp_path: Path):
    for name in ("one.svg", "two.svg"):
        draw_learning_curves(HISTORY, tmp_path / name)
    one = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert one == (tmp_path / "two.svg").read_text(encoding="utf-8")
    for said in ("Eq. 1", "Eq. 2", "Eq. 3", "held-out accuracy, %", "epoch"):
        assert said in one
    draw_learning_curves(HISTORY[:2], tmp_path / "two.svg")
    assert (tmp_path / "two.svg").read_text(encoding="utf-8") != one


def test_nothing_held_out_is_no_error(tmp_path: Path):
    draw_learning_curves([Epoch("joint", 1, 0.0, 0.0, 0.0, None)], tmp_path / "one.svg")
    assert (tmp_path / "one.svg").stat().st_size > 0


def test_a_missing_library_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(InputError, match=r"pip install 'urs-inspect\[viz\]'"):
        draw_learning_curves(HISTORY, tmp_path / "one.svg")
