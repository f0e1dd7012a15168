"""Options of the form name=value, each value as YAML."""

from collections.abc import Iterable
from typing import Any

from urs_inspect._util import InputError, parse_yaml


def named_values(given: Iterable[str], option: str) -> dict[str, Any]:
    """Values by name.

    Of one that is given twice the last counts, as for inspect-ai.
    """
    values: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f"{option}: expected name=value, got '{text}'")
        values[name.replace("-", "_")] = parse_yaml(value, f"{option}: cannot read '{text}'")
    return values
