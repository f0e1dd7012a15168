"""Numbers, sentences and settings of the tasks of lm-eval, worked out by hand and without a run."""

import asyncio
import json
import logging
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lm_eval.api.metrics import mean
from pydantic import ValidationError

from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.datasets._conversations import single
from urs_inspect.judging import Answer, Message, Reply
from urs_inspect.judging._answer_evaluators import AnswerEvaluation
from urs_inspect.judging._pair_reply import PairOutcome
from urs_inspect.lmeval_tasks._addition_task import AdditionOptions, load_chains
from urs_inspect.lmeval_tasks._addition_task import _measures as addition_measures
from urs_inspect.lmeval_tasks._clients import Endpoint, key_of
from urs_inspect.lmeval_tasks._judging import (
    Record,
    _evaluation_record,
    _query,
    call_failed,
    judge_answers,
    run_async,
    try_judge,
)
from urs_inspect.lmeval_tasks._md_eval_task import (
    MdEvalChoiceTask,
    MdEvalOptions,
    _dimensions,
    _measures,
    _overall,
    _verdict,
    longer_of,
)
from urs_inspect.lmeval_tasks._measured_task import (
    Measure,
    MeasuredTask,
    _MeanOfKnown,
    _might_lack,
    ratio,
    ratio_high,
    ratio_low,
)
from urs_inspect.lmeval_tasks._rejudge import (
    OtherTaskError,
    Saved,
    _check_targets,
    _judged_with,
    _not_all_seen,
    _others,
    _Task,
    read_saved,
    results_of,
    write_saved,
    written_to,
)
from urs_inspect.lmeval_tasks._settings import JudgeSettings, Key, judge_key, read_settings
from urs_inspect.lmeval_tasks._urs_task import (
    UrsTask,
    failures,
    load_cases,
    measures_of,
    metrics_of,
    preflight,
)
from urs_inspect.rubrics import load_rubric

# --- pairs ---


DOC = {
    "id": "p1",
    "prompt": "Why?",
    "response_a": "longer",
    "response_b": "short",
    "label": "a",
    "need": "safety",
    "cluster": 7,
}


def outcome(
    orders: dict[str, dict[str, str | None]],
    labels: dict[str, str],
    verdicts: dict[str, str | None],
) -> PairOutcome:
    return PairOutcome(labels, orders, verdicts)


def overall(label: str, final: str | None, **orders: str | None) -> dict[str, Any]:
    """Metrics of the verdict as a whole; orders by the response that is shown first."""
    given = {first: {"Overall": verdict} for first, verdict in orders.items()}
    return _overall({**DOC, "label": label}, outcome(given, {}, {"Overall": final}))


@pytest.mark.parametrize(
    ("a", "b", "longer"), [("xx", "x", "a"), ("x", "xx", "b"), ("x", "y", "tie"), ("", "", "tie")]
)
def test_which_response_is_longer(a: str, b: str, longer: str) -> None:
    assert longer_of({"response_a": a, "response_b": b}) == longer


def test_a_right_verdict_of_both_orders() -> None:
    assert overall("a", "a", a="a", b="a") == {
        "overall_three_way_all": 1.0,
        "overall_unread": 0.0,
        "overall_first_preference": [1, 2, 7],
        "overall_accuracy_all": 1.0,
        "overall_accuracy_all_need_safety": 1.0,
        "baseline_longest_overall_accuracy": 1.0,
        "overall_accuracy": 1.0,
        "overall_longer_preference": 1.0,
        "overall_flips": 0.0,
    }


def test_orders_that_disagree_are_a_tie_which_is_wrong_where_one_is_better() -> None:
    found = overall("b", "tie", a="a", b="b")
    assert found["overall_first_preference"] == [2, 2, 7]  # always the first
    assert (found["overall_flips"], found["overall_unread"]) == (1.0, 0.0)
    assert found["overall_accuracy"] == found["overall_accuracy_all"] == 0.0
    assert found["baseline_longest_overall_accuracy"] == 0.0  # the longer one is a
    assert "overall_longer_preference" not in found


def test_a_reply_that_cannot_be_read_counts_as_wrong_where_all_count() -> None:
    found = overall("a", None, a="a", b=None)
    assert (found["overall_unread"], found["overall_accuracy_all"]) == (1.0, 0.0)
    assert found["overall_three_way_all"] == 0.0
    assert found["overall_first_preference"] == [1, 1, 7]
    for name in ("overall_accuracy", "overall_flips", "overall_longer_preference"):
        assert name not in found


@pytest.mark.parametrize(("final", "right"), [("tie", 1.0), ("a", 0.0), ("b", 0.0)])
def test_of_a_labelled_tie_only_the_three_way_accuracy_knows(final: str, right: float) -> None:
    found = overall("tie", final, a=final)
    assert found["overall_three_way_all"] == right
    assert found["overall_first_preference"] == [int(final == "a"), int(final != "tie"), 7]
    assert found.get("overall_longer_preference") == (
        None if final == "tie" else float(final == "a")
    )
    assert not any("accuracy" in name for name in found)


def test_dimensions_of_a_pair() -> None:
    labels = {"A": "a", "B": "b", "C": "tie", "D": "a", "E": "b", "Overall": "a"}
    verdicts = {"A": "a", "B": "a", "C": "tie", "D": None, "E": "tie", "Overall": "a"}
    orders = {
        "a": {"A": "a", "B": "a", "C": "tie", "D": "a", "E": "a", "Overall": "a"},
        "b": {"A": "a", "B": "a", "C": "tie", "D": None, "E": "b", "Overall": "a"},
    }
    found = _dimensions(DOC, outcome(orders, labels, verdicts))  # type: ignore[arg-type]
    # Labels with a side: A, B, D, E; right: A; read of these: A, B, E. The longer one is a.
    assert found == {
        "dimension_accuracy_all": [1, 4, 7],
        "dimension_accuracy_all_ci_lower": [1, 4, 7],
        "dimension_accuracy_all_ci_upper": [1, 4, 7],
        "dimension_accuracy": [1, 3, 7],
        "dimension_unread": [1, 5, 7],
        "baseline_longest_dimension_accuracy": [2, 4, 7],
        "dimension_flips": [1, 4, 7],
    }


@pytest.mark.parametrize(
    ("chances", "first", "verdict"),
    [
        ([-1.0, -2.0, -3.0], "a", "a"),
        ([-1.0, -2.0, -3.0], "b", "b"),
        ([-2.0, -1.0, -3.0], "a", "b"),
        ([-2.0, -1.0, -3.0], "b", "a"),
        ([-2.0, -3.0, -1.0], "b", "tie"),
        ([-1.0, -1.0, -3.0], "a", "tie"),
        ([-1.0, -2.0, -1.0], "b", "tie"),
    ],
)
def test_the_most_probable_letter_is_the_verdict(
    chances: list[float], first: Any, verdict: str
) -> None:
    assert _verdict(chances, first) == verdict


FIRST, SECOND, TIE = ([-1.0, -2.0, -3.0], [-2.0, -1.0, -3.0], [-2.0, -3.0, -1.0])


@pytest.mark.parametrize(
    ("firsts", "chances", "expected"),
    [
        ("a", [FIRST], {"acc": 1, "chose_first": 1, "chose_tie": 0}),
        ("b", [FIRST], {"acc": 0, "chose_first": 1, "chose_tie": 0}),
        ("b", [SECOND], {"acc": 1, "chose_first": 0, "chose_tie": 0}),
        ("ab", [FIRST, SECOND], {"acc": 1, "chose_first": 0.5, "chose_tie": 0, "flipped": 0}),
        ("ab", [FIRST, FIRST], {"acc": 0, "chose_first": 1, "chose_tie": 0, "flipped": 1}),
        ("ab", [FIRST, TIE], {"acc": 0, "chose_first": 0.5, "chose_tie": 0.5, "flipped": 1}),
        ("ab", [TIE, TIE], {"acc": 0, "chose_first": 0, "chose_tie": 1, "flipped": 0}),
    ],
)
def test_letters_of_one_order_or_both(
    firsts: str, chances: list[list[float]], expected: dict[str, float]
) -> None:
    task: Any = SimpleNamespace(_firsts=lambda doc: list(firsts))
    results = [(chance, False) for letters in chances for chance in letters]
    found = MdEvalChoiceTask.values(task, DOC, results)
    assert found == {"baseline_longest": 1.0, **expected}
    other = MdEvalChoiceTask.values(task, {**DOC, "label": "b"}, results)
    assert other["baseline_longest"] == 0.0


def test_letters_are_about_responses_in_the_order_in_which_they_are_shown() -> None:
    task: Any = SimpleNamespace(_firsts=lambda doc: ["a", "b"])
    one, other = (prompt.case for prompt in MdEvalChoiceTask.prompts(task, DOC))
    assert one.index("longer") < one.index("short")
    assert other.index("short") < other.index("longer")


def directions(measures: Sequence[Measure]) -> dict[bool | None, set[str]]:
    found: dict[bool | None, set[str]] = {}
    for measure in measures:
        found.setdefault(measure.higher_is_better, set()).add(measure.name)
    return found


def test_which_measures_there_are_and_which_way_is_up() -> None:
    whole = directions(_measures(dimensions=True, both=True))
    assert {"overall_unread", "overall_flips", "dimension_unread", "dimension_flips"} == whole[
        False
    ]
    assert {
        "overall_longer_preference",
        "overall_first_preference",
        "baseline_longest_overall_accuracy",
        "baseline_longest_dimension_accuracy",
    } == whole[None]
    assert not any("flips" in name for name in str(directions(_measures(True, False))).split("'"))
    assert "dimension" not in str(directions(_measures(False, True)))


@pytest.mark.parametrize(
    ("label", "need", "known"),
    [("a", "safety", True), ("tie", "safety", False), ("b", "other", None)],
)
def test_measures_are_about_the_pairs_that_can_have_them(
    label: str, need: str, known: bool | None
) -> None:
    about = {measure.name: measure.about for measure in _measures(True, True)}
    doc = {"label": label, "need": need}
    assert about["overall_accuracy_all"](doc) is (label != "tie")
    assert about["overall_three_way_all"](doc) is True
    assert about["overall_accuracy_all_need_safety"](doc) is bool(known)


# --- measures that a case may lack ---


def numbered(aggregate: Any = mean, sure: bool = True) -> Measure:
    return Measure("m", aggregate, about=lambda doc: bool(doc["about"]), sure=sure)


@pytest.mark.parametrize(
    ("shares", "sure", "lacks"),
    [
        ([[1], [1, 0]], True, False),
        ([[1], [0, 0]], True, True),
        ([[1], []], True, True),
        ([[0], [0]], True, False),  # no process has it
        ([[1], [1]], False, True),  # who has it, only the replies tell
        ([[0], [0]], False, False),
    ],
)
def test_a_process_might_lack_what_another_has(
    shares: list[list[int]], sure: bool, lacks: bool
) -> None:
    docs = [[{"about": about} for about in share] for share in shares]
    assert _might_lack(numbered(sure=sure), docs) is lacks


@pytest.mark.parametrize(
    ("values", "expected", "error"),
    [
        ([1.0, None, 3.0], 2.0, 1.0),  # sqrt((1 + 1) / 1 / 2)
        ([None, 5.0], 5.0, "N/A"),
        ([None, None], math.nan, "N/A"),
        ([1.0, 2.0, 6.0, None], 3.0, (14 / 2 / 3) ** 0.5),
    ],
)
def test_a_mean_of_what_is_known(
    values: list[float | None], expected: float, error: float | str
) -> None:
    known = _MeanOfKnown()
    known.mean([9.0, 1.0])  # of another group, whose error is not left behind
    assert known.mean(values) == pytest.approx(expected, nan_ok=True)
    assert known.error([]) == (pytest.approx(error) if isinstance(error, float) else error)


def test_bounds_are_in_order_and_of_clusters_with_trials() -> None:
    parts = [[place % 3, 4, place % 10] for place in range(40)]
    low, high = ratio_low(parts), ratio_high(parts)
    assert low < ratio(parts) < high
    assert ratio(parts) == sum(part[0] for part in parts) / 160
    # A cluster without trials is none.
    for bound in (ratio_low, ratio_high):
        assert math.isnan(bound([[1, 2, 0], [0, 0, 1]]))
        assert not math.isnan(bound([[1, 2, 0], [0, 1, 1]]))


# --- sums ---


def test_measures_of_sums_by_length() -> None:
    measures = {measure.name: measure for measure in addition_measures([2, 9, 10, 12])}
    lengths = {
        "accuracy": [2, 9],
        "accuracy_2_10": [2, 9, 10],
        "accuracy_all": [2, 9, 10, 12],
        "accuracy_length_02": [2],
        "accuracy_length_09": [9],
        "accuracy_length_10": [10],
        "accuracy_length_12": [12],
    }
    for name, about in lengths.items():
        assert [n for n in (2, 9, 10, 12) if measures[name].about({"summands": n})] == about
    names = {"longest", "longest_unbroken", "no_number", "no_response"}
    assert set(measures) == {*lengths, *names}
    assert directions(list(measures.values()))[False] == {"no_number", "no_response"}
    # 2 and 10 are right, 9 is not.
    items = [[2, 1], [9, 0], [10, 1]]
    assert measures["longest"].aggregate(items) == 10
    assert measures["longest_unbroken"].aggregate(items) == 2


@pytest.mark.parametrize(("longest", "has"), [(8, False), (9, False), (10, True)])
def test_an_accuracy_up_to_ten_needs_chains_of_ten(longest: int, has: bool) -> None:
    names = {measure.name for measure in addition_measures([2, longest])}
    assert ("accuracy_2_10" in names) is has


def test_the_usual_chains_are_those_of_the_task_of_inspect() -> None:
    assert AdditionOptions().model_dump() == {
        "addition_lengths": "2-20",
        "addition_per_length": 10,
        "addition_language": "en",
        "addition_seed": 0,
    }
    assert MdEvalOptions().model_dump() == {
        "md_eval_protocol": "joint",
        "md_eval_orders": "ab",
        "md_eval_scenarios": "all",
        "md_eval_seed": 0,
    }


def test_other_seeds_make_other_chains() -> None:
    def chains(**options: Any) -> list[dict[str, Any]]:
        given = {"addition_lengths": "3", "addition_per_length": 4, **options}
        return list(load_chains(**given)["test"])

    rows = chains(addition_seed=5)
    for row in rows:
        assert int(row["total"]) == sum(row["numbers"]) and row["summands"] == 3
        assert all(str(number) in row["question"] for number in row["numbers"])
    assert [row["numbers"] for row in rows] != [row["numbers"] for row in chains()]
    assert [row["numbers"] for row in rows] == [row["numbers"] for row in chains(addition_seed=5)]


# --- settings ---


USUAL = {
    "judge": "model",
    "judge_model": None,
    "judge_provider": None,
    "judge_base_url": None,
    "judge_concurrency": 16,
    "judge_temperature": 0.0,
    "judge_max_tokens": 4096,
    "judge_attempts": 2,
    "judge_retries": 5,
    "judge_timeout": 120.0,
    "judge_give_up": 20,
    "judge_cache": True,
    "judge_language": None,
    "judge_rubric": None,
    "judge_prompt": None,
    "judge_preflight": True,
    "samer": None,
    "samer_engine": "auto",
    "samer_folder": None,
    "urs_dataset": "urs",
}


def test_usual_settings() -> None:
    assert JudgeSettings().model_dump() == USUAL


@pytest.mark.parametrize(
    ("metadata", "refused"),
    [
        ({"judge": "samer", "samer": "m"}, None),
        ({"judge": "samer"}, "samer ... missing"),
        ({"samer": "m"}, "samer"),
        ({"judge_temperature": None}, None),
        ({"judge_temperature": 2.0}, None),
        ({"judge_temperature": 2.1}, "judge_temperature"),
        ({"judge_concurrency": 1024}, None),
        ({"judge_concurrency": 1025}, "judge_concurrency"),
        ({"judge_timeout": 0.0}, "judge_timeout"),
        ({"judge_attempts": 0}, "judge_attempts"),
        ({"judge_retries": 0, "judge_give_up": 0}, None),
        ({"judge_base_url": "https://h:1/v1"}, None),
        ({"judge_base_url": "ftp://h"}, "judge_base_url"),
        ({"judge_base_url": "http://"}, "judge_base_url"),
        ({"judge_base_url": "http://["}, "judge_base_url ... address"),
        ({"judge_base_url": "http://[::1]:8000/v1"}, None),
        ({"judge_base_url": "http://h/?key=1"}, "judge_base_url ... query"),
        ({"judge_base_url": "http://h/#x"}, "judge_base_url ... password"),
        ({"judge_base_url": "http://u@h"}, "judge_base_url ... password"),
        ({"judge_cache": " OFF "}, "judge_cache"),
        ({"judge_cache": ""}, "judge_cache"),
        ({"judge_cache": "offline.sqlite3"}, None),
        ({"judge_cach": True}, "judge_cach'; ... judge_cache"),
        ({"Judge_cache": True}, "Judge_cache ... judge_cache"),
        ({"jduge_timeout": 3}, "jduge_timeout ... judge_timeout"),
        ({"temperature": 1, "dataset": "x", "whatever": 3}, None),
    ],
)
def test_settings_within_their_limits(metadata: dict[str, Any], refused: str | None) -> None:
    if refused is None:
        assert read_settings(metadata)
        return
    with pytest.raises(InputError) as caught:
        read_settings(metadata)
    assert tells(str(caught.value), refused)


@pytest.mark.parametrize(
    ("key", "named"),
    [
        ("concurrency", "judge_concurrency"),
        ("dataset", "urs_dataset"),
        ("temperature", None),  # an argument of lm-eval's models as well
        ("max_tokens", None),
        ("folder", None),
        ("other", None),
    ],
)
def test_an_option_without_its_prefix_is_warned_of(
    key: str, named: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        read_settings({key: 1})
    assert len(caplog.records) == int(named is not None)
    assert named is None or named in caplog.text


@pytest.mark.parametrize(
    ("given", "provider"),
    [
        ({"judge_model": "claude-x"}, "anthropic"),
        ({"judge_model": "my-claude"}, "openai"),
        ({"judge_model": "gpt-x"}, "openai"),
        ({}, "openai"),
        ({"judge_model": "claude-x", "judge_provider": "openai"}, "openai"),
    ],
)
def test_the_provider_is_told_by_the_name(given: dict[str, Any], provider: str) -> None:
    assert read_settings(given).provider == provider


@pytest.mark.parametrize(
    ("given", "keys", "value"),
    [
        ({"judge_model": "gpt"}, {"OPENAI_API_KEY": " k1 ", "ANTHROPIC_API_KEY": "k2"}, "k1"),
        ({"judge_model": "claude"}, {"OPENAI_API_KEY": "k1", "ANTHROPIC_API_KEY": "k2"}, "k2"),
        ({"judge_model": "gpt"}, {"ANTHROPIC_API_KEY": "k2"}, None),
        ({"judge_model": "gpt", "judge_base_url": "http://h"}, {}, "none"),
        ({}, {"OPENAI_API_KEY": "k1"}, None),
    ],
)
def test_keys_come_from_the_environment(
    given: dict[str, Any],
    keys: dict[str, str],
    value: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, key in keys.items():
        monkeypatch.setenv(name, key)
    settings = read_settings(given)
    if value is not None:
        assert judge_key(settings).value == value
        return
    with pytest.raises(InputError):
        judge_key(settings)


@pytest.mark.parametrize(
    ("value", "text", "shown"),
    [
        ("1234567", "key 1234567", "key 1234567"),  # too short to be one
        ("12345678", "key 12345678.", "key …."),
        ('a"b\\c\u00e9xyz', json.dumps('a"b\\c\u00e9xyz'), '"…"'),
        ("a\tb'c\\dxyz", repr("a\tb'c\\dxyz"), '"…"'),
    ],
)
def test_a_key_is_hidden_in_any_form(value: str, text: str, shown: str) -> None:
    assert Key(value).hidden_in(text) == shown
    assert value not in repr(Key(value))


def test_where_replies_are_kept() -> None:
    assert read_settings({"judge_cache": False}).cache_file is None
    assert read_settings({"judge_cache": "x.db"}).cache_file == Path("x.db")
    usual = read_settings({}).cache_file
    assert usual is not None and usual.suffix == ".sqlite3"


# --- records ---


def record(scores: dict[str, float] | None = None, **facts: Any) -> Record:
    given = {"response": "r", "judge": "j", "outcome": "judged", "explanation": "why", **facts}
    return Record(scores=scores, **given)


def left_out(why: str = "given up") -> Record:
    return call_failed("r", "j", why, not_asked=True)


EMPTY = record({"final": 1}, outcome="no_response")
GOOD = record({"final": 7})


@pytest.mark.parametrize(
    ("records", "told", "not_told"),
    [
        ([call_failed("r", "j", "down."), GOOD], "1 of 2 answers ... : down.", "not asked"),
        ([call_failed("r", "j", "down"), left_out(), left_out("no more")],
         "3 of 3 ... not asked for 2 ... : given up.", "down"),
        ([record(outcome="unscored_unparseable"), EMPTY, EMPTY, GOOD],
         "1 of 4 ... 2 are empty ... : why.", "not asked"),
        ([record(judges=[{"failure_detail": "a"}, {"failure_detail": " two\nlines "}])],
         "1 of 1 ... : two lines.", "why"),
        ([record(judges=[{"failure_detail": ""}])], ": why.", "empty"),
    ],
)  # fmt: skip
def test_answers_without_a_score_are_told_in_one_line(
    records: list[Record], told: str, not_told: str
) -> None:
    said = failures(records)
    assert tells(said, told) and not_told not in said and "\n" not in said


def test_of_a_long_reason_the_beginning_is_told_and_nothing_of_none() -> None:
    long = "x" * 299 + "yz"
    assert tells(failures([call_failed("r", "j", long)]), "x" * 299 + "y.")
    assert failures([GOOD, EMPTY]) == ""


def test_metrics_of_one_answer() -> None:
    doc = {"language": "zh", "intent_group": "Factual QA", "intent": "factual_qa"}
    settings = read_settings({"judge_model": "j"})
    shares = {"urs_judge_unkeyed", "urs_judge_asked_again", "urs_judge_near_key"}
    scored = metrics_of(doc, record({"final": 7, "Clarity of it": 5}, unkeyed=1), settings)
    expected = {
        "urs_final": 7.0,
        "urs_zh": 7.0,
        "urs_intent_factual_qa": 7.0,
        "urs_crit_clarity_of_it": 5.0,
        "urs_judge_failed": 0.0,
        "urs_no_response": 0.0,
        "urs_judge_unkeyed": 1.0,
        "urs_judge_asked_again": 0.0,
    }
    assert expected.items() <= scored.items() and shares <= set(scored)
    failed = metrics_of(doc, call_failed("r", "j", "down"), settings)
    assert (failed["urs_judge_failed"], failed["urs_no_response"]) == (1.0, 0.0)
    assert "urs_final" not in failed
    empty = metrics_of(doc, EMPTY, settings)
    assert (empty["urs_judge_failed"], empty["urs_no_response"]) == (0.0, 1.0)
    samer = read_settings({"judge": "samer", "samer": "m"})
    found = metrics_of(doc, record({"overall": 0.5, "Style": 0.25}), samer)
    assert found == {
        "samer_overall": 0.5,
        "samer_zh": 0.5,
        "samer_intent_factual_qa": 0.5,
        "samer_dim_style": 0.25,
        "samer_judge_failed": 0.0,
        "samer_no_response": 0.0,
    }


def test_measures_are_about_the_answers_that_can_have_them() -> None:
    measures = {one.name: one for one in measures_of(read_settings({"judge_model": "j"}))}
    doc = {"language": "zh", "intent_group": "Factual QA", "intent": "factual_qa"}
    rubric = load_rubric()
    about = {name for name, one in measures.items() if one.about(doc)}
    assert {"urs_final", "urs_zh", "urs_intent_factual_qa", "urs_judge_failed"} <= about
    assert not {"urs_en", "urs_intent_leisure"} & about
    criteria = {name.removeprefix("urs_crit_") for name in about if name.startswith("urs_crit_")}
    own = rubric.intents["factual_qa"].criteria
    assert criteria == {key.lower().replace(" ", "_") for key in own}
    down = {name for name, one in measures.items() if one.higher_is_better is False}
    assert {"urs_judge_failed", "urs_no_response"} <= down and "urs_final" not in down
    surely = {name for name, one in measures.items() if one.sure}
    assert surely == down  # whether an answer has a score, only its judging tells


def test_records_of_samer_keep_what_it_did_not_see() -> None:
    talk = SimpleNamespace(query="Second?", not_in_query={"turns_not_seen": 2})
    answer: Any = SimpleNamespace(question=talk, text="So.")
    good = AnswerEvaluation({"overall": 0.5, "Style": math.nan}, "judged", "why", {"tokens": 5})
    found = _evaluation_record(answer, good, "samer (m)")
    assert found.scores == {"overall": 0.5}
    assert (found.response, found.judge, found.outcome) == ("So.", "samer (m)", "judged")
    assert found.facts == {"tokens": 5, "turns_not_seen": 2}
    bad = AnswerEvaluation(None, "unscored_timeout", "slow", {})
    assert _evaluation_record(answer, bad, "s").facts == {}
    assert _query(answer) == "Second?"
    for question, asked in (("Why?", "Why?"), (None, "")):
        plain: Any = SimpleNamespace(question=question, text=None)
        assert _query(plain) == asked
        assert _evaluation_record(plain, good, "s").facts == {"tokens": 5}


@pytest.mark.parametrize(
    ("outcome", "empty", "failed"),
    [("judged", False, False), ("no_response", True, False), ("unscored_call_failed", False, True),
     ("unscored_unparseable", False, False)],
)  # fmt: skip
def test_what_a_record_says_of_itself(outcome: str, empty: bool, failed: bool) -> None:
    one = record(None, outcome=outcome, response="")
    assert (one.is_empty, one.call_failed, one.not_asked) == (empty, failed, False)
    assert left_out().not_asked and left_out().call_failed
    with pytest.raises(ValidationError):
        Record.model_validate({**one.model_dump(), "scores": "high"})


# --- saved answers ---


CASE = {
    "intent": "leisure",
    "intent_group": "Leisure",
    "language": "en",
    "question": "Why?",
    "reference": "So.",
}
OTHERS = {"intent": "leisure", "intent_group": "Leisure", "language": "en"}


def line(**given: Any) -> dict[str, Any]:
    return {"doc": CASE, "resps": [["An answer."]], "filter": "none", "metrics": [], **given}


def other(**given: Any) -> dict[str, Any]:
    """A sample of a task of any kind."""
    arguments = {"gen_args_0": {"arg_0": "Customer: late", "arg_1": {"until": []}}}
    whole = {"doc": {"ticket": "late"}, "arguments": arguments, "target": "Sorry."}
    return line(**{**whole, **given})


def file_of(folder: Path, *lines: Mapping[str, Any]) -> Path:
    file = folder / "samples_x_2026.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return file


def test_of_several_filters_the_first_is_judged_and_all_else_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = file_of(
        tmp_path,
        line(),
        line(filter="digits"),
        line(resps=[["one", "two"]], doc={**CASE, "reference": " "}),
        line(filter="digits"),
        line(filter="digits"),
    )
    first, second = read_saved(file)
    assert (first.response, second.response) == ("An answer.", "one")
    said = capsys.readouterr().err
    assert tells(said, "3 samples of filters other than 'none'")
    assert tells(said, "1 sample with several")
    assert "without a reference" not in said  # a case of urs may have none
    read_saved(file_of(tmp_path, line()))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("given", "question", "reference"),
    [
        ({}, "Customer: late", "Sorry."),
        ({"target": None}, "Customer: late", ""),
        ({"target": "None"}, "Customer: late", ""),
        ({"target": 3}, "Customer: late", "3"),
        ({"arguments": {"gen_args_0": {"arg_0": ["One chat"], "arg_1": {}}}}, "One chat", "Sorry."),
    ],
)
def test_samples_of_other_tasks_have_their_prompt_and_target(
    tmp_path: Path,
    given: dict[str, Any],
    question: str,
    reference: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    [found] = read_saved(file_of(tmp_path, other(**given)), OTHERS)
    assert found.doc["question"].text("en") == question
    assert found.doc["reference"] == reference
    assert found.given == {"intent": "leisure", "language": "en"}
    assert ("without a reference" in capsys.readouterr().err) == (not reference)


ARGUMENTS = {"arg_0": "A prompt", "arg_1": {"until": []}}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"arguments": {"gen_args_0": {**ARGUMENTS, "arg_2": {"visual": []}}}}, "images"),
        ({"arguments": {"gen_args_0": {**ARGUMENTS, "arg_1": " a choice"}}}, "in words"),
        ({"resps": [[-1.5]]}, "in words"),
    ],
)
def test_what_cannot_be_judged_is_of_another_task(
    tmp_path: Path, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(OtherTaskError) as caught:
        read_saved(file_of(tmp_path, other(**given)), OTHERS)
    assert told in str(caught.value)
    with pytest.raises(OtherTaskError) as caught:
        read_saved(file_of(tmp_path, other()), "What is missing.")
    assert "What is missing." in str(caught.value)


def test_a_saved_answer_is_kept_to_the_last_blank(tmp_path: Path) -> None:
    text = "\n  An answer,\tindented. \n"
    file = file_of(tmp_path, line(resps=[[text]]), line(resps=[[" "]]), line(resps=[[""]]))
    assert [one.response for one in read_saved(file)] == [text, " ", ""]
    [of_another_task] = read_saved(file_of(tmp_path, other(resps=[[text]])), OTHERS)
    assert of_another_task.response == text


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ({"resps": []}, "not a sample as lm-eval saves it"),
        ({"resps": [[]]}, "not a sample as lm-eval saves it"),
        ({"resps": None}, "not a sample as lm-eval saves it"),
        ({"doc": None}, "not a sample as lm-eval saves it"),
        ({"doc": [1]}, "not a sample as lm-eval saves it"),
        ({"arguments": {}}, "arguments.gen_args_0.arg_0"),
        ({"arguments": {"gen_args_0": {"arg_1": {}}}}, "arguments.gen_args_0.arg_0"),
        ({"arguments": {"gen_args_0": {"arg_0": [], "arg_1": {}}}}, "arguments.gen_args_0.arg_0"),
        ({"arguments": None}, "arguments.gen_args_0.arg_0"),
    ],
)
def test_a_line_that_is_no_sample_is_named(
    tmp_path: Path, broken: dict[str, Any], told: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_saved(file_of(tmp_path, other(), other(**broken)), OTHERS)
    assert tells(str(caught.value), f"samples_x_2026.jsonl, line 2: ... {told}")
    assert not isinstance(caught.value, OtherTaskError)


def test_the_first_line_that_is_no_json_is_named(tmp_path: Path) -> None:
    file = file_of(tmp_path, line())
    file.write_text(file.read_text("utf-8") + "{\n]\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_saved(file)
    assert tells(str(caught.value), "line 2 ... lm-eval") and "line 3" not in str(caught.value)
    with pytest.raises(InputError, match="no samples"):
        read_saved(file_of(tmp_path))


def test_a_sample_of_urs_must_hold_texts(tmp_path: Path) -> None:
    for wrong in ({"doc": {**CASE, "intent": 3}}, {"resps": [[3]]}):
        with pytest.raises(InputError) as caught:
            read_saved(file_of(tmp_path, line(), line(**wrong)))
        assert "line 2" in str(caught.value) and not isinstance(caught.value, OtherTaskError)


@pytest.mark.parametrize(
    ("intent", "language", "found"),
    [
        ("leisure", "en", OTHERS),
        ("leisure", "EN", OTHERS),
        (None, "en", "--intent"),
        ("leisure", None, "--language"),
        (None, None, "--intent"),
    ],
)
def test_intent_and_language_of_samples_that_have_none(
    intent: str | None, language: str | None, found: dict[str, str] | str
) -> None:
    given = _others(load_rubric(), language, intent)
    assert (given == found) if isinstance(found, dict) else (found in given)


def test_a_file_that_is_written_is_named_by_judge_and_settings(tmp_path: Path) -> None:
    file = tmp_path / "samples_urs_2026.jsonl"
    one = written_to(file, "p/a judge!", {"a": 1, "b": 2}, None)
    assert one.parent == tmp_path
    assert one.name.startswith("rejudged_p-a-judge-") and one.name.endswith(
        "_samples_urs_2026.jsonl"
    )
    assert written_to(file, "p/a judge!", {"b": 2, "a": 1}, None) == one  # in whatever order
    assert written_to(file, "p/a judge!", {"a": 1, "b": 3}, None) != one
    assert written_to(one, "p/a judge!", {"a": 1, "b": 2}, None) == one  # not longer each time
    assert written_to(file, "j", {}, tmp_path / "out").parent == tmp_path / "out"
    long = written_to(file, "x" * 100 + "end", {}, None).name
    assert "x" * 77 + "end-" in long and "x" * 78 not in long


def test_settings_on_which_scores_depend_are_in_the_name() -> None:
    base = {"judge_model": "j", "judge_base_url": "http://h/v1"}
    usual = _judged_with(read_settings(base))
    assert {"model", "temperature", "max_tokens", "base_url"} <= set(usual)
    for name, value in (
        ("judge_language", "zh"),
        ("judge_temperature", 1.0),
        ("judge_max_tokens", 9),
    ):
        assert _judged_with(read_settings({**base, name: value})) != usual
    assert _judged_with(read_settings({**base, "judge_concurrency": 3})) == usual
    assert usual["rubric_sha256"] == load_rubric().sha256
    samer = {"judge": "samer", "samer": "m", "samer_engine": "server"}
    assert _judged_with(read_settings(samer)) == {"judge": "samer (m)", "samer_engine": "server"}


def test_a_judged_sample_loses_its_old_scores_and_keeps_all_else(tmp_path: Path) -> None:
    old = {"exact_match": 1.0, "urs_final": 3.0, "samer_overall": 0.1, "bypass": 999}
    before = line(metrics=list(old), **old, more="kept")
    saved = [Saved(before, "An answer.", None, CASE)]
    target = tmp_path / "out.jsonl"
    write_saved(target, saved, [GOOD], [{"urs_final": 7.0, "urs_en": 7.0}])
    [written] = map(json.loads, target.read_text("utf-8").splitlines())
    assert written["metrics"] == ["exact_match", "urs_final", "urs_en"]
    assert (written["urs_final"], written["urs_en"], written["exact_match"]) == (7.0, 7.0, 1.0)
    assert "samer_overall" not in written and "bypass" not in written
    assert written["more"] == "kept" and written["doc"]["judgement"]["scores"] == {"final": 7}
    assert {key: written["doc"][key] for key in CASE} == CASE
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_saved_samples_are_readable_without_a_program(tmp_path: Path) -> None:
    saved = [Saved(line(more="核心"), "好", None, CASE)]
    write_saved(tmp_path / "out.jsonl", saved, [GOOD], [{}])
    assert "核心" in (tmp_path / "out.jsonl").read_text("utf-8")


def test_where_samples_cannot_be_written_the_old_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("old", encoding="utf-8")

    def half(path: Path, text: str, encoding: str) -> None:
        path.write_bytes(text.encode(encoding)[:9])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(OSError, match="No space left"):
        write_saved(target, [Saved(line(), "An answer.", None, CASE)], [GOOD], [{}])
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
    assert target.read_text("utf-8") == "old"


def test_an_intent_for_samples_that_have_their_own_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.lmeval_tasks.runs import call

    file = file_of(tmp_path, line())
    given = ("rejudge", str(file), "--judge-model", "j", "--language", "en", "--intent", "leisure")
    assert call(monkeypatch, *given) == 1
    assert "--intent: all samples are of urs" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [file]


def test_files_behind_one_where_the_judge_gave_up_are_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.lmeval_tasks.runs import call

    judge = Judging(Reply("", "unknown", "down"))
    monkeypatch.setattr("urs_inspect.lmeval_tasks._judging.open_endpoint", judge.open)
    files = []
    for name in "abc":
        (tmp_path / name).mkdir()
        files.append(file_of(tmp_path / name, *[line()] * 3))
    told: dict[str, Any] = {"judge_give_up": 2, "judge_concurrency": 1, "judge_cache": False}
    told |= {"judge_base_url": "http://h/v1", "judge_preflight": False}
    given = ("--judge-model", "j", "--metadata", json.dumps(told))
    out = tmp_path / "new" / "er"
    for number, path in enumerate(files):
        path.rename(path.with_name(f"samples_{number}_2026.jsonl"))
    names = [str(next(path.parent.iterdir())) for path in files]
    assert call(monkeypatch, "rejudge", *names, *given, "-o", str(out)) == 0
    assert judge.calls == 2
    assert tells(capsys.readouterr().err, f"Not begun: {names[1]}, {names[2]}")
    assert {path.suffix for path in out.iterdir()} == {".json", ".jsonl"}
    assert {path.stem.rpartition("_samples_")[2] for path in out.iterdir()} == {"0_2026"}


def test_means_are_over_the_answers_that_have_a_metric() -> None:
    found = results_of([{"b": 1.0, "a": 2.0}, {"b": 4.0}, {"b": 4.0, "c": 1.0}, {"c": 3.0}, {}])
    assert found == {
        "a,none": 2.0,
        "a_stderr,none": "N/A",
        "b,none": 3.0,
        "b_stderr,none": pytest.approx(1.0),  # sqrt((4 + 1 + 1) / 2 / 3)
        "c,none": 2.0,
        "c_stderr,none": pytest.approx(1.0),
    }
    assert next(iter(found)) == "a,none"


def test_what_the_judge_could_not_see_is_told() -> None:
    records = [
        record({"final": 1}, not_shown={"image": 2}, turns_not_seen=1),
        record({"final": 1}, turns_not_seen=3),
        record({"final": 1}, turns_not_seen=1, not_shown={}),
        record({"final": 1}),
        record({"final": 1}, not_shown={"image": 1, "audio": 1}),
    ]
    hidden, cut = _not_all_seen(records)
    assert tells(hidden, "2 of 5") and "3" in hidden and "image" in hidden
    assert tells(cut, "3 of 5 conversations")
    assert _not_all_seen([GOOD]) == []


def test_two_files_that_would_be_written_to_one_are_named(tmp_path: Path) -> None:
    settings = read_settings({"judge_model": "j"})

    def task(name: str, target: str) -> _Task:
        return _Task(tmp_path / name, [], {}, tmp_path / target, settings)

    _check_targets([task("1", "a"), task("2", "b"), task("3", "new/a")])
    with pytest.raises(InputError) as caught:
        _check_targets([task("1", "a"), task("2", "b"), task("3", "a")])
    message = str(caught.value)
    assert str(tmp_path / "1") in message and str(tmp_path / "3") in message
    assert str(tmp_path / "2") not in message


def test_answers_hold_the_question_of_their_case() -> None:
    answer = Answer("leisure", "en", single("Why?"), "", "So.")
    assert _query(answer) == "Why?"


Run = Callable[..., int]


@pytest.mark.parametrize("flag", ["-h", "--help", ""])
def test_help_is_printed_for_every_way_of_asking(
    flag: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.lmeval_tasks.runs import call

    assert call(monkeypatch, *filter(None, [flag])) == 0
    assert "urs-lm-eval rejudge" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "added"),
    [
        ([], True),
        (["--include_path", "mine"], False),
        (["--include_path=mine"], False),
        (["--include_paths"], True),
    ],
)
def test_the_tasks_are_added_unless_a_path_is_given(
    given: list[str], added: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    from tests.lmeval_tasks.runs import call
    from urs_inspect.lmeval_tasks import tasks_path

    seen: list[list[str]] = []
    monkeypatch.setattr("lm_eval.__main__.cli_evaluate", lambda: seen.append(list(sys.argv)))
    assert call(monkeypatch, "run", "--tasks", "urs", *given) == 0
    [arguments] = seen
    assert (arguments[-2:] == ["--include_path", tasks_path()]) is added


# --- judging without a server ---


def answers_to(number: int) -> list[Answer]:
    return [Answer("leisure", "en", f"Why {n}?", "", f"So {n}.") for n in range(number)]


class Judging:
    """A stand-in for a judge's endpoint, which replies as told."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.calls = 0

    async def send(self, messages: Any) -> Reply:
        reply = self.replies[min(self.calls, len(self.replies) - 1)]
        self.calls += 1
        return reply

    @asynccontextmanager
    async def open(self, settings: JudgeSettings) -> AsyncIterator[Endpoint]:
        yield Endpoint(self.send, {"model": "j"})


PROSE = Reply("Well done.", "stop")
DOWN = Reply("", "unknown", "down")


@pytest.mark.parametrize(
    ("replies", "asked", "left"),
    [
        ([PROSE], 10, 0),  # each is asked for once more, and none ends anything
        ([DOWN], 2, 3),
        ([DOWN, PROSE, PROSE, DOWN, PROSE, PROSE, DOWN], 7, 0),  # no two in a row
        ([PROSE, PROSE, DOWN], 4, 2),
    ],
)
def test_only_calls_that_fail_in_a_row_end_judging(
    replies: list[Reply], asked: int, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Judging(*replies)
    monkeypatch.setattr("urs_inspect.lmeval_tasks._judging.open_endpoint", judge.open)
    told = {"judge_model": "j", "judge_give_up": 2, "judge_concurrency": 1, "judge_cache": False}
    done: list[int] = []
    records = judge_answers(answers_to(5), read_settings(told), done.append)
    assert (judge.calls, sum(one.not_asked for one in records)) == (asked, left)
    assert [one.response for one in records] == [f"So {n}." for n in range(5)]
    assert done == [1] * 5 and all(one.scores is None for one in records)
    for one in records[5 - left :]:
        assert one.not_asked and one.call_failed and "down" in one.why
    assert all(one.facts["judge_call"] == {"model": "j"} for one in records)


class Evaluating:
    """A stand-in for SaMer."""

    dimensions = ("Style",)

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.closed = 0

    async def evaluate(self, pairs: Sequence[tuple[str, str]]) -> list[AnswerEvaluation]:
        self.batches.append(len(pairs))
        return [
            AnswerEvaluation({"overall": float(response[3:-1]) / 1000}, "judged", query, {})
            for query, response in pairs
        ]

    async def close(self) -> None:
        self.closed += 1


def test_samer_evaluates_in_batches_and_keeps_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    samer = Evaluating()
    monkeypatch.setattr("urs_inspect.lmeval_tasks._judging.samer_evaluator", lambda settings: samer)
    settings = read_settings({"judge": "samer", "samer": "m"})
    done: list[int] = []
    records = judge_answers(answers_to(300), settings, done.append)
    assert samer.batches == done == [256, 44] and samer.closed == 1
    assert [one.scores for one in records] == [{"overall": n / 1000} for n in range(300)]
    assert records[7].explanation == "Why 7?" and records[7].judge == "samer (m)"


def test_a_key_of_a_reply_is_of_what_was_sent_in_whatever_order_it_is_written() -> None:
    sent = [Message("system", "Rules."), Message("user", "Case.")]
    key = key_of({"a": 1, "b": 2}, sent)
    assert key == key_of({"b": 2, "a": 1}, sent)
    others = [
        key_of({"a": 1, "b": 3}, sent),
        key_of({"a": 1, "b": 2}, sent[::-1]),
        key_of({"a": 1, "b": 2}, sent[:1]),
        key_of({"a": 1, "b": 2}, [Message("user", "Rules."), Message("user", "Case.")]),
    ]
    assert len({key, *others}) == 5


@pytest.mark.parametrize(
    ("rank", "names", "asked"), [(0, [], True), (1, [], False), (0, ["bypass"], False)]
)
def test_the_first_process_finds_out_whether_there_is_a_judge(
    rank: int, names: list[str], asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(
        "urs_inspect.lmeval_tasks._urs_task.preflight", lambda settings: seen.append("judge")
    )
    monkeypatch.setattr(
        MeasuredTask,
        "build_all_requests",
        lambda self, **given: seen.append(f"rank {given['rank']}"),
    )
    task = UrsTask.__new__(UrsTask)
    task._settings = read_settings({"judge_model": "j"})
    task._metric_fn_list = names
    task.build_all_requests(rank=rank)
    assert seen == [*(["judge"] if asked else []), f"rank {rank}"]


def test_where_answers_are_only_generated_the_metrics_are_those_of_lm_eval() -> None:
    task = UrsTask.__new__(UrsTask)
    task._settings = read_settings({"judge_model": "j"})
    task._padded = {}
    task._aggregation_list = {"bypass": len}
    task._higher_is_better = {"bypass": None}
    for names, only in ((["bypass"], True), (["exact_match"], False)):
        task._metric_fn_list = names
        assert task.predict_only is only
        assert (task.aggregation() == {"bypass": len}) is only
        assert (task.higher_is_better() == {"bypass": None}) is only
    assert task.higher_is_better()["urs_final"] is True


def test_answers_that_could_not_be_judged_at_all_are_kept(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> list[Record]:
        raise RuntimeError("out of order")

    monkeypatch.setattr("urs_inspect.lmeval_tasks._urs_task.judge_answers", broken)
    task = UrsTask.__new__(UrsTask)
    task._settings = read_settings({"judge_model": "some/judge"})
    made = task._judged(answers_to(2), print)
    assert [one.response for one in made] == ["So 0.", "So 1."]
    for one in made:
        assert (one.scores, one.judge, one.call_failed) == (None, "some/judge", True)
        assert one.why == "RuntimeError: out of order"
    assert "could not be judged" in caplog.text and "out of order" in caplog.text
    caplog.clear()
    task._report_failures(made)
    [said] = caplog.records
    assert said.levelno == logging.ERROR
    assert tells(said.message, "2 of 2 answers ... out of order ... rejudge --failed-only")
    caplog.clear()
    task._report_failures([record({"final": 7}, reply_counts={"j": {"replies": 9, "unkeyed": 9}})])
    [said] = caplog.records
    assert said.levelno == logging.WARNING and tells(said.message, "j ... key ... 9 of 9")


@pytest.mark.parametrize(
    ("outcome", "told"),
    [(Reply("OK", "stop"), ""), (DOWN, "down"), (ValueError("no JSON"), "JSON")],
)
def test_a_trial_tells_why_it_failed(
    outcome: Reply | ValueError, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Answering(Judging):
        async def send(self, messages: Sequence[Message]) -> Reply:
            if isinstance(outcome, ValueError):
                raise outcome
            return await super().send(messages)

    judge = Answering(*[outcome] if isinstance(outcome, Reply) else [])
    monkeypatch.setattr("urs_inspect.lmeval_tasks._judging.open_endpoint", judge.open)
    said = try_judge(read_settings({"judge_model": "j"}))
    assert (told in said) if told else (said == "")


def test_judging_works_where_a_loop_is_running_already() -> None:
    async def double(number: int) -> int:
        return 2 * number

    async def fails() -> None:
        raise ValueError("inside")

    async def notebook() -> int:
        with pytest.raises(ValueError, match="inside"):
            run_async(fails())
        return run_async(double(3))

    assert asyncio.run(notebook()) == run_async(double(3)) == 6


def test_users_of_questions_are_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    row = {"question": "Why?", "user_intent": "Leisure", "language": "en", "reference_ans": "So."}
    for users, warned in ((["u", "v"], True), (["", ""], False)):
        caplog.clear()
        file = tmp_path / f"{warned}.jsonl"
        rows = [{**row, "id": str(n), "user": user} for n, user in enumerate(users)]
        file.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
        found = load_cases(urs_dataset=str(file))["test"]
        assert {one["intent_group"] for one in found} == {"Leisure"}
        assert ("users" in caplog.text) is warned


@pytest.mark.parametrize("asks", [True, False])
def test_a_judge_is_tried_unless_told(asks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def unavailable(settings: JudgeSettings) -> str:
        tried.append(settings.judge_name)
        return "it sleeps."

    monkeypatch.setattr("urs_inspect.lmeval_tasks._urs_task.try_judge", unavailable)
    told = {"judge_model": "j", "judge_base_url": "http://h/v1", "judge_cache": False}
    settings = read_settings({**told, "judge_preflight": asks})
    if not asks:
        preflight(settings)
        assert tried == []
        return
    with pytest.raises(InputError) as caught:
        preflight(settings)
    assert tells(str(caught.value), "judge j ... it sleeps.") and tried == ["j"]


def test_cases_are_in_the_order_of_the_task_of_inspect() -> None:
    from urs_inspect import urs

    rows = list(load_cases(urs_dataset="sample")["test"])
    samples = list(urs(dataset="sample").dataset)
    assert [row["id"] for row in rows] == [sample.id for sample in samples]
    assert [row["reference"] for row in rows] == [sample.target for sample in samples]
    chinese = list(load_cases("zh", urs_dataset="sample")["test"])
    assert {row["language"] for row in chinese} == {"zh"} and len(chinese) == 21
    for row in rows:
        assert row["intent_group"] == load_rubric().intents[row["intent"]].group
