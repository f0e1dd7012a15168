"""The stable public surface: `docs/api.md` lists exactly what the packages export, each name with
what it is.
"""

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from urs_inspect._satellites import SATELLITES

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
_PACKAGES = (
    "urs_inspect",
    "urs_inspect.judging",
    "urs_inspect.stats",
    "urs_inspect.discrepancy",
    "urs_inspect.datasets",
    "urs_inspect.rubrics",
    "urs_inspect.reports",
    "urs_inspect.annotation",
    "urs_inspect.scorers",
    "urs_inspect.solvers",
)
_COMMANDS_ONLY = ("estimating", "importing", "judges", "lmeval_tasks")
"""Satellites that export no name."""
PACKAGES = (
    *_PACKAGES,
    *(f"urs_inspect.{name}" for name in SATELLITES if name not in _COMMANDS_ONLY),
)


def exported(package: str) -> dict[str, Any]:
    module = import_module(package)
    return {name: getattr(module, name) for name in module.__all__ if not name.startswith("__")}


def first_sentence(value: Any) -> str:
    """What a name is: the first sentence of its docstring, or the value of a constant."""
    if not (inspect.isclass(value) or inspect.isroutine(value)) and not hasattr(
        value, "__wrapped__"
    ):
        return "constant" if not callable(value) else "type"
    paragraph = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[.!?])(?<!Eq\.)\s", paragraph)[0]


def page() -> str:
    """The page as it should be."""
    parts = [
        "# Public surface\n"
        "\n"
        "These names are stable: a change is announced in CHANGELOG. Everything else may"
        " change with any release.\n"
        "Their docstrings have arguments, units, ranges and errors"
        " (`help(urs_inspect.urs)`)."
    ]
    for package in PACKAGES:
        rows = [
            f"| `{name}` | {first_sentence(value)} |"
            for name, value in sorted(exported(package).items())
        ]
        parts.append("\n".join([f"## `{package}`\n", "| name | what it is |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


@pytest.mark.parametrize("package", PACKAGES)
def test_the_page_lists_what_a_package_exports(package: str) -> None:
    [section] = [
        part
        for part in PAGE.read_text(encoding="utf-8").split("\n## ")
        if part.startswith(f"`{package}`")
    ]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == set(exported(package))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_is_documented(package: str) -> None:
    for name, value in exported(package).items():
        assert first_sentence(value), name


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_function_says_what_it_takes(package: str) -> None:
    for name, value in exported(package).items():
        if inspect.isfunction(value) and inspect.signature(value).parameters:
            text = inspect.getdoc(value) or ""
            assert "Args:" in text or "arguments are those of" in text.lower(), name


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name}: {len(page())} characters\n")
