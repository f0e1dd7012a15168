"""User-centred benchmarks and judges you can check, for inspect-ai.

Importing this package imports no harness; its tasks are loaded when they are first used.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urs_inspect.tasks import (
        evolve,
        judge_pairwise,
        judge_rating,
        mad,
        md_eval,
        samer_annotate,
        urs,
        urs_addition,
        urs_assistants,
        urs_case_review,
        urs_crossval,
        urs_probe,
        urs_references,
    )

__version__ = version("urs-inspect")
__all__ = [
    "__version__",
    "evolve",
    "judge_pairwise",
    "judge_rating",
    "mad",
    "md_eval",
    "samer_annotate",
    "urs",
    "urs_addition",
    "urs_assistants",
    "urs_case_review",
    "urs_crossval",
    "urs_probe",
    "urs_references",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("urs_inspect.tasks"), name)
    raise AttributeError(f"module 'urs_inspect' has no attribute '{name}'")
