"""Addition as a task class of lm-eval: how many two-digit numbers can a model add up in a row?"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any

from pydantic import Field

from datasets import Dataset
from urs_inspect.datasets._addition import addition_chains, addition_lengths, addition_prompt
from urs_inspect.judging._number_reply import sum_outcome
from urs_inspect.lmeval_tasks._measured_task import Measure, MeasuredTask
from urs_inspect.lmeval_tasks._settings import Options, read_options
from urs_inspect.stats._chain_lengths import HEADLINE, TEXT, Trial, longest


class AdditionOptions(Options):
    """Which chains there are; the arguments of the task of inspect-ai."""

    addition_lengths: str | int | list[str | int] = "2-20"  # ranges and single lengths, 2 to 100
    addition_per_length: int = Field(default=10, ge=1)  # chains of each length
    addition_language: str = "en"
    addition_seed: int = Field(default=0, ge=0)


def load_chains(**metadata: Any) -> dict[str, Dataset]:
    """The split `test`: the same chains as the task of inspect-ai, in the same order."""
    options = read_options(AdditionOptions, ("addition_",), metadata)
    prompt = addition_prompt(options.addition_language)
    lengths = addition_lengths(options.addition_lengths)

    chains = addition_chains(lengths, options.addition_per_length, options.addition_seed)
    rows = [
        {
            "id": chain.id,
            "question": prompt.fill(chain),
            "numbers": list(chain.numbers),
            "summands": len(chain.numbers),
            "total": str(chain.total),
            "prompt_version": prompt.version,
        }
        for chain in chains
    ]
    return {"test": Dataset.from_list(rows)}


class AdditionTask(MeasuredTask):
    """Chains of two-digit numbers to add up without tools (URS paper, appendix D.5)."""

    VERSION = 1.0

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The metrics of all chains."""
        return _measures(sorted(set(self.dataset["test"]["summands"])))

    def values(self, doc: Mapping[str, Any], results: Sequence[str]) -> Mapping[str, Any]:
        """The metrics of one chain."""
        outcome, _ = sum_outcome(results[0], Decimal(doc["total"]))
        length = doc["summands"]
        right = float(outcome == "right")
        values: dict[str, Any] = {
            measure.name: right for measure in self.measures if measure.about(doc)
        }
        values |= {name: float(outcome == name) for name in ("no_number", "no_response")}
        return values | {name: [length, int(right)] for name in ("longest", "longest_unbroken")}


def _measures(lengths: Sequence[int]) -> tuple[Measure, ...]:
    ranges = {"accuracy": HEADLINE}
    # Of shorter chains it would be the headline again, under a name that promises more.
    if lengths[-1] > HEADLINE[1]:
        ranges[f"accuracy_{TEXT[0]}_{TEXT[1]}"] = TEXT
    ranges["accuracy_all"] = (lengths[0], lengths[-1])
    for length in lengths:
        ranges[f"accuracy_length_{length:02d}"] = (length, length)
    accuracies = [Measure(name, about=_within(*ends)) for name, ends in ranges.items()]
    return (
        *accuracies,
        Measure("longest", lambda items: float(longest(_trials(items))[0])),
        Measure("longest_unbroken", lambda items: float(longest(_trials(items))[1])),
        Measure("no_number", higher_is_better=False),
        Measure("no_response", higher_is_better=False),
    )


def _within(first: int, last: int) -> Callable[[Mapping[str, Any]], bool]:
    return lambda doc: first <= doc["summands"] <= last


def _trials(items: Sequence[Sequence[int]]) -> list[Trial]:
    trials = []
    for place, (length, right) in enumerate(items):
        trials.append(Trial(str(place), length, bool(right)))
    return trials
