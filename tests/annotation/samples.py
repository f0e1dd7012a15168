"""Ballots, ratings and logs for the tests of voting and of what people rate."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from inspect_ai.model import ModelOutput

from tests.reports.judged_logs import answered, judgement, write_judged
from urs_inspect.annotation._ratings import Rating, answer_id, text_digest
from urs_inspect.annotation._votes import now
from urs_inspect.discrepancy._ballots import Ballot

_ASKED = (
    "How do I compute the **median** of a list of numbers in Python? Please show code and say what"
    " happens for an empty list."
)

_MEDIAN = """The median is the middle value of the sorted numbers.

```python
def median(numbers):
    ordered = sorted(numbers)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2
```

With an even count there are **two** middle values, so their mean is taken:

| numbers | median |
|---|--:|
| 3, 1, 2 | 2 |
| 4, 1, 2, 3 | 2.5 |

An empty list raises `IndexError`, which you may want to turn into a clearer error."""

_STATISTICS = """You do not have to write it yourself. The standard library has it:

```python
from statistics import median

median([4, 1, 2, 3])  # 2.5
```

1. Import `median` from `statistics`.
2. Call it with your list.

It raises `StatisticsError` for an empty list. See [the documentation](https://docs.python.org/3/library/statistics.html)."""

_TEA = """泡一杯好喝的绿茶，关键在水温和时间：

1. **水温**：80 °C 左右，开水放两三分钟即可。
2. **茶量**：每 150 毫升水放 3 克茶叶。
3. **时间**：第一泡约 1 分钟，之后每泡多 30 秒。

水太烫会让茶发苦。"""

_TEA_SHORT = "把茶叶放进杯子，倒入刚烧开的水，盖上盖子，等十分钟以后再喝。"


def ballot(
    number: int, *, first: str = "", second: str = "", models: tuple[str, str] = ("apple", "pear")
) -> Ballot:
    """A ballot about an instruction of this number."""
    return Ballot.between(
        f"i{number}",
        f"Instruction {number}: say something.",
        {
            models[0]: first or f"First answer {number}.",
            models[1]: second or f"Second answer {number}.",
        },
    )


def ballots(count: int) -> tuple[Ballot, ...]:
    """Plain ballots, each about an instruction of its own."""
    return tuple(ballot(number) for number in range(count))


def shown_ballots() -> tuple[Ballot, ...]:
    """Twenty ballots, of which those at the front look well in a picture."""
    coding = Ballot.between(
        "median",
        _ASKED,
        {"apple": _MEDIAN, "pear": _STATISTICS},
        reference="`statistics.median` does it; for an empty list it raises `StatisticsError`.",
        scenario="coding",
    )
    tea = Ballot.between(
        "tea", "怎样泡一杯好喝的绿茶？", {"apple": _TEA, "pear": _TEA_SHORT}, language="zh"
    )
    return (coding, tea, *ballots(18))


def ids(found: Sequence[Ballot]) -> list[str]:
    """The ids of ballots, in their order."""
    return [each.id for each in found]


class Rateable(Protocol):
    """What identifies an answer that somebody rates."""

    @property
    def question(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def epoch(self) -> int: ...

    @property
    def text_digest(self) -> str: ...


@dataclass(frozen=True)
class Rated:
    """An answer that somebody rated."""

    question: str
    model: str
    text: str
    epoch: int = 1

    @property
    def text_digest(self) -> str:
        """Identifies the text."""
        return text_digest(self.text)

    @property
    def id(self) -> str:
        """Identifies the answer."""
        return answer_id(self.question, self.model, self.epoch, self.text_digest)


def rated(number: int, model: str = "apple") -> Rated:
    """An answer to a question of this number."""
    return Rated(f"q{number}", model, f"Answer {number} of somebody.")


def rating(about: Rateable, final: int, rater: str = "me", **others: Any) -> Rating:
    """A rating of an answer."""
    given = {"final": final, "seconds": 2.0, "time": now(), **others}
    return Rating(about.question, about.model, about.epoch, rater, about.text_digest, **given)


def shown_logs(folder: Path, texts: dict[str, tuple[str, str, str]] | None = None) -> Path:
    """Logs of two models with two answers each that look well in a picture.

    Question -> its text and two answers.
    """
    shown = texts or {
        "median": (_ASKED, _MEDIAN, _STATISTICS),
        "tea": ("怎样泡一杯好喝的绿茶？", _TEA, _TEA_SHORT),
        **{
            f"plain{number}": (f"Question {number}?", f"Yes {number}.", f"No {number}.")
            for number in range(4)
        },
    }
    for place, name in enumerate(("apple", "pear")):
        samples = [
            answered(
                question,
                judgement(5 + place),
                input=asked,
                target="The reference answer.",
                output=ModelOutput.from_content(f"p/{name}", said[place]),
                metadata={
                    "intent": (
                        "solve_professional_problem" if question == "median" else "ask_for_advice"
                    ),
                    "language": "zh" if question == "tea" else "en",
                },
            )
            for question, (asked, *said) in shown.items()
        ]
        write_judged(
            folder / f"{name}.eval", *samples, model=f"p/{name}", metadata={"rubric": "urs 2"}
        )
    return folder
