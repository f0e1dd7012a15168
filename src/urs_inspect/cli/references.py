"""`urs-inspect references`: the answers in logs, as a file of reference answers."""

from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The .jsonl file to write.")
@click.option("--keep-cut", is_flag=True, help="Take answers that were cut off at the token limit as well.")
def references(logs: tuple[str, ...], output: Path, keep_cut: bool) -> None:
    """Write the answers in LOGS (files or directories, of one model) to a file for `-T references=FILE`.

    Of several answers to one question the last usable one counts, so that a later run over some questions corrects an
    earlier one. The file may be edited by hand; later logs have its hash.
    """
    from urs_inspect._util import counted
    from urs_inspect.datasets.references import CUT, OUTCOMES, USABLE, named, reference_lines, with_cut
    from urs_inspect.discrepancy.pools import check_output
    from urs_inspect.logs.references import read_reference_logs

    check_output(output)
    skipped: list[str] = []
    answers = read_reference_logs(logs, skipped)
    if keep_cut:
        answers = with_cut(answers)
    with output.open("x", encoding="utf-8", newline="\n") as file:
        file.writelines(reference_lines(answers))
    console = Console()
    verb = "is" if len(answers.usable) == 1 else "are"
    console.print(
        f"{counted(len(answers.usable), 'reference')} by {escape(answers.source)} {verb} in {escape(str(output))} "
        f"(sha256 {answers.sha256[:12]}).",
        highlight=False,
        soft_wrap=True,
    )
    for sentence in skipped:
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)
    for outcome in OUTCOMES:
        ids = [item.id for item in answers.items if item.outcome == outcome]
        if ids and outcome != USABLE:
            hint = "; --keep-cut takes them as they are" if outcome == CUT else ""
            console.print(
                f"Left out, {outcome.replace('_', ' ')}: {escape(named(ids))}{hint}", highlight=False, soft_wrap=True
            )
