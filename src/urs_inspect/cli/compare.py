"""`urs-inspect compare`: logs of any task, paired by sample."""

import shlex
from pathlib import Path

import click
from rich.console import Console

from urs_inspect.cli.output import print_report


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--scorer", help="Scorer, or metric of lm-eval; by default the task's headline metric.")
@click.option("--value", help="Key of a score that has several values.")
@click.option("--task", help="Task, where the logs are of several.")
@click.option("--cluster", metavar="KEY", help="Metadata of samples that belong together, such as a passage or a user.")
@click.option("--by", metavar="KEY", help="Metadata by which samples are divided into groups, with a test for each.")
@click.option("--baseline", metavar="MODEL", help="Compare the others with this model only.")
@click.option("--scale", metavar="LOW,HIGH", help="Lowest and highest possible score, for missing ones.")
@click.option("--lower-is-better", is_flag=True, help="A lower score is better; lm-eval's files say so themselves.")
@click.option("--difference", type=click.FloatRange(min=0, min_open=True), help="Say how many questions this takes.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Directory for comparison.html, comparison.md, comparison.json and CSV files.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of tables.")
@click.option("--rounds", type=click.IntRange(min=100), default=10_000, show_default=True, help="Rounds of intervals.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of intervals.")
def compare(
    logs: tuple[str, ...],
    scorer: str | None,
    value: str | None,
    task: str | None,
    cluster: str | None,
    by: str | None,
    baseline: str | None,
    scale: str | None,
    lower_is_better: bool,
    difference: float | None,
    output: Path | None,
    as_json: bool,
    rounds: int,
    seed: int,
) -> None:
    """Compare models by LOGS of any inspect-ai task, or by samples_*.jsonl of lm-eval (files or directories).

    Samples are paired by their ids. Says which model is better, which differences are significant, and how small a
    difference these samples would have shown.
    """
    from urs_inspect.cli.reports import parse_scale
    from urs_inspect.logs.samples import read_sample_scores
    from urs_inspect.reports.comparison import compare as compare_frame
    from urs_inspect.reports.comparison_report import COMPARISON, report_comparison
    from urs_inspect.reports.page import render_page
    from urs_inspect.reports.tables import check_directory

    if output is not None:
        check_directory(output, COMPARISON)
    limits = parse_scale(scale, "scale") if scale else None
    console = Console()
    with Console(stderr=True).status("Reading logs"):
        scores = read_sample_scores(logs, scorer=scorer, value=value, cluster=cluster, by=by, task=task)
        compared = compare_frame(
            scores.table,
            baseline=baseline,
            scale=limits or scores.scale,
            lower_is_better=lower_is_better or not scores.higher_is_better,
            rounds=rounds,
            seed=seed,
        )
    options = {
        **{"--scorer": scorer, "--value": value, "--task": task, "--cluster": cluster, "--by": by},
        **{"--baseline": baseline, "--scale": scale, "--difference": difference, "-o": output},
    }
    words = [str(word) for name, given in options.items() if given is not None for word in (name, given)]
    words += ["--lower-is-better"] if lower_is_better else []
    command = shlex.join(["urs-inspect", "compare", *logs, *words, "--rounds", str(rounds), "--seed", str(seed)])
    made = report_comparison(compared, scores, baseline=baseline, difference=difference, command=command)
    if as_json:
        click.echo(made.json(), nl=False)
    else:
        print_report(made, console)
    if output is not None:
        files = made.write(output, {"comparison.html": lambda: render_page(made)})
        console.print(f"\nWritten: {', '.join(map(str, files))}", highlight=False, markup=False, soft_wrap=True)
