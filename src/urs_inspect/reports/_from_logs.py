"""Logs -> reports: what commands and programs call."""

import shlex
from collections.abc import Iterable

from urs_inspect._util import InputError
from urs_inspect.logs._files import finished_headers, local_path, nothing_left, short_name
from urs_inspect.logs._grids import read_grid_logs
from urs_inspect.reports.layout._tables import Report
from urs_inspect.reports.numbers._answers import read_answers
from urs_inspect.reports.numbers._comparison import ROUNDS as REPORT_ROUNDS
from urs_inspect.reports.numbers._crossval import (
    TASK,
    crossval_of,
    grids_of,
    read_judged_runs,
)
from urs_inspect.reports.words._crossval import crossval_report, without_preference
from urs_inspect.stats._bootstrap import LEVEL, SEED, Resampling

_WAY = (
    "To make one: inspect eval urs_inspect/urs_crossval --model none -T answers={}"
    " -T references=dataset --model-role 'grader=[JUDGE, OTHER_JUDGE]'"
)


def report_crossval(
    logs: Iterable[str],
    *,
    rounds: int = REPORT_ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
    command: str = "",
) -> Report:
    """Report from logs of `urs_crossval` and of `urs` whether scores hold for other judges and
    references.

    Args:
        logs: Log files, and directories of logs.
        rounds: Rounds of the bootstrap over cases.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of the bootstrap.
        command: The command that makes the report.

    Returns:
        The report, with the tables `means`, `rating_bias`, `orders`, `differences` and
        `self_preference`, Figures 4 and 10, and rating bias, of each grid.

    Raises:
        InputError: If a name does not exist, or nothing is left to report; the message reports what
            was skipped.
    """
    names = list(logs)
    skipped = list[str]()
    headers = finished_headers(names, skipped)
    grid_logs = [header for header in headers if header.eval.task == TASK]
    read = read_grid_logs(grid_logs, skipped)
    others = [local_path(log.location) for log in headers if log.eval.task != TASK]
    judged = []
    if others:
        try:
            answers = read_answers(others)
            skipped += answers.left_out
            for runs in read_judged_runs(answers):
                if runs.judge_is_tested:
                    judged.append(runs)
                else:
                    skipped.append(without_preference(runs))
        except InputError as error:  # logs of other tasks may lie in the same folder
            skipped += error.message.splitlines()
    if not read and not judged:
        what = "no finished log of urs_crossval, nor answers that several judges have judged,"
        skipped.append(_WAY.format(shlex.quote(",".join(names))))
        raise nothing_left(what, names, skipped)
    results = crossval_of(grids_of(read), judged, Resampling(rounds, level, seed))
    return crossval_report(results, [short_name(log.location) for log in headers], skipped, command)
