"""Models by their role."""

import pytest
from inspect_ai.model import Model, get_model

from urs_inspect.errors import InputError
from urs_inspect.solvers.role_models import bound_models, models_with


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> list[Model]:
    """Two models: both have the role `panel`, the first has the role `single`."""
    made = [get_model(f"mockllm/{name}", memoize=False) for name in "ab"]
    roles = {"single": made[0], "panel": made, "empty": []}
    monkeypatch.setattr("urs_inspect.solvers.role_models.model_roles", lambda: roles)
    return made


def test_one_or_several_models_in_their_order(models: list[Model]) -> None:
    for found in (bound_models, models_with):
        assert found("single") == models[:1]
        assert found("panel") == models


@pytest.mark.parametrize("role", ["empty", "unknown"])
def test_a_role_that_nobody_has(models: list[Model], role: str) -> None:
    assert bound_models(role) == []
    with pytest.raises(InputError) as caught:
        models_with(role)
    assert str(caught.value) == (
        f"no model has the role '{role}'; name one or several: --model-role '{role}=[provider/a, ...]'"
    )
