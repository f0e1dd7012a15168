"""Answers of logs that people can rate, and their ratings as scores of a log."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from inspect_ai.log import EvalSample

from urs_inspect._util import InputError, check_new_file, choices, counted
from urs_inspect.annotation._campaign import LOG_SUFFIXES
from urs_inspect.annotation._ratings import RatingReading, read_ratings
from urs_inspect.datasets._rows import read_table, refuse
from urs_inspect.judging._scores import last_score
from urs_inspect.logs._battles import scored_copy, write_copy
from urs_inspect.logs._files import read_log, short_name
from urs_inspect.logs._responses import text_of
from urs_inspect.rating._queue import Answer
from urs_inspect.rating._scorer import human_rating
from urs_inspect.reports.numbers._answers import ERROR, read_answers
from urs_inspect.rubrics import Rubric

_UNUSED = {"events", "messages", "store", "error_retries", "scores"}


@dataclass(frozen=True)
class NotRated:
    """What of logs people cannot rate, or by another version of the rubric than the judge did."""

    logs: tuple[str, ...]  # that do not count, a sentence each
    versions: Sequence[tuple[str, str]]  # logs that another version judged, and that version
    failed: int  # samples without an answer, after an error
    repeated: int  # answers in several logs


def answers_to_rate(
    logs: Iterable[str], rubric: Rubric, only: Path | None = None
) -> tuple[tuple[Answer, ...], NotRated]:
    """Read the answers that people can rate, if there are any, and what they cannot rate.

    Which logs count is decided as for the report; `rubric` has the criteria of every intent; `only`
    is a file with id and model of the answers that are wanted, by default all.

    Raises:
        InputError: If `only` names no answer, a log was judged by another rubric, or two logs have
            different answers under one question, model and epoch, so that a rating would not say
            which one it is about.
    """
    read = read_answers(logs)
    versions: list[tuple[str, str]] = []
    answers: dict[tuple[str, str, int], tuple[Answer, str]] = {}
    failed = 0
    given = 0
    for file, rows in read.table.groupby("log", sort=False):
        name = short_name(str(file))
        answers_of_log = _answers_of_log(str(file), rows, rubric, versions)
        failed += len(rows) - len(answers_of_log)
        given += len(answers_of_log)
        for answer in answers_of_log:
            key = (answer.question, answer.model, answer.epoch)
            first, place = answers.setdefault(key, (answer, name))
            if first.text != answer.text or first.instruction != answer.instruction:
                raise InputError(
                    f"'{answer.question}' has different answers of {answer.model}, epoch"
                    f" {answer.epoch}, in {place} and {name}; name one of the two logs"
                )
    wanted = tuple(answer for answer, _ in answers.values())
    if only is not None and wanted:
        wanted = _named(only, wanted)
    return wanted, NotRated(read.left_out, versions, failed, given - len(answers))


def _named(path: Path, answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Those of the answers that a file names by id and model."""
    rows, errors = read_table(path, (("id",), ("model",)))
    refuse(errors)
    if not rows:
        raise InputError(f"only: {path} names no answer; nothing is left to rate")
    named = {(str(row.values["id"]), str(row.values["model"])) for row in rows}
    wanted = tuple(answer for answer in answers if (answer.question, answer.model) in named)
    if not wanted:
        models = sorted({answer.model for answer in answers})
        raise InputError(
            f"only: none of {counted(len(named), 'answer')} of {path} is in the logs, which have"
            f" answers of {choices(models)}"
        )
    return wanted


def _answers_of_log(
    file: str, rows: pd.DataFrame, rubric: Rubric, versions: list[tuple[str, str]]
) -> list[Answer]:
    log = read_log(file, without=_UNUSED)
    name = short_name(file)
    about = log.eval.metadata or {}
    judged_by = str(about.get("rubric", ""))
    _check_rubric(name, judged_by, rubric, versions)
    samples = {(str(sample.id), sample.epoch): sample for sample in log.samples or []}
    answers = []
    row: Any
    for row in rows.itertuples(index=False):
        sample = samples.get((row.question, row.epoch))
        if sample is None or row.outcome == ERROR or sample.error is not None:
            continue
        if row.intent not in rubric.intents:
            raise InputError(
                f"{name}: '{row.question}' has the intent '{row.intent}', which the rubric does"
                f" not have; it has: {choices(rubric.intents)}"
            )
        answers.append(_answer(row, sample))
    return answers


def _answer(row: Any, sample: EvalSample) -> Answer:
    """The answer that a row of the table of answers is about."""
    target = sample.target
    if not isinstance(target, str):
        target = "\n".join(target)
    text = ""
    if sample.output.choices:
        text = sample.output.completion
    return Answer(
        question=row.question,
        model=row.model,
        epoch=int(row.epoch),
        intent=row.intent,
        language=row.language,
        instruction=text_of(sample),
        text=text,
        reference=target,
        disagreement=_disagreement(row.judge_finals),
    )


def _disagreement(finals: Mapping[str, float]) -> float:
    """Points between the highest and the lowest of the scores that judges gave, 0 without two."""
    given = pd.Series(finals, dtype=float).dropna()
    if given.empty:
        return 0.0
    return float(given.max() - given.min())


def _check_rubric(
    file: str, judged_by: str, rubric: Rubric, versions: list[tuple[str, str]]
) -> None:
    """Refuse a log that another rubric judged, and note another version of the rubric."""
    name, _, version = judged_by.rpartition(" ")
    if judged_by and name != rubric.name:
        raise InputError(
            f"{file}: was judged by the rubric '{judged_by}', and ratings would be by"
            f" '{rubric.name} {rubric.version}'; name the rubric's file with --rubric, and logs of"
            " other rubrics by themselves"
        )
    if version and version != rubric.version:
        versions.append((file, version))


def attach_ratings(logs: Sequence[str], ratings: Path, output: Path) -> tuple[int, RatingReading]:
    """Write a copy of the one finished log of `urs` with people's ratings as scores.

    Every rated answer has the score `human_rating`. Returns how many of the ratings are about
    answers in the log, of which there must be one, and all ratings.
    """
    if len(logs) != 1 or not Path(logs[0]).is_file():
        raise InputError(f"output: needs one log of urs, got: {choices(logs)}")
    check_new_file(output, *LOG_SUFFIXES)
    log = read_log(logs[0])
    scored = scored_copy(log, human_rating([str(ratings)], log.eval.model), "human_rating")
    here = 0
    for sample in scored.samples or []:
        score = last_score(sample, "human_rating")
        if score is not None and score.metadata:
            here += len(score.metadata.get("raters", ()))
    if not here:
        raise InputError(f"{ratings}: no rating is about an answer in {logs[0]}")
    write_copy(scored, output)
    return here, read_ratings([ratings])
