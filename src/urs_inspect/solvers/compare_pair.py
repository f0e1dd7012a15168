"""`compare_pair`: the model under test, SaMer or a baseline judges two responses."""

from logging import getLogger
from typing import Any

from inspect_ai.model import Model, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import collect

from urs_inspect._util import InputError, choices
from urs_inspect.judging import OVERALL, PENDING
from urs_inspect.judging.prompts import ORDERS, PROTOCOLS, PairReply, orders_of, pair_calls
from urs_inspect.solvers.model_calls import JudgeCalls
from urs_inspect.solvers.pair_asking import ask_pair, baseline_reply, check_choice, keep_replies
from urs_inspect.solvers.role_models import (
    BASELINE_PREFIX,
    MODEL_JUDGE,
    SAMER_JUDGE,
    is_none,
    judge_model,
    refuse_no_model,
)
from urs_inspect.solvers.samer_judge import SamerPair, samer_choice, samer_pair, samer_replies
from urs_inspect.stats import BASELINES

logger = getLogger(__name__)


@solver
def compare_pair(
    protocol: str = "joint",
    orders: str = "ab",
    judge: str = MODEL_JUDGE,
    ties: bool = True,
    seed: int = 0,
    samer: dict[str, Any] | None = None,
) -> Solver:
    """Have the two responses in a sample's metadata compared, and keep every reply in the sample's store.

    Args:
        protocol: `joint`: all dimensions and overall in one reply; `per_dimension`: one call a dimension and one
            overall; `overall`: one call, overall only.
        orders: `ab` as in the data, `seeded` by a coin for each sample, `both` twice.
        judge: `model` for the model under test; `samer`, which evaluates each response by itself: the larger overall
            score is better, and on a dimension the larger score, whether SaMer selects it or not; or
            `baseline/<kind>`. The last two call no model.
        ties: Whether a model may answer `overall` with a tie.
        seed: Seed of the coin and of the random baseline.
        samer: For `samer`: `model` and the other arguments of the scorer `samer`.

    Returns:
        The solver.

    Raises:
        InputError: If an argument is unknown, or there is known to be no model where one is to judge.
    """
    check_choice(protocol, "protocol", PROTOCOLS)
    check_choice(orders, "orders", ORDERS)
    baseline = check_judge(judge)
    choice = samer_choice(judge, samer)
    unused: set[str] = set()
    judge_calls = JudgeCalls()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        judge_calls.begin(state)
        facts = state.metadata
        firsts = orders_of(orders, str(state.sample_id), seed)
        judged = {**facts, "dimensions": {}} if protocol == "overall" else facts
        if choice is not None:
            _say_unused(get_model(), judge, unused)
            found = await samer_pair(state, choice, facts["prompt"], facts["response_a"], facts["response_b"])
            names = (*judged.get("dimensions", {}), OVERALL)
            record = found.record(names) if isinstance(found, SamerPair) else ""
            keep_replies(state, samer_replies(found, names, firsts, record))
            said = found.explained(("response a", "response b")) if isinstance(found, SamerPair) else found.detail
            state.output = ModelOutput.from_content(judge, said)
        elif baseline is not None:
            _say_unused(get_model(), judge, unused)
            replies = [baseline_reply(baseline, judged, first, str(state.sample_id), seed) for first in firsts]
            keep_replies(state, replies)
            state.output = ModelOutput.from_content(judge, str(replies[0].verdicts))
        else:
            calls = [call for first in firsts for call in pair_calls(protocol, facts, first, ties)]
            model = judge_model()
            replies = [PairReply(first, asked, stop_reason=PENDING) for first, asked, _ in calls]

            async def ask(index: int) -> None:
                replies[index] = await ask_pair(model, *calls[index], judge_calls)

            try:
                await collect(*[ask(index) for index in range(len(calls))])
            finally:  # a limit of the sample must not lose the replies that came before it
                keep_replies(state, replies)
            state.output = ModelOutput.from_content(str(model), "\n\n".join(reply.reply for reply in replies))
        state.messages.append(state.output.message)
        return state

    return solve


def check_judge(judge: str) -> str | None:
    """Read who judges.

    Args:
        judge: `model`, `samer` or `baseline/<kind>`.

    Returns:
        The kind of baseline; None for the others.

    Raises:
        InputError: If there is no such judge, or there is known to be no model where one is to judge.
    """
    if judge == MODEL_JUDGE:
        refuse_no_model()
        return None
    if judge == SAMER_JUDGE:
        return None
    baseline = str(judge).removeprefix(BASELINE_PREFIX)
    if baseline == judge or baseline not in BASELINES:
        raise InputError(
            f"judge: unknown judge '{judge}'; allowed: {MODEL_JUDGE}, {SAMER_JUDGE}, "
            f"{choices(BASELINE_PREFIX + kind for kind in BASELINES)}"
        )
    return baseline


def _say_unused(model: Model, judge: str, said: set[str]) -> None:
    """Say once for a model that it is not asked; else the log of a baseline could pass for one of the model."""
    name = str(model)
    if not is_none(model) and name not in said:
        said.add(name)
        logger.warning(f"judge={judge} judges without a model: {name} is not called; use --model none")
