"""Prices of models, and what calls cost by them."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from inspect_ai.model import ModelCost

from urs_inspect._util import InputError, choices, read_yaml_file
from urs_inspect.datasets._rows import number_of
from urs_inspect.reports.numbers._answers import Answers

MILLION = 1_000_000
"""Tokens that a price is for."""


def load_prices(file: Path | None) -> dict[str, ModelCost]:
    """Read the prices of models from a file; none without a file."""
    if file is None:
        return {}
    raw = read_yaml_file(file, "--prices")
    if not isinstance(raw, dict):
        raise InputError(
            f"--prices: {file}: the file must name models, each with its prices; {_PRICE}"
        )
    prices = {}
    for model, price in raw.items():
        prices[str(model)] = _price(price, f"--prices: {file}: {model}")
    return prices


_PRICE = (
    f"needed for each model: {choices(ModelCost.model_fields)}, in US dollars for a million tokens"
)


def _price(given: object, place: str) -> ModelCost:
    """The prices of one model, each a number of at least 0."""
    if not isinstance(given, dict):
        raise InputError(f"{place}: must have prices, is {given}; {_PRICE}")
    missing = [part for part in ModelCost.model_fields if part not in given]
    if missing:
        raise InputError(f"{place}: {choices(missing)} missing; {_PRICE}")
    prices = {}
    for part in ModelCost.model_fields:
        # YAML reads 1e-3 as a text.
        prices[part] = number_of(given[part])
        if not 0 <= prices[part] < math.inf:
            raise InputError(
                f"{place} / {part}: must be a number of at least 0, is {given[part]}; {_PRICE}"
            )
    return ModelCost(**prices)


def with_costs(answers: Answers, prices: Mapping[str, ModelCost]) -> Answers:
    """Fill in the costs that logs do not have from their tokens."""
    table = answers.table.copy()
    for cost, names, kind in (("cost", "base_model", ""), ("judge_cost", "judges", "judge_")):
        for models, rows in table[table[cost].isna()].groupby(names):
            prices_of_models = [prices.get(model) for model in str(models).split(", ")]
            price = prices_of_models[0]
            if price is None or any(other != price for other in prices_of_models):
                continue
            sent = rows[f"{kind}input_tokens"]
            received = rows[f"{kind}output_tokens"]
            of_a_million = sent * price.input + received * price.output
            table.loc[rows.index, cost] = of_a_million / MILLION
    return replace(answers, table=table)


def cost_of_1000(models: pd.DataFrame) -> "pd.Series[float]":
    """What 1,000 answers of each model cost, US dollars."""
    return (1000 * models["cost"] / models["answers"]).astype(float)


def total_cost(models: pd.DataFrame) -> float:
    """What models and judges cost together as far as it is known, US dollars."""
    return float(np.nansum(models[["cost", "judge_cost"]]))
