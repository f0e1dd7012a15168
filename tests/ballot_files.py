"""Files of ballots for tests."""

import json
from collections.abc import Iterable
from pathlib import Path

from urs_inspect.discrepancy._ballots import Ballot


def write_ballots(ballots: Iterable[Ballot], path: Path) -> None:
    """Write ballots to a file, one per line, as `read_ballots` reads them."""
    lines = [json.dumps(ballot.to_dict(), ensure_ascii=False) + "\n" for ballot in ballots]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
