"""What a panel of judges is worth: its numbers, and what is said of them."""

import math

import numpy as np
import pandas as pd
import pytest

from tests.reports.golden_files import check_golden
from urs_inspect.reports.layout._tables import Report, ReportKind
from urs_inspect.reports.numbers._panels import panel_of
from urs_inspect.reports.words._panels import panel_section
from urs_inspect.stats._panels import panel_error

NAN = math.nan
KIND = ReportKind("layout", 1, "urs-inspect layout", "layout", more=("more_*.svg",))


def test_errors_of_a_panel_by_hand() -> None:
    generator = np.random.default_rng(0)
    labels = generator.normal(5, 1, 30)
    values = pd.DataFrame(
        {
            "p/x": labels + generator.normal(0, 0.5, 30),
            "p/y": 2 * labels + generator.normal(0, 0.5, 30),
            "p/line": 3 - 2 * labels,  # a straight line on the labels: no error of its own
        }
    )
    values.loc[[3, 7], "p/x"] = NAN
    values.loc[11, "p/y"] = NAN
    kept = [place for place in range(30) if place not in (3, 7, 11)]
    prompts = [f"prompt {place // 2}" for place in range(30)]
    panel = panel_of(values, labels, prompts)
    assert (panel.judges, list(panel.constant)) == (["p/x", "p/y"], ["p/line"])
    assert panel.prompts == [prompts[place] for place in kept]
    assert panel.labels is not None and panel.labels.tolist() == labels[kept].tolist()
    for name in ("p/x", "p/y"):
        given = values[name].to_numpy()[kept]
        slope, start = np.polyfit(labels[kept], given, 1)
        errors = given - start - slope * labels[kept]
        assert panel.errors[name].tolist() == pytest.approx(errors.tolist())
        assert panel.values[name].tolist() == given.tolist()
    assert panel.same == []


def test_without_labels_errors_are_deviations_from_the_mean() -> None:
    values = pd.DataFrame(
        {1: [1.0, 2.0, 6.0], 2: [1.0, 2.0, 6.0], 3: [1.0, 2.0, 5.0], 4: [7.0] * 3}
    )
    panel = panel_of(values, None, ["a", "b", "c"])
    assert panel.judges == ["1", "2", "3"] and list(panel.constant) == ["4"]
    assert panel.errors["1"].tolist() == pytest.approx([-2, -1, 3])
    assert panel.same == [("1", "2")]
    assert panel.labels is None and panel.error(["1"]) == pytest.approx(
        panel_error(np.array([[1.0, 2.0, 6.0]]), None)
    )


def test_of_many_judges_the_first_twelve_are_a_panel() -> None:
    generator = np.random.default_rng(1)
    values = pd.DataFrame(generator.normal(0, 1, (9, 14)))
    values.iloc[0, 13] = NAN  # is no score that all others lack, and the item counts for nobody
    panel = panel_of(values, None, list(range(9)))
    assert panel.judges == [str(number) for number in range(12)]
    assert len(panel.values) == 8 and panel.prompts == list(range(1, 9))


def verdicts() -> tuple[pd.DataFrame, list[str]]:
    """Verdicts of five judges, of which two never differ and one is always right."""
    generator = np.random.default_rng(0)
    right = (generator.random((60, 4)) < [0.9, 0.8, 0.7, 0.6]).astype(float)
    values = pd.DataFrame(right, columns=list("abcd"))
    values["twin"] = values["a"]
    values["perfect"] = 1.0
    return values, [f"prompt {place // 2}" for place in range(60)]


def test_what_is_said_of_a_panel() -> None:
    values, prompts = verdicts()
    generator = np.random.default_rng(1)
    labels = generator.normal(5, 1, 60)
    ratings = pd.DataFrame(
        {
            name: labels + generator.normal(0, scale, 60)
            for name, scale in zip("abc", (0.3, 1, 2), strict=True)
        }
    )
    many = pd.concat([values[list("abcd")].add_suffix(str(place)) for place in range(4)], axis=1)
    sections = [
        panel_section(panel_of(values, None, prompts)),
        panel_section(panel_of(ratings, labels, prompts)),
        panel_section(panel_of(values[list("ab")], None, prompts)),
        panel_section(panel_of(values[:5], None, prompts[:5])),
        panel_section(panel_of(many, None, prompts)),
    ]
    shown = Report(KIND, "Panels", sections).markdown()
    check_golden("panels_in_words", shown)
