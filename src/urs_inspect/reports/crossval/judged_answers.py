"""Ordinary logs of answers that several judges have judged -> whether the judges favour their own answers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from inspect_ai.log import EvalSpec

from urs_inspect.reports.crossval.report import JudgedAnswers
from urs_inspect.reports.crossval.statistics import Ratings, preferences
from urs_inspect.reports.intent.answers import read_answers
from urs_inspect.reports.intent.block_report import Bootstrap
from urs_inspect.reports.intent.judged_log import version_number
from urs_inspect.reports.log_files import read_log, short_name
from urs_inspect.reports.responses import ANSWERS_ONLY
from urs_inspect.reports.results import prompts_digest
from urs_inspect.texts import counted


@dataclass(frozen=True)
class _Block:
    """Answers whose scores compare: task and version, data, rubric, references and prompts are the same."""

    task: str
    version: str
    dataset_sha256: str
    rubric: str
    references: str
    prompts: str


@dataclass(frozen=True)
class _Log:
    """One log: what its scores compare with, the run that its answers are of, its rows, and which are copies."""

    block: _Block
    run: str
    model: str
    rows: pd.DataFrame
    copies: frozenset[tuple[str, int]]


def read_judged_answers(logs: Iterable[str], bootstrap: Bootstrap) -> tuple[tuple[JudgedAnswers, ...], tuple[str, ...]]:
    """Read self-preference from logs of answers.

    Judges compare only over the same answers: a panel's, or those of one run that was judged again with `inspect score`
    into another log. Two runs of one model have different answers; the one with more judges counts.

    Args:
        logs: Log files, and directories of logs.
        bootstrap: How intervals are made.

    Returns:
        One entry for each set of conditions in which some judge judged its own answers and another one did so too, and
        what was left out, a sentence each.

    Raises:
        InputError: If no log has answers that `intent_judge` scored.
    """
    answers = read_answers(logs)
    blocks: dict[_Block, list[_Log]] = {}
    for file, rows in answers.table.groupby("log", sort=False):
        log = _log(str(file), rows)
        blocks.setdefault(log.block, []).append(log)
    found, left_out = [], list(answers.left_out)
    for block, several in blocks.items():
        kept, notes = _one_run_a_model(several)
        notes += [
            f"{len(log.copies)} of {len(log.rows)} answers of {log.model} are word for word its references: their "
            "judgements are excluded, because a text would be judged against itself."
            for log in kept
            if log.copies
        ]
        ratings = _ratings(kept)
        measured = preferences(ratings, bootstrap)
        if not measured:
            left_out.append(_why_nothing(ratings, kept))
            continue
        found.append(
            JudgedAnswers(
                dataset=str(several[0].rows["dataset"].iloc[0]),
                references=block.references,
                rubric=block.rubric,
                prompts=block.prompts,
                judges=ratings.evaluators,
                models=ratings.models,
                questions=len(ratings.scores),
                preferences=measured,
                notes=tuple(notes),
            )
        )
    return tuple(found), tuple(left_out)


def _log(file: str, rows: pd.DataFrame) -> _Log:
    first = rows.iloc[0]
    known = rows.loc[rows["prompt_sha256"] != "", ["intent", "language", "judge_language", "prompt_sha256"]]
    rubrics = rows.loc[rows["rubric"] != "", "rubric"]
    block = _Block(
        task=str(first["task"]),
        version=version_number(str(first["task_version"])),
        dataset_sha256=str(first["dataset_sha256"] or first["dataset"]),
        rubric=str(rubrics.iloc[0]) if len(rubrics) else "",
        references=str(first["references"]),
        prompts=prompts_digest("/".join(map(str, one)) for one in known.itertuples(index=False)),
    )
    spec = read_log(file, header_only=True).eval
    return _Log(block, spec.eval_id, str(first["base_model"]), rows, _copies(file, spec))


def _copies(file: str, spec: EvalSpec) -> frozenset[tuple[str, int]]:
    """Question and epoch of answers that are word for word their references, which are by the same model."""
    if not str((spec.metadata or {}).get("references", "")).startswith(f"{spec.model} ("):
        return frozenset()
    samples = read_log(file, without=ANSWERS_ONLY).samples or []
    same = [sample for sample in samples if sample.output.completion.strip() == str(sample.target).strip()]
    return frozenset((str(sample.id), sample.epoch) for sample in same)


def _one_run_a_model(logs: Sequence[_Log]) -> tuple[list[_Log], list[str]]:
    """The logs of one run of each model: that which the most judges have judged, the last of equal ones."""
    runs: dict[str, dict[str, list[_Log]]] = {}
    for log in logs:
        runs.setdefault(log.model, {}).setdefault(log.run, []).append(log)
    kept: list[_Log] = []
    notes = []
    for model, by_run in runs.items():
        best = max(reversed(by_run), key=lambda run: len({judge for judge, *_ in _judgements(by_run[run])}))
        kept += by_run[best]
        for run, others in by_run.items():
            if run != best:
                names = ", ".join(short_name(str(log.rows["log"].iloc[0])) for log in others)
                notes.append(f"{names} of {model}: other answers than those that more judges have judged; left out.")
    return kept, notes


def _judgements(logs: Iterable[_Log]) -> Iterator[tuple[str, str, str, float]]:
    """Judge, model, question and final score, one an epoch."""
    for log in logs:
        columns = (log.rows["question"], log.rows["epoch"], log.rows["judge_finals"])
        for question, epoch, finals in zip(*columns, strict=True):
            for judge, final in finals.items() if (str(question), int(epoch)) not in log.copies else ():
                yield str(judge), log.model, str(question), float(final)


def _ratings(logs: Sequence[_Log]) -> Ratings:
    table = pd.DataFrame(_judgements(logs), columns=["judge", "model", "question", "final"])
    means = table.groupby(["question", "judge", "model"], sort=False)["final"].mean()
    judges, models = tuple(dict.fromkeys(table["judge"])), tuple(dict.fromkeys(log.model for log in logs))
    questions = sorted(set(table["question"]))
    full = pd.MultiIndex.from_product([questions, judges, models])
    values = means.reindex(full).to_numpy(dtype=np.float64)
    return Ratings(judges, ("",), models, values.reshape(len(questions), len(judges), 1, len(models)))


def _why_nothing(ratings: Ratings, logs: Sequence[_Log]) -> str:
    judges, models = ", ".join(ratings.evaluators) or "nobody", ", ".join(ratings.models)
    if len(ratings.evaluators) < 2:
        why = "there is no other judge of the same answers to compare with"
    else:
        why = "no judge is among the models"
    return f"No self-preference from {counted(len(logs), 'log')} of {models}, judged by {judges}: {why}."
