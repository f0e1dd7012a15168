"""`urs-inspect samer export`: a backbone's folder for stock vLLM, with the heads beside it."""

import shlex
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

    console = Console(soft_wrap=True)
    done = export_checkpoint(source, out)
    print_export(done, console)
    print_command(done, console)


def print_export(done: "Export", console: Console) -> None:
    """Print what was written and how."""
    console.print(f"backbone:  {escape(str(done.folder))}", highlight=False)
    console.print(f"heads:     {escape(str(done.heads))}", highlight=False)
    for what, names in (("linked", done.linked), ("rewritten", done.rewritten), ("copied", done.copied)):
        if names:
            console.print(f"{what + ':':<11}{escape(', '.join(names))}", highlight=False)


def print_command(done: "Export", console: Console, *more: str) -> None:
    """Print the command that starts a vLLM server of what was written.

    Args:
        done: What was written.
        console: Where to.
        more: Further options of the server.
    """
    from urs_inspect.samer.conversation import Conversations
    from urs_inspect.samer.engines.serve_options import stock_options

    options = (*stock_options(Conversations(done.folder).end_of_turn), *more)
    console.print(f"serve:     {escape(shlex.join(('vllm', 'serve', str(done.folder), *options)))}", highlight=False)
