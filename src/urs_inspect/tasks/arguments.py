"""Arguments of tasks: parsing and checks."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from urs_inspect._util import InputError, choices
from urs_inspect.samer.engines.shared import EngineChoice

ALL = "all"

_Name = TypeVar("_Name", bound=str)


def names(value: object, argument: str, find: Callable[[str], str]) -> list[str] | None:
    """Read an argument that names one thing, several (`a,b`), or `all`.

    Args:
        value: The argument.
        argument: Its name, for the error.
        find: Turns a spelling into an id, or raises `InputError`.

    Returns:
        Ids without repetition, in the order given; None for all.

    Raises:
        InputError: If a name is unknown or the value is neither a text nor a list of texts.
    """
    parts = value.split(",") if isinstance(value, str) else value
    if isinstance(parts, list) and [str(part).strip() for part in parts] == [ALL]:
        return None
    if not isinstance(parts, (list, tuple)) or not parts or not all(isinstance(part, str) for part in parts):
        raise InputError(f"{argument}: must be '{ALL}', a name, or names separated by commas; got {value!r}")
    try:
        return list(dict.fromkeys(find(part.strip()) for part in parts))
    except InputError as error:
        raise InputError(f"{argument}: {error} (or '{ALL}')") from error


def whole(value: object, argument: str, least: int) -> int:
    """Read a whole number.

    Raises:
        InputError: If it is none, or below `least`.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{argument}: must be a whole number of at least {least}, got {value!r}")
    return value


def flag(value: object, argument: str) -> bool:
    """Read true or false.

    Raises:
        InputError: If it is anything else.
    """
    if not isinstance(value, bool):
        raise InputError(f"{argument}: must be true or false, got {value!r}")
    return value


def text(value: object, argument: str) -> str:
    """Read a non-empty text.

    Raises:
        InputError: If it is anything else.
    """
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{argument}: must be a text, got {value!r}")
    return value


def bench(value: object, published: Iterable[str]) -> str:
    """Read the name or path of a bench, which has no default.

    Raises:
        InputError: If it is left out, naming those there are, or is no text.
    """
    if value is None:
        raise InputError(
            f"bench: say which, as -T bench=<name>; allowed: {choices(published)}, or the path of a .csv or .jsonl file"
        )
    return text(value, "bench")


def optional_text(value: object, argument: str) -> str | None:
    """Read a text that may be left out.

    Raises:
        InputError: If it is neither a text nor null.
    """
    return None if value is None else text(value, argument)


def scale(value: object, argument: str) -> tuple[float, float] | None:
    """Read the lowest and highest value of a scale, `1,5` or `1-5`; null where it is left out.

    Raises:
        InputError: If it is anything else.
    """
    if value is None:
        return None
    parts = re.split(r"[,-]", value) if isinstance(value, str) else value
    try:
        low, high = (float(part) for part in parts if not isinstance(part, bool))  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise InputError(f"{argument}: must be its lowest and highest value, such as 1,5; got {value!r}") from None
    return low, high


def number(value: object, argument: str, least: float, most: float = math.inf) -> float:
    """Read a number.

    Raises:
        InputError: If it is none, or outside `least` to `most`.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        upper = "" if math.isinf(most) else f" and at most {most:g}"
        raise InputError(f"{argument}: must be a number of at least {least:g}{upper}, got {value!r}")
    return float(value)


def one_of(value: object, argument: str, allowed: Sequence[_Name]) -> _Name:
    """Read one of some words.

    Raises:
        InputError: If it is another one.
    """
    for name in allowed:
        if value == name:
            return name
    raise InputError(f"{argument}: unknown value {value!r}; allowed: {choices(allowed)}")


def paths(value: object, argument: str) -> list[str]:
    """Read one path, or several: a list, or separated by commas.

    Raises:
        InputError: If it is neither.
    """
    parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
    if not isinstance(parts, (list, tuple)) or not parts or not all(isinstance(part, str) and part for part in parts):
        raise InputError(f"{argument}: must be a path, or paths separated by commas; got {value!r}")
    return list(parts)


_NAMES = "engine, weights_at, bos, overlong, max_length, folder, dtype"
_UNSET = ("auto", None, "single", "shorten", None, None, "auto")


def samer_options(
    wanted: bool,
    condition: str,
    samer: object,
    engine: object,
    weights_at: object,
    bos: object,
    overlong: object,
    max_length: object,
    folder: object,
    dtype: object,
) -> dict[str, Any] | None:
    """Gather the arguments for the scorer `samer`, or for a solver that SaMer judges in.

    Args:
        wanted: Whether SaMer takes part.
        condition: The argument that makes it take part, for errors, such as `judge=samer`.
        samer: Folder of a checkpoint, or address of a server.
        engine: `auto`, or the name of an engine.
        weights_at: Where weights are read, or None for where the heads say.
        bos: Start tokens.
        overlong: What happens to an item that does not fit.
        max_length: Length that the model is run with, or None.
        folder: Tokeniser and heads of a server on another machine, or None.
        dtype: `auto`, or the type that an engine in this process computes in.

    Returns:
        The arguments by name, `model` for `samer`; None if SaMer takes no part.

    Raises:
        InputError: If SaMer takes part without a model, or an argument of SaMer is given although it does not.
    """
    rest = (engine, weights_at, bos, overlong, max_length, folder, dtype)
    if not wanted:
        if samer is not None or rest != _UNSET:
            name = "samer" if samer is not None else _NAMES
            raise InputError(f"{name}: only with {condition}")
        return None
    if samer is None:
        raise InputError(f"{condition} needs samer: the folder of a checkpoint, or the address of a server")
    return asdict(EngineChoice(samer, *rest))  # type: ignore[arg-type]  # checked when it is made and when it is used
