"""Judges compared, and twins of answers, which show what a judge pays for.

Which tests a report's own judge has passed is shown by `urs-inspect report`, which does without
this folder.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urs_inspect.judges._bias_regression import JudgeBias, ShownPair, judge_bias
    from urs_inspect.judges._twins import Kind, Original, register_twin
    from urs_inspect.judges._twins_task import judge_twins

# Loaded on use: the task needs the harness, the regression numpy.
_MODULES = {
    "_bias_regression": ("JudgeBias", "ShownPair", "judge_bias"),
    "_twins": ("Kind", "Original", "register_twin"),
    "_twins_task": ("judge_twins",),
}

__all__ = [
    "JudgeBias",
    "Kind",
    "Original",
    "ShownPair",
    "judge_bias",
    "judge_twins",
    "register_twin",
]


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
