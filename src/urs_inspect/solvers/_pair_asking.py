"""Verdicts on a pair of responses by a model, by SaMer or by a baseline.

They are kept in the sample's store.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from inspect_ai.model import GenerateConfig, Model, ModelOutput
from inspect_ai.solver import TaskState
from inspect_ai.util import collect, concurrency

from urs_inspect._util import InputError, choices
from urs_inspect.judging._failures import MAX_DETAIL
from urs_inspect.judging._frames import JudgePrompt
from urs_inspect.judging._pair_reply import PENDING, REPLIES, First, PairReply, read_pair_reply
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.samer._engines import EngineFailure, QueryResponse
from urs_inspect.samer._engines.shared import EngineChoice, check_engine, shared_engine
from urs_inspect.samer._judgement import (
    EVALUATIONS,
    Judgement,
    engine_facts,
    explain_judgements,
    judge,
    judgement_facts,
)
from urs_inspect.solvers._model_calls import CallError, JudgeCalls, attempt
from urs_inspect.solvers._role_models import LOCAL_JUDGES, SAMER_JUDGE
from urs_inspect.stats import baseline_verdicts, encode

_NAME_OF = ("a", "b", "tie")


@dataclass(frozen=True)
class PairCall:
    """A call about a pair.

    The judge, which response its prompt shows first, and what verdicts it asks for.
    """

    model: Model
    first: First
    asked: tuple[str, ...]
    prompt: JudgePrompt
    config: GenerateConfig


def keep_replies(
    state: TaskState, replies: Sequence[PairReply], judges: Sequence[str] | None = None
) -> None:
    """Keep replies in the sample's store.

    `judges` are their judges, where that is not the model under test.
    """
    named = [{"judge": judge} for judge in judges] if judges is not None else [{}] * len(replies)
    state.store.set(
        REPLIES, [{**name, **asdict(reply)} for name, reply in zip(named, replies, strict=True)]
    )


async def ask_pairs(
    state: TaskState,
    calls: Sequence[PairCall],
    judge_calls: JudgeCalls,
    judges: Sequence[str] | None = None,
) -> list[PairReply]:
    """Make calls about a pair at once and keep the replies.

    A call that failed has a reply with its error.
    """
    replies = [PairReply(call.first, call.asked, stop_reason=PENDING) for call in calls]

    async def ask(place: int) -> None:
        replies[place] = await _ask_pair(calls[place], judge_calls)

    try:
        await collect(*[ask(place) for place in range(len(calls))])
    finally:  # a limit of the sample must not lose the replies that came before it
        keep_replies(state, replies, judges)
    return replies


async def _ask_pair(call: PairCall, judge_calls: JudgeCalls) -> PairReply:
    prompt = call.prompt
    kept = partial(
        PairReply,
        call.first,
        call.asked,
        prompt_version=prompt.version,
        prompt_sha256=prompt.sha256,
        key=prompt.key,
        needs_key=prompt.needs_key,
    )

    def reply_of(output: ModelOutput) -> PairReply:
        stop_reason = output.stop_reason if output.choices else "error"
        return kept(output.completion, stop_reason, (output.error or "")[:MAX_DETAIL])

    asking = judge_calls.generate_keyed(
        call.model, prompt, call.config, lambda output: read_pair_reply(reply_of(output)).failure
    )
    result = await attempt(asking)
    if isinstance(result, CallError):
        return kept(stop_reason="error", error=result)
    return replace(
        reply_of(result.output),
        asked_again=result.asked_again,
        temperature_requested=result.facts.requested,
        temperature_sent=result.facts.sent,
        structured=result.facts.structured,
    )


def call_facts(replies: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The different temperatures of requests, and whether they had a schema of the reply.

    Temperatures are those that were requested and those that were sent.

    For the log; nothing where no model was called.
    """
    called = [
        reply
        for reply in replies
        if reply.get("prompt_version") and reply["stop_reason"] not in (PENDING, "error")
    ]
    if not called:
        return {}
    facts: dict[str, list[Any]] = {}
    for name in ("temperature_requested", "temperature_sent"):
        facts[name] = list(dict.fromkeys(reply.get(name) for reply in called))
    facts["structured"] = sorted({bool(reply.get("structured")) for reply in called})
    return facts


def baseline_reply(
    kind: str, facts: Mapping[str, Any], first: First, sample_id: str, seed: int
) -> PairReply:
    """The verdicts of a baseline on `facts`.

    `response_a`, `response_b`, `label` and perhaps `dimensions` of a pair.

    Id and seed are for the random baseline.
    """
    names = (*facts.get("dimensions", {}), OVERALL)
    size = len(names)
    codes = baseline_verdicts(
        kind,
        lengths_a=[len(facts["response_a"])] * size,
        lengths_b=[len(facts["response_b"])] * size,
        first=encode([first] * size),
        overall_labels=encode([facts["label"]] * size),
        ids=[f"{sample_id}/{name}" for name in names],
        seed=seed,
    )
    verdicts = {name: _NAME_OF[int(code)] for name, code in zip(names, codes, strict=True)}
    return PairReply(first, names, verdicts=verdicts)


@dataclass(frozen=True)
class SamerPair:
    """SaMer's judgements of responses a and b, each evaluated by itself.

    The larger number is the better one.
    """

    a: Judgement
    b: Judgement

    def numbers(self, name: str) -> tuple[float, float]:
        """The numbers that are compared.

        The overall scores, or those on a dimension, selected or not, 0 to 1.
        """
        if name == OVERALL:
            return self.a.evaluation.overall, self.b.evaluation.overall
        at = self.a.names.index(name)
        return float(self.a.evaluation.scores[at]), float(self.b.evaluation.scores[at])

    def verdict(self, name: str) -> str:
        """`a`, `b`, or `tie` where both numbers are equal."""
        a, b = self.numbers(name)
        return "tie" if a == b else "a" if a > b else "b"

    def table(self, names: Sequence[str]) -> str:
        """The verdicts with their numbers, as a list in Markdown."""
        return "\n".join(
            f"- **{name}: {self.verdict(name)}.** "
            + "{:.3f} against {:.3f}".format(*self.numbers(name))
            for name in names
        )

    def explained(self, names: tuple[str, str]) -> str:
        """Both judgements as Markdown, under the names of the responses."""
        return explain_judgements(dict(zip(names, (self.a, self.b), strict=True)))


def samer_choice(judge_name: str, options: Mapping[str, Any] | None) -> EngineChoice | None:
    """The engine of a judge, checked; None if another judge was chosen.

    `options` are the fields of `EngineChoice`.
    """
    if judge_name not in LOCAL_JUDGES:
        if options is not None:
            raise InputError(
                f"samer: only with judge={choices(LOCAL_JUDGES)}, not with judge={judge_name}"
            )
        return None
    if options is None:
        raise InputError(
            f"judge={judge_name} needs samer: the folder of a checkpoint, or the address of a"
            " server"
        )
    choice = EngineChoice(**options, kind="samer" if judge_name == SAMER_JUDGE else "reward_model")
    check_engine(choice, concurrency)
    return choice


async def samer_pair(
    state: TaskState, choice: EngineChoice, query: str, response_a: str, response_b: str
) -> SamerPair | EngineFailure:
    """Evaluate two responses and keep both evaluations in the sample's store.

    Never raises for what an engine does.
    """
    engine = await shared_engine(choice, concurrency)
    if isinstance(engine, EngineFailure):
        return engine
    results = await judge(
        engine, [QueryResponse(query, response_a), QueryResponse(query, response_b)]
    )
    judgements: list[Judgement] = []
    for response, result in zip("ab", results, strict=True):
        if isinstance(result, EngineFailure):
            return EngineFailure(result.mode, f"response {response}: {result.detail}")
        judgements.append(result)
    facts = engine_facts(engine)
    state.store.set(
        EVALUATIONS, [{**judgement_facts(result), "samer": facts} for result in judgements]
    )
    return SamerPair(*judgements)


def samer_replies(
    result: SamerPair | EngineFailure, names: Sequence[str], firsts: Sequence[First], text: str = ""
) -> list[PairReply]:
    """Verdicts as replies, one per order with the same verdicts: SaMer sees one response at a time.

    `text` is the explanation, which is kept with the first order.
    """
    asked = tuple(names)
    if isinstance(result, EngineFailure):
        failed = partial(
            PairReply, asked=asked, stop_reason="error", error=result.detail, failure=result.mode
        )
        return [failed(first) for first in firsts]
    verdicts = {name: result.verdict(name) for name in asked}
    return [
        PairReply(first, asked, reply="" if place else text, verdicts=verdicts)
        for place, first in enumerate(firsts)
    ]
