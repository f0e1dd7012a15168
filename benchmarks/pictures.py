"""Draws the pictures of the report in README and docs, and the four forms of every kind of page.

Seven simulated models of known quality answer 400 questions of URS (URS_INSPECT_DATA_DIR, or
fetched), a simulated judge scores them, and the page of `urs-inspect report` is photographed:
light, dark, on a phone. Below `forms/` are smaller pictures of the report, the example, README and
a guide, as the site shows them (`make docs` comes first), in print as well. `make pictures` makes
the other pictures, too.

    python -m benchmarks.pictures docs/images
"""

import argparse
import tempfile
from contextlib import chdir
from itertools import product
from pathlib import Path
from typing import Any

from inspect_ai import eval as inspect_eval
from tests.chromium import chromium

from urs_inspect import make_leaderboard, read_answers, report_leaderboard, urs
from urs_inspect.reports.layout._page import render_page

QUALITIES = (8.6, 8.4, 8.2, 7.9, 7.5, 6.8, 6.1)
DESK = {"width": 1280, "height": 1500}
FORMS: dict[str, dict[str, Any]] = {
    "light": {"viewport": DESK},
    "dark": {"viewport": DESK, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 1400}, "is_mobile": True, "has_touch": True},
    "print": {"viewport": {"width": 794, "height": 1123}},  # A4 at 96 dots per inch
}
PAGES = {
    "example": "docs/example/index.html",
    "readme": "site/index.html",
    "guide": "site/judges.html",
}


def page(folder: Path) -> Path:
    """The page of a report about the simulated models."""
    with chdir(folder):  # the page names the logs as they were given
        inspect_eval(
            urs(),
            model=[f"urs_simulation/quality-{quality}" for quality in QUALITIES],
            model_roles={"grader": "urs_simulation/judge"},
            limit=400,
            log_dir="logs",
            display="none",
        )
        report = report_leaderboard(make_leaderboard(read_answers(["logs"])))
    file = folder / "report.html"
    file.write_text(render_page(report), encoding="utf-8")
    return file


def main() -> None:
    """Draw the pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path)
    directory = parser.parse_args().directory
    (directory / "forms").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        pages = {
            "report": page(Path(folder)),
            **{name: Path(file).resolve() for name, file in PAGES.items()},
        }
        with chromium() as browser:
            for (name, file), (form, options) in product(pages.items(), FORMS.items()):
                opened = browser.new_page(**options)
                if form == "print":
                    opened.emulate_media(media="print")
                opened.goto(file.as_uri())
                opened.wait_for_function(
                    "!document.querySelector('[data-chart]:not(:has(.vega-embed))')"
                )
                opened.screenshot(
                    path=directory / "forms" / f"{name}_{form}.jpg", type="jpeg", quality=60
                )
                if name == "report" and form != "print":
                    opened.screenshot(path=directory / f"{name}_{form}.png")
                opened.close()


if __name__ == "__main__":
    main()
