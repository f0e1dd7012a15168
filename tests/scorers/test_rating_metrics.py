"""`rating_report` from scores alone; through the harness it is tested with `judge_rating`."""

import math
from typing import Any

import pytest
from inspect_ai.scorer import SampleScore, Score

from urs_inspect.scorers.rating_agreement import agreement, rated_item, rating_report


def scored(number: int, label: float, rating: float, **metadata: Any) -> SampleScore:
    facts = {"label": label, "scale": [1, 10], "label_scale": [1, 5]}
    sample = {"prompt": f"Prompt {number}", "group": "", "intent": "", "language": "", **metadata}
    return SampleScore(score=Score(value={"rating": rating}, metadata=facts), sample_id=number, sample_metadata=sample)


def report(scores: list[SampleScore]) -> dict[str, float]:
    metric: Any = rating_report()
    return dict(metric(scores))


def test_an_item_is_on_the_scale_of_the_labels() -> None:
    item = rated_item(scored(1, 3, 10, intent="leisure"))
    assert item is not None
    # 10 of 1 to 10 is 5 of 1 to 5.
    assert (item.cluster, item.label, item.rating, item.rescaled) == ("Prompt 1", 3, 10, 5)
    assert item.places == {"intent": "leisure", "group": "", "language": ""}
    assert rated_item(SampleScore(score=Score(value=1), sample_id="s", sample_metadata={})) is None


def test_agreement_worked_out_by_hand() -> None:
    # Labels 1 2 3 against ratings 1, unread, 10: two read, on the labels' scale 1 and 5, so 0 and 2 too many.
    scores = [scored(1, 1, 1), scored(2, 2, math.nan), scored(3, 3, 10)]
    found = agreement([item for score in scores if (item := rated_item(score)) is not None])
    assert (found.n, found.correlations.pearson.n) == (3, 2)
    assert found.unread == pytest.approx(1 / 3)
    assert found.difference.value == pytest.approx(1)
    assert found.correlations.pearson.value == pytest.approx(1)


def test_a_given_cluster_goes_before_the_prompt() -> None:
    labels, ratings = [1, 5, 2, 4, 1, 5, 3, 2] * 5, [2, 9, 6, 5, 1, 10, 9, 3] * 5
    apart = [scored(n, label, rating) for n, (label, rating) in enumerate(zip(labels, ratings, strict=True))]
    together = [
        scored(n, label, rating, cluster=f"Question {n % 8}")
        for n, (label, rating) in enumerate(zip(labels, ratings, strict=True))
    ]
    one, other = report(apart), report(together)
    assert one["pearson"] == other["pearson"]
    # Forty independent responses, or eight groups of five equal ones: the interval is wider.
    width = {name: rows["high"] - rows["low"] for name, rows in (("40", one), ("8", other))}
    assert width["8"] > 1.5 * width["40"]


def test_an_empty_cluster_is_none() -> None:
    item = rated_item(scored(1, 3, 4, cluster=""))
    assert item is not None and item.cluster == "Prompt 1"


def test_the_header_holds_the_agreement_over_all_responses() -> None:
    scores = [scored(n, label, 2 * label, group="x" if n < 4 else "y") for n, label in enumerate([1, 2, 3, 4, 1, 3, 5])]
    rows = report(scores)
    assert next(iter(rows)) == "pearson" and rows["pearson"] == pytest.approx(1)
    # 1 + 4 / 9 (2x - 1) - x is 4/9 3/9 2/9 1/9 4/9 2/9 0 for 1 2 3 4 1 3 5
    assert rows["mean difference"] == rows["distance"] == pytest.approx(16 / 9 / 7)
    assert (rows["unread"], rows["failures"]) == (0, 0)
    assert len(rows) <= 10


def test_the_headline_is_there_before_the_first_rating() -> None:
    found = report([])
    assert list(found) == ["pearson"] and math.isnan(found["pearson"])
