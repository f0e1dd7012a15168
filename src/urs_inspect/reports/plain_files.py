"""What reports write as CSV, JSON and Markdown, with nothing in it that is not a number."""

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV; a number that is not known is an empty cell."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def plain(value: Any) -> Any:
    """What JSON can hold of a value: dataclasses by their attributes, null for a number that is not known."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {"/".join(key) if isinstance(key, tuple) else str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def has_format(file: Path, name: str) -> bool:
    """Whether a file is the JSON file of a report of that format, which may then be replaced."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("format") == name


def _cell(value: object) -> object:
    return "" if isinstance(value, float) and not math.isfinite(value) else value
