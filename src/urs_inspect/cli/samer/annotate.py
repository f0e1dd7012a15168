"""`urs-inspect samer annotate`: annotated pairs out of logs, balanced, in the training format."""

from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urs_inspect.errors import InputError


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The .jsonl file to write.")
@click.option("--least", default=2000, show_default=True, help="Pairs that a scenario should have.")
@click.option("--most", default=5500, show_default=True, help="Pairs that a scenario may have.")
@click.option("--seed", default=0, show_default=True, help="Seed of the choice within a scenario.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it is there.")
def annotate(logs: tuple[str, ...], out: Path, least: int, most: int, seed: int, overwrite: bool) -> None:
    """Write the pairs that were kept in LOGS of samer_annotate as training data."""
    from urs_inspect.reports import finished_logs
    from urs_inspect.reports.annotations import read_annotations
    from urs_inspect.samer.training import balance, write_training

    if out.exists() and not overwrite:
        raise InputError(f"{out}: already there; name another file, or add --overwrite")
    left_out: list[str] = []
    found = read_annotations(finished_logs(logs, left_out, "samer_annotate"))
    if not found.pairs:
        raise InputError("\n".join([f"no log of samer_annotate in: {', '.join(logs)}", *left_out]))
    balanced = balance(found.kept, least=least, most=most, seed=seed)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        count = write_training(out, balanced.pairs)
    except OSError as error:
        raise InputError(f"cannot write '{out}': {error.strerror or error}") from None
    console = Console()
    console.print(f"{count} pairs written to {out}", markup=False, highlight=False, soft_wrap=True)
    table = Table()
    for heading in ("scenario", "kept by the filter", "written"):
        table.add_column(heading, justify="left" if heading == "scenario" else "right")
    for scenario, kept in balanced.kept.items():
        table.add_row(escape(scenario), str(balanced.found[scenario]), str(kept))
    console.print(table)
    share = f"{found.agreeing / found.labelled:.1%}" if found.labelled else "not known"
    console.print(
        f"{found.pairs} pairs, {found.annotated} annotated; of {found.labelled} with a known winner the annotation "
        f"agrees on {share} (the paper kept 78%).",
        highlight=False,
    )
    for sentence in left_out:
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)
    if balanced.short:
        console.print(f"Fewer than {least} pairs: {', '.join(balanced.short)}.", markup=False, highlight=False)
