"""`urs-inspect samer`: the evaluator of 42 dimensions, one command a file."""

import click

from urs_inspect.cli.samer.annotate import annotate
from urs_inspect.cli.samer.assemble import assemble
from urs_inspect.cli.samer.check import check
from urs_inspect.cli.samer.embed import embed
from urs_inspect.cli.samer.export import export
from urs_inspect.cli.samer.score import score
from urs_inspect.cli.samer.train import train
from urs_inspect.cli.samer.weights import weights


@click.group()
def samer() -> None:
    """SaMer: check and export checkpoints, score, and make your own."""


for _command in (annotate, assemble, check, embed, export, score, train, weights):
    samer.add_command(_command)

__all__ = ["samer"]
