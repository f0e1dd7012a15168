"""Tests of `urs_inspect.estimating._estimate` and of the sentences made from it."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tokenizers
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import ModelCost
from inspect_ai.solver import generate
from scipy import stats

import urs_inspect
from tests.reports import answer_rows
from tests.reports.judged_logs import answered, judgement, tokens, write_judged
from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.datasets._addition import addition_prompt
from urs_inspect.estimating import _estimate as estimate
from urs_inspect.estimating._actual_use import _roles, read_actual
from urs_inspect.estimating._estimate import (
    _PAIRED,
    _SPREAD,
    Basis,
    RunEstimate,
    estimate_run,
    with_precision,
)
from urs_inspect.estimating._lengths import (
    Amount,
    Lengths,
    LoggedLengths,
    Measured,
    TokenCounter,
    _pooled,
    count_by_rule,
    load_counter,
    measured_lengths,
)
from urs_inspect.estimating._report import (
    about_answers,
    about_judgements,
    assumption_sentences,
    left_out_sentences,
)
from urs_inspect.judging import PromptBuilder
from urs_inspect.judging._prompts import Orders, Protocol
from urs_inspect.reports.numbers._answers import read_answers
from urs_inspect.reports.numbers._costs import load_prices, with_costs
from urs_inspect.rubrics import load_rubric
from urs_inspect.scorers import intent_judge
from urs_inspect.stats._power import smallest_difference
from urs_inspect.tasks import mad, md_eval, urs, urs_references

BUILDER = PromptBuilder(load_rubric())
WORDS = TokenCounter(lambda text: Amount.exactly(len(text.split())), "words")
PAIRS: dict[str, Any] = {
    "models": ["m"],
    "roles": {},
    "epochs": 1,
    "basis": Basis(WORDS, Lengths(), load_prices(None)),
}
URS: dict[str, Any] = {
    **PAIRS,
    "roles": {"grader": ["j"]},
    "limit": None,
}
PRICES = "m: {input: 2, output: 8, input_cache_write: 0, input_cache_read: 0}\n"


def sample(
    question: str = "Why is it so", reference: str = "a b c d", language: str = "en"
) -> Sample:
    return Sample(
        input=question, target=reference, metadata={"intent": "factual_qa", "language": language}
    )


def of(samples: Sequence[Sample], task: str = "urs", **changed: Any) -> RunEstimate:
    """The estimate of a run of `urs` over these samples."""

    def make(_arguments: Mapping[str, object]) -> Task:
        return Task(dataset=MemoryDataset(list(samples)), solver=generate(), scorer=intent_judge())

    options = {**URS, **changed}
    names = options.keys() & {"counter", "lengths", "prices"}
    basis = replace(URS["basis"], **{name: options.pop(name) for name in names})
    return estimate_run(task, make, {}, **options | {"basis": basis})


def role(found: RunEstimate, name: str, model: str) -> tuple[Amount, Amount, Amount]:
    [one] = [one for one in found.roles if (one.role, one.model) == (name, model)]
    return one.calls, one.input_tokens, one.output_tokens


def test_answers_by_hand() -> None:
    # 2 samples x 3 epochs; a question of 4 words and 4 tokens for the message; an answer like its
    # reference of 4 words.
    calls, sent, received = role(of([sample(), sample()], epochs=3), "model", "m")
    assert (calls, sent) == (Amount(6, 6, 6), Amount(48, 48, 48))
    assert received == Amount(12, 24, 48)


def test_the_judge_is_sent_the_real_prompt_and_the_answer() -> None:
    prompt = BUILDER.build(
        "factual_qa", "en", question="Why is it so", reference="a b c d", answer="-"
    )
    words = len(prompt.instructions.split()) + len(prompt.case.split()) - 1  # without the answer
    _, sent, received = role(of([sample()]), "grader", "j")
    assert words > 300
    assert sent.low == words + 8 + 2  # two messages, the shortest answer
    assert sent.expected == pytest.approx((words + 8 + 4) * 1.01)
    assert sent.high == pytest.approx((words + 8 + 8) * 1.05)
    assert received == Amount(200, 450 * 1.01, 900 * 1.05)


def test_every_judge_of_a_panel_judges_the_answers_of_every_model() -> None:
    one = role(of([sample()]), "grader", "j")
    found = of([sample()], models=["m", "n"], roles={"grader": ["j", "k"]})
    assert [(entry.role, entry.model) for entry in found.roles] == [
        *[("model", "m"), ("model", "n"), ("grader", "j"), ("grader", "k")]
    ]
    twice = [2 * amount.expected for amount in one]
    for judge in ("j", "k"):
        assert [amount.expected for amount in role(found, "grader", judge)] == pytest.approx(twice)


def test_without_a_judge_each_model_judges_itself_and_that_is_said() -> None:
    found = of([sample()], models=["m", "n"], roles={})
    assert [(entry.role, entry.model) for entry in found.roles][2:] == [
        ("grader", "m"),
        ("grader", "n"),
    ]
    assert any("judges itself" in sentence for sentence in assumption_sentences(found))


def test_given_lengths_take_the_place_of_assumptions() -> None:
    found = of([sample()], lengths=Lengths(100, 10))
    assert role(found, "model", "m")[2] == Amount(100, 100, 100)
    assert role(found, "grader", "j")[2] == Amount(10, 10.1, 10.5)


def test_each_model_and_each_judge_has_its_own_lengths() -> None:
    answers = {name: {"en": Amount.exactly(n)} for name, n in (("m", 10), ("n", 30))}
    replies = {name: {"en": Amount.exactly(n)} for name, n in (("j", 100), ("k", 300))}
    logged = LoggedLengths(Measured(answers, {}, ()), Measured(replies, {}, ()), (), ())
    lengths = Lengths(logged=logged)
    found = of(
        [sample(), sample()], models=["m", "n"], roles={"grader": ["j", "k"]}, lengths=lengths
    )
    assert (role(found, "model", "m")[2].expected, role(found, "model", "n")[2].expected) == (
        20,
        60,
    )
    # Each judges two answers of each model.
    assert role(found, "grader", "j")[2].low == 400
    assert role(found, "grader", "k")[2].low == 1200
    # Both are sent the same prompts, with answers of 10 and of 30 tokens twice each.
    prompts = role(of([sample(), sample()], lengths=Lengths(0)), "grader", "j")[1].low
    assert (
        role(found, "grader", "k")[1].low == role(found, "grader", "j")[1].low == 2 * prompts + 80
    )


def test_a_judgement_is_about_the_longest_question_that_its_prompt_contains() -> None:
    replies = {"j": {"en": Amount.exactly(100), "zh": Amount.exactly(300)}}
    logged = LoggedLengths(Measured({}, {}, ()), Measured(replies, {}, ()), (), ())
    samples = [sample("Why is it so"), sample("it", language="zh")]
    found = of(samples, lengths=Lengths(logged=logged))
    assert role(found, "grader", "j")[2].low == 400


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_only_what_matters_is_assumed() -> None:
    pairs = estimate_run("md_eval", lambda _: md_eval(), {}, **PAIRS, limit=2)
    assert not any("An answer is" in sentence for sentence in assumption_sentences(pairs))
    assert not any(
        "for each verdict" in sentence for sentence in assumption_sentences(of([sample()]))
    )


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_an_even_selection_has_the_lengths_of_all_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {**URS, "limit": 150}
    monkeypatch.setattr(estimate, "_MOST", 100)
    selected = estimate_run("urs", lambda _: urs(), {}, **options)
    monkeypatch.setattr(estimate, "_MOST", 10_000)
    everything = estimate_run("urs", lambda _: urs(), {}, **options)
    assert any("100 of 150" in sentence for sentence in assumption_sentences(selected))
    for some, whole in zip(selected.roles, everything.roles, strict=True):
        for name in ("calls", "input_tokens", "output_tokens"):
            for end in ("low", "expected", "high"):
                assert getattr(getattr(some, name), end) == pytest.approx(
                    getattr(getattr(whole, name), end), rel=0.02
                )


def test_cost_by_hand_and_unknown_prices(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(PRICES)
    found = of([sample() for _ in range(1000)], prices=load_prices(tmp_path / "prices.yaml"))
    # 200 of the samples are run. 8,000 tokens at 2 dollars and 4,000 at 8 dollars a million.
    cost = found.roles[0].cost
    assert cost is not None
    assert (cost.low, cost.expected, cost.high) == pytest.approx(
        (0.016 + 0.016, 0.016 + 0.032, 0.016 + 0.064)
    )
    assert found.roles[1].cost is None
    assert found.cost == found.roles[0].cost
    assert found.unpriced == ("j",)
    assert of([sample()]).cost is None


def test_lows_are_never_above_highs_and_assumptions_are_sentences() -> None:
    found = of([sample(), sample("为什么天是蓝的", "因为散射", "zh")], counter=load_counter(None))
    for one in found.roles:
        for amount in (one.calls, one.input_tokens, one.output_tokens):
            assert 0 < amount.low <= amount.expected <= amount.high
    assert all(
        sentence.endswith(".") and "{" not in sentence for sentence in assumption_sentences(found)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("abcd", 1.0), ("天地", 1.8), ("天ab", 0.9 + 0.5), ("。", 0.9), ("é", 0.25)],
)
def test_tokens_by_rule(text: str, expected: float) -> None:
    assert count_by_rule(text).expected == pytest.approx(expected)


def test_a_tokenizer_of_ones_own(tmp_path: Path) -> None:
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    counter = load_counter(tmp_path / "tokenizer.json")
    assert counter.count("a b c") == Amount(3, 3, 3)
    assert counter.tokenizer and "tokenizer.json" in counter.tokenizer


def test_a_price_may_be_written_in_powers_of_ten(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(
        "m: {input: 1e-3, output: 1, input_cache_write: 0, input_cache_read: 0}"
    )
    assert load_prices(tmp_path / "prices.yaml")["m"].input == 0.001


def test_a_faulty_tokenizer_is_named(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text("{}")
    with pytest.raises(InputError, match=r"cannot read .*tokenizer\.json"):
        load_counter(file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("m: 3", "m: .*prices, is 3; needed.*input, output"),
        ("m: {input: 1}", "m: output, input_cache_write, input_cache_read missing"),
        (
            "m: {input: a, output: 1, input_cache_write: 0, input_cache_read: 0}",
            "m / input: must be .*, is a; needed",
        ),
        (
            "m: {input: -1, output: 1, input_cache_write: 0, input_cache_read: 0}",
            "m / input: must be .* at least 0",
        ),
        (
            "m: {input: 1, output: .inf, input_cache_write: 0, input_cache_read: 0}",
            "m / output: must be",
        ),
        ("- m", "must name models"),
        ("m: {input: [", "cannot read"),
        ("m: {input: 1, input: 2}", "key 'input'.*twice"),
        (None, r"^--prices: no file '.*prices\.yaml'$"),
    ],
)
def test_faulty_prices_are_named(tmp_path: Path, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / "prices.yaml").write_text(text)
    with pytest.raises(InputError, match=said):
        load_prices(tmp_path / "prices.yaml")


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_pairs_are_counted_call_by_call() -> None:
    [pair] = list(md_eval().dataset)[:1]
    named = len((pair.metadata or {})["dimensions"]) + 1  # and overall

    def calls(protocol: Protocol, orders: Orders) -> tuple[float, float]:
        def make(_arguments: Mapping[str, Any]) -> Task:
            return md_eval(protocol=protocol, orders=orders)

        basis = replace(PAIRS["basis"], lengths=Lengths(given_reply=10))
        found = estimate_run("md_eval", make, {}, **PAIRS | {"basis": basis}, limit=1)
        return found.roles[0].calls.expected, found.roles[0].output_tokens.expected

    assert calls("joint", "ab") == (1, 10 * named)
    assert calls("joint", "both") == (2, 20 * named)
    assert calls("per_dimension", "ab") == (named, 10 * named)
    assert calls("overall", "seeded") == (1, 10)


@pytest.mark.satellites
@pytest.mark.parametrize(
    ("task", "roles", "models", "called"),
    [
        (lambda: urs_references(dataset="sample"), {}, ["m"], {"model": 42}),
        (lambda: urs_inspect.urs_addition(lengths="2-3", per_length=4), {}, ["m"], {"model": 8}),
        (
            lambda: urs_inspect.urs_case_review(dataset="sample"),
            {"grader": ["j"]},
            [],
            {"grader": 42},
        ),
        (
            lambda: mad(pool="sample", k=2),
            {"contestant": ["a", "b"], "grader": ["j"]},
            [],
            {"contestant": 84},
        ),
    ],
)
def test_every_task_is_counted(
    task: Callable[[], Task], roles: dict[str, list[str]], models: list[str], called: dict[str, int]
) -> None:
    options = {**URS, "roles": roles, "models": models}
    found = estimate_run("task", lambda _: task(), {}, **options)
    for role_name, count in called.items():
        assert sum(one.calls.low for one in found.roles if one.role == role_name) == pytest.approx(
            count
        )
    assert all(one.input_tokens.low > 0 and one.output_tokens.low > 0 for one in found.roles)


@pytest.mark.parametrize(
    ("roles", "models", "message"),
    [
        ({"grader": ["j"]}, [], "--model: name"),
        ({}, [], "--model: name"),
        ({"grader": ["j"], "other": ["k"]}, ["m"], "role other; called: "),
    ],
)
def test_models_that_lack_or_serve_nothing_are_named(
    roles: dict[str, Any], models: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        of([sample()], roles=roles, models=models)


def simulate(
    folder: Path, judges: Sequence[str] = ("urs_simulation/judge",), **options: Any
) -> EvalLog:
    """A log of a simulated run of `urs`."""
    given = {"model": "urs_simulation/strong", "display": "none", "log_realtime": False, **options}
    given |= {"model_roles": {"grader": list(judges)}} if judges else {}
    [log] = inspect_eval(
        given.pop("task", None) or urs(dataset="sample"), log_dir=str(folder), **given
    )
    assert log.status == "success"
    return log


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    return simulate(tmp_path_factory.mktemp("logs"))


SIMULATED: dict[str, Any] = {
    "models": ["urs_simulation/strong"],
    "roles": {"grader": ["urs_simulation/judge"]},
}
CASES = list(urs(dataset="sample").dataset)


def test_lengths_measured_in_a_log_give_back_its_usage(run: EvalLog) -> None:
    found = of(CASES, lengths=Lengths(logged=measured_lengths([run.location])), **SIMULATED)
    actual = {one.role: one for one in read_actual([run.location], "urs").roles}
    assert actual["model"].samples == len(CASES) == 42
    received = role(found, "model", "urs_simulation/strong")[2]
    assert received.expected == pytest.approx(actual["model"].output_tokens, rel=1e-6)
    assert received.low < received.expected < received.high
    judged = role(found, "grader", "urs_simulation/judge")[2]
    assert judged.expected == pytest.approx(1.01 * actual["grader"].output_tokens, rel=1e-6)
    assert any("urs_simulation/strong" in sentence for sentence in assumption_sentences(found))


def test_logs_of_one_model_are_one_entry(run: EvalLog, tmp_path: Path) -> None:
    again = run.model_copy(update={"eval": run.eval.model_copy(update={"eval_id": "another run"})})
    write_eval_log(again, tmp_path / "again.eval")
    one, both = (
        read_actual(logs, "urs").roles for logs in ([run.location], [run.location, str(tmp_path)])
    )
    assert [(entry.role, entry.model) for entry in both] == [
        (entry.role, entry.model) for entry in one
    ]
    for single, double in zip(one, both, strict=True):
        assert double.samples == 2 * single.samples == 84
        assert (
            double.input_tokens == 2 * single.input_tokens
            and double.output_tokens == 2 * single.output_tokens
        )
        assert double.cost is single.cost is None


def test_the_judges_prompt_is_estimated_as_it_was_sent(run: EvalLog) -> None:
    # The simulated provider counts a token for every four characters of what it is sent.
    quarter = TokenCounter(lambda text: Amount.exactly(len(text) / 4), "quarters")
    found = of(CASES, counter=quarter, lengths=Lengths(logged=measured_lengths([run.location])))
    [judge] = [one for one in read_actual([run.location], "urs").roles if one.role == "grader"]
    # The estimate adds 8 tokens a prompt and 1% for asking again.
    expected = role(found, "grader", "j")[1].expected / 1.01 - 8 * 42
    assert expected == pytest.approx(judge.input_tokens, rel=0.01)


def test_other_tasks_and_broken_files_are_left_out_by_name(run: EvalLog, tmp_path: Path) -> None:
    other = simulate(
        tmp_path,
        (),
        task=Task(dataset=MemoryDataset([Sample(input="q", target="t")]), name="other"),
    )
    (tmp_path / "2026-01-01T00-00-00-00-00_urs_broken.eval").write_bytes(b"no log")
    found = read_actual([run.location, str(tmp_path)], "urs")
    assert [one.role for one in found.roles] == ["model", "grader"]
    assert len(found.left_out) == 2
    assert any("1 of other" in sentence for sentence in found.left_out)
    assert any(tells(sentence, "_urs_broken.eval ... left out") for sentence in found.left_out)
    assert str(tmp_path) not in "".join(found.left_out)
    with pytest.raises(InputError, match="intent_judge"):
        measured_lengths([other.location])
    with pytest.raises(InputError, match=r"no log.*urs"):
        read_actual([other.location], "urs")
    with pytest.raises(InputError, match="no log"):
        read_actual([str(tmp_path / "nothing")], "urs")


def test_a_model_that_judged_itself_is_one_number(tmp_path: Path) -> None:
    log = simulate(tmp_path, (), limit=3)
    [one] = read_actual([str(tmp_path)], "urs").roles
    assert (one.role, one.model, one.samples) == ("model and grader", "urs_simulation/strong", 3)
    assert one.input_tokens == log.stats.model_usage["urs_simulation/strong"].input_tokens


def test_only_what_was_estimated_is_counted(run: EvalLog, tmp_path: Path) -> None:
    """A log of all cases and two epochs beside an estimate of three: other questions are longer or
    shorter.
    """
    assert run.samples
    twice = [*run.samples, *(one.model_copy(update={"epoch": 2}) for one in run.samples)]
    write_eval_log(run.model_copy(update={"samples": twice}), tmp_path / "log.eval")
    used = read_actual([str(tmp_path)], "urs", of(CASES[:3], **SIMULATED))
    ids = {one.id for one in CASES[:3]}
    expected = [
        one.output.usage.output_tokens for one in run.samples if one.id in ids and one.output.usage
    ]
    [model] = [one for one in used.roles if one.role == "model"]
    assert (model.samples, model.output_tokens) == (3, sum(expected))
    assert any("81 of 84 samples" in sentence for sentence in used.left_out)
    assert {
        one.samples
        for one in read_actual([str(tmp_path)], "urs", of(CASES[:3], epochs=2, **SIMULATED)).roles
    } == {6}


def test_judges_of_models_that_were_not_estimated_are_not_counted(
    run: EvalLog, tmp_path: Path
) -> None:
    changed = {"eval_id": "of another model", "model": "urs_simulation/weak"}
    write_eval_log(
        run.model_copy(update={"eval": run.eval.model_copy(update=changed)}), tmp_path / "weak.eval"
    )
    estimated = of(CASES, **SIMULATED)
    used = read_actual([run.location, str(tmp_path)], "urs", estimated)
    assert used.roles == read_actual([run.location], "urs", estimated).roles
    assert [(one.role, one.samples) for one in used.roles] == [("model", 42), ("grader", 42)]
    assert any("weak.eval" in line and "urs_simulation/weak" in line for line in used.left_out)


def test_models_and_judges_that_were_not_estimated_are_left_out(run: EvalLog) -> None:
    found = read_actual(
        [run.location], "urs", of(CASES, **{**SIMULATED, "roles": {"grader": ["j"]}})
    )
    assert [one.role for one in found.roles] == ["model"]
    assert any("grader urs_simulation/judge" in sentence for sentence in found.left_out)
    with pytest.raises(InputError, match=r"no log.*urs"):
        read_actual([run.location], "urs", of(CASES))


def test_prices_fill_in_the_costs_that_a_log_does_not_have(run: EvalLog, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(
        "urs_simulation/strong: {input: 2, output: 8, input_cache_write: 0, input_cache_read: 0}"
    )
    answers = read_answers([run.location])
    table = with_costs(answers, load_prices(prices)).table
    expected = (2 * table["input_tokens"] + 8 * table["output_tokens"]) / 1e6
    assert answers.table["cost"].isna().all() and (expected > 0).all()
    assert table["cost"].tolist() == pytest.approx(expected.tolist())
    assert table["judge_cost"].isna().all()


def test_a_cost_that_a_log_has_is_not_replaced_by_prices() -> None:
    price = ModelCost(input=2, output=8, input_cache_write=0, input_cache_read=0)
    finals = {"leisure-en-1": 7.0, "leisure-en-2": 8.0}
    found = answer_rows.answers(answer_rows.rows("p/a", finals, judges="p/j"))
    found.table["cost"] = [0.5, math.nan]
    found.table["judge_cost"] = [math.nan, 0.25]
    table = with_costs(found, {"p/a": price, "p/j": price}).table
    assert table["cost"][0] == 0.5 and 0 < table["cost"][1] < 0.01
    assert 0 < table["judge_cost"][0] < 0.01 and table["judge_cost"][1] == 0.25


@pytest.mark.parametrize(("other", "known"), [(2.0, True), (3.0, False)])
def test_a_panel_has_a_cost_where_its_judges_have_one_price(other: float, known: bool) -> None:
    prices = {
        judge: ModelCost(input=price, output=8, input_cache_write=0, input_cache_read=0)
        for judge, price in (("p/j", 2.0), ("p/k", other))
    }
    panel = {"judges": "p/j, p/k", "judge_cost": math.nan}
    found = answer_rows.answers(answer_rows.rows("p/a", {"leisure-en-1": 7.0}, **panel))
    [cost] = with_costs(found, prices).table["judge_cost"]
    # 30 tokens were sent to both judges together, and 40 came back.
    assert cost == pytest.approx((2 * 30 + 8 * 40) / 1e6 if known else math.nan, nan_ok=True)


def test_lengths_of_several_models_reach_from_the_lowest_to_the_highest() -> None:
    measured = {
        "a": {"en": Amount(1, 2, 9), "zh": Amount(5, 6, 7)},
        "b": {"en": Amount(2, 3, 4)},
    }
    assert _pooled(measured) == {"en": Amount(1, 2.5, 9), "zh": Amount(5, 6, 7)}


NO_REFERENCE = Amount.exactly(0)
Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def log(
        model: str,
        judges: list[str],
        *usages: Mapping[str, int],
        grader: int | None = None,
        language: str = "en",
        rescored: bool = False,
    ) -> str:
        """A log with an answer for each usage, model -> tokens received.

        Those of the role are the judges' together.
        """
        samples = []
        for place, usage in enumerate(usages):
            judged = judgement(5, judge_finals=[[name, 5.0] for name in judges])
            together = sum(usage[name] for name in set(judges)) if grader is None else grader
            samples.append(
                answered(
                    f"q{place}",
                    *[judged] * (2 if rescored else 1),
                    metadata={"language": language},
                    model_usage={name: tokens(100, received) for name, received in usage.items()},
                    role_usage={"grader": tokens(100 * len(set(judges)), together)},
                )
            )
        file = f"{model}{language}{judges}".replace("/", "-")
        return write_judged(
            tmp_path / "logs" / f"{file}.eval", *samples, model=model, roles={"grader": judges}
        )

    return log


def measured(*logs: str, models: tuple[str, ...] = (), judges: tuple[str, ...] = ()) -> Lengths:
    return Lengths(logged=measured_lengths(logs, models=models, judges=judges))


def answer(found: Lengths, model: str, language: str = "en") -> float:
    return found.answer(model, language, NO_REFERENCE).expected


def test_each_model_has_its_own_answers_and_others_the_mean_of_models(write: Write) -> None:
    # p/m answers with 10 and 20 tokens, p/n with 95 twice: 15 and 95, and (15 + 95) / 2 = 55 for
    # another.
    logs = [
        write("p/m", ["p/j"], {"p/m": 10, "p/j": 200}, {"p/m": 20, "p/j": 200}),
        write("p/n", ["p/j"], {"p/n": 95, "p/j": 200}, {"p/n": 95, "p/j": 200}),
    ]
    found = measured(*logs, models=("p/m", "p/x"), judges=("p/j",))
    assert (answer(found, "p/m"), answer(found, "p/n"), answer(found, "p/x")) == (15, 95, 55)
    pooled = found.answer("p/x", "en", NO_REFERENCE)
    assert pooled.low <= 15 and pooled.high == 95
    assert about_answers(found)[:2] == [
        Telling("p/m ... measured: en 15 tokens"),
        (Telling("p/x ... p/m, p/n, pooled: en 55 tokens")),
    ]
    assert about_judgements(found) == [Telling("Replies of p/j ... measured: en 200 tokens")]


def test_each_judge_of_a_panel_has_its_own_tokens(write: Write) -> None:
    log = write(
        "p/m",
        ["p/j", "p/k"],
        {"p/m": 10, "p/j": 100, "p/k": 300},
        {"p/m": 10, "p/j": 120, "p/k": 300},
    )
    found = measured(log, judges=("p/j", "p/k", "p/x"))
    assert [found.judgement(judge, "en").expected for judge in ("p/j", "p/k", "p/x")] == [
        110,
        300,
        205,
    ]
    assert not any("as a whole" in sentence for sentence in about_judgements(found))
    assert tells(about_judgements(found)[2], "Replies of p/x ... do not have")


def test_each_epoch_of_a_question_has_its_own_tokens(tmp_path: Path) -> None:
    samples = []
    for question, epoch, of_j, of_k in (("q", 1, 100, 300), ("q", 2, 200, 500), ("r", 1, 60, 40)):
        usage = {"p/m": tokens(9, 10 * epoch), "p/j": tokens(9, of_j), "p/k": tokens(9, of_k)}
        judged = judgement(5, judge_finals=[["p/j", 5.0], ["p/k", 5.0]])
        samples.append(
            answered(
                question,
                judged,
                epoch=epoch,
                model_usage=usage,
                role_usage={"grader": tokens(18, of_j + of_k)},
            )
        )
    roles = {"grader": ["p/j", "p/k"]}
    log = write_judged(tmp_path / "log.eval", *samples, model="p/m", roles=roles)
    found = measured_lengths([log], models=("p/m",), judges=("p/j", "p/k"))
    assert found.shared == ()
    replies = found.replies.by_name
    assert replies["p/j"]["en"].expected == pytest.approx((100 + 200 + 60) / 3)
    assert replies["p/k"]["en"].expected == pytest.approx((300 + 500 + 40) / 3)
    assert found.answers.by_name["p/m"]["en"].expected == pytest.approx((10 + 20 + 10) / 3)


def test_a_judge_that_judges_itself_is_charged_without_its_answers(write: Write) -> None:
    # Of p/m's 60 tokens 10 are its answer: the usage of all models less that of the role.
    log = write("p/m", ["p/m", "p/k"], {"p/m": 60, "p/k": 300}, grader=350)
    found = measured(log)
    assert answer(found, "p/m") == 10
    assert [found.judgement(judge, "en").expected for judge in ("p/m", "p/k")] == [50, 300]


def test_a_panel_that_is_counted_as_a_whole_is_divided_and_that_is_said(write: Write) -> None:
    log = write("p/m", ["p/j", "p/j"], {"p/m": 10, "p/j": 200})
    found = measured(log, models=("p/m",), judges=("p/j",))
    assert found.judgement("p/j", "en").expected == 100
    assert tells(about_judgements(found)[-1], "panel of p/j ... equal share")
    # Usage of models that does not add up to that of the role is not relied on.
    odd = measured(write("p/n", ["p/j", "p/k"], {"p/n": 10, "p/j": 70, "p/k": 20}, grader=400))
    assert odd.judgement("p/j", "en").expected == odd.judgement("p/k", "en").expected == 200


def test_a_language_that_no_log_has_is_assumed_and_that_is_said(write: Write) -> None:
    found = measured(
        write("p/m", ["p/j"], {"p/m": 10, "p/j": 200}), models=("p/m",), judges=("p/j",)
    )
    assert found.answer("p/m", "zh", Amount.exactly(40)).expected == 40
    assert found.judgement("p/j", "zh") == Lengths().judgement("p/j", "zh")
    assert tells(about_answers(found)[1], "one language")


def test_judges_of_a_log_that_was_judged_again_are_not_known(write: Write) -> None:
    found = measured(write("p/m", ["p/j"], {"p/m": 10, "p/j": 200}, rescored=True), judges=("p/j",))
    assert found.judgement("p/j", "en") == Lengths().judgement("p/j", "en")
    assert tells(about_judgements(found)[0], "count no tokens")


def test_a_log_that_is_left_out_is_named_where_lengths_of_answers_come_from_logs(
    write: Write, tmp_path: Path
) -> None:
    (tmp_path / "broken.eval").write_bytes(b"no log")
    logs = [write("p/m", ["p/j"], {"p/m": 10, "p/j": 200}), str(tmp_path / "broken.eval")]
    found = of([sample()], lengths=measured(*logs))
    assert left_out_sentences(found.assumptions) == [Telling("--from: broken.eval")]
    given = Lengths(given_answer=100, logged=measured_lengths(logs))
    assert not left_out_sentences(of([sample()], lengths=given).assumptions)


def test_logs_without_usage_are_an_error(tmp_path: Path) -> None:
    log = write_judged(tmp_path / "log.eval", answered("q", judgement(5)))
    with pytest.raises(InputError, match="no usage"):
        measured(log)


def test_what_a_panel_took_stands_judge_by_judge(tmp_path: Path) -> None:
    judges = ["urs_simulation/judge", "urs_simulation/quality-8"]
    log = simulate(tmp_path, judges, model=judges[1], limit=4)
    found = {(one.role, one.model): one for one in read_actual([str(tmp_path)], "urs").roles}
    assert list(found) == [("model", judges[1]), *[("grader", judge) for judge in judges]]
    assert all(one.samples == 4 for one in found.values())
    used = log.stats.model_usage
    both = found["model", judges[1]].output_tokens + found["grader", judges[1]].output_tokens
    assert both == used[judges[1]].output_tokens
    together = sum(found["grader", judge].output_tokens for judge in judges)
    assert together == log.stats.role_usage["grader"].output_tokens


def sized(samples: int, task: str = "urs", **changed: Any) -> RunEstimate:
    """The estimate of a run over so many samples."""
    return replace(of([sample()], task, **changed), samples=samples)


def log_of(folder: Path, model: str, *finals: float) -> str:
    answers = (answered(f"{number}", judgement(final)) for number, final in enumerate(finals))
    return write_judged(folder / f"{model}.eval", *answers, model=model)


FINALS = (7.0, 8.0, 4.0, 6.0, 9.0, 5.0, 3.0, 10.0)


def used(evaluator: str = "", **models: tuple[int, int]) -> Any:
    """The summary of a sample by what models, called p/<name>, took: of `all` by the graders."""
    by_model = {f"p/{name}": tokens(*taken) for name, taken in models.items() if name != "all"}
    by_role = {"grader": tokens(*models["all"])} if "all" in models else {}
    about = {"evaluator": evaluator} if evaluator else None
    return SimpleNamespace(
        id="q", epoch=1, metadata=about, model_usage=by_model, role_usage=by_role
    )


TOOK: Any = {"m": (100, 10), "j": (20, 2), "k": (30, 3)}


@pytest.mark.parametrize(
    ("task", "judges", "samples", "roles"),
    [
        # Nobody has a role: a model under test that may have judged itself, or has not.
        (
            "urs",
            None,
            [used(m=(100, 10)), used(m=(50, 5))],
            [("model and grader", "m", 150, 15, 2)],
        ),
        ("mad", None, [used(m=(100, 10)), used(m=(50, 5))], [("model", "m", 150, 15, 2)]),
        ("urs", None, [], [("model and grader", "m", 0, 0, 0)]),
        # Each judge by itself, where these add up to what the role took.
        (
            "urs",
            "jk",
            [used(**TOOK, all=(50, 5))],
            [("model", "m", 100, 10, 1), ("grader", "j", 20, 2, 1), ("grader", "k", 30, 3, 1)],
        ),
        (
            "urs",
            "jk",
            [used(**TOOK, all=(60, 5)), used(**TOOK, all=(50, 5))],
            [("model", "m", 200, 20, 2), ("grader", "j, p/k", 110, 10, 2)],
        ),
        # Evaluators of a grid have samples of their own, and no model is under test.
        (
            "urs_crossval",
            "jk",
            [used("p/j", j=(20, 2), all=(20, 2)), used("p/j", j=(7, 1), all=(7, 1))],
            [("grader", "j", 27, 3, 2)],
        ),
    ],
)
def test_what_the_models_of_a_log_took_by_hand(
    task: str,
    judges: str | None,
    samples: list[Any],
    roles: list[tuple[str, str, int, int, int]],
    tmp_path: Path,
) -> None:
    graders = {"grader": [f"p/{judge}" for judge in judges]} if judges else {}
    location = write_judged(
        tmp_path / "log.eval", task=f"urs_inspect/{task}", model="p/m", roles=graders
    )
    found = _roles(read_eval_log(location, header_only=True), samples)
    assert [
        (one.role, one.model, one.input_tokens, one.output_tokens, one.samples) for one in found
    ] == [(name, f"p/{model}", *numbers) for name, model, *numbers in roles]
    # Nothing costs nothing; what calls cost is not known.
    assert {one.cost for one in found} == ({None} if samples else {0.0})


def test_the_precision_that_is_expected_is_that_of_the_logs_by_hand(tmp_path: Path) -> None:
    other = [final - shift for final, shift in zip(FINALS, (2, 0, 1, 0, 3, 1, 1, 0), strict=True)]
    logs = [
        log_of(tmp_path, "m", *FINALS),
        log_of(tmp_path, "n", *other),
        log_of(tmp_path, "unused", *[1.0] * 8),
    ]
    found = with_precision(sized(8, models=["m", "n"]), logs)
    assert found.margin and found.difference
    deviations = [np.std(scores, ddof=1) for scores in (FINALS, other)]
    t = stats.t(7).ppf
    assert found.margin.expected == pytest.approx(
        t(0.975) * np.sqrt(np.mean(np.square(deviations)) / 8)
    )
    range_ = [np.sqrt(7 / stats.chi2(7).ppf(tail)) for tail in (0.975, 0.025)]
    assert found.margin.low == pytest.approx(t(0.975) * min(deviations) * range_[0] / np.sqrt(8))
    assert found.margin.high == pytest.approx(t(0.975) * max(deviations) * range_[1] / np.sqrt(8))
    apart = np.std(np.subtract(FINALS, other), ddof=1) / np.sqrt(8)
    assert found.difference.expected == pytest.approx(smallest_difference(apart, 8))
    few = with_precision(sized(5, models=["m", "n"]), logs)
    assert few.margin and few.difference is None
    alone = with_precision(sized(8), logs[:1]).margin
    low, high = stats.ttest_1samp(FINALS, 0).confidence_interval()
    assert alone and alone.expected == pytest.approx((high - low) / 2)


def test_a_spread_that_the_logs_do_not_have_is_assumed(tmp_path: Path) -> None:
    few = [log_of(tmp_path, "m", 1.0, 9.0), log_of(tmp_path, "n", *[5.0] * 9)]
    without, with_few = (with_precision(sized(100), logs) for logs in ([], few))
    assert without.margin == with_few.margin and without.difference == with_few.difference
    assert without.margin and without.margin.high == pytest.approx(
        _SPREAD.high * stats.t(99).ppf(0.975) / 10
    )
    three = with_precision(sized(100, models=["m", "n", "o"]), [])
    assert (
        three.difference
        and without.difference
        and three.difference.expected > 1.1 * without.difference.expected
    )
    assert with_precision(of([sample()]), []).margin is None
    assert with_precision(sized(9, "urs_references"), []).margin is None


def test_the_assumed_spread_is_that_of_published_scores(data_dir: Path) -> None:
    deviations, ratios = [], []
    for name in ("vicuna_eval", "mt_bench_eval"):
        rows = json.loads((data_dir / "judge_bench" / f"{name}.json").read_text("utf-8"))
        scores: dict[str, dict[int, float]] = {}
        for row in rows:
            scores.setdefault(row["response_source"], {})[row["idx"]] = (
                1 + (row["gpt4_score"][0] - 1) * 9 / 4
            )
        table = np.array(
            [[of_model[number] for number in sorted(of_model)] for of_model in scores.values()]
        )
        of_scores = table.std(axis=1, ddof=1)
        deviations += of_scores.tolist()
        for one, two in zip(*np.triu_indices(4, 1), strict=True):
            pooled = np.sqrt((of_scores[one] ** 2 + of_scores[two] ** 2) / 2)
            ratios.append((table[one] - table[two]).std(ddof=1) / pooled)
    for assumed, measured in ((_SPREAD, deviations), (_PAIRED, ratios)):
        given = (assumed.low, assumed.expected, assumed.high)
        assert given == pytest.approx((min(measured), np.mean(measured), max(measured)), abs=0.05)


# --- what a prompt is about ---


def test_what_is_known_of_a_prompt_by_hand() -> None:
    reference = Amount.exactly(9)
    known = {
        "Why is the sky blue?": estimate._Question("de", reference, 2.0),
        "Why?": estimate._Question("fr", Amount.exactly(3), 5.0),
    }
    ledger = estimate._Ledger(WORDS, known)

    def about(prompt: str) -> tuple[str, Amount | None, float]:
        found = ledger._question(prompt)
        return found.language, found.reference, found.weight

    assert about("Why?") == ("fr", Amount.exactly(3), 5.0)
    # A prompt that only contains a question is no answer to it, and has no reference.
    assert about("Judge this: Why? It just is.") == ("fr", None, 5.0)
    assert about("Judge this: Why is the sky blue? Why?") == ("de", None, 2.0)
    # Nothing is known of other prompts: more than a tenth of a Chinese text is wide.
    assert about("Say something.") == ("en", None, 3.5)
    assert about("天" * 1 + "a" * 9) == ("en", None, 3.5)
    assert about("天" * 2 + "a" * 9) == ("zh", None, 3.5)
    nothing_known = estimate._Ledger(WORDS, {"": estimate._Question("de", None, 7.0)})
    assert nothing_known._question("Say something.").weight == 7.0
    assert estimate._Ledger(WORDS, {})._question("天空").weight == 1.0


def test_each_call_is_recorded_by_what_is_replied() -> None:
    ledger = estimate._Ledger(WORDS, {"Why?": estimate._Question("fr", Amount.exactly(3), 5.0)})
    written = ledger.record("model", "m", ["Why?"], "any words")
    again = ledger.record("model", "n", ["Why?"], "any words")
    judged = '{"a": {"winner": "A"}, "b": {"winner": "B"}, "c": {"winner": "tie"}}'
    prompt = ["Judge:", f"Why? First {again} or {written}"]
    assert ledger.record("grader", "j", prompt, judged) == judged
    frame = addition_prompt("en").frame
    added = ledger.record("model", "m", [frame.replace("{chain}", "12 + 34")], "It is 46")
    first, second, of_judge, of_sum = ledger.calls
    assert [one.author for one in ledger.answers][:2] == ["m", "n"]
    assert (first.role, first.model, first.language, first.weight) == ("model", "m", "fr", 5.0)
    assert (first.verdicts, first.answers, second.model) == (0, (), "n")
    assert first.reply is not None and first.reply.reference == Amount.exactly(3)
    assert first.sent == WORDS.messages("Why?")
    # The answers in a judge's prompt are not counted as its text, in the order in which they stand.
    assert [one.author for one in of_judge.answers] == ["n", "m"]
    assert of_judge.sent == WORDS.messages("Judge:", "Why? First  or ")
    assert (of_judge.verdicts, of_judge.reply) == (3, None)
    # A sum is written as the simulation does, so that its length is known.
    assert added == "It is 46"
    assert of_sum.reply is not None and of_sum.reply.exact == Amount.exactly(3)
    assert first.reply.exact is None
