"""Where the price of a model comes from."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.reports.test_costs import price
from urs_inspect.estimating._estimate import price_of


def test_a_price_of_the_file_comes_before_the_known_one() -> None:
    own = price(7.0, 7.0)
    assert price_of("openai/gpt-4o", {"openai/gpt-4o": own}) == own
    assert price_of("nobody/knows-this", {}) is None
    free = price(0.0, 0.0)
    assert price_of("openai/gpt-4o", {"openai/gpt-4o": free}) == free


def test_a_model_that_cannot_be_looked_up_has_no_price(monkeypatch: pytest.MonkeyPatch) -> None:
    known = price(3.0, 4.0)

    def looked_up(model: str) -> Any:
        if model == "p/needs-a-key":
            raise ValueError("no key")
        return {"p/known": SimpleNamespace(cost=known), "p/free": SimpleNamespace(cost=None)}.get(
            model
        )

    monkeypatch.setattr("urs_inspect.estimating._estimate.get_model_info", looked_up)
    found = [price_of(f"p/{name}", {}) for name in ("known", "free", "other", "needs-a-key")]
    assert found == [known, None, None, None]
