"""`crossval_report` and `crossval_cell` from scores alone."""

import math
from typing import Any

import anyio
import pytest
from inspect_ai.model import ModelName
from inspect_ai.scorer import SampleScore, Score, Target
from inspect_ai.solver import TaskState

from urs_inspect.judging._reply_counts import BY_JUDGE
from urs_inspect.scorers._crossval_judge import crossval_cell, crossval_report


def cell(evaluator: str, source: str, model: str, final: float, **facts: Any) -> SampleScore:
    known = {"evaluator": evaluator, "source": source, "model": model, **facts}
    return SampleScore(score=Score(value={"final": final}), sample_metadata=known)


def rows(*scores: SampleScore) -> dict[str, float]:
    metric: Any = crossval_report()
    return dict(metric(list(scores)))


def test_bias_and_means_by_evaluator_worked_out_by_hand() -> None:
    scores = [
        # p/a judges itself twice, and p/b once: means 9 and 6 against references worth 8.
        cell("p/a", "p/a", "p/a", 10),
        cell("p/a", "p/a", "p/a", 8),
        cell("p/a", "p/b", "p/b", 6),
        cell("p/a", "p/b", "p/a", 1),
        cell("p/a", "p/a", "p/a", math.nan),
        cell("p/a", "p/a", "p/a", 3, copy=True),
        cell("b", "p/c", "p/a", 4),
    ]
    found = rows(*scores)
    assert list(found) == ["a (p) rating bias", "b mean", "a (p) mean"]
    # Equation 1: the mean over models of their means, less 8.
    assert found["a (p) rating bias"] == pytest.approx((9 + 6) / 2 - 8)
    assert found["a (p) mean"] == pytest.approx((10 + 8 + 6 + 1 + 3) / 5)
    assert found["b mean"] == 4


def test_references_may_be_worth_something_else() -> None:
    assert rows(cell("a", "m", "m", 7, reference_score=5))["a rating bias"] == 2
    assert rows(cell("a", "m", "m", 7))["a rating bias"] == -1
    assert rows(cell("a", "m", "m", math.nan)) == {}


def scored(judged: Score | None) -> Score | None:
    facts = {
        "evaluator": "p/judge",
        "source": "p/q/one",
        "model": "bare",
        "intent": "api",
        "language": "zh",
    }
    state = TaskState(ModelName("m/x"), "s", 1, "?", [], metadata=facts)
    state.scores = {} if judged is None else {"crossval_judge": judged}
    found: Score | None = anyio.run(crossval_cell(), state, Target(""))
    return found


def test_a_cell_names_models_first_and_keeps_the_outcome_and_the_reason() -> None:
    facts = {"outcome": "unscored_refusal", BY_JUDGE: {"p/judge": {"replies": 2}}}
    judged = Score(value=math.nan, answer="An answer.", metadata=facts)
    judged.reason = "refusal"
    found = scored(judged)
    assert found is not None
    assert found.value == {
        "evaluator": "judge (p)",
        "source": "one (p/q)",
        "model": "bare",
        "outcome": "unscored_refusal",
        "intent": "api",
        "language": "zh",
    }
    assert (found.answer, found.reason) == ("An answer.", "refusal")
    assert found.metadata == {BY_JUDGE: {"p/judge": {"replies": 2}}}
    bare = scored(Score(value=1))
    assert bare is not None and isinstance(bare.value, dict)
    assert (bare.value["outcome"], bare.metadata) == ("unknown", {})
    assert scored(None) is None
