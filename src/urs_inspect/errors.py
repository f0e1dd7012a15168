"""The one error that a user's own input can raise."""

from collections.abc import Iterable

import click

from urs_inspect.texts import visible


class InputError(click.ClickException):
    """Something the user gave cannot be used; raised before any model is called wherever that can be known.

    The message names the thing, the place (file, row, key) and what is allowed. It is a
    `click.ClickException`, so that `inspect eval` and `urs-inspect` print one line instead of a
    traceback and exit with 1. It is no `ValueError`, because `inspect score` takes every
    `ValueError` for a scorer that it does not know, and asks for a file in place of showing the
    words. What only a running task can find, as answers that are all equal, ends the task with the status `error`:
    the harness then shows the line in the task's panel (with `--display log`, below a traceback)
    and exits with 0, as for every error of a running task.
    """

    def __init__(self, message: str) -> None:
        super().__init__(visible(message))

    def __str__(self) -> str:
        return self.message


def choices(allowed: Iterable[object]) -> str:
    """Format allowed values for an error message, in their given order."""
    return ", ".join(str(value) for value in allowed)
