"""Examples in the docstrings of the public surface run, and give what they show."""

import doctest
from typing import Any

import pytest

from tests.test_api import PACKAGES, exported

NAMED: dict[str, Any] = {
    f"{package}.{name}": value
    for package in PACKAGES
    for name, value in exported(package).items()
    if ">>>" in (getattr(value, "__doc__", None) or "")
}
LEAST = 20
"""How many names have an example; the number only rises."""


@pytest.mark.parametrize("name", sorted(NAMED))
def test_an_example_gives_what_it_shows(name: str) -> None:
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for example in finder.find(NAMED[name], name, module=False, globs={}):
        assert runner.run(example).failed == 0


def test_names_that_are_called_most_have_an_example() -> None:
    assert len(NAMED) >= LEAST
