"""Metrics over scores of the judge: by hand on single scores, and through the harness with its epochs."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from inspect_ai.scorer import Metric, SampleScore, Score, Value
from pytest_inspect_evals.metrics import assert_agreeing_epochs_change_nothing, run_metrics
from scipy import stats

from urs_inspect.rubrics import FINAL, Rubric
from urs_inspect.scorers import (
    added_criteria,
    ci,
    epoch_deviation,
    group_mean,
    judge_alpha,
    self_judged,
    split_group_mean,
)

NONE = math.nan


def scored(
    final: object, *, id: str = "s", metadata: dict[str, Any] | None = None, facts: dict[str, Any] | None = None
) -> SampleScore:
    """A sample with a final score; `metadata` is the sample's, `facts` what the judge left in the score's."""
    value: Any = {FINAL: final}
    return SampleScore(score=Score(value=value, metadata=facts), sample_id=id, sample_metadata=metadata)


def unscored(**metadata: Any) -> SampleScore:
    return SampleScore(score=Score.unscored(reason="grader_failed"), sample_id="u", sample_metadata=metadata)


def compute(metric: Metric, scores: Sequence[SampleScore]) -> dict[str, float]:
    function: Any = metric
    result = function(list(scores))
    assert isinstance(result, dict)
    return result


def panel(*finals: float | None) -> dict[str, Any]:
    """Facts of a score that judges gave; None for a judge who failed."""
    return {
        "judges": [
            {"judge": f"j{number}", "failure_mode": "unparseable"}
            if final is None
            else {"judge": f"j{number}", FINAL: final}
            for number, final in enumerate(finals)
        ]
    }


# 97.5 % points of Student's t, from a printed table.
T1, T2 = 12.706205, 4.302653


# --- group_mean ---

BY_INTENT = [
    scored(4, metadata={"intent_group": "Leisure", "language": "en"}),
    scored(8, metadata={"intent_group": "Leisure", "language": "zh"}),
    scored(9, metadata={"intent_group": "Factual QA", "language": "en"}),
]


def test_means_by_group_worked_out_by_hand() -> None:
    # Leisure (4 + 8) / 2, Factual QA 9; groups in alphabetical order
    result = compute(group_mean("intent_group"), BY_INTENT)
    assert result == {"Factual QA": 9, "Leisure": 6}
    assert list(result) == ["Factual QA", "Leisure"]
    # en (4 + 9) / 2, zh 8
    assert compute(group_mean("language"), BY_INTENT) == {"en": 6.5, "zh": 8}


def test_groups_of_several_keys_join_their_names() -> None:
    result = compute(group_mean(("intent_group", "language")), BY_INTENT)
    assert result == {"Factual QA en": 9, "Leisure en": 4, "Leisure zh": 8}


def test_a_list_of_keys_serves_as_well_because_logs_store_lists() -> None:
    assert compute(group_mean(["language"]), BY_INTENT) == compute(group_mean("language"), BY_INTENT)


def test_intervals_are_half_widths_worked_out_by_hand() -> None:
    # Leisure 4, 8: s = sqrt(8), t(1 degree) * sqrt(8) / sqrt(2) = 2 t = 25.41241; Factual QA has one value
    result = compute(group_mean("intent_group", intervals=True), BY_INTENT)
    assert result == {"Leisure ±": pytest.approx(2 * T1, abs=1e-5)}


def test_half_widths_are_those_of_the_t_distribution() -> None:
    values = [3, 5, 5, 8, 9, 10]
    low, high = stats.t.interval(0.95, 5, loc=sum(values) / 6, scale=stats.sem(values))
    result = compute(group_mean("k", intervals=True), [scored(value, metadata={"k": "g"}) for value in values])
    assert result == {"g ±": pytest.approx((high - low) / 2)}


def test_samples_without_a_final_score_do_not_count_in_their_group() -> None:
    scores = [*BY_INTENT, scored(NONE, metadata={"intent_group": "Leisure"}), unscored(intent_group="Leisure")]
    assert compute(group_mean("intent_group"), scores) == compute(group_mean("intent_group"), BY_INTENT)


def test_a_group_of_unscored_samples_is_absent() -> None:
    scores = [scored(5, metadata={"k": "a"}), scored(NONE, metadata={"k": "b"}), unscored(k="c")]
    assert compute(group_mean("k"), scores) == {"a": 5}


@pytest.mark.parametrize("metadata", [None, {}, {"other": 1}])
def test_missing_metadata_make_the_group_unknown_and_no_error(metadata: dict[str, Any] | None) -> None:
    scores = [scored(5, metadata=metadata), scored(7, metadata={"k": "a"})]
    assert compute(group_mean("k"), scores) == {"a": 7, "unknown": 5}
    assert compute(group_mean(("k", "l")), scores) == {"a unknown": 7, "unknown unknown": 5}


@pytest.mark.parametrize(
    "metric", [group_mean("k"), group_mean("k", True), split_group_mean(), added_criteria([FINAL])]
)
@pytest.mark.parametrize("scores", [[], [unscored(k="a")], [scored(NONE, metadata={"k": "a"})]])
def test_without_any_score_there_are_no_rows(metric: Metric, scores: list[SampleScore]) -> None:
    assert compute(metric, scores) == {}


@pytest.mark.parametrize("value", [NONE, "8", None, [8], 8.0, {"clarity": 8}])
def test_scores_of_another_shape_have_no_final_score(value: Value) -> None:
    foreign = SampleScore(score=Score.model_construct(value=value), sample_id="x", sample_metadata={"k": "a"})
    assert compute(group_mean("k"), [foreign, scored(6, metadata={"k": "a"})]) == {"a": 6}


def test_the_order_of_samples_does_not_matter() -> None:
    for metric in (group_mean("intent_group"), group_mean("language", True), split_group_mean()):
        forwards, backwards = compute(metric, BY_INTENT), compute(metric, BY_INTENT[::-1])
        assert list(forwards.items()) == list(backwards.items())


# --- split_group_mean ---


def of_intent(intent: str, group: str, final: float) -> SampleScore:
    return scored(final, metadata={"intent": intent, "intent_group": group})


SHARED = [
    of_intent("solve_professional_problem", "Solve Problem", 6),
    of_intent("solve_professional_problem", "Solve Problem", 8),
    of_intent("api", "Solve Problem", 3),
    of_intent("leisure", "Leisure", 9),
]


def test_parts_of_shared_groups_worked_out_by_hand() -> None:
    # (6 + 8) / 2 and 3; Leisure is one intent and is no part of anything
    result = compute(split_group_mean(), SHARED)
    assert result == {"Solve Problem: api": 3, "Solve Problem: solve_professional_problem": 7}
    # s = sqrt(2), t(1 degree) * sqrt(2) / sqrt(2) = t; the single API case has none
    result = compute(split_group_mean(intervals=True), SHARED)
    assert result == {"Solve Problem: solve_professional_problem ±": pytest.approx(T1, abs=1e-5)}


def test_a_group_of_one_intent_has_no_parts() -> None:
    assert compute(split_group_mean(), [SHARED[0], SHARED[1], SHARED[3]]) == {}


def test_an_intent_without_scores_makes_no_shared_group() -> None:
    nothing = of_intent("api", "Solve Problem", NONE)
    assert compute(split_group_mean(), [SHARED[0], SHARED[1], nothing]) == {}


def test_missing_intents_are_a_part_by_the_name_of_unknown() -> None:
    scores = [of_intent("api", "Solve Problem", 3), scored(5, metadata={"intent_group": "Solve Problem"}), scored(1)]
    assert compute(split_group_mean(), scores) == {"Solve Problem: api": 3, "Solve Problem: unknown": 5}


# --- added_criteria ---


def test_criteria_of_a_users_rubric_have_means_and_intervals_worked_out_by_hand(rubric: Rubric) -> None:
    values: list[Any] = [
        {FINAL: 7, "clarity": 7, "kindness": 4, "wit": NONE},
        {FINAL: 8, "clarity": 9, "kindness": 6, "wit": 2},
        {FINAL: 9, "clarity": NONE, "kindness": 8, "wit": NONE},
    ]
    scores = [SampleScore(score=Score(value=value)) for value in values] + [unscored()]
    # kindness 4, 6, 8: mean 6, s = 2, t(2 degrees) * 2 / sqrt(3); wit has one value; clarity and final are known
    assert compute(added_criteria(list(rubric.score_keys)), scores) == {
        "kindness": 6,
        "wit": 2,
        "kindness ±": pytest.approx(T2 * 2 / math.sqrt(3), abs=1e-5),
    }


def test_the_built_in_rubric_adds_no_criteria(rubric: Rubric) -> None:
    value: Any = dict.fromkeys(rubric.score_keys, 5)
    assert compute(added_criteria(list(rubric.score_keys)), [SampleScore(score=Score(value=value))]) == {}


def test_an_added_criterion_that_nobody_scored_is_absent() -> None:
    value: Any = {FINAL: 7, "wit": NONE}
    assert compute(added_criteria([FINAL]), [SampleScore(score=Score(value=value))]) == {}


# --- self_judged ---


def test_the_share_of_self_judged_answers_worked_out_by_hand() -> None:
    # yes, yes, no, and one from a log that does not say: 2 / 4
    facts: list[dict[str, Any] | None] = [{"self_judged": True}, {"self_judged": True}, {"self_judged": False}, None]
    assert compute(self_judged(), [scored(5, facts=fact) for fact in facts]) == {"self_judged": 0.5}


@pytest.mark.parametrize(("own", "share"), [(False, 0), (True, 1)])
def test_the_share_of_self_judged_answers_is_none_or_all(own: bool, share: float) -> None:
    assert compute(self_judged(), [scored(5, facts={"self_judged": own})] * 3) == {"self_judged": share}


def test_without_scored_answers_there_is_no_share() -> None:
    assert compute(self_judged(), []) == {}


# --- judge_alpha ---


def test_the_agreement_of_two_judges_worked_out_by_hand() -> None:
    # Units (1, 1), (2, 2), (3, 4): observed 1/3, expected 82/30, alpha 36/41 (tests/rating/test_agreement.py)
    scores = [scored(1, facts=panel(1, 1)), scored(2, facts=panel(2, 2)), scored(3.5, facts=panel(3, 4))]
    assert compute(judge_alpha(), scores) == {"judge_alpha": pytest.approx(36 / 41)}


def test_the_agreement_of_three_judges_of_whom_some_failed_worked_out_by_hand() -> None:
    # Units (2, 4, -), (6, 6, 6), (8, -, -): the last pairs with nothing. n = 5.
    # Observed: ((4 + 4) / 1 + 0) / 5 = 8/5. Expected: over ordered pairs of 2 4 6 6 6: 2 (5 * 128 - 24^2) = 128; / 20.
    # 1 - (8/5) / (128/20) = 3/4
    scores = [
        scored(3, facts=panel(2, 4, None)),
        scored(6, facts=panel(6, 6, 6)),
        scored(8, facts=panel(8, None, None)),
    ]
    assert compute(judge_alpha(), scores) == {"judge_alpha": pytest.approx(3 / 4)}


def test_answers_that_no_judge_saw_do_not_matter_to_agreement() -> None:
    seen = [scored(1, facts=panel(1, 1)), scored(2, facts=panel(2, 2)), scored(3.5, facts=panel(3, 4))]
    unseen = [scored(1, facts={"judges": []}), scored(1), unscored(), scored(NONE, facts=panel(None, None))]
    assert compute(judge_alpha(), [*unseen, *seen]) == compute(judge_alpha(), seen)


def test_judges_may_trade_places() -> None:
    finals = [(1, 3, 2), (8, 9, 9), (5, 4, 7), (2, 2, 3)]
    one = compute(judge_alpha(), [scored(0, facts=panel(a, b, c)) for a, b, c in finals])
    other = compute(judge_alpha(), [scored(0, facts=panel(c, a, b)) for a, b, c in finals])
    assert other == {"judge_alpha": pytest.approx(one["judge_alpha"])}


@pytest.mark.parametrize("scores", [[], [scored(5)], [scored(5, facts=panel(5)), scored(6, facts=panel(6))]])
def test_a_single_judge_has_no_agreement(scores: list[SampleScore]) -> None:
    assert compute(judge_alpha(), scores) == {}


def test_a_panel_that_shares_too_few_answers_has_no_number_for_its_agreement() -> None:
    result = compute(judge_alpha(), [scored(5, facts=panel(5, 6)), scored(5, facts=panel(5, None))])
    assert list(result) == ["judge_alpha"]
    assert math.isnan(result["judge_alpha"])


# --- epoch_deviation ---


def test_the_deviation_over_epochs_worked_out_by_hand() -> None:
    # a: 4, 8 -> squares 4 + 4, 1 degree; b: 6, 6, 6 -> 0, 2 degrees; c has one score. sqrt(8 / 3)
    scores = [scored(final, id=id) for id, final in [("a", 4), ("b", 6), ("c", 1), ("b", 6), ("a", 8), ("b", 6)]]
    assert compute(epoch_deviation(), scores) == {"epoch_deviation": pytest.approx(math.sqrt(8 / 3))}


def test_epochs_without_a_score_do_not_count() -> None:
    scores = [scored(4, id="a"), scored(NONE, id="a"), scored(8, id="a")]
    # 4, 8: sqrt(8 / 1)
    assert compute(epoch_deviation(), scores) == {"epoch_deviation": pytest.approx(math.sqrt(8))}


@pytest.mark.parametrize(
    "scores",
    [[], [scored(4, id="a"), scored(9, id="b")], [scored(4, id="a"), scored(NONE, id="a")]],
)
def test_with_one_epoch_there_is_no_deviation(scores: list[SampleScore]) -> None:
    assert compute(epoch_deviation(), scores) == {}


# --- through the harness: reducer, registry and sample metadata are its own ---

METADATA: list[Mapping[str, Any]] = [
    {"intent": "api", "intent_group": "Solve Problem", "language": "en"},
    {"intent": "solve_professional_problem", "intent_group": "Solve Problem", "language": "en"},
    {"intent": "solve_professional_problem", "intent_group": "Solve Problem", "language": "zh"},
    {"intent": "leisure", "intent_group": "Leisure", "language": "zh"},
]


def judged(final: float, kindness: float = NONE, *, own: bool = False, finals: tuple[float | None, ...] = ()) -> Score:
    """A score as the judge leaves it."""
    value: Any = {FINAL: final, "clarity": NONE, "kindness": kindness}
    return Score(value=value, metadata={"self_judged": own, **panel(*finals)})


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count tokens by characters: the harness would download a tokenizer to count those of its mock model."""
    monkeypatch.setattr("inspect_ai.model._model.count_text_tokens", len)


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize(
    "metrics",
    [
        [group_mean("intent_group"), group_mean(("intent_group", "language")), group_mean("language", True)],
        [split_group_mean(), split_group_mean(True)],
        [added_criteria([FINAL, "clarity"])],
    ],
    ids=["groups", "parts", "added criteria"],
)
def test_epochs_that_agree_change_no_mean(metrics: list[Metric]) -> None:
    scores = [judged(3, 4), judged(7, 6), judged(8), judged(NONE)]
    assert_agreeing_epochs_change_nothing(metrics, scores, metadata=METADATA)
    unscored_too = [judged(3, 4), judged(7, 6), judged(8), Score.unscored(reason="grader_failed")]
    assert_agreeing_epochs_change_nothing(metrics, unscored_too, metadata=METADATA)


@pytest.mark.usefixtures("offline")
def test_all_groupings_stand_beside_each_other_in_a_log() -> None:
    keys = ("intent_group", "language", ("intent_group", "language"))
    metrics: list[Metric] = [group_mean(key, intervals) for intervals in (False, True) for key in keys]
    metrics += [split_group_mean(), added_criteria([FINAL, "clarity"])]
    # Epochs are reduced to their mean: 4, 7, 8, 9
    epochs = [
        [judged(3, 4), judged(5, 6)],
        [judged(7), judged(7)],
        [judged(8), judged(8)],
        [judged(9), judged(NONE)],  # a missing score is no score
    ]
    results = run_metrics(metrics, epochs, metadata=METADATA)
    assert results == {
        "Leisure": 9,
        "Solve Problem": pytest.approx(19 / 3),
        "en": 5.5,
        "zh": 8.5,
        "Leisure zh": 9,
        "Solve Problem en": 5.5,
        "Solve Problem zh": 8,
        # 4, 7, 8: s^2 = (49 + 4 + 25) / 9 / 2 = 13/3; t(2) sqrt(13/3 / 3)
        "Solve Problem ±": pytest.approx(T2 * math.sqrt(13) / 3, abs=1e-5),
        "en ±": pytest.approx(1.5 * T1, abs=1e-5),  # 4, 7: s = 3 / sqrt(2), t(1) 3 / 2
        "zh ±": pytest.approx(0.5 * T1, abs=1e-5),
        "Solve Problem en ±": pytest.approx(1.5 * T1, abs=1e-5),
        "Solve Problem: api": 4,
        "Solve Problem: solve_professional_problem": 7.5,
        "kindness": 5,
    }


@pytest.mark.usefixtures("offline")
def test_unreduced_metrics_see_every_epoch_and_no_unscored_sample() -> None:
    failed = Score.unscored(reason="grader_failed", metadata={"self_judged": True, **panel(None, None)})
    epochs = [
        [judged(5, own=True, finals=(4, 6)), judged(7, finals=(6, 8))],
        [judged(8, finals=(8, 8)), judged(8, finals=(8, None))],
        [judged(2, finals=(2, 2)), failed],
        [failed, failed],
    ]
    results = run_metrics([self_judged(), judge_alpha(), epoch_deviation()], epochs)
    assert results == {
        "self_judged": pytest.approx(1 / 5),  # five of the eight judgements have a score
        # (4, 6), (6, 8), (8, 8), (2, 2); n = 8. Observed (8 + 8) / 8 = 2. Expected over 4 6 6 8 8 8 2 2:
        # 2 (8 * 288 - 44^2) / 56 = 92/7. 1 - 14/92
        "judge_alpha": pytest.approx(1 - 14 / 92),
        "epoch_deviation": pytest.approx(1.0),  # 5, 7 -> 2 and 8, 8 -> 0 with one degree each: sqrt(2 / 2)
    }


@pytest.mark.usefixtures("offline")
def test_with_one_epoch_and_one_judge_only_the_share_is_reported() -> None:
    metrics: list[Metric] = [self_judged(), judge_alpha(), epoch_deviation()]
    scores = [[judged(5, own=True, finals=(5,))], [judged(7, own=True, finals=(7,))]]
    assert run_metrics(metrics, scores) == {"self_judged": 1}


@pytest.mark.usefixtures("offline")
def test_a_run_without_any_score_ends_well() -> None:
    metrics: list[Metric] = [
        group_mean("language"),
        group_mean("language", True),
        split_group_mean(),
        added_criteria([FINAL]),
        self_judged(),
        judge_alpha(),
        epoch_deviation(),
    ]
    results = run_metrics(metrics, [[Score.unscored(reason="grader_failed")]] * 2, metadata=METADATA[:2])
    assert len(results) == len(metrics)  # the harness writes one empty row for each
    assert all(isinstance(value, float) and math.isnan(value) for value in results.values())


# --- the interval of one key ---


@pytest.mark.usefixtures("offline")
def test_an_interval_worked_out_by_hand_and_through_the_harness() -> None:
    # 4, 6, 8: mean 6, s = 2, standard error 2 / sqrt(3) = 1.1547, t(0.975; 2) = 4.3027: 6 -+ 4.9683.
    results = run_metrics({"final": [ci()]}, [[{"final": 4.0}], [{"final": 6.0}], [{"final": 8.0}]])
    bounds = {name.rpartition("_")[2]: value for name, value in results.items() if "ci" in name}
    assert bounds == pytest.approx({"lower": 6 - 4.9683, "upper": 6 + 4.9683}, abs=1e-4)


@pytest.mark.parametrize("values", [[], [7.0]])
def test_fewer_than_two_samples_have_no_interval(values: list[float]) -> None:
    scores = [SampleScore(score=Score(value=value), sample_id=str(number)) for number, value in enumerate(values)]
    metric: Any = ci()
    assert metric(scores) == {}
