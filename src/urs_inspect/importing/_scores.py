"""Logs of scores that judges gave already, from the files that publish them."""

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pandas as pd
from inspect_ai.log import EvalLog, EvalMetric, EvalResults, EvalSample, EvalScore
from inspect_ai.scorer import Score

from urs_inspect._util import InputError, choices, counted, write_new_file
from urs_inspect.datasets._rows import Fields, shown
from urs_inspect.importing._answers import (
    ImportedAnswer,
    Known,
    answer_of,
    free_place,
    made_log,
    sample_ids,
    samples_by_model,
    write_logs,
)
from urs_inspect.importing._files import ImportedFile, needed_text, of_all, refuse_unknown
from urs_inspect.judging._scores import TEXTS, number
from urs_inspect.scorers._metrics import mean

_LETTERS = ("C", "P", "I", "N")


Value = bool | float | str
Scores = dict[tuple[str, str, str], tuple[ImportedAnswer, Value]]
"""Question, model and judge -> the answer, and what the judge gave it; also people's labels."""


def write_scores(
    files: Sequence[ImportedFile],
    judges: Sequence[str],
    label: str | None,
    known: Known,
    output: Path,
    notes: list[str],
) -> str:
    """Write a log for each model with scores, and a file of people's labels, as `compare --human`
    reads them; returns what was written.
    """
    read: Scores = {}
    of_all(files, lambda file: read_scores_file(file, judges, label, known, read, notes))
    ids = sample_ids([answer for answer, _ in read.values()], notes)
    scores = {key: score for key, score in read.items() if key[-1] != label}
    if not scores:
        raise InputError(f"no score of a judge in {choices(str(file.path) for file in files)}")
    labels = [
        (ids[asked], model, value)
        for (asked, model, judge), (_, value) in read.items()
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
    known: Known,
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
    refuse_unknown(f"{file.path}: columns", columns, file.columns)

    def build(fields: Fields) -> ImportedAnswer | None:
        given = {name: score_in(fields, name) for name in columns}
        score = None if judges else score_in(fields, "score")
        if score is not None:
            given[needed_text(fields, "judge").strip()] = score
        values = {judge: value for judge, value in given.items() if value is not None}
        answer = None
        if values:
            answer = answer_of(fields, known)
        if answer is None:
            return None
        for judge, value in values.items():
            key = (answer.asked, answer.model, judge)
            _, first = scores.setdefault(key, (answer, value))
            if first != value:
                fields.note("", "another score of the same judge for an answer")
        return answer

    scored = file.read(build)
    without = len(file.rows) - len(scored)
    if without:
        notes.append(f"{file.path}: {counted(without, 'row')} without any score, left out.")
    return scored


def score_in(fields: Fields, column: str) -> Value | None:
    """A score as the log has it: a letter, a boolean or a number; None without one."""
    if fields.blank(column):
        return None
    value = fields.values[column]
    text = str(value).strip()
    read = number(text)
    if math.isnan(read):
        return None
    if math.isinf(read):
        allowed = f"allowed: {choices(TEXTS)}, finite numbers"
        fields.note(column, f"{{value}} is no score; {allowed}", shown(value))
        return None
    if text in _LETTERS:
        return text
    if text.lower() in TEXTS:
        return bool(read)
    return read


def score_logs(scores: Scores, ids: Mapping[str, str], files: Sequence[Path]) -> dict[str, EvalLog]:
    """A finished log for each model, in which each judge is a scorer of the judge's name."""
    samples = samples_by_model((answer for answer, _ in scores.values()), ids)
    judges: dict[str, None] = {}
    for (asked, model, judge), (_, value) in scores.items():
        scorer = judge.replace(":", "_")  # as `--scorer NAME:KEY` can take it
        judges[scorer] = None
        sample = samples[model][ids[asked]]
        sample.scores = {**(sample.scores or {}), scorer: Score(value=value)}
    logs: dict[str, EvalLog] = {}
    for model, by_id in samples.items():
        log = made_log("imported_scores", model, by_id.values(), files)
        log.results = EvalResults(
            total_samples=len(by_id),
            completed_samples=len(by_id),
            scores=[_header(judge, by_id.values()) for judge in judges],
        )
        logs[model] = log
    return logs


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
