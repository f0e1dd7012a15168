"""Packages that come with an extra, and the error where one is missing."""

from importlib import import_module
from typing import Any

from urs_inspect._util import InputError

_SAMER = "pip install 'urs-inspect[samer]'"
_INSTALLED_BY = {
    "vllm": "pip install 'urs-inspect[vllm]'",
    "torch": _SAMER,
    "transformers": _SAMER,
    "tokenizers": _SAMER,
    "pyarrow": _SAMER,
    "ray": "pip install 'urs-inspect[ray]'",
}  # package -> command


def imported(module: str, needing: str) -> Any:
    """A module; `needing` says what cannot be had without its packages."""
    try:
        return import_module(module)
    except ImportError as error:
        raise missing_package(needing, error) from error


def missing_package(needing: str, error: ImportError) -> InputError:
    """The error for a package that is not installed, with the command that installs it."""
    name = error.name or ""
    package = name.partition(".")[0]
    why = " ".join(str(error).split())[:200]
    if package not in _INSTALLED_BY:
        return InputError(f"{needing} cannot be loaded: {why}")
    needed = f"{needing} needs the package {package}: {_INSTALLED_BY[package]}"
    if why and not (isinstance(error, ModuleNotFoundError) and name == package):
        needed += f" (it cannot be loaded: {why})"  # it may be broken, or of another version
    return InputError(needed)
