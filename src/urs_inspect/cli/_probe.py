"""`urs-inspect probe`: what a judge gives to answers that deserve nothing."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click
from rich.console import Console

from urs_inspect._util import InputError
from urs_inspect.cli._first_screen import print_screen

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

    from urs_inspect.reports.layout._tables import FirstScreen


def _without_logs(
    _context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    """What goes to `inspect eval`; refused are a log, what else is no option or its value, and an
    argument of the task that is given as an option.
    """
    for word in given:
        option = word.partition("=")[0]
        argument = option.removeprefix("--").replace("-", "_")
        if option == "--log-dir":
            raise InputError(
                "no option --log-dir; the environment variable INSPECT_LOG_DIR says where logs go"
            )
        if word.startswith("--") and argument in _TASK_ARGUMENTS:
            raise InputError(
                f"urs-inspect probe: no option {option}; {argument} is an argument of the task:"
                f" -T {argument}=VALUE"
            )
    for before, word in pairwise(["", *given]):
        if not word.startswith("-") and (word.endswith(".eval") or not before.startswith("-")):
            from urs_inspect.logs._files import PACKAGE, reading_command

            reads = reading_command(f"{PACKAGE}urs_probe")
            hint = f"`{reads}` reads logs of urs_probe beside those of urs"
            raise InputError(f"probe starts a run and takes no log, got '{word}'; {hint}")
    return given


@click.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "--model-role",
    multiple=True,
    required=True,
    help="The judge: grader=<model>, as for inspect eval.",
)
@click.argument(
    "inspect_args", nargs=-1, type=click.UNPROCESSED, callback=_without_logs, is_eager=True
)
def probe(model_role: tuple[str, ...], inspect_args: tuple[str, ...]) -> None:
    """Give a judge constant, empty, copied and order-giving answers, and report the scores.

    The sample cases are used, one of each intent and language. Further options go to `inspect eval`
    as they are, for example --max-connections 20, -T dataset=urs or -T per_kind=5. The log goes to
    a new folder in `probe` in INSPECT_LOG_DIR, by default in logs.
    """
    from inspect_ai.log import list_eval_logs, read_eval_log

    if not any(role.startswith("grader=") for role in model_role):
        raise InputError(
            f"--model-role: no judge; name one as grader=<model>, got {', '.join(model_role)}"
        )
    for argument in model_role:
        _refuse_unknown_provider(*argument.split("=", 1))
    logs_dir = os.environ.get("INSPECT_LOG_DIR") or "logs"
    # A folder of its own tells this run's log from those of earlier runs.
    if Path(logs_dir).is_file():
        raise InputError(f"INSPECT_LOG_DIR: '{logs_dir}' is a file; name a directory")
    run_dir = f"{logs_dir.rstrip('/')}/probe/{uuid4().hex}"
    command = [*_PROBE, "--log-dir", run_dir]
    for role in model_role:
        command += ["--model-role", role]
    done = subprocess.run([*command, *inspect_args], check=False)  # noqa: S603 - a list of arguments
    logs = list_eval_logs(run_dir)
    if done.returncode == click.UsageError.exit_code:
        click.echo(
            "urs-inspect probe: options that it does not know go to `inspect eval`, which refused"
            " them, as above. Arguments of the task: -T NAME=VALUE",
            err=True,
        )
    if done.returncode or not logs:
        raise SystemExit(done.returncode or 1)
    log = read_eval_log(logs[0])
    suspect = print_probe(log, Console())
    if log.status != "success":
        raise click.ClickException(
            f"the run ended with status '{log.status}'; the log is {log.location}"
        )
    if suspect:
        raise SystemExit(3)


def _refuse_unknown_provider(role: str, model: str = "") -> None:
    """Refuse a model whose provider inspect-ai does not know; lists and mappings are its matter."""
    from inspect_ai.model import get_model

    try:
        get_model(model)
    except ValueError as error:
        provider, _, rest = model.partition("/")
        if rest and "not recognized" in str(error):
            raise InputError(f"{role}: no provider '{provider}' ({model})") from error
    except Exception:  # noqa: S110 - a missing key or package, which the run reports
        pass


_TASK_ARGUMENTS = ("dataset", "per_kind", "rubric", "prompt", "judge_language", "structured")
"""Arguments of the task that are no options of `inspect eval`."""
_PROBE = [sys.executable, "-m", "inspect_ai", "eval"]
_PROBE += ["urs_inspect/urs_probe", "--model", "none", "--no-score-display"]


def print_probe(log: "EvalLog", console: Console) -> bool:
    """Print what each answer of known quality got; whether one of them got what it should not."""
    screen, suspect = _probe_screen(log)
    print_screen(screen, console, [f"Log: {log.location}"])
    return suspect


def _probe_screen(log: "EvalLog") -> tuple["FirstScreen", bool]:
    """What a judge gave to answers of known quality, and whether that is suspect."""
    import pandas as pd

    from urs_inspect.logs._scores import SIMULATED, last_judgement, value_of
    from urs_inspect.reports._texts import listed
    from urs_inspect.reports.layout._tables import SIMULATED_SCREEN, FirstScreen, Table
    from urs_inspect.reports.numbers._judge_checks import NULL_ANSWERS
    from urs_inspect.reports.words._judge_checks import NULL_ANSWER_TEXTS
    from urs_inspect.rubrics import FINAL

    judges: dict[str, None] = {}
    finals = []
    for sample in log.samples or []:
        score = last_judgement(sample)
        if score is None:
            continue
        finals.append((sample.metadata.get("null_answer"), value_of(score, FINAL)))
        judges |= {str(one["judge"]): None for one in (score.metadata or {}).get("judges", ())}
    given = pd.DataFrame(finals, columns=["answer", "final"]).groupby("answer")["final"]
    shown = given.agg(n="size", scored="count", mean="mean", least="min", most="max")
    shown = shown.reindex(list(NULL_ANSWERS)).fillna({"n": 0, "scored": 0})
    rows = []
    suspect = []
    row: Any
    for row in shown.itertuples():
        low, high = NULL_ANSWERS[row.Index]
        fine = low <= row.mean <= high
        cells = {"answer": row.Index, "n": f"{row.n:.0f}"}
        cells["unscored"] = f"{row.n - row.scored:.0f}"
        cells["mean"] = f"{row.mean:.2f}" if row.scored else "-"
        cells["range"] = f"{row.least:g} to {row.most:g}" if row.scored else "-"
        cells["expected"] = f"{low} to {high}"
        cells["verdict"] = "ok" if fine else "SUSPECT"
        rows.append(cells)
        if not fine:
            suspect.append(row.Index)
    meanings = [f"{kind}: {NULL_ANSWER_TEXTS[kind]}" for kind in NULL_ANSWERS]
    claim = "All four kinds of answers of known quality are scored as expected."
    if suspect:
        claim = f"SUSPECT: these answers are not scored as expected: {listed(suspect)}."
    if judges:
        claim = f"{claim} Judge: {listed(list(judges))}."
    else:
        claim = f"{claim} No judge is in the log."
    simulated = any(name.startswith(SIMULATED) for name in judges)
    warnings = []
    if simulated:
        warnings = [SIMULATED_SCREEN]
    table = Table(pd.DataFrame(rows))
    return FirstScreen(claim, warnings, table=table, findings=meanings), bool(suspect)
