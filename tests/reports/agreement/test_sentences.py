"""What is said of a correlation, from the plainest to the emptiest."""

import math

import pytest

from urs_inspect.rating import Estimate
from urs_inspect.rating.mean_correlation import MeanCorrelation
from urs_inspect.reports.agreement.report import IntentLevel, IntentPoint
from urs_inspect.reports.agreement.sentences import about_intents, bounds, estimate

NAN = math.nan


def one(value: float, low: float = NAN, high: float = NAN) -> Estimate:
    return Estimate(value, low, high, 6, 6)


def said(correlation: MeanCorrelation, people: bool = True, lacking: str = "") -> list[str]:
    points = tuple(IntentPoint(f"i{n}", one(7), one(4), 10, None) for n in range(6))
    return about_intents(IntentLevel(points, correlation, {}, people, lacking, (1, 5), ("A note.",)))


def test_a_clear_correlation() -> None:
    first, few, published, note = said(MeanCorrelation(one(0.9, 0.8, 1.0), 0.95, 0.94, (0.3, 0.99)))
    assert first == (
        "Over 6 intents: Pearson 0.90, Spearman 0.94. Without the noise of the means Pearson is about 0.95 (0.80 to "
        "1.00): brackets over resamples of questions and people, these intents given."
    )
    assert (
        few == "Only 6 points: as a sample of other intents, Pearson could be anywhere from 0.30 to 0.99 (Fisher's z)."
    )
    assert published.startswith("Published (URS paper, section 4.5, Figure 5; another judge, other models and people)")
    assert note == "A note."


def test_an_interval_that_holds_nothing_is_said() -> None:
    lines = said(MeanCorrelation(one(0.4, -0.5, 1.0), 0.6, 0.3, (-0.6, 0.9)), people=False)
    assert "questions, satisfaction taken as exact" in lines[0]
    assert lines[1].startswith("The interval holds 0: beside the noise of their means, these intents differ too little")


def test_means_that_are_noise() -> None:
    lines = said(MeanCorrelation(one(0.4, -1, 1), NAN, 0.3, (-0.6, 0.9)))
    assert lines[0].startswith(
        "Over 6 intents: Pearson 0.40, Spearman 0.30. The means of these intents differ no more than noise would make "
        "them: without it Pearson may be anything from −1.00 to 1.00"
    )
    assert lines[1].startswith("Only 6 points")


def test_a_mean_of_one_person_leaves_no_interval() -> None:
    lines = said(MeanCorrelation(one(0.4), NAN, 0.3, (-0.6, 0.9)), lacking="only 1 person on Leisure")
    assert "no interval" in lines[0] and "only 1 person on Leisure" in lines[0]
    assert not any("bracket" in line or "resamples" in line for line in lines)


def test_no_correlation_at_all() -> None:
    lines = said(MeanCorrelation(one(NAN), NAN, NAN, (NAN, NAN)))
    assert lines[0] == "There is no correlation: all 6 intents have the same mean on one of the two sides."
    assert lines[1].startswith("Published")


def test_points_without_an_interval_over_points() -> None:
    assert "6 points say next to nothing" in said(MeanCorrelation(one(1.0, 1, 1), 1.0, 1.0, (NAN, NAN)))[1]


@pytest.mark.parametrize(
    ("found", "shown"),
    [(one(0.5, 0.25, 0.75), "0.50 (0.25 to 0.75)"), (one(0.5), "0.50"), (one(NAN), "–"), (one(-0.001), "0.00")],
)
def test_numbers_are_shown_with_what_there_is(found: Estimate, shown: str) -> None:
    assert estimate(found) == shown


def test_bounds_have_signs_where_asked_for() -> None:
    assert bounds(-0.5, 0.25, sign="+") == " (−0.50 to +0.25)"
    assert bounds(-0.001, 0.001, sign="+") == " (0.00 to 0.00)"
