"""`urs-inspect samer check|export|score|weights`: use a checkpoint."""

import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, redirect_stdout
from glob import has_magic
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urs_inspect._util import InputError, choices
from urs_inspect.cli._output import progress_bar, table_of
from urs_inspect.cli._values import named_values
from urs_inspect.samer._options import BulkOptions, RunOptions, SamerOptions

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

    from urs_inspect.samer._bulk import BulkInput, BulkReport
    from urs_inspect.samer._export import Export
    from urs_inspect.samer._partitions import Partition, Scorer
    from urs_inspect.samer._report import DimensionScore, ScenarioWeights


def say(text: str, *, label: str = "", style: str = "", err: bool = False) -> None:
    """Print a text as it is, without markup or wrapping, after a label in a style."""
    line = label
    if style:
        line = f"[{style}]{escape(label)}[/] "
    Console(stderr=err).print(f"{line}{escape(text)}", highlight=False, soft_wrap=True)


@click.group()
def samer() -> None:
    """SaMer: check and export checkpoints, score, and make your own."""


@samer.command()
@click.argument("folder", metavar="DIR")
@click.option(
    "--quick",
    is_flag=True,
    help="Read headers and heads only, and do not look for NaN in the backbone.",
)
def check(folder: str, quick: bool) -> None:
    """Check the checkpoint in DIR, of SaMer or a reward model, without loading it.

    Fails if something is wrong with it.

    All weights are read once, to find NaN and infinity: 16 GB for an 8B model.
    """
    from urs_inspect.samer._checkpoint_check import check_model

    console = Console(soft_wrap=True)
    with console.status(f"reading {escape(folder)}"):
        report = check_model(folder, values=not quick)
    if report.facts:
        facts = Table(show_header=False, box=None)
        for name, value in report.facts.items():
            facts.add_row(name.replace("_", " "), escape(value))
        console.print(facts, highlight=False)
    for note in report.notes:
        say(note, label="note:", style="yellow")
    for error in report.errors:
        say(error, label="error:", style="bold red")
    if report.errors or report.checkpoint is None:
        raise SystemExit(1)
    say(
        "a SaMer checkpoint" if report.checkpoint.reward is None else "a reward model",
        label="ok:",
        style="bold green",
    )


@samer.command()
@click.argument("source", metavar="DIR")
@click.argument("out", metavar="OUT")
def export(source: str, out: str) -> None:
    """Divide the released checkpoint in DIR: a Llama for stock vLLM in the new folder OUT, the
    heads below it.
    """
    from urs_inspect.samer._export import export_checkpoint

    print_export(export_checkpoint(source, out))


def print_export(done: "Export") -> None:
    """Print what was written and how, and the command that starts a vLLM server of it."""
    from urs_inspect.samer._checkpoint import BACKBONE_DTYPE, WEIGHTS_AT
    from urs_inspect.samer._conversation import Conversations
    from urs_inspect.samer._engines.vllm_server import stock_options

    command = ["vllm", "serve", str(done.folder)]
    command += stock_options(Conversations(done.folder).end_of_turn)
    lines = {"backbone": str(done.folder), "heads": str(done.heads)}
    if weights_at := done.declared.get(WEIGHTS_AT):
        lines["reads"] = f"weights at the {weights_at}, by itself"
    if dtype := done.declared.get(BACKBONE_DTYPE):
        lines["dtype"] = f"{dtype} made the vectors"
        command += ["--dtype", dtype]
    lines["serve"] = shlex.join(command)
    for name, text in lines.items():
        say(f"{name + ':':<11}{text}")


@samer.command()
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--model", required=True, help="Folder of a checkpoint, or address of a vLLM server.")
@click.option(
    "-S",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help=(
        f"How the model is run, as for the scorer samer: {choices(RunOptions.model_fields)}."
        " For a server also timeout (600), seconds"
        " for one of five attempts at a row, and keep_failures (false): whether rows without an"
        " answer count as failures; else they stop the command, and are tried again. For many files"
        " also ray, which scores them at once, one per worker: local starts Ray on this machine,"
        " auto is the cluster that this machine belongs to; and workers (1), the engines on Ray,"
        " each with a GPU (vLLM) or its share of the CPUs. May be repeated."
    ),
)
@click.option(
    "--overwrite",
    is_flag=True,
    help="Replace OUT if it is there; of many files, those of other scores.",
)
def score(source: Path, out: Path, model: str, settings: tuple[str, ...], overwrite: bool) -> None:
    """Evaluate the rows of IN (.jsonl or .parquet) and write OUT (.parquet or .jsonl), one row
    each, in the same order.

    A row has query (or prompt, question), response (or answer) and, if you like, id. Stopped or
    killed, the same command resumes, unless the model is another one by then. Fails if no row could
    be evaluated. If IN is a folder or a pattern in quotes, such as 'parts/*.parquet', OUT is a
    folder with one Parquet file for each.
    """
    from urs_inspect._arguments import check as check_argument
    from urs_inspect.samer._partitions import Scorer, find_partitions, settled

    given = named_values(settings, "-S")
    options = check_argument("-S", given, BulkOptions)
    ray = _ray(options.ray, options.workers)
    if ray is not None and options.timeout:
        raise InputError("-S: timeout: only for a server, which workers of ray do not ask")
    many = ray is not None or _names_many(source)
    partitions = find_partitions(source, out) if many else ()
    rows = None if many else _rows_to_score(source, out, overwrite)
    if many and "://" not in model:  # the same for every worker
        model = str(Path(model).expanduser().absolute())
    how = {"keep_failures": options.keep_failures}
    run = {name: given[name] for name in given if name in SamerOptions.model_fields}
    choice = check_argument("-S", {"model": model, **run}, SamerOptions)
    console = Console(stderr=True, soft_wrap=True)
    choice, own, facts = settled(choice, ray is not None)
    if options.timeout:
        own["timeout"] = options.timeout
    with closing(Scorer(choice, own, facts, how)) as scorer:
        if ray is None:
            with console.status(f"opening {escape(choice.model)}"):
                scorer.load()
        _say_facts(scorer.facts)
        if rows is None:
            report = _score_many(partitions, scorer, ray, overwrite, console)
        else:
            report = _score_rows(rows, out, scorer, console)
    _print_summary(report, out)
    if report.rows and not report.scored:
        raise SystemExit(1)


def _ray(address: str | None, workers: int) -> tuple[str | None, int] | None:
    """Address of a cluster, None for this machine, and workers; None without Ray."""
    if address is None:
        if workers > 1:
            raise InputError("-S: workers: only with ray, such as -S ray=local")
        return None
    return None if address == "local" else address, workers


def _score_rows(rows: "BulkInput", out: Path, scorer: "Scorer", console: Console) -> "BulkReport":
    """Score one file, with a progress bar."""
    with progress_bar(console) as bar:
        task = bar.add_task("rows", total=rows.rows)
        return scorer.score(rows, out, progress=lambda done: bar.update(task, completed=done))


def _names_many(source: Path) -> bool:
    """Whether a folder is named, or a pattern of files."""
    return source.is_dir() or (not source.exists() and has_magic(str(source)))


def _rows_to_score(source: Path, out: Path, overwrite: bool) -> "BulkInput":
    """The rows of one file, once it is known that their scores can be written."""
    from urs_inspect.samer._bulk import check_output, check_rows
    from urs_inspect.samer._bulk_results import partial_path

    check_output(out)
    if out.exists() and not overwrite and not partial_path(out).exists():
        raise InputError(f"{out}: already there; name another file, or add --overwrite")
    return check_rows(source)


def _say_facts(facts: "Mapping[str, Any]") -> None:
    """Print what scores, and where it reads or what its numbers are."""
    if reward := facts.get("reward"):
        reading = f"reward = {reward['overall']}"
    else:
        reading = f"weights read at the {facts['weights_at']}"
    say(f"{facts['engine']}: {facts['dtype']}, {reading}", err=True)


def _score_many(
    partitions: "Sequence[Partition]", scorer: "Scorer", ray: Any, overwrite: bool, console: Console
) -> "BulkReport":
    from urs_inspect.samer._partitions import merged, score_partitions, unfinished

    left = unfinished(partitions, scorer.facts, overwrite=overwrite)
    reports = list["BulkReport"]()
    failed = 0
    there = len(partitions) - len(left)
    with _silence() if ray else nullcontext(console) as shown, progress_bar(shown) as bar:
        task = bar.add_task("files", total=len(partitions), completed=there)
        for report, error in score_partitions(left, scorer, ray):
            bar.advance(task)
            if report:
                reports.append(report)
            if error:
                failed += 1
                shown.print(f"[bold red]not scored:[/] {escape(error)}", highlight=False)
    if failed:
        raise InputError(
            f"{failed:,} of {len(partitions):,} files were not scored; the same command tries them"
            " again"
        )
    say(f"{there:,} of {len(partitions):,} files were there from an earlier start", err=True)
    return merged(reports)


@contextmanager
def _silence() -> Iterator[Console]:
    """Let nothing but this console reach the terminal: Ray writes to it from several languages."""
    kept = os.dup(2)
    with (
        Path(os.devnull).open("w", encoding="utf-8") as off,
        redirect_stdout(off),
        os.fdopen(kept, "w") as shown,
    ):
        os.dup2(off.fileno(), 2)
        try:
            yield Console(file=shown, soft_wrap=True)
        finally:
            os.dup2(kept, 2)


def _print_summary(report: "BulkReport", out: Path) -> None:
    failed = report.rows - report.scored
    mean = ""
    if report.scored:
        mean = f"; mean {report.mean_overall:.3f}"
    say(f"{report.rows:,} rows in {out}{mean}", err=True)
    if report.resumed:
        say(f"{report.resumed:,} of them were there from an earlier start", err=True)
    flags = {
        "empty responses": report.no_response,
        "shortened": report.shortened,
        "without a selected dimension": report.empty_selection,
    }
    for name, count in flags.items():
        if count:
            say(f"{name}: {count:,}", err=True)
    if failed:
        modes = ", ".join(f"{mode} {count:,}" for mode, count in report.failures.items())
        sentence = f"{failed:,} ({modes}); see the column failure"
        if report.scored:
            say(sentence, label="not evaluated:", style="yellow", err=True)
        else:
            say(sentence, label="no row was evaluated:", style="bold red", err=True)


@samer.command()
@click.argument("logs", nargs=-1, required=True)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help=(
        "Print all dimensions as JSON: their weights by scenario, and by log their mean scores"
        " where they were selected."
    ),
)
def weights(logs: tuple[str, ...], as_json: bool) -> None:
    """Show the mean weight of each dimension by scenario in LOGS scored with SaMer (Figure 4 of its
    paper).

    Models, and ways of running one, have a table each.
    """
    from urs_inspect.logs._files import finished_logs, nothing_left
    from urs_inspect.reports.layout._tables import plain
    from urs_inspect.samer._report import read_weights

    skipped: list[str] = []
    by_log: dict[str, dict[str, DimensionScore]] = {}
    by_scenario = read_weights(_noting_scores(finished_logs(logs, skipped), by_log))
    if not by_log and not by_scenario:
        raise nothing_left("no log with scores of SaMer", logs, skipped)
    for sentence in skipped:
        click.echo(sentence, err=True)  # standard output may be read as JSON
    if as_json:
        scores = [{"log": log, "dimensions": found} for log, found in by_log.items()]
        record = plain({"weights": by_scenario, "scores": scores})
        click.echo(json.dumps(record, ensure_ascii=False, indent=1))
        return
    _print_weights(by_scenario)
    if by_log:
        say("Mean scores of the dimensions, where they were selected, by log: --json.")


def _noting_scores(
    logs: "Iterable[EvalLog]", by_log: "dict[str, dict[str, DimensionScore]]"
) -> "Iterator[EvalLog]":
    """Pass logs on one by one; `by_log` gets the scores of each that has any."""
    from urs_inspect.samer._report import read_dimensions

    for log in logs:
        if found := read_dimensions(log):
            by_log[log.location] = found
        yield log


_HEAVIEST = 5
"""Dimensions that are shown of a scenario."""


def _print_weights(by_scenario: "list[ScenarioWeights]") -> None:
    """A table for each model: scenarios with their heaviest dimensions, mean weights in percent."""
    from urs_inspect.samer._report import differing

    names = differing(by_scenario)
    for _, group in groupby(by_scenario, key=lambda row: row.samer):
        rows = list(group)
        model = rows[0].samer
        # The model's name, where it reads weights, and the settings in which it differs from the
        # others.
        shown = [
            f"{name} {model.get(name, 'not given')}"
            for name in dict.fromkeys(["model", "weights_at", *names])
        ]
        heading = "model not given"
        if model:
            heading = ", ".join(shown)
        say("", label=f"Mean weight in %, the largest first: {heading}", style="italic")
        cells = []
        for row in rows:
            heaviest = islice(row.weights.items(), _HEAVIEST)
            listed = ", ".join(f"{name} {100 * weight:.1f}" for name, weight in heaviest)
            cells.append([row.scenario, str(row.responses), listed])
        table = table_of(cells, "scenario", "responses", "dimensions", text=(0, 2))
        longest = max(len(row.scenario) for row in rows)
        table.columns[0].min_width = min(24, longest)
        Console().print(table)
