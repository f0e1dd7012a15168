"""`urs-inspect samer weights`: what SaMer weighs most, by scenario."""

import json
import math
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urs_inspect.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from urs_inspect.reports.samer_weights import DimensionScore, ScenarioWeights


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--top", type=click.IntRange(min=1), default=5, show_default=True, help="Dimensions to show.")
@click.option("--json", "as_json", is_flag=True, help="Print all dimensions as JSON.")
@click.option("--scores", is_flag=True, help="Show the mean score of each dimension where it was selected, log by log.")
def weights(logs: tuple[str, ...], top: int, as_json: bool, scores: bool) -> None:
    """Show the mean weight of each dimension by scenario in LOGS scored with SaMer (Figure 4 of its paper).

    Models, and ways of running one, have a table each.
    """
    from urs_inspect.reports import finished_logs
    from urs_inspect.reports.plain_files import plain
    from urs_inspect.reports.samer_weights import differing, read_dimensions, read_weights

    left_out: list[str] = []
    if scores:
        shown = [(log, read_dimensions(log)) for log in finished_logs(logs, left_out)]
        if not any(of_log for _, of_log in shown):
            raise InputError("\n".join([f"no log with scores of SaMer in: {', '.join(logs)}", *left_out]))
        for sentence in left_out:
            click.echo(sentence, err=True)
        for log, of_log in shown:
            if of_log and as_json:
                click.echo(json.dumps({"log": log.location, "dimensions": plain(of_log)}, ensure_ascii=False))
            elif of_log:
                Console().print(log.location, style="italic", markup=False, highlight=False, soft_wrap=True)
                Console().print(scores_table(of_log))
        return
    found = read_weights(finished_logs(logs, left_out))
    if not found:
        raise InputError("\n".join([f"no log with scores of SaMer in: {', '.join(logs)}", *left_out]))
    for sentence in left_out:
        click.echo(sentence, err=True)  # standard output may be read as JSON
    if as_json:
        click.echo(json.dumps([asdict(one) for one in found], ensure_ascii=False, indent=1))
        return
    console, names = Console(), differing(found)
    for _, group in groupby(found, key=lambda one: one.samer):
        rows = list(group)
        console.print(_heading(rows[0].samer, names), style="italic", markup=False, highlight=False, soft_wrap=True)
        console.print(weights_table(rows, top))


def scores_table(found: "Mapping[str, DimensionScore]") -> Table:
    """One row for each dimension: its mean score, interval, and the share of answers it was selected for."""
    table = Table("dimension", title="Mean score where selected, 0 to 1", title_justify="left")
    for heading in ("mean", "95% interval", "answers", "selected"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, one in found.items():
        mean = one.mean
        interval = "-" if math.isnan(mean.low) else f"{mean.low:.3f} to {mean.high:.3f}"
        table.add_row(escape(name), f"{mean.mean:.3f}", interval, str(mean.n), f"{one.selected:.0%}")
    return table


def _heading(samer: "Mapping[str, str]", names: "list[str]") -> str:
    """Which model it was: its name, where it reads weights, and the settings in which it differs from the others."""
    said = [f"{name} {samer.get(name, 'not said')}" for name in dict.fromkeys(["model", "weights_at", *names])]
    return f"Mean weight in %, the largest first: {', '.join(said) if samer else 'model not said'}"


def weights_table(found: "list[ScenarioWeights]", top: int) -> Table:
    """One row a scenario of one model, its heaviest dimensions with mean weights in percent."""
    table = Table()
    table.add_column("scenario", overflow="fold", min_width=min(24, max(len(one.scenario) for one in found)))
    table.add_column("responses", justify="right", no_wrap=True)
    table.add_column("dimensions", overflow="fold")
    for one in found:
        shown = [f"{name} {100 * weight:.1f}" for name, weight in list(one.weights.items())[:top]]
        table.add_row(escape(one.scenario), str(one.responses), escape(", ".join(shown)))
    return table
