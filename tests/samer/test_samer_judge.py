"""SaMer as a judge of pairs: who is better, what is kept, and what a failure becomes."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import EvalLog

from tests.samer.stubs import Opening, by_length, raw
from tests.tasks.scripted import judge_numbers, metric_values, run, samples_of
from urs_inspect._util import InputError
from urs_inspect.datasets import PairCase
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer._engines import EngineFailure, QueryResponse, Scored
from urs_inspect.samer._judgement import Judgement, judged
from urs_inspect.samer._pair_judge import PairJudge, SamerPair
from urs_inspect.scorers import pair_verdict
from urs_inspect.solvers import compare_pair
from urs_inspect.solvers._local_judges import LocalFailure, local_judge
from urs_inspect.tasks._benches import pair_to_sample

StubEngine = Callable[..., Opening]


def judgement(response: str) -> Judgement:
    found = judged(by_length(QueryResponse("q", response)))
    assert isinstance(found, Judgement)
    return found


def case(response_a: str = "a longer answer", response_b: str = "short") -> PairCase:
    dimensions = {"Clarity": "a", "Depth": "tie", "Style": "b"}
    return PairCase("p1", "Why?", response_a, response_b, "a", "chitchat", dimensions)  # type: ignore[arg-type]


def compared(log_dir: Path, pair: PairCase, **options: Any) -> EvalLog:
    task = Task(
        dataset=MemoryDataset([pair_to_sample(pair, load_taxonomy())]),
        solver=compare_pair(
            judge="samer", samer={"model": str(log_dir), "engine": "stub"}, **options
        ),
        scorer=pair_verdict(),
    )
    log = run(task, log_dir / "logs", model="none/none", grader=None)
    assert log.status == "success", log.error
    return log


def test_an_engine_that_cannot_be_opened_is_a_failure(
    tmp_path: Path, stub_engine: StubEngine
) -> None:
    def broken(samer: str, **options: Any) -> Any:
        raise InputError("no card")

    stub_engine()
    judge = PairJudge({"model": str(tmp_path), "engine": "stub"}, "samer")
    stub_engine(make=broken)
    found = asyncio.run(judge.compare("q", "a", "b"))
    assert isinstance(found, LocalFailure) and "no card" in found.detail and found.mode


def facts_of(log: EvalLog) -> dict[str, Any]:
    [sample] = samples_of(log)
    assert sample.scores is not None
    return sample.scores["pair_verdict"].metadata or {}


# ## Who is better


def test_the_larger_number_is_better_selected_or_not() -> None:
    pair = SamerPair(judgement("longer"), judgement("long"))
    assert pair.verdict("Overall") == pair.verdict("Clarity") == "a"
    assert (
        pair.verdict("Depth") == pair.verdict("Style") == "tie"
    )  # Depth is selected, Style is not


def test_swapped_responses_swap_the_verdict() -> None:
    for one, other in (("longer", "long"), ("long", "longer"), ("same", "same")):
        pair, swapped = (
            SamerPair(judgement(one), judgement(other)),
            SamerPair(judgement(other), judgement(one)),
        )
        for name in ("Overall", "Clarity", "Depth"):
            assert swapped.verdict(name) == {"a": "b", "b": "a", "tie": "tie"}[pair.verdict(name)]


def test_a_dimension_that_is_not_selected_has_a_verdict_of_its_own() -> None:
    # Both select Depth alone; on Style, which neither selects, they differ.
    low, high = (judged(Scored(raw({"Style": style}, {"Depth": 1}))) for style in (-1.0, 1.0))
    assert isinstance(low, Judgement) and isinstance(high, Judgement)
    pair = SamerPair(low, high)
    assert (pair.verdict("Style"), pair.verdict("Overall")) == ("b", "tie")


# ## Through the harness


def test_verdicts_weights_and_words_are_in_the_log(tmp_path: Path, stub_engine: StubEngine) -> None:
    opening = stub_engine()
    log = compared(tmp_path, case())
    assert opening.asked == [
        QueryResponse("Why?", "a longer answer"),
        QueryResponse("Why?", "short"),
    ]
    facts = facts_of(log)
    assert facts["verdicts"] == {
        "a": {"Clarity": "a", "Depth": "tie", "Style": "tie", "Overall": "a"}
    }
    assert facts["weights"] == [{"Clarity": 0.5, "Depth": 0.5}] * 2
    assert [one["samer"]["engine"] for one in facts["evaluations"]] == ["stub", "stub"]
    metrics = metric_values(log, "pair_verdict")
    assert metrics["overall accuracy"] == 1
    assert (
        metrics["dimension accuracy"] == 0.5
    )  # Clarity right, Style wrong; Depth's label is a tie
    [sample] = samples_of(log)
    explanation = (sample.scores or {})["pair_verdict"].explanation or ""
    assert (
        "- **Clarity: a.** 0.818 against 0.622\n- **Depth: tie.** 0.500 against 0.500"
        in explanation
    )
    assert "#### response b" in sample.output.completion


def test_the_order_makes_no_difference(tmp_path: Path, stub_engine: StubEngine) -> None:
    opening = stub_engine()
    log = compared(tmp_path, case(), orders="both")
    assert len(opening.asked) == 2  # each response once
    verdicts = facts_of(log)["verdicts"]
    assert verdicts["a"] == verdicts["b"]
    assert metric_values(log, "pair_verdict")["overall flips"] == 0


def test_an_empty_response_loses_to_any_other(tmp_path: Path, stub_engine: StubEngine) -> None:
    stub_engine()
    facts = facts_of(compared(tmp_path, case(response_b=""), protocol="overall"))
    assert facts["verdicts"] == {"a": {"Overall": "a"}}  # no dimension is asked for
    assert len(facts["weights"]) == 1  # an empty response has none


def test_a_failure_is_no_verdict_and_is_named(tmp_path: Path, stub_engine: StubEngine) -> None:
    failure = EngineFailure("too_long", "512 are allowed")
    stub_engine(lambda item: failure if item.response == "short" else by_length(item))
    log = compared(tmp_path, case(), orders="both")
    facts = facts_of(log)
    assert facts["failures"] == ["too_long", "too_long"]
    assert facts["failure_details"][0]["detail"] == "response b: 512 are allowed"
    assert [set(verdicts.values()) for verdicts in facts["verdicts"].values()] == [{None}, {None}]
    assert "weights" not in facts
    metrics = judge_numbers(log)
    assert metrics["failures too_long"] == 2
    assert metrics["overall unread"] == 1


# ## Arguments


def test_samer_and_its_options_belong_together(tmp_path: Path) -> None:
    assert local_judge("model", None) is None
    with pytest.raises(
        InputError, match="samer: only with judge=samer, reward_model, not with judge=model"
    ):
        local_judge("model", {"model": str(tmp_path)})
    with pytest.raises(InputError, match="judge=samer needs samer: the folder of a checkpoint"):
        local_judge("samer", None)
    with pytest.raises(InputError, match="no such folder"):
        local_judge("samer", {"model": str(tmp_path / "absent")})
