"""Logs of scores that judges gave already, from the files that publish them."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from inspect_ai.log import EvalLog, EvalMetric, EvalResults, EvalSample, EvalScore
from inspect_ai.scorer import Score

from urs_inspect._util import choices, counted, write_new_file
from urs_inspect.datasets._rows import Fields, shown
from urs_inspect.importing._answers import (
    ImportedAnswer,
    KnownAnswers,
    free_place,
    made_log,
    sample_ids,
    samples_by_model,
    write_logs,
)
from urs_inspect.importing._files import ImportedFile, needed_text, of_all
from urs_inspect.logs._scores import TEXTS, number
from urs_inspect.scorers._metrics import mean

SCORES_TASK = "imported_scores"
_LETTERS = ("C", "P", "I", "N")


@dataclass(frozen=True)
class ImportedScore:
    """What a judge gave an answer; also a person's label, which has no judge."""

    answer: ImportedAnswer
    judge: str
    value: bool | float | str


Scores = dict[tuple[str, str, str], ImportedScore]
"""Question, model and judge -> score."""


def write_scores(
    files: Sequence[ImportedFile],
    judges: Sequence[str],
    label: str | None,
    known: KnownAnswers,
    output: Path,
    notes: list[str],
) -> str:
    """Write a log for each model with scores, and a file of people's labels, as `compare --human`
    reads them; returns what was written.
    """
    read: Scores = {}
    of_all(files, lambda file: read_scores_file(file, judges, label, known, read, notes))
    ids = sample_ids([score.answer for score in read.values()], notes)
    scores = [score for score in read.values() if score.judge != label]
    labels = [
        (ids[asked], model, score.value)
        for (asked, model, judge), score in read.items()
        if judge == label
    ]
    if labels:
        file_of_labels = free_place(output, "labels.csv")
    written = write_logs(score_logs(scores, ids, [file.path for file in files]), output)
    if labels:
        table = pd.DataFrame(labels, columns=["id", "model", "rating"])
        write_new_file(file_of_labels, table.to_csv(index=False))
        notes.append(f"{counted(len(labels), 'label')} of people in {file_of_labels}")
    return written


def read_scores_file(
    file: ImportedFile,
    judges: Sequence[str],
    label: str | None,
    known: KnownAnswers,
    scores: Scores,
    notes: list[str],
) -> list[ImportedAnswer]:
    """Add to `scores` what judges gave answers, and people's labels as of the judge `label`.

    Each of `judges` has a column; without any, the file has the columns judge and score.

    Raises:
        InputError: Once, with counts: values that are no score, two scores of a judge for one
            answer, and answers that are not known.
    """
    if not judges:
        file.require("judge", "score")
    columns = list(judges)
    if label:
        columns.append(label)
    file.require_columns(columns)

    def build(fields: Fields) -> ImportedAnswer | None:
        given = {name: score_in(fields, name) for name in columns}
        score = None if judges else score_in(fields, "score")
        if score is not None:
            given[needed_text(fields, "judge").strip()] = score
        values = {judge: value for judge, value in given.items() if value is not None}
        answer = None
        if values:
            answer = known.of(fields)
        if answer is None:
            return None
        for judge, value in values.items():
            key = (answer.asked, answer.model, judge)
            if scores.setdefault(key, ImportedScore(answer, judge, value)).value != value:
                fields.note("", "another score of the same judge for an answer")
        return answer

    scored = file.read(build)
    without = len(file.rows) - len(scored)
    if without:
        notes.append(f"{file.path}: {counted(without, 'row')} without any score, left out.")
    return scored


def score_in(fields: Fields, column: str) -> bool | float | str | None:
    """A score as the log has it: a letter, a boolean or a number; None without one."""
    if fields.blank(column):
        return None
    value = fields.values[column]
    if isinstance(value, str):
        value = value.strip()
    read = number(value)
    if math.isnan(read):
        return None
    if math.isinf(read):
        allowed = f"allowed: {choices(TEXTS)}, finite numbers"
        fields.note(column, f"{{value}} is no score; {allowed}", shown(value))
        return None
    if value in _LETTERS:
        return str(value)
    if isinstance(value, bool) or str(value).lower() in TEXTS:
        return bool(read)
    return read


def score_logs(
    scores: Sequence[ImportedScore], ids: Mapping[str, str], files: Sequence[Path]
) -> dict[str, EvalLog]:
    """A finished log for each model, in which each judge is a scorer of the judge's name."""
    samples = samples_by_model((one.answer for one in scores), ids)
    for one in scores:
        sample = samples[one.answer.model][ids[one.answer.asked]]
        before = sample.scores or {}
        sample.scores = {**before, _scorer(one.judge): Score(value=one.value)}
    judges = dict.fromkeys(_scorer(one.judge) for one in scores)
    logs: dict[str, EvalLog] = {}
    for model, by_id in samples.items():
        log = made_log(SCORES_TASK, model, by_id.values(), files)
        log.results = EvalResults(
            total_samples=len(by_id),
            completed_samples=len(by_id),
            scores=[_header(judge, by_id.values()) for judge in judges],
        )
        logs[model] = log
    return logs


def _scorer(judge: str) -> str:
    """The name of a judge as `--scorer NAME:KEY` can take it."""
    return judge.replace(":", "_")


def _header(judge: str, samples: Collection[EvalSample]) -> EvalScore:
    given = (sample.scores or {} for sample in samples)
    values = [number(scores[judge].value) for scores in given if judge in scores]
    return EvalScore(
        name=judge,
        scorer=judge,
        scored_samples=len(values),
        unscored_samples=len(samples) - len(values),
        metrics={"mean": EvalMetric(name="mean", value=mean(values))},
    )
