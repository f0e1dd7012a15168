"""Evolution: a small file of seeds becomes a large pool of instructions."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from logging import getLogger
from pathlib import Path

import anyio
from inspect_ai import SampleSource, Task, task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample
from inspect_ai.viewer import ViewerConfig

from urs_inspect._arguments import Cosine, Count, Natural, Text, checked
from urs_inspect._util import check_new_file
from urs_inspect.datasets._rows import data_file
from urs_inspect.logs._responses import store_of
from urs_inspect.solvers._preflight import preflight_setup
from urs_inspect.solvers._role_models import models_with, roles_known
from urs_inspect.studies._evolution import EVOLUTION, evolution_intent
from urs_inspect.studies._evolve_instruction import GENERATOR, evolve_instruction
from urs_inspect.studies._evolved import evolved
from urs_inspect.studies._pool_growth import (
    Evolution,
    PoolItem,
    child_id,
    draw_seeds,
    load_seeds,
    write_pool_file,
)
from urs_inspect.tasks._viewer import SHARE, sample_list

logger = getLogger(__name__)


@dataclass
class EvolutionSource(SampleSource):
    """Samples of one round after the other; a round begins when the one before has ended."""

    seeds: Sequence[PoolItem]  # in an order that decides who writes first
    scenario: str
    _: KW_ONLY
    rounds: int
    duplicates: float  # a cosine
    output: Path

    def __post_init__(self) -> None:
        self._items: dict[str, PoolItem | None] = {}
        self._begin()

    def _begin(self) -> None:
        self._evolution = Evolution(self.seeds, self.duplicates)
        self._delivered: set[str] = set()
        self._round = 1
        self._ended = False

    def initial_samples(self) -> list[Sample]:
        """The first round."""
        return self._samples()

    async def sample_complete(self, sample: EvalSample) -> list[Sample] | None:
        """Note the result of a sample; a retry reports the samples of earlier attempts again."""
        if sample.epoch != 1:
            return None
        name = str(sample.id)
        if (
            name in self._delivered
        ):  # a sample ends well once, so that this is a new attempt within one process
            self._begin()
        if sample.error is None:
            self._delivered.add(name)
        self._items[name] = _item(sample)
        return None

    async def next_samples(self) -> list[Sample] | None:
        """End the round; then the samples of the next one, or None when the pool is written."""
        if self._ended:
            return None
        due = [child_id(seed.id, self._round) for seed in self.seeds]
        children = [item for name in due if (item := self._items.get(name)) is not None]
        await anyio.to_thread.run_sync(self._evolution.settle, children)
        if self._round < self.rounds:
            self._round += 1
            return self._samples()
        self._ended = True
        await anyio.to_thread.run_sync(self._write)
        return None

    def _samples(self) -> list[Sample]:
        return [
            Sample(
                id=child_id(seed, self._round),
                input=parent.text,
                target=parent.reference,
                metadata={
                    "scenario": self.scenario,
                    "seed": seed,
                    "parent": parent.id,
                    "round": self._round,
                    "turn": place + self._round - 1,
                    "user_intent": parent.intent,
                    "language": parent.language,
                    "duplicates": self.duplicates,
                },
            )
            for place, (seed, parent) in enumerate(self._evolution.parents.items())
        ]

    def _write(self) -> None:
        kept = self._evolution.kept
        if not kept:
            logger.warning(
                f"No instruction could be kept, so no pool was written to {self.output}."
            )
            return
        place = write_pool_file(self.output, kept, self.scenario)
        if place != self.output:
            logger.warning(
                f"{self.output} was created by something else meanwhile; the pool is in {place}."
            )
        logger.info(f"{len(kept)} instructions are in {place}.")


def _item(sample: EvalSample) -> PoolItem | None:
    """The instruction that a sample gave, if it gave one."""
    record = store_of(sample).get(EVOLUTION)
    if sample.error is not None or not record or not record["usable"]:
        return None
    facts = sample.metadata
    return PoolItem(
        id=str(sample.id),
        text=record["instruction"],
        reference=record["answer"],
        intent=facts["user_intent"],
        language=facts["language"],
        seed=facts["seed"],
        parent=facts["parent"],
        generator=record["generator"],
        round=facts["round"],
    )


EVOLVE_VERSION = "2-C"
"""Comparability and interface of the task."""


@task
@checked
def evolve(
    seeds: Text,
    scenario: Text,
    rounds: Count = 10,
    output: Text = "pool.jsonl",
    duplicates: Cosine = 0.9,
    limit_seeds: Count | None = None,
    seed: Natural = 0,
) -> Task:
    """Grow a pool of instructions out of seeds (MAD paper, section 3.1 and appendix C).

    Run it with `--model none --model-role 'generator=[a, b, c]'`. Several generators take turns, so
    that no model's habits rule the pool. A round makes one new instruction out of the youngest one
    of every seed's line; the round ends when all are there. After a reply that cannot be used its
    generator is asked once more. Those that nearly repeat a seed or anything kept so far are then
    dropped. Where nothing was kept, the same instruction is evolved again in the next round, by the
    next generator. Samples are called `<seed>-r<round>`; a sample's metadata say what its `parent`
    was.

    The pool is written when the last round has ended. `urs` and `mad` read it; but instructions of
    the scenario `writing` have no answers, and `urs` refuses cases without a reference answer.
    `inspect eval-retry` resumes an interrupted run and repeats no call that is in its log; the
    harness writes samples to the log ten at a time, or one by one with `--log-buffer 1`. Use
    `limit_seeds` for a small run: at the harness's own `--limit` the run ends before the pool is
    written.

    Args:
        seeds: Path of a `.jsonl` or `.csv` file with the columns instruction (or question), and
            optionally reference (or answer), id, language and user_intent.
        scenario: `understanding`, `reasoning`, `writing` or `coding` (Tables 10 to 13).
        rounds: How often each seed is evolved; the paper has 10.
        output: Path of the pool file, `.jsonl`; it must not exist.
        duplicates: Cosine of character n-grams from which an instruction repeats another.
        limit_seeds: How many seeds are drawn at most; null for all.
        seed: Seed of the draw and of who writes first for which seed.

    Returns:
        A task with one sample per seed and round; a round begins when the one before has ended.

    Raises:
        InputError: If an argument or a file cannot be used.
    """
    if roles_known():  # as they are not before `eval()` is called in a script
        models_with(GENERATOR)
    intent = evolution_intent(scenario)
    target = Path(output).expanduser()
    check_new_file(target, ".jsonl")
    drawn = draw_seeds(load_seeds(data_file(seeds, "seeds"), intent), limit_seeds, seed)
    return Task(
        dataset=EvolutionSource(
            drawn, scenario, rounds=rounds, duplicates=duplicates, output=target
        ),
        solver=evolve_instruction(),
        scorer=evolved(),
        version=EVOLVE_VERSION,
        headline_metric="evolved.usable",
        display_name=f"Evolve: {scenario}",
        metadata={"seeds": len(drawn), "scenario": scenario},
        viewer=_viewer(),
        setup=preflight_setup([GENERATOR]),
    )


def _viewer() -> ViewerConfig:
    """The given instruction beside the new one, and whether that is usable."""
    return sample_list(
        "Evolution",
        ["input", "answer", "evolved.usable"],
        labels={"usable": "Usable"},
        scales={"usable": SHARE},
        sort=[],
        compact=True,
    )
