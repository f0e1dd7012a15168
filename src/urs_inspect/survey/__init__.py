"""Cases from a survey of conversations (URS paper, section 3.2): reading, checking, removing
duplicates, review by a judge, describing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urs_inspect.survey._review_task import urs_case_review

__all__ = ["urs_case_review"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(f"{__name__}._review_task"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
