"""The pages for votes and for ratings over HTTP, without a browser."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi.testclient import TestClient

from tests.annotation.samples import answer, answers, ballot, ballots, campaign
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.annotation._access import HEADER, SECURITY_HEADERS, Guard
from urs_inspect.annotation._campaign import Campaign
from urs_inspect.annotation._rating_campaign import RatingCampaign
from urs_inspect.annotation._ratings import read_ratings
from urs_inspect.annotation._server import create_app, listen, serve
from urs_inspect.annotation._votes import read_votes
from urs_inspect.discrepancy._ballots import Ballot

TOKEN = "a token of enough characters"
SENT = {HEADER: "1"}


@contextmanager
def visiting(
    made: Campaign | RatingCampaign, base: str = "http://127.0.0.1", **options: Any
) -> Iterator[TestClient]:
    app = create_app(made, **options)
    with closing(made), TestClient(app, base_url=base, follow_redirects=False) as client:
        yield client


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """Three ballots for `me`."""
    with visiting(Campaign(ballots(3), tmp_path / "votes", ["me"])) as found:
        yield found


@pytest.fixture
def rater(tmp_path: Path) -> Iterator[TestClient]:
    """Six answers for `me`."""
    with visiting(campaign(tmp_path / "ratings", "me")) as found:
        yield found


def page_of(tmp_path: Path, **ballot: Any) -> str:
    """The page about one ballot."""
    responses = {"a": "x", "b": "y"} | ballot.pop("responses", {})
    with visiting(
        Campaign([Ballot.between("i", "q", responses, **ballot)], tmp_path, ["me"])
    ) as client:
        return client.get("/vote/me").text


def cast(client: TestClient, number: int, choice: str = "left", **changes: object) -> Any:
    body = {"ballot": ballot(number).id, "choice": choice, "seconds": 1.5, **changes}
    return client.post("/vote/me/cast", json=body, headers=SENT)


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


def test_one_person_is_led_to_a_page_that_names_no_model(
    client: TestClient, rater: TestClient
) -> None:
    assert client.get("/").status_code == 303
    assert client.get("/").headers["location"] == "/vote/me?language=en"
    page = client.get("/vote/me").text
    assert all(words in page for words in ("First answer 0.", "Second answer 0.", 'lang="en"'))
    assert not any(model in page for model in ("apple", "pear"))
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


@pytest.mark.parametrize(
    ("code", "document", "page_language"),
    [
        ("ja", "ja", "en"),
        ("pt-BR", "pt-BR", "en"),
        ("zh", "zh", "zh"),
        ("", "en", "en"),
        ('"><script>', "en", "en"),
    ],
)
def test_the_document_has_the_language_of_questions_that_the_page_has_no_texts_in(
    code: str, document: str, page_language: str, tmp_path: Path
) -> None:
    with visiting(
        campaign(tmp_path / "ratings", "me", of=[replace(answer(0), language=code)])
    ) as client:
        rating = client.get("/rate/me").text
    for page in (page_of(tmp_path, language=code), rating):
        assert f'<html lang="{document}">' in page
        assert f'<body lang="{page_language}">' in page


def test_the_answers_stand_where_the_vote_says(client: TestClient, tmp_path: Path) -> None:
    for number in range(3):
        page = client.get("/vote/me").text
        first_is_left = page.index(f"First answer {number}.") < page.index(
            f"Second answer {number}."
        )
        cast(client, number)
        vote = read_votes([tmp_path / "votes" / "me.jsonl"]).votes[number]
        assert vote.choice == vote.left == ("a" if first_is_left else "b")


def test_a_vote_answers_with_the_next_pair(client: TestClient) -> None:
    response = cast(client, 0, "tie")
    assert response.status_code == 200
    assert f'data-ballot="{ballot(1).id}"' in response.text
    assert f'data-last="{ballot(0).id}"' in response.text
    assert "1 of 3 done" in response.text
    cast(client, 1, "cannot_tell")
    assert "All done" in cast(client, 2).text
    undone = client.post("/vote/me/undo", json={"ballot": ballot(2).id}, headers=SENT)
    assert f'data-ballot="{ballot(2).id}"' in undone.text
    assert "2 of 3 done" in undone.text


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


def test_the_reference_is_folded_or_shown_by_choice(tmp_path: Path) -> None:
    page = page_of(tmp_path, reference="the *truth*")
    folded = page[page.index('<details class="card reference">') : page.index("the <em>truth</em>")]
    assert "Reference answer" in folded
    assert "Reference answer" not in page_of(tmp_path / "without")
    with visiting(campaign(tmp_path / "rated", "me", reference=True, final_only=True)) as client:
        page = client.get("/rate/me").text
        assert re.search(r"Reference \d\.", page)
        assert shown(page)[1] == ["final"]


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


def test_a_page_is_chinese_where_all_questions_are_or_a_visitor_asks(
    tmp_path: Path, client: TestClient
) -> None:
    assert "哪个回答更好" in client.get("/vote/me?language=zh").text
    assert "Which answer" in client.get("/vote/me?language=xx").text
    body = {"ballot": ballot(0).id, "choice": "tie", "seconds": 1}
    assert "已完成" in client.post("/vote/me/cast?language=zh", json=body, headers=SENT).text
    pairs = [replace(each, language="zh") for each in ballots(3)]
    with visiting(Campaign(pairs, tmp_path / "zh", ["me"])) as other:
        assert "哪个回答更好" in other.get("/vote/me").text
    with visiting(Campaign([*pairs, ballot(3)], tmp_path / "both", ["me"])) as other:
        assert "Which answer" in other.get("/vote/me").text
    chinese = [replace(each, language="zh") for each in answers(6)]
    with visiting(campaign(tmp_path / "rated", "me", of=chinese)) as other:
        page = other.get("/rate/me").text
        assert "这个回答有多好" in page
        assert "核心需求" in page  # the bands as well
        assert "已完成 1 / 6" in rate(other, page).text
        assert "How good is this answer" in other.get("/rate/me?language=en").text


def test_a_blank_reference_is_none(tmp_path: Path) -> None:
    without = page_of(tmp_path / "1", reference="")
    assert page_of(tmp_path / "2", reference=" \n") == without
    assert page_of(tmp_path / "3", reference="So.") != without


def test_only_the_files_of_the_page_are_served(client: TestClient) -> None:
    assert client.get("/static/vote.js").status_code == 200
    for name in ("none.js", "..%2f_server.py", "_server.py", "vote.JS"):
        assert client.get(f"/static/{name}").status_code == 404


def test_a_server_writes_no_address_down_and_believes_no_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[uvicorn.Config, Any]] = []

    def run(server: uvicorn.Server, sockets: Any) -> None:
        started.append((server.config, sockets))

    monkeypatch.setattr(uvicorn.Server, "run", run)
    with (
        closing(Campaign(ballots(1), tmp_path, ["me"])) as made,
        closing(listen("127.0.0.1", 0)) as listener,
    ):
        app = create_app(made)
        serve(app, listener)
    [(config, sockets)] = started
    assert config.app is app and sockets == [listener]
    assert not config.access_log  # addresses may hold the token
    assert not config.proxy_headers and not config.server_header


@pytest.mark.parametrize(
    "path", ["/", "/me", "/report", "/static/vote.js", "/static/rate.js", "/static/session.js", "/none",
             "/vote/..%2fme", "/docs"],
)  # fmt: skip
def test_every_response_is_protected_and_carries_no_script_or_style_of_its_own(
    client: TestClient, rater: TestClient, path: str
) -> None:
    for kind, visitor in (("vote", client), ("rate", rater)):
        response = visitor.get(f"/{kind}/me" if path == "/me" else path)
        assert {name: response.headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS
        if not path.endswith(".js"):
            assert re.findall(r"<script(?![^>]*src=)", response.text) == []
            assert re.findall(r"<[^>]* (?:style|on\w+)=", response.text) == []
            assert re.findall(r"""(?:src|href|action)=["']?(?![/"'])[^\s>]+""", response.text) == []


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"ballot": "0" * 16}, 409, "'0000000000000000' ... not recorded"),
        ({"choice": "a"}, 422, "choice"),
        ({"seconds": -1}, 422, "seconds"),
        ({"seconds": "x"}, 422, "seconds"),
        ({"ballot": "x" * 101}, 422, "ballot"),
        ({"ballot": "x" * 9000}, 413, "too large"),
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
    client: TestClient,
    rater: TestClient,
    tmp_path: Path,
    changes: dict[str, Any],
    status: int,
    words: str,
) -> None:
    rated = changes.keys() & {"final", "criteria", "answer"}
    response = (
        rate(rater, rater.get("/rate/me").text, **changes) if rated else cast(client, 0, **changes)
    )
    assert response.status_code == status
    assert tells(response.json()["problem"], words)
    assert [path.read_bytes() for path in tmp_path.rglob("me.jsonl")] == [b"", b""]


def test_votes_have_no_place_among_ratings(rater: TestClient) -> None:
    assert rater.post("/vote/me/cast", json={}, headers=SENT).status_code == 404
    wrong = rater.get("/vote/me")
    assert wrong.status_code == 404
    assert "Back to rating" in wrong.text
    assert "Back to voting" not in wrong.text


def test_foreign_pages_cannot_vote_or_rate(
    client: TestClient, rater: TestClient, tmp_path: Path
) -> None:
    body = {"ballot": ballot(0).id, "choice": "left", "seconds": 1}
    for headers in (
        {},
        {**SENT, "Origin": "http://evil.test"},
        {**SENT, "Sec-Fetch-Site": "cross-site"},
    ):
        assert client.post("/vote/me/cast", json=body, headers=headers).status_code == 403
    assert client.get("/vote/me", headers={"Host": "evil.test"}).status_code == 421
    assert (
        client.options("/vote/me/cast", headers={"Origin": "http://evil.test"}).status_code == 403
    )
    assert (
        "access-control-allow-origin"
        not in client.get("/vote/me", headers={"Origin": "http://evil.test"}).headers
    )
    assert (tmp_path / "votes" / "me.jsonl").read_bytes() == b""
    item, _ = shown(rater.get("/rate/me").text)
    assert rater.post("/rate/me/undo", json={"answer": item}).status_code == 403


def test_a_full_disk_is_said_and_the_vote_not_counted(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        response = cast(client, 0)
    assert (response.status_code, response.json()) == (507, {"problem": "No space left on device"})
    assert "0 of 3 done" in client.get("/vote/me").text
    assert cast(client, 0).status_code == 200


def test_a_fault_of_ours_is_one_line_with_headers(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise RuntimeError("secret path")

    monkeypatch.setattr("urs_inspect.annotation._pages.session_page", fail)
    response = client.get("/vote/me")
    assert response.status_code == 500
    assert "secret" not in response.text
    assert response.headers["content-security-policy"]


def test_anybody_may_come_if_nobody_is_named(tmp_path: Path) -> None:
    with visiting(Campaign(ballots(3), tmp_path)) as client:
        assert 'name="annotator"' in client.get("/").text
        # Opening an address makes no file; signing in does.
        response = client.get("/vote/小 明")
        assert response.status_code == 303
        assert 'value="小 明"' in client.get(response.headers["location"]).text
        assert list(tmp_path.iterdir()) == []
        entered = client.post("/enter", json={"annotator": "小 明"}, headers=SENT)
        page = client.get(entered.json()["address"])
        assert "Voting as 小 明" in page.text
        assert [path.name for path in tmp_path.iterdir()] == ["小 明.jsonl"]


@pytest.mark.parametrize("name", ["../me", "", "/etc/passwd", "a/b", "..", "x" * 41])
def test_names_that_are_paths_are_refused(tmp_path: Path, name: str) -> None:
    with visiting(Campaign(ballots(3), tmp_path / "votes")) as client:
        response = client.post("/enter", json={"annotator": name}, headers=SENT)
        assert response.status_code == 409
        assert "allowed are 1 to 40 letters" in response.json()["problem"]
    assert list(tmp_path.iterdir()) == []


def test_those_named_are_listed_and_others_refused(tmp_path: Path) -> None:
    with visiting(Campaign(ballots(3), tmp_path, ["me", "you"])) as client:
        start = client.get("/").text
        assert 'href="/vote/me?language=en"' in start
        assert 'href="/vote/you?language=en"' in start
        refused = client.get("/vote/eve")
        assert refused.status_code == 409
        assert tells(refused.text, "may not vote")


def test_hostile_names_and_texts_are_escaped(tmp_path: Path) -> None:
    script, image = "</script><script>alert(1)</script>", "![x](http://evil.test)"
    asked = Ballot.between("i", script, {"a": script, "b": image}, language='en" onclick="x')
    rated = answer(0, '<b>"model', text=f'">{script}\n\n{image}')
    for made in (
        Campaign([asked], tmp_path / "votes"),
        campaign(tmp_path / "rated", of=[rated], reference=True),
    ):
        with visiting(made) as client:
            assert "<script>q" not in client.get("/?annotator=%22%3E%3Cscript%3Eq").text
            assert (
                "No ratings yet" in client.get("/report").text or made.kind == "vote"
            )  # before anybody came
            address = client.post("/enter", json={"annotator": "me"}, headers=SENT).json()[
                "address"
            ]
            page = client.get(address).text
            assert not any(markup in page for markup in ("<script>alert", "<img", 'onclick="'))
            assert "alert(1)" in unescape(page)
            assert "<script>" not in client.get("/report?annotator=%22%3E%3Cscript%3E").text


def test_an_empty_answer_is_shown_as_one(tmp_path: Path) -> None:
    assert "(empty answer)" in page_of(tmp_path, responses={"a": " \n"})


def test_the_report_shows_people_and_no_models(tmp_path: Path) -> None:
    with visiting(Campaign(ballots(3), tmp_path, ["me", "you"])) as client:
        assert "No votes yet" in client.get("/report").text
        for name in ("me", "you"):
            for number, choice in enumerate(("tie", "tie", "cannot_tell")):
                body = {"ballot": ballot(number).id, "choice": choice, "seconds": 3}
                assert client.post(f"/vote/{name}/cast", json=body, headers=SENT).status_code == 200
        page = client.get("/report").text
        assert [f'<p class="number">{value}</p>' in page for value in ("100%", "1.00", "6")] == [
            True
        ] * 3
        assert "apple" not in page
        assert "一致" in client.get("/report?language=zh").text


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


def test_an_open_server_wants_the_token_first(tmp_path: Path) -> None:
    guard = Guard("0.0.0.0", TOKEN, 7580)
    with visiting(
        Campaign(ballots(3), tmp_path, ["me"]), "http://192.168.0.7:7580", guard=guard
    ) as client:
        for path in (
            "/",
            "/vote/me",
            "/report",
            "/static/vote.js",
            "/?token=wrong",
            "/vote/me?token=",
        ):
            response = client.get(path)
            assert response.status_code == 401
            assert "First answer" not in response.text
        assert tells(client.get("/?token=wrong").text, "token ... not right")
        assert client.get("/static/page.css").status_code == 200
        assert cast(client, 0).status_code == 401

        entered = client.get("/", params={"token": TOKEN})
        cookie = entered.headers["set-cookie"].lower()
        assert entered.status_code == 200
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert TOKEN not in cookie
        assert 'content="0; url=/?language=en"' in entered.text
        assert TOKEN not in entered.text
        assert client.get("/vote/me").status_code == 200
        assert cast(client, 0).status_code == 200


def test_a_port_in_use_is_one_line() -> None:
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        for host, number, words in (
            (
                "127.0.0.1",
                port,
                f"cannot listen at 127.0.0.1 port {port}: .*choose another with --address",
            ),
            ("127.0.0.1", 99999, r"cannot listen at 127\.0\.0\.1 port 99999"),
            ("no.such.host.invalid", 0, r"cannot listen at no\.such\.host\.invalid"),
        ):
            with pytest.raises(InputError, match=words):
                listen(host, number)
