"""`urs-inspect report --answers pages|viewer`: tables and pages of all answers, the logs in inspect view, and
links to them.
"""

import functools
import http.server
import json
import math
import re
import sys
import threading
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest
from click.testing import CliRunner, Result
from inspect_ai.model import ModelOutput
from playwright.sync_api import Browser, expect

from tests.reports.judged_logs import answered, judgement, unscored, write_judged
from tests.telling import tells
from urs_inspect.cli import main

_HOSTILE = (
    "</script><script>ran = 1</script><img src=http://evil.test/x> \x00 \u202e 中文 "
    + "ab " * 200_000
    + "END"
)
_IDS = ("a/b", "a:b", "问题 一?#%41&", "x" * 300, "a\u202e b")
_MODELS = ("p/m" * 60, "通义/千问", "通义/千义", "p/m:1")


def _report(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


@pytest.fixture(scope="module", autouse=True)
def _no_figures() -> Iterator[None]:
    """Figures take longer than all else, and are tested elsewhere."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setitem(sys.modules, "altair", None)
        yield


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four models whose names and texts are hostile.

    All logs have the same name, in folders of their own.
    """
    folder = tmp_path_factory.mktemp("logs")
    for place, model in enumerate(_MODELS):
        samples = [
            answered(
                name,
                judgement(9.0 - number).model_copy(update={"explanation": f"because of {number}"}),
                output=ModelOutput.from_content(
                    model, _HOSTILE if place + number == 0 else f"answer {number}"
                ),
                metadata={"language": ("en", "zh")[number % 2], "country": "G\u202eB"},
                epoch=epoch,
            )
            for number, name in enumerate(_IDS)
            for epoch in (1, 2)
        ]
        samples[-1].scores = {"intent_judge": unscored()}
        write_judged(folder / str(place) / "2026-01-01T00-00-00_urs.eval", *samples, model=model)
    return folder


@pytest.fixture(scope="module")
def written(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("out")
    done = _report(logs, "-o", output, "--answers", "viewer")
    assert done.exit_code == 0, done.output
    return output


def _links(file: Path) -> list[str]:
    return [
        unescape(link) for link in re.findall(r'href="([^"]+)"', file.read_text(encoding="utf-8"))
    ]


def test_tables_have_one_row_per_answer_with_its_text_and_judgement(written: Path) -> None:
    rows = [
        json.loads(line)
        for line in (written / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    table = pd.read_parquet(written / "answers.parquet")
    assert len(rows) == len(table) == len(_MODELS) * len(_IDS) * 2
    assert [list(row) for row in rows] == [list(table)] * len(rows)
    assert table["answer"].tolist() == [row["answer"] for row in rows]
    hostile = table[table["answer"] == _HOSTILE]
    assert hostile["id"].tolist() == ["a/b", "a/b"] and hostile["model"].unique().tolist() == [
        _MODELS[0]
    ]
    facts = hostile.iloc[0][
        ["question", "reference", "final", "criterion/clarity", "explanation"]
    ].tolist()
    assert facts == ["Ask a/b", "reference", 9.0, 9.0, "because of 0"]
    assert (table["final"].isna().sum(), table["outcome"].nunique()) == (len(_MODELS), 2)
    assert not any("/" in log for log in table["log"])
    assert json.loads(hostile.iloc[0]["judge_finals"]) == {"p/judge": 9.0}


def test_every_link_leads_to_an_answer_and_answers_are_sorted(written: Path) -> None:
    pages = sorted((written / "answers").iterdir())
    assert len(pages) == len(_MODELS) * 3 and max(len(page.name) for page in pages) < 100
    ids = {
        page: set(re.findall(r' id="([^"]+)"', page.read_text(encoding="utf-8"))) for page in pages
    }
    linked = set()
    for page in (written / "report.html", *pages):
        for link in _links(page):
            name, _, anchor = link.partition("#")
            if link.startswith("data:") or "/view/" in link:
                continue
            target = (page.parent / name).resolve() if name else page
            linked.add(target)
            assert target.is_file() and (
                not anchor or target not in ids or anchor in ids[target]
            ), link
    assert linked >= set(pages)
    for page in pages:
        assert "\u202e" not in page.read_text(encoding="utf-8")
        scores = re.findall(r'<h2><a href="[^"]+">([^<]+)', page.read_text(encoding="utf-8"))
        values = [math.inf if score == "no score" else float(score) for score in scores]
        assert values == sorted(values)
    listed = json.loads((written / "answers.jsonl").read_text(encoding="utf-8").splitlines()[0])[
        "page"
    ]
    assert listed.partition("#")[2] in ids[written / listed.partition("#")[0]]


def test_inspect_view_is_copied_only_if_asked(logs: Path, written: Path, tmp_path: Path) -> None:
    done = _report(logs / "1", "-o", tmp_path / "out", "--answers", "pages")
    assert done.exit_code == 0, done.output
    assert f"Written: {tmp_path / 'out' / 'report.html'}, " in done.output.replace(
        "\n", ""
    )  # the page comes first
    assert not (tmp_path / "out" / "view").exists()
    pages = sorted((tmp_path / "out" / "answers").iterdir())
    assert pages and not any("view/" in link for page in pages for link in _links(page))
    assert sum(file.stat().st_size for file in (tmp_path / "out" / "answers").iterdir()) < 200_000
    assert (written / "view" / "index.html").is_file()


def test_a_later_report_replaces_its_own_files_and_no_others(logs: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    assert "needs -o" in _report(logs, "--answers", "pages").output
    (output / "answers").mkdir(parents=True)
    (output / "answers.jsonl").write_text("mine", encoding="utf-8")
    done = _report(logs / "1", "-o", output, "--answers", "pages")
    assert done.exit_code == 1 and "holds answers.jsonl" in done.output
    assert _report(logs / "1", "-o", output).exit_code == 0
    assert (output / "answers.jsonl").read_text(encoding="utf-8") == "mine"
    (output / "answers.jsonl").unlink()
    (output / "answers" / "mine.html").write_text("mine", encoding="utf-8")
    (output / "view").mkdir()
    done = _report(logs / "1", "-o", output, "--answers", "viewer")
    assert done.exit_code == 0 and tells(done.output, "not written")
    assert not any(
        "view/" in link for page in (output / "answers").iterdir() for link in _links(page)
    )
    (output / "view").rmdir()
    assert _report(logs / "2", "-o", output, "--answers", "viewer").exit_code == 0
    (output / "answers" / "mine-0123abcd.html").write_text("mine", encoding="utf-8")
    assert (
        len(list((output / "answers").iterdir())) == 5
        and (output / "view" / "index.html").is_file()
    )
    (output / "view" / "logs" / "judged again.eval").write_text("mine", encoding="utf-8")
    done = _report(logs / "2", "-o", output)
    assert "removed the answers" in done.output and tells(done.output, "view is not")
    assert (output / "view" / "logs" / "judged again.eval").is_file()
    assert {file.name for file in (output / "answers").iterdir()} == {
        "mine.html",
        "mine-0123abcd.html",
    }
    assert not list(output.glob("answers.*"))


def test_a_run_that_is_cut_off_leaves_nothing_and_linked_folders_stay(
    logs: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    with patch("urs_inspect.answer_pages._answers._files", side_effect=KeyboardInterrupt):
        assert _report(logs / "1", "-o", output, "--answers", "pages").exit_code == 1
    assert not list(output.iterdir())
    assert _report(logs / "1", "-o", output, "--answers", "viewer").exit_code == 0
    for name in ("answers", "view"):
        (output / name).rename(tmp_path / name)
        (output / name).symlink_to(tmp_path / name)
    there = set(tmp_path.rglob("*"))
    assert "is a link" in _report(logs / "1", "-o", output, "--answers", "pages").output
    assert _report(logs / "1", "-o", output).exit_code == 0
    assert {path.suffix for path in there - set(tmp_path.rglob("*"))} == {
        ".json",
        ".jsonl",
        ".parquet",
    }


def test_a_report_without_answers_says_how_to_have_them(logs: Path, tmp_path: Path) -> None:
    assert tells(_report(logs / "1").output, "-o DIRECTORY --answers pages, or inspect view")
    assert _report(logs / "1", "-o", tmp_path).exit_code == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "make this report with <code>--answers pages</code>" in page
    table = CliRunner().invoke(main, ["table", str(logs / "1")])
    assert tells(table.output, "-o report --answers pages")


def test_what_is_not_written_is_said(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "mix.yaml").write_text("languages: {en: 1}", encoding="utf-8")
    done = _report(
        logs / "1", "-o", tmp_path, "--answers", "pages", "--traffic", tmp_path / "mix.yaml"
    )
    assert done.exit_code == 0 and "pip install 'urs-inspect[viz]'" in done.output
    assert not (tmp_path / "answers.parquet").exists()
    assert len((tmp_path / "answers.jsonl").read_text(encoding="utf-8").splitlines()) == 6
    assert "4 other answers" in done.output and "4 other answers" in (
        tmp_path / "report.md"
    ).read_text("utf-8")


@pytest.mark.browser
@pytest.mark.parametrize(
    "mode", [{}, {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}]
)
def test_a_cell_leads_to_answers_that_are_shown_as_text(
    browser: Browser, written: Path, mode: dict[str, Any]
) -> None:
    page, problems = browser.new_page(java_script_enabled=False, **mode), list[str]()
    page.on("console", lambda message: problems.append(message.text))
    page.on(
        "request",
        lambda sent: None if sent.url.startswith("file://") else problems.append(sent.url),
    )
    page.goto((written / "report.html").as_uri())
    page.locator("summary", has_text="All answers").first.click()
    page.locator("a", has_text="ten worst").first.click()
    page.go_back()
    page.locator(".card summary").first.click()
    page.locator(".card[open] li a").first.click()
    expect(page.locator("article:target")).to_be_visible()
    page.go_back()
    page.locator("tr", has_text="p/mp/m").locator("td:not(.text) a").first.click()
    page.locator("tbody a", has_text="Leisure").first.click()
    text = page.locator(".text", has_text="</script><script>").last
    assert "</script><script>ran = 1</script><img" in text.inner_text() and "␀" in text.inner_text()
    assert "END" in text.inner_text() and page.locator("img, script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
    assert problems == []


@pytest.mark.browser
def test_an_answer_leads_to_its_sample_in_inspect_view(browser: Browser, written: Path) -> None:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(written))
    handler.func.log_message = lambda *_: None  # type: ignore[attr-defined]
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        rows = [
            json.loads(line)
            for line in (written / "answers.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        for name, place in (("a/b", 1), ("问题 一?#%41&", 2)):
            row = next(
                row
                for row in rows
                if (row["id"], row["model"], row["epoch"]) == (name, _MODELS[place], 2)
            )
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{server.server_port}/{row['page']}")
            page.locator(
                f"[id='{row['page'].partition('#')[2]}'] a", has_text="inspect view"
            ).click()
            expect(page.locator("body")).to_contain_text("because of", timeout=30_000)
            for text in (name, "Epoch 2", _MODELS[place]):
                expect(page.locator("body")).to_contain_text(text)
        server.shutdown()
