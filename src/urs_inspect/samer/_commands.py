"""`urs-inspect samer`: the evaluator of 42 dimensions, one command a file."""

import click

from urs_inspect.samer._scoring_commands import check, export, score, weights
from urs_inspect.samer._training_commands import annotate, assemble, embed, train


@click.group()
def samer() -> None:
    """SaMer: check and export checkpoints, score, and make your own."""


for _command in (annotate, assemble, check, embed, export, score, train, weights):
    samer.add_command(_command)

__all__ = ["samer"]
