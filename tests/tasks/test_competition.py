"""What a competition settles before and between its samples, without a run."""

import logging
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalError, EvalSample
from inspect_ai.scorer import Score

from tests.reports.mad_logs import ballot
from tests.telling import Telling
from urs_inspect._util import InputError
from urs_inspect.datasets import Vocabulary, in_proportion, load_urs
from urs_inspect.discrepancy import load_similarity
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.discrepancy._pools import Instruction, Pool
from urs_inspect.judging import JudgeFailure, JudgePrompt
from urs_inspect.logs._comparisons import Comparison
from urs_inspect.rubrics import load_rubric
from urs_inspect.tasks._competition import (
    AllocationOptions,
    Competition,
    Plan,
    RunAttempt,
    SelectionOptions,
    _warn_of_lacking,
    _warn_of_short,
    _warn_of_unused,
    competition_pool,
    eligible_pairs,
)
from urs_inspect.tasks.mad import _asked_similarity, _check_early, _prior, _voting

ERROR = EvalError(message="gone", traceback="", traceback_ansi="")
NAMES = ("p/x", "p/y", "p/z")


def pool(number: int = 4, *names: str, **responses: dict[str, str]) -> Pool:
    """Instructions that all models have answered, each in words of its own."""
    items = tuple(
        Instruction(f"i{place}", f"Ask {place} of all.", f"Reference {place}.", "en", "coding")
        for place in range(number)
    )
    given = {
        name: {item.id: f"{name} says {item.id} {place * 'more words '}" for item in items}
        for place, name in enumerate(names or NAMES)
    }
    return Pool("pool", "0" * 64, items, {**given, **responses})


def plan(k: int = 2, allocation: AllocationOptions | None = None, **others: Any) -> Plan:
    rules = SelectionOptions(shortlist=None).rules(0)
    return Plan(k, others.pop("rules", rules), allocation or AllocationOptions(), **others)


def competition(of: Pool, chosen: Plan, *previous: Comparison) -> Competition:
    return Competition(
        chosen,
        of,
        answering=False,
        check_roles=lambda: None,
        similarity=load_similarity("lexical"),
        previous=previous,
    )


def batches(made: Competition, outcomes: Any = lambda one: 1.0) -> list[list[Sample]]:
    """The samples of each batch, when they are judged so."""
    found: list[list[Sample]] = []

    async def play() -> None:
        while samples := await made.next_samples():
            found.append(samples)
            for sample in samples:
                score = Score(value={"outcome": outcomes(sample)})
                await made.sample_complete(ended(sample, pair_choice=score))

    anyio.run(play)
    return found


def ended(sample: Sample, epoch: int = 1, **scores: Score) -> EvalSample:
    return EvalSample(
        id=sample.id or "",
        epoch=epoch,
        input=sample.input,
        target=sample.target,
        metadata=sample.metadata or {},
        scores=scores,
    )


def ballots_of(samples: list[Sample]) -> list[Ballot]:
    return [Ballot.from_dict((one.metadata or {})["ballot"], "here") for one in samples]


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    own = [one.message for one in caplog.records if one.name.startswith("urs_inspect")]
    caplog.clear()
    return own


def test_every_pair_is_compared_k_times_on_different_instructions_at_once() -> None:
    [samples] = batches(competition(pool(), plan(k=3)))
    pairs: dict[tuple[str, str], set[str]] = {}
    for one in ballots_of(samples):
        key = (min(one.model_a, one.model_b), max(one.model_a, one.model_b))
        pairs.setdefault(key, set()).add(one.instruction_id)
    assert {pair: len(asked) for pair, asked in pairs.items()} == {
        ("p/x", "p/y"): 3,
        ("p/x", "p/z"): 3,
        ("p/y", "p/z"): 3,
    }
    first = ballots_of(samples)[0]
    assert (first.scenario, first.language, first.reference[:9]) == ("coding", "en", "Reference")
    facts = samples[0].metadata or {}
    assert facts["phase"] == "compare" and "response_similarity" in facts["selection"]
    assert "lacking" not in facts
    assert samples[0].target == first.reference
    text = str(samples[0].input)
    parts = [first.instruction, first.model_a, first.response_a, first.model_b, first.response_b]
    places = [text.index(part) for part in parts]
    assert all(one < other for one, other in pairwise(places))


def test_an_allocation_asks_in_batches_until_its_budget_is_spent() -> None:
    chosen = AllocationOptions(rule="random", budget=7, batch=3, confidence=0.9999)
    found = batches(competition(pool(6), plan(allocation=chosen)), lambda one: 0.5)
    assert [len(samples) for samples in found] == [3, 3, 1]
    ids = [one.id for samples in found for one in samples]
    assert len(set(ids)) == 7


def test_what_an_earlier_run_compared_comes_first_and_only_new_models_are_compared() -> None:
    texts = {item.id: item.text for item in pool().instructions}
    before = Comparison(
        Ballot.between("i0", texts["i0"], {"p/x": "one", "p/y": "two"}), 0.0, {"judges": ["j"]}
    )
    [samples] = batches(competition(pool(), plan(k=1), before))
    facts = samples[0].metadata or {}
    assert facts["previous"] == {"judges": ["j"], "outcome": 0.0}
    assert facts["ballot"] == before.ballot.to_dict()
    others = [{one.model_a, one.model_b} for one in ballots_of(samples[1:])]
    assert sorted(map(sorted, others)) == [["p/x", "p/z"], ["p/y", "p/z"]]


def test_runs_that_cannot_be_joined_are_refused() -> None:
    whole = pool()
    all_compared = [
        Comparison(ballot("elsewhere", one, other), 1.0, {})
        for one, other in (("p/x", "p/y"), ("p/y", "p/z"))
    ]
    with pytest.raises(InputError, match=r"previous: no new contestant; .*p/x, p/y, p/z"):
        eligible_pairs(whole, plan(), all_compared)
    other_text = Comparison(Ballot.between("i1", "Another.", {"p/x": "1", "p/y": "2"}), 1.0, {})
    with pytest.raises(InputError, match=r"previous: instruction 'i1' has another text .*'pool'"):
        eligible_pairs(whole, plan(), [other_text])
    _, masks = eligible_pairs(whole, plan(only=("p/x", "p/z")), [])
    assert list(masks) == [("p/x", "p/z")]


def test_answers_that_cannot_be_compared_are_counted_in_a_warning_and_every_sample(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gaps = {"i0": "Only this one.", "i1": " ", "i2": "And this one, too."}
    made = pool(4, "p/x", "p/y", **{"p/z": gaps})
    with caplog.at_level(logging.WARNING):
        [samples] = batches(competition(made, plan(k=2)))
        assert said(caplog) == [Telling("p/z: 1 missing, 1 empty of 4 answers")]
        lacking = {"p/z": {"missing": 1, "empty": 1}}
        assert all((one.metadata or {})["lacking"] == lacking for one in samples)
        _warn_of_short({("a", "b"): 2, ("a", "c"): 3}, 3)
        assert said(caplog) == [Telling("a and b ... 2 instructions only ... k=3")]
        assert _warn_of_lacking(pool()) == {}
        assert said(caplog) == []


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({}, []),
        ({"batch": 4}, ["batch: ... uniform"]),
        ({"confidence": 0.9, "batch": 4}, ["confidence and batch: ... uniform"]),
        ({"budget": 4}, []),
        ({"rule": "adaptive", "batch": 4, "confidence": 0.9}, []),
    ],
)
def test_options_without_effect_are_said(
    options: dict[str, Any], named: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        _warn_of_unused(AllocationOptions(**options))
    assert said(caplog) == [Telling(one) for one in named]


def test_a_new_attempt_is_told_by_its_samples() -> None:
    one, other = Sample(input="?", id="1"), Sample(input="?", id="2")
    failed = ended(one)
    failed.error = ERROR
    attempt = RunAttempt()
    past = [attempt.past]
    attempt.issue([one, other])
    past.append(attempt.past)
    attempt.ended(failed)
    repeats = [attempt.repeats(failed)]
    past.append(attempt.past)
    attempt.abandoned(other)
    past.append(attempt.past)
    attempt.ended(ended(one))
    repeats += [attempt.repeats(ended(one)), attempt.repeats(ended(one, epoch=2))]
    attempt.issue([])
    past.append(attempt.past)
    assert past == [False, True, True, False, True]
    assert repeats == [False, True, False]


def test_a_run_goes_on_without_a_comparison_that_was_cancelled() -> None:
    chosen = AllocationOptions(rule="random", budget=6, batch=2, confidence=0.9999)
    made = competition(pool(6), plan(allocation=chosen))
    asked: list[str] = []

    async def play() -> None:
        while samples := await made.next_samples():
            cancelled, *others = samples
            asked.extend(str(one.id) for one in samples)
            await made.sample_abandoned(cancelled, 1)
            for one in others:
                score = Score(value={"outcome": 0.5})
                await made.sample_complete(ended(one, pair_choice=score))
            assert len(asked) < 20

    anyio.run(play)
    assert len(set(asked)) == len(asked) == 6


def test_a_run_that_begins_again_asks_the_same_again() -> None:
    made = competition(pool(), plan(k=2))
    first = batches(made)
    assert [[one.id for one in samples] for samples in batches(made)] == [
        [one.id for one in samples] for samples in first
    ]


# --- before any model is called ---


def early(of: Pool, chosen: Plan, similarity: str = "lexical") -> None:
    _check_early(chosen, of, load_similarity(similarity), (), True, lambda: None)


@pytest.mark.parametrize(("k", "fits"), [(4, True), (5, False)])
def test_k_is_at_most_the_instructions_unless_an_allocation_chooses(k: int, fits: bool) -> None:
    early(pool(4), plan(k=k, allocation=AllocationOptions(rule="random")))
    if fits:
        early(pool(4), plan(k=k))
    else:
        with pytest.raises(InputError, match=r"k=5 is more than the 4 instructions .*'pool'"):
            early(pool(4), plan(k=k))


def test_people_s_votes_are_allocated_only_by_a_rule_that_asks_for_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    adaptive = AllocationOptions(rule="adaptive", budget=9, confidence=0.8)
    found = _voting(adaptive, "human", None, 5)
    assert found is not None
    assert (found.allocation, found.budget, found.confidence, found.seed, found.prior) == (
        "adaptive",
        9,
        0.8,
        5,
        None,
    )
    assert _voting(adaptive, "grader", None, 5) is None
    assert _voting(AllocationOptions(), "human", "earlier.eval", 5) is None
    with pytest.raises(InputError, match=r"previous: .*allocation=uniform"):
        _voting(adaptive, "human", "earlier.eval", 5)
    with caplog.at_level(logging.WARNING):
        _voting(AllocationOptions(rule="adaptive", batch=3), "human", None, 5)
    assert said(caplog) == [Telling("batch: ... judge=human")]


def test_a_prior_is_for_people_and_a_rule_that_looks_at_ratings() -> None:
    for judge, rule, words in (
        ("grader", "adaptive", "prior: only with judge=human.*judge=grader"),
        ("human", "uniform", "prior: allocation=uniform .*adaptive"),
        ("human", "random", "prior: allocation=random .*adaptive"),
    ):
        with pytest.raises(InputError, match=words):
            _prior("nowhere.eval", judge, rule)


def replies(*given: str | JudgeFailure) -> tuple[float, int]:
    """The similarity of two texts by these replies, and how often a model was asked."""
    asked: list[JudgePrompt] = []

    async def ask(prompt: JudgePrompt) -> str | JudgeFailure:
        asked.append(prompt)
        return given[len(asked) - 1]

    async def call() -> float:
        return await _asked_similarity(ask)("one text", "another text")

    return anyio.run(call), len(asked)


@pytest.mark.parametrize(
    ("given", "similarity", "calls"),
    [
        (('{"explanation": "alike", "score": 0.25}',), 0.25, 1),
        (("no number", '{"explanation": "alike", "score": 0.25}'), 0.25, 2),
        (("no number", "no number"), math.nan, 2),
        ((JudgeFailure("call_failed", "down"),), math.nan, 1),
    ],
)
def test_a_model_is_asked_for_a_similarity_twice_at_most(
    given: tuple[str | JudgeFailure, ...], similarity: float, calls: int
) -> None:
    found, asked = replies(*given, *given)
    assert found == pytest.approx(similarity, nan_ok=True) and asked == calls


# --- pools ---


def test_a_pool_of_cases_is_in_proportion_and_another_keeps_its_order(tmp_path: Path) -> None:
    whole = competition_pool("sample", None, None, 3)
    part = competition_pool("sample", None, 5, 3)
    assert whole.name == part.name == "sample" and len(whole.instructions) == 42
    assert part.instructions == whole.instructions[:5]
    assert {item.language for item in part.instructions} == {"en", "zh"}
    file = tmp_path / "pool.jsonl"
    file.write_text("".join(f'{{"instruction": "Ask {n}?"}}\n' for n in range(20)), "utf-8")
    drawn = competition_pool(str(file), None, 6, 1)
    asked = [item.text for item in competition_pool(str(file), None, None, 1).instructions]
    places = [asked.index(item.text) for item in drawn.instructions]
    assert len(places) == 6 and places == sorted(places)
    assert places != [
        asked.index(item.text) for item in competition_pool(str(file), None, 6, 2).instructions
    ]
    assert len(competition_pool(str(file), None, 20, 1).instructions) == 20
    assert len(competition_pool(str(file), None, 21, 1).instructions) == 20
    with pytest.raises(InputError, match="pool: not together with responses"):
        competition_pool("sample", ["log.eval"], None, 1)


@pytest.mark.parametrize("seed", [0, 1])
def test_questions_of_a_pool_are_drawn_in_proportion_by_the_seed(seed: int) -> None:
    rubric = load_rubric()
    cases = load_urs("sample", Vocabulary(rubric.intent_id, rubric.language_code)).cases
    drawn = [item.id for item in competition_pool("sample", None, 4, seed).instructions]
    assert drawn == [case.id for case in in_proportion(cases, seed)[:4]]
    assert drawn != [case.id for case in cases[:4]]
    assert drawn != [case.id for case in in_proportion(cases, seed + 1)[:4]]
