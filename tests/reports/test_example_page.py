"""The committed example page has the numbers that its data give now, and loads nothing."""

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from benchmarks.example_page import BENCHES, SHORTCUTS, VOTES, arena, shortcuts

from urs_inspect.stats import Estimate, fit_bradley_terry

EXAMPLE = Path(__file__).parents[2] / "docs" / "example"


@pytest.mark.data
def test_the_example_has_the_numbers_of_the_data(data_dir: Path) -> None:
    example = json.loads((EXAMPLE / "example.json").read_text("utf-8"))
    computed = shortcuts(rounds=1)
    assert [row["bench"] for row in example["tables"]["shortcuts"]] == list(computed["bench"])
    assert len(computed) == len(BENCHES) + 1
    assert VOTES in set(computed["bench"])
    for row, now in zip(example["tables"]["shortcuts"], computed.to_dict("records"), strict=True):
        assert {name: row[name] for name in ("pairs", "ties")} == {
            name: now[name] for name in ("pairs", "ties")
        }
        for column in SHORTCUTS.values():
            estimate = now[column]
            if not isinstance(estimate, Estimate):
                assert row[column] is None
                continue
            assert row[column] == pytest.approx(estimate.value)
            assert row[f"{column}_n"] == estimate.n == row["pairs"] - row["ties"]
            assert row[f"{column}_low"] < estimate.value < row[f"{column}_high"]
    battles, _ = arena()
    rated = dict(zip(battles.players, fit_bradley_terry(battles), strict=True))
    shown = {row["model"]: row["Bradley-Terry"] for row in example["tables"]["ranking"]}
    assert shown == pytest.approx(rated)
    assert list(np.diff(list(shown.values())) < 0) == [True] * 6


def test_the_example_page_loads_nothing() -> None:
    page = unescape((EXAMPLE / "index.html").read_text("utf-8"))
    assert "default-src 'none'" in page
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']*["']""", page)
