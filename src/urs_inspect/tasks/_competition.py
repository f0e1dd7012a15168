"""A competition as a source of samples: first answers, then comparisons of pairs."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from logging import getLogger
from typing import Annotated, Any

from anyio import to_thread
from inspect_ai import SampleSource
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample
from pydantic import GetPydanticSchema

from urs_inspect._arguments import (
    AtLeastOne,
    Confidence,
    Count,
    Natural,
    NotNegative,
    Options,
    Text,
    one_of,
)
from urs_inspect._util import InputError, choices
from urs_inspect.datasets import Vocabulary, in_proportion, load_urs
from urs_inspect.discrepancy._allocation import CONFIDENCE, Allocator, Prior, allocation_names
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.discrepancy._greedy import Selected, SetSimilarity
from urs_inspect.discrepancy._matchmaking import (
    AnswerFilter,
    InstructionSelector,
    Method,
    Rules,
    candidate_masks,
    instruction_selector,
)
from urs_inspect.discrepancy._pools import (
    Instruction,
    Pool,
    check_contestants,
    check_pool,
    load_pool_file,
    short_pairs,
)
from urs_inspect.discrepancy._similarity import Similarity
from urs_inspect.discrepancy._vectors import Mask, Pair
from urs_inspect.judging._prompts import comparison_scenarios
from urs_inspect.logs._comparisons import Comparison
from urs_inspect.logs._responses import ANSWER, COMPARE, read_pool, store_of
from urs_inspect.logs._scores import value_of
from urs_inspect.rubrics import load_rubric
from urs_inspect.solvers._contest import RESPONSES, has_contestants
from urs_inspect.stats import Battle, Battles, battles_of


class RunAttempt:
    """Samples that were issued in one attempt of a run, and those that ended.

    `eval_set()` retries a failed run within the process, with the same source: samples that ended
    well are reported again, and all others must be issued again. Nothing announces this, but two
    signs show it that cannot occur within one attempt: a sample ends twice, or more samples are
    asked for while an issued one has not ended.
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

    def issue(self, samples: Sequence[Sample]) -> None:
        """Note samples that are issued; none is the end of the attempt."""
        self._issued |= {str(sample.id) for sample in samples}
        self._over = not samples

    @property
    def past(self) -> bool:
        """Whether being asked for more samples now belongs to a new attempt."""
        return self._over or not self._issued <= self._ended


UNIFORM = "uniform"
"""The allocation that ignores outcomes."""

_GENERAL = "general"
"""Scenario of instructions that name none."""


class SelectionOptions(Options):
    """How instructions are selected, as users write it."""

    method: Method = "mad"
    lam: NotNegative = 1.0
    set_similarity: SetSimilarity = "max"
    shortlist: Count | None = 100
    min_words: Natural | None = None
    max_length_ratio: AtLeastOne | None = None

    def rules(self, seed: int) -> Rules:
        """The rules that these options are."""
        return Rules(
            method=self.method,
            lam=self.lam,
            set_similarity=self.set_similarity,
            shortlist=self.shortlist,
            answers=AnswerFilter(self.max_length_ratio, self.min_words),
            seed=seed,
        )


class AllocationOptions(Options):
    """How comparisons are shared out over pairs, as users write it."""

    rule: Annotated[str, one_of(allocation_names)] = UNIFORM
    budget: Count | None = None  # comparisons at most; None for k per pair
    # How sure the order of neighbours must be for an early end; not for the uniform one.
    confidence: Confidence = CONFIDENCE
    batch: Count = 8  # comparisons asked for at once; not for the uniform one
    prior: Text | None = None  # log of a judge, for people's votes

    @property
    def is_uniform(self) -> bool:
        """Whether outcomes are ignored, so that everything is asked at once."""
        return self.rule == UNIFORM


Selection = Annotated[
    str | dict[str, Any], GetPydanticSchema(lambda _, handler: handler(SelectionOptions))
]
"""Becomes `SelectionOptions`."""

Allocation = Annotated[
    str | dict[str, Any], GetPydanticSchema(lambda _, handler: handler(AllocationOptions))
]
"""Becomes `AllocationOptions`."""


@dataclass(frozen=True)
class Plan:
    """What a competition is to do."""

    k: int  # comparisons per pair; for other allocations than the uniform one it sets the budget
    rules: Rules  # how instructions are selected
    allocation: AllocationOptions
    only: tuple[str, ...] | None = None  # contestants that take part; None for all
    prior: Prior | None = None  # what is known before people vote
    seed: int = 0

    @property
    def hint(self) -> str:
        """What can be done about a pool that is too small."""
        relax = ", or relax min_words and max_length_ratio"
        if self.rules.answers == AnswerFilter():
            relax = ""
        return f"Lower k, or take a larger pool{relax}"


def eligible_pairs(
    pool: Pool, plan: Plan, previous: Sequence[Comparison]
) -> tuple[Pool, dict[Pair, Mask]]:
    """The pool of the contestants; each pair with the instructions it can use, shape (n,).

    After an earlier run only pairs with a new contestant are compared (Algorithm 2 of the MAD
    paper).
    """
    if plan.only is not None:
        pool = pool.among(plan.only)
    check_contestants(pool.contestants)
    if plan.prior is not None:
        plan.prior.check(pool.contestants)
    before = _compared(previous)
    joining = tuple(name for name in pool.contestants if name not in before) if before else ()
    if before and not joining:
        raise InputError(
            f"previous: no new contestant; the earlier run has compared {choices(before)}"
        )
    texts = {item.id: item.text for item in pool.instructions}
    for ballot in (comparison.ballot for comparison in previous):
        if texts.get(ballot.instruction_id, ballot.instruction) != ballot.instruction:
            raise InputError(
                f"previous: instruction '{ballot.instruction_id}' has another text there than in"
                f" the pool '{pool.name}'; runs over different data cannot be joined"
            )
    pairs = [
        pair
        for pair in combinations(pool.contestants, 2)
        if not joining or not set(joining).isdisjoint(pair)
    ]
    return pool, candidate_masks(pool, pairs, plan.rules.answers)


def _compared(previous: Sequence[Comparison]) -> tuple[str, ...]:
    return tuple(
        sorted({name for item in previous for name in (item.ballot.model_a, item.ballot.model_b)})
    )


def competition_pool(
    pool: str | None, responses: list[str] | None, size: int | None, seed: int
) -> Pool:
    """Instructions of a competition, with the answers that logs hold.

    `size` of them, drawn at random, or all.
    """
    if responses is not None:
        if pool is not None:
            raise InputError("pool: not together with responses, whose instructions are the pool")
        whole = read_pool(responses)
    elif pool in (None, "urs", "sample"):
        rubric = load_rubric()
        data = load_urs(pool or "urs", Vocabulary(rubric.intent_id, rubric.language_code))
        cases = in_proportion(data.cases, seed)[:size]
        items = [
            Instruction(
                case.id,
                case.question.strip(),
                case.reference.strip(),
                case.language,
                intent=case.intent,
            )
            for case in cases
        ]
        return Pool(data.name, data.sha256, tuple(items), {})
    else:
        whole = Pool(*load_pool_file(str(pool), scenarios=comparison_scenarios()), {})
    if size is None or size >= len(whole.instructions):
        return whole
    kept = sorted(random.Random(seed).sample(range(len(whole.instructions)), size))  # noqa: S311 - a draw, no secret
    return replace(whole, instructions=tuple(whole.instructions[place] for place in kept))


def _answer_sample(item: Instruction) -> Sample:
    """A sample that all contestants answer."""
    facts = {"phase": ANSWER, "language": item.language, "scenario": item.scenario}
    if item.intent:
        facts["intent"] = item.intent
    return Sample(id=item.id, input=item.text, target=item.reference, metadata=facts)


def _ballot_sample(ballot: Ballot, facts: Mapping[str, Any]) -> Sample:
    """A sample that compares two models on an instruction."""
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

_RULES = (
    ". Rules on answers (min_words, max_length_ratio) and a similarity without a result leave out"
    " some as well"
)


@dataclass
class _Round:
    """What is settled once all answers are there."""

    pool: Pool
    selector: InstructionSelector
    allocator: Allocator
    lacking: dict[
        str, dict[str, int]
    ]  # model -> kind of answer that cannot be compared -> how many
    chosen: dict[Pair, list[str]] = field(default_factory=dict)


class Competition(SampleSource):
    """Issues first what contestants are to answer, then what is to be compared."""

    def __init__(
        self,
        plan: Plan,
        pool: Pool,
        *,
        answering: bool,  # whether contestants of this run answer first, without looking at roles
        check_roles: Callable[[], None],  # refuses models of the run before any is called
        similarity: Similarity,
        previous: Sequence[
            Comparison
        ],  # they stand, and only pairs with a new contestant are compared
    ) -> None:
        self._plan = plan
        self._pool = pool
        self._answering = answering
        _warn_of_unused(plan.allocation)
        self._check_roles = check_roles
        self._similarity = similarity
        self._previous = tuple(previous)
        self._restart()

    def _restart(self) -> None:
        self._attempt = RunAttempt()
        self._responses: dict[str, dict[str, str]] = {
            name: dict(texts) for name, texts in self._pool.responses.items()
        }
        self._probabilities: dict[str, dict[str, list[float]]] = {}
        self._outcomes: dict[str, tuple[Ballot, float]] = {}
        self._opened: _Round | None = None
        self._asked_contestants = self._answering

    def initial_samples(self) -> list[Sample]:
        """The instructions, if contestants of this run answer them."""
        if self._answering:
            return [_answer_sample(item) for item in self._pool.instructions]
        return []

    async def sample_complete(self, sample: EvalSample) -> None:
        """Note answers, which contestants give in the first epoch alone, and outcomes."""
        if self._attempt.repeats(sample):
            self._restart()
        self._attempt.ended(sample)
        if sample.metadata.get("phase") == ANSWER:
            self._note_answers(sample)
        elif "ballot" in sample.metadata and "previous" not in sample.metadata:
            ballot = Ballot.from_dict(sample.metadata["ballot"], f"sample {sample.id}")
            outcome = value_of((sample.scores or {}).get("pair_choice"), "outcome")
            self._outcomes[f"{ballot.id}/{sample.epoch}"] = (ballot, outcome)

    async def sample_abandoned(self, sample: Sample, epoch: int) -> None:
        """Go on without a sample that was cancelled before it ran."""
        self._attempt.abandoned(sample)

    async def next_samples(self) -> list[Sample] | None:
        """The next comparisons; None at the end.

        `InputError`, which ends the run, if nothing can be compared.
        """
        if self._attempt.past:
            self._restart()
        try:
            samples = await self._next()
        except InputError as error:
            # The harness draws the traceback of an error that ends a task. This local is the mark
            # at which rich omits all frames so far, and a fresh error has no other causes to draw:
            # what remains is the line.
            _rich_traceback_guard = True
            raise InputError(error.message) from None
        self._attempt.issue(samples)
        return samples or None

    async def _next(self) -> list[Sample]:
        if not self._asked_contestants:
            self._check_roles()
            self._asked_contestants = True
            if has_contestants():
                return [_answer_sample(item) for item in self._pool.instructions]
        first = self._opened is None
        if self._opened is None:
            self._opened = await self._open()
        samples = [
            _ballot_sample(item.ballot, {"previous": {**item.facts, "outcome": item.outcome}})
            for item in (self._previous if first else ())
        ]
        # In a thread, since choosing from a large pool takes seconds, and the harness has other
        # work.
        return samples + await to_thread.run_sync(self._batch, self._opened)

    async def _open(self) -> _Round:
        plan = self._plan
        known = {**self._pool.probabilities, **self._probabilities}
        pool = replace(self._pool, responses=self._responses, probabilities=known)
        spent = any(
            self._responses[name].keys() - self._pool.responses.get(name, {}).keys()
            for name in self._responses
        )
        pool, masks = await to_thread.run_sync(eligible_pairs, pool, plan, self._previous)
        allocation = plan.allocation
        uniform = allocation.is_uniform
        if uniform and not spent:
            check_pool(pool, plan.k, masks, hint=plan.hint)
        open_pairs = {pair: mask for pair, mask in masks.items() if mask.any()}
        items = dict.fromkeys(masks, 0)
        if open_pairs:
            selector = await instruction_selector(pool, open_pairs, plan.rules, self._similarity)
            items |= {pair: selector.candidates(pair) for pair in open_pairs}
        if not any(items.values()):
            raise InputError(
                f"no pair of contestants can be compared: {short_pairs(pool, 1, masks)}{_RULES}"
            )
        if uniform:
            _warn_of_short(items, plan.k)
            items = {pair: min(count, plan.k) for pair, count in items.items()}
        allocator = Allocator(
            sorted({*pool.contestants, *_compared(self._previous)}),
            rule=allocation.rule,
            budget=allocation.budget or plan.k * len(masks),
            confidence=None if uniform else allocation.confidence,
            items=items,
            seed=plan.seed,
        )
        return _Round(pool, selector, allocator, _warn_of_lacking(pool))

    def _batch(self, opened: _Round) -> list[Sample]:
        allocation = self._plan.allocation
        size = allocation.batch
        if allocation.is_uniform:
            size = opened.allocator.budget
        asked = {pair: len(ids) for pair, ids in opened.chosen.items()}
        allotment = opened.allocator.ask(self._battles(), asked, size=size)
        if allotment.stopped:
            logger.info(f"no more comparisons: {allotment.stopped}, {allotment.spent} asked for")
        by_id = {item.id: item for item in opened.pool.instructions}
        samples: list[Sample] = []
        for pair in allotment.pairs:
            chosen = opened.chosen.setdefault(pair, [])
            selected = opened.selector.next(pair, chosen)
            if selected is None:  # the allocator counts candidates, so this is a safeguard
                continue
            chosen.append(selected.id)
            samples.append(self._comparison(by_id[selected.id], pair, selected, opened))
        return samples

    def _comparison(
        self, item: Instruction, pair: Pair, selected: Selected, opened: _Round
    ) -> Sample:
        ballot = Ballot.between(
            item.id,
            item.text,
            {name: opened.pool.responses[name][item.id] for name in pair},
            reference=item.reference,
            scenario=item.scenario or _GENERAL,
            language=item.language or "en",
            intent=item.intent,
        )
        similarities = {
            name: getattr(selected, name)
            for name in ("response_similarity", "instruction_similarity")
        }
        known = {
            name: round(value, 6) for name, value in similarities.items() if not math.isnan(value)
        }
        facts: dict[str, Any] = {"selection": known}
        if opened.lacking:
            facts["lacking"] = opened.lacking
        return _ballot_sample(ballot, facts)

    def _battles(self) -> Battles | None:
        outcomes = [
            *((item.ballot, item.outcome) for item in self._previous),
            *self._outcomes.values(),
        ]
        battles = [
            Battle(ballot.model_a, ballot.model_b, outcome, ballot.instruction_id)
            for ballot, outcome in outcomes
            if not math.isnan(outcome)
        ]
        if battles:
            return battles_of(battles)
        return None

    def _note_answers(self, sample: EvalSample) -> None:
        replies: dict[str, dict[str, Any]] = store_of(sample).get(RESPONSES, {})
        for name, reply in replies.items():
            texts = self._responses.setdefault(name, {})
            if not reply.get("error"):
                texts[str(sample.id)] = str(reply["text"])
            if reply.get("log_probabilities") and not reply.get("error"):
                self._probabilities.setdefault(name, {})[str(sample.id)] = list(
                    reply["log_probabilities"]
                )


def _warn_of_unused(allocation: AllocationOptions) -> None:
    usual = AllocationOptions()
    given = [
        name
        for name in ("confidence", "batch")
        if getattr(allocation, name) != getattr(usual, name)
    ]
    if allocation.is_uniform and given:
        logger.warning(
            f"{' and '.join(given)}: without effect with allocation=uniform, which asks for"
            " everything at once"
        )


def _warn_of_short(items: Mapping[Pair, int], k: int) -> None:
    for (name, other), count in items.items():
        if count < k:
            logger.warning(
                f"{name} and {other} can be compared on {count} instructions only, fewer than k={k}"
            )


def _warn_of_lacking(pool: Pool) -> dict[str, dict[str, int]]:
    lacking = {name: counts for name, counts in pool.lacking().items() if any(counts.values())}
    for name, counts in lacking.items():
        listed = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        logger.warning(
            f"{name}: {listed} of {len(pool.instructions)} answers; these are not compared"
        )
    return lacking
