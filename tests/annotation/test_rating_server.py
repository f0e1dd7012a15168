"""The rating page over HTTP, without a browser."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.annotation.rated import answer, answers, campaign
from urs_inspect.annotation.access import HEADER, SECURITY_HEADERS
from urs_inspect.annotation.ratings import read_ratings
from urs_inspect.annotation.server import create_app

SENT = {HEADER: "1"}


@contextmanager
def visiting(directory: Path, *annotators: str, language: str = "en", **options: Any) -> Iterator[TestClient]:
    made = campaign(directory, *annotators, **options)
    with TestClient(create_app(made, language=language), base_url="http://127.0.0.1", follow_redirects=False) as client:
        yield client
    made.close()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with visiting(tmp_path, "me") as found:
        yield found


def shown(page: str) -> tuple[str, list[str]]:
    """Id of the answer on a page, and what is scored."""
    [found] = re.findall(r'data-answer="([^"]*)"', page)
    return found, re.findall(r'data-key="([^"]*)"', page)


def cast(client: TestClient, page: str, **changes: object) -> Any:
    item, keys = shown(page)
    body = {"answer": item, "final": 6, "criteria": {key: 4 for key in keys if key != "final"}, "seconds": 1.5}
    return client.post("/rate/me/cast", json={**body, **changes}, headers=SENT)


def test_the_page_shows_the_answer_the_bands_and_the_intents_criteria_and_no_model(client: TestClient) -> None:
    assert client.get("/").headers["location"] == "/rate/me?language=en"
    page = client.get("/rate/me").text
    [number] = re.findall(r"Answer (\d) of somebody", page)
    assert f"Question {number}?" in page
    assert "Reference" not in page
    assert "Covers the core of what the user needs" in page
    assert shown(page)[1][-1] == "final"
    assert len(shown(page)[1]) == 6
    assert "apple" not in page


def test_the_reference_is_shown_by_choice(tmp_path: Path) -> None:
    with visiting(tmp_path, "me", reference=True, final_only=True) as client:
        page = client.get("/rate/me").text
        assert re.search(r"Reference \d\.", page)
        assert shown(page)[1] == ["final"]


def test_a_rating_answers_with_the_next_answer_and_can_be_taken_back(client: TestClient, tmp_path: Path) -> None:
    page = client.get("/rate/me").text
    response = cast(client, page)
    assert response.status_code == 200
    assert "1 of 6 done" in response.text
    first, second = shown(page)[0], shown(response.text)[0]
    assert first != second
    undone = client.post("/rate/me/undo", json={"answer": first}, headers=SENT).text
    assert shown(undone)[0] == first
    assert len(re.findall(r'value="4" checked', undone)) == 5  # its scores can be changed
    assert len(re.findall(r'value="6" checked', undone)) == 1
    assert "checked" not in cast(client, undone).text
    [kept] = read_ratings([tmp_path]).ratings
    assert (kept.final, set(kept.criteria.values()), kept.seconds) == (6, {4}, 1.5)


def test_all_done(client: TestClient) -> None:
    page = client.get("/rate/me").text
    for _ in range(6):
        page = cast(client, page).text
    assert "No answer is waiting for your rating" in page


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"final": 11}, 422, "final"),
        ({"final": 0}, 422, "final"),
        ({"final": 7.5}, 422, "final"),
        ({"final": "7"}, 422, "final"),
        ({"final": True}, 422, "final"),
        ({"final": None}, 422, "final"),
        ({"criteria": {"clarity": 99}}, 422, "criteria"),
        ({"criteria": {}}, 409, "the rating was not recorded"),
        ({"answer": "0" * 16}, 409, "no answer '0000000000000000' here"),
        ({"answer": "x" * 101}, 422, "answer"),
        ({"seconds": -1}, 422, "seconds"),
        ({"criteria": {"x" * 9000: 1}}, 413, "too large"),
    ],
)
def test_what_does_not_fit_is_refused(
    client: TestClient, tmp_path: Path, changes: dict[str, object], status: int, words: str
) -> None:
    response = cast(client, client.get("/rate/me").text, **changes)
    assert response.status_code == status
    assert words in response.json()["problem"]
    assert (tmp_path / "me.jsonl").read_bytes() == b""


def test_votes_have_no_place_here(client: TestClient) -> None:
    assert client.post("/vote/me/cast", json={}, headers=SENT).status_code == 404
    wrong = client.get("/vote/me")
    assert wrong.status_code == 404
    assert "Back to rating" in wrong.text
    assert "Back to voting" not in wrong.text


@pytest.mark.parametrize("path", ["/", "/rate/me", "/report", "/static/rate.js", "/static/session.js"])
def test_every_response_is_protected_and_carries_no_script_of_its_own(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert {name: response.headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS
    if not path.endswith(".js"):
        assert re.findall(r"<script(?![^>]*src=)", response.text) == []
        assert re.findall(r"<[^>]* (?:style|on\w+)=", response.text) == []


def test_a_request_from_elsewhere_is_refused(client: TestClient) -> None:
    item, _ = shown(client.get("/rate/me").text)
    assert client.post("/rate/me/undo", json={"answer": item}).status_code == 403


def test_hostile_texts_are_escaped(tmp_path: Path) -> None:
    hostile = '"><script>alert(1)</script>\n\n![x](http://evil.test/x.png)'
    with visiting(tmp_path, of=[answer(0, '<b>"model', text=hostile)], reference=True) as client:
        assert "No ratings yet" in client.get("/report").text  # before anybody came
        address = client.post("/enter", json={"annotator": "me"}, headers=SENT).json()["address"]
        page = client.get(address).text
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "alert(1)" in unescape(page)


def test_chinese(tmp_path: Path) -> None:
    with visiting(tmp_path, "me", language="zh") as client:
        page = client.get("/rate/me").text
        assert "这个回答有多好" in page
        assert "核心需求" in page  # the bands as well
        assert "已完成 1 / 6" in cast(client, page).text
        assert "How good is this answer" in client.get("/rate/me?language=en").text


def test_the_overview_counts_ratings_and_names_no_model(tmp_path: Path) -> None:
    with visiting(tmp_path, "me", "you", raters=2, of=answers(3, "apple", "pear"), checks=1.0) as client:
        assert "No ratings yet" in client.get("/report").text
        page = client.get("/rate/me").text
        for _ in range(12):
            page = cast(client, page).text
        item, _keys = shown(client.get("/rate/you").text)
        theirs = {"answer": item, "final": 9, "criteria": dict.fromkeys(_keys[:-1], 9), "seconds": 3.0}
        assert client.post("/rate/you/cast", json=theirs, headers=SENT).status_code == 200
        report = re.sub(r"\s+", " ", client.get("/report?annotator=me").text)
        assert "of 6 of 6 answers; checks are not counted" in report
        cells = re.findall(r'<t[hd] (?:scope="row"|class="right")>([^<]*)<', report)
        assert cells[-14:] == ["me", "6", "6.0", "3.0", "6", "0.0", "2 s", "you", "1", "9.0", "3.0", "0", "–", "3 s"]
        assert "apple" not in report
