"""MAD: find where models differ, compare there, rank with few judgements."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from logging import getLogger
from typing import Any

from inspect_ai import Task, task

from urs_inspect._util import InputError
from urs_inspect.discrepancy import AnswerFilter, load_similarity, parse_similarity
from urs_inspect.discrepancy.allocation import allocation_names, near
from urs_inspect.discrepancy.matchmaking import NEEDS_PROBABILITIES, Rules, check_probabilities
from urs_inspect.discrepancy.pools import MIN_CONTESTANTS, Pool, check_pool
from urs_inspect.discrepancy.similarity import AskedSimilarity, Similarity, VectorSimilarity
from urs_inspect.judging import JudgeFailure, JudgePrompt
from urs_inspect.judging.prompts import comparison_scenarios
from urs_inspect.judging.replies import asked_similarity
from urs_inspect.logs.battles import read_battles
from urs_inspect.logs.comparisons import Comparison, read_comparisons
from urs_inspect.scorers import pair_choice
from urs_inspect.solvers.contest import (
    CONTESTANT,
    GRADER,
    HUMAN,
    check_contest_judge,
    check_roles,
    contest,
    has_contestants,
)
from urs_inspect.solvers.model_calls import JudgeCalls
from urs_inspect.solvers.preflight import preflight_setup
from urs_inspect.solvers.role_models import roles_known
from urs_inspect.stats import rank
from urs_inspect.tasks import arguments
from urs_inspect.tasks.arguments import samer_options
from urs_inspect.tasks.competition import UNIFORM, Competition, Plan, competition_pool, hint, lineup
from urs_inspect.tasks.viewer import competition_viewer

logger = getLogger(__name__)

MAD_VERSION = "2-A"
"""Comparability and interface of the task: the number changes when scores do, the letter when arguments do."""

SIMILARITY = "similarity"
"""Role of the model that `similarity=llm` asks."""


@task
def mad(
    pool: str | None = None,
    responses: str | list[str] | None = None,
    k: int = 10,
    judge: str = "grader",
    similarity: str = "lexical",
    similarity_url: str | None = None,
    lam: float = 1.0,
    set_similarity: str = "max",
    selection: str = "mad",
    shortlist: int | None = 100,
    allocation: str = "uniform",
    budget: int | None = None,
    confidence: float = 0.95,
    batch: int = 8,
    orders: str = "both",
    scenario: str = "general",
    judge_language: str | None = None,
    preflight: bool = True,
    previous: str | None = None,
    coarse: str | None = None,
    target: str | None = None,
    width: int = 2,
    pool_size: int | None = None,
    min_words: int | None = None,
    max_length_ratio: float | None = None,
    seed: int = 0,
    samer: str | None = None,
    engine: str = "auto",
    weights_at: str | None = None,
    bos: str = "single",
    overlong: str = "shorten",
    max_length: int | None = None,
    folder: str | None = None,
    dtype: str = "auto",
) -> Task:
    """Compare models where their answers differ most, and rank them (MAD paper).

    Run it with `--model none`. Contestants have the role `contestant`, judges the role `grader`. The harness's
    `--limit` counts comparisons as well as answers and cuts the competition short: use `pool_size` and `k`.

    Args:
        pool: Instructions that the contestants answer: `urs`, `sample`, or the path of a `.jsonl` or `.csv` file.
            `urs` unless `responses` is given.
        responses: Logs, or directories of logs, whose answers serve; contestants of this run answer the same
            instructions.
        k: Comparisons a pair (the paper's K).
        judge: `grader`; `samer`, which evaluates each answer by itself, without scenario and reference; `human` to
            write ballots for people into the log; or `baseline/<kind>`: longest, shortest, first, second, random.
        similarity: How similar two answers are: `lexical` needs no model; others: `openai/<model>`, `model2vec/<name>`,
            `sentence_transformers/<name>`, `minilm`, `bert/<folder>`, `bert_score/<name>`, `llm` (a model with the role
            `similarity`).
        similarity_url: Address of an embeddings API, for `openai`; by default that of the environment.
        lam: Lambda of Eq. (2), the weight of diversity; 0 is Eq. (1).
        set_similarity: Similarity to the instructions selected before: `max`, or `mean`.
        selection: `mad`, or a baseline of section 3.4: `random`, `kl`, `cross_entropy`.
        shortlist: For `llm`, `bert_score` and others that cost a call an instruction: how many of the least similar
            ones by `lexical` are compared, for each pair; null for all.
        allocation: `uniform`: k comparisons for each pair, as in the paper. `adaptive`: each next comparison goes to
            the pair that is worth most for the order; `random`.
        budget: Comparisons at most; by default k for each pair.
        confidence: How sure the order of neighbours must be for an early end of `adaptive` and `random`.
        batch: Comparisons asked for at once by `adaptive` and `random`.
        orders: `both` (disagreement is a tie), `ab`, or `seeded`.
        scenario: Kind of task, for instructions that name none: general, understanding, reasoning, writing, coding.
        judge_language: Language of the judge's instructions, `en` or `zh`; by default that of each instruction.
        preflight: Send each contestant and judge one tiny request before the first answer: a server that
            refuses it (401, 403, 404) ends the run before anything is spent.
        previous: Log of an earlier run whose comparisons stand: only pairs with a new contestant are compared
            (Algorithm 2).
        coarse: Log, or votes, of an earlier ranking, to compare only models near `target` in it.
        target: A model of that ranking.
        width: How many places above and below it.
        pool_size: How many instructions are taken; null for all. Of `urs` and `sample` in proportion of the kinds.
        min_words: Both answers have more words than this.
        max_length_ratio: The longer answer has fewer than this many times the words of the shorter.
        seed: Seed of everything random.
        samer: Folder of a SaMer checkpoint, or address of a vLLM server.
        engine: What runs SaMer: `vllm`, `server`, `transformers`; by default what fits and is installed.
        weights_at: Where SaMer reads weights: at the end of the `response` (released code) or of the `query` (paper);
            by default where its heads say, else `response`.
        bos: Start tokens of SaMer: `single`, or `double` as in the released inference.
        overlong: More tokens than SaMer takes: `shorten` cuts the end of the response, `error` is a failure.
        max_length: Length that SaMer is run with, by default its limit; an item has one token less at most.
        folder: For a server on another machine: a folder with SaMer's tokeniser and heads.
        dtype: Type that SaMer computes in where no server does: `float32`, `bfloat16`, `float16`; `auto`: that of its
            weights, but with `transformers` on a CPU `float32`.

    Returns:
        The task.
    """
    plan = Plan(
        k=arguments.whole(k, "k", least=1),
        rules=Rules(
            method=arguments.one_of(selection, "selection", ("mad", "random", "kl", "cross_entropy")),
            lam=arguments.number(lam, "lam", least=0),
            set_similarity=arguments.one_of(set_similarity, "set_similarity", ("max", "mean")),
            shortlist=None if shortlist is None else arguments.whole(shortlist, "shortlist", least=1),
            answers=AnswerFilter(
                0.0 if max_length_ratio is None else arguments.number(max_length_ratio, "max_length_ratio", least=1),
                -1 if min_words is None else arguments.whole(min_words, "min_words", least=0),
            ),
            seed=arguments.whole(seed, "seed", least=0),
        ),
        allocation=arguments.one_of(allocation, "allocation", allocation_names()),
        budget=None if budget is None else arguments.whole(budget, "budget", least=1),
        confidence=arguments.number(confidence, "confidence", least=0.501, most=0.9999),
        batch=arguments.whole(batch, "batch", least=1),
        scenario=arguments.one_of(scenario, "scenario", comparison_scenarios()),
        seed=seed,
    )
    check_contest_judge(judge)
    if judge == HUMAN and plan.allocation != "uniform":
        raise InputError("allocation: with judge=human only 'uniform' works, since no vote is there during the run")
    chosen = _similarity(
        arguments.text(similarity, "similarity"), arguments.optional_text(similarity_url, "similarity_url")
    )
    options = samer_options(
        judge == "samer", "judge=samer", samer, engine, weights_at, bos, overlong, max_length, folder, dtype
    )
    solver = contest(
        judge,
        orders,
        arguments.optional_text(judge_language, "judge_language"),
        log_probabilities=plan.rules.method in NEEDS_PROBABILITIES,
        least=MIN_CONTESTANTS if responses is None else 1,
        seed=seed,
        samer=options,
    )
    taken = competition_pool(pool, responses, pool_size, plan.seed)
    plan = _focused(plan, coarse, target, width)
    earlier = () if previous is None else read_comparisons(arguments.text(previous, "previous"))
    for note in taken.notes:
        logger.warning(note)
    answering = responses is None
    check = partial(
        check_roles,
        judge,
        least=MIN_CONTESTANTS if answering else 0,
        answered=taken.contestants,
        similarity=SIMILARITY if isinstance(chosen, AskedSimilarity) else None,
    )
    _check_early(plan, taken, chosen, earlier, answering, check)
    return Task(
        dataset=Competition(plan, taken, answering=answering, check_roles=check, similarity=chosen, previous=earlier),
        solver=solver,
        scorer=pair_choice(judge),
        version=MAD_VERSION,
        display_name=f"MAD: {taken.name}",
        metadata=_facts(taken, chosen, plan, earlier),
        viewer=competition_viewer(),
        setup=preflight_setup(preflight, _roles_of(judge, chosen)),
    )


def _roles_of(judge: str, similarity: Similarity) -> list[str]:
    """Roles whose models this competition asks."""
    return [
        CONTESTANT,
        *([GRADER] if judge == GRADER else []),
        *([SIMILARITY] if isinstance(similarity, AskedSimilarity) else []),
    ]


def _check_early(
    plan: Plan,
    pool: Pool,
    similarity: Similarity,
    previous: Sequence[Comparison],
    answering: bool,
    check: Callable[[], None],
) -> None:
    """Refuse what could only fail, before anything is asked; what depends on answers to come is checked later."""
    known = roles_known()
    if known:
        check()
    uniform = plan.allocation == UNIFORM
    if uniform and plan.k > len(pool.instructions):
        raise InputError(f"k={plan.k} is more than the {len(pool.instructions)} instructions of the pool '{pool.name}'")
    shortlist = plan.rules.shortlist
    if uniform and shortlist is not None and plan.k > shortlist and not isinstance(similarity, VectorSimilarity):
        raise InputError(f"shortlist: must be at least k={plan.k}, got {shortlist}")
    if known and not answering and not has_contestants():
        taking_part, masks, _ = lineup(pool, plan, previous)
        if uniform:
            check_pool(taking_part, plan.k, masks, hint=hint(plan))
        if plan.rules.method in NEEDS_PROBABILITIES:
            check_probabilities(taking_part, plan.rules.method)


def _similarity(spec: str, url: str | None) -> Similarity:
    name = parse_similarity(spec).name
    if url is not None and name != "openai":
        raise InputError(f"similarity_url: only for similarity=openai/<model>, not for '{spec}'")
    options: dict[str, Any] = {"base_url": url} if url is not None else {}
    if name == "llm":
        calls = JudgeCalls("Pairs of answers without a similarity are not selected.")

        async def ask(prompt: JudgePrompt) -> str | JudgeFailure:
            return (await calls.ask(SIMILARITY, prompt))[0]

        options["ask"] = asked_similarity(ask)
    return load_similarity(spec, **options)


def _focused(plan: Plan, coarse: object, target: object, width: object) -> Plan:
    if (coarse is None) != (target is None):
        raise InputError("coarse and target: both or none; target names a model in the ranking of coarse")
    if coarse is None:
        return plan
    ranking = rank(read_battles(arguments.paths(coarse, "coarse")))
    near_by = near(ranking.players, arguments.text(target, "target"), arguments.whole(width, "width", least=1))
    return replace(plan, only=near_by)


def _facts(pool: Pool, similarity: Similarity, plan: Plan, previous: Sequence[Comparison]) -> dict[str, object]:
    """What identifies the data and the selection of a run, for the log."""
    return {
        "dataset": pool.name,
        "dataset_sha256": pool.sha256,
        "instructions": len(pool.instructions),
        "answered_in_logs": list(pool.contestants),
        "notes": list(pool.notes),
        "similarity": similarity.name,
        "previous_comparisons": len(previous),
        **({} if plan.only is None else {"only": list(plan.only)}),
    }
