"""MAD: find where models differ, compare there, rank with few judgements."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from logging import getLogger
from typing import Annotated, Any, Literal

from inspect_ai import Task, task

from urs_inspect._arguments import (
    AtLeastOne,
    Confidence,
    Count,
    Flag,
    Natural,
    NotNegative,
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
    one_of,
    samer_arguments,
)
from urs_inspect._util import InputError, counted
from urs_inspect.annotation._queue import VOTING_KEY, VotingPlan
from urs_inspect.discrepancy import AnswerFilter, load_similarity, parse_similarity
from urs_inspect.discrepancy._allocation import allocation_names, near
from urs_inspect.discrepancy._judge_prior import JudgePrior, judges_among
from urs_inspect.discrepancy._matchmaking import NEEDS_PROBABILITIES, Rules, check_probabilities
from urs_inspect.discrepancy._pools import MIN_CONTESTANTS, Pool, check_pool
from urs_inspect.discrepancy._similarity import AskedSimilarity, Similarity, VectorSimilarity
from urs_inspect.judging import JudgeFailure, JudgePrompt
from urs_inspect.judging._failures import ASK_AGAIN
from urs_inspect.judging._keys import read_keyed
from urs_inspect.judging._prompts import Orders, comparison_scenarios, similarity_prompt
from urs_inspect.judging._replies import read_similarity
from urs_inspect.logs._battles import read_battles
from urs_inspect.logs._comparisons import Comparison, read_comparisons, read_judge_prior
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
    Competition,
    Plan,
    check_prior,
    competition_pool,
    eligible_pairs,
)
from urs_inspect.tasks._viewer import competition_viewer

logger = getLogger(__name__)

MAD_VERSION = "3-D"
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
    lam: NotNegative = 1.0,
    set_similarity: Literal["max", "mean"] = "max",
    selection: Literal["mad", "random", "kl", "cross_entropy"] = "mad",
    shortlist: Count | None = 100,
    allocation: Annotated[str, one_of(allocation_names)] = "uniform",
    budget: Count | None = None,
    confidence: Confidence = 0.95,
    batch: Count = 8,
    prior: Text | None = None,
    orders: Orders = "both",
    scenario: Annotated[str, one_of(comparison_scenarios)] = "general",
    judge_language: Text | None = None,
    structured: Structured = "auto",
    preflight: Flag = True,
    previous: Text | None = None,
    coarse: Paths | None = None,
    target: Target | None = None,
    pool_size: Count | None = None,
    min_words: Natural | None = None,
    max_length_ratio: AtLeastOne | None = None,
    seed: Natural = 0,
    samer: Samer | None = None,
) -> Task:
    """Compare models where their answers differ most, and rank them (MAD paper).

    Run it with `--model none`. Contestants have the role `contestant`, judges the role `grader`.
    The harness's `--limit` counts comparisons as well as answers and cuts the competition short:
    use `pool_size` and `k`.

    Args:
        pool: Instructions that the contestants answer: `urs`, `sample`, or the path of a `.jsonl`
            or `.csv` file. `urs` unless `responses` is given.
        responses: Logs, or directories of logs, whose answers serve; contestants of this run answer
            the same instructions.
        k: Comparisons per pair (the paper's K). With `judge=human` and an `allocation` other than
            `uniform`: ballots per pair among which the voting page chooses.
        judge: `grader`; `samer` or `reward_model`, which evaluate each answer by itself, without
            reference; `human` to write ballots for people into the log; or `baseline/<kind>`:
            longest, shortest, first, second, random.
        similarity: How similar two answers are: `lexical` needs no model; others: `openai/<model>`,
            `model2vec/<name>`, `sentence_transformers/<name>`, `minilm`, `bert/<folder>`,
            `bert_score/<name>`, `llm` (a model with the role `similarity`). `{name: openai/<model>,
            url: ...}` names an embeddings API other than the environment's.
        lam: Lambda of Eq. (2), the weight of diversity; 0 is Eq. (1).
        set_similarity: Similarity to the instructions selected before: `max`, or `mean`.
        selection: `mad`, or a baseline of section 3.4: `random`, `kl`, `cross_entropy`.
        shortlist: For `llm`, `bert_score` and others that cost one call per instruction: how many
            of the least similar ones by `lexical` are compared, for each pair; null for all.
        allocation: `uniform`: k comparisons for each pair, as in the paper. `adaptive`: each next
            comparison goes to the pair that is worth most for the order; `random`.
        budget: Comparisons at most; by default k for each pair.
        confidence: How sure the order of neighbours must be for an early end of `adaptive` and
            `random`.
        batch: Comparisons asked for at once by `adaptive` and `random`.
        prior: For `judge=human` and `allocation=adaptive`: log of a judge's comparisons of the same
            models. Its ratings are a prior for people's votes, weighed by its evidence after each
            vote.
        orders: `both` (twice, and disagreement is a tie), `ab` as the models are sorted, or
            `seeded` by a coin.
        scenario: Kind of task, for instructions that name none: general, understanding, reasoning,
            writing, coding.
        judge_language: Language of the judge's instructions, `en` or `zh`; by default that of each
            instruction.
        structured: Whether judges are asked by a JSON schema of their reply, as providers with
            structured output take: `true`, `false`, or `auto`, where the tiny request of
            `preflight` shows that a judge's server follows one.
        preflight: Send each contestant and judge one tiny request before the first answer: a server
            that refuses it (401, 403, 404) ends the run before anything is spent.
        previous: Log of an earlier run whose comparisons stand: only pairs with a new contestant
            are compared (Algorithm 2).
        coarse: Log, or votes, of an earlier ranking, to compare only models near `target` in it.
        target: A model of that ranking, with those up to two places above and below it; `{model:
            NAME, width: 3}` for another number of places.
        pool_size: How many instructions are taken; null for all. Of `urs` and `sample` in
            proportion of the kinds.
        min_words: Both answers have more words than this.
        max_length_ratio: The longer answer has fewer than this many times the words of the shorter.
        seed: Seed of everything random.
        samer: For `judge=samer` or `reward_model`: folder of the model, address of a vLLM server,
            or options of the scorer of that name such as `{model: DIR, engine: transformers, dtype:
            bfloat16}`.
    """
    plan = Plan(
        k=k,
        rules=Rules(
            method=selection,
            lam=lam,
            set_similarity=set_similarity,
            shortlist=shortlist,
            answers=AnswerFilter(max_length_ratio or 0.0, -1 if min_words is None else min_words),
            seed=seed,
        ),
        allocation=allocation,
        budget=budget,
        confidence=confidence,
        batch=batch,
        scenario=scenario,
        seed=seed,
    )
    check_contest_judge(judge)
    known = None if prior is None else _prior(prior, judge, allocation)
    voting = None
    if judge == HUMAN and allocation != UNIFORM:
        if previous is not None:
            raise InputError("previous: with judge=human only together with allocation=uniform")
        if batch != Plan.batch:
            logger.warning(
                "batch: without effect with judge=human, where the page asks for one comparison at"
                " a time"
            )
        voting = VotingPlan(allocation, budget, confidence, seed, known)
        # Every pair gets its candidates now; the page chooses among them while people vote.
        plan = replace(
            plan,
            allocation=UNIFORM,
            budget=None,
            confidence=Plan.confidence,
            batch=Plan.batch,
            prior=known,
        )
    chosen = _similarity(SimilarityOptions.model_validate(similarity))
    answering = responses is None
    solver = contest(
        judge,
        orders,
        judge_language,
        log_probabilities=plan.rules.method in NEEDS_PROBABILITIES,
        least=MIN_CONTESTANTS if answering else 1,
        seed=seed,
        samer=samer_arguments(
            samer, wanted=judge in local_judges(), condition="judge=samer or reward_model"
        ),
        structured=structured,
    )
    taken = competition_pool(
        pool, None if responses is None else as_list(responses), pool_size, seed
    )
    plan = _focused(plan, coarse, target)
    earlier = () if previous is None else read_comparisons(previous)
    for note in taken.notes:
        logger.warning(note)
    check = partial(
        check_roles,
        judge,
        least=MIN_CONTESTANTS if answering else 0,
        answered=taken.contestants,
        similarity=SIMILARITY if isinstance(chosen, AskedSimilarity) else None,
    )
    _check_early(plan, taken, chosen, earlier, answering, check)
    asked = [GRADER] * (judge == GRADER) + [SIMILARITY] * isinstance(chosen, AskedSimilarity)
    metadata: dict[str, Any] = {
        "dataset": taken.name,
        "dataset_sha256": taken.sha256,
        "instructions": len(taken.instructions),
        "answered_in_logs": list(taken.contestants),
        "notes": list(taken.notes),
        "similarity": chosen.name,
        "previous_comparisons": len(earlier),
    }
    if plan.only is not None:
        metadata["only"] = list(plan.only)
    if voting is not None:
        metadata[VOTING_KEY] = voting.to_dict()
    return Task(
        dataset=Competition(
            plan, taken, answering=answering, check_roles=check, similarity=chosen, previous=earlier
        ),
        solver=solver,
        scorer=pair_choice(judge),
        version=MAD_VERSION,
        display_name=f"MAD: {taken.name}",
        metadata=metadata,
        viewer=competition_viewer(),
        setup=preflight_setup(preflight, [CONTESTANT, *asked], structured=structured),
    )


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
        if answering:
            check_prior(plan.prior, [str(model) for model in contestants()])
    uniform = plan.allocation == UNIFORM
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
        taking_part, masks, _ = eligible_pairs(pool, plan, previous)
        if uniform:
            check_pool(taking_part, plan.k, masks, hint=plan.hint)
        if plan.rules.method in NEEDS_PROBABILITIES:
            check_probabilities(taking_part, plan.rules.method)


def _prior(name: str, judge: str, allocation: str) -> JudgePrior:
    """The prior that a log gives; refused where nothing would use it."""
    if judge != HUMAN:
        raise InputError(f"prior: only with judge=human, whose votes it helps; got judge={judge}")
    if allocation in (UNIFORM, "random"):
        raise InputError(
            f"prior: allocation={allocation} does not look at ratings; allowed with a prior:"
            " adaptive"
        )
    prior = read_judge_prior(name)
    if prior.unread:
        logger.warning(
            f"prior: {counted(prior.unread, 'verdict')} could not be parsed and will not count"
        )
    for sentence in judges_among(prior.judges, prior.players):
        logger.warning(f"prior: {sentence}")
    return prior


def _similarity(given: SimilarityOptions) -> Similarity:
    name = parse_similarity(given.name).name
    if given.url is not None and name != "openai":
        raise InputError(f"similarity: url: only for openai/<model>, not for '{given.name}'")
    options: dict[str, Any] = {} if given.url is None else {"base_url": given.url}
    if name == "llm":
        calls = JudgeCalls("Pairs of answers without a similarity are not selected.")

        async def ask(prompt: JudgePrompt) -> str | JudgeFailure:
            return (await calls.ask(SIMILARITY, prompt))[0]

        options["ask"] = asked_similarity(ask)
    return load_similarity(given.name, **options)


def asked_similarity(
    ask: Callable[[JudgePrompt], Awaitable[str | JudgeFailure]],
) -> Callable[[str, str], Awaitable[float | str]]:
    """The similarity `llm`: a function of two texts that gives a similarity from 0 to 1, or a
    failure in words.

    `ask` sends both prompt parts to a model and gives its reply, or the failure; it is called twice
    at most.
    """

    async def similarity(first: str, second: str) -> float | str:
        result: float | JudgeFailure = JudgeFailure("call_failed", "The model was not asked.")
        for _ in range(2):
            prompt = similarity_prompt(first, second)
            reply = await ask(prompt)
            if isinstance(reply, JudgeFailure):
                result = reply
            else:
                result = read_keyed(
                    reply, prompt.key, read_similarity, needs_key=prompt.needs_key
                ).result
            if not isinstance(result, JudgeFailure) or result.mode not in ASK_AGAIN:
                break
        return f"{result.mode}: {result.detail}" if isinstance(result, JudgeFailure) else result

    return similarity


def _focused(plan: Plan, coarse: str | list[str] | None, target: object) -> Plan:
    if coarse is None and target is None:
        return plan
    if coarse is None or target is None:
        raise InputError(
            "coarse and target: both or none; target names a model in the ranking of coarse"
        )
    centre = TargetOptions.model_validate(target)
    return replace(
        plan, only=near(rank(read_battles(as_list(coarse))).players, centre.model, centre.width)
    )
