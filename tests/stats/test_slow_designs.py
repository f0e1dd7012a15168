"""Designs of means beside an implementation that divides each variance by its counts."""

import math

import pytest
from scipy import stats

from urs_inspect.stats._variance_components import COMPONENTS, VarianceComponents

VALUES = {
    "question": 4.0,
    "judge": 100.0,
    "question_judge": 3.0,
    "answer": -2.0,
    "answer_judge": 1.5,
    "judgement": 0.5,
}


def design(**values: float) -> VarianceComponents:
    components = {name: {**VALUES, **values}[name] for name in COMPONENTS}
    return VarianceComponents(questions=10, epochs=2.0, judges=3.0, components=components)


@pytest.mark.parametrize(
    ("given", "counts"),
    [
        # of questions, judges on questions, answers, judges on answers, judgements
        ({}, (10, 30, 20, 60, 60)),
        ({"questions": 5}, (5, 15, 10, 30, 30)),
        ({"epochs": 4}, (10, 30, 40, 120, 120)),
        ({"judges": 1}, (10, 10, 20, 20, 20)),
        ({"judgements": 5}, (10, 30, 20, 60, 300)),
        ({"questions": 20, "epochs": 1, "judges": 2, "judgements": 2}, (20, 40, 20, 40, 80)),
    ],
)
def test_each_source_is_divided_by_how_often_it_is_drawn(
    given: dict[str, float], counts: tuple[int, ...]
) -> None:
    found = design().parts(**given)
    variances = (4.0, 3.0, 0.0, 1.5, 0.5)  # negative ones count as 0
    expected = [one / count for one, count in zip(variances, counts, strict=True)]
    assert list(found) == ["question", "question_judge", "answer", "answer_judge", "judgement"]
    assert list(found.values()) == pytest.approx(expected)
    t = stats.t.ppf(0.95, counts[0] - 1)
    margin = design().margin(0.9, **given)
    assert margin == pytest.approx(t * math.sqrt(sum(expected)))


def test_what_was_not_measured_adds_nothing_and_without_components_there_is_no_margin() -> None:
    unmeasured = design(judgement=math.nan, question_judge=math.nan)
    assert math.isnan(unmeasured.parts()["judgement"])
    t = stats.t.ppf(0.975, 9)
    assert unmeasured.margin() == pytest.approx(t * math.sqrt(4 / 10 + 1.5 / 60))
    assert math.isnan(design(question=math.nan).margin())
