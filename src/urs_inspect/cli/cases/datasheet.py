"""`urs-inspect cases datasheet`: what cases are about, in the tables of the paper."""

from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from urs_inspect.cli.cases.labels import check_new, groups_of, languages_of, vocabulary_of


@click.command()
@click.argument("dataset")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The .md file to write; else it is printed.")
@click.option("--report", type=click.Path(path_type=Path), help="What `cases import --report` wrote, to count drops.")
@click.option("--review", type=click.Path(path_type=Path), help="What `cases review --report` wrote, to count faults.")
@click.option("--rubric", help="A rubric of your own, with intents or languages of your own.")
def datasheet(dataset: str, output: Path | None, report: Path | None, review: Path | None, rubric: str | None) -> None:
    """Describe DATASET (a .jsonl or .csv file of cases, urs, or sample).

    Counts of intents by language (URS paper, Table 2), the shortest questions as examples (Table 3), services
    (Table 5), countries and lengths; with --report and --review also what became no case, and why.
    """
    from urs_inspect.datasets.survey.case_file import read_dropped, read_removed
    from urs_inspect.datasets.survey.datasheet import datasheet as described_as
    from urs_inspect.datasets.survey.datasheet import read_described
    from urs_inspect.rubrics import load_rubric
    from urs_inspect.texts import counted

    if output is not None:
        check_new(output, ".md", "output")
    loaded = load_rubric(rubric)
    described = read_described(dataset, vocabulary_of(loaded), groups_of(loaded), languages_of(loaded))
    text = described_as(
        described,
        None if report is None else read_dropped(report),
        None if review is None else read_removed(review),
    )
    if output is None:
        click.echo(text)
        return
    output.write_text(text, encoding="utf-8")
    Console(soft_wrap=True, highlight=False).print(
        f"{counted(len(described.cases), 'case')} described in {escape(str(output))}."
    )
