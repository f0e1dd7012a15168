"""`urs-inspect samer score`: evaluates the rows of a file."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from urs_inspect.errors import InputError
from urs_inspect.samer.checkpoint import Dtype
from urs_inspect.samer.conversation import Bos, Overlong
from urs_inspect.samer.evaluation import WeightsAt

if TYPE_CHECKING:
    from urs_inspect.samer.bulk import BulkReport
    from urs_inspect.samer.bulk_rows import BulkInput


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
    from urs_inspect.samer.bulk import journal_path
    from urs_inspect.samer.bulk_output import check_output
    from urs_inspect.samer.bulk_rows import check_rows
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
