"""MAD: find where models differ, compare there, rank with few judgements."""

import math
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from logging import getLogger
from typing import Any

from inspect_ai import Task, task

from urs_inspect._arguments import (
    Count,
    Natural,
    Paths,
    Samer,
    Similarities,
    SimilarityOptions,
    Structured,
    Target,
    TargetOptions,
    Text,
    as_list,
    checked,
    samer_arguments,
)
from urs_inspect._util import InputError, naming
from urs_inspect.annotation._queue import VOTING_KEY, VotingPlan
from urs_inspect.discrepancy import load_similarity, parse_similarity
from urs_inspect.discrepancy._allocation import Prior, near, read_prior
from urs_inspect.discrepancy._matchmaking import NEEDS_PROBABILITIES, check_probabilities
from urs_inspect.discrepancy._pools import MIN_CONTESTANTS, Pool, check_pool
from urs_inspect.discrepancy._similarity import AskedSimilarity, Similarity, VectorSimilarity
from urs_inspect.judging import JudgeFailure, JudgePrompt
from urs_inspect.judging._failures import ASK_AGAIN
from urs_inspect.judging._keys import read_keyed
from urs_inspect.judging._prompts import Orders, similarity_prompt
from urs_inspect.judging._replies import read_similarity
from urs_inspect.logs._battles import read_battles
from urs_inspect.logs._comparisons import Comparison, read_comparisons
from urs_inspect.scorers import pair_choice
from urs_inspect.solvers._contest import (
    CONTESTANT,
    HUMAN,
    check_contest_judge,
    check_roles,
    contest,
    contestants,
    has_contestants,
)
from urs_inspect.solvers._local_judges import local_judges
from urs_inspect.solvers._model_calls import JudgeCalls
from urs_inspect.solvers._preflight import preflight_setup
from urs_inspect.solvers._role_models import GRADER, roles_known
from urs_inspect.stats import rank
from urs_inspect.tasks._competition import (
    UNIFORM,
    Allocation,
    AllocationOptions,
    Competition,
    Plan,
    Selection,
    SelectionOptions,
    competition_pool,
    eligible_pairs,
)
from urs_inspect.tasks._viewer import competition_viewer

logger = getLogger(__name__)

MAD_VERSION = "3-F"
"""Comparability and interface of the task: the number changes when scores do, the letter when
arguments do.
"""

SIMILARITY = "similarity"
"""Role of the model that `similarity=llm` asks."""


@task
@checked
def mad(
    pool: Text | None = None,
    responses: Paths | None = None,
    k: Count = 10,
    judge: Text = "grader",
    similarity: Similarities = "lexical",
    selection: Selection = "mad",
    allocation: Allocation = "uniform",
    orders: Orders = "both",
    judge_language: Text | None = None,
    structured: Structured = "auto",
    previous: Text | None = None,
    target: Target | None = None,
    pool_size: Count | None = None,
    seed: Natural = 0,
    samer: Samer | None = None,
) -> Task:
    """Compare models where their answers differ most, and rank them (MAD paper).

    Run it with `--model none`. Contestants have the role `contestant`, judges the role `grader`.
    The harness's `--limit` counts comparisons as well as answers and cuts the competition short:
    use `pool_size` and `k`.

    Args:
        pool: Instructions that the contestants answer: `urs`, `sample`, or the path of a `.jsonl`
            or `.csv` file, whose column `scenario` names the kind of task (general, understanding,
            reasoning, writing, coding). `urs` unless `responses` is given.
        responses: Logs, or directories of logs, whose answers serve; contestants of this run answer
            the same instructions.
        k: Comparisons per pair (the paper's K). With `judge=human` and an `allocation` other than
            `uniform`: comparisons per pair among which the voting page chooses.
        judge: `grader`; `samer` or `reward_model`, which evaluate each answer by itself, without
            reference; `human` to write comparisons for people into the log; or `baseline/<kind>`:
            longest, shortest, first, second, random.
        similarity: How similar two answers are: `lexical` needs no model; others: `openai/<model>`,
            `model2vec/<name>`, `sentence_transformers/<name>`, `minilm`, `bert/<folder>`,
            `bert_score/<name>`, `llm` (a model with the role `similarity`). `{name: openai/<model>,
            url: ...}` names an embeddings API other than the environment's.
        selection: `mad`, or a baseline of section 3.4: `random`, `kl`, `cross_entropy`. With more
            options `{method: mad, ...}`: `lam`, the weight of diversity (lambda of Eq. (2), 1; 0 is
            Eq. (1)); `set_similarity` to the instructions selected before (`max`, or `mean`);
            `shortlist`, for `llm`, `bert_score` and others that cost one call per instruction: how
            many of the least similar ones by `lexical` are compared, for each pair (100; null for
            all); `min_words`: both answers have more words than this; `max_length_ratio`: the
            longer answer has fewer than this many times the words of the shorter.
        allocation: `uniform`: k comparisons for each pair, as in the paper. `adaptive`: each next
            comparison goes to the pair that is worth most for the order; `random`. With more
            options `{rule: adaptive, ...}`: `budget`, comparisons at most (k for each pair);
            `confidence`, how sure the order of neighbours must be for an early end (0.95); `batch`,
            comparisons asked for at once (8); `prior`, for `judge=human` and `adaptive`: log of a
            judge's comparisons of the same models, whose ratings are a prior for people's votes,
            weighed by its evidence after each vote.
        orders: `both` (twice, and disagreement is a tie), `ab` as the models are sorted, or
            `seeded` by a coin.
        judge_language: Language of the judge's instructions, `en` or `zh`; by default that of each
            instruction.
        structured: Whether judges are asked by a JSON schema of their reply, as providers with
            structured output take: `true`, `false`, or `auto`, where the tiny request
            before the run shows that a judge's server follows one.
        previous: Log of an earlier run whose comparisons stand: only pairs with a new contestant
            are compared (Algorithm 2).
        target: Compare only models near one of an earlier ranking: `{model: NAME, coarse: LOG}`,
            where `coarse` is the log, or votes, of that ranking; with those up to two places above
            and below it, or `width` of them.
        pool_size: How many instructions are taken; null for all. Of `urs` and `sample` in
            proportion of the kinds.
        seed: Seed of everything random.
        samer: For `judge=samer` or `reward_model`: folder of the model, address of a vLLM server,
            or options of the scorer of that name such as `{model: DIR, engine: transformers, dtype:
            bfloat16}`.

    Returns:
        A task whose samples are the instructions that contestants of this run answer, if there are
        any, and then the comparisons of answers.

    Raises:
        InputError: If an argument or a file cannot be used.
    """
    check_contest_judge(judge)
    given = AllocationOptions.model_validate(allocation)
    voting = _voting(given, judge, previous, seed)
    rules = SelectionOptions.model_validate(selection).rules(seed)
    compared_by = _similarity(SimilarityOptions.model_validate(similarity))
    similarity_role = None
    if isinstance(compared_by, AskedSimilarity):
        similarity_role = SIMILARITY
    answering = responses is None
    solver = contest(
        judge,
        orders,
        judge_language,
        log_probabilities=rules.method in NEEDS_PROBABILITIES,
        least=MIN_CONTESTANTS if answering else 1,
        seed=seed,
        samer=samer_arguments(
            samer, wanted=judge in local_judges(), condition="judge=samer or reward_model"
        ),
        structured=structured,
    )
    answer_logs = None if responses is None else as_list(responses)
    instructions = competition_pool(pool, answer_logs, pool_size, seed)
    plan = Plan(
        k=k,
        rules=rules,
        # People's page chooses while they vote among candidates that every pair gets now.
        allocation=given if voting is None else AllocationOptions(),
        only=_near(target),
        prior=None if voting is None else voting.prior,
        seed=seed,
    )
    earlier = () if previous is None else read_comparisons(previous)
    for note in instructions.notes:
        logger.warning(note)
    check = partial(
        check_roles,
        judge,
        least=MIN_CONTESTANTS if answering else 0,
        answered=instructions.contestants,
        similarity=similarity_role,
    )
    _check_early(plan, instructions, compared_by, earlier, answering, check)
    metadata = _metadata(plan, instructions, compared_by, earlier, voting)
    roles = [CONTESTANT]
    if judge == GRADER:
        roles.append(GRADER)
    if similarity_role is not None:
        roles.append(similarity_role)
    return Task(
        dataset=Competition(
            plan,
            instructions,
            answering=answering,
            check_roles=check,
            similarity=compared_by,
            previous=earlier,
        ),
        solver=solver,
        scorer=pair_choice(judge),
        version=MAD_VERSION,
        display_name=f"MAD: {instructions.name}",
        metadata=metadata,
        viewer=competition_viewer(),
        setup=preflight_setup(roles, structured=structured),
    )


def _metadata(
    plan: Plan,
    pool: Pool,
    similarity: Similarity,
    previous: Sequence[Comparison],
    voting: VotingPlan | None,
) -> dict[str, Any]:
    """What a log says of its instructions, of the pairs that were chosen, and of the voting."""
    metadata: dict[str, Any] = {
        "dataset": pool.name,
        "dataset_sha256": pool.sha256,
        "instructions": len(pool.instructions),
        "answered_in_logs": list(pool.contestants),
        "notes": list(pool.notes),
        "similarity": similarity.name,
        "previous_comparisons": len(previous),
    }
    if plan.only is not None:
        metadata["only"] = list(plan.only)
    if voting is not None:
        metadata[VOTING_KEY] = voting.to_dict()
    return metadata


def _check_early(
    plan: Plan,
    pool: Pool,
    similarity: Similarity,
    previous: Sequence[Comparison],
    answering: bool,
    check: Callable[[], None],
) -> None:
    """Refuse what could only fail, before any model is called.

    What depends on new answers is checked later.
    """
    known = roles_known()
    if known:
        check()
        if answering and plan.prior is not None:
            plan.prior.check([str(model) for model in contestants()])
    uniform = plan.allocation.is_uniform
    if uniform and plan.k > len(pool.instructions):
        raise InputError(
            f"k={plan.k} is more than the {len(pool.instructions)} instructions of the pool"
            f" '{pool.name}'"
        )
    shortlist = plan.rules.shortlist
    if (
        uniform
        and shortlist is not None
        and plan.k > shortlist
        and not isinstance(similarity, VectorSimilarity)
    ):
        raise InputError(f"shortlist: must be at least k={plan.k}, got {shortlist}")
    if known and not answering and not has_contestants():
        taking_part, masks = eligible_pairs(pool, plan, previous)
        if uniform:
            check_pool(taking_part, plan.k, masks, hint=plan.hint)
        if plan.rules.method in NEEDS_PROBABILITIES:
            check_probabilities(taking_part, plan.rules.method)


def _voting(
    allocation: AllocationOptions, judge: str, previous: str | None, seed: int
) -> VotingPlan | None:
    """How people's votes are allocated; None where no votes are, or in the order of the ballots."""
    prior = None
    if allocation.prior is not None:
        prior = _prior(allocation.prior, judge, allocation.rule)
    if judge != HUMAN or allocation.is_uniform:
        return None
    if previous is not None:
        raise InputError("previous: with judge=human only together with allocation=uniform")
    if allocation.batch != AllocationOptions().batch:
        logger.warning(
            "batch: without effect with judge=human, where the page asks for one comparison at a"
            " time"
        )
    return VotingPlan(allocation.rule, allocation.budget, allocation.confidence, seed, prior)


def _prior(name: str, judge: str, rule: str) -> Prior:
    """The prior that a log gives; refused where nothing would use it."""
    if judge != HUMAN:
        raise InputError(f"prior: only with judge=human, whose votes it helps; got judge={judge}")
    if rule in (UNIFORM, "random"):
        raise InputError(
            f"prior: allocation={rule} does not look at ratings; allowed with a prior: adaptive"
        )
    return read_prior(name)


def _similarity(given: SimilarityOptions) -> Similarity:
    name = parse_similarity(given.name).name
    if given.url is not None and name != "openai":
        raise InputError(f"similarity: url: only for openai/<model>, not for '{given.name}'")
    options: dict[str, Any] = {} if given.url is None else {"base_url": given.url}
    if name == "llm":
        calls = JudgeCalls("Pairs of answers without a similarity are not selected.")

        async def ask(prompt: JudgePrompt) -> str | JudgeFailure:
            return (await calls.ask(SIMILARITY, prompt))[0]

        options["ask"] = _asked_similarity(ask)
    return load_similarity(given.name, **options)


def _asked_similarity(
    ask: Callable[[JudgePrompt], Awaitable[str | JudgeFailure]],
) -> Callable[[str, str], Awaitable[float]]:
    """The similarity `llm`.

    A function of two texts that gives a similarity from 0 to 1, NaN where there is none.

    `ask` sends both prompt parts to a model and gives its reply, or the failure; it is called twice
    at most.
    """

    async def similarity(first: str, second: str) -> float:
        prompt = similarity_prompt(first, second)
        for _ in range(2):
            result: float | str | JudgeFailure = await ask(prompt)
            if isinstance(result, str):
                read = read_keyed(result, prompt.key, read_similarity, needs_key=prompt.needs_key)
                result = read.result
            if not isinstance(result, JudgeFailure):
                return result
            if result.mode not in ASK_AGAIN:
                break
        return math.nan

    return similarity


def _near(target: object) -> tuple[str, ...] | None:
    """The models near a target in the ranking that it names; None without one."""
    if target is None:
        return None
    options = TargetOptions.model_validate(target)
    with naming("target"):
        ranking = rank(read_battles(as_list(options.coarse)))
        return near(ranking.players, options.model, options.width)
