"""`urs-inspect samer check|export|score|weights`: use a checkpoint."""

import asyncio
import json
import math
import shlex
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from urs_inspect._util import InputError
from urs_inspect.samer.checkpoint import Dtype
from urs_inspect.samer.conversation import Bos, Overlong
from urs_inspect.samer.evaluation import WeightsAt

if TYPE_CHECKING:
    from urs_inspect.samer.checkpoint_check import Report


@click.command()
@click.argument("folder", metavar="DIR")
@click.option("--quick", is_flag=True, help="Read headers and heads only, and do not look for NaN in the backbone.")
def check(folder: str, quick: bool) -> None:
    """Look at the checkpoint in DIR without loading it, and say what is wrong with it. Fails if something is.

    All weights are read once, to find NaN and infinity: 16 GB for an 8B model.
    """
    from urs_inspect.samer.checkpoint_check import check_checkpoint

    console = Console(soft_wrap=True)
    with console.status(f"reading {escape(folder)}"):
        report = check_checkpoint(folder, values=not quick)
    print_report(report, console)
    if report.faults:
        raise SystemExit(1)


def print_report(report: "Report", console: Console) -> None:
    """Print what was looked at, then the verdict."""
    if report.looked_at:
        table = Table(show_header=False, box=None)
        for what, found in report.looked_at.items():
            table.add_row(what.replace("_", " "), escape(found), style=None)
        console.print(table, highlight=False)
    for note in report.notes:
        console.print(f"[yellow]note:[/yellow] {escape(note)}", highlight=False)
    for fault in report.faults:
        console.print(f"[bold red]fault:[/bold red] {escape(fault)}", highlight=False)
    if not report.faults:
        console.print("[bold green]ok:[/bold green] a SaMer checkpoint", highlight=False)


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
    from urs_inspect.samer.engines.pooling_api import stock_options

    options = (*stock_options(Conversations(done.folder).end_of_turn), *more)
    console.print(f"serve:     {escape(shlex.join(('vllm', 'serve', str(done.folder), *options)))}", highlight=False)


if TYPE_CHECKING:
    from urs_inspect.samer.bulk import BulkInput, BulkReport


@click.command()
@click.argument("source", metavar="IN.jsonl", type=click.Path(path_type=Path))
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--model", required=True, help="Folder of a checkpoint, or address of a vLLM server.")
@click.option("--engine", default="auto", show_default=True, help="auto, vllm, plugin, server or transformers.")
@click.option(
    "--weights-at",
    type=click.Choice(get_args(WeightsAt)),
    help="Where weights are read; by default where the heads' file says, else at the response.",
)
@click.option("--bos", type=click.Choice(get_args(Bos)), default="single", show_default=True, help="Start tokens.")
@click.option("--overlong", type=click.Choice(get_args(Overlong)), default="shorten", show_default=True)
@click.option("--max-length", type=click.IntRange(min=1), help="Most tokens of a row, plus one; or the model's limit.")
@click.option("--folder", help="For a server on another machine: a folder with its tokenizer and heads.")
@click.option(
    "--dtype",
    type=click.Choice(get_args(Dtype)),
    default="auto",
    show_default=True,
    help="Type that an engine in this process computes in; auto: the checkpoint's (transformers on a CPU: float32).",
)
@click.option("--block", type=click.IntRange(min=1), default=512, show_default=True, help="Rows written together.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    help="For a server: seconds for one of five attempts at a row; 600 if not given.",
)
@click.option(
    "--keep-failures",
    is_flag=True,
    help="Count rows that a server does not answer as failures. Without it they stop the command, and are tried again.",
)
@click.option("--overwrite", is_flag=True, help="Replace OUT if it is there.")
def score(
    source: Path,
    out: Path,
    model: str,
    engine: str,
    block: int,
    timeout: float | None,
    keep_failures: bool,
    overwrite: bool,
    **options: Any,
) -> None:
    """Evaluate the rows of IN.jsonl and write OUT (.parquet or .jsonl), one row each, in the same order.

    A row has query (or prompt, question), response (or answer) and, if you like, id. Stopped or killed, the same
    command goes on where it was, unless the model is another one by then. Fails if no row could be evaluated.
    """
    from urs_inspect.samer.bulk import check_output, check_rows, journal_path
    from urs_inspect.samer.engines import load_engine
    from urs_inspect.samer.engines.shared import EngineChoice

    check_output(out)
    if out.exists() and not overwrite and not journal_path(out).exists():
        raise InputError(f"{out}: already there; name another file, or add --overwrite")
    console = Console(stderr=True, soft_wrap=True)
    rows = check_rows(source)
    with console.status(f"opening {escape(model)}"):
        choice = EngineChoice(model, engine, **options)
        loaded = load_engine(model, engine=engine, **choice.options(), **({"timeout": timeout} if timeout else {}))
    spec = loaded.spec
    console.print(f"{loaded.name}: {spec.dtype}, weights read at the {spec.weights_at}", highlight=False)
    report = _run(rows, out, loaded, console, block=block, keep_failures=keep_failures)
    _say(report, out, console)
    if sum(report.failures.values()) == report.rows:
        raise SystemExit(1)


def _run(rows: "BulkInput", out: Path, engine: Any, console: Console, **how: Any) -> "BulkReport":
    from urs_inspect.samer.bulk import score_file

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )

    async def run() -> "BulkReport":
        try:
            return await score_file(rows, out, engine, progress=lambda done: bar.update(task, completed=done), **how)
        finally:
            await engine.close()

    with Progress(*columns, console=console) as bar:
        task = bar.add_task("rows", total=rows.rows)
        return asyncio.run(run())


def _say(report: "BulkReport", out: Path, console: Console) -> None:
    failed = sum(report.failures.values())
    mean = f"; mean overall {report.mean_overall:.3f}" if failed < report.rows else ""
    console.print(f"{report.rows:,} rows in {escape(str(out))}{mean}", highlight=False)
    if report.resumed:
        healed = ", and a line that was cut off when it stopped was made again" if report.healed else ""
        console.print(f"{report.resumed:,} of them were there from an earlier start{healed}", highlight=False)
    flags = {
        "empty responses": report.no_response,
        "shortened": report.shortened,
        "without a selected dimension": report.empty_selection,
    }
    for name, count in flags.items():
        if count:
            console.print(f"{name}: {count:,}", highlight=False)
    if failed:
        said = ", ".join(f"{mode} {count:,}" for mode, count in report.failures.items())
        how = "[yellow]not evaluated" if failed < report.rows else "[bold red]no row was evaluated"
        console.print(f"{how}:[/] {failed:,} ({said}); see the column failure", highlight=False)


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
    from urs_inspect.logs.files import finished_logs
    from urs_inspect.reports.output import plain
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
        table.add_row(escape(name), f"{mean.value:.3f}", interval, str(mean.n), f"{one.selected:.0%}")
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
