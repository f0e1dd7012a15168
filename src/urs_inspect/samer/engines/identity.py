"""What tells the model of an engine from another one, whatever its folder or address is called."""

from pathlib import Path
from typing import Any

from anyio import to_thread

from urs_inspect.errors import InputError
from urs_inspect.samer.engines.protocol import Engine, EngineFailure, QueryResponse
from urs_inspect.samer.engines.vllm_server import ServerEngine
from urs_inspect.samer.fingerprint import fingerprint

_PROBE = QueryResponse("What is two and two?", "Four.")
_DIGITS = 5


async def model_identity(engine: Engine) -> dict[str, Any]:
    """Say which model an engine runs, so that another one in its place can be told.

    Args:
        engine: The engine; a server is sent one short conversation.

    Returns:
        `fingerprint`: that of the folder that the engine reads, which for a server is that of tokeniser and heads. For
        a server also `served`, its name for the model, and `probe`: the heads' numbers for a fixed text, which are to
        be compared within what rounding does. Without a folder, nothing.

    Raises:
        InputError: If a file cannot be read, or the server gives no numbers.
    """
    if not isinstance(engine, ServerEngine):
        folder = Path(engine.spec.model).expanduser()
        return {"fingerprint": await _fingerprint(folder)} if folder.is_dir() else {}
    [found] = await engine.score([_PROBE])
    if isinstance(found, EngineFailure):
        raise InputError(f"samer={found.detail} ({found.mode}), asked for a short text")
    numbers = (float(value) for part in (found.raw.scores, found.raw.gates, found.raw.weights) for value in part)
    return {
        "fingerprint": await _fingerprint(engine.folder),
        "served": engine.served,
        "probe": [float(f"{number:.{_DIGITS}g}") for number in numbers],
    }


async def _fingerprint(folder: Path) -> str:
    return await to_thread.run_sync(fingerprint, folder)
