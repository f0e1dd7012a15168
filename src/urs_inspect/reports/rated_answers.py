"""Logs of `urs` and people's ratings of their answers: answers to rate, and ratings as scores of a log."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from inspect_ai.log import write_eval_log

from urs_inspect._util import InputError, check_new_file, choices, counted
from urs_inspect.annotation.campaign import LOG_SUFFIXES
from urs_inspect.annotation.rating_queue import Answer
from urs_inspect.annotation.ratings import RatingReading, read_ratings
from urs_inspect.logs.battles import scored_copy
from urs_inspect.logs.files import read_log, short_name
from urs_inspect.logs.responses import text_of
from urs_inspect.logs.scores import last_score
from urs_inspect.reports.answers import ERROR, read_answers
from urs_inspect.rubrics import Rubric
from urs_inspect.scorers.human_rating import human_rating

_UNUSED = {"events", "messages", "store", "error_retries", "scores"}


def answers_to_rate(logs: Iterable[str], rubric: Rubric) -> tuple[tuple[Answer, ...], tuple[str, ...]]:
    """Read the answers that people can rate, and what was skipped, a sentence each.

    Args:
        logs: Log files and directories; which logs count is decided as for the report.
        rubric: Has the criteria of every intent.

    Raises:
        InputError: If no answer is left, a log was judged by another rubric, or two logs have different answers under
            one question, model and epoch, so that a rating would not say which one it is about.
    """
    read = read_answers(logs)
    skipped = list(read.left_out)
    answers: dict[tuple[str, str, int], tuple[Answer, str]] = {}
    failed = repeated = 0
    for file, rows in read.table.groupby("log", sort=False):
        log, name = read_log(str(file), without=_UNUSED), short_name(str(file))
        _check_rubric(name, str((log.eval.metadata or {}).get("rubric", "")), rubric, skipped)
        samples = {(str(sample.id), sample.epoch): sample for sample in log.samples or []}
        row: Any
        for row in rows.itertuples(index=False):
            sample = samples.get((row.question, row.epoch))
            if sample is None or row.outcome == ERROR or sample.error is not None:
                failed += 1
                continue
            if row.intent not in rubric.intents:
                raise InputError(
                    f"{name}: '{row.question}' has the intent '{row.intent}', which the rubric does not have; it has: "
                    f"{choices(rubric.intents)}"
                )
            answer = Answer(
                question=row.question,
                model=row.model,
                epoch=int(row.epoch),
                intent=row.intent,
                language=row.language,
                instruction=text_of(sample),
                text=sample.output.completion if sample.output.choices else "",
                reference="\n".join([sample.target] if isinstance(sample.target, str) else sample.target),
                score=row.final,
            )
            first, place = answers.setdefault((answer.question, answer.model, answer.epoch), (answer, name))
            if first.text != answer.text or first.instruction != answer.instruction:
                raise InputError(
                    f"'{answer.question}' has different answers of {answer.model}, epoch {answer.epoch}, in {place} "
                    f"and {name}; name one of the two logs"
                )
            repeated += first is not answer
    if not answers:
        raise InputError("\n".join(["no answer to rate: all samples ended in an error", *skipped]))
    if failed:
        skipped.append(f"{counted(failed, 'sample')} without an answer, after an error, skipped.")
    if repeated:
        skipped.append(f"{counted(repeated, 'answer')} in several logs, rated once.")
    return tuple(answer for answer, _ in answers.values()), tuple(skipped)


def _check_rubric(file: str, judged_by: str, rubric: Rubric, skipped: list[str]) -> None:
    name, _, version = judged_by.rpartition(" ")
    if judged_by and name != rubric.name:
        raise InputError(
            f"{file}: was judged by the rubric '{judged_by}', and ratings would be by '{rubric.name} "
            f"{rubric.version}'; name the rubric's file with --rubric, and logs of other rubrics by themselves"
        )
    if version and version != rubric.version:
        skipped.append(f"{file} was judged by version {version} of the rubric; ratings are by {rubric.version}.")


def attach_ratings(logs: Sequence[str], ratings: Path, output: Path) -> tuple[int, RatingReading]:
    """Write a copy of a finished log of `urs` with the score `human_rating` for every rated answer.

    Returns:
        How many of the ratings are about answers in the log, and all of them.

    Raises:
        InputError: If not one log was named, no rating is about its answers, or the output cannot be written.
    """
    if len(logs) != 1 or not Path(logs[0]).is_file():
        raise InputError(f"output: needs one log of urs, got: {choices(logs)}")
    check_new_file(output, *LOG_SUFFIXES)
    log = read_log(logs[0])
    scored = scored_copy(log, human_rating([str(ratings)], log.eval.model), "human_rating")
    scores = [last_score(sample, "human_rating") for sample in scored.samples or []]
    here = sum(len((score.metadata or {}).get("raters", ())) for score in scores if score)
    if not here:
        raise InputError(f"{ratings}: no rating is about an answer in {logs[0]}")
    write_eval_log(scored, str(output))
    return here, read_ratings([ratings])
