"""Judgements of a cross-validation, counted cell by cell."""

from itertools import product

import pytest
from inspect_ai.dataset import Sample

from tests.reports.estimate.test_estimate import BUILDER, WORDS
from urs_inspect.reports.estimate import Amount, RunEstimate, assumed_lengths, estimate_crossval, load_prices

EVALUATORS = ("p/j", "p/k")


def cell(case: str, evaluator: str, source: str, model: str, answer: str | None = "an answer of five words") -> Sample:
    facts = {"case": case, "evaluator": evaluator, "source": source, "model": model}
    said = {} if answer is None else {"answer": answer}
    return Sample(
        id=f"{case}:{evaluator}:{source}:{model}",
        input=f"Why {case}",
        target=f"Because of {source}",
        metadata={"intent": "factual_qa", "language": "en", **facts, **said},
    )


def of(cells: list[Sample], epochs: int = 1) -> RunEstimate:
    return estimate_crossval(
        cells,
        BUILDER,
        None,
        epochs=epochs,
        counter=WORDS,
        lengths=assumed_lengths(judgement=10),
        prices=load_prices(None),
    )


def words(one: Sample) -> int:
    """Words of the judge's real prompt, and the 4 tokens of each of its two messages."""
    prompt = BUILDER.build(
        "factual_qa", "en", question=str(one.input), reference=str(one.target), answer=(one.metadata or {})["answer"]
    )
    return len(prompt.instructions.split()) + len(prompt.case.split()) + 8


def test_every_cell_is_the_real_prompt_with_the_recorded_answer() -> None:
    cells = [cell(*one) for one in product(("1", "2", "3"), EVALUATORS, ("a", "dataset"), ("m", "n"))]
    found = of(cells)
    assert (found.task, found.samples) == ("urs_crossval", 24)
    assert [(one.role, one.model, one.samples) for one in found.roles] == [("grader", name, 12) for name in EVALUATORS]
    for one in found.roles:
        slow = sum(words(each) for each in cells if (each.metadata or {})["evaluator"] == one.model)
        assert one.calls == Amount(12, 12 * 1.01, 12 * 1.05)
        assert one.input_tokens.low == slow
        assert one.input_tokens.expected == pytest.approx(slow * 1.01)
        assert one.output_tokens == Amount(120, pytest.approx(121.2), 126)  # type: ignore[arg-type]
    assert of(cells, epochs=3).roles[0].calls.low == 36


def test_no_answer_is_generated_and_none_is_judged_that_is_not_there() -> None:
    cells = [cell("1", "p/j", "a", "m"), cell("2", "p/j", "a", "m", None), cell("3", "p/j", "a", "m", " \n")]
    found = of(cells)
    assert [one.role for one in found.roles] == ["grader"]
    assert found.roles[0].calls.low == 1
    assert any("no judge is called: 2 of 3" in sentence for sentence in found.assumptions)
    assert any("none is generated" in sentence for sentence in found.assumptions)
    assert not any("An answer is assumed" in sentence for sentence in found.assumptions)


def test_evaluators_of_their_own_cells() -> None:
    found = of([cell("1", "p/j", "a", "m"), cell("2", "p/k", "a", "m", None)])
    assert {one.model: one.calls.low for one in found.roles} == {"p/j": 1, "p/k": 0}
