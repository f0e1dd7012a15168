"""What the Markdown of a report is made of."""

import re
from collections.abc import Iterable, Sequence

from urs_inspect.texts import escaped

MARKS = {1: "\\*{}", 2: "**{}**", 3: "<u>{}</u>"}
"""How the best three of a column are marked, as in Table 4 of the URS paper."""
LEGEND = "The first of a column is marked \\*, the second is **bold**, the third <u>underlined</u>."
_COMMAND, _CODE = re.compile(r"\\`((?:urs-inspect|inspect)(?: [a-z-]+)+)\\`"), r"`\1`"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """A table of cells that are Markdown already; `left` are the columns that hold no numbers."""
    rule = ["---" if number in left else "---:" for number in range(len(header))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def items(sentences: Iterable[str]) -> str:
    """Sentences as a list, escaped but for commands that they name."""
    return "\n".join(f"- {_COMMAND.sub(_CODE, escaped(sentence))}" for sentence in sentences)
