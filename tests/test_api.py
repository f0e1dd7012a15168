"""The stable public surface: `docs/api.md` lists exactly what the packages export, each name with
what it is.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from inspect_ai._util.registry import is_registry_object

from urs_inspect._satellites import SATELLITES

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
_PACKAGES = (
    "urs_inspect",
    "urs_inspect.tasks",
    "urs_inspect.judging",
    "urs_inspect.stats",
    "urs_inspect.discrepancy",
    "urs_inspect.datasets",
    "urs_inspect.rubrics",
    "urs_inspect.reports",
    "urs_inspect.annotation",
    "urs_inspect.scorers",
    "urs_inspect.solvers",
    "urs_inspect.providers",
)
_EXPORT_NOTHING = (
    "adjusting",
    "answer_pages",
    "checking",
    "embedding",
    "estimating",
    "importing",
    "lmeval_tasks",
    "rating",
)
"""Satellites that export no name."""
PACKAGES = (
    *_PACKAGES,
    *(f"urs_inspect.{name}" for name in SATELLITES if name not in _EXPORT_NOTHING),
)


def exported(package: str) -> dict[str, Any]:
    module = import_module(package)
    names = [name for name in module.__all__ if not name.startswith("__")]
    return {name: _as_written(getattr(module, name)) for name in names}


def _as_written(value: Any) -> Any:
    """The function of a provider, whose docstring the harness's decorator does not keep."""
    if is_registry_object(value, "modelapi"):
        return inspect.getclosurevars(value).nonlocals["wrapped"]
    return value


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


_SECTION = re.compile(r"^(Args|Attributes|Returns|Yields|Raises|Examples):\n", re.MULTILINE)


def sections(text: str) -> dict[str, str]:
    """Title -> content of the sections of a Google docstring; each title occurs once."""
    _, *parts = _SECTION.split(text)
    titles = parts[::2]
    assert len(set(titles)) == len(titles), f"sections {titles} of: {text}"
    return dict(zip(titles, parts[1::2], strict=True))


def entries(section: str) -> set[str]:
    """Names that a section of a docstring describes."""
    return set(re.findall(r"^    \*{0,2}(\w+): \S", section, re.MULTILINE))


def _leaves(node: ast.AST) -> Iterator[ast.Raise]:
    """The `raise` statements that may end a function: neither of functions in it, nor caught."""
    body = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Try):
        caught = {ast.unparse(handler.type) for handler in node.handlers if handler.type}
        if "Exception" in caught:
            body = [*node.handlers, *node.orelse, *node.finalbody]
    for part in body:
        if isinstance(part, ast.Raise):
            yield part
        elif not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _leaves(part)


def raised(function: Callable[..., Any]) -> set[str]:
    """Names of the exceptions that a function raises itself."""
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
    [definition] = ast.parse(source).body
    made = [leaf.exc for leaf in _leaves(definition) if isinstance(leaf.exc, ast.Call)]
    names = {ast.unparse(call.func) for call in made}
    return {name for name in names if name[0].isupper()}  # the others are functions that make one


def _own_bases(cls: type) -> list[type]:
    """A class and those of its bases that this package defines."""
    return [base for base in cls.__mro__ if base.__module__.startswith("urs_inspect")]


def _constructors(cls: type) -> list[Callable[..., Any]]:
    """What is written, not generated, for making an object."""
    return [
        vars(base)[name]
        for base in _own_bases(cls)
        for name in ("__init__", "__post_init__")
        if name in vars(base)
        and vars(base)[name].__module__.startswith("urs_inspect")
        and not (name == "__init__" and is_dataclass(base))
    ]


def members(cls: type) -> set[str]:
    """Public fields of a class, or the parameters of its constructor."""
    if is_dataclass(cls):
        names = {field.name for field in fields(cls)}
    elif hasattr(cls, "model_fields"):
        names = set(cls.model_fields)
    else:
        names = {name for made in _constructors(cls) for name in inspect.signature(made).parameters}
    return {name for name in names if name != "self" and not name.startswith("_")}


def methods(cls: type) -> dict[str, Callable[..., Any]]:
    """Public methods of a class, those of its bases in this package included; no properties."""
    return {
        name: getattr(cls, name)
        for base in _own_bases(cls)
        for name, value in vars(base).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, classmethod | staticmethod))
    }


def gaps_of_function(function: Callable[..., Any], *, of_class: bool = False) -> list[str]:
    """What the docstring of a function lacks.

    A method whose docstring is one line need not have the section on what it returns.
    """
    text = inspect.getdoc(function) or ""
    told = sections(text)
    signature = inspect.signature(function)
    gaps = []
    if "arguments are those of" not in text.lower():
        taken = set(signature.parameters) - {"self", "cls"}
        gaps += [f"argument {name}" for name in taken - entries(told.get("Args", ""))]
    gives = signature.return_annotation not in (None, "None")
    one_line = of_class and "\n" not in text
    if gives and not one_line and not {"Returns", "Yields"} & told.keys():
        gaps.append("what it returns")
    gaps += [f"raises {name}" for name in raised(function) - entries(told.get("Raises", ""))]
    return gaps


def gaps_of_class(cls: type) -> list[str]:
    """What the docstrings of a class and of its public methods lack."""
    constructors = _constructors(cls)
    told: dict[str, str] = {}
    for documented in (cls, *constructors):
        told |= sections(inspect.getdoc(documented) or "")
    described = entries(told.get("Args", "")) | entries(told.get("Attributes", ""))
    gaps = [f"field {name}" for name in members(cls) - described]
    for constructor in constructors:
        missing = raised(constructor) - entries(told.get("Raises", ""))
        gaps += [f"raises {name}" for name in missing]
    for name, method in methods(cls).items():
        gaps += [f"{name}: {gap}" for gap in gaps_of_function(method, of_class=True)]
    return gaps


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_have_arguments_results_and_errors(package: str) -> None:
    gaps: dict[str, list[str]] = {}
    for name, value in exported(package).items():
        if inspect.isclass(value):
            gaps[name] = gaps_of_class(value)
        elif inspect.isroutine(value) or hasattr(value, "__wrapped__"):
            gaps[name] = gaps_of_function(value)
    assert {name: sorted(lacking) for name, lacking in gaps.items() if lacking} == {}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name}: {len(page())} characters\n")
