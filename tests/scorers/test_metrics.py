"""What scorers share: metrics by hand on single scores and through the harness with its epochs;
reasons.
"""

import math
import random
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, get_args

import pytest
from inspect_ai.scorer import Metric, SampleScore, Score, Value
from pytest_inspect_evals.metrics import assert_agreeing_epochs_change_nothing, run_metrics
from scipy import stats

from urs_inspect.judging._failures import FAILURE_MODES
from urs_inspect.judging._pair_reply import MISSING_VERDICT
from urs_inspect.rubrics import FINAL, Rubric
from urs_inspect.scorers._metrics import (
    Reason,
    cluster_of,
    count_rows,
    defined,
    group_finals,
    groups_of,
    intent_report,
    outcome_counts,
    reason_of,
    scale_of_scorer,
)

NONE = math.nan


_numbers = count()


def scored(
    final: object, *, id: str = "", metadata: dict[str, Any] | None = None, **criteria: float
) -> SampleScore:
    """A sample with a final score and criteria, by default another one each time; `metadata` is the
    sample's.
    """
    value: Any = {FINAL: final, **criteria}
    return SampleScore(
        score=Score(value=value), sample_id=id or f"s{next(_numbers)}", sample_metadata=metadata
    )


def unscored(**metadata: Any) -> SampleScore:
    return SampleScore(
        score=Score.unscored(reason="grader_failed"), sample_id="u", sample_metadata=metadata
    )


def compute(metric: Metric, scores: Sequence[SampleScore]) -> dict[str, float]:
    function: Any = metric
    result = function(list(scores))
    assert isinstance(result, dict)
    return result


# --- intent_report ---

BY_INTENT = [
    scored(4, metadata={"intent_group": "Leisure", "language": "en"}, clarity=3, richness=NONE),
    scored(8, metadata={"intent_group": "Leisure", "language": "zh"}, clarity=NONE, richness=NONE),
    scored(9, metadata={"intent_group": "Factual QA", "language": "en"}, clarity=8, richness=NONE),
]


def test_rows_worked_out_by_hand_in_their_order() -> None:
    # 4, 8, 9: three questions have no interval.
    assert list(compute(intent_report(), BY_INTENT).items()) == [
        ("final", 7),
        ("Factual QA", 9),
        ("Leisure", 6),
        ("en", 6.5),
        ("zh", 8),
    ]


def test_the_final_score_has_its_bounds_beside_it() -> None:
    values = [3, 5, 5, 8, 9, 10]
    rows = compute(intent_report(), [scored(value) for value in values])
    low, high = stats.t.interval(0.95, 5, loc=sum(values) / 6, scale=stats.sem(values))
    assert list(rows)[:4] == ["final", "low", "high", "stderr"]
    assert (rows["low"], rows["high"], rows["stderr"]) == pytest.approx(
        (low, high, stats.sem(values))
    )


def test_questions_of_one_cluster_and_epochs_of_one_question_count_together() -> None:
    values = {
        "ann": [3, 5, 4],
        "bo": [8, 9],
        "cy": [6],
        "dee": [2, 3],
        "eve": [7, 7, 8, 7],
        "flo": [5],
    }
    named = [
        scored(value, metadata={"cluster": user})
        for user, given in values.items()
        for value in given
    ]
    epochs = [scored(value, id=user) for user, given in values.items() for value in given]
    flat = [value for given in values.values() for value in given]
    mean = sum(flat) / len(flat)
    # By hand: CR1, the squares of the summed deviations of each cluster, and Student's t with C - 1
    # degrees of freedom.
    squares = sum(sum(value - mean for value in given) ** 2 for given in values.values())
    error = math.sqrt(6 / 5 * squares) / len(flat)
    half = stats.t.ppf(0.975, 5) * error
    for scores in (named, epochs):
        rows = compute(intent_report(), scores)
        assert (rows["final"], rows["stderr"]) == pytest.approx((mean, error))
        assert (rows["low"], rows["high"]) == pytest.approx((mean - half, mean + half))
    alone = compute(intent_report(), [scored(value) for value in flat])
    assert alone["stderr"] == pytest.approx(stats.sem(flat)) and alone["stderr"] < 0.7 * error
    assert "low" not in compute(
        intent_report(), named[:6]
    )  # three clusters are too few for an interval


@pytest.mark.parametrize("finals", [[4], [1, 10, 9, 2, 5], [7] * 40, [1, 10] * 3])
def test_no_bounds_of_few_or_equal_scores_or_over_the_whole_scale(finals: list[float]) -> None:
    rows = compute(intent_report(), [scored(final) for final in finals])
    assert rows.keys().isdisjoint(("low", "high", "stderr"))


def test_bounds_stay_within_the_scale() -> None:
    assert (
        compute(intent_report(), [scored(final) for final in (10, 10, 9, 10, 8, 10)])["high"] == 10
    )


def test_the_published_rubric_has_at_most_15_rows_with_the_outcomes(rubric: Rubric) -> None:
    scores = [
        SampleScore(
            score=Score(value=dict.fromkeys(rubric.score_keys, 1.0 + number % 9)),
            sample_id=f"{number} {language}",
            sample_metadata={"intent_group": intent.group, "language": language},
        )
        for number, intent in enumerate(rubric.intents.values())
        for language in rubric.languages
    ]
    outcomes = [
        "judged",
        "no_response",
        "partial_panel",
        "unscored_refusal",
        "unscored_truncated",
        "answer_cut_off",
    ]
    counted = compute(outcome_counts(), [outcome(name) for name in outcomes])
    assert len(compute(intent_report(), scores)) + len(counted) == 15


def test_criteria_are_no_rows_so_that_a_run_ends_on_one_screen() -> None:
    rows = compute(intent_report(), [scored(7, kindness=4), scored(8, kindness=6), unscored()])
    assert "kindness" not in rows and rows["final"] == 7.5


def test_names_that_are_taken_hide_no_row() -> None:
    taken = {"intent_group": "low", "language": "zh"}
    scores = [scored(3, metadata=taken, creativity=5, final_touch=2) for _ in range(6)]
    scores.append(
        scored(
            4, metadata={"intent_group": "low", "language": "final"}, creativity=5, final_touch=2
        )
    )
    rows = compute(intent_report(), scores)
    assert rows["final"] == rows["intent low"] == pytest.approx(22 / 7)
    assert (rows["zh"], rows["language final"]) == (3, 4)


def test_samples_without_a_final_score_do_not_count() -> None:
    more = [
        scored(NONE, metadata={"intent_group": "Leisure", "language": "fr"}),
        unscored(intent_group="API"),
    ]
    assert compute(intent_report(), [*BY_INTENT, *more]) == compute(intent_report(), BY_INTENT)


@pytest.mark.parametrize("metadata", [None, {}, {"other": 1}])
def test_missing_metadata_make_the_group_unknown_and_no_error(
    metadata: dict[str, Any] | None,
) -> None:
    rows = compute(
        intent_report(),
        [scored(5, metadata=metadata), scored(7, metadata={"intent_group": "Leisure"})],
    )
    assert (rows["Leisure"], rows["unknown"], rows["language unknown"]) == (7, 5, 6)


@pytest.mark.parametrize("scores", [[], [unscored(k="a")], [scored(NONE, metadata={"k": "a"})]])
def test_without_any_score_the_headline_alone_is_there(scores: list[SampleScore]) -> None:
    rows = compute(intent_report(), scores)
    assert list(rows) == ["final"] and math.isnan(rows["final"])


@pytest.mark.parametrize("value", [NONE, "8", None, [8], 8.0, {"clarity": 8}])
def test_scores_of_another_shape_have_no_final_score(value: Value) -> None:
    foreign = SampleScore(
        score=Score.model_construct(value=value), sample_id="x", sample_metadata={}
    )
    assert compute(intent_report(), [foreign, scored(6, metadata={})])["final"] == 6


# --- outcome_counts ---


def outcome(name: str) -> SampleScore:
    return SampleScore(score=Score(value={"outcome": name, "intent": "Leisure"}), sample_id=name)


def counts(**given: int) -> dict[str, float]:
    scores = [outcome(name) for name, number in given.items() for _ in range(number)]
    return compute(outcome_counts(), random.Random(1).sample(scores, len(scores)))


def test_outcomes_are_counted_by_name_judged_first() -> None:
    found = counts(unscored_refusal=2, judged=5, answer_cut_off=1)
    assert list(found.items()) == [("judged", 5), ("answer_cut_off", 1), ("unscored_refusal", 2)]


def test_more_than_three_outcomes_count_together_and_none_is_lost() -> None:
    found = counts(judged=9, no_response=3, unscored_refusal=2, unscored_truncated=1)
    assert found == {"judged": 9, "no_response": 3, "unscored": 3}
    found = counts(
        judged=9,
        no_response=3,
        answer_cut_off=4,
        partial_panel=2,
        unscored_refusal=2,
        unscored_truncated=1,
    )
    assert found == {"judged": 9, "other": 9, "unscored": 3}


# --- through the harness: reducer, registry and sample metadata are its own ---

METADATA: list[Mapping[str, Any]] = [
    {"intent": "api", "intent_group": "Solve Problem", "language": "en"},
    {"intent": "solve_professional_problem", "intent_group": "Solve Problem", "language": "en"},
    {"intent": "solve_professional_problem", "intent_group": "Solve Problem", "language": "zh"},
    {"intent": "leisure", "intent_group": "Leisure", "language": "zh"},
]


def judged(final: float, kindness: float = NONE) -> Score:
    """A score as the judge leaves it."""
    value: Any = {FINAL: final, "clarity": NONE, "kindness": kindness}
    return Score(value=value)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count tokens by characters: the harness would download a tokenizer to count those of its mock
    model.
    """
    monkeypatch.setattr("inspect_ai.model._model.count_text_tokens", len)


@pytest.mark.usefixtures("offline")
def test_epochs_that_agree_change_no_mean() -> None:
    scores = [judged(3, 4), judged(7, 6), judged(NONE), Score.unscored(reason="grader_failed")]
    assert_agreeing_epochs_change_nothing([intent_report()], scores, metadata=METADATA)


@pytest.mark.usefixtures("offline")
def test_epochs_are_averaged_first() -> None:
    # Epochs are reduced to their mean: 4, 7, 8, 9
    epochs = [
        [judged(3, 4), judged(5, 6)],
        [judged(7), judged(7)],
        [judged(8), judged(8)],
        [judged(9), judged(NONE)],  # a missing score is no score
    ]
    assert run_metrics([intent_report()], epochs, metadata=METADATA) == {
        "final": 7,
        "Leisure": 9,
        "Solve Problem": pytest.approx(19 / 3),
        "en": 5.5,
        "zh": 8.5,
    }


# --- rows and reasons ---


def test_rows_without_a_value_are_left_out_but_the_headline() -> None:
    rows = defined({"share": NONE, "low": NONE, "n": 2.0}, "share")
    assert list(rows) == ["share", "n"] and math.isnan(rows["share"])
    assert count_rows("failures", ["b", "a", "b"]) == {"failures a": 1, "failures b": 2}


NO_RESPONSE = {"empty_reply", "call_failed", "no_answer", "context_overflow"}
REFUSAL = {"refusal", "content_filter"}


def test_every_failure_mode_has_a_reason_of_the_harness() -> None:
    for mode in (*FAILURE_MODES, MISSING_VERDICT):
        expected = (
            "no_response"
            if mode in NO_RESPONSE
            else "refusal"
            if mode in REFUSAL
            else "invalid_response_format"
        )
        assert reason_of([mode]) == expected
        assert expected in get_args(Reason)


def test_the_reason_of_most_replies_counts_and_the_first_of_equals() -> None:
    assert reason_of(["unparseable", "call_failed", "empty_reply"]) == "no_response"
    assert reason_of(["refusal", "call_failed"]) == "refusal"
    assert reason_of(["call_failed", "refusal"]) == "no_response"
    assert reason_of([]) == "no_response"


# --- groups, clusters and what was not shown ---


def test_the_cluster_of_a_score_is_that_of_its_sample_or_the_sample() -> None:
    names = {"user": "cluster user", " user ": "cluster user", " ": "sample s", "": "sample s"}
    for name, cluster in names.items():
        assert cluster_of(scored(5, id="s", metadata={"cluster": name})) == cluster
    assert cluster_of(scored(5, id="s", metadata={"cluster": 7})) == "cluster 7"
    assert cluster_of(scored(5, id="s", metadata={"cluster": None})) == "sample s"
    assert cluster_of(scored(5, id="s")) == "sample s"
    assert cluster_of(scored(5, id="user")) != cluster_of(scored(5, metadata={"cluster": "user"}))


def test_the_reported_intent_goes_before_the_intent() -> None:
    assert groups_of({"intent": "api", "intent_group": "Solve", "language": "en"}) == {
        "intent": "Solve",
        "language": "en",
    }
    assert groups_of({"intent": "api"}) == {"intent": "api", "language": "unknown"}
    assert groups_of(None) == {"intent": "unknown", "language": "unknown"}


def test_means_of_groups_come_in_their_order_and_other_scorers_have_none() -> None:
    scores = [scored(final, metadata={"kind": kind}) for kind, final in (("b", 2), ("b", 4))]
    scores += [scored(9, metadata={"kind": "a"}), scored(NONE, metadata={"kind": "c"})]
    # An answer without a score does not count for its group.
    scores.insert(1, scored(NONE, metadata={"kind": "b"}))
    scores.append(scored(1, metadata=None))
    found = compute(group_finals("kind", ["c", "b", "a", "d"]), scores)
    assert list(found) == ["c", "b", "a", "d"]
    assert (found["b"], found["a"]) == (3, 9)
    assert math.isnan(found["c"]) and math.isnan(found["d"])
    assert compute(group_finals("kind", ["a"]), [outcome("judged")]) == {}
    assert list(compute(group_finals("kind", ["a"]), [])) == ["a"]


def test_answers_of_which_a_part_was_not_shown_are_counted_if_there_are_any() -> None:
    def shown(parts: dict[str, int]) -> SampleScore:
        score = scored(5)
        score.score.metadata = {"not_shown": parts}
        return score

    assert (
        compute(intent_report(), [shown({"image": 2}), shown({}), shown({"audio": 1})])["not shown"]
        == 2
    )
    assert "not shown" not in compute(intent_report(), [shown({})])


def test_three_outcomes_are_named_and_unknown_ones_counted() -> None:
    assert counts(judged=1, unscored_refusal=1, unscored_truncated=1) == {
        "judged": 1,
        "unscored_refusal": 1,
        "unscored_truncated": 1,
    }
    merged = counts(a=1, b=1, unscored_refusal=2, unscored_truncated=1)
    assert merged == {"a": 1, "b": 1, "unscored": 3}
    assert compute(outcome_counts(), [scored(5), outcome("judged")]) == {"judged": 1, "unknown": 1}


def test_only_the_judge_of_intents_has_the_scale_of_urs() -> None:
    assert scale_of_scorer("intent_judge") == (1, 10)
    assert scale_of_scorer("rating_agreement") is None
