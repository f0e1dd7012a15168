"""Commands on logs of any task: compare models, a gate for a new run, and who need not be asked."""

import math
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from urs_inspect._util import InputError, writing
from urs_inspect.cli._emit import (
    check_output,
    command_line,
    emit,
    log_report_command,
    output_options,
    reading,
)
from urs_inspect.cli._first_screen import Shown, shown_options
from urs_inspect.cli._reports import parse_scale, read_labels

_TASK = click.option("--task", help="Task, where the logs are of several.")
_SCORER = click.option(
    "--scorer",
    metavar="NAME[:KEY]",
    help=(
        "Scorer, or metric of lm-eval, and the key of a score with several values; by default the"
        " task's headline metric."
    ),
)
_CLUSTER = click.option(
    "--cluster",
    metavar="KEY",
    help="Metadata of samples that belong together, such as a passage or a user.",
)
_SCALE = click.option(
    "--scale", metavar="LOW,HIGH", help="Lowest and highest possible score, for missing ones."
)
_LOWER = click.option(
    "--lower-is-better",
    is_flag=True,
    help="A lower score is better; lm-eval's files say so themselves.",
)


_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
_labels = partial(click.option, type=click.Path(path_type=Path), metavar="LABELS")


@click.command()
@_SCORER
@_TASK
@_CLUSTER
@click.option(
    "--by",
    metavar="KEY",
    help="Metadata by which samples are divided into groups, with a test for each.",
)
@click.option("--baseline", metavar="MODEL", help="Compare the others with this model only.")
@_SCALE
@_LOWER
@_labels(
    "--human",
    help=(
        "People's labels of some answers: .csv or .jsonl with id, model, rating[, rater, weight], a"
        " number or C and I, yes and no. Beside the means there are means corrected by them."
    ),
)
@click.option(
    "--human-scale", help="Lowest and highest rating of --human; by default that of --scale."
)
@click.option(
    "--difference",
    type=click.FloatRange(min=0, min_open=True),
    help="Say how many samples it takes to see this.",
)
@log_report_command("one page, CSV, Markdown and JSON")
def compare(  # noqa: PLR0913 - one argument an option
    context: click.Context,
    logs: tuple[str, ...],
    scorer: str | None,
    task: str | None,
    cluster: str | None,
    by: str | None,
    baseline: str | None,
    scale: str | None,
    lower_is_better: bool,
    human: Path | None,
    human_scale: str | None,
    difference: float | None,
    output: Path | None,
    as_json: bool,
    every: bool,
    only: str | None,
) -> None:
    """Compare models by LOGS of any inspect-ai task, or by samples_*.jsonl of lm-eval (files or
    directories).

    Samples are paired by their ids. Says which model is better, which differences are significant,
    and how small a difference these samples would have shown. With --human, also by means that no
    bias of the scorer or judge moves, if the labelled answers were drawn at random.
    """
    from urs_inspect.comparison._compare import compare as compare_models
    from urs_inspect.comparison._compare import compare_with_people
    from urs_inspect.comparison._report import COMPARISON, report_comparison
    from urs_inspect.comparison._samples import read_sample_scores

    check_output(output, COMPARISON)
    with reading(logs):
        limits = None
        if scale:
            limits = parse_scale(scale, "scale")
        name, key = _scorer_and_key(scorer)
        own_scale = limits
        if human_scale:
            own_scale = parse_scale(human_scale, "human-scale")
        labels = read_labels(human, own_scale, given=bool(human_scale))
        scores = read_sample_scores(logs, scorer=name, value=key, cluster=cluster, by=by, task=task)
        how: dict[str, Any] = {
            "baseline": baseline,
            "scale": limits or scores.scale,
            "lower_is_better": lower_is_better or scores.higher_is_better is False,
        }
        corrected = None
        try:
            if labels is None:
                compared = compare_models(scores.answers, **how)
            else:
                compared, corrected, unused = compare_with_people(scores.answers, labels, **how)
                scores = replace(scores, left_out=(*scores.left_out, *unused))
        except InputError as error:  # what was skipped may be the cause
            raise InputError("\n".join([error.message, *scores.left_out])) from error
        made = report_comparison(
            compared,
            scores,
            corrected,
            baseline=baseline,
            difference=difference,
            command=command_line(context),
        )
    shown = Shown(every, only)
    emit(made, output, shown, as_json=as_json, page=True, unwritten="A page: add -o DIRECTORY")


@click.command()
@click.argument("logs", nargs=-1, required=True)
@_labels("--human", required=True, help="People's labels of answers drawn at random.")
@_labels("--rest", help="People's labels of the rest: scores, and nothing about judges.")
@click.option("--human-scale", help="Lowest and highest label, and score of judges.")
@click.option("--at-least", type=_SHARE, required=True, help="Share that people are to agree with.")
@click.option("--sure", type=_SHARE, default=0.9, show_default=True, help="Certainty of that.")
@click.option("--within", type=click.FloatRange(min=0), help="How far scores may be from labels.")
@click.option("--scorer", multiple=True, metavar="NAME[:KEY]", help="Scorer, the cheapest first.")
@_TASK
@click.option("--price", multiple=True, metavar="JUDGE=DOLLARS", help="Price of a score.")
@click.option("--budget", type=click.IntRange(min=1), help="Say what so many labels might show.")
@output_options("CSV, Markdown and JSON")
@click.pass_context
def trust(  # noqa: PLR0913 - one argument an option
    context: click.Context,
    logs: tuple[str, ...],
    human: Path,
    rest: Path | None,
    human_scale: str | None,
    at_least: float,
    sure: float,
    within: float | None,
    scorer: tuple[str, ...],
    task: str | None,
    price: tuple[str, ...],
    budget: int | None,
    output: Path | None,
    as_json: bool,
    every: bool,
    only: str | None,
) -> None:
    """Find which scores in LOGS need no person, so that people agree with enough of them.

    Judges are the scorers of the logs (by default all whose scores are numbers; --scorer may be
    repeated), and the models that judged, the cheapest first (by --price, which may be repeated,
    also for a `person`). The last one takes what it is sure of; the one before it takes over where
    it may, and so on. People agree with a score that is within 1 point of theirs and less than half
    of the scale away; --within names another distance.

    -o writes the ids of the rest, and, with people's labels of these as --rest, copies of the logs
    with final scores.
    """
    from urs_inspect.comparison._trust import PeoplesLabels
    from urs_inspect.comparison._trust import trust as find_trust
    from urs_inspect.comparison._trust_report import REST, TRUST, report_trust
    from urs_inspect.reports.numbers._human_data import read_human_ratings

    check_output(output, TRUST)
    if rest is not None and output is not None and rest.resolve() == (output / REST).resolve():
        raise InputError(f"rest: -o {output} writes {rest} anew; move it to another directory")
    with reading(logs):
        scale = parse_scale(human_scale, "human-scale") if human_scale else None
        sample = read_human_ratings(human, scale)
        people = PeoplesLabels(sample, read_labels(rest, scale, given=False))
        found = find_trust(
            logs,
            people,
            scorer=scorer,
            task=task,
            price=price,
            within=within,
            at_least=at_least,
            sure=sure,
        )
        made = report_trust(found, budget, command_line(context))
    emit(made, output, Shown(every, only), as_json=as_json)


def _scorer_and_key(given: str | None) -> tuple[str | None, str | None]:
    """The scorer and the key of its values that `NAME:KEY`, `NAME` or `:KEY` chooses."""
    name, _, key = (given or "").partition(":")
    return name or None, key or None


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


def _numbers(
    _context: click.Context, _option: click.Parameter, given: str | None
) -> tuple[float, ...]:
    with suppress(ValueError):
        numbers = tuple(float(part) for part in given.split(",")) if given else ()
        if all(map(math.isfinite, numbers)):
            return numbers
    raise click.BadParameter(f"must be numbers with commas between, as 6.8,7.1, got '{given}'")


@click.command(cls=_Gate)
@click.argument("base")
@click.argument("new")
@click.option(
    "--margin",
    type=float,
    required=True,
    help="Largest loss that is acceptable, in the unit of the score.",
)
@click.option(
    "--equivalent", is_flag=True, help="Show that NEW differs by less than the margin, up or down."
)
@click.option(
    "--sequential", is_flag=True, help="Bounds that hold at every look, for runs that grow."
)
@click.option(
    "--level",
    type=float,
    default=0.95,
    show_default=True,
    help="Confidence of each one-sided bound.",
)
@_TASK
@_SCORER
@_CLUSTER
@click.option("--model", help="Model of both sides, where they have several.")
@_SCALE
@_LOWER
@click.option(
    "--series",
    metavar="MEANS",
    callback=_numbers,
    help="Old means, 6.8,7.1, to re-anchor by --equivalent.",
)
@click.option(
    "--summary",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Append the report as Markdown.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of tables.")
@shown_options
def gate(  # noqa: PLR0913 - one argument an option
    base: str,
    new: str,
    margin: float,
    equivalent: bool,
    sequential: bool,
    level: float,
    task: str | None,
    scorer: str | None,
    cluster: str | None,
    model: str | None,
    scale: str | None,
    lower_is_better: bool,
    series: tuple[float, ...],
    summary: Path | None,
    as_json: bool,
    every: bool,
    only: str | None,
) -> None:
    """Decide whether NEW is not worse than BASE by more than the margin; each a log or a directory
    of logs.

    Exit codes: 0 pass, NEW is not worse by more than the margin; 1 worse; 2 cannot tell; 3 bad
    input or another error. With --equivalent: 0 equivalent; 1 different; 2 cannot tell. Samples
    without a score count against every claim.
    """
    from urs_inspect.comparison._gate import Rule, refuse_other
    from urs_inspect.comparison._gate_report import make_gate
    from urs_inspect.comparison._samples import read_sample_scores, task_of

    limits = None if scale is None else parse_scale(scale, "scale")
    name, key = _scorer_and_key(scorer)
    refuse_other("task", *(task_of([side], task) for side in (base, new)))
    read = partial(read_sample_scores, task=task, scorer=name, value=key, cluster=cluster)
    with Console(stderr=True).status("Reading logs"):
        sides = [read([side]) for side in (base, new)]
    made = make_gate(
        sides[0],
        sides[1],
        Rule(margin, level, equivalent, sequential),
        model=model,
        series=series,
        scale=limits,
        lower_is_better=lower_is_better,
    )
    if summary is not None:
        with (
            writing(summary, "summary"),
            summary.open("a", encoding="utf-8", errors="replace") as file,
        ):
            file.write(made.report.markdown())
    emit(made.report, None, Shown(every, only), as_json=as_json)
    raise SystemExit(made.code)
