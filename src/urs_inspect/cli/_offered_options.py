"""Options that satellites offer to a command of core."""

from collections.abc import Callable
from typing import Any, Protocol

import click

from urs_inspect._satellites import at, offered


class OfferedOption(Protocol):
    """What a satellite offers: a class that is made of the value of its option."""

    type: "click.ParamType[Any] | None"
    """Which values there are; None for any text."""
    metavar: str | None
    """What the help calls the value, where the type does not say it."""
    help: str


def offered_options(point: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add all options that are offered to an extension point: name -> `OfferedOption`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for name, address in reversed(offered(point).items()):
            offer: type[OfferedOption] = at(address)
            option = click.option(
                f"--{name}", type=offer.type, metavar=offer.metavar, help=offer.help
            )
            command = option(command)
        return command

    return decorate
