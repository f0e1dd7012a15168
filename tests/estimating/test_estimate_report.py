"""What the report of `estimate` says, in every case, of estimates made by hand."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.dataset import Sample

from tests.reports.golden_files import check_golden
from urs_inspect._util import InputError
from urs_inspect.estimating._actual_use import Actual, ActualUse, _together
from urs_inspect.estimating._commands import _models, _roles, _sources
from urs_inspect.estimating._estimate import (
    AGAIN,
    GRADER,
    Assumptions,
    RoleEstimate,
    RunEstimate,
    Spread,
    _check_roles,
    _chosen,
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
    total,
)
from urs_inspect.estimating._report import assumption_sentences, estimate_report

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
    "priced in part": (IN_PART, None),
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
    for lengths, answer, judgement in (
        (given, Amount.exactly(7), Amount.exactly(8)),
        (logged, EN, EN),
        (assumed, Amount(5, 10, 20), JUDGEMENT),
    ):
        assert lengths.answer("p/m", "en", reference) == answer
        assert lengths.judgement("p/j", "en") == judgement
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
            Sample(input=text, target="ref " * (place % 11), id=place, metadata=metadata)
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


# --- what was used ---


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
    for wrong in ("answer=0", "reply=-1", "answer=", "reply=1.5", "answer=١"):
        with pytest.raises(InputError) as refused:
            _sources([wrong])
        assert wrong in refused.value.message
