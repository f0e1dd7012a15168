"""Selection from the partitions of a pool that is too large for one machine, with Ray if wanted."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urs_inspect.scale._partitions import embed_partitions, select_partitions

__all__ = ["embed_partitions", "select_partitions"]


def __getattr__(name: str) -> Any:
    # Loaded on use: numpy and pyarrow.
    if name in __all__:
        return getattr(import_module(f"{__name__}._partitions"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
