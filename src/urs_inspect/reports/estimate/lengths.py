"""How long answers and judgements will be."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from urs_inspect.errors import InputError
from urs_inspect.rating import mean_interval
from urs_inspect.reports.estimate.amount import Amount
from urs_inspect.reports.intent.answers import read_answers

_OF_REFERENCE = Amount(0.5, 1.0, 2.0)
_JUDGEMENT = Amount(200, 450, 900)
_VERDICT = Amount(40, 150, 400)


@dataclass(frozen=True)
class Lengths:
    """Lengths in tokens.

    Attributes:
        answer: Language and tokens of the reference -> tokens of an answer.
        judgement: Language -> tokens of a judge's reply.
        verdict: Tokens of a reply about a pair, for each verdict that is asked for.
        assumptions: Where these come from, a sentence each.
    """

    answer: Callable[[str, Amount], Amount]
    judgement: Callable[[str], Amount]
    verdict: Amount
    assumptions: tuple[str, ...]


def assumed_lengths(answer: int | None = None, judgement: int | None = None) -> Lengths:
    """Lengths without a log.

    Args:
        answer: Tokens of an answer; None for those of its reference, from half to twice as many.
        judgement: Tokens of a judge's reply; None for an assumption.
    """
    said = (
        "An answer is assumed to be as long as its reference, from half to twice as long (--answer-tokens)."
        if answer is None
        else f"An answer is taken to have {answer} tokens (--answer-tokens).",
        f"A judge's reply is assumed to have {_said(_JUDGEMENT)} tokens, about a pair {_said(_VERDICT)} for each "
        "verdict (--judge-tokens)."
        if judgement is None
        else f"A judge's reply is taken to have {judgement} tokens (--judge-tokens).",
        "A model that reasons before it answers takes more than that.",
    )
    reply = _JUDGEMENT if judgement is None else Amount.exactly(judgement)
    return Lengths(
        answer=lambda _, reference: reference * _OF_REFERENCE if answer is None else Amount.exactly(answer),
        judgement=lambda _: reply,
        verdict=_VERDICT if judgement is None else Amount.exactly(judgement),
        assumptions=said,
    )


def measured_lengths(logs: Iterable[str], otherwise: Lengths) -> Lengths:
    """Lengths as measured in logs of `urs`, by language.

    Args:
        logs: Log files and directories.
        otherwise: Lengths for languages, or whole columns, that the logs say nothing about.

    Returns:
        Means with their 95% intervals as ranges.

    Raises:
        InputError: If no log can be used.
    """
    names = list(logs)
    answers_read = read_answers(names)
    table = answers_read.table
    answers, judgements = (_by_language(table, key) for key in ("output_tokens", "judge_output_tokens"))
    if not answers and not judgements:
        raise InputError(f"--from: no usage of tokens in: {', '.join(names)}")
    models = ", ".join(sorted(set(table["base_model"])))
    judges = ", ".join(sorted(set(table["judges"])))
    return Lengths(
        answer=lambda language, reference: answers.get(language) or otherwise.answer(language, reference),
        judgement=lambda language: judgements.get(language) or otherwise.judgement(language),
        verdict=otherwise.verdict,
        assumptions=(
            f"Answers are taken to be as long as those of {models}, {_words(answers)}.",
            f"Replies of judges are taken to be as long as those of {judges}, of a panel together: "
            f"{_words(judgements)}.",
            *(f"Left out of --from: {sentence}" for sentence in answers_read.left_out),
        ),
    )


def _said(amount: Amount) -> str:
    return f"{amount.expected:g} ({amount.low:g} to {amount.high:g})"


def _by_language(table: pd.DataFrame, column: str) -> dict[str, Amount]:
    found: dict[str, Amount] = {}
    for language, values in table.groupby("language")[column]:
        known = [float(value) for value in values if not math.isnan(value) and value > 0]
        if known:
            estimate = mean_interval(known)
            low, high = (estimate.mean if math.isnan(end) else end for end in (estimate.low, estimate.high))
            found[str(language)] = Amount(max(0.0, low), estimate.mean, high)
    return found


def _words(lengths: Mapping[str, Amount]) -> str:
    if not lengths:
        return "which is not known: assumed as without a log"
    return "; ".join(f"{language}: {one.expected:.0f} tokens" for language, one in sorted(lengths.items()))
