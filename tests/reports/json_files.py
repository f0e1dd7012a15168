"""Files of rows, as people give them."""

import json
from pathlib import Path
from typing import Any


def write_rows(path: Path, *rows: Any) -> Path:
    """Write rows as one JSON list, or as one line each if the name ends with `.jsonl`; the folder
    is made.
    """
    text = (
        json.dumps(rows)
        if path.suffix == ".json"
        else "".join(f"{json.dumps(row)}\n" for row in rows)
    )
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
