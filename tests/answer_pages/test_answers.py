"""Pages of answers made from tables by hand: addresses, links, and whole pages."""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.reports.golden_files import check_golden
from tests.reports.scenarios import SCENARIOS, board, model
from tests.telling import tells
from urs_inspect.answer_pages import _answers as pages
from urs_inspect.answer_pages._answers import ANSWERS, page_of, report_with_answers
from urs_inspect.reports.layout._tables import Table
from urs_inspect.reports.numbers._answers import Run
from urs_inspect.reports.numbers._leaderboard import Leaderboard, Ranking
from urs_inspect.reports.words._cards import model_cards
from urs_inspect.reports.words._leaderboard import report_leaderboard

READ_TEXTS = pages._texts_of
IDS = ("leisure-en-00", "leisure-en-02", "factual_qa-en-01")


def small() -> Leaderboard:
    """Two models with three answers each, of which one has no score and one was cut off."""

    def change(place: int) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        if place == 1:
            facts = {"final": float("nan"), "outcome": "unscored_refusal", "error": "it broke"}
        if place == 2:
            facts = {
                "cut_off": True,
                "outcome": "answer_cut_off",
                "country": "Chile",
            }
        return facts

    kinds = ("leisure-en", "factual_qa-en")
    return board(model("p/good", 7.0, kinds, 3, change), model("p/bad", 5.0, kinds, 3))


def texts(logs: Iterable[str], said: list[str]) -> dict[tuple[str, str, int], list[str]]:
    """Texts of all answers, with everything that a page must not take for its own."""
    found = {}
    for log in logs:
        for name in IDS:
            found[log, name, 1] = [
                f"Ask {name} <script>\x07",
                f"**Answer** to {name} & more",
                "The reference",
                "a refusal",
                f"### Clarity 5\n\nBecause **it** is `so` of {name} \u202e.",
                "uuid",
            ]
    return found


@pytest.fixture(autouse=True)
def _with_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_texts_of", texts)


def test_addresses_of_models_and_parts() -> None:
    lines = []
    for name in ("languages_with_different_bests", "intents_reported_together", "prices_of_some"):
        ranking = SCENARIOS[name]().rankings[0]
        columns = ranking.columns
        keys = ("all", *columns.groups, *columns.parts, *columns.languages, *columns.cells)
        for key in keys:
            address = page_of(ranking, 2, ranking.compared.names[0], key)
            lines.append(f"- {name}, {key}: {address}")
    check_golden("answer_addresses", "\n".join(lines) + "\n")


def links_of(table: Table) -> list[str]:
    """The links of a table, cell by cell."""
    text = table.text()
    lines = []
    for (row, column), address in sorted(table.links.items()):
        place = table.columns.index(column)
        lines.append(f"{text.rows[row][0]} | {text.headings[place]}: {address}")
    return lines


def test_links_of_a_report() -> None:
    parts = []
    for name in ("languages_with_different_bests", "intents_reported_together"):
        made = SCENARIOS[name]()
        [ranking] = made.rankings
        for section in report_leaderboard(made).sections:
            for table in section.tables:
                if table.columns:
                    linked = pages._with_links(table, ranking, 1)
                    title = f"## {name}: {section.title} {table.title}"
                    parts.append("\n".join([title, *links_of(linked)]))
    check_golden("answer_links", "\n\n".join(parts) + "\n")


def html_of(ranking: Ranking, name: str, bundle: dict[str, str]) -> str:
    """All pages of a model, without their style."""
    table = pages._with_texts(ranking, 1, name, [])
    parts = []
    for address, page in pages._pages(ranking, 1, name, table, bundle):
        bare = re.sub(r"<style>.*?</style>", "<style></style>", page, flags=re.DOTALL)
        bare = re.sub(r"sha256-[\w+/=]+", "sha256-x", bare)
        parts.append(f"<!-- {address} -->\n{bare}")
    return "\n".join(parts)


def test_pages_of_answers() -> None:
    [ranking] = small().rankings
    bundle = {"/logs/p/good.eval": "2026 a/b.eval"}
    good, bad = (html_of(ranking, name, bundle) for name in ranking.compared.names)
    check_golden("answer_pages", good + "\n" + bad)
    assert "2026%20a%2Fb.eval" in good and "tasks/" not in bad


def test_what_is_said_of_answers_that_are_written(tmp_path: Path) -> None:
    said: list[str] = []
    made = small()
    report = report_with_answers(made, tmp_path, said, 6, viewer=False)
    count, *others = [line.partition(": ")[2] for line in said]
    assert count.startswith("6 answers: answers.jsonl") and "answers/" not in count
    assert others == []
    [section] = [part for part in report.sections if part.title == "All answers"]
    [table] = section.tables
    assert table.data.iloc[:, :3].to_numpy().tolist() == [
        [name, 3, made.rankings[0].answers.groupby("model")["final"].min()[name]]
        for name in made.rankings[0].compared.names
    ]
    assert report.sections[-1].title == "Conditions"
    twice = replace(made, rankings=made.rankings * 2)
    of_both: list[str] = []
    report_with_answers(twice, tmp_path / "both", of_both, 12, viewer=False)
    assert any(": 12 answers" in line for line in of_both)
    assert not any("Left out" in line for line in of_both)
    again: list[str] = []
    report_with_answers(made, tmp_path, again, 8, viewer=False)
    assert any("2 other answers" in line for line in again)
    assert any("removed the answers of the earlier report" in line for line in again)


def test_logs_that_the_harness_does_not_bundle_have_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [ranking] = small().rankings
    for name in ("good", "bad"):
        (tmp_path / f"{name}.eval").write_text(name, encoding="utf-8")
    moved = ranking.answers.assign(
        log=[str(tmp_path / f"{name[2:]}.eval") for name in ranking.answers["model"]]
    )
    made = replace(small(), rankings=(replace(ranking, answers=moved),))

    def bundle(folder: str, view: str) -> None:
        there = sorted(path.name for path in Path(folder).iterdir())
        assert there == ["bad.eval", "good.eval"]
        (Path(view) / "logs").mkdir(parents=True)
        (Path(view) / "logs" / "good.eval").write_text("kept", encoding="utf-8")
        (Path(view) / "index.html").write_text('<div id="app"></div>', encoding="utf-8")

    monkeypatch.setattr(pages, "bundle_log_dir", bundle)
    said: list[str] = []
    found = pages._bundle(made, tmp_path / "view", said)
    assert found == {str(tmp_path / "good.eval"): "good.eval"} and said == []
    assert "http.server" in (tmp_path / "view" / "index.html").read_text(encoding="utf-8")


def test_logs_in_json_get_a_time_and_equal_names_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [ranking] = small().rankings
    logs = {}
    for name in ("p/good", "p/bad"):
        folder = tmp_path / name[2:]
        folder.mkdir()
        (folder / "same.json").write_text("{}", encoding="utf-8")
        logs[name] = str(folder / "same.json")
    moved = ranking.answers.assign(log=[logs[name] for name in ranking.answers["model"]])
    run = Run(
        "same.json", "p/good", (), "", "2026-01-02T03:04:05+00:00", "a" * 64, "b" * 64, "", "", 3
    )
    made = replace(small(), rankings=(replace(ranking, answers=moved),), runs=(run,))
    named: list[str] = []

    def bundle(folder: str, view: str) -> None:
        named.extend(sorted(path.name for path in Path(folder).iterdir()))
        raise OSError("no room")

    monkeypatch.setattr(pages, "bundle_log_dir", bundle)
    said: list[str] = []
    assert pages._bundle(made, tmp_path / "view", said) == {}
    assert named == ["1-2026-01-02T03-04-05_same.json", "2026-01-02T03-04-05_same.json"]
    assert len(said) == 1 and "no room" in said[0]


def test_texts_of_a_log_that_cannot_be_read_are_said_to_be_missing(tmp_path: Path) -> None:
    (tmp_path / "broken.eval").write_text("no log", encoding="utf-8")
    said: list[str] = []
    assert READ_TEXTS([str(tmp_path / "broken.eval")], said) == {}
    assert len(said) == 1 and "broken.eval" in said[0] and str(tmp_path) not in said[0]


def test_the_size_of_inspect_view_is_told_in_millions_of_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = small()

    def bundle(board: Leaderboard, view: Path, said: list[str]) -> dict[str, str]:
        (view / "logs").mkdir(parents=True)
        for name, size in (("logs/a.eval", 2_000_000), ("index.html", 600_000)):
            (view / name).write_bytes(b"x" * size)
        return {str(log): "a.eval" for log in board.rankings[0].answers["log"].unique()}

    monkeypatch.setattr(pages, "_bundle", bundle)
    said: list[str] = []
    report_with_answers(made, tmp_path, said, 6, viewer=True)
    assert any(tells(line, "view/ is inspect view with 2 logs ... (3 MB)") for line in said)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A folder with what a report wrote, and a file of somebody else."""
    names = ["answers.jsonl", "answers/1-a-0123abcd.html", "answers/2-b-4567ef89.html"]
    for name in [*names, "answers/mine.html", "view/index.html", "view/logs/x.eval"]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    facts = {"format": ANSWERS.format, "files": names, "view": pages._digest(tmp_path / "view")}
    (tmp_path / ANSWERS.json).write_text(json.dumps(facts), encoding="utf-8")
    return tmp_path


def test_what_an_earlier_report_wrote_is_told_by_its_list(written: Path) -> None:
    *found, last = pages._earlier(written)
    assert last == ANSWERS.json
    assert set(found) == {
        "answers.jsonl",
        "answers/1-a-0123abcd.html",
        "answers/2-b-4567ef89.html",
        "view",
    }
    (written / "answers" / "1-a-0123abcd.html").unlink()
    assert "answers/1-a-0123abcd.html" not in pages._earlier(written)


@pytest.mark.parametrize("change", ["view/index.html", "view/logs/y.eval"])
def test_a_bundle_that_was_changed_is_not_that_of_a_report(written: Path, change: str) -> None:
    (written / change).write_text("mine", encoding="utf-8")
    found = pages._earlier(written)
    assert "view" not in found and "answers.jsonl" in found


@pytest.mark.parametrize(
    "facts",
    ["[]", "{", '{"format": "other", "files": ["answers.jsonl"], "view": ""}', '{"format": 1}', ""],
)
def test_a_list_of_another_kind_names_nothing(written: Path, facts: str) -> None:
    (written / ANSWERS.json).write_text(facts, encoding="utf-8")
    assert pages._earlier(written) == []


def test_pages_behind_a_link_are_not_those_of_a_report(written: Path) -> None:
    (written / "answers").rename(written / "elsewhere")
    (written / "answers").symlink_to(written / "elsewhere")
    found = pages._earlier(written)
    assert [name for name in found if "/" in name] == []
    assert "answers.jsonl" in found


def test_names_that_are_no_models_have_no_link() -> None:
    [ranking] = small().rankings
    table = Table(pd.DataFrame({"Model": ["p/good", "all", "bad"], "x": [1, 2, 3]}))
    linked = pages._with_links(table, ranking, 1)
    assert {row for row, _ in linked.links} == {0, 2}
    assert linked.links[0, "Model"] == page_of(ranking, 1, "p/good")
    assert linked.links[2, "Model"] == page_of(ranking, 1, "p/bad")


def test_cards_of_texts_show_question_answer_reason_and_link() -> None:
    [ranking] = SCENARIOS["a_clear_best_of_two"]().rankings
    table = pd.DataFrame(
        {
            "id": ["q1", "q2", "q3"],
            "question": ["Why?", "", "Who?"],
            "answer": ["Because " + "so " * 200, "b", "c"],
            "explanation": ["### Clarity 5\n\nGood. Short. Third.", "", "Plain reason"],
            "page": ["a.html#1", "a.html#2", "a.html#3"],
            "final": [2.0, 5.0, 9.0],
            "group": ["Leisure", "Leisure", "Factual QA"],
            "language": ["en", "en", "en"],
            "criterion/clarity": [1.0, float("nan"), 9.5],
        }
    )
    good, bad = model_cards(ranking, {"p/good": pages._excerpts(ranking, table), "p/bad": []})
    worst, best = good.answers["Worst answers"], good.answers["Best answers"]
    assert [(one.question, one.score, one.link) for one in (*worst, *best)] == [
        ("Why?", "2.00", "a.html#1"),
        ("q2", "5.00", "a.html#2"),
        ("Who?", "9.00", "a.html#3"),
    ]
    assert [one.criteria for one in (*worst, *best)] == ["Clarity 1", "", "Clarity 9.5"]
    assert [one.reason for one in (*worst, *best)] == ["Good. Short.", "", "Plain reason"]
    assert worst[0].answer.endswith("…") and len(worst[0].answer) <= 401
    assert best[0].about == "Factual QA, English"
    assert not any(bad.answers.values())
