"""How far a judge and people agree: ratings of answers, satisfaction by intent, and votes.

Its command is `urs-inspect agreement`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urs_inspect.agreement._from_logs import report_agreement

__all__ = ["report_agreement"]


def __getattr__(name: str) -> Any:
    if name == "report_agreement":  # loaded on use: pandas
        return import_module(f"{__name__}._from_logs").report_agreement
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
