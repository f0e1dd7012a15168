"""Logs -> the report of a cross-validation."""

from collections.abc import Iterable
from dataclasses import replace

from inspect_ai.log import EvalLog

from urs_inspect.errors import InputError
from urs_inspect.rating.bootstrap import LEVEL, SEED
from urs_inspect.reports.crossval.grid_logs import TASK, GridTable, join_grids, read_grid
from urs_inspect.reports.crossval.judged_answers import read_judged_answers
from urs_inspect.reports.crossval.report import CrossvalReport, JudgedAnswers
from urs_inspect.reports.crossval.statistics import report_grid, with_holm
from urs_inspect.reports.intent.block_report import Bootstrap
from urs_inspect.reports.intent.statistics import ROUNDS
from urs_inspect.reports.log_files import finished_headers, local_path, short_name
from urs_inspect.reports.results import SIMULATED


def read_crossval(
    logs: Iterable[str], *, rounds: int = ROUNDS, level: float = LEVEL, seed: int = SEED, command: str = ""
) -> CrossvalReport:
    """Read logs of `urs_crossval`, and logs of `urs` whose answers several judges have judged.

    Args:
        logs: Log files, and directories of logs.
        rounds: Rounds of the bootstrap over cases.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of the bootstrap.
        command: The command that makes the report.

    Returns:
        The report.

    Raises:
        InputError: If a name does not exist, or nothing is left to report; the message says what was left out.
    """
    names, bootstrap = list(logs), Bootstrap(rounds, level, seed)
    left_out: list[str] = []
    headers = finished_headers(names, left_out)
    others = [local_path(log.location) for log in headers if log.eval.task != TASK]
    tables = join_grids(_grids([log for log in headers if log.eval.task == TASK], left_out))
    judged = _judged(others, bootstrap, left_out)
    if not tables and not judged:
        what = "no finished log of urs_crossval, nor answers that several judges have judged, in"
        raise InputError("\n".join([f"{what}: {', '.join(names)}", *left_out]))
    models = {name for one in tables for name in (*one.evaluators, *one.models, *one.sources)}
    models |= {name for one in judged for name in (*one.judges, *one.models)}
    grids = [report_grid(table, bootstrap) for table in tables]
    corrected = with_holm([*(one.preferences for one in grids), *(one.preferences for one in judged)])
    return CrossvalReport(
        grids=tuple(replace(one, preferences=part) for one, part in zip(grids, corrected, strict=False)),
        judged=tuple(replace(one, preferences=part) for one, part in zip(judged, corrected[len(grids) :], strict=True)),
        logs=tuple(short_name(log.location) for log in headers),
        left_out=tuple(left_out),
        simulated=any(name.startswith(SIMULATED) for name in models),
        level=level,
        rounds=rounds,
        seed=seed,
        command=command,
    )


def _grids(logs: list[EvalLog], left_out: list[str]) -> list[GridTable]:
    found = []
    for log in logs:
        try:
            found.append(read_grid(log))
        except Exception as error:  # whatever a damaged file does to its reader
            reason = f"{type(error).__name__}: {error}"
            left_out.append(f"{short_name(log.location)} was left out: its judgements cannot be read: {reason}.")
    return found


def _judged(files: list[str], bootstrap: Bootstrap, left_out: list[str]) -> tuple[JudgedAnswers, ...]:
    if not files:
        return ()
    try:
        judged, more = read_judged_answers(files, bootstrap)
    except InputError as error:  # logs of other tasks may lie in the same folder
        left_out += error.message.splitlines()
        return ()
    left_out += more
    return judged
