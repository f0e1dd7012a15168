"""`urs-inspect samer`: the evaluator of 42 dimensions, one command a file."""

import click

from urs_inspect.cli._samer.scoring import check, export, score, weights
from urs_inspect.cli._samer.training import annotate, assemble, embed, train


@click.group()
def samer() -> None:
    """SaMer: check and export checkpoints, score, and make your own."""


for _command in (annotate, assemble, check, embed, export, score, train, weights):
    samer.add_command(_command)

__all__ = ["samer"]
