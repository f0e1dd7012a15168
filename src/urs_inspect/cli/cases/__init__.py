"""`urs-inspect cases`: cases of one's own out of a survey, one command a file."""

import click

from urs_inspect.cli.cases.datasheet import datasheet
from urs_inspect.cli.cases.import_ import import_
from urs_inspect.cli.cases.review import review


@click.group()
def cases() -> None:
    """Cases of your own: import a survey, take over a review, describe what is left."""


for _command in (import_, review, datasheet):
    cases.add_command(_command)

__all__ = ["cases"]
