"""How long answers and judgements will be, as assumed or given."""

from collections.abc import Callable
from dataclasses import dataclass

from urs_inspect.reports.estimate.amount import Amount

_OF_REFERENCE = Amount(0.5, 1.0, 2.0)
_JUDGEMENT = Amount(200, 450, 900)
_VERDICT = Amount(40, 150, 400)
_REASONING = "A model that reasons before it answers takes more than that."


@dataclass(frozen=True)
class Lengths:
    """Lengths in tokens.

    Attributes:
        answer: Model, language and tokens of the reference -> tokens of an answer.
        judgement: Judge and language -> tokens of a judge's reply.
        verdict: Tokens of a reply about a pair, for each verdict that is asked for.
        about_answers: Where the lengths of answers come from, a sentence each.
        about_judgements: Likewise.
        about_verdicts: Likewise.
    """

    answer: Callable[[str, str, Amount], Amount]
    judgement: Callable[[str, str], Amount]
    verdict: Amount
    about_answers: tuple[str, ...]
    about_judgements: tuple[str, ...]
    about_verdicts: tuple[str, ...]


def assumed_lengths(answer: int | None = None, judgement: int | None = None) -> Lengths:
    """Lengths without a log.

    Args:
        answer: Tokens of an answer; None for those of its reference, from half to twice as many.
        judgement: Tokens of a judge's reply; None for an assumption.
    """
    reply = _JUDGEMENT if judgement is None else Amount.exactly(judgement)
    verdict = _VERDICT if judgement is None else Amount.exactly(judgement)
    given = f"A judge's reply is taken to have {judgement} tokens{{}} (--judge-tokens)."
    return Lengths(
        answer=lambda _model, _language, reference: (
            reference * _OF_REFERENCE if answer is None else Amount.exactly(answer)
        ),
        judgement=lambda _judge, _language: reply,
        verdict=verdict,
        about_answers=(
            "An answer is assumed to be as long as its reference, from half to twice as long (--answer-tokens)."
            if answer is None
            else f"An answer is taken to have {answer} tokens (--answer-tokens).",
            *([_REASONING] if answer is None else []),
        ),
        about_judgements=(
            f"A judge's reply is assumed to have {_said(_JUDGEMENT)} tokens (--judge-tokens); one that reasons takes "
            "more."
            if judgement is None
            else given.format(""),
        ),
        about_verdicts=(
            f"A judge's reply is assumed to have {_said(_VERDICT)} tokens for each verdict (--judge-tokens); one that "
            "reasons takes more."
            if judgement is None
            else given.format(" for each verdict"),
        ),
    )


def _said(amount: Amount) -> str:
    return f"{amount.expected:g} ({amount.low:g} to {amount.high:g})"
