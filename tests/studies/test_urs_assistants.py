"""`urs_assistants` through the harness, and the pages of web tools."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ContentText, UrlCitation

from tests.reports.json_files import write_rows
from tests.tasks.scripted import Script
from tests.telling import tells
from urs_inspect.logs._scores import answered_by
from urs_inspect.studies import Page, read_request, register_search
from urs_inspect.studies._assistants import pages_of
from urs_inspect.studies._assistants_task import urs_assistants


def run(task: Task, model: Any = "none", **roles: str) -> EvalLog:
    [log] = inspect_eval(
        task,
        model=model,
        model_roles={"grader": "urs_simulation/judge", **roles},
        display="none",
        log_realtime=False,
        log_format="json",
    )
    assert log.status == "success"
    return read_eval_log(log.location, resolve_attachments=True)


@pytest.fixture
def pages(tmp_path: Path) -> str:
    (tmp_path / "all.txt").write_text(
        "the of is in a what why how who when where which does are 什么 多少 怎么 为什么",
        encoding="utf-8",
    )
    return f"folder:{tmp_path}"


def test_the_first_page_is_the_answer(
    pages: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = run(urs_assistants({"kind": "search", "search": pages}, cases=4, dataset="sample"))
    assert log.eval.metadata is not None
    assert (log.eval.metadata["assistant"], log.eval.metadata["cases"]) == (
        f"search ({pages})",
        "factual",
    )
    assert log.eval.metadata["published in the URS paper, Table 14"][
        "Search Engine (Google Top-1 page)"
    ] == [5.14]
    assert answered_by(log) == f"search ({pages})"
    for sample in log.samples or []:
        assert sample.metadata["intent"] == "factual_qa"
        assert sample.metadata.get("without_answer") == (
            None if sample.store["pages"] else "found_nothing"
        )
        if sample.store["pages"]:
            assert sample.output.completion.startswith("all\n\nthe of is in")
            assert (sample.scores or {})["intent_judge"].metadata["outcome"] == "judged"  # type: ignore[index]
    assert any(sample.store["pages"] for sample in log.samples or [])


def test_a_model_answers_from_pages_and_is_judged_on_the_question(
    pages: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = run(
        urs_assistants({"kind": "rag", "search": pages}, cases=3, dataset="sample"),
        model=Script("From the pages.").model(),
    )
    asked = [sample for sample in log.samples or [] if sample.store["pages"]]
    assert asked
    for sample in asked:
        [call] = [event for event in sample.events if event.event == "model" and event.role is None]
        sent = "\n".join(message.text for message in call.input)
        assert "<page_1>" in sent
        assert str(sample.input) in sent
        [judged] = [
            event for event in sample.events if event.event == "model" and event.role == "grader"
        ]
        assert "<page_1>" not in "\n".join(message.text for message in judged.input)


def cases_file(tmp_path: Path, *questions: str) -> str:
    usual = {"reference_ans": "ciel bleu", "user_intent": "text_assistant", "language": "en"}
    rows = [{**usual, "question": question} for question in questions]
    return str(write_rows(tmp_path / "cases.jsonl", *rows))


def test_translations_made_elsewhere_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known, unknown = "translate blue sky into French", "翻译成英文：天空"
    data = cases_file(tmp_path, known, unknown, "Write a poem")
    glossary = write_rows(
        tmp_path / "known.jsonl", {"text": read_request(known).text, "translation": "ciel bleu"}
    )
    log = run(
        urs_assistants({"kind": "translator", "translator": f"glossary:{glossary}"}, dataset=data)
    )
    by_input = {str(sample.input): sample for sample in log.samples or []}
    assert set(by_input) == {known, unknown}
    assert by_input[known].output.completion == "ciel bleu"
    missing = (by_input[unknown].scores or {})["intent_judge"]
    assert (missing.metadata or {})["outcome"] == "unscored_no_answer"
    assert tells(str(missing.explanation), "glossary ... English of: 天空")


def test_a_model_as_translator_is_given_the_text_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = cases_file(tmp_path, "translate blue sky into French")
    log = run(
        urs_assistants({"kind": "translator", "translator": "model"}, dataset=data),
        translator="urs_simulation/strong",
    )
    [sample] = log.samples or []
    [call] = [
        event for event in sample.events if event.event == "model" and event.role == "translator"
    ]
    assert [message.text for message in call.input][1:] == ["blue sky"]
    assert "French" in call.input[0].text


class _Broken:
    name = "broken"

    async def search(self, query: str, count: int) -> Sequence[Page]:
        raise TimeoutError("no reply in 30 s")


def test_a_search_that_fails_is_no_score_and_ends_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    register_search("broken", lambda given: _Broken())
    log = run(
        urs_assistants({"kind": "rag", "search": "broken"}, cases=2, dataset="sample"),
        model="urs_simulation/strong",
    )
    for sample in log.samples or []:
        score = (sample.scores or {})["intent_judge"]
        assert score.metadata is not None
        assert score.metadata["outcome"] == "unscored_no_answer"
        assert "broken: TimeoutError: no reply in 30 s" in str(score.explanation)
        assert sample.metadata["without_answer"] == "failed"
        assert sample.metadata["without_answer_because"] == "broken: TimeoutError: no reply in 30 s"
        assert not [event for event in sample.events if event.event == "model"]


@pytest.mark.data
def test_the_choice_of_57_factual_cases_depends_on_the_seed_alone(data_dir: Path) -> None:
    def ids(seed: int) -> list[object]:
        return [sample.id for sample in urs_assistants(seed=seed).dataset]

    assert len(set(ids(0))) == 57
    assert ids(0) == ids(0)
    assert ids(0) != ids(1)
    assert len(urs_assistants(cases="translation").dataset) == 8


def test_pages_of_what_the_web_tool_returns() -> None:
    content = ContentText(
        text="summary",
        citations=[
            UrlCitation(url="https://a.example", title="A", cited_text="one"),
            UrlCitation(url="https://b.example", cited_text="two"),
            UrlCitation(url="https://a.example", title="A", cited_text="three"),
        ],
    )
    assert pages_of(content) == [
        Page("A", "https://a.example", "one\n\nthree"),
        Page("https://b.example", "https://b.example", "two"),
    ]
    assert pages_of([content]) == pages_of(content)
    assert pages_of("nothing found") == []


def test_cases_named_by_their_ids_are_taken_in_that_order() -> None:
    ids = ["sample_leisure_en_1", "sample_factual_qa_en_1"]
    task = urs_assistants(dataset="sample", cases=",".join(ids))
    assert [sample.id for sample in task.dataset] == ids
    assert (task.metadata or {})["cases"] == "ids"
