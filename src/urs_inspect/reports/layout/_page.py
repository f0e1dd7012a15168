"""A report as one HTML page that needs nothing beside itself: no font, no picture, no network.

Figures are static SVG; where scripts run, live charts with tooltips take their place.
"""

import base64
import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from numbers import Real
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from urs_inspect._util import InputError, choices
from urs_inspect.reports.layout._figures import (
    NARROW,
    WIDE,
    Specification,
    missing_viz,
    scripts,
    svg,
)
from urs_inspect.reports.layout._tables import (
    SIMULATED_SCREEN,
    SIMULATION,
    Report,
    Section,
    Table,
    TextTable,
)
from urs_inspect.stats import Estimate

_TEMPLATES = Path(__file__).parent / "templates"
_STYLE = _TEMPLATES / "page.css"
_START = (_TEMPLATES / "page.js").read_text(encoding="utf-8")
_MOST_TICKS = 6
_UNKNOWN = (math.nan, math.nan, math.nan)
_RELATIVE = re.compile(r"(?!/)[^\x00-\x20\x7f:\\/?#]*([/?#][^\x00-\x20\x7f\\]*)?")
"""An address without scheme and host.

Browsers drop line breaks in addresses, and take a backslash for a slash.
"""


def render_page(report: Report) -> str:
    """The page; the same report always gives the same.

    Without the extra `viz` it has no figures and says so.
    """
    read = [section for section in report.read if not section.page]
    sections = _without_simulation(read)
    simulated = report.facts.get("simulated") or len(sections) < len(read)
    missing = ""
    if any(section.figures for section in sections):
        missing = missing_viz()
    specifications = {} if missing else _specifications(sections)
    drawn = {}
    for name, drawing in specifications.items():
        drawn[name] = Markup(svg(drawing))  # noqa: S704 (vl-convert escapes text)
    grids = []
    for section in sections:
        tables = [_grid(table) for table in section.tables if table.columns]
        grids.append((section, tables))
    parts = [_START]
    if drawn:
        parts = [scripts(), _START]
    page = (
        environment("urs_inspect.reports.layout")
        .get_template("page.html.jinja")
        .render(
            report=report,
            simulation=SIMULATION if simulated else "",
            further={name: further.title for name, further in further_pages(report).items()},
            sections=grids,
            drawn=drawn,
            missing=missing,
            policy=_policy(parts),
            style=Markup(_STYLE.read_text(encoding="utf-8")),  # noqa: S704 (our own file)
            scripts=[Markup(part) for part in parts],  # noqa: S704 (our own script, and that of vl-convert)
            specifications=Markup(_json(specifications)),  # noqa: S704 (cannot end its element)
        )
    )
    # A log may hold lone surrogates, which no file can.
    encoded = page.rstrip().encode("utf-8", "replace")
    return encoded.decode("utf-8") + "\n"


def _without_simulation(sections: Sequence[Section]) -> list[Section]:
    """Sections without the note that models are simulated, which stands at the top of the page."""
    kept = []
    for section in sections:
        if SIMULATION not in section.notes:
            notes = [note for note in section.notes if note != SIMULATED_SCREEN]
            kept.append(replace(section, notes=notes))
    return kept


def _specifications(sections: Sequence[Section]) -> dict[str, Specification]:
    """Name of a drawing -> how it is drawn: each figure, wide and narrow."""
    specifications: dict[str, Specification] = {}
    for section in sections:
        for figure in section.figures:
            specifications[f"{figure.name}-wide"] = figure.draw(WIDE)
            specifications[f"{figure.name}-narrow"] = figure.draw(NARROW)
    return specifications


def further_pages(report: Report) -> dict[str, Report]:
    """File name -> report, for the sections that have a page of their own."""
    pages: dict[str, Report] = {}
    for section in report.read:
        if section.page:
            page = pages.get(section.page, Report(report.kind, section.title, ()))
            sections = [*page.sections, replace(section, page="")]
            pages[section.page] = replace(page, sections=sections)
    return pages


@dataclass(frozen=True)
class _Cell:
    """A cell of a table: its text, the number or estimate behind it, and what only a page shows."""

    text: str
    marked: bool
    link: str
    value: float
    low: float
    high: float
    shade: float  # 0 for the lowest number of the column, 1 for the highest, NaN for no shade


@dataclass(frozen=True)
class _Grid:
    """A table of a page."""

    title: str
    headings: tuple[str, ...]
    keys: list[str]  # of columns of estimates; empty for others
    names: int
    rows: list[tuple[_Cell, ...]]
    bars: list[int]  # columns that have bars
    axis: tuple[float, float]
    ticks: list[float]
    legend: str

    def across(self, value: float) -> str:
        """Where a value is on the axis of the bars."""
        low, high = self.axis
        return f"{100 * (value - low) / (high - low):.2f}%"


def _grid(table: Table) -> _Grid:
    text = table.text()
    columns = table.columns
    _check_links(table, len(text.rows))
    cells = [_column_cells(table, text, place) for place in range(len(columns))]
    bars = [columns.index(name) for name in table.bars]
    ends: list[float] = []
    for place in bars:
        for cell in cells[place]:
            ends += (cell.value, cell.low, cell.high)
    axis, ticks = _axis(ends)
    keys = []
    for name in columns:
        has_estimates = any(isinstance(cell, Estimate) for cell in table.data[name])
        keys.append(name if has_estimates else "")
    rows = list(zip(*cells, strict=True))
    return _Grid(
        table.title, text.headings, keys, text.names, rows, bars, axis, ticks, table.legend
    )


def _check_links(table: Table, rows: int) -> None:
    """Refuse links that leave the page's folder, or of cells that the table does not have."""
    columns = table.columns
    for (row, name), address in table.links.items():
        is_cell = name in columns and 0 <= row < rows
        if not (is_cell and address and _RELATIVE.fullmatch(address)):
            raise InputError(
                f"links: {address!r} of row {row}, column '{name}'; allowed: addresses relative to"
                f" the page, of cells in {rows} rows and the columns {choices(columns)}"
            )


def _column_cells(table: Table, text: TextTable, place: int) -> list[_Cell]:
    """The cells of a column; names have no numbers behind them."""
    name = table.columns[place]
    numbers = [_UNKNOWN] * len(text.rows)
    if place >= text.names:
        numbers = [_bounds(cell) for cell in table.data[name]]
    known = [value for value, _, _ in numbers if math.isfinite(value)]
    lowest = min(known, default=0.0)
    highest = max(known, default=0.0)
    span = math.nan
    if table.relative and highest > lowest:
        span = highest - lowest
    cells = []
    for row, (shown, bounds) in enumerate(zip(text.rows, numbers, strict=True)):
        marked = (row, place) in text.marked
        link = table.links.get((row, name), "")
        shade = (bounds[0] - lowest) / span
        cells.append(_Cell(shown[place], marked, link, *bounds, shade))
    return cells


def _bounds(cell: object) -> tuple[float, float, float]:
    """A number or an estimate as its value and bounds."""
    if isinstance(cell, Estimate):
        return cell.value, cell.low, cell.high
    if isinstance(cell, Real):
        return float(cell), math.nan, math.nan
    return _UNKNOWN


def _axis(values: list[float]) -> tuple[tuple[float, float], list[float]]:
    """The ends of an axis on which all values have room, and a few round numbers on it."""
    known = [value for value in values if math.isfinite(value)]
    low = min(known, default=0.0)
    high = max(known, default=0.0)
    room = 0.06 * (high - low) or 0.5 * abs(high) or 1.0
    low = low - room
    high = high + room
    width = high - low
    ten = 10 ** math.floor(math.log10(width))
    steps = [part * ten for part in (0.2, 0.5, 1, 2, 5)]
    step = next(step for step in steps if width / step < _MOST_TICKS)
    first = math.ceil(low / step)
    last = math.floor(high / step)
    ticks = [count * step for count in range(first, last + 1)]
    return (low, high), ticks


def _json(value: object) -> str:
    """JSON for a script element, which neither `</script>` nor `<!--` in a name may end or
    change.
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "&<>":
        escape = f"\\u{ord(character):04x}"
        text = text.replace(character, escape)
    return text


def _policy(parts: list[str]) -> str:
    """A content security policy under which these scripts run, and no other."""
    digests = []
    for part in parts:
        digest = hashlib.sha256(part.encode()).digest()
        digests.append(base64.b64encode(digest).decode())
    sources = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    rest = "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {sources}; {rest}"


@cache
def environment(package: str) -> Environment:
    """Templates of pages, in the folder `templates` of a package; they escape everything."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
