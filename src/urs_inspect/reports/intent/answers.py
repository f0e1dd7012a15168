"""Logs -> one table of answers, a row for each log, question and epoch."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePosixPath

import pandas as pd

from urs_inspect.errors import InputError
from urs_inspect.reports.finished_headers import finished_headers
from urs_inspect.reports.intent.answer_rows import whole_characters
from urs_inspect.reports.intent.judged_log import TASK, JudgedLog, read_judged_log
from urs_inspect.reports.intent.report import Run
from urs_inspect.reports.intent.run_commands import run_command
from urs_inspect.reports.log_files import short_name
from urs_inspect.reports.naming import distinct_names
from urs_inspect.reports.results import prompts_digest
from urs_inspect.texts import counted

_SHARE = 2
"""A later run of no less than half of the questions stands in the place of an earlier one."""


@dataclass(frozen=True)
class Answers:
    """Answers of models, and where they come from.

    Attributes:
        table: One row for each log, question and epoch, with the columns log, model (its name, with the settings in
            which its logs differ), base_model (the name alone), task, question, epoch, intent, group, language,
            country (empty if none), final (1 to 10, NaN if unscored), `criterion/<id>` (NaN where there is none),
            outcome, judges (joined by ", "), judge_finals (judge -> final score), earlier_finals (those that the
            same judges gave the same answer before), judge_temperatures, self_judged, judge_language, prompt_sha256,
            rubric, dataset, dataset_sha256, references (empty for those of the data), task_version, answer_length
            (characters), input_tokens, output_tokens, judge_input_tokens, judge_output_tokens, cost, judge_cost (US
            dollars), seconds, error (empty if none). Numbers that are not known are NaN. With log, question as id, and
            epoch it joins what `inspect_ai.analysis.samples_df` reads.
        runs: The logs, in the order in which they were made.
        left_out: What was left out and why, a sentence each, with counts.
    """

    table: pd.DataFrame
    runs: tuple[Run, ...]
    left_out: tuple[str, ...]


def read_answers(logs: Iterable[str]) -> Answers:
    """Read the answers in logs that `intent_judge` has scored.

    The last judgement of an answer counts. Of several logs of one model with the same settings, judges, prompts, data
    and references that share questions, the one that was made last counts, unless it asked fewer than half as many
    questions. Logs that did not finish, that cannot be
    read, and those of this package's other tasks are left out.

    Args:
        logs: Log files and directories.

    Returns:
        The answers; those whose sample failed or that have no score have a row as well.

    Raises:
        InputError: If a name does not exist or nothing is left; the message says what was left out.
    """
    names = list(logs)
    left_out: list[str] = []
    finished = finished_headers(names, left_out, TASK, also_foreign=True)
    judged = [read for log in finished if (read := read_judged_log(log, left_out)) is not None]
    kept = _latest(judged, left_out)
    if not kept:
        raise InputError(
            "\n".join([f"no finished log with answers scored by intent_judge in: {', '.join(names)}", *left_out])
        )
    models = [whole_characters(model) for model in _model_names(kept)]
    return Answers(
        table=pd.concat([_frame(*pair) for pair in zip(kept, models, strict=True)], ignore_index=True),
        runs=tuple(_run(*pair) for pair in zip(kept, models, strict=True)),
        left_out=tuple(left_out),
    )


def _latest(logs: Sequence[JudgedLog], left_out: list[str]) -> list[JudgedLog]:
    """Leave out logs whose questions a later log of the same model asked under the same conditions."""
    kept: list[JudgedLog] = []
    for log in reversed(logs):
        later = [one for one in kept if one.replaces(log)]
        asked = len({question for one in later for question in one.questions})
        names = ", ".join(short_name(one.file) for one in reversed(later))
        if later and later[0].log.eval.eval_id and later[0].log.eval.eval_id == log.log.eval.eval_id:
            left, right = _told_apart(log.file, later[0].file)
            left_out.append(f"{left} was left out: {right} is another file of the same run.")
        elif later and _SHARE * asked >= len(log.questions):
            are = "is a later run" if len(later) == 1 else "are later runs"
            left_out.append(
                f"{short_name(log.file)} of {log.log.eval.model} was left out: {names} {are} under the same conditions "
                f"({counted(asked, 'question')}; {len(log.questions):,} in the one left out)."
            )
        else:
            # Who tries something out on a few questions afterwards has not taken back the whole run.
            if later:
                it = "it is a later run" if len(later) == 1 else "they are later runs"
                were = "was" if len(later) == 1 else "were"
                left_out.append(
                    f"{names} of {log.log.eval.model} {were} left out: {it} under the same conditions, but of only "
                    f"{counted(asked, 'question')}; {short_name(log.file)}, which counts, has {len(log.questions):,}."
                )
            kept = [*(one for one in kept if one not in later), log]
    return kept[::-1]


def _told_apart(first: str, second: str) -> tuple[str, str]:
    """Names of two files with no more folders than it takes to tell them apart."""
    ends = zip(reversed(PurePosixPath(first).parts), reversed(PurePosixPath(second).parts), strict=False)
    alike = sum(1 for _ in takewhile(lambda names: names[0] == names[1], ends))
    return "/".join(PurePosixPath(first).parts[-alike - 1 :]), "/".join(PurePosixPath(second).parts[-alike - 1 :])


def _model_names(logs: Sequence[JudgedLog]) -> list[str]:
    """Names of the models, with the settings in which the logs of one model differ."""
    settings: dict[str, list[dict[str, str]]] = defaultdict(list)
    for log in logs:
        if log.settings not in settings[log.log.eval.model]:
            settings[log.log.eval.model].append(log.settings)
    shown = {model: distinct_names([(model, facts) for facts in several]) for model, several in settings.items()}
    return [shown[model][settings[model].index(log.settings)] for log in logs for model in [log.log.eval.model]]


def _frame(read: JudgedLog, model: str) -> pd.DataFrame:
    spec = read.log.eval
    facts = spec.metadata or {}
    table = pd.DataFrame(read.rows)
    same = {
        "log": read.file,
        "model": model,
        "base_model": spec.model,
        "task": spec.task,
        "dataset": str(facts.get("dataset", spec.dataset.name or "")),
        "dataset_sha256": str(facts.get("dataset_sha256", "")),
        "references": read.references,
        "task_version": str(spec.task_version),
    }
    plain = {name: whole_characters(value) for name, value in same.items()}
    return table.assign(**plain)[[*plain, *table.columns]]


def _run(read: JudgedLog, model: str) -> Run:
    spec = read.log.eval
    facts = spec.metadata or {}
    return Run(
        log=short_name(read.file),
        model=model,
        judges=read.judges,
        command=run_command(read.log, read.judges),
        created=spec.created,
        dataset_sha256=str(facts.get("dataset_sha256", "")),
        rubric_sha256=str(facts.get("rubric_sha256", "")),
        prompts=prompts_digest(f"{intent}/{prompt}" for (intent, _), prompt in read.prompts.items()),
        package=spec.packages.get("inspect_ai", ""),
        samples=len(read.rows),
    )
