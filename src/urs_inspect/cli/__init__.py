"""The command `urs-inspect`, one command a file."""

import click

from urs_inspect.cli.addition import addition
from urs_inspect.cli.agreement import agreement
from urs_inspect.cli.annotate import annotate
from urs_inspect.cli.assistants import assistants
from urs_inspect.cli.cases import cases
from urs_inspect.cli.crossval import crossval
from urs_inspect.cli.data import data
from urs_inspect.cli.demo import demo
from urs_inspect.cli.estimate import estimate
from urs_inspect.cli.judges import judges
from urs_inspect.cli.probe import probe
from urs_inspect.cli.rank import rank
from urs_inspect.cli.references import references
from urs_inspect.cli.report import report
from urs_inspect.cli.samer import samer
from urs_inspect.cli.table import table


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="urs-inspect")
def main() -> None:
    """User-centred benchmarks and judges you can check, for inspect-ai."""


for _command in (
    addition,
    agreement,
    annotate,
    assistants,
    cases,
    crossval,
    data,
    demo,
    estimate,
    judges,
    probe,
    rank,
    references,
    report,
    samer,
    table,
):
    main.add_command(_command)

__all__ = ["main"]
