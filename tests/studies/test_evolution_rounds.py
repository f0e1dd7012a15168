"""Rounds of an evolution and what is counted of them, without a run."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalSample
from inspect_ai.scorer import SampleScore, Score

from urs_inspect.studies._evolution import EVOLUTION, EVOLVE_AGAIN
from urs_inspect.studies._evolve_task import EvolutionSource
from urs_inspect.studies._evolved import evolution_report
from urs_inspect.studies._pool_growth import PoolItem, child_id, load_seeds


def seed(name: str, text: str, reference: str = "So.") -> PoolItem:
    return PoolItem(name, text, reference, "factual_qa", "en", name)


SEEDS = [seed("s1", "What drives the trade winds?"), seed("s2", "How do bats hear the walls?", "R")]


def source(folder: Path, rounds: int = 2, duplicates: float = 0.9) -> EvolutionSource:
    return EvolutionSource(
        SEEDS, "reasoning", rounds=rounds, duplicates=duplicates, output=folder / "pool.jsonl"
    )


def ended(sample: Any, instruction: str = "", generator: str = "g", epoch: int = 1) -> EvalSample:
    """A sample that ended with a new instruction, or without one."""
    record = {"usable": bool(instruction), "instruction": instruction, "answer": "A"}
    facts = {**(sample.metadata or {})}
    return EvalSample(
        id=str(sample.id),
        epoch=epoch,
        input=str(sample.input),
        target="",
        metadata=facts,
        store={EVOLUTION: {**record, "generator": generator}},
    )


def evolved(folder: Path, *rounds: dict[str, str], **options: Any) -> tuple[list[Any], Path]:
    """Samples of all rounds in which seeds become these instructions; where the pool is."""

    async def run() -> list[Any]:
        evolution = source(folder, len(rounds), **options)
        samples: list[Any] = evolution.initial_samples()
        seen = [*samples]
        for texts in rounds:
            for sample in samples:
                text = texts.get(sample.metadata["seed"], "")
                await evolution.sample_complete(ended(sample, text))
                other = ended(sample, "Another epoch, which counts for nothing?", epoch=2)
                await evolution.sample_complete(other)
            samples = await evolution.next_samples() or []
            seen += samples
        assert not samples and await evolution.next_samples() is None
        return seen

    return asyncio.run(run()), folder / "pool.jsonl"


def test_a_round_evolves_the_youngest_of_each_line(tmp_path: Path) -> None:
    first = {"s1": "Where does amber come from, and when?", "s2": ""}
    second = {"s1": "Who paints on wet plaster?", "s2": "Which metals melt in the hand?"}
    samples, pool = evolved(tmp_path, first, second)
    assert [(one.id, one.input, one.target) for one in samples] == [
        ("s1-r1", SEEDS[0].text, "So."),
        ("s2-r1", SEEDS[1].text, "R"),
        ("s1-r2", first["s1"], "A"),
        ("s2-r2", SEEDS[1].text, "R"),  # nothing came of it, so that it is evolved again
    ]
    assert [one.metadata["turn"] for one in samples] == [0, 1, 1, 2]
    assert [one.metadata["parent"] for one in samples] == ["s1", "s2", "s1-r1", "s2"]
    assert [one.metadata["round"] for one in samples] == [1, 1, 2, 2]
    assert {one.metadata["scenario"] for one in samples} == {"reasoning"}
    written = {item.id: item for item in load_seeds(pool, "factual_qa")}
    assert {name: item.text for name, item in written.items()} == {
        child_id("s1", 1): first["s1"],
        child_id("s1", 2): second["s1"],
        child_id("s2", 2): second["s2"],
    }
    lines = pool.read_text("utf-8")
    assert '"parent": "s1-r1"' in lines and '"generator": "g"' in lines


@pytest.mark.parametrize(("duplicates", "kept"), [(0.9, 1), (1.0, 2)])
def test_what_nearly_repeats_a_seed_is_dropped(
    tmp_path: Path, duplicates: float, kept: int
) -> None:
    texts = {"s1": SEEDS[0].text.replace("?", "!?"), "s2": "Which metals melt in the hand?"}
    _, pool = evolved(tmp_path, texts, duplicates=duplicates)
    assert len(pool.read_text("utf-8").splitlines()) == kept


def test_without_an_instruction_there_is_no_pool_but_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        _, pool = evolved(tmp_path, {}, {})
    assert not pool.exists() and str(pool) in caplog.text


def scored(
    name: str, number: int, answer: str, generator: str, mode: str = "", parent: str = ""
) -> SampleScore:
    outcome = f"refused_{mode}" if mode else "usable"
    facts: dict[str, Any] = {"outcome": outcome, "failure_mode": mode, "generator": generator}
    if not parent:
        facts["seed_instruction"] = f"The seed {name} is about something of its own."
    return SampleScore(
        score=Score(value={"usable": float(not mode)}, answer=answer, metadata=facts),
        sample_id=f"{name}-r{number}",
        sample_metadata={"seed": name, "round": number, "duplicates": 0.9},
    )


def test_what_is_counted_of_an_evolution() -> None:
    winds, bats = "What drives the trade winds?", "How do bats hear the walls?"
    metric: Any = evolution_report()
    found = metric(
        [
            scored("s", 1, winds, "g1"),
            scored("t", 1, winds, "g2"),  # repeats the one before
            scored("u", 1, "", "g2", "copy"),
            scored("s", 2, bats, "g2", parent="s-r1"),
            scored("t", 2, "Where does amber come from?", "g1", parent="t"),
            scored("u", 2, "", "g2", "leak", parent="u"),
            scored("s", 1, bats, "g2"),  # another epoch
        ]
    )
    assert found == {
        "asked": 6,
        "usable": 4,
        "kept": 3,
        "near-duplicates": 1,
        "usable share generator=g1": 1.0,
        "usable share generator=g2": 0.5,
        "kept generator=g1": 2,
        "kept generator=g2": 1,
        "kept round=1": 1,
        "kept round=2": 2,
        "failures copy": 1,
        "failures leak": 1,
    }


def test_what_a_generator_cannot_mend_is_not_asked_again() -> None:
    assert EVOLVE_AGAIN.isdisjoint({"context_overflow", "content_filter", "call_failed"})
    assert {"copy", "leak", "too_long", "truncated"} < EVOLVE_AGAIN
