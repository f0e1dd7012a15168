"""`contest`: contestants answer an instruction; judges compare two answers."""

from collections.abc import Collection, Sequence
from typing import Annotated, Any

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import collect

from urs_inspect._arguments import Structured, checked, one_of
from urs_inspect._util import InputError, choices, counted
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.discrepancy._pools import MIN_CONTESTANTS
from urs_inspect.judging._frames import JudgePrompt
from urs_inspect.judging._pair_reply import First
from urs_inspect.judging._prompts import (
    Orders,
    choice_prompt,
    comparison_languages,
    comparison_scenarios,
    orders_of,
)
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.solvers._local_judges import (
    LocalFailure,
    LocalJudge,
    local_judge,
    local_judges,
    local_pair,
    local_replies,
)
from urs_inspect.solvers._model_calls import CallError, JudgeCalls, attempt, error_of
from urs_inspect.solvers._pair_asking import (
    PairCall,
    ask_pairs,
    baseline_reply,
    keep_replies,
)
from urs_inspect.solvers._role_models import (
    BASELINE_PREFIX,
    GRADER,
    bound_models,
    models_with,
)
from urs_inspect.stats import BASELINES

CONTESTANT = "contestant"
HUMAN = "human"
"""Role of the models that are compared; people as judges."""

RESPONSES = "responses"
"""Key of the store under which the contestants' answers are kept."""

_BLIND = tuple(kind for kind in BASELINES if kind != "copy_overall")
_SHOWN = 20_000
"""Characters of an answer that the list of all answers repeats; the store has the whole answer."""


@solver
@checked
def contest(
    judge: str = GRADER,
    orders: Orders = "both",
    judge_language: Annotated[str, one_of(comparison_languages)] | None = None,
    log_probabilities: bool = False,
    least: int = MIN_CONTESTANTS,
    seed: int = 0,
    samer: dict[str, Any] | None = None,
    structured: Structured = "auto",
) -> Solver:
    """Have a sample's instruction answered by all contestants, or its ballot judged.

    Which of the two is to be done the sample's phase says.

    Args:
        judge: `grader` for the models with that role, which form a panel; `samer`, which evaluates
            each response by itself, without scenario and reference; `reward_model` likewise;
            `human` to call no model; or `baseline/<kind>`.
        orders: `ab`, `seeded` or `both`, as for `compare_pair`.
        judge_language: Language of the judge's instructions; by default that of each ballot.
        log_probabilities: Whether contestants are asked for the log probabilities of their tokens.
        least: How many contestants the run needs; 1 if others have answered in earlier runs.
        seed: Seed of the coin and of the random baseline.
        samer: For `samer` and `reward_model`: `model` and the other arguments of that scorer.
        structured: Whether judges are asked by a JSON schema of their reply: `true`, `false`, or
            `auto`, where the preflight of the run saw that their server follows one.

    Returns:
        The solver; what it got is in the sample's store.

    Raises:
        InputError: If an argument is unknown.
    """
    check_contest_judge(judge)
    judge_calls = JudgeCalls(structured=structured)
    local = local_judge(judge, samer)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.metadata["phase"] == "answer":
            check_roles(
                judge, least=least
            )  # before anything is spent on answers that nobody could compare
            if state.epoch == 1:  # the answers of further epochs would not be compared
                await _answer(state, log_probabilities)
        elif judge != HUMAN and "previous" not in state.metadata:
            judge_calls.begin(state)
            ballot = Ballot.from_dict(state.metadata["ballot"], f"sample {state.sample_id}")
            firsts = orders_of(orders, ballot.id, seed)
            if local is not None:
                await _judge_locally(state, ballot, local, firsts, judge)
            elif judge == GRADER:
                await _judge_by_models(state, ballot, firsts, judge_language, judge_calls)
            else:
                _judge_by_baseline(state, ballot, judge, firsts, seed)
        return state

    return solve


def check_contest_judge(judge: object) -> None:
    """Refuse an unknown judge, by an `InputError` that names the allowed ones."""
    allowed = (GRADER, HUMAN, *local_judges(), *(BASELINE_PREFIX + kind for kind in _BLIND))
    if judge not in allowed:
        raise InputError(f"judge: unknown judge '{judge}'; allowed: {choices(allowed)}")


def contestants() -> list[Model]:
    """The models with the role `contestant`, each with a name of its own, else `InputError`."""
    models = models_with(CONTESTANT)
    names = [str(model) for model in models]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(
            f"contestants: {', '.join(twice)} is named twice; each contestant needs a name of"
            " its own"
        )
    return models


def has_contestants() -> bool:
    """Whether a model of the run has the role `contestant`."""
    return bool(bound_models(CONTESTANT))


def check_roles(
    judge: str,
    *,
    least: int = MIN_CONTESTANTS,
    answered: Collection[str] = (),
    similarity: str | None = None,
) -> None:
    """Refuse models of the run with which a competition could not be held.

    `least` contestants are needed, none of them among the models that have `answered` before;
    `similarity` is the role of a model that is asked for similarities, if one is.
    """
    names = []
    if least or has_contestants():
        names = [str(model) for model in contestants()]
    if len(names) < least:
        raise InputError(f"contestants: at least {least} are needed, got {choices(names)}")
    if again := sorted(set(names) & set(answered)):
        raise InputError(
            f"contestants: the answers of {choices(again)} are in the logs already; leave it out of"
            f" the role '{CONTESTANT}', or its log out of responses"
        )
    if judge == GRADER:
        models_with(GRADER)
    if similarity is not None:
        models_with(similarity)


async def _answer(state: TaskState, log_probabilities: bool) -> None:
    models = contestants()
    config = GenerateConfig(logprobs=True) if log_probabilities else GenerateConfig()
    replies: dict[str, dict[str, Any]] = {}

    async def ask(model: Model) -> None:
        replies[str(model)] = await _reply(model, state.input, config)

    try:
        await collect(*[ask(model) for model in models])
    finally:  # a limit of the sample must not lose the answers that came before it
        state.store.set(RESPONSES, dict(sorted(replies.items())))
    shown = "\n\n".join(f"### {name}\n\n{_text(reply)}" for name, reply in sorted(replies.items()))
    state.output = ModelOutput.from_content(f"{len(models)} contestants", shown)
    state.messages.append(state.output.message)


async def _reply(
    model: Model, given: str | list[ChatMessage], config: GenerateConfig
) -> dict[str, Any]:
    output = await attempt(model.generate(given, config=config))
    if isinstance(output, CallError):
        return {"text": "", "error": output}
    reply: dict[str, Any] = {"text": output.completion, "stop_reason": output.stop_reason}
    if error := error_of(output):
        reply["error"] = error
    elif output.choices[0].logprobs:
        reply["log_probabilities"] = [
            round(token.logprob, 5) for token in output.choices[0].logprobs.content
        ]
    return reply


def _text(reply: dict[str, Any]) -> str:
    if reply.get("error"):
        return f"*No answer: {reply['error']}*"
    text = str(reply["text"])
    if len(text) <= _SHOWN:
        return text
    return f"{text[:_SHOWN]}\n\n*({counted(len(text) - _SHOWN, 'more character')})*"


async def _judge_locally(
    state: TaskState, ballot: Ballot, local: LocalJudge, firsts: Sequence[First], judge: str
) -> None:
    pair = await local_pair(state, local, ballot.instruction, ballot.response_a, ballot.response_b)
    text = ""
    if not isinstance(pair, LocalFailure):
        text = pair.explained((ballot.model_a, ballot.model_b))
    replies = local_replies(pair, (OVERALL,), firsts, text)
    keep_replies(state, replies, [judge] * len(firsts))
    state.output = ModelOutput.from_content(judge, text or replies[0].error)


def _judge_by_baseline(
    state: TaskState, ballot: Ballot, judge: str, firsts: Sequence[First], seed: int
) -> None:
    facts = {"response_a": ballot.response_a, "response_b": ballot.response_b, "label": "tie"}
    kind = judge.removeprefix(BASELINE_PREFIX)
    replies = [baseline_reply(kind, facts, first, ballot.id, seed) for first in firsts]
    keep_replies(state, replies, [judge] * len(replies))
    state.output = ModelOutput.from_content(judge, str(replies[0].verdicts))


async def _judge_by_models(
    state: TaskState,
    ballot: Ballot,
    firsts: Sequence[First],
    language: str | None,
    judge_calls: JudgeCalls,
) -> None:
    calls: list[PairCall] = []
    for model in models_with(GRADER):
        # A judge's role may set a temperature of its own.
        temperature = None
        if model.config.temperature is None:
            temperature = 0
        config = GenerateConfig(temperature=temperature)
        for first in firsts:
            prompt = _prompt(ballot, first, language)
            calls.append(PairCall(model, first, (OVERALL,), prompt, config))
    names = [str(call.model) for call in calls]
    replies = await ask_pairs(state, calls, judge_calls, names)
    state.output = ModelOutput.from_content(names[0], "\n\n".join(reply.reply for reply in replies))
    state.messages.append(state.output.message)


def _prompt(ballot: Ballot, first: First, language: str | None) -> JudgePrompt:
    responses = (ballot.response_a, ballot.response_b)
    scenario = "general"
    if ballot.scenario in comparison_scenarios():
        scenario = ballot.scenario
    if not language:
        language = "en"
        if ballot.language in comparison_languages():
            language = ballot.language
    shown = responses if first == "a" else responses[::-1]
    return choice_prompt(scenario, language, ballot.instruction, *shown, reference=ballot.reference)
