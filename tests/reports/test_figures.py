"""Figures: which data a specification holds, and that names are text."""

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from urs_inspect._util import InputError
from urs_inspect.reports.layout._figures import (
    NARROW,
    WIDE,
    cost_plot,
    dumbbell_plot,
    length_plot,
    missing_viz,
    scripts,
    svg,
)

NAN = math.nan
NAMES = ["gpt-large", "通义千问-max", "<b>&</script>", "unscored"]
MEANS = pd.DataFrame({"model": NAMES, "mean": [8.43, 8.21, 5.5, NAN]})
MEANS = MEANS.assign(low=[8.1, 8.0, NAN, NAN], high=[8.7, 8.4, NAN, NAN])
BINS = MEANS[["model"]].merge(
    pd.DataFrame({"length": [10.0, 1000.0], "score": [5.0, 6.0], "answers": [9, 9]}), how="cross"
)
LANGUAGES = MEANS.merge(pd.DataFrame({"language": ["English", "Chinese"]}), how="cross")
COSTS = MEANS.assign(cost=[0.02, 4.0, 0.5, NAN])
FIGURES: dict[str, tuple[Callable[..., Any], pd.DataFrame]] = {
    "lengths": (length_plot, BINS),
    "languages": (dumbbell_plot, LANGUAGES),
    "costs": (cost_plot, COSTS),
}


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("name", FIGURES)
def test_names_are_text_and_colours_follow_the_page(name: str, width: int) -> None:
    draw, data = FIGURES[name]
    drawn = svg(draw(data, width))
    assert drawn.startswith("<svg") and "<b>" not in drawn and "</script" not in drawn
    assert "&lt;b&gt;&amp;" in drawn and "通义千问-max" in drawn and "gpt-large" in drawn
    assert "currentColor" in drawn and "NaN" not in drawn
    assert "http" not in drawn.replace("http://www.w3.org/", "")
    assert draw(data, width) == draw(data, width)


def test_every_model_has_a_panel() -> None:
    drawn = length_plot(BINS, WIDE)
    assert drawn["columns"] == 3 and length_plot(BINS, NARROW)["columns"] == 1
    assert len(drawn["datasets"]["all"]) == len(BINS)
    long = length_plot(
        BINS, WIDE, "mean final score (simulation)"
    )  # in lines, so that titles of two rows do not meet
    title = long["spec"]["layer"][-1]["encoding"]["y"]["title"]
    assert title == ["mean final score", "(simulation)"]


def test_each_language_has_marks_and_costs_far_apart_are_on_a_logarithmic_axis() -> None:
    drawn = svg(dumbbell_plot(LANGUAGES, WIDE))
    assert (
        drawn.count('fill="#2f7fc9"') == drawn.count('fill="#d97a1e"') == 4
    )  # three known means and the legend
    assert (
        svg(dumbbell_plot(LANGUAGES.assign(low=NAN, high=NAN), NARROW)).count('stroke="#d97a1e"')
        == 0
    )
    scales = [
        cost_plot(rows, WIDE)["layer"][0]["encoding"]["x"]["scale"] for rows in (COSTS, COSTS[1:])
    ]
    assert [(scale.get("type"), scale.get("zero")) for scale in scales] == [
        ("log", None),
        (None, False),
    ]


def test_of_names_that_overlap_the_first_is_shown() -> None:
    crowd = pd.DataFrame(
        {
            "model": ["first", "second", "elsewhere"],
            "cost": [1.0, 1.01, 2.0],
            "mean": [5.0, 5.0, 6.0],
        }
    )
    drawn = svg(cost_plot(crowd.assign(low=NAN, high=NAN), NARROW))
    assert ">first<" in drawn and ">elsewhere<" in drawn and ">second<" not in drawn


def test_missing_libraries_are_named_with_the_way_to_get_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert missing_viz() == ""
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert "pip install 'urs-inspect[viz]'" in missing_viz()
    with pytest.raises(InputError, match="altair and vl-convert"):
        svg({})


def test_scripts_are_kept_in_the_cache_and_are_the_same_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URS_INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    first = scripts()
    [kept] = (tmp_path / "cache").iterdir()
    assert "vegaEmbed" in first and kept.read_text(encoding="utf-8") == scripts() == first
    monkeypatch.setenv("URS_INSPECT_CACHE_DIR", str(kept))  # where nothing can be written
    assert scripts() == first
