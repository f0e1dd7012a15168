"""What the report of `estimate` says, in every case, of estimates made by hand."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalError, EvalSample
from inspect_ai.scorer import match
from inspect_ai.solver import generate
from scipy import stats

from tests.reports.golden_files import check_golden
from tests.reports.judged_logs import answered, judgement, tokens, write_judged
from urs_inspect._util import InputError
from urs_inspect.estimating._actual_use import Actual, ActualUse, _together, read_actual
from urs_inspect.estimating._commands import _lengths, _models, _roles, _sources
from urs_inspect.estimating._estimate import (
    AGAIN,
    GRADER,
    Assumptions,
    Basis,
    RoleEstimate,
    RunEstimate,
    Spread,
    _check_roles,
    _chosen,
    estimate_run,
    with_precision,
)
from urs_inspect.estimating._lengths import (
    JUDGEMENT,
    VERDICT,
    WITHOUT_REFERENCE,
    Amount,
    Lengths,
    LoggedLengths,
    Measured,
    TokenCounter,
    count_by_rule,
    is_wide,
    measured_lengths,
    total,
)
from urs_inspect.estimating._report import assumption_sentences, estimate_report
from urs_inspect.reports.numbers._costs import load_prices
from urs_inspect.stats._power import smallest_difference

RANGE = Amount(0.5, 1.0, 2.5)
EN, ZH = Amount(90, 100, 110), Amount(40, 50.4, 60)


def model(
    name: str, role: str = "model", samples: int = 100, runs: int = 1, cost: float | None = None
) -> RoleEstimate:
    money = None if cost is None else RANGE * cost
    tokens = RANGE * 1000.0 * samples
    return RoleEstimate(
        role, name, samples, runs, RANGE * float(samples), tokens, tokens * 2.0, money
    )


def measured(
    by_name: Mapping[str, Mapping[str, Amount]],
    *asked: str,
    pooled: Mapping[str, Amount] | None = None,
) -> Measured:
    return Measured(by_name, pooled or {"en": EN, "zh": ZH}, asked)


NOT_MEASURED = Measured({}, {}, ("p/m",))
LOGGED = LoggedLengths(
    answers=measured({"p/m": {"en": EN, "zh": ZH}, "p/n": {"en": EN}}, "p/m", "p/x", "p/y"),
    replies=measured({"p/j": {"en": EN}}, "p/j"),
    shared=("p/j", "p/k"),
    left_out=("old.eval was left out.",),
)
ENGLISH = {"en": EN}
ONE_LANGUAGE = LoggedLengths(
    answers=measured({"p/m": ENGLISH}, pooled=ENGLISH),
    replies=measured({"p/j": ENGLISH}, "p/z", pooled=ENGLISH),
    shared=(),
    left_out=(),
)
NOTHING = LoggedLengths(NOT_MEASURED, NOT_MEASURED, (), ())
BY_RULE = Assumptions(None, Lengths(), frozenset({"answer", "judgement"}), False, 100)
MEASURED_SPREAD = Spread(
    Amount(1.5, 2, 2.5), Amount(1, 1.25, 1.5), "logs", "logs", 1200, 2, ("p/m", "p/n")
)


def run(*roles: RoleEstimate, **facts: Any) -> RunEstimate:
    known: dict[str, Any] = {
        "task": "urs",
        "samples": 100,
        "epochs": 1,
        "cost": None,
        "unpriced": tuple(role.model for role in roles if role.cost is None),
        "assumptions": BY_RULE,
    }
    return RunEstimate(roles=roles, **known | facts)


def assuming(found: RunEstimate, **changed: Any) -> RunEstimate:
    return replace(found, assumptions=replace(found.assumptions, **changed))


PRICED = run(
    model("p/m", cost=2.0),
    model("p/j", GRADER, runs=2, cost=10.0),
    cost=RANGE * 12.0,
    margin=Amount(0.1, 0.2, 0.4),
    difference=Amount(0.3, 0.5, 0.9),
)
WITHOUT_PRICE = run(model("p/m"), model("p/j", GRADER), epochs=3)
IN_PART = run(
    model("p/m", cost=2.0), model("p/j", GRADER), model("p/k", GRADER), cost=Amount.exactly(2.0)
)
CASES: dict[str, tuple[RunEstimate, ActualUse | None]] = {
    "priced": (PRICED, None),
    "without a price, in epochs": (assuming(WITHOUT_PRICE, judges_itself=True), None),
    "priced in part, in two epochs": (replace(IN_PART, epochs=2), None),
    "a bound of the precision": (
        replace(
            assuming(
                run(model("p/m", cost=2.0), cost=RANGE, task="md_eval", samples=1000),
                replies=frozenset({"verdict"}),
                spread=Spread(Amount.exactly(0.5), Amount.exactly(0.71), "bound", "bound"),
                samples_run=200,
            ),
            margin=Amount.exactly(0.03),
            difference=Amount.exactly(0.06),
        ),
        None,
    ),
    "a precision without a difference": (
        replace(assuming(PRICED, spread=MEASURED_SPREAD), difference=None),
        None,
    ),
    "lengths of logs": (
        assuming(PRICED, lengths=Lengths(logged=LOGGED), tokenizer="tokenizer.json of folder"),
        None,
    ),
    "lengths of logs in one language": (
        assuming(
            PRICED,
            lengths=Lengths(logged=ONE_LANGUAGE),
            spread=replace(MEASURED_SPREAD, scores_from="published", epochs=1),
        ),
        None,
    ),
    "logs without lengths": (
        assuming(
            PRICED,
            lengths=Lengths(logged=NOTHING),
            spread=replace(MEASURED_SPREAD, differences_from="published"),
        ),
        None,
    ),
    "lengths that are given": (assuming(PRICED, lengths=Lengths(700, 80, LOGGED)), None),
    "a given length of replies about pairs": (
        assuming(PRICED, lengths=Lengths(None, 80), replies=frozenset({"answer", "verdict"})),
        None,
    ),
    "known answers": (
        assuming(PRICED, lengths=Lengths(logged=LOGGED), replies=frozenset({"judgement"})),
        None,
    ),
    "beside what it took": (
        PRICED,
        ActualUse(
            (
                Actual("model", "p/other", 10, 20, 3, None),
                Actual("grader", "p/j", 150_000, 100_000, 150, 1234.5),
                Actual("grader", "p/another", 10, 20, 3, 0.1),
                Actual("model", "p/m", 50_000, 250_000, 50, 0.25),
            ),
            ("A log.", "Another log."),
        ),
    ),
    "beside models that judged themselves": (
        run(model("p/m", cost=2.0), model("p/m", GRADER, cost=2.0), cost=RANGE),
        ActualUse((Actual("model and grader", "p/m", 150_000, 100_000, 100, 1.0),), ()),
    ),
    "beside a panel as a whole": (
        run(model("p/j", GRADER, cost=2.0), model("p/k", GRADER, samples=40), cost=RANGE),
        ActualUse((Actual("grader", "p/j, p/k", 150_000, 100_000, 100, 1.0),), ()),
    ),
}


def test_the_report_of_every_kind_of_estimate() -> None:
    parts = []
    for name, (found, actual) in CASES.items():
        made = estimate_report(found, actual)
        parts.append(f"<!-- {name} -->\n\n{made.markdown()}")
    check_golden("estimate_cases", "\n".join(parts))


def test_every_assumption_is_in_the_report() -> None:
    for found, _ in CASES.values():
        sentences = list(assumption_sentences(found))
        [_, assumed, *_] = estimate_report(found).sections
        assert list(assumed.notes) == sentences


# --- amounts and tokens ---


def test_amounts_are_multiplied_and_added_end_by_end() -> None:
    one, other = Amount(1, 2, 4), Amount(10, 20, 30)
    assert one * other == Amount(10, 40, 120)
    assert one * 2.0 == Amount(2, 4, 8)
    assert total([one, other, one]) == Amount(12, 24, 38)
    assert total([]) == Amount.exactly(0.0)


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("abc", 0),
        ("中文", 2),
        ("あア", 2),
        ("한국", 2),
        ("，。", 2),
        ("é…“”", 0),
        ("𠀀", 1),
        ("Ａ", 1),
    ],
)
def test_wide_characters(text: str, wide: int) -> None:
    assert sum(map(is_wide, text)) == wide
    narrow = len(text) - wide
    assert count_by_rule(text).expected == pytest.approx(0.9 * wide + 0.25 * narrow)
    assert count_by_rule(text).low == pytest.approx(0.6 * wide + 0.2 * narrow)
    assert count_by_rule(text).high == pytest.approx(1.4 * wide + 0.3 * narrow)


def test_each_message_takes_a_few_tokens_and_empty_ones_none() -> None:
    words = TokenCounter(lambda text: Amount.exactly(len(text.split())))
    assert words.messages("a b", "", "c") == Amount.exactly(3 + 2 * 4)


def test_lengths_that_are_given_come_first_then_logs_then_assumptions() -> None:
    given, logged, assumed = Lengths(7, 8, LOGGED), Lengths(logged=LOGGED), Lengths()
    reference = Amount.exactly(10)
    for lengths, answer, reply in (
        (given, Amount.exactly(7), Amount.exactly(8)),
        (logged, EN, EN),
        (assumed, Amount(5, 10, 20), JUDGEMENT),
    ):
        assert lengths.answer("p/m", "en", reference) == answer
        assert lengths.judgement("p/j", "en") == reply
    assert given.verdict == Amount.exactly(8)
    assert logged.verdict == assumed.verdict == VERDICT
    assert assumed.answer("p/m", "en", None) == WITHOUT_REFERENCE
    # A language of others, and one of nobody.
    assert logged.answer("p/n", "zh", reference) == ZH
    assert logged.answer("p/n", "de", reference) == Amount(5, 10, 20)
    assert logged.judgement("p/z", "zh") == ZH
    assert AGAIN.low == 1


# --- what is run ---


def questions(number: int, languages: str = "en zh") -> list[Sample]:
    kinds = languages.split()
    samples = []
    for place in range(number):
        language = kinds[place % len(kinds)]
        text = "word " * (place % 37 + 1)
        metadata = {"language": language}
        samples.append(
            Sample(input=text, target="ref " * (place % 11), id=f"q{place}", metadata=metadata)
        )
    return samples


WORDS = TokenCounter(lambda text: Amount.exactly(len(text.split())))


def test_up_to_200_samples_are_run_as_they_are() -> None:
    samples = questions(200)
    assert _chosen(samples, WORDS) == [(sample, 1.0) for sample in samples]
    assert len(_chosen(questions(201), WORDS)) == 200


@pytest.mark.parametrize("languages", ["en", "en zh", "en zh zh de"])
def test_the_selection_has_the_totals_of_all_samples_by_language(languages: str) -> None:
    samples = questions(1003, languages)
    chosen = _chosen(samples, WORDS)
    for language in set(languages.split()):
        every = [one for one in samples if (one.metadata or {})["language"] == language]
        some = [
            (one, weight) for one, weight in chosen if (one.metadata or {})["language"] == language
        ]
        assert math.fsum(weight for _, weight in some) == pytest.approx(len(every))
        for text in (lambda one: str(one.input), lambda one: str(one.target)):
            words = sum(len(text(one).split()) for one in every)
            estimated = math.fsum(len(text(one).split()) * weight for one, weight in some)
            assert estimated == pytest.approx(words)


def test_all_judges_of_an_answer_are_run_together() -> None:
    samples = []
    for case in range(300):
        for judge in ("p/one", "p/two", "p/three"):
            metadata = {"case": case, "model": "m", "evaluator": judge, "language": "en"}
            samples.append(Sample(input="word " * (case % 7 + 1), metadata=metadata))
    chosen = _chosen(samples, WORDS)
    cases = [(sample.metadata or {})["case"] for sample, _ in chosen]
    assert len(chosen) == 3 * (200 // 3)
    assert all(cases.count(case) == 3 for case in set(cases))
    assert math.fsum(weight for _, weight in chosen) == pytest.approx(900)


ROLES: list[tuple[set[str], list[str], dict[str, list[str]], str]] = [
    (set(), ["m"], {}, "no model is called"),
    ({"model"}, [], {}, "--model:"),
    ({"grader"}, [], {}, "--model-role: urs needs a judge"),
    ({"grader"}, ["m"], {"grader": ["j"]}, "--model: urs calls no model"),
    ({"other"}, ["m"], {}, "--model: urs calls no model"),
    ({"model"}, ["m"], {"helper": ["h"]}, "helper"),
    ({"model"}, ["m"], {}, ""),
    ({"grader"}, ["m"], {}, ""),
    ({"grader"}, [], {"grader": ["j"]}, ""),
    ({"model", "grader"}, ["m"], {"grader": ["j"]}, ""),
]


@pytest.mark.parametrize(("called", "models", "roles", "problem"), ROLES)
def test_models_that_are_needed_and_those_that_are_not(
    called: set[str], models: list[str], roles: dict[str, list[str]], problem: str
) -> None:
    if not problem:
        _check_roles("urs", models, roles, called)
        return
    with pytest.raises(InputError) as refused:
        _check_roles("urs", models, roles, called)
    assert problem in refused.value.message


def test_epochs_count_and_a_scorer_without_a_judge_judges_nobody() -> None:
    def make(_arguments: Mapping[str, Any]) -> Task:
        samples = questions(5, "en")
        for number, sample in enumerate(samples):
            sample.id = number
        return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=match())

    found = estimate_run(
        "urs",
        make,
        {},
        models=["p/m", "p/n"],
        roles={},
        limit=4,
        epochs=3,
        basis=Basis(WORDS, Lengths(50), load_prices(None)),
    )
    assert not found.assumptions.judges_itself
    assert (found.samples, found.epochs) == (4, 3)
    assert found.ids == ("0", "1", "2", "3")
    for role in found.roles:
        assert (role.samples, role.runs, role.calls.expected) == (12, 1, 12)
        assert role.output_tokens == Amount.exactly(12 * 50)
    assert [role.model for role in found.roles] == ["p/m", "p/n"]


# --- precision ---


@pytest.mark.parametrize(("models", "tests"), [(1, 1), (2, 1), (3, 3), (4, 6)])
def test_right_and_wrong_verdicts_have_a_bound_of_the_precision(models: int, tests: int) -> None:
    roles = [model(f"p/{place}") for place in range(models)]
    found = with_precision(run(*roles, task="md_eval", samples=100), [])
    assert found.margin is not None and found.difference is not None
    t = float(stats.t(99).ppf(0.975))
    assert found.margin == Amount.exactly(pytest.approx(0.5 * t / 10))  # type: ignore[arg-type]
    expected = smallest_difference(math.sqrt(0.5) / 10, 100, tests=tests)
    assert found.difference.expected == pytest.approx(expected)


@pytest.mark.parametrize(
    ("task", "judged", "samples", "known"),
    [
        ("urs", True, 2, True),
        ("urs", True, 1, False),
        ("urs", False, 100, False),
        ("md_eval", False, 2, True),
        ("md_eval", False, 1, False),
        ("mad", True, 100, False),
    ],
)
def test_where_a_precision_can_be_said(task: str, judged: bool, samples: int, known: bool) -> None:
    roles = [model("p/m")]
    if judged:
        roles.append(model("p/j", GRADER))
    found = with_precision(run(*roles, task=task, samples=samples), [])
    assert (found.margin is not None) == known
    assert (found.assumptions.spread is not None) == known


# --- what was used ---


def used(name: str, *, epoch: int = 1, error: bool = False) -> EvalSample:
    failed = EvalError(message="failed", traceback="", traceback_ansi="") if error else None
    return answered(
        name,
        judgement(5),
        epoch=epoch,
        error=failed,
        model_usage={"p/m": tokens(100, 10), "p/j": tokens(1000, 20)},
        role_usage={"grader": tokens(1000, 20)},
    )


def test_samples_that_failed_took_nothing_that_was_estimated(tmp_path: Path) -> None:
    samples = [used("one"), used("two", error=True), used("one", epoch=2), used("three")]
    write_judged(tmp_path / "log.eval", *samples, model="p/m", roles={"grader": ["p/j"]})
    found = read_actual([str(tmp_path)], "urs")
    assert {(one.role, one.model, one.samples) for one in found.roles} == {
        ("model", "p/m", 3),
        ("grader", "p/j", 3),
    }
    estimated = run(model("p/m"), model("p/j", GRADER), ids=("one", "two"))
    for epochs, counted in ((1, 1), (2, 2)):
        found = read_actual([str(tmp_path)], "urs", replace(estimated, epochs=epochs))
        assert {one.samples for one in found.roles} == {counted}
        assert {one.input_tokens for one in found.roles} == {100 * counted, 1000 * counted}
        assert any(f"{3 - counted} of 3 samples" in sentence for sentence in found.left_out)


def test_judges_that_are_not_asked_for_are_not_said_to_share(tmp_path: Path) -> None:
    usage = {"p/m": tokens(100, 10), "p/j": tokens(100, 70), "p/k": tokens(100, 20)}
    judged = judgement(5, judge_finals=[["p/j", 5.0], ["p/k", 5.0]])
    sample = answered("q", judged, model_usage=usage, role_usage={"grader": tokens(200, 400)})
    roles = {"grader": ["p/j", "p/k"]}
    log = write_judged(tmp_path / "log.eval", sample, model="p/m", roles=roles)
    assert measured_lengths([log]).shared == ("p/j", "p/k")
    assert measured_lengths([log], judges=("p/k", "p/z")).shared == ("p/k",)
    # Models that judge themselves are judges.
    alone = _lengths(_sources([log, "answer=7"]), ("p/x",), ())
    assert alone.logged is not None
    assert (alone.given_answer, alone.logged.replies.asked) == (7, ("p/x",))
    graded = _lengths(_sources([log]), ("p/x",), ("p/k",))
    assert graded.logged is not None
    assert (graded.given_answer, graded.logged.replies.asked) == (None, ("p/k",))


def test_what_logs_took_is_added_up_by_role_and_model() -> None:
    parts = [
        Actual("grader", "p/j", 10, 1, 5, 0.5),
        Actual("model", "p/m", 100, 10, 5, 0.25),
        Actual("grader", "p/j", 20, 2, 6, 0.5),
        Actual("model", "p/m", 200, 20, 6, None),
        Actual("model", "p/j", 1, 1, 1, None),
    ]
    assert _together(parts) == (
        Actual("grader", "p/j", 30, 3, 11, 1.0),
        Actual("model", "p/m", 300, 30, 11, None),
        Actual("model", "p/j", 1, 1, 1, None),
    )


# --- options ---


@pytest.mark.parametrize(
    ("given", "models"),
    [
        (None, ()),
        ("", ()),
        ("p/m", ("p/m",)),
        (" p/m, p/n ,p/m,", ("p/m", "p/n")),
        ("none", ()),
        ("none/none,p/m", ("p/m",)),
    ],
)
def test_models_are_separated_by_commas(given: str | None, models: tuple[str, ...]) -> None:
    assert _models(given) == models


@pytest.mark.parametrize(
    ("given", "roles"),
    [
        (("grader=p/j",), {"grader": ["p/j"]}),
        (("grader=p/j", "grader=p/k", "helper=p/h"), {"grader": ["p/j", "p/k"], "helper": ["p/h"]}),
        (("grader=[p/j, p/k]",), {"grader": ["p/j", "p/k"]}),
        (("grader={model: p/j, temperature: 0}",), {"grader": ["p/j"]}),
        (("grader=[{model: p/j}, p/k]",), {"grader": ["p/j", "p/k"]}),
        (("grader",), None),
        (("=p/j",), None),
        (("grader=3",), None),
        (("grader={temperature: 0}",), None),
        (("grader=[p/j, '']",), None),
    ],
)
def test_roles_have_one_model_or_several(
    given: tuple[str, ...], roles: dict[str, list[str]] | None
) -> None:
    if roles is not None:
        assert _roles(given) == roles
        return
    with pytest.raises(InputError) as refused:
        _roles(given)
    assert given[0] in refused.value.message


def test_sources_are_told_apart_by_their_form(tmp_path: Path) -> None:
    tokenizer = tmp_path / "tokenizer.json"
    (tmp_path / "empty").mkdir()
    logs = str(tmp_path / "empty")
    before = _sources([str(tmp_path)])
    assert (before.logs, before.tokenizer) == ([str(tmp_path)], None)
    tokenizer.write_text("{}")
    for given in (tmp_path, tokenizer):
        found = _sources([str(given), "answer=1000", "a=b", logs, "reply=30"])
        assert found.tokenizer == tokenizer
        assert found.tokens == {"answer": 1000, "reply": 30}
        assert found.logs == ["a=b", logs]
    # Of two numbers the last one counts, as of any option.
    assert _sources(["answer=1000", "reply=30", "answer=20"]).tokens == {"answer": 20, "reply": 30}
    for wrong in ("answer=0", "reply=-1", "answer=", "reply=1.5", "answer=١"):
        with pytest.raises(InputError) as refused:
            _sources([wrong])
        assert wrong in refused.value.message
