"""Amounts with ranges, prices of models, and the costs that logs lack."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import yaml
from inspect_ai.model import ModelCost, get_model_info
from pydantic import TypeAdapter, ValidationError

from urs_inspect._util import InputError, read_yaml
from urs_inspect.reports.answers import Answers


@dataclass(frozen=True)
class Amount:
    """A number with its range."""

    low: float  # the least that is to be expected
    expected: float  # what is most likely
    high: float  # the most that is to be expected

    @classmethod
    def exactly(cls, value: float) -> "Amount":
        """A number that is known."""
        return cls(value, value, value)

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def __mul__(self, other: "Amount | float") -> "Amount":
        factor = other if isinstance(other, Amount) else Amount.exactly(other)
        return Amount(self.low * factor.low, self.expected * factor.expected, self.high * factor.high)


def total(amounts: Iterable[Amount]) -> Amount:
    """The sum of amounts that move together: lows with lows, highs with highs."""
    parts = list(amounts)
    return Amount(*(math.fsum(getattr(part, name) for part in parts) for name in ("low", "expected", "high")))


_MILLION = 1_000_000


@dataclass(frozen=True)
class Prices:
    """Prices of models."""

    own: Mapping[str, ModelCost]  # model -> price, from a file; they come before those that the harness knows

    def of(self, model: str) -> ModelCost | None:
        """US dollars for a million tokens; None if not known."""
        if model in self.own:
            return self.own[model]
        try:
            info = get_model_info(model)
        except Exception:  # a model that is in no table is looked up through its provider, which may need a key
            return None
        return None if info is None else info.cost

    def cost(self, model: str, input_tokens: Amount, output_tokens: Amount) -> Amount | None:
        """US dollars of a model's tokens; None if its price is not known."""
        price = self.of(model)
        if price is None:
            return None
        return input_tokens * (price.input / _MILLION) + output_tokens * (price.output / _MILLION)


def load_prices(file: Path | None) -> Prices:
    """Read prices."""
    if file is None:
        return Prices({})
    try:
        own = TypeAdapter(dict[str, ModelCost]).validate_python(read_yaml(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise InputError(f"--prices: no file '{file}'") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"--prices: cannot read '{file}': {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = " / ".join(str(part) for part in first["loc"])
        raise InputError(
            f"--prices: {file}: {place or 'the file'}: {first['msg']}; needed for each model: input, output, "
            "input_cache_write, input_cache_read, in US dollars for a million tokens"
        ) from error
    for model, price in own.items():
        for part, value in price.model_dump().items():
            if not 0 <= value < math.inf:
                raise InputError(f"--prices: {file}: {model} / {part}: must be a number of at least 0, is {value}")
    return Prices(own)


def with_costs(answers: Answers, prices: Prices) -> Answers:
    """Fill in the costs that logs do not have from their tokens."""
    table = answers.table.copy()
    for cost, names, kind in (("cost", "base_model", ""), ("judge_cost", "judges", "judge_")):
        for models, rows in table[table[cost].isna()].groupby(names):
            found = [prices.own.get(model) for model in str(models).split(", ")]
            price = found[0]
            if price is not None and all(one == price for one in found):
                sent, received = rows[f"{kind}input_tokens"], rows[f"{kind}output_tokens"]
                table.loc[rows.index, cost] = (sent * price.input + received * price.output) / _MILLION
    return replace(answers, table=table)
