"""Answers that lm-eval has saved: reading its files, and writing them anew."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urs_inspect.errors import InputError
from urs_inspect.lmeval_tasks.record import Record, read_record

_FIELDS = ("intent", "intent_group", "language", "question", "reference")
_START = "samples_"
_MOST_OF_A_NAME = 80
_DIGITS = 8


class OtherTaskError(InputError):
    """A file of samples is of a task that is not judged."""


@dataclass(frozen=True)
class Saved:
    """An answer as lm-eval saved it.

    Attributes:
        line: The line of the file.
        response: The answer.
        record: What became of it; None if it was not judged.
    """

    line: dict[str, Any]
    response: str
    record: Record | None


def read_saved(file: Path) -> list[Saved]:
    """Read answers that lm-eval saved.

    Args:
        file: A file of samples of `urs`, `urs_en` or `urs_zh`.

    Raises:
        OtherTaskError: If it is a file of another task.
        InputError: Naming file and line of the first fault.
    """
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not in UTF-8, as lm-eval writes samples ({error.reason})") from error
    found: list[Saved] = []
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        found.append(_saved(text, f"{file}, line {number}"))
    if not found:
        raise InputError(f"{file}: no samples")
    return found


def written_to(file: Path, judge: str, judged_with: Mapping[str, Any], folder: Path | None) -> Path:
    """Where the samples of a file go when a judge has judged them.

    The name does not begin with `samples_`, so that a pattern for what lm-eval saved never finds it; it holds the
    judge and a digest of all settings on which scores depend, so that no two of them share a file; and what is judged
    again with the same settings keeps it.

    Args:
        file: What was read: a file of lm-eval, or one that was written here before.
        judge: Who judges.
        judged_with: The settings.
        folder: The folder; None for that of the file.
    """
    who = re.sub(r"[^\w.-]+", "-", judge).strip("-")[-_MOST_OF_A_NAME:]
    digest = hashlib.sha256(json.dumps(dict(judged_with), sort_keys=True).encode()).hexdigest()[:_DIGITS]
    return (file.parent if folder is None else folder) / f"rejudged_{who}-{digest}_{_original(file.stem)}.jsonl"


def write_saved(
    target: Path, saved: Sequence[Saved], records: Sequence[Record], metrics: Sequence[Mapping[str, float]]
) -> None:
    """Write samples with what became of them, in one go: the file is the old one or the new one, never half of it.

    Args:
        target: The file.
        saved: The answers as they were read.
        records: What became of them.
        metrics: The metrics of each.
    """
    lines = []
    for one, record, found in zip(saved, records, metrics, strict=True):
        old = set(one.line.get("metrics", ()))
        line = {key: value for key, value in one.line.items() if key not in old}
        lines.append({**line, "filtered_resps": [record.to_json()], "metrics": list(found), **found})
    unfinished = target.with_name(f"{target.name}.unfinished")
    unfinished.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    unfinished.replace(target)


def task_of(file: Path) -> str:
    """The task whose samples a file holds, by its name."""
    return _task_and_date(file)[0]


def run_of(file: Path) -> dict[str, Any]:
    """What lm-eval says of the run whose samples a file holds, if its results still stand beside them.

    Args:
        file: A file of samples, or one that was written here.

    Returns:
        `model`, `urs_dataset` and `version` of the task, as far as they are known.
    """
    task, date = _task_and_date(file)
    try:
        found = json.loads((file.parent / f"results_{date}.json").read_text(encoding="utf-8"))
        metadata = found["configs"][task].get("metadata") or {}
        facts = {"model": found.get("model_name"), "version": found.get("versions", {}).get(task)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    facts["urs_dataset"] = metadata.get("urs_dataset", "urs")
    return {name: value for name, value in facts.items() if value is not None}


def _original(name: str) -> str:
    return name[name.find(_START) :] if _START in name else name


def _task_and_date(file: Path) -> tuple[str, str]:
    task, _, date = _original(file.stem).removeprefix(_START).rpartition("_")
    return task or date, date


def _saved(text: str, place: str) -> Saved:
    try:
        line = json.loads(text)
        doc, response = line["doc"], line["resps"][0][0]
        missing = [name for name in _FIELDS if name not in doc]
        wrong = [name for name in _FIELDS if name in doc and not isinstance(doc[name], str)]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise InputError(
            f"{place}: not a sample of urs, urs_en or urs_zh as lm-eval saves it ({type(error).__name__}: {error})"
        ) from error
    if missing:
        raise OtherTaskError(f"{place}: not a sample of urs, urs_en or urs_zh: no {', '.join(missing)}")
    if wrong or not isinstance(response, str):
        raise InputError(f"{place}: not a sample of urs: {', '.join(wrong) or 'its response'} is no text")
    [kept, *_] = line.get("filtered_resps") or [None]
    return Saved(line, response, read_record(kept))
