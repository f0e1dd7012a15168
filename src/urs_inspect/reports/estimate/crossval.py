"""Judgements of a cross-validation -> calls, tokens and money."""

from collections.abc import Sequence

from inspect_ai.dataset import Sample

from urs_inspect.judging import PromptBuilder
from urs_inspect.reports.estimate.amount import Amount, total
from urs_inspect.reports.estimate.lengths import Lengths
from urs_inspect.reports.estimate.prices import Prices
from urs_inspect.reports.estimate.roles import (
    ABOUT_ASKING,
    ABOUT_CACHES,
    ASKED_AGAIN,
    GRADER,
    RunEstimate,
    role_estimate,
    run_estimate,
)
from urs_inspect.reports.estimate.tokens import TokenCounter
from urs_inspect.solvers.recorded_answer import ANSWER
from urs_inspect.texts import is_blank

_RECORDED = "Answers are those of the logs: none is generated, and their tokens are counted as they are."


def estimate_crossval(
    samples: Sequence[Sample],
    builder: PromptBuilder,
    judge_language: str | None,
    *,
    epochs: int,
    counter: TokenCounter,
    lengths: Lengths,
    prices: Prices,
) -> RunEstimate:
    """Estimate a run of `urs_crossval`: one judgement a case, evaluator, source of references and tested model.

    Args:
        samples: The samples that will run, each a judgement, with the recorded answer in its metadata.
        builder: Builds the judges' prompts.
        judge_language: Language of these; None for that of each case.
        epochs: How often each sample is run.
        counter: Counts tokens.
        lengths: How long judgements will be.
        prices: What tokens cost.

    Returns:
        The estimate, one entry an evaluator. Answers that are empty or missing are not judged.
    """
    # Evaluators are sent the same prompts, which are built and counted once.
    prompts: dict[tuple[str, ...], Amount] = {}
    sent: dict[str, list[Amount]] = {}
    received: dict[str, list[Amount]] = {}
    cells: dict[str, int] = {}
    for sample in samples:
        facts = sample.metadata or {}
        evaluator, answer = str(facts["evaluator"]), str(facts.get(ANSWER, ""))
        cells[evaluator] = cells.get(evaluator, 0) + 1
        sent.setdefault(evaluator, [])
        received.setdefault(evaluator, [])
        if is_blank(answer):
            continue
        cell = tuple(str(facts[key]) for key in ("case", "source", "model"))
        if cell not in prompts:
            prompts[cell] = _prompt(sample, answer, builder, judge_language, counter)
        sent[evaluator].append(prompts[cell])
        received[evaluator].append(lengths.judgement(evaluator, str(facts["language"])))
    again = ASKED_AGAIN * float(epochs)
    roles = [
        role_estimate(
            GRADER,
            name,
            cells[name] * epochs,
            (again * float(len(sent[name])), total(sent[name]) * again, total(received[name]) * again),
            prices,
        )
        for name in cells
    ]
    unasked = sum(cells.values()) - sum(map(len, sent.values()))
    notes = [f"Answers that are missing or empty, for which no judge is called: {unasked} of {len(samples)}."]
    about = (counter.assumption, _RECORDED, *lengths.about_judgements, ABOUT_ASKING, ABOUT_CACHES)
    return run_estimate("urs_crossval", samples, epochs, roles, (*about, *(notes if unasked else [])))


def _prompt(
    sample: Sample, answer: str, builder: PromptBuilder, judge_language: str | None, counter: TokenCounter
) -> Amount:
    facts = sample.metadata or {}
    prompt = builder.build(
        str(facts["intent"]),
        judge_language or str(facts["language"]),
        question=str(sample.input),
        reference=str(sample.target),
        answer=answer,
    )
    return counter.messages(prompt.instructions, prompt.case)
