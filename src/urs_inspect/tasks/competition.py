"""The course of a competition: contestants answer, pairs are matched, comparisons are asked for until it is enough."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from logging import getLogger
from typing import Any

from anyio import to_thread
from inspect_ai import SampleSource
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from urs_inspect.discrepancy.allocation import Allocator
from urs_inspect.discrepancy.ballots import Ballot
from urs_inspect.discrepancy.matchmaking import Matchmaker, make_matchmaker
from urs_inspect.discrepancy.pools.pool import Pool, check_pool, short_pairs
from urs_inspect.discrepancy.response_similarity import Pair
from urs_inspect.discrepancy.similarities.similarity import Similarity
from urs_inspect.errors import InputError
from urs_inspect.rating import Battle, Battles, battles_of
from urs_inspect.reports import ANSWER, RESPONSES, Comparison
from urs_inspect.solvers.contest import has_contestants
from urs_inspect.tasks.attempt import Attempt
from urs_inspect.tasks.competition_plan import UNIFORM, Plan, compared, hint, lineup
from urs_inspect.tasks.competition_samples import answer_sample, compare_sample, outcome_of, previous_sample

logger = getLogger(__name__)

_RULES = ". Rules on answers (min_words, max_length_ratio) and a similarity without a result leave out some as well"


@dataclass
class _Course:
    """What is settled once all answers are there."""

    pool: Pool
    matchmaker: Matchmaker
    allocator: Allocator
    lacking: dict[str, dict[str, int]]
    chosen: dict[Pair, list[str]] = field(default_factory=dict)


class Competition(SampleSource):
    """Gives the harness first what contestants are to answer, then what is to be compared.

    Args:
        plan: What to do.
        pool: Instructions, with the answers that are there already.
        answering: Whether contestants of this run answer the instructions first, whatever roles there are.
        check_roles: Refuses models of the run that cannot do this, before anything is asked.
        similarity: Similarity of answers; None for the default.
        previous: Comparisons of an earlier run: they stand, and only pairs with a new contestant are asked for.
    """

    def __init__(
        self,
        plan: Plan,
        pool: Pool,
        *,
        answering: bool,
        check_roles: Callable[[], None] = lambda: None,
        similarity: Similarity | None = None,
        previous: Sequence[Comparison] = (),
    ) -> None:
        self._plan, self._pool, self._answering = plan, pool, answering
        _say_unused(plan)
        self._check_roles, self._similarity, self._previous = check_roles, similarity, tuple(previous)
        self._restart()

    def _restart(self) -> None:
        self._attempt = Attempt()
        self._responses: dict[str, dict[str, str]] = {name: dict(found) for name, found in self._pool.responses.items()}
        self._probabilities: dict[str, dict[str, list[float]]] = {}
        self._outcomes: dict[str, tuple[Ballot, float]] = {}
        self._course: _Course | None = None
        self._asked_contestants = self._answering

    def initial_samples(self) -> list[Sample]:
        """The instructions, if contestants of this run answer them."""
        return [answer_sample(item) for item in self._pool.instructions] if self._answering else []

    async def sample_complete(self, sample: EvalSample) -> None:
        """Note answers and outcomes. Of several epochs of an instruction the first counts."""
        if self._attempt.repeats(sample):
            self._restart()
        self._attempt.ended(sample)
        if sample.metadata.get("phase") == ANSWER:
            self._note_answers(sample)
        elif "ballot" in sample.metadata and "previous" not in sample.metadata:
            ballot = Ballot.from_dict(sample.metadata["ballot"], f"sample {sample.id}")
            self._outcomes[f"{ballot.id}/{sample.epoch}"] = (ballot, outcome_of(sample))

    async def sample_abandoned(self, sample: Sample, epoch: int) -> None:
        """Go on without a sample that was cancelled before it ran."""
        self._attempt.abandoned(sample)

    async def next_samples(self) -> list[Sample] | None:
        """The next comparisons; None when it is enough.

        Raises:
            InputError: If answers or a similarity are such that nothing can be compared. It ends the run with the
                status `error`; the harness then shows the line in its panel.
        """
        if self._attempt.past:
            self._restart()
        try:
            samples = await self._next()
        except InputError as error:
            # The harness draws the traceback of whatever ends a task. This local is the mark at which rich leaves out
            # all frames so far, and a fresh error has no other causes to draw: what remains is the line.
            _rich_traceback_guard = True
            raise InputError(error.message) from None
        self._attempt.issue(samples)
        if not samples:
            self._attempt.close()
        return samples or None

    async def _next(self) -> list[Sample]:
        if not self._asked_contestants:
            self._check_roles()
            self._asked_contestants = True
            if has_contestants():
                return [answer_sample(item) for item in self._pool.instructions]
        first = self._course is None
        if self._course is None:
            self._course = await self._open()
        samples = [previous_sample(one) for one in self._previous] if first else []
        # In a thread, since choosing from a large pool takes seconds, and the harness has other work.
        return samples + await to_thread.run_sync(self._batch, self._course)

    async def _open(self) -> _Course:
        plan = self._plan
        known = {**self._pool.probabilities, **self._probabilities}
        pool = replace(self._pool, responses=self._responses, probabilities=known)
        spent = any(
            self._responses[name].keys() - self._pool.responses.get(name, {}).keys() for name in self._responses
        )
        pool, masks, joining = await to_thread.run_sync(lineup, pool, plan, self._previous)
        uniform = plan.allocation == UNIFORM
        if uniform and not spent:
            check_pool(pool, plan.k, masks, hint=hint(plan))
        open_pairs = {pair: mask for pair, mask in masks.items() if mask.any()}
        items = dict.fromkeys(masks, 0)
        if open_pairs:
            matchmaker = await make_matchmaker(pool, open_pairs, plan.rules, self._similarity)
            items |= {pair: matchmaker.candidates(pair) for pair in open_pairs}
        if not any(items.values()):
            raise InputError(f"no pair of contestants can be compared: {short_pairs(pool, 1, masks)}{_RULES}")
        if uniform:
            _say_short(items, plan.k)
            items = {pair: min(count, plan.k) for pair, count in items.items()}
        allocator = Allocator(
            sorted({*pool.contestants, *compared(self._previous)}),
            rule=plan.allocation,
            budget=plan.k * len(masks) if plan.budget is None else plan.budget,
            confidence=None if uniform else plan.confidence,
            only=pool.contestants,
            joining=joining,
            items=items,
            seed=plan.seed,
        )
        return _Course(pool, matchmaker, allocator, _say_lacking(pool))

    def _batch(self, course: _Course) -> list[Sample]:
        size = course.allocator.budget if self._plan.allocation == UNIFORM else self._plan.batch
        allotment = course.allocator.ask(self._battles(), size)
        if allotment.stopped:
            logger.info(f"no more comparisons: {allotment.stopped}, {allotment.spent} asked for")
        by_id = {item.id: item for item in course.pool.instructions}
        samples: list[Sample] = []
        for pair in allotment.pairs:
            chosen = course.chosen.setdefault(pair, [])
            selected = course.matchmaker.next(pair, chosen)
            if selected is None:  # the allocator counts candidates, so this is a safeguard
                continue
            chosen.append(selected.id)
            responses = {name: course.pool.responses[name][selected.id] for name in pair}
            samples.append(compare_sample(by_id[selected.id], responses, selected, self._plan.scenario, course.lacking))
        return samples

    def _battles(self) -> Battles | None:
        found = [*((one.ballot, one.outcome) for one in self._previous), *self._outcomes.values()]
        battles = [
            Battle(ballot.model_a, ballot.model_b, outcome, ballot.instruction_id)
            for ballot, outcome in found
            if not math.isnan(outcome)
        ]
        return battles_of(battles) if battles else None

    def _note_answers(self, sample: EvalSample) -> None:
        if sample.epoch != 1:
            return
        replies: dict[str, dict[str, Any]] = (sample.store or {}).get(RESPONSES, {})
        for name, reply in replies.items():
            texts = self._responses.setdefault(name, {})
            if not reply.get("error"):
                texts[str(sample.id)] = str(reply["text"])
            if reply.get("log_probabilities") and not reply.get("error"):
                self._probabilities.setdefault(name, {})[str(sample.id)] = list(reply["log_probabilities"])


def _say_unused(plan: Plan) -> None:
    usual = Plan(plan.k, plan.rules)
    given = [name for name in ("confidence", "batch") if getattr(plan, name) != getattr(usual, name)]
    if plan.allocation == UNIFORM and given:
        logger.warning(f"{' and '.join(given)}: without effect with allocation=uniform, which asks for all at once")


def _say_short(items: Mapping[Pair, int], k: int) -> None:
    for (one, other), count in items.items():
        if count < k:
            logger.warning(f"{one} and {other} can be compared on {count} instructions only, fewer than k={k}")


def _say_lacking(pool: Pool) -> dict[str, dict[str, int]]:
    lacking = {name: counts for name, counts in pool.lacking().items() if any(counts.values())}
    for name, counts in lacking.items():
        said = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        logger.warning(f"{name}: {said} of {len(pool.instructions)} answers; these are not compared")
    return lacking
