"""Samples of a run -> calls, tokens and money."""

from collections.abc import Sequence

from inspect_ai.dataset import Sample

from urs_inspect.judging import JudgePrompt, PromptBuilder
from urs_inspect.judging.pair_calls import orders_of, pair_calls
from urs_inspect.reports.estimate.amount import Amount, total
from urs_inspect.reports.estimate.lengths import Lengths
from urs_inspect.reports.estimate.prices import Prices
from urs_inspect.reports.estimate.roles import (
    ABOUT_ASKING,
    ABOUT_CACHES,
    ASKED_AGAIN,
    GRADER,
    UNDER_TEST,
    RoleEstimate,
    RunEstimate,
    role_estimate,
    run_estimate,
)
from urs_inspect.reports.estimate.tokens import TokenCounter

_SELF_JUDGED = "No judge is named (--model-role grader=...): each model judges itself."


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
    languages = [str((sample.metadata or {}).get("language", "")) for sample in samples]
    references = [counter.count(str(sample.target)) for sample in samples]
    asked = total(counter.messages(str(sample.input)) for sample in samples)
    prompts = total(_prompt(sample, builder, judge_language, counter) for sample in samples)
    runs, number = float(epochs), len(samples) * epochs
    again = ASKED_AGAIN * runs
    answering: list[RoleEstimate] = []
    judging: list[RoleEstimate] = []
    for model in models:
        answers = total(lengths.answer(model, *one) for one in zip(languages, references, strict=True))
        amounts = (Amount.exactly(float(number)), asked * runs, answers * runs)
        answering.append(role_estimate(UNDER_TEST, model, number, amounts, prices))
        # Each run has the panel judge its own answers.
        for judge in graders or (model,):
            replies = total(lengths.judgement(judge, language) for language in languages)
            amounts = (again * float(len(samples)), (prompts + answers) * again, replies * again)
            judging.append(role_estimate(GRADER, judge, number, amounts, prices))
    about = (*lengths.about_answers, *lengths.about_judgements, ABOUT_ASKING, ABOUT_CACHES)
    notes = () if graders else (_SELF_JUDGED,)
    return run_estimate("urs", samples, epochs, [*answering, *judging], (counter.assumption, *about, *notes))


def _prompt(sample: Sample, builder: PromptBuilder, judge_language: str | None, counter: TokenCounter) -> Amount:
    """Tokens of the judge's prompt without the answer."""
    facts = sample.metadata or {}
    language = judge_language or str(facts.get("language", ""))
    prompt = builder.build(
        str(facts["intent"]), language, question=str(sample.input), reference=str(sample.target), answer="-"
    )
    return counter.messages(prompt.instructions, prompt.case)


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
    amounts = (Amount.exactly(len(calls) * runs), sent, received)
    roles = [role_estimate(UNDER_TEST, model, len(samples) * epochs, amounts, prices) for model in models]
    about = (counter.assumption, *lengths.about_verdicts, ABOUT_CACHES)
    return run_estimate(task, samples, epochs, roles, about)
