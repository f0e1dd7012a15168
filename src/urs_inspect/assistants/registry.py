"""Search engines and translators by name, built in or of the user's own."""

from collections.abc import Callable
from typing import TypeVar

from urs_inspect.assistants.glossary import GlossaryTranslator
from urs_inspect.assistants.page_folder import FolderSearch
from urs_inspect.assistants.protocols import SearchBackend, Translator
from urs_inspect.errors import InputError, choices

_Made = TypeVar("_Made")

_SEARCH: dict[str, Callable[[str], SearchBackend]] = {"folder": FolderSearch}
_TRANSLATORS: dict[str, Callable[[str], Translator]] = {"glossary": GlossaryTranslator}


def register_search(name: str, make: Callable[[str], SearchBackend]) -> None:
    """Make a search engine known.

    Args:
        name: Its name.
        make: Makes it of what stands behind `<name>:`, empty if nothing does; raises `InputError` if that cannot be
            used.
    """
    _SEARCH[name] = make


def register_translator(name: str, make: Callable[[str], Translator]) -> None:
    """Make a translator known; arguments as for `register_search`."""
    _TRANSLATORS[name] = make


def open_search(given: str) -> SearchBackend:
    """Open a search engine.

    Args:
        given: `<name>` or `<name>:<what it needs>`, such as `folder:pages`.

    Raises:
        InputError: If there is none of that name, or it cannot be opened.
    """
    return _open(given, "search", _SEARCH)


def open_translator(given: str) -> Translator:
    """Open a translator.

    Args:
        given: `<name>` or `<name>:<what it needs>`, such as `glossary:phrases.jsonl`.

    Raises:
        InputError: If there is none of that name, or it cannot be opened.
    """
    return _open(given, "translator", _TRANSLATORS)


def _open(given: str, what: str, known: dict[str, Callable[[str], _Made]]) -> _Made:
    name, _, rest = given.partition(":")
    if name not in known:
        raise InputError(f"{what}: unknown backend '{name}'; allowed: {choices(known)}, or one that was registered")
    return known[name](rest)
