"""The one error that a user's own input can raise."""

from collections.abc import Iterable

import click


class InputError(click.ClickException, ValueError):
    """Something the user gave cannot be used; raised before any model is called.

    The message names the thing, the place (file, row, key) and what is allowed. It is a
    `click.ClickException`, so that `inspect eval` and `urs-inspect` print one line instead of a
    traceback, and a `ValueError`, so that a script can catch it as usual.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)

    def __str__(self) -> str:
        return self.message


def choices(allowed: Iterable[object]) -> str:
    """Format allowed values for an error message, in their given order."""
    return ", ".join(str(value) for value in allowed)
