"""Scorers that say which arguments they have when they are given another."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from urs_inspect.errors import InputError, choices

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
