"""Failure modes of this package in the harness's vocabulary of reasons."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from types import MappingProxyType
from typing import Literal, ParamSpec, TypeVar

from urs_inspect._util import InputError, choices

_P = ParamSpec("_P")
_T = TypeVar("_T")


def known_arguments(make: Callable[_P, _T]) -> Callable[_P, _T]:
    """Let a scorer raise `InputError` for arguments that it does not have or lacks, where Python raises `TypeError`.

    `inspect score -S` hands on whatever it is given, and would show a traceback.

    Args:
        make: Makes the scorer; `@scorer` stands above.
    """
    parameters = signature(make)

    @wraps(make)
    def making(*given: _P.args, **named: _P.kwargs) -> _T:
        try:
            parameters.bind(*given, **named)
        except TypeError as error:
            raise InputError(f"{make.__name__}: {error}; arguments: {choices(parameters.parameters)}") from error
        return make(*given, **named)

    return making


Reason = Literal["invalid_response_format", "refusal", "no_response"]
"""What the harness calls a failure of the model under test."""

_REASONS: Mapping[str, Reason] = MappingProxyType(
    {
        "empty_reply": "no_response",
        "call_failed": "no_response",
        "no_answer": "no_response",
        "context_overflow": "no_response",
        "refusal": "refusal",
        "content_filter": "refusal",
    }
)


def reason_of(modes: Iterable[str]) -> Reason:
    """Why a sample that the model under test judged lacks a verdict or rating.

    Args:
        modes: Failure modes of its replies; none where it ended before a judge was asked.

    Returns:
        The reason of most of them, the first of several equally frequent ones. A reply that came and cannot be read,
        or lacks a part, is `invalid_response_format`.
    """
    reasons = Counter(_REASONS.get(mode, "invalid_response_format") for mode in modes)
    return reasons.most_common(1)[0][0] if reasons else "no_response"
