"""How judging ends: records of scores, failures, and errors of calls in plain words."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from tenacity import RetryError

from urs_inspect._util import visible

FailureMode = Literal[
    # the reply arrived but holds no usable record
    "unparseable",
    "missing_final",
    "not_a_number",
    "not_an_integer",
    "out_of_range",
    "conflicting_scores",
    "conflicting_verdicts",
    "wrong_key",
    "no_key",
    "refusal",
    "empty_reply",
    # the provider cut the reply short
    "truncated",
    "context_overflow",
    "content_filter",
    # no reply at all
    "call_failed",
    # the case could not be judged
    "no_answer",
    "prompt_failed",
    "unknown_intent",
    "unknown_language",
]
"""Why a judgement has no score. One vocabulary for every harness that this package serves."""

FAILURE_MODES: tuple[FailureMode, ...] = get_args(FailureMode)

NO_RESPONSE = ("no_response", "no_response_cut_off", "no_response_withheld")
"""Outcomes of an empty answer, which has the lowest score: it ended by itself (or why is not
known), at the token limit, or by a content filter.
"""

ANSWER_CUT_OFF = "answer_cut_off"
"""Outcome of an answer that was cut off at the token limit, and judged as it is by all judges."""

PARTIAL_PANEL = "partial_panel"
"""Outcome of an answer that some judges of a panel scored, and others did not."""

CUT_OFF = (ANSWER_CUT_OFF, "no_response_cut_off")
"""Outcomes of answers that were cut off at the token limit."""

SCORED_OUTCOMES = ("judged", PARTIAL_PANEL, ANSWER_CUT_OFF, *NO_RESPONSE)
"""Outcomes of answers that have a score; all others are `unscored_<failure mode>`."""

STOPPED_AT_LIMIT = ("max_tokens", "model_length")
"""Why an answer ended, where it was cut off."""

ASK_AGAIN: frozenset[FailureMode] = frozenset(
    (
        "unparseable",
        "missing_final",
        "not_a_number",
        "not_an_integer",
        "out_of_range",
        "conflicting_scores",
        "wrong_key",
        "no_key",
        "refusal",
        "empty_reply",
        "truncated",
    )
)
"""Failures after which a judge is asked again.

A filter, an overflow or a dead endpoint gives the same answer twice.
"""

KEY_FAULTS: frozenset[FailureMode] = frozenset(("no_key", "conflicting_scores"))
"""Failures after which also a judge of pairs or ratings is asked again: which record is its own, is
not certain.
"""


@dataclass(frozen=True)
class ScoreRecord:
    """The scores of one judgement.

    Attributes:
        final: Final score, an integer from 1 to 10.
        criteria: Score of each criterion of the intent, 1 to 10; None where the judge gave none.
    """

    final: int
    criteria: dict[str, int | None]

    @property
    def missing(self) -> tuple[str, ...]:
        """Criteria without a score."""
        return tuple(name for name, score in self.criteria.items() if score is None)

    def falls_short_of(self, earlier: "ScoreRecord") -> bool:
        """Whether this record lacks criteria and has another final score than an earlier one.

        Args:
            earlier: A record that came before it in the same reply.

        Returns:
            Whether both hold.
        """
        return bool(self.missing) and self.final != earlier.final


@dataclass(frozen=True)
class JudgeFailure:
    """A judgement without a score.

    Attributes:
        mode: The kind of failure.
        detail: What exactly was wrong, for the log and for asking again.
    """

    mode: FailureMode
    detail: str


MAX_DETAIL = 500
"""Characters of a failed call's error that a log keeps."""


def describe_error(error: Exception, hide: Callable[[str], str] = str) -> str:
    """Type and message of a failed call's cause, in one line of at most 500 characters.

    Line breaks, quotation marks and what changes the direction of writing are escaped. `hide`
    removes secrets from the text before anything is cut off.
    """
    # The harness hides what the endpoint said: in a retry error, or below a copy of the whole
    # request.
    cause: BaseException = error
    if isinstance(error, RetryError) and error.__cause__:
        cause = error.__cause__
    message = getattr(cause, "provider_message", None) or cause
    text = hide(f"{type(cause).__name__}: {message}")
    without_quotes = json.dumps(text, ensure_ascii=False)[1:-1]
    return visible(without_quotes)[:MAX_DETAIL]
