"""A scorer's refusal of its arguments, in a form that the harness passes on."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

import click

from urs_inspect.errors import InputError, choices

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Refusal(click.ClickException):
    """An `InputError` of a scorer that is being made.

    It is no `ValueError`, because `inspect score` takes every `ValueError` for a scorer that it does not know, and asks
    for a file in place of showing the words.
    """


def heard(make: Callable[_P, _T]) -> Callable[_P, _T]:
    """Let a scorer raise `Refusal` where it would raise `InputError`, and for arguments that it does not have.

    Args:
        make: Makes the scorer; `@scorer` stands above.

    Returns:
        The same for the harness.
    """
    parameters = signature(make)

    @wraps(make)
    def making(*given: _P.args, **named: _P.kwargs) -> _T:
        try:
            parameters.bind(*given, **named)
        except TypeError as error:
            raise Refusal(f"{make.__name__}: {error}; arguments: {choices(parameters.parameters)}") from error
        try:
            return make(*given, **named)
        except InputError as error:
            raise Refusal(error.message) from error

    return making
