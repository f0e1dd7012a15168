"""The page as a whole."""

import math
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from tests.reports.intent.page.factory import (
    GROUPS,
    make_block,
    make_models,
    make_report,
    rich_report,
    with_missing,
)
from tests.reports.intent.page.html_page import HtmlPage
from urs_inspect.datasets.published import load_published_urs
from urs_inspect.reports.intent.page import render_page
from urs_inspect.reports.intent.report import IntentReport, PairedDifference
from urs_inspect.stats import Estimate

POISON = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>\"' onload='alert(3)' style=\"x\" "
    "{{7*7}} &amp; </style></title>\ud800"
)
ALLOWED = {
    *("html", "head", "meta", "title", "link", "style", "body", "header", "nav", "main", "section", "article"),
    *(
        "h1",
        "h2",
        "h3",
        "h4",
        "p",
        "ul",
        "li",
        "dl",
        "dt",
        "dd",
        "div",
        "span",
        "strong",
        "b",
        "a",
        "code",
        "pre",
        "wbr",
    ),
    *("table", "thead", "tbody", "tr", "th", "td", "details", "summary", "figure", "figcaption"),
    *("svg", "desc", "defs", "path", "use", "text", "g"),
}


@pytest.fixture(scope="module")
def report() -> IntentReport:
    return rich_report()


@pytest.fixture(scope="module")
def page(report: IntentReport) -> str:
    return render_page(report)


def poisoned(value: Any) -> Any:
    """The same with markup in every text; texts that were equal stay equal."""
    if isinstance(value, str):
        return f"{value}{POISON}"
    if isinstance(value, tuple):
        return tuple(poisoned(item) for item in value)
    if isinstance(value, dict):
        return {poisoned(key): poisoned(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        kept = [field.name for field in fields(value) if field.name != "verdict"]  # never from a log
        return replace(value, **{name: poisoned(getattr(value, name)) for name in kept})
    return value


def test_whatever_a_log_says_is_text(report: IntentReport) -> None:
    found = HtmlPage(render_page(poisoned(report)))
    assert found.tags <= ALLOWED
    names = {name for _, attributes in found.elements for name in attributes}
    assert not {name for name in names if name.startswith("on")}
    assert found.text.count("<script>alert(1)</script>") > 300
    assert "49" not in re.sub(r"\d[\d.,]+|\{\{7\*7\}\}", "", found.text)
    styles = {style for style in found.values("style") if "max-width" not in style}
    assert all(
        re.fullmatch(r"--(shade|columns): [\d.]+|[a-z-]+: [^<>\"']+(; [a-z-]+: [^<>\"']+)*", style) for style in styles
    )


def test_the_page_needs_nothing_beside_itself(page: str) -> None:
    found = HtmlPage(page)
    policies = [a["content"] for tag, a in found.elements if tag == "meta" and "http-equiv" in a]
    assert policies == [
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    ]
    assert page.index("Content-Security-Policy") < page.index("<style>")
    assert not found.tags & {"script", "img", "iframe", "object", "embed", "video", "audio", "form", "input", "base"}
    assert "://" not in page
    assert "url(" not in page.replace("url(#", "")
    assert "@import" not in page
    links = found.values("href")
    assert all(link.startswith("#") or link == "data:," for link in links)
    ids = found.values("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    for name in ("aria-labelledby", "aria-describedby"):
        assert {i for value in found.values(name) for i in value.split()} <= set(ids)


def test_nan_and_none_are_never_printed(page: str) -> None:
    words = re.findall(r"[A-Za-z]+", HtmlPage(page).text)
    assert not {"nan", "NaN", "None", "inf"} & set(words)


def test_the_same_report_gives_the_same_page(report: IntentReport, page: str) -> None:
    assert render_page(report) == page


def numbers(value: Any) -> Iterator[str]:
    """Every number of a report as it must be found on the page."""
    if isinstance(value, Estimate):
        if not math.isnan(value.value):
            yield f"{value.value:.2f}"
            if not math.isnan(value.low):
                yield f"{value.low:.2f}–{value.high:.2f}"
    elif isinstance(value, PairedDifference):
        yield f"{value.difference.value:+.2f}".replace("-", "−")
        yield f"{value.difference.low:+.2f}".replace("-", "−")
        yield f"{value.questions:,}"
    elif isinstance(value, bool):
        return
    elif isinstance(value, int):
        yield f"{value:,}"
    elif isinstance(value, tuple | list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, dict):
        yield from numbers(list(value.values()))
    elif is_dataclass(value):
        for field in fields(value):
            if field.name not in ("lengths", "usage", "level", "rounds", "seed"):
                yield from numbers(getattr(value, field.name))


def test_every_number_of_the_report_is_on_the_page(report: IntentReport, page: str) -> None:
    text = HtmlPage(page).text
    found = set(numbers(report))
    assert len(found) > 500
    assert {number for number in found if number not in text} == set()
    for said in (
        "412,345",
        "1,034,567",
        "$3.46",
        "$41.50",
        "2 h 1 min",
        "0.43",
        "0.21",
        "25%",
        "10,000 rounds, seed 7",
        "812",
    ):
        assert said in text
    for model in report.blocks[0].models:
        if model.lengths.bins:
            assert f"{model.lengths.median:,.0f}" in text
            assert f"{model.lengths.correlation.value:+.2f}".replace("-", "−") in text


def test_scores_stand_in_their_rows_and_columns(report: IntentReport, page: str) -> None:
    sections = HtmlPage(page).sections
    block = report.blocks[0]
    [leaderboard] = sections["r1-leaderboard"]
    assert leaderboard.rows[0] == ["Model", "All", "Without a score", *GROUPS]
    for model in block.models:
        own, lacking, *rest = leaderboard.row(model.model)
        for cell, estimate in zip([own, *rest], [model.all, *(model.by_group[group] for group in GROUPS)], strict=True):
            assert cell.startswith("–" if math.isnan(estimate.value) else f"{estimate.value:.2f}")
        for key, cell in zip(("all", *GROUPS), [own, *rest], strict=True):
            assert ("not significantly worse" in cell) == (model.model in block.best[key].marked)
        assert lacking.endswith(f"{model.mean_lowest:.2f}–{model.mean_highest:.2f}")
        assert (" !" in lacking) == (model.unscored_share > 0.02)
    red = [attributes for _, attributes in HtmlPage(page).elements if attributes.get("class") == "missing"]
    assert [one.get("title") for one in red if "title" in one] == ["185 of 1,846 answers"]
    _, matrix, tests, by_column = sections["r1-differences"]
    assert len(by_column.rows) == 1 + sum(len(one.others) for key, one in block.best.items() if key != "all")
    for place, model in enumerate(block.models):
        row = matrix.row(model.model)
        for other, cell in enumerate(row):
            if place == other:
                assert cell == ""
            else:
                value = model.all.value - block.models[other].all.value
                assert cell.startswith(f"{value:+.2f}".replace("-", "−"))
                pair = next(
                    p for p in block.differences if {p.first, p.second} == {model.model, block.models[other].model}
                )
                assert cell.endswith("significant") == pair.significant
                assert ("depends on unscored answers of tiny (185)" in cell) == bool(pair.depends_on)
    assert len(tests.rows) == 1 + len(block.differences)
    first, second = sections["r1-languages"]
    model = block.models[1]
    cells = [model.by_language[c] for c in ("en", "zh")]
    cells += [model.by_group_and_language[g, c] for g in GROUPS for c in ("en", "zh")]
    both = first.row(model.model) + second.row(model.model)
    assert [cell[:4] for cell in both] == [f"{estimate.value:.2f}" for estimate in cells]
    [criteria] = sections["r1-criteria"]
    assert [c[:4] for c in criteria.row(model.model)] == [f"{e.value:.2f}" for e in model.by_criterion.values()]


def test_what_must_be_said_is_said(report: IntentReport, page: str) -> None:
    text = " ".join(HtmlPage(page).text.split())
    for said in (
        "SIMULATION",
        "Simulation. These follow simple rules and are no real models: urs_simulation/judge.",
        "is best, significantly better than",
        "depends on unscored answers of tiny",
        "1,655 of 1,846 asked",
        "These models are not ranked with those of ranking 1: Another judge: urs_simulation/judge instead of",
        "Two questions that tiny never attempted are left out.",
        "1 log of another task: gpqa.eval. 3 logs that did not end.",
        "weighted by the shares in my_mix.yaml",
        "Leisure 50%",
        "self-judged 25%",
        "not known",
        "Published in the paper with its judge; not comparable row by row.",
        "Holm",
        "by the bootstrap clustered by question",
        "sha256 0123456789ab",
        "a1b2c3d4",
        "urs-inspect report logs/urs -o report/",
        *report.left_out,
        *(run.command for run in report.runs),
        *(run.log for run in report.runs),
        *(run.rubric_sha256 for run in report.runs),
    ):
        assert said in text, said


def test_nothing_is_said_that_is_not_so() -> None:
    text = HtmlPage(render_page(make_report(make_block(make_models(2))))).text
    for unsaid in (
        "imulat",
        "Ranking 1 of",
        "traffic",
        "Countries",
        "Epochs",
        "Deviation",
        "hollow",
        "not ranked with",
    ):
        assert unsaid not in text
    assert "Nothing was left out." in text


def test_simulated_models_are_marked() -> None:
    models = [replace(m, model=f"urs_simulation/{m.model}", simulated=True) for m in make_models(2)]
    page = render_page(make_report(make_block(models, "urs_simulation/judge"), simulated=True))
    assert "<title>SIMULATION" in page
    found = HtmlPage(page)
    [leaderboard] = found.sections["r1-leaderboard"]
    assert all("simulated" in row[0] for row in leaderboard.rows[2:])
    assert "All models and judges of this ranking follow simple rules." in found.text
    assert found.text.count("mean final score (simulation)") == 6


@pytest.mark.parametrize("models", [1, 2])
def test_few_models(models: int) -> None:
    found = HtmlPage(render_page(make_report(make_block(make_models(models)))))
    assert ("r1-differences" in found.sections) == (models > 1)
    assert len([1 for tag, _ in found.elements if tag == "svg"]) == (6 if models > 1 else 4)


def test_a_report_of_nothing() -> None:
    assert "There is nothing to rank." in HtmlPage(render_page(make_report())).text


def test_twenty_models_are_no_burden() -> None:
    page = render_page(make_report(make_block(make_models(20))))
    assert len(page.encode()) < 2_000_000
    found = HtmlPage(page)
    tests = found.sections["r1-differences"][2]
    assert len(tests.rows) == 191
    assert [attributes for tag, attributes in found.elements if tag == "details"] == [{}, {}]
    matrix = found.sections["r1-differences"][1]
    assert matrix.rows[0][1:4] == ["1 gpt-large", "2 claude-medium-2025-06-01", "3 通义千问-max"]
    assert matrix.row("model-19")[0].endswith("significant")


def test_published_tables_are_there_as_printed(page: str) -> None:
    found = HtmlPage(page).sections["published"]
    published = load_published_urs()
    for table, shown in zip((published.table(n) for n in (4, 12, 13)), found, strict=False):
        for name, scores in table.rows.items():
            assert [cell.lstrip("*") for cell in shown.row(name)] == [f"{score:.2f}" for score in scores]
    assert found[0].row("GPT-4o")[0] == "*8.24"
    assert found[3].row("Leisure") == ["User Satisfaction, Engagement, Appropriateness, Creativity, Factuality"]


def test_a_claim_over_common_questions_only_has_a_verdict_and_a_legend_of_its_own() -> None:
    block = with_missing(make_block(make_models(3)), 2)
    partly, *others = block.differences
    partly = replace(partly, p_worst=0.4, verdict="not significant over all questions")
    text = HtmlPage(render_page(make_report(replace(block, differences=(partly, *others))))).text
    # Both halves of the matrix, the test, and the legend.
    assert text.count("not significant over all questions") >= 4
    assert "No significant difference over all questions" in text
    assert "No significant difference over all questions" not in HtmlPage(render_page(make_report(block))).text
