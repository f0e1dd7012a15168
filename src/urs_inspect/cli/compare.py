"""`urs-inspect gate`: whether a new run may replace a base, as an exit code."""

import traceback
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from urs_inspect._util import InputError
from urs_inspect.cli.output import print_report

_NO_DECISION = 3


class _Gate(click.Command):
    """Errors exit with a code of their own, as 1 and 2 are decisions."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        return self._or_no_decision(super().make_context, *given, **more)

    def invoke(self, ctx: click.Context) -> Any:
        return self._or_no_decision(super().invoke, ctx)

    def _or_no_decision(self, call: Any, *given: Any, **more: Any) -> Any:
        try:
            return call(*given, **more)
        except click.exceptions.Exit:
            raise
        except click.ClickException as error:
            error.show()
        except (Exception, KeyboardInterrupt):
            traceback.print_exc()
        raise SystemExit(_NO_DECISION)


def _numbers(_context: click.Context, _option: click.Parameter, given: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in given.split(",")) if given else ()
    except ValueError:
        raise click.BadParameter(f"must be numbers with commas between, as 6.8,7.1, got '{given}'") from None


_LEVEL = click.FloatRange(0.5, 1, min_open=True, max_open=True)
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(cls=_Gate)
@click.argument("base")
@click.argument("new")
@click.option(
    "--margin", type=click.FloatRange(0, min_open=True), required=True, help="Largest loss that counts as none."
)
@click.option("--equivalent", is_flag=True, help="Neither lower nor higher by the margin: a new judge or prompt.")
@click.option("--sequential", is_flag=True, help="Valid at every look at runs that grow.")
@click.option("--level", type=_LEVEL, default=0.95, show_default=True, help="Confidence of each one-sided bound.")
@click.option("--task", help="The task, where there are logs of several.")
@click.option("--scorer", help="A scorer, or metric[,filter] of lm-eval; else the headline metric.")
@click.option("--value", help="Key of a dictionary score.")
@click.option("--cluster", help="Key of the samples' metadata whose values are clusters, such as a passage.")
@click.option("--model", help="Model of both sides, where they have several.")
@click.option("--scale", help="Lowest and highest score, as 1,10, where the logs do not tell.")
@click.option("--lower-is-better", is_flag=True, help="A lower score is better; lm-eval's files say so themselves.")
@click.option("--series", callback=_numbers, help="Means on the old scale, as 6.8,7.1, to re-anchor by --equivalent.")
@click.option("--summary", type=_FILE, help="Append the report to this file as Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def gate(
    base: str,
    new: str,
    model: str | None,
    scale: str | None,
    summary: Path | None,
    as_json: bool,
    equivalent: bool,
    series: tuple[float, ...],
    **options: Any,
) -> None:
    """Whether the logs NEW are not worse than the logs BASE by the margin; each a file or directory.

    Exit codes: 0 not worse; 1 worse; 2 cannot tell; 3 bad input or another error. With --equivalent: 0 equivalent; 1
    different; 2 cannot tell. Samples without a score count against every claim.
    """
    from urs_inspect.cli.reports import parse_scale
    from urs_inspect.logs.samples import read_sample_scores
    from urs_inspect.reports.gate import make_gate

    if series and not equivalent:
        raise InputError("--series is for --equivalent, which is missing")
    limits = None if scale is None else parse_scale(scale, "scale")
    how = {name: options.pop(name) for name in ("task", "scorer", "value", "cluster")}
    with Console(stderr=True).status("Reading logs"):
        sides = [read_sample_scores([side], **how) for side in (base, new)]
    found = make_gate(*sides, model=model, equivalent=equivalent, series=series, scale=limits, **options)
    try:
        if summary is not None:
            with summary.open("a", encoding="utf-8", errors="replace") as file:
                file.write(found.report.markdown())
    except OSError as error:
        raise InputError(f"summary: cannot write to '{summary}': {error.strerror or error}") from error
    if as_json:
        click.echo(found.report.json(), nl=False)
    else:
        print_report(found.report, Console())
    raise SystemExit(found.code)
