"""Reports on logs, as data frames, text, Markdown, CSV, JSON and pages."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urs_inspect.reports._texts import number
    from urs_inspect.reports.layout._tables import Report, ReportKind, Section, Table

__all__ = ["Report", "ReportKind", "Section", "Table", "number"]


def __getattr__(name: str) -> Any:
    # Loaded on use: tables need pandas, which other modules of this package do without.
    if name in __all__:
        module = "layout._tables"
        if name == "number":
            module = "_texts"
        return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
