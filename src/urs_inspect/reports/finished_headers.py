"""Finds the finished logs, and says what became of the others."""

from collections.abc import Iterable

from inspect_ai.log import EvalLog, read_eval_log_sample_summaries

from urs_inspect.errors import InputError
from urs_inspect.reports.log_files import local_path, log_files, read_log, short_name
from urs_inspect.reports.reading_commands import PACKAGE, of_other_tasks


def finished_headers(
    names: Iterable[str], left_out: list[str], task: str | None = None, *, also_foreign: bool = False
) -> list[EvalLog]:
    """Read the headers of finished logs.

    Args:
        names: Log files and directories.
        left_out: Gets a sentence about what is left out: directories without logs, files that cannot be read, logs of
            other tasks, logs that did not finish, with counts. The sentences name no folders.
        task: Only logs of this task, named without the package; None for logs of any.
        also_foreign: Beside those, logs of tasks that are not of this package.

    Returns:
        The headers, each file once, in the order in which the logs were made.

    Raises:
        InputError: If a name does not exist.
    """
    logs: dict[str, EvalLog] = {}
    for name in names:
        files = [local_path(file) for file in log_files([name])]
        if not files:
            left_out.append(f"{name} has no logs.")
        for file in files:
            try:
                logs.setdefault(file, read_log(file, header_only=True))
            except InputError as error:
                # The page goes to others, whom the folders of this machine do not concern.
                short = short_name(file)
                said = error.message.replace(f" '{file}'", "").replace(file, short)
                left_out.append(f"{short} was left out: {said}.")
    own = {
        file: log
        for file, log in logs.items()
        if task is None or log.eval.task == PACKAGE + task or (also_foreign and not log.eval.task.startswith(PACKAGE))
    }
    if others := [log for file, log in logs.items() if file not in own]:
        left_out.append(of_other_tasks(others, f"{PACKAGE}{task}"))
    done = {log.eval.task_id: file for file, log in own.items() if log.eval.task_id and log.status == "success"}
    for file, log in own.items():
        if log.status != "success":
            left_out.append(_unfinished(file, log, done.get(log.eval.task_id)))
    finished = [log for log in own.values() if log.status == "success"]
    return sorted(finished, key=lambda log: (log.eval.created, log.stats.completed_at, log.location))


def _unfinished(file: str, log: EvalLog, later: str | None) -> str:
    advice = f"{short_name(later)} finished it" if later else "finish it with `inspect eval-retry`"
    ids = log.eval.dataset.sample_ids
    wanted = (log.eval.dataset.samples or 0 if ids is None else len(ids)) * (log.eval.config.epochs or 1)
    return (
        f"{short_name(file)} of {log.eval.model} was left out: its status is '{log.status}', {_done(log):,} of "
        f"{wanted:,} samples are done; {advice}."
    )


def _done(log: EvalLog) -> int:
    """Number of samples without an error in the file of a run that did not end, and so may not have counted them."""
    try:
        return sum(sample.error is None for sample in read_eval_log_sample_summaries(log.location))
    except Exception:  # whatever a file that was not closed does to its reader
        return log.results.completed_samples if log.results else 0
