"""Tests of `urs_inspect.samer._judgement`."""

import asyncio
import math
from collections.abc import Sequence

import numpy as np
import pytest

from tests.samer.stubs import DIMENSIONS, StubEngine, by_length, raw
from tests.telling import tells
from urs_inspect.samer._engines import EngineFailure, QueryResponse, Scored
from urs_inspect.samer._evaluation import RawOutputs
from urs_inspect.samer._judgement import (
    Judgement,
    engine_facts,
    explain_judgement,
    explain_judgements,
    judge,
    judged,
    judgement_facts,
    score_keys,
    score_values,
)
from urs_inspect.solvers._local_judges import pair_facts


def one(outcome: Scored, *, no_response: bool = False) -> Judgement:
    found = judged(outcome, no_response)
    assert isinstance(found, Judgement)
    return found


# Weights 0 and ln 3: softmax gives 1/4 and 3/4. Scores 0 and ln 3: sigmoid gives 1/2 and 3/4.
# Overall: 1/4 * 1/2 + 3/4 * 3/4 = 11/16.
BY_HAND = raw(
    {"Clarity": 0.0, "Depth": math.log(3)},
    {"Clarity": 0.5, "Depth": 2},
    {"Clarity": 0.0, "Depth": math.log(3)},
)


def test_a_judgement_worked_by_hand() -> None:
    found = one(Scored(BY_HAND, shortened=7, tokens=40))
    assert found.evaluation.overall == pytest.approx(11 / 16)
    assert [name for name, _, _ in found.leading] == ["Depth", "Clarity"]
    assert [number for _, *numbers in found.leading for number in numbers] == pytest.approx(
        [0.75, 0.75, 0.5, 0.25]
    )
    values = score_values(found)
    assert tuple(values) == score_keys() == ("overall", *DIMENSIONS)
    assert (values["overall"], values["Clarity"], values["Depth"]) == (0.6875, 0.5, 0.75)
    assert sum(math.isnan(value) for value in values.values()) == 40


def test_facts_hold_everything_from_which_the_numbers_follow() -> None:
    facts = judgement_facts(one(Scored(BY_HAND, shortened=7, tokens=40)))
    assert facts["overall"] == 0.6875
    assert facts["selected"] == ["Clarity", "Depth"]
    assert facts["weights"] == {"Depth": 0.75, "Clarity": 0.25}
    assert (facts["shortened"], facts["tokens"]) == (7, 40)
    assert (facts["empty_selection"], facts["no_response"]) == (False, False)
    again = RawOutputs(
        *(np.array(facts["raw"][name], np.float32) for name in ("scores", "gates", "weights"))
    )
    assert score_values(one(Scored(again))) == pytest.approx(
        score_values(one(Scored(BY_HAND))), nan_ok=True
    )
    kept = [{**facts, "samer": {"model": "m"}}, {"samer": {"model": "m"}}]
    assert pair_facts(kept) == {"weights": [facts["weights"]], "samer": {"model": "m"}}
    assert pair_facts([]) == {}


@pytest.mark.parametrize("blank", ["", " \n\t", "\u200b"])
def test_an_empty_response_has_0_on_what_the_query_asks_for(blank: str) -> None:
    engine = StubEngine()
    [found] = asyncio.run(judge(engine, [QueryResponse("Why?", blank)]))
    assert isinstance(found, Judgement)
    assert found.no_response
    values = score_values(found)
    assert (values["overall"], values["Clarity"], values["Depth"]) == (0, 0, 0)
    assert math.isnan(values["Style"])
    assert "weights" not in judgement_facts(found)
    assert judgement_facts(found)["no_response"] is True


def test_no_dimension_selected_is_flagged_and_the_nearest_one_counts() -> None:
    found = one(Scored(raw({"Style": math.log(3)}, {"Style": -0.1})))
    assert found.evaluation.empty_selection
    assert score_values(found)["overall"] == score_values(found)["Style"] == pytest.approx(0.75)


def test_failures_are_passed_on_and_results_keep_their_order() -> None:
    failure = EngineFailure("too_long", "512 are allowed")
    engine = StubEngine(lambda item: failure if item.response == "long" else by_length(item))
    found = asyncio.run(
        judge(engine, [QueryResponse("q", text) for text in ("one", "long", "three")])
    )
    assert found[1] is failure
    assert [one.tokens for one in found if isinstance(one, Judgement)] == [3, 5]


def test_outputs_for_other_dimensions_or_that_are_not_finite_are_no_score() -> None:
    three = np.zeros(3, np.float32)
    assert judged(Scored(RawOutputs(three, three, three))) == EngineFailure(
        "wrong_shape", "outputs for 3 dimensions; expected 42"
    )
    found = judged(Scored(raw({"Clarity": math.nan})))
    assert isinstance(found, EngineFailure) and found.mode == "not_finite"
    assert list(score_values(None)) == list(score_keys())
    assert all(map(math.isnan, score_values(None).values()))


class Raising(StubEngine):
    async def score(self, items: Sequence[QueryResponse]) -> list[Scored | EngineFailure]:
        raise RuntimeError("out\nof memory")


class Short(StubEngine):
    async def score(self, items: Sequence[QueryResponse]) -> list[Scored | EngineFailure]:
        return []


@pytest.mark.parametrize(
    ("engine", "said"),
    [(Raising(), "RuntimeError: out of memory"), (Short(), "0 outcomes for 2 items")],
)
def test_an_engine_that_breaks_its_promise_is_a_failure_of_each_item(
    engine: StubEngine, said: str
) -> None:
    found = asyncio.run(judge(engine, [QueryResponse("q", "r")] * 2))
    assert len(found) == 2
    assert all(
        isinstance(one, EngineFailure) and one.mode == "error" and said in one.detail
        for one in found
    )


def test_engine_facts_say_how_the_numbers_came_about() -> None:
    assert engine_facts(StubEngine(model="dir")) == {
        "engine": "stub",
        "model": "dir",
        "weights_at": "response",
        "bos": "single",
        "dtype": "auto",
        "max_length": 8192,
        "overlong": "shorten",
    }


def test_dimensions_are_a_table_the_heaviest_first() -> None:
    found = one(Scored(BY_HAND))
    text = (
        "**Overall: 0.688** (0 to 1)\n"
        "\n"
        "| dimension | score | weight |\n"
        "|---|---|---|\n"
        "| Depth | 0.750 | 75.0% |\n"
        "| Clarity | 0.500 | 25.0% |"
    )
    assert explain_judgement(found) == text
    assert explain_judgements({"a": found, "b": found}) == f"#### a\n\n{text}\n\n#### b\n\n{text}"


def test_ten_rows_and_what_the_rest_weighs() -> None:
    found = one(Scored(raw(gates=dict.fromkeys(DIMENSIONS[:12], 1.0))))
    text = explain_judgement(found)
    assert [name for name, _, _ in found.leading] == sorted(
        DIMENSIONS[:12]
    )  # of equal weights by name
    assert text.count("| 8.3% |") == 10
    assert tells(text, "2 more dimensions ... 16.7%")


def test_what_is_special_is_said() -> None:
    text = explain_judgement(one(Scored(raw(), shortened=1234)))
    assert tells(text, "1,234 tokens")
    assert tells(text, "No dimension")
    assert tells(explain_judgement(one(Scored(BY_HAND), no_response=True)), "answer is empty")
