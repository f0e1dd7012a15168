"""A log scored by SaMer as `inspect view` shows it, in a real browser."""

import re
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from playwright.sync_api import Page, expect

from tests.samer.checkpoints import tiny_checkpoint
from tests.viewer.browser import cells, keep, open_page, sample_rows
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.tasks import urs

pytestmark = pytest.mark.browser

_OVERALL = "score__samer__overall"
_LEADING = [f"score__samer_outcome__{place}" for place in ("first", "second", "third")]
_EVALUATION = "score__samer_outcome__evaluation"


@pytest.fixture(scope="module")
def log_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of the weaker simulated model; two of the questions do not fit into the tiny SaMer."""
    checkpoint = tiny_checkpoint(tmp_path_factory.mktemp("samer") / "checkpoint")
    [log] = inspect_eval(
        urs(
            dataset="sample",
            scorer="samer",
            samer={"model": str(checkpoint), "engine": "transformers"},
        ),
        model="urs_simulation/weak",
        limit=12,
        log_dir=str(tmp_path_factory.mktemp("logs")),
        display="none",
        log_realtime=False,
    )
    assert log.status == "success"
    return Path(log.location.removeprefix("file://"))


def test_samples_show_overall_leading_dimensions_and_failures(
    page: Page, address: str, log_file: Path
) -> None:
    rows = sample_rows(page, address, log_file)
    header = page.get_by_role("columnheader")
    for name in (
        "Intent",
        "Language",
        "Overall",
        "Weighs most",
        "Weighs second",
        "Weighs third",
        "Evaluation",
    ):
        expect(header.filter(has_text=re.compile(f"^{name}$", re.IGNORECASE))).to_be_visible()
    seen = [cells(rows.nth(index)) for index in range(12)]
    scored = [row for row in seen if row[_EVALUATION].text == "scored"]
    failed = [row for row in seen if row[_EVALUATION].text == "unscored_too_long"]
    assert len(scored) + len(failed) == 12 and scored and failed
    # ## Order, and colour of how it ended
    overall = [float(row[_OVERALL].text.rstrip("…")) for row in scored]
    assert overall == sorted(overall)
    assert scored[0][_EVALUATION].colour != failed[0][_EVALUATION].colour
    assert {row[place].text for row in scored for place in _LEADING} <= set(
        load_taxonomy().dimensions
    )
    assert not [row for row in failed for column in (_OVERALL, *_LEADING) if row[column].text]
    assert (
        {row[_OVERALL].colour for row in failed}
        == {"rgba(0, 0, 0, 0)"}
        != {row[_OVERALL].colour for row in scored}
    )
    assert len(keep(page, "inspect_view_samer")) > 20_000


def test_an_evaluation_is_a_table_of_dimensions(page: Page, address: str, log_file: Path) -> None:
    rows = sample_rows(page, address, log_file)
    seen = [cells(rows.nth(index)) for index in range(12)]
    one = next(row["sampleId"].text for row in seen if row[_EVALUATION].text == "scored")
    open_page(page, address, f"/tasks/{log_file.name}/samples/sample/{one}/1/scoring")
    for name in ("dimension", "score", "weight"):
        expect(page.get_by_role("columnheader", name=name, exact=True).first).to_be_visible(
            timeout=30_000
        )
    expect(page.get_by_text("Overall:").first).to_be_visible()
    assert len(keep(page, "inspect_view_samer_evaluation")) > 20_000
