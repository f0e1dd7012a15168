"""Models compared by logs of any task, sample by sample; a gate for a run that replaces another.

It needs no task of this package: it reads every log of inspect-ai and lm-eval's files of samples.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urs_inspect.comparison._compare import compare

__all__ = ["compare"]


def __getattr__(name: str) -> Any:
    if name == "compare":  # loaded on use: pandas
        return import_module(f"{__name__}._compare").compare
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
