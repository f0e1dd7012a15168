"""`urs-inspect samer assemble`: a backbone and trained heads in one folder."""

import click
from rich.console import Console

from urs_inspect.cli.samer.export import print_command, print_export


@click.command()
@click.argument("backbone", metavar="BACKBONE")
@click.argument("heads", metavar="HEADS")
@click.argument("out", metavar="OUT")
def assemble(backbone: str, heads: str, out: str) -> None:
    """Put the Llama in BACKBONE and the HEADS that `train` made of its vectors into the new folder OUT.

    OUT is what --model, samer= and stock vLLM take. HEADS is the folder that `train` wrote, or its heads.safetensors.
    """
    from urs_inspect.samer.assembly import assemble_checkpoint

    done = assemble_checkpoint(backbone, heads, out)
    console = Console(soft_wrap=True)
    print_export(done.export, console)
    if done.weights_at is not None:
        console.print(f"reads:     weights at the {done.weights_at}, by itself", markup=False, highlight=False)
    if done.dtype is not None:
        console.print(f"dtype:     {done.dtype} made the vectors", highlight=False)
    print_command(done.export, console, *([] if done.dtype is None else ["--dtype", done.dtype]))
