"""The pages for ratings over HTTP, without a browser."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.annotation.test_server import (
    IMAGE,
    SCRIPT,
    SENT,
    check_escaped,
    check_protection,
    visiting_page,
)
from tests.rating.samples import answer, answers, campaign
from tests.telling import tells
from urs_inspect.annotation._ratings import read_ratings
from urs_inspect.rating._campaign import RatingCampaign
from urs_inspect.rating._page import RatingPage


def visiting(made: RatingCampaign) -> AbstractContextManager[TestClient]:
    return visiting_page(RatingPage(made))


@pytest.fixture
def rater(tmp_path: Path) -> Iterator[TestClient]:
    """Six answers for `me`."""
    with visiting(campaign(tmp_path / "ratings", "me")) as found:
        yield found


def shown(page: str) -> tuple[str, list[str]]:
    """Id of the answer on a page, and what is scored."""
    [found] = re.findall(r'data-answer="([^"]*)"', page)
    return found, re.findall(r'data-key="([^"]*)"', page)


def rate(client: TestClient, page: str, **changes: object) -> Any:
    item, keys = shown(page)
    body = {
        "answer": item,
        "final": 6,
        "criteria": {key: 4 for key in keys if key != "final"},
        "seconds": 1.5,
    }
    return client.post("/rate/me/cast", json={**body, **changes}, headers=SENT)


def test_one_person_is_led_to_a_page_that_names_no_model(rater: TestClient) -> None:
    assert rater.get("/").headers["location"] == "/rate/me?language=en"
    page = rater.get("/rate/me").text
    [number] = re.findall(r"Answer (\d) of somebody", page)
    assert all(
        words in page for words in (f"Question {number}?", "Covers the core of what the user needs")
    )
    assert f"Reference {number}." in page and "About as good as the reference answer" in page
    assert "apple" not in page
    assert shown(page)[1][-1] == "final"
    assert len(shown(page)[1]) == 6


def test_the_document_has_the_language_of_questions_that_the_page_has_no_texts_in(
    tmp_path: Path,
) -> None:
    for number, (code, document) in enumerate({"ja": "ja", '"><script>': "en"}.items()):
        of = [replace(answer(0), language=code)]
        with visiting(campaign(tmp_path / str(number), "me", of=of)) as client:
            page = client.get("/rate/me").text
        assert f'<html lang="{document}">' in page
        assert '<body lang="en">' in page


def test_the_reference_is_shown_and_criteria_left_out_by_choice(tmp_path: Path) -> None:
    with visiting(campaign(tmp_path / "rated", "me", reference=True, final_only=True)) as client:
        page = client.get("/rate/me").text
        assert re.search(r"Reference \d\.", page)
        assert shown(page)[1] == ["final"]


def test_a_page_is_chinese_where_all_questions_are(tmp_path: Path) -> None:
    chinese = [replace(each, language="zh") for each in answers(6)]
    with visiting(campaign(tmp_path / "rated", "me", of=chinese)) as other:
        page = other.get("/rate/me").text
        assert "这个回答有多好" in page
        assert "核心需求" in page  # the bands as well
        assert "已完成 1 / 6" in rate(other, page).text
        assert "How good is this answer" in other.get("/rate/me?language=en").text


def test_those_named_are_led_to_their_pages(tmp_path: Path) -> None:
    with visiting(campaign(tmp_path, "me", "you")) as client:
        [mine, theirs] = re.findall(r'href="(/[^"]*/(?:me|you)[^"]*)"', client.get("/").text)
        assert "Question" in client.get(mine).text
        assert "Rating as you" in client.get(theirs).text


@pytest.mark.parametrize(
    "path", ["/", "/rate/me", "/report", "/static/rate.js", "/static/session.js", "/none"]
)
def test_every_response_is_protected_and_carries_no_script_or_style_of_its_own(
    rater: TestClient, path: str
) -> None:
    check_protection(rater.get(path), path)


def test_its_own_files_are_served_beside_the_shared_ones(rater: TestClient) -> None:
    for name in ("rate.js", "rate.css", "session.js", "page.css"):
        assert rater.get(f"/static/{name}").status_code == 200
    assert rater.get("/static/_page.py").status_code == 404


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        *(({"final": final}, 422, "final") for final in (11, 0, 7.5, "7", True, None)),
        ({"criteria": {"clarity": 99}}, 422, "criteria"),
        ({"criteria": {}}, 409, "not recorded"),
        ({"answer": "0" * 16}, 409, "no answer '0000000000000000' here"),
        ({"answer": "x" * 101}, 422, "answer"),
        ({"final": 5, "seconds": -1}, 422, "seconds"),
        ({"criteria": {"x" * 9000: 1}}, 413, "too large"),
    ],
)
def test_what_does_not_fit_is_refused_with_words(
    rater: TestClient, tmp_path: Path, changes: dict[str, Any], status: int, words: str
) -> None:
    response = rate(rater, rater.get("/rate/me").text, **changes)
    assert response.status_code == status
    assert tells(response.json()["problem"], words)
    assert [path.read_bytes() for path in tmp_path.rglob("me.jsonl")] == [b""]


def test_foreign_pages_cannot_take_a_rating_back(rater: TestClient) -> None:
    item, _ = shown(rater.get("/rate/me").text)
    assert rater.post("/rate/me/undo", json={"answer": item}).status_code == 403


def test_hostile_names_and_texts_are_escaped(tmp_path: Path) -> None:
    rated = answer(0, '<b>"model', text=f'">{SCRIPT}\n\n{IMAGE}')
    with visiting(campaign(tmp_path, of=[rated], reference=True)) as client:
        assert "No ratings yet" in client.get("/report").text  # before anybody came
        check_escaped(client)


def test_a_rating_answers_with_the_next_answer_and_can_be_taken_back(
    rater: TestClient, tmp_path: Path
) -> None:
    page = rater.get("/rate/me").text
    response = rate(rater, page)
    assert response.status_code == 200
    assert "1 of 6 done" in response.text
    first, second = shown(page)[0], shown(response.text)[0]
    assert first != second
    undone = rater.post("/rate/me/undo", json={"answer": first}, headers=SENT).text
    assert shown(undone)[0] == first
    assert len(re.findall(r'value="4" checked', undone)) == 5  # its scores can be changed
    assert len(re.findall(r'value="6" checked', undone)) == 1
    page = rate(rater, undone).text
    assert "checked" not in page
    [kept] = read_ratings([tmp_path / "ratings"]).ratings
    assert (kept.final, set(kept.criteria.values()), kept.seconds) == (6, {4}, 1.5)
    for _ in range(5):
        page = rate(rater, page).text
    assert tells(page, "No answer ... rating")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_scale_speaks_of_a_reference_only_beside_one(tmp_path: Path, language: str) -> None:
    """The built-in rubric's own words are replaced, in every language."""
    known = replace(answer(0), reference="The truth.")
    unknown = replace(answer(0), reference="")
    word = {"en": "the reference answer", "zh": "参考答案"}[language]
    for name, of, options in (
        ("known", known, {}),
        ("unknown", unknown, {}),
        ("hidden", known, {"reference": False}),
    ):
        with visiting(campaign(tmp_path / name, "me", of=[of], **options)) as client:
            page = client.get(f"/rate/me?language={language}").text
        bands = page[page.index('<details class="bands"') : page.index("<fieldset")]
        assert (word in bands, "The truth." in page) == (
            (True, True) if name == "known" else (False, False)
        )
        assert bands.count("<dd>") == 5


def test_a_rater_who_cannot_tell_gets_the_next_answer(rater: TestClient, tmp_path: Path) -> None:
    first = rater.get("/rate/me").text
    body = {"answer": shown(first)[0], "seconds": 1.5}
    page = rater.post("/rate/me/cannot_tell", json=body, headers=SENT).text
    assert shown(page)[0] != shown(first)[0]
    reading = read_ratings([tmp_path / "ratings"])
    assert (len(reading.ratings), len(reading.cannot_tell)) == (0, 1)
    undone = rater.post("/rate/me/undo", json={"answer": shown(first)[0]}, headers=SENT).text
    assert shown(undone)[0] == shown(first)[0] and "checked" not in undone


def test_votes_have_no_place_among_ratings(rater: TestClient) -> None:
    assert rater.post("/vote/me/cast", json={}, headers=SENT).status_code == 404
    wrong = rater.get("/vote/me")
    assert wrong.status_code == 404
    assert "Back to rating" in wrong.text
    assert "Back to voting" not in wrong.text


def test_the_overview_counts_ratings_and_names_no_model(tmp_path: Path) -> None:
    made = campaign(tmp_path, "me", "you", raters=2, of=answers(3, "apple", "pear"), checks=1.0)
    with visiting(made) as client:
        assert "No ratings yet" in client.get("/report").text
        page = client.get("/rate/me").text
        for _ in range(12):
            page = rate(client, page).text
        item, keys = shown(client.get("/rate/you").text)
        theirs = {
            "answer": item,
            "final": 9,
            "criteria": dict.fromkeys(keys[:-1], 9),
            "seconds": 3.0,
        }
        assert client.post("/rate/you/cast", json=theirs, headers=SENT).status_code == 200
        report = re.sub(r"\s+", " ", client.get("/report?annotator=me").text)
        assert tells(report, "6 of 6 answers ... checks")
        cells = re.findall(r'<t[hd] (?:scope="row"|class="right")>([^<]*)<', report)
        assert cells[-16:-8] == ["me", "6", "6.0", "3.0", "6", "0.0", "0", "2 s"]
        assert cells[-8:] == ["you", "1", "9.0", "3.0", "0", "–", "0", "3 s"]
        assert "apple" not in report
