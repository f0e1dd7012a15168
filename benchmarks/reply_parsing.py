"""How long reading a judge's reply takes, against finding and loading its last JSON object and
checking nothing.

python -m benchmarks reply_parsing
"""

import json

from tests.judging.replies import QA, RUBRIC, messy_reply, typical_reply

from benchmarks import Row, timed
from urs_inspect.judging import read_reply


def ratios(*, quick: bool) -> list[Row]:
    """Time of a typical reply over the floor, and of a messy one, which the floor cannot read, over
    the same floor.
    """
    times = 500 if quick else 5_000
    typical = typical_reply()
    messy = messy_reply()
    works = {
        "a typical English reply": lambda: [read_reply(typical, RUBRIC, QA) for _ in range(times)],
        "a messy Chinese reply": lambda: [read_reply(messy, RUBRIC, QA) for _ in range(times)],
        "floor": lambda: [
            json.loads(typical[typical.rfind("{") : typical.rfind("}") + 1]) for _ in range(times)
        ],
    }
    *ours, (_, floor) = timed(works, 5).items()
    against = "loading the typical reply's last JSON object, no checks"
    sizes = [len(typical), len(messy)]
    return [
        Row(f"reading {name}", f"{size:,} characters, {times:,} times", cost, floor, against)
        for (name, cost), size in zip(ours, sizes, strict=True)
    ]
