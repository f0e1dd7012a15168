"""Packages that come with an extra, and the error where one is missing."""

from importlib import import_module
from typing import Any

from urs_inspect._util import InputError

_EXTRAS = {
    "vllm": "vllm",
    "torch": "samer",
    "transformers": "samer",
    "tokenizers": "samer",
    "pyarrow": "samer",
    "ray": "ray",
}  # package -> extra


def imported(module: str, needing: str) -> Any:
    """A module; `needing` says what cannot be had without its packages."""
    try:
        return import_module(module)
    except ImportError as error:
        raise missing_package(needing, error) from error


def missing_package(needing: str, error: ImportError) -> InputError:
    """The error for a package that is not installed, with the command that installs it."""
    package = (error.name or "").partition(".")[0]
    if package not in _EXTRAS:
        return InputError(f"{needing} cannot be loaded: {' '.join(str(error).split())[:200]}")
    return InputError(
        f"{needing} needs the package {package}: pip install 'urs-inspect[{_EXTRAS[package]}]'"
    )
