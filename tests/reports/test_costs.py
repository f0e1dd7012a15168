"""Prices of models, and what calls cost by them, worked out by hand."""

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from inspect_ai.model import ModelCost

from tests.reports.answer_rows import answers, row
from urs_inspect._util import InputError
from urs_inspect.reports.numbers._costs import load_prices, with_costs

NAN = math.nan


def price(sent: float, received: float) -> ModelCost:
    return ModelCost(input=sent, output=received, input_cache_write=0, input_cache_read=0)


PRICES = {
    "p/a": price(2.0, 10.0),
    "p/x": price(1.0, 3.0),
    "p/y": price(1.0, 3.0),
    "p/z": price(5, 5),
}
TOKENS = {
    "input_tokens": 1e6,
    "output_tokens": 5e5,
    "judge_input_tokens": 3e6,
    "judge_output_tokens": 1e6,
}


@pytest.mark.parametrize(
    ("given", "cost", "judge_cost"),
    [
        ({}, 2 + 5, 3 + 3),
        ({"cost": 0.5}, 0.5, 6),
        ({"judge_cost": 0.25}, 7, 0.25),
        ({"base_model": "p/b"}, NAN, 6),  # by the name alone, without settings
        ({"judges": "p/x, p/y"}, 7, 6),  # one price
        ({"judges": "p/x, p/z"}, 7, NAN),  # whose calls these tokens are is not known
        ({"judges": "p/x, p/other"}, 7, NAN),
        ({"judges": "p/other, p/x"}, 7, NAN),
        ({"judges": ""}, 7, NAN),
        ({"output_tokens": NAN}, NAN, 6),
    ],
)
def test_costs_that_a_log_lacks_are_those_of_its_tokens(
    given: dict[str, Any], cost: float, judge_cost: float
) -> None:
    one = {"cost": NAN, "judge_cost": NAN, "base_model": "p/a", "judges": "p/x", **TOKENS, **given}
    other = row("m (temperature=1)", "leisure-en-2", 5.0, cost=1.0, judge_cost=2.0)
    found = answers([row("p/a (temperature=1)", "leisure-en-1", 5.0, **one), other])
    table = with_costs(found, PRICES).table
    assert table["cost"].tolist() == pytest.approx([cost, 1.0], nan_ok=True)
    assert table["judge_cost"].tolist() == pytest.approx([judge_cost, 2.0], nan_ok=True)
    assert pd.isna(found.table["cost"][0]) == ("cost" not in given)  # the answers stay as they were


@pytest.mark.parametrize(
    ("value", "is_price"),
    [(0, True), (0.5, True), ("1e-3", True), (-0.1, False), (math.inf, False), ("free", False)],
)
@pytest.mark.parametrize("part", ModelCost.model_fields)
def test_each_price_is_a_number_of_at_least_0(
    tmp_path: Path, part: str, value: Any, is_price: bool
) -> None:
    given = {**dict.fromkeys(ModelCost.model_fields, 1.0), part: value}
    text = {name: ".inf" if one == math.inf else one for name, one in given.items()}
    lines = "".join(
        f"  {name}: {one if one == '.inf' else json.dumps(one)}\n" for name, one in text.items()
    )
    file = tmp_path / "prices.yaml"
    file.write_text(f"p/a:\n{lines}", encoding="utf-8")
    if is_price:
        assert load_prices(file) == {"p/a": ModelCost(**{**given, part: float(value)})}
        return
    with pytest.raises(InputError, match=rf"prices\.yaml: p/a / {part}: "):
        load_prices(file)


def test_a_missing_price_is_named(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    first, *others = ModelCost.model_fields
    file.write_text("p/a:\n" + "".join(f"  {name}: 1\n" for name in others), encoding="utf-8")
    with pytest.raises(InputError, match=rf"prices\.yaml: p/a: {first} missing"):
        load_prices(file)
    assert load_prices(None) == {}
