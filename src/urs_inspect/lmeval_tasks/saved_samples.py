"""Answers that lm-eval has saved: reading its files, and writing them anew."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urs_inspect.errors import InputError

_FIELDS = ("intent", "intent_group", "language", "question", "reference")
_START = "samples_"
_MOST_OF_A_NAME = 80


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
    record: str | None


def read_saved(file: Path) -> list[Saved]:
    """Read answers that lm-eval saved.

    Args:
        file: A file of samples of `urs`, `urs_en` or `urs_zh`.

    Raises:
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
        try:
            line = json.loads(text)
            doc, response = line["doc"], line["resps"][0][0]
            missing = [name for name in _FIELDS if not isinstance(doc[name], str)]
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise InputError(
                f"{file}, line {number}: not a sample of urs, urs_en or urs_zh as lm-eval saves it "
                f"({type(error).__name__}: {error}); leave files of other tasks out"
            ) from error
        if missing or not isinstance(response, str):
            raise InputError(f"{file}, line {number}: not a sample of urs: {', '.join(missing) or 'its response'}")
        found.append(Saved(line, response, _record(line)))
    if not found:
        raise InputError(f"{file}: no samples")
    return found


def written_to(file: Path, judge: str, folder: Path | None) -> Path:
    """Where the samples of a file go when a judge has judged them.

    The name does not begin with `samples_`, so that a pattern for what lm-eval saved never finds it; it holds the
    judge, so that two judges stand beside each other; and what is judged again by the same judge keeps it.

    Args:
        file: What was read: a file of lm-eval, or one that was written here before.
        judge: Who judges.
        folder: The folder; None for that of the file.
    """
    who = re.sub(r"[^\w.-]+", "-", judge).strip("-")[-_MOST_OF_A_NAME:]
    return (file.parent if folder is None else folder) / f"rejudged_{who}_{_original(file.stem)}.jsonl"


def write_saved(
    target: Path, saved: Sequence[Saved], records: Sequence[str], metrics: Sequence[Mapping[str, float]]
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
        lines.append({**line, "filtered_resps": [record], "metrics": list(found), **found})
    unfinished = target.with_name(f"{target.name}.unfinished")
    unfinished.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    unfinished.replace(target)


def task_of(file: Path) -> str:
    """The task whose samples a file holds, by its name."""
    name = _original(file.stem).removeprefix(_START)
    return name.rpartition("_")[0] or name


def _original(name: str) -> str:
    return name[name.find(_START) :] if _START in name else name


def _record(line: dict[str, Any]) -> str | None:
    [kept, *_] = line.get("filtered_resps") or [None]
    try:
        record = json.loads(kept) if isinstance(kept, str) else None
    except ValueError:
        return None  # the answer itself, of a run that did not judge
    return kept if isinstance(record, dict) and {"scores", "judge", "outcome"} <= set(record) else None
