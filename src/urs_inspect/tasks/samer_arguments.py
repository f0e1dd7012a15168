"""Reads the task arguments that say which SaMer model evaluates."""

from dataclasses import asdict
from typing import Any

from urs_inspect.errors import InputError
from urs_inspect.samer.engines.shared import EngineChoice

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
