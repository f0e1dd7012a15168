"""`urs-inspect samer export`: a backbone's folder for stock vLLM, with the heads beside it."""

from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape

if TYPE_CHECKING:
    from urs_inspect.samer.export import Export


@click.command()
@click.argument("source", metavar="DIR")
@click.argument("out", metavar="OUT")
def export(source: str, out: str) -> None:
    """Divide the released checkpoint in DIR: a Llama for stock vLLM in the new folder OUT, the heads below it."""
    from urs_inspect.samer.export import export_checkpoint

    print_export(export_checkpoint(source, out), Console(soft_wrap=True))


def print_export(done: "Export", console: Console) -> None:
    """Print what was written and how."""
    console.print(f"backbone:  {escape(str(done.folder))}", highlight=False)
    console.print(f"heads:     {escape(str(done.heads))}", highlight=False)
    for what, names in (("linked", done.linked), ("rewritten", done.rewritten), ("copied", done.copied)):
        if names:
            console.print(f"{what + ':':<11}{escape(', '.join(names))}", highlight=False)
