"""What is said and kept of judgements: in words, in a log, for the other harness and in the
viewer.
"""

import asyncio
import json
import math
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai.model import ModelName
from inspect_ai.scorer import Score, Target
from inspect_ai.solver import TaskState
from inspect_ai.viewer import ViewerConfig

from tests.reports.golden_files import check_golden
from tests.samer.stubs import DIMENSIONS, Opening, StubEngine, raw
from urs_inspect.rubrics import load_rubric
from urs_inspect.samer._engines import EngineFailure, EngineSpec, QueryResponse, Scored
from urs_inspect.samer._evaluation import RawOutputs
from urs_inspect.samer._judgement import (
    Judgement,
    SamerEvaluator,
    explain_judgement,
    explain_judgements,
    facts_of,
    judge,
    judged,
    judgement_facts,
    score_keys,
    score_values,
)
from urs_inspect.samer._pair_judge import PairJudge, SamerPair, reward_judge, samer_judge
from urs_inspect.samer._reward import Description
from urs_inspect.samer._scorer import samer_outcome
from urs_inspect.samer._viewer import samer_scorer, samer_viewer, with_samer
from urs_inspect.solvers._local_judges import LocalFailure
from urs_inspect.tasks._viewer import intent_viewer, sample_list

LN3 = math.log(3)  # of which the sigmoid is 3/4
QUALITY = Description.model_validate(
    {"outputs": ["bad", {"name": "Very good", "scale": 2, "offset": 1}],
     "overall": {"Very good": 3, "bad": -1}}
)  # fmt: skip


def one(outcome: Scored, *, no_response: bool = False, reward: Any = None) -> Judgement:
    found = judged(outcome, no_response, reward)
    assert isinstance(found, Judgement)
    return found


def rewarded(bad: float, good: float, **given: Any) -> Judgement:
    """A judgement of the reward model."""
    logits = np.array([bad, good], np.float32)
    outputs = RawOutputs(logits, np.ones_like(logits), np.zeros_like(logits))
    no_response = given.pop("no_response", False)
    return one(Scored(outputs, **given), no_response=no_response, reward=QUALITY)


TWO = raw({"Clarity": 0, "Depth": LN3}, {"Clarity": 1, "Depth": 2}, {"Clarity": 0, "Depth": LN3})
MANY = raw(
    {name: place / 5 - 1 for place, name in enumerate(DIMENSIONS[:12])},
    dict.fromkeys(DIMENSIONS[:12], 1.0),
    {name: (place * 7) % 6 / 2 for place, name in enumerate(DIMENSIONS[:12])},
)


def test_a_view_without_a_list_of_samples_stays_as_it_is() -> None:
    config = ViewerConfig()
    assert with_samer(config) == config


def test_an_evaluator_hands_the_folder_of_a_server_on(
    tmp_path: Path, stub_engine: Callable[..., Opening]
) -> None:
    seen: list[dict[str, Any]] = []

    def make(samer: str, **options: Any) -> Any:
        seen.append({"model": samer, **options})
        return Opening()(samer)

    stub_engine(make=make)
    for folder in ("here", None):
        evaluator = SamerEvaluator(str(tmp_path), "stub", folder)
        [found] = asyncio.run(evaluator.evaluate([("q", "r")]))
        assert found.scores is not None
        assert seen[-1]["model"] == str(tmp_path) and seen[-1].get("folder") == folder


def test_judgements_in_words() -> None:
    said = {
        "two dimensions": one(Scored(TWO)),
        "shortened": one(Scored(TWO, shortened=1234)),
        "empty": one(Scored(TWO), no_response=True),
        "none selected": one(Scored(raw({"Style": LN3}, {"Style": -0.1}))),
        "ten and two more": one(Scored(MANY)),
        "ten": one(Scored(raw({}, dict.fromkeys(DIMENSIONS[5:15], 1.0)))),
        "reward": rewarded(0.25, 0.5),
        "reward, shortened and empty": rewarded(-12.5, 1234.5678, shortened=1234, no_response=True),
    }
    check_golden("samer_judgements", explain_judgements(said) + "\n")
    assert explain_judgements({"x": said["ten"]}) == f"#### x\n\n{explain_judgement(said['ten'])}"


def test_equal_weights_are_in_the_order_of_names() -> None:
    names = ["Style", "Clarity", "Depth", "Logic"]
    found = one(Scored(raw({}, dict.fromkeys(names, 1.0), {"Logic": 1.0})))
    assert [name for name, *_ in found.leading] == ["Logic", "Clarity", "Depth", "Style"]
    facts = judgement_facts(found)
    # Selected names are in the order of the taxonomy, weights the largest first.
    assert facts["selected"] == [name for name in DIMENSIONS if name in names]
    assert list(facts["weights"]) == ["Logic", "Clarity", "Depth", "Style"]


def test_scores_have_four_places_and_facts_seven_digits() -> None:
    found = one(Scored(raw({"Style": 0.123456789}, {"Style": 1.0}, {"Style": -9.87654321e-5})))
    score = 1 / (1 + math.exp(-0.123456789))
    assert score_values(found)["Style"] == round(score, 4)
    facts = judgement_facts(found)
    assert facts["overall"] == float(f"{score:.7g}")
    place = DIMENSIONS.index("Style")
    assert facts["raw"]["scores"][place] == 0.1234568
    assert facts["raw"]["weights"][place] == -9.876543e-05
    assert facts["raw"]["gates"][place] == 1


def test_a_reward_model_has_its_own_numbers_also_for_an_empty_answer() -> None:
    # 1 + 2 * 0.5 = 2, and 3 * 2 - 0.25 = 5.75.
    for no_response in (False, True):
        found = rewarded(0.25, 0.5, no_response=no_response, shortened=3, tokens=9)
        expected = {"reward": 5.75, "bad": 0.25, "Very good": 2.0}
        assert score_values(found) == expected
        assert judgement_facts(found) == {
            **expected,
            "shortened": 3,
            "tokens": 9,
            "no_response": no_response,
        }
    assert score_keys(QUALITY) == ("reward", "bad", "Very good")
    alone = Description.model_validate({"outputs": ["reward"], "overall": "reward"})
    assert score_keys(alone) == ("reward",)
    assert list(score_values(None, QUALITY)) == ["reward", "bad", "Very good"]
    assert all(map(math.isnan, score_values(None, QUALITY).values()))


@pytest.mark.parametrize(
    ("outputs", "reward", "expected"),
    [(43, None, 42), (41, None, 42), (1, QUALITY, 2), (3, QUALITY, 2)],
)
def test_more_or_fewer_outputs_than_names_are_a_failure(
    outputs: int, reward: Description | None, expected: int
) -> None:
    row = np.zeros(outputs, np.float32)
    found = judged(Scored(RawOutputs(row, row + 1, row)), reward=reward)
    assert isinstance(found, EngineFailure) and found.mode == "wrong_shape"
    assert str(outputs) in found.detail and str(expected) in found.detail


@pytest.mark.parametrize("head", ["scores", "gates", "weights"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_head_that_gives_no_number_is_a_failure(head: str, value: float) -> None:
    given = {"scores": {"Style": 0.0}, "gates": {"Style": 1.0}, "weights": {"Style": 0.0}}
    given[head] = {"Style": value}
    found = judged(Scored(raw(**given)))
    assert isinstance(found, EngineFailure) and found.mode == "not_finite"


class Doubling(StubEngine):
    """Gives too many outcomes, or too few."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    async def score(self, items: Any) -> Any:
        return [self.answer(item) for item in items] * self.times


@pytest.mark.parametrize("times", [0, 2])
def test_another_number_of_outcomes_is_a_failure_of_each_item(times: int) -> None:
    found = asyncio.run(judge(Doubling(times), [QueryResponse("q", "r")] * 3))
    assert len(found) == 3
    assert all(isinstance(failure, EngineFailure) for failure in found)


def test_facts_of_an_engine_have_the_reward_or_where_weights_are_read() -> None:
    spec = EngineSpec("m")
    assert "weights_at" in facts_of("e", spec) and "reward" not in facts_of("e", spec)
    of_reward = facts_of("e", EngineSpec("m", reward=QUALITY))
    assert "weights_at" not in of_reward
    assert of_reward["reward"]["overall"] == {"Very good": 3.0, "bad": -1.0}
    assert (of_reward["engine"], of_reward["model"]) == ("e", "m")


# --- the other harness ---


def answers(item: QueryResponse) -> Scored | EngineFailure:
    if item.response == "bad":
        return EngineFailure("timeout", "after 9 s")
    return Scored(TWO, shortened=len(item.response), tokens=5)


def test_answers_are_evaluated_for_the_other_harness(
    tmp_path: Path, stub_engine: Callable[..., Opening]
) -> None:
    opening = stub_engine(answers)
    evaluator = SamerEvaluator(str(tmp_path), "stub")
    evaluator.check()
    pairs = [("q", "r"), ("q", " "), ("q", "bad")]

    async def evaluated() -> Any:
        found = await evaluator.evaluate(pairs)
        await evaluator.evaluate(pairs[:1])
        await evaluator.close()
        return found

    good, empty, bad = asyncio.run(evaluated())
    [engine] = opening.made  # opened once
    assert engine.closed == 1
    assert [item.query for item in engine.asked] == ["q"] * 4
    assert (good.outcome, empty.outcome, bad.outcome) == (
        "judged",
        "no_response",
        "unscored_timeout",
    )
    assert (good.scores["overall"], empty.scores["overall"], bad.scores) == (0.6875, 0, None)
    assert bad.explanation == "after 9 s" and "0.688" in good.explanation
    for evaluation in (good, empty, bad):
        assert evaluation.facts["samer"]["model"] == str(tmp_path)
    assert good.facts["weights"] == {"Depth": 0.75, "Clarity": 0.25}
    assert good.facts["shortened"] == 1 and "weights" not in bad.facts
    assert evaluator.dimensions == DIMENSIONS


def test_what_was_never_opened_is_closed_without_opening(
    tmp_path: Path, stub_engine: Callable[..., Opening]
) -> None:
    opening = stub_engine()
    asyncio.run(SamerEvaluator(str(tmp_path), "stub").close())
    assert not opening.made


# --- pairs ---


def test_a_pair_is_told_side_by_side() -> None:
    high = one(Scored(TWO))
    low = one(Scored(raw({"Clarity": -1.0}, {"Clarity": 1.0})))
    found = SamerPair(high, low, {"model": "m"})
    assert found.numbers("Clarity") == pytest.approx((0.5, 1 / (1 + math.e)))
    assert found.numbers("Overall") == pytest.approx((0.6875, 1 / (1 + math.e)))
    assert found.table(["Overall", "Clarity", "Style"]) == (
        "- **Overall: a.** 0.688 against 0.269\n"
        "- **Clarity: a.** 0.500 against 0.269\n"
        "- **Style: tie.** 0.500 against 0.500"
    )
    assert SamerPair(low, high).verdict("Overall") == "b"
    assert [facts["samer"] for facts in found.kept] == [{"model": "m"}] * 2
    assert [facts["overall"] for facts in found.kept] == pytest.approx([0.6875, 0.2689414])
    assert found.explained(("one", "two")) == explain_judgements({"one": high, "two": low})


@pytest.mark.parametrize(
    ("responses", "failed"), [(("bad", "r"), "a"), (("r", "bad"), "b"), (("bad", "bad"), "a")]
)
def test_the_response_that_cannot_be_judged_is_named(
    tmp_path: Path,
    stub_engine: Callable[..., Opening],
    responses: tuple[str, str],
    failed: str,
) -> None:
    stub_engine(answers)
    judging = samer_judge({"model": str(tmp_path), "engine": "stub"})
    found = asyncio.run(judging.compare("q", *responses))
    assert isinstance(found, LocalFailure)
    assert (found.mode, found.detail) == ("timeout", f"response {failed}: after 9 s")


def test_only_samer_judges_dimensions(
    tmp_path: Path, stub_engine: Callable[..., Opening], monkeypatch: pytest.MonkeyPatch
) -> None:
    stub_engine()
    kinds: list[str] = []
    monkeypatch.setattr(
        "urs_inspect.samer._pair_judge.check_engine", lambda *given: kinds.append(given[-1])
    )
    options = {"model": str(tmp_path), "engine": "stub"}
    assert samer_judge(options).dimensions
    assert not reward_judge(options).dimensions
    assert not PairJudge(options, "reward_model").dimensions
    assert kinds == ["samer", "reward_model", "reward_model"]


# --- the viewer ---


def test_columns_of_the_viewer() -> None:
    beside = with_samer(intent_viewer(load_rubric(), "URS", []))
    alone = samer_viewer("URS")
    plain = sample_list("Other", ["answer"], labels={"x": "X"}, scales={}, sort=[])
    views = []
    for name, config in (("alone", alone), ("beside", beside), ("no input", with_samer(plain))):
        view: Any = config.task_samples_view
        shown = view.model_dump(exclude_none=True, mode="json")
        columns = [column["id"] for column in shown.pop("columns")]
        by_scale: dict[str, list[str]] = defaultdict(list)
        for column, scale in shown.pop("score_color_scales").items():
            by_scale[json.dumps(scale, sort_keys=True)].append(column)
        scales = [f"{', '.join(named)}: {scale}" for scale, named in by_scale.items()]
        views += [f"# {name}", " ".join(columns), *scales, json.dumps(shown, indent=1)]
    check_golden("samer_viewer", "\n".join(views) + "\n")


def test_the_scorer_of_urs_has_its_headline(
    tmp_path: Path, stub_engine: Callable[..., Opening]
) -> None:
    stub_engine()
    made = samer_scorer({"model": str(tmp_path), "engine": "stub"})
    assert made.headline.model_dump(include={"scorer", "metric"}) == {
        "scorer": "samer",
        "metric": "overall",
    }
    assert len(made.scorers) == 2 and made.beside is with_samer


# --- what the viewer's columns hold ---


@pytest.mark.parametrize(
    ("facts", "columns"),
    [
        (
            {"outcome": "scored", "overall": 0.616, "weights": {"Depth": 0.7, "Style": 0.3}},
            {
                "evaluation": "scored",
                "percent": 62,
                "first": "Depth",
                "second": "Style",
                "third": "",
            },
        ),
        (
            {"outcome": "no_response", "overall": 0.0},
            {"evaluation": "no_response", "percent": 0, "first": "", "second": "", "third": ""},
        ),
        (
            {
                "outcome": "scored",
                "overall": 1.0,
                "weights": {"D": 0.4, "B": 0.3, "A": 0.2, "C": 0.1},
            },
            {"evaluation": "scored", "percent": 100, "first": "D", "second": "B", "third": "A"},
        ),
        ({"outcome": "unscored_timeout"}, {"evaluation": "unscored_timeout", "percent": None}),
        ({}, {"evaluation": "unknown", "percent": None}),
    ],
)
def test_columns_repeat_how_an_evaluation_ended(
    facts: dict[str, Any], columns: dict[str, Any]
) -> None:
    state = TaskState(
        model=ModelName("none/none"),
        sample_id="s",
        epoch=1,
        input="Why?",
        messages=[],
        metadata={"intent_group": "Leisure", "intent": "leisure", "language": "zh"},
        scores={"samer": Score(value=0.5, metadata=facts, reason="no_response")},
    )
    found = asyncio.run(samer_outcome()(state, Target("")))
    assert found is not None and found.reason == "no_response"
    value: Any = found.value
    for name, expected in columns.items():
        assert math.isnan(value[name]) if expected is None else value[name] == expected
    assert value["language"] == "zh"
