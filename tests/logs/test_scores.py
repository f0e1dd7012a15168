"""Tests of `urs_inspect.logs._scores`."""

import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log, read_eval_log_sample_summaries
from inspect_ai.model import ModelConfig, ModelUsage
from inspect_ai.scorer import Score

from tests.reports.judged_logs import JUDGE, answered, judgement, tokens, write_judged
from urs_inspect.logs._lm_eval_files import saved_results, task_and_date
from urs_inspect.logs._scores import (
    NOTHING,
    UNKNOWN,
    Usage,
    answered_by,
    is_simulated,
    judge_finals,
    judgements,
    own_usage,
    role_models,
    scored_answers,
    usage_of,
    usage_of_answers,
    usage_of_judges,
    value_of,
)

Numbers = tuple[float, float, float]


def numbers(usage: Usage) -> Numbers:
    return usage.sent, usage.received, usage.cost


def same(one: Usage, other: Numbers) -> bool:
    return numbers(one) == pytest.approx(other, nan_ok=True)


def test_what_a_cache_held_was_sent_as_well() -> None:
    used = ModelUsage(
        input_tokens=1,
        output_tokens=2,
        total_tokens=38,
        input_tokens_cache_read=30,
        input_tokens_cache_write=5,
    )
    found = usage_of(used)
    assert (found.sent, found.received) == (36, 2)
    assert math.isnan(found.cost)
    assert usage_of(ModelUsage()).cost == 0  # no token, no cost


def test_a_cost_is_known_where_the_harness_has_it_and_free_calls_cost_nothing() -> None:
    assert numbers(usage_of(tokens(10, 5, 0.25))) == (10, 5, 0.25)
    assert numbers(usage_of(tokens(10, 5, 0.0))) == (10, 5, 0)
    assert same(usage_of(tokens(10, 5)), (10, 5, math.nan))


def test_usage_is_added_and_subtracted_part_by_part() -> None:
    one, other = Usage(10, 5, 0.5), Usage(3, 1, 0.125)
    assert numbers(one + other) == (13, 6, 0.625)
    assert numbers(one - other) == (7, 4, 0.375)
    assert numbers(NOTHING + one) == numbers(one)
    assert same(one - UNKNOWN, (math.nan, math.nan, math.nan))


def header(tmp_path: Path, **facts: Any) -> EvalLog:
    return read_eval_log(write_judged(tmp_path / "log.eval", answered("1"), **facts))


@pytest.mark.parametrize(
    ("model", "assistant", "named"),
    [
        ("p/model", None, "p/model"),
        ("none/none", "search", "search"),
        ("p/model", "search", "p/model, search"),
        ("none/none", None, "none/none"),
    ],
)
def test_an_assistant_is_named_beside_its_model_if_it_has_one(
    model: str, assistant: str | None, named: str, tmp_path: Path
) -> None:
    facts = {"assistant": assistant} if assistant else {}
    assert answered_by(header(tmp_path, model=model, metadata=facts)) == named


def test_models_of_a_role_are_listed_whether_it_has_one_or_several(tmp_path: Path) -> None:
    log = header(tmp_path, roles={"grader": ["j/one", "j/two"]})
    assert log.eval.model_roles
    log.eval.model_roles["other"] = ModelConfig(model="o/single")
    assert role_models(log) == {"grader": ("j/one", "j/two"), "other": ("o/single",)}
    log.eval.model_roles = None
    assert role_models(log) == {}


@pytest.mark.parametrize(
    ("model", "judges", "simulated"),
    [
        ("p/model", [JUDGE], False),
        ("urs_simulation/good", [JUDGE], True),
        ("p/model", [JUDGE, "urs_simulation/judge"], True),
    ],
)
def test_a_run_is_simulated_if_any_of_its_models_is(
    model: str, judges: list[str], simulated: bool, tmp_path: Path
) -> None:
    assert is_simulated(header(tmp_path, model=model, roles={"grader": judges})) == simulated


def test_a_number_of_a_score_is_missing_where_the_score_is_none_or_single() -> None:
    assert value_of(Score(value={"final": 7}), "final") == 7
    for score in (None, Score(value=7), Score(value={"other": 7}), Score(value={"final": "7"})):
        assert math.isnan(value_of(score, "final"))


# --- usage of the model under test and of judges ---


def test_the_model_s_own_usage_is_what_its_name_used(tmp_path: Path) -> None:
    log = header(tmp_path)
    models = {"p/model": tokens(100, 10), JUDGE: tokens(400, 40)}
    assert numbers(own_usage(log, models, {"grader": tokens(400, 40)}))[:2] == (100, 10)
    assert same(own_usage(log, {JUDGE: tokens(400, 40)}, {}), numbers(UNKNOWN))


def test_a_model_that_is_also_a_judge_used_what_its_roles_did_not(tmp_path: Path) -> None:
    log = header(tmp_path, roles={"grader": ["p/model", JUDGE]})
    models = {"p/model": tokens(500, 50, 5.0), JUDGE: tokens(300, 30, 3.0)}
    roles = {"grader": tokens(700, 70, 7.0)}
    assert numbers(own_usage(log, models, roles)) == (100, 10, 1)


@pytest.mark.parametrize(
    ("costs", "cost"),
    [((0.5, 0.25), 0.75), ((0.5, None), math.nan), ((None, None), math.nan)],
)
def test_the_cost_of_a_panel_is_known_only_if_every_judge_has_a_price(
    costs: tuple[float | None, float | None], cost: float
) -> None:
    models = {f"j/{number}": tokens(100, 10, paid) for number, paid in enumerate(costs)}
    # The harness adds up the costs that it knows.
    together = tokens(200, 20, sum(filter(None, costs)))
    found = usage_of_judges(list(models), models, together)
    assert same(found, (200, 20, cost))
    assert usage_of_judges(["j/0", "of a cache"], models, together).sent == 200


OWN = tokens(100, 10, 1.0)
JUDGING = tokens(400, 40, 4.0)


def usages(
    tmp_path: Path,
    *scores: Score,
    models: dict[str, ModelUsage],
    of_roles: dict[str, ModelUsage],
    **facts: Any,
) -> tuple[Usage, Usage]:
    """What answer and judges used, in a log of one answer."""
    sample = answered("1", *scores, model_usage=models, role_usage=of_roles)
    sample.output.usage = tokens(60, 6, 0.6)
    log = read_eval_log(write_judged(tmp_path / "log.eval", sample, **facts), header_only=True)
    summaries = read_eval_log_sample_summaries(log.location)
    answers = scored_answers(log, summaries, judgements(summaries))
    [used] = usage_of_answers(log, answers)
    return used


def test_answering_and_judging_are_told_apart_by_role(tmp_path: Path) -> None:
    models = {"p/model": OWN, JUDGE: JUDGING}
    other = {"helper": tokens(1, 1, 0.1), "grader": JUDGING}
    own, judging = usages(
        tmp_path,
        judgement(5.0),
        models=models,
        of_roles=other,
        roles={"helper": ["p/helper"], "grader": [JUDGE]},
    )
    assert (numbers(own), numbers(judging)) == ((100, 10, 1), (400, 40, 4))


def test_judging_is_what_the_role_of_exactly_these_judges_used(tmp_path: Path) -> None:
    roles = {"large": [JUDGE, "j/two"], "grader": [JUDGE], "small": []}
    of_roles = {"large": tokens(900, 90, 9.0), "grader": JUDGING}
    models = {"p/model": OWN, JUDGE: JUDGING}
    _, judging = usages(tmp_path, judgement(5.0), models=models, of_roles=of_roles, roles=roles)
    assert numbers(judging) == (400, 40, 4)
    panel: dict[str, float | None] = {JUDGE: 5.0, "j/two": 6.0}
    models["j/two"] = tokens(500, 50, 5.0)
    _, judging = usages(
        tmp_path, judgement(5.5, panel=panel), models=models, of_roles=of_roles, roles=roles
    )
    assert numbers(judging) == (900, 90, 9)


def test_what_a_role_used_is_not_taken_for_judging_one_s_own_answer(tmp_path: Path) -> None:
    own, judging = usages(
        tmp_path,
        judgement(5.0, "p/model", self_judged=True),
        models={"p/model": tokens(500, 50, 5.0)},
        of_roles={"helper": tokens(400, 40, 4.0)},
        roles={},
    )
    assert numbers(own) == (500, 50, 5)
    assert same(judging, numbers(UNKNOWN))


@pytest.mark.parametrize("case", ["no usage", "no score", "judged twice", "another role"])
def test_usage_that_cannot_be_told_is_unknown_and_none_is_nothing(
    case: str, tmp_path: Path
) -> None:
    scores = [judgement(5.0)]
    models = {"p/model": OWN, JUDGE: JUDGING}
    of_roles = {"grader": JUDGING}
    own: Numbers = (100, 10, 1)
    judging = UNKNOWN
    if case == "no usage":
        models, own = {}, numbers(UNKNOWN)
    elif case == "no score":
        scores, judging = [], NOTHING
    elif case == "judged twice":
        scores *= 2
    else:
        of_roles = {"other": JUDGING}
    found = usages(tmp_path, *scores, models=models, of_roles=of_roles)
    assert same(found[0], own)
    assert same(found[1], numbers(judging))


def test_without_usage_and_scores_judging_cost_nothing(tmp_path: Path) -> None:
    own, judging = usages(tmp_path, models={}, of_roles={})
    assert same(own, numbers(UNKNOWN)) and numbers(judging) == (0, 0, 0)


def test_a_model_that_judged_itself_used_what_its_answer_did_and_the_rest_for_judging(
    tmp_path: Path,
) -> None:
    own, judging = usages(
        tmp_path,
        judgement(5.0, "p/model", self_judged=True),
        models={"p/model": tokens(500, 50, 5.0)},
        of_roles={},
        roles={},
    )
    assert numbers(own) == pytest.approx((60, 6, 0.6))
    assert numbers(judging) == pytest.approx((440, 44, 4.4))


def test_scores_beyond_a_summary_come_from_the_sample(tmp_path: Path) -> None:
    panel: dict[str, float | None] = {f"judge/{'x' * 60}/{n}": float(n % 10) for n in range(60)}
    first, last = judgement(3.0), judgement(4.0, panel=panel)
    path = write_judged(tmp_path / "log.eval", answered("1", first, last), answered("2"))
    log = read_eval_log(path, header_only=True)
    summaries = read_eval_log_sample_summaries(path)
    scores = judgements(summaries)
    assert judge_finals(scores[0][-1]) is None  # too long for a summary
    one, other = scored_answers(log, summaries, scores)
    assert one.judges == list(panel)
    assert [final for _, final in one.finals] == list(panel.values())
    assert [value_of(score, "final") for score in one.scores] == [3, 4]
    assert value_of(one.summarized, "final") == 4
    assert one.whole is not None and one.whole.id == "1"
    assert (other.judges, other.scores, other.summarized) == ([], [], None)


def test_finals_of_judges_are_numbers_or_missing() -> None:
    panel = {"one": 7.0, "two": None}
    found = judge_finals(judgement(7.0, panel=panel))
    assert found is not None
    assert [name for name, _ in found] == ["one", "two"]
    assert found[0][1] == 7 and math.isnan(found[1][1])
    assert judge_finals(Score(value=1)) == []
    assert judge_finals(Score(value=1, metadata={"judge_finals": "[[...]]"})) is None


def test_samples_without_a_score_have_none() -> None:
    summary = EvalSampleSummary(id="1", epoch=1, input="?", target="")
    assert judgements([summary]) == [[]]


# --- files of lm-evaluation-harness ---


@pytest.mark.parametrize(
    ("name", "task", "date"),
    [
        ("samples_urs_2026-01-02T03-04-05.678.jsonl", "urs", "2026-01-02T03-04-05.678"),
        ("samples_md_eval_x_2026-01-02T03-04-05.jsonl", "md_eval_x", "2026-01-02T03-04-05"),
        ("samples_urs.jsonl", "samples_urs", ""),
    ],
)
def test_task_and_time_of_a_file_of_samples(name: str, task: str, date: str) -> None:
    assert task_and_date(Path("folder") / name) == (task, date)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            '{"model_name": "m", "config": {"a": 1}, "date": 5, "results": {}}',
            {"model_name": "m", "config": {"a": 1}, "results": {}},
        ),
        ('{"config": {"a": 1}}', {}),
        ('{"model_name": "", "config": {"a": 1}}', {}),
        ("[1]", {}),
        ("{", {}),
        (None, {}),
    ],
)
def test_results_beside_a_file_of_samples(
    text: str | None, found: dict[str, Any], tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / "results_2026-01-02T03-04-05.json").write_text(text, encoding="utf-8")
    assert saved_results(tmp_path / "samples_urs_2026-01-02T03-04-05.jsonl") == found
