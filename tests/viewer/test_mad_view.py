"""The log of a competition as `inspect view` shows it, in a real browser."""

import re
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from playwright.sync_api import Page, expect

from tests.viewer.browser import cells, keep, open_page, sample_rows
from urs_inspect.tasks import mad

pytestmark = pytest.mark.browser

_MODELS = ("urs_simulation/strong", "urs_simulation/judge", "urs_simulation/weak")
_MODEL_A, _OUTCOME = "score__pair_choice__model_a", "score__pair_choice__outcome"


@pytest.fixture(scope="module")
def log_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of three simulated models."""
    [log] = inspect_eval(
        mad("sample", k=6, pool_size=20),
        model="none",
        model_roles={"contestant": list(_MODELS), "grader": "urs_simulation/judge"},
        log_dir=str(tmp_path_factory.mktemp("logs")),
        display="none",
        log_realtime=False,
    )
    assert log.status == "success"
    return Path(log.location.removeprefix("file://"))


def test_ratings_are_the_headline_of_the_list_of_runs(
    page: Page, address: str, log_file: Path
) -> None:
    open_page(page, address, "/tasks")
    row = page.get_by_role("row").filter(has_text="mad")
    expect(row.first).to_be_visible(timeout=30_000)
    expect(row.first).to_contain_text(re.compile(r"1[0-9]{3}(\.\d)?"))


def test_ratings_stand_above_the_comparisons(page: Page, address: str, log_file: Path) -> None:
    rows = sample_rows(page, address, log_file)
    # ## Ratings by the models' whole names, with the slash
    for model in _MODELS:
        shown = page.get_by_text(model, exact=True)
        assert any(
            box["y"] < 110
            for one in shown.all()
            if one.is_visible() and (box := one.bounding_box()) is not None
        ), f"{model} is not in the head of the page"
    # ## Comparisons first, of contestants' answers no score
    header = page.get_by_role("columnheader")
    for name in ("Model a", "Model b", "Outcome", "Answer", "Input"):
        expect(header.filter(has_text=re.compile(f"^{name}", re.IGNORECASE)).first).to_be_visible()
    seen = [cells(rows.nth(index)) for index in range(12)]
    assert all(row[_OUTCOME].text in {"0", "0.5", "1"} for row in seen)
    assert {row[_MODEL_A].text for row in seen} <= {"judge", "strong"}  # uncut
    colours = {row[_OUTCOME].text: row[_OUTCOME].colour for row in seen}
    assert len(set(colours.values())) == len(colours)
    assert len(keep(page, "mad_view")) > 20_000


def test_a_comparison_shows_what_the_judge_said_in_both_orders(
    page: Page, address: str, log_file: Path
) -> None:
    rows = sample_rows(page, address, log_file)
    rows.first.dblclick()
    page.get_by_role("tab", name=re.compile("scoring", re.IGNORECASE)).first.click()
    orders = page.get_by_text(re.compile("^urs_simulation/(judge|weak|strong) shown first"))
    expect(orders.first).to_be_visible(timeout=30_000)
