"""A report as CSV, Markdown and JSON, and the directory that it goes to."""

import csv
import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.reports.intent.answer_tables import answers, row, rows
from tests.reports.intent.page.html_page import HtmlPage
from urs_inspect.datasets.published import load_published_urs
from urs_inspect.reports.intent import markdown as files
from urs_inspect.reports.intent.markdown import differences_csv, means_csv, report_markdown
from urs_inspect.reports.intent.page import render_page
from urs_inspect.reports.intent.report import IntentReport, Run
from urs_inspect.reports.intent.statistics import report_of
from urs_inspect.reports.intent.traffic import TrafficMix
from urs_inspect.reports.output import report_json

NAN = math.nan
KINDS = ("leisure-en", "leisure-zh", "factual_qa-en", "api-zh", "solve_professional_problem-zh")


@pytest.fixture
def report() -> IntentReport:
    """Four models, of which one has no score and one stands apart; a country, a hostile name."""
    finals = {f"{KINDS[n % 5]}-{n}": float(3 + n % 7) for n in range(40)}
    found = answers(
        [row("p/a|b", name, score + 1, country="Chile") for name, score in finals.items()],
        rows("c", finals, self_judged=True, country="Chile"),
        rows("urs_simulation/d", dict.fromkeys(finals, NAN), country="Chile"),
        rows("e", finals, judges="other"),
        left_out=("<b>f.eval</b> was left out.",),
    )
    run = Run("a.eval", "p/a|b", ("p/judge",), "inspect eval ``` x", "2026-01-01", "a" * 64, "b" * 64, "01", "0.3", 40)
    return replace(report_of(replace(found, runs=(run,)), rounds=200, command="urs-inspect report x"), level=0.95)


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_mean_is_in_the_csv(report: IntentReport) -> None:
    found = read(means_csv(report))
    expected = 0
    for block in report.blocks:
        for model in block.models:
            expected += 1 + len(model.by_group) + len(model.by_part) + len(model.by_language)
            expected += len(model.by_group_and_language) + len(model.by_country) + len(model.by_criterion)
    assert len(found) == expected
    by_key = {(one["block"], one["model"], one["kind"], one["column"]): one for one in found}
    first = report.blocks[0].models[0]
    shown = by_key["1", "p/a|b", "all", "all"]
    assert float(shown["mean"]) == first.all.value
    assert (float(shown["low"]), float(shown["high"]), shown["n"]) == (first.all.low, first.all.high, "40")
    cell = by_key["1", "p/a|b", "intent and language", "Leisure/zh"]
    assert float(cell["mean"]) == first.by_group_and_language["Leisure", "zh"].value
    assert by_key["1", "urs_simulation/d", "all", "all"]["mean"] == ""
    assert {one["kind"] for one in found} == {
        "all",
        "intent",
        "part",
        "language",
        "intent and language",
        "country",
        "criterion",
    }


def test_every_difference_is_in_the_csv(report: IntentReport) -> None:
    every = read(differences_csv(report))
    found = [one for one in every if one["column"] == "all"]
    assert [(one["first"], one["second"], one["verdict"]) for one in found] == [
        ("p/a|b", "c", "significant"),
        ("p/a|b", "urs_simulation/d", "not comparable"),
        ("c", "urs_simulation/d", "not comparable"),
    ]
    best = {one["column"]: one for one in every if one["column"] != "all"}
    assert set(best) == {"Factual QA", "Solve Problem", "Leisure", "en", "zh"}
    assert (best["zh"]["first"], best["zh"]["second"], best["zh"]["verdict"]) == ("p/a|b", "c", "significant")
    assert (found[0]["difference"], found[0]["n"], found[1]["p"]) == ("1.0", "40", "")


def test_json_holds_the_whole_report(report: IntentReport) -> None:
    found = json.loads(report_json(files.INTENT_REPORT, report))
    assert (found["format"], found["schema_version"]) == ("urs-inspect intent report", 2)
    first = found["blocks"][0]["models"][0]
    assert first["by_group_and_language"]["Leisure/zh"]["value"] == pytest.approx(
        report.blocks[0].models[0].by_group_and_language["Leisure", "zh"].value
    )
    assert found["blocks"][0]["models"][2]["all"]["value"] is None
    assert found["blocks"][0]["traffic"] is None
    assert found["left_out"] == ["<b>f.eval</b> was left out."]
    assert set(found) == {"format", "schema_version", *report.__dataclass_fields__}


def test_markdown_marks_the_best_and_what_cannot_be_distinguished_from_it() -> None:
    finals = {f"leisure-en-{n}": 3.0 + n % 4 for n in range(16)}
    found = answers(
        rows("w", finals),
        rows("x", {name: score + (1 if place % 2 else -0.9) for place, (name, score) in enumerate(finals.items())}),
        rows("y", {name: score - 1.5 for name, score in finals.items()}),
    )
    text = report_markdown(report_of(found, rounds=500))
    cells = {
        line.split(" | ")[1]: line.split(" | ")[3]
        for line in text.splitlines()
        if re.match(r"\| [\d–]+ \| [wxy] ", line)
    }
    assert cells["x"].startswith("**4.55** (") and cells["w"].startswith("**4.50** (")
    assert cells["y"].startswith("3.00 (")
    block = report_of(found, rounds=500).blocks[0]
    assert block.best["Leisure"].marked == block.best["all"].marked == {"w", "x"}


def test_page_markdown_csv_and_json_hold_the_same_facts() -> None:
    generator = np.random.default_rng(0)
    finals = {f"{kind}-{n:02}": float(generator.integers(3, 10)) for kind in KINDS for n in range(12)}
    lacking = dict(sorted(finals.items(), key=lambda one: one[1])[15:])
    found = report_of(
        answers(
            rows("p/lacking", {name: lacking.get(name, NAN) for name in finals}),
            rows("p/whole", {name: score - float(generator.integers(0, 2)) for name, score in finals.items()}),
            rows("p/low", {name: max(1.0, score - 4) for name, score in finals.items()}),
        ),
        rounds=500,
    )
    page, text = HtmlPage(render_page(found)).text, report_markdown(found)
    plain = " ".join(text.replace("\\", "").split())
    shown = " ".join(page.split())
    means, differences = read(means_csv(found)), read(differences_csv(found))
    block = json.loads(report_json(files.INTENT_REPORT, found))["blocks"][0]
    [row_of] = [one for one in means if (one["model"], one["kind"]) == ("p/lacking", "all")]
    model = next(one for one in block["models"] if one["model"] == "p/lacking")
    assert (model["unscored_share"], model["ranks"]) == (0.25, [1, 2])
    assert (row_of["unscored_share"], row_of["rank_from"], row_of["rank_to"]) == ("0.25", "1", "2")
    for name in ("mean_scored", "mean_lowest", "mean_highest"):
        assert float(row_of[name]) == model[name]
        assert f"{model[name]:.2f}" in shown and f"{model[name]:.2f}" in plain
    pair = next(one for one in differences if (one["column"], one["second"]) == ("all", "p/whole"))
    assert (pair["verdict"], pair["depends_on"]) == ("depends on unscored answers", "p/lacking (15)")
    for said in (shown, plain):
        assert "25% !" in said
        assert "depends on unscored answers of lacking (15)" in said
        assert "45 of 60 questions" in said
        for title, best in (("Leisure", block["best"]["Leisure"]), ("Chinese", block["best"]["zh"])):
            name = best["model"].removeprefix("p/")
            assert re.search(rf"{title} \(?\d+ questions\)?:? ?{name} (is best|has the highest)", said), title


def test_markdown_says_everything_and_breaks_nothing(report: IntentReport) -> None:
    text = report_markdown(report)
    assert "nan" not in text.lower().replace("finance", "")
    assert "SIMULATION" in text
    assert r"p/a\|b" in text
    assert r"\<b\>f.eval\</b\> was left out." in text
    assert "| 2 † | c |" in text
    assert "† judged answers of its own." in text
    assert "## Ranking 2" in text
    assert "- Other judges: other, not p/judge." in text
    assert "| significant |" in text
    assert "````\ninspect eval ``` x\n````" in text
    assert "### Chinese" in text and "### Countries" in text and "### Parts of intents" in text
    widths: set[int] = set()
    for line in text.splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line))
        if not line.startswith("|"):
            assert len(widths) <= 1
            widths = set()
        else:
            widths.add(cells)


def test_markdown_has_the_intervals_of_intents_and_languages(report: IntentReport) -> None:
    text = report_markdown(report)
    first = report.blocks[0].models[0]
    for one in (first.by_group["Leisure"], first.by_language["zh"], first.by_group_and_language["Solve Problem", "zh"]):
        assert not math.isnan(one.low)
        assert f"{one.value:.2f} ({one.low:.2f}–{one.high:.2f})" in text.replace("*", "").replace("\\", "")


def test_markdown_has_the_published_tables_as_printed(report: IntentReport) -> None:
    text = report_markdown(report)
    published = text[text.index("## Published in the paper") :]
    assert "not comparable row by row" in published
    lines = published.splitlines()
    for number in (4, 12, 13):
        table = load_published_urs().table(number)
        for name, scores in table.rows.items():
            shown = [re.sub(r"\\\*|\*\*|</?u>", "", line) for line in lines if line.startswith(f"| {name} |")]
            assert f"| {name} | {' | '.join(f'{score:.2f}' for score in scores)} |" in shown
    assert "| Cases | 404 | 259 | 82 |" in published
    assert "Factual QA, English | Factual QA, Chinese" in published


def test_markdown_keeps_commands_and_nothing_else_as_code(report: IntentReport) -> None:
    sentences = ("a `b` was left out; finish it with `inspect eval-retry`.", "`urs-inspect cases review` reads it.")
    text = report_markdown(replace(report, left_out=sentences))
    assert r"- a \`b\` was left out; finish it with `inspect eval-retry`." in text
    assert "- `urs-inspect cases review` reads it." in text


def test_equal_values_have_no_interval_and_no_verdict() -> None:
    finals = {f"leisure-en-{n}": float(n + 1) for n in range(8)}
    text = report_markdown(report_of(answers(rows("a", finals), rows("b", finals)), rounds=100))
    [line] = [line for line in text.splitlines() if line.startswith("| All | a | b |")]
    assert line.split(" | ")[3:5] == ["0.00", ""]
    assert "cannot be distinguished" in line
    assert "| 1–2 | a |" in text and "| 1–2 | b |" in text


def test_markdown_names_the_mix() -> None:
    finals = {f"{KINDS[n % 3]}-{n}": float(n) for n in range(9)}
    mix = TrafficMix("mix.yaml", {"intents": {"leisure": 0.25, "factual_qa": 0.75}})
    text = report_markdown(report_of(answers(rows("a", finals)), traffic=mix, rounds=100))
    assert r"weighted by the mix of mix.yaml (intents: leisure 25%, factual\_qa 75%)" in text


def test_all_files_are_written(tmp_path: Path, report: IntentReport) -> None:
    written = files.write_report(report, tmp_path / "new" / "report")
    assert {path.name for path in written} == {*files.INTENT_REPORT.others, files.INTENT_REPORT.json}
    assert all(path.stat().st_size > 100 for path in written)
    assert "<!doctype html>" in written[0].read_text(encoding="utf-8").lower()


def test_halves_of_characters_do_not_stop_a_report(tmp_path: Path, report: IntentReport) -> None:
    for path in files.write_report(replace(report, left_out=("p/\ud83d was left out.",)), tmp_path):
        path.read_text(encoding="utf-8")
