"""The logs of judge tasks as `inspect view` shows them, in a real browser."""

import os
import re
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from playwright.sync_api import Page, expect

from tests.viewer.browser import cells, keep, open_page, sample_rows
from urs_inspect.tasks import md_eval

pytestmark = [pytest.mark.browser, pytest.mark.data]

_DATA_DIR = os.environ.get("URS_INSPECT_DATA_DIR")
_OVERALL, _DIMENSIONS = "score__pair_verdict__overall", "score__pair_verdict__dimensions"


@pytest.fixture(scope="module")
def log_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of a simulated judge over some pairs, each in both orders."""
    if not _DATA_DIR:
        pytest.skip("needs the published data: set URS_INSPECT_DATA_DIR")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("URS_INSPECT_DATA_DIR", _DATA_DIR)
        task = md_eval(orders="both")
    [log] = inspect_eval(
        task,
        model="urs_simulation/strong",
        log_dir=str(tmp_path_factory.mktemp("logs")),
        limit=40,
        display="none",
        log_realtime=False,
    )
    assert log.status == "success"
    return Path(log.location.removeprefix("file://"))


def test_pairs_are_listed_with_the_wrong_verdicts_first(
    page: Page, address: str, log_file: Path
) -> None:
    rows = sample_rows(page, address, log_file, "md_eval_")
    # ## What a row shows
    header = page.get_by_role("columnheader")
    for name in ("Id", "Scenario", "Target", "Answer", "Overall", "Dims", "Input"):
        heading = header.filter(has_text=re.compile(rf"^{name}\b(?! \w)", re.IGNORECASE)).and_(
            page.locator("div")
        )
        expect(heading).to_be_visible()
    seen = [cells(rows.nth(index)) for index in range(18)]
    assert {row["target"].text for row in seen} <= {"a", "b", "tie"}
    assert {row["score__pair_verdict__group"].text for row in seen} >= {"chitchat"}
    for row in seen:
        right = row["target"].text == row["answer"].text
        assert row[_OVERALL].text == ("1" if right else "0")
    # ## Order: wrong before right, and within them fewer right dimensions first
    assert all(len(row[_DIMENSIONS].text) <= len("0.123") for row in seen)
    order = [(int(row[_OVERALL].text), float(row[_DIMENSIONS].text)) for row in seen]
    assert order == sorted(order)
    assert order[0][0] < order[-1][0], "all verdicts are alike: the order shows nothing"
    # ## Colour: right and wrong differ, and so do small and large shares
    colours = {row[_OVERALL].text: row[_OVERALL].colour for row in seen}
    assert colours["0"] != colours["1"]
    assert len({row[_DIMENSIONS].colour for row in seen}) > 2
    assert len(keep(page, "inspect_view_pairs")) > 20_000


def test_verdicts_are_a_table_above_the_judge_s_words(
    page: Page, address: str, log_file: Path
) -> None:
    open_page(page, address, f"/tasks/{log_file.name}/samples/sample/md_eval_0001/1/scoring")
    for name in ("label", "verdict", "a first", "b first"):
        expect(page.get_by_role("columnheader", name=name, exact=True).first).to_be_visible(
            timeout=30_000
        )
    for one, two in (("a", "b"), ("b", "a")):
        heading = re.compile(
            rf"^\d+ dimensions and Overall: response 1 is {one}, response 2 is {two}$"
        )
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
    words = page.get_by_role("listitem").filter(has_text="Simulated: by length and characters")
    expect(words.nth(20)).to_be_attached()  # some 14 dimensions and the whole, twice
    expect(words.first).to_contain_text(re.compile(r"^[A-Z][A-Za-z ]+: (1|2|tie)\."))
    assert len(keep(page, "inspect_view_pair")) > 20_000
