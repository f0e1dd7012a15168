"""Names of lm-eval's files of samples, and the results beside them."""

import json
import re
from pathlib import Path
from typing import Any

SAVED = re.compile(r"samples_([^/]+)_(\d{4}-\d{2}-\d{2}T[^/]*)\.jsonl$")


def task_and_date(file: Path) -> tuple[str, str]:
    """Task and time of a run in the name of a file of samples of lm-eval.

    The name and nothing if it has no time.
    """
    match = SAVED.search(file.name)
    if match:
        return (match[1], match[2])
    return (file.stem, "")


def saved_results(file: Path) -> dict[str, Any]:
    """The dictionaries, and the model, in the results beside a file of samples.

    Empty if there are none.
    """
    beside = file.with_name(f"results_{task_and_date(file)[1]}.json")
    try:
        results = json.loads(beside.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(results, dict) or not results.get("model_name"):
        return {}
    return {
        name: part
        for name, part in results.items()
        if name == "model_name" or isinstance(part, dict)
    }
