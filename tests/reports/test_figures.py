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


# --- what each mark shows ---


def marks(drawn: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    """The kind of each layer, and what its channels show."""
    found = []
    for layer in drawn["layer"]:
        shown = {}
        for channel, encoding in layer["encoding"].items():
            if channel != "tooltip":
                name = encoding["field"]
                shown[channel] = f"{encoding.get('aggregate', '')} {name}".strip()
        mark = layer["mark"]
        found.append((mark if isinstance(mark, str) else mark["type"], shown))
    return found


def tooltips(layer: dict[str, Any]) -> dict[str, str]:
    """Format of each field that a mark tells when one points at it."""
    return {each["field"]: each.get("format", "") for each in layer["encoding"]["tooltip"]}


def test_rows_of_languages_join_means_and_show_intervals_below_the_dots() -> None:
    drawn = dumbbell_plot(LANGUAGES, WIDE, "a label")
    both = {"y": "model", "yOffset": "language", "color": "language"}
    expected: list[tuple[str, dict[str, str]]] = [
        ("rule", {"y": "model", "x": "min mean", "x2": "max mean"}),
        ("rule", {**both, "x": "low", "x2": "high"}),
        ("point", {**both, "x": "mean", "shape": "language"}),
    ]
    assert marks(drawn) == expected
    unknown = dumbbell_plot(LANGUAGES.assign(low=NAN, high=NAN), WIDE)
    assert marks(unknown) == [expected[0], expected[2]]
    dots = drawn["layer"][-1]["encoding"]
    assert dots["x"]["title"] == "a label"
    assert dots["y"]["sort"] is None  # as the rows come
    for channel in ("color", "shape"):
        assert dots[channel]["scale"]["domain"] == ["English", "Chinese"]
    assert dots["yOffset"]["sort"] == ["English", "Chinese"]
    assert tooltips(drawn["layer"][-1]) == {"model": "", "language": ""} | dict.fromkeys(
        ("mean", "low", "high"), ".2f"
    )
    assert {row["model"] for row in drawn["datasets"]["rows"]} == set(NAMES[:3])
    assert {row["low"] for row in drawn["datasets"]["rows"]} == {8.1, 8.0, None}


def test_costs_are_across_and_means_with_their_intervals_are_up() -> None:
    drawn = cost_plot(COSTS, WIDE, "mean final score (simulation) of answers")
    dots, rules = {"x": "cost", "y": "mean"}, {"x": "cost", "y": "low", "y2": "high"}
    assert marks(drawn)[:2] == [("rule", rules), ("point", dots)]
    assert marks(cost_plot(COSTS.assign(low=NAN, high=NAN), WIDE))[0] == ("point", dots)
    names = [layer for layer in drawn["layer"] if "text" in layer["encoding"]]
    assert all(layer["encoding"]["text"]["field"] == "model" for layer in names)
    assert " ".join(drawn["layer"][1]["encoding"]["y"]["title"]) == (
        "mean final score (simulation) of answers"
    )
    told = tooltips(drawn["layer"][1])
    assert list(told) == ["model", "cost", "mean", "low", "high"]
    assert told["cost"].startswith("$") and told["mean"] == ".2f"
    assert [row["model"] for row in drawn["datasets"]["rows"]] == NAMES[:3]


def test_a_panel_shows_its_line_before_those_of_all_models() -> None:
    drawn = length_plot(BINS, WIDE)
    lines = {"x": "length", "y": "score"}
    assert marks(drawn["spec"]) == [
        ("line", {**lines, "detail": "model"}),
        ("line", lines),
        ("point", lines),
    ]
    behind, own, _ = drawn["spec"]["layer"]
    assert behind["data"] == {"name": "all"} and "data" not in own
    assert drawn["facet"]["sort"] == NAMES
    assert own["encoding"]["x"]["scale"]["type"] == "log"
    assert own["encoding"]["y"]["scale"]["zero"] is False
    assert tooltips(own) == {"model": "", "length": ",.0f", "score": ".2f", "answers": ","}
    assert length_plot(BINS[:4], WIDE)["columns"] == 2


@pytest.mark.parametrize("lacking", ["altair", "vl_convert"])
def test_either_library_that_is_missing_is_said(
    monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    monkeypatch.setitem(sys.modules, lacking, None)
    assert lacking in missing_viz()
