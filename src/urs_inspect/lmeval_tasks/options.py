"""What `--metadata` holds of a task's own: the one way to read it."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from logging import getLogger
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from urs_inspect.errors import InputError, choices

logger = getLogger(__name__)

_ALIKE = 0.85
"""From this likeness on, by `difflib`, a name is another one misspelt."""
_OF_MODELS = frozenset({"model", "base_url", "timeout", "temperature", "max_tokens", "seed", "engine", "folder"})
"""What an option is called without its beginning, and an argument of a model of lm-eval as well."""


class Options(BaseModel):
    """Options of a task or of its judge; the names of each kind begin alike."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


_Options = TypeVar("_Options", bound=Options)


def read_options(kind: type[_Options], start: str | tuple[str, ...], metadata: Mapping[str, Any] | None) -> _Options:
    """Read options from the metadata, which tasks of one run share, and in which lm-eval puts the model's arguments.

    Args:
        kind: The options.
        start: How the names of these options begin.
        metadata: The metadata.

    Returns:
        The options.

    Raises:
        InputError: If one is unknown, misspelt, of the wrong type or out of range, naming it and what is allowed.
    """
    given = {key: value for key, value in (metadata or {}).items() if key.startswith(start)}
    if unknown := [key for key in given if key not in kind.model_fields]:
        raise InputError(f"--metadata: unknown '{unknown[0]}'; allowed: {choices(kind.model_fields)}")
    _check_spelling(kind, start, [key for key in metadata or {} if key not in given])
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        if first["type"] == "value_error":  # our own words, which say what was given where that may be shown
            raise InputError(f"--metadata: {name}: {first['ctx']['error']}") from None
        raise InputError(f"--metadata: {name}: {first['msg']}, got {given[name]!r}") from error


def _check_spelling(kind: type[Options], start: str | tuple[str, ...], others: Iterable[str]) -> None:
    """Refuse what is almost an option, and warn of what is one but for its beginning."""
    starts = (start,) if isinstance(start, str) else start
    bare = {field.removeprefix(each): field for field in kind.model_fields for each in _beginnings(starts)}
    for key in others:
        if alike := get_close_matches(key.casefold(), kind.model_fields, n=1, cutoff=_ALIKE):
            raise InputError(f"--metadata: unknown '{key}'; did you mean '{alike[0]}'?")
        if key in bare and key not in _OF_MODELS:
            logger.warning(f"--metadata: '{key}' is not used by the tasks of urs-inspect; did you mean '{bare[key]}'?")


def _beginnings(starts: Iterable[str]) -> list[str]:
    return [each if each.endswith("_") else f"{each}_" for each in starts]
