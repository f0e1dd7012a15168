"""The Markdown of a report, compared with a file that is kept; `URS_INSPECT_REGENERATE=1 pytest`
writes it anew.
"""

import os
import re
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pandas as pd

_FOLDER = Path(__file__).parent / "golden"


def check_golden(name: str, markdown: str) -> None:
    """Compare the Markdown of a report with `golden/<name>.md`."""
    file = _FOLDER / f"{name}.md"
    if os.environ.get("URS_INSPECT_REGENERATE"):
        file.write_text(markdown, encoding="utf-8")
    assert markdown == file.read_text(encoding="utf-8"), (
        f"{file} differs; URS_INSPECT_REGENERATE=1 writes it anew"
    )


def difference(usual: str, markdown: str) -> str:
    """The lines of a report that the usual one lacks, and the sentences that only the usual one has.

    A sentence of both is then kept in one file, that of the usual report.
    """
    changes = unified_diff(_sentences(usual), _sentences(markdown), n=0, lineterm="")
    # Without the names of files, the numbers of lines and the usual report's rows of tables.
    lines = [line for line in list(changes)[2:] if not line.startswith(("@@", "-|"))]
    return "\n".join(lines) + "\n"


def _sentences(markdown: str) -> list[str]:
    return re.sub(r"(?<=[.:]) (?=\S)", "\n", markdown).splitlines()


def rows_of(table: pd.DataFrame) -> list[Any]:
    """The rows of a table as tuples with the names of its columns."""
    return list(table.itertuples())
