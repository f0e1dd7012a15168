"""Finding logs: the one rule about which of them count, and which are skipped and why."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import chain
from pathlib import Path, PurePosixPath
from re import match
from typing import Protocol, Self, TypeVar
from urllib.parse import unquote, urlparse

from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log, read_eval_log_sample_summaries

from urs_inspect._util import InputError, counted
from urs_inspect.annotation._campaign import LOG_SUFFIXES

PACKAGE = "urs_inspect/"
"""What the names of this package's tasks begin with."""

_COMMANDS = {
    "urs_inspect/urs": "report",
    "urs_inspect/urs_addition": "paper addition",
    "urs_inspect/urs_assistants": "paper assistants",
    "urs_inspect/urs_case_review": "cases review",
    "urs_inspect/urs_crossval": "robustness",
    "urs_inspect/urs_probe": "report",
    "urs_inspect/urs_references": "references",
    "urs_inspect/md_eval": "judges",
    "urs_inspect/judge_pairwise": "judges",
    "urs_inspect/judge_rating": "judges",
    "urs_inspect/judge_twins": "judges",
    "urs_inspect/mad": "rank",
}
"""Task -> the command that reads its logs."""

_CHECKS_OF_JUDGES = (
    "urs_inspect/urs_crossval",
    "urs_inspect/urs_probe",
    "urs_inspect/md_eval",
    "urs_inspect/judge_pairwise",
    "urs_inspect/judge_rating",
    "urs_inspect/judge_twins",
)


def without_checks_of_judges(logs: Sequence[EvalLog], skipped: list[str]) -> list[EvalLog]:
    """Logs without those that check a judge, if there are others; `skipped` gets a sentence."""
    others = [log for log in logs if log.eval.task not in _CHECKS_OF_JUDGES]
    if not others or len(others) == len(logs):
        return list(logs)
    checks = Counter(log.eval.task for log in logs if log.eval.task in _CHECKS_OF_JUDGES)
    named = [
        f"{counted(count, 'log')} of {task.removeprefix(PACKAGE)}"
        for task, count in sorted(checks.items())
    ]
    verb = "check"
    if checks.total() == 1:
        verb = "checks"
    skipped.append(f"Left out: {', '.join(named)}, which {verb} the judge.")
    return others


def reading_command(task: str) -> str:
    """The command that reads the logs of a task, as `urs-inspect report`; empty without one."""
    command = _COMMANDS.get(task)
    if command:
        return f"urs-inspect {command}"
    return ""


def of_other_tasks(logs: Sequence[EvalLog], task: str) -> str:
    """Report that logs (at least one) were skipped for their task.

    With counts and the commands that read them.
    """
    named = []
    counts = Counter(log.eval.task for log in logs)
    for name, count in sorted(counts.items()):
        command = reading_command(name)
        them = "them"
        if count == 1:
            them = "it"
        group = f"{count} of {name}"
        if command:
            group += f" (`{command}` reads {them})"
        named.append(group)
    logs_were = counted(len(logs), "log was", "logs were")
    return f"{logs_were} left out, not being of {task}: {', '.join(named)}."


_HARNESS_NAME = r"\d{4}-\d{2}-\d{2}T\d{2}[:-]\d{2}[:-]\d{2}.*\.json$"
"""What a file in JSON must be called to be taken for a log if its directory is named.

The rule of the harness.
"""
_FEW = 3
"""How many skipped logs of a kind are named; of 500 only these and a count."""
_SHARE = 2
"""A later run of no less than half of the questions stands in the place of an earlier one."""


def log_files(logs: Iterable[str]) -> list[str]:
    """The log files among the names, and those below the directories, each once.

    Files are named as inspect-ai names them, absolute and with any `..` kept, so that tables of it
    can be joined.
    """
    return _distinct_files(file for name in logs for file in _files_of(name))


def _files_of(name: str) -> list[Path]:
    path = Path(local_path(name)).absolute()
    if not path.exists():
        raise InputError(f"no log '{name}'")
    if not path.is_dir():
        return [path]
    # The harness's own listing reads the header of each file that it has not named.
    return sorted(filter(_is_log, path.rglob("*.*")))


def _distinct_files(files: Iterable[Path]) -> list[str]:
    """The first name of each file."""
    names: dict[Path, str] = {}
    for file in files:
        names.setdefault(file.resolve(), str(file))
    return list(names.values())


def _is_log(file: Path) -> bool:
    named_so = file.suffix == ".eval" or match(_HARNESS_NAME, file.name) is not None
    return named_so and file.is_file()


def short_name(file: str) -> str:
    """Name of a log file without its folder, for what goes to others."""
    return PurePosixPath(file).name


def local_path(file: str) -> str:
    """Path of a log, which the harness names by an address where it found it in a directory."""
    if file.startswith("file://"):
        return unquote(urlparse(file).path)
    return file


_WHEN_READ: ContextVar[Callable[[str], None]] = ContextVar("when_read", default=lambda _file: None)


@contextmanager
def watching_reads(when_read: Callable[[str], None]) -> Iterator[None]:
    """Call a function with the name of each log whose samples are read here, to show progress."""
    token = _WHEN_READ.set(when_read)
    try:
        yield
    finally:
        _WHEN_READ.reset(token)


def read_log(
    file: str, header_only: bool = False, without: Collection[str] | None = None
) -> EvalLog:
    """Read a log, `without` some fields of samples.

    Then texts that inspect-ai stores separately are resolved.
    """
    if Path(file).suffix.lower() not in LOG_SUFFIXES:
        raise InputError(f"not a log '{file}': logs are {' or '.join(LOG_SUFFIXES)} files")
    if not header_only:
        _WHEN_READ.get()(file)
    try:
        return read_eval_log(
            file,
            header_only=header_only,
            resolve_attachments=False if without is None else "core",
            exclude_fields=None if without is None else set(without),
        )
    except Exception as error:  # a damaged or foreign file may raise anything
        raise InputError(
            f"cannot read the log '{file}', which is damaged, incomplete or no log at all "
            f"({type(error).__name__}: {error})"
        ) from error


def read_summaries(log: EvalLog, skipped: list[str]) -> list[EvalSampleSummary] | None:
    """Read the summaries of a log's samples.

    None, with a sentence in `skipped`, if they cannot be read.
    """
    _WHEN_READ.get()(log.location)
    try:
        return read_eval_log_sample_summaries(log.location)
    except Exception as error:  # a damaged file may raise anything
        name = short_name(log.location)
        skipped.append(
            f"{name} was left out: its samples cannot be read: {type(error).__name__}: {error}."
        )
        return None


def nothing_left(what: str, names: Iterable[str], skipped: Iterable[str]) -> InputError:
    """The error where `what` is missing in all logs of these names, with what was skipped."""
    lines = [f"{what} in: {', '.join(names)}", *skipped]
    return InputError("\n".join(lines))


def first_few(
    sentences: Sequence[str], what: str = "log", why: str = "for such a reason"
) -> list[str]:
    """The first sentences about logs that were skipped, and how many more were skipped, and why."""
    few = list(sentences[:_FEW])
    more = len(sentences) - _FEW
    if more > 0:
        logs_were = counted(more, f"more {what} was", f"more {what}s were")
        few.append(f"{logs_were} left out {why}.")
    return few


def finished_headers(
    names: Iterable[str],
    skipped: list[str],
    task: str | Sequence[str] | None = None,
    *,
    also_foreign: bool = False,
) -> list[EvalLog]:
    """Read the headers of finished logs of a task or several.

    Every command finds its logs by this rule.
    A file that cannot be read is skipped; so are copies of a log, logs of other tasks, and runs
    that did not finish. Of several attempts at one run (`inspect eval-retry` keeps its task id)
    unfinished ones are skipped if one finished, else the newest is named.
    """
    finished, unfinished = sorted_headers(names, skipped, task, also_foreign=also_foreign)
    sentences = list(map(_about_unfinished, unfinished))
    skipped += first_few(sentences, why="for not having finished")
    return finished


def finished_logs(
    names: Iterable[str],
    skipped: list[str],
    task: str | None = None,
    *,
    without: Collection[str] | None = None,
) -> Iterator[EvalLog]:
    """Read whole logs one after the other.

    Arguments and errors as for `finished_headers` and `read_log`.
    """
    yield from whole_logs(finished_headers(names, skipped, task), skipped, without=without)


def whole_logs(
    headers: Iterable[EvalLog], skipped: list[str], *, without: Collection[str] | None = None
) -> Iterator[EvalLog]:
    """Read the logs of headers; `skipped` gets a sentence on each that cannot be read."""
    for header in headers:
        try:
            log = read_log(header.location, without=without)
        except InputError as error:
            skipped.append(about_damaged(header.location, error))
        else:
            yield log


def sorted_headers(
    names: Iterable[str],
    skipped: list[str],
    task: str | Sequence[str] | None = None,
    *,
    also_foreign: bool = False,
) -> tuple[list[EvalLog], list[EvalLog]]:
    """Headers of finished logs, and of the newest attempt at each run of which none finished.

    Arguments and errors as for `finished_headers`, except that runs that did not finish are not
    reported.
    """
    by_name = {name: _files_of(name) for name in names}
    skipped += [f"{name} has no logs." for name, found in by_name.items() if not found]
    files = _distinct_files(chain.from_iterable(by_name.values()))
    copies = copies_of_files(files)
    logs = _readable_headers([file for file in files if file not in copies], skipped)
    copies |= _copies_of_logs(logs)
    if copies:
        skipped.append(about_copies(copies))
    names_of_tasks = [task] if isinstance(task, str) else task or ()
    tasks = [PACKAGE + name for name in names_of_tasks]
    once = [log for log in logs if log.location not in copies]
    own = [log for log in once if _is_wanted(log.eval.task, tasks, also_foreign)]
    others = [log for log in once if log not in own]
    if others:
        skipped.append(of_other_tasks(others, tasks[0]))
    return _attempts(own, skipped)


def _is_wanted(task: str, tasks: Sequence[str], also_foreign: bool) -> bool:
    if not tasks or task in tasks:
        return True
    return also_foreign and not task.startswith(PACKAGE)


def _readable_headers(files: Iterable[str], skipped: list[str]) -> list[EvalLog]:
    """The headers of logs in the order in which they were made."""
    logs = list[EvalLog]()
    damaged = list[str]()
    for file in files:
        try:
            logs.append(read_log(file, header_only=True))
        except InputError as error:
            damaged.append(about_damaged(file, error))
    skipped += first_few(damaged, "file", "for being unreadable")

    def age(log: EvalLog) -> tuple[str, str, str]:
        return log.eval.created, log.stats.completed_at, log.location

    return sorted(logs, key=age)


def copies_of_files(files: Sequence[str]) -> dict[str, str]:
    """Files whose bytes are those of an earlier one, and which; only files of one size are read.

    A file that cannot be read, or has gone since the folder was listed, is no copy: reading it as a
    log reports it.
    """
    sizes: dict[int, list[str]] = defaultdict(list)
    for file in files:
        with suppress(OSError):
            sizes[Path(file).stat().st_size].append(file)
    sizes.pop(0, None)  # empty files
    copies: dict[str, str] = {}
    for same_size in sizes.values():
        first: dict[str, str] = {}
        for file in same_size if len(same_size) > 1 else ():
            with suppress(OSError), Path(file).open("rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
                original = first.setdefault(digest, file)
                if original != file:
                    copies[file] = original
    return copies


def _copies_of_logs(logs: Sequence[EvalLog]) -> dict[str, str]:
    """Logs with the content of an earlier one in another format, and which."""
    copies: dict[str, str] = {}
    first: dict[tuple[str, str], EvalLog] = {}
    for log in logs:
        header = log.model_dump_json(exclude={"location", "etag", "reductions"})
        original = first.setdefault((log.eval.eval_id, header), log)
        if original is not log and _content(original) == _content(log):
            copies[log.location] = original.location
    return copies


def _content(log: EvalLog) -> object:
    """Content of the samples of a log.

    The log itself, which equals no other one, if they cannot be read.
    """
    try:
        samples = read_eval_log_sample_summaries(log.location)
    except Exception:  # a damaged file may raise anything
        return log
    return sorted(sample.model_dump_json() for sample in samples)


def _attempts(logs: Sequence[EvalLog], skipped: list[str]) -> tuple[list[EvalLog], list[EvalLog]]:
    """Finished logs, and the newest attempt at each run of which none finished."""
    finished = [log for log in logs if log.status == "success"]
    done = {log.eval.task_id: log for log in finished if log.eval.task_id}
    newest: dict[str, EvalLog] = {}
    retried: list[tuple[str, str]] = []
    folders: dict[Path, list[Path]] = {}
    for log in logs:
        if log.status == "success":
            continue
        later = done.get(log.eval.task_id) or _finished_beside(log, folders)
        if later is not None:
            retried.append((log.location, later.location))
        else:
            newest[log.eval.task_id or log.location] = log
    if retried:
        one, other = map(short_name, retried[0])
        more = len(retried) - 1
        and_more = ""
        if more:
            and_more = f" (and {counted(more, 'more such log')})"
        skipped.append(f"{one} was left out: retried by {other}{and_more}.")
    return finished, list(newest.values())


def _finished_beside(log: EvalLog, folders: dict[Path, list[Path]]) -> EvalLog | None:
    """A finished attempt at the same run in the folder of an unfinished one.

    Its name has the id of the task. `folders` keeps what each folder holds, so that many unfinished
    logs list it once.
    """
    if not log.eval.task_id:
        return None
    folder = Path(log.location).parent
    if folder not in folders:
        folders[folder] = sorted(folder.glob("*.eval"))
    for file in folders[folder]:
        if log.eval.task_id in file.name and str(file) != log.location:
            try:
                found = read_log(str(file), header_only=True)
            except InputError:
                continue
            if found.status == "success" and found.eval.task_id == log.eval.task_id:
                return found
    return None


def about_damaged(file: str, error: InputError) -> str:
    """Report that a file was skipped because it cannot be read.

    Without its folder, as reports are shared.
    """
    short = short_name(file)
    path = Path(local_path(file))
    reason = error.message.replace(f" '{file}'", "").replace(file, short)
    if path.exists() and not path.stat().st_size:
        reason = "it is empty"
    return f"{short} was left out: {reason}."


def about_copies(copies: Mapping[str, str]) -> str:
    """Report in one sentence which copies were skipped: file -> the one that it is a copy of."""
    left, right = _distinct_ends(*next(iter(copies.items())))
    if len(copies) == 1:
        return f"{left} was left out: it is a copy of {right}."
    return f"{len(copies):,} copies of logs were left out, such as {left}, a copy of {right}."


def about_unscored(log: str, samples: int) -> str:
    """Report that a log was skipped because none of its samples was judged."""
    return f"{log} was left out: none of its {samples} samples was scored by intent_judge."


def about_other_judges(log: str, kept: int, answers: int, judges: Iterable[str], usual: str) -> str:
    """Report that answers of a log were skipped because not the usual judges judged them."""
    return (
        f"{answers - kept} of {answers} answers of {log} were left out: they were"
        f" judged by {', '.join(sorted(judges))}, the others by {usual}."
    )


def about_other_prompts(log: str, kept: int, answers: int) -> str:
    """Report that answers of a log were skipped because another prompt judged them."""
    return (
        f"{answers - kept} of {answers} answers of {log} were left out: they were"
        " judged with another prompt than the others of their intent and language."
    )


def _about_unfinished(log: EvalLog) -> str:
    ids = log.eval.dataset.sample_ids
    samples = log.eval.dataset.samples or 0 if ids is None else len(ids)
    wanted = samples * (log.eval.config.epochs or 1)
    running = ""
    if log.status == "started":
        running = "if it is no longer running, "
    done = counted(_done(log), "sample is", "samples are")
    if wanted:
        done = f"{_done(log):,} of {wanted:,} samples are"
    return (
        f"{short_name(log.location)} of {log.eval.model} was left out: its status is"
        f" '{log.status}', {done} done; {running}finish it with `inspect eval-retry`."
    )


def _done(log: EvalLog) -> int:
    """Number of samples without an error in the file of a run that did not end.

    Such a run may not have counted them.
    """
    try:
        samples = read_eval_log_sample_summaries(log.location)
    except Exception:  # a file that was not closed may raise anything
        if log.results:
            return log.results.completed_samples
        return 0
    return sum(sample.error is None for sample in samples)


class Run(Protocol):
    """A run that another may replace."""

    @property
    def file(self) -> str:
        """Its log."""

    @property
    def run_id(self) -> str:
        """Id of the run, which all its files share; empty if it is not known."""

    @property
    def of(self) -> str:
        """What gave its answers."""

    @property
    def questions(self) -> frozenset[str]:
        """Ids of its questions."""

    def replaces(self, other: Self) -> bool:
        """Whether it repeats the other run in part.

        It has answers of the same model to some of the same questions under the same conditions.
        """


_Run = TypeVar("_Run", bound=Run)


def latest_runs(runs: Sequence[_Run], skipped: list[str]) -> list[_Run]:
    """Skip runs whose questions later ones asked again, unless these asked fewer than half as many.

    Runs come, and are returned, in the order in which they were made; `skipped` gets a sentence for
    each skipped one.
    """
    kept: list[_Run] = []
    copies = list[str]()
    replaced = list[str]()
    small = list[str]()
    for run in reversed(runs):
        later = [newer for newer in kept if newer.replaces(run)]
        if not later:
            kept.append(run)
            continue
        questions = [newer.questions for newer in later]
        asked = len(frozenset[str]().union(*questions))
        names = ", ".join(short_name(newer.file) for newer in reversed(later))
        if later[0].run_id and later[0].run_id == run.run_id:
            left, right = _distinct_ends(run.file, later[0].file)
            copies.append(f"{left} was left out: {right} is another file of the same run.")
        elif _SHARE * asked >= len(run.questions):
            are = "are later runs"
            if len(later) == 1:
                are = "is a later run"
            replaced.append(
                f"{short_name(run.file)} of {run.of} was left out: {names} {are} under the same"
                f" conditions ({counted(asked, 'question')}; {len(run.questions):,} in the one left"
                " out)."
            )
        else:
            # Who tries something out on a few questions afterwards has not taken back the whole
            # run.
            were = "were"
            if len(later) == 1:
                were = "was"
            are = "they are later runs"
            if len(later) == 1:
                are = "it is a later run"
            small.append(
                f"{names} of {run.of} {were} left out: {are} under the same conditions, but of"
                f" only {counted(asked, 'question')}; {short_name(run.file)}, which counts, has"
                f" {len(run.questions):,}."
            )
            kept = [*(newer for newer in kept if newer not in later), run]
    skipped += first_few(copies, why="for repeating the same runs")
    skipped += first_few(replaced, why="for being replaced by later runs")
    skipped += first_few(small, why="for covering only a few questions")
    return kept[::-1]


def _distinct_ends(first: str, second: str) -> tuple[str, str]:
    """Names of two files with no more folders than it takes for them to differ."""
    one = PurePosixPath(first).parts
    other = PurePosixPath(second).parts
    shown = 1
    while one[-shown:] == other[-shown:] and shown < len(one):
        shown += 1
    end = "/".join(one[-shown:])
    other_end = "/".join(other[-shown:])
    return end, other_end
