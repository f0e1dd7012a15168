"""`urs-inspect gate`: whether a new run may replace a base, as an exit code."""

import math
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from urs_inspect._util import InputError
from urs_inspect.cli.output import print_report


@contextmanager
def _exit_code_3() -> Iterator[None]:
    try:
        yield
    except click.exceptions.Exit:
        raise
    except (Exception, KeyboardInterrupt) as error:
        error.show() if isinstance(error, click.ClickException) else traceback.print_exc()
        raise SystemExit(3) from error


class _Gate(click.Command):
    """Errors exit with a code of their own, as 1 and 2 are decisions."""

    def make_context(self, *given: Any, **more: Any) -> click.Context:
        with _exit_code_3():
            return super().make_context(*given, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with _exit_code_3():
            return super().invoke(ctx)


def _numbers(_context: click.Context, _option: click.Parameter, given: str | None) -> tuple[float, ...]:
    with suppress(ValueError):
        numbers = tuple(float(part) for part in given.split(",")) if given else ()
        if all(map(math.isfinite, numbers)):
            return numbers
    raise click.BadParameter(f"must be numbers with commas between, as 6.8,7.1, got '{given}'")


@click.command(cls=_Gate)
@click.argument("base")
@click.argument("new")
@click.option("--margin", type=float, required=True, help="Largest loss that is acceptable, in the unit of the score.")
@click.option("--equivalent", is_flag=True, help="Show that NEW differs by less than the margin, up or down.")
@click.option("--sequential", is_flag=True, help="Bounds that hold at every look, for runs that grow.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence of each one-sided bound.")
@click.option("--task", help="Task, where the logs are of several.")
@click.option("--scorer", help="Scorer, or metric of lm-eval; by default the task's headline metric.")
@click.option("--value", help="Key of a score that has several values.")
@click.option("--cluster", metavar="KEY", help="Metadata of samples that belong together, such as a passage or a user.")
@click.option("--model", help="Model of both sides, where they have several.")
@click.option("--scale", metavar="LOW,HIGH", help="Lowest and highest possible score, for missing ones.")
@click.option("--lower-is-better", is_flag=True, help="A lower score is better; lm-eval's files say so themselves.")
@click.option("--series", metavar="MEANS", callback=_numbers, help="Old means, 6.8,7.1, to re-anchor by --equivalent.")
@click.option("--summary", type=click.Path(path_type=Path, dir_okay=False), help="Append the report as Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of tables.")
def gate(base: str, new: str, scale: str | None, summary: Path | None, as_json: bool, **options: Any) -> None:
    """Decide whether NEW is not worse than BASE by more than the margin; each a log or a directory of logs.

    Exit codes: 0 pass, NEW is not worse by more than the margin; 1 worse; 2 cannot tell; 3 bad input or another error.
    With --equivalent: 0 equivalent; 1 different; 2 cannot tell. Samples without a score count against every claim.
    """
    from urs_inspect.cli.reports import parse_scale
    from urs_inspect.logs.samples import read_sample_scores
    from urs_inspect.reports.gate import make_gate

    limits = None if scale is None else parse_scale(scale, "scale")
    how = {name: options.pop(name) for name in ("task", "scorer", "value", "cluster")}
    with Console(stderr=True).status("Reading logs"):
        sides = [read_sample_scores([side], **how) for side in (base, new)]
    made = make_gate(*sides, scale=limits, **options)
    try:
        if summary is not None:
            with summary.open("a", encoding="utf-8", errors="replace") as file:
                file.write(made.report.markdown())
    except OSError as error:
        raise InputError(f"summary: cannot write to '{summary}': {error.strerror or error}") from error
    if as_json:
        click.echo(made.report.json(), nl=False)
    else:
        print_report(made.report, Console())
    raise SystemExit(made.code)
