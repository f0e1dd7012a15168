"""`rating_agreement`: its report from scores alone; with the solver `give_rating` what becomes of
failed calls.
"""

import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage
from inspect_ai.scorer import SampleScore, Score

from tests.tasks.scripted import Reply, Script, judge_numbers, output, run, samples_of
from urs_inspect._util import InputError
from urs_inspect.scorers import rating_agreement
from urs_inspect.scorers._rating_agreement import agreement, rated_item, rating_report
from urs_inspect.solvers import give_rating
from urs_inspect.solvers._give_rating import INSTRUCTIONS, JUDGE_KEY, JUDGE_NEEDS_KEY
from urs_inspect.stats import clustered_mean


def scored(number: int, label: float, rating: float, **metadata: Any) -> SampleScore:
    facts = {"label": label, "scale": [1, 10], "label_scale": [1, 5]}
    sample = {"prompt": f"Prompt {number}", "group": "", "intent": "", "language": "", **metadata}
    return SampleScore(
        score=Score(value={"rating": rating}, metadata=facts),
        sample_id=number,
        sample_metadata=sample,
    )


def report(scores: list[SampleScore]) -> dict[str, float]:
    metric: Any = rating_report()
    return dict(metric(scores))


def test_an_item_is_on_the_scale_of_the_labels() -> None:
    item = rated_item(scored(1, 3, 10, intent="leisure", cluster=""))
    assert item is not None
    # 10 of 1 to 10 is 5 of 1 to 5.
    assert (item.cluster, item.label, item.rating, item.rescaled) == ("Prompt 1", 3, 10, 5)
    assert item.places == {"intent": "leisure", "group": "", "language": ""}
    assert rated_item(SampleScore(score=Score(value=1), sample_id="s", sample_metadata={})) is None


def test_agreement_worked_out_by_hand() -> None:
    # Labels 1 2 3 against ratings 1, unread, 10: two read, on the labels' scale 1 and 5, so 0 and 2
    # too many.
    scores = [scored(1, 1, 1), scored(2, 2, math.nan), scored(3, 3, 10)]
    found = agreement([item for score in scores if (item := rated_item(score)) is not None])
    assert (found.n, found.correlations.pearson.n) == (3, 2)
    assert found.unread == pytest.approx(1 / 3)
    assert found.difference.value == pytest.approx(1)
    assert found.correlations.pearson.value == pytest.approx(1)


def test_a_given_cluster_goes_before_the_prompt() -> None:
    labels, ratings = [1, 5, 2, 4, 1, 5, 3, 2] * 5, [2, 9, 6, 5, 1, 10, 9, 3] * 5
    apart = [
        scored(n, label, rating)
        for n, (label, rating) in enumerate(zip(labels, ratings, strict=True))
    ]
    together = [
        scored(n, label, rating, cluster=f"Question {n % 8}")
        for n, (label, rating) in enumerate(zip(labels, ratings, strict=True))
    ]
    one, other = report(apart), report(together)
    assert one["pearson"] == other["pearson"]
    # Forty independent responses, or eight groups of five equal ones: the interval is wider.
    width = {name: rows["high"] - rows["low"] for name, rows in (("40", one), ("8", other))}
    assert width["8"] > 1.5 * width["40"]
    narrow, wide = (
        agreement([item for score in scores if (item := rated_item(score)) is not None]).difference
        for scores in (apart, together)
    )
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


def test_the_header_holds_the_agreement_over_all_responses() -> None:
    scores = [
        scored(n, label, 2 * label, group="x" if n < 4 else "y")
        for n, label in enumerate([1, 2, 3, 4, 1, 3, 5])
    ]
    rows = report(scores)
    assert next(iter(rows)) == "pearson" and rows["pearson"] == pytest.approx(1)
    # 1 + 4 / 9 (2x - 1) - x is 4/9 3/9 2/9 1/9 4/9 2/9 0 for 1 2 3 4 1 3 5
    assert rows["mean difference"] == rows["distance"] == pytest.approx(16 / 9 / 7)
    assert (rows["unread"], rows["failures"]) == (0, 0)
    assert len(rows) <= 10


def test_the_headline_is_there_before_the_first_rating() -> None:
    found = report([])
    assert list(found) == ["pearson"] and math.isnan(found["pearson"])


# Through the harness, with the solver `give_rating`

FACTS = {"rating": 3, "label_scale": [1, 5], INSTRUCTIONS: "Rate."}


def rated(log_dir: Path, script: Script, **options: object) -> EvalLog:
    samples = [
        Sample(id=f"r{n}", input=f"Answer {n}.", metadata={**FACTS, "prompt": str(n)})
        for n in (1, 2, 3)
    ]
    task = Task(dataset=MemoryDataset(samples), solver=give_rating(), scorer=rating_agreement())
    return run(task, log_dir, model=script.model(), grader=None, **options)


def failing(fault: Reply) -> Script:
    def answer(messages: list[ChatMessage]) -> Reply:
        return fault if "2" in messages[-1].text else '{"score": 4}'

    return Script(answer)


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        (RuntimeError("the endpoint is down"), "RuntimeError: the endpoint is down"),
        (output("", error="no such model"), "no such model"),
    ],
)
def test_a_failed_call_is_no_rating_and_costs_no_other(
    fault: Reply, detail: str, tmp_path: Path
) -> None:
    log = rated(tmp_path, failing(fault))
    assert log.status == "success"
    scores = {sample.id: (sample.scores or {})["rating_agreement"] for sample in samples_of(log)}
    assert [score.answer for score in scores.values()] == ["4", "unread", "4"]
    metadata = scores["r2"].metadata or {}
    assert (metadata["failure_mode"], metadata["failure_detail"]) == ("call_failed", detail)
    explanation = (scores["r2"].explanation or "").split("\n\n")
    assert explanation[0].startswith("Label: 3 (1 to 5)") and detail in explanation[1]
    assert all(sample.error is None for sample in samples_of(log))
    assert judge_numbers(log)["failures call_failed"] == 1


def test_a_score_says_how_its_call_was_made_and_whether_it_was_made_again(tmp_path: Path) -> None:
    right, wrong = ('{"key": "bcdfghjk", "score": 4}', '{"score": 4}')
    facts_of_sample = {**FACTS, JUDGE_KEY: "bcdfghjk", JUDGE_NEEDS_KEY: True, "prompt": "?"}
    samples = [Sample(id=f"r{n}", input="Answer.", metadata=facts_of_sample) for n in (1, 2, 3)]
    task = Task(dataset=MemoryDataset(samples), solver=give_rating(), scorer=rating_agreement())
    script = Script([wrong, right, right, wrong, wrong])
    log = run(task, tmp_path, model=script.model(), grader=None, max_samples=1)
    facts = [(sample.scores or {})["rating_agreement"].metadata or {} for sample in samples_of(log)]
    assert [fact["asked_again"] for fact in facts] == [True, False, True]
    assert [fact.get("failure_mode") for fact in facts] == [None, None, "no_key"]
    # A temperature that nobody chose is one that is said all the same.
    assert [fact["temperature_requested"] for fact in facts] == [None] * 3
    assert [fact["structured"] for fact in facts] == [False] * 3
    assert all("temperature_sent" in fact for fact in facts)
    counts = [next(iter(fact["reply_counts"].values())) for fact in facts]
    assert [count["replies"] for count in counts] == [1] * 3
    assert [count.get("asked_again", 0) for count in counts] == [1, 0, 1]


def test_a_limit_is_the_harness_s_own_and_no_failed_call(tmp_path: Path) -> None:
    log = rated(tmp_path, Script('{"score": 4}'), token_limit=1)
    assert log.status == "success"
    assert {sample.limit.type for sample in samples_of(log) if sample.limit} == {"token"}
    found = judge_numbers(log)
    assert {name: count for name, count in found.items() if name.startswith("failures")} == {
        "failures no_answer": 3
    }


def test_a_difference_may_be_below_zero_and_its_bounds_are_cut_to_the_scale() -> None:
    scores = [scored(number, 2 + number % 4, 1 + number % 3) for number in range(24)]
    items = [item for score in scores if (item := rated_item(score)) is not None]
    found = agreement(items).difference
    plain = clustered_mean(
        [item.rescaled - item.label for item in items], [item.cluster for item in items]
    )
    assert -4 < plain.low < plain.high < 0
    assert (found.low, found.value, found.high) == (plain.low, plain.value, plain.high)


def test_ratings_that_differ_both_ways_have_a_distance_and_failures_are_counted() -> None:
    unread = scored(4, 5, math.nan)
    unread.score.metadata = {**(unread.score.metadata or {}), "failure_mode": "refusal"}
    # On the scale of the labels 5, 1 and 3: off by 4, -2 and 0.
    scores = [scored(1, 1, 10), scored(2, 3, 1), scored(3, 3, 5.5), unread]
    rows = report(scores)
    assert rows["mean difference"] == pytest.approx(2 / 3)
    assert rows["distance"] == pytest.approx(2)
    assert (rows["unread"], rows["failures"]) == (0.25, 1)


def test_labels_of_another_scale_bound_the_difference() -> None:
    facts = {"label": 100.0, "scale": [1, 10], "label_scale": [0, 100]}
    scores = [
        SampleScore(
            score=Score(value={"rating": 1.0 + number % 2}, metadata=facts),
            sample_id=number,
            sample_metadata={"prompt": str(number)},
        )
        for number in range(12)
    ]
    items = [item for score in scores if (item := rated_item(score)) is not None]
    assert items[1].rescaled == pytest.approx(100 / 9)
    found = agreement(items).difference
    assert -100 <= found.low < found.value == pytest.approx(50 / 9 - 100)


def test_responses_to_one_prompt_are_one_cluster_and_those_without_one_are_apart() -> None:
    def cluster(**sample: Any) -> str:
        facts = {"label": 1, "scale": [1, 10], "label_scale": [1, 5]}
        score = Score(value={"rating": 1}, metadata=facts)
        item = rated_item(SampleScore(score=score, sample_id="s", sample_metadata=sample))
        assert item is not None
        return item.cluster

    assert cluster(prompt="Why?", cluster="q") == "q"
    assert cluster(prompt="Why?") == "Why?"
    assert cluster() == "s"


@pytest.mark.parametrize(("lowest", "highest"), [(5, 5), (5, 1)])
def test_a_scale_must_rise(lowest: int, highest: int) -> None:
    with pytest.raises(InputError, match=f"scale: .*{lowest} and {highest}"):
        rating_agreement(lowest, highest)
    rating_agreement(lowest, highest, rubric="urs")
