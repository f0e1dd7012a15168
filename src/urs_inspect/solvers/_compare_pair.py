"""`compare_pair`: the model under test, SaMer or a baseline judges two responses."""

from logging import getLogger
from typing import Any

from inspect_ai.model import GenerateConfig, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from urs_inspect._arguments import Structured, checked
from urs_inspect._util import InputError, choices
from urs_inspect.judging._prompts import Orders, Protocol, orders_of, pair_calls
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.solvers._local_judges import (
    LocalFailure,
    local_judge,
    local_judges,
    local_pair,
    local_replies,
)
from urs_inspect.solvers._model_calls import JudgeCalls
from urs_inspect.solvers._pair_asking import (
    PairCall,
    ask_pairs,
    baseline_reply,
    keep_replies,
)
from urs_inspect.solvers._role_models import (
    BASELINE_PREFIX,
    MODEL_JUDGE,
    is_none,
    judge_model,
    refuse_no_model,
)
from urs_inspect.stats import BASELINES

logger = getLogger(__name__)

QUERY = "query"
"""Key of a sample's metadata: of a conversation, the message that an evaluator of one message
reads.
"""


@solver
@checked
def compare_pair(
    protocol: Protocol = "joint",
    orders: Orders = "ab",
    judge: str = MODEL_JUDGE,
    ties: bool = True,
    seed: int = 0,
    samer: dict[str, Any] | None = None,
    structured: Structured = "auto",
) -> Solver:
    """Have the two responses in a sample's metadata compared.

    Every reply is kept in the sample's store.

    Args:
        protocol: `joint`: all dimensions and overall in one reply; `per_dimension`: one call per
            dimension and one overall; `overall`: one call, overall only.
        orders: `ab` as in the data, `seeded` by a coin for each sample, `both` twice.
        judge: `model` for the model under test; `samer`, which evaluates each response by itself:
            the larger overall score is better, and on a dimension the larger score, whether SaMer
            selects it or not; `reward_model`, the same with its one number, with the protocol
            `overall`; or `baseline/<kind>`. Only `model` calls one.
        ties: Whether a model may answer `overall` with a tie.
        seed: Seed of the coin and of the random baseline.
        samer: For `samer` and `reward_model`: `model` and the other arguments of that scorer.
        structured: Whether a model is asked by a JSON schema of its reply: `true`, `false`, or
            `auto`, where the preflight of the run saw that its server follows one.

    Returns:
        The solver; the sample's output holds the replies, or the verdicts of a baseline, as text.

    Raises:
        InputError: If an argument is unknown, or there is known to be no model where one is to
            judge.
    """
    baseline = check_judge(judge)
    local = local_judge(judge, samer)
    if local is not None and not local.dimensions and protocol != "overall":
        raise InputError(f"judge={judge} gives no verdicts on dimensions; use protocol=overall")
    unused: set[str] = set()
    judge_calls = JudgeCalls(structured=structured)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        judge_calls.begin(state)
        facts = state.metadata
        firsts = orders_of(orders, str(state.sample_id), seed)
        judged = facts
        if protocol == "overall":
            judged = {**facts, "dimensions": {}}
        if judge != MODEL_JUDGE and not is_none(model := get_model()) and str(model) not in unused:
            # Else the log of a baseline could pass for one of the model.
            unused.add(str(model))
            logger.warning(
                f"judge={judge} judges without a model: {model} is not called; use --model none"
            )
        if local is not None:
            query = facts.get(QUERY, facts["prompt"])
            pair = await local_pair(state, local, query, facts["response_a"], facts["response_b"])
            names = (*judged.get("dimensions", {}), OVERALL)
            if isinstance(pair, LocalFailure):
                table = ""
                text = pair.detail
            else:
                table = pair.table(names)
                text = pair.explained(("response a", "response b"))
            keep_replies(state, local_replies(pair, names, firsts, table))
            state.output = ModelOutput.from_content(judge, text)
        elif baseline is not None:
            replies = [
                baseline_reply(baseline, judged, first, str(state.sample_id), seed)
                for first in firsts
            ]
            keep_replies(state, replies)
            state.output = ModelOutput.from_content(judge, str(replies[0].verdicts))
        else:
            model = judge_model()
            calls = []
            for first in firsts:
                for call in pair_calls(protocol, facts, first, ties):
                    calls.append(PairCall(model, *call, GenerateConfig()))
            replies = await ask_pairs(state, calls, judge_calls)
            state.output = ModelOutput.from_content(
                str(model), "\n\n".join(reply.reply for reply in replies)
            )
        state.messages.append(state.output.message)
        return state

    return solve


def check_judge(judge: str) -> str | None:
    """The kind of baseline that a judge is.

    Args:
        judge: `model`, a local judge, or `baseline/<kind>`.

    Returns:
        The kind; None for all but a baseline.

    Raises:
        InputError: If there is no such judge, or there is known to be no model where one is to
            judge.
    """
    if judge == MODEL_JUDGE:
        refuse_no_model()
        return None
    if judge in local_judges():
        return None
    baseline = str(judge).removeprefix(BASELINE_PREFIX)
    if baseline == judge or baseline not in BASELINES:
        raise InputError(
            f"judge: unknown judge '{judge}'; allowed: {choices((MODEL_JUDGE, *local_judges()))}, "
            f"{choices(BASELINE_PREFIX + kind for kind in BASELINES)}"
        )
    return baseline
