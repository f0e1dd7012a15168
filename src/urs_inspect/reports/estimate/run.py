"""Samples of a run -> calls, tokens and money."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from inspect_ai.dataset import Sample

from urs_inspect.judging import JudgePrompt, PromptBuilder
from urs_inspect.judging.pair_calls import orders_of, pair_calls
from urs_inspect.reports.estimate.amount import Amount, total
from urs_inspect.reports.estimate.lengths import Lengths
from urs_inspect.reports.estimate.prices import Prices
from urs_inspect.reports.estimate.tokens import TokenCounter

UNDER_TEST, GRADER = "model", "grader"
_ASKED_AGAIN = Amount(1.0, 1.01, 1.05)
_COMMON = (
    f"Judges are asked again for {_ASKED_AGAIN.expected - 1:.0%} of the answers, 0% to {_ASKED_AGAIN.high - 1:.0%}; "
    "this is an assumption, as is that no call fails.",
    "Caches of prompts, which make a judge's static part cheaper, are not counted; nor are discounts for batches.",
)


@dataclass(frozen=True)
class RoleEstimate:
    """What one model will take in one role.

    Attributes:
        role: `model` for the model under test, or `grader`.
        model: Name of the model.
        calls: Number of calls.
        input_tokens: Tokens sent.
        output_tokens: Tokens received.
        cost: US dollars; None if the price is not known.
    """

    role: str
    model: str
    calls: Amount
    input_tokens: Amount
    output_tokens: Amount
    cost: Amount | None


@dataclass(frozen=True)
class RunEstimate:
    """What a run will take.

    Attributes:
        task: Name of the task.
        samples: Number of samples, epochs not counted.
        epochs: Number of epochs.
        roles: One entry a model and role.
        cost: US dollars of all that have a price; None if none has.
        unpriced: Models without a price, in order.
        assumptions: Everything that was assumed, a sentence each.
    """

    task: str
    samples: int
    epochs: int
    roles: tuple[RoleEstimate, ...]
    cost: Amount | None
    unpriced: tuple[str, ...]
    assumptions: tuple[str, ...]


def estimate_urs(
    samples: Sequence[Sample],
    builder: PromptBuilder,
    judge_language: str | None,
    *,
    models: Sequence[str],
    graders: Sequence[str],
    epochs: int,
    counter: TokenCounter,
    lengths: Lengths,
    prices: Prices,
) -> RunEstimate:
    """Estimate a run of `urs`.

    Args:
        samples: The samples that will run, with the question as input, the reference as target.
        builder: Builds the judges' prompts.
        judge_language: Language of these; None for that of each case.
        models: The models under test, each of which has a run.
        graders: The judges; empty where a model judges itself.
        epochs: How often each sample is run.
        counter: Counts tokens.
        lengths: How long answers and judgements will be.
        prices: What tokens cost.

    Returns:
        The estimate. The judge's input is the real prompt with the question and its reference.
    """
    asked: list[Amount] = []
    answers: list[Amount] = []
    judged: list[Amount] = []
    replies: list[Amount] = []
    for sample in samples:
        facts, question, reference = sample.metadata or {}, str(sample.input), str(sample.target)
        language = str(facts.get("language", ""))
        answer = lengths.answer(language, counter.count(reference))
        prompt = builder.build(
            str(facts["intent"]), judge_language or language, question=question, reference=reference, answer="-"
        )
        asked.append(counter.messages(question))
        answers.append(answer)
        judged.append(counter.messages(prompt.instructions, prompt.case) + answer)
        replies.append(lengths.judgement(language))
    runs = float(epochs)
    answering = (Amount.exactly(len(samples) * runs), total(asked) * runs, total(answers) * runs)
    again = _ASKED_AGAIN * runs
    judging = (again * float(len(samples)), total(judged) * again, total(replies) * again)
    roles = [_role(UNDER_TEST, model, answering, prices) for model in models]
    # Each run has the panel judge its own answers.
    roles += [_role(GRADER, judge, judging, prices) for model in models for judge in (graders or (model,))]
    notes = () if graders else ("No judge is named (--model-role grader=...): each model judges itself.",)
    return _estimate(
        "urs", len(samples), epochs, _merged(roles), (counter.assumption, *lengths.assumptions, *_COMMON, *notes)
    )


def estimate_pairs(
    task: str,
    samples: Sequence[Sample],
    *,
    protocol: str,
    orders: str,
    seed: int,
    models: Sequence[str],
    epochs: int,
    counter: TokenCounter,
    lengths: Lengths,
    prices: Prices,
) -> RunEstimate:
    """Estimate a run of `md_eval`, where the model under test judges pairs.

    Args:
        task: Name of the task.
        samples: The samples that will run.
        protocol: As for the task, here and below.
        orders: Which response is shown first.
        seed: Seed of the coin.
        models: The models under test.
        epochs: How often each sample is run.
        counter: Counts tokens.
        lengths: How long verdicts will be.
        prices: What tokens cost.
    """
    calls: list[tuple[tuple[str, ...], JudgePrompt]] = []
    for sample in samples:
        facts = dict(sample.metadata or {})
        for first in orders_of(orders, str(sample.id), seed):
            calls += [(names, prompt) for _, names, prompt in pair_calls(protocol, facts, first, True)]
    runs = float(epochs)
    sent = total(counter.messages(prompt.instructions, prompt.case) for _, prompt in calls) * runs
    received = total(lengths.verdict * float(len(names)) for names, _ in calls) * runs
    roles = [_role(UNDER_TEST, model, (Amount.exactly(len(calls) * runs), sent, received), prices) for model in models]
    return _estimate(task, len(samples), epochs, roles, (counter.assumption, *lengths.assumptions, *_COMMON[1:]))


def _role(role: str, model: str, amounts: tuple[Amount, Amount, Amount], prices: Prices) -> RoleEstimate:
    calls, sent, received = amounts
    return RoleEstimate(role, model, calls, sent, received, prices.cost(model, sent, received))


def _merged(roles: Iterable[RoleEstimate]) -> list[RoleEstimate]:
    """One entry a model and role: a judge of several models judges the answers of each."""
    found: dict[tuple[str, str], RoleEstimate] = {}
    for one in roles:
        known = found.get((one.role, one.model))
        found[one.role, one.model] = one if known is None else _added(known, one)
    return list(found.values())


def _added(one: RoleEstimate, other: RoleEstimate) -> RoleEstimate:
    return RoleEstimate(
        one.role,
        one.model,
        one.calls + other.calls,
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
        None if one.cost is None or other.cost is None else one.cost + other.cost,
    )


def _estimate(
    task: str, samples: int, epochs: int, roles: Sequence[RoleEstimate], assumptions: tuple[str, ...]
) -> RunEstimate:
    priced = [one.cost for one in roles if one.cost is not None]
    return RunEstimate(
        task,
        samples,
        epochs,
        tuple(roles),
        total(priced) if priced else None,
        tuple(dict.fromkeys(one.model for one in roles if one.cost is None)),
        assumptions,
    )
