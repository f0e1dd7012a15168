"""What `annotate` prints about ratings, whole."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.annotation.samples import rating, shown_logs
from tests.cli.conftest import Run
from tests.cli.test_told import TIME, TOKEN, Told, lines, unserved  # noqa: F401 - a fixture
from tests.rating.samples import queue


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shown_logs(tmp_path_factory.mktemp("rated"))


def rate(logs: Path, directory: Path, who: str, finals: Sequence[int | None], **facts: Any) -> None:
    """Ratings of the first answers in their order; None where the person could not tell."""
    for number, (drawn, final) in enumerate(zip(queue(logs), finals, strict=False)):
        known = {
            "cannot_tell": final is None,
            "rate": drawn.rate,
            "threshold": drawn.threshold,
            "time": TIME,
            "seconds": 3.0 + number,
            **facts,
        }
        lines(directory / f"{who}.jsonl", rating(drawn.answer, final or 1, who, **known).to_line())


def test_ratings_and_how_far_raters_agree(run: Run, logs: Path, tmp_path: Path) -> None:
    told = Told(tmp_path)

    def report(title: str, directory: Path, *more: object) -> None:
        directory.mkdir(exist_ok=True)
        result = run("annotate", logs, "--votes", directory, "--report", *more)
        told.add(title, result.output)

    def attach(title: str, directory: Path, name: str) -> None:
        copy = tmp_path / f"{title.replace(' ', '_')}.eval"
        result = run("annotate", logs / name, "--votes", directory, "--output", copy)
        told.add(f"attached: {title}", result.output)

    report("no rating", tmp_path / "none")
    alone = tmp_path / "alone"
    rate(logs, alone, "ann", [7])
    report("one rating", alone)
    several = tmp_path / "several"
    rate(logs, several, "ann", [2, 3, 9, 8, 5, 1, 10, 4, 6, 7, 7, 9])
    rate(logs, several, "ben [x]", [3, 3, 8, 9, 4, 2, 10, 5, 6, None, 8, 8])
    rate(logs, several, "cy", [1, None, None], seconds=float("nan"))
    rate(logs, several, "ann", [4, 3, 7], check=True)
    rate(logs, several, "cy", [5, 5])
    rate(logs, several, "cy", [5, 5], undone=True)
    lines(several / "cy.jsonl", "[garbage]")
    report("ratings of three people", several)
    report("of the first five", several, "--limit", 5)
    attach("both", several, "apple.eval")
    attach("one", alone, f"{first_model(logs)}.eval")
    told.check("ratings_told")


def first_model(logs: Path) -> str:
    """The model whose answer comes first."""
    [first, *_] = queue(logs)
    return first.answer.model.removeprefix("p/")


@pytest.mark.usefixtures("unserved")
def test_what_is_said_before_and_after_a_page_is_served(
    run: Run, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(tmp_path)
    ratings = tmp_path / "ratings"
    rate(logs, ratings, "ann", [2, 3, 9, None])
    answers = ["annotate", logs, "--votes", ratings, "--annotator", "ann"]
    told.add("ratings", run(*answers, "--checks", "1").output)
    told.add("the first ratings", run(*answers, "--limit", 5).output)
    told.add("answers of one model", run("annotate", logs / "pear.eval", *answers[2:]).output)
    told.add("in one language", run(*answers, "--language", "zh").output)
    monkeypatch.setenv("URS_INSPECT_TOKEN", TOKEN)
    told.add("ratings with a token", run(*answers, "--address", "0.0.0.0:0").output)
    told.check("served_for_ratings")
