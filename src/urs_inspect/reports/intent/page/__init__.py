"""A report as one self-contained HTML page."""

from urs_inspect.reports.intent.page.rendering import render_page

__all__ = ["render_page"]
