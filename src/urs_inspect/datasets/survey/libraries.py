"""The libraries that importing a survey needs, which are optional."""

from importlib import import_module
from typing import Any

from urs_inspect.errors import InputError

_DISTRIBUTIONS = {"datasketch": "datasketch", "phonenumbers": "phonenumbers", "stdnum": "python-stdnum"}
_INSTALL = "pip install 'urs-inspect[cases]'"


def library(module: str) -> Any:
    """Import a module of one of them.

    Raises:
        InputError: If it is not installed; the message says how to get it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        name = _DISTRIBUTIONS[module.partition(".")[0]]
        raise InputError(f"importing cases needs {name}, which cannot be imported: {_INSTALL}") from error


def check_libraries() -> None:
    """Refuse to begin without one of them.

    Raises:
        InputError: If one is not installed.
    """
    for module in _DISTRIBUTIONS:
        library(module)
