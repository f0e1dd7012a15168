"""Logs -> one table of answers, a row for each log, question and epoch."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from urs_inspect.errors import InputError
from urs_inspect.reports.intent.answer_rows import whole_characters
from urs_inspect.reports.intent.judged_log import TASK, JudgedLog, read_judged_log
from urs_inspect.reports.intent.report import Run
from urs_inspect.reports.intent.run_commands import run_command
from urs_inspect.reports.log_files import finished_headers, latest_runs, short_name
from urs_inspect.reports.naming import distinct_names
from urs_inspect.reports.results import prompts_digest


@dataclass(frozen=True)
class Answers:
    """Answers of models, and where they come from.

    Attributes:
        table: One row for each log, question and epoch, with the columns log, model (its name, with the settings in
            which its logs differ), base_model (the name alone), task, question, epoch, intent, group, language,
            country (empty if none), final (1 to 10, NaN if unscored), `criterion/<id>` (NaN where there is none),
            outcome, cut_off (at the token limit),
            judges (joined by ", "), judge_finals (judge -> final score), earlier_finals (those that the
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
    questions. Logs that did not finish, that cannot be read, and those of this package's other tasks are left out.

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
    kept = latest_runs(judged, left_out)
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
