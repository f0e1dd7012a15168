"""SaMer: its taxonomy, engines, judgements, bulk scoring and training of heads."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from urs_inspect.samer._taxonomy import Scenario, Taxonomy, load_taxonomy

if TYPE_CHECKING:
    from urs_inspect.samer._bulk import check_rows, score_file
    from urs_inspect.samer._engines import load_engine, register_engine
    from urs_inspect.samer._judgement import judge

# Only the taxonomy is light; `train` needs torch, and only in training.
_LAZY = {
    "check_rows": "_bulk",
    "judge": "_judgement",
    "load_engine": "_engines",
    "register_engine": "_engines",
    "score_file": "_bulk",
    "train": "_neural.trainer",
}

__all__ = [
    "Scenario",
    "Taxonomy",
    "check_rows",
    "judge",
    "load_engine",
    "load_taxonomy",
    "register_engine",
    "score_file",
    "train",  # noqa: F822 - loaded on use
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"urs_inspect.samer.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'urs_inspect.samer' has no attribute '{name}'")
