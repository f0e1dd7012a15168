"""What `--metadata` holds of a task's own: the one way to read it."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from urs_inspect.errors import InputError, choices


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
        InputError: If one is unknown, of the wrong type or out of range, naming it and what is allowed.
    """
    given = {key: value for key, value in (metadata or {}).items() if key.startswith(start)}
    if unknown := [key for key in given if key not in kind.model_fields]:
        raise InputError(f"--metadata: unknown '{unknown[0]}'; allowed: {choices(kind.model_fields)}")
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise InputError(f"--metadata: {name}: {first['msg']}, got {given[name]!r}") from error
