"""Reports on logs, as data frames, text, Markdown, CSV, JSON and pages."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urs_inspect.reports.layout._tables import Report, ReportKind, Section, Table, number

__all__ = ["Report", "ReportKind", "Section", "Table", "number"]


def __getattr__(name: str) -> Any:
    # Loaded on use: tables need pandas, which other modules of this package do without.
    if name in __all__:
        return getattr(import_module(f"{__name__}.layout._tables"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
