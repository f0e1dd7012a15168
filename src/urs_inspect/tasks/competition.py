"""A competition as a source of samples: contestants answer, pairs are matched, comparisons follow."""

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from logging import getLogger
from typing import Any

from anyio import to_thread
from inspect_ai import SampleSource
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from urs_inspect._util import InputError, choices
from urs_inspect.datasets import UrsData, Vocabulary, in_proportion, load_urs
from urs_inspect.discrepancy.allocation import Allocator
from urs_inspect.discrepancy.ballots import Ballot
from urs_inspect.discrepancy.matchmaking import (
    AnswerFilter,
    InstructionSelector,
    Rules,
    candidate_masks,
    instruction_selector,
)
from urs_inspect.discrepancy.pools import Instruction, Pool, check_contestants, check_pool, load_pool_file, short_pairs
from urs_inspect.discrepancy.selection import Selected
from urs_inspect.discrepancy.similarity import Similarity
from urs_inspect.discrepancy.vectors import Mask, Pair
from urs_inspect.judging.prompts import comparison_scenarios
from urs_inspect.logs.comparisons import Comparison
from urs_inspect.logs.responses import ANSWER, COMPARE, RESPONSES, read_pool
from urs_inspect.rubrics import load_rubric
from urs_inspect.solvers.contest import has_contestants
from urs_inspect.stats import Battle, Battles, battles_of
from urs_inspect.tasks import arguments


class Attempt:
    """Samples that were given out in one attempt of a run, and those that ended.

    `eval_set()` retries a failed run within the process, with the same source: samples that ended well are told again,
    and all others must be given out again. Nothing announces this, but both are signs of it that ending twice, or
    being asked for more while something given out has not ended, is not possible within one attempt.
    """

    def __init__(self) -> None:
        self._well: set[tuple[str, int]] = set()
        self._ended: set[str] = set()
        self._issued: set[str] = set()
        self._over = False

    def repeats(self, sample: EvalSample) -> bool:
        """Whether a sample ended well before; one that failed may be run again by hand."""
        return (str(sample.id), sample.epoch) in self._well

    def ended(self, sample: EvalSample) -> None:
        """Note that a sample has ended."""
        self._ended.add(str(sample.id))
        if sample.error is None:
            self._well.add((str(sample.id), sample.epoch))

    def abandoned(self, sample: Sample) -> None:
        """Note that a sample will not end."""
        self._ended.add(str(sample.id))

    def issue(self, samples: Iterable[Sample]) -> None:
        """Note samples that are given out."""
        self._issued |= {str(sample.id) for sample in samples}

    def close(self) -> None:
        """Note that nothing more is given out."""
        self._over = True

    @property
    def past(self) -> bool:
        """Whether being asked for more samples now belongs to a new attempt."""
        return self._over or not self._issued <= self._ended


UNIFORM = "uniform"
"""The allocation that looks at no outcome, so that everything is asked at once."""


@dataclass(frozen=True)
class Plan:
    """What a competition is to do.

    Attributes:
        k: Comparisons a pair, for the uniform allocation; for others it sets the budget.
        rules: How instructions are selected.
        allocation: How comparisons are shared out over pairs.
        budget: Comparisons at most; None for k a pair.
        confidence: How sure the order of neighbours must be for an early end; not used by the uniform allocation.
        batch: Comparisons asked for at once by an allocation that looks at outcomes.
        scenario: Kind of task for instructions that name none.
        only: Contestants that take part; None for all.
        seed: Seed of everything random.
    """

    k: int
    rules: Rules
    allocation: str = UNIFORM
    budget: int | None = None
    confidence: float = 0.95
    batch: int = 8
    scenario: str = "general"
    only: tuple[str, ...] | None = None
    seed: int = 0


def lineup(pool: Pool, plan: Plan, previous: Sequence[Comparison]) -> tuple[Pool, dict[Pair, Mask], tuple[str, ...]]:
    """Who meets whom.

    Args:
        pool: Instructions and answers.
        plan: What to do.
        previous: Comparisons of an earlier run.

    Returns:
        The pool of those who take part; pairs that are to be compared, each with the instructions that can be used,
        shape (n,); and those who are new, if there is an earlier run.

    Raises:
        InputError: If there are fewer than two contestants, one is unknown, there is no new one, or an instruction of
            the earlier run has another text.
    """
    if plan.only is not None:
        pool = pool.among(plan.only)
    check_contestants(pool.contestants)
    settled = compared(previous)
    joining = tuple(name for name in pool.contestants if name not in settled) if settled else ()
    if settled and not joining:
        raise InputError(f"previous: no new contestant; the earlier run has compared {choices(settled)}")
    texts = {item.id: item.text for item in pool.instructions}
    for one in previous:
        if texts.get(one.ballot.instruction_id, one.ballot.instruction) != one.ballot.instruction:
            raise InputError(
                f"previous: instruction '{one.ballot.instruction_id}' has another text there than in the pool "
                f"'{pool.name}'; runs over different data cannot be joined"
            )
    pairs = [pair for pair in combinations(pool.contestants, 2) if not joining or not set(joining).isdisjoint(pair)]
    return pool, candidate_masks(pool, pairs, plan.rules.answers), joining


def hint(plan: Plan) -> str:
    """What can be done about a pool that is too small."""
    relax = "" if plan.rules.answers == AnswerFilter() else ", or relax min_words and max_length_ratio"
    return f"Lower k, or take a larger pool{relax}"


def compared(previous: Sequence[Comparison]) -> tuple[str, ...]:
    """Names of the models of an earlier run, in order."""
    return tuple(sorted({name for one in previous for name in (one.ballot.model_a, one.ballot.model_b)}))


_POOLS = ("urs", "sample")


def competition_pool(pool: object, responses: object, pool_size: object, seed: int) -> Pool:
    """Read the instructions of a competition, with the answers that logs hold.

    Args:
        pool: `urs`, `sample` or the path of a file; None for `urs`, or for the instructions of the logs.
        responses: Logs, or directories of logs, with answers; None for none.
        pool_size: How many instructions are taken; None for all.
        seed: Seed of the draw.

    Returns:
        The pool.

    Raises:
        InputError: If an argument is out of range, both pool and responses are given, or a file cannot be read.
    """
    size = None if pool_size is None else arguments.whole(pool_size, "pool_size", least=1)
    if responses is not None:
        if pool is not None:
            raise InputError("pool: not together with responses, whose instructions are the pool")
        return _reduced(read_pool(arguments.paths(responses, "responses")), size, seed)
    name = "urs" if pool is None else arguments.text(pool, "pool")
    if name in _POOLS:
        rubric = load_rubric()
        data = load_urs(name, Vocabulary(rubric.intent_id, rubric.language_code))
        return _pool_of(data, size, seed)
    title, sha256, instructions = load_pool_file(name, scenarios=comparison_scenarios())
    return _reduced(Pool(title, sha256, instructions, {}), size, seed)


def _pool_of(data: UrsData, size: int | None, seed: int) -> Pool:
    cases = in_proportion(data.cases, seed)[:size]
    return Pool(
        data.name,
        data.sha256,
        tuple(Instruction(case.id, case.question.strip(), case.reference.strip(), case.language) for case in cases),
        {},
    )


def _reduced(pool: Pool, size: int | None, seed: int) -> Pool:
    if size is None or size >= len(pool.instructions):
        return pool
    kept = sorted(random.Random(seed).sample(range(len(pool.instructions)), size))  # noqa: S311 - a draw, no secret
    return replace(pool, instructions=tuple(pool.instructions[place] for place in kept))


def answer_sample(item: Instruction) -> Sample:
    """A sample that all contestants answer."""
    facts = {"phase": ANSWER, "language": item.language, "scenario": item.scenario}
    return Sample(id=item.id, input=item.text, target=item.reference, metadata=facts)


def compare_sample(
    item: Instruction,
    responses: Mapping[str, str],
    selected: Selected,
    scenario: str,
    lacking: Mapping[str, Mapping[str, int]],
) -> Sample:
    """A sample that compares two models on an instruction.

    Args:
        item: The instruction.
        responses: Model -> its answer, two.
        selected: Why the instruction was selected; similarities that are NaN are not noted.
        scenario: Kind of task, where the instruction names none.
        lacking: Model -> kind of answer that cannot be compared -> how many there are.

    Returns:
        The sample, with its ballot in the metadata.
    """
    ballot = Ballot.between(
        item.id,
        item.text,
        responses,
        reference=item.reference,
        scenario=item.scenario or scenario,
        language=item.language or "en",
    )
    similarities = {
        "response_similarity": selected.response_similarity,
        "instruction_similarity": selected.instruction_similarity,
    }
    known = {name: round(value, 6) for name, value in similarities.items() if not math.isnan(value)}
    return _ballot_sample(ballot, {"selection": known, **({"lacking": lacking} if lacking else {})})


def previous_sample(one: Comparison) -> Sample:
    """A sample that keeps the outcome of an earlier run, and asks nobody."""
    return _ballot_sample(one.ballot, {"previous": {**one.facts, "outcome": one.outcome}})


def outcome_of(sample: EvalSample) -> float:
    """The outcome of a compared sample, 1 for the first model; NaN if there is none."""
    score = (sample.scores or {}).get("pair_choice")
    value = score.value.get("outcome") if score and isinstance(score.value, dict) else None
    return float(value) if isinstance(value, (int, float)) else math.nan


def _ballot_sample(ballot: Ballot, facts: dict[str, Any]) -> Sample:
    return Sample(
        id=f"{ballot.instruction_id}-{ballot.id}",
        input=(
            f"{ballot.instruction}\n\n--- {ballot.model_a} ---\n{ballot.response_a}"
            f"\n\n--- {ballot.model_b} ---\n{ballot.response_b}"
        ),
        target=ballot.reference,
        metadata={"phase": COMPARE, "ballot": ballot.to_dict(), **facts},
    )


logger = getLogger(__name__)

_RULES = ". Rules on answers (min_words, max_length_ratio) and a similarity without a result leave out some as well"


@dataclass
class _Course:
    """What is settled once all answers are there."""

    pool: Pool
    selector: InstructionSelector
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
            selector = await instruction_selector(pool, open_pairs, plan.rules, self._similarity)
            items |= {pair: selector.candidates(pair) for pair in open_pairs}
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
        return _Course(pool, selector, allocator, _say_lacking(pool))

    def _batch(self, course: _Course) -> list[Sample]:
        size = course.allocator.budget if self._plan.allocation == UNIFORM else self._plan.batch
        allotment = course.allocator.ask(self._battles(), size)
        if allotment.stopped:
            logger.info(f"no more comparisons: {allotment.stopped}, {allotment.spent} asked for")
        by_id = {item.id: item for item in course.pool.instructions}
        samples: list[Sample] = []
        for pair in allotment.pairs:
            chosen = course.chosen.setdefault(pair, [])
            selected = course.selector.next(pair, chosen)
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
