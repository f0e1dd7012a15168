"""May results be compared: the conditions of two sets of results, and in words how they differ."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

Reasons = Sequence[Mapping[str, str]]
"""Condition -> sentence where it differs; of the conditions of one mapping the first that differs is reported. In a
sentence, `{name}` stands for the value of a condition, and `{first[name]}` for that of the first results."""
_Results = TypeVar("_Results")


def differences(mine: Mapping[str, Any], first: Mapping[str, Any], reasons: Reasons) -> list[str]:
    """Why results may not be compared with the first ones, one sentence per reason; empty if they may."""
    sentences = (
        next((text.format(**mine, first=first) for name, text in parts.items() if mine[name] != first[name]), "")
        for parts in reasons
    )
    return [sentence for sentence in sentences if sentence]


def changed(mine: Mapping[str, str], first: Mapping[str, str]) -> list[str]:
    """Names that both have with other values, such as hashes of contents."""
    return [name for name, value in mine.items() if first.get(name, value) != value]


def comparable_groups(
    results: Iterable[_Results], differ: Callable[[Sequence[_Results], _Results], object]
) -> list[list[_Results]]:
    """Put each of the results to the first group that it does not differ from.

    Args:
        results: The results, in the order in which they were made.
        differ: Whether results may not be compared with those of a group.
    """
    groups: list[list[_Results]] = []
    for result in results:
        group = next((group for group in groups if not differ(group, result)), None)
        if group is None:
            groups.append([result])
        else:
            group.append(result)
    return groups
