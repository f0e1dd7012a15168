"""What a reader does with the viewer: open a page, look at cells, keep a picture."""

import os
import re
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Locator, Page, expect

WIDTH, HEIGHT = 1500, 820
_TOP = 29


class Cell(NamedTuple):
    """What a cell shows."""

    text: str
    colour: str


def open_page(page: Page, address: str, route: str) -> None:
    page.goto(f"{address}/#{route}")
    page.reload()  # the viewer reads a changed hash only when it starts


def sample_rows(page: Page, address: str, log_file: Path, name: str = "sample_") -> Locator:
    """The list of samples whose ids begin with a name, once it is there."""
    open_page(page, address, f"/tasks/{log_file.name}/samples/")
    rows = page.get_by_role("row").filter(has_text=re.compile(name))
    expect(rows.first).to_be_visible(timeout=30_000)
    return rows


def keep(page: Page, name: str) -> bytes:
    directory = os.environ.get("URS_INSPECT_SCREENSHOTS")
    path = f"{directory}/{name}.png" if directory else None
    # The top line shows where the log lies, which is nobody's business.
    return page.screenshot(
        path=path, clip={"x": 0, "y": _TOP, "width": WIDTH, "height": HEIGHT - _TOP}
    )


def cells(row: Locator) -> dict[str, Cell]:
    """Text and background of the cells of a row, by column."""
    found: dict[str, list[str]] = row.evaluate(
        """row => Object.fromEntries([...row.querySelectorAll('[role=gridcell]')].map(cell =>
            [cell.dataset.colId, [cell.innerText.trim(), getComputedStyle(cell).backgroundColor]]))"""
    )
    return {column: Cell(*cell) for column, cell in found.items()}
