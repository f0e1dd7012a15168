"""The log as `inspect view` shows it, in a real browser.

With URS_INSPECT_SCREENSHOTS set to a directory, the pictures of README and docs are written there.
"""

import re
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from playwright.sync_api import Page, expect

from tests.viewer.browser import cells, keep, open_page, sample_rows
from urs_inspect.tasks import urs

pytestmark = pytest.mark.browser

_SCORES = "score__intent_judge__"
_FINAL = f"{_SCORES}final"
_NO_COLOUR = "rgba(0, 0, 0, 0)"


@pytest.fixture(scope="module")
def log_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of the weaker simulated model over the embedded cases."""
    [log] = inspect_eval(
        urs(dataset="sample"),
        model="urs_simulation/weak",
        model_roles={"grader": "urs_simulation/judge"},
        log_dir=str(tmp_path_factory.mktemp("logs")),
        tags=["simulation"],
        display="none",
        log_realtime=False,
    )
    assert log.status == "success"
    return Path(log.location.removeprefix("file://"))


def test_samples_are_a_heat_map_with_the_worst_first(
    page: Page, address: str, log_file: Path
) -> None:
    rows = sample_rows(page, address, log_file)
    # ## What a row shows
    header = page.locator("div[role=columnheader]")  # those of the list, not of the scores above it
    for name in (
        "Intent",
        "Language",
        "Final",
        "Factuality",
        "Satisfaction",
        "Coherence",
        "Judging",
    ):
        expect(header.filter(has_text=re.compile(rf"^{name}\s*$", re.IGNORECASE))).to_be_visible()
    expect(rows.first).to_contain_text(re.compile("Fact|Solv|Text|Ask|Seek|Leis"))
    expect(rows.first).to_contain_text(re.compile("en|zh"))
    # ## Order: the final scores never fall from one row to the next
    finals = [cells(rows.nth(index))[_FINAL] for index in range(12)]
    scores = [int(cell.text) for cell in finals]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1], "all scores are equal: the order shows nothing"
    # ## Colour: a score has one colour, low and high differ, and a criterion of another intent has
    # none
    colours = {cell.text: cell.colour for cell in finals}
    assert all(cell.colour == colours[cell.text] for cell in finals)
    assert finals[0].colour != finals[-1].colour
    blank = [
        cell
        for column, cell in cells(rows.first).items()
        if column.startswith(_SCORES) and not cell.text
    ]
    assert len(blank) == 5  # ten criteria, five of them for the intent
    assert {cell.colour for cell in blank} == {_NO_COLOUR}
    assert len(keep(page, "inspect_view_samples")) > 20_000


def test_header_shows_final_score_with_interval(page: Page, address: str, log_file: Path) -> None:
    open_page(page, address, f"/tasks/{log_file.name}/samples/")
    expect(page.get_by_text("GRADER:urs_simulation/judge")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("final", exact=False).first).to_be_visible()
    for name in ("low", "high", "stderr"):
        expect(page.get_by_text(name, exact=True).first).to_be_visible()


def test_judgement_is_readable(page: Page, address: str, log_file: Path) -> None:
    open_page(page, address, f"/tasks/{log_file.name}/samples/sample/sample_leisure_en_1/1/scoring")
    expect(page.get_by_text("Final Score:").first).to_be_visible(timeout=30_000)
    for name in ("User Satisfaction", "Engagement", "Appropriateness", "Creativity", "Factuality"):
        expect(page.get_by_role("heading", name=re.compile(rf"^{name}: \d+$"))).to_be_visible()
    expect(page.get_by_text("urs_simulation/judge").first).to_be_visible()
    assert len(keep(page, "inspect_view_judgement")) > 20_000
